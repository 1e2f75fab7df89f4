// random_cuts [--medium file|journal|nor|nand]... [--seed N] [--trials N | --seconds N] [--cuts N] [--floor N] [--name
// NAME] [--failures N] [--reduce SECONDS]
//
// Runs trials with consecutive seeds, on the media in turn. Each is a random workload, in which about --cuts moments
// are drawn at which the power fails. The first --failures failures are printed, each with its seed and with the
// shortest list of calls found within --reduce seconds that still shows it. The exit code is 1 after a failure, and
// when there were fewer different cuts than --floor. --name gives the figure a name, which is written where
// H5MOTE_REPORT_DIR says. H5MOTE_RANDOM_SECONDS replaces --trials and --floor: so many seconds, and no floor.
//
// H5MOTE_EXPECT_LOSSES is set for a build that leaves out one of the rules against losses: it must lose something
// within the trials, however long they take, and the first loss ends the run.
#include "campaign.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace h5mote_test;

namespace {

struct Arguments {
    std::vector<Medium> media;
    std::uint64_t seed = 1;
    std::size_t trials = 100;
    double seconds = 0;
    std::size_t cuts = 300;
    std::size_t floor = 0;
    std::size_t failures = 3;     // as many are printed
    std::size_t reduce_for = 20;  // seconds for finding a shorter list of calls; 0: the seed only
    std::string name;
};

bool parse(int count, char** values, Arguments& arguments) {
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string option = values[i];
        const char* const value = values[i + 1];
        if (option == "--medium") {
            for (const Medium medium : {Medium::file, Medium::journal, Medium::nor, Medium::nand}) {
                if (std::strcmp(value, name_of(medium)) == 0) {
                    arguments.media.push_back(medium);
                }
            }
        } else if (option == "--seed") {
            arguments.seed = std::strtoull(value, nullptr, 10);
        } else if (option == "--trials") {
            arguments.trials = std::strtoull(value, nullptr, 10);
        } else if (option == "--seconds") {
            arguments.seconds = std::strtod(value, nullptr);
        } else if (option == "--cuts") {
            arguments.cuts = std::strtoull(value, nullptr, 10);
        } else if (option == "--floor") {
            arguments.floor = std::strtoull(value, nullptr, 10);
        } else if (option == "--failures") {
            arguments.failures = std::strtoull(value, nullptr, 10);
        } else if (option == "--reduce") {
            arguments.reduce_for = std::strtoull(value, nullptr, 10);
        } else if (option == "--name") {
            arguments.name = value;
        } else {
            return false;
        }
    }
    if (arguments.media.empty()) {
        arguments.media = {Medium::file, Medium::journal, Medium::nor, Medium::nand};
    }
    return count % 2 == 1;
}

Trial trial_of(Medium medium, std::uint64_t seed, std::size_t cuts) {
    Trial trial;
    trial.medium = medium;
    trial.seed = seed;
    trial.cuts = cuts;
    trial.plan = plan_of(medium, seed);
    return trial;
}

// The kind of a failure, for comparing: the last part of its text, without numbers.
std::string kind_of(const std::string& failure) {
    const std::size_t end = failure.rfind(';');
    const std::size_t begin = failure.rfind(": ", end);
    std::string kind;
    for (std::size_t i = begin == std::string::npos ? 0 : begin; i < failure.size(); ++i) {
        if (std::strchr("0123456789x-", failure[i]) == nullptr) {
            kind += failure[i];
        }
    }
    return kind;
}

// Finds a shorter plan: leaves out steps as long as the same kind of failure is seen. It draws four times as many cuts,
// since another plan gets other cuts and might miss the failure.
Trial reduce(const Trial& failed, std::size_t seconds) {
    Trial best = failed;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    const auto try_instead = [&](Trial& trial) {
        trial.tells = true;
        run(trial);
        const bool same = !trial.failure.empty() && kind_of(trial.failure) == kind_of(failed.failure);
        if (same) {
            best = trial;
        }
        return same;
    };
    Trial again = trial_of(failed.medium, failed.seed, failed.cuts);
    try_instead(again);
    for (std::size_t size = best.plan.steps.size() / 2; size > 0;) {
        bool shorter = false;
        for (std::size_t at = 0; at + size <= best.plan.steps.size() && std::chrono::steady_clock::now() < end;) {
            Trial trial = trial_of(failed.medium, failed.seed, failed.cuts * 4);
            trial.plan = best.plan;
            const auto begin = trial.plan.steps.begin() + static_cast<std::ptrdiff_t>(at);
            trial.plan.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
            const bool same = try_instead(trial);
            at += same ? 0 : size;
            shorter = shorter || same;
        }
        size = shorter && size > 1 ? size : size / 2;
    }
    for (std::size_t steps = 1; steps < failed.goes_on; ++steps) {
        Trial trial = trial_of(failed.medium, failed.seed, failed.cuts * 4);
        trial.plan = best.plan;
        trial.goes_on = steps;
        if (try_instead(trial)) {
            break;
        }
    }
    return best;
}

void report(const Trial& failed, std::size_t seconds) {
    std::printf("%s, seed %llu: %s\n", name_of(failed.medium), static_cast<unsigned long long>(failed.seed),
                failed.failure.c_str());
    if (seconds == 0) {
        return;
    }
    const Trial best = reduce(failed, seconds);
    std::printf("  reduced to %zu of %zu steps: %s\n", best.plan.steps.size(), failed.plan.steps.size(),
                best.failure.c_str());
    for (const std::string& line : best.told) {
        std::printf("    %s\n", line.c_str());
    }
    std::fflush(stdout);
}

void write_figure(const Arguments& arguments, std::size_t cuts) {
    const char* const folder = std::getenv("H5MOTE_REPORT_DIR");
    if (folder == nullptr || arguments.name.empty()) {
        return;
    }
    const std::filesystem::path path = std::filesystem::path(folder) / "figures.d";
    std::filesystem::create_directories(path);
    FILE* const file = std::fopen((path / ("random_cuts_" + arguments.name + ".tsv")).string().c_str(), "w");
    if (file != nullptr) {
        std::fprintf(file, "powercut.random.cuts.%s\t%zu\tcuts\t\n", arguments.name.c_str(), cuts);
        std::fclose(file);
    }
}

}  // namespace

int main(int count, char** values) {
    Arguments arguments;
    if (!parse(count, values, arguments)) {
        std::fprintf(stderr, "random_cuts: see the top of its source for the options\n");
        return 2;
    }
    const bool expects_losses = std::getenv("H5MOTE_EXPECT_LOSSES") != nullptr;
    const char* const quick = std::getenv("H5MOTE_RANDOM_SECONDS");
    if (quick != nullptr && !expects_losses) {
        arguments.seconds = std::strtod(quick, nullptr);
        arguments.floor = 0;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    std::size_t cuts = 0;
    std::size_t in_recovery = 0;
    std::size_t failures = 0;
    std::size_t trials = 0;
    for (std::uint64_t seed = arguments.seed; !expects_losses || failures == 0; ++seed) {
        if (arguments.seconds > 0 ? seconds() >= arguments.seconds : trials >= arguments.trials) {
            break;
        }
        Trial trial = trial_of(arguments.media[seed % arguments.media.size()], seed, arguments.cuts);
        run(trial);
        ++trials;
        cuts += trial.done;
        in_recovery += trial.in_recovery;
        if (!trial.failure.empty() && ++failures <= arguments.failures) {
            report(trial, expects_losses ? 0 : arguments.reduce_for);
        }
    }
    std::printf(
        "random cuts: %zu trials from seed %llu, %zu cuts, %zu of them in recoveries, %zu trials lost something "
        "(%.0f seconds)\n",
        trials, static_cast<unsigned long long>(arguments.seed), cuts, in_recovery, failures, seconds());
    write_figure(arguments, cuts);
    if (cuts < arguments.floor) {
        std::printf("fewer cuts than %zu\n", arguments.floor);
    }
    return (failures != 0) != expects_losses || cuts < arguments.floor ? 1 : 0;
}
