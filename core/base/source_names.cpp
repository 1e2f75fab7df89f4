// The names of the library's source files, found by the numbers of error records. In a file of its own, so that
// firmware which prints no names contains none.
#include <h5mote/status.hpp>

namespace h5mote {

namespace {

constexpr const char* kSources[] = {
#include "source_names.inc"
};
constexpr std::uint32_t kFileBits = 0xfff80000U;

constexpr bool all_differ() noexcept {
    constexpr std::size_t kCount = sizeof(kSources) / sizeof(kSources[0]);
    std::uint32_t numbers[kCount] = {};
    for (std::size_t i = 0; i < kCount; ++i) {
        numbers[i] = source_place(kSources[i], 0).number;
        for (std::size_t other = 0; other < i; ++other) {
            if (numbers[other] == numbers[i]) {
                return false;
            }
        }
    }
    return true;
}
static_assert(all_differ(), "two source files have the same number: choose another kSeed in source_place()");

}  // namespace

const char* source_name(const ErrorRecord& record) noexcept {
    for (const char* name : kSources) {
        if (source_place(name, 0).number == (record.number & kFileBits)) {
            return name;
        }
    }
    return nullptr;
}

}  // namespace h5mote
