// H5G H5L - the links of a group, however it keeps them: symbol table, messages in its header, dense storage.
#pragma once

#include "dense_storage.hpp"
#include "header.hpp"
#include "stored_link.hpp"
#include "symbol_entry.hpp"
#include "symbol_table.hpp"

#include <h5mote/group.hpp>

namespace h5mote {

/// How a group keeps its links.
struct GroupStorage {
    LinkStorage kind = LinkStorage::compact;
    LinkInfoMessage info;        ///< compact and dense
    SymbolTableMessage symbols;  ///< symbol table

    /// Reads the group's header. not_found: the object is no group.
    Status open(FileState& file, Address group) noexcept;
    /// The same. unsupported: the program cannot change the kind that the group has.
    Status open_to_change(FileState& file, Address group) noexcept;
    /// find_stored_link() in the group that was opened.
    Status find(FileState& file, Address group, std::string_view name, StoredLink& link) const noexcept;
    /// Whether the program has the part that changes the kind that the group has.
    bool is_changeable(const FileState& file) const noexcept {
        const Formats& formats = file.context.formats();
        return kind == LinkStorage::compact || (kind == LinkStorage::dense ? formats.dense_changes != nullptr
                                                                           : formats.symbol_table_changes != nullptr);
    }
    /// For programs that cannot read, or not change, the kind that the group has: names it.
    Status unsupported(FileState& file) const noexcept;
};

/// The link of that name. not_found: there is none, or the object is no group. `link` is valid until it is passed to
/// another call.
H5MOTE_STEP Status find_stored_link(FileState& file, Address group, std::string_view name, StoredLink& link) noexcept;

/// DenseStorageFormat::find_link.
H5MOTE_STEP Status find_dense_link(FileState& file, const DenseStorage& storage, ConstBytes name,
                                   StoredLink& link) noexcept;

/// Walks the links of a group in the order in which they are stored, or in another one that the storage has: can().
class LinkCursor {
public:
    explicit LinkCursor(FileState& file) noexcept : file_(file), message_(file, 0), dense_(file.context) {}
    LinkCursor(const LinkCursor&) = delete;
    LinkCursor& operator=(const LinkCursor&) = delete;
    ~LinkCursor();

    /// not_found: the object is no group.
    Status open(Address group) noexcept;
    const GroupStorage& storage() const noexcept { return storage_; }
    FileState& file() const noexcept { return file_; }
    /// Whether the storage itself has the links in that order, so that start() can be called with it.
    bool can(IndexOrder order, Direction direction) const noexcept;
    /// Goes to the start of that order if can(); otherwise `direct` is false.
    Status start_directly(IndexOrder order, Direction direction, bool& direct) noexcept {
        direct = can(order, direction);
        return direct ? start(order, direction) : Status::ok;
    }
    /// Goes to the start of an order for which can() is true.
    Status start(IndexOrder order, Direction direction) noexcept;
    /// After start(): passes so many links at once. false: this storage cannot, and none was passed.
    bool skip(std::uint64_t links) noexcept {
        position_ = is_dense() ? links : position_;
        return is_dense();
    }
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
    // Constants in builds that read links in object headers only, so that their programs do not link the other kinds.
    bool in_symbol_table() const noexcept {
        return H5MOTE_ALL_FORMATS != 0 && storage_.kind == LinkStorage::symbol_table;
    }
    bool is_dense() const noexcept { return H5MOTE_ALL_FORMATS != 0 && storage_.kind == LinkStorage::dense; }
    Status open_dense(bool by_order) noexcept;
    Status next_compact(StoredLink& link) noexcept;
    Status dense_at(std::uint64_t position, StoredLink& link) noexcept;

    FileState& file_;
    Address group_ = kUndefinedAddress;
    GroupStorage storage_;
    MessageIterator message_;
    // What reads the kind of storage that the group has, if that is not its header.
    SymbolTableReader* symbols_ = nullptr;
    DenseHandle dense_;
    std::uint64_t position_ = 0;
    Direction direction_ = Direction::increasing;
    bool by_order_ = false;
};

}  // namespace h5mote
