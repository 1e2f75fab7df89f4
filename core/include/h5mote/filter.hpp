// H5Z - the filter interface: one transformation of a chunk's bytes on their way to and from the file.
#pragma once

#include <h5mote/datatype.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>
#include <type_traits>

namespace h5mote {

/// Filter identifiers registered with The HDF Group.
enum class FilterId : std::uint16_t {
    none = 0,
    deflate = 1,
    shuffle = 2,
    fletcher32 = 3,
    szip = 4,
    nbit = 5,
    scaleoffset = 6,
    lzf = 32000,
};

/// One filter of a pipeline, as a program asks for it and as the filter pipeline message stores it.
///
/// Up to kMaxValues numbers of client data (cd_values) stand in the specification itself. More are borrowed in their
/// encoded form, from a file or from what set_local() wrote. Filters read both through value().
struct FilterSpec {
    static constexpr std::size_t kMaxValues = 8;

    FilterId id = FilterId::none;
    /// H5Z_FLAG_OPTIONAL: a chunk that the filter cannot shrink or process is stored without it. Otherwise the
    /// write fails.
    bool optional = false;
    std::uint16_t value_count = 0;
    std::uint32_t values[kMaxValues] = {};
    /// If not nullptr, the client data stand here instead: 4 bytes each, little-endian. Whoever sets it keeps them
    /// alive.
    const std::byte* encoded = nullptr;

    /// Number i of the client data; 0 when there are fewer.
    std::uint32_t value(std::size_t i) const noexcept;
};

// Not inlined, because it has many call sites, and none of them needs speed.
[[gnu::noinline]] inline std::uint32_t FilterSpec::value(std::size_t i) const noexcept {
    if (i >= value_count) {
        return 0;
    }
    if (encoded == nullptr) {
        return i < kMaxValues ? values[i] : 0;
    }
    std::uint32_t result = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
        result = result << 8 | static_cast<std::uint32_t>(encoded[4 * i + byte]);
    }
    return result;
}

/// The data that a filter is to be applied to, for can_apply() and set_local(). When a dataset that exists already is
/// changed, only the first two and `resized` are known, and the others are empty.
struct FilterTarget {
    std::uint32_t element_size = 0;        ///< bytes of one element of the dataset's datatype
    std::uint32_t chunk_bytes = 0;         ///< bytes of one chunk before any filter
    DatatypeView type = {};                ///< the dataset's datatype
    Span<const std::uint32_t> chunk = {};  ///< elements of a chunk along each dimension
    ConstBytes fill = {};                  ///< the fill value, as elements are stored; empty: zeros
    bool fill_undefined = false;           ///< there is no fill value
    bool resized = false;                  ///< filters before this one may change the number of bytes
    Bytes client_data = {};                ///< room for client data of more than FilterSpec::kMaxValues numbers
};

/// A filter. It has no state, so that one const object serves every dataset; work memory is lent to it while it runs.
class Filter {
public:
    virtual FilterId id() const noexcept = 0;
    /// The name that the pipeline message stores for filters with an id of 256 and more; nullptr for others.
    virtual const char* name() const noexcept { return nullptr; }

    /// Whether a dataset with this filter can be created or changed (H5Z_can_apply_func_t). If not: invalid_argument,
    /// or unsupported when the filter only decodes.
    virtual Status can_apply(const FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept {
        return Status::ok;
    }
    /// Completes the client data from the target at dataset creation (H5Z_set_local_func_t); may be called twice. More
    /// than kMaxValues numbers are written to the start of target.client_data, in their encoded form, to which
    /// spec.encoded then points. over_budget: it has less room than spec.value_count, which is set, says. The call is
    /// then repeated with enough.
    virtual Status set_local(FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept { return Status::ok; }

    /// Bytes of work memory, aligned to 8, that encode() or decode() of `size` input bytes needs.
    virtual std::size_t scratch_need(bool /*encode*/, std::size_t /*size*/) const noexcept { return 0; }
    /// Largest output of encode() for `size` input bytes that is still worth keeping: an optional compressor must make
    /// the chunk smaller, a mandatory one may make it larger, up to the worst case of its coding.
    virtual std::size_t encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept { return size; }
    /// Whether encode() always makes as many bytes as it gets. Some filters encode only as many as a chunk has: they
    /// cannot be mandatory behind a filter that does not keep the number.
    virtual bool keeps_size() const noexcept { return false; }
    /// Whether encode() and decode() also work when `out` begins where `in` begins, which saves a buffer. A call that
    /// fails then leaves the bytes as they were.
    virtual bool in_place() const noexcept { return false; }

    /// Writes the filtered form of `in` to `out`, and its length to `size`. `in` and `out` do not overlap, unless
    /// in_place(). over_budget: `scratch` has less than scratch_need() bytes. no_space: the result does not fit in
    /// `out`. invalid_argument: the client data do not fit the bytes.
    virtual Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes scratch) const noexcept = 0;
    /// Undoes encode(). The bytes come from a file and may be anything: inconsistent ones are corrupt_file, and so is a
    /// result that is longer than `out`.
    virtual Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes scratch) const noexcept = 0;

protected:
    constexpr Filter() = default;
    ~Filter() = default;
};

/// A filter that only decodes. A dataset for which it is mandatory can neither be created nor changed. Programs that
/// only read link less when they name such an object (nbit_decoder in place of nbit_filter, ...).
class DecodingFilter : public Filter {
public:
    Status can_apply(const FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept override {
        return Status::unsupported;
    }
    Status encode(const FilterSpec& /*spec*/, ConstBytes /*in*/, Bytes /*out*/, std::size_t& /*size*/,
                  Bytes /*scratch*/) const noexcept override {
        return Status::unsupported;
    }

protected:
    constexpr DecodingFilter() = default;
    ~DecodingFilter() = default;
};

/// What stands for a filter in a build without it. It is no Filter, so that a program which passes it to a Library is
/// refused by the compiler.
struct FilterNotInThisBuild {};
template <bool kBuilt, typename T>
using BuiltFilter = std::conditional_t<kBuilt, T, FilterNotInThisBuild>;
/// A filter in a build that writes, its decoder in one that only reads.
template <typename T, typename Decoder>
using WritingFilter = std::conditional_t<H5MOTE_WRITE != 0, T, Decoder>;

/// Specifications for DatasetCreate::filters.
namespace filters {
inline constexpr FilterSpec shuffle{FilterId::shuffle, true, 0, {}};
inline constexpr FilterSpec fletcher32{FilterId::fletcher32, false, 0, {}};
/// `level`: 0 to 9 as zlib's. The library's own encoder always makes the same effort, and only stores the number.
constexpr FilterSpec deflate_level(std::uint32_t level) noexcept { return {FilterId::deflate, true, 1, {level}}; }
inline constexpr FilterSpec deflate = deflate_level(6);
/// As h5py's compression='lzf'.
inline constexpr FilterSpec lzf{FilterId::lzf, true, 0, {}};
/// As H5Pset_nbit(): of each number only the bits of its precision are stored.
inline constexpr FilterSpec nbit{FilterId::nbit, true, 0, {}};
/// As H5Pset_scaleoffset() with H5Z_SO_INT: integers as their differences from the least of a chunk, in `bits` bits
/// each; 0: in as many as each chunk needs.
constexpr FilterSpec scaleoffset_integer(std::uint32_t bits = 0) noexcept {
    return {FilterId::scaleoffset, true, 2, {2, bits}};
}
/// As H5Pset_scaleoffset() with H5Z_SO_FLOAT_DSCALE: floating-point numbers rounded to `decimals` digits behind the
/// point. Lossy: differences below half of the last digit are lost, and so are those of a number from the fill value
/// that are below one whole last digit.
constexpr FilterSpec scaleoffset_float(std::int32_t decimals) noexcept {
    return {FilterId::scaleoffset, true, 2, {0, static_cast<std::uint32_t>(decimals)}};
}
/// Whether szip codes numbers as they are or as their differences from the one before (H5_SZIP_EC_OPTION_MASK,
/// H5_SZIP_NN_OPTION_MASK).
enum class SzipCoding : std::uint8_t { entropy = 4, nearest_neighbour = 32 };
/// As H5Pset_szip(). `pixels_per_block`: even, 2 to 32. The options that it always sets, to allow all codings and to
/// leave out szip's own header, are set here, too.
constexpr FilterSpec szip(SzipCoding coding = SzipCoding::nearest_neighbour,
                          std::uint32_t pixels_per_block = 16) noexcept {
    return {FilterId::szip, true, 2, {static_cast<std::uint32_t>(coding) | 1U | 128U, pixels_per_block}};
}
}  // namespace filters

}  // namespace h5mote
