// A storage without room.
#pragma once

#include "forwarding_driver.hpp"

namespace h5mote_test {

/// A storage whose sync is a commit, and that has no room when it is asked for the `refuses`-th time.
class FullStorage final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    h5mote::Capabilities capabilities() const noexcept override {
        h5mote::Capabilities result = ForwardingDriver::capabilities();
        result.sync_is_commit = true;
        return result;
    }
    h5mote::Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override {
        return ++calls == refuses ? h5mote::Status::no_space : ForwardingDriver::keep_room(ranges, bytes);
    }
    std::uint64_t calls = 0;
    std::uint64_t refuses = 0;  ///< 0: none
};

}  // namespace h5mote_test
