#include <h5mote/vfd/posix_files.hpp>

h5mote::Status log_to_family(h5mote::Status (*log_samples)(h5mote::Driver&)) {
    static h5mote::PosixFamily members;  // it has room for a path
    H5MOTE_TRY(members.set_pattern("flight%03d.h5", true));
    h5mote::FamilyDriver family{members};
    H5MOTE_TRY(family.open_or_create(std::uint64_t{1} << 30));  // a multiple of 512
    return log_samples(family);
}
