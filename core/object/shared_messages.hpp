// H5SM - an index of shared messages and its heap are changed. Specification III.H.
//
// An index is a list or a version 2 B-tree of records: where a message is, and how many use it. A message is in the
// index's heap or, as libhdf5 stores the first of equal messages of most types, in the header of the object that it
// belongs to.
//
// Every change is counted on the storage before anything uses it, and no longer only after the last use is gone; so a
// count is never too low, whatever a power cut leaves. A list is written beside the old one, and the master table,
// which names it, switches by one write. The heap is changed before the record that leads there, and after it when a
// message goes.
//
// What cannot be changed safely stays: a new message is then not shared, which no reader minds, and the bytes of one
// that nobody uses any more stay in the heap.
#pragma once

#include "btree2_changes.hpp"
#include "fractal_heap.hpp"
#include "fractal_heap_changes.hpp"
#include "header.hpp"
#include "shared_index.hpp"

namespace h5mote {

/// Compares the records of an index with a message.
class SharedMessageCompare final : public RecordCompare {
public:
    SharedMessageCompare(FileState& file, FractalHeap& heap, MessageType type) noexcept
        : file_(file), heap_(heap), type_(type) {}

    /// The message is `body`, which has to stay.
    Status set(HeapContent& body) noexcept;
    /// A record of that place is found whatever message it has.
    void set_place(ConstBytes heap_id) noexcept { heap_id_ = heap_id; }
    void set_place(Address header) noexcept { header_ = header; }
    /// The message is that of a record.
    void set(const SharedMessageRecord& record) noexcept;
    std::uint32_t hash() const noexcept { return hash_; }

    Status compare(ConstBytes bytes, int& order) noexcept override;

private:
    MessageType own_type() const noexcept;
    Status open_body(const SharedMessageRecord& record, MetadataWindow& window) noexcept;
    Status compare_body(const SharedMessageRecord& record, int& order) noexcept;

    FileState& file_;
    FractalHeap& heap_;
    MessageType type_;
    HeapContent* body_ = nullptr;
    SharedMessageRecord own_;  // without body_: its message is compared
    ConstBytes heap_id_;
    Address header_ = kUndefinedAddress;
    std::uint32_t hash_ = 0;
};

class SharedMessages {
public:
    SharedMessages(FileState& file, MessageType type) noexcept : file_(file), type_(type), changes_(file) {}
    SharedMessages(const SharedMessages&) = delete;
    SharedMessages& operator=(const SharedMessages&) = delete;
    ~SharedMessages() { undo(); }

    /// Finds the index that has messages of the type. not_found: the file does not share them.
    Status open() noexcept;
    std::uint32_t least_size() const noexcept { return index_.least_size; }

    /// As SharedMessageChangesFormat::share(); `id` gets SharedReference::kHeapIdSize bytes.
    Status share(HeapContent& body, Bytes id, bool& shared) noexcept;
    /// As release_shared_message(), count_users() and forget_shareable_message().
    Status release(ConstBytes id, bool& gone) noexcept;
    Status count_users(ConstBytes id, std::uint32_t& users) noexcept;
    Status forget(HeapContent& body, Address header, bool marked, bool& found) noexcept;

private:
    Status hold_table() noexcept;
    Status move_table() noexcept;
    void store_table() noexcept;
    std::size_t record_size() const noexcept { return SharedMessageRecord::size(file_.shape()); }
    Status open_tree() noexcept;
    Status place_tree() noexcept;
    Status open_list(MetadataWindow& list) noexcept;
    Status record_at(unsigned i, MetadataWindow& list, std::byte* record) noexcept;
    Status find(SharedMessageCompare& compare, bool& found) noexcept;
    Status find(ConstBytes id, SharedMessageCompare& compare, bool& found) noexcept;
    Status write_list(unsigned at, const std::byte* record, Address& list) noexcept;
    void give_up_list(Address list) noexcept;
    Status store_record(SharedMessageCompare& compare) noexcept;
    Status to_tree(SharedMessageCompare& added, const std::byte* record, Address& header) noexcept;
    void dispose(Address heap, Address tree) noexcept;
    Status open_changes(bool& possible) noexcept;
    Status insert(SharedMessageCompare& compare, HeapContent& body, Bytes id, bool& shared) noexcept;
    Status insert_record(SharedMessageCompare& compare, HeapContent& body, Bytes id) noexcept;
    Status apply_insertion(Address made) noexcept;
    Status lower(SharedMessageCompare& compare) noexcept;
    Status remove_record(SharedMessageCompare& compare) noexcept;
    Status remove_from_heap() noexcept;
    void remove_all() noexcept;
    void undo() noexcept;

    FileState& file_;
    MessageType type_;
    unsigned number_ = 0;  // of the index
    SharedIndex index_;
    Pinned table_;
    FractalHeap heap_;
    FractalHeapChanges changes_;
    BTree2Changes tree_;
    bool staged_ = false;
    // The record that find() has found, and its place in a list.
    std::byte record_[SharedMessageRecord::kMostSize] = {};
    SharedMessageRecord found_;
    unsigned at_ = 0;
};

}  // namespace h5mote
