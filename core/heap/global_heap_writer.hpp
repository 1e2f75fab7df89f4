// H5HG - writing to the global heap: new objects, and the space of those that were removed.
//
// Nothing of a collection is kept in memory but where its free space begins and which number its next object gets, and
// some hundred bytes that are written together. A value of any size goes straight to the storage.
//
// An object may be found in its collection only when all of its bytes are on the storage. In a collection that nothing
// refers to yet, all may be written at once. In others, new objects are written into the space that the collection says
// to be free, behind its first 16 bytes; the header of the first new object, which takes the place of these, is written
// last. Therefore free space never begins so near the end of a sector that its header crosses it: an object without a
// byte is put before it there. What the storage has before and after that one write is a sound collection. The same
// holds for the space of an object that was removed from between others, which a later object takes (see
// global_heap_collection.hpp): what is left over becomes a removed object, whose header is written before.
//
// Objects are removed after the commit that made them unreachable, one collection after the other. Neighbours that were
// removed become one. A collection without objects is given up.
#pragma once

#include "global_heap.hpp"
#include "global_heap_collection.hpp"
#include "heap_order.hpp"

namespace h5mote {

/// Owned by the file once open_heap() has made it.
class GlobalHeapWriter : public HeapOrder, private Reclaimer {
public:
    explicit GlobalHeapWriter(FileState& file) noexcept;

    /// Where the data of a new object go: `at` is an address in the file.
    struct Place {
        GlobalHeapId id;
        Address at = kUndefinedAddress;
    };
    /// Makes room for an object of `size` bytes, all of which the caller then writes with put(), in any order.
    /// no_space, out_of_memory, io_error.
    Status insert(Address size, Place& place) noexcept;
    /// Writes bytes of an object that was just inserted. Fastest when they follow those that were put before.
    Status put(Address at, ConstBytes bytes) noexcept;
    /// Call after the last put() of a value. If the storage takes all writes between two commits together, a lack of
    /// space is told here, and not by the commit.
    Status finish() noexcept;
    /// Says that nothing refers to an object any more once the changes made so far are committed; its space is used
    /// again then. Without memory to remember it, it stays in the file until File::reclaim().
    void discard(const GlobalHeapId& id) noexcept;
    std::size_t discarded() const noexcept override { return first_discarded_ + discarded_count_; }
    void keep_discarded(std::size_t number) noexcept override {
        // An earlier number than the first, and therefore a larger difference: all of the objects came later.
        const std::size_t before = number - first_discarded_;
        discarded_count_ = before <= discarded_count_ ? before : 0;
    }

private:
    static constexpr std::size_t kHeader = GlobalHeapCollection::kHeaderSize;

    // A collection in which objects can be placed.
    struct Collection {
        Address address = kUndefinedAddress;
        Address size = 0;
        Address free = 0;        // offset of the free space that ends it
        Address hole = 0;        // no removed object in it takes more bytes, headers included
        std::uint32_t next = 1;  // index of the next new object
        bool live = false;       // something on the storage may refer to it
        bool changed = false;    // the header of its free space is still to be written
        bool waiting = false;    // the header where its free space began is among `waiting_`
        bool resting = false;    // objects in it were removed by writes that the next commit makes durable
        Address room() const noexcept { return size - free; }
    };
    // The header of an object that must be written after everything behind it.
    struct WaitingHeader {
        Address collection = kUndefinedAddress;
        Address at = kUndefinedAddress;
        std::byte bytes[kHeader];
    };
    static constexpr std::size_t kCollections = 4;
    static constexpr std::size_t kWaiting = 4;
    // The data of smaller objects are in the buffer as a whole.
    static constexpr Address kMostZeros = 256;

public:
    /// What undoes insertions that turn out to be in vain.
    struct Mark {
        Collection collections[kCollections];
        std::size_t waiting;
        std::size_t discarded;
        std::uint32_t stores;
    };
    void mark(Mark& mark) const noexcept;
    /// Takes back every discard() since the mark, and every insertion. false: the insertions stay, because objects were
    /// stored meanwhile; the space of those that nobody discards is lost until File::reclaim().
    bool undo(const Mark& mark) noexcept;

    Status store_objects() noexcept override;
    bool waits() const noexcept override { return waiting_count_ != 0; }
    Status store_headers() noexcept override;
    void settle() noexcept override;
    void give_up_discarded() noexcept override;
    void forget() noexcept override;

protected:
    ~GlobalHeapWriter();
    FileState& file() noexcept { return file_; }

private:
    void reclaim() noexcept override {}
    bool reclaim_used() noexcept override;

    bool one_write(Address at) const noexcept { return file_.one_write(at, std::uint64_t{at} + kHeader); }
    Status put_header(Address at, const GlobalHeapObject& header) noexcept;
    Status put_free(Collection& collection) noexcept;
    Status create(Address space, Collection*& collection) noexcept;
    Status append(Collection& collection, Address size, Place& place) noexcept;
    Status fill_hole(Collection& collection, Address size, Place& place) noexcept;
    Status find_hole(Collection& collection, Address space, GlobalHeap::Object& hole) noexcept;
    bool is_waiting(Address at) const noexcept;
    // Whether the header of the next object in that collection has to wait.
    bool waits(const Collection& collection) const noexcept {
        return collection.live && !collection.waiting && !file_.is_atomic();
    }
    void wait(Address collection, Address at, const GlobalHeapObject& header) noexcept;
    Status or_leave(Status status) noexcept;
    void clear_waiting() noexcept;
    bool reach(Address at, Address size) const noexcept;
    Status begin(Address at, Address size, bool& buffered) noexcept;
    std::byte* buffer_for(Address at, std::size_t size) noexcept;
    Status put_zeros(Address at, Address size) noexcept;
    Status flush() noexcept;
    Status write(Address at, ConstBytes bytes) noexcept;
    void drop_cached() noexcept;
    Collection* known(Address address) noexcept;
    Collection& least_room() noexcept;

    bool reserve_discarded() noexcept;
    void empty_discarded() noexcept;
    Status remove(Address collection, const GlobalHeapId* ids, std::size_t count) noexcept;
    class Removal;

    Collection collections_[kCollections];
    WaitingHeader waiting_[kWaiting];
    std::size_t waiting_count_ = 0;
    // Bytes for [buffer_at_, buffer_at_ + buffered_), behind room for one header.
    std::byte* buffer_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t buffered_ = 0;
    Address buffer_at_ = 0;
    GlobalHeapId* discarded_ = nullptr;
    std::size_t discarded_count_ = 0;
    std::size_t discarded_room_ = 0;
    std::size_t first_discarded_ = 0;  // number of the first object in the list
    std::uint32_t stores_ = 0;
};

}  // namespace h5mote
