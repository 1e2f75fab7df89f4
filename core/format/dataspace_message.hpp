// H5S - the dataspace message. Specification IV.A.2.b.
#pragma once

#include "checked.hpp"
#include "message_type.hpp"

namespace h5mote {

/// version | rank | flags (1: maximum sizes present) | type (v2) or 5 reserved bytes (v1) | sizes | maximum sizes
struct DataspaceMessage {
    enum class Type : std::uint8_t { scalar = 0, simple = 1, null = 2 };

    FileShape shape;
    Type type = Type::scalar;
    std::uint8_t rank = 0;
    const std::byte* dims = nullptr;      ///< rank sizes
    const std::byte* max_dims = nullptr;  ///< rank sizes, or nullptr: equal to dims

    std::uint64_t dim(unsigned i) const noexcept { return load_uint(dims + i * shape.sizeof_size, shape.sizeof_size); }
    /// Largest size of dimension i; ~0 when unlimited.
    std::uint64_t max_dim(unsigned i) const noexcept {
        return max_dims == nullptr ? dim(i) : shape.load_size(max_dims + i * shape.sizeof_size);
    }
    Status decode(Context& context, FileShape file_shape, ConstBytes body) noexcept;
};

/// The extent of a dataspace as a program gives it. `dims` and `max_dims` are borrowed arrays of `rank` sizes. A scalar
/// by default.
struct Extent {
    DataspaceMessage::Type type = DataspaceMessage::Type::scalar;
    std::uint8_t rank = 0;
    const std::uint64_t* dims = nullptr;
    const std::uint64_t* max_dims = nullptr;

    /// Whether any dimension has a maximum size other than its size.
    bool extensible() const noexcept {
        bool any = false;
        for (unsigned i = 0; i < rank; ++i) {
            any = any || dims[i] != max_dims[i];
        }
        return any;
    }
    /// Whether a file can state all sizes. The most elements may be unlimited.
    bool fits(FileShape shape) const noexcept;
    /// Bytes of all elements of `element_size` bytes; false when 64 bits do not hold them.
    bool data_size(std::uint32_t element_size, std::uint64_t& bytes) const noexcept {
        bytes = type == DataspaceMessage::Type::null ? 0 : element_size;
        bool fits = true;
        for (unsigned i = 0; i < rank; ++i) {
            fits = checked_multiply(bytes, dims[i], bytes) && fits;
        }
        return fits;
    }
};

/// Writes a version 2 dataspace message, with the maximum sizes if they differ or if `resizable`: the sizes may change.
void encode_dataspace(Writer& writer, FileShape shape, const Extent& extent, bool resizable = false) noexcept;

}  // namespace h5mote
