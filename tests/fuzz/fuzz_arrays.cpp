// Fuzzes fixed and extensible arrays: reads elements one by one, block by block, and far beyond the end.
#include "extensible_array.hpp"
#include "fixed_array.hpp"
#include "structure.hpp"

namespace h5mote_fuzz {
namespace {

template <typename Array>
void look(FileState& file, Array& array, Address end) noexcept {
    ChunkLocation location;
    Address next = 0;
    for (unsigned i = 0; i < 256 && next < end; ++i) {
        ElementBlock block;
        if (array.block_of(next, block) != Status::ok) {
            break;
        }
        if (!block.holds(next)) {
            fail();
        }
        if (block.address == kUndefinedAddress) {
            next = block.first + block.count;
            continue;
        }
        (void)load_element(file, block, array.element, next, location);
        (void)load_element(file, block, array.element, block.first + block.count - 1, location);
        ++next;
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
        (void)array.find(Address{1} << bit, location);
        ElementBlock block;
        const Address index = (Address{1} << bit) - 1;
        if (array.block_of(index, block) == Status::ok && !block.holds(index)) {
            fail();
        }
    }
}

}  // namespace

void examine(FileState& file, Address address, unsigned parameter) noexcept {
    const auto width = static_cast<std::uint8_t>((parameter >> 1) % 9);
    std::uint64_t bytes = 0;
    if ((parameter & 0x80U) == 0) {
        FixedArray array;
        if (array.open(file, address, width) == Status::ok) {
            look(file, array, array.size());
            (void)array.space(bytes);
        }
    } else {
        ExtensibleArray array;
        if (array.open(file, address, width) == Status::ok) {
            std::uint64_t elements = 0;
            look(file, array, kUndefinedAddress);
            (void)array.facts(elements, bytes);
        }
    }
}

}  // namespace h5mote_fuzz
