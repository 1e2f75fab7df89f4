#include "cuts.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace h5mote_test {

namespace {

std::size_t all_lost;

}  // namespace

bool long_run() { return std::getenv("H5MOTE_LONG") != nullptr; }
bool expects_losses() { return std::getenv("H5MOTE_EXPECT_LOSSES") != nullptr; }

void Tally::lost(const std::string& what) {
    ++all_lost;
    if (++lost_ <= 5) {
        std::printf("  %s: %s\n", name_.c_str(), what.c_str());
    }
}

bool Tally::is_new(std::uint64_t hash) {
    // All cuts are tried where a rule is left out, so that a loss is sure to be seen.
    static const std::uint64_t each = expects_losses() ? 1 : one_in("H5MOTE_POWERCUT_ONE_IN");
    return seen_.insert(hash).second && (each == 1 || hash % each == 0);
}

bool Tally::cuts_recovery(std::uint64_t hash, std::size_t one_in) noexcept {
    static const bool all = long_run();
    static const bool none = expects_losses();
    return !none && one_in != 0 && (all || hash / 1024 % one_in == 0);
}

bool Tally::enough() const noexcept { return expects_losses() && all_lost >= 3; }

void Tally::check(std::size_t floor) const {
    std::printf("%s: %zu cuts, %zu lost (%zu of them in recoveries, of %zu of %zu first cuts at every point)\n",
                name_.c_str(), cuts_, lost_, recovered_, recoveries_, cuts_ - recovered_);
    if (expects_losses()) {
        return;
    }
    if (std::getenv("H5MOTE_POWERCUT_ONE_IN") == nullptr) {
        EXPECT_GE(cuts_, floor);
    }
    EXPECT_EQ(lost_, 0U);
}

void Tally::add(const Tally& other) noexcept {
    cuts_ += other.cuts_;
    recovered_ += other.recovered_;
    recoveries_ += other.recoveries_;
    lost_ += other.lost_;
}

void Tally::write() const {
    const char* const report = std::getenv("H5MOTE_REPORT_DIR");
    if (report != nullptr && !expects_losses()) {
        const std::filesystem::path folder = std::filesystem::path(report) / "figures.d";
        std::filesystem::create_directories(folder);
        const std::string path = (folder / ("powercut_" + name_ + ".tsv")).string();
        FILE* const file = std::fopen(path.c_str(), "w");
        ASSERT_NE(file, nullptr);
        const auto figure = [&](const char* what, std::size_t number, const char* budget) {
            std::fprintf(file, "%s.%s\t%zu\tcuts\t%s\n", what, name_.c_str(), number, budget);
        };
        figure("cuts", cuts_, "");
        figure("cuts_in_recoveries", recovered_, "");
        figure("first_cuts", cuts_ - recovered_, "");
        figure("first_cuts_recovery_cut", recoveries_, "");
        figure("lost", lost_, "0");
        EXPECT_EQ(std::fclose(file), 0);
    }
}

namespace {

// After all tests of a program that leaves out a rule, expects that some test saw a loss.
class LossesAreSeen final : public testing::Environment {
    void TearDown() override {
        if (expects_losses()) {
            std::printf("%zu losses\n", all_lost);
            EXPECT_GT(all_lost, 0U);
        }
    }
};
testing::Environment* const environment = testing::AddGlobalTestEnvironment(new LossesAreSeen);

}  // namespace

}  // namespace h5mote_test
