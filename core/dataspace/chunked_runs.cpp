#include "gathered_selection.hpp"

#include "checked.hpp"

namespace h5mote {
Status chunk_element_count(const Dataspace& space, Span<const std::uint64_t> chunk, std::uint64_t& count) noexcept {
    if (!space.valid() || chunk.empty() || chunk.size() != space.rank()) {
        return Status::invalid_argument;
    }
    count = 1;
    bool fits = true;
    for (const std::uint64_t size : chunk) {
        if (size == 0) {
            return Status::invalid_argument;
        }
        fits = fits && checked_multiply(count, size, count);
    }
    return fits ? Status::ok : Status::overflow;
}

Status ChunkedRuns::reset(const Selection& selection, const Dataspace& space,
                          Span<const std::uint64_t> chunk) noexcept {
    std::uint64_t elements = 0;
    H5MOTE_TRY(chunk_element_count(space, chunk, elements));
    H5MOTE_TRY(selection.element_count(space, count_));
    bind(selection, space, chunk.data(), scaled_);
    chunk_ = chunk;
    fresh_ = true;
    ended_ = count_ == 0;
    return Status::ok;
}

bool ChunkedRuns::next_chunk() noexcept {
    if (ended_) {
        return false;
    }
    if (const GatheredSelection* const gathered = selection().gathered()) {
        ended_ = !(this->*gathered->next_chunk)();
        fresh_ = false;
        if (!ended_) {
            start();
        }
        return !ended_;
    }
    bool found = fresh_;
    for (std::size_t d = chunk_.size(); d-- > 0;) {
        const Axis here = axis(d);
        std::uint64_t index = 0;
        if (!fresh_) {
            // The next chunk is the one with the next selected coordinate behind this chunk; those between have nothing
            // selected.
            index = here.index_of(box(d).end);
            found = index != here.selected();
            index = found ? index : 0;
        }
        scaled_[d] = quotient_of(here.coordinate_of(index), chunk_[d]);
        if (found && !fresh_) {
            break;
        }
    }
    fresh_ = false;
    ended_ = !found;
    if (found) {
        start();
    }
    return found;
}

void ChunkedRuns::sort_points(std::uint64_t* keys) noexcept { (this->*selection().gathered()->sort)(keys); }

}  // namespace h5mote
