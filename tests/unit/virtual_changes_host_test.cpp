// DatasetCreate::mappings: virtual datasets are made with every kind of mapping, written through to their sources,
// resized, copied and deleted, and libhdf5 makes the same and reads what was made.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "drawer.hpp"
#include "hdf5_image.hpp"
#include "sweep.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Numbers = std::vector<std::int32_t>;

ConstBytes bytes_of(const Numbers& values) { return as_bytes(Span<const std::int32_t>(values.data(), values.size())); }

Numbers counted(std::size_t count, std::int32_t from = 1) {
    Numbers values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

Numbers all_of(Dataset& data) {
    Dataspace space;
    EXPECT_EQ(data.dataspace(space), Status::ok);
    std::uint64_t count = 0;
    EXPECT_EQ(space.element_count(count), Status::ok);
    Numbers values(static_cast<std::size_t>(count));
    EXPECT_EQ(
        data.read(Selection::all(), kNumber.view(), {reinterpret_cast<std::byte*>(values.data()), values.size() * 4}),
        Status::ok);
    return values;
}

struct Bench : World {
    explicit Bench(const Formats& formats = formats::all) : World(formats) {
        access.opener = &drawer;
        access.metadata_cache = 8192;
    }
    Status begin() {
        auto made = File::create(library, driver, access);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    // A file of the drawer with a dataset of `count` numbers.
    void make_source(const char* name, std::size_t count, std::int32_t from, bool grows = false) {
        MallocAllocator heap;
        Library other{heap, port, world_filters(), formats::all};
        auto made = File::create(other, drawer.file(name).storage);
        ASSERT_EQ(made.status(), Status::ok);
        DatasetCreate create;
        if (grows) {
            create.chunk = {4};
        }
        auto data = made->root().create_dataset(
            "s", kNumber.view(), grows ? Dataspace::unlimited(count) : Dataspace::simple({count}), create);
        ASSERT_EQ(data.status(), Status::ok);
        ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(count, from))), Status::ok);
        ASSERT_EQ(data->close(), Status::ok);
        ASSERT_EQ(made->close(), Status::ok);
    }
    Numbers source(const char* name) {
        MallocAllocator heap;
        Library other{heap, port, world_filters(), formats::all};
        auto opened = File::open(other, drawer.file(name).storage);
        EXPECT_EQ(opened.status(), Status::ok);
        auto data = opened->root().open_dataset("s");
        return all_of(*data);
    }
    Result<Dataset> make(const char* name, const Dataspace& space, Span<const NewMapping> mappings) {
        DatasetCreate create;
        create.mappings = mappings;
        const std::int32_t fill = -1;
        create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
        return file.root().create_dataset(name, kNumber.view(), space, create);
    }
    Drawer drawer;
};

TEST(VirtualChanges, SeveralSourcesWrittenThrough) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    bench.make_source("a", 4, 10);
    bench.make_source("b", 6, 20);
    const Dataspace four = Dataspace::simple({4});
    const Dataspace six = Dataspace::simple({6});
    const auto middle = Selection::hyperslab({1}, {4});
    const auto first = Selection::hyperslab({0, 0}, {1, 4});
    const auto second = Selection::hyperslab({1, 0}, {1, 4});
    const NewMapping mappings[] = {{"a", "s", Selection::all(), &four, first}, {"b", "/s", middle, &six, second}};
    auto data = bench.make("v", Dataspace::simple({3, 4}), mappings);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{10, 11, 12, 13, 21, 22, 23, 24, -1, -1, -1, -1}));
    ASSERT_EQ(data->write(Selection::hyperslab({0, 1}, {2, 2}), kNumber.view(), bytes_of({1, 2, 3, 4})), Status::ok);
    EXPECT_EQ(bench.drawer.open_files(), 0);
    EXPECT_EQ(bench.source("a"), (Numbers{10, 1, 2, 13}));
    EXPECT_EQ(bench.source("b"), (Numbers{20, 21, 3, 4, 24, 25}));
    // By points, in their order, and as another type.
    const std::uint64_t points[] = {1, 3, 0, 0};
    const std::int16_t small[] = {7, 8};
    ASSERT_EQ(data->write(Selection::points(2, points), datatype_of<std::int16_t>(),
                          as_bytes(Span<const std::int16_t>(small))),
              Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{8, 1, 2, 13, 21, 3, 4, 7, -1, -1, -1, -1}));
    // The last row has no source: nothing is written.
    EXPECT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(Numbers(12, 5))), Status::not_found);
    EXPECT_EQ(all_of(*data), (Numbers{8, 1, 2, 13, 21, 3, 4, 7, -1, -1, -1, -1}));
    bench.drawer.writable = false;
    EXPECT_EQ(data->write(first, kNumber.view(), bytes_of(Numbers(4, 5))), Status::read_only);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
}

TEST(VirtualChanges, TheSameFileAndUnlimitedExtents) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    DatasetCreate create;
    create.chunk = {4};
    auto source = bench.file.root().create_dataset("source", kNumber.view(), Dataspace::unlimited(5), create);
    ASSERT_EQ(source.status(), Status::ok);
    ASSERT_EQ(source->write(Selection::all(), kNumber.view(), bytes_of(counted(5))), Status::ok);
    const Dataspace extent = Dataspace::unlimited(5);
    const auto whole = Selection::hyperslab({0}, {1}, {1}, {kUnlimited});
    const auto row = Selection::hyperslab({1, 0}, {1, 1}, {1, 1}, {1, kUnlimited});
    const NewMapping mapping{".", "source", whole, &extent, row};
    auto data = bench.make("v", Dataspace::simple({2, 1}, {2, kUnlimited}), {&mapping, 1});
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{-1, -1, -1, -1, -1, 1, 2, 3, 4, 5}));
    ASSERT_EQ(data->write(Selection::hyperslab({1, 1}, {1, 3}), kNumber.view(), bytes_of({7, 8, 9})), Status::ok);
    EXPECT_EQ(all_of(*source), (Numbers{1, 7, 8, 9, 5}));
    const std::int32_t more[] = {10, 11};
    ASSERT_EQ(source->append_records(more, 2), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    data = bench.file.root().open_dataset("v");
    EXPECT_EQ(all_of(*data), (Numbers{-1, -1, -1, -1, -1, -1, -1, 1, 7, 8, 9, 5, 10, 11}));
    // Limited selections need their room, and what a source has comes again with the next opening.
    EXPECT_EQ(data->set_extent({1, 9}), Status::invalid_argument);
    EXPECT_EQ(data->set_extent({2, 3}), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{-1, -1, -1, 1, 7, 8}));
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    data = bench.file.root().open_dataset("v");
    EXPECT_EQ(all_of(*data).size(), 14U);
}

// Each opening determines the extent anew, for the handles too that are open already.
TEST(VirtualChanges, SourcesThatGrowMeanwhile) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    DatasetCreate create;
    create.chunk = {4};
    Group root = bench.file.root();
    auto source = root.create_dataset("source", kNumber.view(), Dataspace::unlimited(3), create);
    ASSERT_EQ(source.status(), Status::ok);
    ASSERT_EQ(source->write(Selection::all(), kNumber.view(), bytes_of(counted(3))), Status::ok);
    const auto endless = Selection::hyperslab({0}, {1}, {1}, {kUnlimited});
    const Dataspace extent = Dataspace::unlimited(3);
    const NewMapping of_source{".", "source", endless, &extent, endless};
    const NewMapping of_virtual{".", "v", endless, &extent, endless};
    auto data = bench.make("v", extent, {&of_source, 1});
    auto outer = bench.make("w", extent, {&of_virtual, 1});
    ASSERT_EQ(outer.status(), Status::ok);
    EXPECT_EQ(all_of(*outer), counted(3));
    const std::int32_t more[] = {4, 5};
    ASSERT_EQ(source->append_records(more, 2), Status::ok);
    EXPECT_EQ(data->size(), 3U);
    {
        // That of the source, which is open, first.
        auto again = root.open_dataset("w");
        ASSERT_EQ(again.status(), Status::ok);
        EXPECT_EQ(all_of(*again), counted(5));
        EXPECT_EQ(data->size(), 5U);
        EXPECT_EQ(outer->size(), 5U);
    }
    ASSERT_EQ(source->set_extent({2}), Status::ok);
    auto again = root.open_dataset("v");
    ASSERT_EQ(again.status(), Status::ok);
    EXPECT_EQ(all_of(*again), counted(2));
    EXPECT_EQ(all_of(*data), counted(2));
    // The view that was chosen stays.
    bench.make_source("part0", 2, 10);
    bench.make_source("part2", 2, 30);
    const Dataspace two = Dataspace::simple({2});
    const auto blocks = Selection::hyperslab({0}, {kUnlimited}, {2}, {2});
    const NewMapping numbered{"part%b", "s", Selection::all(), &two, blocks};
    auto parts = bench.make("parts", Dataspace::unlimited(0), {&numbered, 1});
    ASSERT_EQ(parts.status(), Status::ok);
    ASSERT_EQ(parts->set_virtual_view(VirtualView::last_available, 1), Status::ok);
    EXPECT_EQ(all_of(*parts), (Numbers{10, 11, -1, -1, 30, 31}));
    bench.make_source("part4", 2, 50);
    auto more_parts = root.open_dataset("parts");
    ASSERT_EQ(more_parts.status(), Status::ok);
    EXPECT_EQ(all_of(*parts), (Numbers{10, 11, -1, -1, 30, 31, -1, -1, 50, 51}));
}

TEST(VirtualChanges, NumberedSources) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    bench.make_source("part%0", 3, 10);
    bench.make_source("part%1", 3, 20);
    const Dataspace three = Dataspace::simple({3});
    const auto blocks = Selection::hyperslab({0}, {kUnlimited}, {3}, {3});
    const NewMapping mapping{"part%%%b", "s", Selection::all(), &three, blocks};
    auto data = bench.make("v", Dataspace::unlimited(3), {&mapping, 1});
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{10, 11, 12, 20, 21, 22}));
    ASSERT_EQ(data->write(Selection::hyperslab({2}, {2}), kNumber.view(), bytes_of({1, 2})), Status::ok);
    EXPECT_EQ(bench.source("part%0"), (Numbers{10, 11, 1}));
    EXPECT_EQ(bench.source("part%1"), (Numbers{2, 21, 22}));
}

// The extent may end within the block of one source, where another source ends.
TEST(VirtualChanges, NumberedSourceInPart) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    bench.make_source("part0", 3, 10);
    bench.make_source("part1", 3, 20);
    bench.make_source("log", 4, 1, true);
    const Dataspace three = Dataspace::simple({3});
    const Dataspace growing = Dataspace::unlimited(4);
    const auto endless = Selection::hyperslab({0}, {1}, {1}, {kUnlimited});
    const auto blocks = Selection::hyperslab({0, 0}, {kUnlimited, 1}, {3, 1}, {3, 1});
    const auto column = Selection::hyperslab({0, 1}, {1, 1}, {1, 1}, {kUnlimited, 1});
    const NewMapping mappings[] = {{"part%b", "s", Selection::all(), &three, blocks},
                                   {"log", "s", endless, &growing, column}};
    auto data = bench.make("v", Dataspace::simple({1, 2}, {kUnlimited, 2}), mappings);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{10, 1, 11, 2, 12, 3, 20, 4, 21, -1, 22, -1}));
    ASSERT_EQ(data->set_virtual_view(VirtualView::first_missing), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{10, 1, 11, 2, 12, 3, 20, 4}));
    ASSERT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(counted(8, 50))), Status::ok);
    EXPECT_EQ(bench.source("part1"), (Numbers{56, 21, 22}));
    const auto last = Selection::hyperslab({2, 0}, {2, 2});
    ASSERT_EQ(data->write(last, kNumber.view(), bytes_of(counted(4, 70))), Status::ok);
    EXPECT_EQ(bench.source("part0"), (Numbers{50, 52, 70}));
    EXPECT_EQ(bench.source("part1"), (Numbers{72, 21, 22}));
    const std::uint64_t points[] = {3, 1, 3, 0, 2, 0};
    ASSERT_EQ(data->write(Selection::points(2, points), kNumber.view(), bytes_of({7, 8, 9})), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{50, 51, 52, 53, 9, 71, 8, 7}));
}

// An element that has two sources does not stand for one that has none.
TEST(VirtualChanges, OverlappingMappings) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    bench.make_source("a", 6, 10);
    bench.make_source("b", 6, 20);
    const Dataspace six = Dataspace::simple({6});
    const auto left = Selection::hyperslab({0, 0}, {3, 2});
    const auto middle = Selection::hyperslab({0, 1}, {3, 2});
    const NewMapping mappings[] = {{"a", "s", Selection::all(), &six, left},
                                   {"b", "s", Selection::all(), &six, middle}};
    auto data = bench.make("v", Dataspace::simple({3, 4}), mappings);
    ASSERT_EQ(data.status(), Status::ok);
    const Numbers before = {10, 20, 21, -1, 12, 22, 23, -1, 14, 24, 25, -1};
    EXPECT_EQ(all_of(*data), before);
    // Twelve elements are found, but three of them twice.
    EXPECT_EQ(data->write(Selection::all(), kNumber.view(), bytes_of(Numbers(12, 5))), Status::not_found);
    const std::uint64_t corners[] = {0, 1, 2, 1, 0, 3, 2, 3};
    SelectionSet columns(bench.library);
    ASSERT_EQ(columns.select_blocks(2, corners), Status::ok);
    EXPECT_EQ(data->write(columns, kNumber.view(), bytes_of(Numbers(6, 5))), Status::not_found);
    const std::uint64_t points[] = {1, 1, 1, 3};
    EXPECT_EQ(data->write(Selection::points(2, points), kNumber.view(), bytes_of({5, 5})), Status::not_found);
    EXPECT_EQ(bench.source("a"), counted(6, 10));
    EXPECT_EQ(bench.source("b"), counted(6, 20));
    // Both sources get what both have, also out of a selection of memory.
    const auto both = Selection::hyperslab({0, 0}, {3, 3});
    EXPECT_EQ(data->write(both, kNumber.view(), bytes_of(counted(9))), Status::ok);
    EXPECT_EQ(bench.source("a"), (Numbers{1, 2, 4, 5, 7, 8}));
    EXPECT_EQ(bench.source("b"), (Numbers{2, 3, 5, 6, 8, 9}));
    const Dataspace memory = Dataspace::simple({6});
    const auto odd = Selection::hyperslab({1}, {3}, {2});
    const auto column = Selection::hyperslab({0, 1}, {3, 1});
    EXPECT_EQ(data->write(column, kNumber.view(), memory, odd, bytes_of(counted(6, 30))), Status::ok);
    EXPECT_EQ(bench.source("a"), (Numbers{1, 31, 4, 33, 7, 35}));
    EXPECT_EQ(bench.source("b"), (Numbers{31, 3, 33, 6, 35, 9}));
    const std::uint64_t backwards[] = {1, 0, 0, 1, 0, 0};
    EXPECT_EQ(data->write(Selection::points(2, backwards), kNumber.view(), bytes_of({41, 42, 43})), Status::ok);
    EXPECT_EQ(bench.source("a"), (Numbers{43, 42, 41, 33, 7, 35}));
}

// What lies beyond a source that became smaller is nowhere to be written to.
TEST(VirtualChanges, SourcesThatBecameSmaller) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    bench.make_source("a", 4, 10, true);
    bench.make_source("b", 6, 20);
    const Dataspace six = Dataspace::simple({6});
    const auto slab = Selection::hyperslab({0}, {6});
    const auto last = Selection::hyperslab({3}, {3});
    const NewMapping mappings[] = {{"a", "s", slab, &six, slab}, {"b", "s", last, &six, last}};
    auto data = bench.make("v", six, {mappings, 1});
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{10, 11, 12, 13, 0, 0}));
    EXPECT_EQ(data->write(slab, kNumber.view(), bytes_of(counted(6))), Status::not_found);
    EXPECT_EQ(data->write(last, kNumber.view(), bytes_of(counted(3))), Status::not_found);
    EXPECT_EQ(bench.source("a"), counted(4, 10));
    const auto first = Selection::hyperslab({0}, {4});
    EXPECT_EQ(data->write(first, kNumber.view(), bytes_of(counted(4))), Status::ok);
    EXPECT_EQ(bench.source("a"), counted(4));
    // Another mapping has what lies beyond.
    auto other = bench.make("w", six, mappings);
    ASSERT_EQ(other.status(), Status::ok);
    EXPECT_EQ(other->write(slab, kNumber.view(), bytes_of(counted(6, 30))), Status::ok);
    EXPECT_EQ(bench.source("a"), counted(4, 30));
    EXPECT_EQ(bench.source("b"), (Numbers{20, 21, 22, 33, 34, 35}));
    EXPECT_EQ(all_of(*other), counted(6, 30));
}

TEST(VirtualChanges, Refusals) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    const Dataspace four = Dataspace::simple({4});
    const Dataspace growing = Dataspace::unlimited(4);
    const auto endless = Selection::hyperslab({0}, {1}, {1}, {kUnlimited});
    const auto pairs = Selection::hyperslab({0}, {kUnlimited}, {2}, {2});
    const auto three = Selection::hyperslab({0}, {3});
    const auto beyond = Selection::hyperslab({2}, {4});
    const std::uint64_t coordinates[] = {0, 1, 2, 3};
    const auto made = [&](const NewMapping& mapping) { return bench.make("v", four, {&mapping, 1}).status(); };
    const Selection all = Selection::all();
    EXPECT_EQ(made({"f", "s", three, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", all, &four, three}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", all, &four, beyond}), Status::invalid_argument);
    EXPECT_EQ(made({"f%b", "s", all, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", all, &four, endless}), Status::invalid_argument);
    EXPECT_EQ(made({"f%b", "s", all, &four, pairs}), Status::invalid_argument);
    EXPECT_EQ(made({"f%c", "s", all, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f%", "s", all, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", endless, &growing, all}), Status::invalid_argument);
    EXPECT_EQ(made({"", "s", all, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "", all, &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", Selection::points(1, coordinates), &four, all}), Status::invalid_argument);
    EXPECT_EQ(made({"f", "s", all, &four, Selection::hyperslab({coordinates, 2}, {coordinates + 1, 2})}),
              Status::invalid_argument);
    EXPECT_FALSE(bench.file.root().exists("v"));
    std::uint64_t bytes = 0;
    EXPECT_EQ(bench.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
    EXPECT_EQ(bench.file.reclaim(&bytes), Status::ok);
    EXPECT_EQ(bytes, 0U);
    EXPECT_EQ(made({"f", "s", all, nullptr, all}), Status::ok);
    Formats formats = formats::all;
    formats.virtual_changes = nullptr;
    Bench without(formats);
    ASSERT_EQ(without.begin(), Status::ok);
    const NewMapping mapping{"f", "s", all, &four, all};
    EXPECT_EQ(without.make("v", four, {&mapping, 1}).status(), Status::unsupported);
}

TEST(VirtualChanges, DeletedAndCopied) {
    Bench bench;
    ASSERT_EQ(bench.begin(), Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    bench.make_source("a", 10, 10);
    const Dataspace ten = Dataspace::simple({10});
    SelectionSet holes(bench.library);
    const auto slab = Selection::hyperslab({0}, {2}, {5}, {2});
    const auto other = Selection::hyperslab({4}, {1});
    ASSERT_EQ(holes.combine(SelectionOp::set, slab, ten), Status::ok);
    ASSERT_EQ(holes.combine(SelectionOp::or_, other, ten), Status::ok);
    const NewMapping mapping{"a", "s", holes.view(), &ten, Selection::all()};
    {
        auto data = bench.make("v", Dataspace::simple({5}), {&mapping, 1});
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(all_of(*data), (Numbers{10, 11, 14, 15, 16}));
    }
    Group root = bench.file.root();
    ASSERT_EQ(copy_object(root, "v", root, "copy"), Status::ok);
    {
        auto copy = root.open_dataset("copy");
        EXPECT_EQ(all_of(*copy), (Numbers{10, 11, 14, 15, 16}));
    }
    EXPECT_EQ(bench.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
    ASSERT_EQ(root.unlink("v"), Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    {
        auto copy = root.open_dataset("copy");
        EXPECT_EQ(all_of(*copy), (Numbers{10, 11, 14, 15, 16}));
    }
    ASSERT_EQ(root.unlink("copy"), Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
    std::uint64_t lost = 0;
    EXPECT_EQ(bench.file.close(), Status::ok);
    auto again = File::open(bench.library, bench.driver, bench.access);
    EXPECT_EQ(again->reclaim(&lost), Status::ok);
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(again->close(), Status::ok);
    EXPECT_LT(bench.image().size(), 1024U);
}

// What libhdf5 reads of a file made with `low`, and what it makes itself.
TEST(VirtualChanges, BesideLibhdf5) {
    const std::string folder = ::testing::TempDir();
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
        const std::string path = folder + "virtual_changes.h5";
        std::remove(path.c_str());
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        PosixDriver driver;
        ASSERT_EQ(driver.open(path.c_str(), PosixDriver::Mode::create), Status::ok);
        FileAccess access;
        access.low = low;
        access.metadata_cache = 8192;
        {
            auto file = File::create(library, driver, access);
            ASSERT_EQ(file.status(), Status::ok);
            DatasetCreate chunked;
            chunked.chunk = {4};
            auto source =
                file->root().create_dataset("s", file_type_of<std::int32_t>(), Dataspace::unlimited(6), chunked);
            ASSERT_EQ(source.status(), Status::ok);
            ASSERT_EQ(source->write(Selection::all(), datatype_of<std::int32_t>(), bytes_of(counted(6))), Status::ok);
            const Dataspace extent = Dataspace::unlimited(6);
            const auto endless = Selection::hyperslab({0}, {1}, {1}, {kUnlimited});
            const auto row = Selection::hyperslab({0, 0}, {1, 1}, {1, 1}, {1, kUnlimited});
            const auto odd = Selection::hyperslab({1}, {3}, {2});
            const auto box = Selection::hyperslab({1, 0}, {1, 3});
            DatasetCreate create;
            const NewMapping mappings[] = {{".", "s", endless, &extent, row}, {".", "s", odd, &extent, box}};
            create.mappings = mappings;
            auto data = file->root().create_dataset("v", file_type_of<std::int32_t>(),
                                                    Dataspace::simple({2, 6}, {2, kUnlimited}), create);
            ASSERT_EQ(data.status(), Status::ok);
            EXPECT_EQ(all_of(*data), (Numbers{1, 2, 3, 4, 5, 6, 2, 4, 6, 0, 0, 0}));
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(source->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
        }
        EXPECT_EQ(driver.close(), Status::ok);
        {
            const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            const Hdf5Id data(H5Dopen2(file, "v", H5P_DEFAULT), H5Dclose);
            ASSERT_GE(data, 0);
            Numbers found(12);
            ASSERT_GE(H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
            EXPECT_EQ(found, (Numbers{1, 2, 3, 4, 5, 6, 2, 4, 6, 0, 0, 0}));
            const Hdf5Id list(H5Dget_create_plist(data), H5Pclose);
            std::size_t count = 0;
            EXPECT_GE(H5Pget_virtual_count(list, &count), 0);
            EXPECT_EQ(count, 2U);
            // Deleting, and what h5mote finds then.
            EXPECT_GE(H5Ldelete(file, "v", H5P_DEFAULT), 0);
            const hsize_t three = 3;
            const Hdf5Id space(H5Screate_simple(1, &three, nullptr), H5Sclose);
            const hsize_t six = 6, two = 2, zero = 0;
            const Hdf5Id from(H5Screate_simple(1, &six, nullptr), H5Sclose);
            H5Sselect_hyperslab(from, H5S_SELECT_SET, &zero, &two, &three, nullptr);
            const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            H5Pset_virtual(create, space, ".", "s", from);
            const Hdf5Id theirs(H5Dcreate2(file, "theirs", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT),
                                H5Dclose);
            ASSERT_GE(theirs, 0);
        }
        PosixDriver again;
        ASSERT_EQ(again.open(path.c_str(), PosixDriver::Mode::read_write), Status::ok);
        auto file = File::open(library, again, access);
        ASSERT_EQ(file.status(), Status::ok);
        auto theirs = file->root().open_dataset("theirs");
        EXPECT_EQ(all_of(*theirs), (Numbers{1, 3, 5}));
        ASSERT_EQ(theirs->write(Selection::all(), kNumber.view(), bytes_of({7, 8, 9})), Status::ok);
        EXPECT_EQ(theirs->close(), Status::ok);
        auto source = file->root().open_dataset("s");
        EXPECT_EQ(all_of(*source), (Numbers{7, 2, 8, 4, 9, 6}));
        EXPECT_EQ(source->close(), Status::ok);
        EXPECT_EQ(file->root().unlink("theirs"), Status::ok);
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        EXPECT_EQ(file->close(), Status::ok);
    }
}

// With the bounds of libhdf5 2.0 names that occur again are stored once, and those of the same file not at all.
TEST(VirtualChanges, SharedNames) {
    Bench bench;
    bench.make_source("a file with a long name", 8, 10);
    bench.access.low = FormatVersion::v200;
    ASSERT_EQ(bench.begin(), Status::ok);
    const Dataspace eight = Dataspace::simple({8});
    const auto low = Selection::hyperslab({0}, {2});
    const auto high = Selection::hyperslab({2}, {2});
    const auto third = Selection::hyperslab({4}, {2});
    const auto last = Selection::hyperslab({6}, {2});
    const NewMapping mappings[] = {{"a file with a long name", "s", low, &eight, high},
                                   {"a file with a long name", "s", high, &eight, low},
                                   {".", "a dataset that is not there", low, &eight, third},
                                   {".", "a dataset that is not there", low, &eight, last}};
    auto data = bench.make("v", Dataspace::simple({8}), mappings);
    ASSERT_EQ(data.status(), Status::ok);
    EXPECT_EQ(all_of(*data), (Numbers{12, 13, 10, 11, -1, -1, -1, -1}));
    VirtualMapping names;
    for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(data->virtual_mapping(i, names), Status::ok);
        EXPECT_EQ(names.file_name(), mappings[i].file);
        EXPECT_EQ(names.dataset_name(), mappings[i].dataset);
    }
    std::uint64_t shared = 0;
    EXPECT_EQ(data->heap_size(shared), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_TRUE(findings_in(bench.file).none());
}

TEST(VirtualChanges, EveryCallFails) {
    std::uint64_t points = 0;
    const Dataspace four = Dataspace::simple({4});
    const auto half = Selection::hyperslab({0}, {4});
    const auto other = Selection::hyperslab({4}, {4});
    const NewMapping mappings[] = {{".", "s", Selection::all(), &four, half},
                                   {"a", "s", Selection::all(), &four, other}};
    const auto run = [&](Bench& bench) {
        auto data = bench.file.root().open_dataset("v");
        if (data.status() == Status::not_found) {
            data = bench.make("v", Dataspace::simple({8}), mappings);
        }
        H5MOTE_TRY(data.status());
        H5MOTE_TRY(data->write(Selection::hyperslab({1}, {6}), kNumber.view(), bytes_of(counted(6, 50))));
        H5MOTE_TRY(data->close());
        return bench.file.flush();
    };
    const auto remove = [](Bench& bench) {
        if (bench.file.root().exists("v")) {
            H5MOTE_TRY(bench.file.root().unlink("v"));
        }
        return bench.file.flush();
    };
    for (unsigned which = 0; which < std::size(kFaultKinds) + 1; ++which) {
        const bool in_source = which == std::size(kFaultKinds);
        bool failed = true;
        for (std::uint64_t k = 1; failed && !HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(std::to_string(which) + " " + std::to_string(k));
            Bench bench;
            bench.make_source("a", 4, 20);
            ASSERT_EQ(bench.begin(), Status::ok);
            {
                auto source = bench.file.root().create_dataset("s", kNumber.view(), four);
                ASSERT_EQ(source->write(Selection::all(), kNumber.view(), bytes_of(counted(4, 10))), Status::ok);
                ASSERT_EQ(source->close(), Status::ok);
                ASSERT_EQ(bench.file.flush(), Status::ok);
            }
            FailingDriver& outside = bench.drawer.file("a").driver;
            DriverFault fault;
            fault.at = k;
            if (in_source) {
                outside.arm(fault);
            } else {
                arm(bench.refusing, bench.driver, kFaultKinds[which], k);
            }
            const Status status = run(bench);
            failed = disarm(bench.refusing, bench.driver) || outside.failures() != 0;
            outside.disarm();
            EXPECT_EQ(bench.drawer.open_files(), 0);
            EXPECT_TRUE(failed || status == Status::ok) << to_string(status);
            points += failed ? 1 : 0;
            EXPECT_EQ(run(bench), Status::ok) << "after " << to_string(status);
            EXPECT_EQ(bench.source("a"), (Numbers{53, 54, 55, 23}));
            EXPECT_TRUE(findings_in(bench.file).none());
            arm(bench.refusing, bench.driver, kFaultKinds[in_source ? 0 : which], k);
            const Status removed = remove(bench);
            const bool seen = disarm(bench.refusing, bench.driver);
            EXPECT_TRUE(seen || removed == Status::ok);
            failed = failed || seen;
            EXPECT_EQ(remove(bench), Status::ok);
            EXPECT_TRUE(findings_in(bench.file).none());
            EXPECT_EQ(bench.file.close(), Status::ok);
            EXPECT_EQ(bench.memory.blocks(), 0U);
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 60U / sweep_step());
}

}  // namespace

#endif
