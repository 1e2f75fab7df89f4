// Runs of selections that are not a product of their dimensions, whichever kind they are of.

#include "gathered_selection.hpp"

namespace h5mote {

void BoxRuns::start_gathered(const GatheredSelection& gathered) noexcept {
    done_ = !(this->*gathered.enter)();
    held_ = done_ ? held_ : (this->*gathered.run)();
}

void BoxRuns::seek_gathered(const GatheredSelection& gathered, std::uint64_t packed) noexcept {
    done_ = !(this->*gathered.seek)(packed);
    held_ = done_ ? held_ : (this->*gathered.run)();
}

// Joins runs that follow each other without a gap, in the extent and in the packed sequence.
void BoxRuns::next_gathered(const GatheredSelection& gathered, SelectionRun& run) noexcept {
    run = held_;
    for (;;) {
        done_ = !(this->*gathered.step)();
        if (done_) {
            break;
        }
        held_ = (this->*gathered.run)();
        if (held_.offset != run.offset + run.length || held_.packed != run.packed + run.length) {
            break;
        }
        run.length += held_.length;
    }
}

}  // namespace h5mote
