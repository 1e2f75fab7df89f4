// H5G H5A - a walk over the links or attributes of an object in a given order: what both kinds have in common.
#pragma once

#include "ordered_batch.hpp"
#include "watched_walk.hpp"

namespace h5mote {

/// `Walk`, which derives from it, has pass(): it offers all elements to the batch, in native order from the start.
template <typename Walk, typename Cursor, typename Element>
struct OrderedWalk : WatchedWalk {
    OrderedWalk(FileState& file, Over what, Direction direction) noexcept
        : WatchedWalk(file, what), cursor(file), batch(file.context, direction), towards(direction) {}

    Cursor cursor;
    OrderedBatch batch;
    IndexOrder order = IndexOrder::native;
    Direction towards;
    bool direct = false;  // the storage itself has the elements in the wanted order: `batch` is not needed

    /// The next element. not_found at the end, and when the object was deleted.
    Status step(Element& element) noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            if (gone) {
                return Status::not_found;
            }
            H5MOTE_TRY(changed ? resume() : Status::ok);
        }
        const Status status = next(element);
        cursor.park();
        return status;
    }

private:
    Status next(Element& element) noexcept {
        ++passed;
        if (direct) {
            return cursor.next(element);
        }
        std::uint64_t position = 0;
        while (!batch.take(position)) {
            if (batch.finished()) {
                return Status::not_found;
            }
            H5MOTE_TRY(static_cast<Walk*>(this)->pass());
        }
        return cursor.at(position, element);
    }

    // Finds the place anew in an object that has changed: in a batch behind the last key, in the storage by the number
    // of elements that were passed. If the storage has the order no more, that many are passed in the batch.
    H5MOTE_STEP Status resume() noexcept {
        H5MOTE_TRY(cursor.open(object));
        if (!direct) {
            batch.forget(order != IndexOrder::native);
            changed = false;
            return Status::ok;
        }
        bool ordered = false;
        H5MOTE_TRY(cursor.start_directly(order, towards, ordered));
        direct = ordered;
        const std::uint64_t all = passed;
        Status status = Status::ok;
        Element element;
        for (passed = direct && cursor.skip(all) ? all : 0; status == Status::ok && passed < all;) {
            status = next(element);
        }
        changed = status != Status::ok && status != Status::not_found;
        direct = direct || changed;
        passed = all;
        return changed ? status : Status::ok;
    }
};

}  // namespace h5mote
