#include "object_facts.hpp"

namespace h5mote {
namespace {

// Seconds since 1970-01-01 of a date of the Gregorian calendar.
std::uint64_t seconds_of(unsigned year, unsigned month, unsigned day, unsigned seconds) noexcept {
    // Years begin in March here, so that the leap day is the last day of a year.
    const unsigned y = month <= 2 ? year - 1 : year;
    const unsigned m = month <= 2 ? month + 9 : month - 3;
    const unsigned days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    constexpr unsigned kEpoch = 719468;  // days from 0000-03-01 to 1970-01-01
    return days < kEpoch ? 0 : std::uint64_t{days - kEpoch} * 86400 + seconds;
}

// Old modification time message, specification IV.A.2.o: YYYYMMDDhhmmss in ASCII, UTC.
std::uint32_t read_old_time(ConstBytes body) noexcept {
    constexpr std::size_t kDigits = 14;
    unsigned fields[6] = {};
    static constexpr std::uint8_t kWidths[6] = {4, 2, 2, 2, 2, 2};
    if (body.size() < kDigits) {
        return 0;
    }
    std::size_t at = 0;
    for (unsigned i = 0; i < 6; ++i) {
        for (unsigned digit = 0; digit < kWidths[i]; ++digit, ++at) {
            const unsigned value = static_cast<unsigned>(body[at]) - '0';
            if (value > 9) {
                return 0;
            }
            fields[i] = fields[i] * 10 + value;
        }
    }
    return fields[0] < 1970 || fields[1] == 0 || fields[1] > 12
               ? 0
               : static_cast<std::uint32_t>(
                     seconds_of(fields[0], fields[1], fields[2], fields[3] * 3600 + fields[4] * 60 + fields[5]));
}

Status read_reference_count(MessageIterator& message, ObjectInfo& info) noexcept {
    if (message.size() < 5) {
        return Status::ok;
    }
    if (message.version() == 1) {
        return damaged_message(message.file().context, H5MOTE_HERE, MessageType::reference_count);
    }
    Reader reader(message.body());
    reader.skip(1);
    info.reference_count = reader.u32();
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

// The times in the prefix of the header.
H5MOTE_STEP Status read_times(FileState& file, Address header, const HeaderPrefix& prefix, ObjectInfo& info) noexcept {
    MetadataWindow block;
    ConstBytes bytes;
    H5MOTE_TRY(file.window(Usage::object_header, header, prefix.block_size(), true, block));
    H5MOTE_TRY(block.view(0, prefix.size, bytes));
    std::uint32_t times[4];
    HeaderPrefix::decode_times(bytes, times);
    info.has_times = true;
    info.access_time = times[0];
    info.modification_time = times[1];
    info.change_time = times[2];
    info.birth_time = times[3];
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
        } else if (message.type() == MessageType::modification_time && message.size() >= 8) {
            Reader reader(message.body());
            reader.skip(4);
            info.has_times = true;
            info.change_time = reader.u32();
        } else if (message.type() == MessageType::modification_time_old) {
            info.has_times = true;
            info.change_time = read_old_time(message.body());
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
    } else if ((prefix.flags & HeaderPrefix::kTimes) != 0) {
        H5MOTE_TRY(read_times(file, header, prefix, info));
    }
    // Bytes that belong to no message are gaps. They count as free space.
    const std::uint64_t known = facts.metadata + facts.message_data + facts.free;
    facts.free += facts.total > known ? facts.total - known : 0;
    return Status::ok;
}

}  // namespace h5mote
