// Runs of points, each of one element: along their list or, for a dataset in chunks, chunk by chunk.

#include "checked.hpp"
#include "chunk_grid.hpp"
#include "gathered_selection.hpp"

namespace h5mote {
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

SelectionRun BoxRuns::point_run() const noexcept {
    const std::uint64_t number = point_number();
    const std::uint64_t* const point = selection_.point_list().data() + static_cast<std::size_t>(number) * rank();
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < rank(); ++d) {
        offset = offset * pitch_[d] + point[d] + selection_.offset(d) - box(d).begin;
    }
    return {offset, number, 1};
}

bool BoxRuns::step_points() noexcept {
    ++index_[0];
    return point_in_box();
}

bool BoxRuns::seek_point(std::uint64_t packed) noexcept {
    index_[0] = packed;
    return point_in_box();
}

bool BoxRuns::point_in_box() noexcept {
    const std::uint64_t* const point = next_point();
    if (point == nullptr) {
        return false;
    }
    for (std::size_t d = 0; d < rank() && scaled_ != nullptr; ++d) {
        if (point[d] + selection_.offset(d) - scaled_[d] * pitch_[d] >= pitch_[d]) {
            return false;
        }
    }
    return true;
}

const std::uint64_t* BoxRuns::next_point() const noexcept {
    return index_[0] < selection_.point_count()
               ? selection_.point_list().data() + static_cast<std::size_t>(point_number()) * rank()
               : nullptr;
}

void BoxRuns::finish_box() noexcept {
    while (!done_) {
        done_ = !step_points();
    }
}

bool ChunkedRuns::next_point_chunk() noexcept {
    finish_box();
    const std::uint64_t* const point = next_point();
    for (std::size_t d = 0; d < chunk_.size() && point != nullptr; ++d) {
        scaled_[d] = quotient_of(point[d] + selection().offset(d), chunk_[d]);
    }
    return point != nullptr;
}

void ChunkedRuns::sort_by_chunk(std::uint64_t* keys) noexcept {
    const Span<const std::uint64_t> points = selection().point_list();
    const std::uint64_t number_of_points = selection().point_count();
    bool sorted = true;
    for (std::size_t i = 0; i < number_of_points; ++i) {
        std::uint64_t key = 0;
        for (std::size_t d = 0; d < chunk_.size(); ++d) {
            const std::uint64_t scaled = quotient_of(points[i * chunk_.size() + d] + selection().offset(d), chunk_[d]);
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

constexpr GatheredSelection GatheredSelection::points() noexcept {
    return {[](const Selection& selection, const Dataspace& space) {
                bool inside = true;
                std::size_t d = 0;
                for (std::uint64_t coordinate : selection.point_list()) {
                    inside = inside && selection.move(coordinate, d) && coordinate < space.dims()[d];
                    d = d + 1 == selection.rank() ? 0 : d + 1;
                }
                return inside && d == 0;
            },
            [](const Selection& selection) { return std::uint64_t{selection.point_count()}; },
            &BoxRuns::point_in_box,
            &BoxRuns::step_points,
            &BoxRuns::seek_point,
            &BoxRuns::point_run,
            &ChunkedRuns::next_point_chunk,
            &ChunkedRuns::sort_by_chunk};
}

const GatheredSelection gathered_points = GatheredSelection::points();

}  // namespace h5mote
