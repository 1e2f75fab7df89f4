// H5T - preparing a conversion as far as this build has any.
#pragma once

#include "conversion.hpp"
#include "supported.hpp"

namespace h5mote {

/// Views the datatype message at the start of `body`, which comes from a file: parse_datatype(). Builds without
/// conversion compare types byte for byte and need no more than a size: they do not look further.
Status view_datatype(Context& context, ConstBytes body, DatatypeView& type) noexcept;

/// Conversion::prepare(), or in builds without conversion: identical types only, else unsupported.
Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to,
                          const FileValues& file = {}) noexcept;

}  // namespace h5mote
