// What both libraries share in the workloads of change_workloads.hpp.
#include "change_workloads.hpp"

#include <cstdio>
#include <cstring>

namespace bench {

std::string numbered(const char* stem, std::size_t i) {
    char name[32];
    std::snprintf(name, sizeof name, "%s%05zu", stem, i);
    return name;
}

std::vector<std::int32_t> grow_values(std::size_t i) {
    // Before step 2k the dataset has k kGrowBy rows and (k + 1) kGrowBy columns.
    const std::size_t k = i / 2;
    std::vector<std::int32_t> values((k + 1) * kGrowBy * kGrowBy);
    for (std::size_t n = 0; n < values.size(); ++n) {
        values[n] = static_cast<std::int32_t>(i * 100000 + n);
    }
    return values;
}

std::uint64_t fingerprint_of(const std::string& path, const std::vector<std::byte>& elements, std::int32_t attribute) {
    constexpr std::uint64_t kPrime = 0x100000001b3;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : path) {
        hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    }
    for (std::size_t i = 0; i + 4 <= elements.size(); i += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, &elements[i], sizeof word);
        hash = (hash ^ word) * kPrime;
    }
    return (hash ^ elements.size()) * kPrime ^ static_cast<std::uint32_t>(attribute);
}

}  // namespace bench
