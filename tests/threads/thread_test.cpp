// Threads that share a Library: one writes while others read, and all open and close the same file. In the preset tsan,
// ThreadSanitizer also looks for data races.
#include <h5mote/h5mote.hpp>
#include <h5mote/library_lock.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/port/posix.hpp>
#include <h5mote/vfd/memory.hpp>

#include "thread.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <atomic>
#include <memory>

#if H5MOTE_WRITE

using namespace h5mote;
using h5mote_test::Thread;

namespace {

class Threads : public testing::Test {
protected:
    void TearDown() override {
        EXPECT_EQ(library_.memory_report().kinds[static_cast<int>(MemoryKind::handle)].now, 0U);
    }
    static DatasetCreate chunks() {
        DatasetCreate create;
        create.chunk = {64};
        return create;
    }

    MallocAllocator allocator_;
    MallocAllocator storage_;
    PosixPort port_;
    Library library_{allocator_, port_};
    GrowingMemoryDriver driver_{storage_};
};

constexpr std::int32_t kRows = 20000;

}  // namespace

TEST_F(Threads, OneWritesWhileOthersRead) {
    auto file = File::create(library_, driver_);
    ASSERT_EQ(file.status(), Status::ok);
    auto log = file->root().create_dataset<std::int32_t>("log", chunks());
    ASSERT_EQ(log.status(), Status::ok);
    std::atomic<bool> ended{false};
    auto write = [&] {
        for (std::int32_t row = 0; row < kRows; ++row) {
            ASSERT_EQ(log->append(row), Status::ok);
            if (row % 500 == 0) {
                ASSERT_EQ(file->root().write_attribute("flushed", row), Status::ok);
                ASSERT_EQ(file->flush(), Status::ok);
                ::sched_yield();
            }
        }
        ended = true;
    };
    // Reads through a handle of its own, which it opens again and again.
    auto read = [&] {
        std::uint64_t before = 0;
        for (bool last = false; !last;) {
            last = ended;
            auto mine = file->root().open_dataset<std::int32_t>("log");
            ASSERT_EQ(mine.status(), Status::ok);
            const std::uint64_t size = mine->size();
            ASSERT_GE(size, before);
            before = size;
            if (size >= 16) {
                std::int32_t rows[16];
                const std::uint64_t start[] = {size - 16};
                const std::uint64_t count[] = {16};
                ASSERT_EQ(
                    mine->read(Selection::hyperslab(Span<const std::uint64_t>(start), Span<const std::uint64_t>(count)),
                               Span<std::int32_t>(rows)),
                    Status::ok);
                for (int i = 0; i < 16; ++i) {
                    ASSERT_EQ(rows[i], static_cast<std::int32_t>(size) - 16 + i);
                }
            }
        }
    };
    // Reads through the writer's handle.
    auto watch = [&] {
        std::uint64_t before = 0;
        while (!ended) {
            std::int32_t flushed = 0;
            const std::uint64_t size = log->size();
            ASSERT_GE(size, before);
            before = size;
            Group root = file->root();
            if (root.has_attribute("flushed")) {
                ASSERT_EQ(root.read_attribute("flushed", flushed), Status::ok);
            }
            (void)library_.memory_report();
        }
    };
    { const Thread a(write), b(read), c(read), d(watch); }
    EXPECT_EQ(log->size(), std::uint64_t{kRows});
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

TEST_F(Threads, TwoAppendThroughOneHandle) {
    auto file = File::create(library_, driver_);
    ASSERT_EQ(file.status(), Status::ok);
    auto log = file->root().create_dataset<std::int32_t>("log", chunks());
    ASSERT_EQ(log.status(), Status::ok);
    auto append = [&] {
        for (std::int32_t row = 1; row <= kRows; ++row) {
            ASSERT_EQ(log->append(row), Status::ok);
        }
    };
    { const Thread a(append), b(append); }
    ASSERT_EQ(log->size(), std::uint64_t{2 * kRows});
    // All rows of both threads are there.
    const std::unique_ptr<std::int32_t[]> rows(new std::int32_t[2 * kRows]);
    ASSERT_EQ(log->read(Selection::all(), Span<std::int32_t>(rows.get(), 2 * kRows)), Status::ok);
    std::int64_t sum = 0;
    for (std::int32_t i = 0; i < 2 * kRows; ++i) {
        sum += rows[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(sum, std::int64_t{kRows} * (kRows + 1));
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

// The thread that closes the last handle closes the file, and the next one opens it again.
TEST_F(Threads, AllOpenAndCloseTheSameFile) {
    ASSERT_EQ(File::create(library_, driver_)->close(), Status::ok);
    std::atomic<int> names{0};
    auto work = [&] {
        for (int i = 0; i < 200; ++i) {
            auto file = File::open(library_, driver_);
            ASSERT_EQ(file.status(), Status::ok);
            char name[8] = "g000";
            const int number = names++;
            name[1] = static_cast<char>('0' + number / 100);
            name[2] = static_cast<char>('0' + number / 10 % 10);
            name[3] = static_cast<char>('0' + number % 10);
            auto group = file->root().create_group(name);
            ASSERT_EQ(group.status(), Status::ok);
            ASSERT_EQ(group->write_attribute("number", number), Status::ok);
            group->close();
            ASSERT_EQ(file->close(), Status::ok);
        }
    };
    { const Thread a(work), b(work), c(work); }
    auto file = File::open(library_, driver_);
    ASSERT_EQ(file.status(), Status::ok);
    std::uint32_t count = 0;
    EXPECT_EQ(file->root().link_count(count), Status::ok);
    EXPECT_EQ(count, 600U);
    EXPECT_EQ(file->close(), Status::ok);
}

// A program holds the lock over several calls, so that the trail it reads is that of its own failed call.
TEST_F(Threads, AProgramHoldsTheLockOverSeveralCalls) {
    auto file = File::create(library_, driver_);
    ASSERT_EQ(file.status(), Status::ok);
    auto fail = [&] {
        for (int i = 0; i < 2000; ++i) {
            const LibraryLock lock(library_);
            library_.trail().clear();
            EXPECT_EQ(File::create(library_, driver_).status(), Status::busy);
            ASSERT_GE(library_.trail().size(), 1U);
            EXPECT_EQ(library_.trail().newest().status, Status::busy);
        }
    };
    { const Thread a(fail), b(fail); }
    EXPECT_EQ(file->close(), Status::ok);
}

#if H5MOTE_ALL_FORMATS
// A callback of the library may call the library, although its thread holds the lock already.
TEST_F(Threads, CallbacksCallBack) {
    auto file = File::create(library_, driver_);
    ASSERT_EQ(file.status(), Status::ok);
    for (const char* name : {"a", "b", "c"}) {
        ASSERT_EQ(file->root().create_group(name).status(), Status::ok);
    }
    class Counting final : public Visitor {
    public:
        explicit Counting(File& opened) : file_(opened) {}
        Status object(std::string_view /*path*/, Object& object) noexcept override {
            ObjectType type;
            EXPECT_TRUE(file_.valid());
            EXPECT_EQ(object.type(type), Status::ok);
            ++objects;
            return Status::ok;
        }
        int objects = 0;

    private:
        File& file_;
    };
    auto visit = [&] {
        for (int i = 0; i < 200; ++i) {
            Counting counting(*file);
            EXPECT_EQ(file->root().visit(counting), Status::ok);
            EXPECT_EQ(counting.objects, 4);
        }
    };
    { const Thread a(visit), b(visit); }
    EXPECT_EQ(file->close(), Status::ok);
}
#endif

#endif
