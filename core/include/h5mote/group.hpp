// H5G H5L - groups and the links in them.
#pragma once

#include <h5mote/dataset.hpp>

namespace h5mote {

/// Fixed when a group is created (H5Pcreate(H5P_GROUP_CREATE)).
struct GroupCreate {
    /// Keeps and indexes the order in which links are created (H5P_CRT_ORDER_TRACKED), as h5py's track_order.
    bool track_link_order = false;
    /// Records the port's time at creation in the header (H5Pset_obj_track_times). Later changes do not update it.
    bool track_times = false;
};

enum class LinkType : std::uint8_t { hard = 0, soft = 1, external = 64 };

/// One link of a group.
struct LinkInfo {
    LinkType type = LinkType::hard;
    bool has_order = false;
    std::uint64_t order = 0;             ///< creation order, if tracked
    std::uint64_t address = kUnlimited;  ///< hard links: of the object header
    std::size_t name_length = 0;
    std::size_t target_length = 0;  ///< soft links
};

/// A handle of a group. Paths are UTF-8, relative to the group or, with a leading '/', to the root; repeated '/' and
/// "." count for nothing; soft links are followed, at most 16 in one path. The last part of a path that is created must
/// not exist (already_exists), the others must (not_found). A new object is complete before the link to it is written,
/// and durable after the file's next flush() that returns ok. Errors as for Object.
class Group : public Object {
public:
    Group() noexcept = default;

    Result<Group> create_group(std::string_view path, const GroupCreate& create = {}) noexcept;
    Result<Group> open_group(std::string_view path) noexcept;
    Result<Group> open_or_create_group(std::string_view path, const GroupCreate& create = {}) noexcept;

    /// A dataset of elements of `type`. invalid_argument: sizes that do not fit each other, a chunk larger than a fixed
    /// dimension, an extensible extent without chunks, filters without chunks. unsupported (chunk_index): more than one
    /// unlimited dimension; (filter): a mandatory one that the program lacks. over_budget: a filtered chunk larger than
    /// the chunk cache.
    Result<Dataset> create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                   const DatasetCreate& create = {}) noexcept {
        return make_dataset(path, type, &space, create);
    }
    Result<Dataset> open_dataset(std::string_view path) noexcept;
    Result<Dataset> open_or_create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                           const DatasetCreate& create = {}) noexcept {
        return open_or_make_dataset(path, type, &space, create);
    }

    /// A dataset of C++ records, without a dataspace one of one unlimited dimension: a log.
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create) noexcept {
        return typed<T>(make_dataset(path, file_type_of<T>(), nullptr, create));
    }
    template <typename T>
    Result<TypedDataset<T>> create_dataset(std::string_view path, const DatasetCreate& create,
                                           const Dataspace& space) noexcept {
        return typed<T>(make_dataset(path, file_type_of<T>(), &space, create));
    }
    /// type_mismatch when the records of the file cannot be converted to T.
    template <typename T>
    Result<TypedDataset<T>> open_dataset(std::string_view path) noexcept {
        return typed<T>(open_dataset(path));
    }
    template <typename T>
    Result<TypedDataset<T>> open_or_create_dataset(std::string_view path, const DatasetCreate& create) noexcept {
        return typed<T>(open_or_make_dataset(path, file_type_of<T>(), nullptr, create));
    }
    template <typename T>
    Result<TypedDataset<T>> open_or_create_dataset(std::string_view path, const DatasetCreate& create,
                                                   const Dataspace& space) noexcept {
        return typed<T>(open_or_make_dataset(path, file_type_of<T>(), &space, create));
    }

    /// One more name for an object of the same file. invalid_argument: another file's.
    Status create_hard_link(std::string_view path, const Object& target) noexcept;
    /// A name for a path, which need not exist.
    Status create_soft_link(std::string_view path, std::string_view target) noexcept;

    /// Whether the path leads to an object.
    bool exists(std::string_view path) noexcept;
    Status link_count(std::uint32_t& count) noexcept;
    /// The i-th link in the order of the header; its name, and the path of a soft link, as far as the buffers reach.
    Status link(std::uint32_t i, LinkInfo& info, Span<char> name, Span<char> target = {}) noexcept;

private:
    friend class File;
    Group(FileState& file, Address address) noexcept : Object(file, address) {}

    // Without a dataspace: one unlimited dimension.
    Result<Dataset> make_dataset(std::string_view path, DatatypeView type, const Dataspace* space,
                                 const DatasetCreate& create) noexcept;
    Result<Dataset> open_or_make_dataset(std::string_view path, DatatypeView type, const Dataspace* space,
                                         const DatasetCreate& create) noexcept;
    template <typename T>
    static Result<TypedDataset<T>> typed(Result<Dataset>&& opened) noexcept {
        H5MOTE_TRY(opened->set_memory_type(datatype_of<T>(), opened.status()));
        return TypedDataset<T>(static_cast<Dataset&&>(*opened));
    }
};

}  // namespace h5mote
