// Random power cuts on disks in memory: a file alone, or a file with a journal.
#include "../disk_states.hpp"
#include "campaign.hpp"

#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

namespace h5mote_test {

using namespace h5mote;

namespace {

struct DiskOptions {
    unsigned count = 1;
    std::size_t sector = 512;
    std::size_t limit = ~std::size_t{0};  ///< bytes of the first disk
    JournalOptions journal;
};

DiskOptions draw_options(Medium medium, std::uint64_t seed) {
    Random random(seed);
    DiskOptions options;
    if (medium == Medium::journal) {
        static constexpr std::uint32_t kCheckpoints[] = {1024, 2048, 4096, 32768};
        static constexpr std::uint16_t kLists[] = {1, 16, 64};
        options.count = 2;
        options.sector = random.one_in(2) ? 512 : 1;
        options.journal.checkpoint = random.of(kCheckpoints);
        options.journal.lists = random.of(kLists);
    } else if (random.one_in(3)) {
        static constexpr std::size_t kSectors[] = {128, 256, 4096};
        options.sector = random.of(kSectors);
    }
    if (random.one_in(6)) {
        options.limit = 6000 + random.below(12000);
    }
    return options;
}

class DiskBench final : public Storage {
public:
    DiskBench(const DiskOptions& options, const Disks& begin) : options_(options) {
        for (unsigned i = 0; i < options.count; ++i) {
            const std::size_t limit = i == 0 ? options.limit : ~std::size_t{0};
            memory_.push_back(std::make_unique<GrowingMemoryDriver>(allocator_, limit));
            if (memory_[i]->assign({begin[i].data(), begin[i].size()}) != Status::ok) {
                failure_ = "no memory; ";
            }
            sectored_.push_back(std::make_unique<Sectored>(*memory_[i], options.sector));
            recorders_.push_back(std::make_unique<DiskRecorder>(*sectored_[i], i, changes));
        }
    }
    std::string start() override {
        if (options_.count == 1 || !failure_.empty()) {
            return failure_;
        }
        journal_ = std::make_unique<JournalDriver>(*recorders_[0], *recorders_[1],
                                                   Bytes(reinterpret_cast<std::byte*>(work_), sizeof(work_)));
        const Status status = journal_->open(options_.journal);
        return status == Status::ok ? ""
                                    : std::string("journal: ") + to_string(status) + ", state " +
                                          std::to_string(static_cast<int>(journal_->report().state)) + "; ";
    }
    Driver& driver() override { return journal_ != nullptr ? static_cast<Driver&>(*journal_) : *recorders_[0]; }
    std::size_t operations() const override { return changes.size(); }
    bool atomic() const override { return options_.count == 2; }
    bool limited() const override { return options_.limit != ~std::size_t{0}; }

    std::vector<DiskOperation> changes;

private:
    const DiskOptions& options_;
    MallocAllocator allocator_;
    std::vector<std::unique_ptr<GrowingMemoryDriver>> memory_;
    std::vector<std::unique_ptr<Sectored>> sectored_;
    std::vector<std::unique_ptr<DiskRecorder>> recorders_;
    std::uint64_t work_[JournalDriver::required_memory() / 8 + 1];
    std::unique_ptr<JournalDriver> journal_;
    std::string failure_;
};

std::uint64_t hash_of_all(const Disks& disks, std::uint64_t seed) {
    for (const Image& image : disks) {
        seed = hash_of({image.data(), image.size()}, seed);
    }
    return seed;
}

std::string place(std::size_t done, const char* what, std::size_t number) {
    return "cut after operation " + std::to_string(done) + ", " + what + " " + std::to_string(number);
}

class DiskTrial {
public:
    explicit DiskTrial(Trial& trial)
        : trial_(trial), options_(draw_options(trial.medium, trial.seed)), cutter_(trial, trial.seed) {}

    void run() {
        const Disks nothing(options_.count);
        DiskBench bench(options_, nothing);
        Ledger ledger({World()}, bench.atomic());
        if (!cutter_.play(bench, ledger)) {
            return;
        }
        cut(nothing, bench.changes, trial_.cuts,
            [&](const Disks& disks, std::size_t done, const std::string& where) { first(disks, ledger, done, where); });
    }

private:
    template <typename Then>
    void cut(const Disks& begin, const std::vector<DiskOperation>& changes, std::size_t count, const Then& then) {
        DiskStates states(begin, changes,
                          [&](const Disks& disks, std::size_t done, const char* what, std::size_t number) {
                              then(disks, done, place(done, what, number));
                          });
        states.sector = options_.sector;
        states.enough = [this] { return cutter_.failed(); };
        states.draw(count, cutter_.random());
    }

    void first(const Disks& disks, const Ledger& ledger, std::size_t done, const std::string& where) {
        const Allowed& allowed = ledger.at(done);
        DiskBench bench(options_, disks);
        World found;
        const auto account = static_cast<std::uint64_t>(&allowed - &ledger.at(0)) + 1;
        if (!cutter_.judge(bench, allowed, hash_of_all(disks, account), where, found) || !cutter_.goes_on()) {
            return;
        }
        // Everything that was found is durable now, so the ledger begins with it. Under a journal, opening has carried
        // it over into the file; if a cut undoes a part of that, the next opening does it again.
        Ledger next({found}, bench.atomic());
        if (!cutter_.go_on(bench, found, next, where) || !cutter_.cuts_recovery()) {
            return;
        }
        cutter_.recovering = true;
        const std::uint64_t account_of_recovery = cutter_.random().next();
        cut(disks, bench.changes, 24, [&](const Disks& twice, std::size_t then, const std::string& again) {
            DiskBench last(options_, twice);
            World found_again;
            cutter_.judge(last, next.at(then), hash_of_all(twice, account_of_recovery), where + "; " + again,
                          found_again);
        });
        cutter_.recovering = false;
    }

    Trial& trial_;
    DiskOptions options_;
    Cutter cutter_;
};

}  // namespace

void run_disks(Trial& trial) { DiskTrial(trial).run(); }

}  // namespace h5mote_test
