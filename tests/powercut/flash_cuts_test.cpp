// The power fails within every program and erase of a logger on raw flash. The operation is left not begun, torn,
// partly done, or unstable, so that it reads differently each time. The chip is then mounted twice, and both times
// everything that a flush acknowledged must be there; logging goes on, and that recovery is cut as well. The devices
// are so small that blocks have to be freed all the time.
#include "flash_cuts.hpp"

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;

namespace {

FlashCutOptions nor(std::uint32_t blocks, std::uint32_t unit) {
    FlashCutOptions result;
    result.geometry = {blocks, 1024, 256, unit, 0xff};
    result.format.reserve = 25;
    result.changes = 8;
    return result;
}

// A chip whose erased bytes are 0, whose program unit is a page, and whose ECC cannot read pages that are blank.
FlashCutOptions pages(std::uint32_t blocks) {
    FlashCutOptions result;
    result.geometry = {blocks, 4096, 256, 256, 0x00};
    result.format = {512, 25};
    result.changes = 8;
    result.blank_is_unreadable = true;
    return result;
}

FlashCutOptions nand(std::uint32_t blocks) {
    FlashCutOptions result;
    result.geometry = {blocks, 16384, 2048, 2048, 0xff};
    result.format = {512, 25};
    result.changes = 8;
    result.blank_is_unreadable = true;
    result.programs_per_page = 1;
    return result;
}

}  // namespace

TEST(PowerCut, Append1) { cut_flash("flash-append-1", appending({1, false, 380}), 97300, nor(56, 4)); }
TEST(PowerCut, Append16) { cut_flash("flash-append-16", appending({16, false, 860}), 49900, nor(88, 1)); }
TEST(PowerCut, Append64) { cut_flash("flash-append-64", appending({64, false, 1024}), 50100, nor(104, 4)); }
TEST(PowerCut, Compressed1) { cut_flash("flash-compressed-1", appending({1, true, 92}), 75400, nor(56, 1)); }
TEST(PowerCut, AppendPages) { cut_flash("flash-append-pages", appending({1, false, 200}), 10600, pages(24)); }
TEST(PowerCut, CompressedNand) { cut_flash("flash-compressed-nand", appending({1, true, 210}), 7480, nand(20)); }
// Chunks of one row, so that the chunk index grows up to data blocks with pages.
TEST(PowerCut, Chunks) { cut_flash("flash-chunks", appending({8, false, 200, 1, 48}), 60700, nor(72, 4)); }
TEST(PowerCut, CompressedChunks) {
    cut_flash("flash-compressed-chunks", appending({8, true, 160, 1, 48}), 55100, nor(96, 4));
}
TEST(PowerCut, Rates) { cut_flash("flash-rates", rates(240, 3, false), 53400, nor(64, 4)); }
TEST(PowerCut, Objects) { cut_flash("flash-objects", objects(120, 2, false), 58200, nor(72, 4)); }
TEST(PowerCut, Attributes) { cut_flash("flash-attributes", attributes(116, 2), 69300, nor(56, 4)); }
TEST(PowerCut, Links) { cut_flash("flash-links", links(40, 1, false), 83700, nor(64, 4)); }
TEST(PowerCut, Sessions) { cut_flash("flash-sessions", sessions(7, 40, false, 4), 55700, nor(64, 1)); }
TEST(PowerCut, BadBlocks) {
    FlashCutOptions bad = nor(72, 4);
    bad.bad_every = 7;
    bad.worn_every = 5;
    cut_flash("flash-bad-blocks", appending({2, false, 350}), 56000, bad);
}
TEST(PowerCut, WeakUnits) {
    FlashCutOptions weak = nor(56, 4);
    weak.weak_every = 5;
    cut_flash("flash-weak-units", appending({1, false, 380}), 131100, weak);
}
TEST(PowerCut, Full) {
    FlashCutOptions full = nor(32, 4);
    full.fills_up = true;
    cut_flash("flash-full", filling(false, false), 70700, full);
}
TEST(PowerCut, FullCompressed) {
    FlashCutOptions full = nor(36, 4);
    full.recoveries = 2;
    full.recovery_of = 1024;
    full.fills_up = true;
    cut_flash("flash-full-compressed", filling(true, false), 40000, full);
}
