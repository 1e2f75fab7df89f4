// rotating [FILE [LOGS]]: fills that many logs with the program that README.md shows, each in a session of its own.
#include <h5mote/vfd/posix.hpp>

#include <cstdlib>

h5mote::Status fill_next_log(h5mote::Driver& storage);

int main(int argc, char** argv) {
    h5mote::PosixDriver card;
    h5mote::Status status = card.open(argc > 1 ? argv[1] : "logs.h5", h5mote::PosixDriver::Mode::open_or_create);
    for (int left = argc > 2 ? std::atoi(argv[2]) : 1; left > 0 && status == h5mote::Status::ok; --left) {
        status = fill_next_log(card);
    }
    return static_cast<int>(status);
}
