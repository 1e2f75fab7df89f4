// H5FS H5MF - the free space that a file keeps track of.

#include "extension_messages.hpp"
#include "file_state.hpp"
#include "free_space_header.hpp"
#include "header.hpp"
#include "metadata_window.hpp"

#include <h5mote/h5mote.hpp>

namespace h5mote {
namespace {

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
    FreeSpaceHeader manager_;
};

Status FreeSpaceManager::read(FreeSpaceInfo& info, SectionVisitor* visitor) noexcept {
    const FileShape shape = file_.shape();
    const std::size_t size = FreeSpaceHeader::size(shape);
    {
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(file_.window(Usage::object_header, header_, size, true, window));
        H5MOTE_TRY(window.view(0, size, bytes));
        if (!manager_.decode(shape, bytes)) {
            return damaged(H5MOTE_HERE);
        }
    }
    info.bytes += manager_.bytes;
    info.sections += manager_.sections;
    info.metadata += size + manager_.list_size;
    return visitor == nullptr || manager_.list == kUndefinedAddress ? Status::ok : walk(*visitor);
}

Status FreeSpaceManager::take(MetadataWindow& window, Address& at, unsigned width, std::uint64_t& number) noexcept {
    ConstBytes bytes;
    if (width > window.size() - FreeSpaceHeader::kChecksumSize - at) {
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
    ConstBytes prefix;
    FreeSpaceList list;
    const std::size_t first = FreeSpaceList::prefix_size(file_.shape());
    if (manager_.list_used < first + FreeSpaceHeader::kChecksumSize) {
        return damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(file_.window(Usage::object_header, manager_.list, manager_.list_used, true, window));
    H5MOTE_TRY(window.view(0, first, prefix));
    if (!list.decode(file_.shape(), prefix) || list.header != header_) {
        return damaged(H5MOTE_HERE);
    }
    for (Address at = first; at < window.size() - FreeSpaceHeader::kChecksumSize;) {
        std::uint64_t count = 0;
        std::uint64_t size = 0;
        H5MOTE_TRY(take(window, at, manager_.count_width(), count));
        H5MOTE_TRY(take(window, at, manager_.size_width(), size));
        for (; count > 0; --count) {
            std::uint64_t address = 0;
            std::uint64_t section_class = 0;
            H5MOTE_TRY(take(window, at, manager_.address_width(), address));
            H5MOTE_TRY(take(window, at, 1, section_class));
            H5MOTE_TRY(visitor.section(narrow(address), narrow(size)));
        }
    }
    return Status::ok;
}

// Reads the addresses of the managers from the file space info message.
Status read_managers(FileState& file, Address* managers) noexcept {
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
    Address managers[FileSpaceInfoMessage::kMaxManagers];
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
