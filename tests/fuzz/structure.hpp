// Shared by the fuzz targets of heaps and indexes: an input is a file with one structure, and how to read it.
//
//   0   1 byte: bit 0: offsets have 8 bytes instead of 4; bit 1: lengths have 8 bytes instead of 4
//   1   1 byte: a parameter of the target
//   2   6 bytes: address of the structure
//   8   the file; a superblock is written over its first bytes
#pragma once

#include "../reading/all_filters.hpp"
#include "block_visitor.hpp"
#include "file_state.hpp"
#include "repair.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace h5mote_fuzz {

using namespace h5mote;

/// Defined by the target: reads the structure at `address` in every way. `parameter`: a byte of the input.
void examine(FileState& file, Address address, unsigned parameter) noexcept;

/// Counts the blocks of a structure. If there are many more of them than bytes in the file, the library visits blocks
/// repeatedly, which is an error.
class Blocks final : public BlockVisitor {
public:
    explicit Blocks(FileState& file) noexcept : left_(4 * file.space.end() + 64) {}
    Status block(BlockKind /*kind*/, Address /*address*/, Address /*size*/) noexcept override {
        if (left_-- == 0) {
            fail();
        }
        return Status::ok;
    }

private:
    Address left_;
};

/// Reads every byte of a window (up to 64 KiB), in pieces.
inline void read_all(MetadataWindow& window) noexcept {
    std::uint32_t sum = 0;
    for (Address at = 0; at < window.size() && at < 65536;) {
        ConstBytes piece;
        if (window.peek(at, piece) != Status::ok) {
            break;
        }
        for (const std::byte each : piece) {
            sum += static_cast<std::uint32_t>(each);
        }
        at += piece.size();
    }
    volatile std::uint32_t used = sum;
    (void)used;
}

inline constexpr std::size_t kStructureHead = 8;

/// Writes a superblock over the beginning of the file. `shape`: the first byte of the input.
inline void put_superblock(Bytes file, unsigned shape) noexcept {
    Superblock superblock;
    superblock.shape.sizeof_addr = (shape & 1U) != 0 ? 8 : 4;
    superblock.shape.sizeof_size = (shape & 2U) != 0 ? 8 : 4;
    superblock.end_of_file = file.size();
    superblock.root = 0;
    std::byte bytes[Superblock::kMaxSize];
    superblock.encode(bytes);
    std::memcpy(file.data(), bytes, superblock.size());
}

bool play(Bytes input, bool repair) noexcept {
    if (input.size() < kStructureHead + Superblock::kMaxSize) {
        return false;
    }
    alignas(16) static std::byte memory[32 * 1024];
    // A copy of exactly the file's size, so that the sanitizer notices reads beyond its end.
    std::vector<std::byte> image(input.begin() + kStructureHead, input.end());
    put_superblock({image.data(), image.size()}, std::to_integer<unsigned>(input[0]));
    Arena arena{memory};
    NullPort port;
    Library library(arena, port, h5mote_test::kAllFilters);
    MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
    {
        FileState file(library, driver);
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 2048;
        if (file.open(access) == Status::ok && file.finish_open(access) == Status::ok) {
            examine(file, narrow(load_uint(input.data() + 2, 6)), std::to_integer<unsigned>(input[1]));
        }
        file.abandon();
    }
    if (arena.usage().now != 0 || !arena.check()) {
        fail();
    }
    return repair && Repair(input.subspan(kStructureHead)).reported(library.trail());
}

void repair_superblock(Bytes input) noexcept {
    if (input.size() >= kStructureHead + Superblock::kMaxSize) {
        put_superblock(input.subspan(kStructureHead), std::to_integer<unsigned>(input[0]));
    }
}

}  // namespace h5mote_fuzz
