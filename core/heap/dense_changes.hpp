// H5G H5A (dense storage) - what programs have that name formats::dense_changes. The functions stand in core/group and
// core/attribute.
#pragma once

#include "disposal.hpp"
#include "info_fields.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

struct LinkMessage;
class HeapContent;

/// An attribute message that is to be written.
struct NewAttribute {
    ConstBytes name;
    ConstBytes head;  ///< the message but for its data
    ConstBytes data;
    ConstBytes shared;        ///< id of the shared message that it is, with one use counted; empty: it is not shared
    std::uint16_t order = 0;  ///< creation order, if it is tracked
};

struct DenseChangesFormat {
    /// Adds a link, whose name is free, to a group that keeps its links in its header or in dense storage; the group
    /// gets dense storage if that is what it should have now. `compact`: nothing was done, the link is to be added to
    /// the header.
    Status (*insert_link)(FileState& file, Address group, const LinkMessage& link, bool& compact);
    /// Removes a link from a group with dense storage; the group gets compact storage if that is what it should have
    /// now. not_found.
    Status (*remove_link)(FileState& file, Address group, ConstBytes name);
    /// Whether a group with that dense storage has no link.
    Status (*is_empty)(FileState& file, const DenseAddresses& addresses, bool& empty);
    /// Whether an object has its attributes in dense storage, or gets it for one more attribute. `fits`: a message of a
    /// header can be that attribute, or lead to it.
    Status (*wants_dense)(FileState& file, Address object, bool fits, bool& wants);
    /// Adds an attribute to an object for which wants_dense() said true, or replaces one that `exists`. `compact`:
    /// nothing was done, the attribute is to be added to the header. After an error everything is as it was.
    Status (*write_attribute)(FileState& file, Address object, const NewAttribute& attribute, bool exists,
                              bool& compact);
    /// Puts `attribute`, whose name is new to the object, in the place of the attribute `from` of an object with dense
    /// storage; the creation order stays. After an error everything is as it was.
    Status (*rename_attribute)(FileState& file, Address object, ConstBytes from, const NewAttribute& attribute);
    /// Removes an attribute; the object gets compact storage if that is what it should have now. `compact`: nothing was
    /// done, the attributes are in the header. not_found.
    Status (*remove_attribute)(FileState& file, Address object, ConstBytes name, bool& compact);
    /// The attributes in dense storage of an object that is about to be deleted end their uses of committed datatypes.
    /// The object must be gone on the storage after the next FileState::order().
    Status (*release_types)(FileState& file, Address object);
    /// Gives all space of dense storage to `disposal`.
    Status (*dispose)(FileState& file, const DenseAddresses& addresses, Disposal& disposal);
    /// Makes dense storage, to which nothing leads, with the links that a group has in its symbol table. unsupported:
    /// dense storage cannot be changed safely on the file's storage.
    Status (*take_symbols)(FileState& file, Address group, DenseAddresses& made);
};

Status insert_dense_link(FileState& file, Address group, const LinkMessage& link, bool& compact) noexcept;
Status remove_dense_link(FileState& file, Address group, ConstBytes name) noexcept;
Status is_dense_group_empty(FileState& file, const DenseAddresses& addresses, bool& empty) noexcept;
Status wants_dense_attributes(FileState& file, Address object, bool fits, bool& wants) noexcept;
Status write_dense_attribute(FileState& file, Address object, const NewAttribute& attribute, bool exists,
                             bool& compact) noexcept;
Status rename_dense_attribute(FileState& file, Address object, ConstBytes from, const NewAttribute& attribute) noexcept;
Status remove_dense_attribute(FileState& file, Address object, ConstBytes name, bool& compact) noexcept;
Status release_dense_attribute_types(FileState& file, Address object) noexcept;
Status dispose_dense_storage(FileState& file, const DenseAddresses& addresses, Disposal& disposal) noexcept;
Status make_dense_links(FileState& file, Address group, DenseAddresses& made) noexcept;

/// Memory for something large, while it is needed.
template <typename T>
class Temporary {
public:
    template <typename... Arguments>
    explicit Temporary(Context& context, Arguments&&... arguments) noexcept
        : context_(context), object_(context.create<T>(MemoryKind::other, static_cast<Arguments&&>(arguments)...)) {}
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() { context_.destroy(MemoryKind::other, object_); }
    /// Whether there was memory for it.
    explicit operator bool() const noexcept { return object_ != nullptr; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }

private:
    Context& context_;
    T* object_;
};

}  // namespace h5mote
