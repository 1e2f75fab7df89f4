// H5O - the fill value message. Specification IV.A.2.e, f.
#pragma once

#include "message_type.hpp"

namespace h5mote {

/// version 3 | flags: bits 0-1 allocation time, 2-3 write time, 4 undefined, 5 value present | [size 4 | value]
/// version 1, 2 | allocation time | write time | defined | [size 4 | value], in version 2 only if defined
/// The old message: size 4 | value.
struct FillValueMessage {
    std::uint8_t allocation_time = 3;
    std::uint8_t write_time = 2;
    bool undefined = false;
    ConstBytes value;  ///< one element in the file's datatype; empty: zeros

    Status decode(Context& context, ConstBytes body) noexcept;
    /// The body of a MessageType::fill_value_old.
    Status decode_old(Context& context, ConstBytes body) noexcept;
    void encode(Writer& writer) const noexcept;
};

}  // namespace h5mote
