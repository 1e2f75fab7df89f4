#include "lost_space.hpp"

#include "dataset_state.hpp"
#include "spilled_extents.hpp"

namespace h5mote {
namespace {

// Whether a handle of a dataset is open. What it holds in memory is not what its header and index say.
bool has_open_datasets(FileState& file) noexcept {
    for (FlushClient* client = file.clients.front(); client != nullptr; client = file.clients.next(*client)) {
        if (!client->is_unused()) {
            return true;
        }
    }
    return false;
}

class Search {
public:
    Search(FileState& file, BlockWalk& walk) noexcept : file_(file), walk_(walk), runs_(file.context) {}

    Status run(std::size_t memory, std::uint64_t& bytes) noexcept {
        H5MOTE_TRY(runs_.reserve(memory));
        H5MOTE_TRY(see_all(nullptr));
        if (walk_.ahead().size() != 0) {
            const Address before = used_;
            H5MOTE_TRY(remove_ahead());
            H5MOTE_TRY(see_all(nullptr));
            bytes = before > used_ ? before - used_ : 0;
        }
        H5MOTE_TRY(give_back(bytes));
        // In a full storage the table of extents has no room until larger pieces have been found: pieces that were
        // forgotten again are found a second time.
        std::uint64_t again = 0;
        return file_.space.free().is_complete() ? Status::ok : give_back(again);
    }

private:
    // Sees the whole file, in as many walks as that takes. With `found`, gives back what none of them meets, and adds
    // its bytes.
    H5MOTE_STEP Status see_all(std::uint64_t* found) noexcept {
        at_once_ = true;
        runs_.begin(file_.space.end());
        for (;; at_once_ = false) {
            H5MOTE_TRY(walk_.walk(runs_));
            if (at_once_ && found == nullptr) {
                used_ = runs_.bytes();
            }
            // Every walk meets the same blocks. If the storage shows other bytes than before, nobody knows what is
            // used.
            if (runs_.bytes() != used_) {
                return file_.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file);
            }
            if (found != nullptr) {
                give_back_gaps(*found);
            }
            if (!runs_.advance()) {
                return Status::ok;
            }
        }
    }

    // Removes the chunks that lie beyond the extent of their dataset, each of which is free when its index is durable
    // without it.
    Status remove_ahead() noexcept {
        for (std::size_t i = 0; i < walk_.ahead().size(); ++i) {
            H5MOTE_TRY(DatasetState::trim(file_, walk_.ahead()[i]));
            H5MOTE_TRY(file_.commit());
        }
        return Status::ok;
    }

    // Gives back the gaps between the blocks. Then nothing is unknown, unless there was an error, or no room to
    // remember all of them.
    H5MOTE_STEP Status give_back(std::uint64_t& bytes) noexcept {
        file_.space.free().set_complete(true);
        if (at_once_) {
            give_back_gaps(bytes);
            return Status::ok;
        }
        const Status status = see_all(&bytes);
        if (status != Status::ok) {
            file_.space.free().set_complete(false);
        }
        return status;
    }

    void give_back_gaps(std::uint64_t& bytes) noexcept {
        for (std::size_t i = 0; i < runs_.gaps(); ++i) {
            const ByteRun gap = runs_.gap(i);
            bytes += file_.space.add_unused(gap.address, gap.end);
        }
    }

    FileState& file_;
    BlockWalk& walk_;
    UsedRuns runs_;
    Address used_ = 0;      // bytes of all blocks
    bool at_once_ = false;  // one walk has seen the whole file, and `runs_` still has all of it
};

}  // namespace

// What is found can be used at once, so that nothing that the storage may still fall back to must use it: all changes
// are committed first, also those of a session that was killed, which the storage may not hold for certain yet.
Status give_back_lost_space(FileState& file, std::size_t memory, BlockWalk& walk, std::uint64_t& bytes) noexcept {
    bytes = 0;
    H5MOTE_TRY(file.check_writable());
    if (has_open_datasets(file)) {
        return file.context.fail(Module::file, H5MOTE_HERE, Status::busy);
    }
    SpilledExtents::attach(file);
    H5MOTE_TRY(file.space.begin());
    H5MOTE_TRY(file.commit());
    if (HeapKeeper* const heap = file.heap_keeper()) {
        heap->forget();  // a collection in which nothing lies yet is no lost space
        H5MOTE_TRY(file.commit());
    }
    // Blocks that an operation has left in the cache when it failed may lie in what is found.
    file.cache.reclaim();
    return Search(file, walk).run(memory, bytes);
}

}  // namespace h5mote
