// Attributes in dense storage and among shared messages.

#include "attribute_storage.hpp"
#include "text.hpp"

namespace h5mote {
namespace {

Status open_in(const AttributePlace& place, FileState& file, DenseReader& heap, MetadataWindow& bytes) noexcept {
    return place.id_length < heap.id_length()
               ? file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file, place.id_length, place.address)
               : heap.object(ConstBytes(place.id, heap.id_length()), bytes);
}

// Opens the attribute that a record of the name index or the creation order index leads to.
Status take_record(const DenseAttributes& dense, const AttributeRecord& record,
                   StoredAttributeMessage& attribute) noexcept {
    AttributePlace& place = attribute.place;
    place.kind = (record.flags & kMessageShared) != 0 ? AttributePlace::Kind::shared : AttributePlace::Kind::heap;
    place.address = dense.heap;
    place.id_length = sizeof place.id;
    std::memcpy(place.id, record.heap_id.data(), sizeof place.id);
    attribute.has_order = dense.tracked;
    attribute.order = record.order;
    H5MOTE_TRY(place.kind == AttributePlace::Kind::heap ? open_in(place, dense.file, dense.reader, attribute.bytes)
                                                        : place.open(dense.file, attribute.bytes));
    return decode_attribute(dense.file.context, attribute.bytes, attribute.parts);
}

// Compares a name with the records of the name index: by hash, and where the hashes are equal by the name of the
// attribute itself.
class NameCompare final : public RecordCompare {
public:
    NameCompare(const DenseAttributes& dense, std::string_view name, StoredAttributeMessage& attribute) noexcept
        : dense_(dense), name_(name), hash_(name_hash(bytes_of(name))), attribute_(attribute) {}

    Status compare(ConstBytes bytes, int& order) noexcept override {
        AttributeRecord record;
        if (!record.decode(BTree2Type::attribute_name, bytes)) {
            return dense_.file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file);
        }
        if (record.hash != hash_) {
            order = hash_ < record.hash ? -1 : 1;
            return Status::ok;
        }
        std::string_view name;
        H5MOTE_TRY(take_record(dense_, record, attribute_));
        H5MOTE_TRY(attribute_.name(name));
        order = name_.compare(name);
        return Status::ok;
    }

private:
    const DenseAttributes& dense_;
    std::string_view name_;
    std::uint32_t hash_;
    StoredAttributeMessage& attribute_;
};

}  // namespace

Status find_dense_attribute(const DenseAttributes& dense, std::string_view name,
                            StoredAttributeMessage& attribute) noexcept {
    std::byte record[BTree2::kMaxRecordSize];
    NameCompare compare(dense, name, attribute);
    return dense.reader.find(compare, {record, dense.reader.record_size()});
}

Status dense_attribute_at(const DenseAttributes& dense, std::uint64_t position,
                          StoredAttributeMessage& attribute) noexcept {
    std::byte bytes[BTree2::kMaxRecordSize];
    const Bytes stored{bytes, dense.reader.record_size()};
    AttributeRecord record;
    H5MOTE_TRY(dense.reader.record(position, stored));
    return record.decode(dense.reader.type(), stored)
               ? take_record(dense, record, attribute)
               : dense.file.context.fail(Module::attribute, H5MOTE_HERE, Status::corrupt_file, 0, dense.heap);
}

Status open_dense_attribute(FileState& file, const AttributePlace& place, MetadataWindow& bytes) noexcept {
    if (place.kind == AttributePlace::Kind::shared) {
        return open_shared_message(file, MessageType::attribute, place.id, bytes);
    }
    DenseHandle dense(file.context);
    H5MOTE_TRY(dense.make(Module::attribute, Feature::dense_attributes));
    H5MOTE_TRY(dense->open_heap(file, place.address));
    return open_in(place, file, *dense, bytes);
}

}  // namespace h5mote
