// Dataspaces and the checks on selections.
#include <h5mote/dataspace.hpp>

#include "test.hpp"

namespace {

using namespace h5mote;

// A constant dataspace, which firmware can keep in read-only memory.
constexpr Dataspace kLog = Dataspace::unlimited();
static_assert(kLog.valid() && kLog.rank() == 1 && kLog.dims()[0] == 0 && kLog.max_dims()[0] == kUnlimited);
static_assert(Dataspace::scalar().valid() && Dataspace::scalar().rank() == 0);
static_assert(Dataspace::null().space_class() == DataspaceClass::null);
#if H5MOTE_MAX_RANK >= 2
static_assert(Dataspace::simple({10, 20}).valid() && !Dataspace::simple({10, 20}).extensible());
static_assert(Dataspace::simple({0, 3}, {kUnlimited, 3}).unlimited_count() == 1);
#endif

TEST(Dataspace, SizesMustFitEachOther) {
    EXPECT_FALSE(Dataspace::simple({4}, {3}).valid());
    EXPECT_FALSE(Dataspace::simple({4}, {4, 4}).valid());
    EXPECT_FALSE(Dataspace::simple({kUnlimited}, {kUnlimited}).valid());
    EXPECT_TRUE(Dataspace::simple({4}, {kUnlimited}).valid());
    EXPECT_TRUE(Dataspace::simple({0}, {0}).valid());
    static std::uint64_t many[H5MOTE_MAX_RANK + 1];
    EXPECT_TRUE(Dataspace::simple(Span<const std::uint64_t>(many, H5MOTE_MAX_RANK)).valid());
    EXPECT_FALSE(Dataspace::simple(Span<const std::uint64_t>(many, H5MOTE_MAX_RANK + 1)).valid());
}

TEST(Dataspace, RankZeroIsScalar) {
    EXPECT_TRUE(Dataspace::simple(Span<const std::uint64_t>()) == Dataspace::scalar());
    EXPECT_TRUE(Dataspace() == Dataspace::scalar());
    EXPECT_TRUE(Dataspace::scalar() != Dataspace::null());
}

TEST(Dataspace, ElementCount) {
    std::uint64_t count = 7;
    EXPECT_EQ(Dataspace::scalar().element_count(count), Status::ok);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(Dataspace::null().element_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(kLog.element_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(Dataspace::simple({5}, {4}).element_count(count), Status::invalid_argument);
    EXPECT_EQ(Dataspace::simple({kUnlimited - 1}).element_count(count), Status::ok);
    EXPECT_EQ(count, kUnlimited - 1);
#if H5MOTE_MAX_RANK >= 3
    EXPECT_EQ(Dataspace::simple({3, 4, 5}).element_count(count), Status::ok);
    EXPECT_EQ(count, 60U);
    const std::uint64_t half = std::uint64_t{1} << 32;
    EXPECT_EQ(Dataspace::simple({half, half}).element_count(count), Status::overflow);
    EXPECT_EQ(Dataspace::simple({half, half, 0}).element_count(count), Status::ok);
    EXPECT_EQ(count, 0U);
#endif
}

TEST(Dataspace, SetExtentStaysWithinTheMaxima) {
    Dataspace space = Dataspace::simple({2}, {9});
    const std::uint64_t nine[] = {9};
    const std::uint64_t ten[] = {10};
    const std::uint64_t two_ranks[] = {1, 1};
    EXPECT_EQ(space.set_extent(ten), Status::invalid_argument);
    EXPECT_EQ(space.set_extent(two_ranks), Status::invalid_argument);
    EXPECT_TRUE(space == Dataspace::simple({2}, {9}));
    EXPECT_EQ(space.set_extent(nine), Status::ok);
    EXPECT_TRUE(space == Dataspace::simple({9}, {9}));
    Dataspace scalar;
    EXPECT_EQ(scalar.set_extent({}), Status::invalid_argument);
    Dataspace log = Dataspace::unlimited();
    const std::uint64_t endless[] = {kUnlimited};
    EXPECT_EQ(log.set_extent(endless), Status::invalid_argument);
}

Status fits(std::uint64_t size, std::uint64_t start, std::uint64_t count, std::uint64_t stride, std::uint64_t block) {
    return Selection::hyperslab({start}, {count}, {stride}, {block}).validate(Dataspace::simple({size}));
}

TEST(Selection, HyperslabsStayInside) {
    EXPECT_EQ(fits(10, 0, 10, 1, 1), Status::ok);
    EXPECT_EQ(fits(10, 1, 10, 1, 1), Status::invalid_argument);
    EXPECT_EQ(fits(10, 1, 3, 4, 1), Status::ok);
    EXPECT_EQ(fits(10, 2, 3, 4, 1), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, 2, 5, 5), Status::ok);
    EXPECT_EQ(fits(10, 0, 2, 6, 5), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, 1, 1, 10), Status::ok);
    EXPECT_EQ(fits(10, 10, 1, 1, 1), Status::invalid_argument);
    EXPECT_EQ(fits(0, 0, 1, 1, 1), Status::invalid_argument);
}

TEST(Selection, BlocksMustNotOverlap) {
    EXPECT_EQ(fits(10, 0, 2, 2, 3), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, 1, 2, 3), Status::ok);
    EXPECT_EQ(fits(10, 0, 1, 0, 3), Status::invalid_argument);
}

TEST(Selection, NothingSelectedIsNowhere) {
    EXPECT_EQ(fits(10, 99, 0, 1, 1), Status::ok);
    EXPECT_EQ(fits(10, 99, 1, 1, 0), Status::ok);
    std::uint64_t count = 3;
    EXPECT_EQ(Selection::hyperslab({99}, {0}).element_count(Dataspace::simple({10}), count), Status::ok);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(Selection::none().element_count(Dataspace::simple({10}), count), Status::ok);
    EXPECT_EQ(count, 0U);
}

TEST(Selection, ExtremeNumbersAreRefused) {
    const std::uint64_t most = kUnlimited;
    EXPECT_EQ(fits(10, most, 1, 1, 1), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, most, 1, 1), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, most, most, 1), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, 2, most, most), Status::invalid_argument);
    EXPECT_EQ(fits(10, 0, 1, 1, most), Status::invalid_argument);
    EXPECT_EQ(fits(10, most, 1, most, most), Status::invalid_argument);
    EXPECT_EQ(fits(10, 1, (most / 2) + 2, 2, 1), Status::invalid_argument);
    EXPECT_EQ(fits(most - 1, most - 2, 1, 1, 1), Status::ok);
    EXPECT_EQ(fits(most - 1, most - 2, 2, 1, 1), Status::invalid_argument);
}

TEST(Selection, RanksMustAgree) {
    const Dataspace line = Dataspace::simple({10});
    EXPECT_EQ(Selection::hyperslab({0, 0}, {1, 1}).validate(line), Status::invalid_argument);
    EXPECT_EQ(Selection::hyperslab({0}, {1, 1}).validate(line), Status::invalid_argument);
    EXPECT_EQ(Selection::hyperslab({0}, {1}, {1, 1}).validate(line), Status::invalid_argument);
    EXPECT_EQ(Selection::hyperslab({0}, {1}, {1}, {1, 1}).validate(line), Status::invalid_argument);
    EXPECT_EQ(Selection::hyperslab({0}, {1}).validate(Dataspace::scalar()), Status::invalid_argument);
    EXPECT_EQ(Selection(Hyperslab{}).validate(Dataspace::scalar()), Status::invalid_argument);
    EXPECT_EQ(Selection::all().validate(Dataspace::scalar()), Status::ok);
    EXPECT_EQ(Selection::all().validate(Dataspace::simple({4}, {3})), Status::invalid_argument);
}

}  // namespace
