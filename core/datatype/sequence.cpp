// H5T (H5Tvlen) - reading sequences and strings of any length into memory, and releasing them.
#include <h5mote/variable_length.hpp>

#include "checked.hpp"
#include "conversion_plan.hpp"
#include "cursor.hpp"
#include "sequence_slot.hpp"
#include "supported.hpp"

#include <h5mote/library_lock.hpp>

#include <cstring>

namespace h5mote {
namespace {

void release_text(Context& context, void* text) {
    if (text != nullptr) {
        context.release(MemoryKind::value, text, std::strlen(static_cast<const char*>(text)) + 1);
    }
}

/// One sequence of a file while it is read.
class SequenceReader {
public:
    SequenceReader(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from)
        : plan_(plan), step_(step), id_(from + 4, std::size_t{plan.file.sizeof_address} + 4) {
        std::memcpy(&table_, plan.table(step), sizeof(table_));
        count_ = load_le<std::uint32_t>(from);
    }

    /// Reads the sequence into memory allocated for it; `slot` stays empty if the file has no data for it.
    Status read(VariableLength& slot);

private:
    bool is_nil() const {
        const std::uint64_t address = load_uint(id_.data(), plan_.file.sizeof_address);
        return address == 0 || address == ~std::uint64_t{0} >> (64 - 8 * plan_.file.sizeof_address);
    }
    bool is_copied() const { return has_same_elements(step_, table_); }
    Status sizes(std::size_t& bytes);
    Status elements(std::byte* to, std::size_t bytes);
    Status trim(VariableLength& slot, std::size_t bytes);

    const ConversionPlan& plan_;
    const ConversionStep& step_;
    ConstBytes id_;
    SequenceTable table_;
    std::uint32_t count_ = 0;
};

// The bytes that the sequence takes in memory. First checks that its heap object has as many elements as its value
// says.
Status SequenceReader::sizes(std::size_t& bytes) {
    std::uint64_t have = 0;
    const std::uint64_t needed = std::uint64_t{count_} * table_.from_size;
    if (count_ > 0) {
        H5MOTE_TRY(plan_.file.source->size(id_, have));
    }
    if (needed > have) {
        return plan_.context->fail(Module::datatype, H5MOTE_HERE, Status::corrupt_file, count_, have);
    }
    std::uint64_t size = 0;
    return checked_multiply<std::uint64_t>(count_, table_.to_size, size) &&
                   to_size(size + (is_string(step_) ? 1 : 0), bytes)
               ? Status::ok
               : plan_.context->fail(Module::datatype, H5MOTE_HERE, Status::out_of_memory, 0, size);
}

Status SequenceReader::elements(std::byte* to, std::size_t bytes) {
    if (is_copied()) {
        return plan_.file.source->read(id_, 0, {to, bytes});
    }
    // Begin with zeros: members that the source lacks keep them, and so do elements behind one that fails.
    std::memset(to, 0, bytes);
    std::byte* const window = plan_.table(step_) + sizeof(table_);
    const std::uint32_t room = table_.window / table_.from_size;
    for (std::uint32_t done = 0; done < count_;) {
        const std::uint32_t now = count_ - done < room ? count_ - done : room;
        H5MOTE_TRY(plan_.file.source->read(id_, std::uint64_t{done} * table_.from_size,
                                           {window, std::size_t{now} * table_.from_size}));
        for (std::uint32_t i = 0; i < now; ++i, ++done, to += table_.to_size) {
            H5MOTE_TRY(run_steps(plan_, &step_ + 1, step_.extra, window + std::size_t{i} * table_.from_size, to));
        }
    }
    return Status::ok;
}

// Text ends at its first NUL. Its memory is cut off there, because release_text() finds its size by strlen().
Status SequenceReader::trim(VariableLength& slot, std::size_t bytes) {
    auto* const text = static_cast<char*>(slot.data);
    text[bytes - 1] = '\0';
    const std::size_t length = std::strlen(text) + 1;
    if (length == bytes) {
        return Status::ok;
    }
    void* const exact = plan_.context->allocate(MemoryKind::value, length);
    if (exact != nullptr) {
        std::memcpy(exact, text, length);
    }
    plan_.context->release(MemoryKind::value, text, bytes);
    slot.data = exact;
    return exact != nullptr ? Status::ok : Status::out_of_memory;
}

Status SequenceReader::read(VariableLength& slot) {
    std::size_t bytes = 0;
    if (is_nil()) {
        return Status::ok;
    }
    H5MOTE_TRY(sizes(bytes));
    if (bytes == 0) {
        return Status::ok;
    }
    slot.data = plan_.context->allocate(MemoryKind::value, bytes);
    if (slot.data == nullptr) {
        return Status::out_of_memory;
    }
    slot.count = count_;
    auto* const to = static_cast<std::byte*>(slot.data);
    Status status = Status::ok;
    if (count_ > 0) {
        status = elements(to, bytes - (is_string(step_) ? 1 : 0));
    }
    if (status == Status::ok) {
        return is_string(step_) ? trim(slot, bytes) : Status::ok;
    }
    for (std::uint32_t i = 0; !is_copied() && i < count_; ++i) {
        empty_sequences(plan_, &step_ + 1, step_.extra, to + std::size_t{i} * table_.to_size, true);
    }
    plan_.context->release(MemoryKind::value, to, bytes);
    return status;
}

}  // namespace

Status read_sequence(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                     std::byte* to) noexcept {
    SequenceReader reader(plan, step, from);
    VariableLength slot;
    const Status status = reader.read(slot);
    if (status == Status::ok) {
        store_slot(to, slot, is_string(step));
    }
    return status;
}

namespace {

void release_sequence(const ConversionPlan& plan, const ConversionStep& step, const VariableLength& slot) {
    if (is_string(step)) {
        release_text(*plan.context, slot.data);
        return;
    }
    SequenceTable table;
    std::memcpy(&table, plan.table(step), sizeof(table));
    auto* const elements = static_cast<std::byte*>(slot.data);
    for (std::size_t i = 0; i < slot.count; ++i) {
        empty_sequences(plan, &step + 1, step.extra, elements + i * table.to_size, true);
    }
    plan.context->release(MemoryKind::value, elements, slot.count * table.to_size);
}

}  // namespace

// Calls itself through loops and sequences, which are nested as the types are.
void empty_sequences(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count, std::byte* to,
                     bool release) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        const ConversionStep& step = steps[i];
        std::byte* target = to + step.to_offset;
        if (step.kind != ConversionKind::loop && step.kind != ConversionKind::sequence) {
            continue;
        }
        for (std::uint32_t n = 0; n < step.count; ++n, target += step.to_size) {
            if (step.kind == ConversionKind::loop) {
                empty_sequences(plan, &step + 1, step.extra, target, release);
                continue;
            }
            if (release) {
                release_sequence(plan, step, load_slot(target, is_string(step)));
            }
            store_slot(target, VariableLength{}, is_string(step));
        }
        i += step.extra;
    }
}

namespace {

void reclaim_value(Context& context, DatatypeView type, std::byte* value);

void reclaim_sequence(Context& context, DatatypeView type, std::byte* value) {
    const bool string = type.is_variable_string();
    const VariableLength slot = load_slot(value, string);
    store_slot(value, VariableLength{}, string);
    if (string) {
        release_text(context, slot.data);
        return;
    }
    const DatatypeView base = type.base();
    auto* const elements = static_cast<std::byte*>(slot.data);
    if (contains_class(base, TypeClass::variable_length)) {
        for (std::size_t i = 0; elements != nullptr && i < slot.count; ++i) {
            reclaim_value(context, base, elements + i * base.size());
        }
    }
    context.release(MemoryKind::value, elements, slot.count * base.size());
}

// Calls itself as deep as the type is nested.
void reclaim_value(Context& context, DatatypeView type, std::byte* value) {
    if (type.type_class() == TypeClass::variable_length) {
        reclaim_sequence(context, type, value);
    } else if (type.type_class() == TypeClass::array) {
        const DatatypeView base = type.base();
        for (std::uint32_t at = 0; at < type.size(); at += base.size()) {
            reclaim_value(context, base, value + at);
        }
    } else if (type.type_class() == TypeClass::compound) {
        CompoundMembers members(type);
        CompoundMember member;
        while (members.next(member)) {
            if (contains_class(member.type, TypeClass::variable_length)) {
                for (std::uint32_t i = 0; i < member.count(); ++i) {
                    reclaim_value(context, member.type, value + member.offset + std::size_t{i} * member.type.size());
                }
            }
        }
    }
}

}  // namespace

Status reclaim(Context& context, DatatypeView type, std::size_t count, std::size_t stride, void* data) noexcept {
    const LibraryLock lock(context);
    if (type.empty() || stride < type.size() || !is_memory_type(type)) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::invalid_argument);
    }
    if (!contains_class(type, TypeClass::variable_length)) {
        return Status::ok;
    }
    auto* value = static_cast<std::byte*>(data);
    for (; count > 0; --count, value += stride) {
        reclaim_value(context, type, value);
    }
    return Status::ok;
}

}  // namespace h5mote
