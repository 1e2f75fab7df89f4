#include "creation_check.hpp"

#include "checked.hpp"
#include "multi_changes_format.hpp"
#include "shared_changes.hpp"

namespace h5mote {

Status check_other_formats(FileState& file, const FileAccess& access, const FileCreate& create) noexcept {
    constexpr std::uint16_t kMostBTreeK = 0x7fff;  // the number of entries in a node has 16 bits
    constexpr std::uint64_t kSmallBlock = 256;     // less than the least that a file has beside its superblock
    const Formats& formats = file.context.formats();
    UsageRanges* const ranges = file.storage().usage_ranges();
    if (access.low == FormatVersion::earliest && !create.track_link_order && formats.symbol_table_changes == nullptr) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::symbol_table_group);
    }
    const BTreeK& k = create.btree_k;
    if (k.group_leaf == 0 || k.group_internal == 0 || k.chunk < 2 ||
        (k.group_leaf | k.group_internal | k.chunk) > kMostBTreeK) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    if (!k.is_default() && FileState::superblock_version(access, create) > 1 &&
        formats.superblock_extension == nullptr) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension);
    }
    if (ranges != nullptr && (formats.multi_changes == nullptr || file.driver.capabilities().sync_is_commit)) {
        return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::driver);
    }
    if (!create.shared_messages.empty()) {
        // The table, lists and heaps of shared messages change together.
        if (formats.shared_message_changes == nullptr || (ranges != nullptr && !keeps_together(*ranges))) {
            return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::shared_message);
        }
        H5MOTE_TRY(formats.shared_message_changes->check(file, create));
    }
    if (access.alignment <= 1 || access.alignment_threshold >= kSmallBlock || ranges != nullptr ||
        !FileState::wants_writing(file.driver, access)) {
        return Status::ok;
    }
    std::uint64_t size = 0;
    std::uint64_t reach = 0;
    H5MOTE_TRY(file.driver.end_of_file(size));
    if (!checked_add(access.alignment, std::uint64_t{create.user_block}, reach)) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::no_space, 0, access.alignment);
    }
    if (reach <= size) {
        return Status::ok;
    }
    H5MOTE_TRY(file.driver.truncate(reach));
    return file.driver.truncate(size);
}

}  // namespace h5mote
