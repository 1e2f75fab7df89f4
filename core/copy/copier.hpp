// H5O (H5Ocopy) - one call of copy_object().
//
// Everything is copied into a staging group, to which no link leads: so nothing of an unfinished copy is ever visible,
// and what a power cut leaves of it is unused space. When the copy is complete, its root gets its link, and the staging
// group is deleted with the links that it still has. The staging group has
//
//   copy         the object that is copied
//   tN           committed datatypes that are used by what is copied, and were not met as objects before
//   rN           objects that only references lead to
//   xN           objects that only expanded links lead to
//
// Links that are to be expanded, and references, may lead to objects that are copied anyway. They are therefore noted
// while the tree is walked, and resolved afterwards, one after the other; what is copied then may bring more of them.
// References come last. In a copy of a whole file everything has its copy by then: what only references lead to, which
// may have been deleted long ago, gets none, and these references become null, as with h5repack.
#pragma once

#include "copied_objects.hpp"
#include "cursor.hpp"
#include "file_state.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/copy.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote {

/// The datatype in which the destination's file stores values.
struct StoredForm {
    explicit StoredForm(Context& context) noexcept : bytes(context, MemoryKind::type) {}

    DatatypeView type;
    OwnedBytes bytes;  ///< of `type`, if these are not those of the original
};

/// The creation properties of a dataset, with the memory that they refer to.
class CopiedProperties {
public:
    CopiedProperties(const CopiedProperties&) = delete;
    CopiedProperties& operator=(const CopiedProperties&) = delete;
    ~CopiedProperties();

    explicit CopiedProperties(Context& context) noexcept
        : context_(context),
          type_(context, MemoryKind::type),
          fill_(context),
          values_(context),
          pipeline_(context),
          files_(context) {}

    Status read(Dataset& from) noexcept;
    /// What the header has besides messages.
    void set_prefix(const AttributesOrDefault& attributes, bool times) noexcept {
        create_.attributes = attributes;
        create_.track_times = times;
    }
    const DatasetInfo& info() const noexcept { return info_; }
    const DatasetCreate& create() const noexcept { return create_; }
    DatatypeView type() const noexcept { return view_; }
    const Dataspace& space() const noexcept { return space_; }
    /// The filters as a message, version 2.
    ConstBytes pipeline() const noexcept { return pipeline_.first(pipeline_size_); }
    /// Puts another fill value of `size` bytes in the place of that which was read, and gives its place; the old one is
    /// valid until the next call.
    Status replace_fill(std::size_t size, ConstBytes& old, Bytes& fill) noexcept;

private:
    Status read_chunks(Dataset& from) noexcept;
    Status read_filters(Dataset& from) noexcept;
    Status read_external(Dataset& from) noexcept;
    Status read_mappings(Dataset& from) noexcept;
    // A mapping of a virtual dataset with the memory that it refers to.
    struct Mapping;
    Status add_to_pipeline(const FilterSpec& spec, std::string_view name) noexcept;

    Context& context_;
    DatasetInfo info_;
    DatasetCreate create_;
    Dataspace space_;
    DatatypeView view_;
    OwnedBytes type_;
    OwnedBytes fill_;
    OwnedBytes values_;  // client data of filters
    OwnedBytes pipeline_;
    std::size_t pipeline_size_ = 0;
    OwnedBytes files_;  // external files, and behind them their names
    Mapping* mappings_ = nullptr;
    std::size_t mapping_count_ = 0;
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
    /// What is resolved first in, first out.
    struct Queue {
        void add(Pending& added) noexcept;
        Pending* take() noexcept;

        Pending* first = nullptr;
        Pending** end = &first;
    };

    /// `staging`: an empty group of the destination's file. `whole`: the copy is one of a whole file.
    Copier(Group& destination, Group& staging, const CopyOptions& options, bool whole) noexcept;

    static Status fill_root(Group& source, Group& destination, Group& staging, const CopyOptions& options) noexcept;

    /// Copies `from` and what belongs to it to the link `copy` of the staging group.
    Status run(Object& from) noexcept;
    /// Makes the link `name` to the copy when it is complete, and before it those in the root group to the copies of
    /// objects that only references lead to.
    Status make_visible(Group& destination, std::string_view name) noexcept;
    Status note_referenced(Address copy) noexcept;
    Address referenced(std::size_t i) const noexcept;
    Status link_referenced() noexcept;
    /// Takes back what link_referenced() has done.
    void unlink_referenced() noexcept;

    Context& context() const noexcept { return destination_.context; }
    static FileState& file_of(const Object& object) noexcept { return *object.file_; }
    bool is_same_file(const Object& from) const noexcept { return &file_of(from) == &destination_; }
    Address copy_of(const Object& from, Address address) const noexcept {
        return copied_.find(&file_of(from), address);
    }

    // What the walk over the source shows. Paths are those of the walk.
    Status link(std::string_view path, const Link& link) noexcept override;
    Status object(std::string_view path, Object& object) noexcept override;
    bool enters(std::string_view path) noexcept override;

    Status copy_tree(Object& from, std::string_view to) noexcept;
    Status copy_beside(Object& from, std::string_view to) noexcept;
    Status walk_links(Group& from) noexcept;
    Pending* take_pending() noexcept;
    Status resolve(Pending& pending) noexcept;
    Status make_expanded(const Pending& pending, Address copy) noexcept;
    Status note(Object&& object, std::string_view to, Address copy, bool unfinished = false,
                const Link* link = nullptr) noexcept;
    Status expand(std::string_view path, const Link& link, bool& expanded) noexcept;
    Status set_path(std::string_view path) noexcept;
    Status keep_character_set(const Link& link) noexcept;
    Status finish_link() noexcept;
    Status keep_order(std::int64_t order) noexcept;
    Status keep_next_order(Object& from, const Object& to) noexcept;
    Status make_link(const Link& link) noexcept;
    Status number_name(char kind, OwnedText& name) noexcept;

    // In copy_objects.cpp.
    Status copy_one(Object& from) noexcept;
    Status finish(Object& from, Object& to) noexcept;
    Status copy_group(Object& from, const ObjectInfo& facts, Result<Object>& copy) noexcept;
    Status copy_datatype(Object& from, const ObjectInfo& info, Result<Object>& copy) noexcept;
    Status copy_dataset(Object& from, const ObjectInfo& info, Result<Object>& copy) noexcept;
    Status copy_fill(Object& from, CopiedProperties& properties, DatatypeView type) noexcept;
    Status copy_comment(const Object& from, Object& to) noexcept;
    Status committed_type(Object& user, Address type, NamedDatatype& copy) noexcept;
    Status merge_datatype(Object& from) noexcept;
    Status find_equal_type(const Object& user, Address address, DatatypeView type, Address& found) noexcept;

    // In copy_values.cpp.
    Status copy_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept;
    Status copy_chunks(Dataset& from, Dataset& to, const Dataspace& space) noexcept;
    Status copy_chunks_by_elements(Dataset& from, Dataset& to, const CopiedProperties& properties) noexcept;
    Status clear_edge(const Dataset& from, Dataset& to, const CopiedProperties& properties,
                      Span<const std::uint64_t> offset) noexcept;
    Status copy_region(Dataset& from, Dataset& to, const CopiedProperties& properties, const std::uint64_t* start,
                       const std::uint64_t* count) noexcept;
    Status copy_attributes(Object& from, Object& to) noexcept;
    Status copy_attribute(Object& from, const Attribute& attribute, Object& to) noexcept;
    Status set_references(Object& from, Object& to) noexcept;

    // In copy_stored.cpp.
    static bool has_references(DatatypeView type) noexcept;
    static bool has_variable_data(DatatypeView type) noexcept;
    /// Whether values are the same bytes in the copy.
    bool is_plain(const Object& from, DatatypeView type) const noexcept;
    /// Whether values are copied when all objects are, because references in them lead to the copies. Notes that there
    /// are some.
    bool is_deferred(const Object& from, DatatypeView type) noexcept;
    Status choose_stored_form(const Object& from, DatatypeView type, StoredForm& stored) noexcept;
    /// Gives up what values that no object of the destination's file has refer to in the heap.
    void discard(DatatypeView type, const std::byte* values, std::size_t count) noexcept;
    /// Makes the values of the copy, `count` zeros at `out`, from those of the original. After an error those that are
    /// not zero have to be discarded.
    Status put_values(Object& from, DatatypeView in_type, DatatypeView out_type, std::size_t count, const std::byte* in,
                      std::byte* out) noexcept;
    Status put_compounds(Object& from, DatatypeView in_type, DatatypeView out_type, std::size_t count,
                         const std::byte* in, std::byte* out) noexcept;
    Status put_sequence(Object& from, DatatypeView in_type, DatatypeView out_type, const std::byte* in,
                        std::byte* out) noexcept;
    Status put_reference(Object& from, DatatypeView in_type, DatatypeView out_type, const std::byte* in,
                         std::byte* out) noexcept;
    Status put_reference_data(Object& from, ReferenceType type, ConstBytes stored, Address address,
                              Writer& writer) noexcept;
    Status bound_region(ConstBytes& value, OwnedBytes& encoded) noexcept;
    Status copy_referenced(Object& from, ReferenceType type, ConstBytes stored) noexcept;

    FileState& destination_;
    Group root_;  // of the destination's file
    Group& staging_;
    const CopyOptions& options_;
    CopiedObjects copied_;
    OwnedText path_;         // of the object at hand, from the staging group on
    OwnedBytes buffer_;      // values on their way
    OwnedBytes resolved_;    // the same while references are set, when an object that one leads to may be copied
    OwnedBytes referenced_;  // addresses of the copies rN
    std::size_t referenced_count_ = 0;
    std::size_t base_ = 0;         // length of the path of the tree at hand
    Group* walked_ = nullptr;      // the group where the walk began
    Queue unfinished_;             // links that are to be expanded, and copies that lack attributes
    Queue complete_;               // copies that have references, and groups whose next link has its number
    const bool whole_;             // objects that only references lead to are not copied
    std::uint32_t numbers_ = 0;    // of links tN and rN
    bool resolving_ = false;       // references get the addresses of the copies
    bool gaps_ = false;            // a group whose links do not have the numbers 0, 1, 2 ...
    bool has_references_ = false;  // the object at hand has some that are to be set later
    bool other_set_ = false;       // the name of the link at hand does not tell that its character set is `set_`
    CharacterSet set_ = CharacterSet::ascii;
    bool merged_ = false;  // the object at hand is a datatype that the destination's file had
    bool is_new_ = false;  // the object at hand had no copy before
};

}  // namespace h5mote
