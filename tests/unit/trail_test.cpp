// The records of the error trail, as numbers and as text.
#include <h5mote/trail.hpp>

#include "counting_driver.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

#if H5MOTE_ERROR_TRAIL > 0 && H5MOTE_WRITE

namespace {

class Lines final : public LineSink {
public:
    void line(std::string_view text) noexcept override {
        ++count;
        if (count == 1) {
            length = text.size() < sizeof first ? text.size() : sizeof first;
            std::memcpy(first, text.data(), length);
        }
    }
    // Whether the newest record's line contains the text.
    bool say(std::string_view text) const noexcept {
        return std::string_view(first, length).find(text) != std::string_view::npos;
    }

    unsigned count = 0;
    std::size_t length = 0;
    char first[200];
};

// Whether the newest record contains the text. Clears the trail.
bool told(Bench& bench, std::string_view text) noexcept {
    Lines lines;
    print_trail(bench.library, lines);
    bench.library.trail().clear();
    return lines.say(text);
}

// A storage whose calls fail with a last_error() of its own.
class Broken final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return broken ? Status::io_error : inner().read(usage, address, to);
    }
    Status sync() noexcept override { return broken ? Status::io_error : inner().sync(); }
    std::int32_t last_error() const noexcept override { return broken ? -5 : 0; }
    bool broken = false;
};

}  // namespace

TEST(Trail, OneLineForEachRecordTheNewestFirst) {
    Bench bench;
    (void)bench.library.fail(Module::storage, source_place("core/file/file_state.cpp", 12), Status::over_budget, 0, 77);
    (void)bench.library.unsupported(Module::group, H5MOTE_HERE, Feature::dense_links, 3);
    Lines lines;
    print_trail(bench.library, lines);
    EXPECT_EQ(lines.count, 2U);
    EXPECT_TRUE(lines.say("unsupported in group, line "));
    EXPECT_TRUE(lines.say(": dense_links 3"));
    char text[100];
    const std::size_t length = describe(bench.library.trail().newest(1), text);
    EXPECT_TRUE(std::string_view(text, length) == "over_budget in core/file/file_state.cpp, line 12: bytes needed: 77");
    EXPECT_EQ(describe(bench.library.trail().newest(1), {text, 10}), 10U);
}

TEST(Trail, SaysWhichPartOfAPathIsMissing) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    ASSERT_TRUE(bool(root.create_group("a")));
    ASSERT_TRUE(bool(root.create_group("a/b")));
    ASSERT_EQ(root.create_soft_link("a/soft", "/a/none"), Status::ok);
    bench.library.trail().clear();
#if H5MOTE_ALL_FORMATS
    EXPECT_EQ(root.open_group("/a/b/c/d").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "there is no part number 3 of the path"));
    EXPECT_EQ(root.open_dataset("x").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "there is no part number 1 of the path"));
    EXPECT_EQ(root.create_group("a/none/c").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "there is no part number 2 of the path"));
    EXPECT_EQ(root.open_group("a/soft").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "part number 2 of the path that a link leads to"));
#endif
    // exists() reports no error.
    EXPECT_FALSE(root.exists("a/none"));
    EXPECT_EQ(bench.library.trail().size(), 0U);
}

TEST(Trail, SaysWhatAnObjectIsInstead) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    DatasetCreate create;
    create.chunk = {4};
    ASSERT_TRUE(bool(root.create_dataset<std::int32_t>("log", create)));
    ASSERT_TRUE(bool(root.create_group("group")));
    EXPECT_EQ(root.open_group("log").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "the object is a dataset"));
    EXPECT_EQ(root.open_dataset("group").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "the object is a group"));
    EXPECT_EQ(root.create_group("log/x").status(), Status::not_found);
    EXPECT_TRUE(told(bench, "the object is a dataset"));
}

#if H5MOTE_CONVERSION && H5MOTE_PARTIAL_IO
namespace {

struct Old {
    std::int32_t a;
    float b;
};
H5MOTE_COMPOUND(Old, a, b)
struct Newer {
    std::int32_t a;
    std::int16_t c;
    float b;
};
H5MOTE_COMPOUND(Newer, a, c, b)
struct Fewer {
    float b;
};
H5MOTE_COMPOUND(Fewer, b)

}  // namespace

TEST(Trail, SaysWhichMemberTheFileLacks) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    DatasetCreate create;
    create.chunk = {4};
    ASSERT_TRUE(bool(root.create_dataset<Old>("log", create)));
    EXPECT_TRUE(bool(root.open_dataset<Old>("log")));
    EXPECT_TRUE(bool(root.open_dataset<Fewer>("log")));
    EXPECT_EQ(root.open_dataset<Newer>("log").status(), Status::type_mismatch);
    EXPECT_TRUE(told(bench, "lacks member number 1 "));
    EXPECT_EQ(root.open_or_create_dataset<Newer>("log", create).status(), Status::type_mismatch);
    EXPECT_TRUE(told(bench, "lacks member number 1 "));
}

TEST(Trail, SaysWhichDimensionDiffers) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    DatasetCreate create;
    create.chunk = {4, 3};
    const Dataspace space = Dataspace::simple({0, 3}, {kUnlimited, 3});
    ASSERT_TRUE(bool(root.create_dataset<float>("grid", create, space)));
    // The size that the dataset has grown to may differ from the requested one.
    EXPECT_TRUE(bool(root.open_or_create_dataset<float>("grid", create, Dataspace::simple({5, 3}, {kUnlimited, 3}))));
    EXPECT_EQ(root.open_or_create_dataset<float>("grid", create, Dataspace::simple({0, 4}, {kUnlimited, 4})).status(),
              Status::invalid_argument);
    EXPECT_TRUE(told(bench, "dimension 1 (from 0) has in the file the maximum 3"));
    EXPECT_EQ(root.open_or_create_dataset<float>("grid", create).status(), Status::invalid_argument);
    EXPECT_TRUE(told(bench, "dimensions in the file: 2"));
}
#endif

#if H5MOTE_ALL_FORMATS
TEST(Trail, HoldsTheStoragesOwnCode) {
    Bench bench;
    Broken driver(bench.driver);
    auto file = File::create(bench.library, driver);
    ASSERT_EQ(file.status(), Status::ok);
    ASSERT_TRUE(bool(file->root().create_group("a")));
    driver.broken = true;
    EXPECT_EQ(file->flush(), Status::io_error);
    EXPECT_TRUE(told(bench, "the storage's code -5, address 0"));
    driver.broken = false;
    (void)file->close();
}
#endif

#endif
