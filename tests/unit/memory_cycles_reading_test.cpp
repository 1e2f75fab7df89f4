// An arena of exactly required_memory(limits) bytes suffices for ever for a program that reads: a file is opened,
// listed, read in parts and closed, ten thousand times.
#include "memory_cycles.hpp"
#include "reading_file.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_FILTER_DEFLATE

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr std::size_t kRowSize = 12;
constexpr std::uint64_t kRows = 40;
constexpr std::uint64_t kGridRows = 24;
constexpr std::uint64_t kGridWidth = 32;
constexpr std::size_t kGridChunk = 6 * 12 * sizeof(float);

constexpr Limits reading_limits() noexcept {
    Limits limits;
    limits.access.read_only = true;
    limits.access.metadata_cache = 2048;
    limits.access.chunk_cache = 2 * kGridChunk;
    limits.open_datasets = 2;
    limits.max_rank = 2;
    limits.filters = 2;
    limits.filter_work = DeflateFilter::kDecodeScratch + kGridChunk;
    limits.chunk_buffers = static_cast<std::uint32_t>(limits.access.chunk_cache / (16 * kRowSize)) + 1;
    limits.partial_io = true;
    return limits;
}

std::uint32_t little_endian(const std::byte* from, std::size_t size) noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
        value = value << 8 | static_cast<unsigned char>(from[i]);
    }
    return value;
}

// Rows are read as the file's own type: a conversion would take memory of its own.
Status read_log(Dataset& log, DatatypeView type, std::uint64_t first) noexcept {
    std::byte rows[3 * kRowSize];
    H5MOTE_TRY(log.read(Selection::hyperslab({first}, {3}), type, rows));
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::byte* const row = rows + i * kRowSize;
        if (little_endian(row, 4) != first + i || little_endian(row + 10, 2) != 7 * (first + i)) {
            return Status::corrupt_file;
        }
    }
    return Status::ok;
}

Status read_grid(Dataset& grid, DatatypeView type, std::uint64_t row, std::uint64_t column) noexcept {
    std::byte values[2 * 8 * sizeof(float)];
    H5MOTE_TRY(grid.read(Selection::hyperslab({row, column}, {2, 8}), type, values));
    for (std::uint64_t i = 0; i < 16; ++i) {
        const auto expected = static_cast<float>(((row + i / 8) * kGridWidth + column + i % 8) % 50);
        const std::uint32_t bits = little_endian(values + i * sizeof(float), sizeof(float));
        if (std::memcmp(&bits, &expected, sizeof bits) != 0) {
            return Status::corrupt_file;
        }
    }
    return Status::ok;
}

Status list(const Group& group) noexcept {
    LinkIterator links(group);
    Link link;
    unsigned count = 0;
    Status status = links.next(link);
    for (; status == Status::ok; status = links.next(link)) {
        ++count;
    }
    return status == Status::not_found && count == 2 ? Status::ok : Status::corrupt_file;
}

Status session(Library& library, Driver& driver, const FileAccess& access, unsigned cycle) noexcept {
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    Group root = file->root();
    auto group = root.open_group("group");
    H5MOTE_TRY(group.status());
    char note[32];
    std::size_t length = 0;
    H5MOTE_TRY(group->read_attribute("note", Span<char>(note), length));
    H5MOTE_TRY(list(*group));
    auto log = group->open_dataset("log");
    H5MOTE_TRY(log.status());
    auto grid = group->open_dataset("grid");
    H5MOTE_TRY(grid.status());
    std::byte types[2][128];
    DatatypeView row;
    DatatypeView number;
    H5MOTE_TRY(log->datatype(types[0], row));
    H5MOTE_TRY(grid->datatype(types[1], number));
    for (unsigned i = 0; i < 3; ++i) {
        H5MOTE_TRY(read_log(*log, row, (cycle * 5 + i * 11) % (kRows - 2)));
        H5MOTE_TRY(
            read_grid(*grid, number, (cycle * 7 + i * 5) % (kGridRows - 1), (cycle * 3 + i * 13) % (kGridWidth - 7)));
    }
    return length == 21 ? file->close() : Status::corrupt_file;
}

}  // namespace

TEST(MemoryCycles, AReader) {
    constexpr Limits kLimits = reading_limits();
    static Exact<required_memory(kLimits)> exact;
    ASSERT_TRUE(sizeof bench_memory >= DeflateFilter::kDecodeScratch);
    std::size_t size = 0;
    ASSERT_EQ(deflate_filter.decode({}, {reinterpret_cast<const std::byte*>(kReadingFile), sizeof kReadingFile},
                                    {bench_storage, sizeof bench_storage}, size, {bench_memory, sizeof bench_memory}),
              Status::ok);
    ASSERT_EQ(size, kReadingFileSize);
    MemoryDriver driver = MemoryDriver::reading({bench_storage, size});
    for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
        ASSERT_EQ(session(exact.library, driver, kLimits.access, cycle), Status::ok);
        ASSERT_EQ(exact.arena.usage().now, 0U);
        ASSERT_TRUE(exact.arena.check());
    }
}

#endif
