#include "file_type.hpp"

#include "checked.hpp"
#include "cursor.hpp"
#include "reference_encoding.hpp"
#include "supported.hpp"
#include "text.hpp"

#include <h5mote/variable_length.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// Sizes have 32 bits. One that is larger becomes 2^40, and stays too large whatever is added.
constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 40;

/// Writes the message, or only counts its bytes.
class FileTypeWriter {
public:
    /// `sizeof_addr`: of the file; 0: sequences get their form in memory, and everything else stays.
    FileTypeWriter(const Writer& writer, unsigned sizeof_addr) noexcept : writer_(writer), sizeof_addr_(sizeof_addr) {}

    std::uint64_t size_of(DatatypeView type) const noexcept;
    void type(DatatypeView type) noexcept;
    const Writer& writer() const noexcept { return writer_; }

private:
    bool is_same(DatatypeView type) const noexcept {
        return !contains_class(type, TypeClass::variable_length) &&
               (sizeof_addr_ == 0 || !contains_class(type, TypeClass::reference));
    }
    std::uint64_t sequence_size(DatatypeView type) const noexcept {
        return sizeof_addr_ != 0           ? 8U + sizeof_addr_
               : type.is_variable_string() ? sizeof(char*)
                                           : sizeof(VariableLength);
    }
    std::uint64_t size_of(const MemberShape& array) const noexcept;
    void head(unsigned version, DatatypeView type, std::uint64_t size) noexcept {
        writer_.u8(version << 4 | static_cast<unsigned>(type.type_class()));
        writer_.bytes({type.bytes().data() + 1, 3});
        writer_.u32(static_cast<std::uint32_t>(size));
    }
    void array(const MemberShape& array) noexcept;
    void compound(DatatypeView type) noexcept;

    Writer writer_;
    unsigned sizeof_addr_;
};

std::uint64_t FileTypeWriter::size_of(const MemberShape& array) const noexcept {
    std::uint64_t size = size_of(array.element);
    for (std::size_t i = 0; i < array.dimensions.size(); i += 4) {
        size *= load_le<std::uint32_t>(array.dimensions.data() + i);
        size = size <= 0xffffffffU ? size : kTooLarge;
    }
    return size;
}

// Calls itself as deep as the type is nested.
std::uint64_t FileTypeWriter::size_of(DatatypeView type) const noexcept {
    if (is_same(type)) {
        return type.size();
    }
    if (type.type_class() == TypeClass::variable_length) {
        return sequence_size(type);
    }
    if (type.type_class() == TypeClass::reference) {
        const ReferenceType kind = type.reference_type();
        return reference_bytes(FileShape{static_cast<std::uint8_t>(sizeof_addr_)}, kind > ReferenceType::region1,
                               kind == ReferenceType::region1);
    }
    if (type.type_class() == TypeClass::array) {
        return size_of(MemberShape(type));
    }
    std::uint64_t size = type.size();
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        size += size_of(MemberShape(member)) - member.size();
    }
    return size <= 0xffffffffU ? size : kTooLarge;
}

void FileTypeWriter::array(const MemberShape& array) noexcept {
    if (array.dimensions.empty()) {
        type(array.element);
        return;
    }
    writer_.u8(3U << 4 | static_cast<unsigned>(TypeClass::array));
    writer_.uint(3, 0);
    writer_.u32(static_cast<std::uint32_t>(size_of(array)));
    writer_.u8(static_cast<std::uint32_t>(array.dimensions.size() / 4));
    writer_.bytes(array.dimensions);
    type(array.element);
}

void FileTypeWriter::compound(DatatypeView type) noexcept {
    const std::uint64_t whole = size_of(type);
    head(3, type, whole);
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        std::uint64_t offset = member.offset;
        CompoundMembers others(type);
        CompoundMember other;
        while (others.next(other)) {
            if (other.offset < member.offset) {
                offset += size_of(MemberShape(other)) - other.size();
            }
        }
        writer_.bytes(bytes_of(member.name));
        writer_.u8(0);
        writer_.uint(uint_width(whole), offset);
        array(MemberShape(member));
    }
}

// Calls itself as deep as the type is nested.
void FileTypeWriter::type(DatatypeView type) noexcept {
    if (is_same(type)) {
        writer_.bytes(type.bytes());
    } else if (type.type_class() == TypeClass::variable_length) {
        const DatatypeView base = type.base();
        const bool parts = contains_class(base, TypeClass::compound) || contains_class(base, TypeClass::array) ||
                           contains_class(base, TypeClass::enumeration);
        head(parts ? 3 : 1, type, size_of(type));
        this->type(base);
    } else if (type.type_class() == TypeClass::array) {
        array(MemberShape(type));
    } else if (type.type_class() == TypeClass::reference) {
        writer_.bytes(type.bytes().first(4));
        writer_.u32(static_cast<std::uint32_t>(size_of(type)));
        writer_.bytes(type.bytes().subspan(8));
    } else {
        compound(type);
    }
}

Status encode(Context& context, unsigned sizeof_addr, DatatypeView from, Bytes& type) noexcept {
    FileTypeWriter counter(Writer(), sizeof_addr);
    if (counter.size_of(from) > 0xffffffffU) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::overflow);
    }
    counter.type(from);
    const std::size_t length = counter.writer().written();
    auto* const bytes = static_cast<std::byte*>(context.allocate(MemoryKind::type, length));
    if (bytes == nullptr) {
        return Status::out_of_memory;
    }
    type = {bytes, length};
    FileTypeWriter writer(Writer(type), sizeof_addr);
    writer.type(from);
    return Status::ok;
}

}  // namespace

Status encode_file_type(FileState& file, DatatypeView memory, Bytes& type) noexcept {
    return encode(file.context, file.shape().sizeof_addr, memory, type);
}

Status encode_memory_type(Context& context, DatatypeView stored, Bytes& type) noexcept {
    return encode(context, 0, stored, type);
}

}  // namespace h5mote

#endif
