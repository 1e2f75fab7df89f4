// What tests of copies have in common: two files in memory, which every test finds sound when it ends.
#pragma once

#include <h5mote/copy.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "sound.hpp"

#include <gtest/gtest.h>

#include <string>

namespace h5mote_test {

using namespace h5mote;

inline constexpr const Filter* kCopyFilters[] = {&shuffle_filter, &deflate_filter};

struct CopyFiles : public ::testing::Test {
    CopyFiles() : library(memory, port, kCopyFilters), storage(memory), other_storage(memory) {
        FileAccess access;
        access.metadata_cache = 4096;
        access.chunk_cache = 2048;
        FileCreate create;
        create.track_link_order = true;
        auto made = File::create(library, storage, access, create);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
        root = file.root();
        auto second = File::create(library, other_storage, access);
        EXPECT_EQ(second.status(), Status::ok);
        other = static_cast<File&&>(*second);
        other_root = other.root();
    }
    ~CopyFiles() override {
        EXPECT_TRUE(sound(file));
        EXPECT_TRUE(sound(other));
        EXPECT_EQ(file.close(), Status::ok);
        EXPECT_EQ(other.close(), Status::ok);
    }
    static bool sound(File& checked) {
        EXPECT_EQ(checked.flush(), Status::ok);
        const Findings findings = findings_in(checked);
        EXPECT_TRUE(findings.none()) << "problem " << findings.last_kind << " at " << findings.last_address;
        return findings.none();
    }
    static std::int64_t order_of(Group& group, const std::string& name) {
        LinkIterator links(group);
        Link each;
        while (links.next(each) == Status::ok) {
            if (each.name() == name) {
                return each.order();
            }
        }
        return -1;
    }
    static GroupCreate ordered() {
        GroupCreate create;
        create.track_link_order = true;
        return create;
    }
    template <typename T>
    static T made(Result<T>&& result) {
        EXPECT_EQ(result.status(), Status::ok);
        return static_cast<T&&>(*result);
    }
    std::uint64_t lost(File& checked) {
        EXPECT_EQ(checked.flush(), Status::ok);
        CheckSummary summary;
        struct Ignore final : CheckReporter {
            void problem(const Problem&) noexcept override {}
        } reporter;
        EXPECT_EQ(check_file(checked, {}, reporter, &summary), Status::ok);
        return summary.lost;
    }

    MallocAllocator memory;
    NullPort port;
    Library library;
    GrowingMemoryDriver storage;
    GrowingMemoryDriver other_storage;
    File file;
    File other;
    Group root;
    Group other_root;
};

}  // namespace h5mote_test
