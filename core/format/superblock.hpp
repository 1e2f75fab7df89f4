// H5F - the superblock. Specification II.A.
//
// versions 2 and 3
//   0  signature \211 HDF \r \n \032 \n          8 bytes
//   8  version 2 or 3 | sizeof offsets | sizeof lengths | file consistency flags
//  12  base address | superblock extension address | end of file address | root group object header address
//      checksum (lookup3 of everything before)      4 bytes
//
// versions 0 and 1
//   0  signature                                    8 bytes
//   8  version | version of free space 0 | version of root group entry 0 | 0 | version of shared header messages 0
//      | sizeof offsets | sizeof lengths | 0
//  16  K of symbol table nodes 2 | K of group B-trees 2 | file consistency flags 4
//      | [version 1: K of chunk B-trees 2 | 0 2]
//      base address | free space address | end of file address | driver information address
//      root group symbol table entry
#pragma once

#include "btree1_node.hpp"

#include <h5mote/context.hpp>

#include <type_traits>

namespace h5mote {

struct Superblock;

/// What only superblocks of other programs have: a base address behind a user block, and the fields of versions 0, 1.
struct ForeignSuperblock {
    Address base = 0;                         ///< base address as recorded: the place of the superblock in the storage
    Address driver_info = kUndefinedAddress;  ///< versions 0 and 1: of the driver information block
    BTreeK btree_k;                           ///< versions 0 and 1, of which 0 does not tell `chunk`
    /// Versions 0 and 1 as they were read: whether the entry of the root group repeats where its symbol table is.
    bool repeats_root_table = false;
    /// Says that it repeats that no longer, and returns whether it did before.
    bool forget_root_table() noexcept {
        const bool repeated = repeats_root_table;
        repeats_root_table = false;
        return repeated;
    }

protected:
    /// Writes a superblock of version 0 or 1. The root group's entry caches nothing, so that it says nothing that a
    /// change of the group makes wrong.
    void encode_old(const Superblock& superblock, Writer& writer) const noexcept;
    /// Takes over what was read. false: this build does not read files that have it.
    bool set_foreign(const ForeignSuperblock& read) noexcept {
        *this = read;
        return true;
    }

public:
    /// Says where the superblock of a new file stands in the storage. false: this build makes no such file.
    bool set_base(std::uint64_t wanted) noexcept {
        base = static_cast<Address>(wanted);
        return base == wanted;
    }
    void set_btree_k(const BTreeK& k) noexcept { btree_k = k; }
    void set_driver_info(Address address) noexcept { driver_info = address; }
};

/// Takes its place in builds without H5MOTE_ALL_FORMATS: constants, which need no memory in an open file.
struct NoForeignSuperblock {
    static constexpr Address base = 0;
    static constexpr Address driver_info = kUndefinedAddress;
    static constexpr BTreeK btree_k{};
    static bool forget_root_table() noexcept { return false; }

protected:
    static void encode_old(const Superblock& /*superblock*/, Writer& /*writer*/) noexcept {}
    static bool set_foreign(const ForeignSuperblock& read) noexcept { return read.base == 0; }

public:
    static bool set_base(std::uint64_t wanted) noexcept { return wanted == 0; }
    static void set_btree_k(const BTreeK& /*k*/) noexcept {}
    static void set_driver_info(Address /*address*/) noexcept {}
};

struct Superblock : std::conditional_t<H5MOTE_ALL_FORMATS != 0, ForeignSuperblock, NoForeignSuperblock> {
    static constexpr std::size_t kSignatureSize = 8;
    static constexpr std::size_t kMinSize = 12 + 4 * 4 + 4;  ///< of a superblock of version 2 or 3
    /// Of version 1; of the others, in builds that read no version 1.
    static constexpr std::size_t kMaxSize = H5MOTE_ALL_FORMATS != 0 ? 28 + 5 * 8 + 8 + 24 : 12 + 4 * 8 + 4;

    FileShape shape;
    std::uint8_t version = 2;
    std::uint8_t flags = 0;  ///< version 3: bit 0 open for writing, bit 2 for single-writer/multiple-reader
    Address extension = kUndefinedAddress;
    Address end_of_file = 0;  ///< counts from the base address in memory, from the start of the storage in the file
    Address root = kUndefinedAddress;

    /// Whether the superblock has version 0 or 1, which only builds with H5MOTE_ALL_FORMATS read.
    bool is_old() const noexcept { return H5MOTE_ALL_FORMATS != 0 && version < 2; }
    std::size_t size() const noexcept {
        return is_old() ? (version == 0 ? 24U : 28U) + 5U * shape.sizeof_addr + shape.sizeof_size + 24U
                        : 12U + 4U * shape.sizeof_addr + 4U;
    }
    /// Whether it has the address of an extension or of a driver information block.
    bool leads_further() const noexcept {
        return H5MOTE_ALL_FORMATS != 0 && (extension != kUndefinedAddress || driver_info != kUndefinedAddress);
    }
    /// The largest end_of_file that can be recorded, as a number that counts from the start of the storage.
    Address most_end() const noexcept { return shape.max_addr() - base; }
    /// Writes size() bytes to `to`, which has room for kMaxSize.
    void encode(std::byte* to) const noexcept;
    /// Reads from the first bytes of a file (kMaxSize, or what the file has). not_hdf5, unsupported, corrupt_file.
    Status decode(Context& context, ConstBytes bytes) noexcept;
};

/// Whether the eight bytes at `bytes` are the signature.
bool is_signature(const std::byte* bytes) noexcept;

}  // namespace h5mote
