#include "type_text.hpp"

#include "numbers.hpp"

namespace h5mote::cli {

namespace {

const char* order_text(DatatypeView type) {
    if (type.size() <= 1) {
        return "";
    }
    switch (type.order()) {
        case ByteOrder::little:
            return " little-endian";
        case ByteOrder::big:
            return " big-endian";
        case ByteOrder::vax:
            return " mixed-endian";
        default:
            return " unknown-byte-order";
    }
}

/// Whether the padding bits of the type's bit field that `mask` selects are zero, as they are in predefined types.
bool zero_padding(DatatypeView type, unsigned mask) { return (static_cast<unsigned>(type.bytes()[1]) & mask) == 0; }

const char* integer_name(DatatypeView type) {
    static const char* const kNames[2][2][4] = {{{"H5T_STD_U8LE", "H5T_STD_U16LE", "H5T_STD_U32LE", "H5T_STD_U64LE"},
                                                 {"H5T_STD_U8BE", "H5T_STD_U16BE", "H5T_STD_U32BE", "H5T_STD_U64BE"}},
                                                {{"H5T_STD_I8LE", "H5T_STD_I16LE", "H5T_STD_I32LE", "H5T_STD_I64LE"},
                                                 {"H5T_STD_I8BE", "H5T_STD_I16BE", "H5T_STD_I32BE", "H5T_STD_I64BE"}}};
    static const char* const kBitNames[2][4] = {{"H5T_STD_B8LE", "H5T_STD_B16LE", "H5T_STD_B32LE", "H5T_STD_B64LE"},
                                                {"H5T_STD_B8BE", "H5T_STD_B16BE", "H5T_STD_B32BE", "H5T_STD_B64BE"}};
    const std::uint32_t size = type.size();
    if (size > 8 || (size & (size - 1)) != 0 || type.bit_offset() != 0 || type.precision() != 8 * size ||
        !zero_padding(type, 0x06)) {
        return nullptr;
    }
    const unsigned index = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    const unsigned big = type.order() == ByteOrder::big ? 1 : 0;
    return type.type_class() == TypeClass::bitfield ? kBitNames[big][index]
                                                    : kNames[type.is_signed() ? 1 : 0][big][index];
}

const char* float_name(DatatypeView type) {
    struct Known {
        const char* name;
        ByteOrder order;
        std::uint8_t size;
        std::uint8_t exponent_size;
        std::uint8_t mantissa_size;
        std::uint32_t bias;
    };
    static const Known kKnown[] = {
        {"H5T_IEEE_F32BE", ByteOrder::big, 4, 8, 23, 127},   {"H5T_IEEE_F32LE", ByteOrder::little, 4, 8, 23, 127},
        {"H5T_IEEE_F64BE", ByteOrder::big, 8, 11, 52, 1023}, {"H5T_IEEE_F64LE", ByteOrder::little, 8, 11, 52, 1023},
        {"H5T_VAX_F32", ByteOrder::vax, 4, 8, 23, 0x81},     {"H5T_VAX_F64", ByteOrder::vax, 8, 11, 52, 0x401},
    };
    const FloatFields form = type.float_fields();
    for (const Known& known : kKnown) {
        if (type.size() == known.size && type.order() == known.order && type.precision() == 8U * known.size &&
            type.bit_offset() == 0 && form.sign == 8U * known.size - 1 && form.exponent == known.mantissa_size &&
            form.exponent_size == known.exponent_size && form.mantissa == 0 &&
            form.mantissa_size == known.mantissa_size && form.normalization == 2 && form.bias == known.bias &&
            zero_padding(type, 0x0e)) {
            return known.name;
        }
    }
    return nullptr;
}

/// Whether h5dump describes a string type as H5T_C_S1: variable-length strings must have a base type of unsigned 8-bit
/// integers.
bool is_c_string(DatatypeView type) {
    if (!type.is_variable_string()) {
        return true;
    }
    const DatatypeView base = type.base();
    return base.type_class() == TypeClass::integer && base.size() == 1 && base.precision() == 8 && !base.is_signed();
}

/// Whether h5dump 1.10 does not know the type. Such types, and sequences of them, are printed as by h5dump 2.0.
bool is_new(DatatypeView type) {
    const TypeClass type_class = type.type_class();
    return type_class == TypeClass::complex ||
           (type_class == TypeClass::reference && type.reference_type() >= ReferenceType::object2);
}

void put_dims(TextSink& sink, Span<const std::uint64_t> dims) {
    sink.put("( ");
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i != 0) {
            sink.put(", ");
        }
        if (dims[i] == kUnlimited) {
            sink.put("H5S_UNLIMITED");
        } else {
            sink.put_unsigned(dims[i]);
        }
    }
    sink.put(" )");
}

}  // namespace

const char* predefined_name(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::bitfield:
            return integer_name(type);
        case TypeClass::floating:
            return float_name(type);
        default:
            return nullptr;
    }
}

void TypeText::show(ElementText& text, Lines& lines) {
    printer_.print(lines, format_, text);
    text.reset();
    lines.need_prefix = true;
}

void TypeText::put_string(ElementText& text, Lines& lines, DatatypeView type) {
    text.put("H5T_STRING {");
    show(text, lines);
    ++lines.indent;
    text.put("STRSIZE ");
    if (type.is_variable_string()) {
        text.put("H5T_VARIABLE;");
    } else {
        text.put_signed(static_cast<std::int32_t>(type.size()));
        text.put(";");
    }
    show(text, lines);
    text.put("STRPAD ");
    switch (type.padding()) {
        case StringPadding::null_terminated:
            text.put("H5T_STR_NULLTERM;");
            break;
        case StringPadding::null_padded:
            text.put("H5T_STR_NULLPAD;");
            break;
        case StringPadding::space_padded:
            text.put("H5T_STR_SPACEPAD;");
            break;
        default:
            text.put("H5T_STR_UNKNOWN;");
            break;
    }
    show(text, lines);
    text.put("CSET ");
    switch (type.character_set()) {
        case CharacterSet::ascii:
            text.put("H5T_CSET_ASCII;");
            break;
        case CharacterSet::utf8:
            text.put("H5T_CSET_UTF8;");
            break;
        default:
            text.put("H5T_CSET_UNKNOWN;");
            break;
    }
    show(text, lines);
    text.put(is_c_string(type) ? "CTYPE H5T_C_S1;" : "CTYPE unknown_one_character_type;");
    show(text, lines);
    --lines.indent;
    text.put("}");
}

void TypeText::put_opaque(ElementText& text, Lines& lines, DatatypeView type) {
    text.put("H5T_OPAQUE {");
    show(text, lines);
    ++lines.indent;
    text.put("OPAQUE_TAG \"");
    text.put(type.tag());
    text.put("\";");
    show(text, lines);
    --lines.indent;
    text.put("}");
}

void TypeText::put_compound(ElementText& text, Lines& lines, DatatypeView type) {
    text.put("H5T_COMPOUND {");
    show(text, lines);
    ++lines.indent;
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        if (member.dimensions.empty()) {
            put(text, lines, member.type);
        } else {
            put_array(text, lines, member.type, member.dimensions);
        }
        text.put(" \"");
        text.put(member.name);
        text.put("\";");
        show(text, lines);
    }
    --lines.indent;
    text.put("}");
}

void TypeText::put_enumeration(ElementText& text, Lines& lines, DatatypeView type) {
    text.put("H5T_ENUM {");
    show(text, lines);
    ++lines.indent;
    const DatatypeView base = type.base();
    put(text, lines, base);
    text.put(";");
    show(text, lines);
    EnumMembers members(type);
    EnumMember member;
    while (members.next(member)) {
        printer_.start_line(lines, format_);
        text.put("\"");
        text.put(member.name);
        text.put("\"");
        for (std::size_t i = member.name.size(); i < 16; ++i) {
            text.put(" ");
        }
        text.put(" ");
        if (base.size() <= 8) {
            put_integer(text, read_integer(base, member.value));
        } else {
            text.put("0x");
            for (const std::byte byte : member.value) {
                text.print("%02x", static_cast<unsigned>(byte));
            }
        }
        text.put(";");
        show(text, lines);
    }
    --lines.indent;
    text.put("}");
}

void TypeText::put_array(ElementText& text, Lines& lines, DatatypeView element, ConstBytes dimensions) {
    text.put("H5T_ARRAY { ");
    for (std::size_t i = 0; i + 4 <= dimensions.size(); i += 4) {
        std::uint32_t dimension = 0;
        for (std::size_t byte = 4; byte-- > 0;) {
            dimension = dimension << 8 | static_cast<std::uint32_t>(dimensions[i + byte]);
        }
        text.put("[");
        text.put_unsigned(dimension);
        text.put("]");
    }
    text.put(" ");
    put(text, lines, element);
    text.put(" }");
}

// h5dump 2.0 has names for complex numbers whose parts have a predefined IEEE 754 type.
void TypeText::put_complex(ElementText& text, Lines& lines, DatatypeView type) {
    const DatatypeView part = type.base();
    const char* const name = predefined_name(part);
    constexpr std::string_view kIeee = "H5T_IEEE_";
    if (name != nullptr && std::string_view(name).substr(0, kIeee.size()) == kIeee) {
        text.put("H5T_COMPLEX_IEEE_");
        text.put(name + kIeee.size());
        return;
    }
    text.put("H5T_COMPLEX { ");
    put(text, lines, part);
    text.put(" }");
}

void TypeText::put(ElementText& text, Lines& lines, DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::integer: {
            const char* const name = integer_name(type);
            if (name != nullptr) {
                text.put(name);
                return;
            }
            text.put_unsigned(8 * std::uint64_t{type.size()});
            text.put("-bit");
            text.put(order_text(type));
            text.put(type.is_signed() ? " integer " : " unsigned integer ");
            text.put_unsigned(type.precision());
            text.put("-bit precision");
            return;
        }
        case TypeClass::floating: {
            const char* const name = float_name(type);
            if (name != nullptr) {
                text.put(name);
                return;
            }
            text.put_unsigned(8 * std::uint64_t{type.size()});
            text.put("-bit");
            text.put(order_text(type));
            text.put(" floating-point ");
            text.put_unsigned(type.precision());
            text.put("-bit precision");
            return;
        }
        case TypeClass::time:
            text.put("H5T_TIME: not yet implemented");
            return;
        case TypeClass::string:
            put_string(text, lines, type);
            return;
        case TypeClass::bitfield: {
            const char* const name = integer_name(type);
            text.put(name != nullptr ? name : "undefined bitfield");
            return;
        }
        case TypeClass::opaque:
            put_opaque(text, lines, type);
            return;
        case TypeClass::compound:
            put_compound(text, lines, type);
            return;
        case TypeClass::reference: {
            const bool object = type.reference_type() == ReferenceType::object1 && type.size() == 8;
            const bool region = type.reference_type() == ReferenceType::region1 && type.size() == 12;
            const bool revised = type.reference_type() >= ReferenceType::object2;
            text.put(object    ? "H5T_REFERENCE { H5T_STD_REF_OBJECT }"
                     : region  ? "H5T_REFERENCE { H5T_STD_REF_DSETREG }"
                     : revised ? "H5T_REFERENCE { H5T_STD_REF }"
                               : "H5T_REFERENCE { UNDEFINED }");
            return;
        }
        case TypeClass::enumeration:
            put_enumeration(text, lines, type);
            return;
        case TypeClass::variable_length:
            if (type.is_variable_string()) {
                put_string(text, lines, type);
                return;
            }
            text.put("H5T_VLEN { ");
            put(text, lines, type.base());
            text.put(is_new(type.base()) ? " }" : "}");
            return;
        case TypeClass::array:
            put_array(text, lines, type.base(), type.dimension_bytes());
            return;
        case TypeClass::complex:
            put_complex(text, lines, type);
            return;
        default:
            text.put("unknown datatype");
            return;
    }
}

void put_dataspace(TextSink& sink, const Dataspace& space) {
    // The text begins with a space, in addition to the one after the keyword DATASPACE: the HDF5 tools print another
    // text, empty here, between the two spaces.
    switch (space.space_class()) {
        case DataspaceClass::scalar:
            sink.put(" SCALAR");
            return;
        case DataspaceClass::null:
            sink.put(" NULL");
            return;
        default:
            sink.put(" SIMPLE { ");
            put_dims(sink, space.dims());
            sink.put(" / ");
            put_dims(sink, space.max_dims());
            sink.put(" }");
            return;
    }
}

}  // namespace h5mote::cli
