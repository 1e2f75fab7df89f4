// Every byte of metadata in files that libhdf5 made is changed, every address of a block is replaced by that of another
// block, and the checksum is repaired. Whatever reading then refuses as damaged, check_file() must report. Reading,
// checking and changing such files give all memory back.
#ifdef H5MOTE_TEST_HDF5

#include <h5mote/h5mote.hpp>

#if H5MOTE_ALL_FORMATS

#include "../reading/all_filters.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "hdf5_files.hpp"
#include "promising_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "walker.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

alignas(16) std::byte memory[96 * 1024];
std::byte buffer[1024];

// The results of walking through an image and of check_file() on it.
struct Judgement {
    Status opened = Status::ok;
    WalkResult walk;
    Findings findings;
    std::vector<ErrorRecord> trail;  // error trail of the walk
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

// Changes objects of a damaged file as far as possible. Returns false if memory was not given back.
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

// A block with a checksum, which is its last 4 bytes, or for a direct block of a fractal heap a field inside it.
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

// Returns the block that the library reports as damaged when this byte is changed.
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

// Whether a byte only continues a run of equal bytes, in which changing it would test nothing new.
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

/// Damages the bytes of a file. Checksums that were right are repaired, so that only the damage itself can be noticed.
class Damage {
public:
    Damage(const MadeFile& made, Totals& totals) : image_(made.image), name_(made.name), totals_(totals) {}

    Image& image() noexcept { return image_; }
    bool sound() const {
        const Judgement sound = judge(image_);
        EXPECT_TRUE(sound.opened == Status::ok && sound.walk.errors == 0 && !sound.found())
            << name_ << ' ' << sound.findings.last_kind;
        return !::testing::Test::HasFailure();
    }
    /// Whether the byte is part of a checksum.
    bool in_checksum(std::size_t at) {
        const Block* const block = around(at);
        return block != nullptr && at >= block->checksum && at - block->checksum < 4;
    }
    /// Replaces the bytes from `at` on, judges the result (and, with `changing`, tries to change it), and restores
    /// them.
    void replace(std::size_t at, const Image& bytes, bool changing, const std::string& what) {
        const Block* const block = around(at);
        const auto place = image_.begin() + static_cast<std::ptrdiff_t>(at);
        const Image before(place, place + static_cast<std::ptrdiff_t>(bytes.size()));
        std::copy(bytes.begin(), bytes.end(), place);
        repair(block);
        const Judgement result = judge(image_);
        SCOPED_TRACE(name_ + ", byte " + std::to_string(at) + what);
        EXPECT_TRUE(result.clean);
        EXPECT_TRUE(!changing || change(image_));
        EXPECT_TRUE(result.opened != Status::ok || !result.refused() || result.found())
            << to_string(result.walk.first_error) << result.where();
        EXPECT_TRUE(result.findings.status == Status::ok || result.findings.status == Status::out_of_memory ||
                    result.findings.status == Status::over_budget)
            << to_string(result.findings.status);
        ++totals_.points;
        totals_.refused += result.refused() ? 1U : 0U;
        totals_.found += result.found() ? 1U : 0U;
        std::copy(before.begin(), before.end(), place);
        repair(block);
    }

private:
    const Block* around(std::size_t at) {
        for (const Block& block : blocks_) {
            if (at >= block.begin && at - block.begin < block.size) {
                return &block;
            }
        }
        const std::optional<Block> block = block_around(image_, at);
        return block ? &blocks_.emplace_back(*block) : nullptr;
    }
    void repair(const Block* block) {
        if (block != nullptr) {
            block->repair(image_);
        }
    }

    Image image_;
    std::string name_;
    Totals& totals_;
    std::deque<Block> blocks_;
};

void change_each_byte(const MadeFile& made, Totals& totals) {
    Damage damage(made, totals);
    ASSERT_TRUE(damage.sound());
    for (std::size_t at = 0; at < made.image.size(); at += sweep_step()) {
        if (repeats(made.image, at) || damage.in_checksum(at)) {
            continue;
        }
        const std::byte before = made.image[at];
        // Make two of the six changes to each byte, in turn: all six find no more and take too long.
        const unsigned changes[] = {1, 2, 0x40, 0x80, 0xff, static_cast<unsigned>(before)};
        for (const std::size_t i : {at % 6, (at + 3) % 6}) {
            const unsigned mask = changes[i] == 0 ? 0xff : changes[i];
            damage.replace(at, {before ^ static_cast<std::byte>(mask)}, i == at % 6,
                           " changed by " + std::to_string(mask));
        }
    }
}

// Returns the offsets of all blocks that begin with a signature.
std::vector<std::size_t> blocks_in(const Image& image) {
    std::vector<std::size_t> blocks;
    for (const std::string_view signature :
         {"OHDR", "OCHK", "TREE", "SNOD", "HEAP", "GCOL", "FRHP", "FHDB", "FHIB", "FSHD", "FSSE",
          "BTHD", "BTIN", "BTLF", "FAHD", "FADB", "EAHD", "EAIB", "EASB", "EADB", "SMTB", "SMLI"}) {
        const auto* const text = reinterpret_cast<const std::byte*>(signature.data());
        for (auto at = image.begin(); (at = std::search(at, image.end(), text, text + 4)) != image.end(); ++at) {
            blocks.push_back(static_cast<std::size_t>(at - image.begin()));
        }
    }
    return blocks;
}

// Replaces each address of a block by that of each other block, mostly of the same kind, often one of its parents.
void mistake_each_address(const MadeFile& made, Totals& totals) {
    Damage damage(made, totals);
    ASSERT_TRUE(damage.sound());
    const std::size_t width = std::to_integer<std::size_t>(made.image[made.image[8] < std::byte{2} ? 13 : 9]);
    const std::vector<std::size_t> blocks = blocks_in(made.image);
    for (const std::size_t block : blocks) {
        Image address(8);
        store_le<std::uint64_t>(address.data(), block);
        address.resize(width);
        auto at = made.image.begin();
        while ((at = std::search(at, made.image.end(), address.begin(), address.end())) != made.image.end()) {
            const auto place = static_cast<std::size_t>(at - made.image.begin());
            for (const std::size_t other : blocks) {
                Image wrong(8);
                store_le<std::uint64_t>(wrong.data(), other);
                wrong.resize(width);
                if (other != block) {
                    damage.replace(place, wrong, totals.points % 3 == 0, " leads to " + std::to_string(other));
                }
            }
            ++at;
        }
    }
}

// Sets extents and maximum sizes for which the chunk index was not made. Dataspace message: version 2 | rank | flags 1
// | type 1 | dimensions | maximum dimensions.
void change_the_extent(const MadeFile& made, Totals& totals) {
    const std::size_t rank = made.name.find("B-tree 2") == 0 ? 2 : 1;
    const std::byte simple[] = {std::byte{2}, static_cast<std::byte>(rank), std::byte{1}, std::byte{1}};
    const auto at = std::search(made.image.begin(), made.image.end(), std::begin(simple), std::end(simple));
    if (made.image[8] < std::byte{2} || at == made.image.end()) {
        return;
    }
    Damage damage(made, totals);
    ASSERT_TRUE(damage.sound());
    const auto first = static_cast<std::size_t>(at - made.image.begin()) + 4;
    const auto stored = [&](std::size_t i) { return load_le<std::uint64_t>(made.image.data() + first + 8 * i); };
    constexpr std::uint64_t kOne = 1;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t most = stored(rank + d);
        for (const std::uint64_t now : {std::uint64_t{0}, kOne, stored(d), stored(d) + 9, kOne << 32, kOne << 62,
                                        (kOne << 63) + 1, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
            for (const std::uint64_t largest : {now, most, most + 9, kOne << 32, kOne << 62, ~std::uint64_t{0}}) {
                Image bytes(made.image.begin() + static_cast<std::ptrdiff_t>(first),
                            made.image.begin() + static_cast<std::ptrdiff_t>(first + 16 * rank));
                store_le<std::uint64_t>(bytes.data() + 8 * d, now);
                store_le<std::uint64_t>(bytes.data() + 8 * (rank + d), largest);
                damage.replace(first, bytes, true, ": " + std::to_string(now) + " of " + std::to_string(largest));
            }
        }
    }
}

void damage_all(const std::vector<MadeFile>& files, void (*damage)(const MadeFile&, Totals&), std::size_t points) {
    Totals totals;
    for (const MadeFile& made : files) {
        SCOPED_TRACE(made.name);
        damage(made, totals);
    }
    std::printf("%u points, %u refused by reading, %u found by checking\n", totals.points, totals.refused,
                totals.found);
    EXPECT_GT(totals.points, points);
    EXPECT_GT(totals.refused, points / 2);
}

}  // namespace

TEST(CheckDamage, FindsWhatReadingRefusesInChunks) {
    damage_all(files_of_chunks(), change_each_byte, 10000 / sweep_step());
}

TEST(CheckDamage, FindsWhatReadingRefusesInObjects) {
    damage_all(files_of_objects(), change_each_byte, 10000 / sweep_step());
}

TEST(CheckDamage, AddressesOfOtherBlocksInChunks) { damage_all(files_of_chunks(), mistake_each_address, 500); }

TEST(CheckDamage, ExtentsThatTheChunksDoNotFit) { damage_all(files_of_chunks(), change_the_extent, 500); }

TEST(CheckDamage, AddressesOfOtherBlocksInObjects) { damage_all(files_of_objects(), mistake_each_address, 500); }

#endif
#endif
