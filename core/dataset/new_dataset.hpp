// A dataset that is being created: what its header will say, and the structures that the header points to.
#pragma once

#include "checked.hpp"
#include "chunk_table.hpp"
#include "committed_type.hpp"
#include "dataset_state.hpp"
#include "extent.hpp"
#include "external_changes.hpp"
#include "header.hpp"
#include "stored_dataset.hpp"
#include "virtual_changes.hpp"

#include <type_traits>

namespace h5mote {

/// A fill value with parts of variable length.
class OwnFillValue {
public:
    /// The datatype of `create.fill`, if that may have values of variable length, in the form of memory. Without it
    /// they are as the dataset's own type says.
    void set_fill_type(DatatypeView type) noexcept { fill_type_ = type; }

protected:
    DatatypeView fill_type() const noexcept { return fill_type_; }
    Bytes memory_type() const noexcept { return memory_type_; }
    void set_memory_type(Bytes bytes) noexcept { memory_type_ = bytes; }
    Bytes own_fill() const noexcept { return own_fill_; }
    void set_own_fill(Bytes bytes) noexcept { own_fill_ = bytes; }

private:
    DatatypeView fill_type_;
    Bytes memory_type_;  // of which fill_type_ is a view if the dataset has a committed datatype
    Bytes own_fill_;     // the fill value with objects of its own, and those that compact data are made of behind it
};

/// Takes its place in builds that write no values of variable length.
class NoOwnFillValue {
public:
    static void set_fill_type(DatatypeView /*type*/) noexcept {}

protected:
    static constexpr DatatypeView fill_type() noexcept { return {}; }
    static constexpr Bytes memory_type() noexcept { return {}; }
    static void set_memory_type(Bytes /*bytes*/) noexcept {}
    static constexpr Bytes own_fill() noexcept { return {}; }
    static void set_own_fill(Bytes /*bytes*/) noexcept {}
};

using OwnFillOrNone = std::conditional_t<H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0, OwnFillValue, NoOwnFillValue>;

/// Everything that the header of a new dataset says, gathered and checked before anything is allocated.
class NewDataset final : public HeaderContent, public OwnFillOrNone {
public:
    NewDataset(FileState& file, DatatypeView type, const Extent& space, const DatasetCreate& create) noexcept
        : file_(file), type_(type), space_(space), create_(create) {
        track_times = create.track_times;
        attributes = create.attributes;
        if (H5MOTE_ALL_FORMATS != 0 && file.low() != FormatVersion::standard && file.low() < FormatVersion::v110) {
            layout_.version = 3;
        }
    }
    NewDataset(const NewDataset&) = delete;
    NewDataset& operator=(const NewDataset&) = delete;
    ~NewDataset() {
        if constexpr (H5MOTE_FILTERS != 0 && H5MOTE_ALL_FORMATS != 0) {
            file_.context.release(MemoryKind::other, client_data_.data(), client_data_.size());
        }
        file_.context.release(MemoryKind::other, filters_, filters_size());
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            file_.context.release(MemoryKind::type, memory_type().data(), memory_type().size());
            file_.context.release(MemoryKind::value, own_fill().data(), own_fill().size());
        }
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
    /// Stores what the fill value has of variable length. out_of_memory, no_space, io_error; errors of conversion.
    Status make_fill() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            return has_own_fill() ? store_fill() : Status::ok;
        } else {
            return Status::ok;
        }
    }
    /// Undoes make_fill().
    void discard_fill() noexcept {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            if (!own_fill().empty()) {
                drop_fill();
            }
        }
    }
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
    // Whether the fill value needs make_fill().
    bool has_own_fill() const noexcept { return copy_ == nullptr && !create_.fill.empty() && has_variable_length(); }
    // The fill value in the form of the file.
    ConstBytes fill() const noexcept {
        return H5MOTE_ALL_FORMATS != 0 && !own_fill().empty() ? ConstBytes(own_fill()).first(type_.size())
                                                              : create_.fill;
    }
    std::size_t filters_size() const noexcept { return create_.filters.size() * sizeof(FilterEntry); }
    Status invalid(SourcePlace place, std::uint64_t value = 0) noexcept {
        return file_.context.fail(Module::dataset, place, Status::invalid_argument, 0, value);
    }
    Status make_header(Address& address) noexcept;
    H5MOTE_STEP Status plan_fill() noexcept;
    H5MOTE_STEP Status store_fill() noexcept;
    void drop_fill() noexcept;
    Status plan_chunks() noexcept;
    Status plan_filters() noexcept;
    ChunkIndex fixed_index() const noexcept;
    bool needs_no_index() const noexcept;
    Status plan_whole() noexcept;
    Status plan_external() noexcept;
    Status plan_virtual() noexcept;
    const VirtualChangesFormat& virtual_data() const noexcept { return *file_.context.formats().virtual_changes; }
    const ExternalChangesFormat& external_files() const noexcept { return *file_.context.formats().external_changes; }
    // The lists as a Span also where builds have none.
    template <typename T>
    static Span<const T> list_of(const Span<const T>& list) noexcept {
        return list;
    }
    template <typename T>
    static Span<const T> list_of(const NoList& /*list*/) noexcept {
        return {};
    }
    Span<const NewExternalFile> external_list() const noexcept { return list_of<NewExternalFile>(create_.external); }
    Span<const NewMapping> mapping_list() const noexcept { return list_of<NewMapping>(create_.mappings); }
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

}  // namespace h5mote
