// H5L - the kinds of link.
#pragma once

#include <cstdint>

namespace h5mote {

/// The kinds of link (H5L_type_t), as files have them. 65 to 255 are user-defined links, whose meaning the program that
/// made them knows.
enum class LinkType : std::uint8_t { hard = 0, soft = 1, external = 64 };

}  // namespace h5mote
