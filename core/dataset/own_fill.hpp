// H5D (H5Dfill) - fill values of variable length.
//
// The fill value of strings and sequences is an object of the global heap, which the fill value message names. An
// element that names the same object would take it away from the message and from all others as soon as somebody writes
// the element: libhdf5 and h5mote remove the objects of the value that was there. So, as in libhdf5, every element that
// is filled gets copies of its own, which are on the storage before anything leads to the element. Where nothing is
// stored, reading takes the value of the message.
//
// Elements beyond the extent are nobody's values: they get no copies, and name no object. libhdf5, which makes copies
// for them as well, shows no values there instead of the fill value if it is the one that makes the dataset larger.
#pragma once

#include "file_state.hpp"
#include "owned_bytes.hpp"

#include <h5mote/datatype.hpp>

namespace h5mote {

class DatasetState;

/// Where elements stand that get the fill value: behind each other in a chunk.
struct FillPlace {
    const std::uint64_t* scaled;  ///< coordinates of the chunk; nullptr: all of the elements are within the extent
    const std::uint64_t* sizes;   ///< the extent; nullptr: none of the elements is within it
    std::uint64_t element;        ///< number of the first of them in the chunk
};

/// A fill value of variable length, for the time of a call.
class OwnFill {
public:
    explicit OwnFill(FileState& file) noexcept
        : file_(file), type_(file.context, MemoryKind::type), value_(file.context, MemoryKind::value) {}

    /// unsupported (Feature::datatype_class): the program lacks formats::variable_length_changes. out_of_memory.
    Status load(DatasetState& dataset) noexcept;
    /// Gives `count` elements copies of the value. no_space, out_of_memory, io_error, corrupt_file: all of them are
    /// zeros then, which name no object.
    Status copy(std::byte* to, std::size_t count) noexcept;
    /// Gives up the copies that elements have which will not be stored.
    void discard(const std::byte* elements, std::size_t count) noexcept;
    /// Gives copies of their own to those of `count` elements that name the objects of the fill value itself, as
    /// programs have left them that did not know better. The storage may lead to the elements already, so that
    /// note_heap() has to be called afterwards. Errors of copy();
    /// an element is as it was, or has copies.
    Status separate(std::byte* elements, std::size_t count) noexcept;

private:
    FileState& file_;
    OwnedBytes type_;
    OwnedBytes value_;
    DatatypeView view_;
};

}  // namespace h5mote
