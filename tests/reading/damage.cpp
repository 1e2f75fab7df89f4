// damage [--values all|bits] [--part I/N] FILE...: every truncation and every single-byte corruption of small files is
// walked, and checked as `h5mote check` does. Both together must end within 2 seconds, work in the memory of the arena,
// and give all of it back; sanitizers find wrong accesses. `bits`: each byte with each of its bits changed, and as 0x00
// and 0xff; `all`: with every other value. --part takes every N-th byte of a file, from byte I on. Prints
// `N points, M opened, slowest T ms` and fails with fewer points than one for each of these bytes.
#include "all_filters.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/check.hpp>
#include <h5mote/vfd/memory.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Clock = std::chrono::steady_clock;

alignas(16) std::byte memory[64 * 1024];
std::byte buffer[1024];

class NoReport final : public CheckReporter {
public:
    void problem(const Problem& /*problem*/) noexcept override {}
};

// Runs check_file(). Its findings do not matter here; check_test.py tests them.
void check(Library& library, Driver& driver, FileAccess access) {
    access.allow_truncated = true;
    Result<File> file = File::open(library, driver, access);
    if (!file) {
        return;
    }
    NoReport reporter;
    CheckOptions options;
    options.memory = 4096;
    (void)check_file(*file, options, reporter);
    (void)file->close();
}

struct Totals {
    unsigned long points = 0;
    unsigned long opened = 0;
    double slowest = 0;
    bool failed = false;
};

void walk(const std::vector<char>& image, std::size_t size, Totals& totals, const std::string& what) {
    Arena arena{memory};
    NullPort port;
    Library library(arena, port, kAllFilters);
    // A copy of exactly this size, so that AddressSanitizer sees reads behind its end.
    const std::vector<char> copy(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    MemoryDriver driver = MemoryDriver::reading({reinterpret_cast<const std::byte*>(copy.data()), copy.size()});
    FileAccess access;
    access.read_only = true;
    access.metadata_cache = 4096;
    access.chunk_cache = 8192;
    WalkLimits limits;
    limits.elements = 64;
    limits.steps = 2000;
    WalkResult result;
    const auto begin = Clock::now();
    const Status status = walk_file(library, driver, access, buffer, limits, result);
    check(library, driver, access);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    ++totals.points;
    totals.opened += status == Status::ok ? 1 : 0;
    totals.slowest = seconds > totals.slowest ? seconds : totals.slowest;
    if (arena.usage().now != 0 || !arena.check()) {
        std::printf("%s: memory was not given back\n", what.c_str());
        totals.failed = true;
    }
    if (seconds > 2) {
        std::printf("%s: %.1f s\n", what.c_str(), seconds);
        totals.failed = true;
    }
}

void damage(const std::string& path, bool all_values, unsigned part, unsigned parts, Totals& totals) {
    std::ifstream from(path, std::ios::binary);
    std::vector<char> image(std::istreambuf_iterator<char>(from), {});
    if (image.empty()) {
        std::printf("%s: cannot be read\n", path.c_str());
        totals.failed = true;
    }
    for (std::size_t i = part; i < image.size(); i += parts) {
        const std::string where = path + " at " + std::to_string(i);
        walk(image, i, totals, where + " cut off");
        const char original = image[i];
        for (unsigned change = 1; change < 256; ++change) {
            const unsigned value = static_cast<unsigned char>(original) ^ change;
            if (all_values || (change & (change - 1)) == 0 || value == 0 || value == 0xff) {
                image[i] = static_cast<char>(value);
                walk(image, image.size(), totals, where + " changed by " + std::to_string(change));
            }
        }
        image[i] = original;
    }
}

}  // namespace

int main(int argc, char** argv) {
    Totals totals;
    unsigned long bytes = 0;
    unsigned part = 0;
    unsigned parts = 1;
    bool all_values = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--values") == 0 && i + 1 < argc) {
            all_values = std::strcmp(argv[++i], "all") == 0;
        } else if (std::strcmp(argv[i], "--part") == 0 && i + 1 < argc) {
            if (std::sscanf(argv[++i], "%u/%u", &part, &parts) != 2 || part >= parts) {
                return 2;
            }
        } else {
            damage(argv[i], all_values, part, parts, totals);
            std::ifstream file(argv[i], std::ios::binary | std::ios::ate);
            bytes += static_cast<unsigned long>(file.tellg());
        }
    }
    std::printf("%lu points, %lu opened, slowest %.1f ms\n", totals.points, totals.opened, totals.slowest * 1000);
    return totals.failed || bytes == 0 || totals.points * parts < bytes ? 1 : 0;
}
