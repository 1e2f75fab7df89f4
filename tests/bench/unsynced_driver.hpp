// A driver that makes nothing durable, as libhdf5 does not either, so that both do the same work.
#pragma once

#include "forwarding_driver.hpp"

namespace bench {

class UnsyncedDriver final : public h5mote_test::ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    h5mote::Status sync() noexcept override { return h5mote::Status::ok; }
};

}  // namespace bench
