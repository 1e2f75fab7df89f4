// The order in which blocks must reach the storage. The power fails within calls that change two related blocks, or a
// metadata block and the raw data that it refers to, also where the metadata cache writes to make room.
#include <h5mote/check.hpp>

#include "counting_driver.hpp"
#include "recorded_file.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS

namespace {

using namespace h5mote;
using namespace h5mote_test;

class Problems final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override { count += problem.note ? 0 : 1; }
    unsigned count = 0;
};

constexpr std::int32_t kFill = 7;

TypedDataset<std::int32_t> filled_rows(Group root, std::uint64_t rows) {
    DatasetCreate create;
    create.chunk = {4};
    const h5mote_test::FileFill fill(kFill);
    create.fill = fill.view();
    auto dataset = root.create_dataset<std::int32_t>("d", create);
    EXPECT_EQ(dataset.status(), Status::ok);
    EXPECT_EQ(dataset->set_extent({rows}), Status::ok);
    return static_cast<TypedDataset<std::int32_t>&&>(*dataset);
}

void expect_fill(const Image& image, std::size_t rows) {
    RecordedFile copy(image);
    File file = copy.open(2048, true);
    auto dataset = file.root().open_dataset<std::int32_t>("d");
    ASSERT_EQ(dataset.status(), Status::ok);
    ASSERT_GE(dataset->size(), rows);
    std::vector<std::int32_t> values(rows);
    ASSERT_EQ(dataset->read(Selection::hyperslab({0}, {rows}), Span<std::int32_t>(values.data(), rows)), Status::ok);
    EXPECT_EQ(values, std::vector<std::int32_t>(rows, kFill));
}

// Unwritten rows read as the fill value. The first appended row gives their chunk its space, which must be filled
// before the index refers to it.
TEST(WriteOrder, AChunkIsFilledBeforeItsIndexNamesIt) {
    RecordedFile recorded;
    File file = recorded.open();
    auto rows = filled_rows(file.root(), 2);
    ASSERT_EQ(file.root().create_soft_link("old", "/d"), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    const std::size_t acknowledged = recorded.operations();
    ASSERT_EQ(rows.append(5), Status::ok);
    ASSERT_EQ(file.root().unlink("old"), Status::ok);  // writes the index, too, with all metadata
    for_each_cut(recorded, acknowledged, [](const Image& image) { expect_fill(image, 2); });
}

TEST(WriteOrder, AChunkIsFilledBeforeTheCacheWritesItsIndexForRoom) {
    RecordedFile recorded;
    File file = recorded.open(1536);
    auto rows = filled_rows(file.root(), 2);
    Group groups[12];
    for (Group& group : groups) {
        const char name[] = {static_cast<char>('A' + (&group - groups)), 0};
        auto made = file.root().create_group(name);
        ASSERT_EQ(made.status(), Status::ok);
        group = static_cast<Group&&>(*made);
        ASSERT_EQ(group.write_attribute("v", std::int64_t{1}), Status::ok);
    }
    ASSERT_EQ(file.flush(), Status::ok);
    const std::size_t acknowledged = recorded.operations();
    ASSERT_EQ(rows.append(5), Status::ok);
    for (Group& group : groups) {
        ASSERT_EQ(group.write_attribute("v", std::int64_t{2}), Status::ok);
    }
    EXPECT_GT(recorded.operations(), acknowledged);
    for_each_cut(recorded, acknowledged, [](const Image& image) { expect_fill(image, 2); });
}

// The fill values of a chunk that is larger than the chunk cache are made in the cache's memory. The chunks that lie
// there are written to make room for them, with their filters, and what that changes in their indexes may make the
// metadata cache write all that it has, the index of the new chunk included.
void fill_large_chunk_in_small_caches(std::size_t metadata_cache) {
    constexpr std::size_t kRows = 400;
    RecordedFile recorded;
    std::size_t acknowledged = 0;
    {
        File file = recorded.open(metadata_cache, false, 1024);
        DatasetCreate create;
        create.chunk = {kRows};
        const h5mote_test::FileFill fill(kFill);
        create.fill = fill.view();
        auto large = file.root().create_dataset<std::int32_t>("d", create);
        ASSERT_EQ(large.status(), Status::ok);
        ASSERT_EQ(large->set_extent({kRows}), Status::ok);
        create = DatasetCreate();
        create.chunk = {4};
        create.filters = {filters::fletcher32};
        TypedDataset<std::int32_t> logs[6];
        for (auto& log : logs) {
            const char name[] = {static_cast<char>('A' + (&log - logs)), 0};
            auto made = file.root().create_dataset<std::int32_t>(name, create);
            ASSERT_EQ(made.status(), Status::ok);
            log = static_cast<TypedDataset<std::int32_t>&&>(*made);
            ASSERT_EQ(log.append(1), Status::ok);
        }
        ASSERT_EQ(file.flush(), Status::ok);
        acknowledged = recorded.operations();
        for (auto& log : logs) {
            ASSERT_EQ(log.append(2), Status::ok);
        }
        const std::int32_t value = kFill;
        ASSERT_EQ(large->write(Selection::hyperslab({9}, {1}), Span<const std::int32_t>(&value, 1)), Status::ok);
    }
    for_each_cut(recorded, acknowledged, [](const Image& image) { expect_fill(image, kRows); });
}

TEST(WriteOrder, AChunkLargerThanTheCacheIsFilledBeforeItsIndexNamesIt) {
    for (std::size_t cache = 1024; cache <= 4096 && !HasFailure(); cache += 128) {
        SCOPED_TRACE(cache);
        fill_large_chunk_in_small_caches(cache);
    }
}

struct Names {
    bool attributes;

    Status make(Group& root, const std::string& name, bool large) const {
        return attributes ? large ? root.write_attribute(name, std::int64_t{2}) : root.write_attribute(name, 1)
                          : root.create_soft_link(name, "/somewhere/far/away");
    }
    Status drop(Group& root, const std::string& name) const {
        return attributes ? root.remove_attribute(name) : root.unlink(name);
    }
    std::vector<std::string> all(Group& root) const {
        std::vector<std::string> names;
        std::uint32_t count = 0;
        EXPECT_EQ(attributes ? root.attribute_count(count) : root.link_count(count), Status::ok);
        for (std::uint32_t i = 0; i < count; ++i) {
            char text[64];
            std::size_t length = 0;
            LinkInfo info;
            EXPECT_EQ(attributes ? root.attribute_name(i, text, length) : root.link(i, info, text), Status::ok);
            names.emplace_back(text, attributes ? length : info.name_length);
        }
        return names;
    }
};

// Between two flushes a name is removed from one block of a header and made again in another: it must not occur twice.
void remake_names(const Names& kind) {
    RecordedFile recorded;
    File file = recorded.open();
    Group root = file.root();
    std::vector<std::string> names;
    for (unsigned i = 0; i < 10; ++i) {
        names.push_back("n" + std::to_string(i));
        ASSERT_EQ(kind.make(root, names.back(), false), Status::ok);
    }
    ASSERT_EQ(file.flush(), Status::ok);
    std::size_t blocks = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = 0; j < names.size(); ++j) {
            if (i == j) {
                continue;
            }
            ASSERT_EQ(kind.drop(root, names[i]), Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            const std::size_t acknowledged = recorded.operations();
            ASSERT_EQ(kind.drop(root, names[j]), Status::ok);
            ASSERT_EQ(kind.make(root, names[j], true), Status::ok);
            ASSERT_EQ(kind.make(root, names[i], false), Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            blocks += recorded.operations() - acknowledged > 2 ? 1 : 0;
            for_each_cut(recorded, acknowledged, [&](const Image& image) {
                RecordedFile copy(image);
                File opened = copy.open(2048, true);
                Group found = opened.root();
                std::vector<std::string> present = kind.all(found);
                std::sort(present.begin(), present.end());
                EXPECT_EQ(std::adjacent_find(present.begin(), present.end()), present.end())
                    << names[j] << " made again where " << names[i] << " had been";
                EXPECT_GE(present.size(), names.size() - 2);
            });
            if (testing::Test::HasFailure()) {
                return;
            }
        }
    }
    EXPECT_GT(blocks, 4U);  // number of cases in which more than one block was changed
}

TEST(WriteOrder, ALinkMadeAgainIsNotThereTwice) { remake_names({false}); }
TEST(WriteOrder, AnAttributeMadeAgainIsNotThereTwice) { remake_names({true}); }

// libhdf5 counts no attributes in a header without an attribute information message, so the message must come first.
TEST(WriteOrder, AnAttributeComesAfterTheMessageThatCountsIt) {
    std::size_t apart = 0;
    for (std::size_t links = 1; links < 8; ++links) {
        for (std::size_t removed = 0; removed < links; ++removed) {
            RecordedFile recorded;
            File file = recorded.open();
            Group root = file.root();
            for (std::size_t i = 0; i < links; ++i) {
                ASSERT_EQ(root.create_soft_link("link" + std::to_string(i), "/nowhere at all"), Status::ok);
                ASSERT_EQ(file.flush(), Status::ok);
            }
            ASSERT_EQ(root.unlink("link" + std::to_string(removed)), Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            const std::size_t acknowledged = recorded.operations();
            ASSERT_EQ(root.write_attribute("text", "a text of thirty characters..."), Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            apart += recorded.operations() - acknowledged > 2 ? 1 : 0;
            for_each_cut(recorded, acknowledged, [&](const Image& image) {
                RecordedFile copy(image);
                File opened = copy.open(2048, true);
                Group found = opened.root();
                std::uint32_t count = 0;
                ASSERT_EQ(found.attribute_count(count), Status::ok);
                ObjectInfo info;
                ASSERT_EQ(found.info(info), Status::ok);
                constexpr unsigned kAttributeInfo = 21;
                EXPECT_TRUE(count == 0 || (info.header.present >> kAttributeInfo & 1) != 0)
                    << links << " links, the one removed was number " << removed;
            });
        }
    }
    EXPECT_GT(apart, 4U);
}

// After a cut the index may have a chunk's element that the header does not count. When the chunk is then written, it
// must be counted: libhdf5 ignores elements beyond the header's count.
TEST(WriteOrder, AChunkThatIsWrittenIsCounted) {
    RecordedFile recorded;
    File file = recorded.open();
    DatasetCreate create;
    create.chunk = {4, 2};
    std::vector<std::int32_t> values(88, 1);
    const Span<const std::int32_t> all(values.data(), values.size());
    auto grid = file.root().create_dataset<std::int32_t>("d", create, Dataspace::simple({11, 8}, {11, kUnlimited}));
    ASSERT_EQ(grid.status(), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    const std::size_t acknowledged = recorded.operations();
    ASSERT_EQ(grid->write(Selection::all(), all), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
    for_each_cut(recorded, acknowledged, [&](const Image& image) {
        RecordedFile copy(image);
        {
            File again = copy.open();
            auto opened = again.root().open_dataset<std::int32_t>("d");
            ASSERT_EQ(opened.status(), Status::ok);
            // Read first, so that some chunks are in the cache.
            std::vector<std::int32_t> read(values.size());
            ASSERT_EQ(opened->read(Selection::all(), Span<std::int32_t>(read.data(), read.size())), Status::ok);
            ASSERT_EQ(opened->write(Selection::all(), all), Status::ok);
            ASSERT_EQ(opened->close(), Status::ok);
            ASSERT_EQ(again.close(), Status::ok);
        }
        File checked = copy.open(16384, true);
        Problems problems;
        EXPECT_EQ(check_file(checked, {}, problems), Status::ok);
        EXPECT_EQ(problems.count, 0U);
    });
}

// An index block that is made or moved for an appended row may also get elements within the extent. The pointer to the
// block must wait for the header that counts these elements.
TEST(WriteOrder, ANewBlockIsNotReachedBeforeItsElementsAreCounted) {
    for (const std::uint32_t unit : {512U, 4096U}) {
        for (std::size_t count = 1; count <= 90; ++count) {
            RecordedFile recorded({}, unit);
            File file = recorded.open(16384);
            DatasetCreate create;
            create.chunk = {1};
            create.filters = {filters::fletcher32};
            auto rows = file.root().create_dataset<std::int32_t>("d", create);
            ASSERT_EQ(rows.status(), Status::ok);
            const std::vector<std::int32_t> values(count, 1);
            ASSERT_EQ(rows->append(Span<const std::int32_t>(values.data(), values.size())), Status::ok);
            ASSERT_EQ(rows->set_extent({count + 1}), Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            const std::size_t acknowledged = recorded.operations();
            ASSERT_EQ(rows->append(5), Status::ok);
            ASSERT_EQ(rows->write(Selection::hyperslab({count}, {1}), Span<const std::int32_t>(values.data(), 1)),
                      Status::ok);
            ASSERT_EQ(file.flush(), Status::ok);
            for_each_cut(recorded, acknowledged, [&](const Image& image) {
                RecordedFile copy(image);
                File checked = copy.open(16384, true);
                Problems problems;
                EXPECT_EQ(check_file(checked, {}, problems), Status::ok);
                EXPECT_EQ(problems.count, 0U) << count << " rows, unit " << unit;
            });
        }
    }
}

// An index block larger than the atomic unit moves with every change, and the array's header then gets its new address.
// The same header counts an element that is changed in place in another block, and must be written in time for it.
TEST(WriteOrder, AHeaderThatPointsElsewhereStillCountsFirst) {
    const std::uint32_t unit = 128;
    RecordedFile recorded({}, unit);
    FileCreate small;
    small.sizeof_addr = 4;  // so that a unit holds the first data block
    auto file = File::create(recorded.library, recorded.recorder, FileAccess(), small);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {1};
    create.reserve = 0;
    auto rows = file->root().create_dataset<std::int32_t>("d", create, Dataspace::simple({32}, {kUnlimited}));
    ASSERT_EQ(rows.status(), Status::ok);
    const std::int32_t values[] = {1, 2};
    ASSERT_EQ(rows->write(Selection::hyperslab({20}, {1}), Span<const std::int32_t>(values, 1)), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    const std::size_t acknowledged = recorded.operations();
    // One element in the index block, and one in the first data block.
    ASSERT_EQ(rows->write(Selection::hyperslab({0}, {2}, {26}), Span<const std::int32_t>(values)), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    for_each_cut(recorded, acknowledged, [&](const Image& image) {
        RecordedFile copy(image, unit);
        File checked = copy.open(16384, true);
        Problems problems;
        EXPECT_EQ(check_file(checked, {}, problems), Status::ok);
        EXPECT_EQ(problems.count, 0U);
    });
}

// Hard links to one object, made in groups of both kinds of storage. The object's count of them waits in its header,
// while attributes and links that are added to that header change and move its blocks: no cut may leave a count that is
// too low.
TEST(WriteOrder, ALinkIsCountedBeforeItIsThere) {
    for (const std::uint32_t unit : {128U, 512U}) {
        for (const std::size_t cache : {1536U, 16384U}) {
            RecordedFile recorded({}, unit);
            File file = recorded.open(cache);
            auto object = file.root().create_group("object");
            auto few = file.root().create_group("few");
            auto many = file.root().create_group("many");
            for (unsigned i = 0; i < 12; ++i) {
                ASSERT_EQ(many->create_soft_link("soft" + std::to_string(i), "/nowhere"), Status::ok);
            }
            ASSERT_EQ(file.flush(), Status::ok);
            std::size_t from = recorded.operations();
            for (unsigned i = 0; i < 40; ++i) {
                const std::string number = std::to_string(i);
                Group& group = i % 8 == 7 ? *object : i % 4 == 1 ? *few : *many;
                ASSERT_EQ(group.create_hard_link("l" + number, *object), Status::ok);
                if (i % 3 == 0) {
                    const Status status = object->write_attribute("a" + number, std::int64_t{1});
                    ASSERT_TRUE(status == Status::ok || status == Status::over_budget);
                }
                if (i % 5 == 4) {
                    ASSERT_EQ(group.unlink("l" + number), Status::ok);
                    ASSERT_EQ(file.root().create_hard_link("m" + number, *object), Status::ok);
                }
                if (i % 10 == 9) {
                    ASSERT_EQ(file.flush(), Status::ok);
                    for_each_cut(recorded, from, [&](const Image& image) {
                        RecordedFile copy(image, unit);
                        File checked = copy.open(16384, true);
                        Problems problems;
                        EXPECT_EQ(check_file(checked, {}, problems), Status::ok);
                        EXPECT_EQ(problems.count, 0U) << i << " links, unit " << unit << ", cache " << cache;
                    });
                    from = recorded.operations();
                }
            }
        }
    }
}

// A storage whose sync commits all writes since the last one.
class CommittingDriver final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Capabilities capabilities() const noexcept override {
        Capabilities result = inner().capabilities();
        result.sync_is_commit = true;
        return result;
    }
    Status sync() noexcept override {
        ++syncs;
        return inner().sync();
    }
    unsigned syncs = 0;

private:
    Driver& inner() const noexcept { return const_cast<CommittingDriver*>(this)->ForwardingDriver::inner(); }
};

// A chunk index whose nodes are copied for each chunk that goes, in one transaction.
TEST(WriteOrder, ALongTransactionUsesItsOwnSpaceAgain) {
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::v18}) {
        MallocAllocator memory;
        NullPort port;
        GrowingMemoryDriver storage(memory);
        CommittingDriver driver(storage);
        Library library{memory, port, {}, formats::all};
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 512;
        access.low = low;
        auto file = File::create(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        DatasetCreate create;
        create.chunk = {1};
        auto dataset = file->root().create_dataset<std::int32_t>("d", create, Dataspace::simple({0}, {kUnlimited}));
        ASSERT_EQ(dataset.status(), Status::ok);
        const std::vector<std::int32_t> rows(160, 5);
        ASSERT_EQ(dataset->append({rows.data(), rows.size()}), Status::ok);
        ASSERT_EQ(dataset->set_extent({28}), Status::ok);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_LT(storage.contents().size(), 40000U);
        EXPECT_EQ(file->flush(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        EXPECT_EQ(file->close(), Status::ok);
    }
}

TEST(WriteOrder, NothingIsCommittedBetweenTwoFlushes) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    CommittingDriver driver(storage);
    Library library{memory, port};
    for (const std::size_t cache : {1024U, 2048U}) {
        FileAccess access;
        access.metadata_cache = cache;
        auto file = File::create(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        const unsigned committed = driver.syncs;
        DatasetCreate create;
        create.chunk = {1};
        for (unsigned i = 0; i < 12; ++i) {
            auto log = file->root().create_dataset<std::int32_t>("d" + std::to_string(i), create);
            ASSERT_EQ(log.status(), Status::ok);
            for (std::int32_t row = 0; row < 40; ++row) {
                ASSERT_EQ(log->append(row), Status::ok);
            }
            ASSERT_EQ(log->write_attribute("v", std::int64_t{1}), Status::ok);
        }
        ASSERT_EQ(file->root().create_soft_link("old", "/d3"), Status::ok);
        ASSERT_EQ(file->root().unlink("old"), Status::ok);
        EXPECT_EQ(driver.syncs, committed);
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_EQ(driver.syncs, committed + 1);
        ASSERT_EQ(file->close(), Status::ok);
    }
}

// Whatever append() accepts can be flushed, however small the cache, also where index blocks have to be moved. An
// append without room returns over_budget, and earlier rows are kept.
void append_in_small_cache(bool filtered, std::size_t cache, std::int64_t least) {
    constexpr std::int64_t kRows = 3000;
    RecordedFile recorded;
    std::int64_t taken = 0;
    {
        File file = recorded.open(cache);
        DatasetCreate create;
        create.chunk = {1};
        if (filtered) {
            create.filters = {filters::fletcher32};
        }
        auto log = file.root().create_dataset<std::int64_t>("d", create);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(file.flush(), Status::ok);
        Status status = Status::ok;
        while (taken < kRows && (status = log->append(taken)) == Status::ok) {
            ++taken;
            if (taken % 7 == 0) {
                ASSERT_EQ(file.flush(), Status::ok) << taken;
            }
        }
        EXPECT_EQ(status, taken < kRows ? Status::over_budget : Status::ok);
        ASSERT_EQ(file.flush(), Status::ok) << taken;
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
    }
    EXPECT_GE(taken, least);
    File file = recorded.open(cache, true);
    auto log = file.root().open_dataset<std::int64_t>("d");
    ASSERT_EQ(log.status(), Status::ok);
    ASSERT_EQ(log->size(), static_cast<std::uint64_t>(taken));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(taken));
    ASSERT_EQ(log->read(Selection::all(), Span<std::int64_t>(rows.data(), rows.size())), Status::ok);
    for (std::int64_t row = 0; row < taken; ++row) {
        ASSERT_EQ(rows[static_cast<std::size_t>(row)], row);
    }
}

TEST(WriteOrder, RowsInASmallCache) { append_in_small_cache(false, 1024, 3000); }
TEST(WriteOrder, FilteredRowsInASmallCache) {
    append_in_small_cache(true, 1024, 32);
    append_in_small_cache(true, 1280, 3000);
}

// A file that is opened for writing but only read is not changed, not even what a cut has left behind.
TEST(WriteOrder, ReadingThroughAWritableHandleWritesNothing) {
    RecordedFile recorded;
    File file = recorded.open();
    DatasetCreate create;
    create.chunk = {2};
    auto log = file.root().create_dataset<std::int32_t>("d", create);
    ASSERT_EQ(log.status(), Status::ok);
    for (std::int32_t row = 0; row < 20; ++row) {
        ASSERT_EQ(log->append(row), Status::ok);
        ASSERT_EQ(file.flush(), Status::ok);
    }
    const Image cut = recorded.recorder.image(recorded.operations());
    RecordedFile copy(cut);
    {
        File again = copy.open();
        auto rows = again.root().open_dataset<std::int32_t>("d");
        ASSERT_EQ(rows.status(), Status::ok);
        std::int32_t values[20];
        ASSERT_EQ(rows->read(Selection::all(), Span<std::int32_t>(values)), Status::ok);
        EXPECT_EQ(values[19], 19);
        Problems problems;
        EXPECT_EQ(check_file(again, {}, problems), Status::ok);
        EXPECT_EQ(problems.count, 0U);
        ASSERT_EQ(rows->close(), Status::ok);
        ASSERT_EQ(again.close(), Status::ok);
    }
    EXPECT_TRUE(std::none_of(copy.recorder.operations().begin(), copy.recorder.operations().end(),
                             [](const DriverOperation& each) { return each.kind == Kind::write; }));
}

}  // namespace

#endif
