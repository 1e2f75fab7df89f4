// The errors that the headers of dataspaces, selections, datatypes and variable-length data document, each provoked. A
// selection that a call refuses to change stays as it was.
#include "storage_bench.hpp"

#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_PARTIAL_IO

namespace {

constexpr std::uint64_t kZeros[H5MOTE_MAX_RANK + 1] = {};
using Coordinates = Span<const std::uint64_t>;

}  // namespace

TEST(DocumentedErrors, OfDataspaces) {
    Dataspace space = Dataspace::simple({4, 4}, {8, kUnlimited});
    const std::uint64_t large[] = {9, 1};
    const std::uint64_t one[] = {1};
    EXPECT_EQ(space.set_extent(large), Status::invalid_argument);
    EXPECT_EQ(space.set_extent(one), Status::invalid_argument);
    EXPECT_TRUE(space == Dataspace::simple({4, 4}, {8, kUnlimited}));
    Dataspace null = Dataspace::null();
    EXPECT_EQ(null.set_extent(one), Status::invalid_argument);
    std::uint64_t count = 0;
    const std::uint64_t huge = std::uint64_t{1} << 40;
    EXPECT_EQ(Dataspace::simple({huge, huge}).element_count(count), Status::overflow);
    EXPECT_FALSE(Dataspace::simple({2}, {1}).valid());
    EXPECT_FALSE(Dataspace::simple(Coordinates(kZeros, H5MOTE_MAX_RANK + 1)).valid());
}

TEST(DocumentedErrors, OfSelections) {
    const Dataspace space = Dataspace::simple({8, 8});
    const std::uint64_t start[] = {1, 1};
    const std::uint64_t two[] = {2, 2};
    const std::uint64_t none[] = {0, 0};
    const std::uint64_t nine[] = {9, 1};
    std::uint64_t low[2];
    std::uint64_t high[2];
    std::uint64_t count = 0;
    struct Case {
        Selection selection;
        Status expected;
    };
    const Case cases[] = {
        {Selection::hyperslab(start, two), Status::ok},
        {Selection::hyperslab({start, 1}, {two, 1}), Status::invalid_argument},        // another rank
        {Selection::hyperslab(start, {two, 1}), Status::invalid_argument},             // fewer counts than dimensions
        {Selection::hyperslab(start, two, none), Status::invalid_argument},            // a stride of 0
        {Selection::hyperslab(start, two, two, {nine, 1}), Status::invalid_argument},  // fewer blocks than dimensions
        {Selection::hyperslab(start, two, start, two), Status::invalid_argument},      // blocks overlap
        {Selection::hyperslab(start, nine), Status::invalid_argument},                 // beyond the extent
        {Selection::points(2, nine), Status::invalid_argument},                        // a point beyond it
        {Selection::points(2, {kZeros, 3}), Status::invalid_argument},                 // half a point
        {Selection::points(1, two), Status::invalid_argument},                         // another rank
        {Selection::none(), Status::ok},
        {Selection::hyperslab(start, none), Status::ok},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(each.selection.validate(space), each.expected);
        EXPECT_EQ(each.selection.element_count(space, count), each.expected);
        bool intersects = false;
        EXPECT_EQ(select_intersect_block(each.selection, space, start, two, intersects), each.expected);
        SelectionBlocks blocks;
        EXPECT_EQ(blocks.reset(each.selection, space), each.expected);
        const Status bounds = each.selection.bounds(space, low, high);
        EXPECT_TRUE(bounds == each.expected || (bounds == Status::not_found && count == 0));
        EXPECT_EQ(each.selection.validate(Dataspace::simple({2}, {1})), Status::invalid_argument);
    }
    EXPECT_EQ(Selection::none().bounds(space, low, high), Status::not_found);
    const std::int64_t left[] = {-2, 0};
    EXPECT_EQ(Selection::hyperslab(start, two).moved_by(left).validate(space), Status::invalid_argument);
}

TEST(DocumentedErrors, OfSelectionSets) {
    Bench bench;
    const Dataspace space = Dataspace::simple({8, 8});
    const std::uint64_t start[] = {1, 1};
    const std::uint64_t two[] = {2, 2};
    const std::uint64_t none[] = {0, 0};
    const std::uint64_t endless[] = {kUnlimited, 2};
    const std::int64_t left[] = {-1, 0};
    const std::int64_t right[] = {2, 0};
    const std::uint64_t reversed[] = {3, 3, 2, 4};
    const std::uint64_t beyond[] = {1, 1, kUnlimited, 2};
    {
        SelectionSet set(bench.library);
        // All errors on a regular hyperslab, on points, and on an irregular selection.
        for (const unsigned kind : {0U, 1U, 2U}) {
            if (kind == 1) {
                ASSERT_EQ(set.select_points(2, {kZeros, 4}), Status::ok);
            } else {
                ASSERT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, two, {}}, space), Status::ok);
            }
            if (kind == 2) {
                const std::uint64_t other[] = {2, 2};
                ASSERT_EQ(set.select_hyperslab(SelectionOp::or_, {other, {}, two, {}}, space), Status::ok);
                EXPECT_FALSE(set.is_regular());
            }
            std::uint64_t before = 0;
            ASSERT_EQ(set.view().element_count(space, before), Status::ok);
            EXPECT_EQ(set.select_points(0, {}), Status::invalid_argument);
            EXPECT_EQ(set.select_points(H5MOTE_MAX_RANK + 1, {kZeros, H5MOTE_MAX_RANK + 1}), Status::invalid_argument);
            EXPECT_EQ(set.select_points(2, {kZeros, 3}), Status::invalid_argument);
            EXPECT_EQ(set.add_points(3, {kZeros, 4}), Status::invalid_argument);
            EXPECT_EQ(set.add_points(2, {kZeros, 3}), Status::invalid_argument);
            EXPECT_EQ(set.select_blocks(0, {}), Status::invalid_argument);
            EXPECT_EQ(set.select_blocks(2, {kZeros, 3}), Status::invalid_argument);
            EXPECT_EQ(set.select_blocks(2, reversed), Status::invalid_argument);
            EXPECT_EQ(set.select_blocks(2, beyond), Status::invalid_argument);
            EXPECT_EQ(set.set_offset({left, 1}), Status::invalid_argument);
            EXPECT_EQ(set.adjust({left, 1}), Status::invalid_argument);
            EXPECT_EQ(set.adjust(right), Status::invalid_argument);
            EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {start, none, two, {}}, space), Status::invalid_argument);
            EXPECT_EQ(set.select_hyperslab(SelectionOp::set, {start, {}, {two, 1}, {}}, space),
                      Status::invalid_argument);
            EXPECT_EQ(set.select_hyperslab(SelectionOp::or_, {{start, 1}, {}, {two, 1}, {}}, space),
                      Status::invalid_argument);
            EXPECT_EQ(set.select_hyperslab(SelectionOp::or_, {start, two, endless, {}}, space),
                      Status::invalid_argument);
            std::uint64_t after = 0;
            ASSERT_EQ(set.view().element_count(space, after), Status::ok);
            EXPECT_EQ(before, after);
        }
        // `all` has no coordinates that could be moved.
        set.select_all();
        EXPECT_EQ(set.adjust(left), Status::ok);
        EXPECT_EQ(set.set_offset(left), Status::invalid_argument);
        EXPECT_EQ(set.add_points(2, {kZeros, 2}), Status::ok);
        EXPECT_EQ(set.unlimited_dimension(), -1);
        EXPECT_EQ(set.clip_unlimited(4), Status::ok);
        bool same = false;
        const Selection wide = Selection::points(2, {kZeros, 3});
        EXPECT_EQ(select_shape_same(bench.library, wide, space, set.view(), space, same), Status::invalid_argument);
    }
    EXPECT_TRUE(bench.empty());
}

#if H5MOTE_ALL_FORMATS
TEST(DocumentedErrors, OfDatatypesAndVariableData) {
    Bench bench;
    static constexpr auto kNumbers = make_variable_length(make_integer(4, true));
    std::byte buffer[8];
    DatatypeView native;
    static constexpr auto kWide = make_integer(8, true, ByteOrder::big);
    EXPECT_EQ(native_type(kWide.view(), buffer, native), Status::over_budget);
    EXPECT_TRUE(native.bytes().empty());
    VariableLength values[2] = {};
    EXPECT_EQ(reclaim(bench.library, kNumbers.view(), 2, sizeof(VariableLength) - 1, values), Status::invalid_argument);
    EXPECT_EQ(reclaim(bench.library, kNumbers.view(), 2, sizeof(VariableLength), values), Status::ok);
    // The encoding of a file instead of that of memory.
    std::byte stored[sizeof kNumbers.bytes];
    std::memcpy(stored, kNumbers.bytes, sizeof stored);
    stored[4] = std::byte{13};
    EXPECT_EQ(reclaim(bench.library, DatatypeView(stored), 1, 32, values), Status::invalid_argument);
    EXPECT_TRUE(bench.empty());
}
#endif

#endif
