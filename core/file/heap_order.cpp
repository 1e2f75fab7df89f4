// When objects of the global heap reach the storage: before anything there that refers to them.
//
// Metadata that refers to objects is written by phases, which come after the objects. Raw data that overwrites elements
// in place is not: the storage leads to these elements already. An object that such an element comes to refer to has to
// be there before, with the end of file that covers its collection and the header through which it is found.

#include "file_state.hpp"

namespace h5mote {
namespace {

// The rules that keep a power cut from leaving references to objects that are not there.
enum class HeapRule {
    none,
    heap_data_first,      // the bytes of heap objects are on the storage before the header through which they are found
    heap_end_first,       // the recorded end of file covers heap objects before raw data refers to them
    heap_before_raw,      // heap objects are on the storage before raw data of the dataset's extent that refers to them
    heap_before_chunks,   // the same where a commit writes chunks that are in memory
    heap_before_outside,  // heap objects are durable before raw data in other files refers to them
};

constexpr bool keep(HeapRule rule) noexcept { return rule != HeapRule::H5MOTE_TEST_OMIT; }

}  // namespace

// Whether the storage may lead to the object whose header is at `header`.
bool FileState::is_live(Address header) noexcept {
    const Pinned block = cache.find(header);
    return block ? !block->fresh() : !is_unrecorded(header);
}

// `durably`: what is written next may refer to the objects.
Status FileState::store_heap(HeapKeeper& heap, bool durably) noexcept {
    if (durably && !keep(HeapRule::heap_before_raw)) {
        return Status::ok;
    }
    H5MOTE_TRY(heap.store_objects());
    H5MOTE_TRY(durably && keep(HeapRule::heap_end_first) ? record_end(heap) : Status::ok);
    if (heap.waits()) {
        if (keep(HeapRule::heap_data_first)) {
            H5MOTE_TRY(barrier());
        }
        H5MOTE_TRY(heap.store_headers());
    }
    if (durably) {
        H5MOTE_TRY(barrier());
        heap.settle();
        heap.unstored = heap.before_raw = false;
    }
    return Status::ok;
}

// Records the end of a file that has grown, between two commits. What is new in it stays new until the next one.
Status FileState::record_end(HeapKeeper& heap) noexcept {
    if (!grown()) {
        return Status::ok;
    }
    unsynced = true;  // the file was extended
    H5MOTE_TRY(barrier());
    H5MOTE_TRY(record_ends());
    heap.committed_end = committed_end();
    return write_superblock();
}

Status FileState::order_objects(Address header) noexcept {
    HeapKeeper& heap = *heap_keeper();
    // Before there is a superblock, there is no file in which anything could be found.
    const bool found = heap.unstored && !atomic && superblock_.end_of_file != 0;
    return found && is_live(header) ? store_heap(heap, true) : Status::ok;
}

Status FileState::order_before_chunks() noexcept {
    HeapKeeper& heap = *heap_keeper();
    return heap.before_raw && keep(HeapRule::heap_before_chunks) && chunks.writes_in_place() ? store_heap(heap, true)
                                                                                             : Status::ok;
}

void FileState::note_objects(Address header) noexcept {
    HeapKeeper& heap = *heap_keeper();
    heap.before_raw = heap.before_raw || (heap.unstored && !atomic && superblock_.end_of_file != 0 && is_live(header));
}

Status FileState::commit_objects(Address header) noexcept {
    HeapKeeper& heap = *heap_keeper();
    if (!keep(HeapRule::heap_before_outside) || !is_live(header)) {
        return Status::ok;
    }
    if (heap.unstored && atomic) {
        // What was discarded stays for now: the other storage still refers to it.
        H5MOTE_TRY(check_storage());
        H5MOTE_TRY(flush_raw());
        return write_metadata(false);
    }
    H5MOTE_TRY(heap.unstored ? store_heap(heap, true) : Status::ok);
    // Where writes need no sync to stay in their order, no barrier() has made the objects durable.
    if (unsynced && !unordered_ && !atomic) {
        H5MOTE_TRY(told(context, driver, H5MOTE_HERE, driver.sync()));
        unsynced = false;
    }
    return Status::ok;
}

}  // namespace h5mote
