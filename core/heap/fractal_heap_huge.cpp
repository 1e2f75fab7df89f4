// Huge objects come and go: each has a place of its own in the file, and a record in the heap's B-tree. The tree's
// header is copied for each change: the heap's header, which leads to it, switches to the copy.

#include "fractal_heap_changes.hpp"

#include "checked.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

class HugeCompare final : public RecordCompare {
public:
    HugeCompare(FileShape shape, std::uint64_t id) noexcept : shape_(shape), id_(id) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        HugeRecord huge;
        (void)huge.decode(shape_, BTree2Type::huge_indirect,
                          record);  // cannot fail: open_huge() has checked the length
        order = id_ < huge.id ? -1 : id_ > huge.id ? 1 : 0;
        return Status::ok;
    }

private:
    FileShape shape_;
    std::uint64_t id_;
};

constexpr std::size_t kMostRecord = 24;

std::size_t record_size(FileShape shape) noexcept { return 0U + shape.sizeof_addr + 2U * shape.sizeof_size; }

}  // namespace

// Opens a copy of the tree to be changed, or a new tree. `last`: it is not needed once the only record is gone.
Status FractalHeapChanges::open_huge(bool last) noexcept {
    const FileShape shape = file_.shape();
    const auto size = static_cast<Address>(BTree2Header::size(shape));
    Address header = header_.huge_index;
    if (header == kUndefinedAddress) {
        BTree2Create create;
        create.type = BTree2Type::huge_indirect;
        create.record_size = static_cast<std::uint16_t>(record_size(shape));
        H5MOTE_TRY(BTree2Changes::create(file_, create, header));
        H5MOTE_TRY(blocks_.adopt(header, size));
        H5MOTE_TRY(huge_.open(file_, header, Phase::object));
    } else {
        H5MOTE_TRY(huge_.open(file_, header, Phase::object));
        if (huge_.type() != BTree2Type::huge_indirect || huge_.record_size() != record_size(shape)) {
            return damaged(H5MOTE_HERE, header);
        }
        H5MOTE_TRY(blocks_.replace(header, size));
        H5MOTE_TRY(huge_.move_header(header));
        H5MOTE_TRY(blocks_.adopt(header, size));
        if (last && huge_.size() == 1) {
            H5MOTE_TRY(blocks_.replace(header, size));
            header = kUndefinedAddress;
        }
    }
    huge_.stage();
    header_.huge_index = header;
    return Status::ok;
}

Status FractalHeapChanges::write_huge(HeapContent& object, HugeRecord& record) noexcept {
    record.size = object.size();
    H5MOTE_TRY(blocks_.allocate(Usage::raw_data, record.size, record.address));
    for (Address done = 0; done < record.size;) {
        ConstBytes piece;
        H5MOTE_TRY(object.peek(done, piece));
        H5MOTE_TRY(write(Usage::raw_data, record.address + done, piece));
        done += static_cast<Address>(piece.size());
    }
    return Status::ok;
}

Status FractalHeapChanges::insert_huge(HeapContent& object, Bytes id) noexcept {
    const FileShape shape = file_.shape();
    const unsigned width = header_.id_length - 1U;
    HugeRecord record;
    record.id = header_.next_huge_id + 1;
    if (width < 8 && record.id >> (8 * width) != 0) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::no_space, 1, header_block_->address());
    }
    H5MOTE_TRY(write_huge(object, record));
    H5MOTE_TRY(open_huge(false));
    std::byte bytes[kMostRecord];
    Writer writer{Bytes(bytes)};
    record.encode(shape, writer);
    HugeCompare compare(shape, record.id);
    H5MOTE_TRY(huge_.insert(compare, {bytes, writer.written()}));
    header_.next_huge_id = record.id;
    header_.huge_bytes += record.size;
    ++header_.huge;
    FractalHeapId::encode_huge(id.first(header_.id_length), record.id);
    return Status::ok;
}

// The new object gets the number of the old one.
Status FractalHeapChanges::replace_huge(HeapContent& object, ConstBytes old, Bytes id) noexcept {
    const FileShape shape = file_.shape();
    std::byte bytes[kMostRecord];
    HugeRecord record;
    record.id = FractalHeapId::huge(old);
    H5MOTE_TRY(write_huge(object, record));
    H5MOTE_TRY(open_huge(false));
    HugeCompare compare(shape, record.id);
    const Status status = huge_.find(compare, {bytes, record_size(shape)});
    if (status != Status::ok) {
        return status == Status::not_found ? damaged(H5MOTE_HERE, header_.huge_index) : status;
    }
    H5MOTE_TRY(give_up_huge({bytes, record_size(shape)}));
    Writer writer{Bytes(bytes)};
    record.encode(shape, writer);
    H5MOTE_TRY(huge_.update(compare, {bytes, writer.written()}));
    header_.huge_bytes += record.size;
    FractalHeapId::encode_huge(id.first(header_.id_length), record.id);
    return Status::ok;
}

Status FractalHeapChanges::remove_huge(ConstBytes id) noexcept {
    const FileShape shape = file_.shape();
    if (header_.huge_index == kUndefinedAddress || header_.huge == 0) {
        return damaged(H5MOTE_HERE, header_block_->address());
    }
    H5MOTE_TRY(open_huge(true));
    std::byte bytes[kMostRecord];
    HugeCompare compare(shape, FractalHeapId::huge(id));
    const Status status = huge_.remove(compare, {bytes, record_size(shape)});
    if (status != Status::ok) {
        return status == Status::not_found ? damaged(H5MOTE_HERE, header_.huge_index) : status;
    }
    --header_.huge;
    return give_up_huge({bytes, record_size(shape)});
}

Status FractalHeapChanges::give_up_huge(ConstBytes record) noexcept {
    HugeRecord huge;
    (void)huge.decode(file_.shape(), BTree2Type::huge_indirect, record);
    if (huge.size == 0 || !file_.contains(huge.address, huge.size)) {
        return damaged(H5MOTE_HERE, huge.address);
    }
    header_.huge_bytes -= huge.size < header_.huge_bytes ? huge.size : header_.huge_bytes;
    return blocks_.replace(huge.address, huge.size, SpaceKind::raw_data);
}

}  // namespace h5mote

#endif
