// H5FD (base address) - passes calls on to a storage, counting addresses from the superblock, which a user block may
// precede. If the file has a metadata cache image, what it holds is read in place of the file's own bytes.
#pragma once

#include "cache_image.hpp"

#include <h5mote/driver.hpp>

namespace h5mote {

class BaseDriver final : public Driver {
public:
    /// Address 0 is the storage's byte `base`. The storage is borrowed.
    explicit BaseDriver(Driver& storage, std::uint64_t base = 0) noexcept : storage_(storage), base_(base) {}
    void set_base(std::uint64_t base) noexcept { base_ = base; }

    Driver& storage() const noexcept { return storage_; }
    std::uint64_t base() const noexcept { return base_; }

    Capabilities capabilities() const noexcept override {
        Capabilities capabilities = storage_.capabilities();
        if (base_ != 0 && capabilities.atomic_unit != 0) {
            // The storage may promise a unit that is no power of two. What of it remains is the largest power of two
            // that divides the unit and the base: an aligned block of so many bytes lies in one unit of the storage.
            const std::uint64_t common = base_ | capabilities.atomic_unit;
            capabilities.atomic_unit = static_cast<std::uint32_t>(common & (~common + 1));
        }
        return capabilities;
    }
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        const Status status = address > ~base_ ? Status::io_error : storage_.read(usage, base_ + address, to);
        return status != Status::ok || image_reader_ == nullptr ? status : image_reader_(*this, usage, address, to);
    }
    /// From now on what the cache image of `size` bytes at `address` holds is read in place of the file's own bytes.
    /// corrupt_file: it is no cache image. Errors of reading.
    Status use_image(FileShape shape, std::uint64_t address, std::uint64_t size) noexcept;
    /// Writes what the cache image holds to where it belongs, before `end`, and reads it there from now on; without an
    /// image nothing happens. Until the file no longer names the image, the bytes of the image count. corrupt_file: an
    /// entry does not lie in the file. Errors of reading and writing.
    Status store_image(std::uint64_t end) noexcept;
    // Unlike read() these need no check for overflow: their addresses come from FileSpace, not from a damaged file.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return storage_.write(usage, base_ + address, from);
    }
    Status sync() noexcept override { return storage_.sync(); }
    Status end_of_file(std::uint64_t& size) noexcept override {
        const Status status = storage_.end_of_file(size);
        size = size < base_ ? 0 : size - base_;
        return status;
    }
    Status truncate(std::uint64_t size) noexcept override { return storage_.truncate(base_ + size); }
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override {
        return storage_.release(usage, base_ + address, size);
    }
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return storage_.keep_room(ranges, bytes);
    }
    Status discard() noexcept override { return storage_.discard(); }
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override {
        end += base_;
        const Status status = storage_.use_superblock_info(name, info, end);
        end = end < base_ ? 0 : end - base_;
        return status;
    }
    std::int32_t last_error() const noexcept override { return storage_.last_error(); }

private:
    Status do_lock(bool exclusive) noexcept override { return storage_.lock(exclusive); }
    Status do_unlock() noexcept override { return storage_.unlock(); }
    Status next_entry(std::uint64_t& at, CacheImageEntry& entry) noexcept;
    static Status read_image(BaseDriver& driver, Usage usage, std::uint64_t address, Bytes to) noexcept;

    Driver& storage_;
    std::uint64_t base_;
    std::uint64_t first_entry_ = 0;
    std::uint64_t image_end_ = 0;
    std::uint32_t entries_ = 0;
    FileShape shape_;
    // read_image() if there is an image: programs that do not read superblock extensions do not link it.
    Status (*image_reader_)(BaseDriver& driver, Usage usage, std::uint64_t address, Bytes to) = nullptr;
};

}  // namespace h5mote
