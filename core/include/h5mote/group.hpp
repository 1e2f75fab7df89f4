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
};

/// One link of a group.
struct LinkInfo {
    LinkType type = LinkType::hard;
    bool has_order = false;
    std::uint64_t order = 0;             ///< creation order, if tracked
    std::uint64_t address = kUnlimited;  ///< hard links: of the object header
    std::size_t name_length = 0;
    std::size_t target_length = 0;  ///< soft links
};

#if H5MOTE_ALL_FORMATS

class File;

/// How a group keeps its links (H5G_storage_type_t).
enum class LinkStorage : std::uint8_t { symbol_table, compact, dense };

/// What is known of a group (H5G_info_t).
struct GroupInfo {
    LinkStorage storage = LinkStorage::compact;
    std::uint64_t links = 0;
    bool tracks_order = false;   ///< the order in which links were created is kept
    bool indexes_order = false;  ///< and found by an index
    std::int64_t max_order = 0;  ///< creation order of the next link
    bool mounted = false;        ///< another file's root group stands in its place
    /// Group info message: when links change to dense storage and back, and how long names were expected to be.
    std::uint16_t max_compact = 8;
    std::uint16_t min_dense = 6;
    std::uint16_t estimated_links = 4;
    std::uint16_t estimated_name_length = 8;
};

/// What Group::visit() calls. A status other than ok ends the visit and is returned.
class Visitor {
public:
    /// Each link of each group, once. `path`: from the group where the visit began.
    virtual Status link(std::string_view /*path*/, const Link& /*link*/) noexcept { return Status::ok; }
    /// Each object that hard links lead to: once, under the first path by which it is met. The group where the visit
    /// begins comes first, under ".".
    virtual Status object(std::string_view /*path*/, Object& /*object*/) noexcept { return Status::ok; }
    /// The object at `path`, or the rest of that group's links, cannot be read. ok: the visit goes on with what comes
    /// next. By default it ends with the error.
    virtual Status unreadable(std::string_view /*path*/, Status why) noexcept { return why; }

protected:
    Visitor() = default;
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    ~Visitor() = default;
};

#endif

/// A handle of a group. Paths are UTF-8, relative to the group or, with a leading '/', to the root; repeated '/' and
/// "." count for nothing; soft links are followed, at most 16 in one path. The last part of a path that is created must
/// not exist (already_exists), the others must (not_found); invalid_argument: it is empty, ".", longer than 65,535
/// bytes or contains a zero byte. A new object is complete before the link to it is written, and durable after the
/// file's next flush() that returns ok. Errors as for Object.
class Group : public Object {
public:
    Group() noexcept = default;

    Result<Group> create_group(std::string_view path, const GroupCreate& create = {}) noexcept;
    /// not_found: nothing, or an object of another type.
    Result<Group> open_group(std::string_view path) noexcept;
    /// already_exists: an object of another type.
    Result<Group> open_or_create_group(std::string_view path, const GroupCreate& create = {}) noexcept;

    /// A dataset of elements of `type`. invalid_argument: sizes that do not fit each other, a chunk larger than a fixed
    /// dimension, an extensible extent without chunks, filters without chunks, a type that is not one sound message.
    /// unsupported (datatype_class): variable-length data and references, also as parts of the type; (chunk_index):
    /// more than one unlimited dimension; (filter): a mandatory one that the program lacks. over_budget: a filtered
    /// chunk larger than the chunk cache, compact data of more than 64 KiB.
    Result<Dataset> create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                   const DatasetCreate& create = {}) noexcept;
    /// not_found: nothing, or an object of another type (the error trail says which, and which part of a path is
    /// missing).
    Result<Dataset> open_dataset(std::string_view path) noexcept;
    /// invalid_argument: there is a dataset with other maximum dimensions than those of `space`. already_exists: an
    /// object of another type.
    Result<Dataset> open_or_create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                           const DatasetCreate& create = {}) noexcept;

    /// A dataset of C++ records, without a dataspace one of one unlimited dimension: a log.
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create) noexcept {
        return typed<T>(make_dataset(path, datatype_of<T>(), file_type_of<T>(), nullptr, create));
    }
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create,
                                           const Dataspace& space) noexcept {
        return typed<T>(make_dataset(path, datatype_of<T>(), file_type_of<T>(), &space, create));
    }
    /// type_mismatch when the records of the file cannot be converted to T, or lack a member that T has (the error
    /// trail says which). T may have fewer members than they.
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

    /// One more name for an object of the same file. invalid_argument: another file's.
    Status create_hard_link(std::string_view path, const Object& target) noexcept;
    /// A name for a path, which need not exist. invalid_argument: `target` is empty, longer than 65,535 bytes or
    /// contains a zero byte.
    Status create_soft_link(std::string_view path, std::string_view target) noexcept;

    /// Removes the link at the end of the path, which itself is not followed (H5Ldelete). When it was the last hard
    /// link to its object, that goes, too, and its space is used again after the next flush() that returns ok. The link
    /// is gone durably after that flush(); a power cut before leaves it as it was, or has removed it. A cut while one
    /// of several links goes may leave the object's count of links too high by one: it is then never deleted, no more.
    /// Storages that only order writes are written to at once.
    ///
    /// busy: the object would go, but is an open dataset, a group that has links, or mounted over. Other handles of a
    /// group or attribute that goes must not be used any more. unsupported, and nothing is written: links in a symbol
    /// table or dense storage; an object that would go and that has dense attributes, shared messages, a version 1
    /// header, external or virtual data, or chunks in a B-tree. over_budget: a block of its chunk index is larger than
    /// the metadata cache.
    Status unlink(std::string_view path) noexcept;

    /// Whether the path leads to an object.
    bool exists(std::string_view path) noexcept;
    Status link_count(std::uint32_t& count) noexcept;
    /// The i-th link in the order of the header; its name, and the path of a soft link, as far as the buffers reach.
    /// not_found: no such one.
    Status link(std::uint32_t i, LinkInfo& info, Span<char> name, Span<char> target = {}) noexcept;

#if H5MOTE_ALL_FORMATS
    /// not_found: the object is no group. The object stays open then.
    static Result<Group> from(Object&& object) noexcept;
    /// Whatever the path leads to, through links of every kind, also into other files (FileAccess::opener).
    Result<Object> open_object(std::string_view path) noexcept;
    /// The object whose header is at that address of this file.
    Result<Object> open_object_at(Address address) noexcept;
    /// The link at the end of the path, which itself is not followed.
    Status find_link(std::string_view path, Link& link) noexcept;
    Status group_info(GroupInfo& info) const noexcept;

    /// Puts the root group of `file` in the place of the group at `path`, for every path in this file that comes by
    /// there, until unmount() or until this file is closed. `file` may be closed meanwhile; it stays open
    /// as long as it is mounted. already_exists: something is mounted there; invalid_argument: that would close a
    /// circle of mounts.
    Status mount(std::string_view path, File& file) noexcept;
    /// not_found: nothing is mounted at `path`.
    Status unmount(std::string_view path) noexcept;

    /// Walks everything below this group by hard links, each object once, also in files with circles. `order` falls
    /// back to the name where a group does not track creation. Memory: some bytes a level and a group with more than
    /// one hard link.
    Status visit(Visitor& visitor, IndexOrder order = IndexOrder::name,
                 Direction direction = Direction::increasing) noexcept;
#endif

private:
    friend class File;
    Group(FileState& file, Address address) noexcept : Object(file, address) {}

    // `memory` is the datatype of records in memory, `type` that of the file. Without a dataspace: one unlimited
    // dimension.
    Result<Dataset> make_dataset(std::string_view path, DatatypeView memory, DatatypeView type, const Dataspace* space,
                                 const DatasetCreate& create) noexcept;
    Result<Dataset> open_typed(std::string_view path, DatatypeView memory) noexcept;
    Result<Dataset> open_or_make_dataset(std::string_view path, DatatypeView memory, DatatypeView type,
                                         const Dataspace* space, const DatasetCreate& create) noexcept;
    template <typename T>
    static Result<TypedDataset<T>> typed(Result<Dataset>&& opened) noexcept {
        H5MOTE_TRY(opened.status());
        return TypedDataset<T>(static_cast<Dataset&&>(*opened));
    }
};

#if H5MOTE_ALL_FORMATS

/// Walks the links of a group. The group must not change meanwhile.
class LinkIterator {
public:
    LinkIterator(const Group& group, IndexOrder order = IndexOrder::native,
                 Direction direction = Direction::increasing) noexcept;
    LinkIterator(const LinkIterator&) = delete;
    LinkIterator& operator=(const LinkIterator&) = delete;
    ~LinkIterator();

    /// The next link into `link`. not_found after the last one; invalid_argument: creation order of a group that does
    /// not track it. After any other error the next call goes on behind the link that could not be read; where the
    /// walk itself cannot go on it says the same again.
    Status next(Link& link) noexcept;

private:
    struct Walk;

    Object group_;
    Walk* walk_ = nullptr;
    IndexOrder order_;
    Direction direction_;
    Status status_ = Status::ok;
};

#endif

}  // namespace h5mote
