// H5FD (base address) - a storage seen from where its superblock stands: behind a user block.
#pragma once

#include <h5mote/driver.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

class BaseDriver final : public Driver {
public:
    /// Address 0 is the storage's byte `base`. The storage is borrowed.
    BaseDriver(Driver& storage, std::uint64_t base) noexcept : storage_(storage), base_(base) {}

    Driver& storage() const noexcept { return storage_; }
    std::uint64_t base() const noexcept { return base_; }

    Capabilities capabilities() const noexcept override { return storage_.capabilities(); }
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return address > ~base_ ? Status::io_error : storage_.read(usage, base_ + address, to);
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return address > ~base_ ? Status::no_space : storage_.write(usage, base_ + address, from);
    }
    Status sync() noexcept override { return storage_.sync(); }
    Status end_of_file(std::uint64_t& size) noexcept override {
        const Status status = storage_.end_of_file(size);
        size = size < base_ ? 0 : size - base_;
        return status;
    }
    Status truncate(std::uint64_t size) noexcept override {
        return size > ~base_ ? Status::no_space : storage_.truncate(base_ + size);
    }
    Status lock(bool exclusive) noexcept override { return storage_.lock(exclusive); }
    Status unlock() noexcept override { return storage_.unlock(); }
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override {
        end += base_;
        const Status status = storage_.use_superblock_info(name, info, end);
        end = end < base_ ? 0 : end - base_;
        return status;
    }
    StorageId storage_id() const noexcept override { return storage_.storage_id(); }

private:
    Driver& storage_;
    std::uint64_t base_;
};

#endif

}  // namespace h5mote
