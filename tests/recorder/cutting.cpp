#include "cutting.hpp"

#include "others.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace h5mote_test {

using namespace h5mote;

namespace {

// A disk whose new bytes read as anything.
class Junk final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Capabilities capabilities() const noexcept override {
        Capabilities capabilities = ForwardingDriver::capabilities();
        capabilities.extends_with_zeros = false;
        return capabilities;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        H5MOTE_TRY(spoil(address));
        return ForwardingDriver::write(usage, address, from);
    }
    Status truncate(std::uint64_t size) noexcept override {
        H5MOTE_TRY(spoil(size));
        return ForwardingDriver::truncate(size);
    }

private:
    // Fills what lies between the end of the disk and `to`.
    Status spoil(std::uint64_t to) noexcept {
        std::uint64_t size = 0;
        H5MOTE_TRY(end_of_file(size));
        if (size >= to) {
            return Status::ok;
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(to - size));
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(0xa0 + i * 7);
        }
        return ForwardingDriver::write(Usage::raw_data, size, {bytes.data(), bytes.size()});
    }
};

class Ordered final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Capabilities capabilities() const noexcept override {
        Capabilities capabilities = ForwardingDriver::capabilities();
        capabilities.ordered = true;
        capabilities.sync_is_barrier = false;
        return capabilities;
    }
};

struct Journal {
    Journal(Driver& home, Driver& log) : driver(home, log, Bytes(memory)) {}
    alignas(8) std::byte memory[JournalDriver::required_memory()];
    JournalDriver driver;
};

// Disks in memory with what is mounted on them. It records what reaches the disks.
class Machine {
public:
    Machine(const CutOptions& options, const Disks& begin) : options_(options) {
        for (unsigned i = 0; i < begin.size(); ++i) {
            memory_.push_back(std::make_unique<GrowingMemoryDriver>(allocator_, options.limit));
            (void)memory_[i]->assign({begin[i].data(), begin[i].size()});
            Driver* driver = memory_[i].get();
            if (options.storage == Storage::junk) {
                junk_.push_back(std::make_unique<Junk>(*driver));
                driver = junk_[i].get();
            } else if (options.storage == Storage::ordered) {
                ordered_.push_back(std::make_unique<Ordered>(*driver));
                driver = ordered_[i].get();
            }
            recorders_.push_back(std::make_unique<DiskRecorder>(*driver, i, operations));
        }
    }
    static Disks blank(const CutOptions& options) {
        Disks disks(options.storage == Storage::journal ? 2 : 1);
        disks[0] = options.begin;
        return disks;
    }
    // Mounts the disks as after switching on.
    Status mount() {
        journal_.reset();
        if (options_.storage != Storage::journal) {
            return Status::ok;
        }
        journal_ = std::make_unique<Journal>(*recorders_[0], *recorders_[1]);
        JournalOptions options;
        options.checkpoint = 2048;
        return journal_->driver.open(options);
    }
    Driver& driver() { return journal_ ? static_cast<Driver&>(journal_->driver) : *recorders_[0]; }
    // The file, when libhdf5 can read it from the disk.
    ConstBytes contents() const { return memory_[0]->contents(); }
    Disks disks() const {
        Disks result;
        for (const auto& memory : memory_) {
            result.emplace_back(memory->contents().begin(), memory->contents().end());
        }
        return result;
    }
    // The file, as the mounted storage has it.
    Image file() {
        std::uint64_t size = 0;
        Image image;
        if (driver().end_of_file(size) == Status::ok) {
            image.resize(static_cast<std::size_t>(size));
            if (driver().read(Usage::raw_data, 0, {image.data(), image.size()}) != Status::ok) {
                image.clear();
            }
        }
        return image;
    }

    std::vector<DiskOperation> operations;

private:
    const CutOptions& options_;
    MallocAllocator allocator_;
    std::vector<std::unique_ptr<GrowingMemoryDriver>> memory_;
    std::vector<std::unique_ptr<Junk>> junk_;
    std::vector<std::unique_ptr<Ordered>> ordered_;
    std::vector<std::unique_ptr<DiskRecorder>> recorders_;
    std::unique_ptr<Journal> journal_;
};

class Sweep {
public:
    Sweep(const std::string& name, const MakeRecording& make, const Workload& workload, const CutOptions& options)
        : options_(options), judged_(make()), tally(name) {
        begin_ = Machine::blank(options);
        Contents contents = empty_contents(judged_->described());
        if (options.before) {
            Machine machine(options, begin_);
            EXPECT_EQ(machine.mount(), Status::ok);
            Play play(*judged_, machine.driver(), contents, 0, [] { return 0; });
            options.before(play);
            EXPECT_EQ(play.failure, "") << name;
            judged_->abandon();
            begin_ = machine.disks();
            contents = play.now();
        }
        for (unsigned i = 0; i < options.others && contents.created; ++i) {
            Random random(i);
            Seen seen;
            EXPECT_EQ(compare_by_libhdf5({begin_[0].data(), begin_[0].size()}, judged_->described(), contents, seen),
                      "");
            contents = contents_as(contents, seen);
            EXPECT_EQ(change_by_libhdf5(begin_[0], judged_->described(), contents, 500 + i, Change::append, random),
                      "");
        }
        Machine machine(options, begin_);
        EXPECT_EQ(machine.mount(), Status::ok);
        recorded_ = make();
        play_ = std::make_unique<Play>(*recorded_, machine.driver(), contents, 1,
                                       [&machine] { return machine.operations.size(); });
        workload(*play_);
        EXPECT_EQ(play_->failure, "") << name;
        recorded_->abandon();
        operations_ = std::move(machine.operations);
    }

    void run() {
        cut(begin_, operations_, options_.random_subsets * (long_run() ? 40 : 1), true,
            [this](const Disks& disks, std::size_t done, const std::string& what) {
                check(disks, *play_, done, what, true);
            });
    }

private:
    using Check = std::function<void(const Disks&, std::size_t, const std::string&)>;

    void cut(const Disks& begin, const std::vector<DiskOperation>& operations, std::size_t random, bool first,
             const Check& then) {
        DiskStates states(
            begin, operations, [&](const Disks& disks, std::size_t done, const char* what, std::size_t number) {
                then(disks, done, "cut after " + std::to_string(done) + ", " + what + " " + std::to_string(number));
            });
        states.ordered = options_.storage == Storage::ordered;
        states.junk = options_.storage == Storage::junk;
        states.all_subsets = first ? 6 : 4;
        states.random_subsets = random;
        states.enough = [this] { return tally.enough(); };
        states.run();
    }

    void check(const Disks& disks, const Play& play, std::size_t done, const std::string& what, bool first) {
        const Contents contents = play.at(done);
        std::uint64_t hash = first ? 1 : recovery_ * 0x100000001U;
        hash += contents.created ? 7 : 3;
        for (const std::uint64_t rows : contents.least) {
            hash = hash * 31 + rows;
        }
        for (const auto& values : contents.settings) {
            hash = hash * 31 + values.size();
        }
        for (const Image& image : disks) {
            hash = hash_of({image.data(), image.size()}, hash);
        }
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        const std::string bad = go_on(disks, contents, hash, first);
        if (!bad.empty()) {
            tally.lost(what + ": " + (first ? "" : "in the recovery: ") + bad);
        }
    }

    // Judges what a cut left behind, goes on from there, and judges that.
    std::string go_on(const Disks& disks, const Contents& contents, std::uint64_t hash, bool first) {
        Machine machine(options_, disks);
        const Status mounted = machine.mount();
        if (mounted != Status::ok) {
            return std::string("mount: ") + to_string(mounted);
        }
        Image image;
        ConstBytes file = machine.contents();
        if (options_.storage == Storage::journal) {
            image = machine.file();
            file = {image.data(), image.size()};
        }
        const Described& described = judged_->described();
        Seen seen;
        std::string bad = compare_by_libhdf5(file, described, contents, seen);
        if (!bad.empty()) {
            return bad;
        }
        if (H5MOTE_ALL_FORMATS != 0 && hash / 8 % 4 == 0) {
            Seen by_h5mote;
            bad = compare_by_h5mote(machine.driver(), described, contents, by_h5mote);
            if (!bad.empty() || by_h5mote.rows != seen.rows || by_h5mote.settings != seen.settings) {
                return bad.empty() ? "h5mote and libhdf5 read different values" : bad;
            }
        }
        Play play(*judged_, machine.driver(), contents_as(contents, seen),
                  1000 + static_cast<unsigned>(tally.cuts() % 1000), [&machine] { return machine.operations.size(); });
        if (options_.limit != ~std::size_t{0}) {
            play.allow(Status::no_space);
        }
        resume(play, hash);
        judged_->abandon();
        if (!play.failure.empty()) {
            return "going on: " + play.failure;
        }
        image = machine.file();
        bad = compare_by_libhdf5({image.data(), image.size()}, described, play.now(), seen);
        if (bad.empty() && hash / 32 % 16 == 0) {
            bad = compare_by_h5mote(machine.driver(), described, play.now(), seen);
        }
        if (!bad.empty()) {
            return "afterwards: " + bad;
        }
        const std::size_t one_in = options_.recovery_of * (long_run() ? 1 : 10);
        if (first && one_in != 0 && !expects_losses() && hash / 1024 % one_in == 0) {
            tally.recovery();
            ++recovery_;
            cut(disks, machine.operations, 3, false,
                [&](const Disks& twice, std::size_t done, const std::string& what) {
                    check(twice, play, done, what, false);
                });
        }
        return "";
    }

    // What a logger does when it is switched on again: appends to every dataset, sets every setting, and closes.
    static void resume(Play& play, std::uint64_t hash) {
        if (play.open() != Status::ok) {
            return;
        }
        const Described& described = play.described();
        for (unsigned round = 0; round < 2; ++round) {
            for (std::size_t i = 0; i < described.datasets.size(); ++i) {
                (void)play.append(i, 1 + (hash >> (3 * i + round)) % (2 * described.datasets[i].chunk + 2));
            }
            if (round == 0) {
                (void)play.flush();
                for (std::size_t i = 0; i < described.settings.size(); ++i) {
                    (void)play.set(i);
                }
            }
        }
        (void)play.close();
    }

    const CutOptions& options_;
    std::unique_ptr<Recording> judged_;
    std::unique_ptr<Recording> recorded_;
    std::unique_ptr<Play> play_;
    Disks begin_;
    std::vector<DiskOperation> operations_;
    std::uint64_t recovery_ = 0;

public:
    Tally tally;
};

}  // namespace

void cut_recorder(Tally& total, const std::string& name, const MakeRecording& make, const Workload& workload,
                  std::size_t floor, const CutOptions& options) {
    Sweep sweep(name, make, workload, options);
    sweep.run();
    sweep.tally.check(floor);
    total.add(sweep.tally);
}

}  // namespace h5mote_test
