// Profile logger reads no rows: libhdf5 alone judges there.
#include "recording.hpp"

namespace h5mote_test {

std::string compare_by_h5mote(h5mote::Driver& /*driver*/, const Described& /*described*/, const Contents& /*contents*/,
                              Seen& /*seen*/) {
    return "";
}

}  // namespace h5mote_test
