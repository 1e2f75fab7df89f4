#include "spilled_extents.hpp"

#include "byte_order.hpp"

namespace h5mote {
namespace {

// What a file has of which no free space outlives the session.
class OnlySpilled final : public SpilledExtents {
public:
    using SpilledExtents::SpilledExtents;
    void end() noexcept override { file_.context.destroy(MemoryKind::file, this); }
};

}  // namespace

void SpilledExtents::attach(FileState& file) noexcept {
    if (file.space.keeper() == nullptr) {
        if (auto* const keeper = file.context.create<OnlySpilled>(MemoryKind::file, file)) {
            file.space.set_keeper(*keeper);
        }
    }
}

std::size_t SpilledExtents::entries_of(const FreeExtent& part) noexcept {
    return static_cast<std::size_t>(part.size / kEntry);
}

Address SpilledExtents::address_of(std::size_t i) const noexcept {
    const FreeExtent* part = parts_;
    for (; i >= entries_of(*part); ++part) {
        i -= entries_of(*part);
    }
    return part->address + narrow(i * kEntry);
}

Status SpilledExtents::load(std::size_t first) noexcept {
    if (first == first_) {
        return Status::ok;
    }
    const Status status = file_.driver.read(Usage::raw_data, address_of(first), window_);
    first_ = status == Status::ok ? first : kNone;
    return status;
}

// Finds space for `least` extents and `more` others, or, where the storage has no room for so many, fewer others: half
// of them, a quarter, and so on down to one window.
Status SpilledExtents::place(std::size_t least, std::size_t& more, FreeExtent& part) noexcept {
    for (;; more = (more / kWindow + 1) / 2 * kWindow) {
        part = {0, narrow((least + more) * kEntry), 0, SpaceKind::raw_data};
        const Status status = file_.space.allocate(Usage::raw_data, part.size, part.address);
        if (status != Status::no_space || more == kWindow) {
            return status;
        }
    }
}

// Writes the entries that changed. After an error they are still to be written.
Status SpilledExtents::write_changes() noexcept {
    if (changed_ == unchanged_) {
        return Status::ok;
    }
    const ConstBytes bytes{changes_ + changed_ % kWindow * kEntry, (unchanged_ - changed_) * kEntry};
    H5MOTE_TRY(file_.driver.write(Usage::raw_data, address_of(changed_), bytes));
    first_ = changed_ / kWindow * kWindow == first_ ? kNone : first_;
    changed_ = unchanged_;
    return Status::ok;
}

// Writes the windows of a new part: those of the table from number `from` on, and behind them whatever is in memory, so
// that the storage has room for them.
Status SpilledExtents::fill(const FreeExtent& part, std::size_t from) noexcept {
    Status status = write_changes();
    for (Address at = 0; at < part.size && status == Status::ok; at += sizeof window_) {
        if (from < room_) {
            status = load(from);
            from += kWindow;
        }
        if (status == Status::ok) {
            status = file_.driver.write(Usage::raw_data, part.address + at, window_);
        }
    }
    first_ = kNone;
    if (status != Status::ok) {
        // What was not written is free at once. If it were pending, settle() would come here with it again and again
        // while the storage fails.
        file_.space.release(part.address, part.size, true, SpaceKind::raw_data);
    }
    return status;
}

// Makes the table twice as large: with one more part, or in one part in another place.
Status SpilledExtents::grow() noexcept {
    const bool joins = count_ == kParts;
    std::size_t more = room_ == 0 ? 2 * kWindow : room_;
    FreeExtent part{};
    H5MOTE_TRY(place(joins ? room_ : 0, more, part));
    H5MOTE_TRY(fill(part, joins ? 0 : room_));
    room_ += more;
    if (!joins) {
        parts_[count_++] = part;
        return Status::ok;
    }
    const FreeExtent first = parts_[0];
    parts_[0] = part;
    count_ = 1;
    // What is released goes into the table as far as it has room.
    file_.space.release(first.address, first.size, false, SpaceKind::raw_data);
    for (std::size_t i = 1; i < kParts; ++i) {
        file_.space.release(parts_[i].address, parts_[i].size, false, SpaceKind::raw_data);
    }
    return Status::ok;
}

bool SpilledExtents::read(std::size_t i, FreeExtent& extent) noexcept {
    const bool changed = changed_ <= i && i < unchanged_;
    if (!changed && load(i - i % kWindow) != Status::ok) {
        return false;
    }
    const std::byte* const from = (changed ? changes_ : window_) + i % kWindow * kEntry;
    extent = {load_le<Address>(from), load_le<Address>(from + sizeof(Address)),
              static_cast<std::uint8_t>(from[kEntry - 2]), static_cast<SpaceKind>(from[kEntry - 1])};
    return true;
}

bool SpilledExtents::reserve(std::size_t count) noexcept {
    if (count > room_ && !busy_) {
        busy_ = true;
        (void)grow();
        busy_ = false;
    }
    return count <= room_;
}

bool SpilledExtents::write(std::size_t i, const FreeExtent& extent) noexcept {
    const bool joins = i / kWindow == changed_ / kWindow && i + 1 >= changed_ && i <= unchanged_;
    if (i >= room_ || (!joins && write_changes() != Status::ok)) {
        return false;
    }
    if (changed_ == unchanged_) {
        changed_ = unchanged_ = i;
    }
    changed_ = i < changed_ ? i : changed_;
    unchanged_ = i < unchanged_ ? unchanged_ : i + 1;
    std::byte* const to = changes_ + i % kWindow * kEntry;
    store_le(to, extent.address);
    store_le(to + sizeof(Address), extent.size);
    to[kEntry - 2] = static_cast<std::byte>(extent.pending);
    to[kEntry - 1] = static_cast<std::byte>(extent.kind);
    return true;
}

// The map reads the table until the file is closed, which nothing overwrites any more.
Status SpilledExtents::store() noexcept {
    busy_ = true;
    for (const FreeExtent& part : own()) {
        file_.space.release(part.address, part.size, true, SpaceKind::raw_data);
    }
    count_ = room_ = 0;
    return Status::ok;
}

}  // namespace h5mote
