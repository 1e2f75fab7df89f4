// Creating datasets, and the members of Group that open them.

#include "committed_type.hpp"
#include "conversion.hpp"
#include "links.hpp"
#include "new_dataset.hpp"
#include "place.hpp"
#include "prepare.hpp"
#include "shared_changes.hpp"
#include "supported.hpp"
#include "text.hpp"
#include "versions.hpp"

#include <h5mote/group.hpp>
#include <h5mote/named_datatype.hpp>

#include <cstring>

namespace h5mote {
Status NewDataset::check_bounds() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const VersionsFormat* const format = file_.context.formats().versions) {
            H5MOTE_TRY(format->settle_layout(file_, layout_, shape_.filtered));
        }
    }
    return allow_type(file_, type_);
}

// The dataspace message comes last, so that growing the dataset rewrites only the end of the header: the dimension, its
// maximum and the checksum.
void NewDataset::write(HeaderWriter& header) const noexcept {
    if (H5MOTE_ALL_FORMATS != 0 && committed_ != kUndefinedAddress) {
        header.begin(MessageType::datatype, kMessageConstant | kMessageShared);
        CommittedReference::encode(header.out, header.shape, committed_);
    } else {
        header.begin(MessageType::datatype, kMessageConstant);
        header.out.bytes(type_.bytes());
    }
    header.end();

    // Those of libhdf5, which leaves a virtual dataset what a contiguous one has (H5Pset_virtual).
    constexpr AllocationTime kDefault[] = {AllocationTime::early, AllocationTime::late, AllocationTime::incremental,
                                           AllocationTime::late};
    const AllocationTime allocation = create_.allocation == AllocationTime::automatic
                                          ? kDefault[static_cast<unsigned>(layout_.layout_class)]
                                          : create_.allocation;
    FillValueMessage fill;
    fill.allocation_time = static_cast<std::uint8_t>(allocation);
    fill.write_time = static_cast<std::uint8_t>(fill_time());
    fill.undefined = create_.fill_undefined;
    fill.value = this->fill();
    header.begin(MessageType::fill_value, kMessageConstant);
    fill.encode(header.out);
    header.end();

    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (is_external()) {
            header.begin(MessageType::external_files, kMessageConstant);
            external_files().encode(header.out, header.shape, external_list(), heap_);
            header.end();
        }
    }
    header.begin(MessageType::layout);
    layout_.encode(header.out, header.shape, create_.chunk.data(), type_.size());
    if (H5MOTE_PARTIAL_IO != 0 && layout_.layout_class == Layout::compact) {
        const bool own = H5MOTE_ALL_FORMATS != 0 && !own_fill().empty();
        if (own) {
            header.out.bytes(ConstBytes(own_fill()).subspan(type_.size()));
        }
        for (Address done = 0; done < bytes_ && !own; done += type_.size()) {
            if (create_.fill.empty()) {
                header.out.fill(std::byte{0}, type_.size());
            } else {
                header.out.bytes(create_.fill);
            }
        }
    }
    header.end();

    if (H5MOTE_FILTERS != 0 && filters_ != nullptr) {
        header.begin(MessageType::filter_pipeline);
        if (H5MOTE_ALL_FORMATS != 0 && copy_ != nullptr) {
            header.out.bytes(copy_->pipeline);
        } else {
            encode_pipeline(header.out, create_.filters.size());
            for (std::size_t i = 0; i < create_.filters.size(); ++i) {
                encode_filter(header.out, filters_[i].spec);
            }
        }
        header.end();
    }
    header.reserve_continuation();

    header.begin(MessageType::dataspace);
    // Chunks are numbered by the maximum sizes, which must stay when the sizes become smaller (libhdf5 always stores
    // them).
    const bool resizable =
        is_external() || (layout_.layout_class != Layout::contiguous && layout_.layout_class != Layout::compact);
    encode_dataspace(header.out, header.shape, space_, resizable);
    header.end();
}

// Whether the layout message alone locates the chunks, or the index comes with the first of them.
bool NewDataset::needs_no_index() const noexcept {
    const bool empty = copy_ == nullptr || !copy_->allocated;
    const bool later = create_.allocation == AllocationTime::late && empty;
    // Where a fill value has variable length, libhdf5 1.10 cannot read a dataset without chunks that has an index from
    // a file that it has opened for reading only: for each chunk it tries to copy the value within the file.
    const bool filled = H5MOTE_ALL_FORMATS != 0 && !create_.fill.empty() && has_variable_length() && empty &&
                        create_.allocation != AllocationTime::early;
    return H5MOTE_ALL_FORMATS != 0 &&
           (layout_.index == ChunkIndex::single || layout_.index == ChunkIndex::implicit || later || filled);
}

Status NewDataset::make(Address& address) noexcept {
    if (layout_.layout_class == Layout::chunked && !needs_no_index()) {
        ChunkTable table;
        H5MOTE_TRY(table.create(file_, layout_, shape_));
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(is_external() ? external_files().create(file_, external_list(), heap_) : Status::ok);
        if (layout_.layout_class == Layout::virtual_dataset) {
            H5MOTE_TRY(virtual_data().create(file_, space_, mapping_list(), layout_));
        }
    }
    const Status status = make_header(address);
    if (status != Status::ok) {
        unmake(kUndefinedAddress);
    }
    return status;
}

// In their own functions: only few datasets take the stack for it.
Status NewDataset::store_fill() noexcept {
    const std::size_t size = type_.size();
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no datatype without a size gets here
    const std::size_t count = layout_.layout_class == Layout::compact ? static_cast<std::size_t>(bytes_) / size : 0;
    auto* const memory = static_cast<std::byte*>(file_.context.allocate(MemoryKind::value, (1 + count) * size));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    set_own_fill({memory, (1 + count) * size});
    std::memset(memory, 0, own_fill().size());
    Conversion conversion;
    H5MOTE_TRY(prepare_conversion(file_.context, conversion, fill_type(), type_,
                                  {FileValues::Side::to, file_.shape().sizeof_addr, nullptr, &file_}));
    Status status = conversion.run(1, create_.fill.data(), create_.fill.size(), memory, size);
    if (status == Status::ok && count != 0) {
        status = file_.context.formats().variable_length_changes->copy(file_, type_, memory, memory + size, count);
    }
    if (status != Status::ok) {
        drop_fill();
    }
    return status;
}

void NewDataset::drop_fill() noexcept {
    (void)file_.context.formats().variable_length_changes->discard(
        file_, type_, own_fill().data(),
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no datatype without a size gets here
        own_fill().size() / type_.size());
}

Status NewDataset::make_header(Address& address) noexcept {
    const SharedMessageChangesFormat* const format = shared_changes(file_);
    return format == nullptr ? create_header(file_, *this, address) : format->create_header(file_, *this, address);
}

void NewDataset::unmake(Address address) noexcept {
    discard_fresh_block(file_, address);
    if (layout_.layout_class == Layout::chunked) {
        ChunkTable::discard_fresh(file_, layout_, shape_);
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (is_external()) {
            external_files().discard(file_, external_list(), heap_);
        }
        if (layout_.layout_class == Layout::virtual_dataset) {
            virtual_data().discard(file_, layout_);
        }
    }
}

Status NewDataset::finish(DatasetState& state) const noexcept {
    state.set_reserve(create_.reserve);
    if (H5MOTE_ALL_FORMATS != 0 && copy_ != nullptr) {
        state.allocate_incrementally();
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (layout_.layout_class == Layout::virtual_dataset) {
            return virtual_data().check_extent(state, space_.dims);
        }
    }
    // A copy gets the space that the original has, which with an implicit index is all of it.
    const bool at_once = create_.allocation == AllocationTime::early &&
                         (copy_ == nullptr || (H5MOTE_ALL_FORMATS != 0 && layout_.index == ChunkIndex::implicit));
    if (H5MOTE_PARTIAL_IO != 0 && at_once) {
        return state.allocate_all();
    }
    return Status::ok;
}

namespace {

// A group in another file, which stays open as long as this exists, and a name in it.
class Elsewhere {
public:
    void set(FileState& file, Address address, std::string_view name) noexcept {
        group_.set_other(file);
        group_.address = address;
        name_ = name;
    }
    FileState* get() const noexcept { return group_.other(); }
    Address address() const noexcept { return group_.address; }
    std::string_view name() const noexcept { return name_; }

private:
    LinkGroup group_;
    std::string_view name_;
};

class NotElsewhere {
public:
    static void set(FileState& /*file*/, Address /*address*/, std::string_view /*name*/) noexcept {}
    static constexpr FileState* get() noexcept { return nullptr; }
    static constexpr Address address() noexcept { return 0; }
    static constexpr std::string_view name() noexcept { return {}; }
};

using ElsewhereOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0, Elsewhere, NotElsewhere>;

// Creates and opens the dataset before the link to it is inserted, so that an error leaves the file as it was.
// `elsewhere`: where to create it instead, if the path leads to another file.
Status create(FileState& file, Address group, std::string_view path, NewDataset& content, DatasetState*& state,
              ElsewhereOrNone& elsewhere) noexcept {
    H5MOTE_TRY(file.check_writable());
    LinkMessage link;
    LinkGroup parent;
    std::string_view name;
    const Status prepared = prepare_link(file, group, path, parent, name);
    if (FileState* const other = parent.other()) {
        elsewhere.set(*other, parent.address, name);
    }
    H5MOTE_TRY(prepared);
    H5MOTE_TRY(content.plan());
    H5MOTE_TRY(content.check_bounds());
    H5MOTE_TRY(content.use_type());
    Status status = content.make_fill();
    if (status == Status::ok) {
        status = content.make(link.address);
        if (status != Status::ok) {
            content.discard_fill();
        }
    }
    if (status != Status::ok) {
        content.release_type();
        return status;
    }
    status = DatasetState::open(file, link.address, state);
    if (status == Status::ok) {
        status = content.finish(*state);
    }
    if (status == Status::ok) {
        link.name = bytes_of(name);
        status = insert_link(file, parent.address, link);
    }
    if (const SharedMessageChangesFormat* const format = status == Status::ok ? nullptr : shared_changes(file)) {
        (void)format->release_all(file, link.address);
    }
    if (status != Status::ok && state != nullptr) {
        DatasetState::unmake(*state);
    } else if (status != Status::ok) {
        content.unmake(link.address);
    }
    if (status != Status::ok) {
        content.discard_fill();
        content.release_type();
    }
    return status;
}

// The extent that a caller asks for: without a dataspace that of a log, one unlimited dimension.
Extent wanted_extent(const Dataspace* space) noexcept {
    static constexpr std::uint64_t kRows = 0;
    static constexpr std::uint64_t kNoLimit = kUnlimited;
    return space != nullptr ? extent_of(*space) : Extent{DataspaceMessage::Type::simple, 1, &kRows, &kNoLimit};
}

}  // namespace

Result<Dataset> Group::make_dataset(std::string_view path, DatatypeView memory, DatatypeView type,
                                    const Dataspace* space, const DatasetCreate& properties) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    if (space != nullptr && !space->valid()) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument);
    }
    const Extent extent = wanted_extent(space);
    Context& context = file_->context;
    StoredType stored(*file_);
    H5MOTE_TRY(stored.assign(type));
    // Make the conversion first: if that fails, nothing has been created yet.
    Conversion* conversion = nullptr;
    H5MOTE_TRY(Dataset::make_conversion(*file_, memory, stored.view(), conversion));
    NewDataset content(*file_, stored.view(), extent, properties);
    content.set_fill_type(type);
    DatasetState* state = nullptr;
    ElsewhereOrNone elsewhere;
    const Status status = create(*file_, address_, path, content, state, elsewhere);
    if (status != Status::ok) {
        context.destroy(MemoryKind::type, conversion);
        if (FileState* const other = elsewhere.get()) {
            return Group(*other, elsewhere.address()).make_dataset(elsewhere.name(), memory, type, space, properties);
        }
        return status;
    }
    Dataset dataset(*file_, state->address(), *state);
    dataset.set_conversion(conversion, memory.size());
    return dataset;
}

// Only this function checks the datatype: types of C++ values can always be stored, and programs that use no others do
// not link the check.
Result<Dataset> Group::create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                      const DatasetCreate& properties) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    H5MOTE_TRY(check_storable(file_->context, type));
    return make_dataset(path, type, type, &space, properties);
}

Result<Dataset> Group::create_dataset(std::string_view path, const NamedDatatype& type, const Dataspace& space,
                                      const DatasetCreate& properties) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    if (!space.valid() || !type.valid() || !same_file(type)) {
        if (H5MOTE_ALL_FORMATS != 0 && space.valid() && type.valid()) {
            // The path may lead to the file of the datatype.
            LinkGroup parent;
            std::string_view name;
            (void)prepare_link(file, address_, path, parent, name);
            if (FileState* const other = parent.other()) {
                return Group(*other, parent.address).create_dataset(name, type, space, properties);
            }
        }
        return file.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument);
    }
    NewDataset content(file, type.type(), extent_of(space), properties);
    content.set_committed(type.address());
    DatasetState* state = nullptr;
    ElsewhereOrNone elsewhere;
    const Status status = create(file, address_, path, content, state, elsewhere);
    if (FileState* const other = elsewhere.get()) {
        return Group(*other, elsewhere.address()).create_dataset(elsewhere.name(), type, space, properties);
    }
    H5MOTE_TRY(status);
    return Dataset(file, state->address(), *state);
}

Result<Dataset> Group::make_copy(std::string_view path, const StoredDataset& dataset) noexcept {
    NewDataset content(*file_, dataset.type, extent_of(dataset.space), dataset.create);
    content.set_copy(dataset);
    content.set_committed(dataset.type_object);
    DatasetState* state = nullptr;
    ElsewhereOrNone elsewhere;
    H5MOTE_TRY(create(*file_, address_, path, content, state, elsewhere));
    return Dataset(*file_, state->address(), *state);
}

Result<Dataset> Group::open_dataset(std::string_view path) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState* file = nullptr;
    Address header = kUndefinedAddress;
    H5MOTE_TRY(find_object(*file_, address_, path, file, header));
    DatasetState* state = nullptr;
    const Status status = DatasetState::open(*file, header, state);
    FileState::release(file);
    H5MOTE_TRY(status);
    return Dataset(state->file(), header, *state);
}

namespace {

// Checks that an opened dataset has the rank and the maximum extent of the one that would have been created. Its
// current extent is not compared: it may have grown already.
Status check_shape(DatasetState& state, const Extent& wanted) noexcept {
    Context& context = state.file().context;
    if (state.rank() != wanted.rank) {
        return context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument,
                            subject(Subject::rank, state.rank()));
    }
    for (unsigned i = 0; i < state.rank(); ++i) {
        if (state.max_dims()[i] != wanted.max_dims[i]) {
            return context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, subject(Subject::dimension, i),
                                state.max_dims()[i]);
        }
    }
    return Status::ok;
}

}  // namespace

Result<Dataset> Group::open_typed(std::string_view path, DatatypeView memory) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Dataset> opened = open_dataset(path);
    if (opened) {
        H5MOTE_TRY(opened->set_memory_type(memory));
    }
    return opened;
}

Result<Dataset> Group::open_or_make_dataset(std::string_view path, DatatypeView memory, DatatypeView type,
                                            const Dataspace* space, const DatasetCreate& properties) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Dataset> opened = open_typed(path, memory);
    if (opened.status() == Status::not_found) {
        return make_dataset(path, memory, type, space, properties);
    }
    if (opened && H5MOTE_PARTIAL_IO) {
        H5MOTE_TRY(check_shape(static_cast<DatasetState&>(*opened->cursor_), wanted_extent(space)));
    }
    return opened;
}

Result<Dataset> Group::open_or_create_dataset(std::string_view path, DatatypeView type, const Dataspace& space,
                                              const DatasetCreate& properties) noexcept {
    const LibraryLock lock(context_of(file_));
    Result<Dataset> opened = open_dataset(path);
    if (opened.status() == Status::not_found) {
        return create_dataset(path, type, space, properties);
    }
    if (opened && H5MOTE_PARTIAL_IO) {
        H5MOTE_TRY(check_shape(static_cast<DatasetState&>(*opened->cursor_), extent_of(space)));
    }
    return opened;
}

}  // namespace h5mote
