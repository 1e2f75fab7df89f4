// Datasets whose storage fails in the middle of a call, and go on: the elements that were written before, those that
// the call was to write, and those that never were, in chunks that are not stored yet.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_FILTERS

#include "failing_driver.hpp"
#include "sound.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr auto kText = make_variable_string();
constexpr auto kNumber = make_integer(4, true);
const Filter* const kFilters[] = {&shuffle_filter};
using Texts = std::vector<std::string>;

// A file in memory with the dataset "d", on a storage that can be made to fail.
class Machine {
public:
    explicit Machine(std::size_t chunk_cache = 16384) {
        library_.set_free_list_limits({0, 0});  // memory that is given back is not used again before it is returned
        access_.metadata_cache = 8192;
        access_.chunk_cache = chunk_cache;
        Result<File> made = File::create(library_, driver, access_);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
    }
    void create(DatatypeView type, const Dataspace& space, const DatasetCreate& create) {
        Result<Dataset> made = file.root().create_dataset("d", type, space, create);
        ASSERT_EQ(made.status(), Status::ok);
        data = static_cast<Dataset&&>(*made);
    }
    void reopen() {
        ASSERT_EQ(data.close(), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
        Result<File> opened = File::open(library_, driver, access_);
        ASSERT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        EXPECT_TRUE(findings_in(file).none());
        Result<Dataset> found = file.root().open_dataset("d");
        ASSERT_EQ(found.status(), Status::ok);
        data = static_cast<Dataset&&>(*found);
    }
    // Call number `at` of these kinds fails, and all later ones until heal().
    void fail(std::uint64_t at, unsigned calls, bool persistent = true, Status status = Status::io_error) {
        DriverFault fault;
        fault.at = at;
        fault.calls = calls;
        fault.persistent = persistent;
        fault.status = status;
        driver.arm(fault);
    }
    bool heal() {
        driver.disarm();
        return driver.failures() != 0;
    }
    Status write(const Selection& where, Texts texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) {
            pointers.push_back(text.data());
        }
        return data.write(where, kText,
                          {reinterpret_cast<std::byte*>(pointers.data()), pointers.size() * sizeof(char*)});
    }
    // Writes the first element of a row.
    Status write_row(std::uint64_t number, unsigned rank, const std::string& text) {
        const std::uint64_t start[] = {number, 0};
        const std::uint64_t count[] = {1, 1};
        return write(
            Selection::hyperslab(Span<const std::uint64_t>(start, rank), Span<const std::uint64_t>(count, rank)),
            {text});
    }
    Status append(Texts texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) {
            pointers.push_back(text.data());
        }
        return data.append_records(pointers.data(), pointers.size());
    }
    // "(nothing)" stands for an element without a value.
    Texts read(std::size_t count) {
        std::vector<char*> pointers(count);
        EXPECT_EQ(data.read(Selection::all(), kText,
                            {reinterpret_cast<std::byte*>(pointers.data()), pointers.size() * sizeof(char*)}),
                  Status::ok);
        Texts texts;
        for (const char* const each : pointers) {
            texts.push_back(each == nullptr ? "(nothing)" : each);
        }
        EXPECT_EQ(reclaim(library_, kText, count, sizeof(char*), pointers.data()), Status::ok);
        return texts;
    }

private:
    MallocAllocator memory_;
    NullPort port_;
    Library library_{memory_, port_, kFilters};
    GrowingMemoryDriver storage_{memory_};
    FileAccess access_;

public:
    FailingDriver driver{storage_};
    File file;
    Dataset data;
};

char fill_text[] = "fill";
char* const kFill = fill_text;

DatasetCreate with_texts(std::initializer_list<std::uint32_t> chunk, bool filtered, bool filled) {
    DatasetCreate create;
    create.chunk = chunk;
    create.reserve = 0;
    if (filtered) {
        create.filters = {filters::shuffle};
    }
    if (filled) {
        create.fill = {reinterpret_cast<const std::byte*>(&kFill), sizeof kFill};
    }
    return create;
}

}  // namespace

// Three rows begin a new chunk, and one of them cannot be stored. The dataset gets longer by set_extent() then, and a
// row of that chunk is written.
TEST(DatasetFaults, AnAppendThatFailsInANewChunk) {
    constexpr std::size_t kRows = 12;
    const std::string large(3000, 'x');
    unsigned refused = 0;
    for (unsigned form = 0; form < 16; ++form) {
        const bool filled = (form & 1) != 0;
        const bool filtered = (form & 2) != 0;
        const bool no_space = (form & 8) != 0;
        for (std::uint64_t at = 1;; ++at) {
            SCOPED_TRACE("form " + std::to_string(form) + ", call " + std::to_string(at));
            Machine machine;
            machine.create(kText, Dataspace::unlimited(), with_texts({4}, filtered, filled));
            ASSERT_EQ(machine.data.set_memory_type(kText), Status::ok);
            ASSERT_EQ(machine.append({"a", "b", "c", "d"}), Status::ok);
            if ((form & 4) != 0) {
                ASSERT_EQ(machine.file.flush(), Status::ok);
            }
            machine.fail(at, no_space ? kWriteCall : kAllCalls, true, no_space ? Status::no_space : Status::io_error);
            const Status status = machine.append({"e", large + "1", large + "2"});
            if (!machine.heal()) {
                break;
            }
            Texts expected = {"a", "b", "c", "d"};
            if (machine.data.size() > 4) {
                expected.insert(expected.end(), {"e", large + "1", large + "2"});
            }
            expected.resize(static_cast<std::size_t>(machine.data.size()));
            refused += status != Status::ok ? 1 : 0;
            expected.resize(kRows, filled ? "fill" : "(nothing)");
            ASSERT_EQ(machine.data.set_extent({kRows}), Status::ok);
            ASSERT_EQ(machine.read(kRows), expected);
            ASSERT_EQ(machine.write_row(6, 1, "six"), Status::ok);
            expected[6] = "six";
            ASSERT_EQ(machine.read(kRows), expected);
            machine.reopen();
            ASSERT_EQ(machine.read(kRows), expected);
        }
    }
    EXPECT_GT(refused, 16U);
}

// Nothing fails: a dataset grows within a chunk that is not stored yet.
TEST(DatasetFaults, GrowthWithinAChunkInMemory) {
    for (unsigned form = 0; form < 8; ++form) {
        SCOPED_TRACE("form " + std::to_string(form));
        Machine machine;
        const std::uint64_t most = (form & 4) != 0 ? kUnlimited : 3;
        machine.create(kText, Dataspace::simple({2, 1}, {2, most}), with_texts({2, 3}, (form & 1) != 0, true));
        ASSERT_EQ(machine.write(Selection::all(), {"a", "b"}), Status::ok);
        if ((form & 2) != 0) {
            ASSERT_EQ(machine.file.flush(), Status::ok);
        }
        ASSERT_EQ(machine.data.set_extent({2, 3}), Status::ok);
        const Texts expected = {"a", "fill", "fill", "b", "fill", "fill"};
        EXPECT_EQ(machine.read(6), expected);
        machine.reopen();
        EXPECT_EQ(machine.read(6), expected);
    }
}

// The cache has room for one chunk. The index block of the next one cannot be read: the values of the chunk that was in
// the cache before stay.
TEST(DatasetFaults, AnIndexThatCannotBeRead) {
    constexpr std::uint64_t kRows = 400;
    constexpr std::uint64_t kFar = 390;
    unsigned refused = 0;
    for (const bool filtered : {false, true}) {
        for (std::uint64_t at = 1;; ++at) {
            SCOPED_TRACE((filtered ? "filtered, call " : "call ") + std::to_string(at));
            Machine machine(70);
            machine.create(kText, Dataspace::simple({kRows, 1}, {kUnlimited, kUnlimited}),
                           with_texts({4, 1}, filtered, true));
            Texts expected;
            for (std::uint64_t i = 0; i < kRows; ++i) {
                expected.push_back("value " + std::to_string(i));
            }
            ASSERT_EQ(machine.write(Selection::all(), expected), Status::ok);
            machine.reopen();
            ASSERT_EQ(machine.write_row(0, 2, "new"), Status::ok);
            expected[0] = "new";
            ASSERT_EQ(machine.file.flush(), Status::ok);
            ASSERT_EQ(machine.write_row(8, 2, "eight"), Status::ok);
            expected[8] = "eight";
            ASSERT_EQ(machine.file.flush(), Status::ok);
            machine.fail(at, kReadCall);
            const Status status = machine.write_row(kFar, 2, "far");
            if (!machine.heal()) {
                break;
            }
            refused += status != Status::ok ? 1 : 0;
            ASSERT_EQ(machine.file.flush(), Status::ok);
            machine.reopen();
            Texts found = machine.read(kRows);
            ASSERT_TRUE(found[kFar] == expected[kFar] || found[kFar] == "far") << found[kFar];
            found[kFar] = expected[kFar];
            ASSERT_EQ(found, expected);
        }
    }
    EXPECT_GE(refused, 2U);
}

// One dimension grows and the other one shrinks, where chunks at the edges are not filtered and all of them have their
// space from the beginning. One call of the storage fails, and the dataset is as it was unless set_extent() says that
// it is not; then the extent is set again.
TEST(DatasetFaults, AnEdgeThatCannotBeFiltered) {
    const std::int32_t fill = -357;
    for (const unsigned calls : {unsigned{kReadCall}, unsigned{kWriteCall}, unsigned{kAllCalls}}) {
        for (std::uint64_t at = 1;; ++at) {
            SCOPED_TRACE("calls " + std::to_string(calls) + ", number " + std::to_string(at));
            Machine machine;
            DatasetCreate create;
            create.chunk = {2, 2};
            create.filters = {filters::shuffle};
            create.unfiltered_edges = true;
            create.allocation = AllocationTime::early;
            create.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill};
            machine.create(kNumber, Dataspace::simple({8, 3}, {kUnlimited, kUnlimited}), create);
            machine.reopen();
            machine.fail(at, calls, false);
            const Status status = machine.data.set_extent({4, 5});
            if (!machine.heal()) {
                break;
            }
            Dataspace space;
            ASSERT_EQ(machine.data.dataspace(space), Status::ok);
            ASSERT_EQ(space.dims()[0], status == Status::ok ? 4U : 8U);
            ASSERT_EQ(machine.data.set_extent({4, 5}), Status::ok);
            const std::vector<std::int32_t> expected(20, fill);
            for (const bool again : {false, true}) {
                if (again) {
                    machine.reopen();
                }
                std::vector<std::int32_t> found(20);
                ASSERT_EQ(machine.data.read(Selection::all(), kNumber,
                                            {reinterpret_cast<std::byte*>(found.data()), found.size() * 4}),
                          Status::ok);
                ASSERT_EQ(found, expected);
            }
        }
    }
}

// The power goes when a dataset has become smaller and its index still has the chunk that went, which was filtered when
// it was whole. An append replaces it where the chunk of another dataset follows.
TEST(DatasetFaults, AChunkThatASmallerExtentHasLeft) {
    constexpr std::uint64_t kRows = 64;
    MallocAllocator memory;
    NullPort port;
    static constexpr const Filter* kDeflate[] = {&deflate_filter};
    GrowingMemoryDriver storage(memory);
    std::vector<std::byte> left;
    const std::vector<std::int32_t> threes(kRows, 3);
    const std::vector<std::int32_t> nines(kRows, 9);
    DatasetCreate plain;
    plain.chunk = {kRows};
    plain.reserve = 0;
    {
        Library library(memory, port, kDeflate, formats::all);
        auto file = File::create(library, storage);
        DatasetCreate create;
        create.chunk = {kRows};
        create.filters = {filters::deflate};
        create.unfiltered_edges = true;
        auto data = file->root().create_dataset("data", kNumber, Dataspace::simple({0}, {2 * kRows}), create);
        auto other = file->root().create_dataset("other", kNumber, Dataspace::unlimited(), plain);
        ASSERT_EQ(data->append_records(threes.data(), kRows), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(other->append_records(nines.data(), kRows), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
        ASSERT_EQ(data->set_extent({0}), Status::ok);
        left.assign(storage.contents().begin(), storage.contents().end());
        ASSERT_EQ(file->close(), Status::ok);
    }
    ASSERT_EQ(storage.assign({left.data(), left.size()}), Status::ok);
    Library library(memory, port, kDeflate, formats::all);
    auto file = File::open(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    auto data = file->root().open_dataset("data");
    auto other = file->root().open_dataset("other");
    ASSERT_EQ(data->size(), 0U);
    ASSERT_EQ(data->append_records(threes.data(), 2), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    auto more = file->root().create_dataset("more", kNumber, Dataspace::unlimited(), plain);
    for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(more->append_records(threes.data(), kRows), Status::ok);
        ASSERT_EQ(file->flush(), Status::ok);
    }
    std::vector<std::int32_t> found(kRows);
    ASSERT_EQ(other->read(Selection::all(), kNumber, {reinterpret_cast<std::byte*>(found.data()), found.size() * 4}),
              Status::ok);
    EXPECT_EQ(found, nines);
    EXPECT_TRUE(findings_in(*file).none());
}

// Chunks that the cache has no room for are appended to in place. The storage becomes full, and whatever append() has
// taken can be flushed.
TEST(DatasetFaults, AFullStorageAndChunksLargerThanTheCache) {
    constexpr std::uint32_t kRows = 200;
    for (const std::uint32_t chunk_cache : {200U, 4096U}) {
        MallocAllocator memory;
        NullPort port;
        GrowingMemoryDriver home(memory, 40000);
        GrowingMemoryDriver log(memory);
        JournalOptions options;
        options.limit = 16384;
        options.checkpoint = 8192;
        std::vector<std::uint64_t> buffer(JournalDriver::required_memory(768, options) / 8 + 1);
        JournalDriver journal(home, log, {reinterpret_cast<std::byte*>(buffer.data()), buffer.size() * 8});
        ASSERT_EQ(journal.open(options), Status::ok);
        Library library(memory, port);
        FileAccess access;
        access.chunk_cache = chunk_cache;
        auto file = File::create(library, journal, access);
        ASSERT_EQ(file.status(), Status::ok);
        const std::vector<std::int32_t> rows(kRows, 5);
        DatasetCreate create;
        create.chunk = {kRows};
        create.reserve = 0;
        auto old = file->root().create_dataset("old", kNumber, Dataspace::unlimited(), create);
        ASSERT_EQ(old->append_records(rows.data(), kRows), Status::ok);
        ASSERT_EQ(old->close(), Status::ok);
        auto data = file->root().create_dataset("data", kNumber, Dataspace::unlimited(), create);
        ASSERT_EQ(file->flush(), Status::ok);
        Status status = Status::ok;
        for (unsigned i = 0; i < 1000 && status == Status::ok; ++i) {
            status = data->append_records(rows.data(), kRows / 5);
        }
        EXPECT_EQ(status, Status::no_space);
        EXPECT_EQ(file->flush(), Status::ok) << chunk_cache;
        EXPECT_EQ(file->root().unlink("old"), Status::ok) << chunk_cache;
        EXPECT_EQ(file->flush(), Status::ok) << chunk_cache;
        EXPECT_EQ(data->append_records(rows.data(), 1), Status::ok) << chunk_cache;
        EXPECT_EQ(data->close(), Status::ok) << chunk_cache;
        EXPECT_EQ(file->close(), Status::ok) << chunk_cache;
    }
}

// The new extent cannot be made durable, and the call fails. Then another dataset becomes smaller, which syncs, and the
// power goes.
TEST(DatasetFaults, AnExtentThatWasTakenBack) {
    const std::vector<std::int32_t> rows(64, 3);
    for (const unsigned calls : {unsigned{kWriteCall}, unsigned{kSyncCall}}) {
        Machine machine;
        DatasetCreate create;
        create.chunk = {8};
        machine.create(kNumber, Dataspace::unlimited(), create);
        auto other = machine.file.root().create_dataset("other", kNumber, Dataspace::unlimited(), create);
        ASSERT_EQ(machine.data.append_records(rows.data(), 64), Status::ok);
        ASSERT_EQ(other->append_records(rows.data(), 64), Status::ok);
        ASSERT_EQ(machine.file.flush(), Status::ok);
        machine.fail(1, calls, false);
        EXPECT_EQ(machine.data.set_extent({10}), Status::io_error);
        ASSERT_TRUE(machine.heal());
        ASSERT_EQ(other->set_extent({20}), Status::ok);
        std::uint64_t size = 0;
        ASSERT_EQ(machine.driver.end_of_file(size), Status::ok);
        std::vector<std::byte> left(static_cast<std::size_t>(size));
        ASSERT_EQ(machine.driver.read(Usage::raw_data, 0, {left.data(), left.size()}), Status::ok);
        MemoryDriver storage = MemoryDriver::reading({left.data(), left.size()});
        MallocAllocator memory;
        NullPort port;
        Library library(memory, port);
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library, storage, access);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_EQ(file->root().open_dataset("d")->size() + file->root().open_dataset("other")->size(), 84U);
    }
}

#endif
