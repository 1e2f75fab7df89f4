#include "file_state.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

// The rules that keep a power cut from losing anything that was flushed.
enum class Rule {
    none,
    fresh_first,         // new blocks are complete before anything points to them
    sync_before_end,     // everything up to a new end of file is on the storage before the superblock records that end
    end_first,           // the superblock's end of file covers a block before anything points to it
    sync_before_index,   // new blocks and the superblock are on the storage before a live index block is written
    sync_before_object,  // rows and their index are on the storage before the dimension that counts them
    sync_last,           // everything is on the storage before flush() returns ok
    order_changes,       // order(): the second of two changes is never on the storage without the first
    copy_live,           // stays(): blocks to which the storage leads are copied where a change takes several writes
    complete_first,      // complete_first(): nothing leads to a new structure of which the storage has only a part
    order_blocks,        // write_after(): the same for changes of two blocks of one object header
    fill_first,          // a chunk holds its fill values before an index names it
    count_first,         // the index header counts a chunk within the dataset's extent before the index names the chunk
    prepared_later,      // blocks of Phase::prepared are written only when what they point to is complete
    repeat_in_order,     // after a commit that has failed, nothing that it wrote is taken to be on the storage
    hold_space,          // the space that such blocks replace is not used again before they are written
    reuse_last,          // released space is not used again before a commit has made it unreachable
    heap_first,          // heap objects are on the storage before anything that refers to them
    heap_remove_last,    // heap objects are removed only when nothing on the storage refers to them any more
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

// The rule that demands a sync before live blocks of `phase` are written.
constexpr Rule rule_before(Phase phase) noexcept {
    return phase < Phase::element    ? Rule::sync_before_index
           : phase == Phase::element ? Rule::count_first
                                     : Rule::sync_before_object;
}

// Whether a file on this storage stays sound when power is cut at any instant. Unless sync() is a commit, that takes
// writes in a known order, leave to overwrite, and a unit that one write changes wholly or not at all.
bool can_be_written(const Capabilities& capabilities) noexcept {
    return capabilities.sync_is_commit ||
           ((capabilities.ordered || capabilities.sync_is_barrier) && capabilities.overwrite &&
            FileSpace::unit_of(capabilities.atomic_unit) >= FileSpace::kLeastUnit);
}

}  // namespace

FileState::FileState(Context& the_context, Driver& storage) noexcept
    : ForeignOrNone(storage),
      context(the_context),
      driver(driver_of(storage)),
      cache(the_context, driver, *this),
      space(the_context, driver),
      chunks(the_context, space) {}

FileState* FileState::find_open(Context& context, const Driver& storage) noexcept {
    auto& files = context.open_files();
    FileState* file = files.front();
    while (file != nullptr && !file->storage().same_storage(storage)) {
        file = files.next(*file);
    }
    return file;
}

Status FileState::lock_storage(const FileAccess& access) noexcept {
    if (!access.file_locking) {
        return Status::ok;
    }
    const Status status = driver.lock(wants_writing(driver, access));
    locked_ = status == Status::ok;
    return locked_ ? Status::ok : context.fail(Module::file, H5MOTE_HERE, status);
}

Status FileState::start(const FileAccess& access) noexcept {
    if ((access.opener != nullptr && (H5MOTE_OTHER_FILES == 0 || H5MOTE_ALL_FORMATS == 0)) ||
        (access.link_resolver != nullptr && H5MOTE_ALL_FORMATS == 0)) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::external_link);
    }
    if (H5MOTE_ALL_FORMATS == 0 &&
        (access.alignment != 1 || access.metadata_block_size != 0 || access.small_data_block_size != 0)) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::free_space);
    }
    if (access.alignment == 0) {
        return context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    space.set_rule({true, 0, narrow(access.alignment), narrow(access.alignment_threshold),
                    narrow(access.metadata_block_size), narrow(access.small_data_block_size)});
    set_access(access);
    close_degree_ = access.close_degree;
    const Capabilities capabilities = driver.capabilities();
    writable_ = wants_writing(driver, access);
    unsynced = writable_;  // the file as found may come from a flush that was cut before its last sync
    atomic = capabilities.sync_is_commit;
    torn_headers_ = access.torn_headers;
    unordered_ = !capabilities.ordered && !atomic;
    H5MOTE_TRY(check_versions(access));
    if (writable_ && !can_be_written(capabilities)) {
        return context.unsupported(Module::file, H5MOTE_HERE, Feature::ordered_writing, capabilities.atomic_unit);
    }
    chunks.open(access.chunk_cache);
    H5MOTE_TRY(cache.open(access.metadata_cache));
    open_ = true;
    context.open_files().push_back(*this);
    return Status::ok;
}

Status FileState::check_versions(const FileAccess& access) noexcept {
    if (access.high < FormatVersion::v18 || access.low > access.high) {
        return context.fail(Module::file, H5MOTE_HERE, Status::invalid_argument);
    }
    const bool plain = access.low == FormatVersion::standard && access.high == FormatVersion::latest;
    const bool supported =
        H5MOTE_ALL_FORMATS != 0 ? plain || !writable_ || context.formats().versions != nullptr : plain;
    return supported ? Status::ok
                     : context.unsupported(Module::file, H5MOTE_HERE, Feature::format_version,
                                           static_cast<std::uint32_t>(access.low));
}

bool FileState::contains(Address address, Address size) const noexcept { return space.contains(address, size); }

// Makes sure that everything written so far reaches the storage before what is written next.
Status FileState::barrier() noexcept {
    if (unsynced && unordered_) {
        H5MOTE_TRY(told(context, driver, H5MOTE_HERE, driver.sync()));
        unsynced = false;
    }
    return Status::ok;
}

Status FileState::check_storage() noexcept {
    std::uint64_t size = 0;
    H5MOTE_TRY(driver.end_of_file(size));
    return size >= space.end() ? Status::ok : context.fail(Module::file, H5MOTE_HERE, Status::io_error, 0, size);
}

Status FileState::write_superblock() noexcept {
    const Address stored_end = superblock_.end_of_file;
    superblock_.end_of_file = end_to_record();
    std::byte bytes[Superblock::kMaxSize];
    superblock_.encode(bytes);
    unsynced = true;
    const Status status = driver.write(Usage::superblock, 0, {bytes, superblock_.size()});
    stored_root_ = superblock_.root;
    if (status != Status::ok) {
        // What a failed write has left is undefined: the next commit writes the superblock again, even if the file has
        // no more to record then.
        stored_root_ = kUndefinedAddress;
        superblock_.end_of_file = stored_end;
    }
    return status;
}

// Writes all dirty blocks of phase `first` and later ones, with a sync before each phase. `along`: a phase that needs
// none, because its blocks depend on nothing that was written since the last sync.
Status FileState::flush_from(Phase first, Phase along) noexcept {
    for (Phase phase; (phase = cache.next_phase(first)) != Phase::none;) {
        if (phase != along && keep(rule_before(phase))) {
            H5MOTE_TRY(barrier());
        }
        H5MOTE_TRY(cache.flush(phase));
        along = phase == Phase::prepared ? Phase::index : Phase::none;
    }
    return Status::ok;
}

Status FileState::commit_metadata() noexcept { return writable() ? write_metadata(false) : Status::ok; }

Status FileState::write_changes() noexcept {
    if (!writable() || !atomic) {
        return commit_metadata();
    }
    space.unkeep_metadata();
    H5MOTE_TRY(cache.seal(cache));
    return flush_from(Phase::fresh);
}

// `prepared`: the changed object headers need no index block that is still to be written, and no space beyond the
// recorded end of file. Live blocks of phases before Phase::object are then left to the next commit.
Status FileState::write_metadata(bool prepared) noexcept {
    incomplete = true;
    space.unkeep_metadata();
    space.begin_if_released();
    if (!atomic && keep(Rule::fill_first)) {
        H5MOTE_TRY(heap_keeper() != nullptr ? heap_keeper()->order_before_chunks() : Status::ok);
        H5MOTE_TRY(chunks.write_in_place(driver, unsynced));
    }
    HeapKeeper* const heap = heap_keeper();
    if (heap != nullptr && keep(Rule::heap_first)) {
        H5MOTE_TRY(heap->store_objects());
    }
    H5MOTE_TRY(cache.seal(cache));
    if (keep(Rule::fresh_first)) {
        H5MOTE_TRY(cache.flush(Phase::fresh));
    }
    cache.settle();
    if (heap != nullptr) {
        heap->settle();
    }
    if (!keep(Rule::prepared_later)) {
        H5MOTE_TRY(cache.flush(Phase::prepared));
    }
    const bool growing = grown();
    if (growing && keep(Rule::end_first)) {
        unsynced = true;  // the file was extended
        if (keep(Rule::sync_before_end)) {
            H5MOTE_TRY(barrier());
        }
        H5MOTE_TRY(record_ends());
        H5MOTE_TRY(write_superblock());
    }
    if (heap != nullptr) {
        heap->committed_end = kUndefinedAddress;
    }
    const bool waits = heap != nullptr && keep(Rule::heap_first) && heap->waits();
    if (waits) {
        H5MOTE_TRY(heap->store(false));
    }
    H5MOTE_TRY(flush_from(prepared ? Phase::object : Phase::prepared,
                          prepared && growing && !waits ? Phase::object : Phase::none));
    if (!keep(Rule::heap_first)) {
        H5MOTE_TRY(show_heap());
    }
    if (growing && !keep(Rule::end_first)) {
        H5MOTE_TRY(record_ends());
        H5MOTE_TRY(write_superblock());
    }
    if (unsynced) {
        if (keep(Rule::sync_last)) {
            H5MOTE_TRY(told(context, driver, H5MOTE_HERE, driver.sync()));
        }
        unsynced = false;
    }
    unsynced = space.settle(!prepared);
    incomplete = false;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        ++foreign()->commits;
        foreign()->number_waits = false;
    }
    if (heap != nullptr) {
        heap->unstored = heap->before_raw = false;
    }
    return Status::ok;
}

Status FileState::order() noexcept {
    const bool ordered = !atomic && keep(Rule::order_changes);
    return ordered && (cache.has_dirty(Phase::fresh) || cache.next_phase(Phase::index) != Phase::none)
               ? commit_metadata()
               : Status::ok;
}

Status FileState::complete_first(Address header) noexcept {
    const Pinned block = cache.find(header);
    const bool fresh = block ? block->fresh() : is_unrecorded(header);
    return fresh || !keep(Rule::complete_first) ? Status::ok : order();
}

bool FileState::stays(const CacheEntry& block) const noexcept { return block.fresh() || !keep(Rule::copy_live); }

Status FileState::write_after(CacheEntry& later, CacheEntry& earlier) noexcept {
    return atomic || !keep(Rule::order_blocks) || cache.write_after(later, earlier) ? Status::ok : order();
}

Status FileState::flush_raw() noexcept {
    FlushClient* next = nullptr;
    for (FlushClient* client = clients.front(); client != nullptr; client = next) {
        next = clients.next(*client);
        if (!keep(Rule::reuse_last)) {
            space.settle();
        }
        H5MOTE_TRY(client->is_unused() ? client->retire(true) : client->flush_raw());
    }
    return Status::ok;
}

Status FileState::commit() noexcept {
    if (!open_) {
        return Status::invalid_handle;
    }
    if (!writable()) {
        return Status::ok;
    }
    H5MOTE_TRY(check_storage());
    H5MOTE_TRY(flush_raw());
    // Whether the rows need only what the last commit prepared. Then the index blocks that name their chunks, of
    // Phase::prepared, can be written together with the rows. Fresh index blocks forbid that: they may come to name
    // chunks, prepared next, beyond the recorded end of file. So does a commit that has failed: what it wrote, with the
    // end of file, need not be on the storage, and what it prepared need not be filled.
    const bool prepared = H5MOTE_PREPARE_APPENDS != 0 && unordered_ && !(incomplete && keep(Rule::repeat_in_order)) &&
                          !grown() && !cache.has_dirty(Phase::fresh) && cache.next_phase(Phase::index) >= Phase::object;
    if (prepared) {
        H5MOTE_TRY(cache.flush(Phase::prepared));
    }
    incomplete = true;
    if (H5MOTE_PREPARE_APPENDS != 0 && unordered_) {
        H5MOTE_TRY(prepare(prepared ? Phase::prepared : Phase::index));
    }
    if (!keep(Rule::heap_remove_last) && heap_keeper() != nullptr) {
        heap_keeper()->give_up_discarded();
    }
    H5MOTE_TRY(write_metadata(prepared));
    if (heap_keeper() != nullptr) {
        heap_keeper()->give_up_discarded();
    }
    return commit_again();
}

// The second commit for clients that have asked for it: the first has made room for what they could not store.
Status FileState::commit_again() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (flushes_again_) {
            flushes_again_ = false;
            H5MOTE_TRY(flush_raw());
            H5MOTE_TRY(flushes_again_ ? Status::no_space : write_metadata(false));
        }
    }
    return Status::ok;
}

Status FileState::prepare(Phase phase) noexcept {
    space.hold(phase == Phase::prepared && keep(Rule::hold_space));
    Status status = Status::ok;
    for (FlushClient* client = clients.front(); client != nullptr && status == Status::ok;
         client = clients.next(*client)) {
        status = client->prepare(phase);
    }
    space.hold(false);
    return status;
}

Status FileState::give_back() noexcept {
    for (const bool again : {false, true}) {
        for (FlushClient* client = clients.front(); client != nullptr; client = clients.next(*client)) {
            H5MOTE_TRY(client->give_back(again));
        }
        H5MOTE_TRY(commit_metadata());
    }
    return Status::ok;
}

Status FileState::drop_handle() noexcept {
    --handles_;
    const bool others = references_ > 1;  // the dropped handle still holds its own reference
    const Status linked = commit_linked();
    const Status status =
        handles_ > 0 || is_mounted() || (others && close_degree_ != CloseDegree::strong) ? commit() : close();
    return status == Status::ok ? linked : status;
}

// Writes the ends of the ranges of a file that has several, just before the superblock is written. What they cover is
// on the storage. In a new file this is the first time, and the superblock makes the file exist.
Status FileState::record_ranges() noexcept {
    if (space.ranges() == nullptr) {
        return Status::ok;
    }
    H5MOTE_TRY(space.ranges()->record());
    // The ranges have not grown any more, but the superblock is still to be written, in a later commit if this one
    // fails.
    stored_root_ = kUndefinedAddress;
    return superblock_.end_of_file == 0 ? barrier() : Status::ok;
}

// Lowers the recorded end to that of the space in use. The storage is cut later, so that the recorded end never lies
// beyond the end of the storage. `was_cut`: it was cut in the same commit, which is made in any case.
Status FileState::lower_end(bool was_cut) noexcept {
    if (space.ranges() == nullptr ? space.end() < superblock_.end_of_file : space.ranges()->has_shrunk()) {
        H5MOTE_TRY(record_ends());
        H5MOTE_TRY(write_superblock());
    } else if (!was_cut) {
        return Status::ok;
    }
    return told(context, driver, H5MOTE_HERE, driver.sync());
}

// Where sync() is a commit, the file becomes shorter with the next one only.
Status FileState::cut() noexcept {
    H5MOTE_TRY(atomic ? Status::ok : lower_end());
    const bool longer = space.stored() != space.end();
    const Status status = longer ? driver.truncate(space.end()) : Status::ok;
    // A storage that cannot shrink keeps bytes beyond the recorded end, which does no harm.
    H5MOTE_TRY(status == Status::unsupported ? Status::ok : status);
    return atomic ? lower_end(longer) : Status::ok;
}

Status FileState::close() noexcept {
    if (!open_) {
        return Status::invalid_handle;
    }
    Status status = check_storage();
    if (status == Status::ok && writable()) {
        status = flush_raw();
    }
    if (status == Status::ok) {
        status = commit_metadata();
        status = status == Status::ok ? commit_again() : status;
    }
    if (status == Status::ok && heap_keeper() != nullptr) {
        heap_keeper()->give_up_discarded();
        heap_keeper()->forget();
    }
    if (status == Status::ok && writable()) {
        space.end_aggregation();
        status = give_back();
        if (status == Status::ok && space.keeper() != nullptr) {
            // What is free at the end of the file is in no record: it must be gone before the record says that all is
            // known.
            status = lower_end();
            status = status == Status::ok ? space.keeper()->store() : status;
        }
        if (status == Status::ok && space.ranges() != nullptr) {
            status = lower_end();
            status = status == Status::ok ? space.ranges()->cut() : status;
        } else if (status == Status::ok) {
            status = cut();
        }
    }
    if (status != Status::ok) {
        discard();
    }
    const Status stopped = stop();
    return status == Status::ok ? stopped : status;
}

// Takes back writes that belong to incomplete changes. Otherwise they would become durable with the next commit, even
// with that of a program which opens the file later.
void FileState::discard() noexcept {
    if (atomic && writable()) {
        (void)driver.discard();
    }
}

void FileState::abandon() noexcept {
    discard();
    (void)stop();
}

// Releases everything but this object. An error comes from giving the storage's lock back.
Status FileState::stop() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        release_mounts();
        context.destroy(MemoryKind::file, foreign()->released);
        context.destroy(MemoryKind::file, foreign()->last_sections);
        foreign()->released = nullptr;
        foreign()->last_sections = nullptr;
    }
    while (FlushClient* client = clients.front()) {
        clients.remove(*client);
        client->detach();
    }
    // Once no file is in this list, released memory goes back to the allocator and not into the free lists.
    if (linked()) {
        context.open_files().remove(*this);
    }
    if (heap_keeper() != nullptr) {
        heap_keeper()->end();
    }
    if (space.ranges() != nullptr) {
        space.ranges()->close();
        space.set_ranges(nullptr);
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        shift_ranges(false);
    }
    cache.close();
    space.close();
    context.release(MemoryKind::filter, scratch_, scratch_size_);
    scratch_ = nullptr;
    scratch_size_ = 0;
    open_ = false;
    const bool locked = locked_;
    locked_ = false;
    return locked ? driver.unlock() : Status::ok;
}

void FileState::release(FileState* file) noexcept {
    if (file == nullptr || --file->references_ > 0) {
        return;
    }
    if (file->open_ && file->close() != Status::ok) {
        file->context.port().log("closing a file failed");
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        file->leave();
    }
    file->context.destroy(MemoryKind::file, file);
}

Status FileState::create_block(Usage usage, std::size_t size, Address space_size, Pinned& block,
                               ChecksumPlace checksum) noexcept {
    Address address = 0;
    H5MOTE_TRY(space.allocate(usage, space_size, address));
    const Status status = cache.create(usage, address, size, block, checksum);
    if (status != Status::ok) {
        space.release(address, space_size, true);
    }
    return status;
}

void FileState::give_up(Address address, Address size, bool fresh, SpaceKind kind) noexcept {
    cache.discard(address, size);
    space.release(address, size, fresh, kind);
}

Status FileState::window(Usage usage, Address address, Address size, ChecksumPlace checksum,
                         MetadataWindow& block) noexcept {
    if (!contains(address, size)) {
        return context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    return block.open(cache, usage, address, size, checksum);
}

FlushClient* FileState::find_client(Address address) noexcept {
    FlushClient* client = clients.front();
    while (client != nullptr && client->address() != address) {
        client = clients.next(*client);
    }
    return client;
}

std::byte* FileState::filter_scratch(std::size_t size) noexcept {
    if (size <= scratch_size_) {
        return scratch_;
    }
    const std::size_t old_size = scratch_size_;
    for (const std::size_t wanted : {size, old_size}) {
        context.release(MemoryKind::filter, scratch_, scratch_size_);
        scratch_size_ = 0;
        scratch_ = wanted == 0 ? nullptr : static_cast<std::byte*>(context.allocate(MemoryKind::filter, wanted));
        if (scratch_ != nullptr) {
            scratch_size_ = wanted;
            break;
        }
    }
    // If there is no memory for `size` bytes, the buffer has its old size again: other datasets count on that.
    return scratch_size_ >= size ? scratch_ : nullptr;
}

Status FileState::reserve_scratch(std::size_t size) noexcept {
    if (size == 0 || filter_scratch(size) != nullptr) {
        return Status::ok;
    }
    H5MOTE_TRY(chunks.evict_all());
    return filter_scratch(size) != nullptr ? Status::ok : Status::out_of_memory;
}

}  // namespace h5mote
