// Opening a file of any kind: where its superblock stands, where it ends, which driver it asks for.

#include "checked.hpp"
#include "file_state.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

// Finds the superblock: at 0, 512, 1024, ...
Status FileState::locate() noexcept {
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    H5MOTE_TRY(storage().end_of_file(size));
    for (; within(base, Superblock::kSignatureSize, size); base = base == 0 ? 512 : base * 2) {
        std::byte bytes[Superblock::kSignatureSize];
        H5MOTE_TRY(storage().read(Usage::superblock, base, bytes));
        if (is_signature(bytes)) {
            base_driver_.set_base(base);
            return Status::ok;
        }
        if (base > size / 2) {
            break;
        }
    }
    return context.fail(Module::file, H5MOTE_HERE, Status::not_hdf5);
}

Status FileState::open(const FileAccess& access) noexcept {
    std::byte bytes[Superblock::kMaxSize];
    std::uint64_t size = 0;
    H5MOTE_TRY(locate());
    H5MOTE_TRY(driver.end_of_file(size));
    const std::size_t count = size < sizeof bytes ? static_cast<std::size_t>(size) : sizeof bytes;
    H5MOTE_TRY(driver.read(Usage::superblock, 0, {bytes, count}));
    H5MOTE_TRY(superblock_.decode(context, {bytes, count}));
    // The recorded end of file counts from the start of the storage, addresses count from the base address. Both were
    // recorded together, so the difference is right even if the user block has changed since.
    const Address recorded = superblock_.end_of_file;
    if (recorded < superblock_.base || recorded == kUndefinedAddress) {
        return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, recorded);
    }
    superblock_.end_of_file = recorded - superblock_.base;
    if (superblock_.end_of_file >= kUndefinedAddress - 1) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::sizeof_offsets);
    }
    H5MOTE_TRY(start(access));
    H5MOTE_TRY(refuse_writing());
    if (superblock_.flags != 0 && !superblock_.is_old()) {
        if (writable()) {
            return context.unsupported(Module::file, H5MOTE_HERE, Feature::file_locked_for_writing, superblock_.flags);
        }
        context.port().log("the file is marked as open for writing");
    }
    stored_root_ = superblock_.root;
    if (superblock_.is_old()) {
        btree_k = superblock_.btree_k;
    }
    space.open(superblock_.end_of_file, superblock_.shape.max_addr(), narrow(size));
    return superblock_.driver_info == kUndefinedAddress ? Status::ok : read_driver_info();
}

// Refuses to write to files that this library can only read.
Status FileState::refuse_writing() noexcept {
    if (!writable()) {
        return Status::ok;
    }
    if (superblock_.is_old()) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_version, superblock_.version);
    }
    if (base() != 0 || superblock_.base != 0) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::base_address);
    }
    if (superblock_.extension != kUndefinedAddress) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension);
    }
    return Status::ok;
}

// Driver information block, specification II.B: version 0 | 0 3 | bytes of the information 4 | name 8 | information.
Status FileState::read_driver_info() noexcept {
    constexpr std::size_t kPrefix = 16;
    constexpr std::uint32_t kMost = 0xffff;
    const Address at = superblock_.driver_info;
    std::byte prefix[kPrefix] = {};
    std::uint32_t length = kMost + 1;
    if (contains(at, kPrefix)) {
        H5MOTE_TRY(driver.read(Usage::superblock, at, prefix));
        length = load_le<std::uint32_t>(prefix + 4);
    }
    if (prefix[0] != std::byte{0} || length > kMost || !contains(at, kPrefix + length)) {
        return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, at);
    }
    MetadataWindow window;
    Bytes info;
    H5MOTE_TRY(window.allocate(context, length, info));
    if (length != 0) {
        H5MOTE_TRY(driver.read(Usage::superblock, at + kPrefix, info));
    }
    return use_driver_info({reinterpret_cast<const char*>(prefix + 8), 8}, info);
}

Status FileState::use_driver_info(std::string_view name, ConstBytes info) noexcept {
    std::uint64_t end = superblock_.end_of_file;
    const Status status = driver.use_superblock_info(name, info, end);
    if (status == Status::unsupported) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::driver);
    }
    if (status != Status::ok) {
        return context.fail(Module::file, H5MOTE_HERE, status);
    }
    superblock_.end_of_file = narrow(end);
    space.open(superblock_.end_of_file, superblock_.shape.max_addr(), superblock_.end_of_file);
    return Status::ok;
}

Status FileState::finish_open(const FileAccess& access) noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(driver.end_of_file(size));
    if (size < superblock_.end_of_file) {
        if (!access.allow_truncated) {
            return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, superblock_.end_of_file);
        }
        truncated_ = true;
        writable_ = false;
        space.open(narrow(size), superblock_.shape.max_addr(), narrow(size));
        context.port().log("the file is shorter than it says");
    }
    return superblock_.root < space.end()
               ? Status::ok
               : context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, superblock_.root);
}

}  // namespace h5mote

#endif
