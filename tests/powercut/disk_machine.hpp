// One machine of a sweep of power cuts: a file on a disk, or on a disk with a journal on a second one.
#pragma once

#include "cuts.hpp"
#include "disk_states.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace h5mote_test {

/// A machine with one disk, or with two and a journal on the second.
class Disk {
public:
    Disk(const Disks& begin, bool journaled)
        : home_(heap_), log_(heap_), journal_(recorders_[0], recorders_[1], memory_) {
        EXPECT_EQ(home_.assign({begin[0].data(), begin[0].size()}), h5mote::Status::ok);
        if (journaled) {
            EXPECT_EQ(log_.assign({begin[1].data(), begin[1].size()}), h5mote::Status::ok);
            h5mote::JournalOptions options;
            options.checkpoint = 8192;
            options.limit = 1U << 20;
            mounted = journal_.open(options);
        }
        driver_ = journaled ? static_cast<h5mote::Driver*>(&journal_) : &recorders_[0];
    }
    h5mote::Driver& driver() { return *driver_; }

    std::vector<DiskOperation> operations;
    h5mote::Status mounted = h5mote::Status::ok;

private:
    h5mote::MallocAllocator heap_;
    h5mote::GrowingMemoryDriver home_;
    h5mote::GrowingMemoryDriver log_;
    Sectored sectored_[2] = {{home_, 512}, {log_, 512}};
    DiskRecorder recorders_[2] = {{sectored_[0], 0, operations}, {sectored_[1], 1, operations}};
    alignas(8) std::byte memory_[h5mote::JournalDriver::required_memory()];
    h5mote::JournalDriver journal_;
    h5mote::Driver* driver_ = nullptr;
};

/// Lets the power fail everywhere in `operations`, on machines that began with the disks `begin`. `number(operations)`:
/// what the state after so many operations is judged by; of equal disks with the same number one is judged, and none
/// whose number is 0. `judge(disks, left, operations)`: what is wrong with the disks that the cut has left, of which
/// `left` is a machine, or an empty string.
template <typename Number, typename Judge>
void sweep_disks(const Disks& begin, const std::vector<DiskOperation>& operations, bool journaled, Tally& tally,
                 const Number& number, const Judge& judge) {
    DiskStates states(begin, operations,
                      [&](const Disks& disks, std::size_t done, const char* what, std::size_t which) {
                          std::uint64_t hash = number(done);
                          const bool judged = hash != 0;
                          for (const Image& image : disks) {
                              hash = hash_of({image.data(), image.size()}, hash);
                          }
                          if (!judged || !tally.is_new(hash)) {
                              return;
                          }
                          tally.cut(true);
                          Disk left(disks, journaled);
                          const std::string bad = judge(disks, left, done);
                          if (!bad.empty()) {
                              tally.lost("cut after " + std::to_string(done) + ", " + what + " " +
                                         std::to_string(which) + ": " + bad);
                          }
                      });
    states.random_subsets = 40;
    states.enough = [&] { return tally.enough(); };
    states.run();
}

}  // namespace h5mote_test
