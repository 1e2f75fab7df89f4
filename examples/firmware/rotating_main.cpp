// rotating [FILE [LOGS]]: fills that many logs with the function that README.md shows, each in a session of its own.
#include <h5mote/vfd/posix.hpp>

#include "rotating.hpp"

#include <cstdlib>

alignas(8) static std::byte memory[8 * 1024];

int main(int argc, char** argv) {
    h5mote::PosixDriver card;
    h5mote::Status status = card.open(argc > 1 ? argv[1] : "logs.h5", h5mote::PosixDriver::Mode::open_or_create);
    for (int left = argc > 2 ? std::atoi(argv[2]) : 1; left > 0 && status == h5mote::Status::ok; --left) {
        h5mote::Arena arena{memory};
        h5mote::NullPort port;
        h5mote::Library library{arena, port, {}, h5mote::formats::rotating};
        status = fill_next_log(library, card);
    }
    return static_cast<int>(status);
}
