// measure_space() where the library cannot check a file: libhdf5 and reading it back must do.
#include "inspect.hpp"

namespace h5mote_test {

std::string measure_space(h5mote::File&, std::uint32_t, SpaceUse& space) {
    space.known = false;
    return "";
}

}  // namespace h5mote_test
