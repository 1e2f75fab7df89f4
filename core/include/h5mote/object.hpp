// H5O H5A - what groups and datasets have in common: a place in a file, and attributes.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/result.hpp>

#include <string_view>

namespace h5mote {

class Context;
class FileState;
class Attribute;
class NamedDatatype;
class SelectionSet;

/// What an object is (H5O_type_t).
enum class ObjectType : std::uint8_t { group, dataset, datatype };
/// The order in which links and attributes are walked (H5_index_t): `native` as they stand in the file, `name` (bytes
/// compared as numbers), or `creation` as they were created, where that is tracked.
enum class IndexOrder : std::uint8_t { native, name, creation };
enum class Direction : std::uint8_t { increasing, decreasing };

/// An object header as it stands in the file (H5O_hdr_info_t). Sizes are in bytes.
struct HeaderInfo {
    std::uint8_t version = 0;        ///< 1 or 2
    std::uint8_t flags = 0;          ///< flags of a version 2 header: specification IV.A.1.b
    std::uint32_t messages = 0;      ///< null messages and continuations included
    std::uint32_t blocks = 0;        ///< blocks that the header consists of; the specification calls them chunks
    std::uint64_t total = 0;         ///< size of all blocks
    std::uint64_t metadata = 0;      ///< prefixes, checksums, heads of messages, continuation messages
    std::uint64_t message_data = 0;  ///< bodies of messages
    std::uint64_t free = 0;          ///< null messages and gaps
    std::uint64_t present = 0;       ///< bit n: there is a message of type n
    std::uint64_t shared = 0;        ///< bit n: the message of type n is shared
};

/// Bytes of an index, and of a heap, that hold something outside the object header (H5_ih_info_t).
struct StorageSize {
    std::uint64_t index = 0;
    std::uint64_t heap = 0;
};

/// What is known of an object without looking at its data (H5O_info_t).
struct ObjectInfo {
    ObjectType type = ObjectType::group;
    Address address = kUndefinedAddress;
    std::uint32_t reference_count = 1;  ///< number of hard links
    bool has_times = false;
    /// Seconds since 1970-01-01 UTC, 0 if not recorded.
    std::uint32_t access_time = 0;
    std::uint32_t modification_time = 0;
    std::uint32_t change_time = 0;
    std::uint32_t birth_time = 0;
    std::uint64_t attributes = 0;  ///< number of attributes
    bool tracks_attribute_order = false;
    /// How many attributes make it change how it keeps them: AttributesCreate.
    std::uint16_t max_compact_attributes = 8;
    std::uint16_t min_dense_attributes = 6;
    HeaderInfo header;
    StorageSize object_storage;     ///< links of a group, chunk index of a dataset
    StorageSize attribute_storage;  ///< dense attributes
};

/// What a reference leads to, as far as the reference itself tells.
struct ReferenceTarget {
    bool null = false;                    ///< the reference leads nowhere
    bool other_file = false;              ///< the object is in another file, which the reference names
    Address address = kUndefinedAddress;  ///< address of the object header
};

/// What an attribute is, without its value.
struct AttributeInfo {
    Dataspace space;
    std::uint32_t element_size = 0;  ///< bytes of one element in the file
    std::uint32_t type_length = 0;   ///< bytes of the encoded datatype
};

/// A handle of a group or dataset: move-only, small, keeps the file's memory (not the file) alive.
///
/// Attributes: names are UTF-8, not empty, without zero bytes. A function that changes something and returns ok has
/// made the change in the metadata cache; it is durable after the file's next flush() that returns ok. After an error
/// all attributes are as they were. All functions can return invalid_handle (empty handle, closed file), corrupt_file,
/// unsupported (dense storage, shared messages), io_error, out_of_memory and over_budget; those that write also
/// read_only and no_space.
class Object {
public:
    Object() noexcept = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    Object(Object&& other) noexcept : file_(other.file_), address_(other.address_) { other.file_ = nullptr; }
    Object& operator=(Object&& other) noexcept;
    ~Object() { close(); }

    /// Whether the handle stands for an object of an open file.
    bool valid() const noexcept;
    /// Address of the object header: the object's identity within its file.
    Address address() const noexcept { return address_; }

    /// Creates the attribute, or gives an existing one a new value. `data`: the elements of `space`, packed, in the
    /// datatype `type`, which the file stores as it is, but for strings and sequences of any length: these have the
    /// form of memory (variable_length.hpp) in `data` and `type`. What they held before is given up by the next
    /// flush(). An existing attribute may get other dimensions of the same rank, and if it is a fixed-length string
    /// another length and character set; apart from that the datatype must equal the old one, in whatever encoding that
    /// is stored. Not in profile `logger`, a committed datatype stays, and so does one of other numbers than `type`:
    /// the values are converted to it, as Dataset::write() does (H5Awrite); this needs formats::conversion unless they
    /// are the same. A power cut before the next flush() leaves the old value or the new one.
    ///
    /// invalid_argument: empty name, invalid space, data of another length, or a `type` that is not one sound datatype
    /// message. type_mismatch: the attribute exists with another type or rank (first number of the trail record: 1
    /// type, 2 rank). unsupported: variable-length data, also as a part of the type, in a program without
    /// formats::variable_length_changes (datatype_class). over_budget: the attribute is larger than the metadata cache
    /// has room for, or has 64 KiB or more in a program without formats::dense_changes, or its datatype has. overflow:
    /// the object tracks creation order and has given out all 65,535 numbers.
    Status write_attribute(std::string_view name, DatatypeView type, const Dataspace& space, ConstBytes data) noexcept;
    /// The same for one value of a C++ type.
    template <typename T>
    Status write_attribute(std::string_view name, const T& value) noexcept {
        return write_attribute_as(name, datatype_of<T>(), file_type_of<T>(), nullptr,
                                  as_bytes(Span<const T>(&value, 1)));
    }
    /// Writes a scalar fixed-length string, null-padded and exactly as long as the text (1 for an empty one); UTF-8
    /// when it is not ASCII.
    Status write_attribute(std::string_view name, std::string_view text) noexcept;
    Status write_attribute(std::string_view name, const char* text) noexcept {
        return write_attribute(name, std::string_view(text));
    }

    /// Creates the attribute with a committed datatype, to which its message refers, or gives it a new value of that
    /// datatype. `memory`: what describes `data`, as for Dataset::write(); without it that is the committed datatype
    /// itself. type_mismatch: it exists with another one. unsupported (datatype_class): a datatype with strings or
    /// sequences of any length, without `memory`. Declared in named_datatype.hpp.
    Status write_attribute(std::string_view name, const NamedDatatype& type, const Dataspace& space,
                           ConstBytes data) noexcept;
    Status write_attribute(std::string_view name, const NamedDatatype& type, DatatypeView memory,
                           const Dataspace& space, ConstBytes data) noexcept;
    /// Creates the attribute, or puts a value of any type, size and rank in the place of the one that it has. A power
    /// cut before the next flush() leaves the old attribute or the new one. The creation order stays. Errors of
    /// write_attribute() but for type_mismatch.
    Status replace_attribute(std::string_view name, DatatypeView type, const Dataspace& space,
                             ConstBytes data) noexcept;
    template <typename T>
    Status replace_attribute(std::string_view name, const T& value) noexcept {
        return write_attribute_as(name, datatype_of<T>(), file_type_of<T>(), nullptr,
                                  as_bytes(Span<const T>(&value, 1)), true);
    }
    /// Gives an attribute another name (H5Arename). The creation order stays. A power cut before the next flush()
    /// leaves the old name or the new one; on a storage whose sync is no commit the call itself may write and sync. A
    /// name that stays the same is ok. already_exists: there is another attribute of the new name. not_found;
    /// invalid_argument: `to` cannot be a name. unsupported also: it is a shared message of a variable-length type that
    /// other objects have, too, in a program without formats::variable_length_changes.
    Status rename_attribute(std::string_view from, std::string_view to) noexcept;

    /// Reads all elements, packed, converted from the file's datatype to `type`. invalid_argument: `to` has another
    /// length. type_mismatch: there is no such conversion. not_found.
    Status read_attribute(std::string_view name, DatatypeView type, Bytes to) const noexcept;
    template <typename T>
    Status read_attribute(std::string_view name, T& value) const noexcept {
        return read_attribute(name, datatype_of<T>(), {reinterpret_cast<std::byte*>(&value), sizeof(T)});
    }
    /// Reads the text of a string attribute, of fixed or any length, without its padding, into `to`, and its length
    /// into `length`. invalid_argument: `to` is too small. type_mismatch: the attribute is no text. not_found.
    Status read_attribute(std::string_view name, Span<char> to, std::size_t& length) const noexcept;

    /// not_found.
    Status attribute_info(std::string_view name, AttributeInfo& info) const noexcept;
    /// Copies the attribute's encoded datatype to `buffer` (AttributeInfo::type_length bytes), and makes `type` a view
    /// of it there. over_budget: the buffer is too small. not_found.
    Status attribute_type(std::string_view name, Bytes buffer, DatatypeView& type) const noexcept;
    /// Whether there is such an attribute. After an error there is none for the first one; the second one returns it,
    /// and `found` is the answer if it returns ok.
    bool has_attribute(std::string_view name) const noexcept;
    Status has_attribute(std::string_view name, bool& found) const noexcept;
    /// not_found.
    Status remove_attribute(std::string_view name) noexcept;
    /// Removes the attribute at `position`, counted from 0, in that order (H5Adelete_by_idx). not_found: there are
    /// fewer. invalid_argument: the object does not track creation order.
    Status remove_attribute(IndexOrder order, Direction direction, std::uint64_t position) noexcept;
    Status attribute_count(std::uint32_t& count) const noexcept;
    /// Copies the name of the i-th attribute in the order of the header, without a terminating zero. not_found: there
    /// is no i-th attribute. invalid_argument: the buffer is too small, and `length` is what is needed.
    Status attribute_name(std::uint32_t i, Span<char> to, std::size_t& length) const noexcept;

    /// not_found: no such attribute.
    Result<Attribute> open_attribute(std::string_view name) const noexcept;

    Status type(ObjectType& type) const noexcept;
    /// `with_storage`: also adds up the storage outside of the header, which takes a walk over all of it.
    Status info(ObjectInfo& info, bool with_storage = true) const noexcept;
    /// Copies the object's comment to `to` (no terminating zero) and its length to `length`, 0 if it has none.
    /// invalid_argument: `to` is too small; with an empty `to` only `length` is set.
    Status comment(Span<char> to, std::size_t& length) const noexcept;
    /// Gives the object a comment, or another one in place of that which it has (H5Oset_comment); an empty text removes
    /// it. A power cut before the next flush() leaves the old comment or the new one. invalid_argument: the text
    /// contains a zero byte or has more than 65,534 bytes.
    Status set_comment(std::string_view text) noexcept;

    /// Follow a reference in a value of this object's file. `stored` is the element as it stands there. not_found: a
    /// null reference, or one whose target does not exist.
    Status reference_target(ReferenceType type, ConstBytes stored, ReferenceTarget& target) const noexcept;
    Result<Object> open_reference(ReferenceType type, ConstBytes stored) const noexcept;
    /// ReferenceType::attribute only.
    Result<Attribute> open_attribute_reference(ConstBytes stored) const noexcept;
    /// Copy the names that a revised reference holds (object2, region2 or attribute; `stored` tells which): the name of
    /// the file, if it leads into another one (H5Rget_file_name), and the name of the attribute (H5Rget_attr_name). The
    /// name goes to `to` without a terminating zero, its length to `length`; 0 if there is none. invalid_argument: `to`
    /// is too small, or this is no revised reference; with an empty `to` only `length` is set.
    Status reference_file_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept;
    Status reference_attribute_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept;
    /// Opens the dataset that a region reference (ReferenceType::region1 or region2) leads to, and tells which of its
    /// elements are referenced.
    Status reference_region(ReferenceType type, ConstBytes stored, Object& target, SelectionSet& region) const noexcept;

    /// Bytes of a reference in this object's file: the size of its datatype.
    std::size_t reference_size(ReferenceType type) const noexcept;
    /// Make a reference, as it stands in this object's file: an element of a dataset or attribute whose type is a
    /// reference of this kind. `to` has reference_size() bytes. References to regions and attributes also put an object
    /// into the global heap, which is never removed, as in libhdf5; the element that gets them becomes durable with it,
    /// or later. invalid_argument: `to` has another size, or the target is in another file. unsupported: a program
    /// without formats::variable_length_changes, if the heap is needed.
    ///
    /// The target itself is not ordered before the reference. An element of a dataset that is overwritten in place may
    /// be on the storage before the next flush: if the target was made since the last one, a power cut may leave a
    /// reference to an address where there is no object, or later another one. So flush() between making an object and
    /// writing references to it over elements of a dataset that was flushed before. Attributes, new datasets and rows
    /// that are appended need nothing, for they appear with the flush that has the target, too.
    ///
    /// ReferenceType::object1, or object2, which needs HDF5 1.12 to be read.
    Status create_reference(ReferenceType type, const Object& target, Bytes to) noexcept;
    /// ReferenceType::region1 or region2: some elements of the dataset `target`, whose dataspace is `space`.
    /// invalid_argument also: the selection does not lie in the dataspace.
    Status create_region_reference(ReferenceType type, const Object& target, const Dataspace& space,
                                   const Selection& region, Bytes to) noexcept;
    /// ReferenceType::attribute: the attribute of that name of `target`, which need not exist.
    Status create_attribute_reference(const Object& target, std::string_view name, Bytes to) noexcept;

    /// Number of bytes of a variable-length value of this object's file. `heap_id`: the element from its fifth byte on,
    /// that is the address of a global heap collection and an index in it. Address 0 or undefined: no data.
    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept;
    /// Reads bytes of such a value as they stand in the file, from `offset` on.
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept;

    /// The root group of the object's file.
    Object file_root() const noexcept;
    /// One more handle of the same object.
    Object duplicate() const noexcept;

    /// Whether both are objects of the same open file.
    bool same_file(const Object& other) const noexcept { return file_ == other.file_; }

    /// Releases the handle.
    void close() noexcept;

protected:
    friend class Attribute;
    friend class Dataset;
    friend class AttributeIterator;
    friend class LinkIterator;
    friend class Group;
    friend class File;
    friend class NamedDatatype;
    friend class Copier;
    friend class DimensionScales;
    Object(FileState& file, Address address) noexcept;

    /// invalid_handle unless the object can be used.
    Status check() const noexcept;
    /// The library of the object's file, nullptr for an empty handle.
    Context* library() const noexcept;

    FileState* file_ = nullptr;
    Address address_ = 0;

private:
    // `any`: it may take the place of an attribute with any other type and dataspace.
    Status write_attribute_as(std::string_view name, DatatypeView memory_type, DatatypeView file_type,
                              const Dataspace* space, ConstBytes data, bool any = false) noexcept;
    // Writes a value in the file's form. What it says of the global heap must be true.
    // `committed`: the committed datatype that `type` is, if it is one.
    Status write_stored_attribute(std::string_view name, CharacterSet set, DatatypeView type, const Object* committed,
                                  const Dataspace& space, ConstBytes data) noexcept;
};

}  // namespace h5mote
