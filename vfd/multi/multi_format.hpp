// H5FD_multi - the superblock's driver information "NCSAmult" of a file in several parts:
//
//   6  part of each usage, counted from 1; 0 stands for the usage itself
//   2  zero
//   8  address of the first byte  | for every part, in the order
//   8  bytes it holds             | of the first usage that each serves
//   -  name, ended by zero and padded with zeros to a multiple of 8, again for every part
#pragma once

#include <h5mote/vfd/multi.hpp>

namespace h5mote {

inline constexpr std::uint64_t kHighestAddress = ~std::uint64_t{0} - 1;  // HADDR_MAX of libhdf5

/// The order in which the parts stand in the information.
struct PartOrder {
    std::uint8_t parts[kMostParts];
    unsigned count = 0;
};

/// The parts of a map all of whose numbers are below kMostParts.
PartOrder order_of(const std::uint8_t (&map)[kMostParts]) noexcept;
/// The offset in the information at which the size of the part stands that is number `i` in the order.
constexpr std::uint32_t size_place(unsigned i) noexcept { return 8 + 16 * i + 8; }

/// Decodes the information. Names point into it. Sizes go to `sizes`. false: it makes no sense.
bool decode(ConstBytes info, MultiLayout& layout, std::uint64_t (&sizes)[kMostParts]) noexcept;
/// Encodes the layout of a file whose parts are empty. Returns the number of bytes; 0: they do not fit in `to`.
std::size_t encode(const MultiLayout& layout, Bytes to) noexcept;

}  // namespace h5mote
