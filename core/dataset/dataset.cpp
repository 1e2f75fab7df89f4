// Handles of datasets.

#include "conversion.hpp"
#include "dataset_state.hpp"
#include "prepare.hpp"

#include <cstring>

namespace h5mote {
namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

}  // namespace

Dataset::Dataset(FileState& file, Address address, AppendCursor& state) noexcept
    : Object(file, address), cursor_(&state), fast_(&state), record_size_(state_of(&state).element_size()) {}

Dataset::Dataset(Dataset&& other) noexcept
    : Object(static_cast<Object&&>(other)),
      cursor_(other.cursor_),
      fast_(other.fast_),
      conversion_(other.conversion_),
      record_size_(other.record_size_) {
    other.cursor_ = other.fast_ = nullptr;
    other.conversion_ = nullptr;
}

Dataset& Dataset::operator=(Dataset&& other) noexcept {
    if (this != &other) {
        (void)close();
        Object::operator=(static_cast<Object&&>(other));
        cursor_ = other.cursor_;
        fast_ = other.fast_;
        conversion_ = other.conversion_;
        record_size_ = other.record_size_;
        other.cursor_ = other.fast_ = nullptr;
        other.conversion_ = nullptr;
    }
    return *this;
}

Status Dataset::close() noexcept {
    const LibraryLock lock(context_of(file_));
    if (cursor_ == nullptr) {
        return Status::invalid_handle;
    }
    drop_conversion();
    const Status status = DatasetState::release(&state_of(cursor_));
    cursor_ = fast_ = nullptr;
    Object::close();
    return status;
}

Status Dataset::append_records(const void* records, std::size_t count) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (conversion_ == nullptr) {
        H5MOTE_TRY(state_of(cursor_).check_plain());
    }
    return append_packed(records, count);
}

Status Dataset::append_packed(const void* records, std::size_t count) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(state_of(cursor_).begin_change());
    return state_of(cursor_).append(static_cast<const std::byte*>(records), record_size_, count, conversion_);
}

Status Dataset::dataspace(Dataspace& space) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    state.count_appended();
    state.copy_dataspace(space);
    return Status::ok;
}

std::uint64_t Dataset::size() const noexcept {
    const LibraryLock lock(context_of(file_));
    if (check() != Status::ok) {
        return 0;
    }
    DatasetState& state = state_of(cursor_);
    state.count_appended();
    return state.rank() == 0 ? 1 : state.dims()[0];
}

std::uint32_t Dataset::element_size() const noexcept {
    const LibraryLock lock(context_of(file_));
    return check() == Status::ok ? state_of(cursor_).element_size() : 0;
}

Status Dataset::datatype(Bytes buffer, DatatypeView& type) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    HeaderMessage message(*file_, address_);
    ConstBytes body;
    DatatypeView stored;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(parse_datatype(file_->context, body, stored));
    if (stored.encoded_length() > buffer.size()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, stored.encoded_length());
    }
    std::memcpy(buffer.data(), stored.bytes().data(), stored.encoded_length());
    type = DatatypeView({buffer.data(), stored.encoded_length()});
    return Status::ok;
}

Status Dataset::set_extent(Span<const std::uint64_t> dims) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(state_of(cursor_).begin_change());
    return state_of(cursor_).set_extent(dims);
}

// Refuses a memory type with a member that the file's type lacks: the member would be lost when a record is written,
// and undefined when one is read.
static Status check_members(Context& context, DatatypeView type, DatatypeView stored) noexcept {
    CompoundMembers members(type);
    CompoundMember member;
    CompoundMember found;
    std::uint32_t number = 0;
    while (stored.type_class() == TypeClass::compound && members.next(member)) {
        if (!stored.find_member(member.name, found)) {
            return context.fail(Module::dataset, H5MOTE_HERE, Status::type_mismatch, subject(Subject::member, number));
        }
        ++number;
    }
    return Status::ok;
}

// Whether values of the type are never the same in memory and in a file.
static bool has_variable_length(DatatypeView type) noexcept {
    return H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0 && contains_class(type, TypeClass::variable_length);
}

Status Dataset::make_conversion(FileState& file, DatatypeView memory, DatatypeView stored,
                                Conversion*& conversion) noexcept {
    Context& context = file.context;
    conversion = nullptr;
    if (identical_layout(memory, stored) && !has_variable_length(stored)) {
        return Status::ok;
    }
    if (!can_convert(context)) {
        return context.unsupported(Module::dataset, H5MOTE_HERE, Feature::type_conversion);
    }
    H5MOTE_TRY(check_members(context, memory, stored));
    conversion = context.create<Conversion>(MemoryKind::type);
    if (conversion == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = prepare_conversion(context, *conversion, memory, stored,
                                             {FileValues::Side::to, file.shape().sizeof_addr, nullptr, &file});
    if (status != Status::ok || conversion->is_copy()) {
        context.destroy(MemoryKind::type, conversion);
        conversion = nullptr;
    }
    return status;
}

// In builds without conversion there never is one, and no code that destroys one.
void Dataset::drop_conversion() noexcept {
    if constexpr (H5MOTE_CONVERSION != 0) {
        file_->context.destroy(MemoryKind::type, conversion_);
        conversion_ = nullptr;
    }
}

void Dataset::set_conversion(Conversion* conversion, std::uint32_t record_size) noexcept {
    drop_conversion();
    conversion_ = conversion;
    fast_ = conversion == nullptr ? cursor_ : nullptr;
    record_size_ = record_size;
}

Status Dataset::set_memory_type(DatatypeView type) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    HeaderMessage message(*file_, address_);
    ConstBytes body;
    DatatypeView stored;
    Conversion* conversion = nullptr;
    H5MOTE_TRY(message.find(MessageType::datatype));
    H5MOTE_TRY(message.body(body));
    H5MOTE_TRY(view_datatype(file_->context, body, stored));
    H5MOTE_TRY(make_conversion(*file_, type, stored, conversion));
    set_conversion(conversion, type.size());
    return Status::ok;
}

}  // namespace h5mote
