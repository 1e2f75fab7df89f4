// Other programs change a recorder's file: through libhdf5, or through h5mote's object model. Hosts only.
#pragma once

#include "random.hpp"
#include "recording.hpp"

namespace h5mote_test {

/// What an other program may do. The numbers of what it did make names unique.
enum class Change : unsigned {
    append,     ///< rows to a dataset, by the row
    attribute,  ///< adds one to an object of the blueprint
    large,      ///< adds one of 3,000 bytes
    group,      ///< adds a group
    dataset,    ///< adds a dataset with values
    remove,     ///< removes an attribute that was added
    unlink,     ///< removes a group or dataset that was added
    set,        ///< writes a setting's value
};
inline constexpr unsigned kChanges = 8;

/// Does one change by libhdf5, and to `contents`. Returns what failed; empty: nothing. `life` is that of its rows.
std::string change_by_libhdf5(Blob& image, const Described& described, Contents& contents, unsigned life, Change change,
                              Random& random);
/// The same by h5mote's object model, which opens `driver`.
std::string change_by_h5mote(h5mote::Driver& driver, const Described& described, Contents& contents, unsigned life,
                             Change change, Random& random);

}  // namespace h5mote_test
