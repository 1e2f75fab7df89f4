// H5G H5L - groups and the links in them.
#pragma once

#include <h5mote/dataset.hpp>
#include <h5mote/link.hpp>

namespace h5mote {

/// Fixed when a group is created (H5Pcreate(H5P_GROUP_CREATE)).
struct GroupCreate {
    /// Keeps and indexes the order in which links are created (H5P_CRT_ORDER_TRACKED), as h5py's track_order.
    bool track_link_order = false;
    /// Records the port's time at creation in the header (H5Pset_obj_track_times). Later changes do not update it.
    bool track_times = false;
    /// With more links than max_compact the group keeps them in dense storage, and with fewer than min_dense in its
    /// header again (H5Pset_link_phase_change). They are stored if they differ from the defaults. Programs without
    /// formats::dense_changes store them for others, and keep their own links in the header. invalid_argument:
    /// max_compact is less than min_dense.
    std::uint16_t max_compact = 8;
    std::uint16_t min_dense = 6;
    /// How many links of which name length are expected (H5Pset_est_link_info). Stored if they differ from the
    /// defaults.
    std::uint16_t estimated_links = 4;
    std::uint16_t estimated_name_length = 8;
    /// How the group keeps its attributes.
    AttributesOrDefault attributes{};
    /// As AttributesCreate::unindexed_order, for links.
    std::conditional_t<H5MOTE_ALL_FORMATS != 0, bool, NoFlag> unindexed_link_order{};
};

/// One link of a group.
struct LinkInfo {
    LinkType type = LinkType::hard;
    bool has_order = false;
    std::uint64_t order = 0;             ///< creation order, if tracked
    std::uint64_t address = kUnlimited;  ///< address of the object header, for hard links
    std::size_t name_length = 0;
    std::size_t target_length = 0;  ///< length of the path, for soft links
};

class File;
class NamedDatatype;
struct StoredDataset;

/// How a group keeps its links (H5G_storage_type_t).
enum class LinkStorage : std::uint8_t { symbol_table, compact, dense };

/// What is known of a group (H5G_info_t).
struct GroupInfo {
    LinkStorage storage = LinkStorage::compact;
    std::uint64_t links = 0;
    bool tracks_order = false;   ///< the order in which links were created is kept
    bool indexes_order = false;  ///< an index finds the links by that order
    std::int64_t max_order = 0;  ///< creation order of the next link
    bool mounted = false;        ///< another file's root group stands in its place
    /// From the group info message: at how many links their storage becomes dense and compact again, and how many links
    /// of which name length were expected.
    std::uint16_t max_compact = 8;
    std::uint16_t min_dense = 6;
    std::uint16_t estimated_links = 4;
    std::uint16_t estimated_name_length = 8;
};

/// What Group::visit() calls. A status other than ok ends the visit and is returned.
class Visitor {
public:
    /// Called once for each link of each group. `path` begins at the group where the visit began.
    virtual Status link(std::string_view /*path*/, const Link& /*link*/) noexcept { return Status::ok; }
    /// Called once for each object that hard links lead to, under the first path by which it is met. The group where
    /// the visit begins comes first, under ".".
    virtual Status object(std::string_view /*path*/, Object& /*object*/) noexcept { return Status::ok; }
    /// Asked for each group after object(): whether the links of the group are visited as well.
    virtual bool enters(std::string_view /*path*/) noexcept { return true; }
    /// Called when the object at `path`, or the rest of the links of the group at `path`, cannot be read; `why` is the
    /// error. Returning ok makes the visit go on with what comes next; the default ends it with the error.
    virtual Status unreadable(std::string_view /*path*/, Status why) noexcept { return why; }

protected:
    Visitor() = default;
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    ~Visitor() = default;
};

/// A handle of a group. Paths are UTF-8. They begin at the group or, with a leading '/', at the root group; repeated
/// '/' and "." have no meaning. Soft links are followed, at most 16 in one path. Of a path that a call creates, the
/// last part must not exist yet (already_exists), and the parts before it must (not_found). invalid_argument: the last
/// part is empty or ".", longer than 65,535 bytes, or contains a zero byte. A new object is complete before the link to
/// it is written, and durable after the file's next flush() that returns ok. Errors as for Object.
///
/// A path may lead into another file, through external links (FileAccess::opener) or a mount: what the last part names
/// is then created, moved or removed there. A file that an external link leads to can be changed if the file with the
/// link can, and if the opener and the file allow it; otherwise it is opened for reading, and changes are read_only.
/// What a call changes there is durable when the call returns ok, if it returns no handle. What was created, or is
/// changed through a handle of an object there, is durable after the next flush() or close() that returns ok of the
/// File whose link led there. When the last handle of an object there ends, that file closes, and an error of that goes
/// to the port's log: flush before.
class Group : public Object {
public:
    Group() noexcept = default;

    Result<Group> create_group(std::string_view path, const GroupCreate& create = {}) noexcept;
    /// not_found: nothing is there, or an object that is no group.
    Result<Group> open_group(std::string_view path) noexcept;
    /// already_exists: an object that is no group is there.
    Result<Group> open_or_create_group(std::string_view path, const GroupCreate& create = {}) noexcept;
    /// open_or_create_group() for each part of the path in turn, so that groups on the way that are missing are created
    /// as well (H5Pset_create_intermediate_group), all with the same properties; returns the last one. After an error
    /// the groups that the call has created are removed again, unless the storage is full or fails. After a power cut
    /// before the next flush() that returns ok the upper ones may be there without the others.
    Result<Group> open_or_create_groups(std::string_view path, const GroupCreate& create = {}) noexcept;

    /// Creates a dataset of elements of `type`. invalid_argument: sizes that do not fit each other or that
    /// Dataset::set_extent() does not take, a chunk larger than a fixed dimension, an extensible extent without chunks,
    /// filters without chunks, a mandatory filter that can never encode behind those before it (FilterTarget::resized),
    /// or a `type` that is not one sound datatype message; for variable-length data, which have the form of memory in
    /// `type`, also no defined fill value. unsupported (datatype_class): such data in a program without
    /// formats::variable_length_changes; (chunk_index): an extent whose chunk index the program or
    /// build lacks; (filter): a mandatory filter that the program lacks. over_budget: a filtered chunk larger than the
    /// chunk cache, compact data of more than 65,531 bytes, more than one unlimited dimension (one in a file whose
    /// lengths have 2 or 4 bytes) and a metadata cache of less than 2,560 bytes, no unlimited dimension and more chunks
    /// than it has room for: 600 bytes, and one for each 256 chunks; or what does not fit a message of the header,
    /// 65,535 bytes: a datatype of that many bytes when it is encoded, a fill value of more than 65,529 bytes (65,520
    /// with the earliest versions), some 2,700 external files. overflow: more chunks than a file can have.
    Result<Dataset> create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                   const DatasetCreate& create = {}) noexcept;
    /// not_found: nothing is there, or an object that is no dataset; the error trail says which type the object has, or
    /// which part of the path is missing.
    Result<Dataset> open_dataset(std::string_view path) noexcept;
    /// invalid_argument: the dataset exists and has other maximum dimensions than `space`. already_exists: an object
    /// that is no dataset is there.
    Result<Dataset> open_or_create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                           const DatasetCreate& create = {}) noexcept;

    /// Makes `type` an object of the file with that name (H5Tcommit), whose datatype datasets and attributes can share.
    /// `attributes`: how the object keeps attributes of its own. Errors of create_dataset() that concern the type, and
    /// those of AttributesCreate.
    Result<NamedDatatype> commit_datatype(std::string_view path, DatatypeView type,
                                          const AttributesOrDefault& attributes = {}) noexcept;
    /// Creates a dataset whose datatype is a committed one: its header refers to that object, which cannot be deleted
    /// as long as it is used. invalid_argument: the datatype belongs to another file than the dataset.
    Result<Dataset> create_dataset(std::string_view path, const NamedDatatype& type, const Dataspace& space,
                                   const DatasetCreate& create = {}) noexcept;

    /// Creates a dataset of C++ records. Without a dataspace it is a log: one unlimited dimension.
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create) noexcept {
        return typed<T>(make_dataset(path, datatype_of<T>(), file_type_of<T>(), nullptr, create));
    }
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create,
                                           const Dataspace& space) noexcept {
        return typed<T>(make_dataset(path, datatype_of<T>(), file_type_of<T>(), &space, create));
    }
    /// type_mismatch: the records in the file cannot be converted to T, or lack a member that T has (the error trail
    /// says which). T may have fewer members than the records.
    template <typename T>
    Result<TypedDataset<T>> open_dataset(std::string_view path) noexcept {
        return typed<T>(open_typed(path, datatype_of<T>()));
    }
    template <typename T>
    Result<TypedDataset<T>> open_or_create_dataset(std::string_view path, const DatasetCreate& create) noexcept {
        return typed<T>(open_or_make_dataset(path, datatype_of<T>(), file_type_of<T>(), nullptr, create));
    }
    template <typename T>
    Result<TypedDataset<T>> open_or_create_dataset(std::string_view path, const DatasetCreate& create,
                                                   const Dataspace& space) noexcept {
        return typed<T>(open_or_make_dataset(path, datatype_of<T>(), file_type_of<T>(), &space, create));
    }

    /// Gives an object one more name. invalid_argument: the object belongs to another file than the group of the name.
    Status create_hard_link(std::string_view path, const Object& target) noexcept;
    /// Creates a link that stands for the path `target`, where nothing need exist. invalid_argument: `target` is empty,
    /// longer than 65,535 bytes or contains a zero byte.
    Status create_soft_link(std::string_view path, std::string_view target) noexcept;
    /// Creates a link to the object at `target`, a path from the root group, of the file of that name, neither of which
    /// need exist. As libhdf5 does, it stores the path without repeated and final '/'. invalid_argument: a name is
    /// empty or contains a zero byte, or both together have more than 65,532 bytes.
    Status create_external_link(std::string_view path, std::string_view file_name, std::string_view target) noexcept;
    /// Creates a user-defined link (H5Lcreate_ud) of the class `type`, 65 to 255, with `data` for whoever resolves it
    /// (FileAccess::link_resolver). invalid_argument: another class, or more than 65,535 bytes.
    Status create_user_link(std::string_view path, LinkType type, ConstBytes data) noexcept;

    /// Gives the link at `from` the path `to` (H5Lmove), from this group or, in move_link(), from `group`, in the same
    /// file. The link keeps its kind; a soft link at `from` is not followed. It gets the next
    /// creation order of the group where it is then. Open handles of the object stay valid.
    ///
    /// A power cut before the next flush() that returns ok leaves the object under its old name or the new one. If the
    /// two are in different groups, or in one that has many links or was packed by libhdf5, it may also be there under
    /// both, and its count of links may be too high by one or two, as with unlink(); on a storage whose sync is no
    /// commit the call itself may then write and sync. It may have both names, too, after no_space, and after
    /// out_of_memory or io_error when the new name could not be removed again.
    ///
    /// already_exists: there is a link at `to`, also if that is the same as `from`. invalid_argument: both paths do not
    /// end in the same file, or `from` ends in no name. unsupported: one of the groups keeps its links where they
    /// cannot be changed. A group that is moved below itself can no longer be reached.
    Status rename(std::string_view from, std::string_view to) noexcept { return move_link(from, *this, to); }
    Status move_link(std::string_view from, const Group& group, std::string_view to) noexcept;
    /// Makes a second link like that at `from` (H5Lcopy): one more hard link to the same object, or a link with the
    /// same target. Errors as for move_link().
    Status copy_link(std::string_view from, const Group& group, std::string_view to) noexcept;

    /// Removes the link at the end of the path; a soft link there is not followed (H5Ldelete). When it was the last
    /// hard link to its object, the object is deleted, too, and its space is used again after the next flush() that
    /// returns ok. But what its elements and attributes have in the global heap, as strings, sequences and references
    /// do, is found by File::reclaim() only, or by the next opening with FileAccess::reclaim.
    ///
    /// The link is gone durably after that flush(); a power cut before it leaves the link as it was, or removed. A
    /// power cut while one of several hard links is removed, and an error of the storage then, which unlink() need not
    /// return, may leave the object's count of links too high by one. Such an object is never deleted: unlink() of a
    /// group that has links is then ok, and what was below it can no longer be reached. On a storage whose sync is no
    /// commit (Capabilities::sync_is_commit) the call itself may write and sync, to keep the order of the changes.
    ///
    /// busy: the object would be deleted, but it is an open dataset, a group that has links, or a group over which a
    /// file is mounted. Other handles of a group, committed datatype or attribute that is deleted must not be used any
    /// more. unsupported, and nothing is written: the link stands in a symbol table or in dense storage, which the
    /// program cannot change (formats::symbol_table_changes, dense_changes); or the object would be deleted and has
    /// such links or attributes, messages in the heap of shared ones, or external or virtual data. over_budget: a block
    /// of the chunk index is larger than the metadata cache. no_space: the link is in dense storage, as in groups of
    /// more than eight, and the storage is full: what changes is copied first, which takes about 1 KiB. As long as a
    /// file with such groups is open, whatever else is allocated leaves 4 KiB of the storage for that, which is enough
    /// for three removals between two flush(). It is not there when the file was full before, when the storage cannot
    /// keep room in advance (a disk, as PosixDriver says), and in files in parts with addresses of their own
    /// (MultiDriver). A dataset can make the room, too, for set_extent({0}) takes none: its space can be used after
    /// three flush() that returned ok.
    Status unlink(std::string_view path) noexcept;
    /// The same for the link at `position`, counted from 0, among the links of the group at `path` in that order
    /// (H5Ldelete_by_idx). not_found: there are fewer links. invalid_argument: the group does not track creation order.
    Status unlink(std::string_view path, IndexOrder order, Direction direction, std::uint64_t position) noexcept;

    /// unlink(), but if the link is the last one to a group, the links of that group are removed before it, and so on
    /// (what H5Ldelete does to groups). Each link is removed by itself: after an error, or a power cut, some may be
    /// gone and others not. Memory for the longest path. corrupt_file: the links go round in circles, though each is
    /// the last one to its group, or have names that no path can have.
    Status unlink_tree(std::string_view path) noexcept;

    /// Whether the path leads to an object. After an error, of the storage for instance, it does not: a program that
    /// decides by the answer what to delete or to create calls the second one, whose `found` is the answer if it
    /// returns ok.
    bool exists(std::string_view path) noexcept;
    Status exists(std::string_view path, bool& found) noexcept;
    Status link_count(std::uint32_t& count) noexcept;
    /// The i-th link in the order of the object header. `name` gets its name, and `target`, unless it is empty, the
    /// path of a soft link. invalid_argument: one of them is too short; LinkInfo says how long they are. not_found:
    /// there is no i-th link.
    Status link(std::uint32_t i, LinkInfo& info, Span<char> name, Span<char> target = {}) noexcept;

    /// Turns a handle of an object into a handle of the group that the object is, and leaves `object` empty. not_found:
    /// it is no group; `object` stays as it was.
    static Result<Group> from(Object&& object) noexcept;
    /// Opens whatever the path leads to, through links of every kind, also into other files (FileAccess::opener).
    Result<Object> open_object(std::string_view path) noexcept;
    /// Opens the object whose header is at that address of this file.
    Result<Object> open_object_at(Address address) noexcept;
    /// Reads the link at the end of the path, which is not followed.
    Status find_link(std::string_view path, Link& link) noexcept;
    Status group_info(GroupInfo& info) const noexcept;

    /// Puts the root group of `file` in the place of the group at `path`: every path in this file that passes there
    /// goes on in `file`, until unmount() or until this file is closed. The program may close its handle of `file`
    /// meanwhile; the file stays open as long as it is mounted. already_exists: something is mounted there.
    /// invalid_argument: the mount would close a circle of mounts.
    H5MOTE_NEEDS_ALL_FORMATS Status mount(std::string_view path, File& file) noexcept;
    /// Ends that. If no File handle of the mounted file is left, it closes now, as FileAccess::close_degree says;
    /// errors of File::close(). not_found: nothing is mounted at `path`.
    H5MOTE_NEEDS_ALL_FORMATS Status unmount(std::string_view path) noexcept;

    /// Walks over everything below this group along hard links, each object once, also where the links form circles.
    /// Groups that do not track creation order are walked by name when `order` asks for creation order. What is mounted
    /// below is not visited, but the group that it hides (H5Ovisit goes into mounted files). The visitor may change the
    /// file, with what LinkIterator says of that. Memory: a few bytes for each level, and for each object with more
    /// than one hard link.
    Status visit(Visitor& visitor, IndexOrder order = IndexOrder::name,
                 Direction direction = Direction::increasing) noexcept;

private:
    friend class File;
    friend class Copier;
    Group(FileState& file, Address address) noexcept : Object(file, address) {}

    // `memory` is the datatype of the records in memory, `type` that in the file. Without a dataspace the dataset has
    // one unlimited dimension.
    Result<Dataset> make_dataset(std::string_view path, DatatypeView memory, DatatypeView type, const Dataspace* space,
                                 const DatasetCreate& create) noexcept;
    // move_link() or copy_link(), as `call` says, when it may be in another file that both of its paths end.
    using Relocate = Status (Group::*)(std::string_view, const Group&, std::string_view) noexcept;
    Status relocate(std::string_view from, const Group& group, std::string_view to, Relocate call) noexcept;
    // Creates a dataset whose properties are those of another one. A committed datatype is given by its header.
    Result<Dataset> make_copy(std::string_view path, const StoredDataset& dataset) noexcept;
    // commit_datatype() without the check that values of the type can be written.
    Result<NamedDatatype> commit_stored(std::string_view path, DatatypeView type, const AttributesOrDefault& attributes,
                                        bool track_times = false) noexcept;
    Result<Dataset> open_typed(std::string_view path, DatatypeView memory) noexcept;
    Result<Dataset> open_or_make_dataset(std::string_view path, DatatypeView memory, DatatypeView type,
                                         const Dataspace* space, const DatasetCreate& create) noexcept;
    template <typename T>
    static Result<TypedDataset<T>> typed(Result<Dataset>&& opened) noexcept {
        H5MOTE_TRY(opened.status());
        return TypedDataset<T>(static_cast<Dataset&&>(*opened));
    }
};

/// Walks over the links of a group. In builds with H5MOTE_ALL_FORMATS the group may change between two calls of next(),
/// and be deleted, which ends the walk; in others it must not. In the order of names or of creation each link that is
/// there all the time is then passed once, if no link behind the current one was removed and none before it was added;
/// otherwise, and in native order, some may be passed twice or not at all. Those that were added may be passed or not.
class LinkIterator {
public:
    LinkIterator(const Group& group, IndexOrder order = IndexOrder::native,
                 Direction direction = Direction::increasing) noexcept;
    LinkIterator(const LinkIterator&) = delete;
    LinkIterator& operator=(const LinkIterator&) = delete;
    ~LinkIterator();

    /// Reads the next link into `link`. not_found: there are no more. invalid_argument: the walk is by creation order,
    /// which the group does not track. After any other error the next call goes on behind the link that could not be
    /// read; where the walk itself cannot go on, it returns the same error again.
    Status next(Link& link) noexcept;

private:
    struct Walk;

    Object group_;
    Walk* walk_ = nullptr;
    IndexOrder order_;
    Direction direction_;
    Status status_ = Status::ok;
};

}  // namespace h5mote
