// h5mote ls: datatypes.
#include "ls.hpp"
#include "numbers.hpp"
#include "type_text.hpp"

#include <cstring>

namespace h5mote::cli {

namespace {

constexpr unsigned kIndent = 4;

struct TypeName {
    const char* predefined;
    const char* shown;
    bool in_simple;
};
constexpr TypeName kNames[] = {
    {"H5T_STD_I8LE", "native signed char", false},
    {"H5T_STD_U8LE", "native unsigned char", false},
    {"H5T_STD_I16LE", "native short", false},
    {"H5T_STD_U16LE", "native unsigned short", false},
    {"H5T_STD_I32LE", "native int", false},
    {"H5T_STD_U32LE", "native unsigned int", false},
    {"H5T_STD_I64LE", "native long", false},
    {"H5T_STD_U64LE", "native unsigned long", false},
    {"H5T_IEEE_F32LE", "native float", false},
    {"H5T_IEEE_F64LE", "native double", false},
    {"H5T_STD_B8LE", "native 8-bit field", false},
    {"H5T_STD_B16LE", "native 16-bit field", false},
    {"H5T_STD_B32LE", "native 32-bit field", false},
    {"H5T_STD_B64LE", "native 64-bit field", false},
    {"H5T_IEEE_F32BE", "IEEE 32-bit big-endian float", true},
    {"H5T_IEEE_F32LE", "IEEE 32-bit little-endian float", true},
    {"H5T_IEEE_F64BE", "IEEE 64-bit big-endian float", true},
    {"H5T_IEEE_F64LE", "IEEE 64-bit little-endian float", true},
};

const char* shown_name(DatatypeView type, bool simple) {
    const char* const name = predefined_name(type);
    if (name != nullptr) {
        for (const TypeName& entry : kNames) {
            if ((entry.in_simple || !simple) && std::strcmp(name, entry.predefined) == 0) {
                return entry.shown;
            }
        }
    }
    return nullptr;
}

const char* order_name(DatatypeView type) {
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

// The kind of padding that a bit of the message's bit field stands for: bit 1 is the padding below the value, bit 2
// above it, bit 3 within a floating-point number.
const char* padding_name(DatatypeView type, unsigned bit) {
    return (static_cast<unsigned>(type.bytes()[1]) >> bit & 1U) != 0 ? "one" : "zero";
}

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

std::uint64_t element_count(ConstBytes dimensions) {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i + 4 <= dimensions.size(); i += 4) {
        std::uint32_t dim = 0;
        for (unsigned b = 0; b < 4; ++b) {
            dim |= static_cast<std::uint32_t>(dimensions[i + b]) << (8 * b);
        }
        count *= dim;
    }
    return count;
}

std::uint64_t member_memory_size(const CompoundMember& member) {
    return element_count(member.dimensions) * memory_size(member.type);
}

}  // namespace

std::size_t put_escaped(TextSink& sink, std::string_view text, bool escape_spaces) {
    static constexpr char kSpecial[] = "\"\\\b\f\n\r\t";
    static constexpr char kWritten[] = "\"\\bfnrt";
    std::size_t columns = 0;
    for (const char c : text) {
        if (c == '\0') {
            break;
        }
        const char* const special = std::strchr(kSpecial, c);
        if (special != nullptr) {
            sink.put('\\');
            sink.put(kWritten[special - kSpecial]);
            columns += 2;
        } else if (c == ' ' && escape_spaces) {
            sink.put("\\ ");
            columns += 2;
        } else if (c >= ' ' && c < 0x7f) {
            sink.put(c);
            ++columns;
        } else {
            sink.print("\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
            columns += 4;
        }
    }
    return columns;
}

std::uint64_t memory_size(DatatypeView type) {
    switch (type.type_class()) {
        case TypeClass::variable_length:
            return type.is_variable_string() ? 8 : 16;
        case TypeClass::reference:
            return type.reference_type() == ReferenceType::object1   ? 8
                   : type.reference_type() == ReferenceType::region1 ? 12
                                                                     : type.size();
        case TypeClass::array:
            return element_count(type.dimension_bytes()) * memory_size(type.base());
        case TypeClass::compound: {
            std::uint64_t size = type.size();
            CompoundMembers walk(type);
            CompoundMember member;
            while (walk.next(member)) {
                size += member_memory_size(member) - member.size();
            }
            return size;
        }
        default:
            return type.size();
    }
}

void LsTypeText::new_line(unsigned indent) { sink_.print("\n%*s", static_cast<int>(indent), ""); }

void LsTypeText::put_precision(DatatypeView type, unsigned indent) {
    const std::uint64_t bits = 8 * std::uint64_t{type.size()};
    const std::uint64_t precision = type.precision();
    const std::uint64_t offset = type.bit_offset();
    if (bits == precision) {
        return;
    }
    new_line(indent);
    sink_.print("(%lu bit%s of precision beginning at bit %lu)", static_cast<unsigned long>(precision),
                plural(precision), static_cast<unsigned long>(offset));
    const bool above = offset + precision < bits;
    if (offset == 0 && !above) {
        return;
    }
    new_line(indent);
    sink_.put("(");
    if (offset > 0) {
        sink_.print("%lu %s bit%s at bit 0", static_cast<unsigned long>(offset), padding_name(type, 1), plural(offset));
    }
    if (above) {
        const std::uint64_t left = bits - offset - precision;
        sink_.print("%s%lu %s bit%s at bit %lu", offset > 0 ? ", " : "", static_cast<unsigned long>(left),
                    padding_name(type, 2), plural(left), static_cast<unsigned long>(bits - left));
    }
    sink_.put(")");
}

void LsTypeText::put_float(DatatypeView type, unsigned indent) {
    sink_.print("%lu-bit%s floating-point", 8 * static_cast<unsigned long>(type.size()), order_name(type));
    put_precision(type, indent);
    static constexpr const char* kNormalizations[] = {", no normalization", ", msb always set", ", msb implied",
                                                      ", unknown normalization"};
    const FloatFields fields = type.float_fields();
    new_line(indent);
    sink_.print("(significant for %u bit%s at bit %u%s)", unsigned{fields.mantissa_size}, plural(fields.mantissa_size),
                unsigned{fields.mantissa}, kNormalizations[fields.normalization & 3U]);
    new_line(indent);
    sink_.print("(exponent for %u bit%s at bit %u, bias is 0x%lx)", unsigned{fields.exponent_size},
                plural(fields.exponent_size), unsigned{fields.exponent}, static_cast<unsigned long>(fields.bias));
    new_line(indent);
    sink_.print("(sign bit at %u)", unsigned{fields.sign});
    if (1U + fields.exponent_size + fields.mantissa_size < type.precision()) {
        new_line(indent);
        sink_.print("(internal padding bits are %s)", padding_name(type, 3));
    }
}

void LsTypeText::put_number(DatatypeView type, unsigned indent) {
    const char* const name = shown_name(type, simple_);
    if (name != nullptr) {
        sink_.put(name);
        return;
    }
    if (type.type_class() == TypeClass::floating) {
        put_float(type, indent);
        return;
    }
    const bool integer = type.type_class() == TypeClass::integer;
    sink_.print("%lu-bit%s%s %s", 8 * static_cast<unsigned long>(type.size()), order_name(type),
                integer && !type.is_signed() ? " unsigned" : "", integer ? "integer" : "bitfield");
    put_precision(type, indent);
}

void LsTypeText::put_dimensions(ConstBytes dimensions) {
    for (std::size_t i = 0; i + 4 <= dimensions.size(); i += 4) {
        sink_.put(i == 0 ? "[" : ",");
        sink_.put_unsigned(element_count(ConstBytes(dimensions.data() + i, 4)));
    }
    sink_.put("] ");
}

void LsTypeText::put_member(const CompoundMember& member, std::uint64_t offset, unsigned indent) {
    new_line(indent + kIndent);
    sink_.put('"');
    const std::size_t columns = put_escaped(sink_, member.name, false);
    sink_.print("\"%*s +%-4llu ", columns < 16 ? static_cast<int>(16 - columns) : 0, "",
                static_cast<unsigned long long>(offset));
    unsigned inner = indent + kIndent;
    if (!member.dimensions.empty()) {
        put_dimensions(member.dimensions);
        inner += kIndent;
    }
    put(member.type, inner);
}

// Prints the members in the order of their offsets. The offset of a member in memory differs from the stored one by
// what the members before it grow or shrink in memory.
void LsTypeText::put_compound(DatatypeView type, unsigned indent) {
    sink_.put("struct {");
    const std::uint64_t size = memory_size(type);
    bool ordered = true;
    CompoundMember member;
    std::uint64_t last = 0;
    for (CompoundMembers walk(type); walk.next(member);) {
        ordered = ordered && member.offset >= last;
        last = member.offset;
    }
    std::uint64_t moved = 0;
    if (ordered || size == type.size() || type.member_count() > 4096) {
        for (CompoundMembers walk(type); walk.next(member);) {
            put_member(member, member.offset + moved, indent);
            moved += member_memory_size(member) - member.size();
        }
    } else {
        std::uint64_t from = 0;
        for (unsigned shown = 0; shown < type.member_count();) {
            std::uint64_t next = ~std::uint64_t{0};
            for (CompoundMembers walk(type); walk.next(member);) {
                next = member.offset >= from && member.offset < next ? member.offset : next;
            }
            for (CompoundMembers walk(type); walk.next(member);) {
                if (member.offset == next) {
                    put_member(member, next + moved, indent);
                    moved += member_memory_size(member) - member.size();
                    ++shown;
                }
            }
            from = next + 1;
        }
    }
    new_line(indent);
    sink_.print("} %llu byte%s", static_cast<unsigned long long>(size), plural(size));
}

void LsTypeText::put_enumeration(DatatypeView type, unsigned indent) {
    const DatatypeView base = type.base();
    sink_.put("enum ");
    put(base, indent + kIndent);
    sink_.put(" {");
    EnumMember member;
    for (EnumMembers walk(type); walk.next(member);) {
        new_line(indent + kIndent);
        const std::size_t columns = put_escaped(sink_, member.name, true);
        sink_.print("%*s = ", columns < 16 ? static_cast<int>(16 - columns) : 0, "");
        if (base.size() <= 8) {
            put_integer(sink_, read_integer(base, member.value));
        } else {
            sink_.put("0x");
            for (std::size_t i = 0; i < member.value.size(); ++i) {
                sink_.print("%02x", static_cast<unsigned>(member.value[i]));
            }
        }
    }
    if (type.member_count() == 0) {
        new_line(indent + kIndent);
        sink_.put(" <empty>");
    }
    new_line(indent);
    sink_.put("}");
}

void LsTypeText::put_string(DatatypeView type) {
    if (type.type_class() == TypeClass::variable_length) {
        sink_.put("variable-length");
    } else {
        sink_.print("%lu-byte", static_cast<unsigned long>(type.size()));
    }
    switch (type.padding()) {
        case StringPadding::null_terminated:
            sink_.put(" null-terminated");
            break;
        case StringPadding::null_padded:
            sink_.put(" null-padded");
            break;
        case StringPadding::space_padded:
            sink_.put(" space-padded");
            break;
        default:
            sink_.put(" unknown-format");
            break;
    }
    switch (type.character_set()) {
        case CharacterSet::ascii:
            sink_.put(" ASCII string");
            break;
        case CharacterSet::utf8:
            sink_.put(" UTF-8 string");
            break;
        default:
            sink_.put(" unknown-character-set string");
            break;
    }
}

void LsTypeText::put(DatatypeView type, unsigned indent) {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::floating:
        case TypeClass::bitfield:
            put_number(type, indent);
            return;
        case TypeClass::compound:
            put_compound(type, indent);
            return;
        case TypeClass::enumeration:
            put_enumeration(type, indent);
            return;
        case TypeClass::string:
            put_string(type);
            return;
        case TypeClass::reference:
            if (type.reference_type() == ReferenceType::object1) {
                sink_.put("object reference");
            } else if (type.reference_type() == ReferenceType::region1) {
                sink_.put("dataset region reference");
            } else {
                sink_.print("%lu-byte unknown reference", static_cast<unsigned long>(type.size()));
            }
            return;
        case TypeClass::variable_length:
            if (type.is_variable_string()) {
                put_string(type);
                return;
            }
            sink_.put("variable length of");
            new_line(indent + kIndent);
            put(type.base(), indent + kIndent);
            return;
        case TypeClass::array:
            put_dimensions(type.dimension_bytes());
            put(type.base(), indent + kIndent);
            return;
        case TypeClass::opaque:
            sink_.print("%lu-byte opaque type", static_cast<unsigned long>(type.size()));
            new_line(indent);
            sink_.put("(tag = \"");
            put_escaped(sink_, type.tag(), false);
            sink_.put("\")");
            return;
        default:
            sink_.print("%lu-byte class-%u unknown", static_cast<unsigned long>(type.size()),
                        static_cast<unsigned>(type.type_class()));
            return;
    }
}

}  // namespace h5mote::cli
