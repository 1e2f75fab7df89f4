// H5F H5O - what the superblock leads to beside the root group: its extension, and the driver information block of old
// superblocks.

#include "superblock_extension.hpp"

namespace h5mote {
namespace {

Status read_extension_message(FileState& file, MessageIterator& message) noexcept {
    const FileShape shape = file.shape();
    const ConstBytes body = message.body();
    switch (message.type()) {
        case MessageType::btree_k:
            if (BTreeKMessage::decode(body, file.foreign()->btree_k)) {
                return Status::ok;
            }
            break;
        case MessageType::shared_message_table:
            if (SharedTableMessage::decode(shape, body, file.foreign()->shared_table, file.foreign()->shared_indexes)) {
                return Status::ok;
            }
            break;
        case MessageType::driver_info: {
            DriverInfoMessage driver;
            if (driver.decode(body)) {
                return file.use_driver_info(text_of(driver.name), driver.info);
            }
            break;
        }
        case MessageType::cache_image: {
            CacheImageMessage image;
            if (image.decode(shape, body)) {
                return image.address == kUndefinedAddress ? Status::ok
                                                          : file.use_cache_image(image.address, image.size);
            }
            break;
        }
        default:
            return Status::ok;
    }
    return damaged_message(file.context, H5MOTE_HERE, message.type());
}

// Whether a file can be changed whose extension has this message. What this library writes does not depend on the
// widths of version 1 B-trees, nor on how libhdf5 uses free space, unless the file keeps a record of that space, or has
// pages. Programs with formats::free_space look at that message themselves.
bool permits_writing(FileState& file, MessageIterator& message) noexcept {
    FileSpaceStrategy space;
    DriverInfoMessage driver;
    switch (message.type()) {
        case MessageType::null:
        case MessageType::continuation:
        case MessageType::btree_k:
        case MessageType::cache_image:
            return true;
        case MessageType::driver_info:
            // FamilyDriver and MultiDriver are the only drivers that accept these.
            return driver.decode(message.body()) &&
                   (text_of(driver.name) == "NCSAfami" || text_of(driver.name) == "NCSAmult");
        case MessageType::shared_message_table:
            return file.context.formats().shared_message_changes != nullptr;
        case MessageType::file_space_info:
            return file.context.formats().free_space != nullptr ||
                   (space.decode(message.body()) && space.strategy != FileSpaceStrategy::kPages && !space.persistent);
        default:
            return false;
    }
}

// The superblock tells the end of the part that it lies in. Where the other parts end is in the extension, which may
// lie in one of them: until it was read, they end where the storage does.
Status reach_extension(FileState& file) noexcept {
    if (file.storage().usage_ranges() == nullptr || file.superblock().extension < file.space.end()) {
        return Status::ok;
    }
    std::uint64_t size = 0;
    H5MOTE_TRY(file.driver.end_of_file(size));
    file.space.open(narrow(size), file.shape().max_addr(), narrow(size));
    return Status::ok;
}

Status load(FileState& file) noexcept {
    H5MOTE_TRY(reach_extension(file));
    MessageIterator message(file, file.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (file.writable() && !permits_writing(file, message)) {
            return file.context.unsupported(Module::file, H5MOTE_HERE, Feature::superblock_extension,
                                            static_cast<std::uint32_t>(message.type()));
        }
        H5MOTE_TRY(read_extension_message(file, message));
    }
    return status == Status::not_found ? Status::ok : status;
}

// Moves the first block of the extension, unless one write can change it where it is: only the superblock leads there.
// A block of more than one unit stays. The superblock is written in any case, after the block.
H5MOTE_STEP Status move_extension(FileState& file) noexcept {
    const Address from = file.superblock().extension;
    Address size = 0;
    {
        MessageIterator message(file, from);
        H5MOTE_TRY(message.next());
        H5MOTE_TRY(message.hold());
        size = narrow(message.block()->size());
        if (message.block_address() != from || file.one_write(from, std::uint64_t{from} + size) ||
            !file.space.in_one_unit(0, size)) {
            return Status::ok;
        }
        Address to = 0;
        H5MOTE_TRY(file.space.begin());
        H5MOTE_TRY(file.space.allocate(Usage::object_header, size, to));
        file.cache.move(*message.block(), to);
        file.set_extension(to);
    }
    H5MOTE_TRY(file.commit_metadata());
    file.give_up(from, size);
    return Status::ok;
}

// Until the message is gone, the image counts, whatever of it was written elsewhere.
Status store_image(FileState& file) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS == 0 || H5MOTE_WRITE == 0) {
        return Status::ok;
    } else {
        MessageIterator message(file, file.superblock().extension);
        CacheImageMessage image;
        Status status = message.next(MessageType::cache_image);
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        (void)image.decode(file.shape(), message.body());
        message.park();
        H5MOTE_TRY(move_extension(file));
        status =
            image.address == kUndefinedAddress ? Status::ok : file.foreign()->base_driver.store_image(file.space.end());
        file.unsynced = true;
        H5MOTE_TRY(told(file.context, file.driver, H5MOTE_HERE, status, image.address));
        H5MOTE_TRY(file.order());
        message.restart(file.superblock().extension);
        H5MOTE_TRY(message.next(MessageType::cache_image));
        H5MOTE_TRY(remove_message(message));
        if (image.address != kUndefinedAddress) {
            H5MOTE_TRY(file.space.begin());
            file.give_up(image.address, image.size);
        }
        return file.order();
    }
}

class InfoContent final : public HeaderContent {
public:
    explicit InfoContent(const SuperblockInfo& info) noexcept : info_(info) {}
    void write(HeaderWriter& header) const noexcept override { write_driver_info(header, info_); }

private:
    const SuperblockInfo& info_;
};

Status store_block(FileState& file, const SuperblockInfo& info) noexcept {
    const std::size_t size = DriverInfoBlock::kPrefixSize + info.info.size();
    Pinned block;
    H5MOTE_TRY(file.create_block(Usage::superblock, size, static_cast<Address>(size), block, ChecksumPlace::none));
    Writer writer(block->image());
    DriverInfoBlock prefix;
    prefix.size = static_cast<std::uint32_t>(info.info.size());
    prefix.name = bytes_of(info.name);
    prefix.encode(writer);
    writer.bytes(info.info);
    file.set_driver_info(block->address());
    return Status::ok;
}

Status store_driver_info(FileState& file, const SuperblockInfo& info) noexcept {
    if (file.superblock().is_old()) {
        return store_block(file, info);
    }
    Address extension = 0;
    H5MOTE_TRY(create_header(file, InfoContent(info), extension));
    file.set_extension(extension);
    return Status::ok;
}

class BTreeKContent final : public HeaderContent, public MessageContent {
public:
    BTreeKContent(FileShape shape, const BTreeK& k) noexcept : shape_(shape), k_(k) {}
    static constexpr std::uint8_t kFlags = kMessageConstant | kMessageNotShareable;

    void write(Writer& writer) const noexcept override { BTreeKMessage::encode(writer, k_); }
    // The message is too short for a continuation message to take its place: there is room for one behind it.
    void write(HeaderWriter& header) const noexcept override {
        header.begin(MessageType::btree_k, kFlags);
        write(header.out);
        header.end();
        header.begin(MessageType::null);
        header.out.fill(std::byte{0}, continuation_body(shape_));
        header.end();
    }

private:
    FileShape shape_;
    const BTreeK& k_;
};

Status store_btree_k(FileState& file) noexcept {
    const BTreeKContent content(file.shape(), file.foreign()->btree_k);
    return add_to_extension(file, MessageType::btree_k, BTreeKContent::kFlags, content, content);
}

}  // namespace

const SuperblockExtensionFormat formats::superblock_extension = {
    &load, [](FileState& file) { return file.read_driver_info(); }, H5MOTE_WRITE != 0 ? &store_driver_info : nullptr,
    H5MOTE_WRITE != 0 ? &store_btree_k : nullptr, H5MOTE_WRITE != 0 ? &store_image : nullptr};

}  // namespace h5mote
