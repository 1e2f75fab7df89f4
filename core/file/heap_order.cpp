#include "heap_order.hpp"

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
bool HeapOrder::is_live(Address header) noexcept {
    const Pinned block = file_.cache.find(header);
    return block ? !block->fresh() : !file_.is_unrecorded(header);
}

// Whether elements of that dataset may be found that refer to objects which need not be there. Before there is a
// superblock, there is no file in which anything could be found.
bool HeapOrder::may_be_found(Address header) noexcept {
    return unstored && !file_.atomic && file_.superblock_.end_of_file != 0 && is_live(header);
}

Status HeapOrder::store(bool durably) noexcept {
    if (durably && !keep(HeapRule::heap_before_raw)) {
        return Status::ok;
    }
    H5MOTE_TRY(store_objects());
    H5MOTE_TRY(durably && keep(HeapRule::heap_end_first) ? record_end() : Status::ok);
    if (waits()) {
        if (keep(HeapRule::heap_data_first)) {
            H5MOTE_TRY(file_.barrier());
        }
        H5MOTE_TRY(store_headers());
    }
    if (durably) {
        H5MOTE_TRY(file_.barrier());
        settle();
        unstored = before_raw = false;
    }
    return Status::ok;
}

// Records the end of a file that has grown, between two commits. What is new in it stays new until the next one.
Status HeapOrder::record_end() noexcept {
    if (!file_.grown()) {
        return Status::ok;
    }
    file_.unsynced = true;  // the file was extended
    H5MOTE_TRY(file_.barrier());
    H5MOTE_TRY(file_.record_ends());
    committed_end = file_.committed_end();
    return file_.write_superblock();
}

Status HeapOrder::order(Address header) noexcept { return may_be_found(header) ? store(true) : Status::ok; }

Status HeapOrder::order_before_chunks() noexcept {
    return before_raw && keep(HeapRule::heap_before_chunks) && file_.chunks.writes_in_place() ? store(true)
                                                                                              : Status::ok;
}

void HeapOrder::note(Address header) noexcept { before_raw = before_raw || may_be_found(header); }

Status HeapOrder::commit(Address header) noexcept {
    if (!keep(HeapRule::heap_before_outside) || !is_live(header)) {
        return Status::ok;
    }
    if (unstored && file_.atomic) {
        // What was discarded stays for now: the other storage still refers to it.
        H5MOTE_TRY(file_.check_storage());
        H5MOTE_TRY(file_.flush_raw());
        return file_.write_metadata(false);
    }
    H5MOTE_TRY(unstored ? store(true) : Status::ok);
    // Where writes need no sync to stay in their order, no barrier() has made the objects durable.
    if (file_.unsynced && !file_.unordered_ && !file_.atomic) {
        H5MOTE_TRY(told(file_.context, file_.driver, H5MOTE_HERE, file_.driver.sync()));
        file_.unsynced = false;
    }
    return Status::ok;
}

}  // namespace h5mote
