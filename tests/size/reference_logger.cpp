// Shows what firmware with profile `logger` costs, in one program that uses everything that the profile is for. It
// opens or creates a file, creates a group, attributes and two datasets, appends single and many records, flushes and
// closes, then opens the file again and continues. It is built in these ways; the figures are differences of images:
//   (nothing)                    the library
//   H5MOTE_REFERENCE_DEFLATE     with filters shuffle and deflate
//   H5MOTE_REFERENCE_FLETCHER32  with filters shuffle and fletcher32
//   H5MOTE_REFERENCE_JOURNAL     through a journal, with a log in memory
//   H5MOTE_REFERENCE_FLASH       on a NOR flash chip, which is an array in memory
//   H5MOTE_REFERENCE_FREE_SPACE  with a record of the free space in the file
//   H5MOTE_REFERENCE_EMPTY       without calls of the library
//
// reference_logger [FILE]: saves the file that it created as FILE of the host.
#include "measure.hpp"
#include "reference.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/port/stack.hpp>
#include <h5mote/vfd/flash.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstring>

namespace {

// The program's own buffers, which are the same in all images.
alignas(8) std::byte memory[12 * 1024];
std::byte storage[24 * 1024];

#ifdef H5MOTE_REFERENCE_EMPTY

// Makes every record as the other images do, and keeps the compiler from removing the buffers.
bool run(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
        reference::Sample sample;
        reference::make_row(i, sample);
        __asm__ volatile("" : : "r"(&sample), "r"(memory), "r"(storage) : "memory");
    }
    return true;
}

h5mote::ConstBytes contents() { return {storage, 0}; }

#else

using h5mote::Status;

struct Health {
    std::uint32_t free_bytes;
    std::uint32_t rows;
};
H5MOTE_COMPOUND(Health, free_bytes, rows)

#if defined(H5MOTE_REFERENCE_DEFLATE)
const h5mote::Filter* const filters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};
#elif defined(H5MOTE_REFERENCE_FLETCHER32)
const h5mote::Filter* const filters[] = {&h5mote::shuffle_filter, &h5mote::fletcher32_filter};
#endif

h5mote::Arena arena{memory};
h5mote::NullPort port;
#if defined(H5MOTE_REFERENCE_DEFLATE) || defined(H5MOTE_REFERENCE_FLETCHER32)
h5mote::Library library{arena, port, filters};
#elif defined(H5MOTE_REFERENCE_FREE_SPACE)
constexpr h5mote::Formats kFormats = [] {
    h5mote::Formats list = h5mote::formats::standard;
    list.free_space = &h5mote::formats::free_space;
    return list;
}();
h5mote::Library library{arena, port, {}, kFormats};
#else
h5mote::Library library{arena, port};
#endif
#ifdef H5MOTE_REFERENCE_JOURNAL
std::byte log_storage[16 * 1024];
alignas(8) std::byte journal_memory[h5mote::JournalDriver::required_memory()];
h5mote::MemoryDriver home{storage};
h5mote::MemoryDriver log_file{log_storage};
h5mote::JournalDriver driver{home, log_file, journal_memory};

Status open_storage() {
    h5mote::JournalOptions options;
    options.limit = sizeof log_storage;
    return driver.open(options);
}
Status close_storage() { return driver.close(); }
h5mote::ConstBytes contents() { return home.contents(); }
#elif defined(H5MOTE_REFERENCE_FLASH)
std::byte chip_memory[32][4096];

class Chip final : public h5mote::FlashDevice {
public:
    static constexpr h5mote::FlashGeometry kGeometry{32, 4096, 256, 1, 0xff};

    h5mote::FlashGeometry geometry() const noexcept override { return kGeometry; }
    Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        std::memcpy(to.data(), chip_memory[block] + offset, to.size());
        return Status::ok;
    }
    Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        std::memcpy(chip_memory[block] + offset, from.data(), from.size());
        return Status::ok;
    }
    Status erase(std::uint32_t block) noexcept override {
        std::memset(chip_memory[block], 0xff, sizeof chip_memory[block]);
        return Status::ok;
    }
};

Chip chip;
alignas(8) std::byte flash_memory[h5mote::FlashDriver::required_memory(Chip::kGeometry)];
h5mote::FlashDriver driver{chip, flash_memory};

// A chip of zeros, as it is at the start of the program, is not blank.
Status open_storage() {
    const Status status = driver.mount();
    if (status == Status::ok) {
        return status;
    }
    std::memset(chip_memory, 0xff, sizeof chip_memory);
    return driver.format();
}
Status close_storage() { return Status::ok; }
// The file, copied from the chip.
h5mote::ConstBytes contents() {
    std::uint64_t size = 0;
    if (driver.end_of_file(size) != Status::ok || size > sizeof storage ||
        driver.read(h5mote::Usage::raw_data, 0, {storage, static_cast<std::size_t>(size)}) != Status::ok) {
        size = 0;
    }
    return {storage, static_cast<std::size_t>(size)};
}
#else
h5mote::MemoryDriver driver{storage};
Status open_storage() { return Status::ok; }
Status close_storage() { return Status::ok; }
h5mote::ConstBytes contents() { return driver.contents(); }
#endif

constexpr h5mote::FileAccess kAccess = [] {
    h5mote::FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = reference::kChunkBytes + 32 * sizeof(Health);
    return access;
}();

constexpr h5mote::FileCreate kCreate = [] {
    h5mote::FileCreate create = reference::file_create(4);
#ifdef H5MOTE_REFERENCE_FREE_SPACE
    create.persist_free_space = true;
#endif
    return create;
}();

constexpr h5mote::DatasetCreate kImu = [] {
    h5mote::DatasetCreate create;
    create.chunk = {reference::kChunkRows};
#if defined(H5MOTE_REFERENCE_DEFLATE)
    create.filters = {h5mote::filters::shuffle, h5mote::filters::deflate};
#elif defined(H5MOTE_REFERENCE_FLETCHER32)
    create.filters = {h5mote::filters::shuffle, h5mote::filters::fletcher32};
#endif
    return create;
}();

constexpr h5mote::DatasetCreate kHealth = [] {
    h5mote::DatasetCreate create;
    create.chunk = {32};
    return create;
}();

Status describe(h5mote::Group& group, h5mote::Dataset& imu) {
    H5MOTE_TRY(imu.write_attribute("units", "ms, raw, degC"));
    H5MOTE_TRY(imu.write_attribute("rate_hz", std::uint32_t{250}));
    return group.write_attribute("device", "reference");
}

Status log_rows(std::uint32_t begin, std::uint32_t end) {
    H5MOTE_TRY(open_storage());
    auto file = h5mote::File::open_or_create(library, driver, kAccess, kCreate);
    H5MOTE_TRY(file.status());
    auto group = file->root().open_or_create_group("flight");
    H5MOTE_TRY(group.status());
    auto imu = group->open_or_create_dataset<reference::Sample>("imu", kImu);
    H5MOTE_TRY(imu.status());
    auto health = group->open_or_create_dataset<Health>("health", kHealth);
    H5MOTE_TRY(health.status());
    if (imu->size() == 0) {
        H5MOTE_TRY(describe(*group, *imu));
    } else if (imu->size() != begin) {
        return Status::corrupt_file;
    }
    for (std::uint32_t i = begin; i < end;) {
        // Four single records and a batch of four in turn.
        reference::Sample batch[4];
        for (std::uint32_t k = 0; k < 4; ++k) {
            reference::make_row(i + k, batch[k]);
        }
        if ((i & 4U) != 0) {
            H5MOTE_TRY(imu->append({batch, 4}));
        } else {
            for (const reference::Sample& sample : batch) {
                H5MOTE_TRY(imu->append(sample));
            }
        }
        i += 4;
        if (i % 100 == 0) {
            H5MOTE_TRY(health->append(Health{i, i}));
            H5MOTE_TRY(file->flush());
        }
    }
    H5MOTE_TRY(file->close());
    return close_storage();
}

bool run(std::uint32_t begin, std::uint32_t end) {
    const Status status = log_rows(begin, end);
    if (status != Status::ok) {
        measure::print("status", static_cast<std::uint32_t>(status));
    }
    return status == Status::ok;
}

#endif

}  // namespace

int main(int argc, char** argv) {
    h5mote::paint_stack();
    const void* const here = h5mote::stack_pointer();
    bool good = run(0, reference::kRows / 2);
    good = good && run(reference::kRows / 2, reference::kRows);
    measure::print("stack", static_cast<std::uint32_t>(h5mote::painted_stack_used(here)));
#ifdef H5MOTE_REFERENCE_EMPTY
    measure::print("arena", 0);
    measure::print("left", 0);
#else
    measure::print("arena", static_cast<std::uint32_t>(arena.usage().peak));
    measure::print("left", static_cast<std::uint32_t>(arena.usage().now));
#endif
    if (argc > 1) {
        good = measure::save(argv[1], contents()) && good;
    }
    return good ? 0 : 1;
}
