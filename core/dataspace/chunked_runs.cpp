#include "chunked_runs.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

// Chunks along a dimension of `size` elements.
std::uint64_t chunks_along(std::uint64_t size, std::uint64_t chunk) noexcept {
    return size == 0 ? 0 : (size - 1) / chunk + 1;
}

}  // namespace

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
    if (kind() != Kind::product) {
        ended_ = kind() == Kind::points ? !next_point_chunk() : !next_span_chunk();
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
        scaled_[d] = here.coordinate_of(index) / chunk_[d];
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

// Finds the next chunk dimension by dimension. A coordinate that is selected in one dimension always has elements in
// the dimensions behind it, so that the way down never fails.
bool ChunkedRuns::next_span_chunk() noexcept {
    std::size_t d = fresh_ ? 0 : chunk_.size();
    while (!fresh_ && d-- > 0) {
        const std::uint64_t next = first_coordinate(d, box(d).end);
        if (next != kUnlimited) {
            scaled_[d] = next / chunk_[d];
            ++d;
            break;
        }
        if (d == 0) {
            return false;
        }
    }
    for (; d < chunk_.size(); ++d) {
        scaled_[d] = first_coordinate(d, 0) / chunk_[d];
    }
    return true;
}

bool ChunkedRuns::next_point_chunk() noexcept {
    finish_box();
    const std::uint64_t* const point = next_point();
    for (std::size_t d = 0; d < chunk_.size() && point != nullptr; ++d) {
        scaled_[d] = (point[d] + selection().offset(d)) / chunk_[d];
    }
    return point != nullptr;
}

namespace {

// Lets the key at `at` sink to its place in a heap whose largest key is first.
void sift_down(std::uint64_t* keys, std::size_t at, std::size_t size) noexcept {
    const std::uint64_t key = keys[at];
    for (std::size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        child += child + 1 < size && keys[child] < keys[child + 1] ? 1 : 0;
        if (keys[child] <= key) {
            break;
        }
        keys[at] = keys[child];
        at = child;
    }
    keys[at] = key;
}

}  // namespace

void ChunkedRuns::sort_points(std::uint64_t* keys) noexcept {
    const Span<const std::uint64_t> points = selection().point_list();
    const std::uint64_t number_of_points = selection().point_count();
    bool sorted = true;
    for (std::size_t i = 0; i < number_of_points; ++i) {
        std::uint64_t key = 0;
        for (std::size_t d = 0; d < chunk_.size(); ++d) {
            const std::uint64_t scaled = (points[i * chunk_.size() + d] + selection().offset(d)) / chunk_[d];
            if (!checked_multiply(key, chunks_along(space().dims()[d], chunk_[d]), key) ||
                !checked_add(key, scaled, key)) {
                return;
            }
        }
        if (!checked_multiply(key, number_of_points, key) || !checked_add<std::uint64_t>(key, i, key)) {
            return;
        }
        keys[i] = key;
        sorted = sorted && (i == 0 || keys[i - 1] < key);
    }
    if (sorted) {
        return;
    }
    const std::size_t size = selection().point_count();
    for (std::size_t i = size / 2; i-- > 0;) {
        sift_down(keys, i, size);
    }
    for (std::size_t i = size; i-- > 1;) {
        const std::uint64_t largest = keys[0];
        keys[0] = keys[i];
        keys[i] = largest;
        sift_down(keys, 0, i);
    }
    set_order(keys);
}

}  // namespace h5mote
