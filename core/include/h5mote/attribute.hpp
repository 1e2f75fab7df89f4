// H5A - attributes: small data attached to an object, of any type and shape.
#pragma once

#include <h5mote/object.hpp>

namespace h5mote {

struct AttributeState;

/// A handle of an attribute. It keeps name, datatype and dataspace in memory of its own; the value is read from the
/// file piece by piece, however large it is. Move-only; keeps the file's memory (not the file) alive. Beside the errors
/// that a function names, all of them can return invalid_handle, also for an attribute whose datatype or dataspace has
/// changed since it was opened; not_found for one that was removed; corrupt_file, io_error, out_of_memory and
/// over_budget. After its object was deleted (Group::unlink()) it must not be used any more.
class Attribute {
public:
    Attribute() noexcept = default;
    Attribute(const Attribute&) = delete;
    Attribute& operator=(const Attribute&) = delete;
    Attribute(Attribute&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    Attribute& operator=(Attribute&& other) noexcept;
    ~Attribute() { close(); }

    /// Whether the handle stands for an attribute of an open file.
    bool valid() const noexcept;
    void close() noexcept;

    /// The name, and the character set that it is in. All views live as long as the handle and are empty for an empty
    /// handle.
    std::string_view name() const noexcept;
    CharacterSet character_set() const noexcept;
    /// Whether the object tracks the creation order of its attributes, and this attribute's place in that order.
    bool has_order() const noexcept;
    std::uint32_t creation_order() const noexcept;
    DatatypeView type() const noexcept;
    /// Address of the header of the attribute's committed datatype; kUndefinedAddress when the type is its own.
    Address type_object() const noexcept;
    const Dataspace& dataspace() const noexcept;
    /// Number of elements, and bytes of all of them in the file.
    std::uint64_t element_count() const noexcept;
    std::uint64_t data_size() const noexcept;
    /// Address of the header of the object that has the attribute.
    Address object_address() const noexcept;

    /// Reads all elements, packed, converted to `type`. invalid_argument: `to` has another length. type_mismatch.
    /// Variable-length values get memory of their own (MemoryKind::value), which the caller releases with reclaim().
    Status read(DatatypeView type, Bytes to) const noexcept;
    /// Reads bytes of the value as they stand in the file, from `offset` on. invalid_argument: the range reaches beyond
    /// the end of the value.
    Status read_stored(std::uint64_t offset, Bytes to) const noexcept;
    /// A further handle of the object, for following the references and reading the variable-length data in the value.
    Object object() const noexcept;
    /// The same as Object's functions of these names.
    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept;
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept;

private:
    friend class Object;
    friend class AttributeIterator;
    explicit Attribute(AttributeState* state) noexcept : state_(state) {}

    AttributeState* state_ = nullptr;
};

/// Walks over the attributes of an object, which may change or be deleted meanwhile as LinkIterator says.
class AttributeIterator {
public:
    AttributeIterator(const Object& object, IndexOrder order = IndexOrder::native,
                      Direction direction = Direction::increasing) noexcept;
    AttributeIterator(const AttributeIterator&) = delete;
    AttributeIterator& operator=(const AttributeIterator&) = delete;
    ~AttributeIterator();

    /// Reads the next attribute into `attribute`. not_found: there are no more. invalid_argument: the walk is by
    /// creation order, which the object does not track. After any other error the next call goes on behind the
    /// attribute that could not be read; where the walk itself cannot go on, it returns the same error again.
    Status next(Attribute& attribute) noexcept;

private:
    struct Walk;

    Object object_;
    Walk* walk_ = nullptr;
    IndexOrder order_;
    Direction direction_;
    Status status_ = Status::ok;
};

}  // namespace h5mote
