// H5O - first blocks of object headers of version 1 that one message fills, across the end of an atomic unit. See
// any_placement.hpp.
#pragma once

#include "header.hpp"

namespace h5mote {

/// Makes such a block longer, where the space behind it is free or becomes free: a group's symbol table message may
/// have the root of the group's B-tree there, which can be moved. The block then has a null message behind the other
/// one, large enough for the steps of AnyPlacementFormat::place().
class FilledBlock {
public:
    explicit FilledBlock(FileState& file) noexcept : file_(file) {}
    /// Whether a block is one.
    bool find(CacheEntry& first) noexcept;
    /// Call after find(). `first` is the longer block afterwards, or the same one, or empty after an error.
    Status lengthen(Pinned& first) noexcept;

private:
    static constexpr std::size_t kCount = 2;  // where the prefix has the number of messages
    std::size_t room() const noexcept {
        return 2 * layout_.head_size() + layout_.body_size(continuation_body(file_.shape()));
    }
    Status write(Address address, ConstBytes bytes, bool durably = true) noexcept;
    Status hold_alone(Pinned& first, Address behind) noexcept;
    Status find_place(CacheEntry& first) noexcept;
    Status move_root(Address from) noexcept;
    Status change(CacheEntry& first) noexcept;

    FileState& file_;
    HeaderPrefix prefix_;
    HeaderLayout layout_;
    std::size_t body_ = 0;  // the offset of the message's body
    std::size_t node_ = 0;  // bytes of the root behind the block; 0: it is not there
    Address root_ = kUndefinedAddress;
    std::size_t changed_from_ = 0;  // the bytes of the root's address that are others at its new place
    std::size_t changed_to_ = 0;
};

}  // namespace h5mote
