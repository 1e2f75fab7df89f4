// Shows, without h5mote, faults of libhdf5 1.10 that the random comparison has to step around. Prints which of them
// this libhdf5 has: the code that steps around a fault can go once no libhdf5 has it. Always returns 0, because the
// faults are not h5mote's.
#include "libhdf5.hpp"

#include <cstring>
#include <iostream>

namespace {

using namespace differential;

Id chunked(hsize_t chunk) {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    DIFFERENTIAL_OK(H5Pset_chunk(list, 1, &chunk));
    return list;
}

Id line(hsize_t now) {
    const hsize_t most = H5S_UNLIMITED;
    return DIFFERENTIAL_ID(H5Screate_simple(1, &now, &most));
}

// If space is allocated late and the first write covers the whole extent, libhdf5 does not put the fill value into the
// part of the last chunk beyond the extent. When the dataset grows, those elements read 0.
bool forgets_fill_value() {
    Id file = create_image({});
    const Id list = chunked(21);
    const signed char fill = 0x4f;
    DIFFERENTIAL_OK(H5Pset_fill_value(list, H5T_NATIVE_SCHAR, &fill));
    DIFFERENTIAL_OK(H5Pset_alloc_time(list, H5D_ALLOC_TIME_LATE));
    const Id dataset =
        DIFFERENTIAL_ID(H5Dcreate2(file, "a", H5T_NATIVE_SCHAR, line(37), H5P_DEFAULT, list, H5P_DEFAULT));
    signed char values[39] = {1, 2, 3};
    DIFFERENTIAL_OK(H5Dwrite(dataset, H5T_NATIVE_SCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    const hsize_t grown = 39;
    DIFFERENTIAL_OK(H5Dset_extent(dataset, &grown));
    DIFFERENTIAL_OK(H5Dread(dataset, H5T_NATIVE_SCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    (void)close_image(file);
    return values[38] != fill;
}

// A chunk that skipped its filter, such as one that deflate cannot make smaller, has a filter mask that says so. If
// libhdf5 replaces it by a compressed chunk whose stored size happens to be that of the raw one, it keeps the mask, so
// that the compressed bytes are read as values.
bool keeps_filter_mask() {
    constexpr std::size_t kSize = 16;
    Random random(1);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        unsigned char raw[kSize];
        unsigned char packed[kSize];
        const std::uint64_t different = random.between(2, 8);
        for (std::size_t i = 0; i < kSize; ++i) {
            raw[i] = static_cast<unsigned char>(random.next());
            packed[i] = static_cast<unsigned char>(i < different ? random.next() : 0);
        }
        Id file = create_image({});
        const Id list = chunked(kSize);
        DIFFERENTIAL_OK(H5Pset_deflate(list, 6));
        Id dataset =
            DIFFERENTIAL_ID(H5Dcreate2(file, "a", H5T_NATIVE_UCHAR, line(kSize), H5P_DEFAULT, list, H5P_DEFAULT));
        const hsize_t offset = 0;
        DIFFERENTIAL_OK(H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, &offset, kSize, raw));
        const auto reopen = [&] {
            dataset = Id();
            dataset = DIFFERENTIAL_ID(H5Dopen2(file, "a", H5P_DEFAULT));
        };
        reopen();
        DIFFERENTIAL_OK(H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed));
        reopen();
        unsigned char seen[kSize] = {};
        const herr_t status = H5Dread(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen);
        dataset = Id();
        (void)close_image(file);
        if (status < 0 || std::memcmp(seen, packed, kSize) != 0) {
            return true;
        }
    }
    return false;
}

// A write to all elements of a chunk that has only one of two members loses the other member if the memory type is as
// large as the file's type.
bool loses_members() {
    struct Both {
        std::int32_t a, b;
    };
    Id file = create_image({});
    const Id type = DIFFERENTIAL_ID(H5Tcreate(H5T_COMPOUND, sizeof(Both)));
    DIFFERENTIAL_OK(H5Tinsert(type, "a", 0, H5T_NATIVE_INT32));
    DIFFERENTIAL_OK(H5Tinsert(type, "b", 4, H5T_NATIVE_INT32));
    const Id only = DIFFERENTIAL_ID(H5Tcreate(H5T_COMPOUND, 8));
    DIFFERENTIAL_OK(H5Tinsert(only, "a", 0, H5T_NATIVE_INT64));
    Both values[4] = {{1, 5}, {2, 6}, {3, 7}, {4, 8}};
    const std::int64_t others[4] = {9, 9, 9, 9};
    Id dataset = DIFFERENTIAL_ID(H5Dcreate2(file, "a", type, line(4), H5P_DEFAULT, chunked(4), H5P_DEFAULT));
    DIFFERENTIAL_OK(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    dataset = Id();
    dataset = DIFFERENTIAL_ID(H5Dopen2(file, "a", H5P_DEFAULT));
    DIFFERENTIAL_OK(H5Dwrite(dataset, only, H5S_ALL, H5S_ALL, H5P_DEFAULT, others));
    DIFFERENTIAL_OK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    (void)close_image(file);
    return values[3].a == 9 && values[3].b != 8;
}

// H5Fget_file_image() clears the status flags of a version 3 superblock but does not update its checksum.
bool spoils_image() {
    Id file = create_image({H5F_LIBVER_V110, H5F_LIBVER_LATEST});
    DIFFERENTIAL_OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    Blob image(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    (void)H5Fget_file_image(file, image.data(), image.size());
    (void)close_image(file);
    try {
        const Id again = read_image(image);
    } catch (const Difference&) {
        return true;
    }
    return false;
}

// H5Ocopy into a file whose addresses have another size makes a dataset that cannot be opened.
bool spoils_copies() {
    const Id sizes = DIFFERENTIAL_ID(H5Pcreate(H5P_FILE_CREATE));
    DIFFERENTIAL_OK(H5Pset_sizes(sizes, 4, 4));
    Id from = create_image({}, sizes);
    Id to = create_image({});
    DIFFERENTIAL_ID(H5Dcreate2(from, "a", H5T_NATIVE_INT16, line(24), H5P_DEFAULT, chunked(10), H5P_DEFAULT));
    DIFFERENTIAL_OK(H5Ocopy(from, "a", to, "b", H5P_DEFAULT, H5P_DEFAULT));
    (void)close_image(from);
    Id again = open_image(close_image(to), {});
    const bool spoilt = H5Oexists_by_name(again, "b", H5P_DEFAULT) <= 0 || H5Dopen2(again, "b", H5P_DEFAULT) < 0;
    (void)close_image(again);
    return spoilt;
}

// H5Ocopy of a committed datatype of eight bytes in the oldest format makes an object header that is damaged when it
// gets an attribute for which it has no room.
bool spoils_copied_types() {
    Id file = create_image({});
    const Id type = DIFFERENTIAL_ID(H5Tcopy(H5T_C_S1));
    DIFFERENTIAL_OK(H5Tset_size(type, 11));
    DIFFERENTIAL_OK(H5Tcommit2(file, "a", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    DIFFERENTIAL_OK(H5Ocopy(file, "a", file, "b", H5P_DEFAULT, H5P_DEFAULT));
    {
        const Id behind = DIFFERENTIAL_ID(H5Gcreate2(file, "c", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const Id copy = DIFFERENTIAL_ID(H5Oopen(file, "b", H5P_DEFAULT));
        const Id space = DIFFERENTIAL_ID(H5Screate(H5S_SCALAR));
        DIFFERENTIAL_ID(H5Acreate2(copy, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    }
    Id again = open_image(close_image(file), {});
    const bool spoilt = H5Aexists_by_name(again, "b", "d", H5P_DEFAULT) <= 0;
    (void)close_image(again);
    return spoilt;
}

void tell(const char* what, bool has) { std::cout << (has ? "has: " : "has not: ") << what << std::endl; }

}  // namespace

int main() {
    prepare_libhdf5();
    tell("a first write that covers everything forgets the fill value behind the extent", forgets_fill_value());
    tell("a chunk of the same size keeps the filter mask of the one before", keeps_filter_mask());
    tell("a memory type of fewer members, but of the same size, clears the others", loses_members());
    tell("H5Fget_file_image leaves a wrong checksum", spoils_image());
    tell("H5Ocopy into a file with other sizes makes a damaged dataset", spoils_copies());
    tell("H5Ocopy of a short committed datatype in the oldest format makes a header that an attribute damages",
         spoils_copied_types());
    return 0;
}
