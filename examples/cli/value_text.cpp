#include "value_text.hpp"

#include "numbers.hpp"

#include <cstring>

namespace h5mote::cli {

namespace {

/// isprint() of the C locale.
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

std::uint32_t load_count(ConstBytes stored) {
    std::uint32_t count = 0;
    for (std::size_t i = 4; i-- > 0;) {
        count = count << 8 | static_cast<std::uint32_t>(stored[i]);
    }
    return count;
}

bool all_zero(ConstBytes bytes) {
    for (const std::byte byte : bytes) {
        if (byte != std::byte{0}) {
            return false;
        }
    }
    return true;
}

/// Writes the bits of an integer that `format` selects (h5dump -M) as a number of the native type.
void put_packed(TextSink& sink, const TextFormat& format, DatatypeView type, ConstBytes stored) {
    StoredInteger number = read_integer(type, stored);
    const unsigned size = 8 * native_integer_size(type.precision());
    if (format.bits_offset >= size) {
        number.bits = 0;
    } else if (number.is_signed) {
        number.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(number.bits) >> format.bits_offset);
    } else {
        number.bits >>= format.bits_offset;
    }
    number.bits &= format.bits_mask;
    if (number.is_signed && size < 64 && (number.bits >> (size - 1) & 1U) != 0) {
        number.bits |= ~std::uint64_t{0} << size;
    }
    put_integer(sink, number);
}

/// Writes a name with the special characters escaped as in C. The character after an escaped one is never escaped, as
/// in h5dump.
void put_escaped(TextSink& sink, std::string_view name) {
    static const char kSpecial[] = "'\"\\?\a\b\f\n\r\t\v";
    static const char kLetters[] = "'\"\\?abfnrtv";
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const char* const special = std::strchr(kSpecial, c);
        if (special != nullptr) {
            const char escape[2] = {'\\', kLetters[special - kSpecial]};
            sink.put(std::string_view(escape, 2));
        } else if (!is_printable(c)) {
            sink.print("\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            sink.put(c);
            continue;
        }
        if (i + 1 < name.size()) {
            sink.put(name[++i]);
        }
    }
}

}  // namespace

void put_character(TextSink& sink, const TextFormat& format, char character) {
    static const char kSpecial[] = "\"\\\b\f\n\r\t";
    static const char kLetters[] = "\"\\bfnrt";
    const char* const special = character == '\0' ? nullptr : std::strchr(kSpecial, character);
    if (special != nullptr && format.escape) {
        const char escape[2] = {'\\', kLetters[special - kSpecial]};
        sink.put(std::string_view(escape, 2));
    } else if (special != nullptr) {
        sink.put(character);
        if (character == '\n' || character == '\r') {
            sink.put("           ");
        }
    } else if (is_printable(character)) {
        sink.put(character);
    } else {
        // Bytes beyond ASCII come out as the octal form of a negative number, as in h5dump.
        const int number = static_cast<signed char>(character);
        sink.print("\\%03o", static_cast<unsigned>(number));
    }
}

void ValueText::put_indent(TextSink& sink, unsigned indent) {
    for (unsigned i = 0; i < indent; ++i) {
        sink.put(format_.indent);
    }
}

void ValueText::put_string(TextSink& sink, ConstBytes text, StringPadding padding) {
    sink.put("\"");
    for (const std::byte byte : text) {
        const char c = static_cast<char>(byte);
        if (c == '\0' && padding == StringPadding::null_terminated) {
            break;
        }
        put_character(sink, format_, c);
    }
    sink.put("\"");
}

void ValueText::put_variable_string(TextSink& sink, DatatypeView type, ConstBytes stored) {
    (void)type;
    const ConstBytes heap_id = stored.subspan(4);
    if (all_zero(heap_id.first(heap_id.size() - 4))) {
        sink.put("NULL");
        return;
    }
    const std::uint32_t length = load_count(stored);
    sink.put("\"");
    std::byte piece[512];
    bool ended = false;
    for (std::uint64_t done = 0; done < length && !ended;) {
        const std::size_t part =
            length - done < sizeof(piece) ? static_cast<std::size_t>(length - done) : sizeof(piece);
        const Status status = values_.read_variable(heap_id, done, Bytes(piece, part));
        if (status != Status::ok) {
            fail(status);
            break;
        }
        for (std::size_t i = 0; i < part && !ended; ++i) {
            ended = piece[i] == std::byte{0};
            if (!ended) {
                put_character(sink, format_, static_cast<char>(piece[i]));
            }
        }
        done += part;
    }
    sink.put("\"");
}

void ValueText::put_enumeration(TextSink& sink, DatatypeView type, ConstBytes stored) {
    EnumMember member;
    if (type.find_enum_value(stored.data(), member) && member.name.size() < 1024) {
        put_escaped(sink, member.name);
        return;
    }
    // A value without a name is printed as libhdf5 has it in memory. Conversion to the native type sets such a value to
    // all ones, which may have a name; without conversion the stored value is kept.
    const DatatypeView base = type.base();
    const unsigned native = native_integer_size(base.precision());
    const bool converted = native != base.size() || base.precision() != 8 * native || base.order() != ByteOrder::little;
    std::byte bytes[8];
    std::memset(bytes, 0xff, sizeof(bytes));
    if (!converted) {
        std::memcpy(bytes, stored.data(), native);
    } else if (base.size() <= sizeof(bytes) && type.find_enum_value(bytes, member) && member.name.size() < 1024) {
        put_escaped(sink, member.name);
        return;
    }
    put_hex(sink, ConstBytes(bytes, native));
}

void ValueText::put_bitfield(TextSink& sink, DatatypeView type, ConstBytes stored) {
    const std::uint64_t bits = read_integer(type, stored).bits;
    std::byte bytes[8];
    for (unsigned i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::byte>(bits >> (8 * i));
    }
    put_hex(sink, ConstBytes(bytes, native_integer_size(type.precision())));
}

void ValueText::put_compound(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent) {
    sink.put(format_.compound_begin);
    CompoundMembers members(type);
    CompoundMember member;
    bool first = true;
    while (members.next(member)) {
        sink.put(first ? format_.compound_edge : format_.compound_separator);
        first = false;
        if (format_.array_line_breaks) {
            put_indent(sink, indent + 1);
        }
        if (format_.name_suffix != nullptr) {
            sink.put(member.name);
            sink.put(format_.name_suffix);
        }
        const ConstBytes value = stored.subspan(member.offset, member.size());
        if (member.dimensions.empty()) {
            put(sink, member.type, value, indent + 1);
        } else {
            put_array(sink, member.type, member.dimensions, value, indent + 1);
        }
    }
    if (format_.array_line_breaks) {
        sink.put(format_.compound_edge);
        put_indent(sink, indent);
    }
    sink.put(format_.compound_end);
}

void ValueText::put_array(TextSink& sink, DatatypeView element, ConstBytes dimensions, ConstBytes stored,
                          unsigned indent) {
    sink.put(format_.array_begin);
    const std::uint32_t size = element.size();
    const std::size_t count = size == 0 ? 0 : stored.size() / size;
    const std::uint32_t row = dimensions.size() < 4 ? 0 : load_count(dimensions.subspan(dimensions.size() - 4));
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) {
            sink.put(format_.array_separator);
            if (format_.array_line_breaks && row != 0 && i % row == 0) {
                sink.put("\n");
                put_indent(sink, indent + 1);
            } else if (after_array_) {
                sink.put("\n ");
                put_indent(sink, indent + 1);
            } else {
                sink.put(" ");
            }
        }
        after_array_ = false;
        put(sink, element, stored.subspan(i * size, size), indent + 1);
    }
    sink.put(format_.array_end);
    after_array_ = true;
}

void ValueText::put_sequence(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent) {
    sink.put(format_.sequence_begin);
    const DatatypeView base = type.base();
    const std::size_t size = base.size();
    const ConstBytes heap_id = stored.subspan(4);
    std::uint64_t left = load_count(stored);
    if (all_zero(heap_id.first(heap_id.size() - 4)) || size == 0) {
        left = 0;
    }
    if (left != 0) {
        // Read up to 1024 bytes of elements at a time, but at least one element.
        std::uint64_t per_piece = size >= 1024 ? 1 : 1024 / size;
        per_piece = per_piece < left ? per_piece : left;
        const std::size_t bytes = static_cast<std::size_t>(per_piece) * size;
        auto* const piece = static_cast<std::byte*>(memory_.allocate(MemoryKind::other, bytes));
        if (piece == nullptr) {
            fail(Status::out_of_memory);
            left = 0;
        }
        std::uint64_t offset = 0;
        while (left != 0 && status_ == Status::ok) {
            const std::uint64_t count = per_piece < left ? per_piece : left;
            const Bytes to(piece, static_cast<std::size_t>(count) * size);
            const Status status = values_.read_variable(heap_id, offset, to);
            if (status != Status::ok) {
                fail(status);
                break;
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (offset != 0 || i != 0) {
                    sink.put(format_.sequence_separator);
                }
                put(sink, base, ConstBytes(piece + i * size, size), indent + 1);
            }
            offset += to.size();
            left -= count;
        }
        memory_.release(MemoryKind::other, piece, bytes);
    }
    sink.put(format_.sequence_end);
}

void ValueText::put(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent) {
    switch (type.type_class()) {
        case TypeClass::integer:
            if (format_.characters && type.precision() <= 8) {
                put_character(sink, format_, static_cast<char>(read_integer(type, stored).bits & 0xffU));
            } else if (format_.packed) {
                put_packed(sink, format_, type, stored);
            } else {
                put_integer(sink, read_integer(type, stored));
            }
            return;
        case TypeClass::floating:
            put_float(sink, type, stored, format_.number_format);
            return;
        case TypeClass::string:
            put_string(sink, stored, type.padding());
            return;
        case TypeClass::bitfield:
            put_bitfield(sink, type, stored);
            return;
        case TypeClass::opaque:
        case TypeClass::time:
            put_hex(sink, stored);
            return;
        case TypeClass::compound:
            put_compound(sink, type, stored, indent);
            return;
        case TypeClass::reference:
            if (all_zero(stored)) {
                sink.put("NULL");
            } else {
                values_.put_reference(sink, type.reference_type(), stored);
            }
            return;
        case TypeClass::enumeration:
            put_enumeration(sink, type, stored);
            return;
        case TypeClass::variable_length:
            if (stored.size() < 8) {  // the datatype message is damaged
                fail(Status::corrupt_file);
            } else if (type.is_variable_string()) {
                put_variable_string(sink, type, stored);
            } else {
                put_sequence(sink, type, stored, indent);
            }
            return;
        case TypeClass::array:
            put_array(sink, type.base(), type.dimension_bytes(), stored, indent);
            return;
        case TypeClass::complex: {
            const DatatypeView part = type.base();
            put_float(sink, part, stored.first(part.size()), format_.number_format);
            const long double imaginary = read_float(part, stored.subspan(part.size()));
            if (!(imaginary < 0)) {
                sink.put("+");
            }
            put_float(sink, part, stored.subspan(part.size()), format_.number_format);
            sink.put("i");
            return;
        }
        default:
            sink.put("invalid datatype");
            return;
    }
}

}  // namespace h5mote::cli
