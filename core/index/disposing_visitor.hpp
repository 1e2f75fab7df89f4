// H5B H5B2 H5HL - gives the blocks of a structure that is deleted to a Disposal.
#pragma once

#include "block_visitor.hpp"
#include "disposal.hpp"

namespace h5mote {

/// Whoever walks a structure with it must not read a block again after it was shown.
class DisposingVisitor final : public BlockVisitor {
public:
    explicit DisposingVisitor(Disposal& disposal) noexcept : disposal_(disposal) {}
    Status block(BlockKind /*kind*/, Address address, Address size) noexcept override {
        return disposal_.give(address, size);
    }

private:
    Disposal& disposal_;
};

}  // namespace h5mote
