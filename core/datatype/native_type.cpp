// H5T (H5Tnative) - the memory type in which a program reads what a file stores.
#include <h5mote/datatype.hpp>

#include "checked.hpp"
#include "cursor.hpp"
#include "number.hpp"
#include "supported.hpp"
#include "text.hpp"

#include <cfloat>

namespace h5mote {
namespace {

// Size and alignment of a C object.
struct Shape {
    std::uint64_t size = 0;
    std::uint32_t align = 1;
};

template <typename T>
Shape shape_of() {
    return {sizeof(T), alignof(T)};
}

Shape integer_shape(unsigned precision) {
    return precision <= 8    ? shape_of<std::uint8_t>()
           : precision <= 16 ? shape_of<std::uint16_t>()
           : precision <= 32 ? shape_of<std::uint32_t>()
                             : shape_of<std::uint64_t>();
}

Shape float_shape(std::uint32_t size) {
    return size <= 4 ? shape_of<float>() : size <= 8 ? shape_of<double>() : shape_of<long double>();
}

Shape native_shape(DatatypeView type);

// Adds `count` items of one shape to a struct; returns where they begin.
std::uint64_t place(Shape& whole, const Shape& member, std::uint64_t count) {
    const std::uint64_t at = (whole.size + member.align - 1) / member.align * member.align;
    // Sizes have 32 bits. One that is larger becomes 2^40, and stays too large whatever is added.
    std::uint64_t size = 0;
    whole.size =
        checked_multiply(member.size, count, size) && checked_add(at, size, whole.size) && whole.size <= 0xffffffffU
            ? whole.size
            : std::uint64_t{1} << 40;
    whole.align = member.align > whole.align ? member.align : whole.align;
    return at;
}

std::uint64_t product(ConstBytes dimensions) {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < dimensions.size(); i += 4) {
        count *= load_le<std::uint32_t>(dimensions.data() + i);
    }
    return count;
}

Shape array_shape(const MemberShape& array) {
    Shape whole;
    const Shape element = native_shape(array.element);
    (void)place(whole, element, product(array.dimensions));
    return whole;
}

Shape compound_shape(DatatypeView type) {
    Shape whole;
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        (void)place(whole, array_shape(MemberShape(member)), 1);
    }
    (void)place(whole, {0, whole.align}, 1);
    whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
    return whole;
}

// Calls itself as deep as the type is nested.
Shape native_shape(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            return integer_shape(type.precision());
        case TypeClass::floating:
            return float_shape(type.size());
        case TypeClass::enumeration:
            return integer_shape(type.base().precision());
        case TypeClass::compound:
            return compound_shape(type);
        case TypeClass::array:
            return array_shape(MemberShape(type));
        case TypeClass::complex: {
            const Shape part = native_shape(type.base());
            return {2 * part.size, part.align};
        }
        case TypeClass::variable_length:
            return {(type.is_variable_string() ? 1U : 2U) * sizeof(void*), alignof(void*)};
        case TypeClass::reference:
            return {type.size(), type.reference_type() == ReferenceType::region1
                                     ? 1U
                                     : static_cast<std::uint32_t>(alignof(std::uint64_t))};
        default:
            return {type.size(), 1};
    }
}

/// Writes the message, or only counts its bytes.
class NativeWriter {
public:
    explicit NativeWriter(const Writer& writer) : writer_(writer) {}

    void type(DatatypeView type);
    const Writer& writer() const { return writer_; }

private:
    void head(unsigned version, TypeClass type_class, std::uint32_t flags, std::uint64_t size) {
        writer_.u8(version << 4 | static_cast<unsigned>(type_class));
        writer_.uint(3, flags);
        writer_.u32(static_cast<std::uint32_t>(size));
    }
    void name(std::string_view text) {
        writer_.bytes(bytes_of(text));
        writer_.u8(0);
    }
    void bits(TypeClass type_class, bool is_signed, std::uint64_t size);
    void floating(std::uint64_t size);
    void enumeration(DatatypeView type);
    void array(const MemberShape& array);
    void compound(DatatypeView type);
    void sequence(DatatypeView type);

    Writer writer_;
};

constexpr unsigned kOrder = kNativeOrder == ByteOrder::big ? 1 : 0;

void NativeWriter::bits(TypeClass type_class, bool is_signed, std::uint64_t size) {
    head(1, type_class, kOrder | (is_signed ? 8U : 0U), size);
    writer_.u16(0);
    writer_.u16(static_cast<std::size_t>(8 * size));
}

void NativeWriter::floating(std::uint64_t size) {
    // `long double` has 80 bits (the mantissa's first one not implied), or 128 bits, or is a double.
    const bool extended = size > sizeof(double) && LDBL_MANT_DIG == 64;
    const unsigned mantissa = size == sizeof(float)    ? FLT_MANT_DIG - 1
                              : size == sizeof(double) ? DBL_MANT_DIG - 1
                              : extended               ? 64
                                                       : LDBL_MANT_DIG - 1;
    const unsigned exponent = size == sizeof(float) ? 8 : size == sizeof(double) ? 11 : 15;
    head(1, TypeClass::floating, kOrder | (extended ? 0U : 0x20U) | (mantissa + exponent) << 8, size);
    writer_.u16(0);
    writer_.u16(1 + exponent + mantissa);
    writer_.u8(mantissa);
    writer_.u8(exponent);
    writer_.u8(0);
    writer_.u8(mantissa);
    writer_.u32((1U << (exponent - 1)) - 1);
}

void NativeWriter::enumeration(DatatypeView type) {
    const DatatypeView base = type.base();
    const auto size = static_cast<std::uint32_t>(integer_shape(base.precision()).size);
    head(3, TypeClass::enumeration, type.member_count(), size);
    bits(TypeClass::integer, base.is_signed(), size);
    EnumMembers names(type);
    EnumMembers values(type);
    EnumMember member;
    while (names.next(member)) {
        name(member.name);
    }
    NumberFormat from;
    NumberFormat to = from;
    const bool known = from.assign(base);
    to.type = TypeClass::integer;
    to.order = kNativeOrder;
    to.flags = from.flags & NumberFormat::is_signed;
    to.size = static_cast<std::uint8_t>(size);
    to.precision = static_cast<std::uint16_t>(8 * size);
    while (values.next(member)) {
        std::byte value[sizeof(std::uint64_t)] = {};
        if (known) {
            convert_number(from, to, member.value.data(), value);
        }
        writer_.bytes({value, size});
    }
}

void NativeWriter::array(const MemberShape& array) {
    if (array.dimensions.empty()) {
        type(array.element);
        return;
    }
    head(3, TypeClass::array, 0, array_shape(array).size);
    writer_.u8(static_cast<std::uint32_t>(array.dimensions.size() / 4));
    writer_.bytes(array.dimensions);
    type(array.element);
}

void NativeWriter::compound(DatatypeView type) {
    const Shape whole = compound_shape(type);
    const unsigned width = uint_width(whole.size);
    head(3, TypeClass::compound, type.member_count(), whole.size);
    CompoundMembers members(type);
    CompoundMember member;
    Shape before;
    while (members.next(member)) {
        name(member.name);
        writer_.uint(width, place(before, array_shape(MemberShape(member)), 1));
        array(MemberShape(member));
    }
}

void NativeWriter::sequence(DatatypeView type) {
    const DatatypeView base = type.base();
    const bool has_parts = contains_class(base, TypeClass::compound) || contains_class(base, TypeClass::array) ||
                           contains_class(base, TypeClass::enumeration);
    const auto flags = static_cast<std::uint32_t>(load_uint(type.bytes().data() + 1, 3));
    head(has_parts ? 3 : 1, TypeClass::variable_length, flags, native_shape(type).size);
    if (type.is_variable_string()) {
        writer_.bytes(base.bytes());
    } else {
        this->type(base);
    }
}

// Calls itself as deep as the type is nested.
void NativeWriter::type(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            bits(type.type_class(), type.is_signed(), native_shape(type).size);
            break;
        case TypeClass::floating:
            floating(native_shape(type).size);
            break;
        case TypeClass::enumeration:
            enumeration(type);
            break;
        case TypeClass::compound:
            compound(type);
            break;
        case TypeClass::array:
            array(MemberShape(type));
            break;
        case TypeClass::variable_length:
            sequence(type);
            break;
        case TypeClass::complex:
            head(5, TypeClass::complex, 1, native_shape(type).size);
            this->type(type.base());
            break;
        default:
            writer_.bytes(type.bytes());
            break;
    }
}

}  // namespace

std::size_t native_type_length(DatatypeView file_type) noexcept {
    NativeWriter counter{Writer()};
    counter.type(file_type);
    return counter.writer().written();
}

Status native_type(DatatypeView file_type, Bytes buffer, DatatypeView& native) noexcept {
    if (file_type.empty()) {
        return Status::invalid_argument;
    }
    if (native_shape(file_type).size > 0xffffffffU) {
        return Status::overflow;
    }
    NativeWriter writer{Writer(buffer)};
    writer.type(file_type);
    if (!writer.writer().ok()) {
        return Status::over_budget;
    }
    // Arrays that are members of a version 1 compound are types of their own in the native type: it is nested deeper.
    const DatatypeView made(buffer.first(writer.writer().written()));
    if (type_depth(made) > H5MOTE_MAX_TYPE_DEPTH) {
        return Status::unsupported;
    }
    native = made;
    return Status::ok;
}

}  // namespace h5mote
