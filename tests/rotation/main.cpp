// Rotates logs on a storage, and checks after each rotation that nothing is lost.
//
//   h5mote_rotation [--storage file|journal|card|memory|nor|nand] [--sessions one|each|killed] [--rotations N]
//                   [--chunk ROWS] [--filters] [--text] [--uneven] [--capacity BYTES] [--share PERCENT] [--flush-rows
//                   N]
//                   [--reserve BYTES] [--memory BYTES] [--libhdf5-every N] [--seed N] [--folder PATH]
//                   [--no-persist] [--no-reclaim]   without that setting, see RotationPlan
//                   [--expect FAULT]    succeeds if and only if this goes wrong, see Fault in rotation.hpp
//   h5mote_rotation --figures [--folder PATH]   measures, and writes $H5MOTE_REPORT_DIR/figures.d/rotation.tsv
#include "rotation.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace {

using namespace h5mote_test;

struct Arguments {
    RotationPlan plan;
    std::string expected = "none";
    bool figures = false;
};

// The number for which this option stands; nullptr: it is not the name of one.
std::uint32_t* number_of(RotationPlan& plan, const std::string& option) {
    const struct {
        const char* name;
        std::uint32_t* value;
    } numbers[] = {{"--rotations", &plan.rotations},        {"--chunk", &plan.chunk},     {"--share", &plan.share},
                   {"--flush-rows", &plan.flush_rows},      {"--reserve", &plan.reserve}, {"--memory", &plan.memory},
                   {"--libhdf5-every", &plan.libhdf5_every}};
    for (const auto& each : numbers) {
        if (option == each.name) {
            return each.value;
        }
    }
    return nullptr;
}

bool take_flag(Arguments& to, const std::string& option) {
    const struct {
        const char* name;
        bool* flag;
        bool value;
    } flags[] = {{"--filters", &to.plan.filters, true},     {"--text", &to.plan.text, true},
                 {"--uneven", &to.plan.uneven, true},       {"--no-persist", &to.plan.persist, false},
                 {"--no-reclaim", &to.plan.reclaim, false}, {"--figures", &to.figures, true}};
    for (const auto& each : flags) {
        if (option == each.name) {
            *each.flag = each.value;
            return true;
        }
    }
    return false;
}

bool take_value(Arguments& to, const std::string& option, const std::string& value) {
    if (std::uint32_t* const number = number_of(to.plan, option)) {
        *number = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 0));
    } else if (option == "--capacity" || option == "--seed") {
        (option == "--seed" ? to.plan.seed : to.plan.capacity) = std::strtoull(value.c_str(), nullptr, 0);
    } else if (option == "--storage") {
        to.plan.storage = value;
    } else if (option == "--folder") {
        to.plan.folder = value;
    } else if (option == "--expect") {
        to.expected = value;
    } else if (option == "--sessions" && (value == "one" || value == "each" || value == "killed")) {
        to.plan.sessions = value == "one" ? Sessions::one : value == "each" ? Sessions::each : Sessions::killed;
    } else {
        return false;
    }
    return true;
}

bool parse(int argc, char** argv, Arguments& to) {
    for (int i = 1; i < argc; ++i) {
        if (!take_flag(to, argv[i])) {
            if (i + 1 == argc || !take_value(to, argv[i], argv[i + 1])) {
                std::fprintf(stderr, "rotation: what is %s?\n", argv[i]);
                return false;
            }
            ++i;
        }
    }
    return true;
}

void print(const RotationPlan& plan, const RotationResult& result) {
    const auto number = [](auto value) { return static_cast<long long>(value); };
    std::printf("%s: %u rotations of up to %u rows, %u power cuts; capacity %lld, largest file %lld, in use %lld\n",
                plan.storage.c_str(), result.rotations, result.rows, result.kills, number(result.capacity),
                number(result.largest_file), number(result.largest_live));
    std::printf("lost after power cuts %lld, after they were searched for %lld, after closing %lld\n",
                number(result.lost_after_kill), number(result.lost_after_reclaim), number(result.lost_after_close));
    if (plan.storage == "nor" || plan.storage == "nand") {
        std::printf("pages without need %lld bytes, erases of a block %u to %u\n", number(result.flash_lost),
                    result.wear.least, result.wear.most);
    }
    if (result.fault != Fault::none) {
        std::printf("%s: %s (rotation %u, seed %lld)\n", to_string(result.fault), result.text.c_str(), result.rotations,
                    number(plan.seed));
    }
}

std::string figure(const char* name, const std::string& value, const char* unit, const char* budget) {
    return std::string(name) + "\t" + value + "\t" + unit + "\t" + budget + "\n";
}

// Three lives of which the figures are, and the table.
bool measure(RotationPlan plan) {
    plan.storage = "file";
    plan.rotations = 40;
    plan.chunk = 4;
    const RotationResult on_file = rotate_logs(plan);
    print(plan, on_file);
    plan.sessions = Sessions::killed;
    const RotationResult killed = rotate_logs(plan);
    print(plan, killed);
    plan.storage = "nor";
    plan.sessions = Sessions::each;
    const RotationResult on_chip = rotate_logs(plan);
    print(plan, on_chip);
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.3f",
                  static_cast<double>(on_file.largest_file) / static_cast<double>(on_file.largest_live));
    const std::string lines =
        figure("rotation.file.ratio", ratio, "largest file / most in use", "1.2") +
        figure("rotation.flash.lost", std::to_string(on_chip.flash_lost), "bytes", "0") +
        figure("space.leaked.after_kill", std::to_string(killed.lost_after_kill), "bytes", "") +
        figure("space.leaked.after_reclaim", std::to_string(killed.lost_after_reclaim), "bytes", "0");
    std::fputs(lines.c_str(), stdout);
    if (const char* const report = std::getenv("H5MOTE_REPORT_DIR")) {
        const std::filesystem::path folder = std::filesystem::path(report) / "figures.d";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "rotation.tsv") << lines;
    }
    return on_file.fault == Fault::none && killed.fault == Fault::none && on_chip.fault == Fault::none;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (!parse(argc, argv, arguments)) {
        return 2;
    }
    std::error_code error;
    std::filesystem::create_directories(arguments.plan.folder, error);
    if (arguments.figures) {
        return measure(arguments.plan) ? 0 : 1;
    }
    const RotationResult result = rotate_logs(arguments.plan);
    print(arguments.plan, result);
    return arguments.expected == to_string(result.fault) ? 0 : 1;
}
