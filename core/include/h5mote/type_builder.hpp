// H5T - datatypes that are known only at run time, built in memory of the caller.
//
// Datatypes known at compile time come from encoded_type.hpp and compound.hpp, and need neither memory nor code. The
// bytes of both are the same.
#pragma once

#include <h5mote/datatype.hpp>
#include <h5mote/encoded_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace h5mote {

namespace detail {

template <typename T, bool = std::is_enum_v<T>>
struct IsSigned : std::is_signed<T> {};
template <typename T>
struct IsSigned<T, true> : std::is_signed<std::underlying_type_t<T>> {};

}  // namespace detail

/// Writes one datatype message into a buffer of the caller:
///
///     std::byte memory[200];
///     TypeBuilder row(memory);
///     H5MOTE_TRY(row.compound(12));
///     H5MOTE_TRY(row.member("t", 0, datatype_of<std::uint64_t>()));
///     H5MOTE_TRY(row.member("x", 8, datatype_of<float>()));
///     group.create_dataset("log", row.type(), Dataspace::unlimited(), create);
///
/// Every function that begins a type replaces what was built before. A type that is passed as a part of another one is
/// copied, so that its own buffer can be used again; it must be as DatatypeView requires. Nested types are built from
/// the innermost on, each in a buffer of its own or as a constant of encoded_type.hpp.
///
/// After an error type() is what it was before. over_budget: the buffer is too small. invalid_argument, overflow,
/// already_exists, type_mismatch: as each function says. unsupported: nested deeper than H5MOTE_MAX_TYPE_DEPTH, as
/// type_depth() counts.
class TypeBuilder {
public:
    /// The buffer is borrowed for as long as the type is used. A number takes 12 to 20 bytes of it. A compound takes 8
    /// bytes, and for each member the bytes of its type, its name with a NUL, and 1 to 4 bytes.
    explicit TypeBuilder(Bytes buffer) noexcept : buffer_(buffer) {}
    TypeBuilder(const TypeBuilder&) = delete;
    TypeBuilder& operator=(const TypeBuilder&) = delete;

    /// The type that was built. It is empty before anything was built, and for a compound or enumeration before its
    /// first member. Borrows the buffer; the next call of the builder changes it.
    DatatypeView type() const noexcept;

    /// An integer of 1 to 64 bytes, all of its bits significant; else invalid_argument.
    Status integer(std::size_t size, bool is_signed, ByteOrder order = ByteOrder::little) noexcept;
    /// A bit field of 1 to 64 bytes.
    Status bitfield(std::size_t size, ByteOrder order = ByteOrder::little) noexcept;
    /// An IEEE 754 number of 4 or 8 bytes; else invalid_argument.
    Status floating(std::size_t size, ByteOrder order = ByteOrder::little) noexcept;
    /// A string of exactly `size` bytes. invalid_argument: 0, or 4 GiB and more.
    Status string(std::size_t size, StringPadding padding = StringPadding::null_padded,
                  CharacterSet character_set = CharacterSet::ascii) noexcept;
    /// A string of any length, in the form that it has in memory (`char*`).
    Status variable_string(CharacterSet character_set = CharacterSet::ascii) noexcept;
    /// A sequence of any number of elements of `base`, in the form that it has in memory (VariableLength).
    Status variable_length(DatatypeView base) noexcept;
    /// A reference as it stands in a file with addresses of 8 bytes.
    Status reference(ReferenceType type = ReferenceType::object1) noexcept;
    /// `size` bytes whose meaning the tag describes. invalid_argument: 0, 4 GiB and more, a tag of more than 248
    /// characters or with a NUL.
    Status opaque(std::size_t size, std::string_view tag = {}) noexcept;
    /// An array of elements of `base`, slowest dimension first. invalid_argument: not 1 to 32 dimensions, or one of
    /// them is 0. overflow: 4 GiB and more.
    Status array(DatatypeView base, Span<const std::uint32_t> dimensions) noexcept;

    /// Begins a compound of `size` bytes. invalid_argument: 0.
    Status compound(std::uint32_t size) noexcept;
    /// Adds a member at `offset` bytes from the start of the value; members may be added in any order of offsets.
    /// invalid_argument: no compound was begun, the name is empty or has a NUL, or the member overlaps another one or
    /// lies outside of the compound. already_exists: the name. overflow: more than 65,535 members.
    Status member(std::string_view name, std::uint32_t offset, DatatypeView type) noexcept;

    /// Begins an enumeration over an integer type of at most 8 bytes whose significant bits begin at bit 0; else
    /// type_mismatch.
    Status enumeration(DatatypeView base) noexcept;
    /// Adds a name for a value. invalid_argument: no enumeration was begun, or the name is empty or has a NUL.
    /// already_exists: the name or the value. overflow: the base type has no such value, or there are more than 65,535
    /// names.
    template <typename Value>
    Status enumerator(std::string_view name, Value value) noexcept {
        static_assert(std::is_integral_v<Value> || std::is_enum_v<Value>, "h5mote: enumerators have integer values");
        const auto bits = static_cast<std::uint64_t>(value);
        return add_enumerator(name, bits, detail::IsSigned<Value>::value && bits >> 63 != 0);
    }

private:
    Status fits(std::size_t length) const noexcept {
        return length <= buffer_.size() ? Status::ok : Status::over_budget;
    }
    template <std::size_t N, unsigned Depth>
    Status assign(const EncodedType<N, Depth>& type) noexcept;
    Status check_name(std::string_view name) const noexcept;
    unsigned parts() const noexcept;
    void count_part() noexcept;
    Status add_enumerator(std::string_view name, std::uint64_t bits, bool negative) noexcept;

    Bytes buffer_;
    std::size_t length_ = 0;             // bytes written
    TypeClass begun_ = TypeClass::none;  // the class whose parts can be added: compound or enumeration
};

}  // namespace h5mote
