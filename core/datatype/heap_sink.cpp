#include "heap_sink.hpp"

#include "checked.hpp"
#include "conversion_plan.hpp"
#include "file_type.hpp"
#include "prepare.hpp"
#include "sequence_slot.hpp"
#include "supported.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

Status HeapSink::open(FileState& file, HeapSink*& sink) noexcept {
    sink = static_cast<HeapSink*>(file.heap_keeper());
    if (sink == nullptr) {
        sink = file.context.create<HeapSink>(MemoryKind::file, file);
        if (sink == nullptr) {
            return Status::out_of_memory;
        }
        file.foreign()->heap_keeper = sink;
    }
    return Status::ok;
}

void HeapSink::end() noexcept {
    file().foreign()->heap_keeper = nullptr;
    file().context.destroy(MemoryKind::file, this);
}

/// One sequence while it is written.
class HeapSink::SequenceWriter {
public:
    SequenceWriter(HeapSink& sink, const ConversionPlan& plan, const ConversionStep& step) noexcept
        : sink_(sink), plan_(plan), step_(step) {
        std::memcpy(&table_, plan.table(step), sizeof(table_));
    }

    /// The place of the elements of `slot` in the heap. As in libhdf5 a text without a character has one, too.
    Status write(const VariableLength& slot, GlobalHeapId& id) noexcept {
        std::uint64_t bytes = 0;
        Address size = 0;
        if (slot.data == nullptr || (slot.count == 0 && !is_string(step_))) {
            return Status::ok;
        }
        if (slot.count > 0xffffffffU || !checked_multiply<std::uint64_t>(slot.count, table_.to_size, bytes) ||
            (size = narrow(bytes)) != bytes) {
            return plan_.context->fail(Module::datatype, H5MOTE_HERE, Status::invalid_argument, 0, slot.count);
        }
        Place place;
        H5MOTE_TRY(sink_.insert(size, place));
        id = place.id;
        const auto* const from = static_cast<const std::byte*>(slot.data);
        return has_same_elements(step_, table_) ? sink_.put(place.at, {from, static_cast<std::size_t>(size)})
                                                : elements(from, slot.count, place.at);
    }
    /// The file's type of the sequence.
    DatatypeView type() const noexcept {
        return DatatypeView({plan_.table(step_) + sizeof(table_) + table_.window, table_.type_length});
    }

private:
    Status elements(const std::byte* from, std::size_t count, Address at) noexcept {
        std::byte* const window = plan_.table(step_) + sizeof(table_);
        const std::size_t room = table_.window / table_.to_size;
        while (count > 0) {
            const std::size_t now = count < room ? count : room;
            const std::size_t bytes = now * table_.to_size;
            std::memset(window, 0, bytes);
            for (std::size_t i = 0; i < now; ++i, from += table_.from_size) {
                H5MOTE_TRY(run_steps(plan_, &step_ + 1, step_.extra, from, window + i * table_.to_size));
            }
            H5MOTE_TRY(sink_.put(at, {window, bytes}));
            at += bytes;
            count -= now;
        }
        return Status::ok;
    }

    HeapSink& sink_;
    const ConversionPlan& plan_;
    const ConversionStep& step_;
    SequenceTable table_;
};

Status HeapSink::write(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                       std::byte* to) noexcept {
    VariableLength slot = load_slot(from, is_string(step));
    if (is_string(step)) {
        slot.count = slot.data == nullptr ? 0 : std::strlen(static_cast<const char*>(slot.data));
    } else if (slot.data == nullptr) {
        slot.count = 0;
    }
    SequenceWriter writer(*this, plan, step);
    GlobalHeapId id;
    id.collection = 0;
    Mark before;
    mark(before);
    Status status = writer.write(slot, id);
    status = status == Status::ok ? finish() : status;
    if (status != Status::ok) {
        undo(before);
        return status;
    }
    if (!before_raw && plan.file.dataset != kUndefinedAddress) {
        file().note_heap(plan.file.dataset);
    }
    discard_value(writer.type(), to);
    store_le<std::uint32_t>(to, static_cast<std::uint32_t>(slot.count));
    id.encode(file().shape(), to + 4);
    return Status::ok;
}

Status HeapSink::insert_bytes(ConstBytes bytes, GlobalHeapId& id) noexcept {
    Place place;
    Mark before;
    mark(before);
    Status status = insert(bytes.size(), place);
    status = status == Status::ok ? put(place.at, bytes) : status;
    status = status == Status::ok ? finish() : status;
    if (status != Status::ok) {
        undo(before);
    }
    id = place.id;
    return status;
}

void HeapSink::discard_values(DatatypeView type, const std::byte* values, std::size_t count) noexcept {
    for (; count > 0; --count, values += type.size()) {
        discard_value(type, values);
    }
}

// Calls itself as deep as the type is nested.
void HeapSink::discard_value(DatatypeView type, const std::byte* value) noexcept {
    switch (type.type_class()) {
        case TypeClass::variable_length: {
            GlobalHeapId id;
            const std::uint32_t count = load_le<std::uint32_t>(value);
            if (!id.decode(file().shape(), {value + 4, type.size() - 4}) || id.is_nil()) {
                return;
            }
            if (!type.is_variable_string() && contains_class(type.base(), TypeClass::variable_length)) {
                discard_elements(type.base(), id, count);
            }
            discard(id);
            return;
        }
        case TypeClass::array: {
            const std::size_t size = type.base().size();
            discard_values(type.base(), value, size == 0 ? 0 : type.size() / size);
            return;
        }
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member)) {
                if (contains_class(member.type, TypeClass::variable_length)) {
                    discard_values(member.type, value + member.offset, member.count());
                }
            }
            return;
        }
        default:
            return;
    }
}

// Discards what the elements of a sequence refer to, one element after the other.
void HeapSink::discard_elements(DatatypeView base, const GlobalHeapId& id, std::uint32_t count) noexcept {
    Context& context = file().context;
    const std::size_t size = base.size();
    auto* const element = static_cast<std::byte*>(context.allocate(MemoryKind::value, size));
    for (std::uint32_t i = 0; element != nullptr && i < count; ++i) {
        GlobalHeap heap(file());
        MetadataWindow window;
        if (heap.object(id.collection, id.index, window) != Status::ok ||
            window.read(narrow(std::uint64_t{i} * size), {element, size}) != Status::ok) {
            break;
        }
        window.close();
        discard_value(base, element);
    }
    context.release(MemoryKind::value, element, size);
}

namespace {

Status open_sink(FileState& file, VariableSink*& sink) noexcept {
    HeapSink* own = nullptr;
    const Status status = HeapSink::open(file, own);
    sink = own;
    return status;
}

std::size_t discard(FileState& file, DatatypeView type, const std::byte* values, std::size_t count) noexcept {
    HeapSink* sink = nullptr;
    const std::size_t before = discarded_values(file);
    if (contains_class(type, TypeClass::variable_length) && HeapSink::open(file, sink) == Status::ok) {
        sink->discard_values(type, values, count);
    }
    return before;
}

Status insert(FileState& file, ConstBytes bytes, GlobalHeapId& id) noexcept {
    HeapSink* sink = nullptr;
    H5MOTE_TRY(HeapSink::open(file, sink));
    return sink->insert_bytes(bytes, id);
}

}  // namespace

const VariableLengthFormat formats::variable_length_changes = {&open_sink, &discard, &encode_file_type, &insert};

}  // namespace h5mote

#endif
