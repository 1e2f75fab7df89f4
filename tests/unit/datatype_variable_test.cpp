// Variable-length sequences and strings converted to memory; the program's own conversions; native types.
#include <h5mote/arena.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/user_conversion.hpp>
#include <h5mote/variable_length.hpp>

#include <cstddef>
#include <cstring>

#include "conversion.hpp"
#include "cursor.hpp"
#include "datatype_message.hpp"
#include "datatype_vectors.hpp"
#include "test.hpp"

using h5mote::ByteOrder;
using h5mote::ConstBytes;
using h5mote::Context;
using h5mote::Conversion;
using h5mote::DatatypeView;
using h5mote::FileValues;
using h5mote::make_array;
using h5mote::make_compound;
using h5mote::make_float;
using h5mote::make_integer;
using h5mote::make_variable_length;
using h5mote::make_variable_string;
using h5mote::member;
using h5mote::MemoryKind;
using h5mote::Status;
using h5mote::VariableLength;
using h5mote_test::hex;

namespace {

constexpr auto kI16 = make_integer(2, true);
constexpr auto kI32 = make_integer(4, true);
constexpr auto kI64 = make_integer(8, true, h5mote::kNativeOrder);

// A heap: objects one behind the other, each after its length. An object's address in a heap id is its offset plus 1.
class Heap final : public h5mote::VariableSource {
public:
    /// Adds an object and writes the value that refers to it as in a file: element count, address, index.
    void add(std::byte* value, std::uint32_t elements, ConstBytes object) {
        h5mote::store_le<std::uint32_t>(value, elements);
        h5mote::store_le<std::uint64_t>(value + 4, used_ + 1);
        h5mote::store_le<std::uint32_t>(value + 12, 7);
        h5mote::store_le<std::uint32_t>(bytes_ + used_, static_cast<std::uint32_t>(object.size()));
        if (!object.empty()) {
            std::memcpy(bytes_ + used_ + 4, object.data(), object.size());
        }
        used_ += 4 + object.size();
    }

    Status size(ConstBytes heap_id, std::uint64_t& bytes) noexcept override {
        bytes = h5mote::load_le<std::uint32_t>(object(heap_id));
        return Status::ok;
    }
    Status read(ConstBytes heap_id, std::uint64_t offset, h5mote::Bytes to) noexcept override {
        ++reads;
        if (reads == fail_at) {
            return Status::io_error;
        }
        if (offset + to.size() > h5mote::load_le<std::uint32_t>(object(heap_id))) {
            return Status::corrupt_file;
        }
        std::memcpy(to.data(), object(heap_id) + 4 + offset, to.size());
        return Status::ok;
    }

    unsigned reads = 0;
    unsigned fail_at = 0;

private:
    const std::byte* object(ConstBytes heap_id) const {
        return bytes_ + (h5mote::load_le<std::uint64_t>(heap_id.data()) - 1);
    }

    std::byte bytes_[3000] = {};
    std::uint64_t used_ = 0;
};

struct Bench {
    alignas(8) std::byte memory[8192];
    h5mote::Arena arena{h5mote::Bytes{memory, sizeof(memory)}};
    h5mote::NullPort port;
    Context context{arena, port, {}};
    Heap heap;

    FileValues file() { return {FileValues::Side::from, 8, &heap}; }
    std::size_t values() { return context.memory_report().kinds[static_cast<std::size_t>(MemoryKind::value)].now; }
};

// A sequence type as in a file with addresses of 8 bytes.
template <std::size_t N>
constexpr h5mote::EncodedType<N + 8, 1> file_sequence(const h5mote::EncodedType<N>& base) {
    h5mote::EncodedType<N + 8, 1> type;
    type.bytes[0] = std::byte{0x19};
    type.bytes[4] = std::byte{16};
    for (std::size_t i = 0; i < N; ++i) {
        type.bytes[8 + i] = base.bytes[i];
    }
    return type;
}

constexpr h5mote::EncodedType<20, 1> file_string() {
    h5mote::EncodedType<20, 1> type = make_variable_string();
    type.bytes[4] = std::byte{16};
    return type;
}

ConstBytes text(const char* from, std::size_t size) { return {reinterpret_cast<const std::byte*>(from), size}; }

TEST(DatatypeVariable, StringsBecomePointers) {
    Bench bench;
    static constexpr auto kFile = file_string();
    static constexpr auto kMemory = make_variable_string();
    std::byte in[5 * 16] = {};
    bench.heap.add(in, 5, text("hello", 5));
    bench.heap.add(in + 16, 0, {});                  // empty
    bench.heap.add(in + 32, 6, text("ab\0cde", 6));  // a NUL ends it early
    std::memset(in + 48, 0, 16);                     // zeros: no string
    std::memset(in + 64, 0xff, 16);                  // undefined address
    in[64] = std::byte{3};
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kFile, kMemory, bench.file()) == Status::ok);
    const char* out[5];
    std::memset(out, 0x5a, sizeof(out));
    ASSERT_TRUE(conversion.run(5, in, 16, reinterpret_cast<std::byte*>(out), sizeof(char*)) == Status::ok);
    EXPECT_TRUE(std::strcmp(out[0], "hello") == 0);
    EXPECT_TRUE(out[1] != nullptr && out[1][0] == '\0');
    EXPECT_TRUE(std::strcmp(out[2], "ab") == 0);
    EXPECT_TRUE(out[3] == nullptr && out[4] == nullptr);
    EXPECT_EQ(bench.values(), 6U + 1U + 3U);
    EXPECT_TRUE(h5mote::reclaim(bench.context, kMemory, 5, sizeof(char*), out) == Status::ok);
    EXPECT_TRUE(out[0] == nullptr);
    EXPECT_EQ(bench.values(), 0U);
    static constexpr auto kUtf8 = make_variable_string(h5mote::CharacterSet::utf8);
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kUtf8, bench.file()) == Status::type_mismatch);
}

TEST(DatatypeVariable, LongSequencesAreConvertedThroughAWindow) {
    Bench bench;
    static constexpr auto kFile = file_sequence(make_integer(2, true, ByteOrder::big));
    static constexpr auto kMemory = make_variable_length(kI64);
    std::byte object[2 * 300];
    for (unsigned i = 0; i < 300; ++i) {
        object[2 * i] = static_cast<std::byte>(0xff);
        object[2 * i + 1] = static_cast<std::byte>(i);
    }
    std::byte in[16];
    bench.heap.add(in, 300, {object, sizeof(object)});
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kFile, kMemory, bench.file()) == Status::ok);
    std::byte place[sizeof(VariableLength) + 1];  // the target is at an odd address
    ASSERT_TRUE(conversion.run(1, in, 16, place + 1, sizeof(VariableLength)) == Status::ok);
    VariableLength out;
    std::memcpy(&out, place + 1, sizeof(out));
    ASSERT_EQ(out.count, 300U);
    EXPECT_GT(bench.heap.reads, 1U);
    for (unsigned i = 0; i < 300; ++i) {
        EXPECT_EQ(static_cast<const std::int64_t*>(out.data)[i], -256 + static_cast<std::int64_t>(i % 256));
    }
    EXPECT_TRUE(h5mote::reclaim(bench.context, kMemory, 1, sizeof(place), place + 1) == Status::ok);
    EXPECT_EQ(bench.values(), 0U);
    // The object has fewer elements than the value states.
    h5mote::store_le<std::uint32_t>(in, 301);
    EXPECT_TRUE(conversion.run(1, in, 16, place, sizeof(VariableLength)) == Status::corrupt_file);
    std::memcpy(&out, place, sizeof(out));
    EXPECT_TRUE(out.count == 0 && out.data == nullptr);
    conversion.reset();
    EXPECT_EQ(bench.arena.usage().now, 0U);
}

// { sequence of { string, 2 x int16 }, int32 } in a file and in memory.
constexpr auto kInnerFile = make_compound<20>(member("name", 0, file_string()), member("xy", 16, make_array(kI16, 2U)));
constexpr auto kInnerMemory = make_compound<sizeof(char*) + 8>(member("xy", sizeof(char*), make_array(kI32, 2U)),
                                                               member("name", 0, make_variable_string()));
constexpr auto nested_file() {
    constexpr auto kSequence = [] {
        auto type = make_variable_length(kInnerFile);
        type.bytes[0] = std::byte{0x39};
        type.bytes[4] = std::byte{16};
        return type;
    }();
    return make_compound<20>(member("list", 0, kSequence), member("n", 16, kI32));
}
constexpr auto kNestedFile = nested_file();
constexpr std::size_t kNestedSize = sizeof(VariableLength) + 8;
constexpr auto kNestedMemory = make_compound<kNestedSize>(member("n", sizeof(VariableLength), kI32),
                                                          member("list", 0, make_variable_length(kInnerMemory)));

struct Inner {
    char* name;
    std::int32_t xy[2];
};

void make_nested(Heap& heap, std::byte* value) {
    std::byte inner[3 * 20] = {};
    for (unsigned i = 0; i < 3; ++i) {
        heap.add(inner + std::size_t{20} * i, i + 1, text("abc", i + 1));
        inner[20 * i + 16] = static_cast<std::byte>(i);
        inner[20 * i + 18] = std::byte{9};
    }
    heap.add(value, 3, {inner, sizeof(inner)});
    h5mote::store_le<std::uint32_t>(value + 16, 77);
}

TEST(DatatypeVariable, NestedSequencesAndMembersByName) {
    if (h5mote::kNativeOrder != ByteOrder::little) {
        return;  // the expected bytes are little-endian
    }
    Bench bench;
    std::byte in[2 * 20];
    make_nested(bench.heap, in);
    make_nested(bench.heap, in + 20);
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kNestedFile, kNestedMemory, bench.file()) == Status::ok);
    std::byte out[2 * kNestedSize];
    std::memset(out, 0x5a, sizeof(out));
    ASSERT_TRUE(conversion.run(2, in, 20, out, kNestedSize) == Status::ok);
    for (unsigned i = 0; i < 2; ++i) {
        VariableLength list;
        std::memcpy(&list, out + i * kNestedSize, sizeof(list));
        EXPECT_TRUE(out[i * kNestedSize + sizeof(list)] == std::byte{77});
        ASSERT_EQ(list.count, 3U);
        const auto* const inner = static_cast<const Inner*>(list.data);
        EXPECT_TRUE(std::strcmp(inner[2].name, "abc") == 0 && std::strcmp(inner[0].name, "a") == 0);
        EXPECT_EQ(inner[2].xy[0], 2);
        EXPECT_EQ(inner[2].xy[1], 9);
    }
    EXPECT_TRUE(h5mote::reclaim(bench.context, kNestedMemory, 2, kNestedSize, out) == Status::ok);
    EXPECT_EQ(bench.values(), 0U);
    // Each read of the heap fails once: no memory is left behind.
    const unsigned total = bench.heap.reads;
    for (unsigned k = 1; k <= total; ++k) {
        bench.heap.reads = 0;
        bench.heap.fail_at = k;
        std::memset(out, 0x5a, sizeof(out));
        EXPECT_TRUE(conversion.run(2, in, 20, out, kNestedSize) == Status::io_error);
        EXPECT_EQ(bench.values(), 0U);
    }
    EXPECT_GE(total, 8U);
}

// Sequences of 2 x { string, int16 }: when a read fails in the middle, the strings delivered before are released.
TEST(DatatypeVariable, ArraysOfCompoundsInASequence) {
    static constexpr auto kFilePart = make_compound<18>(member("name", 0, file_string()), member("n", 16, kI16));
    static constexpr auto kMemoryPart =
        make_compound<sizeof(char*) + 8>(member("n", sizeof(char*), kI64), member("name", 0, make_variable_string()));
    static constexpr auto kFile = [] {
        auto type = make_variable_length(make_array(kFilePart, 2U));
        type.bytes[4] = std::byte{16};
        return type;
    }();
    static constexpr auto kMemory = make_variable_length(make_array(kMemoryPart, 2U));
    Bench bench;
    constexpr unsigned kParts = 4;
    std::byte parts[kParts * 18] = {};
    for (unsigned i = 0; i < kParts; ++i) {
        bench.heap.add(parts + std::size_t{18} * i, i + 1, text("abcd", i + 1));
        parts[18 * i + 16] = static_cast<std::byte>(i);
    }
    std::byte in[16];
    bench.heap.add(in, kParts / 2, {parts, sizeof(parts)});
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kFile, kMemory, bench.file()) == Status::ok);
    VariableLength out;
    auto* const to = reinterpret_cast<std::byte*>(&out);
    ASSERT_TRUE(conversion.run(1, in, 16, to, sizeof(out)) == Status::ok);
    ASSERT_EQ(out.count, 2U);
    for (unsigned i = 0; i < kParts; ++i) {
        const std::byte* const part = static_cast<const std::byte*>(out.data) + i * (sizeof(char*) + 8);
        char* name = nullptr;
        std::int64_t n = 0;
        std::memcpy(&name, part, sizeof(name));
        std::memcpy(&n, part + sizeof(name), sizeof(n));
        EXPECT_EQ(std::strlen(name), i + 1U);
        EXPECT_EQ(n, static_cast<std::int64_t>(i));
    }
    EXPECT_TRUE(h5mote::reclaim(bench.context, kMemory, 1, sizeof(out), to) == Status::ok);
    EXPECT_EQ(bench.values(), 0U);
    const unsigned total = bench.heap.reads;
    EXPECT_GT(total, kParts);
    for (unsigned k = 1; k <= total; ++k) {
        bench.heap.reads = 0;
        bench.heap.fail_at = k;
        EXPECT_TRUE(conversion.run(1, in, 16, to, sizeof(out)) == Status::io_error);
        EXPECT_TRUE(out.data == nullptr && out.count == 0);
        EXPECT_EQ(bench.values(), 0U);
    }
}

TEST(DatatypeVariable, EveryAllocationMayFail) {
    Bench bench;
    std::byte in[20];
    make_nested(bench.heap, in);
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kNestedFile, kNestedMemory, bench.file()) == Status::ok);
    std::byte out[kNestedSize];
    // Leave less and less of the arena free.
    const std::size_t held = bench.arena.usage().now;
    unsigned failed = 0;
    for (std::size_t leave = 0; leave < 400; leave += 8) {
        std::size_t taken = sizeof(bench.memory) - held - leave;
        void* block = nullptr;
        while (block == nullptr) {
            taken -= 8;
            block = bench.arena.allocate(taken, 8);
        }
        const Status status = conversion.run(1, in, 20, out, kNestedSize);
        EXPECT_TRUE(status == Status::ok || status == Status::out_of_memory);
        failed += status == Status::ok ? 0 : 1;
        if (status == Status::ok) {
            (void)h5mote::reclaim(bench.context, kNestedMemory, 1, kNestedSize, out);
        }
        EXPECT_EQ(bench.values(), 0U);
        bench.arena.release(block, taken);
    }
    EXPECT_GE(failed, 3U);
    EXPECT_LT(failed, 50U);
    EXPECT_TRUE(bench.arena.check());
}

TEST(DatatypeVariable, OnlyWithASourceAndTheSizesOfBothSides) {
    Bench bench;
    Conversion conversion;
    static constexpr auto kFile = file_sequence(kI32);
    static constexpr auto kMemory = make_variable_length(kI32);
    static constexpr auto kString = make_variable_string();
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kMemory) == Status::unsupported);
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kMemory, {FileValues::Side::to, 8, &bench.heap}) ==
                Status::unsupported);
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kMemory, {FileValues::Side::from, 4, &bench.heap}) ==
                Status::corrupt_file);
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kString, bench.file()) == Status::type_mismatch);
    EXPECT_TRUE(conversion.prepare(bench.context, kFile, kI32, bench.file()) == Status::type_mismatch);
    std::byte any[64] = {};
    EXPECT_TRUE(h5mote::reclaim(bench.context, kMemory, 1, 4, any) == Status::invalid_argument);
    EXPECT_TRUE(h5mote::reclaim(bench.context, kI32, 1, 4, any) == Status::ok);
    EXPECT_EQ(bench.arena.usage().now, 0U);
}

// A conversion of the program's own: degrees to tenths of degrees. 99 is refused.
class Tenths final : public h5mote::UserConversion {
public:
    using UserConversion::UserConversion;
    Status convert(DatatypeView from, DatatypeView to, std::size_t count, const std::byte* source,
                   std::size_t source_stride, std::byte* target, std::size_t target_stride) const noexcept override {
        for (; count > 0; --count, source += source_stride, target += target_stride) {
            if (from.size() != 1 || to.size() != 2 || *source == std::byte{99}) {
                return Status::invalid_argument;
            }
            h5mote::store_le<std::uint16_t>(target, static_cast<std::uint16_t>(10 * static_cast<unsigned>(*source)));
        }
        return Status::ok;
    }
};

#if H5MOTE_CONVERSION
TEST(DatatypeVariable, ConversionsOfTheProgram) {
    static constexpr auto kFrom = make_integer(1, false);
    static constexpr auto kTo = make_integer(2, false);
    static constexpr auto kTag = h5mote::make_opaque(1, "degrees");
    const Tenths hard(h5mote::UserConversion::Kind::hard, kFrom, kTo);
    const Tenths soft(h5mote::UserConversion::Kind::soft, kTag, kTo);
    const Tenths useless(h5mote::UserConversion::Kind::soft, kFrom, kTo);
    const h5mote::UserConversion* const all[] = {&hard, &soft, &useless};
    Bench bench;
    bench.context.set_conversions(all);
    static constexpr auto kFrom3 = make_compound<4>(member("x", 0, make_array(kFrom, 3U)), member("y", 3, kTag));
    static constexpr auto kTo3 = make_compound<8>(member("x", 0, make_array(kTo, 3U)), member("y", 6, kTo));
    Conversion conversion;
    ASSERT_TRUE(conversion.prepare(bench.context, kFrom3, kTo3) == Status::ok);
    constexpr auto kIn = hex("01020304");
    constexpr auto kBad = hex("01026304");
    constexpr auto kOut = hex("0a0014001e002800");
    std::byte out[8];
    ASSERT_TRUE(conversion.run(1, kIn.bytes, 4, out, 8) == Status::ok);
    EXPECT_TRUE(std::memcmp(out, kOut.bytes, 8) == 0);
    EXPECT_TRUE(conversion.run(1, kBad.bytes, 4, out, 8) == Status::invalid_argument);
    // A built-in conversion between numbers goes before a soft conversion of the program; equal types are copied.
    ASSERT_TRUE(conversion.prepare(bench.context, kFrom, kI32) == Status::ok);
    constexpr auto kSeven = hex("07");
    ASSERT_TRUE(conversion.run(1, kSeven.bytes, 1, out, 4) == Status::ok);
    EXPECT_TRUE(out[0] == std::byte{7} && out[1] == std::byte{0});
    ASSERT_TRUE(conversion.prepare(bench.context, kFrom, kFrom) == Status::ok);
    EXPECT_TRUE(conversion.is_copy());
}
#endif

TEST(DatatypeNative, CompoundsAreLaidOutAsStructs) {
    struct Struct {
        std::uint8_t flag;
        double values[3];
        VariableLength list;
        char text[3];
        std::int16_t level;
        char* name;
    };
    static constexpr auto kFile = make_compound<63>(
        member("flag", 62, make_integer(1, false)), member("values", 0, make_array(make_float(8, ByteOrder::big), 3U)),
        member("list", 24, file_sequence(kI32)), member("text", 40, h5mote::make_string(3)),
        member("level", 43, make_integer(2, true, ByteOrder::big)), member("name", 45, file_string()));
    static constexpr auto kExpected = make_compound<sizeof(Struct)>(
        member("flag", offsetof(Struct, flag), make_integer(1, false, h5mote::kNativeOrder)),
        member("values", offsetof(Struct, values), make_array(make_float(8, h5mote::kNativeOrder), 3U)),
        member("list", offsetof(Struct, list), make_variable_length(make_integer(4, true, h5mote::kNativeOrder))),
        member("text", offsetof(Struct, text), h5mote::make_string(3)),
        member("level", offsetof(Struct, level), make_integer(2, true, h5mote::kNativeOrder)),
        member("name", offsetof(Struct, name), make_variable_string()));
    std::byte buffer[400];
    DatatypeView native;
    const std::size_t length = h5mote::native_type_length(kFile);
    ASSERT_LE(length, sizeof(buffer));
    EXPECT_TRUE(h5mote::native_type(kFile, {buffer, length - 1}, native) == Status::over_budget);
    ASSERT_TRUE(h5mote::native_type(kFile, {buffer, length}, native) == Status::ok);
    EXPECT_EQ(native.encoded_length(), length);
    EXPECT_TRUE(h5mote::equal(native, kExpected));
    EXPECT_EQ(h5mote::type_depth(native), 2U);
    EXPECT_TRUE(h5mote::contains_class(native, h5mote::TypeClass::variable_length));
    EXPECT_FALSE(h5mote::contains_class(native, h5mote::TypeClass::reference));
}

}  // namespace
