// h5mote extract: copies the HDF5 file out of the raw dump of a flash chip.
#include "commands.hpp"
#include "flash_image.hpp"
#include "new_files.hpp"
#include "output.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace h5mote::cli {

namespace {

constexpr int kIncomplete = 2;
constexpr std::size_t kPiece = 64 * 1024;
constexpr unsigned kMostRanges = 20;  // unreadable ranges that are listed one by one; further ones are only counted

struct ExtractArguments {
    FlashImageOptions image;
    std::string out;
    std::string log;  // "driver", "recorder", or empty
    bool join = false;
};

// A file that is written under a temporary name. finish() gives it its real name; without finish() it is deleted.
class NewFile {
public:
    explicit NewFile(const std::string& name) : name_(name) {
        const int descriptor = files_.create(name_);
        file_ = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (file_ != nullptr) {
            std::fclose(file_);
        }
    }

    bool is_open() const { return file_ != nullptr; }
    bool write(ConstBytes bytes) { return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size(); }
    bool finish() {
        bool good = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
        good = std::fclose(file_) == 0 && good;
        file_ = nullptr;
        return good && files_.finish(name_);
    }
    /// Call after one of the others has failed.
    void report(Report& report) const {
        const int reason = errno;
        if (files_.problem().empty()) {
            report.error("%s: %s", name_.c_str(), std::strerror(reason));
        } else {
            report.error("%s", files_.problem().c_str());
        }
    }

private:
    std::string name_;
    NewFiles files_;
    std::FILE* file_ = nullptr;
};

// Reads a file of which parts cannot be read, and reports these.
class DamagedReader {
public:
    DamagedReader(FlashDriver& driver, std::size_t page, Report& report, const std::string& name)
        : driver_(driver), page_(page), report_(report), name_(name) {}

    // Pages that cannot be read are filled with zeros.
    void read(std::uint64_t address, Bytes to) {
        if (driver_.read(Usage::raw_data, address, to) == Status::ok) {
            return;
        }
        for (std::size_t at = 0; at < to.size();) {
            const auto rest = page_ - static_cast<std::size_t>((address + at) % page_);
            const Bytes page = to.subspan(at, std::min(rest, to.size() - at));
            if (driver_.read(Usage::raw_data, address + at, page) != Status::ok) {
                std::memset(page.data(), 0, page.size());
                miss(address + at, page.size());
            }
            at += page.size();
        }
    }
    std::uint64_t finish() {
        miss(~std::uint64_t{0}, 0);
        if (ranges_ > kMostRanges) {
            report_.warning("%s: and %u more such ranges", name_.c_str(), ranges_ - kMostRanges);
        }
        return missing_;
    }

private:
    void miss(std::uint64_t address, std::uint64_t size) {
        if (address == end_) {
            end_ += size;
        } else {
            if (end_ > begin_ && ++ranges_ <= kMostRanges) {
                report_.warning("%s: bytes %llu to %llu of the file are damaged; zeros instead", name_.c_str(),
                                static_cast<unsigned long long>(begin_), static_cast<unsigned long long>(end_ - 1));
            }
            begin_ = address;
            end_ = address + size;
        }
        missing_ += size;
    }

    FlashDriver& driver_;
    std::size_t page_;
    Report& report_;
    const std::string& name_;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t missing_ = 0;
    unsigned ranges_ = 0;
};

// Reports what of a recording is damaged.
void report_damages(const FlashRecording& recording, const std::string& name, Report& report) {
    unsigned count = 0;
    for (const FlashRecording::Damage& each : recording.damages()) {
        if (++count <= kMostRanges) {
            report.warning("%s: block %u: bytes %u to %u are damaged; rows are missing", name.c_str(), each.block,
                           each.offset, each.offset + each.size - 1);
        }
    }
    if (count > kMostRanges) {
        report.warning("%s: and %u more such ranges", name.c_str(), count - kMostRanges);
    }
}

// Makes the file of a FlashRecorder's log.
int extract_recording(const ExtractArguments& arguments, const FlashGeometry& geometry, const std::string& out,
                      Report& report) {
    const std::string& name = arguments.image.name;
    RecordingImage image;
    if (!image.open(arguments.image, geometry, report)) {
        return report.exit_code();
    }
    const FlashRecording& recording = image.recording();
    MallocAllocator allocator;
    GrowingMemoryDriver storage(allocator);
    const Status status = write_recording(recording, {arguments.join}, storage);
    if (status != Status::ok) {
        report.error("%s: %s", name.c_str(), to_string(status));
        return report.exit_code();
    }
    NewFile file(out);
    if (!file.is_open() || !file.write(storage.contents()) || !file.finish()) {
        file.report(report);
        return report.exit_code();
    }
    report_damages(recording, name, report);
    Output text;
    text.print("%s: %zu bytes from %zu of %u blocks of %u bytes", out.c_str(), storage.contents().size(),
               recording.blocks(), static_cast<unsigned>(geometry.blocks), static_cast<unsigned>(geometry.block_size));
    if (image.missing_blocks() > 0) {
        text.print("; the dump lacks %u blocks", static_cast<unsigned>(image.missing_blocks()));
    }
    if (recording.repaired() > 0) {
        text.print("; %u flipped bits were repaired", recording.repaired());
    }
    text.put("\n");
    return recording.damages().empty() && image.missing_blocks() == 0 ? 0 : kIncomplete;
}

int run_extract(const ExtractArguments& arguments) {
    Report report("h5mote extract");
    const std::string& name = arguments.image.name;
    const std::string out = without_links(arguments.out);
    FileIds dump;
    dump.add(name);
    if (const char* const why = why_not_replaced(out, dump); why != nullptr) {
        report.error("%s: %s", out.c_str(), why);
        return report.exit_code();
    }
    const FlashLogs logs = find_flash_logs(arguments.image);
    if (logs.driver && logs.recorder && arguments.log.empty()) {
        report.error("%s: blocks of a FlashDriver and of a FlashRecorder; --log says which is meant", name.c_str());
        return report.exit_code();
    }
    if (logs.recorder && arguments.log != "driver") {
        return extract_recording(arguments, logs.recorded, out, report);
    }
    FlashImage image;
    if (!image.open(arguments.image, report)) {
        return report.exit_code();
    }
    std::uint64_t size = 0;
    if (image.driver().end_of_file(size) != Status::ok) {
        report.error("%s: %s", name.c_str(), to_string(Status::io_error));
        return report.exit_code();
    }
    NewFile file(out);
    bool good = file.is_open();
    DamagedReader reader(image.driver(), image.format().page_size, report, name);
    std::vector<std::byte> piece(kPiece);
    for (std::uint64_t at = 0; good && at < size;) {
        const Bytes part(piece.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size - at, kPiece)));
        reader.read(at, part);
        good = file.write(part);
        at += part.size();
    }
    const std::uint64_t missing = reader.finish();
    if (!good || !file.finish()) {
        file.report(report);
        return report.exit_code();
    }
    Output text;
    text.print("%s: %llu bytes", out.c_str(), static_cast<unsigned long long>(size));
    text.print(" from %u blocks of %u bytes", static_cast<unsigned>(image.geometry().blocks),
               static_cast<unsigned>(image.geometry().block_size));
    if (image.missing_blocks() > 0) {
        text.print("; the dump lacks %u blocks", static_cast<unsigned>(image.missing_blocks()));
    }
    if (missing > 0) {
        text.print("; %llu bytes are damaged", static_cast<unsigned long long>(missing));
    }
    text.put("\n");
    return missing > 0 || image.missing_blocks() > 0 ? kIncomplete : 0;
}

}  // namespace

Command add_extract(CLI::App& tool) {
    const auto arguments = std::make_shared<ExtractArguments>();
    CLI::App* const command = tool.add_subcommand(
        "extract", "Gets the HDF5 file out of the raw dump of a flash chip, also after a power cut");
    command->footer(
        "The chip holds the file of a FlashDriver, or what a FlashRecorder wrote. "
        "What is written is the file as of the last flush() that returned ok, or of one during which the power failed. "
        "The dump is only read. OUT is written under another name and renamed when it is complete; one that is there "
        "is replaced.\n"
        "Exit code: 0 all of it, 1 nothing was written, 2 written with zeros for what is damaged (of a FlashRecorder, "
        "without the rows there), or from a dump that is too short: each range is listed.");
    add_flash_image_options(*command, arguments->image);
    command->add_option("OUT", arguments->out, "The HDF5 file")->required();
    command->add_flag("--join", arguments->join,
                      "Of a FlashRecorder's ring: one dataset in order of time, instead of one for each segment");
    command
        ->add_option("--log", arguments->log,
                     "driver or recorder: which log is meant, for a chip that was used with both")
        ->check(CLI::IsMember({"driver", "recorder"}));
    return {command, [arguments] { return run_extract(*arguments); }};
}

}  // namespace h5mote::cli
