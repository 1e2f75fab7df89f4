// Datasets whose headers are larger than the metadata cache, made by libhdf5. While memory or reading fails, each query
// gives the right answer or the status of the fault, and asked again it is right.
#ifdef H5MOTE_TEST_HDF5

#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"
#include "hdf5_files.hpp"

#include <cstdio>
#include <functional>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kMembers = 60;
constexpr std::size_t kRecord = 4 * kMembers;
constexpr hsize_t kRows = 7;

std::string member_name(unsigned i) { return "member_with_a_long_name_" + std::to_string(i); }

// A compound of numbers with long names, so that the datatype message takes some 3 KiB.
hid_t record_type() {
    const hid_t type = H5Tcreate(H5T_COMPOUND, kRecord);
    for (unsigned i = 0; i < kMembers; ++i) {
        H5Tinsert(type, member_name(i).c_str(), std::size_t{4} * i, H5T_STD_I32LE);
    }
    return type;
}

enum class Kind { contiguous, compact, chunked, growing, early };

// Makes the dataset "d" of such records with a fill value; only the first three rows are written.
void make_records(hid_t file, Kind kind, hid_t type) {
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    std::vector<std::int32_t> values(kRows * kMembers, 5);
    H5Pset_fill_value(list, type, values.data());
    hsize_t rows = kRows;
    hsize_t most = kind == Kind::growing ? H5S_UNLIMITED : kRows;
    const hsize_t chunk = 2;
    if (kind == Kind::compact) {
        H5Pset_layout(list, H5D_COMPACT);
    } else if (kind != Kind::contiguous) {
        H5Pset_chunk(list, 1, &chunk);
    }
    if (kind == Kind::chunked || kind == Kind::growing) {
        H5Pset_shuffle(list);
        H5Pset_fletcher32(list);
    }
    if (kind == Kind::early) {
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    }
    H5Pset_obj_track_times(list, false);
    const Hdf5Id space(H5Screate_simple(1, &rows, &most), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "d", type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(data, 0);
    const hsize_t start = 0;
    const hsize_t three = 3;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &three, nullptr);
    const Hdf5Id memory(H5Screate_simple(1, &three, nullptr), H5Sclose);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::int32_t>(i);
    }
    ASSERT_GE(H5Dwrite(data, type, memory, space, H5P_DEFAULT, values.data()), 0);
    make_attribute(data, "beside", 3);
}

std::vector<MadeFile> files() {
    using Format = Hdf5Maker::Format;
    std::vector<MadeFile> all;
    const Hdf5Id type(record_type(), H5Tclose);
    for (const Format format : {Format::oldest, Format::newest}) {
        for (const Kind kind : {Kind::contiguous, Kind::compact, Kind::chunked, Kind::growing, Kind::early}) {
            Hdf5Maker maker(format);
            make_records(maker.file(), kind, type);
            all.push_back({(format == Format::oldest ? "old " : "new ") + std::to_string(static_cast<int>(kind)),
                           maker.finish()});
        }
    }
    {
        Hdf5Maker maker(Format::newest);
        H5Pset_shared_mesg_nindexes(maker.properties(), 1);
        H5Pset_shared_mesg_index(maker.properties(), 0, H5O_SHMESG_ALL_FLAG, 10);
        make_records(maker.file(), Kind::growing, type);
        all.push_back({"shared messages", maker.finish()});
    }
    {
        Hdf5Maker maker(Format::newest);
        const Hdf5Id named(record_type(), H5Tclose);
        H5Tcommit2(maker.file(), "type", named, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        make_records(maker.file(), Kind::growing, named);
        all.push_back({"committed datatype", maker.finish()});
    }
    return all;
}

struct Rig {
    explicit Rig(const Image& image) {
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        access.read_only = true;
        access.metadata_cache = 1024;
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    }
    Status open() {
        auto opened = File::open(library, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    FailingDriver driver{storage};
    NullPort port;
    Library library{refusing, port, kAllFilters};
    FileAccess access;
    File file;
};

// Reads one member, converted to another type.
struct Part {
    double member_with_a_long_name_2;
};
H5MOTE_COMPOUND(Part, member_with_a_long_name_2)

// The answer to a query, as numbers that can be compared.
using Seen = std::vector<double>;

void remember(Seen& seen, ConstBytes bytes) {
    for (const std::byte each : bytes) {
        seen.push_back(static_cast<double>(each));
    }
}

Status read_parts(Dataset& data, const Selection& selection, std::size_t count, Seen& seen) {
    Part parts[kRows] = {};
    const Status status =
        data.read(selection, datatype_of<Part>(), {reinterpret_cast<std::byte*>(parts), count * sizeof(Part)});
    for (std::size_t i = 0; i < count; ++i) {
        seen.push_back(parts[i].member_with_a_long_name_2);
    }
    return status;
}

struct Query {
    const char* name;
    Status (*ask)(File& file, Dataset& data, Seen& seen);
};

constexpr Query kQueries[] = {
    {"open",
     [](File& file, Dataset& data, Seen& seen) {
         (void)data.close();
         auto opened = file.root().open_dataset("d");
         H5MOTE_TRY(opened.status());
         data = static_cast<Dataset&&>(*opened);
         seen.push_back(static_cast<double>(data.size()));
         return Status::ok;
     }},
    {"info",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         DatasetInfo info;
         H5MOTE_TRY(data.info(info));
         seen = {static_cast<double>(info.layout), static_cast<double>(info.type_length),
                 static_cast<double>(info.fill_size), static_cast<double>(info.filters)};
         return Status::ok;
     }},
    {"datatype",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         std::byte bytes[6000];
         DatatypeView type;
         H5MOTE_TRY(data.datatype(bytes, type));
         remember(seen, type.bytes());
         return Status::ok;
     }},
    {"set_memory_type",
     [](File& /*file*/, Dataset& data, Seen& /*seen*/) { return data.set_memory_type(datatype_of<Part>()); }},
    {"fill_value",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         Part part{};
         H5MOTE_TRY(data.fill_value(datatype_of<Part>(), {reinterpret_cast<std::byte*>(&part), sizeof part}));
         seen.push_back(part.member_with_a_long_name_2);
         return Status::ok;
     }},
    {"stored_fill_value",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         std::byte bytes[kRecord];
         H5MOTE_TRY(data.stored_fill_value(bytes));
         remember(seen, bytes);
         return Status::ok;
     }},
    {"filter",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         FilterInfo filter;
         std::uint32_t values[8];
         char name[16];
         H5MOTE_TRY(data.filter(1, filter, name, values));
         seen.push_back(static_cast<double>(filter.id));
         return Status::ok;
     }},
    {"sizes",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         std::uint64_t bytes = 0;
         std::uint64_t chunks = 0;
         H5MOTE_TRY(data.storage_size(bytes));
         seen.push_back(static_cast<double>(bytes));
         H5MOTE_TRY(data.index_size(chunks, bytes));
         seen.push_back(static_cast<double>(bytes));
         return Status::ok;
     }},
    {"read", [](File& /*file*/, Dataset& data, Seen& seen) { return read_parts(data, Selection::all(), kRows, seen); }},
    {"read, points",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         const std::uint64_t points[] = {6, 0, 2};
         return read_parts(data, Selection::points(1, points), 3, seen);
     }},
    {"read, in steps", [](File& /*file*/, Dataset& data,
                          Seen& seen) { return read_parts(data, Selection::hyperslab({1}, {3}, {2}), 3, seen); }},
    {"read_stored",
     [](File& /*file*/, Dataset& data, Seen& seen) {
         std::byte bytes[kRows * kRecord];
         const Status status = data.read_stored(Selection::all(), bytes);
         remember(seen, bytes);
         return status;
     }},
};

// The faults that a query can meet: the first four kinds (allocations and reads).
const Span<const FaultKind> kFaults(kFaultKinds, 4);

// Asks one query with the k-th allocation or read failing. Returns false when there are fewer than k.
bool point(const MadeFile& made, const Query& query, const FaultKind& fault, std::uint64_t k, Status right,
           const Seen& expected) {
    Rig rig(made.image);
    EXPECT_EQ(rig.open(), Status::ok);
    auto data = rig.file.root().open_dataset("d");
    EXPECT_EQ(data.status(), Status::ok);
    rig.library.garbage_collect();
    arm(rig.refusing, rig.driver, fault, k);
    Seen seen;
    const Status status = query.ask(rig.file, *data, seen);
    const bool failed = disarm(rig.refusing, rig.driver);
    const bool refused = failed && status == (fault.allocations != 0 ? Status::out_of_memory : Status::io_error);
    EXPECT_TRUE(refused || status == right) << to_string(status);
    EXPECT_TRUE(refused || seen == expected);
    Seen again;
    EXPECT_EQ(query.ask(rig.file, *data, again), right);
    EXPECT_EQ(again, expected);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(rig.file.close(), Status::ok);
    EXPECT_EQ(rig.memory.blocks(), 0U);
    return failed;
}

TEST(DatasetAnswers, WhateverFails) {
    unsigned points = 0;
    Seen rows;
    for (const MadeFile& made : files()) {
        for (const Query& query : kQueries) {
            Seen expected;
            Status right = Status::ok;
            {
                Rig rig(made.image);
                ASSERT_EQ(rig.open(), Status::ok);
                auto data = rig.file.root().open_dataset("d");
                ASSERT_EQ(data.status(), Status::ok) << made.name;
                right = query.ask(rig.file, *data, expected);
                const bool filter = std::string(query.name) == "filter";
                EXPECT_TRUE(right == Status::ok || (filter && right == Status::not_found)) << made.name << query.name;
            }
            if (std::string(query.name) == "read") {
                EXPECT_EQ(expected, (Seen{2, 2 + kMembers, 2 + 2 * kMembers, 5, 5, 5, 5})) << made.name;
            }
            for (const FaultKind& fault : kFaults) {
                for (std::uint64_t k = 1;; k += sweep_step()) {
                    SCOPED_TRACE(made.name + ", " + query.name + ", " + fault.name + " " + std::to_string(k));
                    if (!point(made, query, fault, k, right, expected) || HasFailure()) {
                        break;
                    }
                    ++points;
                }
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

// With more chunks than 64 bits can count, several chunks share a number in the cache and must not be confused.
TEST(DatasetAnswers, ChunksThatShareANumber) {
    constexpr hsize_t kSize = hsize_t{1} << 22, kSame = hsize_t{1} << 20;
    const hsize_t sizes[] = {kSize, kSize, kSize}, chunk[] = {1, 1, 1};
    // Write in a small extent and extend it afterwards: libhdf5 writes only where it can count the chunks.
    const hsize_t small[] = {kSize, 1, 2}, no_end[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    const hsize_t points[] = {0, 0, 0, kSame, 0, 0, 2 * kSame, 0, 0, 0, 0, 1};
    const std::int32_t stored[] = {1, 2, 3, 4};
    Hdf5Maker maker(Hdf5Maker::Format::oldest);
    {
        const Hdf5Id space(H5Screate_simple(3, small, no_end), H5Sclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(list, 3, chunk);
        const Hdf5Id data(H5Dcreate2(maker.file(), "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                          H5Dclose);
        ASSERT_GE(data, 0);
        const hsize_t four = 4;
        const Hdf5Id memory(H5Screate_simple(1, &four, nullptr), H5Sclose);
        H5Sselect_elements(space, H5S_SELECT_SET, 4, points);
        ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, stored), 0);
        ASSERT_GE(H5Dset_extent(data, sizes), 0);
    }
    Rig rig(maker.finish());
    ASSERT_EQ(rig.open(), Status::ok);
    auto data = rig.file.root().open_dataset("d");
    ASSERT_EQ(data.status(), Status::ok);
    const auto read = [&data](const std::vector<std::uint64_t>& at) {
        std::vector<std::int32_t> values(at.size() / 3);
        EXPECT_EQ(data->read(Selection::points(3, {at.data(), at.size()}), kNumber.view(),
                             {reinterpret_cast<std::byte*>(values.data()), values.size() * 4}),
                  Status::ok);
        return values;
    };
    for (unsigned round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < 4; ++i) {
            EXPECT_EQ(read({points[3 * i], points[3 * i + 1], points[3 * i + 2]}),
                      std::vector<std::int32_t>(1, stored[i]));
        }
        EXPECT_EQ(read({kSame, 0, 0, 0, 0, 0, 2 * kSame, 0, 0, 0, 0, 1, 3 * kSame, 0, 0, 0, 0, 0}),
                  (std::vector<std::int32_t>{2, 1, 3, 4, 0, 1}));
    }
}

}  // namespace

#endif
#endif
