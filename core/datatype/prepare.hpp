// H5T - preparing a conversion as far as this build has any.
#pragma once

#include "conversion.hpp"
#include "supported.hpp"

namespace h5mote {

/// Conversion::prepare(), or in builds without conversion: identical types only, else unsupported.
Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to) noexcept;

}  // namespace h5mote
