#include "block_decoder.hpp"

#include "checked.hpp"
#include "dataset_state.hpp"
#include "pipeline.hpp"
#include "pipeline_message.hpp"

namespace h5mote {
namespace {

Status load_entries(Context& context, PipelineReader& reader, unsigned count, FilterEntry* entries) noexcept {
    for (unsigned i = 0; i < count; ++i) {
        auto* const entry = ::new (static_cast<void*>(entries + i)) FilterEntry;
        H5MOTE_TRY(reader.next(context, entry->spec));
        entry->filter = context.find_filter(entry->spec.id);
    }
    return Status::ok;
}

Status run(FileState& file, const FilterPipeline& filters, std::uint32_t mask, Address address, std::size_t stored,
           Bytes to, FilterId& failed) noexcept {
    // Do not use the file's filter scratch here: callers may hold it while they read a message that is stored in a
    // filtered heap (Transfer::from_nothing() does).
    const std::size_t need = filters.decode_need(to.size(), stored, mask);
    const Bytes work{static_cast<std::byte*>(file.context.allocate(MemoryKind::filter, need)), need};
    if (work.data() == nullptr && need != 0) {
        return Status::out_of_memory;
    }
    Bytes place;
    Status status = filters.stored_place(stored, mask, to, work, place);
    if (status == Status::ok) {
        status = file.driver.read(Usage::local_heap, address, place);
    }
    if (status == Status::ok) {
        status = filters.decode(place, mask, to, work, failed);
    }
    file.context.release(MemoryKind::filter, work.data(), need);
    return status;
}

}  // namespace

const PipelineBlockDecoder pipeline_block_decoder;

Status PipelineBlockDecoder::decode(FileState& file, ConstBytes pipeline, std::uint32_t mask, Address address,
                                    Address stored, Bytes to) const noexcept {
    Context& context = file.context;
    unsigned count = 0;
    std::size_t size = 0;
    PipelineReader reader(pipeline);
    H5MOTE_TRY(reader.count(context, count));
    if (!to_size(stored, size)) {
        return context.fail(Module::filter, H5MOTE_HERE, Status::corrupt_file, 0, address);
    }
    const std::size_t bytes = count * sizeof(FilterEntry);
    auto* const entries = static_cast<FilterEntry*>(context.allocate(MemoryKind::filter, bytes));
    if (entries == nullptr && bytes != 0) {
        return Status::out_of_memory;
    }
    FilterId failed = FilterId::none;
    Status status = load_entries(context, reader, count, entries);
    if (status == Status::ok) {
        status = run(file, FilterPipeline(Span<FilterEntry>(entries, count)), mask, address, size, to, failed);
    }
    context.release(MemoryKind::filter, entries, bytes);
    return tell_filter(context, H5MOTE_HERE, status, failed, address);
}

}  // namespace h5mote
