// H5O (H5Ocopy) - one call of copy_object().
//
// Everything is copied into a staging group, to which no link leads: so nothing of an unfinished copy is ever visible,
// and what a power cut leaves of it is unused space. When the copy is complete, its root gets its link, and the staging
// group is deleted with the links that it still has. The staging group has
//
//   copy         the object that is copied
//   tN           committed datatypes that are used by what is copied, and were not met as objects before
//   rN           objects that only references lead to
//
// Links that are to be expanded, and references, may lead to objects that are copied anyway. They are therefore noted
// while the tree is walked, and resolved afterwards, one after the other; what is copied then may bring more of them.
#pragma once

#include "copied_objects.hpp"
#include "file_state.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/copy.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote {

/// The creation properties of a dataset, with the memory that they refer to.
class CopiedProperties {
public:
    explicit CopiedProperties(Context& context) noexcept
        : context_(context), type_(context, MemoryKind::type), fill_(context), values_(context) {}

    Status read(Dataset& from) noexcept;
    const DatasetInfo& info() const noexcept { return info_; }
    const DatasetCreate& create() const noexcept { return create_; }
    DatatypeView type() const noexcept { return view_; }
    const Dataspace& space() const noexcept { return space_; }

private:
    Status read_chunks(Dataset& from) noexcept;
    Status read_filters(Dataset& from) noexcept;

    Context& context_;
    DatasetInfo info_;
    DatasetCreate create_;
    Dataspace space_;
    DatatypeView view_;
    OwnedBytes type_;
    OwnedBytes fill_;
    OwnedBytes values_;  // client data of filters
};

class Copier final : private Visitor {
public:
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;
    ~Copier();

    /// copy_object().
    static Status copy(Group& source, std::string_view path, Group& destination, std::string_view name,
                       const CopyOptions& options) noexcept;
    /// copy_file() for the root groups of both files.
    static Status copy_root(Group& source, Group& destination, const CopyOptions& options) noexcept;

private:
    struct Pending;

    /// `staging`: an empty group of the destination's file.
    Copier(Group& destination, Group& staging, const CopyOptions& options) noexcept;

    static Status fill_root(Group& source, Group& destination, Group& staging, const CopyOptions& options) noexcept;

    /// Copies `from` and what belongs to it to the link `copy` of the staging group.
    Status run(Object& from) noexcept;
    /// Gives the copies of objects that only references lead to their links in `root`.
    Status link_referenced(Group& root) noexcept;

    Context& context() const noexcept { return destination_.context; }
    static FileState& file_of(const Object& object) noexcept { return *object.file_; }
    bool is_same_file(const Object& from) const noexcept { return &file_of(from) == &destination_; }
    Address copy_of(const Object& from, Address address) const noexcept {
        return copied_.find(&file_of(from), address);
    }

    // What the walk over the source shows. Paths are those of the walk.
    Status link(std::string_view path, const Link& link) noexcept override;
    Status object(std::string_view path, Object& object) noexcept override;

    Status copy_tree(Object& from, std::string_view to) noexcept;
    Status walk_links(Group& from) noexcept;
    Status resolve(Pending& pending) noexcept;
    Status note(Object&& object, std::string_view to, Address copy, bool unfinished = false) noexcept;
    Status expand(std::string_view path, const Link& link, bool& expanded) noexcept;
    Status set_path(std::string_view path) noexcept;
    Status make_link(const Link& link) noexcept;
    Status number_name(char kind, OwnedText& name) noexcept;

    // In copy_objects.cpp.
    Status copy_one(Object& from) noexcept;
    Status finish(Object& from, Object& to) noexcept;
    Status copy_group(Object& from, Result<Object>& copy) noexcept;
    Status copy_datatype(Object& from, Result<Object>& copy) noexcept;
    Status copy_dataset(Object& from, Result<Object>& copy) noexcept;
    Status copy_comment(const Object& from, Object& to) noexcept;
    Status committed_type(Object& user, Address type, NamedDatatype& copy) noexcept;
    Status find_equal_type(DatatypeView type, Address& found) noexcept;

    // In copy_values.cpp.
    bool is_plain(const Object& from, DatatypeView type) noexcept;
    Status choose_created_type(DatatypeView stored, DatatypeView& type) noexcept;
    Status choose_memory_type(DatatypeView stored, DatatypeView& type) noexcept;
    Status copy_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept;
    Status copy_chunks(Dataset& from, Dataset& to, const Dataspace& space) noexcept;
    Status copy_chunks_by_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept;
    Status copy_region(Dataset& from, Dataset& to, const CopiedProperties& properties, const std::uint64_t* start,
                       const std::uint64_t* count) noexcept;
    Status copy_attributes(Object& from, Object& to) noexcept;
    Status copy_attribute(Object& from, const Attribute& attribute, Object& to) noexcept;
    static Status write_value(const Attribute& attribute, const NamedDatatype& committed, Object& to, DatatypeView type,
                              Bytes value) noexcept;
    Status set_references(Object& from, Object& to) noexcept;
    Status translate(Object& from, DatatypeView type, std::size_t count, std::byte* values) noexcept;
    Status translate_one(Object& from, DatatypeView reference, std::byte* value) noexcept;
    Status copy_referenced(Object& from, ConstBytes stored) noexcept;

    FileState& destination_;
    Group root_;  // of the destination's file
    Group& staging_;
    const CopyOptions& options_;
    CopiedObjects copied_;
    OwnedText path_;              // of the object at hand, from the staging group on
    OwnedBytes buffer_;           // values on their way
    OwnedBytes resolved_;         // the same while references are set, when an object that one leads to may be copied
    OwnedBytes type_;             // datatype of these values in memory
    std::size_t base_ = 0;        // length of the path of the tree at hand
    Group* walked_ = nullptr;     // the group where the walk began
    Pending* pending_ = nullptr;  // in the order in which they are resolved
    Pending** last_pending_ = &pending_;
    std::uint32_t numbers_ = 0;    // of links tN and rN
    bool resolving_ = false;       // references get the addresses of the copies
    bool has_references_ = false;  // the object at hand has some that are to be set later
};

}  // namespace h5mote
