// H5FD_multi - a file whose usages lie in several parts: making the parts, writing, growing and shrinking.
#include "multi_format.hpp"

#include <h5mote/vfd/multi.hpp>

namespace h5mote {
namespace {

// The rules that keep a power cut from losing anything. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class MultiRule {
    none,
    sync_all_parts,  // sync() syncs every part that was written
};

constexpr bool keep(MultiRule rule) noexcept { return rule != MultiRule::H5MOTE_TEST_OMIT; }

}  // namespace

// The part with the superblock says whether there is a file, and is therefore the last one that is made.
Status MultiDriver::open_or_create(const MultiLayout& layout) noexcept {
    begin();
    for (const std::uint8_t part : layout.map) {
        if (part >= kMostParts) {
            return Status::invalid_argument;
        }
    }
    const unsigned first = layout.map[0];
    Status status = add(layout, first, false);
    const bool make = status == Status::not_found;
    status = make ? Status::ok : status;
    for (unsigned usage = 0; usage < kMostParts && status == Status::ok; ++usage) {
        const unsigned part = layout.map[usage];
        status = part == first ? Status::ok : add(layout, part, make);
    }
    status = status == Status::ok && make ? add(layout, first, true) : status;
    if (status == Status::ok) {
        keep_layout(layout);
        status = stored_info_.info.empty() ? Status::invalid_argument : Status::ok;
    }
    if (status != Status::ok) {
        close();
    }
    return status;
}

Status MultiDriver::prepare_change(unsigned part) noexcept {
    if (part == kMostParts || !capabilities().writable) {
        return Status::read_only;
    }
    unsynced_ = static_cast<std::uint8_t>(unsynced_ | 1U << part);
    return Status::ok;
}

Status MultiDriver::write(Usage usage, std::uint64_t address, ConstBytes from) noexcept {
    std::uint64_t offset = address;
    const unsigned part = find(offset);
    H5MOTE_TRY(prepare_change(part));
    const std::uint64_t limit = limit_of(part);
    if (address > limit || from.size() > limit - address) {
        return Status::no_space;
    }
    return note(*drivers_[part], drivers_[part]->write(usage, offset, from));
}

Status MultiDriver::sync() noexcept {
    Status status = Status::ok;
    for (unsigned i = 0; i < kMostParts && status == Status::ok; ++i) {
        const unsigned bit = 1U << i;
        if ((unsynced_ & bit) != 0 && drivers_[i] != nullptr && (keep(MultiRule::sync_all_parts) || i == first_)) {
            status = note(*drivers_[i], drivers_[i]->sync());
        }
        unsynced_ = static_cast<std::uint8_t>(status == Status::ok ? unsynced_ & ~bit : unsynced_);
    }
    return status;
}

// The part with the superblock is emptied first: without it there is no file that could refer to the others.
Status MultiDriver::empty_all() noexcept {
    H5MOTE_TRY(prepare_change(first_));
    H5MOTE_TRY(note(*drivers_[first_], drivers_[first_]->truncate(0)));
    H5MOTE_TRY(sync());
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (drivers_[i] != nullptr && i != first_) {
            H5MOTE_TRY(prepare_change(i));
            H5MOTE_TRY(note(*drivers_[i], drivers_[i]->truncate(0)));
        }
    }
    for (UsageRange& range : ranges_.list) {
        range.end = range.stored = range.recorded = range.start;
    }
    return Status::ok;
}

Status MultiDriver::truncate(std::uint64_t size) noexcept {
    if (size == 0) {
        return capabilities().writable ? empty_all() : Status::read_only;
    }
    std::uint64_t offset = size;
    const unsigned part = find(offset);
    H5MOTE_TRY(prepare_change(part));
    return size > limit_of(part) ? Status::no_space : note(*drivers_[part], drivers_[part]->truncate(offset));
}

Status MultiDriver::release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept {
    const unsigned part = find(address);
    return part == kMostParts ? Status::ok : note(*drivers_[part], drivers_[part]->release(usage, address, size));
}

}  // namespace h5mote
