// H5O - the external file list message. Specification IV.A.2.h.
#pragma once

#include "message_type.hpp"

namespace h5mote {

/// version 1 | 0 3 | allocated slots 2 | used slots 2 | address of a local heap O
/// | per slot: offset of the name in the heap L, of the data in the file L, size L
struct ExternalFilesMessage {
    static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
    struct Slot {
        Address name = 0;          ///< offset in the heap
        std::uint64_t offset = 0;  ///< of the data in the external file
        std::uint64_t size = 0;    ///< bytes of it; kToTheEnd: no limit
    };

    Address heap = kUndefinedAddress;
    std::uint16_t slots = 0;

    /// Bytes of the fixed part of the message, and of each slot behind it.
    static std::size_t head_size(FileShape shape) noexcept { return 8U + shape.sizeof_addr; }
    static std::size_t slot_size(FileShape shape) noexcept { return 3U * shape.sizeof_size; }
    /// `head` is the fixed part of a message of `length` bytes.
    Status decode(Context& context, FileShape shape, ConstBytes head, Address length) noexcept;
    static Slot slot(FileShape shape, ConstBytes bytes) noexcept;
};

}  // namespace h5mote
