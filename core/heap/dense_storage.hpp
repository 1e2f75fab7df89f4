// H5HF H5B2 (dense storage) - a fractal heap, and a version 2 B-tree whose records lead to its objects: links and
// attributes that are too many for an object header, shared messages, and chunks in a B-tree.
//
// Programs link heaps and trees only if they name formats::dense_storage: everything here goes through DenseReader.
#pragma once

#include "block_visitor.hpp"
#include "btree2.hpp"
#include "file_state.hpp"

#include <h5mote/formats.hpp>

namespace h5mote {

/// Reads one heap and one tree; either may be left closed. Functions are those of FractalHeap and BTree2.
class DenseReader {
public:
    virtual Status open_heap(FileState& file, Address header) noexcept = 0;
    virtual void close_heap() noexcept = 0;
    virtual unsigned id_length() const noexcept = 0;
    virtual Status object(ConstBytes id, MetadataWindow& bytes) noexcept = 0;
    virtual Status walk_heap(BlockVisitor& visitor) noexcept = 0;

    virtual Status open_index(FileState& file, Address header) noexcept = 0;
    virtual BTree2Type type() const noexcept = 0;
    virtual std::uint64_t size() const noexcept = 0;
    virtual std::size_t record_size() const noexcept = 0;
    virtual Status find(RecordCompare& compare, Bytes record) noexcept = 0;
    virtual Status record(std::uint64_t position, Bytes record) noexcept = 0;
    virtual Status walk_index(BlockVisitor& visitor) noexcept = 0;

    virtual void destroy(Context& context) noexcept = 0;

protected:
    ~DenseReader() = default;
};

struct DenseStorageFormat {
    /// nullptr: out of memory. The caller destroys the reader.
    DenseReader* (*make)(Context& context);
};

/// Owns a reader.
class DenseHandle {
public:
    explicit DenseHandle(Context& context) noexcept : context_(&context) {}
    DenseHandle(const DenseHandle&) = delete;
    DenseHandle& operator=(const DenseHandle&) = delete;
    ~DenseHandle() {
        if (reader_ != nullptr) {
            reader_->destroy(*context_);
        }
    }

    /// Makes a reader if there is none yet. out_of_memory. unsupported: the program has no formats::dense_storage;
    /// `needed_for` goes to the trail.
    Status make(Module module, Feature needed_for) noexcept;
    explicit operator bool() const noexcept { return reader_ != nullptr; }
    DenseReader* operator->() const noexcept { return reader_; }
    DenseReader& operator*() const noexcept { return *reader_; }

private:
    Context* context_;
    DenseReader* reader_ = nullptr;
};

}  // namespace h5mote
