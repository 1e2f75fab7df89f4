// A read-only file, in every profile: its content can be read, and every change returns read_only. In profile reader
// every file is read-only, however it is opened.
#include "small_file.hpp"
#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

// The small file, opened in the bench's storage.
class SmallFile {
public:
    explicit SmallFile(bool read_only) noexcept {
        EXPECT_EQ(bench.driver.truncate(sizeof kSmallFile), Status::ok);
        std::memcpy(bench_storage, kSmallFile, sizeof kSmallFile);
        bench.access.read_only = read_only;
        EXPECT_EQ(bench.open(), Status::ok);
    }
    ~SmallFile() {
        EXPECT_EQ(bench.file.close(), Status::ok);
        EXPECT_TRUE(bench.empty());
        EXPECT_EQ(bench.driver.contents().size(), sizeof kSmallFile);
        EXPECT_EQ(std::memcmp(bench_storage, kSmallFile, sizeof kSmallFile), 0);
    }

    Bench bench;
};

void expect_refusals(File& file) noexcept {
    constexpr Status kRefused = Status::read_only;
    Group root = file.root();
    auto group = root.open_group("group");
    ASSERT_EQ(group.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {4};
    EXPECT_EQ(root.create_group("new").status(), kRefused);
    EXPECT_EQ(root.create_dataset<std::int32_t>("new", create).status(), kRefused);
    EXPECT_EQ(root.create_hard_link("new", *group), kRefused);
    EXPECT_EQ(root.create_soft_link("new", "group"), kRefused);
    EXPECT_EQ(root.unlink("group"), kRefused);
    EXPECT_EQ(group->write_attribute("version", std::int32_t{8}), kRefused);
    EXPECT_EQ(group->write_attribute("new", std::int32_t{8}), kRefused);
    EXPECT_EQ(group->remove_attribute("version"), kRefused);
#if H5MOTE_PARTIAL_IO
    auto values = root.open_dataset<std::int32_t>("values");
    ASSERT_EQ(values.status(), Status::ok);
    constexpr std::int32_t kOthers[4] = {};
    EXPECT_EQ(values->write(Selection::all(), Span<const std::int32_t>(kOthers)), kRefused);
    EXPECT_EQ(values->append(5), kRefused);
    EXPECT_EQ(values->set_extent({5}), kRefused);
    EXPECT_EQ(values->close(), Status::ok);
#endif
    EXPECT_FALSE(root.exists("new"));
    EXPECT_EQ(file.flush(), Status::ok);
}

}  // namespace

TEST(ReadOnly, FindsWhatIsThere) {
    SmallFile small(true);
    Group root = small.bench.file.root();
    std::uint32_t links = 0;
    EXPECT_EQ(root.link_count(links), Status::ok);
    EXPECT_EQ(links, 2U);
    std::int32_t version = 0;
    EXPECT_EQ(root.open_group("group")->read_attribute("version", version), Status::ok);
    EXPECT_EQ(version, 7);
    EXPECT_EQ(root.open_group("nothing").status(), Status::not_found);
#if H5MOTE_PARTIAL_IO
    auto values = root.open_dataset<std::int32_t>("values");
    ASSERT_EQ(values.status(), Status::ok);
    std::int32_t seen[4] = {};
    EXPECT_EQ(values->read(Selection::all(), Span<std::int32_t>(seen)), Status::ok);
    EXPECT_EQ(seen[0], 1);
    EXPECT_EQ(seen[3], -4);
    EXPECT_EQ(values->read(Selection::hyperslab({1}, {2}), Span<std::int32_t>(seen, 2)), Status::ok);
    EXPECT_EQ(seen[0], -2);
    EXPECT_EQ(seen[1], 3);
#else
    EXPECT_EQ(root.open_dataset("values").status(), Status::unsupported);
#endif
}

TEST(ReadOnly, ChangesAreRefused) {
    for (const bool read_only : {true, false}) {
        if (read_only || H5MOTE_WRITE == 0) {
            SmallFile small(read_only);
            expect_refusals(small.bench.file);
        }
    }
}

TEST(ReadOnly, NothingIsCreatedInItsPlace) {
    Bench bench;
    MemoryDriver reading = MemoryDriver::reading(small_file());
    EXPECT_EQ(File::create(bench.library, reading, bench.access).status(), Status::read_only);
    EXPECT_TRUE(bench.empty());
}

// A file that cannot be opened: the status names the reason, and all memory is given back.
TEST(ReadOnly, OpenNamesWhatIsWrong) {
    const auto opened = [](std::size_t size, std::size_t at, unsigned flip) {
        Bench bench;
        EXPECT_EQ(bench.driver.truncate(size), Status::ok);
        std::memcpy(bench_storage, kSmallFile, sizeof kSmallFile);
        bench_storage[at] ^= static_cast<std::byte>(flip);
        bench.access.read_only = true;
        const Status status = bench.open();
        EXPECT_EQ(bench.file.close(), status == Status::ok ? Status::ok : Status::invalid_handle);
        EXPECT_TRUE(bench.empty());
        return status;
    };
    EXPECT_EQ(opened(sizeof kSmallFile, 0, 0), Status::ok);
    EXPECT_EQ(opened(0, 0, 0), Status::not_found);
    EXPECT_EQ(opened(sizeof kSmallFile - 1, 0, 0), Status::corrupt_file);
    EXPECT_EQ(opened(40, 0, 0), Status::corrupt_file);
    EXPECT_EQ(opened(sizeof kSmallFile, 1, 1), Status::not_hdf5);
    EXPECT_EQ(opened(sizeof kSmallFile, 8, 4), Status::unsupported);    // version
    EXPECT_EQ(opened(sizeof kSmallFile, 20, 1), Status::corrupt_file);  // the superblock's checksum
}
