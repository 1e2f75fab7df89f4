// Where a file with a rule places its blocks: compared with a map of what each byte of the file is used for.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS

#include "file_space.hpp"
#include "forwarding_driver.hpp"
#include "spilling.hpp"
#include "storage_bench.hpp"

#include <algorithm>
#include <map>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr Address kLimit = 1U << 26;

// A storage of which only the size is known.
class SizeDriver final : public ForwardingDriver {
public:
    SizeDriver(Driver& inner, std::uint32_t unit, std::uint64_t room) noexcept
        : ForwardingDriver(inner), unit_(unit), room_(room) {}
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.atomic_unit = unit_;
        result.extends_with_zeros = true;
        return result;
    }
    Status end_of_file(std::uint64_t& end) noexcept override {
        end = size;
        return Status::ok;
    }
    Status truncate(std::uint64_t wanted) noexcept override {
        if (wanted > room_) {
            return Status::no_space;
        }
        size = wanted;
        return Status::ok;
    }
    Status release(Usage, std::uint64_t, std::uint64_t) noexcept override { return Status::ok; }

    std::uint64_t size = 0;

private:
    std::uint32_t unit_;
    std::uint64_t room_;
};

// Keeps extents in memory, and refuses to after some of them if it is told so.
class Keeper final : public SpaceKeeper, public Spilling {
public:
    explicit Keeper(std::size_t most) noexcept : most_(most) {}
    bool read(std::size_t i, FreeExtent& extent) noexcept override {
        ++reads;
        extent = kept_[i];
        return true;
    }
    bool reserve(std::size_t count) noexcept override { return count <= most_; }
    bool write(std::size_t i, const FreeExtent& extent) noexcept override {
        if (i >= most_) {
            return false;
        }
        kept_.resize(std::max(kept_.size(), i + 1));
        kept_[i] = extent;
        return true;
    }
    Status store() noexcept override { return Status::ok; }
    void end() noexcept override {}
    Span<const FreeExtent> own() const noexcept override { return {}; }
    SpaceOverflow* overflow() noexcept override { return this; }

    std::uint64_t reads = 0;

private:
    std::size_t most_;
    std::vector<FreeExtent> kept_;
};

struct Block {
    Address address;
    Address size;
    Usage usage;
    bool cut;  // its end was released
};

// What every byte of the file is: in use, free, or free after so many commits.
class Model {
public:
    explicit Model(FileSpace& space) noexcept : space_(space) {}

    // `zeros`: nobody has written there before.
    void take(Address address, Address size, bool zeros) {
        const auto end = static_cast<std::size_t>(address + size);
        bytes_.resize(std::max(bytes_.size(), end), kFree);
        written_.resize(bytes_.size());
        for (auto at = static_cast<std::size_t>(address); at < end; ++at) {
            ASSERT_EQ(bytes_[at], kFree) << "byte " << at << " was given out";
            if (zeros && written_[at]) {
                FAIL() << "byte " << at << " has an old value";
            }
            bytes_[at] = kUsed;
            written_[at] = true;
        }
        used_ += size;
    }
    void give(Address address, Address size, char state) {
        std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(address), size, state);
        used_ -= size;
    }
    void settle(bool all) {
        for (char& each : bytes_) {
            each = each == 1 || (all && each == 2) ? kFree : each == 2 ? char{1} : each;
        }
    }
    // What is free lies in the file and is used by nobody, and it is all that is not used if nothing was forgotten.
    void compare() {
        std::uint64_t free = 0;
        SpaceMap& map = space_.free();
        for (std::size_t i = 0; i < map.count(); ++i) {
            free += check(map.get(i));
        }
        for (const SpaceKind kind : {SpaceKind::metadata, SpaceKind::raw_data}) {
            free += check(space_.aggregation_rest(kind));
        }
        if (map.is_complete()) {
            ASSERT_EQ(free + used_, space_.end());
        }
    }

private:
    static constexpr char kFree = 0;
    static constexpr char kUsed = 3;

    Address check(const FreeExtent& extent) {
        EXPECT_TRUE(extent.size == 0 || extent.address + extent.size <= space_.end());
        for (auto at = static_cast<std::size_t>(extent.address);
             at < extent.address + extent.size && at < bytes_.size(); ++at) {
            EXPECT_EQ(bytes_[at], static_cast<char>(extent.pending)) << "byte " << at;
        }
        return extent.size;
    }

    FileSpace& space_;
    std::vector<char> bytes_;
    std::vector<bool> written_;
    std::uint64_t used_ = 0;
};

void check_pages(const std::vector<Block>& blocks, Address page, Address end) {
    std::map<Address, Usage> users;
    ASSERT_EQ(end % page, 0U);
    for (const Block& block : blocks) {
        const Address first = block.address / page;
        const Address last = (block.address + block.size - 1) / page;
        const Usage kind = block.usage == Usage::raw_data ? Usage::raw_data : Usage::btree;
        for (Address i = first; i <= last; ++i) {
            const auto [at, added] = users.emplace(i, kind);
            ASSERT_TRUE(added || (at->second == kind && (block.size < page || block.cut))) << "page " << i;
        }
    }
}

void check_place(const Block& block, const SpaceRule& rule, Address unit) {
    const auto in_one = [&](Address from, Address to) { return from / unit == (to - 1) / unit; };
    const bool large = rule.page != 0 && block.size >= rule.page;
    const bool aligned = rule.page == 0 && rule.alignment > 1 && block.size >= rule.alignment_threshold;
    if (large) {
        ASSERT_EQ(block.address % rule.page, 0U);
    } else if (rule.page != 0) {
        ASSERT_EQ(block.address / rule.page, (block.address + block.size - 1) / rule.page);
    }
    if (aligned) {
        ASSERT_EQ(block.address % rule.alignment, 0U);
    }
    if (block.usage == Usage::raw_data) {
        return;
    }
    if (block.size <= unit) {
        ASSERT_TRUE(in_one(block.address, block.address + block.size));
    } else {
        if (block.usage == Usage::object_header) {
            ASSERT_TRUE(in_one(block.address, block.address + 64));
        }
        if (!large && !aligned) {
            ASSERT_TRUE(in_one(block.address + block.size - 64, block.address + block.size));
        }
    }
}

struct Story {
    SpaceRule rule;
    std::uint32_t unit = 512;
    std::size_t overflow = ~std::size_t{0};  // extents that the keeper keeps; 0: there is no keeper
    bool memory = true;                      // for more than a few extents
    std::uint64_t room = kLimit;             // of the storage
    std::uint32_t seed = 1;
};

void run(const Story& story) {
    Bench bench;
    SizeDriver driver(bench.driver, story.unit, story.room);
    Keeper keeper(story.overflow);
    FileSpace space(bench.library, driver);
    const std::size_t others = sizeof bench_memory - 256;
    void* const taken = story.memory ? nullptr : bench.library.allocate(MemoryKind::other, others);
    space.open(0, kLimit, 0);
    if (story.overflow != 0) {
        space.set_keeper(keeper);
    }
    Model model(space);
    std::vector<Block> blocks;
    Numbers numbers(story.seed);
    const SpaceRule& rule = story.rule;
    const Address unit = FileSpace::unit_of(story.unit);
    const auto allocate = [&](Usage usage, Address size) {
        Block block{0, size, usage, false};
        bool zeros = false;
        const Status status = space.allocate(usage, size, block.address, &zeros);
        if (status != Status::ok) {
            ASSERT_EQ(status, Status::no_space);
            ASSERT_NE(story.room, kLimit);
            return;
        }
        ASSERT_NO_FATAL_FAILURE(model.take(block.address, size, zeros));
        ASSERT_NO_FATAL_FAILURE(check_place(block, rule, unit));
        blocks.push_back(block);
    };
    // Half of the files get their rule only when the superblock is allocated.
    if (story.seed % 2 == 0) {
        space.set_rule(rule);
    }
    ASSERT_NO_FATAL_FAILURE(allocate(Usage::superblock, 48));
    space.set_rule(rule);
    const Address most = rule.page != 0 ? 3 * rule.page : 3000;
    bool held = false;
    for (unsigned i = 0; i < 500; ++i) {
        const std::uint32_t what = numbers.below(20);
        if (what < 10 || blocks.size() < 3) {
            const Usage usages[] = {Usage::raw_data, Usage::btree, Usage::object_header};
            const Address small = 1 + numbers.below(600);
            const Address size = numbers.below(4) == 0 ? 1 + numbers.below(static_cast<std::uint32_t>(most)) : small;
            ASSERT_NO_FATAL_FAILURE(allocate(usages[numbers.below(3)], size));
        } else if (what < 17) {
            const std::size_t which = 1 + numbers.below(static_cast<std::uint32_t>(blocks.size() - 1));
            Block& block = blocks[which];
            const bool fresh = numbers.below(3) == 0;
            const Address keep = numbers.below(8) == 0 ? numbers.below(static_cast<std::uint32_t>(block.size)) : 0;
            space.release(block.address + keep, block.size - keep, fresh,
                          block.usage == Usage::raw_data ? SpaceKind::raw_data : SpaceKind::metadata);
            model.give(block.address + keep, block.size - keep, static_cast<char>(fresh ? 0 : held ? 2 : 1));
            block.size = keep;
            block.cut = true;
            if (keep == 0) {
                blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(which));
            }
        } else if (what < 18) {
            space.hold(held = !held);
        } else {
            const bool all = numbers.below(2) == 0;
            space.settle(all);
            model.settle(all);
        }
        if (i % 10 == 0) {
            ASSERT_NO_FATAL_FAILURE(model.compare());
        }
        if (rule.page != 0) {
            ASSERT_NO_FATAL_FAILURE(check_pages(blocks, rule.page, space.end()));
        }
        ASSERT_GE(driver.size, space.end());
    }
    // What is released comes together again, so that nothing of the file is left.
    space.hold(false);
    for (const Block& block : blocks) {
        space.release(block.address, block.size, false,
                      block.usage == Usage::raw_data ? SpaceKind::raw_data : SpaceKind::metadata);
        model.give(block.address, block.size, 1);
    }
    ASSERT_NO_FATAL_FAILURE(model.compare());
    space.settle();
    space.settle();
    space.end_aggregation();
    if (space.free().is_complete()) {
        EXPECT_EQ(space.end(), 0U);
        EXPECT_EQ(space.free().count(), 0U);
    }
    space.close();
    bench.library.release(MemoryKind::other, taken, taken == nullptr ? 0 : others);
    EXPECT_TRUE(bench.empty());
}

std::vector<SpaceRule> rules() {
    std::vector<SpaceRule> all(1);
    for (const Address page : {512U, 513U, 520U, 1000U, 1024U, 4095U, 4096U, 65536U}) {
        all.push_back({true, page, 1, 1, 0, 0});
    }
    all.push_back({true, 4096, 512, 1, 2048, 2048});  // with pages nothing else counts
    for (const Address alignment : {2U, 8U, 1000U, 4096U, 1013U}) {
        all.push_back({true, 0, alignment, 1, 0, 0});
        all.push_back({true, 0, alignment, 300, 2048, 1500});
    }
    all.push_back({true, 0, 1, 1, 2048, 2048});
    all.push_back({true, 0, 1, 1, 100, 5000});
    all.push_back({true, 0, 1, 1, 0, 4096});
    all.push_back({false, 0, 1, 1, 2048, 2048});
    all.push_back({false, 0, 1, 1, 0, 0});
    all.push_back({false, 0, 64, 1, 0, 0});
    return all;
}

}  // namespace

TEST(SpaceRuleHost, EveryBlockLiesWhereTheRuleWantsIt) {
    for (const SpaceRule& rule : rules()) {
        for (const std::uint32_t unit : {128U, 512U}) {
            for (std::uint32_t seed = 1; seed <= 2; ++seed) {
                Story story;
                story.rule = rule;
                story.unit = unit;
                story.seed = seed;
                SCOPED_TRACE(testing::Message()
                             << "page " << rule.page << " alignment " << rule.alignment << " blocks "
                             << rule.metadata_block << " reuse " << rule.reuse << " unit " << unit << " seed " << seed);
                ASSERT_NO_FATAL_FAILURE(run(story));
            }
        }
    }
}

TEST(SpaceRuleHost, NothingIsGivenOutTwiceWhenMemoryAndStorageAreShort) {
    for (const SpaceRule& rule : rules()) {
        for (const bool memory : {false, true}) {
            for (const std::size_t overflow : {std::size_t{0}, std::size_t{3}, ~std::size_t{0}}) {
                for (const std::uint64_t room : {std::uint64_t{60000}, std::uint64_t{kLimit}}) {
                    Story story;
                    story.rule = rule;
                    story.overflow = overflow;
                    story.memory = memory;
                    story.room = room == kLimit ? room : room + rule.page;
                    story.seed = 7;
                    SCOPED_TRACE(testing::Message()
                                 << "page " << rule.page << " alignment " << rule.alignment << " blocks "
                                 << rule.metadata_block << " reuse " << rule.reuse << " memory " << memory
                                 << " overflow " << overflow << " room " << room);
                    ASSERT_NO_FATAL_FAILURE(run(story));
                }
            }
        }
    }
}

// With 10,000 extents of which most are in the overflow, one change reads each of them a few times, and a commit that
// frees many of them does not begin anew for each.
TEST(SpaceRuleHost, ManyExtentsAreReadAFewTimesForEachChange) {
    constexpr Address kExtents = 10000;
    Bench bench;
    SizeDriver driver(bench.driver, 512, kLimit);
    Keeper keeper(~std::size_t{0});
    FileSpace space(bench.library, driver);
    space.open(kExtents * 20, kLimit, kExtents * 20);
    space.set_keeper(keeper);
    for (Address i = 0; i < kExtents; ++i) {
        space.free().insert({i * 20, 10, 0, SpaceKind::raw_data});
    }
    EXPECT_GT(space.free().spilled(), kExtents / 2);
    keeper.reads = 0;
    space.release(5010, 10, true, SpaceKind::raw_data);  // joins two of them
    EXPECT_EQ(space.free().count(), kExtents - 1);
    EXPECT_LT(keeper.reads, 3 * kExtents);

    constexpr Address kPending = 30;
    for (Address i = 0; i < kPending; ++i) {
        space.release(100010 + i * 200, 10, false, SpaceKind::raw_data);
    }
    keeper.reads = 0;
    space.settle();
    EXPECT_EQ(space.free().count(), kExtents - 1 - kPending);
    EXPECT_LT(keeper.reads, (2 * kPending + 4) * kExtents);
    space.close();
}

#endif
