// verify.hpp in profile logger, which reads neither rows nor links and has no check_file(): libhdf5 reads the file
// instead.
#include "verify.hpp"

#include "hdf5_image.hpp"

namespace h5mote_test {

std::string compare(h5mote::Driver& driver, const History::Interval& allowed, Found& found) {
    const std::vector<std::byte> image = image_of(driver);
    return compare_by_libhdf5({image.data(), image.size()}, allowed, found);
}

std::string find_problems(h5mote::Driver&) { return {}; }
std::string reclaim_all(h5mote::Driver&) { return {}; }

}  // namespace h5mote_test
