// Free space in a long list of runs, compared with a search of all bytes.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "file_space.hpp"
#include "storage_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// What a byte of a file is: free, or free once all is settled.
enum class Use : std::uint8_t { used, free, pending };

// Where the smallest free run of at least `size` bytes begins, of equal ones the first; the end of the file if there is
// none.
std::size_t best_fit(const std::vector<Use>& file, std::size_t size) {
    std::size_t best = file.size();
    std::size_t least = file.size() + 1;
    for (std::size_t i = 0; i < file.size();) {
        std::size_t end = i;
        while (end < file.size() && file[end] == file[i]) {
            ++end;
        }
        if (file[i] == Use::free && end - i >= size && end - i < least) {
            best = i;
            least = end - i;
        }
        i = end;
    }
    return best;
}

}  // namespace

// However many runs there are, raw data go into the smallest one that has room.
TEST(FreeRuns, TheSmallestIsFound) {
    constexpr std::size_t kEnd = 20000;
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    GrowingMemoryDriver driver{memory};
    FileSpace space(library, driver);
    ASSERT_EQ(driver.truncate(1U << 20), Status::ok);
    space.open(kEnd, 1U << 20, 1U << 20);
    std::vector<Use> file(kEnd, Use::used);
    Numbers numbers(7);
    unsigned reused = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        const std::size_t at = numbers.below(kEnd - 200);
        const std::size_t size = 1 + numbers.below(i % 7 == 0 ? 150 : 12);
        const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + static_cast<std::ptrdiff_t>(size);
        const bool fresh = i % 3 != 0;
        // The last bytes of the file stay in use, so that its end does not move.
        if (std::all_of(begin, end, [](Use use) { return use == Use::used; })) {
            space.release(static_cast<Address>(at), static_cast<Address>(size), fresh);
            std::fill(begin, end, fresh ? Use::free : Use::pending);
        }
        const std::size_t best = best_fit(file, size);
        Address address = 0;
        const bool found = i % 2 == 0 && space.allocate_free(static_cast<Address>(size), address);
        ASSERT_EQ(found, i % 2 == 0 && best < file.size());
        if (found) {
            ASSERT_EQ(address, best);
            std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(best), size, Use::used);
            ++reused;
        }
        if (i % 50 == 49) {
            space.settle();
            std::replace(file.begin(), file.end(), Use::pending, Use::free);
        }
    }
    EXPECT_GT(reused, 500U);
    EXPECT_GT(space.free().count(), 100U);
    space.close();
}
