// H5T - preparing conversions, in builds with and without conversion code.
#pragma once

#include "conversion.hpp"
#include "supported.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// Views the datatype message at the start of `body`, which comes from a file, as parse_datatype() does. Builds without
/// conversion only compare types byte for byte, and check here only that the type has a size.
Status view_datatype(Context& context, ConstBytes body, DatatypeView& type) noexcept;

/// What converts values, for programs that name formats::conversion.
struct ConversionFormat {
    /// Conversion::prepare().
    Status (*prepare)(Conversion& conversion, Context& context, DatatypeView from, DatatypeView to,
                      const FileValues& file);
};

/// Conversion::prepare(), or in programs without formats::conversion: identical types only, else unsupported.
Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to,
                          const FileValues& file = {}) noexcept;

}  // namespace h5mote
