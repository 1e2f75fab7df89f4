// Writing and appending some members of a compound: the other members keep their values, or get the fill value.
#include <h5mote/user_conversion.hpp>

#include "cursor.hpp"
#include "storage_bench.hpp"

#if H5MOTE_PARTIAL_IO && H5MOTE_CONVERSION

using namespace h5mote;
using namespace h5mote_test;

namespace {

struct Whole {
    std::uint32_t t;
    std::int16_t a;
    std::int16_t b;
};
H5MOTE_COMPOUND(Whole, t, a, b)

struct Time {
    std::uint32_t t;
};
H5MOTE_COMPOUND(Time, t)

constexpr std::size_t kRows = 61;

Whole row(std::size_t i) noexcept {
    return {static_cast<std::uint32_t>(i), static_cast<std::int16_t>(i * 3), static_cast<std::int16_t>(-5)};
}

// The fill value in the file's byte order: t 7, a 8, b 9.
constexpr std::byte kFill[8] = {std::byte{7}, {}, {}, {}, std::byte{8}, {}, std::byte{9}, {}};

}  // namespace

// Writing one member keeps the values of the others in the file, whatever the selection covers.
TEST(DatasetMembers, WritingOneMemberKeepsTheOthers) {
    struct Case {
        std::uint32_t chunk;
        std::size_t cache;
        bool filtered;
    };
    // Chunks that fit into the cache, one at a time, and chunks larger than the cache.
    constexpr Case kCases[] = {{1, 8, false}, {4, 64, false}, {10, 80, false}, {40, 64, false}, {4, 32, true}};
    for (const Case& each : kCases) {
        if (each.filtered && H5MOTE_FILTERS == 0) {
            continue;
        }
        Bench bench;
        bench.access.chunk_cache = each.cache;
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {each.chunk};
#if H5MOTE_FILTERS
        if (each.filtered) {
            create.filters = {filters::shuffle};
        }
#endif
        {
            auto log = bench.file.root().create_dataset<Whole>("d", create);
            ASSERT_EQ(log.status(), Status::ok);
            for (std::size_t i = 0; i < kRows; ++i) {
                ASSERT_EQ(log->append(row(i)), Status::ok);
            }
        }
        ASSERT_EQ(bench.reopen(), Status::ok);
        auto data = bench.file.root().open_dataset("d");
        ASSERT_EQ(data.status(), Status::ok);
        static Time times[kRows];
        for (std::size_t i = 0; i < kRows; ++i) {
            times[i].t = static_cast<std::uint32_t>(1000 + i);
        }
        ASSERT_EQ(data->write(Selection::all(), datatype_of<Time>(), as_bytes(Span<const Time>(times, kRows))),
                  Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        ASSERT_EQ(bench.reopen(), Status::ok);
        auto read = bench.file.root().open_dataset<Whole>("d");
        ASSERT_EQ(read.status(), Status::ok);
        static Whole got[kRows];
        ASSERT_EQ(read->read(Selection::all(), Span<Whole>(got, kRows)), Status::ok);
        for (std::size_t i = 0; i < kRows; ++i) {
            EXPECT_EQ(got[i].t, 1000 + i);
            EXPECT_EQ(got[i].a, row(i).a);
            EXPECT_EQ(got[i].b, row(i).b);
        }
    }
}

// When appended records lack members, these get the fill value: in the chunk cache, in place, and where an earlier
// session has left other bytes behind the last row.
TEST(DatasetMembers, AppendedRecordsGetTheFillValueOfTheMembersThatTheyLack) {
    for (const std::size_t cache : {std::size_t{32}, std::size_t{512}}) {
        Bench bench;
        bench.access.chunk_cache = cache;
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {10};
        create.fill = kFill;
        {
            auto whole = bench.file.root().create_dataset<Whole>("d", create);
            ASSERT_EQ(whole.status(), Status::ok);
            ASSERT_EQ(whole->append(row(0)), Status::ok);
        }
        auto log = bench.file.root().open_dataset<Time>("d");
        ASSERT_EQ(log.status(), Status::ok);
        for (std::uint32_t i = 1; i < 25; ++i) {
            ASSERT_EQ(log->append(Time{100 + i}), Status::ok);
        }
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(bench.reopen(), Status::ok);
        auto read = bench.file.root().open_dataset<Whole>("d");
        ASSERT_EQ(read.status(), Status::ok);
        Whole got[25];
        ASSERT_EQ(read->read(Selection::all(), Span<Whole>(got, 25)), Status::ok);
        EXPECT_EQ(got[0].b, -5);
        for (std::uint32_t i = 1; i < 25; ++i) {
            EXPECT_EQ(got[i].t, 100 + i);
            EXPECT_EQ(got[i].a, 8);
            EXPECT_EQ(got[i].b, 9);
        }
    }
}

// Unwritten elements are zero bytes and not converted, unless a fill value is defined or the layout is chunked.
TEST(DatasetMembers, UnwrittenEnumerationsAreZeroBytes) {
    static constexpr auto kFile = make_enum<std::int8_t>(ByteOrder::little, enumerator("on", 1));
    static constexpr auto kMemory = make_enum<std::int16_t>(kNativeOrder, enumerator("on", 5));
    static constexpr auto kText = make_string(2);
    static constexpr auto kSpaces = make_string(3, StringPadding::space_padded);
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const std::byte fill[2] = {};
    for (const bool filled : {false, true}) {
        DatasetCreate create;
        create.fill = filled ? ConstBytes(fill, 1) : ConstBytes();
        auto data = root.create_dataset(filled ? "e1" : "e0", kFile, Dataspace::simple({3}), create);
        ASSERT_EQ(data.status(), Status::ok);
        std::byte got[6];
        std::memset(got, 0x55, sizeof got);
        EXPECT_EQ(data->read(Selection::all(), kMemory, got), Status::ok);
        EXPECT_EQ(got[0], filled ? std::byte{0xff} : std::byte{0});
        EXPECT_EQ(got[5], filled ? std::byte{0xff} : std::byte{0});
        create.fill = filled ? ConstBytes(fill, 2) : ConstBytes();
        auto text = root.create_dataset(filled ? "t1" : "t0", kText, Dataspace::simple({2}), create);
        ASSERT_EQ(text.status(), Status::ok);
        std::memset(got, 0x55, sizeof got);
        EXPECT_EQ(text->read(Selection::all(), kSpaces, got), Status::ok);
        EXPECT_EQ(got[0], filled ? std::byte{' '} : std::byte{0});
        EXPECT_EQ(got[5], filled ? std::byte{' '} : std::byte{0});
    }
    DatasetCreate chunked;
    chunked.chunk = {2};
    auto log = root.create_dataset("c", kFile, Dataspace::unlimited(3), chunked);
    ASSERT_EQ(log.status(), Status::ok);
    std::byte got[6];
    EXPECT_EQ(log->read(Selection::all(), kMemory, got), Status::ok);
    EXPECT_EQ(got[0], std::byte{0xff});
}

namespace {

// A conversion that fails on the number 13.
class Superstitious final : public UserConversion {
public:
    static constexpr auto kFrom = make_integer(2, true, kNativeOrder);
    static constexpr auto kTo = make_integer(4, true);

    Superstitious() noexcept : UserConversion(Kind::hard, kFrom, kTo) {}
    Status convert(DatatypeView, DatatypeView, std::size_t count, const std::byte* source, std::size_t source_stride,
                   std::byte* target, std::size_t target_stride) const noexcept override {
        for (; count > 0; --count, source += source_stride, target += target_stride) {
            std::int16_t value = 0;
            std::memcpy(&value, source, sizeof value);
            if (value == 13) {
                return Status::invalid_argument;
            }
            store_le<std::uint32_t>(target, static_cast<std::uint32_t>(value));
        }
        return Status::ok;
    }
};

}  // namespace

// A value that the program's own conversion refuses is neither appended nor written, and the caller gets the error.
TEST(DatasetMembers, AConversionThatFailsIsTold) {
    for (const std::size_t cache : {std::size_t{16}, std::size_t{512}}) {
        Bench bench;
        bench.access.chunk_cache = cache;
        const Superstitious conversion;
        const UserConversion* const conversions[] = {&conversion};
        bench.library.set_conversions(conversions);
        ASSERT_EQ(bench.create(), Status::ok);
        DatasetCreate create;
        create.chunk = {8};
        Group root = bench.file.root();
        auto log = root.create_dataset("d", Superstitious::kTo, Dataspace::unlimited(), create);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(log->set_memory_type(Superstitious::kFrom), Status::ok);
        const std::int16_t values[] = {1, 2, 13, 4};
        EXPECT_EQ(log->append_records(values, 2), Status::ok);
        EXPECT_EQ(log->append_records(values + 2, 1), Status::invalid_argument);
        EXPECT_EQ(log->size(), 2U);
        EXPECT_EQ(log->append_records(values + 3, 1), Status::ok);
        EXPECT_EQ(log->write(Selection::hyperslab({0}, {1}), Superstitious::kFrom,
                             as_bytes(Span<const std::int16_t>(values + 2, 1))),
                  Status::invalid_argument);
        EXPECT_EQ(log->close(), Status::ok);
        EXPECT_EQ(bench.reopen(), Status::ok);
        std::byte got[12];
        auto read = bench.file.root().open_dataset("d");
        ASSERT_EQ(read.status(), Status::ok);
        ASSERT_EQ(read->read(Selection::all(), Superstitious::kTo, got), Status::ok);
        EXPECT_EQ(got[0], std::byte{1});
        EXPECT_EQ(got[4], std::byte{2});
        EXPECT_EQ(got[8], std::byte{4});
    }
}

#endif
