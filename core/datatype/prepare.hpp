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

/// What writes variable-length data, for programs that name formats::variable_length_changes.
struct VariableLengthFormat {
    /// What takes the elements of sequences that the file gets; it belongs to the file. out_of_memory.
    Status (*open_sink)(FileState& file, VariableSink*& sink);
    /// Discards the sequences in `count` values of the file's type `type`: their space is used again after the next
    /// commit. What cannot be read is left out. Returns what HeapKeeper::keep_discarded() needs to take that back.
    std::size_t (*discard)(FileState& file, DatatypeView type, const std::byte* values, std::size_t count);
    /// How the values of `memory`, whose sequences have the form of memory, are stored in a file: the encoded type, for
    /// which memory of `length` bytes (MemoryKind::type) is allocated. out_of_memory; overflow: 4 GiB or more.
    Status (*file_type)(FileState& file, DatatypeView memory, Bytes& type);
    /// The opposite: the type of the form in memory of values that a file stores as `stored`; other members and their
    /// order stay as they are.
    Status (*memory_type)(Context& context, DatatypeView stored, Bytes& type);
    /// Gives `count` values of the file's type `type`, one behind the other, the value `from`, each with sequences of
    /// its own. no_space, out_of_memory, io_error, corrupt_file: `to` is then zeros, which are values without
    /// sequences.
    Status (*copy)(FileState& file, DatatypeView type, const std::byte* from, std::byte* to, std::size_t count);
    /// Puts an object of these bytes into the global heap.
    Status (*insert)(FileState& file, ConstBytes bytes, GlobalHeapId& id);
};

/// HeapKeeper::discarded().
inline std::size_t discarded_values(FileState& file) noexcept {
    return file.heap_keeper() == nullptr ? 0 : file.heap_keeper()->discarded();
}
/// Values that were to take the place of others are not there if writing them failed with `status`, which is returned:
/// what was discarded since discarded_values() was `discarded` stays.
inline Status or_keep(FileState& file, Status status, std::size_t discarded) noexcept {
    if (status != Status::ok && file.heap_keeper() != nullptr) {
        file.heap_keeper()->keep_discarded(discarded);
    }
    return status;
}

/// The datatype as which a file stores values of the memory type `memory`: the same bytes unless that has sequences or
/// strings of any length.
class StoredType {
public:
    explicit StoredType(FileState& file) noexcept : file_(file) {}
    StoredType(const StoredType&) = delete;
    StoredType& operator=(const StoredType&) = delete;
    ~StoredType() {
        if constexpr (kHasSequences) {
            file_.context.release(MemoryKind::type, own_.data(), own_.size());
        }
    }

    /// unsupported (Feature::datatype_class): such data, in a program without formats::variable_length_changes.
    Status assign(DatatypeView memory) noexcept {
        view_ = memory;
        return kHasSequences ? assign_sequences() : Status::ok;
    }
    /// Borrows the bytes of this object, or those of the memory type.
    DatatypeView view() const noexcept { return view_; }

private:
    // A constant, so that builds which cannot write such data have no code for it.
    static constexpr bool kHasSequences = H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0;

    Status assign_sequences() noexcept;

    FileState& file_;
    Bytes own_;
    DatatypeView view_;
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
    FileValues values(FileState& file, FileValues::Side side) noexcept {
        HeapSource* const source =
            can_convert(file.context) ? std::launder(reinterpret_cast<HeapSource*>(memory_)) : nullptr;
        return {side, file.shape().sizeof_addr, source, &file};
    }

private:
    alignas(HeapSource) std::byte memory_[sizeof(HeapSource)];
};

}  // namespace h5mote
