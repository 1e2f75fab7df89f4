// H5DS - dimension scales: datasets that name the coordinates of the dimensions of other datasets, as netCDF, xarray
// and h5py know them. HDF5 Dimension Scale Specification.
//
//     h5mote::DimensionScales::set(time, "time");
//     h5mote::DimensionScales::attach(temperature, 0, time);
#pragma once

#include <h5mote/dataset.hpp>

namespace h5mote {

/// Scales are kept in attributes: CLASS and NAME of the scale, DIMENSION_LIST of the dataset (for each dimension the
/// scales attached to it) and REFERENCE_LIST of the scale (the dimensions that it is attached to). To attach and to
/// detach therefore changes two objects. A power cut before the next flush() that returns ok may leave one of them
/// changed; then the same call completes the other one. After an error both are as before. If what a call has changed
/// cannot be changed back either, because memory or the storage fails again, the scale stays changed: it may be a scale
/// now, and its list may name the dimension after attach(), or not name it any more after detach(). is_attached() is
/// false then, and here, too, the same call completes what is left.
///
/// With H5MOTE_ALL_FORMATS, lists of revised references, which libhdf5 1.12 and later can be built to write, are read
/// as well. They are not changed: attach() and detach() are unsupported (Feature::type_conversion) where one of the two
/// objects has such a list, and nothing is changed then.
///
/// All functions can return what attributes can (Object). invalid_argument: the dataset has no such dimension.
/// unsupported: a program without formats::conversion and formats::variable_length_changes.
class DimensionScales {
public:
    /// Makes the dataset a scale (H5DSset_scale), with a name unless that is empty. After an error it is what it was;
    /// if it cannot be changed back either, or had a class of more than 64 characters, it may stay a scale without the
    /// name. invalid_argument: scales are attached to the dataset itself, or the name contains a zero byte.
    /// over_budget: a name of more than 64 KiB.
    static Status set(Dataset& scale, std::string_view name = {}) noexcept;
    /// Whether the object is a scale (H5DSis_scale).
    static Status is_scale(const Object& object, bool& result) noexcept;
    /// Copies the scale's name, and its length to `length`; 0 if it has none. invalid_argument: `to` is too small.
    static Status name(const Object& scale, Span<char> to, std::size_t& length) noexcept;

    /// Attaches a scale to a dimension (H5DSattach_scale); more than one may be. A dataset that is no scale becomes
    /// one. Nothing happens if it is attached already. invalid_argument: both are the same, `data` is a scale, scales
    /// are attached to `scale`, or they are in different files.
    static Status attach(Dataset& data, unsigned dimension, Dataset& scale) noexcept;
    /// H5DSdetach_scale. not_found: the scale is not attached.
    static Status detach(Dataset& data, unsigned dimension, Dataset& scale) noexcept;
    /// Whether both objects say so (H5DSis_attached).
    static Status is_attached(const Dataset& data, unsigned dimension, const Dataset& scale, bool& result) noexcept;
    /// The number of scales of a dimension (H5DSget_num_scales).
    static Status count(const Dataset& data, unsigned dimension, std::uint32_t& count) noexcept;
    /// The i-th scale of a dimension (H5DSiterate_scales). not_found: there is no i-th.
    static Result<Object> scale(const Dataset& data, unsigned dimension, std::uint32_t i) noexcept;

    /// Names a dimension (H5DSset_label). `text`: UTF-8 without zero bytes, ended by NUL.
    static Status set_label(Dataset& data, unsigned dimension, const char* text) noexcept;
    /// Copies the name of a dimension, and its length to `length`; 0 if it has none. invalid_argument: `to` is too
    /// small.
    static Status label(const Dataset& data, unsigned dimension, Span<char> to, std::size_t& length) noexcept;

private:
    class Lists;
};

}  // namespace h5mote
