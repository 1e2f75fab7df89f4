#include "virtual_changes.hpp"

#include "axis.hpp"
#include "checked.hpp"
#include "checksum.hpp"
#include "dataspace_editor.hpp"
#include "global_heap.hpp"
#include "heap_sink.hpp"
#include "owned_bytes.hpp"
#include "selection_codec.hpp"
#include "unlimited.hpp"
#include "virtual_mappings.hpp"
#include "virtual_transfer.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// ---- making ------------------------------------------------------------------------------------------------------

// Whether a name is one; `numbered` becomes whether it has "%b".
bool is_name(std::string_view name, bool& numbered) noexcept {
    bool sound = !name.empty() && name.find('\0') == std::string_view::npos;
    for (std::size_t i = 0; sound && i < name.size(); ++i) {
        if (name[i] == '%') {
            ++i;
            sound = i < name.size() && (name[i] == 'b' || name[i] == '%');
            numbered = numbered || (sound && name[i] == 'b');
        }
    }
    return sound;
}

// Too large for the stack of a small machine.
class Mappings {
public:
    Mappings(FileState& file, const Extent& extent, Span<const NewMapping> list) noexcept
        : file_(file), list_(list), block_(file.context) {
        const auto dim = [&](unsigned d) { return extent.dims[d]; };
        const auto most = [&](unsigned d) { return extent.max_dims[d]; };
        DataspaceEditor::set(space_, false, extent.rank, dim, most);
    }

    Status check() noexcept;
    Status store(LayoutMessage& layout) noexcept;

private:
    Status check_one(const NewMapping& mapping) noexcept;
    Status count(const Selection& selection, const Dataspace* space, std::uint64_t& elements, bool& known) noexcept;
    Status encode(Writer& writer, std::uint8_t version) noexcept;
    Status encode_names(Writer& writer, std::size_t i, std::uint8_t version) noexcept;
    Status encode_selection_of(Writer& writer, const Selection& selection, const Dataspace* space) noexcept;
    // The first mapping that has the name, if the name is at least as long as the number of a mapping.
    template <typename Name>
    bool find_earlier(std::size_t i, Name name, std::size_t& earlier) const noexcept {
        for (earlier = 0; earlier < i && name(list_[earlier]) != name(list_[i]); ++earlier) {
        }
        return earlier < i && name(list_[i]).size() + 1 >= file_.shape().sizeof_size;
    }

    FileState& file_;
    Span<const NewMapping> list_;
    Dataspace space_;
    Dataspace widest_;
    SelectionSet block_;
};

// `known`: whether the number of elements does not depend on an extent that nobody knows.
Status Mappings::count(const Selection& selection, const Dataspace* space, std::uint64_t& elements,
                       bool& known) noexcept {
    known = space != nullptr;
    if (!known && selection.rank() != 0) {
        DataspaceEditor::set_widest(widest_, selection.rank());
        space = &widest_;
        known = true;
    }
    return space != nullptr ? selection.element_count(*space, elements) : Status::ok;
}

Status Mappings::check_one(const NewMapping& mapping) noexcept {
    const Selection& source = mapping.source;
    const Selection& destination = mapping.destination;
    const int to = unlimited_dimension(destination);
    const int from = unlimited_dimension(source);
    bool numbered = false;
    bool sound = is_name(mapping.file, numbered) && is_name(mapping.dataset, numbered) &&
                 source.type() != SelectionType::points && destination.type() != SelectionType::points &&
                 (destination.rank() == 0 || destination.rank() == space_.rank()) &&
                 numbered == (to >= 0 && from < 0) && (from < 0 || to >= 0);
    if (sound && from >= 0) {
        sound = slice_elements(source) == slice_elements(destination) &&
                (mapping.source_space == nullptr || source.rank() == mapping.source_space->rank());
    } else if (sound) {
        std::uint64_t there = 0;
        std::uint64_t here = 0;
        bool known = false;
        sound = count(source, mapping.source_space, there, known) == Status::ok;
        if (sound && to >= 0) {
            DataspaceEditor::set_widest(widest_, space_.rank());
            const Status status = unlimited_block(destination, 0, block_);
            if (status == Status::out_of_memory) {
                return status;
            }
            sound = status == Status::ok && block_.view().element_count(widest_, here) == Status::ok;
        } else if (sound) {
            // What lies beyond the extent is told by check_extent().
            DataspaceEditor::set_widest(widest_, space_.rank());
            sound = destination.element_count(destination.rank() == 0 ? space_ : widest_, here) == Status::ok;
        }
        sound = sound && (!known || there == here);
    }
    return sound ? Status::ok : file_.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument);
}

Status Mappings::check() noexcept {
    for (const NewMapping& mapping : list_) {
        H5MOTE_TRY(check_one(mapping));
    }
    // Whether the upper version bound allows all selections.
    Writer counter;
    return encode(counter, 0);
}

Status Mappings::encode_selection_of(Writer& writer, const Selection& selection, const Dataspace* space) noexcept {
    if (space == nullptr || selection.rank() != 0) {
        DataspaceEditor::set_widest(widest_, selection.rank());
        space = &widest_;
    }
    return encode_selection_in(file_, writer, selection, *space);
}

void encode_name(Writer& writer, std::string_view name) noexcept {
    writer.bytes({reinterpret_cast<const std::byte*>(name.data()), name.size()});
    writer.u8(0);
}

Status Mappings::encode_names(Writer& writer, std::size_t i, std::uint8_t version) noexcept {
    const NewMapping& mapping = list_[i];
    if (version == 0) {
        encode_name(writer, mapping.file);
        encode_name(writer, mapping.dataset);
        return Status::ok;
    }
    std::size_t file = 0;
    std::size_t dataset = 0;
    const bool same = mapping.file == ".";
    const bool file_shared = !same && find_earlier(
                                          i, [](const NewMapping& each) { return each.file; }, file);
    const bool dataset_shared = find_earlier(
        i, [](const NewMapping& each) { return each.dataset; }, dataset);
    writer.u8((same ? VirtualMappingFlags::kSameFile : 0) | (file_shared ? VirtualMappingFlags::kFileShared : 0) |
              (dataset_shared ? VirtualMappingFlags::kDatasetShared : 0));
    if (file_shared) {
        writer.uint(file_.shape().sizeof_size, file);
    } else if (!same) {
        encode_name(writer, mapping.file);
    }
    if (dataset_shared) {
        writer.uint(file_.shape().sizeof_size, dataset);
    } else {
        encode_name(writer, mapping.dataset);
    }
    return Status::ok;
}

// Everything but the checksum.
Status Mappings::encode(Writer& writer, std::uint8_t version) noexcept {
    writer.u8(version);
    writer.uint(file_.shape().sizeof_size, list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) {
        H5MOTE_TRY(encode_names(writer, i, version));
        H5MOTE_TRY(encode_selection_of(writer, list_[i].source, list_[i].source_space));
        H5MOTE_TRY(encode_selection_of(writer, list_[i].destination, &space_));
    }
    return Status::ok;
}

// As libhdf5: version 1 with the bounds that have it, where it takes no more bytes.
Status Mappings::store(LayoutMessage& layout) noexcept {
    Writer counted;
    H5MOTE_TRY(encode(counted, 0));
    std::size_t size = counted.written();
    std::uint8_t version = 0;
    if (file_.low() >= FormatVersion::v200) {
        Writer again;
        H5MOTE_TRY(encode(again, 1));
        version = again.written() <= size ? 1 : 0;
        size = version == 1 ? again.written() : size;
    }
    OwnedBytes bytes(file_.context);
    H5MOTE_TRY(bytes.reserve(size + VirtualMappings::kChecksumSize));
    const Bytes image = bytes.first(size + VirtualMappings::kChecksumSize);
    Writer writer(image);
    H5MOTE_TRY(encode(writer, version));
    writer.u32(lookup3(image.first(size)));
    HeapSink* sink = nullptr;
    GlobalHeapId id;
    H5MOTE_TRY(HeapSink::open(file_, sink));
    H5MOTE_TRY(sink->insert_bytes(image, id));
    layout.address = id.collection;
    layout.heap_index = id.index;
    return Status::ok;
}

template <typename Step>
Status with_mappings(FileState& file, const Extent& space, Span<const NewMapping> list, Step step) noexcept {
    auto* const mappings = file.context.create<Mappings>(MemoryKind::other, file, space, list);
    if (mappings == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = step(*mappings);
    file.context.destroy(MemoryKind::other, mappings);
    return status;
}

Status check(FileState& file, const Extent& space, Span<const NewMapping> list) noexcept {
    return with_mappings(file, space, list, [](Mappings& mappings) { return mappings.check(); });
}

Status create(FileState& file, const Extent& space, Span<const NewMapping> list, LayoutMessage& layout) noexcept {
    return list.empty() ? Status::ok
                        : with_mappings(file, space, list, [&](Mappings& mappings) { return mappings.store(layout); });
}

void discard_object(FileState& file, Address collection, std::uint32_t index) noexcept {
    HeapSink* sink = nullptr;
    if (collection != kUndefinedAddress && HeapSink::open(file, sink) == Status::ok) {
        GlobalHeapId id;
        id.collection = collection;
        id.index = index;
        sink->discard(id);
    }
}

void discard(FileState& file, const LayoutMessage& layout) noexcept {
    discard_object(file, layout.address, layout.heap_index);
}

Status dispose(DatasetState& dataset, Disposal& disposal) noexcept {
    FileState& file = dataset.file();
    if (dataset.data_address() == kUndefinedAddress) {
        return Status::ok;
    }
    if (!disposal.rehearses()) {
        discard_object(file, dataset.data_address(), dataset.mappings_index());
        return Status::ok;
    }
    H5MOTE_TRY(file.show_heap());
    GlobalHeap heap(file);
    MetadataWindow window;
    return heap.object(dataset.data_address(), dataset.mappings_index(), window);
}

// ---- writing -----------------------------------------------------------------------------------------------------

Status write_virtual(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                     std::uint32_t memory_size) noexcept {
    std::uint64_t wanted = 0;
    std::uint64_t found = 0;
    H5MOTE_TRY(request.selection.element_count(space, wanted));
    TransferRequest counted = request;
    counted.memory = &space;
    counted.memory_selection = &request.selection;
    H5MOTE_TRY(visit_sources(
        dataset, counted, space, pairs, memory_size, [](VirtualTransfer& piece) { return piece.count_piece(); },
        found));
    if (found != wanted) {
        return dataset.file().context.fail(Module::dataset, H5MOTE_HERE, Status::not_found, 0, found);
    }
    return visit_sources(
        dataset, request, space, pairs, memory_size, [](VirtualTransfer& piece) { return piece.write_piece(); }, found);
}

}  // namespace

Status VirtualTransfer::write_piece() noexcept {
    mappings_.pause();
    Status status = source_->begin_change();
    status = status == Status::ok ? transfer_piece() : status;
    status = status == Status::ok ? source_.commit() : status;
    return status == Status::ok ? mappings_.resume(dataset_.mappings_index()) : status;
}

const VirtualChangesFormat formats::virtual_changes = {&check,         &create, &discard, &check_virtual_extent,
                                                       &write_virtual, &dispose};

}  // namespace h5mote

#endif
