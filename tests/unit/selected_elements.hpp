// The elements of a selection, one by one.
#pragma once

#include "selection_runs.hpp"
#include "test.hpp"

#include <vector>

namespace h5mote_test {

using Numbers = std::vector<std::uint64_t>;

/// Returns the offsets of the selected elements in the extent, in the order of the selection.
inline Numbers elements_of_runs(const h5mote::Selection& selection, const h5mote::Dataspace& space) {
    Numbers elements;
    h5mote::SelectionRuns runs;
    EXPECT_EQ(runs.reset(selection, space), h5mote::Status::ok);
    for (h5mote::SelectionRun run{}; runs.next(run);) {
        EXPECT_EQ(run.packed, elements.size());
        for (std::uint64_t i = 0; i < run.length; ++i) {
            elements.push_back(run.offset + i);
        }
    }
    EXPECT_EQ(runs.element_count(), elements.size());
    return elements;
}

}  // namespace h5mote_test
