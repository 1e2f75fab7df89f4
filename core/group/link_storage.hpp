// H5G H5L - the links of a group, however it keeps them: symbol table, messages in its header, dense storage.
#pragma once

#include "btree1.hpp"
#include "btree2.hpp"
#include "fractal_heap.hpp"
#include "header.hpp"
#include "local_heap.hpp"

#include <h5mote/group.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// A link that was found; `link` views bytes that the windows hold.
struct StoredLink {
    LinkMessage link;
    MetadataWindow bytes;
    MetadataWindow target;

    /// Closes the windows; `link` is not valid afterwards.
    void close() noexcept {
        bytes.close();
        target.close();
    }
};

/// How a group keeps its links.
struct GroupStorage {
    LinkStorage kind = LinkStorage::compact;
    std::uint8_t header_version = 0;    ///< compact and dense
    LinkInfoMessage info;               ///< compact and dense
    Address btree = kUndefinedAddress;  ///< symbol table
    Address heap = kUndefinedAddress;   ///< symbol table: local heap

    /// Reads the group's header. not_found: the object is no group.
    Status open(FileState& file, Address group) noexcept;
};

/// The link of that name. not_found: there is none, or the object is no group. `link` is valid until it is passed to
/// another call.
H5MOTE_STEP Status find_stored_link(FileState& file, Address group, std::string_view name, StoredLink& link) noexcept;

/// Walks the links of a group in the order in which they are stored, or in another one that the storage has: can().
class LinkCursor {
public:
    explicit LinkCursor(FileState& file) noexcept : file_(file), message_(file, 0) {}
    LinkCursor(const LinkCursor&) = delete;
    LinkCursor& operator=(const LinkCursor&) = delete;
    ~LinkCursor();

    /// not_found: the object is no group.
    Status open(Address group) noexcept;
    const GroupStorage& storage() const noexcept { return storage_; }
    FileState& file() const noexcept { return file_; }
    /// Whether the storage itself has the links in that order, so that start() can be called with it.
    bool can(IndexOrder order, Direction direction) const noexcept;
    /// Goes to the start of an order for which can() is true.
    Status start(IndexOrder order, Direction direction) noexcept;
    /// The next link. not_found at the end. `link` is valid until the next call.
    Status next(StoredLink& link) noexcept;
    /// The link at a position, counted in native order from the start: compact and dense storage.
    Status at(std::uint64_t position, StoredLink& link) noexcept;
    Status count(std::uint64_t& links) noexcept;
    /// Bytes of the B-trees and heaps that hold the links.
    Status storage_size(StorageSize& size) noexcept;
    /// Unpins the blocks in the metadata cache that the cursor holds.
    void park() noexcept { message_.park(); }

private:
    Status open_dense(bool by_order) noexcept;
    Status next_compact(StoredLink& link) noexcept;
    Status dense_at(std::uint64_t position, StoredLink& link) noexcept;

    FileState& file_;
    Address group_ = kUndefinedAddress;
    GroupStorage storage_;
    MessageIterator message_;
    // State that only one kind of storage needs. It is allocated by itself: cursors are on the stack, and this is most
    // of a cursor.
    struct Symbols {
        LocalHeap names;
        GroupBTree1 tree;
        GroupBTree1::Cursor cursor;
    };
    struct Dense {
        FractalHeap heap;
        BTree2 index;
    };
    Symbols* symbols_ = nullptr;
    Dense* dense_ = nullptr;
    std::uint64_t position_ = 0;
    Direction direction_ = Direction::increasing;
    bool by_order_ = false;
};

#endif

}  // namespace h5mote
