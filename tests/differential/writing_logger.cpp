// Takes the place of writing_selections.cpp if h5mote is built with the profile `logger`, which cannot read: only
// libhdf5 reads the files.
#include "writing_run.hpp"

namespace differential {

void verify_with_h5mote(const Tree& /*model*/, const Blob& /*image*/, const std::string& /*who*/,
                        DriverOpener& /*opener*/) {}
void Writing::write(Random& /*random*/) {}
void Writing::read(Random& /*random*/) {}
void Writing::set_extent(Random& /*random*/) {}
void Writing::reclaim(Random& /*random*/) {}

}  // namespace differential
