// Compares what a file holds after a cut with what may be there, and logs on from it.
#pragma once

#include "history.hpp"

#include <h5mote/h5mote.hpp>

#include <functional>

namespace h5mote_test {

/// Opens the storage with h5mote for reading and compares. Returns what is wrong; empty: nothing. `found` is the state
/// of every item. A file whose creation was not acknowledged yet may be missing. (In profile logger, libhdf5 reads the
/// file.)
std::string compare(h5mote::Driver& driver, const History::Interval& allowed, Found& found);

/// Returns what check_file() finds. Nothing if the file cannot be opened, which compare() reports.
std::string find_problems(h5mote::Driver& driver);

/// Logs on after a cut: opens or creates the file for writing, creates objects, appends rows, flushes and closes.
/// `history` begins with what is there and records all of that. Returns the call that failed; empty: none. no_space is
/// no failure if `may_be_full`.
std::string resume(h5mote::Driver& driver, History& history, const std::function<std::size_t()>& operations,
                   bool may_be_full, bool reclaim = false);

/// Opens what a cut left with FileAccess::reclaim: all space that is lost must be found, and the file must be sound
/// then and after closing it. A file that records its free space must record all of it. Changes the storage. Nothing in
/// profile logger, which cannot check.
std::string reclaim_all(h5mote::Driver& driver);

/// As compare(), with libhdf5, which opens the image of the storage.
std::string compare_by_libhdf5(h5mote::ConstBytes image, const History::Interval& allowed, Found& found);

/// The items, each in the one state in which it was found: the beginning of a History that goes on from there.
Items only(const Items& items, const Found& found);

}  // namespace h5mote_test
