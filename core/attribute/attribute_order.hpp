// H5A - the creation orders of an object's attributes: the number that the next one gets, which the attribute info
// message of the header keeps.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Takes the next creation order of a header that tracks it. Adds the attribute info message if there is none, but not
/// to a header of version 1, where libhdf5 makes none.
/// `dense`: for an attribute that appears outside of the header.
Status next_order(FileState& file, Address header, std::uint16_t& order, bool dense) noexcept;

/// Undoes next_order() for an attribute that has not appeared: it is about to take an order once more.
void give_back_order(FileState& file, Address header, std::uint16_t order) noexcept;

/// The creation order that the next attribute gets; 0 if the header does not track it, or never had an attribute.
Status read_next_order(FileState& file, Address header, std::uint16_t& next) noexcept;

/// Lets the next attribute have at least the creation order `next`, if the header tracks it.
Status raise_next_order(FileState& file, Address header, std::uint16_t next) noexcept;

}  // namespace h5mote
