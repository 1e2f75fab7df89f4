#include "spilled_extents.hpp"

#include "byte_order.hpp"

namespace h5mote {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

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

Status SpilledExtents::load(std::size_t first) noexcept {
    if (first == first_) {
        return Status::ok;
    }
    const Status status = file_.driver.read(Usage::raw_data, narrow(table_ + first * kEntry), window_);
    first_ = status == Status::ok ? first : kNone;
    return status;
}

// Makes the table twice as large, in another place. What is released meanwhile goes into the table as far as it has
// room.
Status SpilledExtents::grow() noexcept {
    const std::size_t room = room_ == 0 ? 2 * kWindow : 2 * room_;
    FreeExtent old = own();
    FreeExtent made{0, narrow(room * kEntry), 0, SpaceKind::raw_data};
    H5MOTE_TRY(at_end_ ? file_.space.extend(Usage::raw_data, made.size, made.address)
                       : file_.space.allocate(Usage::raw_data, made.size, made.address));
    Status status = Status::ok;
    for (std::size_t at = 0; at < room && status == Status::ok; at += kWindow) {
        if (at < room_) {
            status = load(at);
        }
        if (status == Status::ok) {
            status = file_.driver.write(Usage::raw_data, narrow(made.address + at * kEntry), window_);
        }
    }
    first_ = kNone;
    const bool failed = status != Status::ok;
    if (failed) {
        old = made;
    } else {
        table_ = made.address;
        room_ = room;
    }
    // What was not written is free at once. If it were pending, settle() would come here with it again and again while
    // the storage fails.
    file_.space.release(old.address, old.size, failed, SpaceKind::raw_data);
    return status;
}

bool SpilledExtents::read(std::size_t i, FreeExtent& extent) noexcept {
    if (load(i - i % kWindow) != Status::ok) {
        return false;
    }
    const std::byte* const from = entry(i);
    extent = {narrow(load_le<std::uint64_t>(from)), narrow(load_le<std::uint64_t>(from + 8)),
              static_cast<std::uint8_t>(from[16]), static_cast<SpaceKind>(from[17])};
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
    if (i >= room_ || load(i - i % kWindow) != Status::ok) {
        return false;
    }
    std::byte* const to = entry(i);
    store_le(to, std::uint64_t{extent.address});
    store_le(to + 8, std::uint64_t{extent.size});
    to[16] = static_cast<std::byte>(extent.pending);
    to[17] = static_cast<std::byte>(extent.kind);
    const Status status = file_.driver.write(Usage::raw_data, narrow(table_ + i * kEntry), {to, kEntry});
    first_ = status == Status::ok ? first_ : kNone;
    return status == Status::ok;
}

// The map reads the table until the file is closed, which nothing overwrites any more.
Status SpilledExtents::store() noexcept {
    const FreeExtent table = own();
    busy_ = true;
    file_.space.release(table.address, table.size, true, SpaceKind::raw_data);
    room_ = 0;
    return Status::ok;
}

}  // namespace h5mote
