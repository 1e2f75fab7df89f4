// H5O H5A - what groups and datasets have in common: a place in a file, and attributes.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>
#include <h5mote/result.hpp>

#include <string_view>

namespace h5mote {

class FileState;

/// What an attribute is, without its value.
struct AttributeInfo {
    Dataspace space;
    std::uint32_t element_size = 0;  ///< bytes of one element in the file
    std::uint32_t type_length = 0;   ///< bytes of the encoded datatype
};

/// A handle of a group or dataset: move-only, small, keeps the file's memory (not the file) alive.
///
/// Attributes: names are UTF-8, not empty. What the functions change is in the metadata cache when they return ok, and
/// durable after the file's next flush() that returns ok; after an error nothing has changed. All return
/// invalid_handle (empty handle, closed file), corrupt_file, unsupported (dense storage, shared messages), io_error,
/// out_of_memory, over_budget; those that write also read_only and no_space.
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

    /// Creates the attribute, or gives an existing one of the same size a new value. `data`: the elements of `space`,
    /// packed, in the datatype `type`, which is stored as it is. invalid_argument: empty name, invalid space, data of
    /// another length. type_mismatch: it exists with another type or shape. over_budget: more than 64 KiB.
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
    /// not_found.
    Status read_attribute(std::string_view name, DatatypeView type, Bytes to) const noexcept;
    template <typename T>
    Status read_attribute(std::string_view name, T& value) const noexcept {
        return read_attribute(name, datatype_of<T>(), {reinterpret_cast<std::byte*>(&value), sizeof(T)});
    }
    /// The text of a string attribute without its padding into `to`, its length to `length`. invalid_argument: too
    /// small.
    Status read_attribute(std::string_view name, Span<char> to, std::size_t& length) const noexcept;

    Status attribute_info(std::string_view name, AttributeInfo& info) const noexcept;
    /// Copies the attribute's encoded datatype to `buffer` (AttributeInfo::type_length bytes) and views it there.
    Status attribute_type(std::string_view name, Bytes buffer, DatatypeView& type) const noexcept;
    bool has_attribute(std::string_view name) const noexcept;
    Status remove_attribute(std::string_view name) noexcept;
    Status attribute_count(std::uint32_t& count) const noexcept;
    /// Name of the i-th attribute in the order of the header, without a terminating zero. not_found, invalid_argument
    /// (buffer too small: `length` is what is needed).
    Status attribute_name(std::uint32_t i, Span<char> to, std::size_t& length) const noexcept;

    /// Releases the handle.
    void close() noexcept;

protected:
    Object(FileState& file, Address address) noexcept;

    bool same_file(const Object& other) const noexcept { return file_ == other.file_; }
    /// invalid_handle unless the object can be used.
    Status check() const noexcept;

    FileState* file_ = nullptr;
    Address address_ = 0;

private:
    Status write_attribute_as(std::string_view name, DatatypeView memory_type, DatatypeView file_type,
                              const Dataspace* space, ConstBytes data) noexcept;
};

}  // namespace h5mote
