// H5Z - the pipeline, with test filters whose results are known exactly.
#include "pipeline.hpp"

#include "test.hpp"

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Filter;
using h5mote::FilterEntry;
using h5mote::FilterId;
using h5mote::FilterPipeline;
using h5mote::FilterSpec;
using h5mote::FilterTarget;
using h5mote::Status;

namespace {

constexpr std::uint32_t kFails = 99;

// Adds values[0] to every byte (kFails: encoding returns out_of_memory) and appends values[1] bytes (negative: removes
// that many zeros from the end). Asks for 20 bytes of scratch memory and writes all of them.
class TestFilter final : public Filter {
public:
    constexpr TestFilter(FilterId id, bool in_place) : id_(id), in_place_(in_place) {}

    FilterId id() const noexcept override { return id_; }
    bool in_place() const noexcept override { return in_place_; }
    std::size_t scratch_need(bool /*encode*/, std::size_t /*size*/) const noexcept override { return 20; }
    Status can_apply(const FilterSpec& /*spec*/, const FilterTarget& target) const noexcept override {
        return target.element_size == 13 ? Status::invalid_argument : Status::ok;
    }
    Status set_local(FilterSpec& spec, const FilterTarget& target) const noexcept override {
        spec.values[3] = target.element_size;
        return target.element_size == 14 ? Status::invalid_argument : Status::ok;
    }
    std::size_t encoded_limit(const FilterSpec& spec, std::size_t size) const noexcept override {
        const std::int32_t growth = static_cast<std::int32_t>(spec.values[1]);
        if (growth < 0) {
            return size == 0 ? 0 : size - 1;
        }
        return size + static_cast<std::size_t>(growth);
    }
    Status encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override {
        if (spec.values[0] == kFails) {
            return Status::out_of_memory;
        }
        return run(spec.values[0], static_cast<std::int32_t>(spec.values[1]), in, out, size, scratch, Status::no_space);
    }
    Status decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                  Bytes scratch) const noexcept override {
        return run(0 - spec.values[0], -static_cast<std::int32_t>(spec.values[1]), in, out, size, scratch,
                   Status::corrupt_file);
    }

private:
    Status run(std::uint32_t add, std::int32_t growth, ConstBytes in, Bytes out, std::size_t& size, Bytes scratch,
               Status too_long) const noexcept {
        if (scratch.size() < 20 || reinterpret_cast<std::uintptr_t>(scratch.data()) % 8 != 0) {
            return Status::over_budget;
        }
        for (std::byte& byte : scratch) {
            byte = std::byte{0xee};
        }
        const std::size_t less = growth < 0 ? static_cast<std::size_t>(-growth) : 0;
        const std::size_t more = growth > 0 ? static_cast<std::size_t>(growth) : 0;
        if (in.size() < less || in.size() - less + more > out.size()) {
            return too_long;
        }
        const std::size_t kept = in.size() - less;
        for (std::size_t i = kept; i < in.size(); ++i) {
            if (in[i] != std::byte{0}) {
                return too_long;
            }
        }
        for (std::size_t i = 0; i < kept; ++i) {
            out[i] = static_cast<std::byte>(static_cast<std::uint32_t>(in[i]) + add);
        }
        for (std::size_t i = kept; i < kept + more; ++i) {
            out[i] = std::byte{0};
        }
        size = kept + more;
        return Status::ok;
    }

    FilterId id_;
    bool in_place_;
};

constexpr TestFilter kMoves{FilterId::nbit, false};
constexpr TestFilter kInPlace{FilterId::szip, true};

constexpr std::size_t kChunk = 40;
std::byte chunk[kChunk];
std::byte copy[kChunk];
alignas(8) std::byte work[3 * 64 + 32];

FilterEntry stage(const Filter* filter, std::uint32_t add, int growth, bool optional = false) {
    const FilterId id = filter == nullptr ? FilterId::lzf : filter->id();
    return {{id, optional, 4, {add, static_cast<std::uint32_t>(growth)}}, filter};
}

// Fills the chunk and ends it with `zeros` zeros, which test filters can remove.
void fill(std::size_t zeros) {
    for (std::size_t i = 0; i < kChunk; ++i) {
        chunk[i] = static_cast<std::byte>(i + zeros >= kChunk ? 0 : 100 + i);
        copy[i] = chunk[i];
    }
}

bool chunk_is_copy() {
    for (std::size_t i = 0; i < kChunk; ++i) {
        if (chunk[i] != copy[i]) {
            return false;
        }
    }
    return true;
}

// Encodes in exactly scratch_need() bytes, then decodes the stored chunk likewise. Returns its filter mask and size.
Status round_trip(FilterPipeline pipeline, std::uint32_t& mask, std::size_t& stored_size) {
    const std::size_t need = pipeline.scratch_need(kChunk, true);
    FilterId failed = FilterId::none;
    ConstBytes result;
    EXPECT_LE(need, sizeof work);
    if (need > 0) {
        EXPECT_TRUE(pipeline.encode(chunk, {work, need - 1}, result, mask, failed) == Status::over_budget);
    }
    H5MOTE_TRY(pipeline.encode(chunk, {work, need}, result, mask, failed));
    EXPECT_TRUE(failed == FilterId::none);
    EXPECT_TRUE(chunk_is_copy());
    stored_size = result.size();
    static std::byte stored[128];
    EXPECT_LE(stored_size, sizeof stored);
    for (std::size_t i = 0; i < stored_size; ++i) {
        stored[i] = result[i];
    }
    for (std::byte& byte : chunk) {
        byte = std::byte{0x77};
    }
    const std::size_t back_need = pipeline.decode_need(kChunk, stored_size, mask);
    EXPECT_LE(back_need, pipeline.scratch_need(kChunk, false));
    Bytes place;
    if (back_need > 0) {
        EXPECT_TRUE(pipeline.stored_place(stored_size, mask, chunk, {work, back_need - 1}, place) ==
                    Status::over_budget);
    }
    H5MOTE_TRY(pipeline.stored_place(stored_size, mask, chunk, {work, back_need}, place));
    EXPECT_EQ(place.size(), stored_size);
    for (std::size_t i = 0; i < stored_size; ++i) {
        place[i] = stored[i];
    }
    H5MOTE_TRY(pipeline.decode(place, mask, chunk, {work, back_need}, failed));
    EXPECT_TRUE(failed == FilterId::none);
    EXPECT_TRUE(chunk_is_copy());
    return Status::ok;
}

}  // namespace

TEST(FilterPipeline, NoFilters) {
    const FilterPipeline pipeline{{}};
    fill(0);
    EXPECT_TRUE(pipeline.empty());
    EXPECT_EQ(pipeline.skip_all(), 0U);
    EXPECT_EQ(pipeline.scratch_need(kChunk, true), 0U);
    EXPECT_EQ(pipeline.scratch_need(kChunk, false), 0U);
    ConstBytes result;
    std::uint32_t mask = 9;
    FilterId failed = FilterId::szip;
    ASSERT_TRUE(pipeline.encode(chunk, {}, result, mask, failed) == Status::ok);
    EXPECT_TRUE(result.data() == chunk);
    EXPECT_EQ(result.size(), kChunk);
    EXPECT_EQ(mask, 0U);
    Bytes place;
    ASSERT_TRUE(pipeline.stored_place(kChunk, 0, chunk, {}, place) == Status::ok);
    EXPECT_TRUE(place.data() == chunk);
    EXPECT_TRUE(pipeline.decode(place, 0, chunk, {}, failed) == Status::ok);
    EXPECT_TRUE(pipeline.stored_place(kChunk - 1, 0, chunk, {}, place) == Status::corrupt_file);
    // If more bytes are stored than a chunk has, the rest is ignored.
    ASSERT_TRUE(pipeline.stored_place(kChunk + 5, 0, chunk, {}, place) == Status::ok);
    EXPECT_TRUE(place.data() == chunk && place.size() == kChunk);
    EXPECT_TRUE(pipeline.decode(place, 0, chunk, {}, failed) == Status::ok);
}

// Three stages, each of them in place or not, and shrinking, equal or growing, optional or not.
TEST(FilterPipeline, AllKindsOfStages) {
    static constexpr int kGrowth[] = {-2, 0, 6};
    unsigned failures = 0;
    for (unsigned kinds = 0; kinds < 8; ++kinds) {
        for (unsigned optional = 0; optional < 8; ++optional) {
            for (unsigned growths = 0; growths < 27; ++growths) {
                FilterEntry entries[3];
                unsigned code = growths;
                for (unsigned i = 0; i < 3; ++i, code /= 3) {
                    // Only zeros can be removed: the stages that might shrink the chunk add nothing.
                    const std::uint32_t add = i == 2 ? 5 : 0;
                    entries[i] = stage((kinds >> i & 1) != 0 ? &kInPlace : &kMoves, add, kGrowth[code % 3],
                                       (optional >> i & 1) != 0);
                }
                // There are zeros for two shrinking stages: the third fails, and is skipped if it is optional.
                fill(4);
                std::uint32_t mask = 0;
                std::size_t size = 0;
                const Status status = round_trip(FilterPipeline{entries}, mask, size);
                const bool all_shrink = growths == 0;
                const bool may_fail = all_shrink && (optional & 4) == 0;
                ASSERT_TRUE(status == (may_fail ? Status::no_space : Status::ok));
                failures += may_fail ? 1 : 0;
                if (!may_fail) {
                    ASSERT_EQ(mask, all_shrink ? 4U : 0U);
                }
            }
        }
    }
    EXPECT_EQ(failures, 32U);
}

TEST(FilterPipeline, OneBufferWhereOneIsEnough) {
    FilterEntry in_place[] = {stage(&kInPlace, 1, 4)};
    FilterEntry shuffle_and_sum[] = {stage(&kMoves, 1, 0), stage(&kInPlace, 1, 4)};
    FilterEntry shuffle_and_pack[] = {stage(&kMoves, 1, 0), stage(&kMoves, 1, -1, true)};
    FilterEntry all[] = {stage(&kMoves, 1, 0), stage(&kMoves, 1, -1, true), stage(&kInPlace, 1, 4)};
    constexpr std::size_t kState = 24;
    EXPECT_EQ(FilterPipeline{in_place}.scratch_need(kChunk, true), kState + 48);
    EXPECT_EQ(FilterPipeline{in_place}.scratch_need(kChunk, false), kState + 48);
    EXPECT_EQ(FilterPipeline{shuffle_and_sum}.scratch_need(kChunk, true), kState + 48);
    EXPECT_EQ(FilterPipeline{shuffle_and_sum}.scratch_need(kChunk, false), kState + 48);
    EXPECT_EQ(FilterPipeline{shuffle_and_pack}.scratch_need(kChunk, true), kState + 80);
    EXPECT_EQ(FilterPipeline{shuffle_and_pack}.scratch_need(kChunk, false), kState + 40);
    EXPECT_EQ(FilterPipeline{all}.scratch_need(kChunk, true), kState + 96);
    EXPECT_EQ(FilterPipeline{all}.scratch_need(kChunk, false), kState + 48);
    // A need that exceeds the address space is reported as SIZE_MAX and does not wrap round.
    EXPECT_EQ(FilterPipeline{all}.scratch_need(SIZE_MAX - 16, true), SIZE_MAX);
    EXPECT_EQ(FilterPipeline{all}.decode_need(kChunk, SIZE_MAX - 2, 0), SIZE_MAX);
}

TEST(FilterPipeline, OptionalFiltersAreSkipped) {
    fill(0);
    // The first filter cannot shrink the chunk, the second is missing, the third works.
    FilterEntry entries[] = {stage(&kMoves, 1, -1, true), stage(nullptr, 1, 0, true), stage(&kMoves, 7, 4, true)};
    std::uint32_t mask = 0;
    std::size_t size = 0;
    ASSERT_TRUE(round_trip(FilterPipeline{entries}, mask, size) == Status::ok);
    EXPECT_EQ(mask, 3U);
    EXPECT_EQ(size, kChunk + 4);
    EXPECT_EQ(FilterPipeline{entries}.skip_all(), 7U);

    // All filters are skipped: the result is the chunk itself.
    FilterEntry none[] = {stage(&kMoves, 1, -1, true), stage(nullptr, 1, 0, true)};
    ConstBytes result;
    FilterId failed = FilterId::none;
    ASSERT_TRUE(FilterPipeline{none}.encode(chunk, work, result, mask, failed) == Status::ok);
    EXPECT_TRUE(result.data() == chunk);
    EXPECT_EQ(mask, 3U);
    Bytes place;
    ASSERT_TRUE(FilterPipeline{none}.stored_place(kChunk, mask, chunk, {}, place) == Status::ok);
    EXPECT_TRUE(place.data() == chunk);
    EXPECT_TRUE(FilterPipeline{none}.decode(place, mask, chunk, {}, failed) == Status::ok);
}

TEST(FilterPipeline, MandatoryFiltersFail) {
    fill(0);
    ConstBytes result;
    std::uint32_t mask = 0;
    FilterId failed = FilterId::none;
    FilterEntry missing[] = {stage(&kMoves, 1, 0), stage(nullptr, 1, 0)};
    EXPECT_TRUE(FilterPipeline{missing}.encode(chunk, work, result, mask, failed) == Status::unsupported);
    EXPECT_TRUE(failed == FilterId::lzf);
    FilterEntry full[] = {stage(&kInPlace, 1, -1)};
    EXPECT_TRUE(FilterPipeline{full}.encode(chunk, work, result, mask, failed) == Status::no_space);
    EXPECT_TRUE(failed == FilterId::szip);
    EXPECT_TRUE(chunk_is_copy());
}

// An optional filter is skipped if it cannot shrink the chunk, but not if it fails for want of memory.
TEST(FilterPipeline, OptionalFiltersThatFail) {
    fill(0);
    FilterEntry entries[] = {stage(&kMoves, 1, 0), stage(&kInPlace, kFails, 0, true)};
    ConstBytes result;
    std::uint32_t mask = 0;
    FilterId failed = FilterId::none;
    EXPECT_TRUE(FilterPipeline{entries}.encode(chunk, work, result, mask, failed) == Status::out_of_memory);
    EXPECT_TRUE(failed == FilterId::szip);
    EXPECT_TRUE(chunk_is_copy());
}

TEST(FilterPipeline, NoMoreFiltersThanTheMaskHasBits) {
    static FilterEntry entries[33];
    for (FilterEntry& entry : entries) {
        entry = stage(&kMoves, 3, 0);
    }
    FilterId failed = FilterId::none;
    std::size_t need = 0;
    EXPECT_TRUE(FilterPipeline({entries, 32}).prepare({12, kChunk}, failed, need) == Status::ok);
    EXPECT_TRUE(FilterPipeline({entries, 33}).prepare({12, kChunk}, failed, need) == Status::invalid_argument);
}

TEST(FilterPipeline, DecodingRefuses) {
    fill(0);
    FilterId failed = FilterId::none;
    Bytes place;
    {
        // Stored bytes at another place than stored_place() names, and too little room.
        FilterEntry one[] = {stage(&kMoves, 1, 4)};
        const FilterPipeline moves{one};
        static std::byte elsewhere[kChunk + 4];
        const std::size_t need = moves.decode_need(kChunk, kChunk + 4, 0);
        ASSERT_TRUE(moves.stored_place(kChunk + 4, 0, chunk, {work, need}, place) == Status::ok);
        EXPECT_TRUE(moves.decode(elsewhere, 0, chunk, {work, need}, failed) == Status::invalid_argument);
        EXPECT_TRUE(moves.decode(place, 0, chunk, {work, need - 1}, failed) == Status::over_budget);
        EXPECT_TRUE(chunk_is_copy());
    }
    // A filter that this program lacks cannot be skipped when decoding, even if it is optional: it was applied.
    FilterEntry missing[] = {stage(nullptr, 1, 0, true), stage(&kMoves, 1, 4)};
    const FilterPipeline lacking{missing};
    ASSERT_TRUE(lacking.stored_place(kChunk + 4, 0, chunk, work, place) == Status::ok);
    for (std::byte& byte : place) {
        byte = std::byte{0};
    }
    EXPECT_TRUE(lacking.decode(place, 0, chunk, work, failed) == Status::unsupported);
    EXPECT_TRUE(failed == FilterId::lzf);

    // Results that are shorter or longer than the chunk, and bytes that a filter refuses.
    FilterEntry entries[] = {stage(&kMoves, 1, 4)};
    const FilterPipeline pipeline{entries};
    for (std::size_t size = 0; size <= kChunk + 12; ++size) {
        ASSERT_TRUE(pipeline.stored_place(size, 0, chunk, work, place) == Status::ok);
        for (std::byte& byte : place) {
            byte = std::byte{0};
        }
        EXPECT_TRUE(pipeline.decode(place, 0, chunk, work, failed) ==
                    (size == kChunk + 4 ? Status::ok : Status::corrupt_file));
    }
    ASSERT_TRUE(pipeline.stored_place(kChunk + 4, 0, chunk, work, place) == Status::ok);
    place[kChunk + 3] = std::byte{1};
    EXPECT_TRUE(pipeline.decode(place, 0, chunk, work, failed) == Status::corrupt_file);
    EXPECT_TRUE(failed == FilterId::nbit);
    EXPECT_TRUE(pipeline.stored_place(sizeof work, 0, chunk, work, place) == Status::over_budget);
    EXPECT_TRUE(pipeline.stored_place(SIZE_MAX, 0, chunk, work, place) == Status::over_budget);
    // Mask bits beyond the number of filters are ignored.
    EXPECT_TRUE(pipeline.stored_place(kChunk, ~0U, chunk, work, place) == Status::ok);
}

TEST(FilterPipeline, PreparesClientData) {
    FilterId failed = FilterId::none;
    FilterEntry entries[] = {stage(&kMoves, 1, 0), stage(nullptr, 0, 0, true), stage(&kInPlace, 1, 4, true)};
    FilterPipeline pipeline{entries};
    std::size_t need = 0;
    ASSERT_TRUE(pipeline.prepare({12, kChunk}, failed, need) == Status::ok);
    EXPECT_TRUE(failed == FilterId::none);
    EXPECT_EQ(entries[0].spec.values[3], 12U);
    EXPECT_EQ(entries[2].spec.values[3], 12U);
    EXPECT_TRUE(pipeline.prepare({13, kChunk}, failed, need) == Status::invalid_argument);
    EXPECT_TRUE(failed == FilterId::nbit);
    entries[0].spec.optional = true;
    EXPECT_TRUE(pipeline.prepare({13, kChunk}, failed, need) == Status::ok);
    EXPECT_TRUE(pipeline.prepare({14, kChunk}, failed, need) == Status::invalid_argument);
    entries[1].spec.optional = false;
    EXPECT_TRUE(pipeline.prepare({12, kChunk}, failed, need) == Status::unsupported);
    EXPECT_TRUE(failed == FilterId::lzf);
}

TEST(FilterPipeline, AllBitsOfTheMask) {
    static FilterEntry entries[32];
    for (FilterEntry& entry : entries) {
        entry = stage(&kMoves, 3, 0, true);
    }
    entries[31] = stage(nullptr, 0, 0, true);
    fill(0);
    std::uint32_t mask = 0;
    std::size_t size = 0;
    const FilterPipeline pipeline{entries};
    EXPECT_EQ(pipeline.skip_all(), 0xffffffffU);
    ASSERT_TRUE(round_trip(pipeline, mask, size) == Status::ok);
    EXPECT_EQ(mask, 0x80000000U);
    entries[31] = stage(&kInPlace, 3, 4);
    ASSERT_TRUE(round_trip(pipeline, mask, size) == Status::ok);
    EXPECT_EQ(mask, 0U);
    EXPECT_EQ(size, kChunk + 4);
}
