// What tests of File::reclaim() share: which space of an open file is known to be free, and files in which all of that
// is overwritten, so that whoever reads something there notices.
#pragma once

#include <h5mote/h5mote.hpp>

#include "checker.hpp"
#include "file_state.hpp"
#include "sound.hpp"
#include "test.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace h5mote_test {

/// All parts of the build, with that search for lost space.
inline const h5mote::Formats& formats_with(const h5mote::ReclaimFormat& reclaim) {
    static const auto list = [](const h5mote::ReclaimFormat& chosen) {
        h5mote::Formats formats = h5mote::formats::standard;
        formats.reclaim = &chosen;
        return formats;
    };
    static const h5mote::Formats own = list(h5mote::formats::reclaim);
#if H5MOTE_ALL_FORMATS
    static const h5mote::Formats any = list(h5mote::formats::reclaim_any);
    if (&reclaim == &h5mote::formats::reclaim_any) {
        return any;
    }
#endif
    EXPECT_EQ(&reclaim, &h5mote::formats::reclaim);
    return own;
}

/// All searches for lost space that the build has.
inline std::vector<const h5mote::ReclaimFormat*> all_reclaims() {
    std::vector<const h5mote::ReclaimFormat*> all{&h5mote::formats::reclaim};
#if H5MOTE_ALL_FORMATS
    all.push_back(&h5mote::formats::reclaim_any);
#endif
    return all;
}

/// Overwrites in `image` what the open file knows to be free, and what lies behind its end. Returns how many bytes.
inline std::size_t overwrite_free(h5mote::File& file, std::vector<std::byte>& image) {
    h5mote::FileState& state = *h5mote::Checker::state_of(file);
    std::size_t bytes = 0;
    const auto overwrite = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, image.size()); ++i, ++bytes) {
            image[i] = std::byte{0xee};
        }
    };
    for (std::size_t i = 0; i < state.space.free().count(); ++i) {
        const h5mote::FreeExtent extent = state.space.free().get(i);
        overwrite(static_cast<std::size_t>(extent.address), static_cast<std::size_t>(extent.address + extent.size));
    }
    overwrite(static_cast<std::size_t>(state.space.end()), image.size());
    return bytes;
}

/// The bytes of an open file that check_file() finds lost; 0 in builds without it.
inline std::uint64_t lost_bytes([[maybe_unused]] h5mote::File& file) {
#if H5MOTE_ALL_FORMATS
    class Silent final : public h5mote::CheckReporter {
        void problem(const h5mote::Problem&) noexcept override {}
    } silent;
    h5mote::CheckSummary summary;
    return check_file(file, {}, silent, &summary) == h5mote::Status::ok ? summary.lost : ~std::uint64_t{0};
#else
    return 0;
#endif
}

}  // namespace h5mote_test
