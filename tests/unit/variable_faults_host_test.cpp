// Values of variable length while one call of the storage or of the allocator fails: an element has its old text or the
// new one, everything else that the file has stays, and the next commit makes it sound.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "promising_driver.hpp"
#include "sweep.hpp"
#include "world.hpp"

#include <h5mote/variable_length.hpp>

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr auto kText = make_variable_string();
constexpr std::size_t kTexts = 4;

// What the storage of a test promises.
enum class Promise { nothing, order, commit };

Capabilities capabilities_of(Promise promise) {
    Capabilities result = with_unit(512);
    result.ordered = promise == Promise::order;
    result.sync_is_commit = promise == Promise::commit;
    return result;
}

// A file in memory with a dataset of some texts.
struct Texts {
    explicit Texts(Promise promise) : storage(bytes), promising(storage, capabilities_of(promise)) {
        library.set_free_list_limits({0, 0});
        access.metadata_cache = 8192;
    }
    Status create(const DatasetCreate& properties) {
        auto made = File::create(library, driver, access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        return take(file.root().create_dataset("texts", kText.view(), Dataspace::simple({kTexts}), properties));
    }
    Status open() {
        auto opened = File::open(library, driver, access);
        H5MOTE_TRY(opened.status());
        file = static_cast<File&&>(*opened);
        return take(file.root().open_dataset("texts"));
    }
    Status take(Result<Dataset>&& dataset) {
        H5MOTE_TRY(dataset.status());
        texts = static_cast<Dataset&&>(*dataset);
        return Status::ok;
    }
    Status write(std::uint64_t from, const std::vector<std::string>& values) {
        std::vector<const char*> pointers;
        for (const std::string& each : values) {
            pointers.push_back(each.c_str());
        }
        return texts.write(Selection::hyperslab({from}, {pointers.size()}), kText.view(),
                           {reinterpret_cast<const std::byte*>(pointers.data()), pointers.size() * sizeof(char*)});
    }
    // The texts, "none" where there is none.
    Status read(std::vector<std::string>& values) {
        char* pointers[kTexts] = {};
        H5MOTE_TRY(
            texts.read(Selection::all(), kText.view(), {reinterpret_cast<std::byte*>(pointers), sizeof pointers}));
        values.clear();
        for (const char* const each : pointers) {
            values.emplace_back(each == nullptr ? "none" : each);
        }
        return reclaim(library, kText.view(), kTexts, sizeof(char*), pointers);
    }
    Status close() {
        H5MOTE_TRY(texts.close());
        return file.close();
    }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage;
    PromisingDriver promising;
    FailingDriver driver{promising};
    NullPort port;
    Library library{refusing, port, {}, formats::all};
    FileAccess access;
    File file;
    Dataset texts;
};

// Some texts are on the storage, and others, of `size` characters, are written while the k-th change of the storage
// fails.
struct Writing {
    Promise promise;
    Layout layout;
    std::size_t size;
    bool flushed;  // whether a commit has been between the texts
    bool commits;  // whether the next call is flush(), or another write
    DriverFault fault;

    // false: nothing failed.
    bool point(std::uint64_t k) const {
        Texts world(promise);
        DatasetCreate properties;
        properties.layout = layout;
        if (layout == Layout::chunked) {
            properties.chunk = {2};
        }
        const std::vector<std::string> old = {std::string(20, 'a'), std::string(30, 'b'), "none", "none"};
        const std::vector<std::string> late = {std::string(size, 'c'), std::string(size + 3, 'd')};
        EXPECT_EQ(world.create(properties), Status::ok);
        EXPECT_EQ(world.write(0, {old[0], old[1]}), Status::ok);
        EXPECT_EQ(flushed ? world.file.flush() : Status::ok, Status::ok);
        DriverFault now = fault;
        now.at = k;
        world.driver.arm(now);
        Status status = world.write(1, late);
        status = status == Status::ok ? world.file.flush() : status;
        const bool failed = world.driver.failures() != 0;
        world.driver.disarm();
        EXPECT_TRUE(failed || status == Status::ok);
        if (commits) {
            EXPECT_EQ(world.file.flush(), Status::ok);
            judge(world, old, late, status);
            EXPECT_TRUE(findings_in(world.file).none());
        }
        EXPECT_EQ(world.write(3, {"e"}), Status::ok);
        judge(world, old, late, status);
        EXPECT_EQ(world.file.flush(), Status::ok);
        judge(world, old, late, status);
        EXPECT_TRUE(findings_in(world.file).none());
        EXPECT_EQ(world.write(2, {late[1]}), Status::ok);
        EXPECT_EQ(world.close(), Status::ok);
        EXPECT_EQ(world.open(), Status::ok);
        std::vector<std::string> values;
        EXPECT_EQ(world.read(values), Status::ok);
        EXPECT_TRUE(values.size() == kTexts && values[0] == old[0] && values[2] == late[1] && values[3] == "e");
        EXPECT_TRUE(findings_in(world.file).none());
        EXPECT_EQ(world.close(), Status::ok);
        EXPECT_EQ(world.memory.blocks(), 0U);
        return failed;
    }
    static void judge(Texts& world, const std::vector<std::string>& old, const std::vector<std::string>& late,
                      Status status) {
        std::vector<std::string> values;
        EXPECT_EQ(world.read(values), Status::ok);
        ASSERT_EQ(values.size(), kTexts);
        EXPECT_EQ(values[0], old[0]);
        EXPECT_TRUE(values[1] == late[0] || (status != Status::ok && values[1] == old[1])) << values[1];
        EXPECT_TRUE(values[2] == late[1] || (status != Status::ok && values[2] == old[2])) << values[2];
    }
};

void sweep(Promise promise) {
    std::uint64_t points = 0;
    const auto run = [&](const Writing& writing) {
        for (std::uint64_t k = 1; writing.point(k) && !testing::Test::HasFailure(); k += sweep_step()) {
            ++points;
        }
    };
    for (const Layout layout : {Layout::compact, Layout::contiguous, Layout::chunked}) {
        // Text of more than 256 bytes goes straight to the storage, and is filled up to a multiple of 8 bytes.
        for (const std::size_t size : {std::size_t{255}, std::size_t{257}, std::size_t{1001}, std::size_t{5003}}) {
            for (const unsigned bits : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 14U, 15U}) {
                SCOPED_TRACE(std::to_string(static_cast<unsigned>(layout)) + " " + std::to_string(size) + " " +
                             std::to_string(bits));
                Writing writing{promise, layout, size, (bits & 1) != 0, (bits & 2) != 0, {}};
                writing.fault.persistent = (bits & 4) != 0;
                writing.fault.status = (bits & 8) != 0 ? Status::no_space : Status::io_error;
                writing.fault.calls = kAllCalls & ~unsigned{kReadCall};
                run(writing);
            }
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 50U);
}

TEST(VariableFaults, OfWritesWithoutPromises) { sweep(Promise::nothing); }
TEST(VariableFaults, OfWritesInOrder) { sweep(Promise::order); }
TEST(VariableFaults, OfWritesThatSyncCommits) { sweep(Promise::commit); }

// ---- values that were to take the place of others --------------------------------------------------------------

constexpr auto kNested = make_variable_length(make_variable_string());
constexpr std::size_t kRows = 20;

Status put_attribute(Group& root, char letter) {
    const std::string text(30, letter);
    const std::vector<const char*> pointers(60, text.c_str());
    return root.write_attribute("many", kText.view(), Dataspace::simple({60}),
                                {reinterpret_cast<const std::byte*>(pointers.data()), 60 * sizeof(char*)});
}

// Sequences of three texts.
Status put_rows(Dataset& rows, char letter) {
    const std::string text(35, letter);
    const char* texts[] = {text.c_str(), text.c_str(), text.c_str()};
    const std::vector<VariableLength> values(kRows, VariableLength{3, texts});
    return rows.write(Selection::all(), kNested.view(),
                      {reinterpret_cast<const std::byte*>(values.data()), kRows * sizeof(VariableLength)});
}

// Every element can be read, and has the old texts or the new ones.
Status read_rows(Context& library, Dataset& rows) {
    VariableLength values[kRows];
    H5MOTE_TRY(rows.read(Selection::all(), kNested.view(), {reinterpret_cast<std::byte*>(values), sizeof values}));
    bool right = true;
    for (const VariableLength& each : values) {
        const auto* const texts = static_cast<const char* const*>(each.data);
        right = right && each.count == 3;
        for (std::size_t i = 0; right && i < 3; ++i) {
            right = texts[i] == std::string(35, 'o') || texts[i] == std::string(35, 'n');
        }
    }
    EXPECT_TRUE(right);
    return reclaim(library, kNested.view(), kRows, sizeof(VariableLength), values);
}

// Values were given up, and wait for the commit. Then others are to be given up. Meanwhile memory is so short that the
// library forgets the first ones, and the storage fails, so that the others stay.
TEST(VariableFaults, WhatStaysAfterAShortageOfMemoryIsNotGivenUp) {
    std::uint64_t points = 0;
    for (const std::uint64_t shortage : {1U, 2U, 3U}) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; k += sweep_step()) {
            failed = false;
            for (std::uint64_t first = 1; first < 30; first += sweep_step()) {
                SCOPED_TRACE(std::to_string(shortage) + " " + std::to_string(k) + " " + std::to_string(first));
                Texts world(Promise::nothing);
                auto made = File::create(world.library, world.driver, world.access);
                ASSERT_EQ(made.status(), Status::ok);
                world.file = static_cast<File&&>(*made);
                Group root = world.file.root();
                auto rows = root.create_dataset("rows", kNested.view(), Dataspace::simple({kRows}));
                ASSERT_EQ(rows.status(), Status::ok);
                EXPECT_EQ(put_attribute(root, 'o'), Status::ok);
                EXPECT_EQ(put_rows(*rows, 'o'), Status::ok);
                EXPECT_EQ(world.file.flush(), Status::ok);
                EXPECT_EQ(put_attribute(root, 'n'), Status::ok);
                world.refusing.arm(first, shortage);
                DriverFault fault;
                fault.at = k;
                fault.calls = kWriteCall;
                world.driver.arm(fault);
                (void)put_rows(*rows, 'n');
                failed = world.driver.failures() != 0 || failed;
                (void)disarm(world.refusing, world.driver);
                EXPECT_EQ(world.file.flush(), Status::ok);
                EXPECT_EQ(put_attribute(root, 'x'), Status::ok);  // uses the space of what was given up
                EXPECT_EQ(read_rows(world.library, *rows), Status::ok);
                EXPECT_TRUE(findings_in(world.file).none());
                EXPECT_EQ(rows->close(), Status::ok);
                root.close();
                EXPECT_EQ(world.file.close(), Status::ok);
                EXPECT_EQ(world.memory.blocks(), 0U);
                ++points;
                ASSERT_FALSE(testing::Test::HasFailure());
            }
        }
    }
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 100U / sweep_step());
}

struct Row {
    std::int32_t number;
    const char* first;
    const char* second;
    VariableLength more;
};

constexpr auto kRow = make_compound<sizeof(Row)>(
    member("number", offsetof(Row, number), kNumber), member("first", offsetof(Row, first), kText),
    member("second", offsetof(Row, second), kText), member("more", offsetof(Row, more), kNested));

// A row all of whose texts are `text`.
Row row_of(std::int32_t number, const std::string& text, const char* (&texts)[2]) {
    texts[0] = texts[1] = text.c_str();
    return {number, text.c_str(), text.c_str(), {2, texts}};
}

bool equal(const Row& left, const Row& right) {
    const auto* const a = static_cast<const char* const*>(left.more.data);
    const auto* const b = static_cast<const char* const*>(right.more.data);
    return left.number == right.number && std::strcmp(left.first, right.first) == 0 &&
           std::strcmp(left.second, right.second) == 0 && left.more.count == right.more.count &&
           std::strcmp(a[0], b[0]) == 0 && std::strcmp(a[1], b[1]) == 0;
}

// Elements with several values of variable length, of which one cannot be stored: the element keeps all of its old
// members, and has no new one. So does the heap, in which nothing is lost.
struct Rows {
    Promise promise;
    Layout layout;
    bool memory;  // an allocation fails, and no write

    // false: nothing failed.
    bool point(std::uint64_t k) const {
        Texts world(promise);
        auto made = File::create(world.library, world.driver, world.access);
        EXPECT_EQ(made.status(), Status::ok);
        world.file = static_cast<File&&>(*made);
        DatasetCreate properties;
        properties.layout = layout;
        if (layout == Layout::chunked) {
            properties.chunk = {2};
        }
        auto rows = world.file.root().create_dataset("rows", kRow.view(), Dataspace::simple({2}), properties);
        EXPECT_EQ(rows.status(), Status::ok);
        const std::string old_text(300, 'o');
        const std::string late_text(1001, 'n');
        const char* old_texts[2];
        const char* late_texts[2];
        const Row old = row_of(1, old_text, old_texts);
        const Row late = row_of(2, late_text, late_texts);
        const Row before[2] = {old, old};
        const Row after[2] = {late, late};
        EXPECT_EQ(rows->write(Selection::all(), kRow.view(), as_bytes(Span<const Row>(before))), Status::ok);
        EXPECT_EQ(world.file.flush(), Status::ok);
        DriverFault fault;
        fault.at = memory ? 0 : k;
        fault.calls = kWriteCall;
        world.driver.arm(fault);
        if (memory) {
            world.refusing.arm(k, 1);
        }
        const Status status = rows->write(Selection::all(), kRow.view(), as_bytes(Span<const Row>(after)));
        const bool failed = disarm(world.refusing, world.driver);
        EXPECT_TRUE(failed || status == Status::ok);
        EXPECT_EQ(world.file.flush(), Status::ok);
        EXPECT_TRUE(findings_in(world.file).none());
        Row found[2] = {};
        EXPECT_EQ(rows->read(Selection::all(), kRow.view(), {reinterpret_cast<std::byte*>(found), sizeof found}),
                  Status::ok);
        for (const Row& each : found) {
            EXPECT_TRUE(equal(each, late) || (status != Status::ok && equal(each, old)));
        }
        EXPECT_EQ(reclaim(world.library, kRow.view(), 2, sizeof(Row), found), Status::ok);
        EXPECT_EQ(rows->close(), Status::ok);
        EXPECT_EQ(world.file.close(), Status::ok);
        return failed;
    }
};

TEST(VariableFaults, AnElementThatIsStoredInPartStays) {
    for (const Promise promise : {Promise::nothing, Promise::order, Promise::commit}) {
        for (const Layout layout : {Layout::compact, Layout::contiguous, Layout::chunked}) {
            for (const bool memory : {false, true}) {
                std::uint64_t k = 1;
                while (Rows{promise, layout, memory}.point(k) && !HasFailure()) {
                    SCOPED_TRACE(k);
                    ++k;
                }
                EXPECT_GT(k, 2U);
                ASSERT_FALSE(HasFailure()) << static_cast<unsigned>(promise) << " " << static_cast<unsigned>(layout)
                                           << " " << memory << " " << k;
            }
        }
    }
}

}  // namespace

#endif
