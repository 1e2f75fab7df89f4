// H5F - handles of files: create, open, flush, close, mount.

#include "creation_check.hpp"
#include "dense_storage.hpp"
#include "file_state.hpp"
#include "free_space_format.hpp"
#include "links.hpp"
#include "multi_changes_format.hpp"
#include "place.hpp"
#include "shared_changes.hpp"
#include "superblock_extension.hpp"

#include <h5mote/file.hpp>

namespace h5mote {
namespace {

// Whether the storage holds no file: it was never written, or only up to the first sync of a creation, so that the
// bytes of the superblock are all zero or all erased. No more than kMinSize bytes are looked at: with short addresses
// the root group's header, which is written first, comes soon after them. A user block may be of zeros, too: the
// superblock comes behind it then. `user_block`: of the file that would be made; what it has is the program's.
Status is_blank(FileState& file, std::uint64_t user_block, bool& blank) noexcept {
    Driver& driver = file.driver;
    std::uint64_t size = 0;
    H5MOTE_TRY(driver.end_of_file(size));
    std::byte bytes[Superblock::kMinSize];
    const std::uint64_t behind = size < user_block ? 0 : size - user_block;
    const std::size_t count = behind < sizeof bytes ? static_cast<std::size_t>(behind) : sizeof bytes;
    H5MOTE_TRY(driver.read(Usage::superblock, count == 0 ? 0 : user_block, {bytes, count}));
    const std::byte erased{driver.capabilities().erased_value};
    bool zeros = true;
    bool never = true;
    for (std::size_t i = 0; i < count; ++i) {
        zeros = zeros && bytes[i] == std::byte{0};
        never = never && bytes[i] == erased;
    }
    blank = zeros || never;
    std::uint64_t base = 0;
    const Status located = blank ? file.locate(size, base) : Status::not_hdf5;
    blank = blank && located == Status::not_hdf5;
    return located == Status::not_hdf5 ? Status::ok : located;
}

// What FileAccess::metadata_cache must have for the root group. Its symbol table takes 1088 bytes where the nodes of
// its B-tree have the usual size.
std::size_t least_metadata_cache([[maybe_unused]] const FileAccess& access, const FileCreate& create) noexcept {
    constexpr std::size_t kLeast = 1024;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const FileShape shape{create.sizeof_addr, 8};
        const BTreeK& k = create.btree_k;
        const std::size_t node = BTree1Node::size(shape, k.group_internal, shape.sizeof_size);
        const std::size_t usual = BTree1Node::size(shape, BTreeK{}.group_internal, shape.sizeof_size);
        if (access.low == FormatVersion::earliest && 1088 + node > kLeast + usual) {
            return 1088 + node - usual;
        }
    }
    return kLeast;
}

// Whether a file can be made like that. Whatever the storage holds is lost as soon as one is begun, so that everything
// that can be known before is looked at before.
Status check_creation(FileState& file, [[maybe_unused]] const FileAccess& access, const FileCreate& create) noexcept {
    const std::size_t least = least_metadata_cache(access, create);
    if (access.metadata_cache < least) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::over_budget, 0, least);
    }
    H5MOTE_TRY(check_attributes(file.context, create.attributes));
    const SuperblockInfo* const info = file.storage().superblock_info();
    if (info != nullptr && file.context.formats().superblock_extension == nullptr) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension);
    }
    const bool ranges = file.storage().usage_ranges() != nullptr;
    if (ranges ? info == nullptr || !has_default_space(create) : info != nullptr && info->name == "NCSAmult") {
        return file.context.unsupported(Module::file, H5MOTE_HERE,
                                        info == nullptr || !ranges ? Feature::driver : Feature::free_space);
    }
    // The family driver of libhdf5 leaves the user block out when it computes how much of a member may be read, and
    // opens no such file.
    if (info != nullptr && create.user_block != 0) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::base_address);
    }
    if (const FreeSpaceFormat* const format = file.context.formats().free_space) {
        H5MOTE_TRY(format->check(file, create));
    } else if (!has_default_space(create)) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::free_space);
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        return check_other_formats(file, access, create);
    }
    return Status::ok;
}

// check_creation() has found that the file can be made.
Status make_root(FileState& file, const FileCreate& create) noexcept {
    Address root = 0;
    const SuperblockInfo* const info = file.storage().superblock_info();
    if (const FreeSpaceFormat* const format = file.context.formats().free_space) {
        H5MOTE_TRY(format->create(file, create));
    }
    // Where free space has an extension made, the information is in it already.
    if (info != nullptr && file.superblock().extension == kUndefinedAddress) {
        H5MOTE_TRY(file.context.formats().superblock_extension->store_driver_info(file, *info));
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (!create.btree_k.is_default() && !file.superblock().is_old()) {
            H5MOTE_TRY(file.context.formats().superblock_extension->store_btree_k(file));
        }
        if (!create.shared_messages.empty()) {
            H5MOTE_TRY(file.context.formats().shared_message_changes->create(file, create));
        }
    }
    if (file.space.ranges() != nullptr) {
        H5MOTE_TRY(file.context.formats().multi_changes->find_information(file));
    }
    GroupCreate properties;
    properties.track_link_order = create.track_link_order;
    properties.attributes = create.attributes;
    H5MOTE_TRY(create_group_object(file, properties, root));
    file.set_root(root);
    return file.commit();
}

Status check_root(FileState& file) noexcept {
    ObjectType type = ObjectType::group;
    H5MOTE_TRY(object_type(file, file.root(), type));
    return type == ObjectType::group
               ? Status::ok
               : file.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, file.root());
}

// What FileAccess::reclaim asks for.
Status find_lost_space(FileState& file) noexcept {
    const Formats& formats = file.context.formats();
    if (file.space.ranges() != nullptr) {
        return Status::ok;  // lost space of files with several ranges is not found
    }
    if (formats.reclaim == nullptr) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::reclaim);
    }
    if (formats.free_space != nullptr && formats.free_space->is_complete(file)) {
        return Status::ok;
    }
    std::uint64_t bytes = 0;
    const Status status = formats.reclaim->search(file, file.reclaim_memory(), bytes);
    // Nothing is found in a file that is damaged or not understood, nor in one that has no room for its own record of
    // free space to be changed. It can be used all the same.
    const bool not_found = status == Status::corrupt_file || status == Status::unsupported ||
                           status == Status::over_budget || status == Status::no_space;
    return not_found ? Status::ok : status;
}

// Opens the file that the storage holds, or makes one. The storage is locked, so that nobody else makes one meanwhile.
Status fill(FileState& file, const FileAccess& access, const FileCreate* create, bool replace) noexcept {
    bool make = replace;
    if (create != nullptr && !replace) {
        H5MOTE_TRY(is_blank(file, create->user_block, make));
    }
    if (make) {
        if constexpr (H5MOTE_WRITE == 0) {
            return file.context.fail(Module::file, H5MOTE_HERE, Status::read_only);
        }
        H5MOTE_TRY(check_creation(file, access, *create));
        H5MOTE_TRY(file.create(access, *create));
        return make_root(file, *create);
    }
    std::uint64_t size = 0;
    H5MOTE_TRY(file.driver.end_of_file(size));
    if (size == 0) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::not_found);
    }
    H5MOTE_TRY(file.open(access));
    const Formats& formats = file.context.formats();
    if (file.superblock().leads_further()) {
        const SuperblockExtensionFormat* const format = formats.superblock_extension;
        if (format != nullptr) {
            H5MOTE_TRY(file.superblock().is_old() ? format->read_driver_info(file) : format->load(file));
        } else if (formats.free_space == nullptr || file.superblock().is_old()) {
            return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension);
        }
    }
    if (formats.free_space != nullptr) {
        H5MOTE_TRY(formats.free_space->open(file));
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(file.continue_ranges());
    }
    H5MOTE_TRY(file.finish_open(access));
    H5MOTE_TRY(check_root(file));
    if (H5MOTE_WRITE != 0 && file.writable() && !file.superblock().is_old() && file.superblock().leads_further() &&
        formats.superblock_extension != nullptr) {
        H5MOTE_TRY(formats.superblock_extension->store_image(file));
    }
    return access.reclaim && file.writable() ? find_lost_space(file) : Status::ok;
}

// Opens a storage that no file of the library has open yet. `create`: how a file is made if there is none or, with
// `replace`, whatever there is; nullptr: none is made.
H5MOTE_STEP Status open_state(Context& context, Driver& driver, const FileAccess& access, const FileCreate* create,
                              bool replace, FileState*& state) noexcept {
    state = context.create<FileState>(MemoryKind::file, context, driver);
    if (state == nullptr) {
        return Status::out_of_memory;
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const DenseStorageFormat* const dense = context.formats().dense_storage;
        state->set_services(dense != nullptr ? dense->decoder : nullptr,
                            [](FileState& parent, Driver& other, bool writing, FileState*& file) noexcept {
                                FileAccess as_parent = parent.foreign()->file_access;
                                as_parent.read_only = !writing;
                                as_parent.reclaim = false;
                                return open_state(parent.context, other, as_parent, nullptr, false, file);
                            });
    }
    Status status = state->lock_storage(access);
    if (status == Status::ok) {
        status = fill(*state, access, create, replace);
    }
    if (status != Status::ok) {
        state->abandon();
        FileState::release(state);
        state = nullptr;
    }
    return status;
}

}  // namespace

// If the storage is open already, its file gets one more handle, as in H5F_open().
Result<File> File::obtain(Library& library, Driver& driver, const FileAccess& access, const FileCreate* create,
                          bool replace) noexcept {
    const LibraryLock lock(library);
    FileState* state = FileState::find_open(library, driver);
    if (state == nullptr) {
        H5MOTE_TRY(open_state(library, driver, access, create, replace, state));
    } else if (replace || (FileState::wants_writing(driver, access) && !state->writable())) {
        return library.fail(Module::file, H5MOTE_HERE, Status::busy);
    } else {
        state->retain();
    }
    return File(*state);
}

Result<File> File::create(Library& library, Driver& driver, const FileAccess& access,
                          const FileCreate& create) noexcept {
    return obtain(library, driver, access, &create, true);
}

Result<File> File::open(Library& library, Driver& driver, const FileAccess& access) noexcept {
    return obtain(library, driver, access, nullptr, false);
}

Result<File> File::open_or_create(Library& library, Driver& driver, const FileAccess& access,
                                  const FileCreate& create) noexcept {
    return obtain(library, driver, access, &create, false);
}

File::File(FileState& file) noexcept : file_(&file) { file.add_handle(); }

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        end();
        file_ = other.file_;
        other.file_ = nullptr;
    }
    return *this;
}

Group File::root() noexcept {
    const LibraryLock lock(context_of(file_));
    return valid() ? Group(*file_, file_->root()) : Group();
}

Status File::flush() noexcept {
    const LibraryLock lock(context_of(file_));
    return file_ == nullptr ? Status::invalid_handle : file_->commit_with_linked();
}

Status File::close() noexcept {
    const LibraryLock lock(context_of(file_));
    if (file_ == nullptr) {
        return Status::invalid_handle;
    }
    if (file_->must_stay()) {
        return file_->context.fail(Module::file, H5MOTE_HERE, Status::busy);
    }
    const Status status = file_->drop_handle();
    FileState::release(file_);
    file_ = nullptr;
    return status;
}

void File::end() noexcept {
    const LibraryLock lock(context_of(file_));
    if (file_ != nullptr) {
        if (file_->drop_handle() != Status::ok) {
            file_->context.port().log("closing a file failed");
        }
        FileState::release(file_);
    }
}

Status File::reclaim(std::uint64_t* bytes) noexcept {
    const LibraryLock lock(context_of(file_));
    std::uint64_t found = 0;
    if (!valid()) {
        return Status::invalid_handle;
    }
    H5MOTE_TRY(file_->check_writable());
    const ReclaimFormat* const format = file_->space.ranges() == nullptr ? file_->context.formats().reclaim : nullptr;
    const Status status = format != nullptr ? format->search(*file_, file_->reclaim_memory(), found)
                                            : file_->context.unsupported(Module::file, H5MOTE_HERE, Feature::reclaim);
    if (bytes != nullptr) {
        *bytes = found;
    }
    return status;
}

bool File::valid() const noexcept {
    const LibraryLock lock(context_of(file_));
    return file_ != nullptr && file_->is_open();
}

Status Group::mount(std::string_view path, File& file) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (!file.valid()) {
        return Status::invalid_handle;
    }
    Place place(*file_, address_);
    H5MOTE_TRY(place.follow(path));
    ObjectType type = ObjectType::group;
    H5MOTE_TRY(object_type(place.file(), place.header(), type));
    if (type != ObjectType::group) {
        return file_->context.fail(Module::file, H5MOTE_HERE, Status::not_found);
    }
    return place.file().mount(place.header(), *file.file_);
}

Status Group::unmount(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    Place place(*file_, address_);
    H5MOTE_TRY(place.follow(path));
    // The path leads into the mounted file: to its root group.
    FileState& file = place.file();
    return place.header() == file.root() ? file.unmount_self()
                                         : file.context.fail(Module::file, H5MOTE_HERE, Status::not_found);
}

}  // namespace h5mote
