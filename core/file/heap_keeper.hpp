// H5HG - what an open file knows of its global heap while values of variable length are written. Implemented in
// core/heap, which a program links only if it names formats::variable_length_changes.
//
// Objects are written in two steps. The bytes of new objects go into space that the collection says to be free, so that
// they may be there or not. Then the header of the first of them takes the place of that free space, which is one write
// inside one sector, and from then on the collection has the objects.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/status.hpp>

#include <cstddef>

namespace h5mote {

class HeapKeeper {
public:
    /// Writes what is in memory: everything but the headers that wait().
    virtual Status store_objects() noexcept = 0;
    /// Whether there are headers that must not be on the storage before what store_objects() has written.
    virtual bool waits() const noexcept = 0;
    virtual Status store_headers() noexcept = 0;
    /// Writes all of that in order. `durably`: what is written next may refer to the objects.
    virtual Status store(bool durably) noexcept = 0;
    /// FileState::order_heap(), note_heap() and commit_heap() of the dataset whose header is at `header`.
    virtual Status order(Address header) noexcept = 0;
    virtual void note(Address header) noexcept = 0;
    virtual Status commit(Address header) noexcept = 0;
    /// Call before all changed chunks in memory are written where they are.
    virtual Status order_before_chunks() noexcept = 0;
    /// Call when something on the storage may refer to every object that was written.
    virtual void settle() noexcept = 0;
    /// The number that the next object to be discarded gets, and the way back: objects with that number and later ones
    /// stay. The numbers go on when the objects are given up or, for want of memory, forgotten.
    virtual std::size_t discarded() const noexcept = 0;
    virtual void keep_discarded(std::size_t number) noexcept = 0;
    /// Call after a commit of everything, raw data included: gives up the objects that were discarded.
    virtual void give_up_discarded() noexcept = 0;
    /// Call before the last commits of a session, or before space that nobody refers to is searched for: gives back
    /// collections without an object, and begins no other object in those that it knows.
    virtual void forget() noexcept = 0;
    /// Called last: gives back all memory, this object included. Writes nothing.
    virtual void end() noexcept = 0;

    /// Whether there are objects that need not be on the storage yet.
    bool unstored = false;
    /// Whether chunks in memory may refer to such objects from elements to which the storage may lead already.
    bool before_raw = false;
    /// If an end of file was recorded since the last commit, so that it covers objects: the one that was recorded
    /// before.
    Address committed_end = kUndefinedAddress;

protected:
    HeapKeeper() noexcept = default;
    HeapKeeper(const HeapKeeper&) = delete;
    HeapKeeper& operator=(const HeapKeeper&) = delete;
    ~HeapKeeper() = default;
};

}  // namespace h5mote
