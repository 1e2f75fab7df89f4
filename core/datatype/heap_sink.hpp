// H5T H5HG - variable-length data on their way into a file.
#pragma once

#include "global_heap_writer.hpp"
#include "variable_data.hpp"

#include <h5mote/datatype.hpp>

namespace h5mote {

/// Belongs to its file, for as long as that is open.
class HeapSink final : public GlobalHeapWriter, public VariableSink {
public:
    explicit HeapSink(FileState& file) noexcept : GlobalHeapWriter(file) {}

    /// The sink of a file; out_of_memory.
    static Status open(FileState& file, HeapSink*& sink) noexcept;

    Status convert(const ConversionPlan& plan, const std::byte* from, std::byte* to) noexcept override;
    Status write(const ConversionPlan& plan, const ConversionStep& step, const std::byte* from,
                 std::byte* to) noexcept override;
    /// VariableLengthFormat::discard().
    void discard_values(DatatypeView type, const std::byte* values, std::size_t count) noexcept;
    /// VariableLengthFormat::copy().
    Status copy_values(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count) noexcept;
    /// VariableLengthFormat::insert().
    Status insert_bytes(ConstBytes bytes, GlobalHeapId& id) noexcept;
    void end() noexcept override;

private:
    class SequenceWriter;

    void discard_written(const ConversionPlan& plan, const ConversionStep* steps, std::uint32_t count,
                         const std::byte* old, const std::byte* value) noexcept;
    Status copy_parts(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count,
                      std::size_t stride) noexcept;
    // Whether an element has the size that one in the file must have; those of a damaged file may not.
    bool has_heap_id(DatatypeView type) noexcept;
    Status copy_sequence(DatatypeView type, const std::byte* from, std::byte* to, std::size_t count,
                         std::size_t stride) noexcept;
    void discard_value(DatatypeView type, const std::byte* value) noexcept;
    void discard_elements(DatatypeView base, const GlobalHeapId& id, std::uint32_t count) noexcept;
};

}  // namespace h5mote
