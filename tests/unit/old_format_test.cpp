// Files of the oldest format, made here byte by byte: superblock 0, object headers of version 1, a symbol table. Sound,
// behind a user block, and damaged so that following every address would never end.

#include "cursor.hpp"
#include "message_type.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr std::size_t kRoot = 96;
constexpr std::size_t kTree = 192;
constexpr std::size_t kHeap = 320;
constexpr std::size_t kNames = 384;
constexpr std::size_t kSymbols = 448;
constexpr std::size_t kObject = 640;
constexpr std::size_t kMore = 704;
constexpr std::size_t kEnd = 832;
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::byte image[kEnd];

Writer at(std::size_t offset) { return Writer({image + offset, kEnd - offset}); }

void text(Writer& to, const char* characters) {
    to.bytes({reinterpret_cast<const std::byte*>(characters), std::strlen(characters)});
}

void header(Writer& to, unsigned messages, std::size_t size) {
    to.u8(1);
    to.u8(0);
    to.u16(messages);
    to.u32(1);
    to.u32(static_cast<std::uint32_t>(size));
    to.u32(0);
}

void message(Writer& to, MessageType type, std::size_t size, unsigned flags = 0) {
    to.u16(static_cast<unsigned>(type));
    to.u16(size);
    to.u32(flags);
}

void integer_type(Writer& to) {
    to.u32(0x00000810);
    to.u32(4);
    to.u16(0);
    to.u16(32);
}

void symbol(Writer& to, std::uint64_t name, std::uint64_t address, std::uint32_t cached, std::uint32_t scratch) {
    to.u64(name);
    to.u64(address);
    to.u32(cached);
    to.u32(0);
    to.u32(scratch);
    to.fill(std::byte{0}, 12);
}

// "/a" is a committed type with an attribute in a continuation block, "/link" a soft link to it. `base`: base address
// in the superblock.
void make_image(std::uint64_t base) {
    std::memset(image, 0, sizeof image);
    Writer superblock = at(0);
    text(superblock, "\x89HDF\r\n\x1a\n");
    superblock.fill(std::byte{0}, 5);
    superblock.u8(8);
    superblock.u8(8);
    superblock.u8(0);
    superblock.u16(2);
    superblock.u16(1);
    superblock.u32(0);
    superblock.u64(base);
    superblock.u64(kNowhere);
    superblock.u64(base + kEnd);
    superblock.u64(kNowhere);
    superblock.u64(0);
    superblock.u64(kRoot);

    Writer root = at(kRoot);
    header(root, 1, 24);
    message(root, MessageType::symbol_table, 16);
    root.u64(kTree);
    root.u64(kHeap);

    Writer tree = at(kTree);
    text(tree, "TREE");
    tree.u16(0);
    tree.u16(1);
    tree.u64(kNowhere);
    tree.u64(kNowhere);
    tree.u64(0);
    tree.u64(kSymbols);
    tree.u64(16);

    Writer heap = at(kHeap);
    text(heap, "HEAP");
    heap.u32(0);
    heap.u64(32);
    heap.u64(1);
    heap.u64(kNames);
    std::memcpy(image + kNames + 8, "a", 1);
    std::memcpy(image + kNames + 16, "link", 4);
    std::memcpy(image + kNames + 24, "./a", 3);

    Writer symbols = at(kSymbols);
    text(symbols, "SNOD");
    symbols.u16(1);
    symbols.u16(2);
    symbol(symbols, 8, kObject, 0, 0);
    symbol(symbols, 16, kNowhere, 2, 24);

    Writer object = at(kObject);
    header(object, 3, 48);
    message(object, MessageType::datatype, 16);
    integer_type(object);
    object.u32(0);
    message(object, MessageType::continuation, 16);
    object.u64(kMore);
    object.u64(kEnd - kMore);

    // Attribute message of version 1: each part is padded.
    Writer more = at(kMore);
    message(more, MessageType::attribute, 48);
    more.u16(1);
    more.u16(2);
    more.u16(12);
    more.u16(8);
    text(more, "x");
    more.fill(std::byte{0}, 7);
    integer_type(more);
    more.u32(0);
    more.u64(1);  // dataspace message of version 1 without dimensions
    more.u32(7);
    more.u32(0);
    message(more, MessageType::null, kEnd - kMore - 64);
}

class OldFile {
public:
    explicit OldFile(std::size_t user_block = 0, bool read_only = true) {
        bench.access.read_only = read_only;
        EXPECT_EQ(bench.driver.truncate(user_block), Status::ok);
        EXPECT_EQ(bench.driver.write(Usage::raw_data, user_block, image), Status::ok);
        status = bench.open();
        root = bench.file.root();
    }

    Bench bench;
    Status status;
    Group root;
};

class Counter final : public Visitor {
public:
    Status link(std::string_view, const Link&) noexcept override {
        ++links;
        return Status::ok;
    }
    Status object(std::string_view, Object&) noexcept override {
        ++objects;
        return Status::ok;
    }
    unsigned links = 0;
    unsigned objects = 0;
};

}  // namespace

TEST(OldFormat, EverythingIsFound) {
    // At the start, behind a user block, and with the base address from before the user block was put in front.
    struct Case {
        std::size_t user_block;
        std::uint64_t base;
    };
    for (const Case& each : {Case{0, 0}, Case{512, 512}, Case{1024, 1024}, Case{512, 0}}) {
        make_image(each.base);
        OldFile file(each.user_block);
        ASSERT_EQ(file.status, Status::ok);
        Result<Object> object = file.root.open_object("//link/.");
        ASSERT_EQ(object.status(), Status::ok);
        EXPECT_EQ(object->address(), kObject);
        std::int32_t value = 0;
        EXPECT_EQ(object->read_attribute("x", value), Status::ok);
        EXPECT_EQ(value, 7);
        EXPECT_EQ(object->open_attribute("y").status(), Status::not_found);
        ObjectInfo info;
        ASSERT_EQ(object->info(info), Status::ok);
        EXPECT_TRUE(info.type == ObjectType::datatype);
        EXPECT_EQ(info.header.version, 1U);
        EXPECT_EQ(info.header.blocks, 2U);
        EXPECT_EQ(info.header.messages, 4U);
        EXPECT_EQ(info.header.total, 16U + 48U + (kEnd - kMore));
        EXPECT_EQ(info.attributes, 1U);
        EXPECT_EQ(file.root.open_object("a/x").status(), Status::not_found);
        Result<NamedDatatype> type = NamedDatatype::from(static_cast<Object&&>(*object));
        ASSERT_EQ(type.status(), Status::ok);
        EXPECT_EQ(type->type().size(), 4U);
        for (const Direction direction : {Direction::increasing, Direction::decreasing}) {
            LinkIterator links(file.root, IndexOrder::name, direction);
            Link link;
            const char* const names[] = {"a", "link"};
            for (unsigned i = 0; i < 2; ++i) {
                ASSERT_EQ(links.next(link), Status::ok);
                EXPECT_TRUE(link.name() == names[direction == Direction::increasing ? i : 1 - i]);
                EXPECT_TRUE(link.type() == (link.name() == "a" ? LinkType::hard : LinkType::soft));
                EXPECT_TRUE(link.target() == (link.name() == "a" ? "" : "./a"));
            }
            EXPECT_EQ(links.next(link), Status::not_found);
        }
        FileInfo facts;
        ASSERT_EQ(file.bench.file.info(facts), Status::ok);
        EXPECT_EQ(facts.user_block, each.user_block);
        EXPECT_EQ(facts.symbol_leaf_k, 2U);
    }
}

#if H5MOTE_WRITE

TEST(OldFormat, IsChanged) {
    make_image(0);
    OldFile file(0, false);
    ASSERT_EQ(file.status, Status::ok);
    EXPECT_EQ(file.root.write_attribute("attribute", std::int32_t{7}), Status::ok);
    file.root.close();
    ASSERT_EQ(file.bench.file.close(), Status::ok);
    ASSERT_EQ(file.bench.open(), Status::ok);
    Group root = file.bench.file.root();
    std::int32_t value = 0;
    EXPECT_EQ(root.read_attribute("attribute", value), Status::ok);
    EXPECT_EQ(value, 7);
}

// Early releases wrote the layout of a dataset in versions 1 and 2, with the address of its data behind the rank.
TEST(OldFormat, DatasetsWithoutSpaceGetIt) {
    for (const unsigned version : {1U, 2U}) {
        make_image(0);
        Writer object = at(kObject);
        header(object, 5, 48);
        Writer more = at(kMore);
        message(more, MessageType::dataspace, 16);
        more.u32(0x00000101);  // version 1, one dimension
        more.u32(0);
        more.u64(2);
        message(more, MessageType::layout, 24);
        more.u8(version);
        more.u8(1);
        more.u8(static_cast<unsigned>(Layout::contiguous));
        more.fill(std::byte{0}, 5);
        more.u64(kNowhere);
        more.u32(2);
        more.u32(0);
        message(more, MessageType::null, 64);
        OldFile file(0, false);
        ASSERT_EQ(file.status, Status::ok);
        const std::int32_t values[] = {5, 6};
        {
            Result<Dataset> dataset = file.root.open_dataset("a");
            ASSERT_EQ(dataset.status(), Status::ok);
            EXPECT_EQ(dataset->write(Selection::all(), datatype_of<std::int32_t>(),
                                     as_bytes(Span<const std::int32_t>(values))),
                      Status::ok);
        }
        file.root.close();
        ASSERT_EQ(file.bench.file.close(), Status::ok);
        ASSERT_EQ(file.bench.open(), Status::ok);
        Group root = file.bench.file.root();
        Result<Dataset> dataset = root.open_dataset("a");
        ASSERT_EQ(dataset.status(), Status::ok);
        std::int32_t back[2] = {};
        EXPECT_EQ(dataset->read(Selection::all(), datatype_of<std::int32_t>(),
                                Bytes(reinterpret_cast<std::byte*>(back), sizeof back)),
                  Status::ok);
        EXPECT_EQ(back[0], 5);
        EXPECT_EQ(back[1], 6);
    }
}

#endif

TEST(OldFormat, TruncatedFilesAreReadOnRequestOnly) {
    make_image(0);
    OldFile file;
    ASSERT_EQ(file.status, Status::ok);
    file.root.close();
    ASSERT_EQ(file.bench.file.close(), Status::ok);
    ASSERT_EQ(file.bench.driver.truncate(kMore), Status::ok);
    EXPECT_EQ(file.bench.open(), Status::corrupt_file);
    file.bench.access.allow_truncated = true;
    ASSERT_EQ(file.bench.open(), Status::ok);
    Group root = file.bench.file.root();
    Link link;
    EXPECT_EQ(root.find_link("a", link), Status::ok);
    EXPECT_EQ(root.open_object("a")->open_attribute("x").status(), Status::corrupt_file);
}

TEST(OldFormat, ContinuationsThatLeadToEachOtherEnd) {
    make_image(0);
    // The second block continues with itself.
    Writer more = at(kMore);
    message(more, MessageType::continuation, 16);
    more.u64(kMore);
    more.u64(kEnd - kMore);
    message(more, MessageType::null, kEnd - kMore - 32);
    OldFile file;
    ASSERT_EQ(file.status, Status::ok);
    Result<Object> object = file.root.open_object("a");
    ASSERT_EQ(object.status(), Status::ok);
    EXPECT_EQ(object->open_attribute("x").status(), Status::corrupt_file);
    ObjectInfo info;
    EXPECT_EQ(object->info(info), Status::corrupt_file);
}

TEST(OldFormat, SharedMessagesThatLeadToEachOtherEnd) {
    make_image(0);
    // The datatype of the attribute refers to its own object, whose datatype message refers to the object again.
    store_le<std::uint32_t>(image + kObject + 16 + 4, kMessageShared);
    Writer shared = at(kObject + 16 + 8);
    shared.u16(2);
    shared.u64(kObject);
    OldFile file;
    ASSERT_EQ(file.status, Status::ok);
    Result<Object> object = file.root.open_object("a");
    ASSERT_EQ(object.status(), Status::ok);
    EXPECT_EQ(NamedDatatype::from(static_cast<Object&&>(*object)).status(), Status::corrupt_file);
}

TEST(OldFormat, GroupsThatHoldThemselvesAreVisitedOnce) {
    make_image(0);
    store_le<std::uint64_t>(image + kSymbols + 8 + 8, kRoot);
    OldFile file;
    ASSERT_EQ(file.status, Status::ok);
    Counter counter;
    EXPECT_EQ(file.root.visit(counter), Status::ok);
    EXPECT_EQ(counter.objects, 1U);
    EXPECT_EQ(counter.links, 2U);
    // A path may go through the circle any number of times; a soft link to itself ends with an error.
    EXPECT_TRUE(file.root.exists("a/a/a/a/link"));
    std::memcpy(image + kNames + 24, "link", 4);
    OldFile circle;
    EXPECT_EQ(circle.root.open_object("link").status(), Status::not_found);
}

#endif
