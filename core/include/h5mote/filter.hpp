// H5Z - the filter interface: one transformation of a chunk's bytes on their way to and from the file.
#pragma once

#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstdint>

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

/// One filter of a pipeline as a user asks for it and as the filter pipeline message stores it.
///
/// Client data (cd_values) of up to kMaxValues numbers stand in the specification itself. More, which only files bring,
/// are borrowed in their encoded form. Filters read both by value().
struct FilterSpec {
    static constexpr std::size_t kMaxValues = 8;

    FilterId id = FilterId::none;
    /// H5Z_FLAG_OPTIONAL: a chunk that the filter cannot shrink or process is stored without it. Otherwise the
    /// write fails.
    bool optional = false;
    std::uint16_t value_count = 0;
    std::uint32_t values[kMaxValues] = {};
    /// When not nullptr, the values stand here instead: 4 bytes each, little-endian. Whoever sets it keeps them alive.
    const std::byte* encoded = nullptr;

    /// Number i of the client data; 0 when there are fewer.
    std::uint32_t value(std::size_t i) const noexcept;
};

// Not inlined: many call sites, and none where it matters.
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

/// What a filter is applied to, for can_apply and set_local.
struct FilterTarget {
    std::uint32_t element_size = 0;  ///< bytes of one element of the dataset's datatype
    std::uint32_t chunk_bytes = 0;   ///< bytes of one chunk before any filter
};

/// A filter. Stateless: one const object serves every dataset; what it needs while running is the scratch it is lent.
class Filter {
public:
    virtual FilterId id() const noexcept = 0;
    /// Name stored in the pipeline message of filters that need one (id >= 256); nullptr otherwise.
    virtual const char* name() const noexcept { return nullptr; }

    /// Whether a dataset can be created with this filter, or changed (H5Z_can_apply_func_t). invalid_argument if not.
    virtual Status can_apply(const FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept {
        return Status::ok;
    }
    /// Completes the client data from the target at dataset creation (H5Z_set_local_func_t).
    virtual Status set_local(FilterSpec& /*spec*/, const FilterTarget& /*target*/) const noexcept { return Status::ok; }

    /// Bytes of working state that encode() or decode() of `size` input bytes needs, aligned to 8.
    virtual std::size_t scratch_need(bool /*encode*/, std::size_t /*size*/) const noexcept { return 0; }
    /// Largest output of encode() for `size` input bytes that is still worth keeping: a compressor that is optional
    /// must shrink, a mandatory one may grow up to the worst case of its coding.
    virtual std::size_t encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept { return size; }
    /// Whether encode() and decode() also work when `out` begins where `in` begins. Saves a
    /// buffer. A call that fails then leaves the bytes as they were.
    virtual bool in_place() const noexcept { return false; }

    /// Writes the filtered form of `in` to `out` (no overlap but for in_place()) and its length to `size`. `scratch`
    /// has at least scratch_need() bytes, else over_budget. no_space: it does not fit in `out`. invalid_argument: the
    /// client data do not fit the bytes.
    virtual Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes scratch) const noexcept = 0;
    /// The reverse. Bytes come from a file: anything inconsistent is corrupt_file, a result longer than `out` too.
    virtual Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes scratch) const noexcept = 0;

protected:
    constexpr Filter() = default;
    ~Filter() = default;
};

/// A filter that only reads. Where it is not optional, datasets can neither be created with it nor changed.
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

/// Specifications for DatasetCreate::filters.
namespace filters {
inline constexpr FilterSpec shuffle{FilterId::shuffle, true, 0, {}};
inline constexpr FilterSpec fletcher32{FilterId::fletcher32, false, 0, {}};
/// `level` 0 to 9 as zlib's; our own encoder has one effort and stores the number only.
constexpr FilterSpec deflate_level(std::uint32_t level) noexcept { return {FilterId::deflate, true, 1, {level}}; }
inline constexpr FilterSpec deflate = deflate_level(6);
}  // namespace filters

}  // namespace h5mote
