// H5Z - the pipeline with the real filters, in exactly as much memory as it states that it needs.
#include "pipeline.hpp"

#include <gtest/gtest.h>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#if H5MOTE_FILTER_SHUFFLE && H5MOTE_FILTER_FLETCHER32 && H5MOTE_FILTER_DEFLATE

namespace {

using h5mote::ConstBytes;
using h5mote::FilterEntry;
using h5mote::FilterId;
using h5mote::FilterPipeline;
using h5mote::Status;
using Data = std::vector<std::byte>;

const FilterEntry kShuffle{h5mote::filters::shuffle, &h5mote::shuffle_filter};
const FilterEntry kFletcher{h5mote::filters::fletcher32, &h5mote::fletcher32_filter};
const FilterEntry kDeflate{h5mote::filters::deflate, &h5mote::deflate_filter};

FilterEntry mandatory_deflate() {
    FilterEntry entry = kDeflate;
    entry.spec.optional = false;
    return entry;
}

// Memory of exactly `count` bytes, aligned as the pipeline requires.
struct Exact {
    explicit Exact(std::size_t count) : size(count), memory(new std::byte[count]) {}
    h5mote::Bytes bytes() const { return {memory.get(), size}; }
    std::size_t size;
    std::unique_ptr<std::byte[]> memory;
};

Data sample(int kind, std::size_t size) {
    std::mt19937 generator(static_cast<unsigned>(kind));
    Data data(size);
    for (std::size_t i = 0; i < size; i += 4) {
        // Kinds of data: a slow wave in steps as floats, a constant, noise.
        const float wave = std::floor(std::sin(static_cast<float>(i) / 300.0F) * 8.0F);
        const std::uint32_t value = kind == 0 ? 0 : kind == 1 ? 0x40490fdbU : static_cast<std::uint32_t>(generator());
        unsigned char bytes[4];
        static_assert(sizeof wave == sizeof bytes);
        std::memcpy(bytes, kind == 0 ? static_cast<const void*>(&wave) : &value, 4);
        std::memcpy(data.data() + i, bytes, size - i < 4 ? size - i : 4);
    }
    return data;
}

// Decodes a chunk in exactly as much memory as that takes, and compares it.
void expect_decoded(const FilterPipeline& pipeline, ConstBytes stored, std::uint32_t mask, const Data& data) {
    const Exact work(pipeline.decode_need(data.size(), stored.size(), mask));
    const Exact chunk(data.size());
    h5mote::Bytes place;
    ASSERT_EQ(pipeline.stored_place(stored.size(), mask, chunk.bytes(), work.bytes(), place), Status::ok);
    ASSERT_EQ(place.size(), stored.size());
    std::memcpy(place.data(), stored.data(), stored.size());
    FilterId failed = FilterId::none;
    ASSERT_EQ(pipeline.decode(place, mask, chunk.bytes(), work.bytes(), failed), Status::ok);
    ASSERT_EQ(std::memcmp(chunk.memory.get(), data.data(), data.size()), 0);
}

void round_trip(std::vector<FilterEntry> entries, const Data& data, std::uint32_t expected_mask) {
    FilterPipeline pipeline{{entries.data(), entries.size()}};
    FilterId failed = FilterId::none;
    std::size_t need = 0;
    ASSERT_EQ(pipeline.prepare({4, static_cast<std::uint32_t>(data.size())}, failed, need), Status::ok);
    const Exact work(pipeline.scratch_need(data.size(), true));
    ConstBytes result;
    std::uint32_t mask = 0;
    ASSERT_EQ(pipeline.encode({data.data(), data.size()}, work.bytes(), result, mask, failed), Status::ok);
    if (data.size() >= 100) {
        EXPECT_EQ(mask, expected_mask);
    }
    ASSERT_LE(pipeline.decode_need(data.size(), result.size(), mask), pipeline.scratch_need(data.size(), false));
    expect_decoded(pipeline, result, mask, data);
}

}  // namespace

TEST(FilterPipelineHost, RealFiltersInAllOrders) {
    for (int kind = 0; kind < 3; ++kind) {
        const bool noise = kind == 2;
        for (const std::size_t size : {1U, 3U, 4U, 64U, 300U, 2816U, 11264U, 70001U}) {
            const Data data = sample(kind, size);
            round_trip({kShuffle}, data, 0);
            round_trip({kFletcher}, data, 0);
            round_trip({kDeflate}, data, noise ? 1 : 0);
            round_trip({kShuffle, kDeflate}, data, noise ? 2 : 0);
            round_trip({kShuffle, kFletcher}, data, 0);
            round_trip({kDeflate, kFletcher}, data, noise ? 1 : 0);
            round_trip({kFletcher, kDeflate}, data, noise ? 2 : 0);
            round_trip({kShuffle, kDeflate, kFletcher}, data, noise ? 2 : 0);
            round_trip({kFletcher, kShuffle, kDeflate, kFletcher}, data, noise ? 4 : 0);
            // A mandatory filter must be used even if it makes the chunk larger, as libhdf5 does.
            round_trip({mandatory_deflate()}, data, 0);
            round_trip({kShuffle, mandatory_deflate()}, data, 0);
            round_trip({kShuffle, mandatory_deflate(), kFletcher}, data, 0);
            round_trip({kShuffle, kShuffle, mandatory_deflate()}, data, 0);
        }
    }
}

// libhdf5 also stores what an optional filter has made larger, and a later filter may make it small again.
TEST(FilterPipelineHost, OptionalFiltersThatLibhdf5Kept) {
    const FilterEntry kept{h5mote::filters::deflate_level(0), &h5mote::deflate_filter};
    for (const std::vector<FilterEntry>& used :
         {std::vector<FilterEntry>{kept, kDeflate}, std::vector<FilterEntry>{kept, kShuffle, kept, kDeflate, kFletcher},
          std::vector<FilterEntry>{kept, kept, kShuffle, kDeflate}}) {
        const Data data = sample(0, 4000);
        std::vector<FilterEntry> entries = used;
        for (FilterEntry& entry : entries) {
            entry.spec.optional = false;
        }
        FilterPipeline writer{{entries.data(), entries.size()}};
        FilterId failed = FilterId::none;
        std::size_t need = 0;
        ASSERT_EQ(writer.prepare({4, 4000}, failed, need), Status::ok);
        const Exact work(writer.scratch_need(4000, true));
        ConstBytes result;
        std::uint32_t mask = 0;
        ASSERT_EQ(writer.encode({data.data(), 4000}, work.bytes(), result, mask, failed), Status::ok);
        ASSERT_LT(result.size(), 2000U);
        for (FilterEntry& entry : entries) {
            entry.spec.optional = true;
        }
        expect_decoded(FilterPipeline{{entries.data(), entries.size()}}, result, mask, data);
    }
}

TEST(FilterPipelineHost, DamagedChunksAreRefused) {
    std::vector<FilterEntry> entries = {kShuffle, kDeflate, kFletcher};
    FilterPipeline pipeline{{entries.data(), entries.size()}};
    const Data data = sample(0, 400);
    FilterId failed = FilterId::none;
    std::size_t need = 0;
    ASSERT_EQ(pipeline.prepare({4, 400}, failed, need), Status::ok);
    const Exact work(pipeline.scratch_need(400, true));
    ConstBytes result;
    std::uint32_t mask = 0;
    ASSERT_EQ(pipeline.encode({data.data(), 400}, work.bytes(), result, mask, failed), Status::ok);
    const Data stored(result.begin(), result.end());
    const auto decode = [&](const Data& bytes, std::uint32_t with_mask) {
        const Exact chunk(400);
        const Exact memory(pipeline.decode_need(400, bytes.size(), with_mask));
        h5mote::Bytes place;
        H5MOTE_TRY(pipeline.stored_place(bytes.size(), with_mask, chunk.bytes(), memory.bytes(), place));
        if (!bytes.empty()) {
            std::memcpy(place.data(), bytes.data(), bytes.size());
        }
        return pipeline.decode(place, with_mask, chunk.bytes(), memory.bytes(), failed);
    };
    EXPECT_EQ(decode(stored, 0), Status::ok);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        EXPECT_EQ(decode(Data(stored.begin(), stored.begin() + static_cast<long>(i)), 0), Status::corrupt_file);
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            Data bad = stored;
            bad[i] ^= static_cast<std::byte>(flip);
            EXPECT_EQ(decode(bad, 0), Status::corrupt_file);
            // Without the checksum filter the stream has the wrong length or is damaged.
            EXPECT_EQ(decode(bad, 2), Status::corrupt_file);
        }
    }
    for (std::uint32_t wrong = 1; wrong < 8; ++wrong) {
        const Status status = decode(stored, wrong);
        // Skipping only shuffle, or only the checksum (whose bytes then trail the stream), still gives 400 bytes.
        EXPECT_EQ(status, wrong == 1 || wrong == 4 || wrong == 5 ? Status::ok : Status::corrupt_file) << wrong;
    }
}

#endif
