// Visits of everything below a group: in files that are damaged or have cycles, with visitors that end the visit, and
// without memory.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include "resealed.hpp"
#include "test_allocators.hpp"

#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

template <typename Make>
Image made(Make make, bool ordered = false) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port);
    GrowingMemoryDriver driver(memory);
    {
        FileCreate create;
        create.track_link_order = ordered;
        auto file = File::create(library, driver, {}, create);
        EXPECT_EQ(file.status(), Status::ok);
        Group root = file->root();
        make(root);
        root.close();
        EXPECT_EQ(file->close(), Status::ok);
    }
    return Image(driver.contents().begin(), driver.contents().end());
}

// Records the visitor's calls, a line for each; from the k-th on it returns an error.
class Log final : public Visitor {
public:
    Status link(std::string_view path, const Link& /*link*/) noexcept override { return note("link ", path); }
    Status object(std::string_view path, Object& /*object*/) noexcept override { return note("object ", path); }
    Status unreadable(std::string_view path, Status why) noexcept override {
        errors.emplace_back(path);
        last = why;
        return stays ? Status::ok : why;
    }

    std::vector<std::string> lines;
    std::vector<std::string> errors;
    Status last = Status::ok;
    bool stays = true;
    std::size_t ends_at = ~std::size_t{0};

private:
    Status note(const char* what, std::string_view path) {
        lines.push_back(what + std::string(path));
        return lines.size() >= ends_at ? Status::busy : Status::ok;
    }
};

struct Opened {
    explicit Opened(const Image& image) : driver(MemoryDriver::reading({image.data(), image.size()})) {
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
        FileAccess access;
        access.read_only = true;
        auto opened = File::open(library, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    ~Opened() {
        root.close();
        EXPECT_EQ(file.close(), Status::ok);
        EXPECT_EQ(memory.blocks(), 0U);
    }

    MallocAllocator memory;
    FailingAllocator failing{memory};
    NullPort port;
    Library library{failing, port};
    MemoryDriver driver;
    File file;
    Group root;
};

// Makes a chain of groups, each of which has two links to the next one.
Image chain(unsigned groups) {
    return made([groups](Group& root) {
        std::string path = "g";
        for (unsigned i = 0; i < groups; ++i, path += "/a") {
            auto group = root.create_group(path);
            ASSERT_EQ(group.status(), Status::ok);
            if (i != 0) {
                EXPECT_EQ(root.create_hard_link(path.substr(0, path.size() - 1) + "b", *group), Status::ok);
            }
        }
    });
}

}  // namespace

// The visitor is told which group's links cannot be read, whatever was visited before.
TEST(Visit, TellsWhoseLinksCannotBeRead) {
    const Image sound = made([](Group& root) {
        for (const char* path : {"first", "first/aaa", "first/aaa/deep", "first/damaged", "first/last", "second"}) {
            EXPECT_EQ(root.create_group(path).status(), Status::ok);
        }
    });
    for (const IndexOrder order : {IndexOrder::native, IndexOrder::name}) {
        for (const char* name : {"damaged", "second"}) {
            Image image = sound;
            // Link message: version 1 | flags | length of the name | name.
            const std::size_t at = find_bytes(image, std::string(1, static_cast<char>(std::strlen(name))) + name) - 2;
            ASSERT_EQ(image[at], std::byte{1});
            image[at] = std::byte{9};
            reseal(image);
            Opened opened(image);
            Log log;
            EXPECT_EQ(opened.root.visit(log, order), Status::ok);
            ASSERT_EQ(log.errors.size(), 1U);
            EXPECT_EQ(log.errors[0], std::string(name) == "second" ? "." : "first");
            EXPECT_NE(log.last, Status::ok);
            log.stays = false;
            EXPECT_EQ(opened.root.visit(log, order), log.last);
        }
    }
}

// A chain has 2 to the number of groups paths, but each object is visited once. If the reference counts do not show
// that groups have two links, the visit ends when it has met more links than the file can have.
TEST(Visit, EndsWhereReferenceCountsAreWrong) {
    Image image = chain(24);
    {
        Opened opened(image);
        Log log;
        EXPECT_EQ(opened.root.visit(log), Status::ok);
        EXPECT_EQ(log.lines.size(), 1U + 24 + 1 + 2 * 23);
    }
    // Reference count message: type 0x16 | length 5 | flags | version 0 | count.
    unsigned counts = 0;
    for (std::size_t at = 48; at + 9 < image.size(); ++at) {
        if (image[at] == std::byte{0x16} && image[at + 1] == std::byte{5} && image[at + 2] == std::byte{0} &&
            load_le<std::uint32_t>(image.data() + at + 5) == 2) {
            store_le<std::uint32_t>(image.data() + at + 5, 1);
            ++counts;
        }
    }
    ASSERT_EQ(counts, 23U);
    reseal(image);
    Opened opened(image);
    Log log;
    EXPECT_EQ(opened.root.visit(log), Status::corrupt_file);
    EXPECT_LT(log.lines.size(), image.size());
}

// Many objects with several links: each call of the visitor ends the visit, and each allocation fails.
TEST(Visit, EndsAsTheVisitorSaysAndWithoutMemory) {
    const Image image = made(
        [](Group& root) {
            for (char c = 'a'; c < 'u'; ++c) {
                const std::string name(1, c);
                auto group = root.create_group(name);
                EXPECT_EQ(root.create_hard_link("again " + name + std::string(60, c), *group), Status::ok);
            }
            EXPECT_EQ(root.create_group("a/b").status(), Status::ok);
        },
        H5MOTE_CREATION_ORDER != 0);
    for (const IndexOrder order : {IndexOrder::native, IndexOrder::name, IndexOrder::creation}) {
        Opened opened(image);
        Log all;
        ASSERT_EQ(opened.root.visit(all, order), Status::ok);
        ASSERT_EQ(all.lines.size(), 41U + 1 + 20 + 1);
        for (std::size_t k = 1; k <= all.lines.size(); ++k) {
            Log log;
            log.ends_at = k;
            EXPECT_EQ(opened.root.visit(log, order), Status::busy);
            EXPECT_EQ(log.lines.size(), k);
            EXPECT_TRUE(std::equal(log.lines.begin(), log.lines.end(), all.lines.begin()));
        }
        unsigned refused = 0;
        for (std::uint64_t k = 1;; ++k) {
            Log log;
            log.stays = false;
            opened.failing.arm(k, true);
            const Status status = opened.root.visit(log, order);
            const bool failed = opened.failing.failures() != 0;
            opened.failing.disarm();
            if (!failed) {
                break;
            }
            ++refused;
            ASSERT_TRUE(status == Status::out_of_memory || (status == Status::ok && log.lines == all.lines)) << k;
        }
        EXPECT_GT(refused, 10U);
    }
}

#endif
