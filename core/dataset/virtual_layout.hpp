// H5D (virtual) - datasets made of pieces of other datasets.
// The bytes of the mappings are shown in virtual_mappings.hpp.
//
// Names may have "%b" for the number of a block of an unlimited virtual selection: a source for each block.
#pragma once

#include "header_message.hpp"
#include "messages.hpp"

#include <h5mote/dataset_info.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/selection_set.hpp>

namespace h5mote {

class DatasetState;
class PairedRuns;
struct TransferRequest;

/// Walks the mappings of a virtual dataset.
class VirtualLayout {
public:
    explicit VirtualLayout(FileState& file) noexcept : file_(file), source_(file.context), destination_(file.context) {}
    VirtualLayout(const VirtualLayout&) = delete;
    VirtualLayout& operator=(const VirtualLayout&) = delete;

    /// Reads the mappings in object `index` of a global heap collection; none if `collection` is undefined.
    /// corrupt_file (also the checksum), io_error, unsupported.
    Status open(Address collection, std::uint32_t index) noexcept;
    std::uint64_t size() const noexcept { return count_; }
    /// Lets go of the heap collection, so that it can change; what was read of the present mapping stays valid.
    void pause() noexcept { heap_.close(); }
    /// Finds the mappings in it again, which are object `index`. Errors as for open().
    Status resume(std::uint32_t index) noexcept;
    /// Goes to the next mapping; not_found after the last.
    Status next() noexcept;

    SelectionSet& source() noexcept { return source_; }
    SelectionSet& destination() noexcept { return destination_; }
    bool same_file() const noexcept { return file_name_.same; }
    /// Copies the names of the mapping's source as they are stored, with "%b".
    Status names(VirtualMapping& mapping) noexcept;
    /// The names of the source for block `block`. `numbered` becomes whether they depend on the number of the block.
    Status resolve(std::uint64_t block, VirtualMapping& mapping, bool& numbered) noexcept;

private:
    struct Name {
        Address at = 0;
        std::size_t length = 0;
        bool same = false;  // this file
    };

    Status damaged(SourcePlace place) noexcept {
        return file_.context.fail(Module::dataset, place, Status::corrupt_file, 0, collection_);
    }
    Status verify() noexcept;
    Status number(Address& at, std::uint64_t& value) noexcept;
    Status read_name(Address& at, Name& name) noexcept;
    Status read_names(Address& at, Name& file, Name& dataset, unsigned depth) noexcept;
    Status shared_name(std::uint64_t origin, bool file, Name& name) noexcept;
    Status skip_selection(Address& at) noexcept;
    Status read_selection(Address& at, SelectionSet* selection) noexcept;
    Status expand(const Name& name, std::uint64_t block, bool literal, char*& to, bool& numbered) noexcept;
    Status make(std::uint64_t block, bool literal, VirtualMapping& mapping, bool& numbered) noexcept;

    FileState& file_;
    MetadataWindow heap_;
    SelectionSet source_;
    SelectionSet destination_;
    Address collection_ = kUndefinedAddress;
    Address at_ = 0;
    Address first_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t next_ = 0;
    Name file_name_;
    Name dataset_name_;
    std::uint8_t version_ = 0;
};

/// Number of mappings of a virtual dataset.
Status count_mappings(FileState& file, const LayoutMessage& layout, std::uint32_t& count) noexcept;
/// What opens and reads virtual datasets, for programs that name formats::virtual_data.
struct VirtualDataFormat {
    /// Reads those elements of a request that sources have, over the fill values that are in the buffer. `space` is the
    /// extent of the virtual dataset. `pairs` says where in the buffer each selected element goes; there elements have
    /// `memory_size` bytes.
    Status (*read)(DatasetState& dataset, const TransferRequest& request, const Dataspace& space, PairedRuns& pairs,
                   std::uint32_t memory_size);
    /// Sets the extent of a virtual dataset, where mappings are unlimited, from its sources
    /// (H5D__virtual_set_extent_unlim). `depth`: as DatasetState::open().
    Status (*update_extent)(DatasetState& dataset, unsigned depth);
};

}  // namespace h5mote
