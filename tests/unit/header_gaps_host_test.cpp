// Blocks of object headers have no gap beside a null message, wherever they lie and whatever is added to them and
// removed: libhdf5 1.14 refuses such blocks. check_file() finds them.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "forwarding_driver.hpp"
#include "sound.hpp"

#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// A storage of which one sector is written at once.
class Sectors final : public ForwardingDriver {
public:
    using ForwardingDriver::ForwardingDriver;
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.atomic_unit = 512;
        result.sync_is_commit = false;
        return result;
    }
};

class Changes {
public:
    Changes(Group& group, unsigned seed) : group_(group), random_(seed) {}

    void run() {
        switch (random_() % 6) {
            case 0:
            case 1: {
                const std::string value(random_() % 60, 'v');
                EXPECT_EQ(group_.write_attribute(name("a", 6), value.c_str()), Status::ok);
                return;
            }
            case 2:
                expect_gone(group_.remove_attribute(name("a", 6)));
                return;
            case 3:
                expect_gone(group_.unlink(name("l", 12)));
                return;
            default: {
                const std::string link = name("l", 12);
                const Status status = group_.create_soft_link(link, std::string(1 + random_() % 40, 't'));
                EXPECT_TRUE(status == Status::ok || status == Status::already_exists) << to_string(status);
            }
        }
    }

private:
    std::string name(const char* prefix, unsigned count) { return prefix + std::to_string(random_() % count); }
    static void expect_gone(Status status) {
        EXPECT_TRUE(status == Status::ok || status == Status::not_found) << to_string(status);
    }

    Group& group_;
    std::mt19937 random_;
};

TEST(HeaderGaps, AreNeverBesideNullMessages) {
    for (unsigned seed = 1; seed <= 60 && !HasFailure(); ++seed) {
        MallocAllocator malloc;
        NullPort port;
        Library library{malloc, port, {}, formats::all};
        GrowingMemoryDriver storage(malloc);
        Sectors sectors(storage);
        Driver& driver = seed % 2 == 0 ? static_cast<Driver&>(sectors) : storage;
        FileAccess access;
        auto file = File::create(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        // Headers begin at all kinds of offsets in a sector.
        ASSERT_EQ(file->root().write_attribute("pad", std::string(seed * 8, 'p').c_str()), Status::ok);
        for (const char* path : {"first", "second", "third"}) {
            auto group = file->root().create_group(path);
            ASSERT_EQ(group.status(), Status::ok);
            Changes changes(*group, seed);
            for (unsigned step = 0; step < 60; ++step) {
                changes.run();
            }
        }
        auto root = file->root();
        Changes changes(root, seed + 1000);
        for (unsigned step = 0; step < 60; ++step) {
            changes.run();
            ASSERT_EQ(file->flush(), Status::ok);
            ASSERT_TRUE(findings_in(*file).none()) << "seed " << seed << ", step " << step;
        }
        ASSERT_EQ(file->close(), Status::ok);
    }
}

}  // namespace

#endif
