// The part of a board's storage in which logs rotate: small, so that they go round often.
#pragma once

#include <h5mote/driver.hpp>

namespace board {

/// Makes the part empty. `capacity`: bytes of file that fit.
h5mote::Status make_part(std::uint64_t& capacity) noexcept;
/// The driver as after a start of the board; it replaces the one that this returned before.
h5mote::Status start_part(h5mote::Driver*& driver) noexcept;

}  // namespace board
