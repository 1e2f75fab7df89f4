// Wrappers of libhdf5: handles that close themselves, files in memory, datatypes that both libraries can use.
#pragma once

#include "random.hpp"

#include <h5mote/datatype.hpp>

#include <hdf5.h>

#include <algorithm>
#include <utility>

namespace differential {

/// A handle of libhdf5, released by the destructor.
class Id {
public:
    Id() noexcept = default;
    /// Throws Difference if `id` is invalid, that is, if libhdf5 refused the call that `what` names.
    Id(hid_t id, const char* what) : id_(id) {
        if (id < 0) {
            differ(std::string("libhdf5 refuses: ") + what);
        }
    }
    Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Id& operator=(Id&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Id() {
        if (id_ >= 0) {
            H5Idec_ref(id_);
        }
    }
    operator hid_t() const noexcept { return id_; }
    /// Returns the handle and gives up its ownership.
    hid_t release() noexcept { return std::exchange(id_, -1); }

private:
    hid_t id_ = -1;
};

inline void check(herr_t result, const char* what) {
    if (result < 0) {
        differ(std::string("libhdf5 refuses: ") + what);
    }
}
#define DIFFERENTIAL_ID(call) ::differential::Id(call, #call)
#define DIFFERENTIAL_OK(call) ::differential::check((call) < 0 ? -1 : 0, #call)

/// Initializes libhdf5. It prints its error messages only if the environment has DIFFERENTIAL_TRACE.
void prepare_libhdf5();

/// While an object of this class exists, only libhdf5 is at work: if the process crashes, that is no fault of h5mote.
class Alone {
public:
    Alone();
    ~Alone();
    /// Whether such an object exists, or existed when a child of this process ended. Each call resets the answer to
    /// false.
    static bool was() noexcept;
};

/// Oldest and newest version of the format that libhdf5 may write.
struct Bounds {
    H5F_libver_t low = H5F_LIBVER_EARLIEST;
    H5F_libver_t high = H5F_LIBVER_LATEST;
};

/// Opens a file in the working directory, which is new and empty or has the bytes of `image`. close_image() removes it
/// from the directory.
Id create_image(Bounds bounds, hid_t properties = H5P_DEFAULT);
Id open_image(const Blob& image, Bounds bounds);
/// Closes the file and every object in it, and returns its bytes. (H5Fget_file_image() is no alternative: it leaves a
/// wrong checksum in version 3 superblocks.)
Blob close_image(Id& file);
/// The offsets of those chunks whose stored size equals that of the raw chunk, or that skipped deflate, if the dataset
/// has the filter `wanted`. Such chunks can be damaged by libhdf5 1.10: it keeps a chunk's filter mask when it replaces
/// the chunk by one of the same stored size, so that compressed bytes are taken for raw ones, or the other way round
/// (libhdf5_faults.cpp).
std::vector<Sizes> raw_sized_chunks(hid_t dataset, H5Z_filter_t wanted);
/// Opens a file in memory for reading.
Id read_image(const Blob& image);
/// The creation properties of a group, dataset or committed datatype.
Id create_list(hid_t object);

/// A datatype for both libraries: the encoded datatype message, from which a libhdf5 handle can be made.
class Type {
public:
    Type() = default;
    explicit Type(hid_t id);
    explicit Type(h5mote::DatatypeView view) : message_(view.bytes().begin(), view.bytes().end()) {}

    h5mote::DatatypeView view() const noexcept {
        return h5mote::DatatypeView(h5mote::ConstBytes(message_.data(), message_.size()));
    }
    std::size_t size() const noexcept { return view().size(); }
    Id id() const;
    const Blob& message() const noexcept { return message_; }

private:
    Blob message_;
};

/// Limits for random_type().
struct TypeChoice {
    unsigned depth = 3;     ///< how deep compounds and arrays may be nested
    std::size_t size = 64;  ///< approximate limit of the bytes of one value
    bool odd = true;        ///< allow integers that do not use all of their bits
    bool variable = false;  ///< allow variable-length sequences and strings (none within another)
};
Id random_type(Random& random, const TypeChoice& choice);
/// A random memory type for values of the type `file`: the same type, the native one, numbers of other sizes, members
/// in another order and, with `subset`, fewer members.
Id random_memory_type(Random& random, hid_t file, bool subset);
/// `count` random values in memory. Padding between members is zero. Variable-length data is allocated by malloc(), and
/// release_values() frees it.
Blob random_values(Random& random, hid_t type, std::size_t count);
void release_values(hid_t type, std::size_t count, Blob& values);
/// Appends to `to` the bytes of a value in memory that can be compared: without padding, and with the data of
/// variable-length values in place of pointers.
void flatten(hid_t type, const std::byte* value, Blob& to);
bool is_variable(hid_t type);
/// A mask of one value: 0xff for each byte that is not padding.
Blob significant_bytes(hid_t type);
std::string type_text(h5mote::DatatypeView type);

/// Converts `count` values of the type `from` to the type `to`; members that `from` lacks are taken from `background`.
Blob convert(hid_t from, hid_t to, const Blob& values, std::size_t count, const Blob& background);

/// Halves the largest dimensions of a chunk until it fits into the caches and the flash chips that a run may have.
template <typename Dims>
void limit_chunk(Dims& chunk, std::size_t element_size) {
    constexpr double kMostBytes = 1 << 17;
    for (;;) {
        double bytes = static_cast<double>(element_size);
        for (const auto dim : chunk) {
            bytes *= static_cast<double>(dim);
        }
        const auto largest = std::max_element(chunk.begin(), chunk.end());
        if (bytes <= kMostBytes || chunk.empty() || *largest == 1) {
            return;
        }
        *largest /= 2;
    }
}

}  // namespace differential
