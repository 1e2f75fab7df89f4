// File::create() with settings that are refused leaves the file that the storage holds as it is.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace h5mote;

class Storage {
public:
    Storage() : driver_(Bytes{bytes_.data(), bytes_.size()}) {
        Library library(allocator_, port_, {}, formats::rotating);
        auto file = File::create(library, driver_);
        EXPECT_EQ(file.status(), Status::ok);
        EXPECT_EQ(file->root().write_attribute("precious", 42), Status::ok);
        EXPECT_EQ(file->close(), Status::ok);
        before_ = bytes_;
        EXPECT_EQ(driver_.end_of_file(size_), Status::ok);
    }

    Status create(const FileAccess& access, const FileCreate& create, const Formats& formats = formats::rotating) {
        Library library(allocator_, port_, {}, formats);
        return File::create(library, driver_, access, create).status();
    }
    bool as_it_was() {
        std::uint64_t size = 0;
        return driver_.end_of_file(size) == Status::ok && size == size_ && bytes_ == before_;
    }

private:
    MallocAllocator allocator_;
    NullPort port_;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(16384);
    std::vector<std::byte> before_;
    MemoryDriver driver_;
    std::uint64_t size_ = 0;
};

#define EXPECT_REFUSED(expected, ...)                     \
    do {                                                  \
        Storage storage;                                  \
        EXPECT_EQ(storage.create(__VA_ARGS__), expected); \
        EXPECT_TRUE(storage.as_it_was());                 \
    } while (false)

TEST(RefusedCreation, SettingsOfTheFile) {
    FileCreate create;
    create.sizeof_addr = 5;
    EXPECT_REFUSED(Status::invalid_argument, {}, create);
    create = {};
    create.page_size = 1;
    EXPECT_REFUSED(Status::invalid_argument, {}, create);
    create = {};
    create.file_space = SpaceStrategy::none;
    create.persist_free_space = true;
    EXPECT_REFUSED(Status::invalid_argument, {}, create);
    create = {};
    create.persist_free_space = true;
    Formats formats = formats::rotating;
    formats.free_space = nullptr;
    EXPECT_REFUSED(Status::unsupported, {}, create, formats);
    create.persist_free_space = false;
    create.file_space = SpaceStrategy::pages;
    EXPECT_REFUSED(Status::unsupported, {}, create, formats);
}

TEST(RefusedCreation, SmallMetadataCache) {
    FileAccess access;
    access.metadata_cache = 100;
    EXPECT_REFUSED(Status::over_budget, access, {});
    access.metadata_cache = 1023;
    EXPECT_REFUSED(Status::over_budget, access, {});
    access.metadata_cache = 1024;
    EXPECT_EQ(Storage().create(access, {}), Status::ok);
}

#if H5MOTE_ALL_FORMATS

TEST(RefusedCreation, AttributesOfTheRootGroup) {
    FileCreate create;
    create.attributes.max_compact = 2;
    create.attributes.min_dense = 5;
    EXPECT_REFUSED(Status::invalid_argument, {}, create);
}

TEST(RefusedCreation, SharedMessages) {
    SharedIndexCreate index;
    FileCreate create;
    create.shared_messages.indexes = {&index, 1};
    EXPECT_REFUSED(Status::invalid_argument, {}, create, formats::all);
    index.kinds = SharedKinds::attribute;
    Formats formats = formats::all;
    formats.shared_message_changes = nullptr;
    EXPECT_REFUSED(Status::unsupported, {}, create, formats);
}

TEST(RefusedCreation, Alignment) {
    FileAccess access;
    for (const std::uint64_t alignment : {std::uint64_t{32768}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
        access.alignment = alignment;
        EXPECT_REFUSED(Status::no_space, access, {});
    }
    // No block of the new file is as long.
    access.alignment_threshold = 16384;
    EXPECT_EQ(Storage().create(access, {}), Status::ok);
    access.alignment = 4096;
    access.alignment_threshold = 1;
    EXPECT_EQ(Storage().create(access, {}), Status::ok);
    FileCreate create;
    create.user_block = 512;
    access.alignment = ~std::uint64_t{0};
    EXPECT_REFUSED(Status::no_space, access, create);
}

TEST(RefusedCreation, SymbolTables) {
    FileAccess access;
    access.low = FormatVersion::earliest;
    Formats formats = formats::all;
    formats.symbol_table_changes = nullptr;
    EXPECT_REFUSED(Status::unsupported, access, {}, formats);
}

// What the least cache has room for, however much a new file has.
TEST(RefusedCreation, TheLeastCacheIsEnough) {
    SharedIndexCreate indexes[5];
    constexpr std::uint16_t kKinds[] = {SharedKinds::dataspace, SharedKinds::datatype, SharedKinds::fill_value,
                                        SharedKinds::filter_pipeline, SharedKinds::attribute};
    for (unsigned i = 0; i < 5; ++i) {
        indexes[i].kinds = kKinds[i];
    }
    FileAccess access;
    for (const FormatVersion low :
         {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18, FormatVersion::v110}) {
        access.low = low;
        access.metadata_cache = low == FormatVersion::earliest ? 1088 : 1024;
        FileCreate create;
        create.persist_free_space = true;
        create.shared_messages.indexes = {indexes, 5};
        EXPECT_EQ(Storage().create(access, create, formats::all), Status::ok) << static_cast<unsigned>(low);
        create.track_link_order = true;
        create.user_block = 1024;
        EXPECT_EQ(Storage().create(access, create, formats::all), Status::ok) << static_cast<unsigned>(low);
    }
}

#endif

}  // namespace

#endif
