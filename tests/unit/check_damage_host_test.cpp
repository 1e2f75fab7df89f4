// Every byte of metadata in files that libhdf5 made is changed, and the checksum over it repaired: what reading then
// refuses as damaged, check_file() finds. Reading, checking and changing end with all memory given back.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "hdf5_files.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

alignas(16) std::byte memory[96 * 1024];
std::byte buffer[1024];

// What walking and checking say of an image.
struct Judgement {
    Status opened = Status::ok;
    WalkResult walk;
    Findings findings;
    std::vector<ErrorRecord> trail;  // of the walk
    bool clean = true;

    bool refused() const noexcept {
        const Status first = walk.first_error;
        return first == Status::corrupt_file || first == Status::overflow || first == Status::unsupported;
    }
    std::string where() const {
        char text[160] = "";
        return trail.empty() ? "" : ": " + std::string(text, describe(trail.back(), {text, sizeof text}));
    }
    bool found() const noexcept { return findings.problems + findings.notes != 0; }
};

Judgement judge(const Image& image, bool with_check = true) {
    Judgement result;
    Arena arena{memory};
    {
        NullPort port;
        Library library(arena, port, kAllFilters);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        access.allow_truncated = true;
        access.metadata_cache = 4096;
        access.chunk_cache = 8192;
        WalkLimits limits;
        limits.elements = 64;
        limits.steps = 2000;
        result.opened = walk_file(library, driver, access, buffer, limits, result.walk);
        for (std::size_t i = 0; i < library.trail().size(); ++i) {
            result.trail.push_back(library.trail().newest(i));
        }
        auto file = with_check ? File::open(library, driver, access) : Result<File>(Status::not_found);
        if (file) {
            result.findings = findings_in(*file, 2048);
            EXPECT_EQ(file->close(), Status::ok);
        }
    }
    result.clean = arena.usage().now == 0 && arena.check();
    return result;
}

// Changes what is in a damaged file, as far as that goes. false: memory was lost.
bool change(const Image& image) {
    MallocAllocator own(256 * 1024);
    MallocAllocator bytes;
    {
        GrowingMemoryDriver storage(bytes, std::size_t{1} << 20);
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        PromisingDriver driver(storage, with_unit(512));
        NullPort port;
        Library library(own, port, kAllFilters);
        FileAccess access;
        access.chunk_cache = 256;
        auto file = File::open(library, driver, access);
        if (!file) {
            return own.blocks() == 0;
        }
        Group root = file->root();
        for (const char* name : {"d", "dense", "compact", "huge"}) {
            auto object = root.open_object(name);
            if (object) {
                (void)object->write_attribute("new", std::int32_t{1});
                (void)object->remove_attribute("attribute1");
            }
        }
        for (const char* name : {"dense", "compact"}) {
            auto group = root.open_group(name);
            if (group) {
                (void)group->unlink("link1");
                (void)group->create_soft_link("new", "somewhere");
            }
        }
        auto data = root.open_dataset<std::int32_t>("d");
        Dataspace space;
        if (data && data->dataspace(space) == Status::ok && space.rank() != 0) {
            std::uint64_t dims[H5MOTE_MAX_RANK] = {};
            std::copy(space.dims().begin(), space.dims().end(), dims);
            dims[0] = space.dims()[0] + 3 < space.max_dims()[0] ? space.dims()[0] + 3 : space.max_dims()[0];
            (void)data->set_extent(Span<const std::uint64_t>(dims, space.rank()));
            (void)data->append(7);
            (void)data->close();
        }
        (void)file->flush();
        (void)root.unlink("d");
        (void)root.unlink("dense");
        root.close();
        (void)file->close();
    }
    return own.blocks() == 0;
}

// Bytes under one checksum, and where that stands: behind them, or in a direct block of a fractal heap among them.
struct Block {
    std::size_t begin;
    std::size_t size;
    std::size_t checksum;

    std::uint32_t sum(Image& image) const {
        if (checksum + 4 == begin + size) {
            return lookup3({image.data() + begin, size - 4});
        }
        std::byte* const at = image.data() + checksum;
        const auto stored = load_le<std::uint32_t>(at);
        store_le<std::uint32_t>(at, 0);
        const std::uint32_t right = lookup3({image.data() + begin, size});
        store_le(at, stored);
        return right;
    }
    bool right(Image& image) const { return sum(image) == load_le<std::uint32_t>(image.data() + checksum); }
    void repair(Image& image) const { store_le(image.data() + checksum, sum(image)); }
};

// The block that the library finds damaged when that byte changes.
std::optional<Block> block_around(Image& image, std::size_t at) {
    image[at] ^= std::byte{0x11};
    const Judgement result = judge(image, false);
    image[at] ^= std::byte{0x11};
    for (const ErrorRecord& record : result.trail) {
        if (record.module != Module::storage || record.detail < 8 || record.value > at ||
            at - record.value >= record.detail || record.value + record.detail > image.size()) {
            continue;
        }
        Block block{static_cast<std::size_t>(record.value), record.detail, 0};
        for (const std::size_t head :
             {block.size - 4, std::size_t{13}, std::size_t{15}, std::size_t{17}, std::size_t{21}}) {
            block.checksum = block.begin + head;
            if (head + 4 <= block.size && block.right(image)) {
                return block;
            }
        }
    }
    return std::nullopt;
}

// Bytes that repeat what is before them say nothing new.
bool repeats(const Image& image, std::size_t at) {
    constexpr std::size_t kRun = 5;
    if (at < kRun) {
        return false;
    }
    for (std::size_t i = 1; i <= kRun; ++i) {
        if (image[at - i] != image[at]) {
            return false;
        }
    }
    return true;
}

struct Totals {
    unsigned points = 0;
    unsigned refused = 0;
    unsigned found = 0;
};

void change_each_byte(const MadeFile& made, Totals& totals) {
    Image image = made.image;
    const Judgement sound = judge(image);
    ASSERT_EQ(sound.opened, Status::ok);
    ASSERT_EQ(sound.walk.errors, 0U);
    ASSERT_FALSE(sound.found()) << sound.findings.last_kind;
    std::vector<Block> blocks;
    for (std::size_t at = 0; at < image.size(); ++at) {
        if (repeats(image, at)) {
            continue;
        }
        const Block* around = nullptr;
        for (const Block& block : blocks) {
            around = at >= block.begin && at - block.begin < block.size ? &block : around;
        }
        if (around == nullptr) {
            if (const std::optional<Block> block = block_around(image, at)) {
                blocks.push_back(*block);
                around = &blocks.back();
            }
        }
        if (around != nullptr && at >= around->checksum && at - around->checksum < 4) {
            continue;
        }
        const std::byte before = image[at];
        // Two changes of each byte, in turn: all of them find no more, and take long.
        const unsigned changes[] = {1, 2, 0x40, 0x80, 0xff, static_cast<unsigned>(before)};
        for (const std::size_t i : {at % 6, (at + 3) % 6}) {
            const unsigned mask = changes[i] == 0 ? 0xff : changes[i];
            image[at] = before ^ static_cast<std::byte>(mask);
            if (around != nullptr) {
                around->repair(image);
            }
            const Judgement result = judge(image);
            SCOPED_TRACE(made.name + ", byte " + std::to_string(at) + " changed by " + std::to_string(mask));
            EXPECT_TRUE(result.clean);
            EXPECT_TRUE(i != at % 6 || change(image));
            EXPECT_TRUE(result.opened != Status::ok || !result.refused() || result.found())
                << to_string(result.walk.first_error) << result.where();
            EXPECT_TRUE(result.findings.status == Status::ok || result.findings.status == Status::out_of_memory ||
                        result.findings.status == Status::over_budget)
                << to_string(result.findings.status);
            ++totals.points;
            totals.refused += result.refused() ? 1U : 0U;
            totals.found += result.found() ? 1U : 0U;
        }
        image[at] = before;
        if (around != nullptr) {
            around->repair(image);
        }
    }
}

void change_each_byte(const std::vector<MadeFile>& files) {
    Totals totals;
    for (const MadeFile& made : files) {
        SCOPED_TRACE(made.name);
        change_each_byte(made, totals);
    }
    std::printf("%u points, %u refused by reading, %u found by checking\n", totals.points, totals.refused,
                totals.found);
    EXPECT_GT(totals.points, 10000U);
    EXPECT_GT(totals.refused, 5000U);
}

}  // namespace

TEST(CheckDamage, FindsWhatReadingRefusesInChunks) { change_each_byte(files_of_chunks()); }

TEST(CheckDamage, FindsWhatReadingRefusesInObjects) { change_each_byte(files_of_objects()); }

#endif
#endif
