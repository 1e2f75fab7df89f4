// faults [--every N] FILE...: every allocation and every driver call of a walk, or one in N, fails, once and from then
// on. Then either the walk says so, or it has found the same as without the fault; nothing is leaked. Prints `N points`
// a file.
#include "all_filters.hpp"
#include "failing_driver.hpp"
#include "test_allocators.hpp"
#include "walker.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

std::byte buffer[1024];

enum class Kind { none, allocation, driver };

struct Point {
    Kind kind = Kind::none;
    std::uint64_t at = 0;
    bool persistent = false;
};

struct Outcome {
    Status opened = Status::ok;
    WalkResult walk;
    std::uint64_t failures = 0;
    bool clean = true;  // all memory was given back, once each
};

Outcome run(const std::vector<char>& image, const Point& point) {
    Outcome outcome;
    MallocAllocator heap;
    TrackingAllocator tracking(heap);
    FailingAllocator failing(tracking);
    MemoryDriver storage = MemoryDriver::reading({reinterpret_cast<const std::byte*>(image.data()), image.size()});
    FailingDriver driver(storage);
    {
        NullPort port;
        Library library(failing, port, kAllFilters);
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        if (point.kind == Kind::allocation) {
            failing.arm(point.at, point.persistent);
        } else if (point.kind == Kind::driver) {
            DriverFault fault;
            fault.at = point.at;
            fault.persistent = point.persistent;
            driver.arm(fault);
        }
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 4096;
        access.chunk_cache = 8192;
        WalkLimits limits;
        limits.elements = 64;
        outcome.opened = walk_file(library, driver, access, buffer, limits, outcome.walk);
    }
    outcome.failures = failing.failures() + driver.failures();
    outcome.clean = tracking.blocks() == 0 && tracking.errors() == 0;
    return outcome;
}

/// Number of points, 0 when one was not as it should be.
unsigned long sweep(const std::string& path, std::uint64_t every) {
    std::ifstream from(path, std::ios::binary);
    const std::vector<char> image(std::istreambuf_iterator<char>(from), {});
    const Outcome reference = run(image, {});
    if (reference.opened != Status::ok || reference.walk.errors != 0 || !reference.clean) {
        std::printf("%s: status %d, %u errors without any fault\n", path.c_str(), static_cast<int>(reference.opened),
                    reference.walk.errors);
        return 0;
    }
    unsigned long points = 0;
    for (const Kind kind : {Kind::allocation, Kind::driver}) {
        for (const bool persistent : {false, true}) {
            for (std::uint64_t at = 1;; at += every) {
                const Outcome outcome = run(image, {kind, at, persistent});
                if (outcome.failures == 0) {
                    break;
                }
                ++points;
                const bool told = outcome.opened != Status::ok || outcome.walk.errors != 0;
                const bool same = outcome.walk.digest == reference.walk.digest;
                if (!outcome.clean || (!told && !same)) {
                    std::printf("%s: %s %llu%s: %s\n", path.c_str(),
                                kind == Kind::driver ? "driver call" : "allocation",
                                static_cast<unsigned long long>(at), persistent ? " and all later ones" : "",
                                outcome.clean ? "another result without an error" : "memory was not given back");
                    return 0;
                }
            }
        }
    }
    return points;
}

}  // namespace

int main(int argc, char** argv) {
    int first = 1;
    std::uint64_t every = 1;
    if (argc > 2 && std::string(argv[1]) == "--every") {
        every = std::strtoull(argv[2], nullptr, 10);
        first = 3;
    }
    bool good = argc > first && every > 0;
    for (int i = first; i < argc && every > 0; ++i) {
        const unsigned long points = sweep(argv[i], every);
        std::printf("%s: %lu points\n", argv[i], points);
        good = good && points > 20;
    }
    return good ? 0 : 1;
}
