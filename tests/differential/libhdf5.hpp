// The other library: handles that close themselves, files in memory, datatypes as both libraries see them.
#pragma once

#include "random.hpp"

#include <h5mote/datatype.hpp>

#include <hdf5.h>

#include <algorithm>
#include <utility>

namespace differential {

/// A handle of libhdf5, released when it goes.
class Id {
public:
    Id() noexcept = default;
    /// Throws when libhdf5 refused: `what` says which call.
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
    /// No longer closed by this.
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

/// Begins with libhdf5. Its messages are not printed unless the environment has DIFFERENTIAL_TRACE.
void prepare_libhdf5();

/// While one lives, libhdf5 works alone: if the process ends now, that is no fault of h5mote.
class Alone {
public:
    Alone();
    ~Alone();
    /// Whether one lives, or lived when a child of this process ended. Begins anew with every call.
    static bool was() noexcept;
};

/// Oldest and newest version of the format that libhdf5 may write.
struct Bounds {
    H5F_libver_t low = H5F_LIBVER_EARLIEST;
    H5F_libver_t high = H5F_LIBVER_LATEST;
};

/// A new, empty file, or with `image` one that holds it, in the working directory. It has no name there any more when
/// close_image() returned.
Id create_image(Bounds bounds, hid_t properties = H5P_DEFAULT);
Id open_image(const Blob& image, Bounds bounds);
/// Closes the file and every object in it; its bytes. (H5Fget_file_image leaves a wrong checksum in superblocks of
/// version 3.)
Blob close_image(Id& file);
/// Of a dataset that has that filter, the chunks whose stored size is that of the raw chunk. libhdf5 1.10 keeps a
/// chunk's filter mask when it stores another chunk of the same size in its place: compressed bytes are then taken for
/// raw ones, or the other way round (libhdf5_faults.cpp shows it without h5mote).
std::vector<Sizes> raw_sized_chunks(hid_t dataset, H5Z_filter_t wanted);
/// A file in memory, to be read.
Id read_image(const Blob& image);

/// A datatype: h5mote's view is the message, libhdf5's handle is made from it.
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

/// What a class of types may hold.
struct TypeChoice {
    unsigned depth = 3;     ///< compounds and arrays nested in each other
    std::size_t size = 64;  ///< bytes of one value, about
    bool odd = true;        ///< integers that do not use all of their bits
    bool variable = false;  ///< sequences and strings of any length (none within another)
};
Id random_type(Random& random, const TypeChoice& choice);
/// A type in memory for values of `file`: the same, the machine's own, numbers of other sizes, members in another
/// order and, with `subset`, fewer of them.
Id random_memory_type(Random& random, hid_t file, bool subset);
/// `count` values. What belongs to no member is zero. Variable-length data comes from malloc(): release_values().
Blob random_values(Random& random, hid_t type, std::size_t count);
void release_values(hid_t type, std::size_t count, Blob& values);
/// A value without gaps and pointers: what of it can be compared.
void flatten(hid_t type, const std::byte* value, Blob& to);
bool is_variable(hid_t type);
/// 0xff for each byte of a value that means something.
Blob significant_bytes(hid_t type);
std::string type_text(h5mote::DatatypeView type);

/// `count` values of `from` as values of `to`; members that `from` lacks are those of `background`.
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
