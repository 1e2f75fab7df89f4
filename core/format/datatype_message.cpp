#include "datatype_message.hpp"

#include "cursor.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::size_t kProperties = 8;  // offset of the properties in a datatype message

unsigned class_bit(TypeClass type_class) { return 1U << static_cast<unsigned>(type_class); }

template <typename... Classes>
constexpr unsigned class_set(Classes... classes) {
    return ((1U << static_cast<unsigned>(classes)) | ...);
}

unsigned octet(const std::byte* at) { return static_cast<unsigned>(*at); }
TypeClass class_of(const std::byte* message) { return static_cast<TypeClass>(octet(message) & 15U); }
unsigned version_of(const std::byte* message) { return octet(message) >> 4; }
unsigned count_of(const std::byte* message) { return load_le<std::uint16_t>(message + 1); }

// A loop of our own: names are short, and the library's strlen is large.
std::string_view name_at(const std::byte* at) {
    const char* text = reinterpret_cast<const char*>(at);
    std::size_t length = 0;
    while (text[length] != '\0') {
        ++length;
    }
    return {text, length};
}

const std::byte* after_name(std::string_view name, bool padded) {
    const std::size_t length = name.size() + 1;
    return reinterpret_cast<const std::byte*>(name.data()) + (padded ? (length + 7) / 8 * 8 : length);
}

// Where the base type of an array, enumeration, sequence or complex number begins.
const std::byte* base_of(const std::byte* message) {
    if (class_of(message) != TypeClass::array) {
        return message + kProperties;
    }
    const std::size_t rank = octet(message + kProperties);
    return message + kProperties + (version_of(message) >= 3 ? 1 + 4 * rank : 4 + 8 * rank);
}

}  // namespace

std::size_t datatype_length(const std::byte* message) noexcept {
    const std::byte* end = message + kProperties;
    switch (class_of(message)) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            end += 4;
            break;
        case TypeClass::floating:
            end += 12;
            break;
        case TypeClass::time:
            end += 2;
            break;
        case TypeClass::opaque:
            end += octet(message + 1);
            break;
        case TypeClass::compound: {
            CompoundMembers members(end, count_of(message), version_of(message), load_le<std::uint32_t>(message + 4));
            CompoundMember member;
            while (members.next(member)) {
                end = member.type.bytes().end();
            }
            break;
        }
        case TypeClass::enumeration: {
            end += datatype_length(end);
            const unsigned count = count_of(message);
            for (unsigned i = 0; i < count; ++i) {
                end = after_name(name_at(end), version_of(message) < 3);
            }
            end += static_cast<std::size_t>(count) * load_le<std::uint32_t>(message + 4);
            break;
        }
        case TypeClass::variable_length:
        case TypeClass::array:
        case TypeClass::complex:
            end = base_of(message);
            end += datatype_length(end);
            break;
        default:
            break;
    }
    return static_cast<std::size_t>(end - message);
}

bool DatatypeView::has_bits() const noexcept {
    return (class_bit(type_class()) & class_set(TypeClass::integer, TypeClass::bitfield, TypeClass::floating)) != 0;
}

ByteOrder DatatypeView::order() const noexcept {
    const TypeClass type = type_class();
    if (type == TypeClass::enumeration) {
        return base().order();
    }
    if (!has_bits() && type != TypeClass::time) {
        return ByteOrder::none;
    }
    const unsigned flags = byte(1);
    // Bit 6 was reserved before version 3.
    if (type == TypeClass::floating && version() >= 3 && (flags & 0x40U) != 0) {
        return ByteOrder::vax;
    }
    return (flags & 1U) != 0 ? ByteOrder::big : ByteOrder::little;
}

bool DatatypeView::is_signed() const noexcept {
    if (type_class() == TypeClass::enumeration) {
        return base().is_signed();
    }
    return type_class() == TypeClass::integer && (byte(1) & 8U) != 0;
}

unsigned DatatypeView::bit_offset() const noexcept { return has_bits() ? byte(8) | byte(9) << 8 : 0; }

unsigned DatatypeView::precision() const noexcept {
    if (type_class() == TypeClass::time) {
        return byte(8) | byte(9) << 8;
    }
    return has_bits() ? byte(10) | byte(11) << 8 : 0;
}

FloatFields DatatypeView::float_fields() const noexcept {
    FloatFields fields;
    if (type_class() == TypeClass::floating) {
        fields.sign = static_cast<std::uint8_t>(byte(2));
        fields.exponent = static_cast<std::uint8_t>(byte(12));
        fields.exponent_size = static_cast<std::uint8_t>(byte(13));
        fields.mantissa = static_cast<std::uint8_t>(byte(14));
        fields.mantissa_size = static_cast<std::uint8_t>(byte(15));
        fields.normalization = static_cast<std::uint8_t>(byte(1) >> 4 & 3U);
        fields.bias = load_le<std::uint32_t>(bytes_.data() + 16);
    }
    return fields;
}

bool DatatypeView::is_variable_string() const noexcept {
    return type_class() == TypeClass::variable_length && (byte(1) & 15U) == 1;
}

StringPadding DatatypeView::padding() const noexcept {
    if (type_class() == TypeClass::string) {
        return static_cast<StringPadding>(byte(1) & 15U);
    }
    return is_variable_string() ? static_cast<StringPadding>(byte(1) >> 4) : StringPadding::null_terminated;
}

CharacterSet DatatypeView::character_set() const noexcept {
    if (type_class() == TypeClass::string) {
        return static_cast<CharacterSet>(byte(1) >> 4);
    }
    return is_variable_string() ? static_cast<CharacterSet>(byte(2) & 15U) : CharacterSet::ascii;
}

ReferenceType DatatypeView::reference_type() const noexcept {
    return type_class() == TypeClass::reference ? static_cast<ReferenceType>(byte(1) & 15U) : ReferenceType::object1;
}

std::string_view DatatypeView::tag() const noexcept {
    if (type_class() != TypeClass::opaque) {
        return {};
    }
    // A tag whose length is a multiple of 8 has no NUL.
    const std::size_t limit = byte(1);
    const char* text = reinterpret_cast<const char*>(bytes_.data() + kProperties);
    std::size_t length = 0;
    while (length < limit && text[length] != '\0') {
        ++length;
    }
    return {text, length};
}

unsigned DatatypeView::rank() const noexcept { return type_class() == TypeClass::array ? byte(kProperties) : 0; }

ConstBytes DatatypeView::dimension_bytes() const noexcept {
    const std::size_t length = 4 * static_cast<std::size_t>(rank());
    return length == 0 ? ConstBytes{} : bytes_.subspan(kProperties + (version() >= 3 ? 1 : 4), length);
}

std::uint32_t DatatypeView::dimension(unsigned i) const noexcept {
    return i < rank() ? load_le<std::uint32_t>(dimension_bytes().data() + 4 * static_cast<std::size_t>(i)) : 0;
}

DatatypeView DatatypeView::base() const noexcept {
    const unsigned with_base =
        class_set(TypeClass::array, TypeClass::enumeration, TypeClass::variable_length, TypeClass::complex);
    if ((class_bit(type_class()) & with_base) == 0) {
        return {};
    }
    const std::byte* base = base_of(bytes_.data());
    return DatatypeView{{base, datatype_length(base)}};
}

unsigned DatatypeView::member_count() const noexcept {
    const unsigned with_members = class_set(TypeClass::compound, TypeClass::enumeration);
    return (class_bit(type_class()) & with_members) != 0 ? count_of(bytes_.data()) : 0;
}

std::uint32_t CompoundMember::count() const noexcept {
    std::uint32_t count = 1;
    for (std::size_t i = 0; i < dimensions.size(); i += 4) {
        count *= load_le<std::uint32_t>(dimensions.data() + i);
    }
    return count;
}

CompoundMembers::CompoundMembers(DatatypeView compound) noexcept {
    if (compound.type_class() == TypeClass::compound) {
        *this = CompoundMembers(compound.bytes().data() + kProperties, compound.member_count(), compound.version(),
                                compound.size());
    }
}

CompoundMembers::CompoundMembers(const std::byte* members, unsigned count, unsigned version,
                                 std::uint32_t size) noexcept
    : at_(members),
      left_(static_cast<std::uint16_t>(count)),
      version_(static_cast<std::uint8_t>(version)),
      offset_width_(static_cast<std::uint8_t>(version >= 3 ? uint_width(size) : 4)) {}

bool CompoundMembers::next(CompoundMember& member) noexcept {
    if (left_ == 0) {
        return false;
    }
    --left_;
    member.name = name_at(at_);
    at_ = after_name(member.name, version_ < 3);
    member.offset = static_cast<std::uint32_t>(load_uint(at_, offset_width_));
    at_ += offset_width_;
    member.dimensions = {};
    if (version_ == 1) {
        member.dimensions = {at_ + 12, 4 * static_cast<std::size_t>(octet(at_))};
        at_ += 28;
    }
    const std::size_t length = datatype_length(at_);
    member.type = DatatypeView{{at_, length}};
    at_ += length;
    return true;
}

bool DatatypeView::member(unsigned i, CompoundMember& member) const noexcept {
    CompoundMembers members(*this);
    CompoundMember found;
    while (members.next(found)) {
        if (i-- == 0) {
            member = found;
            return true;
        }
    }
    return false;
}

bool DatatypeView::find_member(std::string_view name, CompoundMember& member) const noexcept {
    CompoundMembers members(*this);
    CompoundMember found;
    while (members.next(found)) {
        if (found.name == name) {
            member = found;
            return true;
        }
    }
    return false;
}

EnumMembers::EnumMembers(DatatypeView enumeration) noexcept {
    if (enumeration.type_class() != TypeClass::enumeration) {
        return;
    }
    const std::byte* base = enumeration.bytes().data() + kProperties;
    left_ = static_cast<std::uint16_t>(enumeration.member_count());
    padded_ = enumeration.version() < 3;
    size_ = enumeration.size();
    name_ = base + datatype_length(base);
    value_ = enumeration.bytes().end() - static_cast<std::size_t>(left_) * size_;
}

bool EnumMembers::next(EnumMember& member) noexcept {
    if (left_ == 0) {
        return false;
    }
    --left_;
    member.name = name_at(name_);
    member.value = {value_, size_};
    name_ = after_name(member.name, padded_);
    value_ += size_;
    return true;
}

bool DatatypeView::enum_member(unsigned i, EnumMember& member) const noexcept {
    EnumMembers members(*this);
    EnumMember found;
    while (members.next(found)) {
        if (i-- == 0) {
            member = found;
            return true;
        }
    }
    return false;
}

bool DatatypeView::find_enum_name(std::string_view name, EnumMember& member) const noexcept {
    EnumMembers members(*this);
    EnumMember found;
    while (members.next(found)) {
        if (found.name == name) {
            member = found;
            return true;
        }
    }
    return false;
}

bool DatatypeView::find_enum_value(const std::byte* value, EnumMember& member) const noexcept {
    EnumMembers members(*this);
    EnumMember found;
    while (members.next(found)) {
        if (std::memcmp(found.value.data(), value, found.value.size()) == 0) {
            member = found;
            return true;
        }
    }
    return false;
}

}  // namespace h5mote
