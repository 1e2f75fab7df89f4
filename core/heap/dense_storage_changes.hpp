// H5HF H5B2 - links or attributes in dense storage are changed: a fractal heap, and the indexes of its objects by name
// and by creation order.
//
// The headers of heap and indexes lie side by side in one sector, and change together by one write: what they lead to
// is written beside the old blocks before. All parts of a change are staged; when none can fail any more, they are
// applied. After an error, and after a power cut, everything is as it was.
#pragma once

#include "btree2_changes.hpp"
#include "disposal.hpp"
#include "fractal_heap_changes.hpp"
#include "info_fields.hpp"

namespace h5mote {

/// What differs between links and attributes.
struct DenseKind {
    HeapKind heap;
    BTree2Type name;
    BTree2Type order;
    std::uint8_t name_record;  ///< bytes of a record
    std::uint8_t order_record;
};
inline constexpr DenseKind kDenseLinks{kLinkHeap, BTree2Type::link_name, BTree2Type::link_order, 11, 15};
inline constexpr DenseKind kDenseAttributes{kAttributeHeap, BTree2Type::attribute_name, BTree2Type::attribute_order, 17,
                                            13};

class DenseStorageChanges {
public:
    DenseStorageChanges(FileState& file, const DenseKind& kind) noexcept : heap(file), file_(file), kind_(kind) {}
    DenseStorageChanges(const DenseStorageChanges&) = delete;
    DenseStorageChanges& operator=(const DenseStorageChanges&) = delete;
    ~DenseStorageChanges() { undo(); }

    /// Whether dense storage can be changed safely on the file's storage: not where three headers are more than one
    /// atomic unit, nor in files with sizes of two bytes.
    static bool is_possible(const FileState& file) noexcept;
    /// Makes empty dense storage, to which nothing leads; `indexed`: with an index by creation order.
    static Status create(FileState& file, const DenseKind& kind, bool indexed, DenseAddresses& addresses) noexcept;
    /// FileState::complete_first() of all headers.
    static Status complete(FileState& file, const DenseAddresses& addresses) noexcept;
    /// Gives all space of dense storage to `disposal`, whoever made it. Parts without an address do not exist.
    static Status dispose(FileState& file, const DenseAddresses& addresses, Disposal& disposal) noexcept;

    /// Opens dense storage to be changed. not_found: it has to be copied first, because another library made it, or
    /// because wants_copy().
    Status open(const DenseAddresses& addresses) noexcept;
    bool has_order_index() const noexcept { return has_orders_; }
    /// Whether the last open() has found dense storage that can be changed, but had better be copied.
    bool wants_copy() const noexcept { return heap.wants_copy(); }

    /// Call when everything is staged: makes sure that apply() cannot fail. Errors of FractalHeapChanges::prepare() and
    /// of changes of a tree.
    Status prepare() noexcept;
    /// Makes all changes that were staged since open(), which cannot fail. prepare() comes right before.
    void apply() noexcept;
    void undo() noexcept;

    FractalHeapChanges heap;
    BTree2Changes names;
    BTree2Changes orders;  ///< has_order_index()

private:
    bool lies_well(const DenseAddresses& addresses) const noexcept;

    FileState& file_;
    DenseKind kind_;
    bool open_ = false;
    bool has_orders_ = false;
};

/// Dense storage while it is being changed. Takes memory for DenseStorageChanges only while it is open.
class OpenDenseStorage {
public:
    OpenDenseStorage(FileState& file, const DenseKind& kind) noexcept : file_(file), kind_(kind) {}
    OpenDenseStorage(const OpenDenseStorage&) = delete;
    OpenDenseStorage& operator=(const OpenDenseStorage&) = delete;
    ~OpenDenseStorage() { close(); }

    /// DenseStorageChanges::open(), unless this storage is open already. Also out_of_memory.
    Status open(const DenseAddresses& addresses) noexcept;
    /// Opens storage that changes should be made in. `as_it_is` is false, and it is closed, if it has to be copied
    /// first, or had better be.
    Status open(const DenseAddresses& addresses, bool& as_it_is) noexcept;
    /// Makes the changes that were staged, if `staged` says that none of them failed, and closes the storage. Else, or
    /// if DenseStorageChanges::prepare() fails, nothing has changed.
    Status finish(Status staged) noexcept;
    /// Undoes what was staged.
    void close() noexcept;

    DenseStorageChanges* operator->() const noexcept { return changes_; }

private:
    FileState& file_;
    const DenseKind& kind_;
    Address heap_ = kUndefinedAddress;  // of the storage that is open
    DenseStorageChanges* changes_ = nullptr;
};

}  // namespace h5mote
