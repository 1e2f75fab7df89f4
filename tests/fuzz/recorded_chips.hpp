// The chips that fuzz_flash_recorder works on, and for which make_recorder_seeds.cpp records: a byte that chooses a
// blueprint and a geometry, then the contents.
#pragma once

#include "../recorder_flash/any_flash_recorder.hpp"
#include "../recorder_flash/flash_blueprints.hpp"

#include <algorithm>
#include <cstring>

namespace h5mote_test {

struct FuzzedChip {
    MakeFlashRecorder make;
    h5mote::FlashGeometry geometry;
};
inline constexpr FuzzedChip kFuzzedChips[] = {
    {make_flash_recorder<flash_blueprints::kOne, 64>, {8, 512, 256, 4, 0xff}},
    {make_flash_recorder<flash_blueprints::kThree, 128>, {6, 1024, 256, 1, 0x00}},
    {make_flash_recorder<flash_blueprints::kManySettings, 256>, {5, 1024, 256, 256, 0xff}},
    {make_flash_recorder<flash_blueprints::kRing<2>, 64>, {8, 1024, 64, 4, 0xff}},
    {make_flash_recorder<flash_blueprints::kRing<3>, 256>, {12, 1024, 256, 8, 0xff}},
};

/// Memory that holds what the input says, and is strict with the recorder: each unit is programmed once after an erase.
class FuzzedDevice final : public h5mote::FlashDevice {
public:
    FuzzedDevice(const h5mote::FlashGeometry& geometry, h5mote::ConstBytes contents)
        : geometry_(geometry),
          bytes_(static_cast<std::size_t>(geometry.capacity()), std::byte{geometry.erased_value}),
          blank_(bytes_.size() / geometry.program_unit, false) {
        std::memcpy(bytes_.data(), contents.data(), std::min(contents.size(), bytes_.size()));
    }

    h5mote::FlashGeometry geometry() const noexcept override { return geometry_; }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        ++reads;
        if (!check(block, offset, to.size())) {
            return h5mote::Status::io_error;
        }
        std::memcpy(to.data(), bytes_.data() + block * geometry_.block_size + offset, to.size());
        return h5mote::Status::ok;
    }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        ++changes;
        const std::size_t unit = geometry_.program_unit;
        if (!check(block, offset, from.size()) || offset % unit != 0 || from.size() % unit != 0 || from.empty() ||
            offset / geometry_.page_size != (offset + from.size() - 1) / geometry_.page_size) {
            is_misused = true;
            return h5mote::Status::io_error;
        }
        const std::size_t at = std::size_t{block} * geometry_.block_size + offset;
        for (std::size_t i = at / unit; i < (at + from.size()) / unit; ++i) {
            is_misused = is_misused || !blank_[i];
            blank_[i] = false;
        }
        std::memcpy(bytes_.data() + at, from.data(), from.size());
        return h5mote::Status::ok;
    }
    h5mote::Status erase(std::uint32_t block) noexcept override {
        ++changes;
        if (!check(block, 0, geometry_.block_size)) {
            return h5mote::Status::io_error;
        }
        const auto at = static_cast<std::ptrdiff_t>(block * geometry_.block_size);
        std::fill_n(bytes_.begin() + at, geometry_.block_size, std::byte{geometry_.erased_value});
        std::fill_n(blank_.begin() + at / static_cast<std::ptrdiff_t>(geometry_.program_unit),
                    geometry_.block_size / geometry_.program_unit, true);
        return h5mote::Status::ok;
    }
    const Blob& contents() const noexcept { return bytes_; }

    std::size_t reads = 0;
    std::size_t changes = 0;
    bool is_misused = false;

private:
    bool check(std::uint32_t block, std::uint32_t offset, std::size_t size) noexcept {
        const bool good =
            block < geometry_.blocks && offset <= geometry_.block_size && size <= geometry_.block_size - offset;
        is_misused = is_misused || !good;
        return good;
    }

    h5mote::FlashGeometry geometry_;
    Blob bytes_;
    std::vector<bool> blank_;  // units that were erased and not programmed since
};

}  // namespace h5mote_test
