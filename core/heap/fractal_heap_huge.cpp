// Huge objects come and go: each has a place of its own in the file, and a record in the heap's B-tree. The tree's
// header is copied for each change: the heap's header, which leads to it, switches to the copy.

#include "fractal_heap_changes.hpp"

#include "checked.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr std::size_t kMostRecord = 24;

// The place of an object in the order of the tree: its number, or its address where ids tell that.
std::uint64_t key_of(const HugeRecord& record, BTree2Type type) noexcept {
    return type == BTree2Type::huge_indirect ? record.id : record.address;
}

class HugeCompare final : public RecordCompare {
public:
    HugeCompare(FileShape shape, BTree2Type type, const HugeRecord& wanted) noexcept
        : shape_(shape), type_(type), key_(key_of(wanted, type)) {}
    Status compare(ConstBytes record, int& order) noexcept override {
        HugeRecord huge;
        (void)huge.decode(shape_, type_, record);  // cannot fail: open_huge() has checked the length
        const std::uint64_t key = key_of(huge, type_);
        order = key_ < key ? -1 : key_ > key ? 1 : 0;
        return Status::ok;
    }

private:
    FileShape shape_;
    BTree2Type type_;
    std::uint64_t key_;
};

BTree2Type type_of(const FractalHeapTable& heap, FileShape shape) noexcept {
    return heap.huge_ids_direct(shape) ? BTree2Type::huge_direct : BTree2Type::huge_indirect;
}

std::size_t record_size(FileShape shape, BTree2Type type) noexcept {
    return 0U + shape.sizeof_addr + (type == BTree2Type::huge_direct ? 1U : 2U) * shape.sizeof_size;
}

// What an id says about a huge object: its place, or only its number.
HugeRecord record_of(FileShape shape, BTree2Type type, ConstBytes id) noexcept {
    HugeRecord record;
    if (type == BTree2Type::huge_direct) {
        (void)record.decode(shape, type, id.subspan(1));
    } else {
        record.id = FractalHeapId::huge(id);
    }
    return record;
}

}  // namespace

// Opens a copy of the tree to be changed, or a new tree. `last`: it is not needed once the only record is gone.
Status FractalHeapChanges::open_huge(bool last) noexcept {
    const FileShape shape = file_.shape();
    const BTree2Type type = type_of(header_, shape);
    const auto size = static_cast<Address>(BTree2Header::size(shape));
    Address header = header_.huge_index;
    if (header == kUndefinedAddress) {
        BTree2Create create;
        create.type = type;
        create.record_size = static_cast<std::uint16_t>(record_size(shape, type));
        H5MOTE_TRY(BTree2Changes::create(file_, create, header));
        H5MOTE_TRY(blocks_.adopt(header, size));
        H5MOTE_TRY(huge_.open(file_, header, Phase::object));
    } else {
        H5MOTE_TRY(huge_.open(file_, header, Phase::object));
        if (huge_.type() != type || huge_.record_size() != record_size(shape, type)) {
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
    const BTree2Type type = type_of(header_, file_.shape());
    const unsigned width = header_.id_length - 1U;
    HugeRecord record;
    if (type == BTree2Type::huge_indirect) {
        record.id = header_.next_huge_id + 1;
        if (width < 8 && record.id >> (8 * width) != 0) {
            return file_.context.fail(Module::heap, H5MOTE_HERE, Status::no_space, 1, header_block_->address());
        }
    }
    H5MOTE_TRY(write_huge(object, record));
    H5MOTE_TRY(open_huge(false));
    H5MOTE_TRY(enter_huge(record, id));
    if (type == BTree2Type::huge_indirect) {
        header_.next_huge_id = record.id;
    }
    ++header_.huge;
    return Status::ok;
}

// Enters an object into the tree, which is open, and writes its id.
Status FractalHeapChanges::enter_huge(const HugeRecord& record, Bytes id) noexcept {
    const FileShape shape = file_.shape();
    const BTree2Type type = type_of(header_, shape);
    std::byte bytes[kMostRecord];
    Writer writer{Bytes(bytes)};
    record.encode(shape, type, writer);
    HugeCompare compare(shape, type, record);
    H5MOTE_TRY(huge_.insert(compare, {bytes, writer.written()}));
    header_.huge_bytes += record.size;
    id = id.first(header_.id_length);
    if (type == BTree2Type::huge_direct) {
        FractalHeapId::encode_huge(id, ConstBytes(bytes, writer.written()));
    } else {
        FractalHeapId::encode_huge(id, record.id);
    }
    return Status::ok;
}

// The new object gets the number of the old one.
Status FractalHeapChanges::replace_huge(HeapContent& object, ConstBytes old, Bytes id) noexcept {
    const FileShape shape = file_.shape();
    const BTree2Type type = type_of(header_, shape);
    HugeRecord record;
    record.id = record_of(shape, type, old).id;
    H5MOTE_TRY(write_huge(object, record));
    H5MOTE_TRY(open_huge(false));
    H5MOTE_TRY(leave_huge(old));
    return enter_huge(record, id);
}

Status FractalHeapChanges::remove_huge(ConstBytes id) noexcept {
    if (header_.huge_index == kUndefinedAddress || header_.huge == 0) {
        return damaged(H5MOTE_HERE, header_block_->address());
    }
    H5MOTE_TRY(open_huge(true));
    H5MOTE_TRY(leave_huge(id));
    --header_.huge;
    return Status::ok;
}

// Removes an object from the tree, which is open, and gives its space up.
Status FractalHeapChanges::leave_huge(ConstBytes id) noexcept {
    const FileShape shape = file_.shape();
    const BTree2Type type = type_of(header_, shape);
    std::byte bytes[kMostRecord];
    HugeCompare compare(shape, type, record_of(shape, type, id));
    const Status status = huge_.remove(compare, {bytes, record_size(shape, type)});
    if (status != Status::ok) {
        return status == Status::not_found ? damaged(H5MOTE_HERE, header_.huge_index) : status;
    }
    return give_up_huge({bytes, record_size(shape, type)});
}

Status FractalHeapChanges::give_up_huge(ConstBytes record) noexcept {
    HugeRecord huge;
    (void)huge.decode(file_.shape(), type_of(header_, file_.shape()), record);
    if (huge.size == 0 || !file_.contains(huge.address, huge.size)) {
        return damaged(H5MOTE_HERE, huge.address);
    }
    header_.huge_bytes -= huge.size < header_.huge_bytes ? huge.size : header_.huge_bytes;
    return blocks_.replace(huge.address, huge.size, SpaceKind::raw_data);
}

}  // namespace h5mote

#endif
