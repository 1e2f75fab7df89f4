// Measures how far FlashDriver::worst_case() is above what calls really take.
//
//   flash_worst_case   writes $H5MOTE_REPORT_DIR/figures.d/worst_case.ratio.tsv
//
// Groups of writes, each with a sync, on chips of nine kinds that are half full or full, with and without bad blocks,
// after sessions that were killed and after power cuts. The figure is the largest ratio of the bound to the most that
// was seen, over all kinds of chips, sizes of groups, and kinds of operations. A call above its bound is a failure.
#include <h5mote/vfd/flash.hpp>

#include "flash_simulator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <random>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr int kBudget = 10;
constexpr unsigned kGroups = 2500;
constexpr unsigned kCosts = 4;  // programs, bytes programmed, reads, erases

struct Kind {
    FlashGeometry geometry;
    FlashFormat format;
    std::uint16_t changes;
    bool blank_is_unreadable;
};
const Kind kKinds[] = {
    {{48, 1024, 256, 1, 0xff}, {128, 12}, 16, false},      {{32, 1024, 1024, 4, 0x00}, {256, 20}, 8, false},
    {{32, 4096, 256, 1, 0xff}, {512, 12}, 32, false},      {{64, 2048, 256, 4, 0xff}, {512, 12}, 64, false},
    {{24, 4096, 256, 8, 0xff}, {256, 12}, 32, true},       {{24, 8192, 256, 256, 0xff}, {512, 12}, 32, false},
    {{32, 16384, 2048, 2048, 0xff}, {1024, 12}, 32, true}, {{40, 4096, 512, 32, 0x00}, {4096, 30}, 16, false},
    {{256, 4096, 256, 1, 0xff}, {512, 12}, 32, false},
};
struct Shape {
    std::uint32_t writes, bytes;
};
constexpr Shape kShapes[] = {{0, 0}, {1, 16}, {1, 512}, {4, 256}, {8, 2048}, {16, 8192}};

struct Most {
    std::uint64_t seen[kCosts]{};
    std::uint64_t bound[kCosts]{};
};

class Play {
public:
    Play(const Kind& kind, bool bad, unsigned percent)
        : chip_memory_(FlashSimulator::required_memory(kind.geometry) / 8 + 1),
          work_(FlashDriver::required_memory(kind.geometry, kind.format, {kind.changes, false}) / 8 + 1),
          chip_({kind.geometry, 0, true, kind.blank_is_unreadable}, bytes(chip_memory_)),
          driver_(chip_, bytes(work_)),
          options_{kind.changes, false},
          page_(kind.format.page_size),
          random_(7 + percent + (bad ? 1 : 0)) {
        if (bad) {
            chip_.set_bad(3);
            chip_.set_bad(kind.geometry.blocks - 2);
        }
        good_ = driver_.format(kind.format, options_) == Status::ok;
        pages_ = static_cast<std::uint32_t>(driver_.usage().capacity / page_ * percent / 100);
        rewrite_all();
    }

    /// False if a call failed, or cost more than was predicted.
    bool run(Most (&most)[std::size(kShapes)]) {
        for (unsigned group = 0; group < kGroups && good_; ++group) {
            if (group % 100 == 49) {
                rewrite_all();
                kill(8);
            } else if (group % 10 == 9) {
                kill(pages_);
            }
            const std::uint32_t shape = pick(std::size(kShapes));
            measure(kShapes[shape], most[shape], group % 50 == 20);
        }
        return good_;
    }

private:
    static Bytes bytes(std::vector<std::uint64_t>& memory) {
        return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
    }
    std::uint32_t pick(std::size_t below) { return static_cast<std::uint32_t>(random_() % below); }
    void check(Status status) { good_ = good_ && (status == Status::ok || status == Status::no_space); }
    Status write_page(std::uint32_t page) {
        return driver_.write(Usage::raw_data, std::uint64_t{page} * page_, {content_.data(), page_});
    }
    void mount() {
        chip_.cut_after(0, FlashCut::torn, 0);
        chip_.power_on(random_());
        good_ = good_ && driver_.mount(options_) == Status::ok;
    }

    // What lives lies in the oldest blocks then.
    void rewrite_all() {
        for (std::uint32_t page = 0; page < pages_; ++page) {
            if (page % 4 == 3 || write_page(page) != Status::ok) {
                check(driver_.sync());
                check(write_page(page));
            }
        }
        check(driver_.sync());
    }

    // A session that writes to the first `pages` pages, and is killed.
    void kill(std::uint32_t pages) {
        for (std::uint32_t n = pick(pages_); n > 0 && write_page(pick(std::min(pages, pages_))) == Status::ok; --n) {
        }
        mount();
    }

    std::uint64_t place(std::uint32_t how, std::uint32_t write, std::uint32_t size) {
        const std::uint32_t pages = pages_ - size / page_ - 2;
        switch (how) {
            case 0:  // anywhere
                return random_() % (std::uint64_t{pages} * page_);
            case 1:  // across the end of a page
                return std::uint64_t{1 + pick(pages)} * page_ - size / 2;
            case 2:  // each in a node of the map of its own
                return std::uint64_t{(write * 16 + pick(16)) % pages} * page_ + pick(page_ / 2);
            default:  // pages that change all the time
                return std::uint64_t{1 + (write + pick(2)) % pages} * page_ - (size + 1) / 2;
        }
    }

    void measure(Shape shape, Most& most, bool cut) {
        shape.bytes = std::min(shape.bytes, pages_ * page_ / 8);
        shape.writes = std::min(shape.writes, pages_ / 8 + 1);
        const std::uint32_t size = shape.writes == 0 ? 0 : shape.bytes / shape.writes;
        const FlashCost cost = driver_.worst_case(shape.writes, shape.bytes);
        const FlashCounts before = chip_.counts();
        if (cut) {
            chip_.cut_after(1 + pick(8), FlashCut::unstable, random_(), pick(40));
        }
        const std::uint32_t how = pick(4);
        for (std::uint32_t i = 0; i < shape.writes && chip_.powered(); ++i) {
            const Status status = driver_.write(Usage::raw_data, place(how, i, size), {content_.data(), size});
            good_ = good_ && (status == Status::ok || status == Status::no_space || !chip_.powered());
        }
        const Status status = chip_.powered() ? driver_.sync() : Status::io_error;
        if (!chip_.powered()) {
            mount();
            return;
        }
        chip_.cut_after(0, FlashCut::torn, 0);
        good_ = good_ && status == Status::ok;
        const FlashCounts after = chip_.counts();
        const std::uint64_t seen[kCosts] = {after.programs - before.programs,
                                            after.bytes_programmed - before.bytes_programmed,
                                            after.reads - before.reads, after.erases - before.erases};
        const std::uint64_t bound[kCosts] = {cost.programs, cost.programmed, cost.reads, cost.erases};
        for (unsigned i = 0; i < kCosts; ++i) {
            good_ = good_ && seen[i] <= bound[i];
            most.seen[i] = std::max(most.seen[i], seen[i]);
            most.bound[i] = std::max(most.bound[i], bound[i]);
        }
    }

    std::vector<std::uint64_t> chip_memory_, work_;
    FlashSimulator chip_;
    FlashDriver driver_;
    FlashOptions options_;
    std::uint32_t page_;
    std::uint32_t pages_ = 0;
    std::mt19937_64 random_;
    std::vector<std::byte> content_ = std::vector<std::byte>(8192);
    bool good_ = true;
};

}  // namespace

int main() {
    double ratio = 0;
    bool good = true;
    for (const Kind& kind : kKinds) {
        Most most[std::size(kShapes)];
        for (const bool bad : {false, true}) {
            for (const unsigned percent : {50U, 100U}) {
                good = Play(kind, bad, percent).run(most) && good;
            }
        }
        for (std::size_t s = 0; s < std::size(kShapes); ++s) {
            std::printf("blocks of %u, unit %u, %u writes, %u bytes:", kind.geometry.block_size,
                        kind.geometry.program_unit, kShapes[s].writes, kShapes[s].bytes);
            for (unsigned i = 0; i < kCosts; ++i) {
                const double each = static_cast<double>(most[s].bound[i]) /
                                    static_cast<double>(std::max<std::uint64_t>(most[s].seen[i], 1));
                ratio = std::max(ratio, each);
                std::printf(" %.1f", each);
            }
            std::printf("\n");
        }
    }
    std::printf("worst_case.ratio %.1f%s\n", ratio, good ? "" : ", and a call failed or cost more than its bound");
    if (const char* const report = std::getenv("H5MOTE_REPORT_DIR")) {
        const std::filesystem::path folder = std::filesystem::path(report) / "figures.d";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "worst_case.ratio.tsv")
            << std::fixed << std::setprecision(1) << "worst_case.ratio\t" << ratio << "\tratio\t" << kBudget << "\n";
    }
    return good && ratio <= kBudget ? 0 : 1;
}
