// H5T - datatypes from a file, checked; and preparing a conversion as far as this build has any.
#pragma once

#include "conversion.hpp"
#include "datatype_message.hpp"

namespace h5mote {

/// Views the datatype message at the start of `body`, which comes from a file. corrupt_file, unsupported.
inline Status view_datatype(Context& context, ConstBytes body, DatatypeView& type) noexcept {
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = validate_datatype(body, length, feature);
    if (status != Status::ok) {
        return context.fail(Module::datatype, __LINE__, status, 0, static_cast<std::uint64_t>(feature));
    }
    type = DatatypeView(body.first(length));
    return Status::ok;
}

/// Conversion::prepare(), or in builds without conversion: identical types only, else unsupported.
inline Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from,
                                 DatatypeView to) noexcept {
#if H5MOTE_CONVERSION
    return conversion.prepare(context, from, to);
#else
    return conversion.prepare_identical(from, to) == Status::ok
               ? Status::ok
               : context.unsupported(Module::datatype, __LINE__, Feature::type_conversion);
#endif
}

}  // namespace h5mote
