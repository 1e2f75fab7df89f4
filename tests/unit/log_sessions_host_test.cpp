// Logs that several sessions write, by every call that makes them longer or shorter: what they have beyond their extent
// never shows, and costs nothing.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/user_conversion.hpp>
#include <h5mote/vfd/memory.hpp>

#include "counting_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr const Filter* kFilters[] = {&shuffle_filter};

// A log that several sessions write. One session ends where the image of its storage is taken.
struct LogSession {
    LogSession(const std::vector<std::byte>& image, std::size_t chunk_cache) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = chunk_cache;
        auto opened = File::open_or_create(library, counting, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }
    Result<TypedDataset<std::int32_t>> log(const DatasetCreate& create) {
        return file.root().open_or_create_dataset<std::int32_t>("log", create);
    }
    std::vector<std::byte> image() const { return {storage.contents().begin(), storage.contents().end()}; }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters};
    GrowingMemoryDriver storage{memory};
    CountingDriver counting{storage};
    File file;
};

// Appends rows by one call or the other, or grows the log without writing.
void grow_at_random(TypedDataset<std::int32_t>& log, std::vector<std::int32_t>& model, std::int32_t fill, unsigned kind,
                    unsigned rows) {
    if (kind == 0) {
        model.resize(model.size() + rows, fill);
        ASSERT_EQ(log.set_extent({model.size()}), Status::ok);
        return;
    }
    std::vector<std::int32_t> added(rows);
    for (std::int32_t& row : added) {
        row = static_cast<std::int32_t>(1000 + model.size());
        model.push_back(row);
        if (kind == 1) {
            ASSERT_EQ(log.append(row), Status::ok);
        }
    }
    if (kind == 2) {
        ASSERT_EQ(log.append_rows(Span<const std::int32_t>(added.data(), added.size())), Status::ok);
    }
}

void use_log(const DatasetCreate& create, std::int32_t fill, unsigned seed) {
    std::vector<std::byte> image;
    std::vector<std::int32_t> model;
    unsigned state = seed;
    const auto draw = [&](unsigned below) { return (state = state * 1103515245 + 12345) / 65536 % below; };
    for (unsigned session = 0; session < 20; ++session) {
        LogSession opened(image, 64);
        auto log = opened.log(create);
        ASSERT_EQ(log.status(), Status::ok);
        const auto check = [&] {
            std::vector<std::int32_t> read(model.size());
            ASSERT_EQ(log->size(), model.size());
            ASSERT_EQ(log->read(Selection::all(), Span<std::int32_t>(read.data(), read.size())), Status::ok);
            ASSERT_EQ(read, model) << "session " << session << " seed " << seed;
        };
        check();
        for (unsigned step = 0; step < 25; ++step) {
            const unsigned kind = draw(6);
            if (kind < 3) {
                grow_at_random(*log, model, fill, kind, 1 + draw(9));
            } else if (kind == 3) {
                model.resize(draw(static_cast<unsigned>(model.size()) + 1));
                ASSERT_EQ(log->set_extent({model.size()}), Status::ok);
            } else if (kind == 4 && !model.empty()) {
                model.back() = static_cast<std::int32_t>(draw(1000));
                ASSERT_EQ(log->write(Selection::hyperslab({model.size() - 1}, {1}),
                                     Span<const std::int32_t>(&model.back(), 1)),
                          Status::ok);
            } else {
                ASSERT_EQ(opened.file.flush(), Status::ok);
            }
            check();
        }
        ASSERT_EQ(opened.file.flush(), Status::ok);
        const bool killed = draw(2) == 0;
        if (killed) {
            // The session is killed after rows that no flush counts, most of which are on the storage already.
            std::vector<std::int32_t> lost = model;
            grow_at_random(*log, lost, fill, 1 + draw(2), 1 + draw(20));
            image = opened.image();
        } else {
            EXPECT_TRUE(findings_in(opened.file).none());
        }
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(opened.file.close(), Status::ok);
        image = killed ? image : opened.image();
    }
}

}  // namespace

// Rows are appended by every call there is, and the extent is set, by sessions that end or are killed. Beyond the
// extent there must be nothing that shows when the log grows.
TEST(LogSessions, RowsOfKilledSessionsDoNotReturn) {
    for (const std::int32_t fill : {0, -7}) {
        const FileFill file_fill(fill);
        for (const bool filtered : {false, true}) {
            for (const std::uint32_t rows : {4U, 16U, 700U}) {
                if (filtered && rows == 700) {
                    continue;  // filtered chunks have to fit into the cache
                }
                DatasetCreate create;
                create.chunk = {rows};
                create.fill = file_fill.view();
                create.reserve = 128;
                if (filtered) {
                    create.filters = {filters::shuffle};
                }
                use_log(create, fill, rows + (filtered ? 1 : 0));
            }
        }
    }
}

// What a log has beyond its rows is cleared once in a session, not with every row.
TEST(LogSessions, RowsCostWhatTheyAre) {
    constexpr std::uint32_t kChunk = 16384;
    constexpr unsigned kRows = 40;
    for (const std::size_t cache : {std::size_t{4096}, std::size_t{1} << 18}) {
        for (const bool rows : {false, true}) {
            LogSession opened({}, cache);
            DatasetCreate create;
            create.chunk = {kChunk};
            auto log = opened.log(create);
            ASSERT_EQ(log.status(), Status::ok);
            ASSERT_EQ(log->append(1), Status::ok);
            ASSERT_EQ(opened.file.flush(), Status::ok);
            opened.counting.reset();
            for (std::int32_t i = 1; i <= static_cast<std::int32_t>(kRows); ++i) {
                if (rows) {
                    ASSERT_EQ(log->append_rows(Span<const std::int32_t>(&i, 1)), Status::ok);
                } else {
                    const std::uint64_t size = log->size();
                    ASSERT_EQ(log->set_extent({size + 1}), Status::ok);
                    ASSERT_EQ(log->write(Selection::hyperslab({size}, {1}), Span<const std::int32_t>(&i, 1)),
                              Status::ok);
                }
                ASSERT_EQ(opened.file.flush(), Status::ok);
            }
            EXPECT_LT(opened.counting.total().bytes_written, 2 * 4 * kChunk) << cache << rows;
            ASSERT_EQ(log->close(), Status::ok);
            ASSERT_EQ(opened.file.close(), Status::ok);
        }
    }
}

namespace {

// Fails at one of the numbers, behind which the memory of the target is as it was.
class FailingConversion final : public UserConversion {
public:
    FailingConversion() noexcept
        : UserConversion(Kind::hard, datatype_of<std::int16_t>(), file_type_of<std::int32_t>()) {}
    Status convert(DatatypeView /*from*/, DatatypeView /*to*/, std::size_t count, const std::byte* source,
                   std::size_t source_stride, std::byte* target, std::size_t target_stride) const noexcept override {
        for (std::size_t i = 0; i < count; ++i) {
            std::int16_t number = 0;
            std::memcpy(&number, source + i * source_stride, sizeof number);
            if (number == 13) {
                return Status::type_mismatch;
            }
            store_le<std::uint32_t>(target + i * target_stride, static_cast<std::uint32_t>(std::int32_t{number}));
        }
        return Status::ok;
    }
};

}  // namespace

// Rows that were converted before one that could not be are not part of the log, and do not appear when it grows.
TEST(LogSessions, RowsThatCannotBeConverted) {
    LogSession opened({}, 4096);
    const FailingConversion conversion;
    const UserConversion* const conversions[] = {&conversion};
    opened.library.set_conversions(conversions);
    DatasetCreate create;
    create.chunk = {16};
    auto log = opened.log(create);
    ASSERT_EQ(log.status(), Status::ok);
    ASSERT_EQ(log->set_extent({2}), Status::ok);
    ASSERT_EQ(log->close(), Status::ok);
    auto rows = opened.file.root().open_dataset("log");
    ASSERT_EQ(rows.status(), Status::ok);
    ASSERT_EQ(rows->set_memory_type(datatype_of<std::int16_t>()), Status::ok);
    const std::int16_t bad[] = {1, 2, 13, 4};
    ASSERT_EQ(rows->set_extent({3}), Status::ok);
    EXPECT_EQ(rows->append_records(bad, 4), Status::type_mismatch);
    ASSERT_EQ(rows->set_extent({8}), Status::ok);
    std::int32_t read[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    ASSERT_EQ(
        rows->read(Selection::all(), datatype_of<std::int32_t>(), {reinterpret_cast<std::byte*>(read), sizeof read}),
        Status::ok);
    for (const std::int32_t value : read) {
        EXPECT_EQ(value, 0);
    }
    ASSERT_EQ(rows->close(), Status::ok);
    ASSERT_EQ(opened.file.close(), Status::ok);
}

// A chunk that is stored as it is given may have values beyond the extent. They never show, whatever the session did
// before.
TEST(LogSessions, StoredChunksBeyondTheExtent) {
    const struct {
        std::vector<std::uint64_t> dims, most;
        std::vector<std::uint32_t> chunk;
    } shapes[] = {
        {{2}, {kUnlimited}, {4}},
        {{2, 2}, {kUnlimited, kUnlimited}, {4, 4}},
        {{2, 2}, {kUnlimited, 8}, {4, 4}},
    };
    for (const auto& shape : shapes) {
        const std::size_t rank = shape.dims.size();
        for (unsigned variant = 0; variant < 8; ++variant) {
            const bool earlier = (variant & 1) != 0;
            const bool filtered = (variant & 2) != 0;
            const std::size_t cache = (variant & 4) != 0 && !filtered ? 16 : 4096;
            LogSession opened({}, cache);
            DatasetCreate create;
            create.chunk = ChunkDims({shape.chunk.data(), rank});
            if (filtered) {
                create.filters = {filters::shuffle};
            }
            auto made = opened.file.root().create_dataset(
                "d", datatype_of<std::int32_t>(),
                Dataspace::simple({shape.dims.data(), rank}, {shape.most.data(), rank}), create);
            ASSERT_EQ(made.status(), Status::ok);
            const std::uint64_t some[2] = {3, 3};
            const std::uint64_t all[2] = {4, 4};
            const std::uint64_t first[2] = {0, 0};
            if (earlier) {
                ASSERT_EQ(made->set_extent({some, rank}), Status::ok);
            }
            std::int32_t values[16];
            for (std::int32_t i = 0; i < 16; ++i) {
                values[i] = i + 1;
            }
            const std::size_t count = rank == 1 ? 4 : 16;
            ASSERT_EQ(
                made->write_chunk({first, rank}, as_bytes(Span<const std::int32_t>(values, count)), filtered ? 1 : 0),
                Status::ok);
            ASSERT_EQ(made->set_extent({all, rank}), Status::ok);
            std::int32_t read[16] = {};
            ASSERT_EQ(made->read(Selection::all(), datatype_of<std::int32_t>(),
                                 {reinterpret_cast<std::byte*>(read), count * 4}),
                      Status::ok);
            const std::size_t inside = earlier ? 3 : 2;
            for (std::size_t i = 0; i < count; ++i) {
                const bool within = i % 4 < inside && i / 4 < inside;
                EXPECT_EQ(read[i], within ? values[i] : 0) << i << " variant " << variant << " rank " << rank;
            }
            ASSERT_EQ(made->close(), Status::ok);
            ASSERT_EQ(opened.file.close(), Status::ok);
        }
    }
}

#endif
