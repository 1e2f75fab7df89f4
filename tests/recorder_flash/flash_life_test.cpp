// The long life of a chip without power cuts: thousands of random sessions, until every block has been erased many
// times, against a model. After each session the log holds exactly the rows that the model knows, all blocks are worn
// alike, and from time to time the file is made and read. H5MOTE_RANDOM_SECONDS: how long; H5MOTE_RANDOM_SEED: only
// this one.
#include "flash_log_model.hpp"

#include "recorded_chip.hpp"
#include "sweep.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <ctime>

using namespace h5mote_test;

namespace {

// The datasets of flash_blueprints, in the order of their numbers, and the path of each.
std::string path_of(std::size_t dataset, std::size_t datasets) {
    const bool grouped = datasets == 3 && dataset != 0;
    return std::string(grouped ? "g/" : "") + static_cast<char>('a' + dataset);
}

std::string append_rows(h5mote::File& file, const std::string& path, std::size_t row, Blob& rows) {
    auto dataset = file.root().open_dataset(path);
    h5mote::Dataspace space;
    if (!dataset || dataset->dataspace(space) != Status::ok || dataset->element_size() != row) {
        return path + " cannot be opened; ";
    }
    Blob more(static_cast<std::size_t>(space.dims()[0]) * row);
    if (!more.empty() && dataset->read_stored(h5mote::Selection::all(), {more.data(), more.size()}) != Status::ok) {
        return path + " cannot be read; ";
    }
    rows.insert(rows.end(), more.begin(), more.end());
    return "";
}

class Life {
public:
    explicit Life(std::uint64_t seed) : random_(seed) {
        h5mote::FlashGeometry geometry;
        do {
            recorder_ = flash_recorders()[random_.below(flash_recorders().size())]();
            geometry = {static_cast<std::uint32_t>(2 + random_.below(40)), 512U << random_.below(3), 256,
                        std::min(1U << random_.below(9), recorder_->facts().window),
                        static_cast<std::uint8_t>(random_.one_in(2) ? 0 : 0xff)};
            chip_ = std::make_unique<Chip>(geometry);
        } while (recorder_->open(chip_->simulator) != Status::ok);
        recorder_->base().abandon();
        allowed_ = AllowedLog::blank(recorder_->facts());
        allowed_.begun = true;
    }

    // Returns what is wrong; empty: nothing.
    std::string run(std::size_t sessions) {
        const AnyFlashRecorder::Facts& facts = recorder_->facts();
        std::string bad;
        for (std::size_t i = 0; i < sessions && bad.empty(); ++i) {
            FlashPlay play(*recorder_, chip_->simulator, allowed_, nullptr);
            play.allow(facts.segments == 1 ? Status::no_space : Status::ok);
            this->session(play);
            allowed_ = play.now();
            bad = play.failure;
            FoundLog found;
            bad += bad.empty() ? read_log(chip_->simulator, facts, 0, found) : "";
            bad += bad.empty() ? judge_log(found, allowed_, facts.segments, &found_) : "";
            bad += bad.empty() ? judge_wear() : "";
            bad += bad.empty() && random_.one_in(30) ? judge_file(found) : "";
            found_ = found;
            ++count;
            if (play.is_full() && random_.one_in(3)) {
                bad += begin_anew();
            }
        }
        erases += erased();
        return bad.empty() ? "" : "session " + std::to_string(count) + ": " + bad;
    }

    std::size_t count = 0;     // of sessions
    std::uint64_t erases = 0;  // of the block that was erased most

private:
    void session(FlashPlay& play) {
        const AnyFlashRecorder::Facts& facts = recorder_->facts();
        play.open();
        for (std::size_t calls = random_.below(12); calls > 0 && play.is_open(); --calls) {
            if (random_.one_in(3)) {
                play.flush();
            } else if (random_.one_in(5) && !facts.settings.empty()) {
                play.set(random_.below(facts.settings.size()), random_.next());
            } else {
                play.append(1 + random_.below(random_.one_in(8) ? 300 : 12));
            }
        }
        random_.one_in(4) ? play.flush() : play.close();
        play.abandon();
    }
    std::string begin_anew() {
        if (recorder_->format(chip_->simulator) != Status::ok) {
            return "format; ";
        }
        recorder_->base().abandon();
        allowed_ = AllowedLog::blank(recorder_->facts());
        allowed_.begun = true;
        found_ = {};
        return "";
    }
    std::uint32_t erased() const {
        std::uint32_t most = 0;
        for (std::uint32_t i = 0; i < chip_->simulator.geometry().blocks; ++i) {
            most = std::max(most, chip_->simulator.erases(i));
        }
        return most;
    }
    std::string judge_wear() const {
        for (std::uint32_t i = 0; i < chip_->simulator.geometry().blocks; ++i) {
            if (chip_->simulator.erases(i) + 1 < erased()) {
                return "block " + std::to_string(i) + " is spared; ";
            }
        }
        return chip_->simulator.counts().violations == 0 ? "" : "a violation; ";
    }

    // The file has the rows of each dataset in order, joined or by turns.
    std::string judge_file(const FoundLog& found) {
        const AnyFlashRecorder::Facts& facts = recorder_->facts();
        FlashRecording recording;
        const bool join = random_.one_in(2);
        h5mote::MallocAllocator allocator;
        h5mote::GrowingMemoryDriver driver(allocator);
        if (!recording.read(chip_->simulator) || write_recording(recording, {join}, driver) != Status::ok) {
            return "no file is made; ";
        }
        h5mote::NullPort port;
        h5mote::Library library{allocator, port};
        h5mote::FileAccess access;
        access.read_only = true;
        auto file = h5mote::File::open(library, driver, access);
        if (!file) {
            return "the file cannot be opened; ";
        }
        std::string bad;
        for (std::size_t i = 0; i < facts.rows.size() && bad.empty(); ++i) {
            Blob rows;
            const std::string path = path_of(i, facts.rows.size());
            const std::uint32_t parts = join ? 1 : facts.segments;
            // The turn after that of the newest segment is the oldest one.
            const std::uint32_t newest = found.rows.empty() ? 0 : found.rows.back().segment;
            for (std::uint32_t part = 1; part <= parts && bad.empty(); ++part) {
                bad = append_rows(*file, parts == 1 ? path : path + "_" + std::to_string((newest + part) % parts),
                                  facts.rows[i], rows);
            }
            Blob expected;
            for (const FoundLog::Row& row : found.rows) {
                if (dataset_of(row.generation, row.number, facts.rows.size()) == i) {
                    Blob one(facts.rows[i]);
                    make_log_row(row.generation, row.number, one);
                    expected.insert(expected.end(), one.begin(), one.end());
                }
            }
            bad += bad.empty() && rows != expected ? path + " has other rows; " : "";
        }
        return bad;
    }

    Random random_;
    std::unique_ptr<AnyFlashRecorder> recorder_;
    std::unique_ptr<Chip> chip_;
    AllowedLog allowed_;
    FoundLog found_;
};

}  // namespace

TEST(FlashRecorderLife, AgainstAModel) {
    std::size_t lives = 0;
    std::size_t sessions = 0;
    std::uint64_t erases = 0;
    const auto run = [&](std::uint64_t seed, std::size_t most) {
        Life life(seed);
        EXPECT_EQ(life.run(most), "") << "H5MOTE_RANDOM_SEED=" << seed;
        ++lives;
        sessions += life.count;
        erases = std::max(erases, life.erases);
    };
    const std::size_t few = 1500 / sweep_step();
    if (std::getenv("H5MOTE_RANDOM_SEED") != nullptr) {
        run(one_in("H5MOTE_RANDOM_SEED"), few);
        return;
    }
    const std::size_t seconds = std::getenv("H5MOTE_RANDOM_SECONDS") != nullptr ? one_in("H5MOTE_RANDOM_SECONDS") : 0;
    const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(seconds);
    for (std::uint64_t seed = 1; (seconds != 0 ? std::time(nullptr) < end : seed <= 20) && !HasFailure(); ++seed) {
        run(seed + (seconds != 0 ? 1000 : 0), few);
    }
    std::printf("%zu chips, %zu sessions, a block erased up to %llu times\n", lives, sessions,
                static_cast<unsigned long long>(erases));
}
