// The power fails within every program and erase of a FlashRecorder: while it begins a recording, appends, flushes,
// goes to another block or segment, and opens the chip again. The operation is left not begun, torn, partly done, or
// unstable, so that it reads differently each time. The log is then read on the host as `h5mote extract` does: every
// acknowledged row is there, in order, and nothing that was never appended. The recorder goes on, which is cut as well.
#include "cuts.hpp"
#include "flash_machine.hpp"
#include "flash_outage.hpp"

#include "flash_recording.hpp"

#include <h5mote/flash_recorder.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <map>

using namespace h5mote_test;
using h5mote::Status;
using h5mote::cli::FlashRecording;
namespace blueprint = h5mote::blueprint;

namespace {

// The rows tell which they are: the number of the generation, which grows with each recovery, and of the row in it.
template <std::size_t N>
struct Row {
    std::uint32_t generation;
    std::uint32_t number;
    std::array<std::uint32_t, N> values;

    static Row make(std::uint32_t generation, std::uint32_t number) {
        Row row{generation, number, {}};
        for (std::size_t i = 0; i < N; ++i) {
            row.values[i] = static_cast<std::uint32_t>((number + 1) * 2654435761U + i * 40503U + generation);
        }
        return row;
    }
};
using Short = Row<2>;
using Long = Row<13>;
H5MOTE_COMPOUND(Short, generation, number, values)
H5MOTE_COMPOUND(Long, generation, number, values)

constexpr blueprint::FileOptions kSmall{4, false};
constexpr auto kPlain = blueprint::file(kSmall, blueprint::setting<std::uint32_t>("boot", 7),
                                        blueprint::dataset<Short>("imu", 16), blueprint::dataset<Long>("gps", 4));
constexpr auto kNoSetting =
    blueprint::file(kSmall, blueprint::dataset<Short>("imu", 16), blueprint::dataset<Long>("gps", 4));
constexpr auto kRing = blueprint::file(kSmall, blueprint::setting<std::uint32_t>("boot", 7),
                                       blueprint::ring<Short, 3>("imu", 16), blueprint::ring<Long, 3>("gps", 4));

constexpr auto kRingOfTwo = blueprint::file(kSmall, blueprint::setting<std::uint32_t>("boot", 7),
                                            blueprint::ring<Short, 2>("imu", 16), blueprint::ring<Long, 2>("gps", 4));

// What a sweep needs of a recorder, whatever its blueprint.
class Logger {
public:
    virtual ~Logger() = default;
    virtual Status open(h5mote::FlashDevice& device) = 0;
    virtual Status append(std::uint32_t generation, std::uint32_t number) = 0;
    virtual Status set(std::uint32_t value) = 0;
    virtual Status flush() = 0;
    virtual void abandon() = 0;
};

template <const auto& Blueprint, std::uint32_t Window>
class LoggerOf final : public Logger {
public:
    Status open(h5mote::FlashDevice& device) override { return recorder_.open(device); }
    // Every fifth row is one of the other dataset.
    Status append(std::uint32_t generation, std::uint32_t number) override {
        constexpr std::size_t kImu = blueprint::dataset_number<Blueprint>("imu");
        constexpr std::size_t kGps = blueprint::dataset_number<Blueprint>("gps");
        return number % 5 == 4 ? recorder_.template append<kGps>(Long::make(generation, number))
                               : recorder_.template append<kImu>(Short::make(generation, number));
    }
    Status set(std::uint32_t value) override {
        if constexpr (kHasSetting) {
            return recorder_.template set<blueprint::setting_number<Blueprint>("", "boot")>(value);
        }
        return Status::ok;
    }
    Status flush() override { return recorder_.flush(); }
    void abandon() override { recorder_.abandon(); }
    static constexpr bool kHasSetting = !blueprint::detail::kSettings<Blueprint>.empty();

private:
    h5mote::FlashRecorder<Blueprint, Window> recorder_;
};

// Rows [0, count) of each generation were appended, of which those before `flushed` were acknowledged.
struct Allowed {
    struct Generation {
        std::uint32_t flushed = 0;
        std::uint32_t appended = 0;
    };
    std::vector<Generation> generations{1};
    std::vector<std::uint32_t> settings;  // values that the setting may have; the first one is the last acknowledged
    bool begun = false;                   // open() has returned ok once
};

// What a workload does, and what was allowed while each of its operations was done.
struct Workload {
    std::uint32_t rows = 200;
    std::uint32_t flush_every = 4;
    std::uint32_t reopen_every = 0;  // flushes between two times that the chip is opened; 0: never again
    std::uint32_t set_every = 0;     // flushes between two changes of the setting
    bool fills_up = false;           // no_space ends the workload
    bool set_first = false;          // the setting is changed and flushed before the first row
};

class History {
public:
    explicit History(Allowed now) : now_(std::move(now)) {}

    // Plays a workload; returns what failed.
    std::string play(Logger& logger, FlashMachine& machine, const Workload& workload) {
        const auto generation = static_cast<std::uint32_t>(now_.generations.size() - 1);
        Allowed::Generation& rows = now_.generations.back();
        Status status = call(machine, [&] { return logger.open(machine.recorder); });
        if (status != Status::ok) {
            logger.abandon();
            return std::string("open: ") + h5mote::to_string(status) + "; ";
        }
        now_.begun = true;
        if (workload.set_first) {
            now_.settings.push_back(generation * 1000 + 999);
            status = logger.set(now_.settings.back());
            status = status == Status::ok ? call(machine, [&] { return logger.flush(); }) : status;
            if (status != Status::ok) {
                logger.abandon();
                return status == Status::no_space && workload.fills_up
                           ? ""
                           : std::string("setting: ") + h5mote::to_string(status) + "; ";
            }
            now_.settings.erase(now_.settings.begin(), now_.settings.end() - 1);
        }
        std::uint32_t flushes = 0;
        bool full = false;
        bool set = false;  // since the last flush
        for (std::uint32_t i = 0; i < workload.rows && !full; ++i) {
            ++rows.appended;
            status = call(machine, [&] { return logger.append(generation, i); });
            full = status == Status::no_space && workload.fills_up;
            rows.appended -= full ? 1 : 0;
            if (full || (i + 1) % workload.flush_every == 0 || i + 1 == workload.rows) {
                ++flushes;
                if (status == Status::ok && workload.set_every != 0 && flushes % workload.set_every == 0) {
                    now_.settings.push_back(generation * 1000 + flushes);
                    status = logger.set(now_.settings.back());
                    set = true;
                }
                status = status == Status::ok || full ? call(machine, [&] { return logger.flush(); }) : status;
                full = full || (status == Status::no_space && workload.fills_up);
                if (status == Status::ok) {
                    rows.flushed = rows.appended;
                    if (set) {
                        now_.settings.erase(now_.settings.begin(), now_.settings.end() - 1);
                    }
                    set = false;
                }
            }
            if (status != Status::ok && !full) {
                logger.abandon();
                return "row " + std::to_string(i) + ": " + h5mote::to_string(status) + "; ";
            }
            if (workload.reopen_every != 0 && flushes == workload.reopen_every && !full) {
                flushes = 0;
                logger.abandon();
                rows.appended = rows.flushed;
                status = call(machine, [&] { return logger.open(machine.recorder); });
                if (status != Status::ok) {
                    return "reopen: " + std::string(h5mote::to_string(status)) + "; ";
                }
                i = rows.appended - 1;
            }
        }
        logger.abandon();
        return "";
    }
    const Allowed& at(std::size_t operation) const { return operation < during_.size() ? during_[operation] : now_; }
    const Allowed& end() const { return now_; }

private:
    template <typename Call>
    Status call(FlashMachine& machine, const Call& call) {
        const Allowed before = now_;
        const Status status = call();
        during_.resize(machine.recorder.operations.size(), before);
        return status;
    }

    Allowed now_;
    std::vector<Allowed> during_;
};

struct Found {
    std::vector<std::uint32_t> rows;  // of each generation
    std::uint32_t setting = 0;
    bool empty = true;
};

template <typename R>
bool take_rows(const FlashRecording::Rows& from, std::vector<std::pair<std::uint32_t, std::uint32_t>>& rows) {
    for (std::size_t at = 0; at + sizeof(R) <= from.bytes.size(); at += sizeof(R)) {
        R row;
        std::memcpy(&row, from.bytes.data() + at, sizeof row);
        const R expected = R::make(row.generation, row.number);
        if (std::memcmp(&row, &expected, sizeof row) != 0) {
            return false;
        }
        rows.emplace_back(row.generation, row.number);
    }
    return from.bytes.size() % sizeof(R) == 0;
}

// Reads the log on the host and says what is wrong.
std::string compare(h5mote::FlashDevice& device, const Allowed& allowed, std::uint32_t segments, Found& found) {
    FlashRecording recording;
    if (!recording.read(device)) {
        return allowed.begun ? recording.why() + "; " : "";
    }
    if (!recording.damages().empty() || recording.repaired() != 0) {
        return "damaged; ";
    }
    found.empty = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
    for (const FlashRecording::Rows& each : recording.rows()) {
        const bool is_imu = each.dataset == 0;
        if (each.dataset % segments != 0 || each.dataset > segments ||
            !(is_imu ? take_rows<Short>(each, rows) : take_rows<Long>(each, rows))) {
            return "rows that were never appended; ";
        }
    }
    // Only the oldest segment is emptied, and only from its start on.
    bool is_whole = rows.empty() || rows.front().second == 0;
    for (std::uint32_t i = 0; !rows.empty() && i < rows.front().first; ++i) {
        is_whole = is_whole && i < allowed.generations.size() && allowed.generations[i].flushed == 0;
    }
    if (!is_whole && recording.newest_segment() - recording.rows().front().segment < segments - 1) {
        return "a segment is gone; ";
    }
    found.rows.assign(allowed.generations.size(), 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [generation, number] = rows[i];
        if (generation >= found.rows.size() || (i > 0 && generation < rows[i - 1].first)) {
            return "a row of a generation that cannot be; ";
        }
        const bool follows = i > 0 && generation == rows[i - 1].first ? number == rows[i - 1].second + 1
                             : i > 0 || segments == 1                 ? number == 0
                                                                      : true;
        if (!follows) {
            return "row " + std::to_string(generation) + "." + std::to_string(number) + " out of order; ";
        }
        // A ring may have lost older generations as a whole.
        for (std::uint32_t older = 0; i == 0 && older < generation; ++older) {
            found.rows[older] = allowed.generations[older].flushed;
        }
        found.rows[generation] = number + 1;
    }
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
        const Allowed::Generation& each = allowed.generations[i];
        if (found.rows[i] < each.flushed || found.rows[i] > each.appended) {
            return std::to_string(found.rows[i]) + " rows of generation " + std::to_string(i) + ", not " +
                   std::to_string(each.flushed) + " to " + std::to_string(each.appended) + "; ";
        }
    }
    if (recording.settings().size() == 4) {
        std::memcpy(&found.setting, recording.settings().data(), 4);
        if (std::find(allowed.settings.begin(), allowed.settings.end(), found.setting) == allowed.settings.end()) {
            return "a setting of " + std::to_string(found.setting) + "; ";
        }
    }
    return "";
}

// Makes the file and checks it.
std::string check_file(h5mote::FlashDevice& device) {
    FlashRecording recording;
    if (!recording.read(device)) {
        return "";
    }
    h5mote::MallocAllocator allocator;
    h5mote::GrowingMemoryDriver file(allocator);
    const Status status = write_recording(recording, {}, file);
    return status == Status::ok ? find_problems(file) : std::string("file: ") + h5mote::to_string(status) + "; ";
}

struct Options : FlashChipOptions {
    Workload workload;
    std::size_t recovery_of = 64;  // one in so many cuts has its recovery cut, too
    std::uint32_t segments = 1;
};

class Sweep {
public:
    Sweep(const std::string& name, const Options& options, Logger& logger)
        : tally(name),
          options_(options),
          logger_(logger),
          base_(options),
          trial_(options),
          before_(options),
          twice_(options),
          history_(blank()) {
        for (std::uint32_t i = 1; i <= options.geometry.blocks; ++i) {
            if (options.bad_every != 0 && i % options.bad_every == 0) {
                base_.chip.set_bad(i - 1, i);
            } else if (options.worn_every != 0 && i % options.worn_every == 0) {
                base_.chip.fail_block(i - 1, 2 + i);
            }
        }
        before_.chip.copy_from(base_.chip);
        const std::string failure = history_.play(logger_, base_, options.workload);
        std::string bad = failure + base_.violation();
        Found found;
        bad += compare(base_.chip, history_.end(), options.segments, found);
        if (expects_losses() && !bad.empty()) {
            tally.lost(bad);
        } else {
            EXPECT_EQ(bad, "") << name;
        }
        operations_ = std::move(base_.recorder.operations);
        std::uint32_t most = 0;
        std::uint32_t least = ~0U;
        for (std::uint32_t i = 0; i < options.geometry.blocks; ++i) {
            most = std::max(most, base_.chip.erases(i));
            least = std::min(least, base_.chip.erases(i) + (options.bad_every + options.worn_every == 0 ? 0 : 99));
        }
        std::printf("%s: %zu operations, a block erased up to %u times\n", name.c_str(), operations_.size(), most);
        EXPECT_TRUE(expects_losses() || most <= least + 1) << name;
        base_.chip.copy_from(before_.chip);
    }

    void run() {
        cut_operations(
            base_, trial_, operations_, [this] { return tally.enough(); },
            [&](std::size_t done, FlashCut cut, const char* what, std::size_t number) {
                check(trial_, history_, done, cut, what, number, true);
            });
    }

    Tally tally;

private:
    static Allowed blank() {
        Allowed allowed;
        allowed.settings = {7};
        return allowed;
    }

    // Judges what a cut left on `machine`, and logs on from there. `first`: a cut of the workload, not of a recovery.
    void check(FlashMachine& machine, const History& history, std::size_t done, FlashCut cut, const char* what,
               std::size_t number, bool first) {
        const Allowed& allowed = history.at(done);
        const std::uint64_t hash = hash_of(
            machine, (first ? 1 : recovery_ * 0x100000001U) + allowed.generations.back().flushed, done, cut, number);
        if (!tally.is_new(hash)) {
            return;
        }
        tally.cut(first);
        const auto lost = [&](const std::string& why) {
            tally.lost("cut in operation " + std::to_string(done) + (first ? ", " : " of the recovery, ") + what + " " +
                       std::to_string(number) + ": " + why);
        };
        Found found;
        for (std::uint64_t i = 0; i < 2; ++i) {
            machine.chip.power_on(hash + i);
            if (const std::string bad = compare(machine.chip, allowed, options_.segments, found); !bad.empty()) {
                return lost(bad);
            }
        }
        if (hash / 8 % 64 == 0) {
            if (const std::string bad = check_file(machine.chip); !bad.empty()) {
                return lost(bad);
            }
        }
        const bool again = first && tally.cuts_recovery(hash, options_.recovery_of);
        machine.chip.power_on(hash + 2);
        if (again) {
            before_.chip.copy_from(machine.chip);
        }
        // Until something is acknowledged, the next cut may bring back any state that was allowed before.
        Allowed now = allowed;
        now.generations.emplace_back();
        History next(now);
        machine.recorder.operations.clear();
        Workload workload = options_.workload;
        workload.rows = 24;
        workload.flush_every = 3;
        workload.reopen_every = 5;
        workload.set_every = hash % 3 == 0 && options_.workload.set_every != 0 ? 2 : 0;
        workload.set_first = hash % 3 == 1 && options_.workload.set_every != 0;
        workload.fills_up = workload.fills_up || options_.segments == 1;
        std::string bad = next.play(logger_, machine, workload);
        Found before;
        for (std::uint64_t i = 3; i < 5 && bad.empty(); ++i) {
            machine.chip.power_on(hash + i);
            Found last;
            bad = compare(machine.chip, next.end(), options_.segments, last);
            if (bad.empty() && i > 3 && (last.rows != before.rows || last.setting != before.setting) &&
                next.end().generations.back().flushed != 0) {
                bad = "another state than before; ";
            }
            before = last;
        }
        bad += machine.violation();
        if (!bad.empty()) {
            return lost("afterwards: " + bad);
        }
        if (again) {
            ++recovery_;
            tally.recovery();
            const std::vector<FlashOperation> operations = machine.recorder.operations;
            before_.chip.power_on(hash + 2);
            cut_operations(
                before_, twice_, operations, [this] { return tally.enough(); },
                [&](std::size_t then, FlashCut how, const char* twice, std::size_t which) {
                    check(twice_, next, then, how, twice, which, false);
                });
        }
    }

    const Options& options_;
    Logger& logger_;
    FlashMachine base_, trial_, before_, twice_;
    History history_;
    std::vector<FlashOperation> operations_;
    std::uint64_t recovery_ = 0;
};

// The number of the first row in the log, or in the segment of the newest rows; no row, or no log: kNoRow.
constexpr std::uint32_t kNoRow = ~std::uint32_t{0};
std::uint32_t first_row(h5mote::FlashDevice& device, bool in_newest_segment) {
    FlashRecording recording;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
    EXPECT_TRUE(recording.read(device) || expects_losses()) << recording.why();
    for (const FlashRecording::Rows& each : recording.rows()) {
        if (!in_newest_segment || each.segment == recording.rows().back().segment) {
            EXPECT_TRUE((each.dataset == 0 ? take_rows<Short>(each, rows) : take_rows<Long>(each, rows)) ||
                        expects_losses());
        }
    }
    return rows.empty() ? kNoRow : rows.front().second;
}

template <const auto& Blueprint, std::uint32_t Window>
void cut_recorder(const std::string& name, const Options& options, std::size_t floor) {
    LoggerOf<Blueprint, Window> logger;
    Sweep sweep("flash-recorder-" + name, options, logger);
    sweep.run();
    sweep.tally.report(floor);
}

Options nor(std::uint32_t blocks, std::uint32_t unit) {
    Options result;
    result.geometry = {blocks, 1024, 256, unit, 0xff};
    return result;
}
// A chip whose erased bytes are 0, whose program unit is a page, and whose ECC cannot read pages that are blank.
Options pages(std::uint32_t blocks) {
    Options result;
    result.geometry = {blocks, 4096, 256, 256, 0x00};
    result.blank_is_unreadable = true;
    return result;
}
Options nand(std::uint32_t blocks) {
    Options result;
    result.geometry = {blocks, 16384, 2048, 2048, 0xff};
    result.blank_is_unreadable = true;
    result.programs_per_page = 1;
    return result;
}

}  // namespace

TEST(PowerCut, Append1) {
    Options options = nor(48, 4);
    options.workload = {300, 1, 0, 0};
    cut_recorder<kPlain, 256>("append-1", options, 1000);
}
TEST(PowerCut, Append7) {
    Options options = nor(48, 1);
    options.workload = {400, 7, 0, 9};
    cut_recorder<kPlain, 256>("append-7", options, 1000);
}
TEST(PowerCut, Sessions) {
    Options options = nor(64, 4);
    options.workload = {160, 3, 4, 3};
    cut_recorder<kPlain, 256>("sessions", options, 1000);
}
TEST(PowerCut, Pages) {
    Options options = pages(24);
    options.workload = {200, 3, 11, 5};
    cut_recorder<kPlain, 512>("pages", options, 1000);
}
TEST(PowerCut, Nand) {
    Options options = nand(24);
    options.workload = {300, 5, 20, 7};
    cut_recorder<kNoSetting, 2048>("nand", options, 1000);
}
TEST(PowerCut, Eeprom) {
    Options options;
    options.geometry = {96, 512, 32, 1, 0x00};
    options.workload = {200, 3, 13, 5};
    cut_recorder<kPlain, 128>("eeprom", options, 1000);
}
TEST(PowerCut, BadBlocks) {
    Options options = nor(64, 4);
    options.bad_every = 5;
    options.worn_every = 3;
    options.workload = {260, 3, 11, 4};
    cut_recorder<kPlain, 256>("bad-blocks", options, 1000);
}
TEST(PowerCut, WeakUnits) {
    Options options = nor(48, 4);
    options.weak_every = 3;
    options.workload = {160, 2, 7, 5};
    cut_recorder<kPlain, 256>("weak-units", options, 1000);
}
TEST(PowerCut, Full) {
    Options options = nor(10, 4);
    options.workload = {1000, 4, 0, 6, true};
    cut_recorder<kPlain, 256>("full", options, 1000);
}
TEST(PowerCut, Ring) {
    Options options = nor(48, 4);
    options.segments = 3;
    options.workload = {2400, 12, 0, 9};
    cut_recorder<kRing, 256>("ring", options, 1000);
}
// Programs fail when the segment that the log has come to holds the blueprint and no row yet. The blocks that this
// costs must not be those of the newest rows.
TEST(PowerCut, RingWithoutRows) {
    Tally tally("flash-recorder-ring-without-rows");
    for (std::uint32_t rows = 100; rows < 300; ++rows) {
        FlashMachine machine(nor(12, 4));
        FlashOutage device(machine.chip);
        LoggerOf<kRingOfTwo, 256> logger;
        ASSERT_EQ(logger.open(device), Status::ok);
        for (std::uint32_t i = 0; i < rows; ++i) {
            ASSERT_EQ(logger.append(0, i), Status::ok);
            ASSERT_TRUE(i + 1 == rows || logger.flush() == Status::ok);
        }
        const std::uint32_t first = first_row(machine.chip, true);
        device.fail(FlashOutage::kPrograms, 11);
        Status status = logger.flush();
        for (unsigned tries = 0; tries < 10 && status != Status::ok; ++tries) {
            status = logger.flush();
        }
        EXPECT_TRUE(status == Status::ok || expects_losses());
        logger.abandon();
        tally.cut(true);
        if (first_row(machine.chip, false) > first) {
            tally.lost("after " + std::to_string(rows) + " rows");
        }
    }
    tally.report(200);
}
// A cut leaves a segment in which the last piece of the blueprint counts, and with it the rows before it. At each of
// the next boots the power fails in the last operation, so that new rows do not count. The blocks that this costs must
// not be those of the newest rows.
TEST(PowerCut, RingCutAtEachBoot) {
    constexpr unsigned kBoots = 40;  // more than there are blocks
    constexpr std::uint32_t kFirst = 500;
    Tally tally("flash-recorder-ring-cut-at-each-boot");
    const FlashChipOptions options = nor(36, 4);
    FlashMachine machine(options);
    FlashMachine cut(options);
    FlashMachine trial(options);
    LoggerOf<kRing, 256> logger;
    const auto flush_row = [&logger](std::uint32_t row) {
        const Status status = logger.append(0, row);
        return status == Status::ok ? logger.flush() : status;
    };
    // How many operations it takes to flush one more row.
    const auto operations_of = [&](const FlashMachine& of, std::uint32_t row) {
        trial.chip.copy_from(of.chip);
        OperationRecorder recorder(trial.chip, 0);
        EXPECT_TRUE(logger.open(recorder) == Status::ok || expects_losses());
        const std::size_t before = recorder.operations.size();
        EXPECT_TRUE(flush_row(row) == Status::ok || expects_losses());
        logger.abandon();
        return recorder.operations.size() - before;
    };
    // The same on `on`, with a cut in the `operation`-th of them.
    const auto boot = [&](FlashMachine& on, std::uint32_t row, std::size_t operation) {
        EXPECT_TRUE(logger.open(on.chip) == Status::ok || expects_losses());
        on.chip.cut_after(operation, FlashCut::not_begun, 1);
        EXPECT_TRUE(flush_row(row) != Status::ok || expects_losses());
        logger.abandon();
        on.chip.power_on(1);
    };
    for (std::uint32_t row = 0; row < 1500; ++row) {
        const std::size_t operations = row < kFirst ? 0 : operations_of(machine, row);
        for (std::size_t first = 3; first <= operations; ++first) {
            cut.chip.copy_from(machine.chip);
            boot(cut, row, first);
            const std::uint32_t oldest = first_row(cut.chip, true);
            for (unsigned i = 0; i < kBoots; ++i) {
                boot(cut, row, operations_of(cut, row));
            }
            tally.cut(true);
            if (first_row(cut.chip, false) > oldest) {
                tally.lost("after " + std::to_string(row) + " rows, cut " + std::to_string(first));
            }
        }
        const Status opened = logger.open(machine.chip);
        const Status flushed = opened == Status::ok ? flush_row(row) : opened;
        logger.abandon();
        ASSERT_TRUE(flushed == Status::ok || expects_losses());
        if (flushed != Status::ok) {
            break;
        }
    }
    tally.report(200);
}
TEST(PowerCut, RingSessions) {
    Options options = nor(36, 1);
    options.segments = 3;
    options.workload = {500, 5, 6, 4};
    cut_recorder<kRing, 256>("ring-sessions", options, 1000);
}
TEST(PowerCut, RingBadBlocks) {
    Options options = nor(60, 4);
    options.segments = 3;
    options.bad_every = 7;
    options.worn_every = 4;
    options.workload = {1500, 8, 0, 9};
    cut_recorder<kRing, 256>("ring-bad-blocks", options, 1000);
}
TEST(PowerCut, RingNand) {
    Options options = nand(18);
    options.segments = 3;
    options.workload = {700, 3, 40, 9};
    cut_recorder<kRing, 2048>("ring-nand", options, 1000);
}
