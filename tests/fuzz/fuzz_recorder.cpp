// Fuzzes the recorder: it opens damaged files of its blueprints, appends, sets, flushes and closes. Whatever is there
// is refused or gone on with, without an access outside of the storage, and what is refused stays as it is. The
// blueprint and what is done follow from the input.
#include "../recorder/blueprints.hpp"
#include "checksum.hpp"
#include "repair.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

constexpr std::size_t kLargestFile = std::size_t{1} << 16;

// Corrects the checksums of every block that a recorder looks at: of those in the blueprint where they stand, and of
// data blocks and super blocks wherever their signatures are.
class Checksums {
public:
    explicit Checksums(Bytes file) noexcept : file_(file) {}

    bool repair(const blueprint::Table& table) noexcept {
        const unsigned width = table.sizeof_addr;
        bool any = one(0, 16 + 4 * width);
        for (std::size_t i = 0; i < table.dataset_count; ++i) {
            const blueprint::RecordedDataset& dataset = table.datasets[i];
            any = one(dataset.header, table.header_size) || any;
            any = one(dataset.array, blueprint::ArrayParameters::header_size(width)) || any;
            any = one(dataset.index_block, blueprint::ArrayParameters::index_block_size(width)) || any;
        }
        for (std::size_t at = 0; at + 8 < file_.size(); ++at) {
            if (std::memcmp(file_.data() + at, "EADB", 4) == 0 || std::memcmp(file_.data() + at, "EASB", 4) == 0) {
                // The number of the first element tells how many addresses there are.
                for (std::size_t addresses = 1; addresses <= 256; addresses *= 2) {
                    any = one(at, 6 + width + 4 + addresses * width + 4, addresses != 16) || any;
                }
            }
        }
        return any;
    }

private:
    bool one(std::size_t at, std::size_t size, bool only_if_close = false) noexcept {
        if (size > file_.size() || at > file_.size() - size) {
            return false;
        }
        const std::uint32_t sum = lookup3({file_.data() + at, size - 4});
        std::byte* const stored = file_.data() + at + size - 4;
        if (load_le<std::uint32_t>(stored) == sum || only_if_close) {
            return false;
        }
        store_le(stored, sum);
        return true;
    }

    Bytes file_;
};

template <const auto& Blueprint>
struct Runner {
    using Image = blueprint::Image<Blueprint>;
    static inline Recorder<Blueprint> recorder;

    static bool begins(ConstBytes input) noexcept {
        const unsigned at = 16 + 4 * Image::kTable.sizeof_addr;
        return input.size() >= at + 4 && std::memcmp(input.data() + at, Image::kTable.bytes + at, 4) == 0;
    }
    template <std::size_t I>
    static void append(std::uint32_t seed) noexcept {
        static typename Image::template Row<I> row;
        const std::uint32_t rows = (seed >> (I % 8)) % (3 * Image::kTable.datasets[I].chunk + 2);
        for (std::uint32_t i = 0; i < rows; ++i) {
            (void)recorder.template append<I>(row);
        }
    }
    template <std::size_t... I>
    static void append_all(std::uint32_t seed, std::index_sequence<I...>) noexcept {
        (append<I>(seed), ...);
    }

    static bool run(Bytes input, bool repair) noexcept {
        MallocAllocator storage;
        const std::uint32_t seed = lookup3(input);
        bool repaired = false;
        {
            GrowingMemoryDriver driver(storage, seed % 2 == 0 ? kLargestFile : input.size() + seed % 4000);
            if (driver.assign(input) != Status::ok) {
                return false;
            }
            const Status status = recorder.open(driver);
            if (status == Status::ok) {
                for (unsigned round = 0; round < 3; ++round) {
                    append_all(seed >> round, std::make_index_sequence<Image::kDatasets>());
                    (void)recorder.flush();
                }
                seed % 3 == 0 ? recorder.abandon() : (void)recorder.close();
            } else if (driver.contents().size() != input.size() ||
                       std::memcmp(driver.contents().data(), input.data(), input.size()) != 0) {
                h5mote_fuzz::fail();  // it wrote to what it refused
            }
            if (recorder.is_open()) {
                h5mote_fuzz::fail();
            }
            repaired = repair && Checksums(input).repair(Image::kTable);
        }
        if (storage.blocks() != 0) {
            h5mote_fuzz::fail();
        }
        return repaired;
    }
};

}  // namespace

// The fingerprint behind the superblock chooses the blueprint.
bool h5mote_fuzz::play(Bytes input, bool repair) noexcept {
    // A storage that counts as blank gets a new file: there is nothing to see.
    bool blank = true;
    for (std::size_t i = 0; blank && i < 32 && i < input.size(); ++i) {
        blank = input[i] == input[0];
    }
    if (input.size() > kLargestFile || blank) {
        return false;
    }
    if (Runner<kBytes8>::begins(input)) {
        return Runner<kBytes8>::run(input, repair);
    }
    if (Runner<kFlight<4, true>>::begins(input)) {
        return Runner<kFlight<4, true>>::run(input, repair);
    }
    return Runner<kTurns>::run(input, repair);
}

void h5mote_fuzz::repair_superblock(Bytes input) noexcept { Repair(input).superblock(); }
