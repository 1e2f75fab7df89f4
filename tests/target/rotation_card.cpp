// Logs rotate in a region of the board's SD card.
#include "board.hpp"
#include "rotation_part.hpp"
#include "sd_driver.hpp"

#include <h5mote/vfd/region.hpp>

#include <optional>

namespace board {
namespace {

using h5mote::Status;

constexpr std::uint64_t kStart = 512 * 100;
constexpr std::uint64_t kSize = 128 << 10;

SdCard* card = nullptr;
std::optional<SdDriver> whole;
std::optional<h5mote::RegionDriver> region;

}  // namespace

Status make_part(std::uint64_t& capacity) noexcept {
    h5mote::Driver* driver = nullptr;
    H5MOTE_TRY(start_card(card));
    H5MOTE_TRY(start_part(driver));
    static constexpr std::byte kZeros[512] = {};
    capacity = kSize;
    H5MOTE_TRY(driver->write(h5mote::Usage::superblock, 0, {kZeros, sizeof kZeros}));
    return driver->sync();
}

Status start_part(h5mote::Driver*& driver) noexcept {
    whole.emplace(*card);
    region.emplace(*whole, kStart, kSize);
    driver = &*region;
    return Status::ok;
}

}  // namespace board
