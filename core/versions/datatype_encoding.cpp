#include "datatype_encoding.hpp"

#include "text.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::size_t kHead = 8;  // bytes before the properties

// The oldest version in which compounds, arrays and enumerations within the type can be written.
unsigned oldest_version(DatatypeView type) noexcept { return newest_version(type, false); }

class DatatypeEncoder {
public:
    // `version`: that of all compounds, arrays and enumerations.
    DatatypeEncoder(Writer& writer, unsigned version) noexcept : writer_(writer), version_(version) {}

    void write(DatatypeView type) noexcept {  // NOLINT(misc-no-recursion)
        // Class bits and size are the same in all versions.
        writer_.u8(version_of(type) << 4 | static_cast<unsigned>(type.type_class()));
        writer_.bytes(type.bytes().subspan(1, kHead - 1));
        switch (type.type_class()) {
            case TypeClass::compound:
                write_members(type);
                break;
            case TypeClass::enumeration:
                write(type.base());
                write_names(type);
                break;
            case TypeClass::array:
                write_extents(type.dimension_bytes());
                write(type.base());
                break;
            case TypeClass::variable_length:
                write(type.base());
                break;
            default:
                writer_.bytes(type.bytes().subspan(kHead));
        }
    }

private:
    bool padded() const noexcept { return version_ < 3; }
    unsigned version_of(DatatypeView type) const noexcept {
        while (type.type_class() == TypeClass::variable_length) {
            type = type.base();
        }
        switch (type.type_class()) {
            case TypeClass::compound:
            case TypeClass::enumeration:
            case TypeClass::array:
                return version_;
            default:
                return oldest_version(type);
        }
    }
    void write_name(std::string_view name) noexcept {
        writer_.bytes(bytes_of(name));
        writer_.fill(std::byte{0}, padded() ? 8 - name.size() % 8 : 1);
    }

    void write_members(DatatypeView type) noexcept {  // NOLINT(misc-no-recursion)
        unsigned width = 4;
        for (width = padded() ? 4 : 1; width < 4 && type.size() >> (8 * width) != 0;) {
            ++width;
        }
        CompoundMembers members(type);
        for (CompoundMember member; members.next(member);) {
            write_name(member.name);
            writer_.uint(width, member.offset);
            if (version_ == 1) {
                const std::size_t rank = member.dimensions.size() / 4;
                writer_.u8(static_cast<unsigned>(rank));
                writer_.fill(std::byte{0}, 3 + 4 + 4);  // reserved, permutation, reserved
                writer_.bytes(member.dimensions);
                writer_.fill(std::byte{0}, 4 * (4 - rank));
            } else if (!member.dimensions.empty()) {
                write_member_array(member);
            }
            write(member.type);
        }
    }
    // A member that was an array in a message of version 1 is one of class array in the later ones.
    void write_member_array(const CompoundMember& member) noexcept {
        writer_.u8(version_ << 4 | static_cast<unsigned>(TypeClass::array));
        writer_.fill(std::byte{0}, 3);
        writer_.u32(member.size());
        write_extents(member.dimensions);
    }
    void write_extents(ConstBytes dimensions) noexcept {
        const auto rank = static_cast<unsigned>(dimensions.size() / 4);
        writer_.u8(rank);
        writer_.fill(std::byte{0}, padded() ? 3 : 0);
        writer_.bytes(dimensions);
        for (unsigned i = 0; padded() && i < rank; ++i) {
            writer_.u32(i);  // the permutation, which no reader uses
        }
    }
    void write_names(DatatypeView type) noexcept {
        EnumMember member;
        EnumMembers names(type);
        while (names.next(member)) {
            write_name(member.name);
        }
        EnumMembers values(type);
        while (values.next(member)) {
            writer_.bytes(member.value);
        }
    }

    Writer& writer_;
    unsigned version_;
};

}  // namespace

// Nesting is limited by H5MOTE_MAX_TYPE_DEPTH.
unsigned newest_version(DatatypeView type, bool as_stored) noexcept {  // NOLINT(misc-no-recursion)
    unsigned version = as_stored ? type.version() : 1;
    switch (type.type_class()) {
        case TypeClass::array:
            version = version > 2 ? version : 2;
            [[fallthrough]];
        case TypeClass::variable_length:
        case TypeClass::enumeration: {
            const unsigned base = newest_version(type.base(), as_stored);
            return base > version ? base : version;
        }
        case TypeClass::compound: {
            CompoundMembers members(type);
            for (CompoundMember member; members.next(member);) {
                const unsigned part = newest_version(member.type, as_stored);
                version = part > version ? part : version;
            }
            return version;
        }
        case TypeClass::reference:
        case TypeClass::complex:
            return type.version();
        case TypeClass::floating:
            return type.order() == ByteOrder::vax ? 3 : version;
        default:
            return version;
    }
}

void encode_datatype(Writer& writer, DatatypeView type, unsigned least) noexcept {
    const unsigned oldest = oldest_version(type);
    DatatypeEncoder(writer, oldest > least ? oldest : least).write(type);
}

}  // namespace h5mote

#endif
