// The smallest program that opens a file. It must not link: it is compiled with another H5MOTE_MAX_RANK than the
// library.
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/memory.hpp>

alignas(8) static std::byte memory[16384];
static std::byte storage[4096];

int main() {
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port};
    h5mote::MemoryDriver driver{storage};
    return h5mote::File::open(library, driver).status() == h5mote::Status::ok ? 0 : 1;
}
