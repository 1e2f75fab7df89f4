// H5G H5L - the link message and the link info message. Specification IV.A.2.c, g.
#pragma once

#include "info_fields.hpp"
#include "message_type.hpp"

#include <h5mote/link_type.hpp>

namespace h5mote {

/// version 0 | flags: 1 order tracked, 2 order indexed | [next creation order 8] | heap address | name index address
/// | [order index address]
struct LinkInfoMessage {
    std::uint8_t flags = 0;
    std::uint64_t max_order = 0;  ///< creation order of the next link

    /// Whether the links are in dense storage. That is no error here, not even in a build that cannot read it.
    bool dense = false;
    DenseStorage storage;
    /// Offset of the next creation order in the body.
    static constexpr std::size_t kOrderOffset = 2;

    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
};

/// version 1 | flags: bits 0-1 log2 of the name length's width, 2 order present, 3 type present, 4 charset present
/// | [type] | [order 8] | [charset] | name length | name | hard: address; soft: length 2, path
struct LinkMessage {
    LinkType type = LinkType::hard;
    bool has_order = false;
    bool keeps_set = false;  ///< encode() writes `character_set`; otherwise it writes UTF-8 for names beyond ASCII
    std::uint8_t character_set = 0;
    std::uint64_t order = 0;
    ConstBytes name;
    Address address = kUndefinedAddress;  ///< hard
    ConstBytes target;                    ///< soft link: the path; external and user-defined links: their data

    /// The character set is what the message says.
    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
    void keep_set(std::uint8_t set) noexcept {
        keeps_set = true;
        character_set = set;
    }
    /// Whether the message in `body` has that name, without decoding the rest; false for a damaged one.
    static bool has_name(ConstBytes body, ConstBytes name) noexcept;
};

}  // namespace h5mote
