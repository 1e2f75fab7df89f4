#include "lost_space.hpp"

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
        const Address end = file_.space.end();
        unsigned walks = 0;
        runs_.begin(end);
        do {
            H5MOTE_TRY(see(walks++ == 0));
        } while (runs_.advance());
        // After this search nothing is unknown, unless one of the pieces found is forgotten again: in a full storage
        // the table of extents has no room until larger pieces have been found. Then they are found a second time.
        SpaceMap& free = file_.space.free();
        std::uint64_t again = 0;
        free.set_complete(true);
        H5MOTE_TRY(give_back(end, walks == 1, bytes));
        if (!free.is_complete()) {
            free.set_complete(true);
            return give_back(end, walks == 1, again);
        }
        return Status::ok;
    }

private:
    // Gives back the gaps between the blocks. `at_once`: they are all in memory. After an error the free space is not
    // completely known.
    H5MOTE_STEP Status give_back(Address end, bool at_once, std::uint64_t& bytes) noexcept {
        if (!at_once) {
            runs_.begin(end);
        }
        do {
            const Status status = at_once ? Status::ok : see(false);
            if (status != Status::ok) {
                file_.space.free().set_complete(false);
                return status;
            }
            for (std::size_t i = 0; i < runs_.gaps(); ++i) {
                const ByteRun gap = runs_.gap(i);
                bytes += file_.space.add_unused(gap.address, gap.end);
            }
        } while (runs_.advance());
        return Status::ok;
    }

    // Every walk meets the same blocks. If the storage shows other bytes than before, nobody knows what is used.
    H5MOTE_STEP Status see(bool first) noexcept {
        H5MOTE_TRY(walk_.walk(runs_));
        if (first) {
            used_ = runs_.bytes();
        }
        return runs_.bytes() == used_ ? Status::ok
                                      : file_.context.fail(Module::file, H5MOTE_HERE, Status::corrupt_file);
    }

    FileState& file_;
    BlockWalk& walk_;
    UsedRuns runs_;
    Address used_ = 0;  // bytes of all blocks
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
    return Search(file, walk).run(memory, bytes);
}

}  // namespace h5mote
