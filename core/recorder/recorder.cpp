// Opening, flushing and closing a recorder, and its settings.
#include "block_writer.hpp"
#include "checked.hpp"
#include "recorder_rule.hpp"

namespace h5mote {
namespace {

constexpr unsigned kSuperblockEnd = 12;  // of the version and the widths; the base address follows

constexpr unsigned superblock_size(unsigned width) noexcept { return kSuperblockEnd + 4 * width + 4; }

// Whether the ways of this storage keep what was flushed at every power cut.
bool can_record(const Capabilities& capabilities) noexcept {
    return capabilities.sync_is_commit ||
           ((capabilities.ordered || capabilities.sync_is_barrier) && capabilities.overwrite &&
            capabilities.atomic_unit >= 512 && capabilities.atomic_unit % 512 == 0);
}

}  // namespace

Status RecorderBase::open(Driver& driver, const blueprint::Table& table, Slot* slots, std::byte* chunks,
                          Linker linker) noexcept {
    if (driver_ != nullptr) {
        return Status::busy;
    }
    const Capabilities capabilities = driver.capabilities();
    if (!capabilities.writable) {
        return Status::read_only;
    }
    if (!can_record(capabilities)) {
        return Status::unsupported;
    }
    H5MOTE_TRY(driver.lock(true));
    driver_ = &driver;
    table_ = &table;
    slots_ = slots;
    linker_ = linker;
    for (std::size_t i = 0; i < table.dataset_count; ++i) {
        chunks += chunk_size(table.datasets[i]);
        slots[i].end = chunks;
    }
    commits_ = capabilities.sync_is_commit;
    clears_ = !capabilities.extends_with_zeros;
    ordered_ = commits_ || capabilities.ordered;
    unsynced_ = keep(RecorderRule::sync_found);  // a session may have been cut short before its last sync
    failed_ = false;
    difference_ = 0;
    const Status status = start();
    if (status != Status::ok) {
        abandon();
    }
    return status;
}

// Each chunk in memory looks full, so that the next row comes to advance(), which says why it is not taken.
void RecorderBase::end_appending() noexcept {
    for (Slot* slot = slots_; slot != slots_ + table_->dataset_count; ++slot) {
        slot->next = slot->end;
    }
}

void RecorderBase::abandon() noexcept { (void)let_go(); }

// Closes the recorder; returns what the driver says of the lock.
Status RecorderBase::let_go() noexcept {
    if (driver_ == nullptr) {
        return Status::ok;
    }
    end_appending();
    if (commits_ && unsynced_) {
        // Nothing of what is not durable may come with the next commit of the storage.
        (void)driver_->discard();
    }
    const Status status = driver_->unlock();
    driver_ = nullptr;
    return status;
}

// Makes the file if the bytes of the superblock are all zero or all erased, as the beginning of create() leaves them.
Status RecorderBase::start() noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(driver_->end_of_file(size));
    std::byte bytes[superblock_size(4)];
    const std::size_t count = size < sizeof bytes ? static_cast<std::size_t>(size) : sizeof bytes;
    H5MOTE_TRY(read(0, bytes, count));
    bool equal = true;
    for (std::size_t i = 1; i < count; ++i) {
        equal = equal && bytes[i] == bytes[0];
    }
    if (count == 0 ||
        (equal && (bytes[0] == std::byte{0} || bytes[0] == std::byte{driver_->capabilities().erased_value}))) {
        H5MOTE_TRY(create());
    } else {
        H5MOTE_TRY(go_on());
    }
    for (Slot* slot = slots_; slot != slots_ + table_->dataset_count; ++slot) {
        H5MOTE_TRY(resume(*slot));
    }
    return Status::ok;
}

// The superblock is written last: before it is there, the storage holds no file.
Status RecorderBase::create() noexcept {
    const std::uint32_t first = superblock_size(table_->sizeof_addr) + 4;
    if (clears_ && keep(RecorderRule::blank_first)) {
        static_assert(superblock_size(4) <= kRecorderPiece, "one write makes all that start() looks at zero");
        H5MOTE_TRY(fill(0, superblock_size(4), std::byte{0}));
        H5MOTE_TRY(barrier());
    }
    unsynced_ = true;
    H5MOTE_TRY(driver_->truncate(table_->size));
    const std::byte* bytes = table_->bytes;
    for (std::size_t i = 0; i < table_->piece_count; ++i) {
        const blueprint::Piece& piece = table_->pieces[i];
        if (piece.repeats) {
            H5MOTE_TRY(fill(piece.address, piece.size, *bytes));
            ++bytes;
        } else {
            if (piece.address >= first) {
                H5MOTE_TRY(write(piece.address, bytes, piece.size));
            }
            bytes += piece.size;
        }
    }
    if (keep(RecorderRule::superblock_last)) {
        H5MOTE_TRY(barrier());
    }
    H5MOTE_TRY(write(0, table_->bytes, first));
    end_ = table_->size;
    return keep(RecorderRule::sync_last) ? sync() : Status::ok;
}

Status RecorderBase::go_on() noexcept {
    const unsigned width = table_->sizeof_addr;
    H5MOTE_TRY(compare());
    end_ = table_->size;
    H5MOTE_TRY(verify(0, superblock_size(width)));
    H5MOTE_TRY(read_address(kSuperblockEnd + 2 * width, end_));
    std::uint64_t size = 0;
    H5MOTE_TRY(driver_->end_of_file(size));
    // File::reclaim() gives up the bytes behind the last block, eight at most, which belong to no structure.
    return end_ + 8 >= table_->size && end_ <= size ? Status::ok : Status::corrupt_file;
}

// Compares what stands on the storage with what nobody changes.
Status RecorderBase::compare() noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(driver_->end_of_file(size));
    const std::byte* bytes = table_->bytes;
    for (std::size_t i = 0; i < table_->piece_count; ++i) {
        const blueprint::Piece& piece = table_->pieces[i];
        for (std::uint32_t at = 0; at < piece.size && piece.kind == blueprint::Piece::Kind::fixed;) {
            std::byte found[kRecorderPiece];
            const std::uint32_t left = piece.size - at;
            const std::uint32_t count = left < sizeof found ? left : sizeof found;
            const Address address = piece.address + at;
            if (!within(address, count, size)) {
                return differs(address);
            }
            H5MOTE_TRY(read(address, found, count));
            for (std::uint32_t k = 0; k < count; ++k) {
                if (found[k] != bytes[at + k]) {
                    return differs(address + k);
                }
            }
            at += count;
        }
        bytes += piece.repeats ? 1 : piece.size;
    }
    return Status::ok;
}

// The four bytes behind the superblock tell whether the file is one of this blueprint.
Status RecorderBase::differs(Address address) noexcept {
    difference_ = address;
    if (address < 8) {
        return Status::not_hdf5;
    }
    const unsigned at = superblock_size(table_->sizeof_addr);
    std::byte fingerprint[4];
    const Status status = read(at, fingerprint, sizeof fingerprint);
    return status == Status::ok && load_le<std::uint32_t>(fingerprint) == load_le<std::uint32_t>(table_->bytes + at)
               ? Status::foreign_changes
               : Status::other_blueprint;
}

// Finds where the next row goes.
Status RecorderBase::resume(Slot& slot) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    const unsigned width = table_->sizeof_addr;
    H5MOTE_TRY(verify(dataset.header, table_->header_size));
    if (dataset.array != 0) {
        H5MOTE_TRY(verify(dataset.array, blueprint::ArrayParameters::header_size(width)));
        H5MOTE_TRY(verify(dataset.index_block, blueprint::ArrayParameters::index_block_size(width)));
    }
    H5MOTE_TRY(read_field(dataset.header + table_->dimension, blueprint::ArrayParameters::kSize, slot.stored));
    if (slot.stored >= kUndefinedAddress - 1) {
        return Status::corrupt_file;  // more rows than this machine can count
    }
    seek(slot, slot.stored);
    return Status::ok;
}

// The next row comes behind so many. They are on the storage, so that the chunk in memory need not have them.
void RecorderBase::seek(Slot& slot, Address rows) noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    std::uint64_t within_chunk = 0;
    slot.chunk = static_cast<Address>(divide(rows, dataset.chunk, within_chunk));
    slot.next = slot.saved = begin(slot, dataset) + static_cast<std::size_t>(within_chunk) * dataset.row;
    slot.run = 0;
}

// The rows behind stay where they are until others take their places. The dimension counts them until the next flush,
// and libhdf5 takes them for rows until then.
Status RecorderBase::set_extent(Slot& slot, Address rows) noexcept {
    if (driver_ == nullptr || failed_) {
        return driver_ == nullptr ? Status::invalid_handle : Status::io_error;
    }
    if (rows > slot.stored || this->rows(slot) != slot.stored) {
        return Status::invalid_argument;
    }
    seek(slot, rows);
    return Status::ok;
}

Address RecorderBase::rows(const Slot& slot) const noexcept {
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    return slot.chunk * dataset.chunk + static_cast<std::uint32_t>(slot.next - begin(slot, dataset)) / dataset.row;
}

Status RecorderBase::advance(Slot& slot) noexcept {
    if (driver_ == nullptr) {
        return Status::invalid_handle;
    }
    const blueprint::RecordedDataset& dataset = dataset_of(slot);
    H5MOTE_TRY(save(slot));
    ++slot.chunk;
    --slot.run;
    slot.address += chunk_size(dataset);
    slot.next = slot.saved = begin(slot, dataset);
    return Status::ok;
}

// Writes the rows of the chunk in memory that are not on the storage yet.
Status RecorderBase::save(Slot& slot) noexcept {
    if (failed_) {
        return Status::io_error;
    }
    if (slot.run == 0) {
        H5MOTE_TRY(place(slot));
    }
    if (slot.saved != slot.next) {
        const std::byte* const first = begin(slot, dataset_of(slot));
        H5MOTE_TRY(write(slot.address + static_cast<Address>(slot.saved - first), slot.saved,
                         static_cast<std::size_t>(slot.next - slot.saved), Usage::raw_data));
        slot.saved = slot.next;
    }
    return Status::ok;
}

// The rows are on the storage before the dimensions that count them.
Status RecorderBase::flush() noexcept {
    if (driver_ == nullptr) {
        return Status::invalid_handle;
    }
    Slot* const end = slots_ + table_->dataset_count;
    for (Slot* slot = slots_; slot != end; ++slot) {
        if (slot->saved != slot->next) {
            H5MOTE_TRY(save(*slot));
        }
    }
    bool ready = false;
    for (Slot* slot = slots_; slot != end; ++slot) {
        const Address count = rows(*slot);
        if (count != slot->stored) {
            if (!ready && keep(RecorderRule::rows_first)) {
                H5MOTE_TRY(barrier());
                ready = true;
            }
            const blueprint::RecordedDataset& dataset = dataset_of(*slot);
            H5MOTE_TRY(rewrite(dataset.header, dataset.header_bytes, table_->header_size, table_->dimension, &count, 1,
                               blueprint::ArrayParameters::kSize));
            slot->stored = count;
        }
    }
    return keep(RecorderRule::sync_last) ? sync() : Status::ok;
}

Status RecorderBase::close() noexcept {
    Status status = flush();
    for (Slot* slot = slots_; status == Status::ok && slot != slots_ + table_->dataset_count; ++slot) {
        status = give_back(*slot);
    }
    const Status unlocked = let_go();
    return status == Status::ok ? unlocked : status;
}

Status RecorderBase::set(const blueprint::RecordedSetting& setting, std::byte* value) noexcept {
    if (driver_ == nullptr || failed_) {
        return driver_ == nullptr ? Status::invalid_handle : Status::io_error;
    }
    Lookup3Stream sum(setting.value + setting.size);
    sum.update({table_->bytes + setting.block_bytes, setting.value});
    sum.update({value, setting.size});
    store_le(value + setting.size, sum.finish());
    return write(setting.block + setting.value, value, setting.size + 4);
}

}  // namespace h5mote
