#include <h5mote/type_builder.hpp>

#include "cursor.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::size_t kHead = 8;
constexpr std::size_t kMostBytes = 0xffffffffU;
constexpr unsigned kMostParts = 0xffff;

Status check_depth(DatatypeView part) noexcept {
    return type_depth(part) < H5MOTE_MAX_TYPE_DEPTH ? Status::ok : Status::unsupported;
}

std::byte* put_text(std::byte* to, std::string_view text) noexcept {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

}  // namespace

DatatypeView TypeBuilder::type() const noexcept {
    const bool complete = length_ != 0 && (begun_ == TypeClass::none || parts() != 0);
    return complete ? DatatypeView({buffer_.data(), length_}) : DatatypeView();
}

template <std::size_t N, unsigned Depth>
Status TypeBuilder::assign(const EncodedType<N, Depth>& type) noexcept {
    H5MOTE_TRY(fits(N));
    std::memcpy(buffer_.data(), type.bytes, N);
    length_ = N;
    begun_ = TypeClass::none;
    return Status::ok;
}

Status TypeBuilder::integer(std::size_t size, bool is_signed, ByteOrder order) noexcept {
    return size == 0 || size > 64 ? Status::invalid_argument : assign(make_integer(size, is_signed, order));
}

Status TypeBuilder::bitfield(std::size_t size, ByteOrder order) noexcept {
    return size == 0 || size > 64 ? Status::invalid_argument : assign(make_bitfield(size, order));
}

Status TypeBuilder::floating(std::size_t size, ByteOrder order) noexcept {
    return size != 4 && size != 8 ? Status::invalid_argument : assign(make_float(size, order));
}

Status TypeBuilder::string(std::size_t size, StringPadding padding, CharacterSet character_set) noexcept {
    return size == 0 || size > kMostBytes ? Status::invalid_argument
                                          : assign(make_string(size, padding, character_set));
}

Status TypeBuilder::variable_string(CharacterSet character_set) noexcept {
    return assign(make_variable_string(character_set));
}

Status TypeBuilder::variable_length(DatatypeView base) noexcept {
    if (base.empty()) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(check_depth(base));
    const std::size_t length = base.encoded_length();
    H5MOTE_TRY(fits(kHead + length));
    // The base type may stand in this very buffer.
    std::memmove(buffer_.data() + kHead, base.bytes().data(), length);
    detail::TypeWriter(buffer_.data()).head(1, TypeClass::variable_length, 0, 2 * sizeof(void*));
    length_ = kHead + length;
    begun_ = TypeClass::none;
    return Status::ok;
}

Status TypeBuilder::reference(ReferenceType type) noexcept { return assign(make_reference(type)); }

Status TypeBuilder::opaque(std::size_t size, std::string_view tag) noexcept {
    if (size == 0 || size > kMostBytes || tag.size() > 248 || tag.find('\0') != std::string_view::npos) {
        return Status::invalid_argument;
    }
    const std::size_t padded = (tag.size() + 7) / 8 * 8;
    H5MOTE_TRY(fits(kHead + padded));
    std::memset(buffer_.data() + kHead, 0, padded);
    put_text(buffer_.data() + kHead, tag);
    detail::TypeWriter(buffer_.data()).head(1, TypeClass::opaque, static_cast<std::uint32_t>(padded), size);
    length_ = kHead + padded;
    begun_ = TypeClass::none;
    return Status::ok;
}

Status TypeBuilder::array(DatatypeView base, Span<const std::uint32_t> dimensions) noexcept {
    if (base.empty() || dimensions.empty() || dimensions.size() > 32) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(check_depth(base));
    std::uint64_t size = base.size();
    for (const std::uint32_t dimension : dimensions) {
        if (dimension == 0) {
            return Status::invalid_argument;
        }
        size *= dimension;
        if (size > kMostBytes) {
            return Status::overflow;
        }
    }
    const std::size_t at = kHead + 1 + 4 * dimensions.size();
    H5MOTE_TRY(fits(at + base.encoded_length()));
    // The base type may stand in this very buffer.
    const std::size_t length = base.encoded_length();
    std::memmove(buffer_.data() + at, base.bytes().data(), length);
    detail::TypeWriter writer(buffer_.data());
    writer.head(3, TypeClass::array, 0, static_cast<std::size_t>(size));
    writer.uint(dimensions.size(), 1);
    for (const std::uint32_t dimension : dimensions) {
        writer.uint(dimension, 4);
    }
    length_ = at + length;
    begun_ = TypeClass::none;
    return Status::ok;
}

Status TypeBuilder::compound(std::uint32_t size) noexcept {
    if (size == 0) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(fits(kHead));
    detail::TypeWriter(buffer_.data()).head(3, TypeClass::compound, 0, size);
    length_ = kHead;
    begun_ = TypeClass::compound;
    return Status::ok;
}

Status TypeBuilder::check_name(std::string_view name) const noexcept {
    if (name.empty() || name.find('\0') != std::string_view::npos) {
        return Status::invalid_argument;
    }
    return parts() < kMostParts ? Status::ok : Status::overflow;
}

// The number of members stands in the first two bytes of the flags.
unsigned TypeBuilder::parts() const noexcept { return load_le<std::uint16_t>(buffer_.data() + 1); }

void TypeBuilder::count_part() noexcept {
    store_le<std::uint16_t>(buffer_.data() + 1, static_cast<std::uint16_t>(parts() + 1));
}

Status TypeBuilder::member(std::string_view name, std::uint32_t offset, DatatypeView type) noexcept {
    if (begun_ != TypeClass::compound || type.empty()) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(check_name(name));
    H5MOTE_TRY(check_depth(type));
    const DatatypeView whole({buffer_.data(), length_});
    const std::uint64_t end = std::uint64_t{offset} + type.size();
    bool apart = end <= whole.size();
    CompoundMembers walk(whole);
    CompoundMember other;
    while (walk.next(other)) {
        if (other.name == name) {
            return Status::already_exists;
        }
        apart = apart && (end <= other.offset || offset >= std::uint64_t{other.offset} + other.size());
    }
    if (!apart) {
        return Status::invalid_argument;
    }
    const unsigned width = detail::offset_width(whole.size());
    const std::size_t length = name.size() + 1 + width + type.encoded_length();
    H5MOTE_TRY(fits(length_ + length));
    std::byte* const at = put_text(buffer_.data() + length_, name);
    *at = std::byte{0};
    store_uint(at + 1, width, offset);
    std::memcpy(at + 1 + width, type.bytes().data(), type.encoded_length());
    length_ += length;
    count_part();
    return Status::ok;
}

Status TypeBuilder::enumeration(DatatypeView base) noexcept {
    if (base.type_class() != TypeClass::integer || base.size() > 8 || base.bit_offset() != 0) {
        return Status::type_mismatch;
    }
    const std::uint32_t size = base.size();
    const std::size_t length = base.encoded_length();
    H5MOTE_TRY(fits(kHead + length));
    std::memmove(buffer_.data() + kHead, base.bytes().data(), length);
    detail::TypeWriter(buffer_.data()).head(3, TypeClass::enumeration, 0, size);
    length_ = kHead + length;
    begun_ = TypeClass::enumeration;
    return Status::ok;
}

// In the message all names come before all values: the values move to make room for another name.
Status TypeBuilder::add_enumerator(std::string_view name, std::uint64_t bits, bool negative) noexcept {
    if (begun_ != TypeClass::enumeration) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(check_name(name));
    const DatatypeView whole({buffer_.data(), length_});
    const std::uint32_t size = whole.size();
    const bool is_signed = whole.is_signed();
    const unsigned digits = whole.base().precision() - (is_signed ? 1U : 0U);
    // The largest value. With a sign the smallest one is its complement; a signed number of one bit has no digits.
    const std::uint64_t most = digits == 0 ? 0 : ~std::uint64_t{0} >> (64 - digits);
    if (negative ? !is_signed || ~bits > most : bits > most) {
        return Status::overflow;
    }
    std::byte value[8];
    detail::TypeWriter(value).value(bits, size, whole.order());
    EnumMember other;
    if (whole.find_enum_name(name, other) || whole.find_enum_value(value, other)) {
        return Status::already_exists;
    }
    const std::size_t values = parts() * std::size_t{size};
    H5MOTE_TRY(fits(length_ + name.size() + 1 + size));
    std::byte* const at = buffer_.data() + length_ - values;
    std::memmove(at + name.size() + 1, at, values);
    *put_text(at, name) = std::byte{0};
    std::memcpy(at + name.size() + 1 + values, value, size);
    length_ += name.size() + 1 + size;
    count_part();
    return Status::ok;
}

}  // namespace h5mote
