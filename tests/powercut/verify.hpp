// What a file holds after a cut, compared with what may be there; and the same seen by libhdf5.
#pragma once

#include "history.hpp"

#include <h5mote/h5mote.hpp>

#include <functional>

namespace h5mote_test {

/// Opens the storage with h5mote for reading and compares. `found`: in what state everything is. Empty when all is
/// well, else what is wrong. A file that need not have been created yet may be missing.
std::string compare(h5mote::Driver& driver, const History::Interval& allowed, Found& found);

/// What check_file() finds in it. A file that cannot be opened is compare()'s matter.
std::string find_problems(h5mote::Driver& driver);

/// Goes on logging: opens for writing, or creates, makes and appends, and closes. `history` gets it all; it begins with
/// what is there. A device that is full is no failure if `may_be_full`.
std::string resume(h5mote::Driver& driver, History& history, const std::function<std::size_t()>& operations,
                   bool may_be_full);

/// The same by libhdf5, which opens the image as it lies.
std::string compare_by_libhdf5(h5mote::ConstBytes image, const History::Interval& allowed, Found& found);

/// The items as they were found, for a History that goes on from there.
Items only(const Items& items, const Found& found);

}  // namespace h5mote_test
