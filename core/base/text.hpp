// Names stand in files as bytes and in the interface as text.
#pragma once

#include <h5mote/span.hpp>

#include <string_view>

namespace h5mote {

inline std::string_view text_of(ConstBytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline ConstBytes bytes_of(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace h5mote
