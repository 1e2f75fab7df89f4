// H5MF H5FS - the record of free space that a file gets when it is closed.

#include "free_space.hpp"

#include "extension_messages.hpp"
#include "header.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The managers that this library writes, by SpaceKind, and the order in which they lie in the file.
constexpr std::uint8_t kNumbers[] = {0, 2, 6};
constexpr SpaceKind kPlaced[] = {SpaceKind::raw_data, SpaceKind::metadata, SpaceKind::pages};
static_assert(static_cast<int>(SpaceKind::raw_data) == 1 && static_cast<int>(SpaceKind::pages) == 2);

}  // namespace

// Where the managers begin that must be the last in the file.
Address FreeSpace::Rooms::tail() const noexcept {
    const Room& metadata = of[static_cast<unsigned>(SpaceKind::metadata)];
    const Room& pages = of[static_cast<unsigned>(SpaceKind::pages)];
    return metadata.size != 0 ? metadata.header : pages.size != 0 ? pages.header : kUndefinedAddress;
}

SectionWriter FreeSpace::writer_of(SpaceKind kind, const Rooms& rooms) noexcept {
    SectionWriter writer(file_, own(), threshold_, kind, rooms.tail(), rooms.joined);
    writer.measure();
    return writer;
}

// Space at the end of the file, which becomes shorter when it is given back. The manager of raw data may also lie in
// space that is free, as in a full storage; `reuse`: it should. In a file with pages the managers are metadata, of a
// usage that is not moved on to where an atomic unit begins: the gap may be too small for the record, and is lost then.
Status FreeSpace::find_room(bool anywhere, Address size, bool reuse, Address& address) noexcept {
    const bool pages = file_.space.rule().page != 0;
    const Usage usage = pages ? Usage::btree : Usage::raw_data;
    const Status status = anywhere && (reuse || pages) ? Status::no_space : file_.space.extend(usage, size, address);
    return anywhere && status == Status::no_space ? file_.space.allocate(usage, size, address) : status;
}

// Makes room for the managers. Placing a block changes what is free, and with it how long the lists become: it takes
// sections away, and can leave pieces behind. A list must fill its space, because libhdf5 cannot go on with a file in
// which it does not. So the room is given back and looked for again until it fits. Where that goes in circles, other
// space is taken before and given back after, so that each round finds other places. no_space: there is no room, or no
// place that fits.
Status FreeSpace::make_room(Rooms& rooms) noexcept {
    constexpr unsigned kTries = 32;
    constexpr unsigned kPlain = 4;
    for (unsigned tries = 0; tries < kTries; ++tries) {
        const bool complete = file_.space.free().is_complete();
        Address sizes[kWritten] = {};
        bool fits = true;
        for (const SpaceKind kind : kPlaced) {
            const auto i = static_cast<unsigned>(kind);
            if (!rooms.joined || kind == SpaceKind::raw_data) {
                const SectionWriter writer = writer_of(kind, rooms);
                sizes[i] = writer.header().sections == 0 ? 0 : writer.header().list_used;
            }
            fits = fits && sizes[i] == rooms.of[i].size;
        }
        if (fits && complete == file_.space.free().is_complete()) {
            return Status::ok;
        }
        give_back(rooms);
        const bool circles = tries >= kPlain;
        Address other = 0;
        Address taken = circles ? tries * Address{16} : 0;
        if (circles && find_room(true, taken, true, other) != Status::ok) {
            taken = 0;
        }
        const Status status = place_lists(sizes, circles, rooms);
        file_.space.release(other, taken, true);
        const bool joins = status == Status::no_space && !rooms.joined && file_.space.rule().page == 0;
        rooms.joined = rooms.joined || joins;
        if (status != Status::ok && !joins && (status != Status::no_space || !circles)) {
            return status;
        }
    }
    return Status::no_space;
}

// Those that are the last in the file lie side by side: in a file with pages each of them would otherwise begin a page
// of its own. There the manager of raw data takes free space, if that has room.
Status FreeSpace::place_lists(const Address (&sizes)[kWritten], bool reuse, Rooms& rooms) noexcept {
    const auto header = static_cast<Address>(FreeSpaceHeader::size(file_.shape()));
    const Address metadata = sizes[static_cast<unsigned>(SpaceKind::metadata)];
    const Address pages = sizes[static_cast<unsigned>(SpaceKind::pages)];
    Address at = 0;
    for (const SpaceKind kind : kPlaced) {
        const Address size = sizes[static_cast<unsigned>(kind)];
        if (size == 0) {
            continue;
        }
        Address room = header + size;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            room += kind == SpaceKind::metadata && pages != 0 ? header + pages : 0;
        }
        if (H5MOTE_ALL_FORMATS == 0 || kind != SpaceKind::pages || metadata == 0) {
            H5MOTE_TRY(find_room(kind == SpaceKind::raw_data, room, reuse, at));
        }
        rooms.of[static_cast<unsigned>(kind)] = {at, at + header, size};
        at += header + size;
    }
    return Status::ok;
}

// The last block first, so that the file becomes shorter again.
void FreeSpace::give_back(Rooms& rooms) noexcept {
    for (unsigned i = kWritten; i-- > 0;) {
        Room& room = rooms.of[static_cast<unsigned>(kPlaced[i])];
        if (room.size != 0) {
            file_.space.release(room.list, room.size, true);
            file_.space.release(room.header, static_cast<Address>(FreeSpaceHeader::size(file_.shape())), true);
            room = Room{};
        }
    }
}

Status FreeSpace::write(const Rooms& rooms) noexcept {
    for (const SpaceKind kind : kPlaced) {
        const Room& room = rooms.of[static_cast<unsigned>(kind)];
        if (room.size != 0) {
            SectionWriter writer = writer_of(kind, rooms);
            H5MOTE_TRY(writer.write(room.header, room.list));
        }
    }
    return Status::ok;
}

// Writes managers for everything that is free, and then their addresses. Without room for them the message says that
// free space is not recorded. no_space: there is no room even for that.
Status FreeSpace::record() noexcept {
    MessageIterator message(file_, file_.superblock().extension);
    H5MOTE_TRY(find_space_info(message));
    const FileShape shape = file_.shape();
    const std::size_t from = FileSpaceInfoMessage::page_end_offset(shape);
    // If the block of the message has to be moved, that comes before the free space is counted.
    H5MOTE_TRY(message.secure(message.offset() + from));
    Rooms rooms;
    Status status = make_room(rooms);
    if (status == Status::no_space) {
        give_back(rooms);
        file_.space.free().set_complete(false);
        status = Status::ok;
    }
    // From here on the table stays where it is: a call that runs out of memory would otherwise move extents into a new
    // one, of which the record knows nothing.
    busy_ = true;
    if (status == Status::ok) {
        status = write(rooms);
    }
    std::byte* at = nullptr;
    if (status == Status::ok) {
        // The managers have what stood in the table.
        for (const FreeExtent& part : own()) {
            file_.space.tell_own(part);
        }
        status = message.change(from, at);
    }
    if (status != Status::ok) {
        give_back(rooms);
        return status;
    }
    const Address tail = rooms.tail();
    store_le<std::uint16_t>(at, file_.space.free().is_complete() ? 0 : FileSpaceInfoMessage::kIncomplete);
    at += sizeof(std::uint16_t);
    shape.store_addr(at, tail == kUndefinedAddress ? file_.space.end() : tail);
    std::memset(at + shape.sizeof_addr, 0xff, std::size_t{FileSpaceInfoMessage::kMaxManagers} * shape.sizeof_addr);
    for (unsigned i = 0; i < kWritten; ++i) {
        if (rooms.of[i].size != 0) {
            shape.store_addr(at + (1 + kNumbers[i]) * std::size_t{shape.sizeof_addr}, rooms.of[i].header);
        }
    }
    return Status::ok;
}

Status FreeSpace::store() noexcept {
    if (!persistent_) {
        return SpilledExtents::store();
    }
    if (!begun_ && file_.space.free().count() == 0 && file_.space.end() == file_.superblock().end_of_file) {
        return Status::ok;
    }
    H5MOTE_TRY(file_.space.begin());
    Status status = Status::ok;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        status = renew_space_info(file_);
    }
    status = status == Status::ok ? record() : status;
    if (status != Status::ok) {
        return status == Status::no_space ? Status::ok : status;  // the file stays without a record
    }
    // The block of the message may have been the last of the file, and be moved to the front of it. The commit makes
    // its old place free, which is in the record: the file is not cut there.
    const Address end = file_.space.end();
    H5MOTE_TRY(file_.commit_metadata());
    file_.space.stay_until(end);
    return Status::ok;
}

}  // namespace h5mote
