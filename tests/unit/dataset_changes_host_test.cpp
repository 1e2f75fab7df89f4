// Changes of several steps: one member of a compound in narrow and wide elements, in chunks larger than the cache, in
// data without space yet. Each fault on the way is reported, and the change can be repeated and is then complete.
#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "cursor.hpp"

#include <cstdio>
#include <string>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_files.hpp"
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Elements of 8 and of more than 512 bytes. Tests write the member `t`.
struct Narrow {
    std::uint32_t t;
    std::int16_t rest[2];
};
H5MOTE_COMPOUND(Narrow, t, rest)
struct Wide {
    std::uint32_t t;
    std::int16_t rest[300];
};
H5MOTE_COMPOUND(Wide, t, rest)
struct Time {
    double t;
};
H5MOTE_COMPOUND(Time, t)

constexpr std::uint64_t kRows = 5;
constexpr std::uint64_t kLonger = 12;

enum class Kind { contiguous, compact, chunked, in_place, filtered, filtered_in_two };

struct Rig {
    explicit Rig(Kind kind) {
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        access.metadata_cache = 1024;
        access.chunk_cache = kind == Kind::in_place ? 16 : 6000;
    }
    Status create() { return take(File::create(library, driver, access)); }
    Status open(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        return take(File::open(library, driver, access));
    }
    Status reopen() { return take(File::open(library, driver, access)); }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes, std::size_t{1} << 22};
    FailingDriver driver{storage};
    NullPort port;
    Library library{refusing, port, world_filters()};
    FileAccess access;
    File file;

private:
    Status take(Result<File>&& result) {
        file = static_cast<File&&>(*result);
        return result.status();
    }
};

// Makes the dataset "d" of `T` with kRows rows of the fill value: `t` is 7 and `rest` is 8.
template <typename T>
Status make(File& file, Kind kind, bool early = false) {
    std::byte stored[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) {
        store_le<std::uint16_t>(stored + 2 * i, i == 0 ? 7 : i == 1 ? 0 : 8);
    }
    DatasetCreate create;
    create.fill = stored;
    create.allocation = early ? AllocationTime::early : AllocationTime::automatic;
    create.layout = kind == Kind::compact ? Layout::compact : Layout::automatic;
    const bool chunked = kind != Kind::contiguous && kind != Kind::compact;
    if (chunked) {
        create.chunk = {4};
    }
    if (kind == Kind::filtered || kind == Kind::filtered_in_two) {
        create.filters.push_back(filters::shuffle);
        create.filters.push_back(kind == Kind::filtered ? filters::fletcher32 : filters::deflate);
    }
    const std::uint64_t rows = kRows, most = chunked ? kUnlimited : kRows;
    return file.root()
        .create_dataset("d", file_type_of<T>(), Dataspace::simple({&rows, 1}, {&most, 1}), create)
        .status();
}

struct Change {
    const char* name;
    bool grows;  ///< the change extends the dataset: only chunked ones can grow
    Status (*play)(File& file);
    /// Values of `t` in all rows after the change.
    std::vector<double> rows;
};

template <std::size_t N>
ConstBytes bytes_of(const Time (&times)[N]) {
    return as_bytes(Span<const Time>(times));
}

const Change kChanges[] = {
    {"write",
     false,
     [](File& file) {
         auto data = file.root().open_dataset("d");
         H5MOTE_TRY(data.status());
         const Time times[] = {{1}, {2}, {3}};
         H5MOTE_TRY(data->write(Selection::hyperslab({1}, {3}), datatype_of<Time>(), bytes_of(times)));
         H5MOTE_TRY(data->close());
         return file.flush();
     },
     {7, 1, 2, 3, 7}},
    {"write points",
     false,
     [](File& file) {
         auto data = file.root().open_dataset("d");
         H5MOTE_TRY(data.status());
         const Time times[] = {{1}, {2}, {3}, {4}};
         const std::uint64_t points[] = {4, 0, 3, 1};
         H5MOTE_TRY(data->write(Selection::points(1, points), datatype_of<Time>(), bytes_of(times)));
         H5MOTE_TRY(data->close());
         return file.flush();
     },
     {2, 4, 7, 3, 1}},
    {"write from a selection",
     false,
     [](File& file) {
         auto data = file.root().open_dataset("d");
         H5MOTE_TRY(data.status());
         const Time times[] = {{1}, {2}, {3}, {4}};
         H5MOTE_TRY(data->write(Selection::hyperslab({0}, {2}, {4}), datatype_of<Time>(), Dataspace::simple({4}),
                                Selection::hyperslab({1}, {2}, {2}), bytes_of(times)));
         H5MOTE_TRY(data->close());
         return file.flush();
     },
     {2, 7, 7, 7, 4}},
    {"append",
     true,
     [](File& file) {
         auto data = file.root().open_dataset("d");
         H5MOTE_TRY(data.status());
         H5MOTE_TRY(data->set_memory_type(datatype_of<Time>()));
         while (data->size() < kLonger) {
             const Time time{static_cast<double>(data->size())};
             H5MOTE_TRY(data->append_records(&time, 1));
         }
         H5MOTE_TRY(data->close());
         return file.flush();
     },
     {7, 7, 7, 7, 7, 5, 6, 7, 8, 9, 10, 11}},
    {"set_extent",
     true,
     [](File& file) {
         auto data = file.root().open_dataset("d");
         H5MOTE_TRY(data.status());
         H5MOTE_TRY(data->set_extent({kLonger}));
         H5MOTE_TRY(data->close());
         return file.flush();
     },
     {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
};

// Checks in all rows that `t` was written and that the other members are unchanged.
template <typename T>
void expect_rows(File& file, const std::vector<double>& rows) {
    auto data = file.root().open_dataset("d");
    ASSERT_EQ(data.status(), Status::ok);
    ASSERT_EQ(data->size(), rows.size());
    std::vector<T> whole(rows.size());
    ASSERT_EQ(data->read(Selection::all(), datatype_of<T>(),
                         {reinterpret_cast<std::byte*>(whole.data()), whole.size() * sizeof(T)}),
              Status::ok);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(whole[i].t, rows[i]) << i;
        for (const std::int16_t each : whole[i].rest) {
            ASSERT_EQ(each, 8) << i;
        }
    }
}

template <typename T, typename Play>
void sweep(Kind kind, const Image& image, const Play& play, const std::vector<double>& rows, unsigned& points) {
    for (const FaultKind& fault : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed && !::testing::Test::HasFailure(); k += sweep_step()) {
            SCOPED_TRACE(std::string(fault.name) + " " + std::to_string(k));
            Rig rig(kind);
            ASSERT_EQ(rig.open(image), Status::ok);
            rig.library.garbage_collect();
            arm(rig.refusing, rig.driver, fault, k);
            Status status = play(rig.file);
            failed = disarm(rig.refusing, rig.driver);
            if (status != Status::ok) {
                EXPECT_TRUE(failed && status == (fault.calls != 0 ? Status::io_error : Status::out_of_memory))
                    << to_string(status);
                status = play(rig.file);
            }
            ASSERT_EQ(status, Status::ok) << to_string(status);
            EXPECT_TRUE(findings_in(rig.file).none());
            expect_rows<T>(rig.file, rows);
            ASSERT_EQ(rig.file.close(), Status::ok);
            EXPECT_EQ(rig.memory.blocks(), 0U);
            ASSERT_EQ(rig.reopen(), Status::ok);
            EXPECT_TRUE(findings_in(rig.file).none());
            expect_rows<T>(rig.file, rows);
            ++points;
        }
    }
}

template <typename T>
void change_all(Kind kind, unsigned& points) {
    Image image;
    Image empty;
    {
        Rig rig(kind);
        ASSERT_EQ(rig.create(), Status::ok);
        ASSERT_EQ(rig.file.close(), Status::ok);
        empty = rig.image();
        ASSERT_EQ(rig.reopen(), Status::ok);
        ASSERT_EQ(make<T>(rig.file, kind), Status::ok);
        ASSERT_EQ(rig.file.close(), Status::ok);
        image = rig.image();
    }
    for (const Change& change : kChanges) {
        if (change.grows && (kind == Kind::contiguous || kind == Kind::compact)) {
            continue;
        }
        SCOPED_TRACE(change.name);
        sweep<T>(kind, image, change.play, change.rows, points);
    }
    SCOPED_TRACE("create");
    const auto create = [kind](File& file) {
        H5MOTE_TRY(file.root().exists("d") ? Status::ok : make<T>(file, kind, true));
        return file.flush();
    };
    sweep<T>(kind, empty, create, std::vector<double>(kRows, 7), points);
}

}  // namespace

TEST(DatasetChanges, AreMadeWhateverFailed) {
    unsigned points = 0;
    for (const Kind kind :
         {Kind::contiguous, Kind::compact, Kind::chunked, Kind::in_place, Kind::filtered, Kind::filtered_in_two}) {
        SCOPED_TRACE(static_cast<int>(kind));
        change_all<Narrow>(kind, points);
        if (kind != Kind::compact) {  // as compact data they exceed the metadata cache
            change_all<Wide>(kind, points);
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

#ifdef H5MOTE_TEST_HDF5

namespace {

// Returns the same dataset as libhdf5 makes it, without data and without a chunk index. `sizes`: rows, maximum rows,
// and rows of a chunk or 0.
Image made_by_libhdf5(std::vector<hsize_t> sizes, bool filtered, bool late) {
    Hdf5Maker maker(Hdf5Maker::Format::newest);
    const Hdf5Id type(H5Tcreate(H5T_COMPOUND, sizeof(Narrow)), H5Tclose);
    const hsize_t two = 2;
    const Hdf5Id rest(H5Tarray_create2(H5T_STD_I16LE, 1, &two), H5Tclose);
    H5Tinsert(type, "t", 0, H5T_STD_U32LE);
    H5Tinsert(type, "rest", 4, rest);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    std::byte fill[sizeof(Narrow)];
    store_le<std::uint32_t>(fill, 7);
    store_le<std::uint16_t>(fill + 4, 8);
    store_le<std::uint16_t>(fill + 6, 8);
    H5Pset_fill_value(list, type, fill);
    H5Pset_obj_track_times(list, false);
    if (sizes[2] != 0) {
        H5Pset_chunk(list, 1, &sizes[2]);
    }
    if (filtered) {
        H5Pset_shuffle(list);
    }
    if (!late) {
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    }
    const Hdf5Id space(H5Screate_simple(1, &sizes[0], &sizes[1]), H5Sclose);
    const Hdf5Id data(H5Dcreate2(maker.file(), "d", type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    EXPECT_GE(data, 0);
    return maker.finish();
}

}  // namespace

TEST(DatasetChanges, OfDatasetsOfLibhdf5WithoutData) {
    constexpr hsize_t kNoEnd = H5S_UNLIMITED;
    struct Case {
        const char* name;
        std::vector<hsize_t> sizes;
        bool filtered = false;
        bool late = true;
    };
    const Case cases[] = {
        {"contiguous", {kRows, kRows, 0}},
        {"single chunk", {kRows, kRows, kRows}},
        {"single chunk, filtered", {kRows, kRows, kRows}, true},
        {"single chunk, early", {kRows, kRows, kRows}, false, false},
        {"implicit", {kRows, kRows, 2}, false, false},
        {"fixed array", {kRows, kRows, 2}},
        {"fixed array that may grow", {kRows, 20, 4}},
        {"fixed array, filtered", {kRows, 20, 2}, true},
        {"extensible array", {kRows, kNoEnd, 4}},
        {"extensible array, filtered", {kRows, kNoEnd, 2}, true},
    };
    unsigned points = 0;
    for (const Case& each : cases) {
        const Image image = made_by_libhdf5(each.sizes, each.filtered, each.late);
        for (const Kind kind : {Kind::chunked, Kind::in_place}) {
            for (const Change& change : kChanges) {
                if ((change.grows && each.sizes[0] == each.sizes[1]) || (each.filtered && kind == Kind::in_place)) {
                    continue;
                }
                SCOPED_TRACE(std::string(each.name) + ", " + change.name +
                             (kind == Kind::in_place ? ", in place" : ""));
                sweep<Narrow>(kind, image, change.play, change.rows, points);
            }
        }
        SCOPED_TRACE(each.name);
        const auto unlink = [](File& file) {
            Group root = file.root();
            H5MOTE_TRY(root.exists("d") ? root.unlink("d") : Status::ok);
            H5MOTE_TRY(root.exists("d") ? Status::ok : make<Narrow>(file, Kind::chunked));
            return file.flush();
        };
        sweep<Narrow>(Kind::chunked, image, unlink, std::vector<double>(kRows, 7), points);
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

#endif
#endif
