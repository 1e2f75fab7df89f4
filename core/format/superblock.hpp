// H5F - the superblock, versions 2 and 3. Specification II.A.
//
//   0  signature \211 HDF \r \n \032 \n          8 bytes
//   8  version 2 or 3 | sizeof offsets | sizeof lengths | file consistency flags
//  12  base address | superblock extension address | end of file address | root group object header address
//      checksum (lookup3 of everything before)      4 bytes
#pragma once

#include "file_shape.hpp"

#include <h5mote/context.hpp>

namespace h5mote {

struct Superblock {
    static constexpr std::size_t kSignatureSize = 8;
    static constexpr std::size_t kMinSize = 12 + 4 * 4 + 4;  ///< of one that we write
    static constexpr std::size_t kMaxSize = 12 + 4 * 8 + 4;
    static constexpr std::uint8_t kWriteAccess = 1;      ///< version 3: open for writing
    static constexpr std::uint8_t kSwmrWriteAccess = 4;  ///< version 3: open for single-writer/multiple-reader

    FileShape shape;
    std::uint8_t version = 2;
    std::uint8_t flags = 0;
    Address extension = kUndefinedAddress;
    Address end_of_file = 0;
    Address root = kUndefinedAddress;

    std::size_t size() const noexcept { return 12U + 4U * shape.sizeof_addr + 4U; }
    /// Writes size() bytes to `to`, which has room for kMaxSize.
    void encode(std::byte* to) const noexcept;
    /// Reads from the first bytes of a file (kMaxSize, or what the file has). not_hdf5, unsupported, corrupt_file.
    Status decode(Context& context, ConstBytes bytes) noexcept;
};

/// Whether the eight bytes at `bytes` are the signature.
bool is_signature(const std::byte* bytes) noexcept;

}  // namespace h5mote
