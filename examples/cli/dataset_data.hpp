// h5mote dump: the elements of a dataset, read in pieces of limited size.
#pragma once

#include "dump.hpp"

namespace h5mote::cli {

/// A dataset's datatype message, copied into memory that this object owns.
class OwnedType {
public:
    explicit OwnedType(Context& context) : context_(context) {}
    OwnedType(const OwnedType&) = delete;
    OwnedType& operator=(const OwnedType&) = delete;
    ~OwnedType() { context_.release(MemoryKind::type, bytes_, size_); }

    Status read(const Dataset& dataset, std::size_t size) {
        bytes_ = static_cast<std::byte*>(context_.allocate(MemoryKind::type, size));
        if (bytes_ == nullptr) {
            return Status::out_of_memory;
        }
        size_ = size;
        return dataset.datatype(Bytes(bytes_, size), view_);
    }
    DatatypeView view() const { return view_; }

private:
    Context& context_;
    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
    DatatypeView view_;
};

class DatasetData final : public DataSource {
public:
    DatasetData(Dumper& dumper, Dataset& dataset, DatatypeView dataset_type, const Dataspace& dataset_space)
        : DataSource(dumper), dataset_(dataset) {
        type = dataset_type;
        space = dataset_space;
        is_dataset = true;
    }

    Status read(std::uint64_t first, std::uint64_t& count, std::byte* buffer) override;
    Status read_slab(const Subset& slab, std::uint64_t first, std::uint64_t& count, std::byte* buffer) override;
    const Object& object() const override { return dataset_; }

    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) override {
        return dataset_.variable_size(heap_id, bytes);
    }
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) override {
        return dataset_.read_variable(heap_id, offset, to);
    }

private:
    Dataset& dataset_;
};

}  // namespace h5mote::cli
