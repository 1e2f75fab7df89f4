// Opening: what the log holds, whether it belongs to this file, and what is to be done.
#include "checked.hpp"
#include "checksum.hpp"
#include "journal_format.hpp"

namespace h5mote {

using namespace journal;

namespace {

// Whether nothing was written, or only the first bytes of a header's signature.
bool is_blank(ConstBytes bytes) noexcept {
    std::size_t known = 0;
    while (known < sizeof kMagic && known < bytes.size() && bytes[known] == kMagic[known]) {
        ++known;
    }
    bytes = bytes.subspan(known);
    for (const std::byte each : bytes) {
        if (each != std::byte{0} && each != std::byte{0xff}) {
            return false;
        }
    }
    return true;
}

}  // namespace

Status RedoLog::refuse(JournalState state, Status status) noexcept {
    report_.state = state;
    return status;
}

bool RedoLog::lay_out(std::uint32_t lists) noexcept {
    const std::size_t size = lists * sizeof(std::uint32_t);
    if (memory_.size() < kHeaderSize + kCellSize || memory_.size() - kHeaderSize - kCellSize < size) {
        return false;
    }
    options_.lists = static_cast<std::uint16_t>(lists);
    lists_ = reinterpret_cast<std::uint32_t*>(memory_.data());
    buffer_ = memory_.subspan(size);
    buffer_ = buffer_.first(buffer_.size() < kMostGathered ? buffer_.size() : kMostGathered);
    return true;
}

Status RedoLog::open(const JournalOptions& options) noexcept {
    release_locks();
    open_ = false;
    report_ = {};
    options_ = options;
    if (options.lists == 0 || (options.lists & (options.lists - 1)) != 0 || home_.same_storage(log_) ||
        reinterpret_cast<std::uintptr_t>(memory_.data()) % alignof(std::uint32_t) != 0) {
        return Status::invalid_argument;
    }
    if (!lay_out(options.lists)) {
        return Status::over_budget;
    }
    writable_ = capabilities().writable;
    if (options.file_locking) {
        H5MOTE_TRY(lock_both(writable_));
        held_ = true;
    }
    const Status status = look();
    if (status != Status::ok) {
        release_locks();
    }
    return status;
}

Status RedoLog::look() noexcept {
    open_ = false;
    broken_ = false;
    barrier_ = false;
    report_ = {};
    clear();
    kept_ = 0;
    std::uint64_t size = 0;
    H5MOTE_TRY(home_.end_of_file(size));
    home_size_ = narrow(size);
    if (options_.home_has_end && home_size_ > kMostSize) {
        return refuse(JournalState::newer, Status::unsupported);
    }
    H5MOTE_TRY(log_.end_of_file(size));
    log_size_ = size < kNone ? static_cast<std::uint32_t>(size) : kNone;
    Header header;
    H5MOTE_TRY(find_header(header));
    if (report_.state == JournalState::blank) {
        sequence_ = 0;
        newest_ = 0;
        base_ = options_.home_has_end ? home_size_ : 0;
        file_size_ = base_;
        // Records without a header mean a damaged log: the first header must be durable before any record.
        barrier_ = true;
    } else {
        H5MOTE_TRY(recover(header));
    }
    report_.file_size = file_size_;
    open_ = true;
    return Status::ok;
}

// Finds the newest valid header. If there is none: ok with state `blank`, or an error with the state that says what is
// there instead.
Status RedoLog::find_header(Header& header) noexcept {
    bool found = false;
    bool blank = true;
    bool ours = false;
    for (unsigned slot = 0; slot < 2; ++slot) {
        Header each;
        bool valid = false;
        bool empty = true;
        H5MOTE_TRY(read_header(each, slot, valid, empty));
        if (valid && (!found || each.sequence > header.sequence)) {
            header = each;
        }
        found = found || valid;
        ours = ours || (!empty && std::memcmp(buffer_.data(), kMagic, sizeof kMagic) == 0);
        blank = blank && empty;
    }
    // A header of a later version in one slot makes the other one useless: the newest transactions belong to the later
    // version.
    if (report_.state == JournalState::newer) {
        return Status::unsupported;
    }
    if (found) {
        return header.lists == 0 || (header.lists & (header.lists - 1)) != 0
                   ? refuse(JournalState::damaged, Status::corrupt_file)
                   : refuse(JournalState::clean, Status::ok);
    }
    // If a power cut tore the very first header, nothing follows it.
    bool empty = true;
    if (log_size_ >= kFirstRecord + kRecordSize) {
        const Bytes bytes = buffer_.first(kRecordSize);
        H5MOTE_TRY(log_.read(Usage::raw_data, kFirstRecord, bytes));
        empty = is_blank(bytes);
    }
    bool torn = false;
    if (empty && !blank && !ours) {
        H5MOTE_TRY(torn_at_first(torn));
    }
    if (empty && (blank || ours || torn)) {
        return refuse(JournalState::blank, Status::ok);
    }
    return refuse(ours ? JournalState::damaged : JournalState::not_a_journal, Status::corrupt_file);
}

// Whether the bytes before the first record are blank but for parts of the very first header, any bytes of which may be
// missing. Those present must be what that header has there, as far as that is known.
Status RedoLog::torn_at_first(bool& torn) noexcept {
    std::byte known[16] = {};
    Writer writer(Bytes(known, sizeof known));
    writer.u64(load_le<std::uint64_t>(kMagic));
    writer.u16(kVersion);
    writer.u16(options_.lists);
    writer.u32(1);
    torn = true;
    for (std::uint32_t at = 0; torn && at < kFirstRecord && at < log_size_; at += 128) {
        const std::uint32_t there = log_size_ - at;
        const Bytes bytes = buffer_.first(there < 128 ? static_cast<std::size_t>(there) : 128);
        H5MOTE_TRY(log_.read(Usage::raw_data, at, bytes));
        for (std::uint32_t i = 0; i < bytes.size(); ++i) {
            const std::uint32_t in_header = at + i - kSlotSize;
            const bool may_be = in_header < kHeaderSize && in_header >= sizeof known;
            torn = torn && (may_be || bytes[i] == std::byte{0} || bytes[i] == std::byte{0xff} ||
                            (in_header < sizeof known && bytes[i] == known[in_header]));
        }
    }
    return Status::ok;
}

// Reads the header in a slot. Its bytes are in buffer_ afterwards.
Status RedoLog::read_header(Header& header, unsigned slot, bool& valid, bool& blank) noexcept {
    header.at = slot * kSlotSize;
    if (log_size_ <= header.at) {
        return Status::ok;
    }
    const std::uint32_t there = log_size_ - header.at;
    const Bytes bytes = buffer_.first(there < kHeaderSize ? static_cast<std::size_t>(there) : kHeaderSize);
    std::memset(buffer_.data(), 0, kHeaderSize);
    H5MOTE_TRY(log_.read(Usage::raw_data, header.at, bytes));
    blank = is_blank(bytes);
    Reader reader(buffer_.first(kHeaderSize));
    reader.skip(sizeof kMagic);
    const std::uint16_t version = reader.u16();
    header.lists = reader.u16();
    header.sequence = reader.u32();
    header.base = narrow(reader.u64());
    header.newest = narrow(reader.u64());
    reader.skip(kCells * 4);
    header.cells = reader.u32();
    reader.skip(4);
    header.checksum = reader.u32();
    valid = std::memcmp(buffer_.data(), kMagic, sizeof kMagic) == 0 &&
            header.checksum == lookup3(buffer_.first(kHeaderSize - 4));
    if (valid && version != kVersion) {
        valid = false;
        report_.state = JournalState::newer;
    }
    return Status::ok;
}

Status RedoLog::recover(const Header& header) noexcept {
    if (header.base > kMostSize && !options_.home_has_end) {
        return refuse(JournalState::newer, Status::unsupported);
    }
    sequence_ = header.sequence;
    base_ = header.base;
    newest_ = header.newest;
    file_size_ = base_;
    chain_ = header.checksum;
    H5MOTE_TRY(scan());
    bool same = true;
    if (committed_ == kFirstRecord) {
        if (options_.home_has_end && home_size_ != base_) {
            // The home's length is not that of the header: either an uncommitted transaction left zeros, or others
            // changed the file, which they may while the log holds no commits.
            H5MOTE_TRY(belongs(header, 0, same));
            base_ = same ? base_ : home_size_;
            file_size_ = base_;
        }
        return Status::ok;
    }
    if (!writable_ && !lay_out(header.lists)) {
        return Status::over_budget;
    }
    std::uint32_t touched = 0;
    bool newer = false;
    H5MOTE_TRY(index(header, touched, newer));
    H5MOTE_TRY(belongs(header, touched, same));
    if (!same || newer) {
        return refuse(JournalState::other_file, Status::invalid_argument);
    }
    begun_ = true;
    report_.state = writable_ ? JournalState::replayed : JournalState::pending;
    if (!writable_) {
        return Status::ok;
    }
    // The commits may be those of a program that was killed before it synced: make them durable before the home
    // changes.
    H5MOTE_TRY(log_.sync());
    return checkpoint();
}

// Finds the last commit.
Status RedoLog::scan() noexcept {
    buffer_at_ = log_size_;
    std::uint32_t at = kFirstRecord;
    std::uint32_t chain = chain_;
    std::uint32_t records = 0;
    while (within(at, kRecordSize, buffer_at_)) {
        Record record;
        bool valid = false;
        H5MOTE_TRY(fetch_record(at, record));
        H5MOTE_TRY(follows(at, record, chain, valid));
        if (!valid) {
            break;
        }
        at += kRecordSize + record.length;
        chain = record.checksum;
        ++records;
        if (record.type >= kCommit) {
            committed_ = at;
            chain_ = chain;
            file_size_ = record.address;
            may_change_ = may_change_ || record.type == kCommitAndChange;
            ++report_.transactions;
            report_.records = records;
            report_.log_bytes = at - kFirstRecord;
        }
    }
    report_.unfinished = at > committed_;
    buffer_at_ = committed_;
    return Status::ok;
}

// Whether a record makes sense, is complete, and comes after the one whose checksum is `chain`. unsupported: it does,
// but it is of a file that is too long for this build.
Status RedoLog::follows(std::uint32_t at, const Record& record, std::uint32_t chain, bool& valid) noexcept {
    const bool piece = record.type == kPiece;
    const bool fits = record.address <= kMostSize;
    if (record.type < kPiece || record.type > kCommitAndChange || (record.length != 0) != piece ||
        (record.type < kCommit && record.previous >= at) ||
        (piece && fits && record.address % kPage + record.length > kPage) ||
        !within(at + kRecordSize, record.length, buffer_at_)) {
        return Status::ok;
    }
    std::uint32_t left = kRecordSize - 4U + record.length;
    Lookup3Stream sum(left, keep(Rule::chain) ? chain : 0);
    for (std::uint32_t from = at + 4; left > 0;) {
        const Bytes part = buffer_.first(left < buffer_.size() ? left : buffer_.size());
        H5MOTE_TRY(fetch(from, part));
        sum.update(part);
        from += static_cast<std::uint32_t>(part.size());
        left -= static_cast<std::uint32_t>(part.size());
    }
    valid = sum.finish() == record.checksum;
    return valid && !fits ? refuse(JournalState::newer, Status::unsupported) : Status::ok;
}

// Builds the lists of the committed records and compares them with the links in the log, if that was written with as
// many lists. `touched`: the cells that the records change. `newer`: the home was changed where the records go,
// although no commit announces that.
Status RedoLog::index(const Header& header, std::uint32_t& touched, bool& newer) noexcept {
    for (std::uint32_t i = 0; i < options_.lists; ++i) {
        lists_[i] = 0;
    }
    Record record;
    for (std::uint32_t at = kFirstRecord; at < committed_; at += kRecordSize + record.length) {
        H5MOTE_TRY(fetch_record(at, record));
        if (record.type >= kCommit) {
            newer = newer || (!may_change_ && record.previous >= kWitness && record.previous != (kWitness | witness_));
            continue;
        }
        const bool cut = record.type == kCut;
        if (!cut && !may_change_) {
            H5MOTE_TRY(witness(record.address));
        }
        std::uint32_t& newest = cut ? last_cut_ : list(record.address);
        if (record.previous != newest && (cut || header.lists == options_.lists)) {
            return refuse(JournalState::damaged, Status::corrupt_file);
        }
        newest = at;
        lowest_cut_ = cut && record.address < lowest_cut_ ? record.address : lowest_cut_;
        for (unsigned i = 0; i < kCells; ++i) {
            const Address cell = Header::cell(i, header.base, header.newest);
            if (cell + kCellSize > record.address && (cut || cell < record.address + record.length)) {
                touched |= std::uint32_t{1} << i;
            }
        }
    }
    return Status::ok;
}

// Whether the home is the file that the log was made for, as far as the cells tell. Until a commit announces changes of
// the home, it is as it was when the round began, but for zeros after its end; from then on only the cells that the log
// does not change can be compared.
Status RedoLog::belongs(const Header& header, std::uint32_t touched, bool& same) noexcept {
    same = true;
    if (options_.home_has_end) {
        const Address least = may_change_ && lowest_cut_ < header.base ? lowest_cut_ : header.base;
        same = home_size_ >= least;
    }
    const std::uint32_t cells = may_change_ ? header.cells & ~touched : header.cells;
    for (unsigned i = 0; same && i < kCells; ++i) {
        if ((cells >> i & 1) == 0) {
            continue;
        }
        std::uint32_t sum = 0;
        H5MOTE_TRY(sum_cell(Header::cell(i, header.base, header.newest), home_size_, sum, same));
        if (same) {
            const Bytes expected = buffer_.first(4);
            H5MOTE_TRY(log_.read(Usage::raw_data, header.at + kCellsAt + 4 * i, expected));
            same = load_le<std::uint32_t>(expected.data()) == sum;
        }
    }
    const bool zeros = options_.home_has_end && !may_change_ && home_.capabilities().extends_with_zeros;
    for (Address at = header.base; same && zeros && at < home_size_;) {
        const Address left = home_size_ - at;
        const Bytes part = buffer_.first(left < buffer_.size() ? static_cast<std::size_t>(left) : buffer_.size());
        H5MOTE_TRY(home_.read(Usage::raw_data, at, part));
        for (const std::byte each : part) {
            same = same && each == std::byte{0};
        }
        at += part.size();
    }
    return Status::ok;
}

}  // namespace h5mote
