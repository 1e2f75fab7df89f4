// Attributes larger than a sector are replaced and removed, links of a long group are added and removed, an index of
// fixed size is filled, and the power fails within each write: the file is as flushed last, or as after the change.
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "recording_driver.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;
using Operation = DriverOperation;
constexpr std::size_t kSector = 512;
constexpr unsigned kLinks = 60;
constexpr auto kByte = make_integer(1, false);

std::string link_name(unsigned i) { return "a rather long name of a link " + std::to_string(i); }

// Cuts the power in each operation: torn at each sector, after all earlier operations or only those before the last
// sync. Calls check(image, operations) for each image, up to the first failure.
template <typename Check>
void for_each_cut(const RecordingDriver& recorder, const Check& check) {
    const auto& operations = recorder.operations();
    Image synced;
    Image image;
    for (std::size_t i = 0; i < operations.size() && !testing::Test::HasFailure(); ++i) {
        if (operations[i].kind == Operation::Kind::sync) {
            synced = image;
            continue;
        }
        for (const std::size_t length : recorder.tears(i, kSector)) {
            for (const Image* base : {&image, &synced}) {
                Image torn = *base;
                RecordingDriver::apply(torn, operations[i], length);
                check(torn, i);
            }
        }
        Image alone = synced;
        RecordingDriver::apply(alone, operations[i]);
        check(alone, i);
        RecordingDriver::apply(image, operations[i]);
        check(image, i + 1);
    }
}

// Opens an image that a cut left behind, checks that check_file() finds nothing, and calls look(file).
template <typename Look>
void look_at(const Image& image, std::size_t operations, const Look& look, Span<const Filter* const> filters = {}) {
    SCOPED_TRACE(std::to_string(operations) + " operations");
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver copy(memory);
    ASSERT_EQ(copy.assign({image.data(), image.size()}), Status::ok);
    Library library{memory, port, filters};
    auto file = File::open(library, copy);
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_TRUE(findings_in(*file).none());
    look(*file);
}

bool has_link(Group& group, const std::string& name) {
    std::uint32_t count = 0;
    EXPECT_EQ(group.link_count(count), Status::ok);
    for (std::uint32_t i = 0; i < count; ++i) {
        LinkInfo info;
        char buffer[64] = {};
        EXPECT_EQ(group.link(i, info, {buffer, sizeof buffer}), Status::ok);
        if (name == buffer) {
            return true;
        }
    }
    return false;
}

// Returns the value that all bytes of the attribute have; 0 if there is no attribute, -1 if the bytes differ.
int value_of(Group& root, const char* name, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const Status status = root.read_attribute(name, kByte.view(), {bytes.data(), bytes.size()});
    if (status == Status::not_found) {
        return 0;
    }
    for (const std::byte each : bytes) {
        if (status != Status::ok || each != bytes[0]) {
            return -1;
        }
    }
    return static_cast<int>(bytes[0]);
}

Status set(Group& root, const char* name, std::size_t size, int value) {
    const std::vector<std::byte> bytes(size, static_cast<std::byte>(value));
    const std::uint64_t dims[] = {size};
    return root.write_attribute(name, kByte.view(), Dataspace::simple(dims), {bytes.data(), bytes.size()});
}

struct State {
    int large = 0;
    int larger = 0;
    unsigned first = 0;  // links [first, last) exist
    unsigned last = 0;
};

TEST(HeaderPowerCut, BlocksLargerThanASector) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    RecordingDriver recorder(storage);
    struct Known {
        std::size_t operations;
        State state;
    };
    std::vector<Known> known;
    State state;
    {
        Library library{memory, port};
        FileAccess access;
        access.metadata_cache = 16384;
        auto file = File::create(library, recorder, access);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        const auto flush = [&] {
            ASSERT_EQ(file->flush(), Status::ok);
            known.push_back({recorder.operations().size(), state});
        };
        flush();
        for (int round = 1; round <= 6; ++round) {
            ASSERT_EQ(set(root, "large", 700, state.large = round), Status::ok);
            flush();
            for (unsigned i = 0; i < kLinks / 6; ++i) {
                ASSERT_EQ(root.create_soft_link(link_name(state.last++), "/nowhere"), Status::ok);
            }
            flush();
            ASSERT_EQ(set(root, "larger", 1800, state.larger = round), Status::ok);
            flush();
            ASSERT_EQ(root.unlink(link_name(state.first++)), Status::ok);
            flush();
            if (round % 3 == 0) {
                ASSERT_EQ(root.remove_attribute("large"), Status::ok);
                state.large = 0;
                flush();
            }
        }
        root.close();
        ASSERT_EQ(file->close(), Status::ok);
        known.push_back({recorder.operations().size(), state});
    }
    std::size_t cuts = 0;
    const auto check = [&](const Image& image, std::size_t operations) {
        std::size_t n = known.size();
        for (std::size_t i = 0; i < known.size() && known[i].operations <= operations; ++i) {
            n = i;
        }
        if (n == known.size()) {
            return;
        }
        ++cuts;
        const State& before = known[n].state;
        const State& after = known[n + 1 < known.size() ? n + 1 : n].state;
        look_at(image, operations, [&](File& file) {
            Group root = file.root();
            const int large = value_of(root, "large", 700);
            EXPECT_TRUE(large == before.large || large == after.large) << large;
            const int larger = value_of(root, "larger", 1800);
            EXPECT_TRUE(larger == before.larger || larger == after.larger) << larger;
            for (unsigned i = 0; i < kLinks; ++i) {
                const bool found = has_link(root, link_name(i));
                const bool was = i >= before.first && i < before.last;
                const bool is = i >= after.first && i < after.last;
                EXPECT_TRUE(found == was || found == is) << "link " << i;
            }
        });
    };
    for_each_cut(recorder, check);
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 150U);
}

// Messages are removed from a large block of the header, which is therefore rewritten. Before this is durable, an
// attribute is added to the block, while other blocks of the header wait to be written, too.
TEST(HeaderPowerCut, AddedToABlockThatWasWrittenAnew) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    RecordingDriver recorder(storage);
    constexpr unsigned kOthers = 9;
    const auto other = [](unsigned i) { return "other" + std::to_string(i); };
    std::size_t made = 0;  // number of operations after the creation
    {
        Library library{memory, port};
        FileAccess access;
        access.metadata_cache = 16384;
        auto file = File::create(library, recorder, access);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        made = recorder.operations().size();
        for (unsigned i = 0; i < kOthers; ++i) {
            ASSERT_EQ(set(root, other(i).c_str(), 40, 1), Status::ok);
        }
        for (unsigned first = 0; first < kOthers; ++first) {
            for (unsigned second = 0; second < first; ++second) {
                ASSERT_EQ(set(root, "large", 1000, 2), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
                ASSERT_EQ(root.remove_attribute(other(first)), Status::ok);
                ASSERT_EQ(root.remove_attribute(other(second)), Status::ok);
                ASSERT_EQ(root.remove_attribute("large"), Status::ok);
                ASSERT_EQ(set(root, "new", 200, 3), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
                ASSERT_EQ(root.remove_attribute("new"), Status::ok);
                ASSERT_EQ(set(root, other(first).c_str(), 40, 1), Status::ok);
                ASSERT_EQ(set(root, other(second).c_str(), 40, 1), Status::ok);
            }
        }
        root.close();
        ASSERT_EQ(file->close(), Status::ok);
    }
    std::size_t cuts = 0;
    for_each_cut(recorder, [&](const Image& image, std::size_t operations) {
        if (operations < made) {
            return;
        }
        ++cuts;
        look_at(image, operations, [&](File& file) {
            Group root = file.root();
            const int large = value_of(root, "large", 1000);
            EXPECT_TRUE(large == 0 || large == 2) << large;
            const int added = value_of(root, "new", 200);
            EXPECT_TRUE(added == 0 || added == 3) << added;
        });
    });
    EXPECT_GT(cuts, 500U);
}

// A text is replaced by longer and shorter ones, in headers of one block and of several: after every cut the attribute
// has the old or the new text, and there is only one of its name.
TEST(HeaderPowerCut, AttributesReplacedByAnotherSize) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    RecordingDriver recorder(storage);
    std::vector<std::pair<std::size_t, std::string>> known;  // number of operations, text
    constexpr unsigned kOthers = 9;
    {
        Library library{memory, port};
        auto file = File::create(library, recorder);
        ASSERT_EQ(file.status(), Status::ok);
        Group group = static_cast<Group&&>(*file->root().create_group("group"));
        for (unsigned i = 0; i < kOthers; ++i) {
            ASSERT_EQ(group.write_attribute("other" + std::to_string(i), i), Status::ok);
        }
        std::uint32_t state = 1;
        for (unsigned i = 0; i < 120; ++i) {
            state = state * 1664525U + 1013904223U;
            const std::string text((state >> 8) % 300 + 1, static_cast<char>('a' + i % 26));
            ASSERT_EQ(group.write_attribute("text", std::string_view(text)), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
            known.emplace_back(recorder.operations().size(), text);
        }
        group.close();
        ASSERT_EQ(file->close(), Status::ok);
    }
    std::size_t cuts = 0;
    const auto check = [&](const Image& image, std::size_t operations) {
        std::size_t n = known.size();
        for (std::size_t i = 0; i < known.size() && known[i].first <= operations; ++i) {
            n = i;
        }
        if (n == known.size()) {
            return;
        }
        ++cuts;
        look_at(image, operations, [&](File& file) {
            auto group = file.root().open_group("group");
            ASSERT_EQ(group.status(), Status::ok);
            char buffer[400];
            std::size_t length = 0;
            ASSERT_EQ(group->read_attribute("text", Span<char>(buffer), length), Status::ok);
            const std::string text(buffer, length);
            EXPECT_TRUE(text == known[n].second || text == known[n + 1 < known.size() ? n + 1 : n].second);
            std::uint32_t count = 0;
            EXPECT_EQ(group->attribute_count(count), Status::ok);
            EXPECT_EQ(count, kOthers + 1);
        });
    };
    for_each_cut(recorder, check);
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 150U);
}

#if H5MOTE_FIXED_CHUNKS
// Chunks of a grid are written one by one: the pages of its fixed array lie across sectors.
void cut_grid(std::uint64_t cells, bool filtered, std::size_t floor) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    RecordingDriver recorder(storage);
    const Filter* const filters[] = {&fletcher32_filter};
    std::vector<std::pair<std::size_t, std::uint64_t>> known;  // number of operations, cells
    const auto cell_of = [&](std::uint64_t n) { return n * 37 % cells; };
    {
        Library library{memory, port, filters};
        auto file = File::create(library, recorder);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {1};
        if (filtered) {
            create.filters = {filters::fletcher32};
        }
        const std::uint64_t dims[] = {cells};
        auto grid = file->root().create_dataset("grid", kByte.view(), Dataspace::simple(dims), create);
        ASSERT_EQ(grid.status(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        known.emplace_back(recorder.operations().size(), 0);
        for (std::uint64_t n = 0; n < cells; ++n) {
            const std::byte value{static_cast<unsigned char>(cell_of(n) % 200 + 1)};
            const std::uint64_t start[] = {cell_of(n)};
            const std::uint64_t count[] = {1};
            ASSERT_EQ(grid->write(Selection::hyperslab(start, count), kByte.view(), {&value, 1}), Status::ok);
            if (n % 3 == 0) {
                ASSERT_EQ(file->flush(), Status::ok);
                known.emplace_back(recorder.operations().size(), n + 1);
            }
        }
        ASSERT_EQ(grid->close(), Status::ok);
        ASSERT_EQ(file->close(), Status::ok);
    }
    std::size_t cuts = 0;
    const auto check = [&](const Image& image, std::size_t operations) {
        std::uint64_t least = 0;
        for (const auto& [done, cells_done] : known) {
            least = done <= operations ? cells_done : least;
        }
        if (operations < known[0].first) {
            return;
        }
        ++cuts;
        look_at(
            image, operations,
            [&](File& file) {
                auto grid = file.root().open_dataset("grid");
                ASSERT_EQ(grid.status(), Status::ok);
                std::vector<std::byte> values(static_cast<std::size_t>(cells));
                ASSERT_EQ(grid->read(Selection::all(), kByte.view(), {values.data(), values.size()}), Status::ok);
                for (std::uint64_t n = 0; n < least; ++n) {
                    EXPECT_EQ(static_cast<unsigned>(values[static_cast<std::size_t>(cell_of(n))]),
                              cell_of(n) % 200 + 1);
                }
            },
            filters);
    };
    for_each_cut(recorder, check);
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, floor);
}

TEST(FixedArrayPowerCut, OneBlock) { cut_grid(31, true, 50); }
TEST(FixedArrayPowerCut, Pages) { cut_grid(150, false, 300); }
TEST(FixedArrayPowerCut, PagesOfFilteredChunks) { cut_grid(100, true, 300); }

#endif

}  // namespace
