#include "object_facts.hpp"

#include "object_messages.hpp"

namespace h5mote {
namespace {

Status read_reference_count(MessageIterator& message, ObjectInfo& info) noexcept {
    if (message.size() < ReferenceCountMessage::kSize) {
        return Status::ok;
    }
    if (message.version() == 1) {
        return damaged_message(message.file().context, H5MOTE_HERE, MessageType::reference_count);
    }
    info.reference_count = ReferenceCountMessage::decode(message.body());
    return Status::ok;
}

void count_message(MessageIterator& message, HeaderInfo& facts) noexcept {
    const std::size_t head = message.layout().head_size();
    ++facts.messages;
    if (message.type() == MessageType::null) {
        facts.free += head + message.size();
    } else if (message.type() == MessageType::continuation) {
        facts.metadata += head + message.size();
    } else {
        facts.metadata += head;
        facts.message_data += message.size();
    }
    // libhdf5 has one type for all messages that it does not know.
    const unsigned type = static_cast<unsigned>(message.type());
    constexpr unsigned kUnknown = 25;
    const std::uint64_t bit = std::uint64_t{1} << (type < kUnknown ? type : kUnknown);
    facts.present |= bit;
    facts.shared |= message.shared() ? bit : 0;
}

// The times in the prefix of the header, and how many attributes change their storage.
H5MOTE_STEP Status read_prefix(FileState& file, Address header, const HeaderPrefix& prefix, ObjectInfo& info) noexcept {
    MetadataWindow block;
    ConstBytes bytes;
    H5MOTE_TRY(file.window(Usage::object_header, header, prefix.block_size(), true, block));
    H5MOTE_TRY(block.view(0, prefix.size, bytes));
    if ((prefix.flags & HeaderPrefix::kTimes) != 0) {
        std::uint32_t times[4];
        HeaderPrefix::decode_times(bytes, times);
        info.has_times = true;
        info.access_time = times[0];
        info.modification_time = times[1];
        info.change_time = times[2];
        info.birth_time = times[3];
    }
    if ((prefix.flags & HeaderPrefix::kAttributePhase) != 0) {
        info.max_compact_attributes = load_le<std::uint16_t>(bytes.data() + prefix.phase_offset());
        info.min_dense_attributes = load_le<std::uint16_t>(bytes.data() + prefix.phase_offset() + 2);
    }
    return Status::ok;
}

}  // namespace

Status header_facts(FileState& file, Address header, ObjectInfo& info) noexcept {
    info.address = header;
    info.header = {};
    HeaderInfo& facts = info.header;
    MessageIterator message(file, header);
    Status status;
    while ((status = message.next()) == Status::ok) {
        if (facts.messages == 0 || message.blocks() != facts.blocks) {
            const HeaderLayout layout = message.layout();
            facts.total += message.block_size();
            facts.metadata += layout.checksum_size() + (message.blocks() == 1 ? 0 : layout.block_prefix());
            facts.blocks = message.blocks();
        }
        count_message(message, facts);
        if (message.type() == MessageType::reference_count) {
            H5MOTE_TRY(read_reference_count(message, info));
        } else if (message.type() == MessageType::modification_time &&
                   message.size() >= ModificationTimeMessage::kSize) {
            info.has_times = true;
            info.change_time = ModificationTimeMessage::decode(message.body());
        } else if (message.type() == MessageType::modification_time_old) {
            info.has_times = true;
            info.change_time = OldModificationTimeMessage::decode(message.body());
        }
    }
    if (status != Status::not_found) {
        return status;
    }
    HeaderPrefix prefix;
    H5MOTE_TRY(message.read_prefix(prefix));
    facts.metadata += prefix.size;
    facts.version = prefix.version;
    facts.flags = prefix.flags;
    facts.blocks = message.blocks();
    if (prefix.version == 1) {
        info.reference_count = prefix.reference_count;
    } else if ((prefix.flags & (HeaderPrefix::kTimes | HeaderPrefix::kAttributePhase)) != 0) {
        H5MOTE_TRY(read_prefix(file, header, prefix, info));
    }
    // Bytes that belong to no message are gaps. They count as free space.
    const std::uint64_t known = facts.metadata + facts.message_data + facts.free;
    facts.free += facts.total > known ? facts.total - known : 0;
    return Status::ok;
}

Status set_times(FileState& file, Address header, const ObjectInfo& info) noexcept {
    MessageIterator message(file, header);
    HeaderPrefix prefix;
    H5MOTE_TRY(message.read_prefix(prefix));
    if (prefix.is_old()) {
        const Status status = message.next(MessageType::modification_time);
        return status == Status::not_found ? Status::ok
               : status != Status::ok
                   ? status
                   : message.store(ModificationTimeMessage::kTimeOffset, info.change_time, 4, Phase::object);
    }
    if ((prefix.flags & HeaderPrefix::kTimes) == 0) {
        return Status::ok;
    }
    H5MOTE_TRY(message.next());
    H5MOTE_TRY(message.hold());
    CacheEntry& first = *message.block();
    const bool all = info.birth_time != 0;
    const std::uint32_t times[] = {info.access_time, info.modification_time, info.change_time, info.birth_time};
    Writer writer(first.image().subspan(HeaderPrefix::kTimesOffset));
    for (const std::uint32_t time : times) {
        writer.u32(all ? time : info.change_time);
    }
    MetadataCache::mark_dirty(first, HeaderPrefix::kTimesOffset, Phase::object);
    return Status::ok;
}

}  // namespace h5mote
