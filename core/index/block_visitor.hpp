// H5B H5B2 H5HF H5HL - the visitor that is shown the blocks of a B-tree or heap: to add up bytes, to find overlaps.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/status.hpp>

#include <cstdint>

namespace h5mote {

enum class BlockKind : std::uint8_t {
    btree1_node,
    symbol_node,
    btree2_header,
    btree2_node,
    local_heap_header,
    local_heap_data,
    fractal_heap_header,
    direct_block,
    indirect_block,
    huge_object,
    free_space_header,
    free_space_sections,
};

/// Is called once for every block of a structure. When block() returns anything but ok, the walk ends and returns that.
class BlockVisitor {
public:
    virtual Status block(BlockKind kind, Address address, Address size) noexcept = 0;

protected:
    BlockVisitor() = default;
    ~BlockVisitor() = default;
};

/// Counts the blocks and adds up their bytes.
class BlockSum final : public BlockVisitor {
public:
    Status block(BlockKind, Address, Address size) noexcept override {
        ++blocks;
        bytes += size;
        return Status::ok;
    }

    std::uint64_t blocks = 0;
    Address bytes = 0;
};

}  // namespace h5mote
