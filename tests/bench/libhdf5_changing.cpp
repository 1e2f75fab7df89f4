// The workloads of change_workloads.hpp with libhdf5, through its C API as its documentation shows it; and the files
// that both libraries change and copy.
#include "change_workloads.hpp"
#include "libhdf5_check.hpp"

#include <hdf5.h>

#include <random>

namespace bench {
namespace {

hid_t make_group(hid_t parent, const std::string& name) {
    return check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group");
}

hid_t make_string_type() {
    const hid_t type = check(H5Tcopy(H5T_C_S1), "type");
    check(H5Tset_size(type, H5T_VARIABLE), "size");
    return type;
}

hid_t make_access() {
    const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "properties");
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), "version bounds");
    return access;
}

void make_attribute(hid_t object, const std::string& name, hid_t space, std::int32_t value) {
    const hid_t attribute =
        check(H5Acreate2(object, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), "attribute");
    check(H5Awrite(attribute, H5T_NATIVE_INT32, &value), "attribute");
    check(H5Aclose(attribute), "attribute");
}

// A dataset of ten int32 with one attribute.
void make_small(hid_t group, const std::string& name, std::int32_t number) {
    const hsize_t ten = 10;
    const hid_t space = check(H5Screate_simple(1, &ten, nullptr), "space");
    const hid_t scalar = check(H5Screate(H5S_SCALAR), "space");
    std::int32_t values[10];
    for (int i = 0; i < 10; ++i) {
        values[i] = number * 10 + i;
    }
    const hid_t dataset =
        check(H5Dcreate2(group, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "dataset");
    check(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write");
    make_attribute(dataset, "number", scalar, number);
    H5Dclose(dataset);
    H5Sclose(scalar);
    H5Sclose(space);
}

// A dataset of double that deflate makes hardly smaller.
void make_large(hid_t file, const char* name, hsize_t rows, bool chunked, bool deflated) {
    const hsize_t dims[2] = {rows, 1024};
    const hsize_t chunk[2] = {64, 64};
    std::vector<double> values(static_cast<std::size_t>(dims[0] * dims[1]));
    std::mt19937 random(1);
    for (double& value : values) {
        value = static_cast<double>(random()) / 8;
    }
    const hid_t create = check(H5Pcreate(H5P_DATASET_CREATE), "properties");
    if (chunked) {
        check(H5Pset_chunk(create, 2, chunk), "chunk");
    }
    if (deflated) {
        check(H5Pset_deflate(create, 1), "deflate");
    }
    const hid_t space = check(H5Screate_simple(2, dims, nullptr), "space");
    const hid_t dataset =
        check(H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT), "create dataset");
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(create);
}

std::uint64_t fingerprint_of_dataset(hid_t group, const char* path) {
    const hid_t dataset = check(H5Dopen2(group, path, H5P_DEFAULT), "open dataset");
    const hid_t space = check(H5Dget_space(dataset), "space");
    const hid_t type = check(H5Dget_type(dataset), "type");
    const std::size_t size = H5Tget_size(type);
    std::vector<std::byte> elements(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * size);
    check(H5Dread(dataset, size == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  elements.data()),
          "read");
    std::int32_t number = 0;
    if (check(H5Aexists(dataset, "number"), "attribute") > 0) {
        const hid_t attribute = check(H5Aopen(dataset, "number", H5P_DEFAULT), "attribute");
        check(H5Aread(attribute, H5T_NATIVE_INT32, &number), "read attribute");
        H5Aclose(attribute);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    return fingerprint_of(path, elements, number);
}

// Adds the fingerprint of a dataset. No exception may pass through libhdf5.
herr_t visit(hid_t group, const char* path, const H5O_info_t* info, void* sum) {
    try {
        if (info->type == H5O_TYPE_DATASET) {
            *static_cast<std::uint64_t*>(sum) += fingerprint_of_dataset(group, path);
        }
        return 0;
    } catch (const std::runtime_error&) {
        return -1;
    }
}

// Copies one member of the root group.
herr_t copy_member(hid_t group, const char* name, const H5L_info_t*, void* data) {
    const hid_t to = *static_cast<hid_t*>(data);
    return H5Ocopy(group, name, to, name, H5P_DEFAULT, H5P_DEFAULT);
}

class Libhdf5Changing final : public Changing {
public:
    Libhdf5Changing() : access_(make_access()), string_type_(make_string_type()) {}
    ~Libhdf5Changing() override {
        H5Tclose(string_type_);
        H5Pclose(access_);
    }
    const char* name() const override { return "libhdf5"; }

    void open(const std::string& path, Mode mode) override {
        file_ = mode == Mode::create
                    ? create(path)
                    : check(H5Fopen(path.c_str(), mode == Mode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access_), "open");
    }
    void close() override { check(H5Fclose(file_), "close"); }

    void create_datasets() override {
        const hid_t group = make_group(file_, "created");
        const hsize_t size = kCreatedSize;
        const hid_t space = check(H5Screate_simple(1, &size, nullptr), "space");
        for (std::size_t i = 0; i < kCreated; ++i) {
            const hid_t dataset = check(H5Dcreate2(group, numbered("dataset", i).c_str(), H5T_STD_I32LE, space,
                                                   H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                        "create dataset");
            const std::vector<std::int32_t> values(kCreatedSize, static_cast<std::int32_t>(i));
            check(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
            H5Dclose(dataset);
        }
        H5Sclose(space);
        H5Gclose(group);
    }

    void insert_links() override {
        const hid_t target = make_group(file_, "target");
        const hid_t links = make_group(file_, "links");
        for (std::size_t i = 0; i < kManyLinks; ++i) {
            check(H5Lcreate_hard(target, ".", links, numbered("link", i).c_str(), H5P_DEFAULT, H5P_DEFAULT), "link");
        }
        H5Gclose(links);
        H5Gclose(target);
    }

    std::size_t look_up_links() override {
        H5L_info_t target;
        check(H5Lget_info(file_, "target", &target, H5P_DEFAULT), "find link");
        const hid_t links = check(H5Gopen2(file_, "links", H5P_DEFAULT), "open group");
        std::size_t found = 0;
        for (std::size_t i = 0; i < kManyLinks; ++i) {
            H5L_info_t info;
            check(H5Lget_info(links, numbered("link", i * 7919 % kManyLinks).c_str(), &info, H5P_DEFAULT), "find link");
            found += info.u.address == target.u.address ? 1U : 0U;
        }
        H5Gclose(links);
        return found;
    }

    void insert_attributes() override {
        const hid_t group = make_group(file_, "attributes");
        const hid_t scalar = check(H5Screate(H5S_SCALAR), "space");
        for (std::size_t i = 0; i < kManyAttributes; ++i) {
            make_attribute(group, numbered("attribute", i), scalar, static_cast<std::int32_t>(i));
        }
        H5Sclose(scalar);
        H5Gclose(group);
    }

    std::size_t look_up_attributes() override {
        const hid_t group = check(H5Gopen2(file_, "attributes", H5P_DEFAULT), "open group");
        std::size_t right = 0;
        for (std::size_t i = 0; i < kManyAttributes; ++i) {
            const std::size_t number = i * 7919 % kManyAttributes;
            const hid_t attribute =
                check(H5Aopen(group, numbered("attribute", number).c_str(), H5P_DEFAULT), "open attribute");
            std::int32_t value = -1;
            check(H5Aread(attribute, H5T_NATIVE_INT32, &value), "read attribute");
            H5Aclose(attribute);
            right += value == static_cast<std::int32_t>(number) ? 1U : 0U;
        }
        H5Gclose(group);
        return right;
    }

    void grow(const std::vector<std::vector<std::int32_t>>& steps) override {
        hsize_t extent[2] = {0, kGrowBy};
        const hsize_t unlimited[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
        const hsize_t chunk[2] = {2 * kGrowBy, 2 * kGrowBy};
        const hid_t first = check(H5Screate_simple(2, extent, unlimited), "space");
        const hid_t create = check(H5Pcreate(H5P_DATASET_CREATE), "properties");
        check(H5Pset_chunk(create, 2, chunk), "chunk");
        const hid_t dataset =
            check(H5Dcreate2(file_, "grown", H5T_STD_I32LE, first, H5P_DEFAULT, create, H5P_DEFAULT), "create dataset");
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::size_t along = i % 2;
            hsize_t start[2] = {0, 0};
            hsize_t count[2] = {extent[0], extent[1]};
            start[along] = extent[along];
            count[along] = kGrowBy;
            extent[along] += kGrowBy;
            check(H5Dset_extent(dataset, extent), "extent");
            const hid_t space = check(H5Dget_space(dataset), "space");
            check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), "select");
            const hid_t memory = check(H5Screate_simple(2, count, nullptr), "memory space");
            check(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, steps[i].data()), "write");
            H5Sclose(memory);
            H5Sclose(space);
        }
        H5Dclose(dataset);
        H5Pclose(create);
        H5Sclose(first);
    }

    void write_strings(const std::vector<const char*>& texts) override {
        const hsize_t count = texts.size();
        const hid_t space = check(H5Screate_simple(1, &count, nullptr), "space");
        const hid_t dataset = check(
            H5Dcreate2(file_, "strings", string_type_, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create dataset");
        check(H5Dwrite(dataset, string_type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "write");
        H5Dclose(dataset);
        H5Sclose(space);
    }

    std::vector<std::string> read_strings() override {
        const hid_t dataset = check(H5Dopen2(file_, "strings", H5P_DEFAULT), "open dataset");
        const hid_t space = check(H5Dget_space(dataset), "space");
        std::vector<char*> texts(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        check(H5Dread(dataset, string_type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "read");
        std::vector<std::string> strings(texts.begin(), texts.end());
        check(H5Dvlen_reclaim(string_type_, space, H5P_DEFAULT, texts.data()), "reclaim");
        H5Sclose(space);
        H5Dclose(dataset);
        return strings;
    }

    void delete_objects() override {
        const hid_t group = check(H5Gopen2(file_, "objects", H5P_DEFAULT), "open group");
        for (std::size_t i = 0; i < kObjects; i += 2) {
            check(H5Ldelete(group, numbered("object", i).c_str(), H5P_DEFAULT), "delete");
        }
        H5Gclose(group);
    }

    void copy_tree() override { check(H5Ocopy(file_, "tree", file_, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy"); }

    void copy_tree(const std::string& to) override {
        const hid_t copy = create(to);
        check(H5Ocopy(file_, "tree", copy, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy");
        check(H5Fclose(copy), "close");
    }

    void repack(const std::string& to) override {
        hid_t copy = create(to);
        check(H5Literate(file_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, copy_member, &copy), "copy");
        check(H5Fclose(copy), "close");
    }

    std::uint64_t fingerprint() override {
        std::uint64_t sum = 0;
        check(H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &sum, H5O_INFO_BASIC), "visit");
        return sum;
    }

private:
    hid_t create(const std::string& path) const {
        return check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_), "create");
    }

    hid_t access_;
    hid_t string_type_;
    hid_t file_ = -1;
};

void make_file(const std::string& path, void (*fill)(hid_t)) {
    const hid_t access = make_access();
    const hid_t file = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    fill(file);
    check(H5Fclose(file), "close");
    H5Pclose(access);
}

}  // namespace

void make_tree_file(const std::string& path) {
    make_file(path, [](hid_t file) {
        const hid_t tree = make_group(file, "tree");
        for (std::size_t g = 0; g < kTreeGroups; ++g) {
            const hid_t group = make_group(tree, numbered("group", g));
            for (std::size_t d = 0; d < kTreeDatasets; ++d) {
                make_small(group, numbered("dataset", d), static_cast<std::int32_t>(g * kTreeDatasets + d));
            }
            H5Gclose(group);
        }
        H5Gclose(tree);
    });
}

void make_objects_file(const std::string& path) {
    make_file(path, [](hid_t file) {
        const hid_t group = make_group(file, "objects");
        for (std::size_t i = 0; i < kObjects; ++i) {
            make_small(group, numbered("object", i), static_cast<std::int32_t>(i));
        }
        H5Gclose(group);
    });
}

void make_large_file(const std::string& path) {
    make_file(path, [](hid_t file) {
        make_large(file, "contiguous", 5120, false, false);
        make_large(file, "chunked", 5120, true, false);
        make_large(file, "deflated", 3584, true, true);
    });
}

std::unique_ptr<Changing> make_libhdf5_changing() { return std::make_unique<Libhdf5Changing>(); }

}  // namespace bench
