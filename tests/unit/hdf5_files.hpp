// Small files that libhdf5 makes in memory, one for each way in which HDF5 stores chunks, links, attributes and
// messages.
#pragma once

#include "checksum.hpp"
#include "cursor.hpp"
#include "hdf5_image.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace h5mote_test {

struct MadeFile {
    std::string name;
    std::vector<std::byte> image;
    bool may_grow =
        false;  ///< has the dataset "d" of 32-bit integers, which may grow, in a file that h5mote can change
};

/// The bytes that an open file of libhdf5 will have when it is closed: the superblock's mark "open for writing" is
/// cleared.
inline std::vector<std::byte> finished_image(hid_t file) {
    constexpr std::size_t kFlags = 11;
    constexpr std::size_t kChecksum = 44;
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    std::vector<std::byte> image(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
    H5Fget_file_image(file, image.data(), image.size());
    if (image[8] >= std::byte{2}) {
        image[kFlags] = std::byte{0};
        h5mote::store_le(image.data() + kChecksum, h5mote::lookup3({image.data(), kChecksum}));
    }
    return image;
}

/// Makes a file with libhdf5 in memory and hands out its bytes.
class Hdf5Maker {
public:
    enum class Format { oldest, newest };

    explicit Hdf5Maker(Format format) noexcept
        : access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), create_(H5Pcreate(H5P_FILE_CREATE), H5Pclose) {
        H5Pset_fapl_core(access_, 4096, false);
        if (format == Format::newest) {
            H5Pset_libver_bounds(access_, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        }
    }
    Hdf5Maker(const Hdf5Maker&) = delete;
    Hdf5Maker& operator=(const Hdf5Maker&) = delete;
    ~Hdf5Maker() {
        if (file_ >= 0) {
            H5Fclose(file_);
        }
    }

    /// The file creation properties: change them before the first call of file().
    hid_t properties() const noexcept { return create_; }
    hid_t file() noexcept {
        if (file_ < 0) {
            file_ = H5Fcreate("made.h5", H5F_ACC_TRUNC, create_, access_);
        }
        return file_;
    }
    /// Returns the bytes as if the file had been closed.
    std::vector<std::byte> finish() { return finished_image(file()); }

private:
    Hdf5Id access_;
    Hdf5Id create_;
    hid_t file_ = -1;
};

/// A dataset of 32-bit integers whose values count up: element i in row-major order is i.
struct MadeDataset {
    std::vector<hsize_t> dims;
    std::vector<hsize_t> max_dims;
    std::vector<hsize_t> chunk;
    bool filtered = false;
    bool early = false;  ///< allocates all chunks when the dataset is created
    hsize_t first = 0;   ///< (one dimension) the first element that is written
    hsize_t count = 0;   ///< how many elements are written; 0: all
    const char* name = "d";

    void make(hid_t file) const {
        const int rank = static_cast<int>(dims.size());
        const Hdf5Id space(H5Screate_simple(rank, dims.data(), max_dims.data()), H5Sclose);
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (!chunk.empty()) {
            H5Pset_chunk(list, rank, chunk.data());
        }
        if (filtered) {
            H5Pset_shuffle(list);
            H5Pset_fletcher32(list);
        }
        if (early) {
            H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        }
        H5Pset_obj_track_times(list, false);
        const Hdf5Id data(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
        if (count != 0) {
            H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
        }
        const hssize_t elements = H5Sget_select_npoints(space);
        std::vector<std::int32_t> values(static_cast<std::size_t>(elements));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::int32_t>(first + i);
        }
        const hsize_t size = values.size();
        const Hdf5Id memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
        H5Dwrite(data, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data());
    }
};

/// Files with the dataset "d", one for each kind of chunk index in several shapes.
inline std::vector<MadeFile> files_of_chunks() {
    using Format = Hdf5Maker::Format;
    constexpr hsize_t kNoEnd = H5S_UNLIMITED;
    struct Case {
        const char* name;
        Format format;
        MadeDataset data;
    };
    const Case cases[] = {
        {"B-tree 1", Format::oldest, {{18}, {kNoEnd}, {4}}},
        {"B-tree 1, filtered", Format::oldest, {{18}, {kNoEnd}, {4}, true}},
        {"B-tree 1, deep", Format::oldest, {{9, 3}, {kNoEnd, kNoEnd}, {1, 1}, true}},
        {"single chunk", Format::newest, {{8}, {8}, {8}}},
        {"single chunk, filtered", Format::newest, {{8}, {8}, {8}, true}},
        {"implicit", Format::newest, {{18}, {18}, {4}, false, true}},
        {"fixed array", Format::newest, {{18}, {40}, {4}}},
        {"fixed array, filtered", Format::newest, {{18}, {40}, {4}, true}},
        {"fixed array, paged", Format::newest, {{2049}, {2100}, {1}, false, false, 1030, 5}},
        {"fixed array, paged, filtered", Format::newest, {{1040}, {1045}, {1}, true, false, 1030, 5}},
        {"extensible array", Format::newest, {{18}, {kNoEnd}, {4}}},
        {"extensible array, filtered", Format::newest, {{78}, {kNoEnd}, {4}, true}},
        {"extensible array, super blocks", Format::newest, {{310}, {kNoEnd}, {1}, false, false, 300, 6}},
        {"extensible array, paged", Format::newest, {{20010}, {kNoEnd}, {1}, false, false, 20000, 6}},
        {"B-tree 2", Format::newest, {{6, 6}, {kNoEnd, kNoEnd}, {2, 2}}},
        {"B-tree 2, deep, filtered", Format::newest, {{18, 18}, {kNoEnd, kNoEnd}, {2, 2}, true}},
        {"contiguous", Format::oldest, {{18}, {18}, {}}},
    };
    std::vector<MadeFile> files;
    for (const Case& each : cases) {
        Hdf5Maker maker(each.format);
        if (each.format == Format::oldest) {
            H5Pset_istore_k(maker.properties(), 2);
            H5Pset_sizes(maker.properties(), 4, 4);
        }
        each.data.make(maker.file());
        const bool may_grow =
            each.format == Format::newest && each.data.max_dims != each.data.dims && each.data.dims.size() == 1;
        files.push_back({each.name, maker.finish(), may_grow});
    }
    return files;
}

/// Gives an object an attribute of `values` numbers.
inline void make_attribute(hid_t object, const std::string& name, hsize_t values) {
    const Hdf5Id space(H5Screate_simple(1, &values, nullptr), H5Sclose);
    const Hdf5Id attribute(H5Acreate2(object, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const std::vector<std::int32_t> numbers(static_cast<std::size_t>(values), values > 99 ? 0 : 7);
    H5Awrite(attribute, H5T_NATIVE_INT32, numbers.data());
}

/// Makes the dataset `name` of variable-length strings, and an attribute of such strings on it.
inline void make_strings(hid_t file, const char* name, H5D_layout_t layout = H5D_CONTIGUOUS) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, H5T_VARIABLE);
    const hsize_t rows = 3;
    const char* const values[] = {"one", "two and three", ""};
    const Hdf5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_layout(list, layout);
    const Hdf5Id data(H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    const Hdf5Id attribute(H5Acreate2(data, "texts", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    H5Awrite(attribute, type, values);
}

/// A group with `links` links and `attributes` attributes, whose order of creation is indexed.
inline void make_group(hid_t file, const char* name, unsigned links, unsigned attributes) {
    const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_link_phase_change(list, 4, 2);
    H5Pset_attr_phase_change(list, 4, 2);
    const Hdf5Id group(H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
    for (unsigned i = 0; i < links; ++i) {
        H5Lcreate_soft("/nowhere", group, ("link" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
    for (unsigned i = 0; i < attributes; ++i) {
        make_attribute(group, "attribute" + std::to_string(i), 1 + i);
    }
}

/// Files with links, attributes and messages in every storage that HDF5 has for them.
inline std::vector<MadeFile> files_of_objects() {
    using Format = Hdf5Maker::Format;
    std::vector<MadeFile> files;
    const auto add = [&](const char* name, Hdf5Maker& maker) { files.push_back({name, maker.finish()}); };
    {
        Hdf5Maker maker(Format::oldest);
        H5Pset_sym_k(maker.properties(), 1, 1);
        for (const char* name : {"a", "c", "e", "g", "b", "d", "f"}) {
            const Hdf5Id group(H5Gcreate2(maker.file(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        }
        H5Lcreate_soft("/a", maker.file(), "soft", H5P_DEFAULT, H5P_DEFAULT);
        make_attribute(maker.file(), "numbers", 3);
        H5Oset_comment_by_name(maker.file(), "a", "a comment", H5P_DEFAULT);
        make_strings(maker.file(), "s");
        add("symbol tables", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        make_group(maker.file(), "compact", 2, 2);
        make_strings(maker.file(), "s", H5D_COMPACT);
        add("compact", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        make_group(maker.file(), "dense", 9, 7);
        add("dense", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        make_group(maker.file(), "huge", 0, 5);
        const Hdf5Id group(H5Gopen2(maker.file(), "huge", H5P_DEFAULT), H5Gclose);
        make_attribute(group, "huge", 1100);
        add("huge objects of a heap", maker);
    }
    for (const unsigned list : {50U, 0U}) {
        Hdf5Maker maker(Format::newest);
        H5Pset_shared_mesg_nindexes(maker.properties(), 2);
        H5Pset_shared_mesg_index(maker.properties(), 0, H5O_SHMESG_ATTR_FLAG, 10);
        H5Pset_shared_mesg_index(maker.properties(), 1, H5O_SHMESG_ALL_FLAG & ~unsigned{H5O_SHMESG_ATTR_FLAG}, 10);
        H5Pset_shared_mesg_phase_change(maker.properties(), list, 0);
        for (const char* name : {"d", "e"}) {
            MadeDataset data{{18}, {H5S_UNLIMITED}, {4}, true};
            data.name = name;
            data.make(maker.file());
            const Hdf5Id opened(H5Dopen2(maker.file(), name, H5P_DEFAULT), H5Dclose);
            make_attribute(opened, "same", 3);
        }
        make_group(maker.file(), "dense", 0, 6);
        add(list == 0 ? "shared messages in B-trees" : "shared messages in lists", maker);
    }
    {
        Hdf5Maker maker(Format::newest);
        const Hdf5Id type(H5Tcreate(H5T_COMPOUND, 12), H5Tclose);
        const hsize_t three = 2;
        const Hdf5Id array(H5Tarray_create2(H5T_STD_I16LE, 1, &three), H5Tclose);
        H5Tinsert(type, "a", 0, H5T_STD_U32LE);
        H5Tinsert(type, "b", 4, array);
        H5Tinsert(type, "c", 8, H5T_IEEE_F32LE);
        H5Tcommit2(maker.file(), "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Id data(H5Dcreate2(maker.file(), "t", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        const Hdf5Id attribute(H5Acreate2(data, "a", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        const std::byte value[12] = {};
        H5Awrite(attribute, type, value);
        H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
        add("committed datatype", maker);
    }
    return files;
}

}  // namespace h5mote_test
