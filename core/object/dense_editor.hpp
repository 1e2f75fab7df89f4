// H5O - the object header whose links or attributes move to dense storage or come from there.
#pragma once

#include "btree2.hpp"
#include "fractal_heap.hpp"
#include "header_rewrite.hpp"
#include "info_fields.hpp"
#include "shared_index.hpp"

namespace h5mote {

/// What a header has of links or of attributes.
struct DenseMessages {
    MessageType info;      ///< the message that leads to dense storage
    MessageType each;      ///< the message of a link or attribute in compact storage
    unsigned order_width;  ///< bytes of the largest creation order in the info message
};

/// What a record of the name index says of a link or attribute.
struct DenseObject {
    ConstBytes heap_id;
    std::uint16_t order = 0;  ///< creation order, which the message in the header gets
    bool shared = false;      ///< the id is one in the heap of shared messages
};

/// Gives a header another info message, and in compact storage the links or attributes.
class DenseEditor : public HeaderEditor {
public:
    DenseEditor(FileState& file, const DenseMessages& messages, unsigned flags, std::uint64_t max_order,
                const DenseAddresses& addresses) noexcept
        : file_(file),
          messages_(messages),
          info_({bytes_, encode(file.shape(), messages.order_width, flags, max_order, addresses)}) {}
    /// What that dense storage has goes into the header, but for what is at position `left_out`.
    Status take(const DenseAddresses& from, std::uint64_t left_out) noexcept {
        left_out_ = left_out;
        takes_ = true;
        H5MOTE_TRY(heap_.open(file_, from.heap));
        return names_.open(file_, from.name_index);
    }

    bool stays(MessageIterator& message) noexcept override {
        return message.type() != messages_.each && message.type() != messages_.info;
    }
    Status added(unsigned i, NewMessage& message) noexcept override {
        message.type = messages_.info;
        message.content = &info_;
        window_.close();  // holds a block of the cache
        message.order = 0;
        message.flags = 0;
        if (i == 0) {
            return Status::ok;
        }
        const std::uint64_t position = i - 1U + (i - 1U >= left_out_ ? 1U : 0U);
        if (!takes_ || position >= names_.size()) {
            return Status::not_found;
        }
        std::byte record[BTree2::kMaxRecordSize];
        DenseObject found;
        H5MOTE_TRY(names_.record(position, record));
        H5MOTE_TRY(decode({record, names_.record_size()}, found));
        message.type = messages_.each;
        message.order = found.order;
        if (found.shared) {
            SharedReference::encode_heap(reference_, found.heap_id);
            message.flags = kMessageShared;
            message.content = &in_place_;
            return Status::ok;
        }
        message.content = &each_;
        return heap_.object(found.heap_id, window_);
    }

protected:
    ~DenseEditor() = default;

private:
    /// over_budget also: the header is not to have that link or attribute.
    virtual Status decode(ConstBytes record, DenseObject& found) const noexcept = 0;

    std::size_t encode(FileShape shape, unsigned order_width, unsigned flags, std::uint64_t max_order,
                       const DenseAddresses& addresses) noexcept {
        Writer writer{Bytes(bytes_)};
        encode_dense_info(writer, shape, order_width, flags, max_order, addresses);
        return writer.written();
    }

    static constexpr std::size_t kMostInfo = 2 + 8 + 3 * 8;

    FileState& file_;
    DenseMessages messages_;
    std::byte bytes_[kMostInfo];
    BytesContent info_;
    FractalHeap heap_;
    BTree2 names_;
    MetadataWindow window_;
    WindowContent each_{window_};
    std::byte reference_[SharedReference::kHeapSize];  // what the header has in place of a shared message
    BytesContent in_place_{reference_};
    std::uint64_t left_out_ = 0;
    bool takes_ = false;
};

}  // namespace h5mote
