// Where messages stand in the blocks of object headers of both versions: heads, gaps that are smaller than a head, the
// ends of blocks.
#include "message_slot.hpp"
#include "test.hpp"

using namespace h5mote;

namespace {

// What a head says, and its bytes as specification IV.A.1 has them.
struct Head {
    HeaderLayout layout;
    MessageSlot slot;
    unsigned char bytes[8];
};

constexpr HeaderLayout kPlain;
constexpr HeaderLayout kTracked(true);

const Head kHeads[] = {
    {kPlain, {0x1234, 0, 0x0c, 0x05}, {0x0c, 0x34, 0x12, 0x05}},
    {kTracked, {0x1234, 0x5678, 0x0c, 0x05}, {0x0c, 0x34, 0x12, 0x05, 0x78, 0x56}},
#if H5MOTE_ALL_FORMATS
    {HeaderLayout::version_1(), {0x1238, 0, 0x0c, 0x05}, {0x0c, 0, 0x38, 0x12, 0x05, 0, 0, 0}},
#endif
};

// A block of messages: a null message of `null` bytes, one of type 1 with `size` bytes that are not zero, and behind it
// bytes that are not zero.
class Block {
public:
    Block(HeaderLayout layout, std::size_t null, std::size_t size) noexcept : layout_(layout) {
        std::memset(bytes, 0xee, sizeof bytes);
        Writer writer{Bytes(bytes)};
        write_message_head(writer, layout, MessageType::null, null);
        writer.fill(std::byte{0}, null);
        second = writer.written();
        write_message_head(writer, layout, MessageType::dataspace, size);
        writer.fill(std::byte{0x11}, size);
        end = writer.written();
    }

    // Whether the block has a null message of `null` bytes and then the other message, whole.
    bool holds(std::size_t null, std::size_t size) const noexcept {
        const std::size_t at = layout_.head_size() + null;
        bool good = layout_.is_null(bytes) && layout_.body_size_at(bytes) == null;
        for (std::size_t i = layout_.head_size(); i < at; ++i) {
            good = good && bytes[i] == std::byte{0};
        }
        good = good && layout_.type_at(bytes + at) == 1 && layout_.body_size_at(bytes + at) == size;
        for (std::size_t i = 0; i < size; ++i) {
            good = good && bytes[at + layout_.head_size() + i] == std::byte{0x11};
        }
        return good;
    }

    std::byte bytes[64];
    std::size_t second = 0;  // where the second message begins
    std::size_t end = 0;     // where it ends

private:
    HeaderLayout layout_;
};

}  // namespace

TEST(MessageSlot, HeadsAreAsSpecified) {
    for (const Head& each : kHeads) {
        std::byte bytes[8] = {};
        Writer writer{Bytes(bytes)};
        write_message_head(writer, each.layout, static_cast<MessageType>(each.slot.type), each.slot.size,
                           each.slot.flags, each.slot.order);
        EXPECT_TRUE(writer.ok());
        EXPECT_EQ(writer.written(), each.layout.head_size());
        EXPECT_EQ(std::memcmp(bytes, each.bytes, sizeof bytes), 0);
        MessageSlot slot{7, 7, 7, 7};
        slot.decode(each.layout, bytes);
        EXPECT_EQ(slot.type, each.slot.type);
        EXPECT_EQ(slot.size, each.slot.size);
        EXPECT_EQ(slot.flags, each.slot.flags);
        EXPECT_EQ(slot.order, each.slot.order);
        EXPECT_EQ(each.layout.type_at(bytes), each.slot.type);
        EXPECT_EQ(each.layout.length_at(bytes), each.layout.head_size() + each.slot.size);
    }
}

TEST(MessageSlot, BecomesANullMessage) {
    for (const Head& each : kHeads) {
        std::byte bytes[8];
        std::memcpy(bytes, each.bytes, sizeof bytes);
        EXPECT_FALSE(each.layout.is_null(bytes));
        each.layout.make_null(bytes);
        EXPECT_TRUE(each.layout.is_null(bytes));
        each.layout.set_body_size(bytes, 0xfff8);
        MessageSlot slot;
        slot.decode(each.layout, bytes);
        EXPECT_EQ(slot.type, 0);
        EXPECT_EQ(slot.flags, 0);
        EXPECT_EQ(slot.size, 0xfff8);
        EXPECT_EQ(slot.order, each.slot.order);
    }
}

TEST(MessageSlot, BlocksOfVersion2HaveASignatureAndAChecksum) {
    for (const HeaderLayout layout : {kPlain, kTracked}) {
        EXPECT_FALSE(layout.is_old());
        EXPECT_EQ(layout.block_prefix(), 4U);
        EXPECT_EQ(layout.checksum_size(), 4U);
        for (std::size_t size = 0; size < 20; ++size) {
            EXPECT_EQ(layout.body_size(size), size);
        }
        EXPECT_TRUE(layout.can_hold(0xffff));
    }
    EXPECT_EQ(kPlain.head_size(), 4U);
    EXPECT_EQ(kTracked.head_size(), 6U);
}

// What is left over must be nothing or a head at least.
TEST(MessageSlot, RestsThatAreTooSmallForAHeadDoNotFit) {
    for (const Head& each : kHeads) {
        for (std::size_t size = 0; size < 64; ++size) {
            const bool whole = size == 24 || size >= 24 + each.layout.head_size();
            EXPECT_EQ(each.layout.fits(24, size), whole);
        }
    }
}

TEST(MessageSlot, MessagesEndBeforeAGap) {
    for (const Head& each : kHeads) {
        Block block(each.layout, 16, 24);
        // Up to one byte less than a head may follow.
        for (std::size_t gap = 0; gap < each.layout.head_size(); ++gap) {
            EXPECT_EQ(each.layout.end_of_messages(block.bytes, 0, block.end + gap), block.end);
            EXPECT_EQ(each.layout.end_of_messages(block.bytes, block.second, block.end + gap), block.end);
        }
        // A damaged block ends within its last message.
        EXPECT_GT(each.layout.end_of_messages(block.bytes, 0, block.end - 1), block.end - 1);
    }
}

TEST(MessageSlot, GapsBecomePartOfANullMessage) {
    for (const Head& each : kHeads) {
        for (std::size_t gap = 0; gap < each.layout.head_size(); ++gap) {
            Block block(each.layout, 16, 24);
            each.layout.close_gap(block.bytes, 0, block.end + gap);
            EXPECT_TRUE(block.holds(16 + gap, 24));
            // The bytes behind the end are the checksum or another block.
            EXPECT_EQ(block.bytes[block.end + gap], std::byte{0xee});
            EXPECT_EQ(each.layout.end_of_messages(block.bytes, 0, block.end + gap), block.end + gap);
        }
        // The null message may be the last one. A damaged block stays as it is.
        Block last(each.layout, 16, 24);
        each.layout.close_gap(last.bytes, 0, last.second + 3);
        EXPECT_EQ(each.layout.body_size_at(last.bytes), 16U + 3);
        Block damaged(each.layout, 16, 24);
        each.layout.close_gap(damaged.bytes, 0, damaged.end - 1);
        EXPECT_TRUE(damaged.holds(16, 24));
    }
}

#if H5MOTE_ALL_FORMATS

TEST(MessageSlot, BodiesOfVersion1AreMultiplesOfEight) {
    constexpr HeaderLayout kOld = HeaderLayout::version_1();
    EXPECT_TRUE(kOld.is_old());
    EXPECT_EQ(kOld.head_size(), 8U);
    EXPECT_EQ(kOld.block_prefix(), 0U);
    EXPECT_EQ(kOld.checksum_size(), 0U);
    for (std::size_t size = 0; size < 40; ++size) {
        EXPECT_EQ(kOld.body_size(size) % 8, 0U);
        EXPECT_EQ(kOld.body_size(size), (size + 7) / 8 * 8);
        // With such bodies, what is left over is never a gap.
        for (std::size_t place = kOld.body_size(size); place < 80; place += 8) {
            EXPECT_TRUE(kOld.fits(kOld.body_size(size), place));
        }
    }
    EXPECT_TRUE(kOld.can_hold(0xfff8));
    EXPECT_FALSE(kOld.can_hold(0xfff9));
}

// Types have two bytes in version 1. One with a second byte is of no known type, also where the first byte is 0.
TEST(MessageSlot, LongTypesAreUnknown) {
    constexpr HeaderLayout kOld = HeaderLayout::version_1();
    std::byte bytes[8] = {std::byte{0}, std::byte{1}};
    EXPECT_EQ(kOld.type_at(bytes), 0xff);
    EXPECT_FALSE(kOld.is_null(bytes));
    MessageSlot slot;
    slot.decode(kOld, bytes);
    EXPECT_EQ(slot.type, 0xff);
}

#endif
