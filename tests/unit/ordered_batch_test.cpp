// Sorting keys of any length in little memory: each key comes out once, in order.
#include "ordered_batch.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr unsigned kKeys = 120;

// Makes key i: of a length and value of its own, not in order of i.
std::size_t make_key(unsigned i, std::byte (&key)[64]) {
    Numbers numbers(i + 1);
    const std::size_t length = 36 + numbers.below(28);
    for (std::size_t k = 0; k < length; ++k) {
        key[k] = static_cast<std::byte>(numbers.below(k == 0 ? 256 : 4));
    }
    return length;
}

int compare_keys(unsigned a, unsigned b) {
    std::byte one[64];
    std::byte other[64];
    const std::size_t length = make_key(a, one);
    const std::size_t other_length = make_key(b, other);
    const int order = std::memcmp(one, other, length < other_length ? length : other_length);
    return order != 0 ? order : length < other_length ? -1 : length > other_length ? 1 : a < b ? -1 : 1;
}

}  // namespace

TEST(OrderedBatch, EveryKeyOnceInOrderWithAnyMemory) {
    for (std::size_t room = 1200; room < sizeof bench_memory; room += room / 8) {
        for (const Direction direction : {Direction::increasing, Direction::decreasing}) {
            Arena arena{Bytes{bench_memory, room}};
            NullPort port;
            Library library(arena, port);
            OrderedBatch batch(library, direction);
            bool seen[kKeys] = {};
            unsigned last = kKeys;
            unsigned passes = 0;
            unsigned taken = 0;
            for (;;) {
                std::uint64_t position = 0;
                if (batch.take(position)) {
                    const unsigned now = static_cast<unsigned>(position);
                    ASSERT_LT(now, kKeys);
                    ASSERT_FALSE(seen[now]);
                    seen[now] = true;
                    if (last != kKeys) {
                        ASSERT_EQ(compare_keys(last, now) < 0, direction == Direction::increasing);
                    }
                    last = now;
                    ++taken;
                    continue;
                }
                if (batch.finished()) {
                    break;
                }
                ASSERT_LT(++passes, 200U);
                batch.begin_pass();
                for (unsigned i = 0; i < kKeys; ++i) {
                    std::byte key[64];
                    const std::size_t length = make_key(i, key);
                    ASSERT_EQ(batch.offer({key, length}, i), Status::ok);
                }
                batch.end_pass();
            }
            EXPECT_EQ(taken, kKeys);
        }
    }
}

// A key so long that the memory does not take it twice, as one of those that are sorted and as the last one that came
// out, ends with out_of_memory, or goes on in a pass with less memory: never in the same pass again and again.
TEST(OrderedBatch, LongKeysInLittleMemory) {
    constexpr unsigned kLongKeys = 5;
    static std::byte key[2000];
    unsigned ended = 0;
    unsigned complete = 0;
    for (std::size_t room = 1200; room < sizeof bench_memory; room += 100) {
        Arena arena{Bytes{bench_memory, room}};
        NullPort port;
        Library library(arena, port);
        OrderedBatch batch(library, Direction::increasing);
        unsigned taken = 0;
        Status status = Status::ok;
        for (unsigned passes = 0; status == Status::ok && !batch.finished(); ++passes) {
            ASSERT_LT(passes, 40U);
            batch.begin_pass();
            for (unsigned i = 0; status == Status::ok && i < kLongKeys; ++i) {
                std::memset(key, static_cast<int>('a' + i), sizeof key);
                status = batch.offer(key, i);
            }
            if (status == Status::out_of_memory && batch.shrink()) {
                status = Status::ok;
                continue;
            }
            batch.end_pass();
            for (std::uint64_t position = 0; status == Status::ok && batch.take(position); ++taken) {
                ASSERT_EQ(position, taken);
            }
        }
        ASSERT_TRUE(status == Status::ok ? taken == kLongKeys : status == Status::out_of_memory);
        ++(status == Status::ok ? complete : ended);
    }
    EXPECT_GT(ended, 0U);
    EXPECT_GT(complete, 0U);
}

#endif
