// Random comparison with libhdf5, seeded and repeatable.
//
//   h5mote_differential [--case NAME] [--seed N] [--seconds N | --count N] [--storage NAME] [--least N]
//
// Runs all cases (writing; files: writing to two at the same time; reading), or only the case NAME, with one seed after
// the other. Each run is a process of its own, so that a crash or an endless loop is a failure like any other. The
// first run that fails is shrunk by taking steps out of it; the program prints its seed and the remaining steps, and
// ends with exit code 1.
//
// The program runs for --seconds, or for the environment's H5MOTE_RANDOM_SECONDS, or for a minute. `--storage` keeps to
// one driver. With `--least N`, fewer than N operations per minute are a failure, too. With DIFFERENTIAL_TRACE in the
// environment, libhdf5 prints its error messages.
#include "libhdf5.hpp"
#include "reading.hpp"

#include <h5mote/status.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace {

using namespace differential;

struct Options {
    std::uint64_t seed = 1;
    double seconds = 60;
    std::uint64_t count = ~std::uint64_t{0};
    std::uint64_t least = 0;
    std::string storage;
    std::string name;  // empty: every case
};

struct Outcome {
    std::string failure;  // empty: none
    WritingCounts counts;
    bool failed() const { return !failure.empty(); }
    std::string kind() const { return failure.substr(0, failure.find(':')); }
};

// Removes the files that a run left in the working directory, which it does when it crashes.
void remove_files(const std::string& prefix) {
    std::vector<std::filesystem::path> left;
    for (const auto& entry : std::filesystem::directory_iterator(".")) {
        if (entry.path().filename().string().rfind(prefix, 0) == 0) {
            left.push_back(entry.path());
        }
    }
    for (const auto& path : left) {
        std::filesystem::remove(path);
    }
}

struct Case {
    const char* name;
    std::vector<Step> (*steps)(std::uint64_t seed);
    WritingCounts (*run)(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options);
};
constexpr Case kCases[] = {
#if H5MOTE_WRITE
    {"writing", random_steps, run_writing},
    {"files", random_steps_for_two_files, run_two_files},
#endif
#if H5MOTE_ALL_FORMATS
    {"reading", random_reading_steps, run_reading},
#endif
};

// Runs a list of steps in a process of its own.
Outcome run(const Case& what, std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options) {
    int ends[2];
    if (::pipe(ends) != 0) {
        std::abort();
    }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        ::alarm(60);
        std::string text(sizeof(WritingCounts), '\0');
        try {
            const WritingCounts counts = what.run(seed, steps, options);
            std::memcpy(text.data(), &counts, sizeof counts);
        } catch (const Difference& difference) {
            text += difference.text;
        }
        const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 3);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    remove_files("differential." + std::to_string(child) + ".");
    Outcome outcome;
    if (Alone::was()) {
        outcome.counts.refused = 1;
    } else if (WIFSIGNALED(status)) {
        outcome.failure = WTERMSIG(status) == SIGALRM ? "endless: it took a minute"
                                                      : "crash: signal " + std::to_string(WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0 || text.size() < sizeof(WritingCounts)) {
        outcome.failure = "crash: a sanitizer, or exit " + std::to_string(WEXITSTATUS(status));
    } else {
        std::memcpy(&outcome.counts, text.data(), sizeof(WritingCounts));
        outcome.failure = text.substr(sizeof(WritingCounts));
    }
    return outcome;
}

// Takes steps out of a run that fails, as long as it still fails in the same way: first halves, at last single steps.
std::vector<Step> shrink(const Case& what, std::uint64_t seed, std::vector<Step> steps, const std::string& kind,
                         const WritingOptions& options) {
    for (std::size_t size = steps.size() / 2; size != 0; size = size == 1 ? 0 : (size + 1) / 2) {
        for (bool again = true; again;) {
            again = false;
            for (std::size_t at = steps.size(); at != 0;) {
                at = at > size ? at - size : 0;
                std::vector<Step> fewer = steps;
                fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                            fewer.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, fewer.size())));
                if (const Outcome outcome = run(what, seed, fewer, options);
                    outcome.failed() && outcome.kind() == kind) {
                    steps = fewer;
                    again = size == 1;
                }
            }
        }
    }
    return steps;
}

int tell_failure(const Case& what, std::uint64_t seed, const std::vector<Step>& steps, const Outcome& outcome,
                 WritingOptions options) {
    std::cout << "seed " << seed << ", " << steps.size() << " steps: " << outcome.failure << std::endl;
    // Hide standard error while shrinking: a sanitizer would print a report for every attempt.
    std::fflush(stderr);
    const int errors = ::dup(2);
    if (std::FILE* const nowhere = std::fopen("/dev/null", "w")) {
        ::dup2(::fileno(nowhere), 2);
        std::fclose(nowhere);
    }
    const std::vector<Step> fewer = shrink(what, seed, steps, outcome.kind(), options);
    ::dup2(errors, 2);
    ::close(errors);
    std::cout << "shrunk to " << fewer.size() << " steps:" << std::endl;
    options.log = stdout;
    std::cout << run(what, seed, fewer, options).failure << std::endl;
    std::cout << "repeat with: --case " << what.name << " --seed " << seed << " --count 1"
              << (options.storage.empty() ? "" : " --storage " + options.storage) << std::endl;
    return 1;
}

void report(std::uint64_t operations) {
    if (const char* const folder_name = std::getenv("H5MOTE_REPORT_DIR")) {
        const std::filesystem::path folder = std::filesystem::path(folder_name) / "figures.d";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "differential.tsv") << "differential.operations\t" << operations << "\toperations\t\n";
    }
}

bool parse(int count, char** arguments, Options& options) {
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i];
        const char* const value = arguments[i + 1];
        if (name == "--seed") {
            options.seed = std::strtoull(value, nullptr, 0);
        } else if (name == "--seconds") {
            options.seconds = std::strtod(value, nullptr);
        } else if (name == "--count") {
            options.count = std::strtoull(value, nullptr, 0);
        } else if (name == "--least") {
            options.least = std::strtoull(value, nullptr, 0);
        } else if (name == "--case") {
            options.name = value;
        } else if (name == "--storage") {
            options.storage = value;
        } else {
            return false;
        }
    }
    return count % 2 == 1;
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    if (const char* const seconds = std::getenv("H5MOTE_RANDOM_SECONDS")) {
        options.seconds = std::strtod(seconds, nullptr);
    }
    std::vector<Case> cases;
    const bool parsed = parse(count, arguments, options);
    std::copy_if(std::begin(kCases), std::end(kCases), std::back_inserter(cases),
                 [&](const Case& each) { return options.name.empty() || options.name == each.name; });
    if (!parsed || cases.empty()) {
        std::cerr << "usage: " << arguments[0]
                  << " [--case NAME] [--seed N] [--seconds N | --count N] [--storage NAME] [--least N]\n";
        return 2;
    }
    prepare_libhdf5();
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    WritingOptions writing;
    writing.storage = options.storage;
    WritingCounts total;
    std::uint64_t runs = 0;
    const bool counted = options.count != ~std::uint64_t{0};
    for (std::uint64_t seed = options.seed; counted ? seed - options.seed < options.count : elapsed() < options.seconds;
         ++seed) {
        for (const Case& each : cases) {
            const std::vector<Step> steps = each.steps(seed);
            const Outcome outcome = run(each, seed, steps, writing);
            if (outcome.failed()) {
                return tell_failure(each, seed, steps, outcome, writing);
            }
            ++runs;
            total.operations += outcome.counts.operations;
            total.refused += outcome.counts.refused;
        }
    }
    std::cout << runs << " runs, " << total.operations << " operations, " << total.refused << " refused\n";
    report(total.operations);
    return static_cast<double>(total.operations) < static_cast<double>(options.least) * options.seconds / 60 ? 1 : 0;
}
