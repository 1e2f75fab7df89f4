// Object header messages: bytes written by hand from specification IV.A.2, round trips, and every truncated body.
#include "messages.hpp"
#include "object_messages.hpp"

#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr FileShape kWide{8, 8};
constexpr FileShape kNarrow{4, 8};

std::byte body[300];

template <std::size_t N>
ConstBytes view(const unsigned char (&bytes)[N]) noexcept {
    return as_bytes(Span<const unsigned char>(bytes));
}

ConstBytes text(const char* from) noexcept { return as_bytes(Span<const char>(from, std::strlen(from))); }

bool written(const Writer& writer, ConstBytes wanted) noexcept {
    return writer.ok() && writer.written() == wanted.size() && std::memcmp(body, wanted.data(), wanted.size()) == 0;
}

// Whether every truncation of the message is refused.
template <typename Message>
bool refuses_prefixes(Context& context, FileShape shape, std::size_t size) noexcept {
    for (std::size_t length = 0; length < size; ++length) {
        Message message;
        if (message.decode(context, shape, {body, length}) == Status::ok) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST(Messages, Dataspace) {
    Bench bench;
    constexpr unsigned char kBytes[] = {2, 1, 1,    1,    5,    0,    0,    0,    0,    0,
                                        0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const std::uint64_t dims[] = {5};
    const std::uint64_t max_dims[] = {kUnlimited};
    Writer writer{Bytes(body)};
    encode_dataspace(writer, kNarrow, Extent{DataspaceMessage::Type::simple, 1, dims, max_dims});
    EXPECT_TRUE(written(writer, view(kBytes)));
    DataspaceMessage message;
    ASSERT_EQ(message.decode(bench.library, kNarrow, view(kBytes)), Status::ok);
    EXPECT_EQ(message.rank, 1);
    EXPECT_EQ(message.dim(0), 5U);
    EXPECT_EQ(message.max_dim(0), kUnlimited);
    EXPECT_TRUE(refuses_prefixes<DataspaceMessage>(bench.library, kNarrow, sizeof kBytes));
    // Version 1, as older files have it.
    constexpr unsigned char kOld[] = {1, 1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(message.decode(bench.library, kWide, view(kOld)), Status::ok);
    EXPECT_EQ(message.dim(0), 7U);
    EXPECT_EQ(message.max_dim(0), 7U);
    constexpr unsigned char kScalar[] = {2, 0, 0, 0};
    EXPECT_EQ(message.decode(bench.library, kWide, view(kScalar)), Status::ok);
    EXPECT_EQ(message.type, DataspaceMessage::Type::scalar);
    constexpr unsigned char kBad[][20] = {
        {3, 0, 0, 0},                                                  // version
        {2, 0, 0, 1},                                                  // simple without dimensions
        {2, 1, 0, 0, 1},                                               // scalar with one dimension
        {2, 0, 0, 9},                                                  // no such class
        {2, 1, 1, 1, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0},  // larger than its maximum
    };
    for (const auto& bad : kBad) {
        EXPECT_NE(message.decode(bench.library, kWide, view(bad)), Status::ok);
    }
    constexpr unsigned char kDeep[4] = {2, 33, 0, 1};
    EXPECT_NE(message.decode(bench.library, kWide, view(kDeep)), Status::ok);
}

TEST(Messages, FillValue) {
    Bench bench;
    constexpr unsigned char kBytes[] = {3, 0x2b, 2, 0, 0, 0, 0x34, 0x12};
    FillValueMessage message;
    ASSERT_EQ(message.decode(bench.library, view(kBytes)), Status::ok);
    EXPECT_EQ(message.allocation_time, 3);
    EXPECT_EQ(message.write_time, 2);
    EXPECT_FALSE(message.undefined);
    ASSERT_EQ(message.value.size(), 2U);
    EXPECT_EQ(message.value[1], std::byte{0x12});
    Writer writer{Bytes(body)};
    message.encode(writer);
    EXPECT_TRUE(written(writer, view(kBytes)));
    for (std::size_t length = 0; length < sizeof kBytes; ++length) {
        EXPECT_NE(message.decode(bench.library, view(kBytes).first(length)), Status::ok);
    }
    constexpr unsigned char kVersion[] = {9, 0};
    EXPECT_EQ(message.decode(bench.library, view(kVersion)), Status::unsupported);
}

TEST(Messages, Links) {
    Bench bench;
    constexpr unsigned char kHard[] = {1, 0, 3, 'i', 'm', 'u', 0x10, 0x20, 0, 0};
    LinkMessage link;
    link.name = text("imu");
    link.address = 0x2010;
    Writer writer{Bytes(body)};
    link.encode(writer, kNarrow);
    EXPECT_TRUE(written(writer, view(kHard)));
    EXPECT_TRUE(refuses_prefixes<LinkMessage>(bench.library, kNarrow, sizeof kHard));
    LinkMessage back;
    ASSERT_EQ(back.decode(bench.library, kNarrow, view(kHard)), Status::ok);
    EXPECT_EQ(back.type, LinkType::hard);
    EXPECT_EQ(back.address, 0x2010U);
    EXPECT_EQ(back.name.size(), 3U);

    constexpr unsigned char kSoft[] = {1, 0x18, 1, 1, 2, 0xc3, 0xb6, 2, 0, '/', 'a'};
    LinkMessage soft;
    soft.type = LinkType::soft;
    soft.name = text("\xc3\xb6");
    soft.target = text("/a");
    Writer second{Bytes(body)};
    soft.encode(second, kWide);
    EXPECT_TRUE(written(second, view(kSoft)));
    EXPECT_TRUE(refuses_prefixes<LinkMessage>(bench.library, kWide, sizeof kSoft));
    ASSERT_EQ(back.decode(bench.library, kWide, view(kSoft)), Status::ok);
    EXPECT_EQ(back.type, LinkType::soft);
    EXPECT_EQ(back.target.size(), 2U);
    EXPECT_EQ(back.address, kUndefinedAddress);
    // A hard link has no target: it must not keep that of the link decoded before.
    ASSERT_EQ(back.decode(bench.library, kNarrow, view(kHard)), Status::ok);
    EXPECT_TRUE(back.target.empty());
    constexpr unsigned char kNoName[] = {1, 0, 0, 0x10, 0x20, 0, 0};
    EXPECT_EQ(back.decode(bench.library, kNarrow, view(kNoName)), Status::corrupt_file);
    constexpr unsigned char kVersion[] = {2, 0, 1, 'a', 0, 0, 0, 0};
    EXPECT_EQ(back.decode(bench.library, kNarrow, view(kVersion)), Status::unsupported);
}

TEST(Messages, LinkAndAttributeInfo) {
    Bench bench;
    constexpr unsigned char kBytes[] = {0,    3,    9,    0,    0,    0,    0,    0,    0,    0,    0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    LinkInfoMessage links;
    ASSERT_EQ(links.decode(bench.library, kNarrow, view(kBytes)), Status::ok);
    EXPECT_EQ(links.max_order, 9U);
    EXPECT_FALSE(links.dense);
    constexpr unsigned char kDense[] = {0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    ASSERT_EQ(links.decode(bench.library, kNarrow, view(kDense)), Status::ok);
    EXPECT_TRUE(links.dense);
    constexpr unsigned char kAttributes[] = {0, 1, 5, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    AttributeInfoMessage attributes;
    ASSERT_EQ(attributes.decode(bench.library, kNarrow, view(kAttributes)), Status::ok);
    EXPECT_EQ(attributes.max_order, 0x105);
    EXPECT_FALSE(attributes.dense);
    for (std::size_t length = 0; length < 6; ++length) {
        EXPECT_EQ(links.decode(bench.library, kNarrow, view(kDense).first(length)), Status::corrupt_file);
        EXPECT_EQ(attributes.decode(bench.library, kNarrow, view(kAttributes).first(length)), Status::corrupt_file);
    }
}

TEST(Messages, Attribute) {
    Bench bench;
    constexpr unsigned char kBytes[] = {3,    0, 2, 0, 12, 0, 4, 0, 0, 'n', 0,  // up to the name
                                        0x10, 8, 0, 0, 4,  0, 0, 0, 0, 0,   32, 0, 2, 0, 0, 0, 7, 0, 0, 0};
    AttributeMessage message;
    ASSERT_EQ(message.decode(bench.library, view(kBytes)), Status::ok);
    EXPECT_EQ(message.name.size(), 1U);
    EXPECT_EQ(message.type.size(), 12U);
    EXPECT_EQ(message.space.size(), 4U);
    EXPECT_EQ(message.data.size(), 4U);
    for (std::size_t length = 0; length < sizeof kBytes - 4; ++length) {
        EXPECT_NE(message.decode(bench.library, view(kBytes).first(length)), Status::ok);
    }
    unsigned char bad[sizeof kBytes];
    std::memcpy(bad, kBytes, sizeof bad);
    bad[10] = 'x';  // no terminating zero
    EXPECT_EQ(message.decode(bench.library, view(bad)), Status::corrupt_file);
    bad[0] = 4;
    EXPECT_EQ(message.decode(bench.library, view(bad)), Status::unsupported);
    bad[0] = 3;
    bad[1] = 1;  // shared datatype
    EXPECT_EQ(message.decode(bench.library, view(bad)), Status::unsupported);
}

// Messages about an object as a whole.
TEST(Messages, AboutAnObject) {
    struct {
        std::uint16_t max_compact = 8, min_dense = 6, estimated_links = 4, estimated_name_length = 8;
    } info;
    constexpr unsigned char kEmpty[] = {0, 0}, kBoth[] = {0, 3, 1, 0, 2, 0, 3, 0, 4, 0};
    EXPECT_EQ(GroupInfoMessage::size(view(kEmpty)), sizeof kEmpty);
    EXPECT_TRUE(GroupInfoMessage::decode(view(kEmpty), info));
    EXPECT_EQ(info.max_compact, 8);
    EXPECT_EQ(GroupInfoMessage::size(view(kBoth)), sizeof kBoth);
    EXPECT_TRUE(GroupInfoMessage::decode(view(kBoth), info));
    EXPECT_EQ(info.max_compact, 1);
    EXPECT_EQ(info.min_dense, 2);
    EXPECT_EQ(info.estimated_links, 3);
    EXPECT_EQ(info.estimated_name_length, 4);
    for (std::size_t length = 0; length < sizeof kBoth; ++length) {
        EXPECT_FALSE(GroupInfoMessage::decode(view(kBoth).first(length), info));
    }

    std::byte bytes[ReferenceCountMessage::kSize];
    Writer writer{Bytes(bytes)};
    ReferenceCountMessage::encode(writer, 0x01020304);
    EXPECT_EQ(writer.written(), sizeof bytes);
    EXPECT_EQ(ReferenceCountMessage::decode(bytes), 0x01020304U);

    constexpr unsigned char kTime[] = {1, 0, 0, 0, 0x80, 0x51, 1, 0};
    EXPECT_EQ(ModificationTimeMessage::decode(view(kTime)), 86400U);
    constexpr unsigned char kOld[] = {'1', '9', '7', '0', '0', '1', '0', '2', '0', '0', '0', '0', '0', '1', 0, 0};
    EXPECT_EQ(OldModificationTimeMessage::decode(view(kOld)), 86401U);
    EXPECT_EQ(OldModificationTimeMessage::decode(view(kOld).first(13)), 0U);
    constexpr unsigned char kText[] = {'a', 'b', 0, 'c'};
    EXPECT_EQ(CommentMessage::length(view(kText)), 2U);
    EXPECT_EQ(CommentMessage::length(view(kText).first(1)), 1U);
}

TEST(Messages, Layout) {
    Bench bench;
    // Chunks of 64 elements of 16 bytes, extensible array with libhdf5's parameters.
    constexpr unsigned char kChunked[] = {4, 2, 0, 2, 1, 64, 16, 4, 32, 4, 4, 16, 10, 0x99, 0, 0, 0};
    LayoutMessage layout;
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kChunked)), Status::ok);
    EXPECT_EQ(layout.layout_class, Layout::chunked);
    EXPECT_EQ(layout.index, ChunkIndex::extensible_array);
    EXPECT_EQ(layout.chunk_dim(0), 64U);
    EXPECT_EQ(layout.chunk_dim(1), 16U);
    EXPECT_EQ(layout.array.page_bits, 10);
    EXPECT_EQ(layout.address, 0x99U);
    for (std::size_t length = 0; length < sizeof kChunked; ++length) {
        EXPECT_NE(layout.decode(bench.library, kNarrow, view(kChunked).first(length)), Status::ok);
    }
    unsigned char bad[sizeof kChunked];
    std::memcpy(bad, kChunked, sizeof bad);
    bad[5] = 0;  // an empty chunk
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(bad)), Status::corrupt_file);
    std::memcpy(bad, kChunked, sizeof bad);
    bad[7] = 6;  // unknown index type
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(bad)), Status::unsupported);
    bad[0] = 6;
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(bad)), Status::unsupported);
    constexpr unsigned char kOldChunks[] = {3, 2, 2, 0x40, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0};
    constexpr unsigned char kOldest[] = {1, 2, 2, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0};
    constexpr unsigned char kVirtual[] = {4, 3, 0x40, 0, 0, 0, 7, 0, 0, 0};
#if H5MOTE_ALL_FORMATS
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kOldChunks)), Status::ok);
    EXPECT_EQ(layout.index, ChunkIndex::btree1);
    EXPECT_EQ(layout.address, 0x40U);
    EXPECT_EQ(layout.chunk_dim(0), 10U);
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kOldest)), Status::ok);
    EXPECT_EQ(layout.index, ChunkIndex::btree1);
    EXPECT_EQ(layout.address, 0x40U);
    EXPECT_EQ(layout.chunk_dim(1), 4U);
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kOldest).first(16)), Status::corrupt_file);
    // Layout messages of old versions: the dimensions of a contiguous dataset cannot be relied on.
    constexpr unsigned char kOldWhole[] = {2, 2, 1, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0};
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kOldWhole)), Status::ok);
    EXPECT_EQ(layout.layout_class, Layout::contiguous);
    EXPECT_EQ(layout.size, kUndefinedAddress);
    constexpr unsigned char kOldCompact[] = {1, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3};
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kOldCompact)), Status::ok);
    EXPECT_EQ(layout.compact_offset, 16U);
    EXPECT_EQ(layout.size, 3U);
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kOldCompact).first(18)), Status::corrupt_file);
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kVirtual)), Status::ok);
    EXPECT_EQ(layout.layout_class, Layout::virtual_dataset);
    EXPECT_EQ(layout.heap_index, 7U);
#else
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kOldChunks)), Status::unsupported);
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kOldest)), Status::unsupported);
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kVirtual)), Status::unsupported);
#endif
#if H5MOTE_PARTIAL_IO
    constexpr unsigned char kWhole[] = {3, 1, 0x40, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0};
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kWhole)), Status::ok);
    EXPECT_EQ(layout.address, 0x40U);
    EXPECT_EQ(layout.size, 24U);
    constexpr unsigned char kCompact[] = {4, 0, 3, 0, 1, 2, 3};
    ASSERT_EQ(layout.decode(bench.library, kNarrow, view(kCompact)), Status::ok);
    EXPECT_EQ(layout.compact_offset, 4U);
    EXPECT_EQ(layout.size, 3U);
    EXPECT_EQ(layout.decode(bench.library, kNarrow, view(kCompact).first(6)), Status::corrupt_file);
#endif
}
