// H5A - attributes: small data attached to an object, of any type and shape.
#pragma once

#include <h5mote/object.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

struct AttributeState;

/// A handle of an attribute: its name, datatype and dataspace in memory of its own; the value is read from the file
/// piece by piece, however large it is. Move-only; keeps the file's memory (not the file) alive. What the functions
/// return beyond what is said: invalid_handle, also for an attribute that was given a smaller value since it was
/// opened, not_found once it was removed, corrupt_file, io_error, out_of_memory, over_budget.
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

    /// The name, in the character set beside it. All views live as long as the handle; empty for an empty handle.
    std::string_view name() const noexcept;
    CharacterSet character_set() const noexcept;
    /// Whether the object tracks the order in which its attributes were created, and the attribute's place in it.
    bool has_order() const noexcept;
    std::uint32_t creation_order() const noexcept;
    DatatypeView type() const noexcept;
    /// Header of the committed datatype that it has; kUndefinedAddress: a type of its own.
    Address type_object() const noexcept;
    const Dataspace& dataspace() const noexcept;
    /// Number of elements, and bytes of all of them in the file.
    std::uint64_t element_count() const noexcept;
    std::uint64_t data_size() const noexcept;
    /// Header of the object that has it.
    Address object_address() const noexcept;

    /// All elements, packed, as values of `type`. invalid_argument: `to` has another length. type_mismatch.
    /// Variable-length values get memory of their own (MemoryKind::value), to be given back by reclaim().
    Status read(DatatypeView type, Bytes to) const noexcept;
    /// The bytes of the value as they stand in the file, from `offset` on. invalid_argument: beyond the end.
    Status read_stored(std::uint64_t offset, Bytes to) const noexcept;
    /// An open handle of the object, for the references and variable-length data in the value.
    Object object() const noexcept;
    /// As Object's functions of the same names.
    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) const noexcept;
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) const noexcept;

private:
    friend class Object;
    friend class AttributeIterator;
    explicit Attribute(AttributeState* state) noexcept : state_(state) {}

    AttributeState* state_ = nullptr;
};

/// Walks the attributes of an object. The object must not change meanwhile.
class AttributeIterator {
public:
    AttributeIterator(const Object& object, IndexOrder order = IndexOrder::native,
                      Direction direction = Direction::increasing) noexcept;
    AttributeIterator(const AttributeIterator&) = delete;
    AttributeIterator& operator=(const AttributeIterator&) = delete;
    ~AttributeIterator();

    /// The next attribute into `attribute`. not_found after the last one; invalid_argument: creation order of an object
    /// that does not track it. After any other error the next call goes on behind the attribute that could not be read;
    /// where the walk itself cannot go on it says the same again.
    Status next(Attribute& attribute) noexcept;

private:
    struct Walk;

    Object object_;
    Walk* walk_ = nullptr;
    IndexOrder order_;
    Direction direction_;
    Status status_ = Status::ok;
};

#endif

}  // namespace h5mote
