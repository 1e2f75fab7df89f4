// What the superblock extension leads to: the managers of the file's free space, the image of the metadata cache.

#include "checker.hpp"
#include "extension_messages.hpp"
#include "free_space_header.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

Status Checker::check_extension() noexcept {
    const Address header = file_.superblock().extension;
    HeaderFacts facts;
    H5MOTE_TRY(check_header(header, facts));
    MessageIterator message(file_, header);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if ((message.flags() & kMessageWasUnknown) != 0) {
            continue;
        }
        if (message.type() == MessageType::file_space_info) {
            H5MOTE_TRY(go_on(check_file_space(message.body())));
        } else if (message.type() == MessageType::cache_image) {
            H5MOTE_TRY(go_on(check_cache_image(message.body())));
        }
    }
    return status == Status::not_found ? Status::ok : judge(status, CheckPart::object_header, header);
}

Status Checker::check_cache_image(ConstBytes body) noexcept {
    CacheImageMessage image;
    if (!image.decode(shape(), body)) {
        return bad(ProblemKind::malformed, CheckPart::message, file_.superblock().extension,
                   static_cast<std::uint64_t>(MessageType::cache_image));
    }
    return image.address == kUndefinedAddress ? Status::ok : use(CheckPart::superblock, image.address, image.size);
}

Status Checker::check_file_space(ConstBytes body) noexcept {
    FileSpaceInfoMessage space;
    if (!space.decode(shape(), body)) {
        // Old files may have a shorter message, which names no managers.
        return Status::ok;
    }
    Address managers[FileSpaceInfoMessage::kMaxManagers];
    for (unsigned i = 0; i < FileSpaceInfoMessage::kMaxManagers; ++i) {
        managers[i] = space.manager(shape(), i);
    }
    for (const Address manager : managers) {
        if (manager != kUndefinedAddress) {
            H5MOTE_TRY(go_on(check_free_space(manager)));
        }
    }
    return Status::ok;
}

// What the sections say is the matter of whoever uses the space. Here only the manager's own blocks count.
Status Checker::check_free_space(Address manager) noexcept {
    FreeSpaceHeader header;
    MetadataWindow window;
    ConstBytes bytes;
    const std::size_t size = FreeSpaceHeader::size(shape());
    H5MOTE_TRY(open(CheckPart::free_space, manager, size, true, window));
    H5MOTE_TRY(judge(window.view(0, size, bytes), CheckPart::free_space, manager));
    if (!header.decode(shape(), bytes)) {
        return bad(ProblemKind::malformed, CheckPart::free_space, manager);
    }
    if (verifying()) {
        free_ += header.bytes;
    }
    return header.list == kUndefinedAddress ? Status::ok : use(CheckPart::free_space, header.list, header.list_size);
}

}  // namespace h5mote

#endif
