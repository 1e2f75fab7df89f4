// Does the same work with h5mote and libhdf5 in one process (Google Benchmark); the ratio of the times is the figure.
//
//   bench [--benchmark_...]      prints times, writes ratio.*.host to $H5MOTE_REPORT_DIR/figures.d/bench.tsv
//   bench --append1 SUBJECT      appends 1000 rows one by one within append_rows(), for callgrind
//
// Repetitions of all benchmarks are interleaved at random and medians compared, so that a busy machine slows both.
// Works that change large files (change_workloads.hpp) are run three times each.
// Before anything is timed, every file that a benchmark writes is read by the other library and compared; the files
// with many datasets by libhdf5 only.
#include "read_workloads.hpp"
#include "work.hpp"
#include "workloads.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>

namespace {

using bench::expect;
using bench::Sample;
using bench::seconds_of;
using bench::Storage;
using bench::Subject;
using bench::Work;

constexpr unsigned kDatasets = 1000;
constexpr std::size_t kAppendRows = 16384;
constexpr std::size_t kReadRows = 65536;

std::vector<std::unique_ptr<Subject>> subjects;
std::vector<std::unique_ptr<bench::Reading>> readings;  // in the order of `subjects`
const char* const kReadFile = "bench_read.h5";
std::vector<Sample> rows;

std::string path_of(const Subject& subject, const std::string& what) {
    return "bench_" + what + "_" + subject.name() + ".h5";
}

bool equal_rows(const Sample* got, std::size_t count, std::size_t stride) {
    for (std::size_t i = 0; i < count; ++i) {
        if (std::memcmp(got + i, &rows[i * stride], sizeof(Sample)) != 0) {
            return false;
        }
    }
    return true;
}

// The seconds from the first row until the file is closed; creating the file is not counted.
double append(Subject& subject, const std::string& path, Storage storage, std::size_t count, std::size_t at_once) {
    subject.begin_append(path, storage);
    return seconds_of([&] {
        subject.append(rows.data(), count, at_once);
        subject.end_append();
    });
}

// The seconds of the transfer alone. The file is opened just before, so that no chunk is in memory yet.
double read(Subject& subject, const std::string& path, Storage storage, std::size_t stride) {
    std::vector<Sample> to(kReadRows / stride);
    subject.begin_read(path, storage);
    const double seconds = seconds_of([&] { subject.read(to.data(), to.size(), stride); });
    subject.end_read();
    expect(equal_rows(to.data(), to.size(), stride), path);
    return seconds;
}

void add_work(std::vector<Work>& works, const std::string& name, const std::string& budget,
              std::function<double(Subject&)> run) {
    works.push_back({name, budget, [run](std::size_t library) { return run(*subjects[library]); }});
}

// The file is opened for each run, so that nothing of it is in memory yet; opening it is not counted.
void add_reading(std::vector<Work>& works, const std::string& name, const std::string& budget,
                 std::function<void(bench::Reading&)> run) {
    works.push_back({name, budget, [run](std::size_t library) {
                         bench::Reading& reading = *readings[library];
                         reading.open(kReadFile);
                         const double seconds = seconds_of([&] { run(reading); });
                         reading.close();
                         return seconds;
                     }});
}

bool equal_matrix(const std::vector<double>& got, std::size_t height, std::size_t width, std::size_t first,
                  std::size_t row_step, std::size_t column_step) {
    bool equal = true;
    for (std::size_t r = 0; r < height; ++r) {
        for (std::size_t c = 0; c < width; ++c) {
            equal = equal && got[r * width + c] == bench::matrix_value(first + r * row_step, first + c * column_step);
        }
    }
    return equal;
}

void add_readings(std::vector<Work>& works) {
    static std::vector<double> to(bench::kRows * bench::kColumns);
    for (const char* name : {"contiguous", "chunked", "fixed", "deflated"}) {
        add_reading(works, std::string("read.") + name, "1.0",
                    [name](bench::Reading& reading) { reading.read_all(name, to.data()); });
    }
    for (const char* name : {"contiguous", "chunked"}) {
        add_reading(works, std::string("hyperslab.") + name, "1.0",
                    [name](bench::Reading& reading) { reading.read_strided(name, to.data()); });
        static std::vector<std::uint64_t> points;
        for (std::uint64_t i = points.size() / 2; i < bench::kPoints; ++i) {
            points.push_back(i * 7919 % bench::kRows);
            points.push_back(i * 104729 % bench::kColumns);
        }
        add_reading(works, std::string("points.") + name, "1.0",
                    [name](bench::Reading& reading) { reading.read_points(name, points, to.data()); });
    }
    for (const char* name : {"symbol_table", "compact", "dense"}) {
        std::vector<std::string> paths;
        for (std::size_t i = 0; i < 500; ++i) {
            char path[64];
            std::snprintf(path, sizeof path, "/%s/link%05zu", name, i * 7919 % bench::kLinks);
            paths.push_back(path);
        }
        add_reading(works, std::string("open.") + name, "0.5",
                    [paths](bench::Reading& reading) { (void)reading.open_each(paths); });
    }
    add_reading(works, "attributes", "0.5",
                [](bench::Reading& reading) { (void)reading.read_attributes("attributes"); });
    add_reading(works, "strings", "1.0", [](bench::Reading& reading) { (void)reading.read_strings("strings"); });
}

// Checks that both libraries read the same values, and that these are the ones that were written.
void verify_readings() {
    bench::make_read_file(kReadFile);
    std::vector<std::uint64_t> found[2];
    for (std::size_t library = 0; library < 2; ++library) {
        bench::Reading& reading = *readings[library];
        reading.open(kReadFile);
        std::vector<double> to(bench::kRows * bench::kColumns);
        for (const char* name : {"contiguous", "chunked", "fixed", "deflated"}) {
            reading.read_all(name, to.data());
            expect(equal_matrix(to, bench::kRows, bench::kColumns, 0, 1, 1), name);
            reading.read_strided(name, to.data());
            expect(equal_matrix(to, bench::kRows / 3, bench::kColumns / 2, 1, 3, 2), name);
            reading.read_points(name, {5, 6, 1023, 1023, 0, 0, 5, 6}, to.data());
            expect(to[0] == bench::matrix_value(5, 6) && to[1] == bench::matrix_value(1023, 1023) && to[2] == 0 &&
                       to[3] == to[0],
                   name);
        }
        for (const char* name : {"symbol_table", "compact", "dense"}) {
            found[library].push_back(
                reading.open_each({std::string(name) + "/link00000", std::string(name) + "/link09999"}));
        }
        found[library].push_back(static_cast<std::uint64_t>(reading.read_attributes("attributes")));
        found[library].push_back(reading.read_strings("strings"));
        reading.close();
    }
    expect(found[0] == found[1], "links, attributes or strings");
    expect(found[0][3] == bench::kAttributes * (bench::kAttributes - 1) / 2, "attributes");
}

std::vector<Work> make_works() {
    std::vector<Work> works;
    for (const Storage storage : {Storage::file, Storage::memory}) {
        const bool file = storage == Storage::file;
        const std::string suffix = file ? "" : ".memory";
        add_work(works, "append1" + suffix, file ? "0.1" : "", [=](Subject& subject) {
            return append(subject, path_of(subject, "append"), storage, kAppendRows, 1);
        });
        add_work(works, "append64" + suffix, file ? "1.0" : "",
                 [=](Subject& subject) { return append(subject, path_of(subject, "append"), storage, kReadRows, 64); });
        add_work(works, "read" + suffix, file ? "1.0" : "",
                 [=](Subject& subject) { return read(subject, path_of(subject, "rows"), storage, 1); });
        add_work(works, "strided" + suffix, file ? "1.0" : "",
                 [=](Subject& subject) { return read(subject, path_of(subject, "rows"), storage, 4); });
    }
    add_work(works, "attribute", "1.0", [](Subject& subject) {
        const std::string path = path_of(subject, "attribute");
        return seconds_of([&] { expect(subject.read_attribute(path) == 250, path); });
    });
    add_work(works, "create1000", "1.0", [](Subject& subject) {
        const std::string path = path_of(subject, "datasets");
        return seconds_of([&] { subject.create_datasets(path, kDatasets); });
    });
    add_readings(works);
    bench::add_changes(works);
    return works;
}

// Makes the files that benchmarks only read, and lets the other library read and compare every file that is written.
void prepare_and_verify() {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        Subject& writer = *subjects[i];
        Subject& reader = *subjects[1 - i];
        for (const std::size_t at_once : {1, 64}) {
            const std::string path = path_of(writer, "rows");
            append(writer, path, Storage::file, kReadRows, at_once);
            read(reader, path, Storage::file, 1);
            read(reader, path, Storage::file, 4);
        }
        writer.create_with_attributes(path_of(writer, "attribute"));
        expect(reader.read_attribute(path_of(writer, "attribute")) == 250, "attribute");
        writer.create_datasets(path_of(writer, "datasets"), kDatasets);
        // libhdf5 checks the files of both libraries.
        expect(bench::check_datasets(path_of(writer, "datasets"), kDatasets), "datasets");
    }
}

/// Prints to the console as usual, and keeps the median of every benchmark.
class Collector final : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& reports) override {
        for (const Run& run : reports) {
            if (run.error_occurred) {
                failed_ = true;
            }
            if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") {
                medians_[run.run_name.function_name] = run.GetAdjustedRealTime();
            }
        }
        ConsoleReporter::ReportRuns(reports);
    }
    double ratio(const std::string& work) const {
        return medians_.at("h5mote/" + work) / medians_.at("libhdf5/" + work);
    }
    bool has(const std::string& work) const {
        return medians_.count("h5mote/" + work) + medians_.count("libhdf5/" + work) == 2;
    }
    bool failed() const { return failed_; }

private:
    std::map<std::string, double> medians_;
    bool failed_ = false;
};

extern "C" __attribute__((noinline)) void append_rows(Subject& subject) { subject.append(rows.data(), 1000, 1); }

int count_append(const std::string& name) {
    for (const auto& subject : subjects) {
        if (subject->name() == name) {
            subject->begin_append(path_of(*subject, "count"), Storage::file);
            append_rows(*subject);
            subject->end_append();
            return 0;
        }
    }
    return 2;
}

int run_benchmarks(int argc, char** argv) {
    const char* const report = std::getenv("H5MOTE_REPORT_DIR");
    const std::vector<Work> works = make_works();
    for (const Work& work : works) {
        for (std::size_t library = 0; library < subjects.size(); ++library) {
            benchmark::internal::Benchmark* const benchmark =
                benchmark::RegisterBenchmark((std::string(subjects[library]->name()) + "/" + work.name).c_str(),
                                             [&work, library](benchmark::State& state) {
                                                 for (auto _ : state) {
                                                     try {
                                                         state.SetIterationTime(work.run(library));
                                                     } catch (const std::exception& error) {
                                                         state.SkipWithError(error.what());
                                                         break;
                                                     }
                                                 }
                                             })
                    ->UseManualTime()
                    ->Unit(benchmark::kMicrosecond);
            if (work.large) {
                benchmark->Iterations(1)->Repetitions(3);
            }
        }
    }
    benchmark::Initialize(&argc, argv);
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector);
    std::string lines;
    for (const Work& work : works) {
        if (!collector.has(work.name)) {
            continue;  // left out by --benchmark_filter
        }
        char ratio[32];
        std::snprintf(ratio, sizeof ratio, "%.3f", collector.ratio(work.name));
        lines += "ratio." + work.name + ".host\t" + ratio + "\th5mote/libhdf5\t" + work.budget + "\n";
    }
    std::cout << lines;
    if (report != nullptr && !collector.failed()) {
        const std::filesystem::path folder = std::filesystem::path(report) / "figures.d";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "bench.tsv") << lines;
    }
    return collector.failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    int code = 1;
    try {
        subjects.push_back(bench::make_h5mote());
        subjects.push_back(bench::make_libhdf5());
        rows = bench::make_rows(kReadRows);
        if (argc > 2 && std::string(argv[1]) == "--append1") {
            code = count_append(argv[2]);
        } else {
            readings.push_back(bench::make_h5mote_reading());
            readings.push_back(bench::make_libhdf5_reading());
            prepare_and_verify();
            verify_readings();
            code = run_benchmarks(argc, argv);
        }
    } catch (const std::exception& error) {
        std::cerr << "bench: " << error.what() << "\n";
    }
    bench::finish_changes();
    readings.clear();
    subjects.clear();  // before libhdf5 cleans up at exit, since subjects close identifiers of libhdf5
    return code;
}
