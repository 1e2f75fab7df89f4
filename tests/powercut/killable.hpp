// A driver on which a session can end as a killed program does.
#pragma once

#include <h5mote/driver.hpp>

namespace h5mote_test {

/// A driver that can be made `dead`, as if its program had been killed: nothing more reaches the storage. Before that,
/// a single call may fail.
class Killable final : public h5mote::Driver {
public:
    explicit Killable(h5mote::Driver& inner) : inner_(inner) { forward_superblock_info(inner); }
    bool dead = false;

    /// The `at`-th call from now on that reads or changes the storage is not done and returns io_error. 0: all are
    /// done.
    void fail(std::size_t at) {
        at_ = at;
        failed_ = false;
    }
    /// Whether it has come to that call.
    bool has_failed() const { return failed_; }

    h5mote::Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override {
        return fails() ? h5mote::Status::io_error : inner_.read(usage, address, to);
    }
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override {
        return fails() ? h5mote::Status::io_error : inner_.write(usage, address, from);
    }
    h5mote::Status sync() noexcept override { return fails() ? h5mote::Status::io_error : inner_.sync(); }
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override { return inner_.end_of_file(size); }
    h5mote::Status truncate(std::uint64_t size) noexcept override {
        return fails() ? h5mote::Status::io_error : inner_.truncate(size);
    }
    h5mote::Status release(h5mote::Usage usage, std::uint64_t address, std::uint64_t size) noexcept override {
        return fails() ? h5mote::Status::io_error : inner_.release(usage, address, size);
    }
    h5mote::Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return dead ? h5mote::Status::ok : inner_.keep_room(ranges, bytes);
    }
    h5mote::Status discard() noexcept override { return fails() ? h5mote::Status::io_error : inner_.discard(); }
    h5mote::Status use_superblock_info(std::string_view name, h5mote::ConstBytes info,
                                       std::uint64_t& end) noexcept override {
        return inner_.use_superblock_info(name, info, end);
    }

private:
    bool fails() noexcept {
        const bool now = at_ != 0 && --at_ == 0;
        failed_ = failed_ || now;
        return dead || now;
    }

    h5mote::Driver& inner_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

}  // namespace h5mote_test
