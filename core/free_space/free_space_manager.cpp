#include "free_space_manager.hpp"

#include "checksum.hpp"
#include "extension_messages.hpp"
#include "header.hpp"

namespace h5mote {

// Reads as many of the bytes [at, end) as a piece holds.
Status FreeSpaceManager::load(Address at, Address end) noexcept {
    const Address count = end - at < kPiece ? end - at : kPiece;
    first_ = at;
    held_ = 0;
    H5MOTE_TRY(file_.driver.read(Usage::object_header, at, {piece_, static_cast<std::size_t>(count)}));
    held_ = count;
    return Status::ok;
}

Status FreeSpaceManager::open() noexcept {
    const std::size_t size = FreeSpaceHeader::size(file_.shape());
    static_assert(14 + 7 * 8 + 8 + FreeSpaceHeader::kChecksumSize <= kPiece);
    if (!file_.contains(header_, size)) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(load(header_, header_ + static_cast<Address>(size)));
    const std::size_t checked = size - FreeSpaceHeader::kChecksumSize;
    return manager_.decode(file_.shape(), {piece_, size}) &&
                   lookup3({piece_, checked}) == load_le<std::uint32_t>(piece_ + checked)
               ? Status::ok
               : damaged(H5MOTE_HERE);
}

Status FreeSpaceManager::verify() noexcept {
    const std::size_t least = FreeSpaceList::prefix_size(file_.shape()) + FreeSpaceHeader::kChecksumSize;
    // Nothing that is in use is as long as the checksum cannot cover.
    if (manager_.list_used < least || manager_.list_used > 0xffffffffU ||
        !file_.contains(manager_.list, manager_.list_used)) {
        return damaged(H5MOTE_HERE);
    }
    const Address end = end_of_sections();
    Lookup3Stream checksum(static_cast<std::uint32_t>(end - manager_.list));
    for (Address at = manager_.list; at < end; at += held_) {
        H5MOTE_TRY(load(at, end));
        checksum.update({piece_, static_cast<std::size_t>(held_)});
    }
    H5MOTE_TRY(load(end, end + FreeSpaceHeader::kChecksumSize));
    return checksum.finish() == load_le<std::uint32_t>(piece_) ? Status::ok : damaged(H5MOTE_HERE);
}

Status FreeSpaceManager::take(Address& at, unsigned width, std::uint64_t& number) noexcept {
    const Address end = end_of_sections();
    if (width > end - at) {
        return damaged(H5MOTE_HERE);
    }
    if (at < first_ || at - first_ > held_ || width > held_ - (at - first_)) {
        H5MOTE_TRY(load(at, end));
    }
    number = load_uint(piece_ + (at - first_), width);
    at += width;
    return Status::ok;
}

// A damaged count cannot make the walk endless: every section takes bytes of the list.
Status FreeSpaceManager::walk(SectionVisitor& visitor) noexcept {
    FreeSpaceList list;
    const std::size_t prefix = FreeSpaceList::prefix_size(file_.shape());
    H5MOTE_TRY(load(manager_.list, end_of_sections()));
    if (!list.decode(file_.shape(), {piece_, prefix}) || list.header != header_) {
        return damaged(H5MOTE_HERE);
    }
    for (Address at = manager_.list + static_cast<Address>(prefix); at < end_of_sections();) {
        std::uint64_t count = 0;
        std::uint64_t size = 0;
        H5MOTE_TRY(take(at, manager_.count_width(), count));
        H5MOTE_TRY(take(at, manager_.size_width(), size));
        for (; count > 0; --count) {
            std::uint64_t address = 0;
            std::uint64_t section_class = 0;
            H5MOTE_TRY(take(at, manager_.address_width(), address));
            H5MOTE_TRY(take(at, 1, section_class));
            H5MOTE_TRY(visitor.section(narrow(address), narrow(size)));
        }
    }
    return Status::ok;
}

Status FreeSpaceManager::find(FileState& file, Address* managers) noexcept {
    for (unsigned i = 0; i < FileSpaceInfoMessage::kMaxManagers; ++i) {
        managers[i] = kUndefinedAddress;
    }
    MessageIterator message(file, file.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.type() != MessageType::file_space_info || (message.flags() & kMessageWasUnknown) != 0) {
            continue;
        }
        FileSpaceInfoMessage space;
        (void)space.decode(file.shape(), message.body());  // a message that is too short names no managers
        for (unsigned i = 0; i < FileSpaceInfoMessage::kMaxManagers; ++i) {
            managers[i] = space.manager(file.shape(), i);
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace h5mote
