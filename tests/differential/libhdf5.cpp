#include "libhdf5.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

namespace differential {
namespace {

std::string new_path() {
    static int number = 0;
    return "differential." + std::to_string(::getpid()) + "." + std::to_string(++number) + ".h5";
}

Id access_list(Bounds bounds) {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_FILE_ACCESS));
    DIFFERENTIAL_OK(H5Pset_libver_bounds(list, bounds.low, bounds.high));
    DIFFERENTIAL_OK(H5Pset_fclose_degree(list, H5F_CLOSE_STRONG));
    return list;
}

// In memory that is shared with the child processes.
bool* alone = nullptr;

}  // namespace

Alone::Alone() { *alone = true; }
Alone::~Alone() { *alone = false; }
bool Alone::was() noexcept { return std::exchange(*alone, false); }

void prepare_libhdf5() {
    void* const shared = ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        std::abort();
    }
    alone = new (shared) bool(false);
    H5open();
    if (std::getenv("DIFFERENTIAL_TRACE") == nullptr) {
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
}

Id create_image(Bounds bounds, hid_t properties) {
    return DIFFERENTIAL_ID(H5Fcreate(new_path().c_str(), H5F_ACC_TRUNC, properties, access_list(bounds)));
}

Id open_image(const Blob& image, Bounds bounds) {
    const std::string path = new_path();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    return DIFFERENTIAL_ID(H5Fopen(path.c_str(), H5F_ACC_RDWR, access_list(bounds)));
}

Blob close_image(Id& file) {
    char path[256];
    DIFFERENTIAL_OK(H5Fget_name(file, path, sizeof path));
    DIFFERENTIAL_OK(H5Fclose(file.release()));
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    std::remove(path);
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
    return Blob(begin, begin + bytes.size());
}

Id read_image(const Blob& image) {
    const Id access = access_list({});
    Blob copy = image;
    DIFFERENTIAL_OK(H5Pset_fapl_core(access, 1 << 16, false));
    DIFFERENTIAL_OK(H5Pset_file_image(access, copy.data(), copy.size()));
    // libhdf5 takes two open files in memory of the same name for one file.
    static unsigned count = 0;
    return DIFFERENTIAL_ID(H5Fopen(("image" + std::to_string(count++)).c_str(), H5F_ACC_RDONLY, access));
}

std::vector<Sizes> raw_sized_chunks(hid_t dataset, H5Z_filter_t wanted) {
    std::vector<Sizes> found;
    const Id list = DIFFERENTIAL_ID(H5Dget_create_plist(dataset));
    bool has = false;
    bool checked = false;
    for (int i = 0; i < H5Pget_nfilters(list); ++i) {
        std::size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(list, static_cast<unsigned>(i), nullptr, &values, nullptr, 0, nullptr, nullptr);
        has = has || filter == wanted;
        checked = checked || filter == H5Z_FILTER_FLETCHER32;
    }
    if (!has) {
        return found;
    }
    const Id type = DIFFERENTIAL_ID(H5Dget_type(dataset));
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(list, H5S_MAX_RANK, dims);
    hsize_t raw = H5Tget_size(type);
    for (int d = 0; d < rank; ++d) {
        raw *= dims[d];
    }
    raw += checked ? 4 : 0;
    DIFFERENTIAL_OK(H5Dflush(dataset));
    hsize_t count = 0;
    const Id space = DIFFERENTIAL_ID(H5Dget_space(dataset));
    DIFFERENTIAL_OK(H5Dget_num_chunks(dataset, space, &count));
    for (hsize_t i = 0; i < count; ++i) {
        hsize_t offset[H5S_MAX_RANK];
        unsigned skipped = 0;
        hsize_t size = 0;
        DIFFERENTIAL_OK(H5Dget_chunk_info(dataset, space, i, offset, &skipped, nullptr, &size));
        // Only h5mote skips deflate, so that the filter mask tells. Of variable-length values `raw` would be wrong:
        // they have another size in memory.
        if (size == raw || (wanted == H5Z_FILTER_DEFLATE && skipped != 0)) {
            found.emplace_back(offset, offset + rank);
        }
    }
    return found;
}

Type::Type(hid_t id) {
    std::size_t size = 0;
    DIFFERENTIAL_OK(H5Tencode(id, nullptr, &size));
    message_.resize(size);
    DIFFERENTIAL_OK(H5Tencode(id, message_.data(), &size));
    // H5Tencode() puts two bytes before the message: the message type and the version of the encoding.
    message_.erase(message_.begin(), message_.begin() + 2);
}

Id Type::id() const {
    Blob encoded(2);
    encoded[0] = std::byte{3};
    encoded.insert(encoded.end(), message_.begin(), message_.end());
    encoded.resize(encoded.size() + 64);  // H5Tdecode() does not know the length and may read beyond it
    return DIFFERENTIAL_ID(H5Tdecode(encoded.data()));
}

Blob convert(hid_t from, hid_t to, const Blob& values, std::size_t count, const Blob& background) {
    const std::size_t from_size = H5Tget_size(from);
    const std::size_t to_size = H5Tget_size(to);
    Blob work(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count * from_size));
    work.resize(count * std::max(from_size, to_size));
    Blob behind = background;
    behind.resize(count * std::max(from_size, to_size));
    DIFFERENTIAL_OK(H5Tconvert(from, to, count, work.data(), behind.data(), H5P_DEFAULT));
    work.resize(count * to_size);
    return work;
}

Id create_list(hid_t object) {
    switch (H5Iget_type(object)) {
        case H5I_GROUP:
            return DIFFERENTIAL_ID(H5Gget_create_plist(object));
        case H5I_DATATYPE:
            return DIFFERENTIAL_ID(H5Tget_create_plist(object));
        default:
            return DIFFERENTIAL_ID(H5Dget_create_plist(object));
    }
}

}  // namespace differential
