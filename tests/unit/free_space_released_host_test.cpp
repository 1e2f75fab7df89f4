// Calls that give up space and ask for none, each as the only change of a session, in files that keep their free space.
// The record of it must say that it is not complete before the change is on the storage: whatever part of the session
// reached the storage, the next opening knows or finds all free space.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/check.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "forwarding_driver.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;

struct Row {
    std::uint64_t value[4];
};
H5MOTE_COMPOUND(Row, value)

// Keeps what is on the storage after each write or, where sync() is a commit, after each commit.
class Snapshots final : public ForwardingDriver {
public:
    Snapshots(GrowingMemoryDriver& storage, bool commits) noexcept
        : ForwardingDriver(storage), storage_(storage), commits_(commits) {}

    Capabilities capabilities() const noexcept override {
        Capabilities result = storage_.capabilities();
        result.sync_is_commit = commits_;
        return result;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        const Status status = ForwardingDriver::write(usage, address, from);
        keep(!commits_);
        return status;
    }
    Status truncate(std::uint64_t size) noexcept override {
        const Status status = ForwardingDriver::truncate(size);
        keep(!commits_);
        return status;
    }
    Status sync() noexcept override {
        keep(commits_);
        return ForwardingDriver::sync();
    }

    std::vector<Image> all;

private:
    void keep(bool now) {
        if (now) {
            const ConstBytes contents = storage_.contents();
            all.emplace_back(contents.begin(), contents.end());
        }
    }

    GrowingMemoryDriver& storage_;
    bool commits_;
};

class Session {
public:
    Session(const Image& image, bool commits) : driver(storage_, commits) {
        EXPECT_EQ(storage_.assign({image.data(), image.size()}), Status::ok);
    }
    explicit Session(bool commits) : driver(storage_, commits) {}

    Status create(SpaceStrategy strategy) {
        FileCreate properties;
        properties.persist_free_space = true;
        properties.file_space = strategy;
        auto made = File::create(library_, driver, access, properties);
        file = static_cast<File&&>(*made);
        return made.status();
    }
    Status open() {
        access.reclaim = true;
        auto opened = File::open(library_, driver, access);
        file = static_cast<File&&>(*opened);
        return opened.status();
    }

private:
    MallocAllocator malloc_;
    NullPort port_;
    GrowingMemoryDriver storage_{malloc_};
    Library library_{malloc_, port_};

public:
    Snapshots driver;
    FileAccess access;
    File file;
};

// Bytes of the closed file of which nobody knows whether they are free.
std::uint64_t lost_in(const Image& image) {
    class Silent final : public CheckReporter {
        void problem(const Problem& problem) noexcept override { EXPECT_TRUE(problem.note); }
    } reporter;
    MallocAllocator malloc;
    NullPort port;
    Library library{malloc, port};
    MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
    auto file = File::open(library, driver, {});
    EXPECT_EQ(file.status(), Status::ok);
    CheckSummary summary;
    EXPECT_EQ(check_file(*file, {}, reporter, &summary), Status::ok);
    return summary.lost;
}

Image closed(Session& session) {
    EXPECT_EQ(session.file.close(), Status::ok);
    return session.driver.all.back();
}

using Change = std::function<Status(File&)>;

// What every file has: a log with chunks in advance, a group with many attributes and links, text in a global heap.
void fill(File& file) {
    DatasetCreate layout;
    layout.chunk = {4};
    layout.reserve = 4096;
    auto log = file.root().create_dataset<Row>("log", layout);
    ASSERT_EQ(log.status(), Status::ok);
    for (std::uint64_t i = 0; i < 30; ++i) {
        ASSERT_EQ(log->append(Row{{i, i, i, i}}), Status::ok);
    }
    auto group = file.root().create_group("group");
    ASSERT_EQ(group.status(), Status::ok);
    for (unsigned i = 0; i < 20; ++i) {
        const std::string name = "name" + std::to_string(i);
        ASSERT_EQ(group->write_attribute(name, std::string(100, 'a').c_str()), Status::ok);
        ASSERT_EQ(group->create_soft_link(name, std::string(200, 'b')), Status::ok);
    }
    ASSERT_EQ(file.root().create_dataset<Row>("leaves", layout).status(), Status::ok);
    ASSERT_EQ(file.flush(), Status::ok);
}

// The file of a session that was killed while it had chunks in advance, opened and closed once by another one.
Image file_with_chunks_in_advance(bool commits, SpaceStrategy strategy) {
    Session first(commits);
    EXPECT_EQ(first.create(strategy), Status::ok);
    fill(first.file);
    EXPECT_EQ(first.file.root().unlink("leaves"), Status::ok);
    Session killed(closed(first), commits);
    EXPECT_EQ(killed.open(), Status::ok);
    auto log = killed.file.root().open_dataset<Row>("log");
    EXPECT_EQ(log.status(), Status::ok);
    for (std::uint64_t i = 0; i < 9; ++i) {
        EXPECT_EQ(log->append(Row{{i, i, i, i}}), Status::ok);
    }
    EXPECT_EQ(killed.file.flush(), Status::ok);
    Session next(killed.driver.all.back(), commits);
    EXPECT_EQ(next.open(), Status::ok);
    const Image image = closed(next);
    EXPECT_EQ(lost_in(image), 0U);
    return image;
}

// Changes a file, and opens and closes what was on the storage at each moment.
void try_change(const Image& image, bool commits, const Change& change) {
    Session session(image, commits);
    ASSERT_EQ(session.open(), Status::ok);
    ASSERT_EQ(change(session.file), Status::ok);
    ASSERT_EQ(session.file.flush(), Status::ok);
    ASSERT_FALSE(session.driver.all.empty());
    const std::vector<Image> moments = session.driver.all;
    for (std::size_t i = 0; i < moments.size(); ++i) {
        SCOPED_TRACE(i);
        Session next(moments[i], commits);
        ASSERT_EQ(next.open(), Status::ok);
        ASSERT_EQ(next.file.close(), Status::ok);
        const Image after = next.driver.all.empty() ? moments[i] : next.driver.all.back();
        ASSERT_EQ(lost_in(after), 0U);
    }
}

const struct {
    const char* name;
    Change change;
} kChanges[] = {
    {"a log grows and is closed",
     [](File& file) {
         auto log = file.root().open_dataset<Row>("log");
         const Status status = log.status() == Status::ok ? log->append(Row{{1, 1, 1, 1}}) : log.status();
         return status == Status::ok ? log->close() : status;
     }},
    {"a dataset becomes smaller",
     [](File& file) {
         auto log = file.root().open_dataset("log");
         return log.status() == Status::ok ? log->set_extent({3}) : log.status();
     }},
    {"an attribute goes", [](File& file) { return file.root().open_group("group")->remove_attribute("name7"); }},
    {"attributes go until they lie in the header",
     [](File& file) {
         auto group = file.root().open_group("group");
         Status status = group.status();
         for (unsigned i = 0; i < 16 && status == Status::ok; ++i) {
             status = group->remove_attribute("name" + std::to_string(i));
         }
         return status;
     }},
    {"a link goes", [](File& file) { return file.root().unlink("group/name3"); }},
    {"a log goes", [](File& file) { return file.root().unlink("log"); }},
    {"a group goes", [](File& file) { return file.root().unlink_tree("group"); }},
    {"a link gets another name", [](File& file) { return file.root().rename("group/name3", "group/renamed"); }},
};

TEST(FreeSpaceReleased, IsKnownOrLookedFor) {
    for (const bool commits : {false, true}) {
        for (const SpaceStrategy strategy : {SpaceStrategy::managers, SpaceStrategy::pages}) {
            const Image image = file_with_chunks_in_advance(commits, strategy);
            for (const auto& each : kChanges) {
                SCOPED_TRACE(std::string(each.name) + (commits ? ", with commits" : "") + ", strategy " +
                             std::to_string(static_cast<int>(strategy)));
                try_change(image, commits, each.change);
            }
        }
    }
}

}  // namespace

#endif
