#include "heap_sink.hpp"

#include "checked.hpp"
#include "conversion_plan.hpp"
#include "file_type.hpp"
#include "owned_bytes.hpp"
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

namespace {

// Bytes from the start of a value to the end of the last of them that the plan writes.
std::size_t written_bytes(const ConversionPlan& plan) noexcept {
    std::size_t end = 0;
    for (std::uint32_t i = 0; i < plan.steps; ++i) {
        const ConversionStep& step = plan.first()[i];
        const bool copies = step.kind == ConversionKind::copy;
        const std::size_t step_end = step.to_offset + std::size_t{step.count} * (copies ? 1 : step.to_size);
        end = end < step_end ? step_end : end;
        i += holds_steps(step) ? step.extra : 0;
    }
    return end;
}

}  // namespace

Status HeapSink::convert(const ConversionPlan& plan, const std::byte* from, std::byte* to) noexcept {
    const ConversionStep& first = *plan.first();
    if (first.kind == ConversionKind::to_heap && first.count == 1 && first.extra + 1 == plan.steps) {
        return run_steps(plan, &first, plan.steps, from, to);  // write() leaves `to` as it is
    }
    OwnedBytes old(*plan.context, MemoryKind::value);
    H5MOTE_TRY(old.reserve(written_bytes(plan)));
    std::memcpy(old.data(), to, old.capacity());
    Mark before;
    mark(before);
    const Status status = run_steps(plan, plan.first(), plan.steps, from, to);
    if (status != Status::ok) {
        if (!undo(before)) {
            discard_written(plan, plan.first(), plan.steps, old.data(), to);
        }
        std::memcpy(to, old.data(), old.capacity());
    }
    return status;
}

// Discards the sequences that the steps have put into a value in the place of those that it had. Calls itself through
// loops only, which are nested as the types are.
void HeapSink::discard_written(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count,
                               const std::byte* old, const std::byte* value) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        const ConversionStep& step = steps[i];
        const bool sequences = step.kind == ConversionKind::to_heap;
        for (std::uint32_t n = 0; (sequences || step.kind == ConversionKind::loop) && n < step.count; ++n) {
            const std::size_t at = step.to_offset + std::size_t{n} * step.to_size;
            if (!sequences) {
                discard_written(plan, &step + 1, step.extra, old + at, value + at);
            } else if (std::memcmp(old + at, value + at, step.to_size) != 0) {
                discard_value(SequenceWriter(*this, plan, step).type(), value + at);
            }
        }
        i += holds_steps(step) ? step.extra : 0;
    }
}

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

Status HeapSink::copy_values(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count) noexcept {
    // Zeros name no object, so that nothing is wrong with values that are only made in part.
    std::memset(to, 0, count * type.size());
    const Status status = copy_parts(type, from, to, count, type.size());
    if (status != Status::ok) {
        discard_values(type, to, count);
        std::memset(to, 0, count * type.size());
    }
    return status;
}

// The part of a value that has the type `type` goes to `count` places, which are `stride` bytes apart. Calls itself as
// deep as the type is nested.
Status HeapSink::copy_parts(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count,
                            std::size_t stride) noexcept {
    if (type.type_class() == TypeClass::variable_length) {
        return copy_sequence(type, from, to, count, stride);
    }
    if (!contains_class(type, TypeClass::variable_length)) {
        for (; count > 0; --count, to += stride) {
            std::memcpy(to, from, type.size());
        }
        return Status::ok;
    }
    if (type.type_class() == TypeClass::array) {
        const DatatypeView base = type.base();
        for (std::size_t at = 0; at < type.size(); at += base.size()) {
            H5MOTE_TRY(copy_parts(base, from + at, to + at, count, stride));
        }
        return Status::ok;
    }
    CompoundMembers members(type);
    CompoundMember member;
    while (members.next(member)) {
        for (std::uint32_t i = 0; i < member.count(); ++i) {
            const std::size_t at = member.offset + std::size_t{i} * member.type.size();
            H5MOTE_TRY(copy_parts(member.type, from + at, to + at, count, stride));
        }
    }
    return Status::ok;
}

bool HeapSink::has_heap_id(DatatypeView type) noexcept { return type.size() == 4 + GlobalHeapId::size(file().shape()); }

Status HeapSink::copy_sequence(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count,
                               std::size_t stride) noexcept {
    Context& context = file().context;
    GlobalHeapId id;
    if (!has_heap_id(type) || !id.decode(file().shape(), {from + 4, type.size() - 4})) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file);
    }
    if (id.is_nil()) {
        return Status::ok;
    }
    const DatatypeView base = type.base();
    const std::uint32_t length = load_le<std::uint32_t>(from);
    const bool nested = !type.is_variable_string() && contains_class(base, TypeClass::variable_length);
    std::size_t size = 0;
    std::size_t room = 0;
    if (!checked_multiply<std::size_t>(length, type.is_variable_string() ? 1 : base.size(), size) ||
        !checked_multiply<std::size_t>(size, nested ? 2 : 1, room)) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::out_of_memory, 0, length);
    }
    OwnedBytes bytes(context, MemoryKind::value);
    H5MOTE_TRY(bytes.reserve(room));
    {
        GlobalHeap heap(file());
        MetadataWindow window;
        H5MOTE_TRY(heap.object(id.collection, id.index, window));
        H5MOTE_TRY(window.read(0, bytes.first(size)));
    }
    for (; count > 0; --count, to += stride) {
        const std::byte* value = bytes.data();
        if (nested) {
            std::byte* const own = bytes.data() + size;
            for (std::uint32_t i = 0; i < length; ++i) {
                const std::size_t at = std::size_t{i} * base.size();
                const Status status = copy_values(base, value + at, own + at, 1);
                if (status != Status::ok) {
                    discard_values(base, own, i);
                    return status;
                }
            }
            value = own;
        }
        const Status status = insert_bytes({value, size}, id);
        if (status != Status::ok) {
            if (nested) {
                discard_values(base, value, length);
            }
            return status;
        }
        store_le<std::uint32_t>(to, length);
        id.encode(file().shape(), to + 4);
    }
    return Status::ok;
}

// Calls itself as deep as the type is nested.
void HeapSink::discard_value(DatatypeView type, const std::byte* value) noexcept {
    switch (type.type_class()) {
        case TypeClass::variable_length: {
            GlobalHeapId id;
            if (!has_heap_id(type) || !id.decode(file().shape(), {value + 4, type.size() - 4}) || id.is_nil()) {
                return;
            }
            const std::uint32_t count = load_le<std::uint32_t>(value);
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

Status copy(FileState& file, DatatypeView type, const std::byte* from, std::byte* to, std::size_t count) noexcept {
    HeapSink* sink = nullptr;
    H5MOTE_TRY(HeapSink::open(file, sink));
    return sink->copy_values(type, from, to, count);
}

Status insert(FileState& file, ConstBytes bytes, GlobalHeapId& id) noexcept {
    HeapSink* sink = nullptr;
    H5MOTE_TRY(HeapSink::open(file, sink));
    return sink->insert_bytes(bytes, id);
}

}  // namespace

const VariableLengthFormat formats::variable_length_changes = {&open_sink,          &discard, &encode_file_type,
                                                               &encode_memory_type, &copy,    &insert};

}  // namespace h5mote

#endif
