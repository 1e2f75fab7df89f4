#include <h5mote/datatype.hpp>

#include "supported.hpp"

#include <cstring>

namespace h5mote {
namespace {

bool same_bytes(ConstBytes a, ConstBytes b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Compares bit field, size and properties, that is everything but the version and bits without a meaning.
bool same_fields(DatatypeView a, DatatypeView b) {
    const TypeClass type = a.type_class();
    if (type != TypeClass::integer && type != TypeClass::bitfield && type != TypeClass::floating) {
        return same_bytes(a.bytes().subspan(1), b.bytes().subspan(1));
    }
    const std::byte known{static_cast<unsigned char>(type == TypeClass::floating  ? 0x3f
                                                     : type == TypeClass::integer ? 0x0f
                                                                                  : 0x07)};
    return a.order() == b.order() && ((a.bytes()[1] ^ b.bytes()[1]) & known) == std::byte{0} &&
           (type != TypeClass::floating || a.bytes()[2] == b.bytes()[2]) &&
           same_bytes(a.bytes().subspan(4), b.bytes().subspan(4));
}

// Whether no two members of a compound or enumeration have the same name. In a damaged file they may; then members
// cannot be matched by name.
template <typename Members, typename Member, typename Find>
bool unique_names(DatatypeView type, Find find) noexcept {
    Members walk(type);
    Member member;
    Member first;
    while (walk.next(member)) {
        if (!(type.*find)(member.name, first) || first.name.data() != member.name.data()) {
            return false;
        }
    }
    return true;
}

// unique_members() and same_enumeration() are not inlined: they do not recurse, so they must not enlarge the stack
// frames of the functions that do.
[[gnu::noinline]] bool unique_members(DatatypeView type) noexcept {
    return type.type_class() == TypeClass::compound
               ? unique_names<CompoundMembers, CompoundMember>(type, &DatatypeView::find_member)
               : unique_names<EnumMembers, EnumMember>(type, &DatatypeView::find_enum_name);
}

[[gnu::noinline]] bool same_enumeration(DatatypeView a, DatatypeView b) {
    EnumMembers walk_a(a);
    EnumMembers walk_b(b);
    EnumMember of_a;
    EnumMember of_b;
    bool ordered = true;
    while (walk_a.next(of_a)) {
        // Usually the names of both types are in the same order.
        (void)walk_b.next(of_b);
        const bool same_name = of_a.name == of_b.name;
        ordered = ordered && same_name;
        if ((!same_name && !b.find_enum_name(of_a.name, of_b)) || !same_bytes(of_a.value, of_b.value)) {
            return false;
        }
    }
    return (ordered || (unique_members(a) && unique_members(b))) && equal(a.base(), b.base());
}

bool same_compound(DatatypeView a, DatatypeView b) {
    CompoundMembers walk_a(a);
    CompoundMembers walk_b(b);
    CompoundMember of_a;
    CompoundMember of_b;
    bool ordered = true;
    while (walk_a.next(of_a)) {
        (void)walk_b.next(of_b);
        const bool same_name = of_a.name == of_b.name;
        ordered = ordered && same_name;
        if ((!same_name && !b.find_member(of_a.name, of_b)) || of_a.offset != of_b.offset) {
            return false;
        }
        const MemberShape shape_a(of_a);
        const MemberShape shape_b(of_b);
        if (!same_bytes(shape_a.dimensions, shape_b.dimensions) || !equal(shape_a.element, shape_b.element)) {
            return false;
        }
    }
    return ordered || (unique_members(a) && unique_members(b));
}

}  // namespace

bool contains_class(DatatypeView type, TypeClass type_class) noexcept {
    if (type.type_class() == type_class) {
        return true;
    }
    switch (type.type_class()) {
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                if (contains_class(member.type, type_class) ||
                    (type_class == TypeClass::array && !member.dimensions.empty())) {
                    return true;
                }
            }
            return false;
        }
        case TypeClass::array:
        case TypeClass::variable_length:
        case TypeClass::enumeration:
        case TypeClass::complex:
            return !type.is_variable_string() && contains_class(type.base(), type_class);
        default:
            return false;
    }
}

unsigned type_depth(DatatypeView type) noexcept {
    unsigned inner = 0;
    switch (type.type_class()) {
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                const unsigned depth = type_depth(member.type) + (member.dimensions.empty() ? 0 : 1);
                inner = depth > inner ? depth : inner;
            }
            return inner + 1;
        }
        case TypeClass::array:
        case TypeClass::variable_length:
            return type_depth(type.base()) + 1;
        default:
            return 0;
    }
}

bool identical_layout(DatatypeView a, DatatypeView b) noexcept { return same_bytes(a.bytes(), b.bytes()); }

bool equal(DatatypeView a, DatatypeView b) noexcept {
    if (identical_layout(a, b)) {
        return true;
    }
    const TypeClass type = a.type_class();
    if (type != b.type_class() || a.size() != b.size() || a.member_count() != b.member_count()) {
        return false;
    }
    switch (type) {
        case TypeClass::compound:
            return same_compound(a, b);
        case TypeClass::enumeration:
            return same_enumeration(a, b);
        case TypeClass::array:
            return same_bytes(a.dimension_bytes(), b.dimension_bytes()) && equal(a.base(), b.base());
        case TypeClass::opaque:
            return a.tag() == b.tag();
        case TypeClass::variable_length:
            // Padding and character set of variable-length strings are not looked at.
            return a.is_variable_string() == b.is_variable_string() && equal(a.base(), b.base());
        case TypeClass::complex:
            return same_bytes(a.bytes().subspan(1, 3), b.bytes().subspan(1, 3)) && equal(a.base(), b.base());
        default:
            return same_fields(a, b);
    }
}

}  // namespace h5mote
