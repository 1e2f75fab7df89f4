// Files in several parts that are written: which layouts can be made, what is refused, and what failed calls leave.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_OTHER_FILES && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "memory_parts.hpp"
#include "sweep.hpp"

#include <h5mote/check.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/multi.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kRawPart = static_cast<unsigned>(Usage::raw_data);

struct World {
    MallocAllocator heap;
    NullPort port;
    MemoryParts parts;
    Library library{heap, port, {}, formats::all};
    MultiDriver driver{parts};
};

TEST(MultiWriting, LayoutsOfNewFiles) {
    World world;
    MultiLayout layout = split_layout();
    layout.parts[kRawPart].start = 0;
    EXPECT_EQ(world.driver.open_or_create(layout), Status::invalid_argument);  // two parts begin at one address
    layout = split_layout();
    layout.parts[0].start = 512;
    EXPECT_EQ(world.driver.open_or_create(layout), Status::invalid_argument);
    layout = split_layout();
    const std::string name(250, 'n');
    layout.parts[0].name = name;
    EXPECT_EQ(world.driver.open_or_create(layout), Status::invalid_argument);
    layout = split_layout();
    layout.map[0] = 5;  // the number of a part is that of the first usage that it serves
    EXPECT_EQ(world.driver.open_or_create(layout), Status::invalid_argument);
    layout.map[0] = kMostParts;
    EXPECT_EQ(world.driver.open_or_create(layout), Status::invalid_argument);
    EXPECT_FALSE(world.driver.capabilities().writable);
    // Parts anywhere, at addresses that are multiples of nothing.
    layout = split_layout();
    layout.parts[kRawPart].start = 100001;
    layout.map[1] = layout.map[4] = layout.map[5] = 1;
    layout.parts[1] = {1000001, "tree"};
    World other;
    ASSERT_EQ(other.driver.open_or_create(layout), Status::ok);
    auto file = File::create(other.library, other.driver);
    ASSERT_EQ(file.status(), Status::ok);
    ASSERT_EQ(append(*file, 0), Status::ok);
    expect_rows(*file, kRows);
    ASSERT_EQ(file->close(), Status::ok);
    file = File::open(other.library, other.driver);
    ASSERT_EQ(file.status(), Status::ok);
    ASSERT_EQ(append(*file, kRows), Status::ok);
    expect_rows(*file, 2 * kRows);
    EXPECT_TRUE(findings_in(*file).none());
}

// A driver whose writes of the superblock can fail.
class Failing final : public ForwardingDriver {
public:
    explicit Failing(Driver& inner) noexcept : ForwardingDriver(inner) { forward_superblock_info(inner); }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        if (address != 0) {
            return ForwardingDriver::write(usage, address, from);
        }
        ++superblocks;
        const ConstBytes arriving = fails ? from.first(from.size() - 6) : from;
        const Status status = ForwardingDriver::write(usage, address, arriving);
        return fails ? Status::io_error : status;
    }
    bool fails = false;
    unsigned superblocks = 0;
};

// The ends of the ranges were recorded before, so that nothing but the superblock is missing.
TEST(MultiWriting, SuperblockIsWrittenAgain) {
    World world;
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    Failing driver(world.driver);
    {
        auto file = File::create(world.library, driver);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->root().create_group("first").status(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(file->root().create_group("second").status(), Status::ok);
        driver.fails = true;
        EXPECT_EQ(file->flush(), Status::io_error);
        driver.fails = false;
        const unsigned before = driver.superblocks;
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(driver.superblocks, before + 1);
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(driver.superblocks, before + 1);
        ASSERT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(world.library, driver);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(file->root().open_group("second").status(), Status::ok);
}

// The range of addresses of a part ends where the next one begins.
TEST(MultiWriting, PartIsFull) {
    World world;
    MultiLayout layout = split_layout();
    layout.parts[0].start = 0;
    layout.parts[kRawPart].start = 6000;
    ASSERT_EQ(world.driver.open_or_create(layout), Status::ok);
    auto file = File::create(world.library, world.driver);
    ASSERT_EQ(file.status(), Status::ok);
    Status status = Status::ok;
    unsigned made = 0;
    for (; made < 100 && status == Status::ok; ++made) {
        status = file->root().create_group(("group" + std::to_string(made)).c_str()).status();
    }
    EXPECT_EQ(status, Status::no_space);
    EXPECT_GT(made, 5U);
    ASSERT_EQ(file->close(), Status::ok);
    file = File::open(world.library, world.driver);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_TRUE(findings_in(*file).none());
    EXPECT_EQ(file->root().open_group(("group" + std::to_string(made - 2)).c_str()).status(), Status::ok);
}

TEST(MultiWriting, StorageOfOnePartIsFull) {
    World world;
    world.parts.limits[kRawPart] = 4 * kRows + 100;
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    {
        auto file = File::create(world.library, world.driver);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(append(*file, 0), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(append(*file, kRows), Status::no_space);
        EXPECT_EQ(file->root().create_group("group").status(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    auto file = File::open(world.library, world.driver);
    ASSERT_EQ(file.status(), Status::ok);
    auto rows = file->root().open_dataset("rows");
    ASSERT_EQ(rows.status(), Status::ok);
    EXPECT_GE(rows->size(), static_cast<std::uint64_t>(kRows));
    EXPECT_TRUE(findings_in(*file).none());
}

// The part with the superblock is made last: without it there is no file, and with it all parts must be there.
TEST(MultiWriting, PartsThatAreMissing) {
    World world;
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    EXPECT_EQ(world.parts.made, (std::vector<unsigned>{kRawPart, 0}));
    {
        auto file = File::create(world.library, world.driver);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(append(*file, 0), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    const auto raw = std::move(world.parts.members[kRawPart]);
    EXPECT_EQ(world.driver.open_or_create(split_layout()), Status::not_found);
    EXPECT_EQ(world.parts.made.size(), 2U);
    // A part that has lost its end, and one that is empty.
    world.parts.reopen();
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    ASSERT_EQ(world.parts.storages[kRawPart]->truncate(100), Status::ok);
    EXPECT_EQ(File::open(world.library, world.driver).status(), Status::corrupt_file);
    EXPECT_EQ(File::open_or_create(world.library, world.driver).status(), Status::corrupt_file);
    // After a cut while the parts were made.
    world.parts.storages[0].reset();
    world.parts.reopen();
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    auto file = File::open_or_create(world.library, world.driver);
    ASSERT_EQ(file.status(), Status::ok);
    ASSERT_EQ(append(*file, 0), Status::ok);
    expect_rows(*file, kRows);
}

TEST(MultiWriting, RefusedByName) {
    World world;
    ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
    FileCreate create;
    create.user_block = 512;
    EXPECT_EQ(File::create(world.library, world.driver, FileAccess{}, create).status(), Status::unsupported);
    create = {};
    create.persist_free_space = true;
    EXPECT_EQ(File::create(world.library, world.driver, FileAccess{}, create).status(), Status::unsupported);
    create = {};
    create.sizeof_addr = 4;
    EXPECT_EQ(File::create(world.library, world.driver, FileAccess{}, create).status(), Status::unsupported);
    FileAccess access;
    access.metadata_block_size = 2048;
    EXPECT_EQ(File::create(world.library, world.driver, access).status(), Status::unsupported);
    // Programs without the part of the format read such files only.
    Formats reading = formats::all;
    reading.multi_changes = nullptr;
    Library reader{world.heap, world.port, {}, reading};
    EXPECT_EQ(File::create(reader, world.driver).status(), Status::unsupported);
    { ASSERT_EQ(File::create(world.library, world.driver).status(), Status::ok); }
    EXPECT_EQ(File::open(reader, world.driver).status(), Status::unsupported);
    access = {};
    access.read_only = true;
    EXPECT_EQ(File::open(reader, world.driver, access).status(), Status::ok);
    // Sectors that are too small for the ends of all parts.
    world.parts.members[0]->unit = 128;
    ASSERT_EQ(world.driver.open(split_layout()), Status::ok);
    EXPECT_EQ(world.driver.capabilities().atomic_unit, 128U);
    EXPECT_EQ(File::open(world.library, world.driver).status(), Status::unsupported);
    // Two parts do not commit at once, neither by themselves nor under a journal.
    world.parts.members[kRawPart]->commits = true;
    ASSERT_EQ(world.driver.open(split_layout()), Status::ok);
    EXPECT_FALSE(world.driver.capabilities().writable);
    EXPECT_EQ(File::create(world.library, world.driver).status(), Status::read_only);
    world.parts.members[kRawPart]->commits = false;
    ASSERT_EQ(world.driver.open(split_layout()), Status::ok);
    GrowingMemoryDriver log(world.heap);
    std::vector<std::byte> memory(JournalDriver::required_memory());
    JournalDriver journal(world.driver, log, {memory.data(), memory.size()});
    ASSERT_EQ(journal.open(), Status::ok);
    EXPECT_EQ(File::open(world.library, journal).status(), Status::unsupported);
    EXPECT_EQ(File::open(world.library, journal, access).status(), Status::ok);
}

// Each call of a part fails in turn while the file is opened, by a program that goes on to run.
TEST(MultiWriting, OpeningThatFailedIsRepeated) {
    World world;
    ASSERT_EQ(world.driver.open_or_create(multi_layout()), Status::ok);
    ASSERT_EQ(File::create(world.library, world.driver)->close(), Status::ok);
    unsigned failed = 0;
    bool fails = true;
    for (unsigned at = 1; fails; ++at) {
        ASSERT_EQ(world.driver.open_or_create(multi_layout()), Status::ok);
        world.parts.faults.arm(at);
        failed += File::open(world.library, world.driver) ? 0 : 1;
        fails = world.parts.faults.failures != 0;
        world.parts.faults.arm(0);
        ASSERT_EQ(world.driver.open_or_create(multi_layout()), Status::ok);
        EXPECT_EQ(File::open(world.library, world.driver).status(), Status::ok) << at;
    }
    EXPECT_GT(failed, 10U);
}

// The first thing that a session changes is a value of variable length, in place. The program ends before it flushes.
TEST(MultiWriting, ValuesOfASessionThatEndsBeforeItsFirstCommit) {
    constexpr auto kText = make_variable_string();
    for (const bool split : {true, false}) {
        const MultiLayout layout = split ? split_layout() : multi_layout();
        World world;
        ASSERT_EQ(world.driver.open_or_create(layout), Status::ok);
        const auto write = [&](Dataset& texts, const std::string& text) {
            const char* const list[] = {text.c_str()};
            return texts.write(Selection::all(), kText, {reinterpret_cast<const std::byte*>(list), sizeof list});
        };
        {
            auto file = File::create(world.library, world.driver);
            ASSERT_EQ(file.status(), Status::ok);
            auto texts = file->root().create_dataset("texts", kText, Dataspace::simple({1}));
            ASSERT_EQ(texts.status(), Status::ok);
            ASSERT_EQ(write(*texts, "old"), Status::ok);
            ASSERT_EQ(texts->close(), Status::ok);
            ASSERT_EQ(file->close(), Status::ok);
        }
        World killed;
        {
            ASSERT_EQ(world.driver.open_or_create(layout), Status::ok);
            auto file = File::open(world.library, world.driver);
            ASSERT_EQ(file.status(), Status::ok);
            auto texts = file->root().open_dataset("texts");
            ASSERT_EQ(texts.status(), Status::ok);
            ASSERT_EQ(write(*texts, std::string(5000, 'n')), Status::ok);
            for (unsigned i = 0; i < kMostParts; ++i) {
                if (world.parts.storages[i]) {
                    killed.parts.storages[i] = std::make_unique<GrowingMemoryDriver>(killed.heap);
                    ASSERT_EQ(killed.parts.storages[i]->assign(world.parts.storages[i]->contents()), Status::ok);
                }
            }
        }
        killed.parts.reopen();
        ASSERT_EQ(killed.driver.open_or_create(layout), Status::ok);
        auto file = File::open(killed.library, killed.driver);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        auto texts = file->root().open_dataset("texts");
        ASSERT_EQ(texts.status(), Status::ok);
        char* found = nullptr;
        ASSERT_EQ(texts->read(Selection::all(), kText, {reinterpret_cast<std::byte*>(&found), sizeof found}),
                  Status::ok);
        const std::string text = found;
        EXPECT_TRUE(text == "old" || text == std::string(5000, 'n'));
        EXPECT_EQ(reclaim(killed.library, kText, 1, sizeof found, &found), Status::ok);
    }
}

// What a deleted dataset leaves is used again, in the part where it lay.
TEST(MultiWriting, SpaceIsUsedAgain) {
    for (const bool split : {true, false}) {
        World world;
        ASSERT_EQ(world.driver.open_or_create(split ? split_layout() : multi_layout()), Status::ok);
        auto file = File::create(world.library, world.driver);
        ASSERT_EQ(file.status(), Status::ok);
        std::size_t most = 0;
        for (unsigned i = 0; i < 20; ++i) {
            ASSERT_EQ(append(*file, 0), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            ASSERT_EQ(file->root().unlink("rows"), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            std::size_t size = 0;
            for (const auto& storage : world.parts.storages) {
                size += storage ? storage->contents().size() : 0;
            }
            most = i == 2 ? size : most;
            EXPECT_TRUE(i < 2 || size <= most) << i;
        }
        ASSERT_EQ(file->close(), Status::ok);
        EXPECT_EQ(world.parts.storages[kRawPart]->contents().size(), 0U);
    }
}

/// Adds up what check_file() says of the bytes that belong to nobody.
class UnusedBytes final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { problems += problem.note ? 0 : 1; }
    void unused(Address address, std::uint64_t size) noexcept override {
        const bool tree_part = address < kSecondStart;
        in_file = in_file && (tree_part ? address + size <= ends[0]
                                        : address >= kSecondStart && address - kSecondStart + size <= ends[1]);
        bytes += size;
    }

    static constexpr Address kSecondStart = (~Address{0} - 1) / 2;
    std::uint64_t ends[2] = {};
    std::uint64_t bytes = 0;
    unsigned problems = 0;
    bool in_file = true;
};

// What lies between the addresses of two parts is in no file, and so belongs to nobody without being unused.
TEST(MultiWriting, OnlyBytesOfPartsAreUnused) {
    for (const bool read_only : {true, false}) {
        for (const std::size_t memory : {std::size_t{500}, std::size_t{65536}}) {  // several walks, and one
            World world;
            ASSERT_EQ(world.driver.open_or_create(split_layout()), Status::ok);
            auto file = File::create(world.library, world.driver);
            ASSERT_EQ(file.status(), Status::ok);
            ASSERT_EQ(append(*file, 0), Status::ok);
            ASSERT_EQ(file->root().create_group("removed").status(), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            ASSERT_EQ(file->root().unlink("removed"), Status::ok);
            ASSERT_EQ(file->root().create_group("group").status(), Status::ok);
            if (read_only) {
                ASSERT_EQ(file->close(), Status::ok);
                FileAccess access;
                access.read_only = true;
                file = File::open(world.library, world.driver, access);
                ASSERT_EQ(file.status(), Status::ok);
            } else {
                ASSERT_EQ(file->flush(), Status::ok);
            }
            UnusedBytes unused;
            std::uint64_t held = 0;
            for (const unsigned part : {0U, kRawPart}) {
                unused.ends[part == 0 ? 0 : 1] = world.parts.storages[part]->contents().size();
                held += world.parts.storages[part]->contents().size();
            }
            CheckOptions options;
            options.memory = memory;
            CheckSummary summary;
            ASSERT_EQ(check_file(*file, options, unused, &summary), Status::ok);
            EXPECT_EQ(unused.problems, 0U);
            EXPECT_TRUE(unused.in_file);
            EXPECT_EQ(unused.bytes, summary.unused);
            EXPECT_EQ(summary.used + summary.unused, held);
            EXPECT_EQ(summary.free + summary.lost, summary.unused);
            EXPECT_GT(summary.used, 500U);
        }
    }
}

Status log_some(Library& library, Driver& driver) {
    for (const bool again : {false, true}) {
        auto file = again ? File::open(library, driver) : File::create(library, driver);
        H5MOTE_TRY(file.status());
        H5MOTE_TRY(append(*file, again ? kRows : 0));
        H5MOTE_TRY(file->flush());
        H5MOTE_TRY(file->close());
    }
    return Status::ok;
}

// Every call of every part fails while a file is made and continued: an error, if and only if something failed that
// counts, and the parts are a whole file or hold none.
TEST(MultiWriting, EachCallFailsWhileLogging) {
    unsigned refused = 0;
    for (const bool split : {true, false}) {
        for (const bool persistent : {false, true}) {
            bool failed = true;
            for (unsigned k = 1; failed; k += static_cast<unsigned>(3 * sweep_step())) {
                World world;
                const MultiLayout layout = split ? split_layout() : multi_layout();
                ASSERT_EQ(world.driver.open_or_create(layout), Status::ok);
                world.parts.faults.arm(k, persistent);
                const Status status = log_some(world.library, world.driver);
                failed = world.parts.faults.failures != 0;
                world.parts.faults.arm(0);
                EXPECT_TRUE(failed || status == Status::ok) << k;
                refused += status == Status::ok ? 0 : 1;
                world.parts.reopen();
                MultiDriver left(world.parts);
                ASSERT_EQ(left.open_or_create(layout), Status::ok);
                Library library{world.heap, world.port, {}, formats::all};
                auto file = File::open_or_create(library, left);
                ASSERT_EQ(file.status(), Status::ok) << k;
                const Findings findings = findings_in(*file);
                EXPECT_TRUE(findings.none()) << k << ": " << findings.last_kind << " at " << findings.last_address;
                ASSERT_EQ(file->root().create_group("more").status(), Status::ok) << k;
                ASSERT_EQ(file->close(), Status::ok) << k;
            }
        }
    }
    EXPECT_GT(refused * sweep_step(), 100U);
}

}  // namespace

#endif
