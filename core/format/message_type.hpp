// H5O - the types and flags of object header messages. Specification IV.A.
#pragma once

#include "file_shape.hpp"

#include <h5mote/context.hpp>

namespace h5mote {

enum class MessageType : std::uint8_t {
    null = 0x00,
    dataspace = 0x01,
    link_info = 0x02,
    datatype = 0x03,
    fill_value_old = 0x04,
    fill_value = 0x05,
    link = 0x06,
    external_files = 0x07,
    layout = 0x08,
    bogus = 0x09,
    group_info = 0x0a,
    filter_pipeline = 0x0b,
    attribute = 0x0c,
    comment = 0x0d,
    modification_time_old = 0x0e,
    shared_message_table = 0x0f,
    continuation = 0x10,
    symbol_table = 0x11,
    modification_time = 0x12,
    btree_k = 0x13,
    driver_info = 0x14,
    attribute_info = 0x15,
    reference_count = 0x16,
    file_space_info = 0x17,
    cache_image = 0x18,
};

/// Message flags, specification IV.A.1.b.
inline constexpr std::uint8_t kMessageConstant = 0x01;
inline constexpr std::uint8_t kMessageShared = 0x02;
inline constexpr std::uint8_t kMessageNotShareable = 0x04;
inline constexpr std::uint8_t kMessageFailIfUnknownAndWriting = 0x08;
inline constexpr std::uint8_t kMessageMarkIfUnknown = 0x10;
inline constexpr std::uint8_t kMessageWasUnknown = 0x20;
inline constexpr std::uint8_t kMessageShareable = 0x40;  ///< an index of shared messages leads to it
inline constexpr std::uint8_t kMessageFailIfUnknown = 0x80;

/// Records in the trail that a message contradicts the format, and returns corrupt_file.
inline Status damaged_message(Context& context, SourcePlace place, MessageType type) noexcept {
    return context.fail(Module::format, place, Status::corrupt_file, static_cast<std::uint32_t>(type));
}

}  // namespace h5mote
