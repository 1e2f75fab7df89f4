// H5FD - a part of a storage as a file of its own.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>

namespace h5mote {

/// Bytes [start, start + size) of another driver, addressed from 0: the partition of a raw card, or the place of a
/// journal in front of the file that it belongs to. Regions of one storage must not overlap.
///
/// A region with a size ends where the storage ends, if that is earlier. What truncate() makes of its length is
/// remembered only as long as this object lives: for a file in such a region, JournalDriver keeps the length
/// (JournalOptions:: home_has_end). A region without a size ends where the storage ends, and grows and shrinks with it.
///
/// Where the storage commits (sync_is_commit), only one region of it at a time can be open for writing; others are
/// busy.
class RegionDriver final : public Driver {
public:
    static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

    /// The storage is borrowed.
    explicit RegionDriver(Driver& storage, std::uint64_t start, std::uint64_t size = kToTheEnd) noexcept
        : storage_(storage), start_(start), size_(size), length_(size) {}

    /// The capabilities of the storage, as far as they hold for the region: extends_with_zeros only if the region has
    /// no size, and as atomic unit the greatest common divisor of the storage's unit and `start`.
    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space beyond the region's end.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override { return storage_.sync(); }
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return storage_.keep_room(ranges, bytes);
    }
    Status discard() noexcept override { return storage_.discard(); }
    std::int32_t last_error() const noexcept override { return storage_.last_error(); }
    /// Differs between regions of one storage that begin at different addresses.
    StorageId storage_id() const noexcept override;

private:
    /// Takes a shared lock of the storage, because other regions use it, too. That keeps out whoever opens the whole
    /// storage for writing, but not another object for the same region that was given to another Library. Where the
    /// storage commits, a region that is written takes the storage alone: syncing one region would commit half of what
    /// is written into another.
    Status do_lock(bool exclusive) noexcept override {
        return storage_.lock(exclusive && storage_.capabilities().sync_is_commit);
    }
    Status do_unlock() noexcept override { return storage_.unlock(); }

    Driver& storage_;
    std::uint64_t start_;
    std::uint64_t size_;
    std::uint64_t length_;  // length of the region as truncate() and write() left it
};

}  // namespace h5mote
