// H5P H5A - how an object that is created keeps its attributes.
#pragma once

#include <h5mote/config.hpp>

#include <cstdint>
#include <type_traits>

namespace h5mote {

/// Fixed when an object is created (H5Pcreate(H5P_OBJECT_CREATE)).
struct AttributesCreate {
    /// Keeps and indexes the order in which attributes are created (H5Pset_attr_creation_order). The object's header
    /// has version 2 then, whatever FileAccess::low says. An object counts at most 65,535 creations.
    bool track_order = false;
    /// With more attributes than max_compact the object keeps them in dense storage, and with fewer than min_dense in
    /// its header again (H5Pset_attr_phase_change). They are stored if they differ from the defaults, and count in
    /// headers of version 2. Programs without formats::dense_changes store them for others, and keep their own
    /// attributes in the header. The object is not created (invalid_argument) if max_compact is less than min_dense.
    std::uint16_t max_compact = 8;
    std::uint16_t min_dense = 6;
    /// The order is kept without an index of it (H5P_CRT_ORDER_TRACKED without H5P_CRT_ORDER_INDEXED): dense storage
    /// takes less space, and going through the attributes in that order takes longer.
    bool unindexed_order = false;
};
/// Takes its place in builds without H5MOTE_ALL_FORMATS, which compile nothing that asks for anything else.
struct DefaultAttributes {
    static constexpr bool track_order = false;
    static constexpr bool unindexed_order = false;
    static constexpr std::uint16_t max_compact = 8;
    static constexpr std::uint16_t min_dense = 6;
};
using AttributesOrDefault = std::conditional_t<H5MOTE_ALL_FORMATS != 0, AttributesCreate, DefaultAttributes>;

}  // namespace h5mote
