// What a device and the driver's memory are divided into.
#include "flash_format.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

constexpr bool power_of_two(std::uint32_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

constexpr std::uint32_t kLeastBlocks = 8;  // with any format fewest_blocks() is more
// The most that a page takes in the log beyond its contents, see lay_out().
constexpr std::uint32_t kPageOverhead = 12 + 48 + 512 / 8;
constexpr std::uint32_t kMostWords = 0x80000000;
constexpr std::uint32_t kMostUnit = 32768;  // the header of a block has four bits for its logarithm

}  // namespace

// Whether geometry_ and a format make sense together.
Status FlashLog::check(const FlashFormat& format) noexcept {
    const std::uint32_t block = geometry_.block_size;
    if (!power_of_two(block) || block < 512 || block > 1U << 20 || !power_of_two(geometry_.page_size) ||
        geometry_.page_size > block || !power_of_two(geometry_.program_unit) ||
        geometry_.program_unit > geometry_.page_size || geometry_.program_unit > block / 4 ||
        geometry_.program_unit > kMostUnit || geometry_.blocks < kLeastBlocks ||
        geometry_.blocks > kMostWords / (block / 4) ||
        (geometry_.erased_value != 0 && geometry_.erased_value != 0xff) || !power_of_two(format.page_size) ||
        format.page_size < 128 || format.page_size > 4096 || format.page_size > block || format.reserve < 5 ||
        format.reserve > 50) {
        return Status::invalid_argument;
    }
    return Status::ok;
}

// Blocks that are not for pages, of `good` ones:
//
//   sync    what one sync may need in addition to the writes: the changed nodes, four blocks that are begun or
//           abandoned
//   spare   `sync`, and what it takes to release many pages or, when pages are moved, to put their pieces together in a
//           window of the log (chain_unit_), and as many blocks as are moved before a commit frees them
//   start   `spare` and what writes may take while collection, at its rate, moves everything that is alive
//   slack   that amount. Once more it is kept from the pages, so that moving everything always gains it
FlashLog::Reserve FlashLog::reserve(std::uint32_t good, const FlashGeometry& geometry, const FlashFormat& format,
                                    const FlashOptions& options) noexcept {
    const std::uint32_t block = geometry.block_size;
    const std::uint32_t flush = (2U * options.changes + kFlashHeight) * kFlashNodeRecord;
    const std::uint32_t units = (block - first_record(geometry)) / geometry.program_unit;
    Reserve result;
    result.slack = good * (block / 4) / 100 * format.reserve / 8 * 3 / (block / 4) + 3;
    result.sync = flush / 2 / (block - kFlashNodeRecord) + 3;
    result.merge = good / 16;
    // A commit takes two program units. When the device is full, moving a block gains twice the slack's share of its
    // units, half of which the commit for `batch` blocks spends.
    result.batch = 2 * good / (result.slack * units) + 1;
    result.spare = result.merge + flush / (block - kFlashNodeRecord) + 4 + result.batch;
    result.start = result.spare + result.slack;
    return result;
}

// The fewest blocks of which a page remains. One block more must not leave fewer, and a page must remain of two or
// three more, too, although several of the numbers above may grow at once. After that they grow more slowly than the
// blocks.
std::uint32_t FlashLog::fewest_blocks(const FlashGeometry& geometry, const FlashFormat& format,
                                      const FlashOptions& options) noexcept {
    const std::uint32_t least = (format.page_size + kPageOverhead) / (geometry.block_size / 2) + 1;
    for (std::uint32_t blocks = 1;; ++blocks) {
        bool enough = true;
        for (std::uint32_t more = 0; enough && more < 4; ++more) {
            const Reserve kept = reserve(blocks + more, geometry, format, options);
            enough = kept.start + kept.slack + least <= blocks + (more == 1 ? 0 : more);
        }
        if (enough) {
            return blocks;
        }
    }
}

// Divides the memory and the device.
Status FlashLog::lay_out(const FlashFormat& format, const FlashOptions& options) noexcept {
    if (options.changes < 8 || options.changes > 1024) {
        return Status::invalid_argument;
    }
    if (reinterpret_cast<std::uintptr_t>(memory_.data()) % alignof(Change) != 0) {
        return Status::invalid_argument;
    }
    if (memory_.size() < FlashDriver::required_memory(geometry_, format, options)) {
        return Status::over_budget;
    }
    format_ = format;
    read_only_ = options.read_only;
    page_log2_ = static_cast<std::uint8_t>(floor_log2(format.page_size));
    most_changes_ = options.changes;
    changes_ = reinterpret_cast<Change*>(memory_.data());
    window_ = memory_.data() + sizeof(Change) * most_changes_;
    failed_ = window_ + window_size(geometry_.program_unit);
    page_ = geometry_.program_unit > 4 ? failed_ + window_size(geometry_.program_unit) : failed_;
    node_ = page_ + format.page_size;

    const std::uint32_t block = geometry_.block_size;
    const std::uint32_t good = geometry_.blocks - bad_;
    const std::uint32_t window = good * (block / 4) / 16;
    const Reserve kept = reserve(good, geometry_, format, options);
    sync_blocks_ = kept.sync;
    merge_blocks_ = kept.merge;
    batch_blocks_ = kept.batch;
    spare_blocks_ = kept.spare;
    start_blocks_ = kept.start;
    rate_ = 1600U / (3U * format.reserve) + 2;
    chain_unit_ = window / kFlashWeightLimit + 1;
    replay_words_ = options.changes * format.page_size;
    replay_words_ = replay_words_ > block / 2 ? replay_words_ : block / 2;

    // Bytes of nodes for each changed page: more for a large map, and more if few changes are gathered in memory.
    const bool many = (good * (block / 16) >> page_log2_) > std::uint32_t{4} * options.changes;
    const std::uint32_t node_share = (many ? 48U : 24U) + 512U / options.changes;
    most_pages_ = 0;
    if (good > kept.start + kept.slack) {
        most_pages_ = static_cast<std::uint32_t>(
            quotient_of(std::uint64_t{good - kept.start - kept.slack} * (block - first_record() - 40),
                        format.page_size + 12 + node_share));
    }
    return Status::ok;
}

}  // namespace h5mote
