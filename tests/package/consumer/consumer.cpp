// Sees the public headers and nothing else, links, and has the configuration that the library was built with.
#include <h5mote/config.hpp>
#include <h5mote/context.hpp>
#include <h5mote/port.hpp>
#include <h5mote/status.hpp>

#include <cstdio>
#include <cstring>

#if __has_include("cursor.hpp")
#error "private headers of the library are visible to an application"
#endif
#if H5MOTE_MAX_RANK != EXPECTED_MAX_RANK
#error "an option that was set for the library did not arrive at its user"
#endif
#ifndef H5MOTE_PROFILE_LOGGER
#error "the profile did not arrive"
#endif

int main() {
    h5mote::NullPort port;
    const char* name = h5mote::to_string(h5mote::Status::no_space);
    std::printf("h5mote: %s at %u\n", name, static_cast<unsigned>(port.time()));
    return std::strcmp(name, "no_space") == 0 ? 0 : 1;
}
