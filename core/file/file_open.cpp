// Opening a file of any kind: where its superblock stands, where it ends, which driver it asks for.

#include "checked.hpp"
#include "extension_messages.hpp"
#include "file_state.hpp"
#include "metadata_window.hpp"
#include "multi_changes_format.hpp"

namespace h5mote {

Status FileState::locate(std::uint64_t size, std::uint64_t& base) noexcept {
    for (base = 0; size >= Superblock::kSignatureSize && base <= size - Superblock::kSignatureSize;
         base = base == 0 ? 512 : base * 2) {
        std::byte bytes[Superblock::kSignatureSize];
        H5MOTE_TRY(driver.read(Usage::superblock, base, bytes));
        if (is_signature(bytes)) {
            return Status::ok;
        }
        if (base > size / 2) {
            break;
        }
    }
    return Status::not_hdf5;
}

Status FileState::open(const FileAccess& access) noexcept {
    std::byte bytes[Superblock::kMaxSize];
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    H5MOTE_TRY(driver.end_of_file(size));
    const Status located = locate(size, base);
    if (located != Status::ok) {
        return context.fail(Module::file, H5MOTE_HERE, located);
    }
    if (!set_base(base)) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::base_address);
    }
    size -= base;
    const std::size_t count = size < sizeof bytes ? static_cast<std::size_t>(size) : sizeof bytes;
    H5MOTE_TRY(driver.read(Usage::superblock, 0, {bytes, count}));
    H5MOTE_TRY(superblock_.decode(context, {bytes, count}));
    // The recorded end of file counts from the start of the storage, addresses count from the base address. Both were
    // recorded together, so the difference is right even if the user block has changed since.
    const Address recorded = superblock_.end_of_file;
    if (!within(superblock_.base, 0, recorded) || recorded == kUndefinedAddress) {
        return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, recorded);
    }
    superblock_.end_of_file = recorded - superblock_.base;
    if (superblock_.end_of_file >= kUndefinedAddress - 1) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::sizeof_offsets);
    }
    H5MOTE_TRY(start(access));
    H5MOTE_TRY(refuse());
    stored_root_ = superblock_.root;
    if (superblock_.is_old()) {
        set_btree_k(superblock_.btree_k);
    }
    space.open(superblock_.end_of_file, superblock_.most_end(), narrow(size));
    return Status::ok;
}

// Refuses to write to files that this library, or this build of it, can only read.
Status FileState::refuse() noexcept {
    // The extension may say how the other structures are to be read. A build that does not read it must not guess.
    // Others look at what the extension says before they change the file (SuperblockExtensionFormat::load,
    // FreeSpaceFormat::open).
    if (superblock_.extension != kUndefinedAddress && H5MOTE_ALL_FORMATS == 0 &&
        context.formats().free_space == nullptr) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension);
    }
    if (superblock_.flags != 0 && !superblock_.is_old()) {
        if (writable()) {
            return context.unsupported(Module::file, H5MOTE_HERE, Feature::file_locked_for_writing, superblock_.flags);
        }
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            context.port().log("the file is marked as open for writing");
        }
    }
    return Status::ok;
}

Status FileState::use_cache_image(Address address, Address size) noexcept {
    const Status status =
        foreign() == nullptr ? Status::unsupported : foreign()->base_driver.use_image(shape(), address, size);
    return status == Status::ok ? status : context.fail(Module::file, H5MOTE_HERE, status, 0, address);
}

Status FileState::finish_open(const FileAccess& access) noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(driver.end_of_file(size));
    if (size < superblock_.end_of_file) {
        if (!access.allow_truncated || !set_truncated()) {
            return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, superblock_.end_of_file);
        }
        writable_ = false;
        space.open(narrow(size), superblock_.most_end(), narrow(size));
        context.port().log("the file is shorter than it says");
    }
    return superblock_.root < space.end()
               ? Status::ok
               : context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, superblock_.root);
}

Status FileState::read_driver_info() noexcept {
    constexpr std::size_t kPrefix = DriverInfoBlock::kPrefixSize;
    constexpr std::uint32_t kMost = 0xffff;
    const Address at = superblock_.driver_info;
    std::byte prefix[kPrefix] = {};
    DriverInfoBlock block;
    bool sound = false;
    if (contains(at, kPrefix)) {
        H5MOTE_TRY(driver.read(Usage::superblock, at, prefix));
        sound = block.decode(prefix);
    }
    if (!sound || block.size > kMost || !contains(at, kPrefix + block.size)) {
        return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, at);
    }
    StreamedWindow window;
    Bytes info;
    H5MOTE_TRY(window.allocate(context, block.size, info));
    if (block.size != 0) {
        H5MOTE_TRY(driver.read(Usage::superblock, at + kPrefix, info));
    }
    return use_driver_info({reinterpret_cast<const char*>(block.name.data()), block.name.size()}, info);
}

// The driver counts the addresses of its ranges from the start of the storage. As long as the file is open they count
// from its base address, as all addresses in the file do. The range with the superblock begins with the user block.
void FileState::shift_ranges(bool to_base) noexcept {
    const std::uint64_t base = foreign()->base_driver.base();
    UsageRanges* const ranges = storage().usage_ranges();
    if (ranges == nullptr || base == 0 || foreign()->shifted == to_base) {
        return;
    }
    const std::uint64_t by = to_base ? ~base + 1 : base;
    for (unsigned i = 0; i < ranges->count; ++i) {
        UsageRange& range = ranges->list[i];
        range.start += range.start == 0 ? 0 : by;
        range.limit += by;
        range.end += by;
        range.stored += by;
        range.recorded += by;
    }
    foreign()->shifted = to_base;
}

Status FileState::use_driver_info(std::string_view name, ConstBytes info) noexcept {
    std::uint64_t end = superblock_.end_of_file;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        foreign()->shifted = false;  // the driver fills its ranges in anew
    }
    const Status status = driver.use_superblock_info(name, info, end);
    if (status == Status::unsupported) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::driver);
    }
    if (status != Status::ok) {
        return context.fail(Module::file, H5MOTE_HERE, status);
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        shift_ranges(true);
    }
    // What the driver has learnt may change what it promises: members whose size is no multiple of a sector, for
    // example, cannot be written in an order that a power cut leaves sound.
    const Capabilities capabilities = driver.capabilities();
    if (writable() && !capabilities.writable) {
        return context.fail(Module::file, H5MOTE_HERE, Status::read_only);
    }
    if (writable() && name == "NCSAmult" && storage().usage_ranges() == nullptr) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::driver);
    }
    if (writable() && !atomic && FileSpace::unit_of(capabilities.atomic_unit) < FileSpace::kLeastUnit) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::ordered_writing, capabilities.atomic_unit);
    }
    superblock_.end_of_file = narrow(end);
    std::uint64_t stored = 0;
    H5MOTE_TRY(driver.end_of_file(stored));
    space.open(superblock_.end_of_file, superblock_.most_end(),
               stored < superblock_.end_of_file ? superblock_.end_of_file : narrow(stored));
    return Status::ok;
}

Status FileState::continue_ranges() noexcept {
    if (!writable() || storage().usage_ranges() == nullptr) {
        return Status::ok;
    }
    H5MOTE_TRY(use_ranges());
    superblock_.end_of_file = end_to_record();
    return context.formats().multi_changes->find_information(*this);
}

}  // namespace h5mote
