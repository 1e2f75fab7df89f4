// H5Z - the filter pipeline message, both versions.
#include "pipeline_message.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>

#include "test.hpp"

#include <cstring>

using h5mote::ConstBytes;
using h5mote::FilterId;
using h5mote::FilterSpec;
using h5mote::PipelineReader;
using h5mote::Status;

namespace {

struct Room {
    alignas(16) std::byte memory[256];
    h5mote::Arena arena{memory};
    h5mote::NullPort port;
    h5mote::Library library{arena, port};
};

// The filter deflate with one value, then a filter 32000 "lzf" with nine values.
constexpr unsigned char kVersion1[] = {
    1, 2,    0, 0, 0, 0, 0, 0,                                                                                 //
    1, 0,    8, 0, 0, 0, 1, 0, 'd', 'e', 'f', 'l', 'a', 't', 'e', 0,                                           //
    6, 0,    0, 0, 0, 0, 0, 0,                                                                                 //
    0, 0x7d, 8, 0, 1, 0, 9, 0, 'l', 'z', 'f', 0,   0,   0,   0,   0,                                           //
    1, 0,    0, 0, 2, 0, 0, 0, 3,   0,   0,   0,   4,   0,   0,   0,    5, 0, 0, 0,                            //
    6, 0,    0, 0, 7, 0, 0, 0, 8,   0,   0,   0,   9,   8,   7,   0x86, 0, 0, 0, 0};                           //
constexpr unsigned char kVersion2[] = {2, 2,                                                                   //
                                       1, 0,    0, 0, 1, 0, 6, 0, 0,   0,                                      //
                                       0, 0x7d, 4, 0, 1, 0, 9, 0, 'l', 'z', 'f', 0,                            //
                                       1, 0,    0, 0, 2, 0, 0, 0, 3,   0,   0,   0, 4, 0, 0, 0,   5, 0, 0, 0,  //
                                       6, 0,    0, 0, 7, 0, 0, 0, 8,   0,   0,   0, 9, 8, 7, 0x86};            //

template <std::size_t N>
ConstBytes bytes_of(const unsigned char (&bytes)[N], std::size_t length = N) {
    return {reinterpret_cast<const std::byte*>(bytes), length};
}

bool is_text(ConstBytes bytes, const char* text) {
    return bytes.size() == std::strlen(text) && (bytes.empty() || std::memcmp(bytes.data(), text, bytes.size()) == 0);
}

Status read_all(h5mote::Context& context, ConstBytes body) {
    PipelineReader reader(body);
    unsigned count = 0;
    H5MOTE_TRY(reader.count(context, count));
    for (unsigned i = 0; i < count; ++i) {
        FilterSpec spec;
        H5MOTE_TRY(reader.next(context, spec));
    }
    return Status::ok;
}

void check(ConstBytes body, const char* first_name) {
    Room room;
    PipelineReader reader(body);
    unsigned count = 0;
    ASSERT_TRUE(reader.count(room.library, count) == Status::ok);
    EXPECT_EQ(count, 2U);
    FilterSpec spec;
    ASSERT_TRUE(reader.next(room.library, spec) == Status::ok);
    EXPECT_TRUE(spec.id == FilterId::deflate);
    EXPECT_FALSE(spec.optional);
    EXPECT_EQ(spec.value_count, 1U);
    EXPECT_TRUE(spec.encoded == nullptr);
    EXPECT_EQ(spec.value(0), 6U);
    EXPECT_EQ(spec.value(1), 0U);
    EXPECT_TRUE(is_text(reader.name(), first_name));
    ASSERT_TRUE(reader.next(room.library, spec) == Status::ok);
    EXPECT_TRUE(spec.id == FilterId::lzf);
    EXPECT_TRUE(spec.optional);
    ASSERT_EQ(spec.value_count, 9U);
    EXPECT_TRUE(spec.encoded != nullptr);
    for (unsigned i = 0; i < 8; ++i) {
        EXPECT_EQ(spec.value(i), i + 1);
    }
    EXPECT_EQ(spec.value(8), 0x86070809U);
    EXPECT_EQ(spec.value(9), 0U);
    EXPECT_TRUE(is_text(reader.name(), "lzf"));
    EXPECT_EQ(h5mote::borrowed_values(room.library, body), 36U);
}

}  // namespace

TEST(PipelineMessage, BothVersions) {
    check(bytes_of(kVersion1), "deflate");
    check(bytes_of(kVersion2), "");
}

TEST(PipelineMessage, TruncationsAreRefused) {
    Room room;
    EXPECT_TRUE(read_all(room.library, bytes_of(kVersion1)) == Status::ok);
    for (std::size_t length = 2; length < sizeof kVersion1; ++length) {
        EXPECT_TRUE(read_all(room.library, bytes_of(kVersion1, length)) == Status::corrupt_file);
        EXPECT_EQ(h5mote::borrowed_values(room.library, bytes_of(kVersion1, length)), 0U);
    }
    EXPECT_TRUE(read_all(room.library, bytes_of(kVersion2)) == Status::ok);
    for (std::size_t length = 2; length < sizeof kVersion2; ++length) {
        EXPECT_TRUE(read_all(room.library, bytes_of(kVersion2, length)) == Status::corrupt_file);
    }
}

TEST(PipelineMessage, DamageIsRefused) {
    Room room;
    unsigned char changed[sizeof kVersion1];
    const auto with = [&](std::size_t at, unsigned char value) {
        std::memcpy(changed, kVersion1, sizeof changed);
        changed[at] = value;
        return read_all(room.library, bytes_of(changed));
    };
    EXPECT_TRUE(with(0, 0) == Status::unsupported);
    EXPECT_TRUE(with(0, 3) == Status::unsupported);
    EXPECT_TRUE(with(1, 33) == Status::corrupt_file);
    EXPECT_TRUE(with(10, 7) == Status::corrupt_file);    // the length of the name is not padded
    EXPECT_TRUE(with(23, 'x') == Status::corrupt_file);  // a name without a terminating zero
    EXPECT_TRUE(with(15, 1) == Status::corrupt_file);    // more values than the message has room for
}
