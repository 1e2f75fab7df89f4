// Creating a file: its superblock, and where that stands.

#include "file_state.hpp"
#include "free_space_format.hpp"
#include "multi_changes_format.hpp"

namespace h5mote {
namespace {

// Makes sure that readers, who look for a superblock at 0, 512, 1024 and so on, find none in the user block of a file.
Status clear_signatures(Driver& storage, std::uint64_t user_block) noexcept {
    constexpr std::byte kZeros[Superblock::kSignatureSize] = {};
    for (std::uint64_t at = 0; at < user_block; at = at == 0 ? 512 : at * 2) {
        std::byte bytes[Superblock::kSignatureSize];
        H5MOTE_TRY(storage.read(Usage::superblock, at, bytes));
        if (is_signature(bytes)) {
            H5MOTE_TRY(storage.write(Usage::superblock, at, kZeros));
        }
    }
    return Status::ok;
}

}  // namespace

// As libhdf5: the version that the lower bound asks for, but a later one if the file needs a superblock extension or if
// the program asks for it.
std::uint8_t FileState::superblock_version(const FileAccess& access, const FileCreate& create) noexcept {
    if (H5MOTE_ALL_FORMATS == 0 || access.low == FormatVersion::standard) {
        return create.superblock_version;
    }
    const bool extended = !has_default_space(create) || !create.shared_messages.empty();
    const BTreeK k = create.btree_k;
    const std::uint8_t least = access.low >= FormatVersion::v110              ? 3
                               : access.low == FormatVersion::v18 || extended ? 2
                               : k.chunk != BTreeK{}.chunk                    ? 1
                                                                              : 0;
    return create.superblock_version > 2 ? create.superblock_version : least;
}

Status FileState::create(const FileAccess& access, const FileCreate& create) noexcept {
    if (H5MOTE_WRITE == 0) {
        return context.fail(Module::file, H5MOTE_HERE, Status::read_only);
    }
    if ((create.sizeof_addr != 4 && create.sizeof_addr != 8) || create.superblock_version < 2 ||
        create.superblock_version > 3) {
        return context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    const std::uint64_t base = create.user_block;
    if ((base & (base - 1)) != 0 || (base != 0 && base < 512) || (create.sizeof_addr == 4 && base >> 32 != 0)) {
        return context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument, 0, base);
    }
    if (!set_base(base) || !superblock_.set_base(base)) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::base_address);
    }
    H5MOTE_TRY(start(access));
    if (!writable()) {
        return context.fail(Module::file, H5MOTE_HERE, Status::read_only);
    }
    superblock_.version = superblock_version(access, create);
    if (superblock_.version == 3 || !has_default_space(create)) {
        H5MOTE_TRY(allow_version(FormatVersion::v110));
    }
    superblock_.shape = {create.sizeof_addr, 8};
    set_btree_k(create.btree_k);
    superblock_.set_btree_k(create.btree_k);
    H5MOTE_TRY(driver.truncate(0));
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(clear_signatures(storage(), base));
    }
    space.open(0, superblock_.most_end(), 0);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(use_ranges());
    }
    Address address = 0;
    return space.allocate(Usage::superblock, superblock_.size(), address);
}

Status FileState::use_ranges() noexcept {
    UsageRanges* const ranges = storage().usage_ranges();
    const MultiChangesFormat* const format = context.formats().multi_changes;
    if (ranges == nullptr) {
        return Status::ok;
    }
    // Two parts do not commit at once.
    return format == nullptr || atomic ? context.unsupported(Module::file, H5MOTE_HERE, Feature::driver)
                                       : format->begin(*this, *ranges);
}

}  // namespace h5mote
