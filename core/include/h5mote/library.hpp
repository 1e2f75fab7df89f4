// The library context: all that h5mote knows between two calls is in here or in an open file.
#pragma once

#include <h5mote/context.hpp>

// Joins the values of all options that change the layout or the functions of a public class into one identifier,
// "options_write_1_trail_16_rank_32_...".
// clang-format off
#define H5MOTE_OPTIONS_NAME_(write, trail, rank, filters, pipeline, depth, extents, large, others, fixed, partial, \
                             order, prepare, room, conversion, all, threads, lists)                                \
    options_write_##write##_trail_##trail##_rank_##rank##_filters_##filters##_pipeline_##pipeline##_depth_##depth##\
_extents_##extents##_large_##large##_others_##others##_fixed_##fixed##_partial_##partial##_order_##order##_prepare_\
##prepare##_room_##room##_conversion_##conversion##_all_##all##_threads_##threads##_lists_##lists
// clang-format on
#define H5MOTE_OPTIONS_NAME_OF_(...) H5MOTE_OPTIONS_NAME_(__VA_ARGS__)
#define H5MOTE_OPTIONS_NAME                                                                                        \
    H5MOTE_OPTIONS_NAME_OF_(H5MOTE_WRITE, H5MOTE_ERROR_TRAIL, H5MOTE_MAX_RANK, H5MOTE_FILTERS, H5MOTE_MAX_FILTERS, \
                            H5MOTE_MAX_TYPE_DEPTH, H5MOTE_FREE_EXTENTS, H5MOTE_LARGE_FILES, H5MOTE_OTHER_FILES,    \
                            H5MOTE_FIXED_CHUNKS, H5MOTE_PARTIAL_IO, H5MOTE_CREATION_ORDER, H5MOTE_PREPARE_APPENDS, \
                            H5MOTE_KEEP_ROOM, H5MOTE_CONVERSION, H5MOTE_ALL_FORMATS, H5MOTE_THREADS,               \
                            H5MOTE_FREE_LISTS)

namespace h5mote {

// A program whose options differ from those of the compiled archives must not link. It does not, because every function
// that opens a file takes a Library, and the options are part of that class's full name; the linker's message shows
// them.
inline namespace H5MOTE_OPTIONS_NAME {

/// The library context that a program makes: one allocator, one port, the filters and the parts of the format that this
/// program links, the error trail. It borrows what it is given, and must outlive every file opened with it.
///
/// Threads: with H5MOTE_THREADS and a port that has a lock, threads may call a Library, its files and their objects at
/// the same time; calls wait for each other (LibraryLock). Otherwise only one thread at a time may use all of them.
/// Either way a handle is moved, assigned, closed or destroyed only while no other thread uses that same handle; a view
/// that a function returns is used before another thread can change what it shows; and nothing is called from an
/// interrupt. port/README.md says more.
class Library final : public Context {
public:
    /// `filters`: a pointer to each filter that files may need, e.g. `{&shuffle_filter, &deflate_filter}`.
    /// `formats`: the parts of the file format that files may need; without it all parts of the build.
    Library(Allocator& allocator, Port& port, Span<const Filter* const> filters = {},
            const Formats& formats = formats::standard) noexcept
        : Context(allocator, port, filters, formats) {}
};

}  // namespace H5MOTE_OPTIONS_NAME

}  // namespace h5mote
