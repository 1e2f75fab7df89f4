// The size of files in which the same things are made and removed by h5mote and by libhdf5, with the same way to use
// space, over several sessions; and what each library says is free in the files of the other.
//
//   h5mote_space [--seed N] [--count N] [--least N]     writes $H5MOTE_REPORT_DIR/figures.d/differential_space.tsv
//
// libhdf5 1.10.8 may not read its own file again, or find contradictions in it: such runs are counted apart. It is not
// asked to flush a file that it goes on to change, which makes that worse.
//
// For each way to use space, all our files together may have 1.1 times the size of all of theirs. A single file may
// have more: it is counted if it has more than 1.1 times and kSlack bytes.
#include "hdf5_image.hpp"
#include "random.hpp"
#include "run_options.hpp"

#include <h5mote/check.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

using namespace h5mote;
using h5mote_test::Hdf5Id;

namespace {

constexpr double kRatio = 1.1;
// What does not grow with the file: the root group keeps its links in one header of several blocks, of which the first
// begins in a sector of its own, and so does the superblock's extension; each is placed so that one sector holds the
// bytes that change. That is at most a sector each for the two headers, the largest group's header, the header and the
// list of a manager.
constexpr unsigned kSlack = 5 * 512;

struct Draw {
    std::uint64_t seed;
    FileCreate create;
    unsigned sessions;
    unsigned steps;
};

// One creation or removal.
struct Step {
    enum class Kind { contiguous, chunked, group, attribute } kind;
    bool remove;
    std::string name;
    std::uint32_t size;
};

Draw draw_run(std::uint64_t seed) {
    differential::Random random(seed);
    Draw draw{};
    draw.seed = seed;
    static constexpr SpaceStrategy kStrategies[] = {SpaceStrategy::managers, SpaceStrategy::pages,
                                                    SpaceStrategy::aggregation, SpaceStrategy::none};
    draw.create.file_space = kStrategies[random.below(4)];
    draw.create.persist_free_space = draw.create.file_space <= SpaceStrategy::pages && random.below(3) != 0;
    draw.create.free_space_threshold = random.below(3) == 0 ? 64 : 1;
    draw.create.page_size = std::uint64_t{512} << random.below(4);
    draw.sessions = 2 + static_cast<unsigned>(random.below(4));
    draw.steps = 10 + static_cast<unsigned>(random.below(60));
    return draw;
}

// The steps of one session. `there`: what exists; the steps are valid in this order.
std::vector<Step> draw_steps(differential::Random& random, unsigned count, std::map<std::string, Step>& there) {
    std::vector<Step> steps;
    while (steps.size() < count) {
        const auto kind = static_cast<Step::Kind>(random.below(4));
        const std::string name = std::string(1, "cdga"[static_cast<int>(kind)]) + std::to_string(random.below(12));
        const auto old = there.find(name);
        static constexpr std::uint32_t kSizes[] = {16, 100, 700, 3000, 9000};
        const std::uint32_t size = kSizes[random.below(5)] + static_cast<std::uint32_t>(random.below(40));
        Step step{kind, old != there.end(), name, size};
        if (step.remove) {
            there.erase(old);
        } else {
            there[name] = step;
        }
        steps.push_back(step);
    }
    return steps;
}

std::vector<std::uint8_t> content(const Step& step) {
    std::vector<std::uint8_t> bytes(step.kind == Step::Kind::attribute ? 8 + step.size % 60 : step.size);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(i * 7 + step.size);
    }
    return bytes;
}

constexpr std::uint32_t kChunk = 256;

// ---- the two sides -----------------------------------------------------------------------------------------------

struct Sections {
    std::map<std::uint64_t, std::uint64_t> all;  // size by address
    bool operator==(const Sections& other) const { return all == other.all; }
    std::string text() const {
        std::string result;
        for (const auto& [address, size] : all) {
            result += " " + std::to_string(address) + "+" + std::to_string(size);
        }
        return result;
    }
};

class Ours {
public:
    explicit Ours(const FileCreate& create) : create_(create) {}

    std::string session(const std::vector<Step>& steps) {
        std::string bad;
        FileAccess access;
        access.metadata_cache = 65536;
        auto file = File::open_or_create(library_, storage, access, create_);
        if (!file) {
            return std::string("open: ") + to_string(file.status());
        }
        Group root = file->root();
        for (const Step& step : steps) {
            Status status = apply(root, step);
            status = status == Status::ok ? file->flush() : status;
            if (status != Status::ok) {
                return step.name + ": " + to_string(status);
            }
        }
        root.close();
        const Status closed = file->close();
        return closed == Status::ok ? "" : std::string("close: ") + to_string(closed);
    }

    // The sections that h5mote finds in a file, and whether check_file() finds it sound.
    std::string read(Driver& driver, Sections& sections) {
        struct Visitor final : SectionVisitor {
            explicit Visitor(Sections& to) : to_(to) {}
            Status section(Address address, std::uint64_t size) noexcept override {
                to_.all[address] = size;
                return Status::ok;
            }
            Sections& to_;
        } visitor(sections);
        struct Reporter final : CheckReporter {
            void problem(const Problem& problem) noexcept override {
                problems += problem.note ? 0 : 1;
                last = problem;
            }
            unsigned problems = 0;
            Problem last;
        } reporter;
        FileAccess access;
        access.read_only = true;
        auto file = File::open(library_, driver, access);
        if (!file) {
            return std::string("open: ") + to_string(file.status());
        }
        FreeSpaceInfo info;
        const Status status = file->free_space(info, &visitor);
        const Status checked = check_file(*file, {}, reporter);
        if (status != Status::ok || checked != Status::ok) {
            return std::string("free space: ") + to_string(status) + ", check: " + to_string(checked);
        }
        return reporter.problems == 0
                   ? ""
                   : "check: " + std::to_string(reporter.problems) + " problems, the last " +
                         std::to_string(static_cast<int>(reporter.last.kind)) + " of part " +
                         std::to_string(static_cast<int>(reporter.last.part)) + " at " +
                         std::to_string(reporter.last.address) + ", " + std::to_string(reporter.last.number);
    }

private:
    Status apply(Group& root, const Step& step) {
        if (step.kind == Step::Kind::attribute) {
            if (step.remove) {
                return root.remove_attribute(step.name);
            }
            return root.write_attribute(step.name, std::string_view(std::string(content(step).size(), 'a')));
        }
        if (step.remove) {
            return root.unlink(step.name);
        }
        if (step.kind == Step::Kind::group) {
            return root.create_group(step.name).status();
        }
        const std::vector<std::uint8_t> bytes = content(step);
        const ConstBytes rows{reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
        if (step.kind == Step::Kind::chunked) {
            DatasetCreate create;
            create.chunk = {kChunk};
            create.reserve = static_cast<std::uint32_t>(bytes.size());
            auto log = root.create_dataset<std::uint8_t>(step.name, create);
            return !log ? log.status() : log->append_records(rows.data(), rows.size());
        }
        const Dataspace space = Dataspace::simple({bytes.size()});
        auto dataset = root.create_dataset<std::uint8_t>(step.name, DatasetCreate(), space);
        return !dataset ? dataset.status()
                        : dataset->write(Selection::all(), Span<const std::uint8_t>(bytes.data(), bytes.size()));
    }

    FileCreate create_;
    MallocAllocator memory_;
    NullPort port_;
    Library library_{memory_, port_, {}};

public:
    GrowingMemoryDriver storage{memory_};
};

class Theirs {
public:
    explicit Theirs(const FileCreate& create) : create_(create) {}
    ~Theirs() { std::remove(name_.c_str()); }

    // False when libhdf5 cannot go on with its own file.
    bool session(const std::vector<Step>& steps) {
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        const Hdf5Id list(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        H5Pset_file_space_strategy(list, static_cast<H5F_fspace_strategy_t>(create_.file_space),
                                   create_.persist_free_space, create_.free_space_threshold);
        H5Pset_file_space_page_size(list, create_.page_size);
        const hid_t file = made_ ? H5Fopen(name_.c_str(), H5F_ACC_RDWR, access)
                                 : H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, list, access);
        made_ = true;
        bool good = file >= 0;
        for (const Step& step : steps) {
            good = good && apply(file, step);
        }
        return file >= 0 && H5Fclose(file) >= 0 && good;
    }
    std::uint64_t size() const { return std::filesystem::file_size(name_); }
    const std::string& name() const { return name_; }

    // The sections of a file on disk.
    static bool read(const std::string& name, Sections& sections) {
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        const ssize_t count = file < 0 ? -1 : H5Fget_free_sections(file, H5FD_MEM_DEFAULT, 0, nullptr);
        if (count < 0) {
            return false;
        }
        std::vector<H5F_sect_info_t> found(static_cast<std::size_t>(count));
        if (count > 0 && H5Fget_free_sections(file, H5FD_MEM_DEFAULT, found.size(), found.data()) < 0) {
            return false;
        }
        for (const H5F_sect_info_t& each : found) {
            sections.all[each.addr] = each.size;
        }
        return true;
    }

private:
    static bool apply(hid_t file, const Step& step) {
        if (step.kind == Step::Kind::attribute) {
            if (step.remove) {
                return H5Adelete(file, step.name.c_str()) >= 0;
            }
            const std::string text(content(step).size(), 'a');
            const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
            const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
            H5Tset_size(type, text.size());
            const Hdf5Id made(H5Acreate2(file, step.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            return made >= 0 && H5Awrite(made, type, text.data()) >= 0;
        }
        if (step.remove) {
            return H5Ldelete(file, step.name.c_str(), H5P_DEFAULT) >= 0;
        }
        if (step.kind == Step::Kind::group) {
            const Hdf5Id made(H5Gcreate2(file, step.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            return made >= 0;
        }
        const std::vector<std::uint8_t> bytes = content(step);
        const hsize_t size = bytes.size();
        const hsize_t chunk = kChunk;
        const hsize_t most = step.kind == Step::Kind::chunked ? H5S_UNLIMITED : size;
        const Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (step.kind == Step::Kind::chunked) {
            H5Pset_chunk(list, 1, &chunk);
        }
        const Hdf5Id space(H5Screate_simple(1, &size, &most), H5Sclose);
        const Hdf5Id made(H5Dcreate2(file, step.name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
                          H5Dclose);
        return made >= 0 && H5Dwrite(made, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
    }

    FileCreate create_;
    bool made_ = false;
    std::string name_ = "space_" + std::to_string(getpid()) + "_theirs.h5";
};

// ---- the comparison ----------------------------------------------------------------------------------------------

struct Totals {
    unsigned runs = 0;
    unsigned sessions = 0;
    unsigned spoiled = 0;  // runs that ended because libhdf5 could not go on with its own file
    unsigned sections = 0;
    unsigned failures = 0;
    struct Kind {
        unsigned files = 0;
        unsigned larger = 0;  // files that are larger than 1.1 times and kSlack bytes
        double worst = 0;     // ratio of the sizes of one file, apart from kSlack
        std::uint64_t ours = 0;
        std::uint64_t theirs = 0;
        double ratio() const {
            return static_cast<double>(ours) / static_cast<double>(std::max<std::uint64_t>(theirs, 1));
        }
    };
    std::map<std::string, Kind> kinds;
    double ratio() const {
        double most = 0;
        for (const auto& [name, kind] : kinds) {
            most = std::max(most, kind.ratio());
        }
        return most;
    }
};

std::string describe(const Draw& draw) {
    return "seed " + std::to_string(draw.seed) + ", strategy " +
           std::to_string(static_cast<int>(draw.create.file_space)) +
           (draw.create.persist_free_space ? ", recorded" : "") + ", threshold " +
           std::to_string(draw.create.free_space_threshold) + ", page " + std::to_string(draw.create.page_size);
}

void run(const Draw& draw, Totals& totals) {
    differential::Random random(draw.seed + 1000000);
    Ours ours(draw.create);
    Theirs theirs(draw.create);
    std::map<std::string, Step> there;
    ++totals.runs;
    const auto fail = [&](unsigned number, const std::string& what) {
        ++totals.failures;
        std::printf("%s, after session %u: %s\n", describe(draw).c_str(), number, what.c_str());
    };
    for (unsigned number = 1; number <= draw.sessions; ++number) {
        const std::vector<Step> steps = draw_steps(random, draw.steps, there);
        const std::string bad = ours.session(steps);
        if (!bad.empty()) {
            return fail(number, bad);
        }
        ++totals.sessions;
        const ConstBytes image = ours.storage.contents();
        Sections our_own;
        Sections our_own_by_them;
        const std::string unsound = ours.read(ours.storage, our_own);
        if (!unsound.empty()) {
            return fail(number, "our file: " + unsound);
        }
        const std::string copy = "space_" + std::to_string(getpid()) + "_ours.h5";
        std::FILE* const file = std::fopen(copy.c_str(), "wb");
        const bool written = file != nullptr && std::fwrite(image.data(), 1, image.size(), file) == image.size();
        const bool read = written && std::fclose(file) == 0 && Theirs::read(copy, our_own_by_them);
        std::remove(copy.c_str());
        if (!read || (draw.create.persist_free_space && !(our_own == our_own_by_them))) {
            return fail(number, read ? "our sections" + our_own.text() + ", libhdf5 finds" + our_own_by_them.text()
                                     : "libhdf5 does not read the sections of our file");
        }
        totals.sections += static_cast<unsigned>(our_own.all.size());
        if (!theirs.session(steps)) {
            ++totals.spoiled;
            return;
        }
        Sections their_own;
        Sections their_own_by_us;
        if (!Theirs::read(theirs.name(), their_own)) {
            ++totals.spoiled;
            return;
        }
        const std::vector<std::byte> their_image = [&] {
            std::ifstream stored(theirs.name(), std::ios::binary);
            const std::string text{std::istreambuf_iterator<char>(stored), std::istreambuf_iterator<char>()};
            const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
            return std::vector<std::byte>(begin, begin + text.size());
        }();
        MallocAllocator memory;
        GrowingMemoryDriver storage(memory);
        (void)storage.assign({their_image.data(), their_image.size()});
        const std::string wrong = ours.read(storage, their_own_by_us);
        if (!wrong.empty()) {
            return fail(number, "their file: " + wrong);
        }
        if (draw.create.persist_free_space && !(their_own == their_own_by_us)) {
            return fail(number, "their sections" + their_own.text() + ", h5mote finds" + their_own_by_us.text());
        }
        totals.sections += static_cast<unsigned>(their_own.all.size());
        const auto ours_size = static_cast<double>(image.size());
        const auto theirs_size = static_cast<double>(theirs.size());
        static constexpr const char* kNames[] = {"managers", "pages", "aggregation", "none"};
        Totals::Kind& kind = totals.kinds[std::string(kNames[static_cast<int>(draw.create.file_space)]) +
                                          (draw.create.persist_free_space ? "_recorded" : "")];
        ++kind.files;
        kind.larger += ours_size > kRatio * theirs_size + kSlack ? 1 : 0;
        kind.worst = std::max(kind.worst, (ours_size - kSlack) / theirs_size);
        kind.ours += image.size();
        kind.theirs += theirs.size();
    }
}

void report(const Totals& totals) {
    const char* const folder = std::getenv("H5MOTE_REPORT_DIR");
    if (folder == nullptr) {
        return;
    }
    const std::filesystem::path path = std::filesystem::path(folder) / "figures.d";
    std::filesystem::create_directories(path);
    std::FILE* const file = std::fopen((path / "differential_space.tsv").string().c_str(), "w");
    if (file != nullptr) {
        std::fprintf(file, "differential.space.ratio\t%.3f\tratio\t%.1f\n", totals.ratio(), kRatio);
        for (const auto& [name, kind] : totals.kinds) {
            std::fprintf(file, "differential.space.ratio.%s\t%.3f\tratio\t\n", name.c_str(), kind.ratio());
            std::fprintf(file, "differential.space.larger.%s\t%u\tfiles\t\n", name.c_str(), kind.larger);
        }
        std::fprintf(file, "differential.space.runs\t%u\truns\t\n", totals.runs);
        std::fprintf(file, "differential.space.spoiled_by_libhdf5\t%u\truns\t\n", totals.spoiled);
        std::fclose(file);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const auto [seed, runs, least] = differential::run_options(count, arguments, 300);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    Totals totals;
    for (std::uint64_t i = 0; i < runs && totals.failures < 10; ++i) {
        run(draw_run(seed + i), totals);
    }
    std::printf("%u runs, %u sessions, %u sections compared, %u runs spoiled by libhdf5, %u failures\n", totals.runs,
                totals.sessions, totals.sections, totals.spoiled, totals.failures);
    for (const auto& [name, kind] : totals.kinds) {
        std::printf("%s: %u files, %.3f of libhdf5's size, one file at most %.3f and %u bytes, %u larger than %.1f\n",
                    name.c_str(), kind.files, kind.ratio(), kind.worst, kSlack, kind.larger, kRatio);
    }
    if (totals.ratio() > kRatio) {
        ++totals.failures;
        std::printf("our files are larger than %.1f times those of libhdf5\n", kRatio);
    }
    report(totals);
    return totals.failures == 0 && totals.sessions >= least ? 0 : 1;
}
