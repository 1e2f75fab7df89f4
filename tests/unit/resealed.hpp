// Damages files at places of a test's choice and repairs the checksums, so that only the damage itself can be noticed.
#pragma once

#include "../reading/all_filters.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "walker.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#if H5MOTE_ALL_FORMATS

namespace h5mote_test {

/// Repairs the checksum of each block that a walk over the file finds damaged, if the checksum is the block's last 4
/// bytes.
inline void reseal(std::vector<std::byte>& image) {
    static std::byte buffer[1024];
    for (bool again = true; again;) {
        again = false;
        h5mote::MallocAllocator memory;
        h5mote::NullPort port;
        h5mote::Library library(memory, port, kAllFilters);
        h5mote::MemoryDriver driver = h5mote::MemoryDriver::reading({image.data(), image.size()});
        h5mote::FileAccess access;
        access.read_only = true;
        WalkResult result;
        (void)walk_file(library, driver, access, buffer, {}, result);
        for (std::size_t i = 0; i < library.trail().size(); ++i) {
            const h5mote::ErrorRecord record = library.trail().newest(i);
            if (record.module == h5mote::Module::storage && record.detail >= 8 && record.value < image.size() &&
                record.detail <= image.size() - record.value) {
                std::byte* const block = image.data() + record.value;
                std::byte* const stored = block + record.detail - 4;
                const std::uint32_t right = h5mote::lookup3({block, record.detail - 4});
                again = again || h5mote::load_le<std::uint32_t>(stored) != right;
                h5mote::store_le(stored, right);
            }
        }
    }
}

/// Returns the offset of the first occurrence of `bytes` at or behind `from`; the test fails if there is none.
inline std::size_t find_bytes(const std::vector<std::byte>& image, std::string_view bytes, std::size_t from = 0) {
    const auto* const text = reinterpret_cast<const std::byte*>(bytes.data());
    const auto at =
        std::search(image.begin() + static_cast<std::ptrdiff_t>(from), image.end(), text, text + bytes.size());
    EXPECT_NE(at, image.end()) << bytes;
    return static_cast<std::size_t>(at - image.begin());
}

}  // namespace h5mote_test

#endif
