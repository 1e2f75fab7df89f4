#include "prepare.hpp"

#include "supported.hpp"

namespace h5mote {

Status view_datatype(Context& context, ConstBytes body, DatatypeView& type) noexcept {
    if constexpr (H5MOTE_CONVERSION != 0) {
        return parse_datatype(context, body, type);
    } else {
        if (body.size() < 8 || DatatypeView(body).size() == 0) {
            return context.fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file);
        }
        type = DatatypeView(body);
        return Status::ok;
    }
}

Status StoredType::assign_sequences() noexcept {
    if (!contains_class(view_, TypeClass::variable_length)) {
        return Status::ok;
    }
    const VariableLengthFormat* const changes = file_.context.formats().variable_length_changes;
    if (changes == nullptr) {
        return file_.context.unsupported(Module::datatype, H5MOTE_HERE, Feature::datatype_class,
                                         static_cast<std::uint32_t>(TypeClass::variable_length));
    }
    H5MOTE_TRY(changes->file_type(file_, view_, own_));
    view_ = DatatypeView(own_);
    return Status::ok;
}

Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to,
                          const FileValues& file) noexcept {
    if (can_convert(context)) {
        return context.formats().conversion->prepare(conversion, context, from, to, file);
    }
    return conversion.prepare_identical(from, to) == Status::ok
               ? Status::ok
               : context.unsupported(Module::datatype, H5MOTE_HERE, Feature::type_conversion);
}

}  // namespace h5mote
