// Family and multi files: which byte is in which member, and what the superblock's driver information sets.
#include "cursor.hpp"

#include <h5mote/vfd/family.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/multi.hpp>

#include "forwarding_driver.hpp"
#include "test.hpp"

#if H5MOTE_OTHER_FILES

namespace {

using namespace h5mote;

constexpr Usage kRaw = Usage::raw_data;

template <std::size_t N>
void count_up(std::byte (&bytes)[N], unsigned from) {
    for (std::size_t i = 0; i < N; ++i) {
        bytes[i] = static_cast<std::byte>(from + i);
    }
}

struct Family {
    Family() {
        count_up(first, 0);
        count_up(second, 8);
        count_up(third, 16);
    }
    std::byte first[8];
    std::byte second[8];
    std::byte third[3];
    MemoryDriver a{first, 8};
    MemoryDriver b{second, 8};
    MemoryDriver c{third, 3};
    Driver* list[3] = {&a, &b, &c};
    FamilySpan members{{list, 3}};
    FamilyDriver driver{members};
};

TEST(FamilyDriver, ReadsAcrossMembers) {
    Family family;
    ASSERT_EQ(family.driver.open(), Status::ok);
    EXPECT_EQ(family.driver.members(), 3U);
    EXPECT_EQ(family.driver.member_size(), 8U);
    std::uint64_t end = 0;
    ASSERT_EQ(family.driver.end_of_file(end), Status::ok);
    EXPECT_EQ(end, 19U);
    for (std::uint64_t at = 0; at <= end; ++at) {
        for (std::size_t size = 0; at + size <= end; ++size) {
            std::byte bytes[19] = {};
            ASSERT_EQ(family.driver.read(kRaw, at, {bytes, size}), Status::ok);
            for (std::size_t i = 0; i < size; ++i) {
                ASSERT_EQ(bytes[i], static_cast<std::byte>(at + i));
            }
        }
    }
    std::byte two[2];
    EXPECT_EQ(family.driver.read(kRaw, 18, two), Status::io_error);
    EXPECT_EQ(family.driver.read(kRaw, ~std::uint64_t{0}, two), Status::io_error);
    // A sector would lie in many members, so that nothing about it could be promised.
    EXPECT_EQ(family.driver.write(kRaw, 0, two), Status::unsupported);
    EXPECT_EQ(family.driver.truncate(0), Status::unsupported);
    // That the members have this size is known when the superblock says so: a power cut may have left the first short.
    EXPECT_EQ(family.driver.capabilities().atomic_unit, 512U);
    const std::byte size[8] = {std::byte{8}};
    ASSERT_EQ(family.driver.use_superblock_info("NCSAfami", size, end), Status::ok);
    EXPECT_EQ(family.driver.capabilities().atomic_unit, 1U);
    EXPECT_FALSE(family.driver.same_storage(family.a));
}

// A storage whose calls fail with a last_error() of its own.
class Coded final : public h5mote_test::ForwardingDriver {
public:
    Coded(Driver& inner, std::int32_t code) noexcept : ForwardingDriver(inner), code_(code) {}
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return broken ? Status::io_error : inner().read(usage, address, to);
    }
    Status end_of_file(std::uint64_t& size) noexcept override {
        return broken ? Status::io_error : inner().end_of_file(size);
    }
    Status do_lock(bool exclusive) noexcept override { return broken ? Status::busy : inner().lock(exclusive); }
    std::int32_t last_error() const noexcept override { return broken ? code_ : 0; }
    bool broken = false;

private:
    std::int32_t code_;
};

TEST(FamilyDriver, TellsTheCodeOfTheMemberThatFailed) {
    Family family;
    Coded first{family.a, 5};
    Coded second{family.b, 6};
    family.list[0] = &first;
    family.list[1] = &second;
    ASSERT_EQ(family.driver.open(), Status::ok);
    EXPECT_EQ(family.driver.last_error(), 0);
    std::byte bytes[16];
    second.broken = true;
    EXPECT_EQ(family.driver.read(kRaw, 0, {bytes, 8}), Status::ok);
    EXPECT_EQ(family.driver.last_error(), 0);
    EXPECT_EQ(family.driver.read(kRaw, 0, {bytes, 9}), Status::io_error);
    EXPECT_EQ(family.driver.last_error(), 6);
    first.broken = true;
    EXPECT_EQ(family.driver.lock(false), Status::busy);
    EXPECT_EQ(family.driver.last_error(), 5);
    first.broken = false;
    EXPECT_EQ(family.driver.open(), Status::io_error);
    EXPECT_EQ(family.driver.last_error(), 6);
}

TEST(FamilyDriver, EmptyOnes) {
    FamilySpan none{{}};
    FamilyDriver driver(none);
    EXPECT_EQ(driver.open(), Status::not_found);
    std::byte byte[1];
    EXPECT_EQ(driver.read(kRaw, 0, byte), Status::io_error);

    MemoryDriver empty{Bytes{}};
    Driver* list[2] = {&empty, &empty};
    FamilySpan two{{list, 2}};
    FamilyDriver hollow(two);
    ASSERT_EQ(hollow.open(), Status::ok);
    std::uint64_t end = 1;
    EXPECT_EQ(hollow.end_of_file(end), Status::ok);
    EXPECT_EQ(end, 0U);
    EXPECT_EQ(hollow.read(kRaw, 0, byte), Status::io_error);
}

// Empty members may follow the last one with data; the member size is the one in the superblock.
TEST(FamilyDriver, SuperblockTellsMemberSize) {
    Family family;
    MemoryDriver empty{Bytes{}};
    Driver* list[3] = {&family.a, &family.c, &empty};
    FamilySpan members{{list, 3}};
    FamilyDriver driver(members);
    ASSERT_EQ(driver.open(), Status::ok);
    std::byte info[8];
    store_le<std::uint64_t>(info, 5);
    std::uint64_t end = 11;
    ASSERT_EQ(driver.use_superblock_info("NCSAfami", info, end), Status::ok);
    EXPECT_EQ(end, 11U);
    EXPECT_EQ(driver.member_size(), 5U);
    ASSERT_EQ(driver.end_of_file(end), Status::ok);
    EXPECT_EQ(end, 8U);
    std::byte bytes[2] = {};
    ASSERT_EQ(driver.read(kRaw, 4, bytes), Status::ok);
    EXPECT_EQ(bytes[0], std::byte{4});
    EXPECT_EQ(bytes[1], std::byte{16});

    store_le<std::uint64_t>(info, ~std::uint64_t{0});
    ASSERT_EQ(driver.use_superblock_info("NCSAfami", info, end), Status::ok);
    EXPECT_EQ(driver.end_of_file(end), Status::overflow);
    store_le<std::uint64_t>(info, 0);
    EXPECT_EQ(driver.use_superblock_info("NCSAfami", info, end), Status::corrupt_file);
    EXPECT_EQ(driver.use_superblock_info("NCSAfami", {info, 7}, end), Status::corrupt_file);
    EXPECT_EQ(driver.use_superblock_info("NCSAmult", info, end), Status::unsupported);
    EXPECT_EQ(driver.use_superblock_info("whatever", info, end), Status::ok);
}

// libhdf5 refuses these two driver names when it opens the file with any other driver, and ignores all other names.
TEST(FamilyDriver, OtherDriversRefuseIt) {
    Family family;
    std::uint64_t end = 0;
    EXPECT_EQ(family.a.use_superblock_info("NCSAfami", {}, end), Status::unsupported);
    EXPECT_EQ(family.a.use_superblock_info("NCSAmult", {}, end), Status::unsupported);
    EXPECT_EQ(family.a.use_superblock_info("subfilin", {}, end), Status::ok);
}

/// Parts that are chosen by the letter in their names "%s-X.h5"; counts the open ones.
class Parts final : public MultiParts {
public:
    Status open(unsigned index, std::string_view name, Driver*& driver) noexcept override {
        for (unsigned i = 0; i < kMostParts; ++i) {
            if (name.size() == 7 && name.substr(0, 3) == "%s-" && name[3] == "sbrglo"[i] && !missing[i]) {
                count += holds[index] ? 0 : 1;
                holds[index] = true;
                driver = &drivers[i];
                return Status::ok;
            }
        }
        return Status::not_found;
    }
    void close(unsigned index) noexcept override {
        count -= holds[index] ? 1 : 0;
        holds[index] = false;
    }

    std::byte bytes[kMostParts][4] = {};
    MemoryDriver drivers[kMostParts] = {
        MemoryDriver{bytes[0], 4}, MemoryDriver{bytes[1], 4}, MemoryDriver{bytes[2], 4},
        MemoryDriver{bytes[3], 4}, MemoryDriver{bytes[4], 4}, MemoryDriver{bytes[5], 4},
    };
    bool missing[kMostParts] = {};
    bool holds[kMostParts] = {};
    int count = 0;

    std::int32_t last_error() const noexcept override { return 3; }
};

TEST(MultiDriver, PartsByAddress) {
    Parts parts;
    {
        MultiDriver driver(parts);
        for (unsigned i = 0; i < kMostParts; ++i) {
            parts.bytes[i][3] = static_cast<std::byte>('a' + i);
        }
        const MultiLayout layout = multi_layout();
        ASSERT_EQ(driver.open(layout), Status::ok);
        EXPECT_EQ(parts.count, 6);
        std::byte byte[1];
        for (unsigned i = 0; i < kMostParts; ++i) {
            // The address alone selects the part; the usage given to read() does not matter.
            ASSERT_EQ(driver.read(kRaw, layout.parts[i].start + 3, byte), Status::ok);
            EXPECT_EQ(byte[0], static_cast<std::byte>('a' + i));
            EXPECT_EQ(driver.read(kRaw, layout.parts[i].start + 4, byte), Status::io_error);
        }
        std::uint64_t end = 0;
        EXPECT_EQ(driver.end_of_file(end), Status::ok);
        EXPECT_EQ(end, layout.parts[5].start + 4);
        // Nor does it matter to write(); a range that reaches into the next part fits nowhere.
        ASSERT_EQ(driver.write(kRaw, layout.parts[4].start + 1, {byte, 1}), Status::ok);
        EXPECT_EQ(parts.bytes[4][1], byte[0]);
        EXPECT_EQ(driver.write(kRaw, layout.parts[4].start - 1, {byte, 1}), Status::no_space);
        EXPECT_EQ(driver.sync(), Status::ok);
        EXPECT_FALSE(driver.same_storage(parts.drivers[0]));
    }
    EXPECT_EQ(parts.count, 0);
}

// Two parts, one of which fails with a last_error() of its own.
class CodedParts final : public MultiParts {
public:
    Status open(unsigned index, std::string_view /*name*/, Driver*& driver) noexcept override {
        driver = index == 0 ? &first : &raw;
        return Status::ok;
    }
    void close(unsigned /*index*/) noexcept override {}

    std::byte bytes[2][4] = {};
    MemoryDriver memory[2] = {MemoryDriver{bytes[0], 4}, MemoryDriver{bytes[1], 4}};
    Coded first{memory[0], 5};
    Coded raw{memory[1], 6};
};

TEST(MultiDriver, TellsTheCodeOfThePartThatFailed) {
    CodedParts parts;
    MultiDriver driver(parts);
    const MultiLayout layout = split_layout();
    ASSERT_EQ(driver.open(layout), Status::ok);
    EXPECT_EQ(driver.last_error(), 0);
    parts.raw.broken = true;
    std::byte byte[1];
    EXPECT_EQ(driver.read(kRaw, 0, byte), Status::ok);
    EXPECT_EQ(driver.last_error(), 0);
    EXPECT_EQ(driver.read(kRaw, layout.parts[static_cast<unsigned>(kRaw)].start, byte), Status::io_error);
    EXPECT_EQ(driver.last_error(), 6);
    std::uint64_t end = 0;
    parts.raw.broken = false;
    parts.first.broken = true;
    EXPECT_EQ(driver.end_of_file(end), Status::io_error);
    EXPECT_EQ(driver.last_error(), 5);
    EXPECT_EQ(driver.lock(false), Status::busy);
    EXPECT_EQ(driver.last_error(), 5);
}

TEST(MultiDriver, MissingPart) {
    Parts parts;
    MultiDriver driver(parts);
    parts.missing[4] = true;
    EXPECT_EQ(driver.open(multi_layout()), Status::not_found);
    EXPECT_EQ(parts.count, 0);
    std::byte byte[1];
    EXPECT_EQ(driver.read(kRaw, 0, byte), Status::io_error);
}

// Driver information: raw data in one part; superblock, object headers and everything else in the other.
struct Information {
    std::byte bytes[8 + 2 * 16 + 8 + 16] = {};

    Information() {
        const unsigned map[] = {1, 1, 3, 1, 1, 1};
        for (unsigned i = 0; i < 6; ++i) {
            bytes[i] = static_cast<std::byte>(map[i]);
        }
        store_le<std::uint64_t>(bytes + 16, 4);
        store_le<std::uint64_t>(bytes + 24, 1000);
        store_le<std::uint64_t>(bytes + 32, 3);
        std::memcpy(bytes + 40, "%s-o.h5", 8);
        std::memcpy(bytes + 48, "%s-g.h5", 8);
    }
};

TEST(MultiDriver, SuperblockTellsLayout) {
    Parts parts;
    MultiDriver driver(parts);
    ASSERT_EQ(driver.open(multi_layout()), Status::ok);
    parts.bytes[5][1] = std::byte{55};
    parts.bytes[3][2] = std::byte{33};
    const Information info;
    std::uint64_t end = 4;
    ASSERT_EQ(driver.use_superblock_info("NCSAmult", info.bytes, end), Status::ok);
    EXPECT_EQ(end, 1003U);
    EXPECT_EQ(parts.count, 2);
    std::byte byte[1];
    ASSERT_EQ(driver.read(Usage::superblock, 1, byte), Status::ok);
    EXPECT_EQ(byte[0], std::byte{55});
    ASSERT_EQ(driver.read(Usage::superblock, 1002, byte), Status::ok);
    EXPECT_EQ(byte[0], std::byte{33});
    EXPECT_EQ(driver.read(kRaw, 999, byte), Status::io_error);
    EXPECT_EQ(driver.read(Usage::object_header, 999, byte), Status::io_error);
    ASSERT_EQ(driver.read(Usage::superblock, 999, byte), Status::ok);
    EXPECT_EQ(byte[0], std::byte{0});
    EXPECT_EQ(driver.use_superblock_info("NCSAfami", info.bytes, end), Status::unsupported);
    EXPECT_EQ(driver.use_superblock_info("whatever", info.bytes, end), Status::corrupt_file);
}

// Parts that were opened anew while the file was locked are locked once, and by nobody when it is given back.
TEST(MultiDriver, PartsThatAreLockedWhenOpenedAnew) {
    Parts parts;
    MultiDriver driver(parts);
    ASSERT_EQ(driver.open(multi_layout()), Status::ok);
    ASSERT_EQ(driver.lock(false), Status::ok);
    const Information info;
    std::uint64_t end = 4;
    ASSERT_EQ(driver.use_superblock_info("NCSAmult", info.bytes, end), Status::ok);
    EXPECT_EQ(parts.drivers[5].lock(true), Status::busy);
    EXPECT_EQ(driver.unlock(), Status::ok);
    for (MemoryDriver& part : parts.drivers) {
        EXPECT_EQ(part.lock(true), Status::ok);
        EXPECT_EQ(part.unlock(), Status::ok);
    }
    // Somebody else writes to one of the parts that the superblock names: that lock stays theirs.
    MultiLayout one = multi_layout();
    for (std::uint8_t& part : one.map) {
        part = 0;
    }
    ASSERT_EQ(driver.open(one), Status::ok);
    ASSERT_EQ(driver.lock(false), Status::ok);
    ASSERT_EQ(parts.drivers[3].lock(true), Status::ok);
    EXPECT_EQ(driver.use_superblock_info("NCSAmult", info.bytes, end), Status::busy);
    EXPECT_EQ(driver.unlock(), Status::ok);
    EXPECT_EQ(parts.drivers[3].lock(false), Status::busy);
    EXPECT_EQ(parts.drivers[5].lock(true), Status::ok);
}

TEST(MultiDriver, DamagedInformation) {
    for (std::size_t size = 0; size < sizeof(Information::bytes) - 8; ++size) {
        Parts parts;
        MultiDriver driver(parts);
        const Information info;
        std::uint64_t end = 0;
        EXPECT_EQ(driver.use_superblock_info("NCSAmult", {info.bytes, size}, end), Status::corrupt_file);
        EXPECT_EQ(parts.count, 0);
    }
    for (std::size_t at = 0; at < sizeof(Information::bytes); ++at) {
        for (unsigned value = 0; value < 256; ++value) {
            Parts parts;
            MultiDriver driver(parts);
            Information info;
            info.bytes[at] = static_cast<std::byte>(value);
            std::uint64_t end = 0;
            if (driver.use_superblock_info("NCSAmult", info.bytes, end) != Status::ok) {
                EXPECT_EQ(parts.count, 0);
            }
        }
    }
    Parts parts;
    MultiDriver driver(parts);
    Information info;
    store_le<std::uint64_t>(info.bytes + 32, ~std::uint64_t{0});
    std::uint64_t end = 0;
    EXPECT_EQ(driver.use_superblock_info("NCSAmult", info.bytes, end), Status::corrupt_file);
}

}  // namespace

#endif
