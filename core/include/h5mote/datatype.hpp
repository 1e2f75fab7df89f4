// H5T - datatypes: a view of an encoded datatype message, which has the same bytes in memory as in the file.
//
// A datatype is never decoded as a whole: every accessor reads its field from the message (HDF5 File Format
// Specification IV.A.2.d). Datatypes known at compile time come from encoded_type.hpp and compound.hpp.
#pragma once

#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace h5mote {

/// Datatype classes with the numbers of the format.
enum class TypeClass : std::uint8_t {
    integer = 0,  ///< fixed-point
    floating = 1,
    time = 2,
    string = 3,  ///< of fixed length
    bitfield = 4,
    opaque = 5,
    compound = 6,
    reference = 7,
    enumeration = 8,
    variable_length = 9,
    array = 10,
    complex = 11,
    none = 15,  ///< class of an empty view
};

enum class ByteOrder : std::uint8_t { little = 0, big = 1, vax = 2, none = 3 };

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
inline constexpr ByteOrder kNativeOrder = ByteOrder::big;
#else
inline constexpr ByteOrder kNativeOrder = ByteOrder::little;
#endif

/// How a fixed-length string ends when it is shorter than its type.
enum class StringPadding : std::uint8_t {
    null_terminated = 0,  ///< at least one NUL, also after truncation
    null_padded = 1,
    space_padded = 2,
};

enum class CharacterSet : std::uint8_t { ascii = 0, utf8 = 1 };

/// What values of a reference type point to: of the first generation an object or a region, of the second (revised
/// references) an object, a region or an attribute.
enum class ReferenceType : std::uint8_t { object1 = 0, region1 = 1, object2 = 2, region2 = 3, attribute = 4 };

/// Bit positions of a floating-point type; bit 0 is the least significant.
struct FloatFields {
    std::uint8_t sign = 0;
    std::uint8_t exponent = 0;
    std::uint8_t exponent_size = 0;
    std::uint8_t mantissa = 0;
    std::uint8_t mantissa_size = 0;
    std::uint8_t normalization = 0;  ///< 0 none, 1 most significant bit always set, 2 implied and not stored
    std::uint32_t bias = 0;
};

struct CompoundMember;
struct EnumMember;
class CompoundMembers;
class EnumMembers;

/// One encoded datatype message: a value of two words that borrows the bytes, which must outlive it. The bytes must be
/// those of a message that validate_datatype() accepted or that this library encoded, so that accessors need no check.
/// An accessor that does not apply to the class returns zero, an empty span or `none`. The bytes may have any
/// alignment.
class DatatypeView {
public:
    /// An empty view, of no datatype: size() is 0, the class `none`.
    constexpr DatatypeView() noexcept = default;
    /// `message` is exactly one encoded message.
    constexpr explicit DatatypeView(ConstBytes message) noexcept : bytes_(message) {}

    constexpr bool empty() const noexcept { return bytes_.empty(); }
    /// The message as it stands in a file.
    constexpr ConstBytes bytes() const noexcept { return bytes_; }
    constexpr std::size_t encoded_length() const noexcept { return bytes_.size(); }

    constexpr TypeClass type_class() const noexcept { return empty() ? TypeClass::none : TypeClass(byte(0) & 15U); }
    /// Version of the encoding, 1 to 5. It has nothing to do with the form of the values.
    constexpr unsigned version() const noexcept { return empty() ? 0 : byte(0) >> 4; }
    /// Bytes of one value.
    constexpr std::uint32_t size() const noexcept {
        return empty() ? 0 : byte(4) | byte(5) << 8 | byte(6) << 16 | byte(7) << 24;
    }

    /// Byte order of integer, floating, bitfield and time types; for an enumeration that of its base type.
    ByteOrder order() const noexcept;
    /// Whether an integer (or an enumeration's base) is in two's complement.
    bool is_signed() const noexcept;
    /// First significant bit, and number of significant bits, of integer, bitfield and floating types. A time type has
    /// only a precision.
    unsigned bit_offset() const noexcept;
    unsigned precision() const noexcept;
    FloatFields float_fields() const noexcept;

    /// Padding and character set of fixed-length and variable-length strings.
    StringPadding padding() const noexcept;
    CharacterSet character_set() const noexcept;
    /// Whether a variable-length type is a string rather than a sequence.
    bool is_variable_string() const noexcept;
    ReferenceType reference_type() const noexcept;
    /// Description of an opaque type; empty for other classes.
    std::string_view tag() const noexcept;

    /// The number of dimensions of an array, the size of one of them, and the encoded sizes of all of them (4 bytes
    /// each, little-endian).
    unsigned rank() const noexcept;
    std::uint32_t dimension(unsigned i) const noexcept;
    ConstBytes dimension_bytes() const noexcept;
    /// Type of the elements of an array or sequence, of the parts of a complex number, or of the values of an
    /// enumeration.
    DatatypeView base() const noexcept;

    /// Number of members of a compound or enumeration.
    unsigned member_count() const noexcept;
    /// The i-th member in the order of the message. False: there is none, and `member` is unchanged. The call walks
    /// from the first member on: to see all members use CompoundMembers or EnumMembers.
    bool member(unsigned i, CompoundMember& member) const noexcept;
    bool find_member(std::string_view name, CompoundMember& member) const noexcept;
    bool enum_member(unsigned i, EnumMember& member) const noexcept;
    bool find_enum_name(std::string_view name, EnumMember& member) const noexcept;
    /// `value`: size() bytes in the byte order of the base type.
    bool find_enum_value(const std::byte* value, EnumMember& member) const noexcept;

private:
    constexpr unsigned byte(std::size_t i) const noexcept { return static_cast<unsigned>(bytes_.data()[i]); }
    bool has_bits() const noexcept;

    ConstBytes bytes_;
};

/// One member of a compound type.
struct CompoundMember {
    std::string_view name;
    std::uint32_t offset = 0;  ///< bytes from the start of the compound value
    DatatypeView type;
    /// Dimensions of a member that is an array in a version 1 message, which has no array class: up to four dimensions,
    /// 4 bytes each, little-endian. `type` is then the type of one element. Empty for other members.
    ConstBytes dimensions;

    /// Number of elements of `type` that the member holds (1 unless `dimensions` says otherwise), and the bytes that
    /// they take.
    std::uint32_t count() const noexcept;
    std::uint32_t size() const noexcept { return count() * type.size(); }
};

/// One name and its value in an enumeration.
struct EnumMember {
    std::string_view name;
    ConstBytes value;  ///< in the byte order of the base type
};

/// Walks the members of a compound type: `CompoundMembers walk(type); while (walk.next(member)) ...`
class CompoundMembers {
public:
    /// A type that is no compound has no members.
    explicit CompoundMembers(DatatypeView compound) noexcept;
    /// The same for a compound message that is not complete: `members` are the bytes after its first eight, of which
    /// `count` members are valid.
    CompoundMembers(const std::byte* members, unsigned count, unsigned version, std::uint32_t size) noexcept;
    /// False after the last member; `member` is then unchanged.
    bool next(CompoundMember& member) noexcept;

private:
    const std::byte* at_ = nullptr;
    std::uint16_t left_ = 0;
    std::uint8_t version_ = 0;
    std::uint8_t offset_width_ = 0;
};

/// Walks the members of an enumeration.
class EnumMembers {
public:
    explicit EnumMembers(DatatypeView enumeration) noexcept;
    bool next(EnumMember& member) noexcept;

private:
    const std::byte* name_ = nullptr;
    const std::byte* value_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint16_t left_ = 0;
    bool padded_ = false;
};

/// Whether both are the same datatype (H5Tequal): class, size, fields and members agree. The version of the encoding
/// and the order in which members are listed may differ.
bool equal(DatatypeView a, DatatypeView b) noexcept;

/// Whether the type or any part of it is of that class (H5Tdetect_class). Here a variable-length string is always of
/// class variable_length, never of class string.
bool contains_class(DatatypeView type, TypeClass type_class) noexcept;

/// How many compounds, arrays, sequences and strings of any length are nested in each other: 0 for a number.
unsigned type_depth(DatatypeView type) noexcept;

/// The memory type in which a program reads values of `file_type` (H5Tget_native_type, ascending): the machine's own
/// integers, floating-point numbers and bit fields of at least the same precision, in its byte order; compounds with
/// the same members in the same order, laid out as the compiler lays out a C struct; VariableLength and `char*`.
/// Strings, references, opaque and time types stay as they are. The type is written into `buffer`, which `native`
/// borrows; native_type_length() bytes are enough. over_budget: the buffer is too small. overflow: a value would have 4
/// GiB or more. unsupported: the memory type is nested deeper than H5MOTE_MAX_TYPE_DEPTH. After an error `native` is
/// unchanged.
Status native_type(DatatypeView file_type, Bytes buffer, DatatypeView& native) noexcept;
std::size_t native_type_length(DatatypeView file_type) noexcept;

/// Whether both messages have the same bytes, so that values need no conversion. The test is cheap and links no
/// conversion code. If it is false, the types may still need none (see Conversion).
bool identical_layout(DatatypeView a, DatatypeView b) noexcept;

}  // namespace h5mote
