// The bytes of blueprints: the same on every machine, and what changes lies in one sector.
#include "blueprints.hpp"
#include "checksum.hpp"
#include "cursor.hpp"
#include "test.hpp"

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

namespace {

using blueprint::ArrayParameters;
using blueprint::Image;
using blueprint::Table;

bool in_one_sector(std::uint32_t from, std::uint32_t to) { return from / 512 == (to - 1) / 512; }

// Checks where everything stands that one write has to change.
void expect_sectors(const Table& table, ConstBytes bytes) {
    const unsigned width = table.sizeof_addr;
    EXPECT_EQ(std::size_t{table.size}, bytes.size());
    for (std::size_t i = 0; i < table.dataset_count; ++i) {
        const blueprint::RecordedDataset& dataset = table.datasets[i];
        EXPECT_TRUE(in_one_sector(dataset.header + table.dimension, dataset.header + table.header_size));
        EXPECT_TRUE(in_one_sector(dataset.array + 12, dataset.array + ArrayParameters::header_size(width)));
        EXPECT_TRUE(in_one_sector(dataset.index_block + ArrayParameters::index_block_prefix(width),
                                  dataset.index_block + ArrayParameters::index_block_size(width)));
        // The recorder takes what it writes anew from the ROM.
        EXPECT_EQ(std::memcmp(table.bytes + dataset.header_bytes, bytes.data() + dataset.header, table.header_size), 0);
        EXPECT_EQ(std::memcmp(table.bytes + dataset.array_bytes, bytes.data() + dataset.array,
                              ArrayParameters::header_size(width)),
                  0);
        EXPECT_EQ(std::memcmp(bytes.data() + dataset.header, "OHDR", 4), 0);
        EXPECT_EQ(std::memcmp(bytes.data() + dataset.array, "EAHD", 4), 0);
        EXPECT_EQ(std::memcmp(bytes.data() + dataset.index_block, "EAIB", 4), 0);
    }
}

// The pieces that the recorder has in ROM are the file.
void expect_pieces(const Table& table, ConstBytes bytes) {
    const std::byte* at = table.bytes;
    std::uint32_t end = 0;
    std::size_t different = 0;
    for (std::size_t i = 0; i < table.piece_count; ++i) {
        const blueprint::Piece& piece = table.pieces[i];
        EXPECT_EQ(piece.address, end);
        for (std::uint32_t k = 0; k < piece.size; ++k) {
            different += bytes[piece.address + k] != at[piece.repeats ? 0 : k] ? 1U : 0U;
        }
        end += piece.size;
        at += piece.repeats ? 1 : piece.size;
    }
    EXPECT_EQ(end, table.size);
    EXPECT_EQ(different, 0U);
}

void expect_setting(const blueprint::RecordedSetting& setting, const Table& table, ConstBytes bytes) {
    const std::uint32_t value = setting.block + setting.value;
    EXPECT_TRUE(in_one_sector(value, value + setting.size + 4));
    EXPECT_EQ(std::memcmp(bytes.data() + setting.block, "OCHK", 4), 0);
    EXPECT_EQ(std::memcmp(table.bytes + setting.block_bytes, bytes.data() + setting.block, setting.value), 0);
    EXPECT_EQ(lookup3({bytes.data() + setting.block, setting.value + setting.size}),
              load_le<std::uint32_t>(bytes.data() + value + setting.size));
}

template <const auto& Blueprint, std::size_t... I>
void expect_settings(std::index_sequence<I...>) {
    const auto one = [](auto i) {
        if constexpr (blueprint::detail::kParts<Blueprint>.attributes[decltype(i)::value].is_setting) {
            expect_setting(Image<Blueprint>::template setting<decltype(i)::value>(), Image<Blueprint>::kTable,
                           Image<Blueprint>::bytes());
        }
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
    (void)one;
}

template <const auto& Blueprint>
void expect_sound(std::uint32_t size, std::uint32_t checksum) {
    const ConstBytes bytes = Image<Blueprint>::bytes();
    EXPECT_EQ(bytes.size(), std::size_t{size});
    EXPECT_EQ(lookup3(bytes), checksum);
    expect_sectors(Image<Blueprint>::kTable, bytes);
    expect_pieces(Image<Blueprint>::kTable, bytes);
    expect_settings<Blueprint>(std::make_index_sequence<blueprint::detail::kParts<Blueprint>.attributes.size()>());
}

}  // namespace

// If a change of the library changes these bytes, files of earlier programs become other_blueprint.
TEST(Blueprint, TheSameBytesOnEveryMachine) {
    expect_sound<kEmpty>(120, 0xcfc23c34U);
    expect_sound<kNothing>(200, 0x4a964cd4U);
    expect_sound<kOne>(816, 0xc6891b40U);
    expect_sound<kBytes>(472, 0x95b88750U);
    expect_sound<kBytes8>(816, 0xc5d31214U);
    expect_sound<kTall>(480, 0xf66a2ecbU);
    expect_sound<kTurns>(1496, 0x98dd9115U);
    expect_sound<kFlight<4, false>>(2048, 0xa0209d88U);
    expect_sound<kFlight<4, true>>(2240, 0xf675cdc5U);
    expect_sound<kFlight<8, false>>(2736, 0x9fdf2e3cU);
    expect_sound<kFlight<8, true>>(3072, 0xb4df6bccU);
    expect_sound<kLarge<4, false>>(11512, 0x8e6b1a10U);
    expect_sound<kLarge<8, true>>(15696, 0xfb7c9e53U);
}

// A block of which nothing has to lie in one sector may end anywhere, where a sector ends, too.
TEST(Blueprint, BlocksThatEndWithASector) {
    using blueprint::detail::Block;
    constexpr auto kPlaced = [] {
        std::array<Block, 4> blocks{{{48, 0, 48}, {464, 0, 464}, {1024, 0, 1024}, {100, 0, 0}}};
        blueprint::detail::Composer::place(blueprint::detail::span(blocks));
        return blocks;
    }();
    EXPECT_EQ(kPlaced[3].address, 48U);
    EXPECT_EQ(kPlaced[1].address, 148U);
    EXPECT_EQ(kPlaced[2].address, 612U);
    static_assert([] {
        std::array<Block, 2> blocks{{{48, 0, 48}, {464, 0, 464}}};
        return blueprint::detail::Composer::place(blueprint::detail::span(blocks)) == 520 && blocks[1].address == 48;
    }());
}

TEST(Blueprint, NumbersOfDatasetsAndSettings) {
    static_assert(blueprint::dataset_number<kFlight<8, true>>("flight/imu") == 0);
    static_assert(blueprint::dataset_number<kFlight<8, true>>("/flight/t_us") == 1);
    static_assert(blueprint::dataset_number<kFlight<8, true>>("odd") == 2);
    static_assert(blueprint::dataset_number<kLarge<4, false>>("g1/g2/g3/deep") == 0);
    static_assert(blueprint::dataset_number<kLarge<4, false>>("many/d15") == 15);
    static_assert(std::is_same_v<Image<kFlight<8, true>>::Row<2>, Padded>);
    static_assert(std::is_same_v<Image<kLarge<4, false>>::Row<15>, std::array<Sample, 2>>);
    constexpr std::size_t kSerial = blueprint::setting_number<kFlight<8, true>>("", "serial");
    constexpr std::size_t kGain = blueprint::setting_number<kFlight<8, true>>("flight/imu", "gain");
    constexpr std::size_t kDeep = blueprint::setting_number<kLarge<4, false>>("many/d14", "s14");
    static_assert(std::is_same_v<Image<kFlight<8, true>>::Value<kSerial>, std::uint32_t>);
    static_assert(std::is_same_v<Image<kFlight<8, true>>::Value<kGain>, float>);
    static_assert(std::is_same_v<Image<kLarge<4, false>>::Value<kDeep>, std::uint64_t>);
    EXPECT_EQ(kSerial, 0U);
}

// Every possible value of the description gives another fingerprint: files of other blueprints are told apart.
TEST(Blueprint, FingerprintsDiffer) {
    const auto fingerprint = [](ConstBytes bytes, unsigned width) {
        return load_le<std::uint32_t>(bytes.data() + 16 + 4 * width);
    };
    const std::uint32_t all[] = {
        fingerprint(Image<kEmpty>::bytes(), 8),
        fingerprint(Image<kNothing>::bytes(), 8),
        fingerprint(Image<kOne>::bytes(), 8),
        fingerprint(Image<kBytes>::bytes(), 4),
        fingerprint(Image<kBytes8>::bytes(), 8),
        fingerprint(Image<kFlight<4, false>>::bytes(), 4),
        fingerprint(Image<kFlight<4, true>>::bytes(), 4),
        fingerprint(Image<kFlight<8, false>>::bytes(), 8),
    };
    for (std::size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            EXPECT_NE(all[i], all[k]);
        }
    }
}
