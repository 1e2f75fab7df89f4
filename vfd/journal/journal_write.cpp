#include "checked.hpp"
#include "checksum.hpp"
#include "journal_format.hpp"

namespace h5mote {

using namespace journal;

namespace {

// Log bytes that every transaction leaves free: a commit, and the one that announces changes of the home.
constexpr std::uint32_t kForCommits = 2 * kRecordSize;
// keep_room() counts one change of metadata (of a chunk index) of kChange bytes for each range, and kChanges more for
// the dimensions in the dataspace and other parts of the index.
constexpr std::uint32_t kChange = 192;
constexpr std::uint32_t kChanges = 4;

}  // namespace

Capabilities RedoLog::capabilities() const noexcept {
    Capabilities capabilities = home_.capabilities();
    const Capabilities log = log_.capabilities();
    // Both storages are overwritten again and again, and the log must be durable before the home changes: a journal
    // cannot work on a storage that does not allow that.
    const auto suits = [](const Capabilities& storage) noexcept {
        return storage.overwrite && (storage.ordered || storage.sync_is_barrier);
    };
    // Where the log keeps the length of the file, the home holds other bytes behind the end.
    capabilities.extends_with_zeros = capabilities.extends_with_zeros && options_.home_has_end;
    capabilities.writable = capabilities.writable && !options_.read_only && log.writable;
    capabilities.sync_is_commit = suits(capabilities) && suits(log);
    capabilities.keeps_storage = false;
    return capabilities;
}

Status RedoLog::lock_both(bool exclusive) noexcept {
    H5MOTE_TRY(home_.lock(exclusive));
    const Status status = log_.lock(exclusive);
    if (status != Status::ok) {
        (void)home_.unlock();
    }
    return status;
}

Status RedoLog::unlock_both() noexcept {
    const Status status = log_.unlock();
    const Status home = home_.unlock();
    return status != Status::ok ? status : home;
}

void RedoLog::release_locks() noexcept {
    if (held_) {
        held_ = false;
        (void)unlock_both();
    }
}

Status RedoLog::end_of_file(std::uint64_t& size) noexcept {
    size = file_size_;
    return open_ ? Status::ok : Status::invalid_handle;
}

Status RedoLog::write(std::uint64_t to, ConstBytes from) noexcept {
    H5MOTE_TRY(begin());
    if (!within(to, from.size(), kMostSize)) {
        return Status::no_space;
    }
    const auto address = static_cast<Address>(to);
    const Address end = address + static_cast<Address>(from.size());
    if (from.empty()) {
        return Status::ok;
    }
    H5MOTE_TRY(make_room(end, log_bytes_for(1, from.size())));
    if (!extend_last(address, from)) {
        H5MOTE_TRY(put_pieces(address, from));
    }
    file_size_ = end > file_size_ ? end : file_size_;
    pending_ = true;
    return Status::ok;
}

Status RedoLog::truncate(std::uint64_t length) noexcept {
    H5MOTE_TRY(begin());
    if (length > kMostSize) {
        return Status::no_space;
    }
    const auto size = static_cast<Address>(length);
    H5MOTE_TRY(make_room(size, kRecordSize));
    if (size < file_size_) {
        H5MOTE_TRY(put(kCut, size, {}));
        lowest_cut_ = size < lowest_cut_ ? size : lowest_cut_;
    }
    pending_ = pending_ || size != file_size_;
    file_size_ = size;
    return Status::ok;
}

// A sync that finds the log half full (or filled up to `checkpoint`) empties it, so that the next transaction has at
// least the other half.
Status RedoLog::sync() noexcept {
    if (!open_ || broken_) {
        return broken_ ? Status::io_error : Status::invalid_handle;
    }
    const std::uint32_t half = options_.limit / 2;
    const std::uint32_t full = options_.checkpoint < half ? options_.checkpoint : half;
    const bool last = begun_ && position() >= full && position() > kFirstRecord;
    if (pending_ || unsynced_) {
        H5MOTE_TRY(commit(last));
    }
    if (last) {
        return checkpoint();
    }
    // If an earlier checkpoint() carried everything over but could not write the header that says so, write it now: the
    // log must not be replayed over what others write into the file.
    return barrier_ && sequence_ != 0 ? begin() : Status::ok;
}

Status RedoLog::close() noexcept {
    H5MOTE_TRY(sync());
    const bool begun = begun_ && writable_;
    if (begun && committed_ > kFirstRecord) {
        H5MOTE_TRY(checkpoint());
    }
    if (begun || (writable_ && home_.capabilities().extends_with_zeros)) {
        // Cut off the zeros with which an uncommitted transaction made the home longer.
        H5MOTE_TRY(cut_home(file_size_));
    }
    open_ = false;
    Status status = Status::ok;
    if (begun && log_size_ > kFirstRecord) {
        // A large transaction may have made the log long. Some storages cannot shrink: `unsupported` is no error here.
        status = log_.truncate(kFirstRecord);
    }
    release_locks();
    return status == Status::unsupported ? Status::ok : status;
}

// Returns to the last commit by reading it from home and log, as after a power cut.
Status RedoLog::discard() noexcept {
    if (!open_) {
        return Status::invalid_handle;
    }
    kept_ = granted_ = 0;
    return pending_ || unsynced_ || broken_ ? look() : Status::ok;
}

Status RedoLog::erase_log() noexcept {
    open_ = false;
    const std::byte zeros[kRecordSize] = {};
    for (std::uint32_t at = 0; at < kFirstRecord + kRecordSize; at += kRecordSize) {
        H5MOTE_TRY(log_.write(Usage::raw_data, at, zeros));
    }
    return log_.sync();
}

// Forgets what the log holds: it is empty, or the home has it all.
void RedoLog::clear() noexcept {
    for (std::uint32_t i = 0; i < options_.lists; ++i) {
        lists_[i] = 0;
    }
    last_cut_ = 0;
    granted_ = 0;
    lowest_cut_ = ~Address{0};
    committed_ = kFirstRecord;
    buffer_at_ = kFirstRecord;
    used_ = 0;
    last_ = kNone;
    begun_ = false;
    pending_ = false;
    unsynced_ = false;
    may_change_ = false;
    witness_ = 0;
}

// Called before the first change. The new header has checksums of cells of the home, which other programs may have
// written: make them durable first.
Status RedoLog::begin() noexcept {
    if (!open_) {
        return Status::invalid_handle;
    }
    if (!writable_) {
        return Status::read_only;
    }
    if (broken_ || begun_) {
        return broken_ ? Status::io_error : Status::ok;
    }
    H5MOTE_TRY(home_.sync());
    if (sequence_ != 0) {
        // The newest header may be that of a program that was killed before it synced. Make it durable before the
        // header in the other slot is overwritten.
        H5MOTE_TRY(log_.sync());
    }
    return start_round();
}

// Begins a round by writing its header. If the log has commits of the round before (barrier_), the new header must be
// durable before the first of them is overwritten: those left would be replayed over newer bytes.
Status RedoLog::start_round() noexcept {
    Writer writer(buffer_.first(kHeaderSize));
    writer.u64(load_le<std::uint64_t>(kMagic));
    writer.u16(kVersion);
    writer.u16(options_.lists);
    writer.u32(sequence_ + 1);
    writer.u64(file_size_);
    writer.u64(newest_);
    std::uint32_t cells = 0;
    for (unsigned i = 0; i < kCells; ++i) {
        std::uint32_t sum = 0;
        bool there = false;
        H5MOTE_TRY(sum_cell(Header::cell(i, file_size_, newest_), base_, sum, there));
        cells |= static_cast<std::uint32_t>(there) << i;
        writer.u32(sum);
    }
    writer.u32(cells);
    std::uint32_t salt = 0;
    if (log_size_ >= kFirstRecord + kRecordSize) {
        const Bytes first = buffer_.subspan(kHeaderSize, kRecordSize);
        H5MOTE_TRY(log_.read(Usage::raw_data, kFirstRecord, first));
        salt = lookup3(first);
    }
    writer.u32(salt);
    const std::uint32_t checksum = lookup3(buffer_.first(kHeaderSize - 4));
    writer.u32(checksum);
    const std::uint32_t at = ((sequence_ + 1) & 1) * kSlotSize;
    H5MOTE_TRY(log_.write(Usage::raw_data, at, buffer_.first(kHeaderSize)));
    log_size_ = log_size_ < at + kHeaderSize ? at + kHeaderSize : log_size_;
    if (barrier_ && keep(Rule::sync_header)) {
        H5MOTE_TRY(log_.sync());
    }
    barrier_ = false;
    ++sequence_;
    chain_ = checksum;
    base_ = file_size_;
    begun_ = true;
    return Status::ok;
}

// Checksum of 64 bytes of the home, if they lie within its first `size`.
Status RedoLog::sum_cell(Address at, Address size, std::uint32_t& sum, bool& there) noexcept {
    there = within(at, kCellSize, size);
    if (there) {
        const Bytes cell = buffer_.subspan(kHeaderSize, kCellSize);
        H5MOTE_TRY(home_.read(Usage::raw_data, at, cell));
        sum = lookup3(cell);
    }
    return Status::ok;
}

// The most bytes of log that `ranges` writes of `bytes` in all take. More than the log may have is kNone.
std::uint32_t RedoLog::log_bytes_for(std::uint32_t ranges, std::uint64_t bytes) const noexcept {
    if (bytes > options_.limit) {
        return kNone;
    }
    const auto count = static_cast<std::uint32_t>(bytes);
    const std::uint32_t full = count / static_cast<std::uint32_t>(buffer_.size() - kRecordSize);
    const std::uint64_t all = bytes + (std::uint64_t{full} + count / kPage + 2 * std::uint64_t{ranges}) * kRecordSize;
    return all < kNone ? static_cast<std::uint32_t>(all) : kNone;
}

// Room is looked for once, when it is first kept: what a smaller call gives up is granted to the writes that follow it.
Status RedoLog::keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept {
    const std::uint32_t changes = ranges == 0 ? 0 : ranges + kChanges;
    const std::uint64_t most =
        std::uint64_t{log_bytes_for(ranges, bytes)} + log_bytes_for(changes, std::uint64_t{changes} * kChange);
    if (most > options_.limit) {
        return Status::no_space;
    }
    const auto wanted = static_cast<std::uint32_t>(most);
    const std::uint32_t there = kept_ + granted_;
    if (wanted > there) {
        H5MOTE_TRY(begin());
        H5MOTE_TRY(reserve_or_carry_over(wanted));
    }
    granted_ = wanted < there ? there - wanted : 0;
    kept_ = wanted;
    return Status::ok;
}

// Makes sure that the log's storage takes so many bytes more, so that nothing fails half-way for want of space.
Status RedoLog::reserve(std::uint64_t bytes) noexcept {
    const std::uint64_t end = std::uint64_t{position()} + kForCommits + bytes;
    if (end > options_.limit) {
        return Status::no_space;
    }
    if (end <= log_size_) {
        return Status::ok;
    }
    const std::uint64_t usual = std::uint64_t{options_.checkpoint} + kFirstRecord;
    std::uint64_t size = end < usual ? usual : end + end / 4;
    size = size < options_.limit ? size : options_.limit;
    Status status = log_.truncate(size);
    if (status == Status::no_space) {
        size = end;
        status = log_.truncate(size);
    }
    H5MOTE_TRY(status);
    log_size_ = static_cast<std::uint32_t>(size);
    return Status::ok;
}

Status RedoLog::reserve_or_carry_over(std::uint64_t bytes) noexcept {
    const Status status = reserve(bytes);
    if (status == Status::no_space && !pending_ && !unsynced_ && committed_ > kFirstRecord) {
        H5MOTE_TRY(checkpoint());
        return reserve(bytes);
    }
    return status;
}

Status RedoLog::make_room(Address end, std::uint32_t log_bytes) noexcept {
    const bool granted = log_bytes <= granted_;
    H5MOTE_TRY(reserve_or_carry_over(granted ? log_bytes : std::uint64_t{log_bytes} + kept_));
    if (end > home_size_) {
        // Make the home longer now, with zeros: before a commit it may not change in any other way.
        H5MOTE_TRY(home_.truncate(end));
        home_size_ = end;
    }
    granted_ = granted ? granted_ - log_bytes : 0;
    return Status::ok;
}

// Adds `from` to the last record if that is a piece in memory that ends at `address`; false if it is not.
bool RedoLog::extend_last(Address address, ConstBytes from) noexcept {
    if (last_ == kNone || from.size() > buffer_.size() - used_) {
        return false;
    }
    std::byte* record = buffer_.data() + last_;
    const auto length = load_le<std::uint16_t>(record + 4);
    const auto start = load_le<Address>(record + 8);
    if (record[6] != std::byte{kPiece} || start + length != address || start % kPage + length + from.size() > kPage) {
        return false;
    }
    std::memcpy(buffer_.data() + used_, from.data(), from.size());
    used_ += static_cast<std::uint32_t>(from.size());
    store_le(record + 4, static_cast<std::uint16_t>(length + from.size()));
    return true;
}

Status RedoLog::put_pieces(Address address, ConstBytes from) noexcept {
    close_last();
    const Place before{position(), chain_, witness_};
    while (!from.empty()) {
        std::size_t size = kPage - static_cast<std::size_t>(address % kPage);
        size = size < from.size() ? size : from.size();
        size = size < buffer_.size() - kRecordSize ? size : buffer_.size() - kRecordSize;
        Status status = witness(address);
        status = status == Status::ok ? put(kPiece, address, from.first(size)) : status;
        if (status != Status::ok) {
            undo(before);
            return status;
        }
        address += size;
        from = from.subspan(size);
    }
    return Status::ok;
}

// Adds a record. When it fails, which only writing to the log can, nothing was added.
Status RedoLog::put(std::uint8_t type, Address address, ConstBytes payload) noexcept {
    if (buffer_.size() - used_ < kRecordSize + payload.size()) {
        H5MOTE_TRY(flush());
    }
    close_last();
    last_ = used_;
    std::uint32_t done = kWitness | witness_;
    std::uint32_t& newest = type == kPiece ? list(address) : type == kCut ? last_cut_ : done;
    Writer writer(buffer_.subspan(used_));
    writer.u32(0);
    writer.u16(payload.size());
    writer.u16(type);
    writer.u64(address);
    writer.u32(newest);
    writer.bytes(payload);
    newest = position();
    used_ += kRecordSize + static_cast<std::uint32_t>(payload.size());
    return Status::ok;
}

// Completes the record that was put last with its checksum: nothing is added to it any more.
void RedoLog::close_last() noexcept {
    if (last_ != kNone) {
        chain_ = lookup3(buffer_.subspan(last_ + 4, used_ - last_ - 4), keep(Rule::chain) ? chain_ : 0);
        store_le(buffer_.data() + last_, chain_);
        last_ = kNone;
    }
}

Status RedoLog::flush() noexcept {
    close_last();
    if (used_ > 0) {
        H5MOTE_TRY(log_.write(Usage::raw_data, buffer_at_, buffer_.first(used_)));
        buffer_at_ += used_;
        used_ = 0;
    }
    return Status::ok;
}

// Takes back all pieces from `place` on: each list goes back to the `previous` of the first of its pieces there.
void RedoLog::undo(const Place& place) noexcept {
    close_last();
    Record record;
    for (std::uint32_t at = place.position; at < position(); at += kRecordSize + record.length) {
        if (fetch_record(at, record) != Status::ok) {
            broken_ = true;
            return;
        }
        if (record.previous < place.position) {
            list(record.address) = record.previous;
        }
    }
    used_ = place.position >= buffer_at_ ? place.position - buffer_at_ : 0;
    buffer_at_ = place.position >= buffer_at_ ? buffer_at_ : place.position;
    chain_ = place.chain;
    witness_ = place.witness;
}

// Adds to the witness the bytes of the home that a piece at `address` will replace. The witness shows whether the home
// is still that of this round or one that was changed later.
Status RedoLog::witness(Address address) noexcept {
    const Address end = base_ < home_size_ ? base_ : home_size_;
    if (address < end) {
        std::byte bytes[kWitnessed];
        const Bytes old(bytes, end - address < kWitnessed ? static_cast<std::size_t>(end - address) : kWitnessed);
        H5MOTE_TRY(home_.read(Usage::raw_data, address, old));
        witness_ = lookup3(old, witness_);
    }
    return Status::ok;
}

Status RedoLog::commit(bool changes_home) noexcept {
    changes_home = changes_home && keep(Rule::announce);
    if (pending_ || changes_home) {
        H5MOTE_TRY(put(changes_home ? kCommitAndChange : kCommit, file_size_, {}));
        pending_ = false;
        unsynced_ = true;
        may_change_ = may_change_ || changes_home;
    }
    H5MOTE_TRY(flush());
    if (keep(Rule::sync_log)) {
        H5MOTE_TRY(log_.sync());
    }
    unsynced_ = false;
    granted_ = 0;
    committed_ = position();
    return Status::ok;
}

// Carries the committed records, all of them durable, over into the home and empties the log.
Status RedoLog::checkpoint() noexcept {
    if (!may_change_ && keep(Rule::announce)) {
        H5MOTE_TRY(commit(true));
    }
    H5MOTE_TRY(apply());
    if (keep(Rule::sync_home)) {
        H5MOTE_TRY(home_.sync());
    }
    clear();
    base_ = file_size_;
    barrier_ = true;
    return start_round();
}

// Writes all committed records into the home, in order. The result is the same whatever part of them the home has
// already, so that it may be interrupted and begun again any number of times.
Status RedoLog::apply() noexcept {
    Record record;
    for (std::uint32_t at = kFirstRecord; at < committed_; at += kRecordSize + record.length) {
        H5MOTE_TRY(fetch_record(at, record));
        if (record.type == kPiece) {
            H5MOTE_TRY(apply_piece(at, record));
        } else if (record.type == kCut) {
            H5MOTE_TRY(cut_home(record.address));
        }
    }
    H5MOTE_TRY(cut_home(file_size_));
    if (home_size_ < file_size_) {
        H5MOTE_TRY(home_.truncate(file_size_));
        home_size_ = file_size_;
    }
    return Status::ok;
}

// Cuts the home at `size`. Where the storage cannot shrink, the rest becomes zeros, which the next open() takes for
// those of an uncommitted transaction.
Status RedoLog::cut_home(Address size) noexcept {
    if (!options_.home_has_end || home_size_ <= size) {
        return Status::ok;
    }
    const Status status = home_.truncate(size);
    if (status != Status::unsupported) {
        home_size_ = status == Status::ok ? size : home_size_;
        return status;
    }
    std::memset(buffer_.data(), 0, buffer_.size());
    while (size < home_size_) {
        const Address left = home_size_ - size;
        const Bytes zeros = buffer_.first(left < buffer_.size() ? static_cast<std::size_t>(left) : buffer_.size());
        H5MOTE_TRY(home_.write(Usage::raw_data, size, zeros));
        size += zeros.size();
    }
    return Status::ok;
}

Status RedoLog::apply_piece(std::uint32_t at, const Record& record) noexcept {
    for (std::size_t done = 0; done < record.length;) {
        const std::size_t left = record.length - done;
        const Bytes part = buffer_.first(left < buffer_.size() ? left : buffer_.size());
        H5MOTE_TRY(fetch(at + kRecordSize + static_cast<std::uint32_t>(done), part));
        H5MOTE_TRY(home_.write(Usage::raw_data, record.address + done, part));
        done += part.size();
    }
    const Address end = record.address + record.length;
    home_size_ = end > home_size_ ? end : home_size_;
    newest_ = record.address;
    return Status::ok;
}

}  // namespace h5mote
