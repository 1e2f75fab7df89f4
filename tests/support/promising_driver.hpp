// A driver that passes calls on to another one, but reports the capabilities that the test gives it.
#pragma once

#include "forwarding_driver.hpp"

namespace h5mote_test {

class PromisingDriver final : public ForwardingDriver {
public:
    PromisingDriver(h5mote::Driver& inner, const h5mote::Capabilities& promised) noexcept
        : ForwardingDriver(inner), promised_(promised) {}
    h5mote::Capabilities capabilities() const noexcept override { return promised_; }

private:
    h5mote::Capabilities promised_;
};

inline h5mote::Capabilities with_unit(std::uint32_t unit) {
    h5mote::Capabilities result;
    result.atomic_unit = unit;
    return result;
}

}  // namespace h5mote_test
