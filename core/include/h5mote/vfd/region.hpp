// H5FD - a part of a storage as a file of its own.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>

namespace h5mote {

/// Bytes [start, start + size) of another driver, addressed from 0: the partition of a raw card, the place of a journal
/// in front of the file that it belongs to. Regions of one storage must not overlap.
///
/// A region with a size is as long as the storage reaches into it; how long it was made by truncate() is remembered
/// while the object lives, and not longer: JournalDriver keeps the length of a file in such a region (JournalOptions::
/// home_has_end). One without a size ends where the storage ends, and grows and shrinks with it.
///
/// Of a storage that commits (sync_is_commit) one region at a time can be open for writing: others are busy.
class RegionDriver final : public Driver {
public:
    static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

    /// The storage is borrowed.
    explicit RegionDriver(Driver& storage, std::uint64_t start, std::uint64_t size = kToTheEnd) noexcept
        : storage_(storage), start_(start), size_(size), length_(size) {}

    /// Those of the storage that are true of the region, too: extends_with_zeros only if it has no size, and of the
    /// atomic unit the largest part that `start` is a multiple of as well.
    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// no_space behind the region's end.
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
    /// Tells regions of one storage apart by where they begin.
    StorageId storage_id() const noexcept override;

private:
    /// The storage is shared with the regions beside this one: who opens all of it for writing is kept out, but not
    /// another object for the same region that was given to another Library. A storage that commits has all to itself
    /// who writes a region: a sync of one region would commit half of what is written into another.
    Status do_lock(bool exclusive) noexcept override {
        return storage_.lock(exclusive && storage_.capabilities().sync_is_commit);
    }
    Status do_unlock() noexcept override { return storage_.unlock(); }

    Driver& storage_;
    std::uint64_t start_;
    std::uint64_t size_;
    std::uint64_t length_;  // what truncate() and write() made of it
};

}  // namespace h5mote
