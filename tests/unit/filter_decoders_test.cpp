// H5Z - LZF, n-bit, scale-offset and szip: chunks of libhdf5, their prefixes and damaged forms, and the same chunks
// made again.
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/szip.hpp>

#include "filter_vectors.hpp"
#include "test.hpp"

#include <cstring>

using h5mote::Bytes;
using h5mote::ConstBytes;
using h5mote::Filter;
using h5mote::FilterId;
using h5mote::FilterSpec;
using h5mote::Status;
using h5mote_test::FilterVector;
using h5mote_test::kFilterVectors;

namespace {

constexpr std::size_t kLargest = 600;
constexpr std::size_t kGuard = 16;
constexpr std::byte kMark{0xa5};
std::byte stored[kLargest];
std::byte room[kGuard + kLargest + kGuard];

const Filter* filter_of(unsigned id) {
    switch (static_cast<FilterId>(id)) {
#if H5MOTE_FILTER_SZIP
        case FilterId::szip:
            return &h5mote::szip_filter;
#endif
#if H5MOTE_FILTER_NBIT
        case FilterId::nbit:
            return &h5mote::nbit_filter;
#endif
#if H5MOTE_FILTER_SCALEOFFSET
        case FilterId::scaleoffset:
            return &h5mote::scaleoffset_filter;
#endif
#if H5MOTE_FILTER_LZF
        case FilterId::lzf:
            return &h5mote::lzf_filter;
#endif
        default:
            return nullptr;
    }
}

FilterSpec spec_of(const FilterVector& vector) {
    FilterSpec spec;
    spec.id = static_cast<FilterId>(vector.id);
    spec.value_count = static_cast<std::uint16_t>(vector.value_count);
    spec.encoded = reinterpret_cast<const std::byte*>(vector.values);
    return spec;
}

// Decodes into the middle of `room`; the bytes on both sides must stay as they are.
Status decode(const FilterSpec& spec, std::size_t length, std::size_t space, std::size_t& size) {
    for (std::byte& each : room) {
        each = kMark;
    }
    const Filter& filter = *filter_of(static_cast<unsigned>(spec.id));
    const Status status = filter.decode(spec, {stored, length}, {room + kGuard, space}, size, {});
    for (std::size_t i = 0; i < kGuard; ++i) {
        EXPECT_TRUE(room[i] == kMark && room[kGuard + space + i] == kMark);
    }
    return status;
}

bool is_decoded(const FilterVector& vector, std::size_t size) {
    return size == vector.decoded_size && std::memcmp(room + kGuard, vector.decoded, size) == 0;
}

}  // namespace

TEST(FilterDecoders, ChunksOfTheLibrary) {
    for (const FilterVector& vector : kFilterVectors) {
        if (filter_of(vector.id) == nullptr) {
            continue;
        }
        ASSERT_LE(vector.decoded_size, kLargest);
        ASSERT_LE(vector.stored_size, kLargest);
        std::memcpy(stored, vector.stored, vector.stored_size);
        const FilterSpec spec = spec_of(vector);
        std::size_t size = 0;
        EXPECT_TRUE(decode(spec, vector.stored_size, vector.decoded_size, size) == Status::ok);
        EXPECT_TRUE(is_decoded(vector, size));
        EXPECT_TRUE(decode(spec, vector.stored_size, kLargest, size) == Status::ok);
        EXPECT_TRUE(is_decoded(vector, size));
        // A target that is too small.
        EXPECT_TRUE(decode(spec, vector.stored_size, vector.decoded_size - 1, size) == Status::corrupt_file);
        EXPECT_TRUE(decode(spec, vector.stored_size, 0, size) == Status::corrupt_file);
        // Cut off at least two bytes: with packed bits the last byte may not be needed.
        for (std::size_t length = 0; length + 2 <= vector.stored_size; ++length) {
            const Status status = decode(spec, length, vector.decoded_size, size);
            // LZF does not record the length, so that a truncated chunk may just be shorter.
            EXPECT_TRUE(status == Status::corrupt_file || (spec.id == FilterId::lzf && size < vector.decoded_size));
        }
    }
}

#if H5MOTE_WRITE
// Of what was decoded, the encoders make the bytes of libhdf5 again, except for LZF, which leaves more than one way.
TEST(FilterEncoders, ChunksOfTheLibrary) {
    alignas(8) static std::byte scratch[4096];
    for (const FilterVector& vector : kFilterVectors) {
        const Filter* const filter = filter_of(vector.id);
        if (filter == nullptr) {
            continue;
        }
        const FilterSpec spec = spec_of(vector);
        const Bytes work{scratch, filter->scratch_need(true, vector.decoded_size)};
        const ConstBytes in{reinterpret_cast<const std::byte*>(vector.decoded), vector.decoded_size};
        const std::size_t limit = filter->encoded_limit(spec, in.size());
        ASSERT_LE(limit, kLargest);
        for (std::byte& each : room) {
            each = kMark;
        }
        std::size_t size = 0;
        ASSERT_TRUE(filter->encode(spec, in, {room + kGuard, limit}, size, work) == Status::ok);
        for (std::size_t i = 0; i < kGuard; ++i) {
            EXPECT_TRUE(room[i] == kMark && room[kGuard + limit + i] == kMark);
        }
        if (spec.id != FilterId::lzf) {
            EXPECT_EQ(size, vector.stored_size);
            EXPECT_TRUE(std::memcmp(room + kGuard, vector.stored, vector.stored_size) == 0);
        }
        std::memcpy(stored, room + kGuard, size);
        for (std::size_t less = 0; less < size; ++less) {
            std::size_t none = 0;
            room[kGuard + less] = kMark;
            EXPECT_TRUE(filter->encode(spec, in, {room + kGuard, less}, none, work) == Status::no_space);
            EXPECT_TRUE(room[kGuard + less] == kMark);
        }
        if (!work.empty()) {
            std::size_t none = 0;
            EXPECT_TRUE(filter->encode(spec, in, {room, limit}, none, work.first(work.size() - 1)) ==
                        Status::over_budget);
        }
        std::size_t back = 0;
        EXPECT_TRUE(decode(spec, size, vector.decoded_size, back) == Status::ok);
        EXPECT_TRUE(is_decoded(vector, back));
        // Bytes that are no chunk of the dataset, client data that are none.
        FilterSpec other = spec;
        if (spec.id != FilterId::lzf) {
            const bool whole = spec.id == FilterId::nbit && spec.value(1) != 0;
            const bool bytes = spec.id == FilterId::szip && spec.value(2) <= 8;
            const Status status = filter->encode(spec, in.first(in.size() - 1), {room, sizeof room}, back, work);
            EXPECT_TRUE(status == (whole || bytes ? Status::ok : Status::invalid_argument));
            other.value_count = 1;
            EXPECT_TRUE(filter->encode(other, in, {room, sizeof room}, back, work) == Status::invalid_argument);
        }
    }
}
#endif

#if H5MOTE_FILTER_SZIP && H5MOTE_FILTER_NBIT && H5MOTE_FILTER_SCALEOFFSET && H5MOTE_FILTER_LZF
TEST(FilterDecoders, DoNotEncode) {
    const Filter* const decoders[] = {&h5mote::szip_decoder, &h5mote::nbit_decoder, &h5mote::scaleoffset_decoder,
                                      &h5mote::lzf_decoder};
    for (const Filter* const decoder : decoders) {
        std::size_t size = 0;
        const FilterSpec spec{decoder->id(), false, 0, {}};
        EXPECT_TRUE(decoder->encode(spec, {stored, 8}, {room, sizeof room}, size, {}) == Status::unsupported);
        EXPECT_TRUE(decoder->can_apply(spec, {4, 64}) == Status::unsupported);
    }
}
#endif

#if H5MOTE_FILTER_SCALEOFFSET
// If the first number is a NaN, libhdf5 finds no minimum and stores zeros for all numbers: they must read as the
// minimum or, with a fill value, as the fill value.
TEST(FilterDecoders, ScaleOffsetOfNotANumber) {
    constexpr std::uint32_t kNan = 0x7fc00000;
    constexpr std::uint32_t kFill = 0x40f00000;
    for (const bool filled : {true, false}) {
        std::byte values[20 * 4] = {};
        const std::uint32_t numbers[] = {0, 2, 4, 1, 4, 0, 0, filled ? 1U : 0U, filled ? kFill : 0};
        for (std::size_t i = 0; i < 9; ++i) {
            for (unsigned byte = 0; byte < 4; ++byte) {
                values[4 * i + byte] = static_cast<std::byte>(numbers[i] >> (8 * byte));
            }
        }
        FilterSpec spec{FilterId::scaleoffset, false, 20, {}};
        spec.encoded = values;
        std::memset(stored, 0, 54);
        stored[0] = std::byte{64};  // bits for each number
        stored[4] = std::byte{8};   // size of the minimum
        stored[7] = std::byte{0xc0};
        stored[8] = std::byte{0x7f};
        std::size_t size = 0;
        ASSERT_TRUE(decode(spec, 54, 16, size) == Status::ok);
        ASSERT_EQ(size, 16U);
        for (std::size_t i = 0; i < 16; ++i) {
            const auto expected = static_cast<std::byte>((filled ? kFill : kNan) >> (8 * (i % 4)));
            EXPECT_TRUE(room[kGuard + i] == expected);
        }
    }
}
#endif

TEST(FilterDecoders, DamagedBytesEndInAStatus) {
    for (const FilterVector& vector : kFilterVectors) {
        if (filter_of(vector.id) == nullptr) {
            continue;
        }
        std::memcpy(stored, vector.stored, vector.stored_size);
        const FilterSpec spec = spec_of(vector);
        std::size_t size = 0;
        unsigned refused = 0;
        for (std::size_t at = 0; at < vector.stored_size; ++at) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                stored[at] ^= static_cast<std::byte>(1U << bit);
                const Status status = decode(spec, vector.stored_size, vector.decoded_size, size);
                EXPECT_TRUE(status == Status::corrupt_file || (status == Status::ok && size <= vector.decoded_size));
                refused += status == Status::ok ? 0 : 1;
                stored[at] ^= static_cast<std::byte>(1U << bit);
            }
        }
        // Every bit pattern is valid for the n-bit filter.
        EXPECT_TRUE(refused > 0 || spec.id == FilterId::nbit);
    }
}

TEST(FilterDecoders, DamagedClientDataEndInAStatus) {
    static std::byte values[256];
    for (const FilterVector& vector : kFilterVectors) {
        if (filter_of(vector.id) == nullptr) {
            continue;
        }
        std::memcpy(stored, vector.stored, vector.stored_size);
        FilterSpec spec = spec_of(vector);
        ASSERT_LE(std::size_t{4} * spec.value_count, sizeof values);
        std::memcpy(values, spec.encoded, std::size_t{4} * spec.value_count);
        spec.encoded = values;
        std::size_t size = 0;
        unsigned refused = 0;
        for (std::size_t at = 0; at < std::size_t{4} * spec.value_count; ++at) {
            const std::byte old = values[at];
            for (const unsigned value : {0x00U, 0x01U, 0x03U, 0x09U, 0x40U, 0x80U, 0xffU}) {
                values[at] = static_cast<std::byte>(value);
                const Status status = decode(spec, vector.stored_size, vector.decoded_size, size);
                EXPECT_TRUE(status == Status::corrupt_file || status == Status::unsupported ||
                            (status == Status::ok && size <= vector.decoded_size));
                refused += status == Status::ok ? 0 : 1;
            }
            values[at] = old;
        }
        EXPECT_TRUE(refused > 0 || spec.id == FilterId::lzf);
        const std::uint16_t count = spec.value_count;
        for (spec.value_count = 0; spec.value_count < count; ++spec.value_count) {
            EXPECT_TRUE(spec.id == FilterId::lzf ||
                        decode(spec, vector.stored_size, vector.decoded_size, size) == Status::corrupt_file);
        }
    }
}
