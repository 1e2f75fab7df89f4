// H5Z H5F H5D - the part of a Recorder that only a blueprint with filters has. Programs include <h5mote/recorder.hpp>.
//
// How large a chunk is behind its filters is not known before it is full. Until then its rows stand in the file as they
// are, which its filter mask says; so a flush costs no more than without filters. When the chunk is full, it goes
// through the filters from memory to a new place, one write makes the chunk index lead there, and the next chunk's rows
// get the place of the old ones. A chunk that is full at its first flush is written once, through the filters.
#pragma once

#include <h5mote/recorder_base.hpp>

namespace h5mote {

/// A RecorderBase some of whose datasets have filters. It is none: what flushes and closes those of other blueprints
/// knows nothing of filters.
class FilteringRecorderBase : protected RecorderBase {
public:
    using RecorderBase::abandon;
    using RecorderBase::difference;
    using RecorderBase::is_open;

    /// As those of RecorderBase, with two further syncs for each chunk that is full. unsupported, over_budget,
    /// invalid_argument: a filter that is not optional fails.
    Status flush() noexcept;
    Status close() noexcept;

protected:
    using RecorderBase::rows;
    using RecorderBase::set;

    constexpr FilteringRecorderBase() noexcept = default;
    ~FilteringRecorderBase() = default;

    // `filters`: of all datasets of the table. `work`: memory for the filters, aligned to 8.
    Status open(Driver& driver, const blueprint::Table& table, Slot* slots, std::byte* chunks, Linker linker,
                const blueprint::RecordedFilters* filters, Bytes work) noexcept;
    Status advance(Slot& slot) noexcept;

private:
    struct Pipeline;
    struct Chunk;
    struct Node;

    const blueprint::RecordedFilters& filters_of(const Slot& slot) const noexcept { return filters_[&slot - slots_]; }

    // filtering_recorder.cpp
    Status load(Slot& slot) noexcept;
    Status load_chunk(const Slot& slot, const Chunk& chunk, const Pipeline& pipeline) noexcept;
    Status place_rows(Slot& slot) noexcept;
    Status filter_chunk(Slot& slot) noexcept;
    Status store_filtered(Slot& slot, ConstBytes bytes, std::uint32_t filter_mask) noexcept;
    Status allocate(const Slot& slot, Address size, bool in_sector, Address& address) noexcept;
    Address fitting(Address size, bool in_sector) const noexcept;
    Status give_back_spare() noexcept;

    // chunk_tree.cpp
    Status find(const Slot& slot, Chunk& chunk) noexcept;
    Status put(const Slot& slot, const Chunk& chunk) noexcept;
    std::uint64_t first_row(const Slot& slot, const Chunk& chunk) const noexcept;
    Status descend(const Slot& slot, const Chunk& chunk, Address* path, Node& node, unsigned& i, bool& found) noexcept;
    Status settle(const Slot& slot, Address pointer, Node& node) noexcept;
    Status point_to(const Node& node, Address pointer) noexcept;
    Status add_nodes(const Slot& slot, const Address* path, Node& node, const Chunk& chunk) noexcept;
    Status read_node(Address address, Node& node) noexcept;
    Status write_node(Node& node, unsigned from) noexcept;
    static void clear_node(Node& node, Address address, unsigned level, Address left) noexcept;
    static Address child_of(Node& node, unsigned i) noexcept;
    void set_key(const Slot& slot, std::byte* key, const Chunk& chunk) noexcept;
    void set_end(const Slot& slot, Node& node) noexcept;
    void add_child(const Slot& slot, Node& node, Address child, const Chunk& chunk) noexcept;
    void end_node(const Slot& slot, Node& node, Address right, const Chunk& chunk) noexcept;

    const blueprint::RecordedFilters* filters_ = nullptr;
    Bytes work_;
    Address spare_ = 0;           // the file has unused bytes from here ...
    Address spare_end_ = 0;       // ... to here
    bool index_changed_ = false;  // a chunk index was changed since the last flush
};

}  // namespace h5mote
