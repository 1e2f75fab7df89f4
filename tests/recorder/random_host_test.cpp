// Random sequences of everything that may happen to a recorder's file, against a model in memory. Of each seed one
// storage and one blueprint follow. H5MOTE_RANDOM_SECONDS: how long; H5MOTE_RANDOM_SEED: only this one.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "others.hpp"
#include "play.hpp"
#include "sweep.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <ctime>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

struct Counts {
    std::size_t steps = 0;
    std::size_t cuts = 0;
    std::size_t changes = 0;
    std::size_t refused = 0;
    std::size_t sessions = 0;
};

class Trial {
public:
    Trial(std::uint64_t seed, Counts& counts) : random_(seed), counts_(counts) {
        const MakeRecording all[] = {
            recordings<kTurns>(),
            recordings<kFlight<8, true>>(),
            recordings<kFlight<4, false>>(),
            recordings<kBytes>(),
            recordings<kTall8>(),
            recordings<kOne>(),
            recordings<kNothing>(),
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
            recordings<kFiltered<4>>(),
            recordings<kFiltered<8>>(),
            recordings<kFine<4>>(),
#endif
        };
        recording_ = all[random_.below(sizeof all / sizeof all[0])]();
        contents_ = empty_contents(recording_->described());
    }

    // Returns what is wrong; empty: nothing.
    std::string run() {
        for (unsigned session = 0; session < 12; ++session) {
            std::string bad = this->session();
            if (!bad.empty()) {
                return "session " + std::to_string(session) + ": " + bad;
            }
            for (std::size_t n = random_.below(3); n > 0 && contents_.created; --n) {
                bad = others();
                if (!bad.empty()) {
                    return "after session " + std::to_string(session) + ": " + bad;
                }
            }
        }
        return "";
    }

private:
    std::string compare() {
        Seen seen;
        std::string bad = compare_by_libhdf5({image_.data(), image_.size()}, recording_->described(), contents_, seen);
        if (!bad.empty()) {
            return bad;
        }
        MemoryDriver driver = MemoryDriver::reading({image_.data(), image_.size()});
        Seen by_h5mote = seen;
        if (contents_.created && H5MOTE_ALL_FORMATS != 0) {
            bad = compare_by_h5mote(driver, recording_->described(), contents_, by_h5mote);
        }
        if (bad.empty() && (by_h5mote.rows != seen.rows || by_h5mote.settings != seen.settings)) {
            bad = "h5mote and libhdf5 read different values";
        }
        contents_ = contents_as(contents_, seen);
        return bad;
    }

    // The recorder does something; then the power fails, or the file is closed.
    std::string session() {
        ++counts_.sessions;
        MallocAllocator allocator;
        GrowingMemoryDriver memory(allocator,
                                   random_.one_in(6) ? image_.size() + random_.below(3000) + 3000 : ~std::size_t{0});
        if (memory.assign({image_.data(), image_.size()}) != Status::ok) {
            return "no room for the image";
        }
        std::vector<DiskOperation> operations;
        DiskRecorder disk(memory, 0, operations);
        const Disks begin(1, image_);
        life_ += 20;
        Play play(*recording_, disk, contents_, life_, [&operations] { return operations.size(); });
        play.allow(Status::no_space);
        const std::size_t datasets = recording_->described().datasets.size();
        const std::size_t settings = recording_->described().settings.size();
        bool ended = false;
        for (std::size_t step = 0; step < 30 && play.failure.empty() && !ended; ++step) {
            ++counts_.steps;
            if (!play.is_open()) {
                const Status opened = recording_->is_open() ? Status::ok : play.open();
                if (opened == Status::no_space) {
                    break;
                }
                continue;
            }
            switch (random_.below(12)) {
                case 0:
                    (void)play.close();
                    break;
                case 1:
                    play.abandon();
                    break;
                case 2:
                    ended = random_.one_in(3);
                    break;
                case 3:
                case 4:
                    if (settings != 0) {
                        (void)play.set(random_.below(settings));
                    }
                    break;
                case 5:
                case 6:
                case 7:
                    (void)play.flush();
                    break;
                default:
                    if (datasets != 0) {
                        const std::size_t which = random_.below(datasets);
                        const std::uint32_t chunk = recording_->described().datasets[which].chunk;
                        (void)play.append(which, random_.one_in(8) ? random_.below(40 * chunk) + 1
                                                                   : random_.below(2 * chunk + 2) + 1);
                    }
            }
        }
        recording_->abandon();
        if (!play.failure.empty()) {
            return play.failure;
        }
        if (random_.one_in(3)) {
            contents_ = play.now();
            image_.assign(memory.contents().begin(), memory.contents().end());
            return compare();
        }
        // The power fails: some states are judged, and the last one is what the next session finds.
        std::string bad;
        Image left = image_;
        std::size_t at = 0;
        DiskStates states(begin, operations, [&](const Disks& disks, std::size_t done, const char*, std::size_t) {
            ++counts_.cuts;
            Seen seen;
            if (bad.empty()) {
                bad = compare_by_libhdf5({disks[0].data(), disks[0].size()}, recording_->described(), play.at(done),
                                         seen);
            }
            if (random_.one_in(4)) {
                left = disks[0];
                at = done;
            }
        });
        states.draw(12, random_);
        contents_ = play.at(at);
        image_ = left;
        return bad.empty() ? compare() : "power cut: " + bad;
    }

    // Somebody else changes the file. What the recorder then refuses is taken back.
    std::string others() {
        ++counts_.changes;
        const Blob before = image_;
        const Contents then = contents_;
        life_ += 20;
        const auto change = static_cast<Change>(random_.below(kChanges));
        std::string bad;
        if (H5MOTE_ALL_FORMATS == 0 || random_.one_in(2)) {
            bad = change_by_libhdf5(image_, recording_->described(), contents_, life_, change, random_);
        } else {
            MallocAllocator allocator;
            GrowingMemoryDriver driver(allocator);
            (void)driver.assign({image_.data(), image_.size()});
            bad = change_by_h5mote(driver, recording_->described(), contents_, life_, change, random_);
            image_.assign(driver.contents().begin(), driver.contents().end());
        }
        if (bad.empty()) {
            bad = compare();
        }
        if (bad.empty()) {
            MemoryDriver driver(Bytes(image_.data(), image_.size()), image_.size());
            const Status status = recording_->open(driver);
            recording_->abandon();
            // reclaim() gives up the bytes that tell a changed file from one of another blueprint.
            if (status == Status::foreign_changes || status == Status::other_blueprint) {
                ++counts_.refused;
                image_ = before;
                contents_ = then;
            } else if (status != Status::ok) {
                bad = std::string("open: ") + to_string(status);
            }
        }
        return bad.empty() ? "" : "change " + std::to_string(static_cast<unsigned>(change)) + ": " + bad;
    }

    Random random_;
    Counts& counts_;
    std::unique_ptr<Recording> recording_;
    Contents contents_;
    Image image_;
    unsigned life_ = 0;
};

}  // namespace

TEST(RecorderRandom, AgainstAModel) {
    Counts counts;
    const auto run = [&](std::uint64_t seed) {
        const std::string bad = Trial(seed, counts).run();
        EXPECT_EQ(bad, "") << "H5MOTE_RANDOM_SEED=" << seed;
    };
    std::size_t trials = 0;
    if (std::getenv("H5MOTE_RANDOM_SEED") != nullptr) {
        run(one_in("H5MOTE_RANDOM_SEED"));
        return;
    }
    const std::size_t seconds = std::getenv("H5MOTE_RANDOM_SECONDS") != nullptr ? one_in("H5MOTE_RANDOM_SECONDS") : 0;
    const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(seconds);
    for (std::uint64_t seed = 1; (seconds != 0 ? std::time(nullptr) < end : seed <= 150) && !HasFailure(); ++seed) {
        run(seed + (seconds != 0 ? 1000 : 0));
        ++trials;
    }
    std::printf("%zu trials: %zu sessions, %zu steps, %zu cuts, %zu changes by others, %zu refused\n", trials,
                counts.sessions, counts.steps, counts.cuts, counts.changes, counts.refused);
}
