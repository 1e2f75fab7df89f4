// H5T - preparing conversions, in builds with and without conversion code.
#pragma once

#include "conversion.hpp"
#include "heap_source.hpp"
#include "supported.hpp"

#include <h5mote/formats.hpp>

#include <new>

namespace h5mote {

/// Views the datatype message at the start of `body`, which comes from a file, as parse_datatype() does. Builds without
/// conversion only compare types byte for byte, and check here only that the type has a size.
Status view_datatype(Context& context, ConstBytes body, DatatypeView& type) noexcept;

/// What converts values, for programs that name formats::conversion.
struct ConversionFormat {
    /// Conversion::prepare().
    Status (*prepare)(Conversion& conversion, Context& context, DatatypeView from, DatatypeView to,
                      const FileValues& file);
    /// Makes the source of the file's variable-length data in `memory`, which has the size of a HeapSource.
    void (*make_source)(void* memory, FileState& file);
};

/// Whether the program converts values; if not, both types must be the same.
inline bool can_convert(const Context& context) noexcept {
    return H5MOTE_CONVERSION != 0 && context.formats().conversion != nullptr;
}

/// Conversion::prepare(), or in programs without formats::conversion: identical types only, else unsupported.
Status prepare_conversion(Context& context, Conversion& conversion, DatatypeView from, DatatypeView to,
                          const FileValues& file = {}) noexcept;

/// What a conversion needs to know of the file, with the source of its variable-length data; outlives the conversion.
/// Programs without formats::conversion have no source, and link no global heap.
class FileSource {
public:
    explicit FileSource(FileState& file) noexcept {
        if (can_convert(file.context)) {
            file.context.formats().conversion->make_source(memory_, file);
        }
    }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    /// `file`: that of the constructor. `side`: the side of the conversion that has the form of the file.
    FileValues values(const FileState& file, FileValues::Side side) noexcept {
        HeapSource* const source =
            can_convert(file.context) ? std::launder(reinterpret_cast<HeapSource*>(memory_)) : nullptr;
        return {side, file.shape().sizeof_addr, source};
    }

private:
    alignas(HeapSource) std::byte memory_[sizeof(HeapSource)];
};

}  // namespace h5mote
