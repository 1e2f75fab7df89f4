// The power fails within everything that a recorder does: creation, first flush, growth of every kind, settings,
// closing; and again when it goes on. Everything that was acknowledged must be there, for the recorder, for h5mote's
// object model and for libhdf5.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

CutOptions on(Storage storage) {
    CutOptions options;
    options.storage = storage;
    // New space is filled with zeros in many small writes, after each of which states are drawn.
    options.random_subsets = storage == Storage::junk ? 2 : options.random_subsets;
    return options;
}

// Appends rows up to this number, `step` with each flush (0: no flush).
void append_up_to(Play& play, std::size_t dataset, std::size_t rows, std::size_t step) {
    while (play.failure.empty() && play.rows(dataset) < rows) {
        (void)play.append(dataset, std::min<std::size_t>(step == 0 ? rows : step,
                                                         rows - static_cast<std::size_t>(play.rows(dataset))));
        if (step != 0) {
            (void)play.flush();
        }
    }
}

void everything(Play& play) {
    (void)play.open();
    for (std::size_t i = 0; i < play.described().settings.size(); ++i) {
        (void)play.set(i);
    }
    for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < play.described().datasets.size(); ++i) {
            (void)play.append(i, 1 + static_cast<std::size_t>(round) * (i + 2));
        }
        if (round != 2) {
            (void)play.flush();
        }
        for (std::size_t i = 0; i < play.described().settings.size() && round == 3; ++i) {
            (void)play.set(i);
        }
    }
    (void)play.close();
}

// What is cut lies around the end of each kind of block of the chunk index: 4 chunks are in the index block, then there
// are data blocks of 16, 32, 32, 32, 64, 64 chunks, then super blocks of 4 x 64, 4 x 128, 8 x 128 ...
constexpr std::size_t kEnds[] = {4, 20, 52, 84, 116, 180, 244, 308, 500, 628};

void grow_around(Tally& total, const std::string& name, const MakeRecording& make, Storage storage, std::size_t floor,
                 Span<const std::size_t> ends = kEnds, unsigned others = 0) {
    for (const std::size_t end : ends) {
        CutOptions options = on(storage);
        options.others = others;
        options.before = [end](Play& play) {
            (void)play.open();
            append_up_to(play, 0, end - 3, 0);
            (void)play.flush();
        };
        // The run before is not closed, as if the power had failed: the next chunks are placed already.
        cut_recorder(
            total, name + "-" + std::to_string(end), make,
            [end](Play& play) {
                (void)play.open();
                const std::size_t rows = std::max(end - 3, static_cast<std::size_t>(play.rows(0)));
                append_up_to(play, 0, rows + 5, 1);
                append_up_to(play, 0, rows + 12, 4);
                (void)play.close();
            },
            floor, options);
    }
}

// The file is closed and opened again in the middle of each kind of block: what is not used is given back, and the next
// session makes the rest of the block.
void close_within(Tally& total, const std::string& name, const MakeRecording& make, Storage storage,
                  std::size_t floor) {
    for (const std::size_t rows : {1U, 3U, 5U, 12U, 30U, 90U, 190U, 250U, 260U, 330U, 510U}) {
        CutOptions options = on(storage);
        options.before = [rows](Play& play) {
            (void)play.open();
            append_up_to(play, 0, rows - 1, 0);
            (void)play.flush();
        };
        cut_recorder(
            total, name + "-" + std::to_string(rows), make,
            [rows](Play& play) {
                (void)play.open();
                append_up_to(play, 0, rows, 1);
                (void)play.close();
                (void)play.open();
                append_up_to(play, 0, rows + 2, 1);
                (void)play.close();
                (void)play.open();
                (void)play.close();
            },
            floor, options);
    }
}

void turns(Play& play) {
    (void)play.open();
    for (std::size_t i = 0; i < 60 && play.failure.empty() && play.is_open(); ++i) {
        (void)play.append(i % 3, 1 + i % 4);
        if (i % 3 != 1) {
            (void)play.flush();
        }
        if (i % 20 == 5) {
            (void)play.set(i % 2);
        }
    }
    (void)play.close();
}

// Sessions that end in all ways, with the storage's unsynced writes of one still pending in the next.
void sessions(Play& play) {
    for (std::size_t i = 0; i < 12 && play.failure.empty(); ++i) {
        (void)play.open();
        (void)play.append(0, 1 + i % 5);
        (void)play.append(2, i % 3);
        if (i % 2 == 0) {
            (void)play.flush();
        }
        (void)play.set(i % 2);
        if (i % 3 == 0) {
            (void)play.append(1, 3);
        }
        if (i % 4 == 3) {
            play.abandon();
        } else if (i % 4 == 2) {
            (void)play.flush();
            play.abandon();
        } else {
            (void)play.close();
        }
    }
}

// Each session is killed at a later call of the storage than the one before. What it wrote and did not sync is not lost
// by that, but by the power cut that comes after the next session has begun.
void killed(Play& play) {
    bool all = false;
    for (std::uint64_t call = 1; !all && play.failure.empty(); ++call) {
        (void)play.open();
        play.kill_at(call);
        (void)(play.append(0, 3) == Status::ok && play.append(2, 2) == Status::ok && play.set(0) == Status::ok &&
               play.flush() == Status::ok && play.append(0, 30) == Status::ok && play.close() == Status::ok);
        all = !play.was_killed();
        play.abandon();
        play.kill_at(0);
        (void)play.open();
        if (call % 2 == 0) {
            (void)play.flush();
        }
        (void)play.append(0, 5);
        (void)play.append(1, 1);
        if (call % 3 == 0) {
            (void)play.flush();
        }
        (void)play.append(2, 1);
        (void)play.close();
    }
}

// The same while unused space is given back: the file that the next session finds is shorter than the one that a power
// cut may bring back.
void killed_closing(Play& play) {
    bool all = false;
    for (std::uint64_t call = 1; !all && play.failure.empty(); ++call) {
        (void)play.open();
        (void)play.append(0);
        (void)play.flush();
        play.kill_at(call);
        (void)play.close();
        all = !play.was_killed();
        play.abandon();
        play.kill_at(0);
        (void)play.open();
        (void)play.append(0);
        (void)play.flush();
        play.abandon();
    }
}

// `percent`: how many cuts there are at least, compared with a plain storage.
void all_of(Tally& total, const std::string& prefix, Storage storage, std::size_t percent) {
    const auto floor = [percent](std::size_t plain) { return plain * percent / 100; };
    cut_recorder(total, prefix + "-create-one", recordings<kOne>(), everything, floor(170), on(storage));
    cut_recorder(total, prefix + "-create-flight", recordings<kFlight<8, true>>(), everything, floor(2000),
                 on(storage));
    // A large file is slow to judge, and only its creation differs.
    CutOptions large = on(storage);
    large.recovery_of = 0;
    large.random_subsets = storage == Storage::junk ? 1 : 2;
    cut_recorder(
        total, prefix + "-create-large", recordings<kLarge<4, false>>(), [](Play& play) { (void)play.open(); },
        floor(1300), large);
    cut_recorder(total, prefix + "-nothing", recordings<kNothing>(), everything, floor(20), on(storage));
    cut_recorder(total, prefix + "-turns", recordings<kTurns>(), turns, floor(1400), on(storage));
    cut_recorder(total, prefix + "-sessions", recordings<kTurns>(), sessions, floor(700), on(storage));
}

// One to three sessions of random calls, which end in all ways.
void play_at_random(Play& play, Random& random) {
    for (std::size_t session = 0; session <= random.below(3) && play.failure.empty(); ++session) {
        (void)play.open();
        if (random.one_in(4)) {
            play.kill_at(1 + random.below(40));
        }
        for (std::size_t call = random.below(20); call > 0 && play.is_open() && play.failure.empty(); --call) {
            const std::size_t dataset = random.below(play.described().datasets.size());
            const std::size_t chunk = play.described().datasets[dataset].chunk;
            if (random.one_in(3)) {
                (void)play.flush();
            } else if (random.one_in(6) && !play.described().settings.empty()) {
                (void)play.set(random.below(play.described().settings.size()));
            } else {
                (void)play.append(dataset, 1 + random.below(random.one_in(8) ? 40 * chunk : 2 * chunk + 1));
            }
        }
        if (random.one_in(3)) {
            play.abandon();
        } else {
            (void)play.close();
        }
        play.abandon();
        play.kill_at(0);
    }
}

// CamelCase as a name of the report: camel-case.
std::string figure_name(const char* test) {
    std::string name = "recorder";
    for (; *test != '\0'; ++test) {
        const bool is_capital = std::isupper(static_cast<unsigned char>(*test)) != 0;
        name += is_capital ? "-" : "";
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(*test)));
    }
    return name;
}

// All sweeps of a test are one line of the report.
class RecorderCuts : public testing::Test {
protected:
    void TearDown() override { total.write(); }
    Tally total{figure_name(testing::UnitTest::GetInstance()->current_test_info()->name())};
};

}  // namespace

TEST_F(RecorderCuts, Killed) { cut_recorder(total, "recorder-killed", recordings<kTurns>(), killed, 10000); }
TEST_F(RecorderCuts, KilledClosing) {
    for (const std::size_t rows : {1U, 7U, 30U, 247U}) {
        CutOptions options;
        options.before = [rows](Play& play) {
            (void)play.open();
            (void)play.append(0, rows);
            (void)play.close();
        };
        cut_recorder(total, "recorder-killed-closing-" + std::to_string(rows), recordings<kTall>(), killed_closing, 40,
                     options);
    }
}
TEST_F(RecorderCuts, KilledJunk) {
    CutOptions options = on(Storage::junk);
    options.random_subsets = 1;
    options.recovery_of = 200;
    cut_recorder(total, "recorder-killed-junk", recordings<kTurns>(), killed, 15000, options);
}
TEST_F(RecorderCuts, Plain) { all_of(total, "recorder-plain", Storage::plain, 100); }
TEST_F(RecorderCuts, Junk) { all_of(total, "recorder-junk", Storage::junk, 100); }
TEST_F(RecorderCuts, Ordered) { all_of(total, "recorder-ordered", Storage::ordered, 8); }
TEST_F(RecorderCuts, Journal) { all_of(total, "recorder-journal", Storage::journal, 25); }
TEST_F(RecorderCuts, Growth) { grow_around(total, "recorder-growth", recordings<kBytes>(), Storage::plain, 50); }
TEST_F(RecorderCuts, GrowthWide) { grow_around(total, "recorder-growth8", recordings<kBytes8>(), Storage::plain, 50); }
TEST_F(RecorderCuts, GrowthJunk) {
    grow_around(total, "recorder-growth-junk", recordings<kBytes>(), Storage::junk, 60);
}
TEST_F(RecorderCuts, GrowthOrdered) {
    grow_around(total, "recorder-growth-ordered", recordings<kBytes>(), Storage::ordered, 20);
}
TEST_F(RecorderCuts, Closing) { close_within(total, "recorder-closing", recordings<kTall>(), Storage::plain, 24); }
TEST_F(RecorderCuts, ClosingWide) {
    close_within(total, "recorder-closing8", recordings<kTall8>(), Storage::plain, 22);
}
TEST_F(RecorderCuts, ClosingJunk) {
    close_within(total, "recorder-closing-junk", recordings<kTall>(), Storage::junk, 80);
}
TEST_F(RecorderCuts, Full) {
    for (std::size_t limit = blueprint::Image<kTurns>::kSize + 30; limit < 9000; limit += 1117) {
        CutOptions options;
        options.limit = limit;
        cut_recorder(
            total, "recorder-full-" + std::to_string(limit), recordings<kTurns>(),
            [](Play& play) {
                play.allow(Status::no_space);
                turns(play);
                (void)play.open();
                (void)play.set(0);
                (void)play.close();
            },
            0, options);
    }
}

#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
// Chunks that go through filters.
void filtered(Tally& total, const std::string& name, CutOptions options) {
    options.recovery_of = 200;
    cut_recorder(total, name + "-turns", recordings<kFiltered<8>>(), turns, 100, options);
    if (options.storage != Storage::junk) {
        cut_recorder(total, name, recordings<kFiltered<4>>(), everything, 100, options);
        cut_recorder(total, name + "-sessions", recordings<kFiltered<4>>(), sessions, 100, options);
    }
}
TEST_F(RecorderCuts, Filtered) { filtered(total, "recorder-filtered", on(Storage::plain)); }
TEST_F(RecorderCuts, FilteredJunk) { filtered(total, "recorder-filtered-junk", on(Storage::junk)); }
TEST_F(RecorderCuts, FilteredOrdered) { filtered(total, "recorder-filtered-ordered", on(Storage::ordered)); }
TEST_F(RecorderCuts, FilteredJournal) { filtered(total, "recorder-filtered-journal", on(Storage::journal)); }
TEST_F(RecorderCuts, FilteredKilled) {
    cut_recorder(total, "recorder-filtered-killed", recordings<kFiltered<4>>(), killed, 3000);
}
// A node of the chunk index has 16 children where addresses have 4 bytes, and 14 where they have 8.
TEST_F(RecorderCuts, FilteredGrowth) {
    constexpr std::size_t kFull[] = {16, 32, 256, 272};
    grow_around(total, "recorder-filtered-growth", recordings<kFine<4>>(), Storage::plain, 50, kFull);
}
TEST_F(RecorderCuts, FilteredGrowthWide) {
    constexpr std::size_t kFull[] = {14, 28, 196, 210};
    grow_around(total, "recorder-filtered-growth8", recordings<kFine<8>>(), Storage::plain, 50, kFull);
}
// Nodes that libhdf5 added lie in two sectors.
TEST_F(RecorderCuts, FilteredOthers) {
    constexpr std::size_t kRows[] = {3, 13, 16, 60, 190, 250};
    grow_around(total, "recorder-filtered-others", recordings<kFine<4>>(), Storage::plain, 50, kRows, 12);
    grow_around(total, "recorder-filtered-others8", recordings<kFine<8>>(), Storage::plain, 50, kRows, 40);
    grow_around(total, "recorder-filtered-others-ordered", recordings<kFine<8>>(), Storage::ordered, 20, kRows, 25);
}
#endif

// What nobody chose: blueprints, storages and calls at random. H5MOTE_CUT_SEEDS: how many workloads, 60 unless set;
// H5MOTE_RANDOM_SEED: only this one.
TEST_F(RecorderCuts, Random) {
    const char* const seeds = std::getenv("H5MOTE_CUT_SEEDS");
    const std::size_t count = seeds != nullptr ? std::strtoul(seeds, nullptr, 10) : 60;
    const MakeRecording makers[] = {
        recordings<kOne>(),
        recordings<kBytes>(),
        recordings<kBytes8>(),
        recordings<kTall>(),
        recordings<kFlight<4, false>>(),
        recordings<kFlight<8, true>>(),
        recordings<kTurns>(),
        recordings<kTurns>(),
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
        recordings<kFiltered<4>>(),
        recordings<kFiltered<8>>(),
        recordings<kFine<4>>(),
        recordings<kFine<8>>(),
#endif
    };
    const bool one = std::getenv("H5MOTE_RANDOM_SEED") != nullptr;
    const std::size_t first = one ? one_in("H5MOTE_RANDOM_SEED") : 1;
    for (std::size_t seed = first; seed <= (one ? first : count); ++seed) {
        Random random(seed);
        const MakeRecording& make = random.of(makers);
        CutOptions options =
            on(random.of({Storage::plain, Storage::plain, Storage::junk, Storage::ordered, Storage::journal}));
        const std::uint64_t before = random.next();
        const std::uint64_t cut = random.next();
        if (random.one_in(2)) {
            options.before = [before](Play& play) {
                Random calls(before);
                play_at_random(play, calls);
            };
            if (options.storage != Storage::journal && random.one_in(2)) {
                options.others = static_cast<unsigned>(random.below(20));
            }
        }
        cut_recorder(
            total, "recorder-random-" + std::to_string(seed), make,
            [cut](Play& play) {
                Random calls(cut);
                play_at_random(play, calls);
            },
            0, options);
    }
    EXPECT_TRUE(one || total.cuts() >= 100 * count || one_in("H5MOTE_POWERCUT_ONE_IN") != 1);
}
