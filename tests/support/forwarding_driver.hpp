// A driver that passes every call on to another one: the base of the drivers that count, fail or record.
#pragma once

#include <h5mote/driver.hpp>

namespace h5mote_test {

class ForwardingDriver : public h5mote::Driver {
public:
    /// The inner driver is borrowed.
    explicit ForwardingDriver(h5mote::Driver& inner) noexcept : inner_(inner) {}

    h5mote::Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override {
        return inner_.read(usage, address, to);
    }
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return inner_.write(usage, address, from);
    }
    h5mote::Status sync() noexcept override { return inner_.sync(); }
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override { return inner_.end_of_file(size); }
    h5mote::Status truncate(std::uint64_t size) noexcept override { return inner_.truncate(size); }
    h5mote::Status release(h5mote::Usage usage, std::uint64_t address, std::uint64_t size) noexcept override {
        return inner_.release(usage, address, size);
    }
    h5mote::Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return inner_.keep_room(ranges, bytes);
    }
    h5mote::Status discard() noexcept override { return inner_.discard(); }
    h5mote::Status do_lock(bool exclusive) noexcept override { return inner_.lock(exclusive); }
    h5mote::Status do_unlock() noexcept override { return inner_.unlock(); }
#if H5MOTE_OTHER_FILES
    h5mote::Status use_superblock_info(std::string_view name, h5mote::ConstBytes info,
                                       std::uint64_t& end) noexcept override {
        return inner_.use_superblock_info(name, info, end);
    }
#endif
    std::int32_t last_error() const noexcept override { return inner_.last_error(); }
    h5mote::StorageId storage_id() const noexcept override { return inner_.storage_id(); }

    h5mote::Driver& inner() noexcept { return inner_; }

protected:
    ~ForwardingDriver() = default;

private:
    h5mote::Driver& inner_;
};

}  // namespace h5mote_test
