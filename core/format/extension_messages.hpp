// H5F H5O - messages of the superblock extension, and the driver information block of superblocks 0 and 1.
// Specification II.B, IV.A.2.p, t, u, x.
#pragma once

#include "btree1_node.hpp"
#include "message_type.hpp"

#include <string_view>

namespace h5mote {

/// version 0 | half the width of B-trees of chunks 2 | of B-trees of groups 2 | of symbol table nodes 2
struct BTreeKMessage {
    /// false: damaged. All decode() below return the same.
    static bool decode(ConstBytes body, BTreeK& k) noexcept;
    static void encode(Writer& writer, const BTreeK& k) noexcept;
};

/// version 0 | address of the master table O | number of indexes 1
struct SharedTableMessage {
    static constexpr unsigned kMaxIndexes = 8;

    /// `table` becomes the address of the master table, `indexes` the number of indexes.
    static bool decode(FileShape shape, ConstBytes body, Address& table, std::uint8_t& indexes) noexcept;
    /// Where the address is in the message.
    static constexpr std::size_t kTableOffset = 1;
    static void encode(FileShape shape, Writer& writer, Address table, std::uint8_t indexes) noexcept;
};

/// version 0 | name 8 | bytes of the information 2 | information
struct DriverInfoMessage {
    static constexpr std::size_t kNameSize = 8;

    ConstBytes name;  ///< not terminated
    ConstBytes info;

    bool decode(ConstBytes body) noexcept;
    /// Writes the message. The information is shorter than 64 KiB.
    void encode(Writer& writer) const noexcept;
};

/// The block in old files that has the same: version 0 | 0 3 | bytes of the information 4 | name 8 | information
struct DriverInfoBlock {
    static constexpr std::size_t kPrefixSize = 16;

    std::uint32_t size = 0;  ///< bytes of the information
    ConstBytes name;

    /// Reads kPrefixSize bytes.
    bool decode(ConstBytes prefix) noexcept;
    /// Writes kPrefixSize bytes.
    void encode(Writer& writer) const noexcept;
};

/// version 0 | address O | bytes L
struct CacheImageMessage {
    Address address = kUndefinedAddress;
    Address size = 0;

    bool decode(FileShape shape, ConstBytes body) noexcept;
};

/// What every file space info message begins with: how the file uses its free space.
struct FileSpaceStrategy {
    static constexpr std::uint8_t kPages = 1;  ///< of version 1

    std::uint8_t version = 1;
    std::uint8_t strategy = 0;  ///< numbered differently in version 0
    bool persistent = false;    ///< the file keeps a record of its free space

    bool decode(ConstBytes body) noexcept;
};

/// version 1 | strategy 1 | persistent 1 | least bytes of a section L | page size L | least bytes at a page's end 2
/// | end of the file at the last close O | persistent: addresses of free-space managers, 12 times O
/// version 0 | strategy 1, where 1 is persistent | least bytes of a section L | addresses of managers, 6 times O
/// Padding may stand in place of the addresses if free space is not persistent.
struct FileSpaceInfoMessage : FileSpaceStrategy {
    static constexpr unsigned kMaxManagers = 12;
    static constexpr unsigned kOldManagers = 6;  ///< of version 0

    std::uint64_t threshold = 1;  ///< smaller free sections are not kept track of
    std::uint64_t page_size = 0;  ///< version 1
    /// Version 1: the last section of a page with metadata is not kept track of if it is no larger. Other libraries
    /// write 0. This one writes kIncomplete where the managers do not have all that is free.
    std::uint16_t least_page_end = 0;
    /// Version 1: where the managers of metadata begin when the file is closed, or its end if there are none, or if it
    /// has them elsewhere; undefined: it was not closed.
    Address end = kUndefinedAddress;
    ConstBytes managers;

    static constexpr std::uint16_t kIncomplete = 1;
    /// The offset in version 1 of `least_page_end`, behind which the end follows, and then the addresses of the
    /// managers.
    static std::size_t page_end_offset(FileShape shape) noexcept { return 3U + 2U * shape.sizeof_size; }
    static std::size_t end_offset(FileShape shape) noexcept { return page_end_offset(shape) + 2U; }
    /// The offset in this version of the first address, from which on all bytes are addresses.
    std::size_t addresses_offset(FileShape shape) const noexcept {
        return version == 0 ? 2U + shape.sizeof_size : end_offset(shape);
    }
    /// The size of a message of this version that names managers.
    std::size_t persistent_size(FileShape shape) const noexcept {
        const unsigned addresses = version == 0 ? kOldManagers : 1 + kMaxManagers;
        return addresses_offset(shape) + std::size_t{addresses} * shape.sizeof_addr;
    }
    /// Turns what version 0 says into what version 1 says of a file with the same strategy, without the managers.
    /// false: there is no such strategy.
    bool renew() noexcept;
    bool decode(FileShape shape, ConstBytes body) noexcept;
    /// Writes version 1 with all addresses undefined.
    void encode(FileShape shape, Writer& writer) const noexcept;
    /// Address of the manager with that number; undefined: there is none.
    Address manager(FileShape shape, unsigned i) const noexcept;
    /// Where a tail of the file begins that has managers and nothing else: libhdf5 1.10 cuts it off before it changes
    /// anything. undefined: the file has none.
    Address tail(FileShape shape, Address end_of_file) const noexcept;
};

}  // namespace h5mote
