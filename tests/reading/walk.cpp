// walk FILE...: walks each file and prints `NAME STATUS DIGEST links L objects O attributes A elements E errors R`,
// which is the same on every machine. It works in an arena of 32 KiB, on a microcontroller as on a host. The exit code
// is 0 when every file could be opened.
#include "all_filters.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/port/stack.hpp>
#include <h5mote/vfd/posix.hpp>

#ifdef H5MOTE_BARE_TESTS
#include <h5mote/port/semihosting.hpp>
#else
#include <cstdio>
#endif

namespace {

using namespace h5mote;
using namespace h5mote_test;

alignas(16) std::byte memory[32 * 1024];
std::byte buffer[1024];

#ifdef H5MOTE_BARE_TESTS
void print(const char* text) { semihosting::print(text); }
#else
void print(const char* text) { std::fputs(text, stdout); }
#endif

void print(std::uint64_t number) {
    char digits[24];
    char* at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    print(at);
}

const char* base_name(const char* path) {
    const char* name = path;
    for (const char* at = path; *at != '\0'; ++at) {
        name = *at == '/' ? at + 1 : name;
    }
    return name;
}

bool walk(const char* path) {
    WalkResult result;
    PosixDriver driver;
    Status status = driver.open(path, PosixDriver::Mode::read_only);
    if (status == Status::ok) {
        Arena arena{memory};
        NullPort port;
        Library library(arena, port, kAllFilters);
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 4096;
        access.chunk_cache = 8192;
        WalkLimits limits;
        limits.elements = 256;
        limits.steps = 20000;
        status = walk_file(library, driver, access, buffer, limits, result);
        if (arena.usage().now != 0) {
            print("memory was not given back\n");
            return false;
        }
    }
    print(base_name(path));
    print(" ");
    print(static_cast<std::uint64_t>(status));
    print(" ");
    print(static_cast<std::uint64_t>(result.digest));
    const struct {
        const char* name;
        std::uint64_t value;
    } counts[] = {{" links ", result.links},
                  {" objects ", result.objects},
                  {" attributes ", result.attributes},
                  {" elements ", result.elements},
                  {" errors ", result.errors}};
    for (const auto& count : counts) {
        print(count.name);
        print(count.value);
    }
    print("\n");
    return status == Status::ok;
}

}  // namespace

int main(int argc, char** argv) {
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i) {
        good = walk(argv[i]) && good;
    }
    return good ? 0 : 1;
}
