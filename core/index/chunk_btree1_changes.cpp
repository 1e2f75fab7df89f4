#include "chunk_btree1_changes.hpp"

#include "checked.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr unsigned kChunk = 1;   // room for the chunk's key
constexpr unsigned kBehind = 2;  // for the key behind it, and for the key of the entry before which it goes

}  // namespace

// `behind`: the key that ends a tree whose last chunk this is, one chunk further in all dimensions, as libhdf5 sets it.
// Where that is no number, the chunk's own offset is as good: the size of an element, in place of a chunk's 0, makes
// the key greater.
Bytes ChunkBTree1Changes::make_key(unsigned number, const std::uint64_t* scaled, bool behind) noexcept {
    const Bytes key = key_room(number);
    std::memset(key.data(), 0, key.size());
    for (unsigned i = 0; i < chunks_.rank_; ++i) {
        const std::uint64_t offset = scaled[i] * chunks_.chunk_[i];
        std::uint64_t next = offset;
        const bool fits = checked_add(offset, chunks_.chunk_[i], next);
        ChunkBTree1Key::store_offset(key.data(), i, behind && fits ? next : offset);
    }
    ChunkBTree1Key::store_offset(key.data(), chunks_.rank_, behind ? element_size_ : 0);
    return key;
}

Status ChunkBTree1Changes::set(const std::uint64_t* scaled, const ChunkLocation& location) noexcept {
    if constexpr (sizeof location.size > 4) {
        if (location.size > 0xffffffffU) {
            return file().context.fail(Module::index, H5MOTE_HERE, Status::invalid_argument, 0, location.size);
        }
    }
    chunks_.look_for(scaled);
    const Status found = find();
    if (found != Status::ok && found != Status::not_found) {
        return found;
    }
    const Bytes key = make_key(kChunk, scaled, false);
    ChunkBTree1Key::store_bytes(key.data(), static_cast<std::uint32_t>(location.size), location.mask);
    BTree1Edit edit;
    if (found == Status::not_found || equal() || before()) {
        edit.left = key;
        edit.child = location.address;
    } else {
        edit.middle = key;
        edit.added = location.address;
    }
    if (found == Status::not_found || behind()) {
        edit.right = make_key(kBehind, scaled, true);
    } else if (before()) {
        H5MOTE_TRY(left_key(key_room(kBehind)));
        H5MOTE_TRY(child(edit.added));
        edit.middle = key_room(kBehind);
    }
    return change(edit);
}

Status ChunkBTree1Changes::remove(const std::uint64_t* scaled) noexcept {
    chunks_.look_for(scaled);
    H5MOTE_TRY(find());
    return equal() ? BTree1Changes::remove() : Status::not_found;
}

}  // namespace h5mote
