// Power cuts within a series of changes: after a cut within any write, the file must be as before the change or after
// it.
#pragma once

#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "promising_driver.hpp"
#include "recording_driver.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace h5mote_test {

using namespace h5mote;
using Image = RecordingDriver::Image;
using Operation = DriverOperation;
inline constexpr auto kByte = make_integer(1, false);
inline constexpr const Filter* kFilters[] = {&fletcher32_filter};
inline constexpr std::uint32_t kUnits[] = {128, 256, 512, 4096};

inline FileAccess large_cache() {
    FileAccess access;
    access.metadata_cache = 16384;
    return access;
}

inline Status set(Object& object, const char* name, std::size_t size, int value) {
    const std::vector<std::byte> bytes(size, static_cast<std::byte>(value));
    const std::uint64_t dims[] = {size};
    return object.write_attribute(name, kByte.view(), Dataspace::simple(dims), {bytes.data(), bytes.size()});
}

// Returns as text the value that all bytes of an attribute have, "torn" if they differ, or the error of reading them.
inline std::string get(const Object& object, const char* name, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const Status status = object.read_attribute(name, kByte.view(), {bytes.data(), bytes.size()});
    for (const std::byte each : bytes) {
        if (each != bytes[0]) {
            return "torn ";
        }
    }
    return status == Status::ok ? std::to_string(static_cast<int>(bytes[0])) + " "
                                : std::string(to_string(status)) + " ";
}

// Describes the content of a file as text, for comparison.
using Describe = std::function<std::string(File&)>;

inline std::string describe(const Image& image, const Describe& what) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters};
    GrowingMemoryDriver copy(memory);
    EXPECT_EQ(copy.assign({image.data(), image.size()}), Status::ok);
    FileAccess access = large_cache();
    access.read_only = true;
    auto file = File::open(library, copy, access);
    return file.status() == Status::ok ? what(*file) : std::string(to_string(file.status()));
}

// Records the changes of a file: after which operation of the driver each was durable, and what the file then held.
class Story {
public:
    Story(RecordingDriver& recorder, Describe what) : recorder_(recorder), what_(std::move(what)) {}

    // Flushes one change and notes what the file holds.
    void change(File& file, Status status) {
        ASSERT_EQ(status, Status::ok);
        ASSERT_EQ(file.flush(), Status::ok);
        const std::size_t done = recorder_.operations().size();
        chapters_.push_back({done, describe(recorder_.image(done), what_)});
    }
    // Cuts the power in each operation: torn at each unit, after all earlier operations or only those before the last
    // sync.
    std::size_t cut(std::uint32_t unit) const {
        const auto& operations = recorder_.operations();
        Image synced = recorder_.initial();
        Image image = synced;
        std::size_t cuts = 0;
        std::size_t now = 0;
        for (std::size_t i = 0; i < operations.size() && !testing::Test::HasFailure(); ++i) {
            while (now + 1 < chapters_.size() && chapters_[now + 1].operations <= i) {
                ++now;
            }
            const bool begun = chapters_[now].operations <= i;
            const auto check = [&](const Image& cut) {
                if (begun) {
                    ++cuts;
                    const std::string found = describe(cut, what_);
                    const Chapter& next = chapters_[now + 1 < chapters_.size() ? now + 1 : now];
                    EXPECT_TRUE(found == chapters_[now].text || found == next.text)
                        << "unit " << unit << ", operation " << i << ", chapter " << now << ":\n"
                        << found << "\nis neither\n"
                        << chapters_[now].text << "\nnor\n"
                        << next.text;
                }
            };
            if (operations[i].kind == Operation::Kind::sync) {
                synced = image;
                continue;
            }
            for (const std::size_t length : recorder_.tears(i, unit)) {
                for (const Image* base : {&image, &synced}) {
                    Image torn = *base;
                    RecordingDriver::apply(torn, operations[i], length);
                    check(torn);
                }
            }
            Image alone = synced;
            RecordingDriver::apply(alone, operations[i]);
            check(alone);
            RecordingDriver::apply(image, operations[i]);
            check(image);
        }
        return cuts;
    }

private:
    struct Chapter {
        std::size_t operations;
        std::string text;
    };
    RecordingDriver& recorder_;
    Describe what_;
    std::vector<Chapter> chapters_;
};

// A recorded storage in memory that promises atomic units of `unit` bytes.
struct Recorded {
    explicit Recorded(std::uint32_t unit) : promising(storage, with_unit(unit)), recorder(promising) {}

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, kFilters};
    GrowingMemoryDriver storage{memory};
    PromisingDriver promising;
    RecordingDriver recorder;
};

}  // namespace h5mote_test
