// Links in dense storage, found by name.

#include "link_storage.hpp"
#include "text.hpp"

namespace h5mote {
namespace {

// Compares a name with the records of the name index of dense storage: by hash, and where the hashes are equal by the
// name of the link itself.
class NameCompare final : public RecordCompare {
public:
    NameCompare(FileState& file, DenseReader& heap, ConstBytes name, StoredLink& scratch) noexcept
        : file_(file), heap_(heap), name_(name), hash_(name_hash(name)), scratch_(scratch) {}

    Status compare(ConstBytes record, int& order) noexcept override {
        LinkNameRecord found;
        if (!found.decode(record)) {
            return file_.context.fail(Module::group, H5MOTE_HERE, Status::corrupt_file);
        }
        if (found.hash != hash_) {
            order = hash_ < found.hash ? -1 : 1;
            return Status::ok;
        }
        H5MOTE_TRY(heap_.object(found.heap_id, scratch_.bytes));
        H5MOTE_TRY(scratch_.decode(file_));
        order = text_of(name_).compare(text_of(scratch_.link.name));
        return Status::ok;
    }

private:
    FileState& file_;
    DenseReader& heap_;
    ConstBytes name_;
    std::uint32_t hash_;
    StoredLink& scratch_;
};

}  // namespace

Status find_dense_link(FileState& file, const DenseStorage& storage, ConstBytes name, StoredLink& link) noexcept {
    DenseHandle dense(file.context);
    H5MOTE_TRY(dense.make(Module::group, Feature::dense_links));
    H5MOTE_TRY(dense->open_heap(file, storage.heap));
    H5MOTE_TRY(dense->open_index(file, storage.name_index));
    std::byte record[BTree2::kMaxRecordSize];
    // The comparison that ends a successful search has decoded the link that was found into `link`.
    NameCompare compare(file, *dense, name, link);
    return dense->find(compare, {record, dense->record_size()});
}

}  // namespace h5mote
