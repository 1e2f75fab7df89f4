// The power fails after every operation of a logger on its storage, within every write of several sectors, and with
// any of the operations since the last sync lost: what a flush acknowledged is there, and logging goes on.
//
// With H5MOTE_EXPECT_LOSSES set it is the other way round: a build that leaves out one rule of the order must lose
// something. H5MOTE_POWERCUT_SAMPLES names a folder for a sample of the files, which check_samples.py opens with h5py.
#include "recording_driver.hpp"
#include "workload.hpp"

#include <h5mote/check.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = RecordingDriver::Image;
using Operation = DriverOperation;
constexpr std::uint32_t kSector = 512;
// Up to so many operations between two syncs every subset of them is tried.
constexpr std::size_t kAllSubsets = 5;

// What was acknowledged once that many operations were done.
struct Acknowledged {
    std::size_t operations;
    Model model;
};

class FoundProblems final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        // How many blocks an extensible array has is counted by a write of its own, and nobody asks.
        if (!problem.note && problem.kind != ProblemKind::statistics) {
            text += "problem " + std::to_string(static_cast<int>(problem.kind)) + " of part " +
                    std::to_string(static_cast<int>(problem.part)) + " at " + std::to_string(problem.address) + ", " +
                    std::to_string(problem.number) + "; ";
        }
    }
    std::string text;
};

class Cuts {
public:
    Cuts(const std::string& name, const WorkloadOptions& options) : name_(name) {
        GrowingMemoryDriver storage(memory_);
        RecordingDriver recorder(storage);
        NullPort port;
        Library library{memory_, port, all_filters()};
        Workload workload(library, recorder, options);
        workload.on_acknowledged = [&] {
            acknowledged_.push_back({recorder.operations().size(), workload.acknowledged});
        };
        EXPECT_TRUE(workload.run());
        attempted_ = workload.attempted;
        operations_ = recorder.operations();
    }

    // Tries every cut. `samples` of them are kept as files.
    void run(std::size_t samples) {
        const std::size_t every = samples == 0 ? 0 : std::max<std::size_t>(operations_.size() / samples, 1);
        Image synced;                      // as of the last sync
        std::vector<std::size_t> pending;  // operations since
        Image image;                       // with all of them
        check(image, 0, "nothing");
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            const Operation& operation = operations_[i];
            if (operation.kind == Operation::Kind::sync) {
                subsets(synced, pending, i);
                synced = image;
                pending.clear();
                continue;
            }
            tears(image, synced, i);
            RecordingDriver::apply(image, operation);
            pending.push_back(i);
            check(image, i + 1, "prefix");
            if (every != 0 && i % every == every - 1) {
                keep(image, i + 1);
            }
        }
        subsets(synced, pending, operations_.size());
        std::printf("%s: %zu operations, %zu cuts, %zu lost\n", name_.c_str(), operations_.size(), cuts_, lost_);
    }

    std::size_t cuts() const { return cuts_; }
    std::size_t lost() const { return lost_; }

private:
    const Acknowledged* known(std::size_t operations) const {
        const Acknowledged* last = nullptr;
        for (const Acknowledged& each : acknowledged_) {
            if (each.operations <= operations) {
                last = &each;
            }
        }
        return last;
    }

    void check(const Image& image, std::size_t operations, const std::string& what) {
        GrowingMemoryDriver storage(memory_);
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        const Acknowledged* last = known(operations);
        std::string bad = structure(storage, "");
        const std::string lost = verify(storage, last == nullptr ? Model() : last->model, attempted_, last != nullptr);
        bad += lost;
        if (bad.empty() && cuts_ % 4 == 0) {
            bad = structure(storage, "after resuming: ");
        }
        ++cuts_;
        if (!bad.empty() && ++lost_ <= 5) {
            std::printf("  %s: cut after %zu, %s: %s\n", name_.c_str(), operations, what.c_str(), bad.c_str());
        }
    }

    // What check_file() finds, first as the cut left it, then when work went on.
    std::string structure(Driver& storage, const char* when) {
        NullPort port;
        Library library{memory_, port, all_filters()};
        FileAccess access;
        access.read_only = true;
        Result<File> file = File::open(library, storage, access);
        if (!file) {
            return {};  // verify() says whether it should
        }
        FoundProblems found;
        CheckOptions options;
        options.memory = std::size_t{1} << 16;
        options.data = false;  // verify() reads all of it
        const Status status = check_file(*file, options, found);
        EXPECT_EQ(file->close(), Status::ok);
        if (status != Status::ok) {
            return std::string("cannot be checked: ") + to_string(status);
        }
        return found.text.empty() ? found.text : when + found.text;
    }

    // Operation i arrives in part: its first sectors, or its last ones.
    void tears(const Image& before, const Image& synced, std::size_t i) {
        const Operation& operation = operations_[i];
        if (operation.kind != Operation::Kind::write) {
            return;
        }
        for (std::size_t at = kSector - operation.address % kSector; at < operation.bytes.size(); at += kSector) {
            Operation tail = operation;
            tail.address += at;
            tail.bytes.erase(tail.bytes.begin(), tail.bytes.begin() + static_cast<std::ptrdiff_t>(at));
            for (const Image* base : {&before, &synced}) {
                Image image = *base;
                RecordingDriver::apply(image, operation, at);
                check(image, i, "torn at " + std::to_string(at));
                image = *base;
                RecordingDriver::apply(image, tail);
                check(image, i, "only from " + std::to_string(at));
            }
        }
    }

    // Of the operations since the last sync some arrived and others not.
    void subsets(const Image& synced, const std::vector<std::size_t>& pending, std::size_t operations) {
        const auto try_one = [&](const auto& arrived, const std::string& what) {
            Image image = synced;
            for (std::size_t n = 0; n < pending.size(); ++n) {
                if (arrived(n)) {
                    RecordingDriver::apply(image, operations_[pending[n]]);
                }
            }
            check(image, operations, what);
        };
        if (pending.size() <= kAllSubsets) {
            for (unsigned mask = 0; mask + 1 < 1U << pending.size(); ++mask) {
                try_one([&](std::size_t n) { return (mask >> n & 1U) != 0; }, "subset " + std::to_string(mask));
            }
            return;
        }
        for (std::size_t one = 0; one < pending.size(); ++one) {
            try_one([&](std::size_t n) { return n != one; }, "without " + std::to_string(pending[one]));
            try_one([&](std::size_t n) { return n == one; }, "only " + std::to_string(pending[one]));
            try_one([&](std::size_t n) { return n >= one; }, "from " + std::to_string(pending[one]));
        }
        try_one([](std::size_t) { return false; }, "none");
    }

    void keep(const Image& image, std::size_t operations) {
        const char* folder = std::getenv("H5MOTE_POWERCUT_SAMPLES");
        const Acknowledged* last = known(operations);
        if (folder == nullptr || last == nullptr) {
            return;
        }
        const std::string path = std::string(folder) + "/" + name_ + "-" + std::to_string(operations);
        FILE* file = std::fopen((path + ".h5").c_str(), "wb");
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(std::fwrite(image.data(), 1, image.size(), file), image.size());
        EXPECT_EQ(std::fclose(file), 0);
        file = std::fopen((path + ".expect").c_str(), "w");
        ASSERT_NE(file, nullptr);
        for (const std::string& group : last->model.groups) {
            std::fprintf(file, "group %s\n", group.c_str());
        }
        for (const auto& [log, rows] : last->model.logs) {
            std::fprintf(file, "log %s %llu\n", log.c_str(), static_cast<unsigned long long>(rows));
        }
        for (const auto& [key, count] : last->model.values) {
            std::fprintf(file, "value %s", key.c_str());
            for (std::size_t n = count - 1; n < attempted_.values[key]; ++n) {
                std::fprintf(file, " %d", attribute_value(key, n));
            }
            std::fprintf(file, "\n");
        }
        EXPECT_EQ(std::fclose(file), 0);
    }

    std::string name_;
    MallocAllocator memory_;
    std::vector<Acknowledged> acknowledged_;
    std::vector<Operation> operations_;
    Model attempted_;
    std::size_t cuts_ = 0;
    std::size_t lost_ = 0;
};

std::size_t total_lost;

void cut(const char* name, const WorkloadOptions& options, std::size_t floor, std::size_t samples = 0) {
    Cuts cuts(name, options);
    cuts.run(samples);
    total_lost += cuts.lost();
    if (std::getenv("H5MOTE_EXPECT_LOSSES") == nullptr) {
        EXPECT_GE(cuts.cuts(), floor);
        EXPECT_EQ(cuts.lost(), 0U);
    }
}

WorkloadOptions logger(unsigned flush_rows) {
    WorkloadOptions options;
    options.rows = 200;
    options.flush_rows = flush_rows;
    options.segment_rows = 40;
    return options;
}

WorkloadOptions compressed(unsigned flush_rows) {
    WorkloadOptions options = logger(flush_rows);
    options.filtered = true;
    return options;
}

}  // namespace

TEST(PowerCut, LoggerEveryRow) { cut("logger-1", logger(1), 1600, 40); }
TEST(PowerCut, LoggerEverySixteenRows) { cut("logger-16", logger(16), 1150, 40); }
TEST(PowerCut, CompressedEveryRow) { cut("compressed-1", compressed(1), 2400, 40); }
TEST(PowerCut, CompressedEverySixteenRows) { cut("compressed-16", compressed(16), 1500, 40); }

// A chunk a row: through all levels of the index, to data blocks with pages.
TEST(PowerCut, ManyChunks) {
    WorkloadOptions options = logger(1);
    options.chunk_rows = 1;
    options.rows = 260;
    options.segment_rows = 0;
    options.reserve = 48;  // so that pages are changed that exist already
    cut("chunks", options, 2800, 20);
}
TEST(PowerCut, ManyCompressedChunks) {
    WorkloadOptions options = compressed(1);
    options.chunk_rows = 1;
    options.rows = 260;
    options.segment_rows = 0;
    cut("compressed-chunks", options, 4600, 20);
}
TEST(PowerCut, Sessions) {
    WorkloadOptions options = logger(6);
    options.rows = 30;
    options.segment_rows = 15;
    options.sessions = 5;
    options.track_order = true;
    options.sizeof_addr = 4;
    cut("sessions", options, 1700, 20);
    options.sizeof_addr = 8;
    options.filtered = true;
    cut("compressed-sessions", options, 2000, 20);
}

// Last, in the order of this file.
TEST(PowerCut, LossesAreSeen) {
    if (std::getenv("H5MOTE_EXPECT_LOSSES") != nullptr) {
        std::printf("%zu losses\n", total_lost);
        EXPECT_GT(total_lost, 0U);
    }
}
