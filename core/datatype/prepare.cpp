#include "prepare.hpp"

#include "supported.hpp"

namespace h5mote {

Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to) noexcept {
#if H5MOTE_CONVERSION
    return conversion.prepare(context, from, to);
#else
    return conversion.prepare_identical(from, to) == Status::ok
               ? Status::ok
               : context.unsupported(Module::datatype, __LINE__, Feature::type_conversion);
#endif
}

}  // namespace h5mote
