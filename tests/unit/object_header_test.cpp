// Object headers below the object model: messages added and removed at random against a model, and headers made by
// hand.
#include "checksum.hpp"
#include "header.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

class Empty final : public HeaderContent {
public:
    void write(HeaderWriter& header) const noexcept override { header.reserve_continuation(); }
};

// A message body of `size` bytes of the same value.
class Filled final : public MessageContent {
public:
    Filled(std::size_t size, unsigned value) noexcept : size_(size), value_(value) {}
    void write(Writer& writer) const noexcept override { writer.fill(static_cast<std::byte>(value_), size_); }

private:
    std::size_t size_;
    unsigned value_;
};

class OpenFile {
public:
    OpenFile() noexcept : state(bench_.library, bench_.driver) {
        FileCreate create;
        create.sizeof_addr = 4;
        EXPECT_EQ(state.create(bench_.access, create), Status::ok);
    }
    ~OpenFile() { state.abandon(); }

private:
    Bench bench_;

public:
    FileState state;
};

constexpr MessageType kType = MessageType::attribute;

// Moves the iterator to the message whose bytes are `value`.
Status find(MessageIterator& message, unsigned value, std::size_t size) noexcept {
    for (;;) {
        H5MOTE_TRY(message.next(kType));
        const ConstBytes bytes = message.body();
        if (bytes.size() == size && bytes[0] == static_cast<std::byte>(value) &&
            bytes[size - 1] == static_cast<std::byte>(value)) {
            return Status::ok;
        }
    }
}

// A header made by hand, to be placed at the end of the file with the checksum of each block.
std::byte image[256];

Address place(OpenFile& file, std::size_t size, Address offset = 0) noexcept {
    store_le<std::uint32_t>(image + size - 4, lookup3({image, size - 4}));
    Address address = 0;
    if (offset == 0) {
        EXPECT_EQ(file.state.space.allocate(Usage::object_header, size, address), Status::ok);
    } else {
        address = offset;
    }
    EXPECT_EQ(file.state.driver.write(Usage::object_header, address, {image, size}), Status::ok);
    return address;
}

Writer begin(std::size_t messages) noexcept {
    std::memset(image, 0, sizeof image);
    Writer writer{Bytes(image)};
    writer.u32(0x5244484fU);
    writer.u8(2);
    writer.u8(0);
    writer.u8(static_cast<std::uint8_t>(messages));
    return writer;
}

}  // namespace

TEST(ObjectHeader, MessagesComeAndGo) {
    OpenFile file;
    Address header = 0;
    ASSERT_EQ(create_header(file.state, Empty(), header), Status::ok);
    std::uint8_t sizes[200] = {};  // size of message i; 0: not there
    Numbers numbers(7);
    unsigned there = 0;
    for (unsigned round = 0; round < 900; ++round) {
        const unsigned value = numbers.below(200);
        if (sizes[value] == 0) {
            if (there == 60) {
                continue;
            }
            const std::size_t size = 1 + numbers.below(90);
            ASSERT_EQ(add_message(file.state, header, kType, 0, 0, Filled(size, value)), Status::ok);
            sizes[value] = static_cast<std::uint8_t>(size);
            ++there;
        } else {
            MessageIterator message(file.state, header);
            ASSERT_EQ(find(message, value, sizes[value]), Status::ok);
            ASSERT_EQ(remove_message(message), Status::ok);
            sizes[value] = 0;
            --there;
        }
        if (round % 25 == 0) {
            ASSERT_EQ(file.state.commit(), Status::ok);
        }
    }
    unsigned found = 0;
    for (unsigned value = 0; value < 200; ++value) {
        if (sizes[value] != 0) {
            MessageIterator message(file.state, header);
            EXPECT_EQ(find(message, value, sizes[value]), Status::ok);
            ++found;
        }
    }
    EXPECT_EQ(found, there);
    unsigned count = 0;
    MessageIterator message(file.state, header);
    Status status;
    while ((status = message.next(kType)) == Status::ok) {
        ++count;
    }
    EXPECT_EQ(status, Status::not_found);
    EXPECT_EQ(count, there);
    EXPECT_EQ(message.next(), Status::not_found);
}

TEST(ObjectHeader, FailedAdditionsChangeNothing) {
    OpenFile file;
    Address header = 0;
    ASSERT_EQ(create_header(file.state, Empty(), header), Status::ok);
    const Address end = file.state.space.end();
    EXPECT_EQ(add_message(file.state, header, kType, 0, 0, Filled(70000, 1)), Status::over_budget);
    EXPECT_EQ(add_message(file.state, header, kType, 0, 0, Filled(5000, 1)), Status::over_budget);
    // A failed addition takes no space.
    EXPECT_EQ(file.state.space.end(), end);
    EXPECT_EQ(add_message(file.state, header, kType, 0, 0, Filled(40, 1)), Status::ok);
    std::uint32_t count = 0;
    EXPECT_EQ(change_reference_count(file.state, header, 1, count), Status::ok);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(change_reference_count(file.state, header, 1, count), Status::ok);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(change_reference_count(file.state, header, -1, count), Status::ok);
    EXPECT_EQ(count, 2U);
}

TEST(ObjectHeader, ChainsThatNeverEndAreCorrupt) {
    OpenFile file;
    // A continuation block that continues with itself.
    std::memset(image, 0, sizeof image);
    Writer block{Bytes(image)};
    block.u32(0x4b48434fU);
    write_message_head(block, {}, MessageType::continuation, 12);
    const Address self = file.state.space.end() + 64;
    block.u32(static_cast<std::uint32_t>(self));
    block.u64(28);
    Address reserved = 0;
    ASSERT_EQ(file.state.space.allocate(Usage::raw_data, 200, reserved), Status::ok);
    place(file, 28, self);
    Writer writer = begin(16);
    write_message_head(writer, {}, MessageType::continuation, 12);
    writer.u32(static_cast<std::uint32_t>(self));
    writer.u64(28);
    const Address header = place(file, 7 + 16 + 4);
    MessageIterator message(file.state, header);
    Status status;
    while ((status = message.next()) == Status::ok) {
    }
    EXPECT_EQ(status, Status::corrupt_file);
    // Continuation blocks outside the file, and too short to be a block.
    for (const unsigned size : {100000U, 3U}) {
        Writer other = begin(16);
        write_message_head(other, {}, MessageType::continuation, 12);
        other.u32(static_cast<std::uint32_t>(self));
        other.u64(size);
        MessageIterator walk(file.state, place(file, 7 + 16 + 4));
        EXPECT_EQ(walk.next(), Status::ok);
        EXPECT_EQ(walk.next(), Status::corrupt_file);
    }
    EXPECT_EQ(MessageIterator(file.state, file.state.space.end()).next(), Status::corrupt_file);
    EXPECT_EQ(MessageIterator(file.state, kUndefinedAddress).next(), Status::corrupt_file);
}

TEST(ObjectHeader, UnknownMessagesAreKeptOrRefused) {
    struct Case {
        std::uint8_t flags;
        Status status;
    };
    constexpr Case kCases[] = {
        {0, Status::ok}, {0x80, Status::unsupported}, {0x08, Status::unsupported}, {0x10, Status::ok}};
    for (const Case& each : kCases) {
        OpenFile file;
        Writer writer = begin(4 + 3);
        writer.u8(0x60);
        writer.u16(3);
        writer.u8(each.flags);
        MessageIterator message(file.state, place(file, 7 + 7 + 4));
        EXPECT_EQ(message.next(), each.status);
    }
    // A message that ends behind its block, bytes that are no header, and a header of version 1.
    OpenFile file;
    Writer writer = begin(4 + 3);
    writer.u8(1);
    writer.u16(4);
    MessageIterator long_one(file.state, place(file, 7 + 7 + 4));
    EXPECT_EQ(long_one.next(), Status::corrupt_file);
    std::memset(image, 'x', 64);
    MessageIterator none(file.state, place(file, 64));
    EXPECT_EQ(none.next(), Status::corrupt_file);
    std::memset(image, 0, 64);
    image[0] = std::byte{1};
    MessageIterator old(file.state, place(file, 64));
#if H5MOTE_ALL_FORMATS
    EXPECT_EQ(old.next(), Status::not_found);
#else
    EXPECT_EQ(old.next(), Status::unsupported);
#endif
}

#if H5MOTE_ALL_FORMATS

// A header of version 1 with a continuation block: its messages are found and changed.
TEST(ObjectHeader, HeadersOfVersion1AreChanged) {
    OpenFile file;
    std::memset(image, 0, sizeof image);
    Address address = 0;
    ASSERT_EQ(file.state.space.allocate(Usage::object_header, 112, address), Status::ok);
    constexpr HeaderLayout kOld = HeaderLayout::version_1();
    Writer writer{Bytes(image)};
    writer.u32(1 | 4U << 16);
    writer.u32(1);
    writer.u32(16 + 24 + 16);
    writer.u32(0);
    write_message_head(writer, kOld, MessageType::null, 8);
    writer.fill(std::byte{0}, 8);
    write_message_head(writer, kOld, MessageType::continuation, 16);
    writer.u32(static_cast<std::uint32_t>(address + 72));
    writer.u64(40);
    writer.fill(std::byte{0}, 4);
    write_message_head(writer, kOld, kType, 8);
    writer.fill(std::byte{1}, 8);
    // The continuation block.
    write_message_head(writer, kOld, kType, 24);
    writer.fill(std::byte{2}, 24);
    write_message_head(writer, kOld, MessageType::null, 0);
    ASSERT_EQ(writer.written(), 112U);
    ASSERT_EQ(file.state.driver.write(Usage::object_header, address, {image, 112}), Status::ok);

    MessageIterator message(file.state, address);
    ASSERT_EQ(find(message, 1, 8), Status::ok);
    EXPECT_EQ(message.version(), 1);
    EXPECT_EQ(message.begin(), 16U);
    EXPECT_EQ(message.head(), 16U + 16 + 24);
    EXPECT_EQ(message.end(), 72U);
    ASSERT_EQ(find(message, 2, 24), Status::ok);
    EXPECT_EQ(message.block_address(), address + 72);
    EXPECT_EQ(message.begin(), 0U);
    EXPECT_EQ(message.head(), 0U);
    EXPECT_EQ(message.end(), 40U);
#if H5MOTE_WRITE
    EXPECT_EQ(replace_message(message, Filled(16, 3)), Status::ok);
    EXPECT_EQ(add_message(file.state, address, kType, 0, 0, Filled(8, 4)), Status::ok);
    const auto found = [&](unsigned value, std::size_t size) {
        message.restart(address);
        return find(message, value, size) == Status::ok;
    };
    ASSERT_TRUE(found(1, 8));
    EXPECT_EQ(remove_message(message), Status::ok);
    EXPECT_TRUE(found(3, 16) && found(4, 8));
    EXPECT_FALSE(found(1, 8) || found(2, 24));
    message.restart(address);
    std::uint16_t messages = 0;
    while (message.next() == Status::ok) {
        ++messages;
    }
    const Pinned first = file.state.cache.find(address);
    ASSERT_TRUE(first);
    EXPECT_EQ(load_le<std::uint16_t>(first->at(HeaderPrefix::kOldMessageCount)), messages);
#endif
}

#endif

// A prefix with all its optional fields, and the times in it.
TEST(ObjectHeader, ThePrefixHasTimes) {
    constexpr unsigned char kPrefix[] = {'O',  'H',  'D',  'R',  2, 0x31,        // a size of two bytes
                                         1,    0,    0,    0,    2, 0,    0, 0,  // times
                                         3,    0,    0,    0,                    //
                                         0xfe, 0xff, 0xff, 0xff,                 //
                                         8,    0,    6,    0,                    // attribute phase change
                                         0x34, 0x12};
    const ConstBytes bytes{reinterpret_cast<const std::byte*>(kPrefix), sizeof kPrefix};
    Bench bench;
    HeaderPrefix prefix;
    ASSERT_EQ(prefix.decode(bench.library, bytes), Status::ok);
    EXPECT_EQ(prefix.version, 2);
    EXPECT_EQ(prefix.size, sizeof kPrefix);
    EXPECT_EQ(prefix.messages_size, 0x1234U);
    EXPECT_EQ(prefix.block_size(), sizeof kPrefix + 0x1234 + prefix.layout().checksum_size());
    std::uint32_t times[4];
    HeaderPrefix::decode_times(bytes, times);
    EXPECT_EQ(times[0], 1U);
    EXPECT_EQ(times[1], 2U);
    EXPECT_EQ(times[2], 3U);
    EXPECT_EQ(times[3], 0xfffffffeU);
    for (std::size_t length = 0; length < sizeof kPrefix; ++length) {
        EXPECT_NE(prefix.decode(bench.library, bytes.first(length)), Status::ok);
    }
}

// The reference count of an object neither exceeds 32 bits nor falls below 0.
TEST(ObjectHeader, LinksAreCountedAsFarAsTheFileCan) {
    for (const unsigned value : {0xffU, 0U}) {
        OpenFile file;
        Address header = 0;
        ASSERT_EQ(create_header(file.state, Empty(), header), Status::ok);
        // The message: version 0 and a count of four equal bytes.
        class Count final : public MessageContent {
        public:
            explicit Count(unsigned each) noexcept : each_(each) {}
            void write(Writer& writer) const noexcept override {
                writer.u8(0);
                writer.fill(static_cast<std::byte>(each_), 4);
            }

        private:
            unsigned each_;
        };
        ASSERT_EQ(add_message(file.state, header, MessageType::reference_count, 0, 0, Count(value)), Status::ok);
        const bool most = value != 0;
        std::uint32_t count = 0;
        EXPECT_EQ(change_reference_count(file.state, header, most ? 1 : -1, count),
                  most ? Status::overflow : Status::corrupt_file);
        EXPECT_EQ(reference_count(file.state, header, count), Status::ok);
        EXPECT_EQ(count, most ? 0xffffffffU : 0U);
        EXPECT_EQ(change_reference_count(file.state, header, most ? -1 : 1, count), Status::ok);
        EXPECT_EQ(count, most ? 0xfffffffeU : 1U);
    }
}
