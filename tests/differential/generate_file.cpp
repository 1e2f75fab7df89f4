#include "generate_file.hpp"

#include "selection.hpp"

#include <algorithm>
#include <cstdarg>
#include <fstream>

#include <unistd.h>

namespace differential {
namespace {

constexpr std::uint64_t kMostBytes = 40000;  // largest size of one dataset

Bounds random_bounds(Random& random) {
    return {random.pick({H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110}), H5F_LIBVER_LATEST};
}

// Random file creation properties. Some of them exclude each other: libhdf5 then refuses to create the file.
Id file_list(Random& random) {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_FILE_CREATE));
    if (random.one_in(4)) {
        DIFFERENTIAL_OK(H5Pset_userblock(list, random.pick<hsize_t>({512, 1024, 4096})));
    }
    if (random.one_in(3)) {
        // Lengths always have 8 bytes: with 4 bytes, libhdf5 1.10 cannot open its own datasets of unlimited dimensions.
        DIFFERENTIAL_OK(H5Pset_sizes(list, random.pick<std::size_t>({4, 8}), 8));
    }
    if (random.one_in(4)) {
        DIFFERENTIAL_OK(H5Pset_sym_k(list, static_cast<unsigned>(random.between(2, 20)),
                                     static_cast<unsigned>(random.between(2, 6))));
        DIFFERENTIAL_OK(H5Pset_istore_k(list, static_cast<unsigned>(random.between(2, 40))));
    }
    if (random.one_in(4)) {
        DIFFERENTIAL_OK(H5Pset_shared_mesg_nindexes(list, 1));
        DIFFERENTIAL_OK(H5Pset_shared_mesg_index(
            list, 0, random.one_in(2) ? H5O_SHMESG_ALL_FLAG : H5O_SHMESG_DTYPE_FLAG | H5O_SHMESG_ATTR_FLAG,
            static_cast<unsigned>(random.pick({1, 20, 60}))));
        DIFFERENTIAL_OK(H5Pset_shared_mesg_phase_change(list, static_cast<unsigned>(random.between(1, 10)), 1));
    }
    if (random.one_in(4)) {
        DIFFERENTIAL_OK(H5Pset_file_space_strategy(list,
                                                   random.pick({H5F_FSPACE_STRATEGY_FSM_AGGR, H5F_FSPACE_STRATEGY_PAGE,
                                                                H5F_FSPACE_STRATEGY_AGGR, H5F_FSPACE_STRATEGY_NONE}),
                                                   random.one_in(2), 1));
        DIFFERENTIAL_OK(H5Pset_file_space_page_size(list, random.pick<hsize_t>({512, 4096})));
    }
    if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    }
    return list;
}

void attribute_properties(Random& random, hid_t list) {
    if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_attr_creation_order(
            list, random.pick<unsigned>({H5P_CRT_ORDER_TRACKED, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED})));
    }
    if (random.one_in(3)) {
        const auto dense = static_cast<unsigned>(random.below(4));
        DIFFERENTIAL_OK(H5Pset_attr_phase_change(list, dense + static_cast<unsigned>(random.below(4)), dense));
    }
    DIFFERENTIAL_OK(H5Pset_obj_track_times(list, random.one_in(2)));
}

Id group_list(Random& random) {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_GROUP_CREATE));
    attribute_properties(random, list);
    if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_link_creation_order(
            list, random.pick<unsigned>({H5P_CRT_ORDER_TRACKED, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED})));
    }
    if (random.one_in(3)) {
        const auto dense = static_cast<unsigned>(random.below(4));
        DIFFERENTIAL_OK(H5Pset_link_phase_change(list, dense + static_cast<unsigned>(random.below(6)), dense));
    }
    if (random.one_in(4)) {
        DIFFERENTIAL_OK(H5Pset_local_heap_size_hint(list, random.pick<std::size_t>({8, 100, 2000})));
    }
    return list;
}

struct Shape {
    std::vector<hsize_t> dims, most, chunk;
};

Shape random_shape(Random& random, std::uint64_t rank, bool chunked) {
    Shape shape;
    // The kind of maximum dimensions: fixed, one dimension unlimited, all unlimited, or limited.
    const std::uint64_t kind = random.below(4);
    const std::uint64_t unlimited = random.below(rank);
    for (std::uint64_t d = 0; d < rank; ++d) {
        const std::uint64_t dim = rank == 1 ? random.small(300) : random.between(d == 0 ? 0 : 1, rank == 2 ? 14 : 5);
        shape.dims.push_back(dim);
        const bool grows = kind == 2 || (kind == 1 && d == unlimited);
        shape.most.push_back(!chunked || kind == 0 ? dim : grows ? H5S_UNLIMITED : dim + random.below(10));
        const std::uint64_t most =
            shape.most.back() == H5S_UNLIMITED ? 60 : std::max<std::uint64_t>(shape.most.back(), 1);
        shape.chunk.push_back(1 + random.small(std::min<std::uint64_t>(most, 60) - 1));
    }
    return shape;
}

bool is_number(hid_t type) { return H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT; }

// Whether a compound type has an array of compounds or arrays. The nbit filter of libhdf5 1.10 packs the members after
// such an array wrongly, and libhdf5 2.0 cannot read the result.
bool is_lost_by_nbit(hid_t type, bool in_compound = false) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_ARRAY) {
        const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
        const H5T_class_t nested = H5Tget_class(base);
        return (in_compound && (nested == H5T_COMPOUND || nested == H5T_ARRAY)) || is_lost_by_nbit(base, in_compound);
    }
    for (unsigned i = 0; kind == H5T_COMPOUND && i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
        if (is_lost_by_nbit(DIFFERENTIAL_ID(H5Tget_member_type(type, i)), true)) {
            return true;
        }
    }
    return false;
}

std::string random_filters(Random& random, hid_t type, hid_t list) {
    std::string text;
    if (random.one_in(5) && !is_lost_by_nbit(type)) {
        DIFFERENTIAL_OK(H5Pset_nbit(list));
        text += " nbit";
    } else if (random.one_in(4) && is_number(type)) {
        const bool integer = H5Tget_class(type) == H5T_INTEGER;
        const int digits = integer ? H5Z_SO_INT_MINBITS_DEFAULT : static_cast<int>(random.below(4));
        DIFFERENTIAL_OK(H5Pset_scaleoffset(list, integer ? H5Z_SO_INT : H5Z_SO_FLOAT_DSCALE, digits));
        text += " scaleoffset";
    } else if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_shuffle(list));
        text += " shuffle";
    }
    // scaleoffset and nbit leave sizes that are no whole number of szip pixels. Then szip (libaec) loses bytes and
    // writes beyond its memory.
    if (text != " scaleoffset" && text != " nbit" && random.one_in(6)) {
        DIFFERENTIAL_OK(H5Pset_szip(list, random.pick<unsigned>({H5_SZIP_NN_OPTION_MASK, H5_SZIP_EC_OPTION_MASK}),
                                    static_cast<unsigned>(2 * random.between(1, 16))));
        text += " szip";
    }
    // No deflate after szip: has_kept_mask() could not tell from a chunk's size that szip had skipped it.
    if (random.one_in(3) && text.find("szip") == std::string::npos) {
        DIFFERENTIAL_OK(H5Pset_deflate(list, static_cast<unsigned>(random.below(10))));
        text += " deflate";
    }
    if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_fletcher32(list));
        text += " fletcher32";
    }
    return text;
}

// Whether a fault of libhdf5 has damaged the dataset. A chunk that szip cannot compress is stored raw, and its filter
// mask says so. But if libhdf5 replaces a chunk by one of the same stored size, it keeps the old mask
// (libhdf5_faults.cpp), so that a raw chunk can be marked as compressed.
bool has_kept_mask(hid_t dataset) {
    for (const Sizes& chunk : raw_sized_chunks(dataset, H5Z_FILTER_SZIP)) {
        unsigned mask = 0;
        const std::vector<hsize_t> at(chunk.begin(), chunk.end());
        DIFFERENTIAL_OK(H5Dget_chunk_info_by_coord(dataset, at.data(), &mask, nullptr, nullptr));
        if (mask == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

FileMaker::FileMaker(Random& random, std::FILE* log) : log_(log), bounds_(random_bounds(random)) {
    for (;;) {
        try {
            file_ = create_image(bounds_, file_list(random));
            return;
        } catch (const Difference&) {
        }
    }
}

void FileMaker::tell(const char* format, ...) const {
    if (log_ != nullptr) {
        std::va_list arguments;
        va_start(arguments, format);
        std::vfprintf(log_, format, arguments);
        va_end(arguments);
        std::fflush(log_);
    }
}

std::string FileMaker::new_path(Random& random) const {
    std::string path = any(random, groups_);
    path += path.back() == '/' ? "" : "/";
    path += random.pick<const char*>({"n", "a longer name ", "\xc3\xa9", "z"}) + std::to_string(random.below(200));
    if (random.one_in(20)) {
        path.append(random.below(300), '-');
    }
    return path;
}

void FileMaker::create_group(Random& random) {
    // Sometimes create many groups at once, so that the B-tree of dense link storage gets deeper.
    const std::uint64_t count = random.one_in(4) ? random.below(60) : 1;
    for (std::uint64_t i = 0; i <= count; ++i) {
        const std::string path = new_path(random);
        const Id list = group_list(random);
        const hid_t group = H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, list, H5P_DEFAULT);
        if (group >= 0) {
            H5Gclose(group);
            tell("group %s\n", path.c_str());
            groups_.push_back(path);
        }
    }
}

void FileMaker::create_dataset(Random& random) {
    const std::string path = new_path(random);
    TypeChoice choice;
    choice.depth = random.one_in(2) ? 0 : 3;
    choice.variable = random.one_in(2);
    const Id type = random_type(random, choice);
    const std::uint64_t rank = random.pick<std::uint64_t>({0, 1, 1, 1, 2, 2, 3, 4});
    const bool chunked = rank != 0 && !random.one_in(3);
    Shape shape = rank == 0 ? Shape{} : random_shape(random, rank, chunked);
    limit_chunk(shape.chunk, H5Tget_size(type));
    const Id space =
        rank == 0 ? DIFFERENTIAL_ID(H5Screate(random.one_in(6) ? H5S_NULL : H5S_SCALAR))
                  : DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(rank), shape.dims.data(), shape.most.data()));
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    attribute_properties(random, list);
    std::string text;
    if (chunked) {
        DIFFERENTIAL_OK(H5Pset_chunk(list, static_cast<int>(rank), shape.chunk.data()));
        text = random.one_in(2) ? "" : random_filters(random, type, list);
        if (random.one_in(4)) {
            (void)H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        }
    } else if (random.one_in(3)) {
        DIFFERENTIAL_OK(H5Pset_layout(list, H5D_COMPACT));
        text = " compact";
    }
    if (text.empty() && !chunked && rank != 0 && random.one_in(4) && !is_variable(type)) {
        set_external(random, list, volume(Sizes(shape.dims.begin(), shape.dims.end())) * H5Tget_size(type));
        text = " external";
    }
    if (random.one_in(3) && !is_variable(type)) {
        const Blob fill = random_values(random, type, 1);
        DIFFERENTIAL_OK(H5Pset_fill_value(list, type, fill.data()));
        text += " filled";
    }
    if (text.find("compact") == std::string::npos && text.find("external") == std::string::npos && random.one_in(3)) {
        DIFFERENTIAL_OK(
            H5Pset_alloc_time(list, random.pick({H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR})));
    }
    // Fill contiguous datasets on allocation. Otherwise elements that were never written have whatever bytes the file
    // held there, possibly NaNs, whose conversion to integers is undefined.
    const bool stale =
        !chunked && text.find("compact") == std::string::npos && text.find("external") == std::string::npos;
    if (random.one_in(4) || stale) {
        DIFFERENTIAL_OK(H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC));
    }
    const hid_t dataset = H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (dataset < 0) {
        return;
    }
    H5Dclose(dataset);
    tell("dataset %s %s %s%s chunk %s%s\n", path.c_str(), type_text(Type(type).view()).c_str(),
         text_of(Sizes(shape.dims.begin(), shape.dims.end())).c_str(),
         text_of(Sizes(shape.most.begin(), shape.most.end())).c_str(),
         chunked ? text_of(Sizes(shape.chunk.begin(), shape.chunk.end())).c_str() : "none", text.c_str());
    datasets_.push_back(path);
    if (!random.one_in(3)) {
        write(random, path);
    }
}

void FileMaker::set_external(Random& random, hid_t list, std::uint64_t bytes) {
    for (const bool last : {false, true}) {
        const std::string name =
            "differential." + std::to_string(::getpid()) + ".external" + std::to_string(++external_files_);
        const std::uint64_t here = last ? std::max<std::uint64_t>(bytes, 1) : 1 + random.below(bytes + 1);
        std::ofstream(name, std::ios::binary) << std::string(random.below(40), 'x');
        DIFFERENTIAL_OK(H5Pset_external(list, name.c_str(), static_cast<off_t>(random.below(20)), here));
    }
}

void FileMaker::create_virtual(Random& random) {
    const std::string path = new_path(random);
    const std::string first = any(random, datasets_);
    const Id type = DIFFERENTIAL_ID(H5Dget_type(DIFFERENTIAL_ID(H5Dopen2(file_, first.c_str(), H5P_DEFAULT))));
    if (is_variable(type)) {
        return;
    }
    // Use datasets of the same type as sources. Elements beyond those of the sources are mapped to none.
    std::vector<std::pair<std::string, Id>> sources;
    hsize_t total = random.below(3);
    for (const std::string& each : datasets_) {
        const Id dataset = DIFFERENTIAL_ID(H5Dopen2(file_, each.c_str(), H5P_DEFAULT));
        const Id other = DIFFERENTIAL_ID(H5Dget_type(dataset));
        Id space = DIFFERENTIAL_ID(H5Dget_space(dataset));
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        if (H5Tequal(type, other) > 0 && H5Sget_simple_extent_ndims(space) > 0 && count > 0 && sources.size() < 4) {
            total += static_cast<hsize_t>(count) + random.below(3);
            sources.emplace_back(each, std::move(space));
        }
    }
    if (sources.empty()) {
        return;
    }
    const Id space = DIFFERENTIAL_ID(H5Screate_simple(1, &total, nullptr));
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    hsize_t at = 0;
    for (const auto& [name, source] : sources) {
        const hsize_t count = static_cast<hsize_t>(H5Sget_simple_extent_npoints(source));
        DIFFERENTIAL_OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &count, nullptr));
        DIFFERENTIAL_OK(H5Pset_virtual(list, space, ".", name.c_str(), source));
        at += count;
    }
    DIFFERENTIAL_OK(H5Sselect_all(space));
    const hid_t made = H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (made >= 0) {
        H5Dclose(made);
        tell("virtual %s of %zu sources, %llu elements\n", path.c_str(), sources.size(),
             static_cast<unsigned long long>(total));
    }
}

void FileMaker::write(Random& random, const std::string& path) {
    const Id dataset = DIFFERENTIAL_ID(H5Dopen2(file_, path.c_str(), H5P_DEFAULT));
    const Id space = DIFFERENTIAL_ID(H5Dget_space(dataset));
    if (H5Sget_simple_extent_type(space) == H5S_NULL) {
        return;
    }
    hsize_t extent[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, extent, nullptr);
    const Sizes dims(extent, extent + rank);
    const Pick pick = random.one_in(2) ? Pick() : Pick::random(random, dims, false);
    const Sizes elements = pick.elements(dims);
    if (elements.empty()) {
        return;
    }
    const Id type = DIFFERENTIAL_ID(H5Dget_type(dataset));
    const Id memory =
        is_variable(type) ? DIFFERENTIAL_ID(H5Tget_native_type(type, H5T_DIR_ASCEND)) : DIFFERENTIAL_ID(H5Tcopy(type));
    Blob values = random_values(random, memory, elements.size());
    tell("write %s %s\n", path.c_str(), pick.text().c_str());
    const hsize_t count = elements.size();
    const Id line = DIFFERENTIAL_ID(H5Screate_simple(1, &count, nullptr));
    // Ignore errors: libhdf5 refuses values that a filter cannot process.
    (void)H5Dwrite(dataset, memory, line, select_elements(dims, elements), H5P_DEFAULT, values.data());
    release_values(memory, elements.size(), values);
}

void FileMaker::set_extent(Random& random) {
    if (datasets_.empty()) {
        return;
    }
    const std::string path = any(random, datasets_);
    const Id dataset = DIFFERENTIAL_ID(H5Dopen2(file_, path.c_str(), H5P_DEFAULT));
    const Id space = DIFFERENTIAL_ID(H5Dget_space(dataset));
    hsize_t dims[H5S_MAX_RANK];
    hsize_t most[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, dims, most);
    const Id type = DIFFERENTIAL_ID(H5Dget_type(dataset));
    const Id list = DIFFERENTIAL_ID(H5Dget_create_plist(dataset));
    hsize_t chunk[H5S_MAX_RANK];
    bool single = H5Pget_chunk(list, H5S_MAX_RANK, chunk) == rank;
    for (int d = 0; single && d < rank; ++d) {
        single = most[d] <= chunk[d];
    }
    // Step around faults of libhdf5 1.10: it frees the chunk of a single-chunk index when the dataset loses its last
    // element, but still points to it; and after a change of extent it reports two sizes for external data.
    if (single || H5Pget_external_count(list) > 0) {
        return;
    }
    std::uint64_t bytes = H5Tget_size(type);
    for (int d = 0; d < rank; ++d) {
        const bool smaller = random.one_in(2);
        dims[d] = smaller ? random.below(dims[d] + 1)
                          : dims[d] + std::min<std::uint64_t>(random.small(rank == 1 ? 200 : 8), most[d] - dims[d]);
        bytes *= dims[d];
    }
    if (rank > 0 && bytes <= kMostBytes && H5Dset_extent(dataset, dims) >= 0) {
        tell("set_extent %s %s\n", path.c_str(), text_of(Sizes(dims, dims + rank)).c_str());
    }
}

void FileMaker::attribute(Random& random) {
    const std::string path = any(random, !datasets_.empty() && random.one_in(2) ? datasets_ : groups_);
    const Id object = DIFFERENTIAL_ID(H5Oopen(file_, path.c_str(), H5P_DEFAULT));
    const std::uint64_t count = random.one_in(4) ? random.below(30) : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        TypeChoice choice;
        choice.variable = random.one_in(2);
        const Id type = random_type(random, choice);
        hsize_t dims[2] = {random.between(1, 4), random.between(1, 3)};
        const int rank = static_cast<int>(random.below(3));
        const Id space = rank == 0 ? DIFFERENTIAL_ID(H5Screate(random.one_in(4) ? H5S_NULL : H5S_SCALAR))
                                   : DIFFERENTIAL_ID(H5Screate_simple(rank, dims, nullptr));
        const std::string name = "attribute " + std::to_string(random.below(60));
        const hid_t made = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (made < 0) {
            continue;
        }
        const Id attribute(made, "H5Acreate2");
        const hssize_t elements = H5Sget_simple_extent_npoints(space);
        if (elements > 0) {
            Blob values = random_values(random, type, static_cast<std::size_t>(elements));
            DIFFERENTIAL_OK(H5Awrite(attribute, type, values.data()));
            release_values(type, static_cast<std::size_t>(elements), values);
        }
        tell("attribute %s@%s %s\n", path.c_str(), name.c_str(), type_text(Type(type).view()).c_str());
    }
}

void FileMaker::remove_attribute(Random& random) {
    const std::string path = any(random, !datasets_.empty() && random.one_in(2) ? datasets_ : groups_);
    const Id object = DIFFERENTIAL_ID(H5Oopen(file_, path.c_str(), H5P_DEFAULT));
    for (std::uint64_t i = random.below(20); i-- > 0;) {
        const std::string name = "attribute " + std::to_string(random.below(60));
        if (H5Adelete(object, name.c_str()) >= 0) {
            tell("remove_attribute %s@%s\n", path.c_str(), name.c_str());
        }
    }
}

void FileMaker::link(Random& random, bool soft) {
    const std::string path = new_path(random);
    const std::string target = any(random, !datasets_.empty() && random.one_in(2) ? datasets_ : groups_);
    const herr_t made = soft ? H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                             : H5Lcreate_hard(file_, target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0) {
        tell("%s link %s to %s\n", soft ? "soft" : "hard", path.c_str(), target.c_str());
    }
}

void FileMaker::unlink(Random& random) {
    const std::string path = any(random, !datasets_.empty() && random.one_in(2) ? datasets_ : groups_);
    if (path == "/" || H5Ldelete(file_, path.c_str(), H5P_DEFAULT) < 0) {
        return;
    }
    tell("unlink %s\n", path.c_str());
    // Forget all paths that no longer lead to an object, including those through other links.
    for (std::vector<std::string>* const paths : {&groups_, &datasets_}) {
        paths->erase(std::remove_if(paths->begin(), paths->end(),
                                    [&](const std::string& each) {
                                        const hid_t object = H5Oopen(file_, each.c_str(), H5P_DEFAULT);
                                        return object < 0 || H5Oclose(object) < 0;
                                    }),
                     paths->end());
    }
}

void FileMaker::run(const Step& step) {
    Random random(step.seed);
    switch (step.kind) {
        case StepKind::create_group:
            return create_group(random);
        case StepKind::create_dataset:
            return !datasets_.empty() && random.one_in(8) ? create_virtual(random) : create_dataset(random);
        case StepKind::append:
        case StepKind::write:
            return datasets_.empty() ? void() : write(random, any(random, datasets_));
        case StepKind::set_extent:
            return set_extent(random);
        case StepKind::attribute:
            return attribute(random);
        case StepKind::remove_attribute:
            return remove_attribute(random);
        case StepKind::soft_link:
        case StepKind::hard_link:
            return link(random, step.kind == StepKind::soft_link);
        case StepKind::unlink:
            return unlink(random);
        case StepKind::reopen: {
            const Blob image = close_image(file_);
            bounds_ = random_bounds(random);
            tell("reopen\n");
            file_ = open_image(image, bounds_);
            return;
        }
        default:
            return;
    }
}

Blob FileMaker::finish() {
    for (const std::string& each : datasets_) {
        if (has_kept_mask(DIFFERENTIAL_ID(H5Dopen2(file_, each.c_str(), H5P_DEFAULT)))) {
            differ("a chunk may have the filter mask of another");
        }
    }
    return close_image(file_);
}

}  // namespace differential
