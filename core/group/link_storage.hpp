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

    /// Lets go of the bytes.
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

/// The link of that name. not_found: there is none, or the object is no group. `link` lives until the next call with
/// it.
H5MOTE_STEP Status find_stored_link(FileState& file, Address group, std::string_view name, StoredLink& link) noexcept;

/// Walks the links of a group in the order in which they stand.
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
    /// Whether it can go that way by itself.
    bool can(IndexOrder order, Direction direction) const noexcept;
    /// Goes to the start (of creation order: dense storage only, if can() said so).
    Status start(IndexOrder order, Direction direction) noexcept;
    /// The next link. not_found at the end. `link` lives until the next call.
    Status next(StoredLink& link) noexcept;
    /// The link at a position, counted in native order from the start: compact and dense storage.
    Status at(std::uint64_t position, StoredLink& link) noexcept;
    Status count(std::uint64_t& links) noexcept;
    /// Bytes of B-trees and heaps.
    Status storage_size(StorageSize& size) noexcept;
    /// Lets go of blocks in the cache.
    void park() noexcept { message_.park(); }

private:
    Status open_dense(bool by_order) noexcept;
    Status next_compact(StoredLink& link) noexcept;
    Status dense_at(std::uint64_t position, StoredLink& link) noexcept;

    FileState& file_;
    Address group_ = kUndefinedAddress;
    GroupStorage storage_;
    MessageIterator message_;
    // What only one way to keep links needs; apart, for it is most of the cursor, which stands on stacks.
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
