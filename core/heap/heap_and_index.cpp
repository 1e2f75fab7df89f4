// The reader of dense storage that programs with formats::dense_storage have.

#include "dense_storage.hpp"
#include "fractal_heap.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

class HeapAndIndex final : public DenseReader {
public:
    Status open_heap(FileState& file, Address header) noexcept override { return heap_.open(file, header); }
    void close_heap() noexcept override { heap_.close(); }
    unsigned id_length() const noexcept override { return heap_.id_length(); }
    Status object(ConstBytes id, MetadataWindow& bytes) noexcept override { return heap_.object(id, bytes); }
    Status walk_heap(BlockVisitor& visitor) noexcept override { return heap_.walk(visitor); }

    Status open_index(FileState& file, Address header) noexcept override { return index_.open(file, header); }
    BTree2Type type() const noexcept override { return index_.type(); }
    std::uint64_t size() const noexcept override { return index_.size(); }
    std::size_t record_size() const noexcept override { return index_.record_size(); }
    Status find(RecordCompare& compare, Bytes record) noexcept override { return index_.find(compare, record); }
    Status record(std::uint64_t position, Bytes record) noexcept override { return index_.record(position, record); }
    Status walk_index(BlockVisitor& visitor) noexcept override { return index_.walk(visitor); }

    void destroy(Context& context) noexcept override { context.destroy(MemoryKind::handle, this); }

private:
    FractalHeap heap_;
    BTree2 index_;
};

}  // namespace

DenseReader* make_dense_reader(Context& context) noexcept { return context.create<HeapAndIndex>(MemoryKind::handle); }

}  // namespace h5mote

#endif
