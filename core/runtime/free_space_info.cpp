// H5FS H5MF - the free space that a file keeps track of. HDF5 File Format Specification III.H "Disk Format: Free-space
// Manager".
//
//   header         "FSHD" | version 1 | client 1 | free bytes L | sections L | serialized sections L | others L
//                  | section classes 2 | shrink 2 | expand 2 | address bits 2 | longest section L
//                  | section list O | its bytes in use L | its bytes L | checksum 4
//   section list   "FSSE" | version 1 | header O | groups of sections of one size | checksum 4
//   group          count C | size S | count times: address A | type 1
//                  C, S: as many bytes as the number of sections and the longest section need; A: as the address bits

#include "file_state.hpp"
#include "header.hpp"
#include "metadata_window.hpp"

#include <h5mote/h5mote.hpp>

namespace h5mote {
namespace {

constexpr std::uint32_t kHeader = 0x44485346;
constexpr std::uint32_t kList = 0x45535346;
constexpr unsigned kChecksum = 4;
constexpr unsigned kMostManagers = 12;

unsigned bytes_for(std::uint64_t number) noexcept {
    unsigned width = 1;
    for (number >>= 8; number != 0; number >>= 8) {
        ++width;
    }
    return width;
}

class FreeSpaceManager {
public:
    FreeSpaceManager(FileState& file, Address header) noexcept : file_(file), header_(header) {}

    Status read(FreeSpaceInfo& info, SectionVisitor* visitor) noexcept;

private:
    Status walk(SectionVisitor& visitor) noexcept;
    Status take(MetadataWindow& window, Address& at, unsigned width, std::uint64_t& number) noexcept;
    Status damaged(SourcePlace place) noexcept {
        return file_.context.fail(Module::storage, place, Status::corrupt_file, 0, header_);
    }

    FileState& file_;
    Address header_;
    Address list_ = kUndefinedAddress;
    std::uint64_t list_used_ = 0;
    std::uint64_t list_size_ = 0;
    unsigned count_width_ = 1;
    unsigned size_width_ = 1;
    unsigned address_width_ = 1;
};

Status FreeSpaceManager::read(FreeSpaceInfo& info, SectionVisitor* visitor) noexcept {
    const FileShape shape = file_.shape();
    const std::size_t size = 14U + 7U * shape.sizeof_size + shape.sizeof_addr + kChecksum;
    {
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(file_.window(Usage::object_header, header_, size, true, window));
        H5MOTE_TRY(window.view(0, size - kChecksum, bytes));
        Reader reader(bytes);
        if (reader.u32() != kHeader || reader.u8() != 0) {
            return damaged(H5MOTE_HERE);
        }
        reader.skip(1);
        info.bytes += shape.read_size(reader);
        info.sections += shape.read_size(reader);
        count_width_ = bytes_for(shape.read_size(reader));
        reader.skip(shape.sizeof_size + 6U);
        address_width_ = (reader.u16() + 7U) / 8;
        size_width_ = bytes_for(shape.read_size(reader));
        list_ = shape.read_addr(reader);
        list_used_ = shape.read_size(reader);
        list_size_ = shape.read_size(reader);
    }
    if (address_width_ == 0 || address_width_ > 8) {
        return damaged(H5MOTE_HERE);
    }
    info.metadata += size + list_size_;
    return visitor == nullptr || list_ == kUndefinedAddress ? Status::ok : walk(*visitor);
}

Status FreeSpaceManager::take(MetadataWindow& window, Address& at, unsigned width, std::uint64_t& number) noexcept {
    ConstBytes bytes;
    if (width > window.size() - kChecksum - at) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(window.view(at, width, bytes));
    number = load_uint(bytes.data(), width);
    at += width;
    return Status::ok;
}

// Visits all sections. A damaged count cannot make it endless: every section takes bytes of the list.
Status FreeSpaceManager::walk(SectionVisitor& visitor) noexcept {
    MetadataWindow window;
    ConstBytes head;
    Address at = 5U + file_.shape().sizeof_addr;
    if (list_used_ < at + kChecksum) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(file_.window(Usage::object_header, list_, narrow(list_used_), true, window));
    H5MOTE_TRY(window.view(0, 5, head));
    if (load_le<std::uint32_t>(head.data()) != kList || head[4] != std::byte{0}) {
        return damaged(H5MOTE_HERE);
    }
    while (at < window.size() - kChecksum) {
        std::uint64_t count = 0;
        std::uint64_t size = 0;
        H5MOTE_TRY(take(window, at, count_width_, count));
        H5MOTE_TRY(take(window, at, size_width_, size));
        for (; count > 0; --count) {
            std::uint64_t address = 0;
            std::uint64_t type = 0;
            H5MOTE_TRY(take(window, at, address_width_, address));
            H5MOTE_TRY(take(window, at, 1, type));
            H5MOTE_TRY(visitor.section(narrow(address), narrow(size)));
        }
    }
    return Status::ok;
}

// Reads the addresses of the managers from the file space info message, specification IV.A.2.x. In version 1 they
// follow a page-end threshold of 2 bytes and an address O; version 0 has six of them, after strategy and threshold.
// Both have them only if free space persists: otherwise padding follows.
Status read_managers(FileState& file, Address* managers) noexcept {
    const FileShape shape = file.shape();
    MessageIterator message(file, file.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (message.type() != MessageType::file_space_info || (message.flags() & kMessageWasUnknown) != 0) {
            continue;
        }
        Reader reader(message.body());
        const bool old = reader.u8() == 0;
        const std::uint8_t strategy = reader.u8();
        const bool persists = old ? strategy == 1 : reader.u8() != 0;
        reader.skip(old ? shape.sizeof_size : 2U * shape.sizeof_size + 2U + shape.sizeof_addr);
        const unsigned count = !persists ? 0 : old ? 6 : kMostManagers;
        for (unsigned i = 0; i < count; ++i) {
            const Address address = shape.read_addr(reader);
            managers[i] = reader.ok() ? address : kUndefinedAddress;
        }
    }
    return status == Status::not_found ? Status::ok : status;
}

}  // namespace

Status File::free_space(FreeSpaceInfo& info, SectionVisitor* visitor) const noexcept {
    const LibraryLock lock(context_of(file_));
    info = {};
    if (!valid()) {
        return Status::invalid_handle;
    }
    if (file_->superblock().extension == kUndefinedAddress) {
        return Status::ok;
    }
    Address managers[kMostManagers];
    for (Address& manager : managers) {
        manager = kUndefinedAddress;
    }
    H5MOTE_TRY(read_managers(*file_, managers));
    for (const Address manager : managers) {
        if (manager != kUndefinedAddress) {
            H5MOTE_TRY(FreeSpaceManager(*file_, manager).read(info, visitor));
        }
    }
    return Status::ok;
}

}  // namespace h5mote
