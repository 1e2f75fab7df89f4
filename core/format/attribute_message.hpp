// H5A - the attribute message and the attribute info message. Specification IV.A.2.m, v.
#pragma once

#include "info_fields.hpp"
#include "message_type.hpp"

namespace h5mote {

/// version 3 | flags: 1 shared type, 2 shared space | name size 2 | type size 2 | space size 2 | charset | name\0 |
/// type | space | data
struct AttributeMessage {
    ConstBytes name;  ///< without the terminating zero
    ConstBytes type;
    ConstBytes space;
    ConstBytes data;

    Status decode(Context& context, ConstBytes body) noexcept;
    /// Writes all but the dataspace, of `space_size` bytes, and the data: the caller appends both. `space` and `data`
    /// are not used.
    void encode(Writer& writer, std::size_t space_size) const noexcept;
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
