// Virtual datasets beside libhdf5: random mappings of sources that are missing, smaller or larger than they were when
// they were mapped, of other types, in the same file or others, and that change between reads.
//
//   h5mote_virtual [--seed N] [--count N] [--least N]
//
// libhdf5 makes the files. The extents that both libraries find must be equal in both views. What is read must be what
// a model says; so must be what libhdf5 reads, unless it refuses or goes beyond the data of a source that became
// smaller (1.10 then reads what it happens to find, or crashes). h5mote also writes what it read, which must succeed
// just if each element has a source. Each run is a process of its own.
#include "run_options.hpp"
#include "selection.hpp"
#include "virtual_draw.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace h5mote;
using namespace differential;

namespace {

struct Totals {
    unsigned extents = 0;   // compared
    unsigned compared = 0;  // reads of both libraries
    unsigned beyond = 0;    // reads of elements beyond a source, of h5mote only
    unsigned refused = 0;   // reads that libhdf5 refuses, but not the model
    unsigned writes = 0;
    unsigned crashes = 0;  // of libhdf5
    unsigned failures = 0;
};

// h5mote's side: the file stays open as long as nothing else changes it.
class Ours {
public:
    void open() {
        data_ = Dataset();
        if (open_) {
            return;
        }
        same(driver_.open("main.h5", PosixDriver::Mode::read_write), "open the driver");
        opener_.allow_writing();
        FileAccess access;
        access.opener = &opener_;
        auto opened = File::open(library_, driver_, access);
        same(opened.status(), "open the file");
        file_ = static_cast<File&&>(*opened);
        open_ = true;
    }
    // Another handle of the dataset may be open, and its extent is determined anew all the same.
    Dataset& dataset() {
        auto opened = file_.root().open_dataset("v");
        same(opened.status(), "open the dataset");
        data_ = static_cast<Dataset&&>(*opened);
        return data_;
    }
    void close() {
        same(data_.close(), "close the dataset");
        same(file_.close(), "close the file");
        same(driver_.close(), "close the driver");
        open_ = false;
    }
    Library& library() { return library_; }
    static void same(Status status, const char* what, Status expected = Status::ok) {
        if (status != expected) {
            differ(std::string(what) + ": " + to_string(status) + ", not " + to_string(expected));
        }
    }

private:
    MallocAllocator memory_;
    NullPort port_;
    Library library_{memory_, port_, {}, formats::all};
    PosixDriver driver_;
    PosixOpener opener_{memory_, driver_, "main.h5"};
    File file_;
    Dataset data_;
    bool open_ = false;
};

std::string values_text(const std::vector<std::int32_t>& values) {
    std::string text;
    for (const std::int32_t value : values) {
        text += " " + std::to_string(value);
    }
    return text;
}

void compare(const std::vector<std::int32_t>& read, const std::vector<std::int32_t>& expected, const char* what) {
    if (read != expected) {
        differ(std::string(what) + ":" + values_text(read) + ", not" + values_text(expected));
    }
}

Bytes bytes_of(std::vector<std::int32_t>& values) {
    return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(std::int32_t)};
}

// The extent that libhdf5 finds, and what it reads; nothing if it refuses to.
struct Theirs {
    Id file, data;
    Sizes extent;

    explicit Theirs(const View& view) {
        const Alone alone;
        file = DIFFERENTIAL_ID(H5Fopen("main.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
        const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_ACCESS));
        DIFFERENTIAL_OK(H5Pset_virtual_view(list, static_cast<H5D_vds_view_t>(view.view)));
        DIFFERENTIAL_OK(H5Pset_virtual_printf_gap(list, view.gap));
        data = DIFFERENTIAL_ID(H5Dopen2(file, "v", list));
        const Id space = DIFFERENTIAL_ID(H5Dget_space(data));
        hsize_t dims[2];
        const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
        extent.assign(dims, dims + rank);
    }
    bool read(std::vector<std::int32_t>& values) const {
        const Alone alone;
        return H5Dread(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
    }
};

// Reads a part, and writes it back.
void compare_part(Random& random, Ours& ours, Dataset& data, const Sizes& extent, const Expected& expected,
                  Totals& totals) {
    const Pick pick = Pick::random(random, extent, false);
    SelectionSet set(ours.library());
    const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(extent.data(), extent.size()));
    const Selection selection = pick.view(set, space);
    std::vector<std::int32_t> part;
    bool writable = true;
    for (const std::uint64_t element : pick.elements(extent)) {
        part.push_back(expected.values[element]);
        writable = writable && expected.written[element];
    }
    // Into, and from, a part of memory.
    const Sizes room = {part.size() + random.between(1, 9)};
    const Pick places = Pick::random_line(random, room[0], part.size());
    SelectionSet unused(ours.library());
    const Dataspace memory = Dataspace::simple({room[0]});
    const Selection in_memory = places.view(unused, memory);
    std::vector<std::int32_t> wanted(room[0], 99);
    std::size_t next = 0;
    for (const std::uint64_t place : places.elements(room)) {
        wanted[place] = part[next++];
    }
    std::vector<std::int32_t> values(room[0], 99);
    Ours::same(data.read(selection, datatype_of<std::int32_t>(), memory, in_memory, bytes_of(values)), "read a part");
    compare(values, wanted, ("a part, " + pick.text() + " to " + places.text()).c_str());
    // What is written to other files is made durable, which takes its time.
    if (random.one_in(5)) {
        Ours::same(data.write(selection, datatype_of<std::int32_t>(), memory, in_memory, bytes_of(values)),
                   "write a part", writable ? Status::ok : Status::not_found);
        ++totals.writes;
    }
}

void compare_view(Random& random, const VirtualDraw& draw, Ours& ours, const View& view, Totals& totals) {
    const Theirs theirs(view);
    Dataset& data = ours.dataset();
    Ours::same(data.set_virtual_view(view.view, view.gap), "set the view");
    Dataspace space;
    Ours::same(data.dataspace(space), "dataspace");
    const Sizes extent(space.dims().begin(), space.dims().end());
    if (extent != theirs.extent) {
        differ("extent: " + text_of(extent) + ", libhdf5 finds " + text_of(theirs.extent));
    }
    ++totals.extents;
    const Expected expected = draw.expected(extent, view);
    std::vector<std::int32_t> values(expected.values.size());
    if (values.empty()) {
        return;
    }
    const Status status = data.read(Selection::all(), datatype_of<std::int32_t>(), bytes_of(values));
    // libhdf5 does not stay within its own data, or reads no sources that do not count for the extent.
    const bool alone = !expected.refused && ((expected.beyond && !draw.regular()) || expected.behind);
    std::vector<std::int32_t> by_them(values.size());
    const bool read = !alone && theirs.read(by_them);
    if (read && expected.refused && !expected.behind) {
        differ("libhdf5 reads what the model refuses: " + values_text(by_them));
    }
    if (read && !expected.refused) {
        compare(by_them, expected.values, "libhdf5 reads");
    }
    totals.beyond += alone ? 1 : 0;
    totals.refused += read || alone || expected.refused ? 0 : 1;
    totals.compared += read ? 1 : 0;
    Ours::same(status, "read", expected.refused ? Status::corrupt_file : Status::ok);
    if (!expected.refused) {
        compare(values, expected.values, "read");
        compare_part(random, ours, data, extent, expected, totals);
    }
}

void run(std::uint64_t seed, Totals& totals) {
    Random random(seed);
    VirtualDraw draw(random);
    draw.make(random);
    Ours ours;
    for (std::uint64_t sessions = random.between(1, 4); sessions > 0; --sessions) {
        ours.open();
        for (const VirtualView view : {VirtualView::first_missing, VirtualView::last_available}) {
            compare_view(random, draw, ours, {view, random.below(3)}, totals);
        }
        if (sessions == 1 || draw.same_file() || random.one_in(4)) {
            ours.close();
        }
        if (sessions > 1) {
            const Alone alone;
            draw.change(random);
        }
    }
}

void empty_folder() {
    for (const auto& entry : std::filesystem::directory_iterator(".")) {
        std::filesystem::remove(entry.path());
    }
}

// Runs a seed in a process of its own.
void run_apart(std::uint64_t seed, Totals& totals) {
    int ends[2];
    if (::pipe(ends) != 0) {
        std::abort();
    }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        Totals counts;
        try {
            run(seed, counts);
        } catch (const Difference& difference) {
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), difference.text.c_str());
            std::fflush(stdout);
            ++counts.failures;
        }
        ::_exit(::write(ends[1], &counts, sizeof counts) == static_cast<ssize_t>(sizeof counts) ? 0 : 3);
    }
    ::close(ends[1]);
    Totals counts;
    const bool ended = ::read(ends[0], &counts, sizeof counts) == static_cast<ssize_t>(sizeof counts);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    empty_folder();
    if (Alone::was()) {
        ++totals.crashes;
    } else if (!ended || status != 0) {
        std::printf("seed %llu: crash\n", static_cast<unsigned long long>(seed));
        ++totals.failures;
    }
    totals.extents += counts.extents;
    totals.compared += counts.compared;
    totals.beyond += counts.beyond;
    totals.refused += counts.refused;
    totals.writes += counts.writes;
    totals.failures += counts.failures;
}

}  // namespace

int main(int count, char** arguments) {
    const auto [seed, runs, least] = run_options(count, arguments, 1000);
    ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    prepare_libhdf5();
    const std::filesystem::path folder = "virtual." + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
    Totals totals;
    for (std::uint64_t i = 0; i < runs && totals.failures < 10; ++i) {
        run_apart(seed + i, totals);
    }
    std::filesystem::current_path("..");
    std::filesystem::remove_all(folder);
    std::printf(
        "%u extents, %u reads and %u writes compared; %u reads beyond sources by h5mote alone, %u that libhdf5 "
        "refuses, "
        "%u crashes of libhdf5; %u failures\n",
        totals.extents, totals.compared, totals.writes, totals.beyond, totals.refused, totals.crashes, totals.failures);
    return totals.failures == 0 && totals.compared >= least ? 0 : 1;
}
