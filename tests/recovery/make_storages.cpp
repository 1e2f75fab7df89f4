// Logs to storages that lose power, and saves what is left of them as files, which recovery_test.py gives to the tool.
//
// clang-format off
//   make_storages journal FILE ROWS FLUSH         FILE and FILE-journal, of a logger that stopped without a close
//   make_storages card FILE ROWS FLUSH            the same in two regions of a card, saved as FILE and FILE-journal
//   make_storages flash DUMP ROWS FLUSH KIND CUT  the bytes of a chip; if CUT > 0, the power failed in the CUT-th
//                                                 program or erase after the dataset was created
// clang-format on
//
// ROWS rows are appended, with a flush after every FLUSH rows. Row i is {i, 3 i, i / 4}. Each command prints
// "acknowledged N", where N is the number of rows at the last flush that returned ok.
#include "flash_simulator.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/flash.hpp>
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/region.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using h5mote::Status;

struct Row {
    std::uint32_t index;
    std::int32_t triple;
    float quarter;
};
H5MOTE_COMPOUND(Row, index, triple, quarter)

void check(Status status, const char* what) {
    if (status != Status::ok) {
        std::fprintf(stderr, "make_storages: %s: %s\n", what, h5mote::to_string(status));
        std::exit(1);
    }
}

// Appends rows until all are there or a call fails, and closes nothing. Calls `made` once the dataset is flushed.
// Returns the number of rows at the last flush that returned ok.
std::uint32_t log_rows(h5mote::Driver& driver, std::uint32_t rows, std::uint32_t flush_rows,
                       const std::function<void()>& made) {
    // These objects are never destroyed, because destructors would close the file: it stays open, as after a power cut.
    static h5mote::MallocAllocator allocator;
    static h5mote::NullPort port;
    static auto* const library = new h5mote::Library(allocator, port);
    static h5mote::File* file = nullptr;
    static h5mote::TypedDataset<Row>* log = nullptr;
    auto opened = h5mote::File::create(*library, driver);
    check(opened.status(), "create");
    file = new h5mote::File(std::move(*opened));
    h5mote::DatasetCreate layout;
    layout.chunk = {32};
    auto dataset = file->root().create_dataset<Row>("log", layout);
    check(dataset.status(), "create dataset");
    log = new h5mote::TypedDataset<Row>(std::move(*dataset));
    check(file->flush(), "flush");
    made();
    std::uint32_t acknowledged = 0;
    for (std::uint32_t i = 0; i < rows; ++i) {
        const Row row{i, static_cast<std::int32_t>(3 * i), static_cast<float>(i) / 4};
        if (log->append(row) != Status::ok) {
            break;
        }
        if ((i + 1) % flush_rows == 0) {
            if (file->flush() != Status::ok) {
                break;
            }
            acknowledged = i + 1;
        }
    }
    return acknowledged;
}

std::uint32_t make_journal(const std::string& name, std::uint32_t rows, std::uint32_t flush_rows) {
    static h5mote::PosixDriver home;
    static h5mote::PosixDriver log;
    check(home.open(name.c_str(), h5mote::PosixDriver::Mode::create), "open file");
    check(log.open((name + "-journal").c_str(), h5mote::PosixDriver::Mode::create), "open journal");
    alignas(8) static std::byte memory[h5mote::JournalDriver::required_memory()];
    static h5mote::JournalDriver journal(home, log, memory);
    check(journal.open(), "open");
    return log_rows(journal, rows, flush_rows, [] {});
}

void save(const std::string& name, h5mote::ConstBytes bytes) {
    std::FILE* const file = std::fopen(name.c_str(), "wb");
    if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
        check(Status::io_error, name.c_str());
    }
}

std::uint32_t make_card(const std::string& name, std::uint32_t rows, std::uint32_t flush_rows) {
    constexpr std::size_t kLog = 64 * 1024;
    static std::vector<std::byte> bytes(512 * 1024);
    static h5mote::MemoryDriver card({bytes.data(), bytes.size()}, bytes.size());
    static h5mote::RegionDriver log(card, 0, kLog);
    static h5mote::RegionDriver home(card, kLog, bytes.size() - kLog);
    // The home's region holds old bytes at first, as on a card that was used before.
    std::fill(bytes.begin() + kLog, bytes.end(), std::byte{0x5a});
    alignas(8) static std::byte memory[h5mote::JournalDriver::required_memory()];
    static h5mote::JournalDriver journal(home, log, memory);
    h5mote::JournalOptions options;
    options.home_has_end = false;
    options.limit = kLog;
    check(journal.open(options), "open");
    const std::uint32_t acknowledged = log_rows(journal, rows, flush_rows, [] {});
    save(name + "-journal", {bytes.data(), kLog});
    save(name, {bytes.data() + kLog, bytes.size() - kLog});
    return acknowledged;
}

h5mote::FlashGeometry geometry(const std::string& kind) {
    h5mote::FlashGeometry result;
    if (kind == "nor") {
        result = {64, 4096, 256, 1, 0xff};
    } else if (kind == "onchip") {
        result = {96, 1024, 1024, 4, 0x00};
    } else if (kind == "nand") {
        result = {24, 16384, 512, 512, 0xff};
    } else {
        check(Status::invalid_argument, kind.c_str());
    }
    return result;
}

std::uint32_t make_flash(const std::string& name, std::uint32_t rows, std::uint32_t flush_rows, const std::string& kind,
                         std::uint64_t cut) {
    h5mote_test::FlashSimulatorOptions options;
    options.geometry = geometry(kind);
    static std::vector<std::uint64_t> chip_memory;
    chip_memory.resize(h5mote_test::FlashSimulator::required_memory(options.geometry) / 8 + 1);
    static h5mote_test::FlashSimulator chip(options,
                                            {reinterpret_cast<std::byte*>(chip_memory.data()), chip_memory.size() * 8});
    static std::vector<std::uint64_t> memory;
    memory.resize(h5mote::FlashDriver::required_memory(options.geometry) / 8 + 1);
    static h5mote::FlashDriver driver(chip, {reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
    std::uint32_t acknowledged = 0;
    if (rows > 0) {
        check(driver.format(), "format");
        acknowledged =
            log_rows(driver, rows, flush_rows, [cut] { chip.cut_after(cut, h5mote_test::FlashCut::partly, 7); });
    }
    save(name, chip.contents());
    return acknowledged;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    std::uint32_t acknowledged = 0;
    if (words.size() == 4 && words[0] == "journal") {
        acknowledged = make_journal(words[1], static_cast<std::uint32_t>(std::stoul(words[2])),
                                    static_cast<std::uint32_t>(std::stoul(words[3])));
    } else if (words.size() == 4 && words[0] == "card") {
        acknowledged = make_card(words[1], static_cast<std::uint32_t>(std::stoul(words[2])),
                                 static_cast<std::uint32_t>(std::stoul(words[3])));
    } else if (words.size() == 6 && words[0] == "flash") {
        acknowledged = make_flash(words[1], static_cast<std::uint32_t>(std::stoul(words[2])),
                                  static_cast<std::uint32_t>(std::stoul(words[3])), words[4], std::stoull(words[5]));
    } else {
        std::fprintf(stderr, "make_storages journal|card FILE ROWS FLUSH | flash DUMP ROWS FLUSH KIND CUT\n");
        return 1;
    }
    std::printf("acknowledged %u\n", static_cast<unsigned>(acknowledged));
    std::fflush(stdout);
    // End without destructors and exit handlers, which would close the file.
    std::_Exit(0);
}
