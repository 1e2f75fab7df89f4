// A family of files in memory whose calls can fail, and the rows that tests of families log.
#pragma once

#include "forwarding_driver.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/family.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace h5mote_test {

using namespace h5mote;

/// What all members of a family share: counts their calls, and fails the k-th, alone or with all later ones.
struct FamilyFaults {
    void arm(unsigned which, bool all_later = false) {
        at = which;
        persistent = all_later;
        calls = failures = 0;
    }
    bool fails() {
        ++calls;
        const bool fail = at != 0 && (persistent ? calls >= at : calls == at);
        failures += fail ? 1 : 0;
        return fail;
    }
    unsigned at = 0;
    bool persistent = false;
    unsigned calls = 0;
    unsigned failures = 0;
    std::vector<std::size_t> synced;
};

class Member final : public ForwardingDriver {
public:
    Member(Driver& storage, FamilyFaults& faults, std::size_t index)
        : ForwardingDriver(storage), faults_(faults), index_(index) {}
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::read(usage, address, to);
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::write(usage, address, from);
    }
    Status truncate(std::uint64_t size) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::truncate(size);
    }
    Status end_of_file(std::uint64_t& size) noexcept override {
        return faults_.fails() ? Status::io_error : ForwardingDriver::end_of_file(size);
    }
    Status sync() noexcept override {
        faults_.synced.push_back(index_);
        return faults_.fails() ? Status::io_error : ForwardingDriver::sync();
    }
    Capabilities capabilities() const noexcept override {
        Capabilities result = ForwardingDriver::capabilities();
        result.atomic_unit = unit;
        result.sync_is_commit = commits;
        return result;
    }
    std::uint32_t unit = 512;
    bool commits = false;

private:
    Status do_lock(bool /*exclusive*/) noexcept override { return Status::ok; }
    Status do_unlock() noexcept override { return Status::ok; }

    FamilyFaults& faults_;
    std::size_t index_;
};

/// A family in memory that makes its members.
class Members final : public FamilyMembers {
public:
    explicit Members(std::size_t limit = ~std::size_t{0}) : limit_(limit) {}
    Status member(std::uint32_t index, Driver*& driver) noexcept override {
        if (index >= members.size()) {
            return Status::not_found;
        }
        driver = members[index].get();
        return faults.fails() ? Status::busy : Status::ok;
    }
    Status make(std::uint32_t index, Driver*& driver) noexcept override {
        EXPECT_EQ(index, members.size());
        if (faults.fails()) {
            return Status::io_error;
        }
        if (members.size() == most) {
            return Status::no_space;
        }
        storages.push_back(std::make_unique<GrowingMemoryDriver>(heap_, limit_));
        members.push_back(std::make_unique<Member>(*storages.back(), faults, index));
        driver = members.back().get();
        return Status::ok;
    }
    /// As after the program has ended: nobody has a lock any more.
    void reopen() {
        for (std::size_t i = 0; i < members.size(); ++i) {
            members[i] = std::make_unique<Member>(*storages[i], faults, i);
        }
    }
    std::vector<std::size_t> sizes() const {
        std::vector<std::size_t> result;
        for (const auto& storage : storages) {
            result.push_back(storage->contents().size());
        }
        return result;
    }

    FamilyFaults faults;
    std::size_t most = 100000;
    std::vector<std::unique_ptr<GrowingMemoryDriver>> storages;
    std::vector<std::unique_ptr<Member>> members;

private:
    MallocAllocator heap_;
    std::size_t limit_;
};

inline constexpr int kRows = 400;

inline Status append(File& file, int from) {
    DatasetCreate create;
    create.chunk = {50};
    auto rows = file.root().open_or_create_dataset<std::int32_t>("rows", create);
    H5MOTE_TRY(rows.status());
    for (int i = 0; i < kRows; ++i) {
        H5MOTE_TRY(rows->append(from + i));
    }
    return rows->close();
}

inline void expect_rows(File& file, int count) {
    auto rows = file.root().open_dataset("rows");
    ASSERT_EQ(rows.status(), Status::ok);
    std::vector<std::int32_t> found(static_cast<std::size_t>(count), -1);
    ASSERT_EQ(rows->read(Selection::all(), datatype_of<std::int32_t>(),
                         {reinterpret_cast<std::byte*>(found.data()), found.size() * 4}),
              Status::ok);
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(found[static_cast<std::size_t>(i)], i);
    }
    const Findings findings = findings_in(file);
    EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
}

}  // namespace h5mote_test
