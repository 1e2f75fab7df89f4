// What the superblock extension leads to: the managers of the file's free space, the image of the metadata cache.

#include "checker.hpp"
#include "extension_messages.hpp"
#include "free_space_manager.hpp"

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
    const Address end = file_.superblock().end_of_file;
    const Address tail = space.tail(shape(), end);
    for (const Address manager : managers) {
        if (manager != kUndefinedAddress) {
            H5MOTE_TRY(go_on(check_free_space(manager, tail)));
        }
    }
    return tail == kUndefinedAddress ? Status::ok : use(CheckPart::free_space, tail, end - tail);
}

// Sections of a manager must overlap neither with each other nor with anything that is in use: the next writer of the
// file gives them out.
class Checker::Sections final : public SectionVisitor {
public:
    Sections(Checker& checker, Address manager) noexcept : checker_(checker), manager_(manager) {}
    Status section(Address address, std::uint64_t size) noexcept override {
        if (!checker_.file_.contains(address, narrow(size))) {
            return go_on(checker_.bad(ProblemKind::outside, CheckPart::free_space, manager_, address));
        }
        checker_.extents_.add({address, narrow(size), checker_.object_, CheckPart::free_space, false, true});
        return Status::ok;
    }

private:
    Checker& checker_;
    Address manager_;
};

// The list of a manager fills its space: libhdf5 cannot go on with a file in which it does not.
Status Checker::check_list_size(Address manager) noexcept {
    if (!verifying() || only_space()) {
        return Status::ok;
    }
    FreeSpaceManager reader(file_, manager);
    H5MOTE_TRY(judge(reader.open(), CheckPart::free_space, manager));
    check_list_size(reader.header());
    return Status::ok;
}

void Checker::check_list_size(const FreeSpaceHeader& manager) noexcept {
    if (manager.list != kUndefinedAddress && manager.list_used != manager.list_size) {
        (void)bad(ProblemKind::size, CheckPart::free_space, manager.list, manager.list_size);
    }
}

// `tail`: what lies there is not counted for the managers.
Status Checker::check_free_space(Address manager, Address tail) noexcept {
    FreeSpaceManager reader(file_, manager);
    if (manager < tail) {
        H5MOTE_TRY(use(CheckPart::free_space, manager, FreeSpaceHeader::size(shape())));
    }
    H5MOTE_TRY(judge(reader.open(), CheckPart::free_space, manager));
    if (verifying()) {
        free_ += reader.header().bytes;
    }
    if (!reader.has_list()) {
        return Status::ok;
    }
    if (reader.header().list < tail) {
        H5MOTE_TRY(use(CheckPart::free_space, reader.header().list, reader.header().list_size));
    }
    if (only_space()) {
        return Status::ok;
    }
    check_list_size(reader.header());
    H5MOTE_TRY(judge(reader.verify(), CheckPart::free_space, manager));
    Sections sections(*this, manager);
    return judge(reader.walk(sections), CheckPart::free_space, manager);
}

}  // namespace h5mote

#endif
