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
class SelectionSet;

/// What an object is (H5O_type_t).
enum class ObjectType : std::uint8_t { group, dataset, datatype };
/// The order in which links and attributes are walked (H5_index_t): as they stand in the file, by name (bytes compared
/// as numbers), or as they were created, where that is tracked.
enum class IndexOrder : std::uint8_t { native, name, creation };
enum class Direction : std::uint8_t { increasing, decreasing };

#if H5MOTE_ALL_FORMATS

/// An object header as it stands in the file (H5O_hdr_info_t). Sizes in bytes.
struct HeaderInfo {
    std::uint8_t version = 0;        ///< 1 or 2
    std::uint8_t flags = 0;          ///< of version 2: specification IV.A.1.b
    std::uint32_t messages = 0;      ///< null messages and continuations included
    std::uint32_t blocks = 0;        ///< "chunks" of the header
    std::uint64_t total = 0;         ///< of all blocks
    std::uint64_t metadata = 0;      ///< prefixes, checksums, heads of messages, continuation messages
    std::uint64_t message_data = 0;  ///< bodies of messages
    std::uint64_t free = 0;          ///< null messages and gaps
    std::uint64_t present = 0;       ///< bit n: there is a message of type n
    std::uint64_t shared = 0;        ///< bit n: and it is shared
};

/// Bytes of the index and the heap that keep something outside the object header (H5_ih_info_t).
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
    std::uint64_t attributes = 0;  ///< how many
    bool tracks_attribute_order = false;
    HeaderInfo header;
    StorageSize object_storage;     ///< links of a group, chunk index of a dataset
    StorageSize attribute_storage;  ///< dense attributes
};

/// What a reference leads to, as far as the reference itself tells.
struct ReferenceTarget {
    bool null = false;                    ///< leads nowhere
    bool other_file = false;              ///< of another file, named in the reference
    Address address = kUndefinedAddress;  ///< of the object header
};

#endif

/// What an attribute is, without its value.
struct AttributeInfo {
    Dataspace space;
    std::uint32_t element_size = 0;  ///< bytes of one element in the file
    std::uint32_t type_length = 0;   ///< bytes of the encoded datatype
};

/// A handle of a group or dataset: move-only, small, keeps the file's memory (not the file) alive.
///
/// Attributes: names are UTF-8, not empty, without zero bytes. What the functions change is in the metadata cache when
/// they return ok, and durable after the file's next flush() that returns ok; after an error nothing has changed. All
/// return invalid_handle (empty handle, closed file), corrupt_file, unsupported (dense storage, shared messages),
/// io_error, out_of_memory, over_budget; those that write also read_only and no_space.
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
    /// datatype `type`, which is stored as it is. An existing attribute may have other dimensions of the same rank, and
    /// a fixed-length string another length and character set; the datatype must be equal otherwise, in whatever
    /// encoding it is stored. A power cut before the next flush() leaves the old value or the new one.
    /// invalid_argument: empty name, invalid space, data of another length, a type that is not one sound message.
    /// type_mismatch: it exists with another type or rank (first number of the trail record: 1 type, 2 rank).
    /// unsupported: variable-length data and references, also as parts of the type (datatype_class); an existing
    /// attribute that needs another size in a version 1 header. over_budget: more than 64 KiB.
    Status write_attribute(std::string_view name, DatatypeView type, const Dataspace& space, ConstBytes data) noexcept;
    /// The same for one value of a C++ type.
    template <typename T>
    Status write_attribute(std::string_view name, const T& value) noexcept {
        return write_attribute_as(name, datatype_of<T>(), file_type_of<T>(), nullptr,
                                  as_bytes(Span<const T>(&value, 1)));
    }
    /// A scalar fixed-length string, null-padded, exactly as long as the text (1 for an empty one); UTF-8 when it is
    /// not ASCII.
    Status write_attribute(std::string_view name, std::string_view text) noexcept;
    Status write_attribute(std::string_view name, const char* text) noexcept {
        return write_attribute(name, std::string_view(text));
    }

    /// All elements, packed, as `type` (converted from the file's). invalid_argument: `to` has another length.
    /// type_mismatch: no conversion. not_found.
    Status read_attribute(std::string_view name, DatatypeView type, Bytes to) const noexcept;
    template <typename T>
    Status read_attribute(std::string_view name, T& value) const noexcept {
        return read_attribute(name, datatype_of<T>(), {reinterpret_cast<std::byte*>(&value), sizeof(T)});
    }
    /// The text of a string attribute without its padding into `to`, its length to `length`. invalid_argument: too
    /// small. type_mismatch: no text. not_found.
    Status read_attribute(std::string_view name, Span<char> to, std::size_t& length) const noexcept;

    /// not_found.
    Status attribute_info(std::string_view name, AttributeInfo& info) const noexcept;
    /// Copies the attribute's encoded datatype to `buffer` (AttributeInfo::type_length bytes) and views it there.
    /// over_budget: the buffer is too small. not_found.
    Status attribute_type(std::string_view name, Bytes buffer, DatatypeView& type) const noexcept;
    bool has_attribute(std::string_view name) const noexcept;
    /// not_found.
    Status remove_attribute(std::string_view name) noexcept;
    Status attribute_count(std::uint32_t& count) const noexcept;
    /// Name of the i-th attribute in the order of the header, without a terminating zero. not_found, invalid_argument
    /// (buffer too small: `length` is what is needed).
    Status attribute_name(std::uint32_t i, Span<char> to, std::size_t& length) const noexcept;

#if H5MOTE_ALL_FORMATS
    /// not_found: no such attribute.
    Result<Attribute> open_attribute(std::string_view name) const noexcept;

    Status type(ObjectType& type) const noexcept;
    /// `with_storage`: adds up what stands outside the header as well, which walks over all of it.
    Status info(ObjectInfo& info, bool with_storage = true) const noexcept;
    /// The object's comment into `to` (no terminating zero) and its length to `length`, 0 if it has none.
    /// invalid_argument: too small; with an empty `to` only the length is told.
    Status comment(Span<char> to, std::size_t& length) const noexcept;

    /// References in the values of this object's file, as they are stored there (the element's bytes). not_found: a
    /// null reference or one whose target does not exist.
    Status reference_target(ReferenceType type, ConstBytes stored, ReferenceTarget& target) const noexcept;
    Result<Object> open_reference(ReferenceType type, ConstBytes stored) const noexcept;
    /// ReferenceType::attribute only.
    Result<Attribute> open_attribute_reference(ConstBytes stored) const noexcept;
    /// The names that a revised reference (object2, region2, attribute; `stored` tells which) holds: of the other file,
    /// if it leads into one (H5Rget_file_name), and of the attribute (H5Rget_attr_name); 0 characters if it has none.
    /// Into `to` without a terminating zero, the length to `length`. invalid_argument: too small, or no revised
    /// reference; with an empty `to` only the length is told.
    Status reference_file_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept;
    Status reference_attribute_name(ConstBytes stored, Span<char> to, std::size_t& length) const noexcept;
    /// ReferenceType::region1 and region2: the dataset and which of its elements.
    Status reference_region(ReferenceType type, ConstBytes stored, Object& target, SelectionSet& region) const noexcept;

    /// Bytes of a variable-length value of this object's file. `heap_id`: the element from its fifth byte on (address
    /// of the global heap collection and index). Address 0 or undefined: no data.
    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept;
    /// Some of them as they stand in the file, from `offset` on.
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept;

    /// The root group of the object's file.
    Object file_root() const noexcept;
    /// One more handle of the same object.
    Object duplicate() const noexcept;
#endif

    /// Whether both are objects of one open file.
    bool same_file(const Object& other) const noexcept { return file_ == other.file_; }

    /// Releases the handle.
    void close() noexcept;

protected:
#if H5MOTE_ALL_FORMATS
    friend class Attribute;
    friend class Dataset;
    friend class AttributeIterator;
    friend class LinkIterator;
    friend class Group;
    friend class File;
    friend class Dataset;
    friend class NamedDatatype;
#endif
    Object(FileState& file, Address address) noexcept;

    /// invalid_handle unless the object can be used.
    Status check() const noexcept;
    /// The library of the object's file, nullptr for an empty handle.
    Context* library() const noexcept;

    FileState* file_ = nullptr;
    Address address_ = 0;

private:
    Status write_attribute_as(std::string_view name, DatatypeView memory_type, DatatypeView file_type,
                              const Dataspace* space, ConstBytes data) noexcept;
};

}  // namespace h5mote
