// make_recorder_seeds FOLDER: makes the inputs that the fuzzing of recorders begins with, FOLDER/recorder/*.seed and
// FOLDER/flash_recorder/*.seed. FOLDER is tests/fuzz/corpus. Every run makes the same bytes.
#include "../recorder/blueprints.hpp"
#include "recorded_chips.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using namespace h5mote_test::described;

std::string folder;

void check(Status status, const std::string& what) {
    if (status != Status::ok) {
        std::fprintf(stderr, "%s: %s\n", what.c_str(), to_string(status));
        std::exit(1);
    }
}

void save(const std::string& name, ConstBytes bytes) {
    const std::string path = folder + "/" + name + ".seed";
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
        check(Status::io_error, path);
    }
}

template <const auto& Blueprint, std::size_t... I>
void append(Recorder<Blueprint>& recorder, std::uint32_t rows, std::index_sequence<I...>) {
    const auto one = [&](auto i) {
        static const typename blueprint::Image<Blueprint>::template Row<decltype(i)::value> row{};
        for (std::uint32_t k = 0; k < rows; ++k) {
            check(recorder.template append<decltype(i)::value>(row), "append");
        }
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
}

// A file with so many rows in each dataset.
template <const auto& Blueprint>
void make_file(const std::string& name, std::uint32_t rows) {
    static Recorder<Blueprint> recorder;
    MallocAllocator storage;
    GrowingMemoryDriver driver(storage);
    check(recorder.open(driver), name);
    append(recorder, rows, std::make_index_sequence<blueprint::Image<Blueprint>::kDatasets>());
    check(recorder.close(), name);
    save("recorder/" + name, driver.contents());
}

// A chip with so many sessions of some rows each.
void make_chip(std::size_t number, unsigned sessions) {
    const FuzzedChip& chip = kFuzzedChips[number];
    const std::unique_ptr<AnyFlashRecorder> recorder = chip.make();
    const AnyFlashRecorder::Facts& facts = recorder->facts();
    FuzzedDevice device(chip.geometry, {});
    Blob bytes(256);
    for (unsigned session = 0; session < sessions; ++session) {
        check(recorder->open(device), "open");
        for (unsigned i = 0; i < 4 + session; ++i) {
            bytes.assign(bytes.size(), static_cast<std::byte>(16 * session + i));
            check(recorder->append(i % facts.rows.size(), bytes.data()), "append");
        }
        if (!facts.settings.empty()) {
            check(recorder->set(0, bytes.data()), "set");
        }
        check(recorder->base().close(), "close");
    }
    Blob input{static_cast<std::byte>(number)};
    input.insert(input.end(), device.contents().begin(), device.contents().end());
    save("flash_recorder/chip" + std::to_string(number) + "_" + std::to_string(sessions), {input.data(), input.size()});
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        return 2;
    }
    folder = arguments[1];
    make_file<kBytes8>("bytes_blocks", 30);
    make_file<kBytes8>("bytes_super", 260);
    make_file<kFlight<4, true>>("flight_new", 0);
    make_file<kFlight<4, true>>("flight_rows", 60);
    make_file<kTurns>("turns_new", 0);
    make_file<kTurns>("turns_rows", 45);
    for (std::size_t i = 0; i < std::size(kFuzzedChips); ++i) {
        make_chip(i, 1);
        make_chip(i, 2);
        if (i > 2) {
            make_chip(i, 9);
        }
    }
    return 0;
}
