// H5MF - finding space that nothing in a file uses.

#include "free_space_format.hpp"

namespace h5mote {
namespace {

Status search(FileState& file, std::size_t /*memory*/, std::uint64_t& bytes) noexcept {
    bytes = 0;
    return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::reclaim);
}

}  // namespace

const ReclaimFormat formats::reclaim = {&search};

}  // namespace h5mote
