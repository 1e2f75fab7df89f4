#include "supported.hpp"

#include "datatype_message.hpp"

#include <h5mote/variable_length.hpp>

namespace h5mote {

MemberShape::MemberShape(DatatypeView type) noexcept : element(type) {
    if (type.type_class() == TypeClass::array) {
        element = type.base();
        dimensions = type.dimension_bytes();
    }
}

MemberShape::MemberShape(const CompoundMember& member) noexcept : element(member.type), dimensions(member.dimensions) {
    if (dimensions.empty()) {
        *this = MemberShape(member.type);
    }
}

bool is_plain(DatatypeView type) noexcept {
    switch (type.type_class()) {
        case TypeClass::variable_length:
        case TypeClass::none:
            return false;
        case TypeClass::array:
            return is_plain(type.base());
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                if (!is_plain(member.type)) {
                    return false;
                }
            }
            return true;
        }
        default:
            return true;
    }
}

bool is_memory_type(DatatypeView type) noexcept {
    switch (type.type_class()) {
        case TypeClass::variable_length:
            return type.is_variable_string() ? type.size() == sizeof(char*)
                                             : type.size() == sizeof(VariableLength) && is_memory_type(type.base());
        case TypeClass::array:
            return is_memory_type(type.base());
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                if (!is_memory_type(member.type)) {
                    return false;
                }
            }
            return true;
        }
        default:
            return true;
    }
}

Status check_storable(Context& context, DatatypeView type) noexcept {
    std::size_t length = 0;
    Feature feature = Feature::datatype_class;
    const Status status = validate_datatype(type.bytes(), length, feature);
    const auto type_class = static_cast<std::uint32_t>(type.type_class());
    constexpr bool kWritesAll = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;
    if (kWritesAll && status == Status::ok && !is_plain(type) && context.formats().variable_length_changes != nullptr) {
        return length == type.encoded_length() && is_memory_type(type)
                   ? Status::ok
                   : context.fail(Module::datatype, H5MOTE_HERE, Status::invalid_argument, type_class);
    }
    if (status == Status::unsupported || (status == Status::ok && !is_plain(type))) {
        return context.unsupported(Module::datatype, H5MOTE_HERE, feature, type_class);
    }
    return status == Status::ok && length == type.encoded_length()
               ? Status::ok
               : context.fail(Module::datatype, H5MOTE_HERE, Status::invalid_argument, type_class);
}

Status parse_datatype(Context& context, ConstBytes message, DatatypeView& view) noexcept {
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = validate_datatype(message, length, feature);
    if (status != Status::ok) {
        const std::uint32_t head = message.empty() ? 0 : static_cast<std::uint32_t>(message[0]);
        return context.fail(Module::datatype, H5MOTE_HERE, status, head, static_cast<std::uint64_t>(feature));
    }
    view = DatatypeView{message.first(length)};
    return Status::ok;
}

}  // namespace h5mote
