// A small file with one of everything, damaged byte by byte, with and without repaired checksums: every call on it
// returns with a status. On hosts, sanitizers check the memory accesses.
#include "checksum.hpp"
#include "cursor.hpp"
#include "storage_bench.hpp"
#include "sweep.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

std::byte saved[4096];
std::size_t saved_size;
std::byte values[512];

struct Pair {
    std::uint16_t a;
    float b;
};
H5MOTE_COMPOUND(Pair, a, b)

template <typename T>
void make_log(Group& root, const char* name, const DatasetCreate& create, unsigned rows) noexcept {
    auto log = root.create_dataset<T>(name, create);
    ASSERT_EQ(log.status(), Status::ok);
    for (unsigned i = 0; i < rows; ++i) {
        ASSERT_EQ(log->append(T{}), Status::ok);
    }
}

void make_file() noexcept {
    Bench bench(sizeof saved);
    bench.access.chunk_cache = 64;
    FileCreate properties;
    properties.sizeof_addr = 4;
    ASSERT_EQ(bench.create(properties), Status::ok);
    Group root = bench.file.root();
    GroupCreate ordered;
    ordered.track_link_order = H5MOTE_CREATION_ORDER != 0;
    auto group = root.create_group("group", ordered);
    ASSERT_EQ(group.status(), Status::ok);
    EXPECT_EQ(group->write_attribute("text", "some text"), Status::ok);
    EXPECT_EQ(group->write_attribute("pair", Pair{1, 2}), Status::ok);
    EXPECT_EQ(group->write_attribute("other", std::uint64_t{3}), Status::ok);
    EXPECT_EQ(group->create_soft_link("soft", "/group/log"), Status::ok);
    EXPECT_EQ(root.create_hard_link("hard", *group), Status::ok);
    DatasetCreate create;
    create.chunk = {2};
    make_log<Pair>(*group, "log", create, 41);
#if H5MOTE_FILTERS
    create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
    make_log<std::uint32_t>(root, "filtered", create, 5);
#endif
#if H5MOTE_PARTIAL_IO
    const DatatypeView type = file_type_of<std::uint16_t>();
    DatasetCreate compact;
    compact.layout = Layout::compact;
    EXPECT_EQ(root.create_dataset("compact", type, Dataspace::simple({2, 3}), compact).status(), Status::ok);
    EXPECT_EQ(root.create_dataset("whole", type, Dataspace::simple({2, 3})).status(), Status::ok);
#if H5MOTE_FIXED_CHUNKS
    DatasetCreate fixed;
    fixed.chunk = {2, 2};
    auto chunked = root.create_dataset("fixed", type, Dataspace::simple({4, 3}), fixed);
    ASSERT_EQ(chunked.status(), Status::ok);
    EXPECT_EQ(chunked->write(Selection::all(), type, {values, 24}), Status::ok);
    EXPECT_EQ(chunked->close(), Status::ok);
#endif
#endif
    root.close();
    group->close();
    ASSERT_EQ(bench.file.close(), Status::ok);
    saved_size = bench.driver.contents().size();
    std::memcpy(saved, bench_storage, saved_size);
}

unsigned visited;

void walk_attributes(const Object& object) noexcept {
    std::uint32_t count = 0;
    if (object.attribute_count(count) != Status::ok) {
        return;
    }
    for (std::uint32_t i = 0; i < count && i < 20; ++i) {
        char name[32];
        std::size_t length = 0;
        if (object.attribute_name(i, Span<char>(name), length) != Status::ok) {
            continue;
        }
        const std::string_view text(name, length);
        AttributeInfo info;
        std::byte encoded[128];
        DatatypeView type;
        std::uint64_t elements = 0;
        ++visited;
        if (object.attribute_info(text, info) == Status::ok &&
            object.attribute_type(text, Bytes(encoded), type) == Status::ok &&
            info.space.element_count(elements) == Status::ok && type.size() < sizeof values &&
            elements * type.size() <= sizeof values) {
            (void)object.read_attribute(text, type, {values, static_cast<std::size_t>(elements * type.size())});
            (void)object.read_attribute(text, Span<char>(name), length);
        }
    }
}

void walk_dataset(Group& group, std::string_view name) noexcept {
    auto dataset = group.open_dataset(name);
    if (!dataset) {
        return;
    }
    ++visited;
    walk_attributes(*dataset);
    Dataspace space;
    std::byte encoded[128];
    DatatypeView type;
    std::uint64_t elements = 0;
    if (dataset->dataspace(space) != Status::ok || dataset->datatype(Bytes(encoded), type) != Status::ok ||
        space.element_count(elements) != Status::ok) {
        return;
    }
#if H5MOTE_PARTIAL_IO
    if (elements <= sizeof values && elements * type.size() <= sizeof values) {
        (void)dataset->read(Selection::all(), type, {values, static_cast<std::size_t>(elements * type.size())});
    } else if (space.rank() == 1 && type.size() <= sizeof values) {
        (void)dataset->read(Selection::hyperslab({elements - 1}, {1}), type, {values, type.size()});
    }
#endif
    if (type.size() <= sizeof values) {
        (void)dataset->append_records(values, 1);
    }
}

void walk_group(Group& group, unsigned depth) noexcept {
    ++visited;
    walk_attributes(group);
    std::uint32_t count = 0;
    if (group.link_count(count) != Status::ok) {
        return;
    }
    for (std::uint32_t i = 0; i < count && i < 20; ++i) {
        LinkInfo info;
        char name[32];
        char target[32];
        if (group.link(i, info, Span<char>(name), Span<char>(target)) != Status::ok) {
            continue;
        }
        const std::string_view text(name, info.name_length);
        walk_dataset(group, text);
        if (depth > 0) {
            if (auto below = group.open_group(text)) {
                walk_group(*below, depth - 1);
            }
        }
    }
    (void)group.write_attribute("new", std::int32_t{1});
    (void)group.create_group("made");
}

// Opens a copy of `saved` and calls everything on it. Afterwards no memory may be in use.
class Damaged {
public:
    explicit Damaged(std::size_t capacity = sizeof bench_storage) noexcept : bench_(capacity) {
        EXPECT_EQ(bench_.driver.write(Usage::raw_data, 0, {saved, saved_size}), Status::ok);
    }
    void walk() noexcept {
        if (bench_.open() == Status::ok) {
            Group root = bench_.file.root();
            walk_group(root, 2);
            root.close();
            (void)bench_.file.close();
        }
        EXPECT_TRUE(bench_.empty());
    }

private:
    Bench bench_;
};

// A structure that begins with a signature and ends with a checksum.
struct Block {
    std::size_t from;
    std::size_t checksum;
};

// Finds the block of byte `at` by trying for which end the checksum is right.
bool find_block(std::size_t at, Block& block) noexcept {
    for (std::size_t from = at + 1; from-- > 0 && at - from < 520;) {
        const std::uint32_t word = load_le<std::uint32_t>(saved + from);
        const bool superblock = from == 0;
        // OHDR OCHK EAHD EAIB EASB EADB FAHD FADB
        const bool signature = word == 0x5244484fU || word == 0x4b48434fU || word == 0x44484145U ||
                               word == 0x42494145U || word == 0x42534145U || word == 0x42444145U ||
                               word == 0x44484146U || word == 0x42444146U;
        if (!superblock && !signature) {
            continue;
        }
        for (std::size_t end = from + 8; end + 4 <= saved_size && end - from < 520; ++end) {
            if (load_le<std::uint32_t>(saved + end) == lookup3({saved + from, end - from})) {
                block = {from, end};
                return end > at;
            }
        }
        return false;
    }
    return false;
}

}  // namespace

TEST(FileDamage, EveryByte) {
    make_file();
    ASSERT_GT(saved_size, 800U);
    visited = 0;
    Damaged().walk();
    EXPECT_GE(visited, 12U);
    for (std::size_t at = 0; at < saved_size; at += sweep_step()) {
        for (const unsigned flip : {0x01U, 0xffU}) {
            saved[at] ^= static_cast<std::byte>(flip);
            Damaged().walk();
            saved[at] ^= static_cast<std::byte>(flip);
        }
    }
}

// Damage that checksums cannot reveal must not lead out of memory either.
TEST(FileDamage, EveryByteWithItsChecksumRepaired) {
    make_file();
    unsigned repaired = 0;
    Block block{1, 0};
    for (std::size_t at = 0; at < saved_size; at += sweep_step()) {
        if (!(at >= block.from && at < block.checksum) && !find_block(at, block)) {
            block = {1, 0};
            continue;
        }
        ++repaired;
        const std::byte old = saved[at];
        const std::uint32_t checksum = load_le<std::uint32_t>(saved + block.checksum);
        for (const unsigned value : {0x00U, 0xffU, 0x7fU, static_cast<unsigned>(old) + 1,
                                     static_cast<unsigned>(old) - 1, static_cast<unsigned>(old) ^ 0x20U}) {
            saved[at] = static_cast<std::byte>(value);
            store_le<std::uint32_t>(saved + block.checksum, lookup3({saved + block.from, block.checksum - block.from}));
            Damaged().walk();
        }
        saved[at] = old;
        store_le<std::uint32_t>(saved + block.checksum, checksum);
    }
    EXPECT_GT(repaired, 700U / sweep_step());
}

TEST(FileDamage, EveryLength) {
    make_file();
    const std::size_t whole = saved_size;
    for (; saved_size > 0; --saved_size) {
        Bench bench;
        ASSERT_EQ(bench.driver.write(Usage::raw_data, 0, {saved, saved_size}), Status::ok);
        const Status status = bench.open();
        EXPECT_EQ(status, saved_size == whole ? Status::ok : saved_size < 12 ? Status::not_hdf5 : Status::corrupt_file);
        (void)bench.file.close();
    }
}
