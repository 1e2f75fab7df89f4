// H5T (H5Tvlen) - variable-length data of a file, as conversion sees it.
//
// A value of a sequence or a variable-length string in a file:
//   0  4             elements, for strings: bytes
//   4  O             address of the global heap collection (O: size of offsets), 0: no data
//   4+O  4           index of the object in the collection
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/span.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Where the elements of a file's sequences are: its global heap. `heap_id` is a collection address and an object
/// index, encoded as in the file.
class VariableSource {
public:
    /// Bytes of the object. corrupt_file: there is none. io_error.
    virtual Status size(ConstBytes heap_id, std::uint64_t& bytes) noexcept = 0;
    /// Reads `to.size()` bytes of the object from `offset` on. corrupt_file: they are not all within it. io_error.
    virtual Status read(ConstBytes heap_id, std::uint64_t offset, Bytes to) noexcept = 0;

protected:
    VariableSource() = default;
    VariableSource(const VariableSource&) = default;
    VariableSource& operator=(const VariableSource&) = default;
    ~VariableSource() = default;
};

struct ConversionPlan;
struct ConversionStep;
class FileState;

/// Where the elements of sequences go that a file is to have: objects of its global heap.
class VariableSink {
public:
    /// Carries out all steps of the plan on one value. On failure `to` is untouched, and its sequences stay in the
    /// heap. Errors of write().
    virtual Status convert(const ConversionPlan& plan, const std::byte* from, std::byte* to) noexcept = 0;
    /// Stores one sequence or string, a value in memory at `from`, and its place at `to`, which has the file's present
    /// value: that one is discarded. On failure `to` is untouched. no_space, out_of_memory, io_error; errors of
    /// converting the elements.
    virtual Status write(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                         std::byte* to) noexcept = 0;

protected:
    VariableSink() = default;
    VariableSink(const VariableSink&) = delete;
    VariableSink& operator=(const VariableSink&) = delete;
    ~VariableSink() = default;
};

/// Which side of a conversion has its values in the form of a file. Other values are in the form of memory:
/// VariableLength, `char*`.
struct FileValues {
    enum class Side : std::uint8_t { neither, from, to };

    Side side = Side::neither;
    std::uint8_t sizeof_address = 8;   ///< size of offsets of the file
    VariableSource* source = nullptr;  ///< outlives the conversion; may be nullptr if no type has variable-length data
    FileState* file = nullptr;         ///< Side::to: the file; may be nullptr if no type has variable-length data
    VariableSink* sink = nullptr;      ///< Side::to: set by Conversion::prepare()
    Address dataset = kUndefinedAddress;  ///< Side::to: header of the dataset in whose extent the values are to lie
};

}  // namespace h5mote
