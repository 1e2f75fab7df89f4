// Power cuts within a recorder's workload.
#pragma once

#include "cuts.hpp"
#include "disk_states.hpp"
#include "play.hpp"

namespace h5mote_test {

/// What a storage promises, and how it behaves.
enum class Storage {
    plain,    ///< sectors arrive in any order between two syncs
    junk,     ///< and new bytes read as anything
    ordered,  ///< writes arrive in order
    journal,  ///< a JournalDriver over two plain disks
};

struct CutOptions {
    Storage storage = Storage::plain;
    Workload before;                 ///< what was done before the workload whose operations are cut
    unsigned others = 0;             ///< after that, libhdf5 appends rows so many times; not over a JournalDriver
    std::size_t random_subsets = 6;  ///< forty times as many in a long run
    std::size_t recovery_of = 50;    ///< one cut in ten times as many has its recovery cut; in so many in a long run
    std::size_t limit = ~std::size_t{0};  ///< bytes of the storage
    Image begin;                          ///< what the storage holds at first
};

/// Makes recorders of one blueprint.
using MakeRecording = std::function<std::unique_ptr<Recording>()>;
template <const auto& Blueprint>
MakeRecording recordings() {
    return [] { return std::make_unique<RecordingOf<Blueprint>>(); };
}

/// Does the workload, cuts it at every point, goes on after each cut, and adds what it counted to `total`. A loss
/// fails, and so do fewer cuts than `floor`. `name` is what is printed.
void cut_recorder(Tally& total, const std::string& name, const MakeRecording& make, const Workload& workload,
                  std::size_t floor, const CutOptions& options = {});

}  // namespace h5mote_test
