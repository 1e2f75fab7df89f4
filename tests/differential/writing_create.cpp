#include "writing_run.hpp"

#include <h5mote/named_datatype.hpp>

#include <algorithm>

namespace differential {
namespace {

struct NewDataset {
    Type type;
    Extent extent;
    std::vector<std::uint32_t> chunk;
    unsigned filters = 0;  // a bit each, from the lowest: shuffle, deflate, fletcher32, scaleoffset in place of shuffle
    bool compact = false;
    bool unfiltered_edges = false;
    Blob fill;
    AllocationTime allocation = AllocationTime::automatic;
    FillTime fill_time = FillTime::if_set;
    std::uint32_t reserve = 65536;
    NewAttributes attributes;

    /// `committed`: the datatype to take, or nullptr.
    NewDataset(Random& random, bool everything, const Type* committed);
    std::string text() const;
    /// Bytes of all chunks of the largest extent; unlimited dimensions count with their current size.
    double most_bytes() const;
    DatasetCreate create() const;
    Id list() const;
};

NewDataset::NewDataset(Random& random, bool everything, const Type* committed) : attributes(random, everything) {
    TypeChoice choice;
    choice.depth = random.one_in(2) ? 0 : 3;
    type = committed != nullptr ? *committed : Type(random_type(random, choice));
    const bool log = H5MOTE_PARTIAL_IO == 0 || random.one_in(2);
    const std::uint64_t rank = log ? 1 : random.pick<std::uint64_t>({0, 1, 1, 2, 2, 3, 4});
    extent.space_class = rank == 0 ? DataspaceClass::scalar : DataspaceClass::simple;
    const bool chunked = log || (rank != 0 && !random.one_in(3));
    const bool fixed = !log && random.one_in(2);
    const std::uint64_t unlimited = random.below(rank + 1);
    const bool several = random.one_in(4);  // all dimensions are without limit
    for (std::uint64_t d = 0; d < rank; ++d) {
        const std::uint64_t dim = rank == 1 ? random.small(400) : random.between(d == 0 ? 0 : 1, rank == 2 ? 12 : 5);
        extent.dims.push_back(dim);
        const bool grows = several || d == unlimited || (log && d == 0);
        extent.max_dims.push_back(!chunked || fixed ? dim : grows ? h5mote::kUnlimited : dim + random.below(20));
        if (chunked && fixed && random.one_in(3)) {
            extent.max_dims.back() += random.below(400);
        }
        if (chunked) {
            const std::uint64_t most = extent.max_dims.back() == h5mote::kUnlimited
                                           ? 200
                                           : std::min<std::uint64_t>(extent.max_dims.back(), 200);
            chunk.push_back(static_cast<std::uint32_t>(1 + random.small(std::max<std::uint64_t>(most, 1) - 1)));
        }
    }
    limit_chunk(chunk, type.size());
    compact = !chunked && random.one_in(3);
    if (H5MOTE_FILTERS != 0 && chunked && random.one_in(3)) {
        filters = static_cast<unsigned>(random.between(1, 7));
        if (type.view().type_class() == TypeClass::integer && random.one_in(2)) {
            // Without deflate: raw_sized_chunks() could not tell that it was skipped for a scaled chunk.
            filters = (filters & 4U) | 8U;
        }
    }
    if (random.one_in(3)) {
        fill = random_values(random, type.id(), 1);
    }
    if (random.one_in(2)) {
        allocation = chunked ? random.pick({AllocationTime::early, AllocationTime::late, AllocationTime::incremental})
                             : random.pick({AllocationTime::early, AllocationTime::late});
    }
    // libhdf5 1.10.8 cannot read such chunks itself if they take as many bytes with the filters as without, and crashes
    // when it resizes a dataset whose chunk index was not made yet.
    if (H5MOTE_ALL_FORMATS != 0 && (filters & 4U) != 0 && !several && random.one_in(2)) {
        unfiltered_edges = true;
        allocation = AllocationTime::early;
    }
    if (compact) {
        allocation = AllocationTime::automatic;
    }
    // With early allocation, libhdf5 allocates all chunks up to the maximum dimensions at once (implicit index).
    if (allocation == AllocationTime::early && most_bytes() > (1 << 22)) {
        allocation = AllocationTime::late;
    }
    if (random.one_in(3)) {
        fill_time = random.pick({FillTime::on_allocation, FillTime::never, FillTime::if_set});
    }
    // libhdf5 does not initialize a contiguous dataset for which only the default fill value is set, not even one that
    // h5mote has made and libhdf5 goes on with.
    if (chunk.empty() && fill.empty() && fill_time == FillTime::if_set) {
        fill_time = FillTime::on_allocation;
    }
    reserve = random.pick({0U, 0U, 300U, 65536U});
}

double NewDataset::most_bytes() const {
    double bytes = static_cast<double>(type.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        const std::uint64_t most = extent.max_dims[i] == h5mote::kUnlimited ? extent.dims[i] : extent.max_dims[i];
        bytes *= static_cast<double>((most + chunk[i] - 1) / chunk[i] * chunk[i]);
    }
    return bytes;
}

std::string NewDataset::text() const {
    std::string text = type_text(type.view()) + " " + text_of(extent.dims) + text_of(extent.max_dims) + " chunk " +
                       text_of(Sizes(chunk.begin(), chunk.end()));
    return text + " filters " + std::to_string(filters) + (compact ? " compact" : "") +
           (unfiltered_edges ? " unfiltered edges" : "") + " fill " + std::to_string(fill.size()) + " allocation " +
           std::to_string(static_cast<int>(allocation)) + " fill time " + std::to_string(static_cast<int>(fill_time)) +
           " reserve " + std::to_string(reserve) + attributes.text();
}

DatasetCreate NewDataset::create() const {
    DatasetCreate create;
    create.layout = compact ? Layout::compact : Layout::automatic;
    create.chunk = ChunkDims(Span<const std::uint32_t>(chunk.data(), chunk.size()));
    const bool scaled = (filters & 8U) != 0;
    const FilterSpec specs[] = {scaled ? filters::scaleoffset_integer() : filters::shuffle, filters::deflate,
                                filters::fletcher32};
    const FilterSpec* chosen[3] = {};
    unsigned count = 0;
    for (unsigned i = 0; i < 3; ++i) {
        if ((filters >> i & 1U) != 0 || (i == 0 && scaled)) {
            chosen[count++] = &specs[i];
        }
    }
    create.filters = count == 0   ? FilterList{}
                     : count == 1 ? FilterList{*chosen[0]}
                     : count == 2 ? FilterList{*chosen[0], *chosen[1]}
                                  : FilterList{*chosen[0], *chosen[1], *chosen[2]};
    create.fill = {fill.data(), fill.size()};
    create.allocation = allocation;
    create.fill_time = fill_time;
    create.reserve = reserve;
    attributes.set(create);
#if H5MOTE_ALL_FORMATS
    create.unfiltered_edges = unfiltered_edges;
#endif
    return create;
}

Id NewDataset::list() const {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    if (!chunk.empty()) {
        const std::vector<hsize_t> dims(chunk.begin(), chunk.end());
        DIFFERENTIAL_OK(H5Pset_chunk(list, static_cast<int>(dims.size()), dims.data()));
    }
    attributes.set_list(list);
    if (unfiltered_edges) {
        DIFFERENTIAL_OK(H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    }
    if (compact) {
        DIFFERENTIAL_OK(H5Pset_layout(list, H5D_COMPACT));
    }
    if ((filters & 1U) != 0) {
        DIFFERENTIAL_OK(H5Pset_shuffle(list));
    }
    if ((filters & 8U) != 0) {
        DIFFERENTIAL_OK(H5Pset_scaleoffset(list, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT));
    }
    if ((filters & 2U) != 0) {
        DIFFERENTIAL_OK(H5Pset_deflate(list, 6));
    }
    if ((filters & 4U) != 0) {
        DIFFERENTIAL_OK(H5Pset_fletcher32(list));
    }
    if (!fill.empty()) {
        DIFFERENTIAL_OK(H5Pset_fill_value(list, type.id(), fill.data()));
    }
    const H5D_alloc_time_t times[] = {H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE,
                                      H5D_ALLOC_TIME_INCR};
    DIFFERENTIAL_OK(H5Pset_alloc_time(list, times[static_cast<int>(allocation)]));
    const H5D_fill_time_t fills[] = {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_NEVER, H5D_FILL_TIME_IFSET};
    DIFFERENTIAL_OK(H5Pset_fill_time(list, fills[static_cast<int>(fill_time)]));
    return list;
}

}  // namespace

Result<Dataset> Writing::create(const std::string& path, const Type& type, [[maybe_unused]] std::size_t type_object,
                                const Dataspace& space, const DatasetCreate& create) {
    Group root = session_->file.root();
#if H5MOTE_ALL_FORMATS
    if (type_object != kNoObject) {
        auto opened = root.open_object(model_.path_of(type_object));
        if (!opened) {
            return opened.status();
        }
        auto named = NamedDatatype::from(static_cast<Object&&>(*opened));
        return named ? root.create_dataset(path, *named, space, create) : named.status();
    }
#endif
    return root.create_dataset(path, type.view(), space, create);
}

void Writing::create_dataset(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    found = false;
    const std::size_t committed = everything_ && random.one_in(4) ? any_object(random, is_datatype, found) : kNoObject;
    const std::size_t type_object = found ? committed : kNoObject;
    const NewDataset what(random, everything_, found ? &model_.objects[committed].type : nullptr);
    tell("create_dataset %s %s%s\n", path.c_str(), what.text().c_str(),
         found ? (" of type " + model_.path_of(committed)).c_str() : "");
    const bool exists = model_.objects[parent].links.count(name) != 0;
    auto made = create(path, what.type, type_object, what.extent.dataspace(), what.create());
    if (exists) {
        return expect_exists(made.status(), "create_dataset");
    }
    // Both libraries refuse early allocation of a dataset without elements, and chunks larger than the maximum
    // dimensions.
    if (!done(made.status(), "create_dataset")) {
        return;
    }
    const Id created = DIFFERENTIAL_ID(H5Dcreate2(file_, path.c_str(), found ? other(committed, file_) : what.type.id(),
                                                  what.extent.id(), H5P_DEFAULT, what.list(), H5P_DEFAULT));
    const std::size_t object = model_.objects.size();
    ObjectValue& value = add_object(parent, name, ObjectValue::Kind::dataset);
    value.type = what.type;
    value.type_object = type_object;
    value.attributes_ordered = what.attributes.track_order;
    value.extent = what.extent;
    const std::byte known = what.fill_time == FillTime::never ? std::byte{0} : std::byte{0xff};
    fills_[object] = {what.fill.empty() ? Blob(what.type.size()) : what.fill, known};
    const std::uint64_t count = value.extent.count();
    for (std::uint64_t i = 0; i < count; ++i) {
        value.values.insert(value.values.end(), fills_[object].first.begin(), fills_[object].first.end());
    }
    value.known.assign(value.values.size(), known);
    if (random.one_in(2)) {
        session_->datasets.emplace(object, static_cast<Dataset&&>(*made));
    }
}

}  // namespace differential
