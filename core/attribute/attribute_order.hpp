// H5A - the creation orders of an object's attributes: the number that the next one gets, which the attribute info
// message of the header keeps.
#pragma once

#include "attribute_message.hpp"
#include "file_state.hpp"
#include "header.hpp"

namespace h5mote {

/// The flags of the attribute info message: bits 2 and 3 of the header's flags.
constexpr std::uint8_t attribute_info_flags(unsigned header_flags) noexcept {
    return static_cast<std::uint8_t>((header_flags >> 2) & 3U);
}

/// The attribute info message of an object that has no attributes in dense storage.
class AttributeInfoContent final : public MessageContent {
public:
    AttributeInfoContent(FileShape shape, std::uint8_t flags, std::uint16_t max_order = 1) noexcept : shape_(shape) {
        info_.flags = flags;
        info_.max_order = max_order;
    }
    void write(Writer& writer) const noexcept override { info_.encode(writer, shape_); }

private:
    FileShape shape_;
    AttributeInfoMessage info_;
};

/// The creation order that the next attribute gets; 0 if the header does not track it, or never had an attribute.
Status read_next_order(FileState& file, Address header, std::uint16_t& next) noexcept;

/// Lets the next attribute have at least the creation order `next`, if the header tracks it.
Status raise_next_order(FileState& file, Address header, std::uint16_t next) noexcept;

}  // namespace h5mote
