// Fuzzes datatype messages: validates two of them, calls every accessor, compares them, makes native types, and
// converts values from one type to the other and to the native type. An input has (offset, size, meaning):
//
//   0  1  length of the first message, in units of 4 bytes; the second follows it
//   1  1  bit 0: values are in their stored form, with variable-length data in a simulated heap
//   2     messages, values
#include "conversion.hpp"
#include "datatype_message.hpp"
#include "supported.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/variable_length.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace h5mote;

// A simulated heap: the first byte of an id gives the size of the object, or that it cannot be read.
class Objects final : public VariableSource {
public:
    Status size(ConstBytes heap_id, std::uint64_t& bytes) noexcept override {
        const unsigned first = std::to_integer<unsigned>(heap_id[0]);
        bytes = first % 64;
        return first < 224 ? Status::ok : Status::corrupt_file;
    }
    Status read(ConstBytes heap_id, std::uint64_t offset, Bytes to) noexcept override {
        std::uint64_t bytes = 0;
        H5MOTE_TRY(size(heap_id, bytes));
        if (offset > bytes || to.size() > bytes - offset) {
            return Status::corrupt_file;
        }
        std::memset(to.data(), static_cast<int>(offset), to.size());
        return Status::ok;
    }
};

void touch(ConstBytes bytes) noexcept {
    unsigned sum = 0;
    for (const std::byte each : bytes) {
        sum += std::to_integer<unsigned>(each);
    }
    volatile unsigned used = sum;
    (void)used;
}

void touch(std::string_view text) noexcept {
    touch(ConstBytes{reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

void look(DatatypeView type, unsigned depth) noexcept {
    if (depth > H5MOTE_MAX_TYPE_DEPTH + 2) {
        std::abort();
    }
    (void)type.order();
    (void)type.is_signed();
    (void)type.bit_offset();
    (void)type.precision();
    (void)type.float_fields();
    (void)type.padding();
    (void)type.character_set();
    (void)type.is_variable_string();
    (void)type.reference_type();
    touch(type.tag());
    touch(type.dimension_bytes());
    for (unsigned i = 0; i < type.rank(); ++i) {
        (void)type.dimension(i);
    }
    unsigned seen = 0;
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        CompoundMember same;
        touch(member.name);
        (void)member.size();
        if (!type.find_member(member.name, same) || (seen < 4 && !type.member(seen, same))) {
            std::abort();
        }
        look(member.type, depth + 1);
        ++seen;
    }
    EnumMembers names(type);
    EnumMember name;
    while (names.next(name)) {
        EnumMember same;
        touch(name.name);
        touch(name.value);
        if (!type.find_enum_name(name.name, same) || !type.find_enum_value(name.value.data(), same) ||
            (seen < 4 && !type.enum_member(seen, same))) {
            std::abort();
        }
        ++seen;
    }
    if (seen != type.member_count()) {
        std::abort();
    }
    if (const DatatypeView base = type.base(); !base.empty()) {
        look(base, depth + 1);
    }
    for (unsigned each = 0; each < 12; ++each) {
        (void)contains_class(type, static_cast<TypeClass>(each));
    }
    (void)type_depth(type);
    (void)is_plain(type);
}

bool parse(Context& context, ConstBytes& from, DatatypeView& type) noexcept {
    // Parse in place, not from a copy of the message alone: the parser has to find the end of the message itself, and
    // the view borrows its bytes.
    if (parse_datatype(context, from, type) != Status::ok) {
        return false;
    }
    if (type.encoded_length() > from.size() || datatype_length(from.data()) != type.encoded_length()) {
        std::abort();
    }
    from = from.subspan(type.encoded_length());
    return true;
}

void convert(Context& context, DatatypeView from, DatatypeView to, bool file, ConstBytes values) noexcept {
    constexpr std::size_t kMost = 4096;
    if (from.size() > kMost || to.size() > kMost) {
        return;
    }
    Objects objects;
    FileValues side;
    if (file) {
        side = {FileValues::Side::from, 8, &objects};
    }
    Conversion conversion;
    if (conversion.prepare(context, from, to, side) != Status::ok) {
        return;
    }
    constexpr std::size_t kValues = 3;
    std::vector<std::byte> source(kValues * from.size());
    for (std::size_t i = 0; i < source.size() && !values.empty(); ++i) {
        source[i] = values[i % values.size()];
    }
    std::vector<std::byte> target(kValues * to.size());
    (void)conversion.run(kValues, source.data(), from.size(), target.data(), to.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    alignas(16) static std::byte memory[64 * 1024];
    Arena arena{memory};
    NullPort port;
    {
        Library library{arena, port};
        const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 2,
                                          reinterpret_cast<const std::byte*>(data) + size);
        const std::size_t length = std::size_t{4} * data[0];
        ConstBytes rest{copy.data(), copy.size()};
        ConstBytes first = rest.first(length < rest.size() ? length : rest.size());
        rest = rest.subspan(first.size());
        DatatypeView a, b;
        const bool one = parse(library, first, a);
        const bool two = parse(library, rest, b);
        for (const DatatypeView type : {a, b}) {
            if (type.empty()) {
                continue;
            }
            look(type, 0);
            if (!equal(type, type)) {
                std::abort();
            }
            std::vector<std::byte> native_bytes(native_type_length(type));
            DatatypeView native;
            if (native_type(type, {native_bytes.data(), native_bytes.size()}, native) == Status::ok) {
                look(native, 0);
                std::size_t native_size = 0;
                Feature feature = Feature::none;
                if (validate_datatype(native.bytes(), native_size, feature) != Status::ok) {
                    std::abort();
                }
                // The caller owns the data of converted variable-length values; here the arena frees it at the end.
                convert(library, type, native, (data[1] & 1U) != 0, rest);
            }
        }
        if (one && two) {
            if (equal(a, b) != equal(b, a)) {
                std::abort();
            }
            convert(library, a, b, (data[1] & 1U) != 0, rest);
        }
        if (library.memory_report().kinds[static_cast<std::size_t>(MemoryKind::type)].now != 0) {
            std::abort();
        }
    }
    if (!arena.check()) {
        std::abort();
    }
    return 0;
}
