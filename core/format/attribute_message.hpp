// H5A - the attribute message and the attribute info message. Specification IV.A.2.m, v.
#pragma once

#include "info_fields.hpp"
#include "message_type.hpp"

namespace h5mote {

/// The character set that a message states for the name: by default UTF-8 if the name is not ASCII.
struct ChosenNameSet {
    static constexpr std::uint8_t kByName = 0xff;
    std::uint8_t name_set = kByName;
    void set_name_set(std::uint8_t set) noexcept { name_set = set; }
};
/// Takes its place in builds without H5MOTE_ALL_FORMATS, where nothing chooses another one.
struct NameSetByName {
    static constexpr std::uint8_t kByName = 0xff;
    static constexpr std::uint8_t name_set = kByName;
    static void set_name_set(std::uint8_t /*set*/) noexcept {}
};

/// version 3 | flags: 1 shared type, 2 shared space | name size 2 | type size 2 | space size 2 | charset | name\0 |
/// type | space | data
/// Such messages are written: version 3, with no other part shared than a committed datatype. Builds with
/// H5MOTE_ALL_FORMATS read the older versions, too.
struct AttributeMessage : std::conditional_t<H5MOTE_ALL_FORMATS != 0, ChosenNameSet, NameSetByName> {
    ConstBytes name;  ///< without the terminating zero
    ConstBytes type;
    ConstBytes space;
    ConstBytes data;

    Status decode(Context& context, ConstBytes body) noexcept;
    /// Writes all but the dataspace, of `space_size` bytes, and the data: the caller appends both. `space` and `data`
    /// are not used.
    void encode(Writer& writer, std::size_t space_size, std::uint8_t flags) const noexcept;

private:
    Status decode_old(Context& context, ConstBytes body) noexcept;
};

/// The parts of an attribute message of any version: their offsets in the message and their sizes. Version 2 is without
/// charset, version 1 also without flags, and pads each part to a multiple of 8.
struct AttributeParts {
    static constexpr std::size_t kHeadSize = 9;
    static constexpr std::uint8_t kSharedType = 1;
    static constexpr std::uint8_t kSharedSpace = 2;

    std::uint8_t flags = 0;
    std::uint8_t character_set = 0;
    std::uint16_t name_size = 0;  ///< terminator included
    std::uint16_t type_size = 0;
    std::uint16_t space_size = 0;
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint32_t space = 0;
    std::uint32_t data = 0;

    /// Whether datatype or dataspace of the message in `body` are shared, without decoding the rest; false for a
    /// damaged one.
    static bool are_shared(ConstBytes body) noexcept {
        return body.size() > 1 && body[0] > std::byte{1} &&
               (body[1] & std::byte{kSharedType | kSharedSpace}) != std::byte{0};
    }
    /// `head` is the start of a message of `length` bytes: kHeadSize of them, or all if there are fewer.
    Status decode(Context& context, ConstBytes head, Address length) noexcept;
};

/// version 0 | flags: 1 order tracked, 2 indexed | [next order 2] | heap address | name index | [order index]
struct AttributeInfoMessage {
    std::uint8_t flags = 0;
    std::uint16_t max_order = 0;
    bool dense = false;
    DenseStorage storage;
    static constexpr std::size_t kOrderOffset = 2;

    Status decode(Context& context, FileShape shape, ConstBytes body) noexcept;
    void encode(Writer& writer, FileShape shape) const noexcept;
};

}  // namespace h5mote
