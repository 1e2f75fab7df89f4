// H5Zdeflate - against zlib: each reads what the other writes, and both refuse the same damaged streams.
#include <h5mote/filters/deflate.hpp>

#if H5MOTE_FILTER_DEFLATE && defined(H5MOTE_TEST_ZLIB)

#include "sweep.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace {

using h5mote::deflate_filter;
using h5mote::DeflateFilter;
using h5mote::FilterSpec;
using h5mote::Status;
using Data = std::vector<std::byte>;

alignas(8) std::byte scratch[DeflateFilter::kEncodeScratch];

constexpr int kKinds = 7;

Data sample(int kind, std::size_t size) {
    std::mt19937 generator(static_cast<unsigned>(kind * 1000 + static_cast<int>(size % 1000)));
    const auto random = [&generator] { return static_cast<unsigned>(generator()); };
    Data data(size);
    for (std::size_t i = 0; i < size; ++i) {
        unsigned value = 0;
        switch (kind) {
            case 0:
                value = 0;
                break;
            case 1:
                value = random();
                break;
            case 2:
                value = random() % 4;
                break;
            case 3:
                value = static_cast<unsigned>(i >> 4);
                break;
            case 4:
                value = i % 44 < 20 ? static_cast<unsigned>(i % 44) : random() % 32;
                break;
            // Frequencies like Fibonacci numbers, for which optimal codes would be longer than the allowed 15 bits.
            case 5:
                value = static_cast<unsigned>(__builtin_ctz((random() & 0xffffff) | 0x1000000));
                break;
            // Repetitions at large distances, up to the size of the window.
            default:
                value =
                    i < 100 ? random() : static_cast<unsigned>(data[i - 1 - i / 300 * 7919 % (i < 32768 ? i : 32768)]);
        }
        data[i] = static_cast<std::byte>(value);
    }
    return data;
}

const Bytef* zbytes(const Data& data) { return reinterpret_cast<const Bytef*>(data.data()); }

Data zlib_pack(const Data& data, int level, int strategy, int window, int memory, bool flushes = false) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window, memory, strategy), Z_OK);
    Data out(data.size() * 2 + 1000);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    stream.next_in = const_cast<Bytef*>(zbytes(data));
    if (flushes && data.size() >= 5) {
        const int modes[] = {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
        for (const int mode : modes) {
            stream.avail_in = static_cast<uInt>(data.size() / 5);
            EXPECT_EQ(deflate(&stream, mode), Z_OK);
        }
    }
    stream.avail_in = static_cast<uInt>(data.size() - stream.total_in);
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

// Inflates exactly these bytes. Returns false unless the stream ends within them and gives at most `limit` bytes.
bool zlib_expand(const Data& in, std::size_t limit, int window, Data& out, std::size_t& used) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, window), Z_OK);
    out.assign(limit + 1, std::byte{0});
    stream.next_in = const_cast<Bytef*>(zbytes(in));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream, Z_FINISH);
    used = stream.total_in;
    const std::size_t size = stream.total_out;
    inflateEnd(&stream);
    out.resize(size);
    return status == Z_STREAM_END && size <= limit;
}

// Decodes between buffers of exact sizes, so that sanitizers notice every access outside.
Status expand(const Data& in, std::size_t limit, Data& out) {
    const std::unique_ptr<std::byte[]> source(new std::byte[in.size()]);
    if (!in.empty()) {
        std::memcpy(source.get(), in.data(), in.size());
    }
    const std::unique_ptr<std::byte[]> target(new std::byte[limit]);
    std::size_t size = 0;
    const Status status = deflate_filter.decode(h5mote::filters::deflate, {source.get(), in.size()},
                                                {target.get(), limit}, size, scratch);
    EXPECT_TRUE(status == Status::ok || status == Status::corrupt_file);
    if (status == Status::ok) {
        EXPECT_LE(size, limit);
        out.assign(target.get(), target.get() + size);
    }
    return status;
}

Data pack(const Data& data) {
    FilterSpec spec = h5mote::filters::deflate;
    spec.optional = false;
    const std::size_t limit = deflate_filter.encoded_limit(spec, data.size());
    const std::unique_ptr<std::byte[]> target(new std::byte[limit]);
    std::size_t size = 0;
    EXPECT_EQ(deflate_filter.encode(spec, {data.data(), data.size()}, {target.get(), limit}, size, scratch),
              Status::ok);
    return {target.get(), target.get() + size};
}

// Like pack(), but a profile that only reads takes zlib's encoder.
Data any_pack(const Data& data) {
    return H5MOTE_WRITE != 0 ? pack(data) : zlib_pack(data, 6, Z_DEFAULT_STRATEGY, 15, 8);
}

}  // namespace

TEST(DeflateHost, ReadsEverythingZlibWrites) {
    unsigned streams = 0;
    for (int kind = 0; kind < kKinds; ++kind) {
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{300}, std::size_t{2816}, std::size_t{70000}}) {
            const Data data = sample(kind, size);
            for (int level = 0; level <= 9; ++level) {
                for (int strategy = Z_DEFAULT_STRATEGY; strategy <= Z_FIXED; ++strategy) {
                    // All window sizes for small data, only the smallest and the largest for large data.
                    for (int window = 9; window <= 15; window += size > 3000 ? 6 : 1) {
                        Data out;
                        const Data stream = zlib_pack(data, level, strategy, window, window == 9 ? 1 : 8, level == 6);
                        ASSERT_EQ(expand(stream, data.size(), out), Status::ok);
                        ASSERT_TRUE(out == data);
                        ++streams;
                    }
                }
            }
        }
    }
    EXPECT_GE(streams, 9000U);
}

#if H5MOTE_WRITE
TEST(DeflateHost, ZlibReadsEverythingWeWrite) {
    for (int kind = 0; kind < kKinds; ++kind) {
        for (std::size_t size = 0; size < 200000; size += size < 300 ? 1 : size < 3000 ? 379 : 16381) {
            const Data data = sample(kind, size);
            const Data stream = pack(data);
            Data out;
            std::size_t used = 0;
            ASSERT_TRUE(zlib_expand(stream, size, 15, out, used));
            ASSERT_TRUE(out == data);
            ASSERT_EQ(used, stream.size());
            ASSERT_EQ(expand(stream, size, out), Status::ok);
            ASSERT_TRUE(out == data);
        }
    }
}

// With any room for its result the encoder gives the same bytes, or reports that they do not fit.
TEST(DeflateHost, RoomDoesNotChangeTheStream) {
    for (int kind = 0; kind < kKinds; ++kind) {
        const Data data = sample(kind, 700);
        const Data stream = pack(data);
        for (std::size_t room = 0; room < data.size() + 20; ++room) {
            const std::unique_ptr<std::byte[]> target(new std::byte[room]);
            std::size_t size = 0;
            const Status status = deflate_filter.encode(h5mote::filters::deflate, {data.data(), data.size()},
                                                        {target.get(), room}, size, scratch);
            ASSERT_EQ(status, room < stream.size() ? Status::no_space : Status::ok);
            if (status == Status::ok) {
                ASSERT_TRUE(Data(target.get(), target.get() + size) == stream);
            }
        }
    }
}
#endif

TEST(DeflateHost, EveryTruncationAndByteAsZlib) {
    std::vector<Data> streams;
    std::vector<std::size_t> sizes;
    for (const int kind : {0, 2, 4, 5}) {
        const Data data = sample(kind, 300);
        streams.push_back(any_pack(data));
        streams.push_back(zlib_pack(data, 9, Z_DEFAULT_STRATEGY, 15, 8, true));
        streams.push_back(zlib_pack(data, 9, Z_FIXED, 15, 8));
        streams.push_back(zlib_pack(data, 0, Z_DEFAULT_STRATEGY, 9, 8));
        sizes.insert(sizes.end(), 4, data.size());
    }
    unsigned tried = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        Data stream = streams[i];
        Data ours;
        Data theirs;
        std::size_t used = 0;
        for (std::size_t length = 0; length < stream.size(); ++length) {
            ASSERT_EQ(expand(Data(stream.begin(), stream.begin() + static_cast<long>(length)), sizes[i], ours),
                      Status::corrupt_file);
        }
        for (std::byte& byte : stream) {
            const std::byte old = byte;
            for (std::size_t flip = 1; flip < 256; flip += h5mote_test::sweep_step()) {
                byte = old ^ static_cast<std::byte>(flip);
                const bool good = zlib_expand(stream, sizes[i], 15, theirs, used);
                ASSERT_EQ(expand(stream, sizes[i], ours) == Status::ok, good);
                ASSERT_TRUE(!good || ours == theirs);
                ++tried;
            }
            byte = old;
        }
    }
    EXPECT_GE(tried, 500000U / h5mote_test::sweep_step());
}

// The checksum is repaired after the damage, so that it cannot hide what the decoder made of the damaged codes.
TEST(DeflateHost, RepairedDamageAsZlib) {
    std::mt19937 generator(7);
    const auto random = [&generator] { return static_cast<unsigned>(generator()); };
    unsigned good_streams = 0;
    for (unsigned round = 0; round < 60000; ++round) {
        const Data data = sample(static_cast<int>(round % kKinds), 50 + round % 600);
        static Data base;
        if (round % 16 == 0) {
            base = round % 32 == 0 ? any_pack(data) : zlib_pack(data, 6, static_cast<int>(round / 32 % 5), 15, 8, true);
        }
        Data stream = base;
        for (unsigned change = 1 + random() % 3; change > 0; --change) {
            // Damage mostly the head of the block, which describes the codes.
            const std::size_t span = random() % 2 == 0 && stream.size() > 80 ? 80 : stream.size();
            stream[2 + random() % (span - 2)] ^= static_cast<std::byte>(1U << random() % 8);
        }
        constexpr std::size_t kLimit = 2000;
        Data theirs;
        Data ours;
        std::size_t used = 0;
        const bool good = zlib_expand(Data(stream.begin() + 2, stream.end()), kLimit, -15, theirs, used);
        if (good) {
            stream.resize(2 + used);
            const uLong sum = adler32(1, zbytes(theirs), static_cast<uInt>(theirs.size()));
            for (int shift = 24; shift >= 0; shift -= 8) {
                stream.push_back(static_cast<std::byte>(sum >> shift));
            }
            ++good_streams;
        }
        ASSERT_EQ(expand(stream, kLimit, ours) == Status::ok, good) << round;
        ASSERT_TRUE(!good || ours == theirs) << round;
    }
    EXPECT_GE(good_streams, 5000U);
}

TEST(DeflateHost, NoisePastTheHeaderEnds) {
    std::mt19937 generator(11);
    const auto random = [&generator] { return static_cast<unsigned>(generator()); };
    for (unsigned round = 0; round < 100000; ++round) {
        Data stream(2 + random() % 200);
        for (std::byte& byte : stream) {
            byte = static_cast<std::byte>(random());
        }
        stream[0] = std::byte{0x78};
        stream[1] = std::byte{0x9c};
        Data ours;
        Data theirs;
        std::size_t used = 0;
        ASSERT_EQ(expand(stream, 500, ours) == Status::ok, zlib_expand(stream, 500, 15, theirs, used));
    }
}

TEST(DeflateHost, PresetDictionaryIsRefused) {
    const Data data = sample(4, 300);
    z_stream stream{};
    ASSERT_EQ(deflateInit(&stream, 6), Z_OK);
    ASSERT_EQ(deflateSetDictionary(&stream, zbytes(data), 100), Z_OK);
    Data out(1000);
    stream.next_in = const_cast<Bytef*>(zbytes(data));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    Data back;
    EXPECT_EQ(expand(out, 300, back), Status::corrupt_file);
}

#endif
