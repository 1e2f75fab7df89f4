// faults [--every N] FILE...: every allocation and every driver call of a walk and of a check, or one in N, fails, once
// or from then on. Then the walk or check either reports an error or finds the same as without the fault, and leaks no
// memory. Prints `FILE: N points` for the walk and for the check of each file.
#include "all_filters.hpp"
#include "failing_driver.hpp"
#include "test_allocators.hpp"
#include "walker.hpp"

#include <h5mote/check.hpp>
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

enum class Task { walk, check };
enum class Kind { none, allocation, driver };

// Counts the problems of a check and the parts for which there was too little memory, and sums up free-space sections.
class Counter final : public CheckReporter, public SectionVisitor {
public:
    void problem(const Problem& problem) noexcept override {
        errors += !problem.note || problem.kind == ProblemKind::too_large ? 1U : 0U;
    }
    Status section(Address address, std::uint64_t size) noexcept override {
        sections += address ^ size;
        return Status::ok;
    }
    unsigned errors = 0;
    std::uint64_t sections = 0;
};

// Runs check_file() as `h5mote check` does, and lists the file's free space. Errors and a digest go to `result`.
Status check(Library& library, Driver& driver, const FileAccess& access, WalkResult& result) {
    auto file = File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    Counter counter;
    CheckOptions options;
    options.memory = 8192;
    CheckSummary summary;
    const Status checked = check_file(*file, options, counter, &summary);
    FreeSpaceInfo space;
    const Status counted = file->free_space(space, &counter);
    result.errors = counter.errors + (checked != Status::ok ? 1U : 0U) + (counted != Status::ok ? 1U : 0U);
    result.digest = static_cast<std::uint32_t>(summary.objects + 31 * summary.used + 961 * summary.notes +
                                               7 * space.bytes + counter.sections);
    return file->close();
}

struct Point {
    Kind kind = Kind::none;
    std::uint64_t at = 0;
    bool persistent = false;
};

struct Outcome {
    Status opened = Status::ok;
    WalkResult walk;
    std::uint64_t failures = 0;
    bool clean = true;  // all memory was given back, each block once
};

Outcome run(const std::vector<char>& image, Task task, const Point& point) {
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
        outcome.opened = task == Task::walk ? walk_file(library, driver, access, buffer, limits, outcome.walk)
                                            : check(library, driver, access, outcome.walk);
    }
    outcome.failures = failing.failures() + driver.failures();
    outcome.clean = tracking.blocks() == 0 && tracking.errors() == 0;
    return outcome;
}

/// Returns the number of points that were tried; 0 when one of them went wrong.
unsigned long sweep(const std::string& path, Task task, std::uint64_t every) {
    std::ifstream from(path, std::ios::binary);
    const std::vector<char> image(std::istreambuf_iterator<char>(from), {});
    const Outcome reference = run(image, task, {});
    if (reference.opened != Status::ok || reference.walk.errors != 0 || !reference.clean) {
        std::printf("%s: status %d, %u errors without any fault\n", path.c_str(), static_cast<int>(reference.opened),
                    reference.walk.errors);
        return 0;
    }
    unsigned long points = 0;
    for (const Kind kind : {Kind::allocation, Kind::driver}) {
        for (const bool persistent : {false, true}) {
            for (std::uint64_t at = 1;; at += every) {
                const Outcome outcome = run(image, task, {kind, at, persistent});
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
        for (const Task task : {Task::walk, Task::check}) {
            const unsigned long points = sweep(argv[i], task, every);
            std::printf("%s: %lu points\n", argv[i], points);
            good = good && points * every > 100;
        }
    }
    return good ? 0 : 1;
}
