// H5T (H5Tvlen) - sequences and strings in memory: their slots, the places that they have in values.
#pragma once

#include "conversion_plan.hpp"

#include <h5mote/variable_length.hpp>

#include <cstring>

namespace h5mote {

/// Loads a slot, which may have any alignment. Of a string only `data` is set.
inline VariableLength load_slot(const std::byte* at, bool string) noexcept {
    VariableLength slot;
    if (string) {
        std::memcpy(&slot.data, at, sizeof(char*));
    } else {
        std::memcpy(&slot, at, sizeof(slot));
    }
    return slot;
}

inline void store_slot(std::byte* at, const VariableLength& slot, bool string) noexcept {
    if (string) {
        std::memcpy(at, &slot.data, sizeof(char*));
    } else {
        std::memcpy(at, &slot, sizeof(slot));
    }
}

inline bool is_string(const ConversionStep& step) noexcept { return (step.flags & ConversionStep::to_string) != 0; }

/// Whether the elements of a sequence are the same in a file and in memory.
inline bool has_same_elements(const ConversionStep& step, const SequenceTable& table) noexcept {
    const ConversionStep& first = (&step)[1];
    return step.extra == 1 && first.kind == ConversionKind::copy && first.from_offset == 0 && first.to_offset == 0 &&
           first.count == table.from_size && table.from_size == table.to_size;
}

}  // namespace h5mote
