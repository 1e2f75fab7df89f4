// Virtual datasets of virtual datasets, sources that are missing or differ in length, and mappings that do not fit.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "checksum.hpp"
#include "cursor.hpp"
#include "faulty_files.hpp"
#include "selection_codec.hpp"

#include <h5mote/selection_set.hpp>

#include <algorithm>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Values = std::vector<int>;

constexpr hsize_t kColumns = 3;
constexpr char kLongName[] =
    "a source with a name so long that there is room for any selection in its place, and for some "
    "more numbers of eight bytes than those that stand there at first, and then some more";

void put(hid_t file, const char* name, const Hdf5Id& space, hid_t list, const int* values) {
    const Hdf5Id dataset(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(dataset, 0);
    EXPECT_TRUE(values == nullptr || H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

// Makes a source of unlimited rows whose values count up from `first`.
void put_source(hid_t file, const char* name, hsize_t rows, int first) {
    Values values(rows * kColumns);
    std::iota(values.begin(), values.end(), first);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk[] = {2, kColumns};
    EXPECT_GE(H5Pset_chunk(list, 2, chunk), 0);
    put(file, name, {simple({rows, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose}, list, values.data());
}

struct From {
    const char* file;
    const char* dataset;
};

// Makes a virtual dataset of sources side by side, each with as many rows as it has.
void put_virtual(hid_t file, const char* name, std::vector<From> sources) {
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = -1;
    EXPECT_GE(H5Pset_fill_value(list, H5T_NATIVE_INT, &fill), 0);
    const hsize_t columns = sources.size() * kColumns;
    const Hdf5Id space(simple({1, columns}, {H5S_UNLIMITED, columns}), H5Sclose);
    const Hdf5Id from(simple({1, kColumns}, {H5S_UNLIMITED, kColumns}), H5Sclose);
    const hsize_t count[] = {H5S_UNLIMITED, 1}, block[] = {1, kColumns}, one[] = {1, 1};
    hsize_t start[] = {0, 0};
    EXPECT_GE(H5Sselect_hyperslab(from, H5S_SELECT_SET, start, one, count, block), 0);
    for (const From& each : sources) {
        EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, one, count, block), 0);
        EXPECT_GE(H5Pset_virtual(list, space, each.file, each.dataset, from), 0);
        start[1] += kColumns;
    }
    EXPECT_GE(H5Sselect_all(space), 0);
    put(file, name, {H5Scopy(space), H5Sclose}, list, nullptr);
}

Images make_images() {
    Images images;
    images["main"] = made([](hid_t file) {
        put_source(file, "v0", 2, 100);
        put_source(file, "longer", 4, 200);
        for (int i = 1; i < 7; ++i) {
            const std::string name = "v" + std::to_string(i);
            const std::string from = "v" + std::to_string(i - 1);
            put_virtual(file, name.c_str(), {{".", from.c_str()}});
        }
        put_virtual(file, "self", {{".", "self"}});
        put_virtual(file, "two", {{".", "v0"}, {".", "longer"}});
        put_virtual(file, "missing", {{"not there.h5", "v0"}, {".", "v0"}, {".", "not there"}});
        put_virtual(file, "mapped", {{".", kLongName}});
    });
    return images;
}

const Images& images() {
    static const Images all = make_images();
    return all;
}

struct Opened {
    explicit Opened(FaultyFile& with) : library(with.failing, with.port) {
        auto opened = File::open(library, with.main, with.access());
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }
    Library library;
    File file;
};

Status read_all(Dataset& dataset, Values& values) {
    Dataspace space;
    H5MOTE_TRY(dataset.dataspace(space));
    values.assign(static_cast<std::size_t>(space.dims()[0] * space.dims()[1]), -2);
    return dataset.read(Selection::all(), datatype_of<int>(),
                        {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(int)});
}

// Reads all elements as points, the last one first.
Status read_points(Dataset& dataset, Values& values) {
    Dataspace space;
    H5MOTE_TRY(dataset.dataspace(space));
    std::vector<std::uint64_t> points;
    for (std::uint64_t row = space.dims()[0]; row-- > 0;) {
        for (std::uint64_t column = space.dims()[1]; column-- > 0;) {
            points.push_back(row);
            points.push_back(column);
        }
    }
    values.assign(points.size() / 2, -2);
    H5MOTE_TRY(dataset.read(Selection::points(2, {points.data(), points.size()}), datatype_of<int>(),
                            {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(int)}));
    std::reverse(values.begin(), values.end());
    return Status::ok;
}

const Values kFirst = {100, 101, 102, 103, 104, 105};

TEST(VirtualEdges, OfVirtualDatasets) {
    FaultyFile with(images(), "main");
    {
        Opened opened(with);
        Group root = opened.file.root();
        Values values;
        std::vector<Dataset> held;
        for (const char* name : {"v1", "v2", "v3", "v4"}) {
            auto dataset = root.open_dataset(name);
            ASSERT_EQ(dataset.status(), Status::ok);
            EXPECT_EQ(read_all(*dataset, values), Status::ok);
            EXPECT_EQ(values, kFirst);
        }
        for (const char* name : {"v5", "v6", "self"}) {
            EXPECT_EQ(root.open_dataset(name).status(), Status::unsupported) << name;
        }
        // The same when the sources are open already.
        for (const char* name : {"v1", "v2", "v3", "v4", "v5", "v6"}) {
            auto dataset = root.open_dataset(name);
            const bool sound = name[1] < '5';
            ASSERT_EQ(dataset.status(), sound ? Status::ok : Status::unsupported) << name;
            if (sound) {
                EXPECT_EQ(read_all(*dataset, values), Status::ok) << name;
                EXPECT_EQ(values, kFirst);
                EXPECT_EQ(read_points(*dataset, values), Status::ok) << name;
                EXPECT_EQ(values, kFirst);
                held.push_back(static_cast<Dataset&&>(*dataset));
            }
        }
    }
    EXPECT_EQ(with.tracking.blocks(), 0U);
}

TEST(VirtualEdges, SourcesOfDifferentLengths) {
    FaultyFile with(images(), "main");
    {
        Opened opened(with);
        auto two = opened.file.root().open_dataset("two");
        ASSERT_EQ(two.status(), Status::ok);
        const Values all = {100, 101, 102, 200, 201, 202, 103, 104, 105, 203, 204, 205,
                            -1,  -1,  -1,  206, 207, 208, -1,  -1,  -1,  209, 210, 211};
        Values values;
        for (const std::uint64_t gap : {std::uint64_t{0}, std::uint64_t{0xffffffff}, kUnlimited}) {
            ASSERT_EQ(two->set_virtual_view(VirtualView::last_available, gap), Status::ok);
            EXPECT_EQ(read_all(*two, values), Status::ok);
            EXPECT_EQ(values, all);
            EXPECT_EQ(read_points(*two, values), Status::ok);
            EXPECT_EQ(values, all);
            ASSERT_EQ(two->set_virtual_view(VirtualView::first_missing, gap), Status::ok);
            EXPECT_EQ(read_all(*two, values), Status::ok);
            EXPECT_EQ(values, Values(all.begin(), all.begin() + 12));
        }
        auto missing = opened.file.root().open_dataset("missing");
        ASSERT_EQ(missing.status(), Status::ok);
        const Values some = {-1, -1, -1, 100, 101, 102, -1, -1, -1, -1, -1, -1, 103, 104, 105, -1, -1, -1};
        EXPECT_EQ(read_all(*missing, values), Status::ok);
        EXPECT_EQ(values, some);
        EXPECT_EQ(read_points(*missing, values), Status::ok);
        EXPECT_EQ(values, some);
        ASSERT_EQ(missing->set_virtual_view(VirtualView::first_missing), Status::ok);
        EXPECT_EQ(missing->size(), 0U);
    }
    EXPECT_EQ(with.tracking.blocks(), 0U);
}

// A fault while points or stored bytes are read loses nothing and leaves nothing open.
TEST(VirtualEdges, ReadWhateverFails) {
    for (const char* name : {"two", "missing", "v3"}) {
        FaultyFile with(images(), "main");
        const unsigned refused = with.sweep<Values>([name](Library& library, FaultyFile& file, Values& seen) {
            seen.clear();
            auto opened = File::open(library, file.main, file.access());
            H5MOTE_TRY(opened.status());
            auto dataset = opened->root().open_dataset(name);
            H5MOTE_TRY(dataset.status());
            Values values;
            H5MOTE_TRY(read_points(*dataset, values));
            Values stored(values.size());
            H5MOTE_TRY(dataset->read_stored(
                Selection::all(), {reinterpret_cast<std::byte*>(stored.data()), stored.size() * sizeof(int)}));
            H5MOTE_TRY(dataset->set_virtual_view(VirtualView::first_missing));
            values.push_back(static_cast<int>(dataset->size()));
            values.insert(values.end(), stored.begin(), stored.end());
            seen = values;
            return Status::ok;
        });
        EXPECT_GT(refused, 30U) << name;
    }
}

// ---- mappings that do not fit ------------------------------------------------------------------------------------

struct Slab {
    std::vector<std::uint64_t> start, stride, count, block;
};

void append(Image& image, const Slab& slab) {
    MallocAllocator memory;
    NullPort port;
    Context context{memory, port, {}};
    std::byte buffer[500];
    Writer writer{Bytes(buffer)};
    const auto span = [](const std::vector<std::uint64_t>& numbers) {
        return Span<const std::uint64_t>(numbers.data(), numbers.size());
    };
    if (slab.start.empty()) {
        EXPECT_EQ(encode_selection(writer, slab.count.empty() ? Selection::all() : Selection::none(), Dataspace()),
                  Status::ok);
    } else {
        SelectionSet set(context);
        EXPECT_EQ(set.select_hyperslab(SelectionOp::set,
                                       {span(slab.start), span(slab.stride), span(slab.count), span(slab.block)},
                                       Dataspace::scalar()),
                  Status::ok);
        const std::vector<std::uint64_t> dims(slab.start.size(), kUnlimited - 1);
        EXPECT_EQ(encode_selection(writer, set, Dataspace::simple(span(dims))), Status::ok);
    }
    image.insert(image.end(), buffer, buffer + writer.written());
}

// Returns the file in which "mapped" has just one mapping, with this source file, dataset and selections.
Image with_mapping(const char* file, const char* dataset, const Slab& source, const Slab& destination) {
    Image image = images().at("main");
    const auto* text = reinterpret_cast<const std::byte*>(kLongName);
    const auto found = std::search(image.begin(), image.end(), text, text + sizeof kLongName);
    // Version, number of mappings, and the name of the source file ".".
    std::byte* const begin = image.data() + (found - image.begin()) - 1 - 8 - 2;
    const auto size = static_cast<std::size_t>(load_le<std::uint64_t>(begin - 8));
    Image made(begin, begin + 9);
    for (const char* name : {file, dataset}) {
        const auto* const from = reinterpret_cast<const std::byte*>(name);
        made.insert(made.end(), from, from + std::strlen(name) + 1);
    }
    append(made, source);
    append(made, destination);
    EXPECT_LE(made.size(), size - 4);
    std::copy(made.begin(), made.end(), begin);
    store_le<std::uint32_t>(begin + size - 4, lookup3({begin, size - 4}));
    return image;
}

TEST(VirtualEdges, MappingsThatDoNotFit) {
    constexpr std::uint64_t kNoEnd = kUnlimited, kFar = std::uint64_t{1} << 62;
    const Slab rows = {{0, 0}, {1, 1}, {kNoEnd, 1}, {1, kColumns}}, one = {{0, 0}, {1, 1}, {1, 1}, {1, kColumns}},
               two = {{0, 0}, {1, 1}, {1, 1}, {2, kColumns}};
    const Slab all = {}, none = {{}, {}, {0}, {}};
    struct Case {
        const char* what;
        const char* file;
        const char* dataset;
        Slab source, destination;
        Status opened, read;
        std::size_t elements;
    };
    const Case cases[] = {
        {"fits", ".", "v0", rows, rows, Status::ok, Status::ok, 6},
        {"fits, with an end", ".", "v0", one, one, Status::ok, Status::ok, 3},
        {"more than the dataset has", ".", "v0", two, two, Status::ok, Status::corrupt_file, 3},
        {"more than the source has",
         ".",
         "v0",
         {{0, 1}, {1, 1}, {1, 1}, {1, kColumns}},
         one,
         Status::ok,
         Status::ok,
         3},
        {"of another rank, with an end", ".", "v0", one, {{0}, {1}, {1}, {3}}, Status::corrupt_file, Status::ok, 0},
        {"of another rank, without end",
         ".",
         "v0",
         rows,
         {{0, 0, 0}, {1, 1, 1}, {1, 1, kNoEnd}, {1, 1, 1}},
         Status::corrupt_file,
         Status::ok,
         0},
        {"without end in a dimension that the source lacks",
         ".",
         "v0",
         {{0, 0, 0}, {1, 1, 1}, {1, 1, kNoEnd}, {1, 3, 1}},
         rows,
         Status::corrupt_file,
         Status::ok,
         0},
        {"of another rank than the source",
         ".",
         "v0",
         {{0}, {3}, {kNoEnd}, {3}},
         rows,
         Status::ok,
         Status::corrupt_file,
         6},
        {"without end on the source's side only", ".", "v0", rows, one, Status::ok, Status::corrupt_file, 3},
        {"a block for each file, without a number", ".", "v0", one, rows, Status::corrupt_file, Status::ok, 0},
        {"all of a source with more", ".", "v0", all, all, Status::ok, Status::ok, 3},
        {"nothing", ".", "v0", none, none, Status::ok, Status::ok, 3},
        {"nothing for blocks of which there are none", ".", "%b", none, rows, Status::ok, Status::ok, 0},
        {"so far apart that no extent holds it",
         ".",
         "v0",
         rows,
         {{0, 0}, {kFar, 1}, {kNoEnd, 1}, {1, kColumns}},
         Status::corrupt_file,
         Status::ok,
         0},
        {"blocks farther apart than coordinates go",
         ".",
         "v0",
         rows,
         {{0, 0}, {kNoEnd - 1, 1}, {kNoEnd, 1}, {2, kColumns}},
         Status::ok,
         Status::ok,
         6},
        {"a dataset without a name", ".", "", rows, rows, Status::ok, Status::ok, 0},
        {"a group", ".", "/", rows, rows, Status::ok, Status::ok, 0},
        {"a file without a name", "", "v0", rows, rows, Status::ok, Status::ok, 0},
        {"a percent sign at the end", ".", "v0%", rows, rows, Status::ok, Status::ok, 6},
        {"other percent signs", "%%.h5", "v%0", rows, rows, Status::ok, Status::ok, 0},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.what);
        Images changed;
        changed["main"] = with_mapping(each.file, each.dataset, each.source, each.destination);
        FaultyFile with(changed, "main");
        {
            Opened opened(with);
            auto dataset = opened.file.root().open_dataset("mapped");
            EXPECT_EQ(dataset.status(), each.opened);
            Values values;
            EXPECT_EQ(dataset.status() != Status::ok ? Status::ok : read_all(*dataset, values), each.read);
            EXPECT_EQ(values.size(), each.elements);
        }
        EXPECT_EQ(with.tracking.blocks(), 0U);
        EXPECT_EQ(with.shelf.open_files(), 0);
    }
}

}  // namespace

#endif
