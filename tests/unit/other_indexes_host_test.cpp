// Files of libhdf5 are changed and checked while every allocation and every driver call fails in turn: failures are
// reported, and a repeated change gives what it gives without the fault, as libhdf5 sees it, too.
#ifdef H5MOTE_TEST_HDF5

#include "sweep.hpp"
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"
#include "hdf5_files.hpp"
#include "promising_driver.hpp"

#include <cstdio>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// A file in memory whose allocator and driver fail on demand.
struct Rig {
    /// `unit`: atomic unit of the storage in bytes; 0: that of a storage in memory.
    explicit Rig(const Image& image, std::uint32_t unit = 0)
        : promising(storage, unit == 0 ? storage.capabilities() : with_unit(unit)) {
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        access.chunk_cache = 256;
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    }
    Status open() {
        auto opened = File::open(library, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }
    void arm(const FaultKind& fault, std::uint64_t k) {
        library.garbage_collect();
        h5mote_test::arm(refusing, driver, fault, k);
    }
    bool disarm() { return h5mote_test::disarm(refusing, driver); }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes, std::size_t{1} << 24};
    PromisingDriver promising;
    FailingDriver driver{promising};
    NullPort port;
    Library library{refusing, port, kAllFilters};
    FileAccess access;
    File file;
};

// Extends the dataset by a few elements in each dimension, as far as the maximum sizes allow, and writes the last row.
// The last rows are what tests compare.
class Growth {
public:
    explicit Growth(Dataset& dataset) {
        Dataspace space;
        EXPECT_EQ(dataset.dataspace(space), Status::ok);
        for (std::size_t i = 0; i < space.rank(); ++i) {
            const std::uint64_t more = space.dims()[i] + kMore;
            dims_.push_back(more < space.max_dims()[i] ? more : space.max_dims()[i]);
        }
        row_ = count_ = dims_;
        row_[0] = 1;
        count_[0] = dims_[0] < kRows ? dims_[0] : kRows;
        start_.assign(dims_.size(), 0);
        start_[0] = dims_[0] - count_[0];
        last_.assign(dims_.size(), 0);
        last_[0] = dims_[0] - 1;
    }

    // Can be repeated, however much of it was done before.
    Status play(File& file) const {
        auto data = file.root().open_dataset<std::int32_t>("d");
        H5MOTE_TRY(data.status());
        H5MOTE_TRY(data->set_extent(Span<const std::uint64_t>(dims_.data(), dims_.size())));
        const std::vector<std::int32_t> values(size_of(row_), -7);
        H5MOTE_TRY(data->write(selection(last_, row_), Span<const std::int32_t>(values.data(), values.size())));
        H5MOTE_TRY(data->close());
        return file.flush();
    }
    Status read(File& file, std::vector<std::int32_t>& rows) const {
        rows.assign(size_of(count_), 0);
        auto data = file.root().open_dataset<std::int32_t>("d");
        H5MOTE_TRY(data.status());
        return data->read(selection(start_, count_), Span<std::int32_t>(rows.data(), rows.size()));
    }
    /// Reads the same rows with libhdf5; returns nothing if libhdf5 refuses.
    std::vector<std::int32_t> libhdf5(const Image& image) const {
        const Hdf5Id file = open_image({image.data(), image.size()});
        const Hdf5Id data(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(data), H5Sclose);
        const std::vector<hsize_t> start(start_.begin(), start_.end());
        const std::vector<hsize_t> count(count_.begin(), count_.end());
        const Hdf5Id memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
        std::vector<std::int32_t> rows(size_of(count_));
        const bool good =
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
            H5Dread(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, rows.data()) >= 0;
        return good ? rows : std::vector<std::int32_t>();
    }

private:
    using Numbers = std::vector<std::uint64_t>;
    static constexpr std::uint64_t kMore = 3;
    static constexpr std::uint64_t kRows = 12;

    static std::size_t size_of(const Numbers& count) {
        std::uint64_t size = 1;
        for (const std::uint64_t each : count) {
            size *= each;
        }
        return static_cast<std::size_t>(size);
    }
    static Selection selection(const Numbers& start, const Numbers& count) {
        return Selection::hyperslab({start.data(), start.size()}, {count.data(), count.size()});
    }

    Numbers dims_;
    Numbers row_;
    Numbers start_;
    Numbers count_;
    Numbers last_;
};

Growth growth_of(const Image& image) {
    Rig rig(image);
    EXPECT_EQ(rig.open(), Status::ok);
    return Growth(*rig.file.root().open_dataset("d"));
}

void grow(const MadeFile& made, std::size_t cache, std::uint32_t unit, unsigned& points) {
    const Growth growth = growth_of(made.image);
    std::vector<std::int32_t> expected;
    for (const FaultKind& fault : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 0; failed; k += sweep_step()) {
            SCOPED_TRACE(made.name + ", " + fault.name + " " + std::to_string(k));
            Rig rig(made.image, unit);
            rig.access.metadata_cache = cache;
            ASSERT_EQ(rig.open(), Status::ok);
            rig.arm(fault, k);
            Status status = growth.play(rig.file);
            failed = rig.disarm();
            if (status != Status::ok) {
                EXPECT_TRUE(failed && status == (fault.calls != 0 ? Status::io_error : Status::out_of_memory))
                    << to_string(status);
                status = growth.play(rig.file);
            }
            ASSERT_EQ(status, Status::ok) << to_string(status);
            EXPECT_TRUE(findings_in(rig.file).none());
            std::vector<std::int32_t> rows;
            EXPECT_EQ(growth.read(rig.file, rows), Status::ok);
            ASSERT_EQ(rig.file.close(), Status::ok);
            EXPECT_EQ(rig.memory.blocks(), 0U);
            // The first run has no fault, and libhdf5 gives the expected rows.
            if (k == 0) {
                failed = true;
                expected = growth.libhdf5(rig.image());
                EXPECT_EQ(expected.empty() ? 0 : expected.back(), -7);
            }
            ASSERT_EQ(rows, expected);
            ASSERT_EQ(growth.libhdf5(rig.image()), expected);
            ++points;
        }
    }
}

// Removes the dataset, with all blocks of its chunk index.
void unlink(const MadeFile& made, unsigned& points) {
    // A paged index takes thousands of calls: fail only every 101st.
    const std::uint64_t step = made.name.find("paged") == std::string::npos ? 1 : 101;
    for (const FaultKind& fault : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += step) {
            SCOPED_TRACE(made.name + ", " + fault.name + " " + std::to_string(k));
            Rig rig(made.image);
            ASSERT_EQ(rig.open(), Status::ok);
            Group root = rig.file.root();
            rig.arm(fault, k);
            const Status status = root.unlink("d");
            failed = rig.disarm();
            EXPECT_TRUE(status == Status::ok ||
                        (failed && status == (fault.calls != 0 ? Status::io_error : Status::out_of_memory)))
                << to_string(status);
            EXPECT_EQ(root.exists("d"), status != Status::ok);
            EXPECT_EQ(root.unlink("d"), status == Status::ok ? Status::not_found : Status::ok);
            EXPECT_EQ(rig.file.flush(), Status::ok);
            EXPECT_TRUE(findings_in(rig.file).none());
            root.close();
            ASSERT_EQ(rig.file.close(), Status::ok);
            EXPECT_EQ(rig.memory.blocks(), 0U);
            points += failed ? 1U : 0U;
        }
    }
}

struct Query {
    const char* name;
    Status (*ask)(Dataset& data);
};

constexpr Query kQueries[] = {
    {"info",
     [](Dataset& data) {
         DatasetInfo info;
         return data.info(info);
     }},
    {"sizes",
     [](Dataset& data) {
         std::uint64_t bytes = 0;
         std::uint64_t chunks = 0;
         H5MOTE_TRY(data.storage_size(bytes));
         H5MOTE_TRY(data.heap_size(bytes));
         const Status status = data.index_size(chunks, bytes);
         return status == Status::invalid_argument ? Status::ok : status;  // not chunked
     }},
    {"datatype",
     [](Dataset& data) {
         std::byte bytes[64];
         DatatypeView type;
         return data.datatype(bytes, type);
     }},
    {"fill value",
     [](Dataset& data) {
         std::int32_t value = 0;
         return data.fill_value(kNumber.view(), {reinterpret_cast<std::byte*>(&value), sizeof value});
     }},
    {"filters",
     [](Dataset& data) {
         DatasetInfo info;
         H5MOTE_TRY(data.info(info));
         for (std::size_t i = 0; i < info.filters; ++i) {
             FilterInfo filter;
             std::uint32_t values[8];
             char name[16];
             H5MOTE_TRY(data.filter(i, filter, name, values));
         }
         return Status::ok;
     }},
    {"chunks",
     [](Dataset& data) {
         ChunkIterator chunks(data);
         ChunkInfo chunk;
         Status status = Status::ok;
         for (unsigned i = 0; i < 40 && status == Status::ok; ++i) {
             status = chunks.next(chunk);
         }
         return status == Status::not_found || status == Status::invalid_argument ? Status::ok : status;
     }},
};

// Each query is answered or returns the status of the fault; repeated, it is answered.
void ask(const MadeFile& made, unsigned& points) {
    for (const Query& query : kQueries) {
        for (const FaultKind& fault : kFaultKinds) {
            bool failed = true;
            for (std::uint64_t k = 0; failed; k += sweep_step()) {
                SCOPED_TRACE(made.name + ", " + query.name + ", " + fault.name + " " + std::to_string(k));
                Rig rig(made.image);
                rig.access.metadata_cache = 2048;
                ASSERT_EQ(rig.open(), Status::ok);
                auto data = rig.file.root().open_dataset("d");
                ASSERT_EQ(data.status(), Status::ok);
                rig.arm(fault, k);
                const Status status = query.ask(*data);
                failed = rig.disarm();
                EXPECT_TRUE(status == Status::ok ||
                            (failed && status == (fault.calls != 0 ? Status::io_error : Status::out_of_memory)))
                    << to_string(status);
                EXPECT_EQ(query.ask(*data), Status::ok);
                EXPECT_EQ(data->close(), Status::ok);
                ASSERT_EQ(rig.file.close(), Status::ok);
                EXPECT_EQ(rig.memory.blocks(), 0U);
                failed = failed || k == 0;
                ++points;
            }
        }
    }
}

// check_file() reports what cannot be read and nothing else. A refused allocation ends the check or goes unnoticed.
void check(const MadeFile& made, unsigned& points) {
    for (const FaultKind& fault : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += sweep_step()) {
            SCOPED_TRACE(made.name + ", " + fault.name + " " + std::to_string(k));
            Rig rig(made.image);
            rig.access.read_only = true;
            ASSERT_EQ(rig.open(), Status::ok);
            rig.arm(fault, k);
            const Findings findings = findings_in(rig.file, 2048);
            failed = rig.disarm();
            if (fault.allocations != 0) {
                EXPECT_EQ(findings.problems, 0U) << findings.last_kind;
                EXPECT_TRUE(findings.status == Status::ok || (failed && findings.status == Status::out_of_memory));
            } else {
                EXPECT_EQ(findings.status, Status::ok);
                EXPECT_EQ(findings.problems != 0, failed);
                EXPECT_TRUE(!failed || findings.last_kind == static_cast<unsigned>(ProblemKind::unreadable));
            }
            EXPECT_TRUE(findings_in(rig.file, 2048).none());
            ASSERT_EQ(rig.file.close(), Status::ok);
            EXPECT_EQ(rig.memory.blocks(), 0U);
            points += failed ? 1U : 0U;
        }
    }
}

}  // namespace

TEST(OtherIndexes, GrowWhateverFails) {
    unsigned points = 0;
    for (const MadeFile& made : files_of_chunks()) {
        if (made.may_grow) {
            // The smallest cache that suffices, so that blocks are evicted and read again, and a large one.
            const std::size_t least = made.name.find("paged") == std::string::npos ? 2048 : 16384;
            for (const std::uint32_t unit : {0U, 512U}) {
                grow(made, least, unit, points);
                grow(made, 65536, unit, points);
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 1000U / sweep_step());
}

// Creating the array for the first chunk fails, because there is no room for so many elements. set_extent() must not
// then walk through all of these elements.
TEST(OtherIndexes, AnArrayWithoutElementsIsNotCountedThrough) {
    Rig rig(files_of_chunks().back().image);
    rig.access.metadata_cache = std::size_t{1} << 27;  // for the bits of all pages
    auto created = File::create(rig.library, rig.driver, rig.access);
    ASSERT_EQ(created.status(), Status::ok);
    rig.file = static_cast<File&&>(*created);
    DatasetCreate create;
    create.chunk = {1};
    auto data =
        rig.file.root().create_dataset("big", kNumber.view(), Dataspace::simple({4}, {std::uint64_t{1} << 34}), create);
    ASSERT_EQ(data.status(), Status::ok);
    const std::int32_t value = 7;
    const Status written = data->write(Selection::hyperslab({0}, {1}), kNumber.view(),
                                       {reinterpret_cast<const std::byte*>(&value), sizeof value});
    EXPECT_NE(written == Status::ok ? rig.file.flush() : written, Status::ok);
    EXPECT_EQ(data->set_extent({5}), Status::ok);
}

TEST(OtherIndexes, GoWhateverFails) {
    unsigned points = 0;
    for (const MadeFile& made : files_of_chunks()) {
        if (made.may_grow) {
            unlink(made, points);
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 100U);
}

TEST(OtherIndexes, AnswerWhateverFails) {
    unsigned points = 0;
    for (const MadeFile& made : files_of_chunks()) {
        if (made.may_grow) {
            ask(made, points);
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 300U / sweep_step());
}

TEST(OtherIndexes, AreCheckedWhateverFails) {
    unsigned points = 0;
    for (const auto& files : {files_of_chunks(), files_of_objects()}) {
        for (const MadeFile& made : files) {
            check(made, points);
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, 4000U / sweep_step());
}

#endif
#endif
