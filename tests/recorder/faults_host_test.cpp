// Every call of the storage fails, once and for good: an error is returned exactly if something failed, what was
// acknowledged is there, and after a fault that has gone the recorder goes on.
#include "blueprints.hpp"
#include "cutting.hpp"
#include "play.hpp"
#include "sweep.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

// A workload that begins with nothing and has two sessions. `retry`: what failed is tried once more.
void work(Play& play, bool retry) {
    const auto twice = [&](const auto& call) {
        if (call() != Status::ok && retry) {
            (void)call();
        }
    };
    for (unsigned session = 0; session < 2; ++session) {
        twice([&] { return play.open(); });
        if (!play.is_open()) {
            continue;
        }
        if (!play.described().settings.empty()) {
            twice([&] { return play.set(0); });
        }
        for (std::size_t i = 0; i < 14; ++i) {
            twice([&] { return play.append(i % play.described().datasets.size(), 1 + i % 3); });
            if (i % 3 == 0) {
                twice([&] { return play.flush(); });
            }
        }
        twice([&] { return play.append(0, 30); });
        (void)play.close();
    }
}

// One run in which the k-th call fails. False when the workload ended before its k-th call.
bool point(const MakeRecording& make, DriverFault fault, bool retry) {
    MallocAllocator allocator;
    GrowingMemoryDriver memory(allocator);
    const std::unique_ptr<Recording> recording = make();
    Play play(*recording, memory, empty_contents(recording->described()), 0, [] { return 0; });
    play.arm(fault);
    work(play, retry);
    const std::uint64_t faults = play.faults();
    // Where less room will do, a refusal of room need not be told.
    if (fault.status != Status::no_space) {
        EXPECT_EQ(play.errors() != 0, faults != 0);
    }
    recording->abandon();
    play.mend();
    EXPECT_EQ(play.failure, "");
    Seen seen;
    const Contents contents = play.now();
    EXPECT_EQ(compare_by_libhdf5(memory.contents(), play.described(), contents, seen), "");
    EXPECT_EQ(play.open(), Status::ok) << play.failure;
    for (std::size_t i = 0; i < play.described().datasets.size(); ++i) {
        EXPECT_EQ(play.append(i, 9), Status::ok);
    }
    if (!play.described().settings.empty()) {
        EXPECT_EQ(play.set(0), Status::ok);
    }
    EXPECT_EQ(play.close(), Status::ok);
    EXPECT_EQ(play.failure, "");
    EXPECT_EQ(compare_by_libhdf5(memory.contents(), play.described(), play.now(), seen), "");
    EXPECT_EQ(compare_by_h5mote(memory, play.described(), play.now(), seen), "");
    return faults != 0;
}

std::size_t sweep(const MakeRecording& make, const char* name) {
    struct Kind {
        unsigned calls;
        Status status;
    };
    constexpr Kind kKinds[] = {
        {kReadCall, Status::io_error},      {kWriteCall, Status::io_error},    {kSyncCall, Status::io_error},
        {kTruncateCall, Status::io_error},  {kTruncateCall, Status::no_space}, {kWriteCall, Status::no_space},
        {kEndOfFileCall, Status::io_error}, {kAllCalls, Status::io_error},
    };
    std::size_t points = 0;
    for (const Kind& kind : kKinds) {
        for (const bool persistent : {false, true}) {
            for (const bool retry : {false, true}) {
                // A write that fails has stored nothing, or all the same everything.
                for (const std::size_t torn : {std::size_t{0}, ~std::size_t{0}}) {
                    // A storage that stays full is tried again, too: rows that found no room do not count then either.
                    if ((torn != 0 && ((kind.calls & kWriteCall) == 0 || kind.status == Status::no_space)) ||
                        (persistent && retry && kind.status != Status::no_space)) {
                        continue;
                    }
                    DriverFault fault;
                    fault.persistent = persistent;
                    fault.status = kind.status;
                    fault.calls = kind.calls;
                    fault.torn_bytes = torn;
                    for (fault.at = 1;; fault.at += sweep_step()) {
                        SCOPED_TRACE(std::string(name) + ", calls " + std::to_string(kind.calls) + " " +
                                     to_string(kind.status) + (persistent ? " persistent" : "") +
                                     (retry ? " retry" : "") + (torn != 0 ? " torn" : "") + ", " +
                                     std::to_string(fault.at));
                        if (!point(make, fault, retry) || testing::Test::HasFailure()) {
                            break;
                        }
                        ++points;
                    }
                }
            }
        }
    }
    return points;
}

}  // namespace

TEST(RecorderFaults, EveryCallFails) {
    const std::size_t points = sweep(recordings<kTurns>(), "turns") + sweep(recordings<kFlight<8, true>>(), "flight") +
                               sweep(recordings<kTall>(), "tall")
#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
                               + sweep(recordings<kFiltered<4>>(), "filtered") + sweep(recordings<kFine<4>>(), "fine")
#endif
        ;
    std::printf("%zu points\n", points);
    EXPECT_GE(points, 5000 / sweep_step());
}

#if H5MOTE_FILTER_DEFLATE && H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32
// A full storage refuses the rows of a chunk that the index has no node for, however often flush() tries.
TEST(RecorderFaults, FullWithFilters) {
    static Recorder<kFiltered<4>> recorder;
    std::vector<std::byte> storage(20000);
    std::size_t refused = 0;
    for (std::size_t size = blueprint::Image<kFiltered<4>>::kSize; size < storage.size(); size += 31) {
        MemoryDriver driver(Bytes(storage.data(), size));
        ASSERT_EQ(recorder.open(driver), Status::ok);
        Address flushed = 0;
        Status status = Status::ok;
        for (std::uint32_t i = 0; i < 300 && status == Status::ok; ++i) {
            status = recorder.append<2>(Sample{i, {}, 0});
            status = status == Status::ok ? recorder.flush() : status;
            flushed = status == Status::ok ? recorder.rows<2>() : flushed;
        }
        if (status != Status::ok) {
            ++refused;
            EXPECT_EQ(status, Status::no_space);
            EXPECT_EQ(recorder.flush(), Status::no_space) << size;
        }
        recorder.abandon();
        ASSERT_EQ(recorder.open(driver), Status::ok);
        EXPECT_EQ(recorder.rows<2>(), flushed);
        recorder.abandon();
    }
    EXPECT_GT(refused, 100U);
}
#endif
