// Creating datasets, and the members of Group that open them.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "committed_type.hpp"
#include "conversion.hpp"
#include "dataset_state.hpp"
#include "extent.hpp"
#include "external_changes.hpp"
#include "links.hpp"
#include "place.hpp"
#include "prepare.hpp"
#include "shared_changes.hpp"
#include "stored_dataset.hpp"
#include "supported.hpp"
#include "text.hpp"
#include "versions.hpp"
#include "virtual_changes.hpp"

#include <h5mote/group.hpp>
#include <h5mote/named_datatype.hpp>

namespace h5mote {
namespace {

constexpr std::uint8_t layout_version(FormatVersion low) noexcept {
    return H5MOTE_ALL_FORMATS == 0 || low == FormatVersion::standard ? 4 : low < FormatVersion::v110 ? 3 : 4;
}

// The list as a Span also where builds have none.
template <typename T>
struct ListOf {
    static Span<const T> of(const Span<const T>& list) noexcept { return list; }
    static Span<const T> of(const NoList& /*list*/) noexcept { return {}; }
};

// Everything that the header of a new dataset says, gathered and checked before anything is allocated.
class NewDataset final : public HeaderContent {
public:
    NewDataset(FileState& file, DatatypeView type, const Extent& space, const DatasetCreate& create) noexcept
        : file_(file), type_(type), space_(space), create_(create) {
        track_times = create.track_times;
        attributes = create.attributes;
        layout_.version = layout_version(file.low());
    }
    NewDataset(const NewDataset&) = delete;
    NewDataset& operator=(const NewDataset&) = delete;
    ~NewDataset() {
        if constexpr (H5MOTE_FILTERS != 0 && H5MOTE_ALL_FORMATS != 0) {
            file_.context.release(MemoryKind::other, client_data_.data(), client_data_.size());
        }
        file_.context.release(MemoryKind::other, filters_, filters_size());
    }

    /// The new dataset is to be a copy: everything is as another file has it, filters that this program lacks included.
    void set_copy(const StoredDataset& dataset) noexcept { copy_ = &dataset; }
    /// The datatype is the committed one whose header is there.
    void set_committed(Address header) noexcept { committed_ = header; }
    /// A committed datatype counts the new dataset before that is there, and no longer if it cannot be made.
    Status use_type() noexcept {
        return H5MOTE_ALL_FORMATS == 0 || committed_ == kUndefinedAddress ? Status::ok
                                                                          : use_committed_type(file_, committed_);
    }
    void release_type() noexcept {
        std::uint32_t count = 0;
        if (H5MOTE_ALL_FORMATS != 0 && committed_ != kUndefinedAddress) {
            (void)change_reference_count(file_, committed_, -1, count);
        }
    }
    H5MOTE_STEP Status plan() noexcept;
    /// Fits the planned dataset to the version bounds. unsupported: FileAccess::high is older than what it takes.
    Status check_bounds() noexcept;
    /// Makes chunk index and header; nothing points to them yet.
    H5MOTE_STEP Status make(Address& address) noexcept;

    /// Undoes make().
    H5MOTE_STEP void unmake(Address address) noexcept;
    /// Applies the creation properties that need an open dataset: space to reserve, early allocation.
    Status finish(DatasetState& state) const noexcept;

    void write(HeaderWriter& header) const noexcept override;

private:
    bool has_variable_length() const noexcept {
        return H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0 && contains_class(type_, TypeClass::variable_length);
    }
    // As libhdf5 does: space that it allocates would otherwise keep what was there before, which is no value then.
    FillTime fill_time() const noexcept {
        const bool zeros = create_.fill.empty() && !create_.fill_undefined;
        return create_.fill_time == FillTime::if_set && zeros && has_variable_length() ? FillTime::on_allocation
                                                                                       : create_.fill_time;
    }
    std::size_t filters_size() const noexcept { return create_.filters.size() * sizeof(FilterEntry); }
    Status invalid(SourcePlace place, std::uint64_t value = 0) noexcept {
        return file_.context.fail(Module::dataset, place, Status::invalid_argument, 0, value);
    }
    Status make_header(Address& address) noexcept;
    Status plan_chunks() noexcept;
    Status plan_filters() noexcept;
    ChunkIndex fixed_index() const noexcept;
    bool needs_no_index() const noexcept;
    Status plan_whole() noexcept;
    Status plan_external() noexcept;
    Status plan_virtual() noexcept;
    const VirtualChangesFormat& virtual_data() const noexcept { return *file_.context.formats().virtual_changes; }
    const ExternalChangesFormat& external_files() const noexcept { return *file_.context.formats().external_changes; }
    Span<const NewExternalFile> external_list() const noexcept { return ListOf<NewExternalFile>::of(create_.external); }
    Span<const NewMapping> mapping_list() const noexcept { return ListOf<NewMapping>::of(create_.mappings); }
    bool is_external() const noexcept { return !create_.external.empty(); }

    FileState& file_;
    DatatypeView type_;
    const Extent space_;
    const DatasetCreate& create_;
    FilterEntry* filters_ = nullptr;
    Bytes client_data_;  // of filters_, where a FilterSpec has no room for them
    LayoutMessage layout_;
    ChunkTableShape shape_;
    std::uint64_t bytes_ = 0;  // of all elements
    Address committed_ = kUndefinedAddress;
    Address heap_ = kUndefinedAddress;  // with the names of external files
    const StoredDataset* copy_ = nullptr;
};

Status NewDataset::plan() noexcept {
    H5MOTE_TRY(check_attributes(file_.context, create_.attributes));
    if (type_.size() == 0 || !space_.data_size(type_.size(), bytes_)) {
        return invalid(H5MOTE_HERE);
    }
    if (!create_.fill.empty() && create_.fill.size() != type_.size()) {
        return invalid(H5MOTE_HERE, create_.fill.size());
    }
    // A value of variable length that was never written must be found to be none, and every element has its own.
    if (copy_ == nullptr && has_variable_length()) {
        if (create_.fill_undefined || create_.fill_time == FillTime::never) {
            return invalid(H5MOTE_HERE);
        }
        if (!create_.fill.empty()) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::datatype_class);
        }
    }
    if (create_.fill_undefined && (!create_.fill.empty() || create_.fill_time == FillTime::on_allocation)) {
        return invalid(H5MOTE_HERE);
    }
    if (create_.layout == Layout::virtual_dataset || !create_.mappings.empty()) {
        return plan_virtual();
    }
    if (is_external()) {
        return plan_external();
    }
    const bool chunked =
        create_.layout == Layout::chunked || (create_.layout == Layout::automatic && create_.chunk.rank() > 0);
    if (H5MOTE_PARTIAL_IO == 0 && !(chunked && space_.rank == 1)) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
    }
    return H5MOTE_PARTIAL_IO == 0 || chunked ? plan_chunks() : plan_whole();
}

// The data have no place in the file. Only the first dimension may grow: that leaves all elements where they are.
Status NewDataset::plan_external() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const Formats& formats = file_.context.formats();
        if (formats.external_changes == nullptr || formats.external_data == nullptr) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::external_storage);
        }
        std::uint64_t room = 0;
        std::uint64_t most = type_.size();
        bool sound = (create_.layout == Layout::automatic || create_.layout == Layout::contiguous) &&
                     create_.filters.size() == 0 && create_.chunk.rank() == 0 && !create_.unfiltered_edges &&
                     external_files().check(external_list(), room);
        for (unsigned i = 0; sound && i < space_.rank; ++i) {
            const std::uint64_t size = space_.max_dims[i];
            sound = i == 0 || size == space_.dims[i];
            most = size == kUnlimited || !checked_multiply(most, size, most) ? kUnlimited : most;
        }
        if (!sound || most > room) {
            return invalid(H5MOTE_HERE, most);
        }
        layout_.size = narrow(bytes_);
        return layout_.size == bytes_ ? Status::ok : invalid(H5MOTE_HERE, bytes_);
    } else {
        return Status::ok;
    }
}

Status NewDataset::plan_virtual() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        const Formats& formats = file_.context.formats();
        if (formats.virtual_changes == nullptr || formats.virtual_data == nullptr) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
        }
        const bool sound = (create_.layout == Layout::automatic || create_.layout == Layout::virtual_dataset) &&
                           create_.filters.size() == 0 && create_.chunk.rank() == 0 && !create_.unfiltered_edges &&
                           !is_external() && space_.rank != 0;
        if (!sound) {
            return invalid(H5MOTE_HERE);
        }
        layout_.layout_class = Layout::virtual_dataset;
        layout_.version = layout_.version < 4 ? std::uint8_t{4} : layout_.version;
        return virtual_data().check(file_, space_, mapping_list());
    } else {
        return Status::ok;
    }
}

Status NewDataset::check_bounds() noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
        if (const VersionsFormat* const format = file_.context.formats().versions) {
            H5MOTE_TRY(format->settle_layout(file_, layout_, shape_.filtered));
        }
    }
    return allow_type(file_, type_);
}

Status NewDataset::plan_whole() noexcept {
    if (space_.extensible() || create_.filters.size() != 0 || create_.chunk.rank() != 0 || create_.unfiltered_edges) {
        return invalid(H5MOTE_HERE);
    }
    layout_.size = narrow(bytes_);
    if (create_.layout != Layout::compact) {
        return Status::ok;
    }
    layout_.layout_class = Layout::compact;
    // The size of a message has 16 bits, and the layout message has 4 bytes before the data.
    return bytes_ <= 0xffff - 4 ? Status::ok
                                : file_.context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, bytes_);
}

Status NewDataset::plan_chunks() noexcept {
    const unsigned rank = space_.rank;
    if (rank == 0 || create_.chunk.rank() != rank || create_.filters.size() > H5MOTE_MAX_FILTERS) {
        return invalid(H5MOTE_HERE, create_.chunk.rank());
    }
    unsigned unlimited = 0;
    std::uint64_t bytes = type_.size();
    shape_.rank = static_cast<std::uint8_t>(rank);
    shape_.chunks = 1;
    bool sound = true;
    for (unsigned i = 0; sound && i < rank; ++i) {
        const std::uint32_t chunk = create_.chunk.data()[i];
        const std::uint64_t most = space_.max_dims[i];
        sound = chunk_fits(space_.dims[i], most, chunk) && checked_multiply<std::uint64_t>(bytes, chunk, bytes) &&
                bytes <= 0xffffffffU;
        if (most == kUnlimited) {
            ++unlimited;
        } else {
            sound = sound && checked_multiply(shape_.chunks, divide_up(most, chunk), shape_.chunks);
        }
    }
    if (!sound) {
        return invalid(H5MOTE_HERE, bytes);
    }
    shape_.chunk_bytes = static_cast<std::uint32_t>(bytes);
    shape_.filtered = create_.filters.size() != 0;
    if ((shape_.filtered || H5MOTE_PARTIAL_IO == 0) && bytes > file_.chunks.budget()) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::over_budget, 0, bytes);
    }
    if (unlimited != 0 && file_.shape().sizeof_size < 8) {
        // libhdf5 reads "unlimited" in fewer than 8 bytes as an ordinary number.
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::sizeof_offsets);
    }
    if ((unlimited > 1 && H5MOTE_ALL_FORMATS == 0) || (unlimited == 0 && H5MOTE_FIXED_CHUNKS == 0)) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::chunk_index);
    }
    if (create_.unfiltered_edges) {
        if (file_.context.formats().unfiltered_edges == nullptr || H5MOTE_ALL_FORMATS == 0) {
            return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_class);
        }
        layout_.version = layout_.version < 4 ? std::uint8_t{4} : layout_.version;
        layout_.flags = LayoutMessage::kPartialEdgeUnfiltered;
    }
    layout_.layout_class = Layout::chunked;
    layout_.dimensionality = static_cast<std::uint8_t>(rank + 1);
    layout_.index = layout_.version < 4 ? ChunkIndex::btree1
                    : unlimited > 1     ? ChunkIndex::btree2
                    : unlimited == 1    ? ChunkIndex::extensible_array
                                        : fixed_index();
    layout_.flags |= layout_.index == ChunkIndex::single && shape_.filtered ? LayoutMessage::kSingleFiltered : 0U;
    // Limit the array to as many elements as the file can address chunks of this size.
    const unsigned reach = file_.shape().sizeof_addr * 8U - floor_log2(bytes);
    layout_.array.max_bits = static_cast<std::uint8_t>(shape_.filtered || reach > 32 ? 32 : reach < 8 ? 8 : reach);
    return shape_.filtered ? plan_filters() : Status::ok;
}

Status NewDataset::plan_filters() noexcept {
    if constexpr (H5MOTE_FILTERS == 0) {
        return file_.context.unsupported(Module::filter, H5MOTE_HERE, Feature::filter);
    }
    filters_ = static_cast<FilterEntry*>(file_.context.allocate(MemoryKind::other, filters_size()));
    if (filters_ == nullptr) {
        return Status::out_of_memory;
    }
    for (std::size_t i = 0; i < create_.filters.size(); ++i) {
        FilterEntry* entry = ::new (static_cast<void*>(filters_ + i)) FilterEntry;
        entry->spec = create_.filters.data()[i];
        entry->filter = file_.context.find_filter(entry->spec.id);
    }
    if (H5MOTE_ALL_FORMATS != 0 && copy_ != nullptr) {
        return Status::ok;
    }
    FilterTarget target{type_.size(), static_cast<std::uint32_t>(shape_.chunk_bytes)};
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        target.type = type_;
        target.chunk = {create_.chunk.data(), create_.chunk.rank()};
        target.fill = create_.fill;
        target.fill_undefined = create_.fill_undefined;
    }
    FilterPipeline pipeline(Span<FilterEntry>(filters_, create_.filters.size()));
    FilterId failed = FilterId::none;
    std::size_t need = 0;
    Status status = pipeline.prepare(target, failed, need);
    if (H5MOTE_ALL_FORMATS != 0 && status == Status::over_budget && need != 0) {
        auto* values = static_cast<std::byte*>(file_.context.allocate(MemoryKind::other, need));
        if (values == nullptr) {
            return Status::out_of_memory;
        }
        client_data_ = target.client_data = {values, need};
        status = pipeline.prepare(target, failed, need);
    }
    return tell_filter(file_.context, H5MOTE_HERE, status, failed);
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
    fill.value = create_.fill;
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
        for (Address done = 0; done < bytes_; done += type_.size()) {
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

// The index of a dataset that cannot grow. Where no program asks for versions, it stays what it has always been; else
// it is chosen as libhdf5 chooses it.
ChunkIndex NewDataset::fixed_index() const noexcept {
    if (H5MOTE_ALL_FORMATS == 0 || file_.versions() == nullptr || file_.context.formats().unindexed_chunks == nullptr) {
        return ChunkIndex::fixed_array;
    }
    bool single = !space_.extensible();
    for (unsigned i = 0; i < space_.rank; ++i) {
        single = single && space_.dims[i] == create_.chunk.data()[i];
    }
    return single                                                            ? ChunkIndex::single
           : !shape_.filtered && create_.allocation == AllocationTime::early ? ChunkIndex::implicit
                                                                             : ChunkIndex::fixed_array;
}

// Whether the layout message alone locates the chunks, or the index comes with the first of them.
bool NewDataset::needs_no_index() const noexcept {
    const bool later = create_.allocation == AllocationTime::late && (copy_ == nullptr || !copy_->allocated);
    return H5MOTE_ALL_FORMATS != 0 &&
           (layout_.index == ChunkIndex::single || layout_.index == ChunkIndex::implicit || later);
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

// Creates and opens the dataset before the link to it is inserted, so that an error leaves the file as it was.
Status create(FileState& file, Address group, std::string_view path, NewDataset& content,
              DatasetState*& state) noexcept {
    H5MOTE_TRY(file.check_writable());
    LinkMessage link;
    Address parent = 0;
    std::string_view name;
    H5MOTE_TRY(prepare_link(file, group, path, parent, name));
    H5MOTE_TRY(content.plan());
    H5MOTE_TRY(content.check_bounds());
    H5MOTE_TRY(content.use_type());
    Status status = content.make(link.address);
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
        status = insert_link(file, parent, link);
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
    DatasetState* state = nullptr;
    const Status status = create(*file_, address_, path, content, state);
    if (status != Status::ok) {
        context.destroy(MemoryKind::type, conversion);
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
        return file.context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument);
    }
    NewDataset content(file, type.type(), extent_of(space), properties);
    content.set_committed(type.address());
    DatasetState* state = nullptr;
    H5MOTE_TRY(create(file, address_, path, content, state));
    return Dataset(file, state->address(), *state);
}

Result<Dataset> Group::make_copy(std::string_view path, const StoredDataset& dataset) noexcept {
    NewDataset content(*file_, dataset.type, extent_of(dataset.space), dataset.create);
    content.set_copy(dataset);
    content.set_committed(dataset.type_object);
    DatasetState* state = nullptr;
    H5MOTE_TRY(create(*file_, address_, path, content, state));
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
