// h5mote extract: copies the HDF5 file out of the raw dump of a flash chip.
#include "commands.hpp"
#include "flash_image.hpp"
#include "output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace h5mote::cli {

namespace {

constexpr int kIncomplete = 2;
constexpr std::size_t kPiece = 64 * 1024;
constexpr unsigned kMostRanges = 20;  // unreadable ranges that are listed one by one; further ones are only counted

struct ExtractArguments {
    FlashImageOptions image;
    std::string out;
};

// A file that is written under a temporary name. finish() gives it its real name; without finish() it is deleted.
class NewFile {
public:
    explicit NewFile(const std::string& name)
        : name_(name), part_(name + ".part" + std::to_string(getpid())), file_(std::fopen(part_.c_str(), "wbx")) {}
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (file_ != nullptr) {
            std::fclose(file_);
            (void)std::remove(part_.c_str());
        }
    }

    bool is_open() const { return file_ != nullptr; }
    bool write(ConstBytes bytes) { return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size(); }
    bool finish() {
        bool good = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
        good = std::fclose(file_) == 0 && good;
        file_ = nullptr;
        good = good && std::rename(part_.c_str(), name_.c_str()) == 0;
        if (!good) {
            const int reason = errno;
            (void)std::remove(part_.c_str());
            errno = reason;
        }
        return good;
    }

private:
    std::string name_;
    std::string part_;
    std::FILE* file_;
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

int run_extract(const ExtractArguments& arguments) {
    Report report("h5mote extract");
    const std::string& name = arguments.image.name;
    std::error_code error;
    const std::filesystem::path target = std::filesystem::weakly_canonical(arguments.out, error);
    const std::string out = error ? arguments.out : target.string();
    if (std::filesystem::equivalent(name, out, error)) {
        report.error("%s: the dump itself", out.c_str());
        return report.exit_code();
    }
    // Never replace a device or a directory. A symbolic link is followed.
    if (std::filesystem::exists(out, error) && !std::filesystem::is_regular_file(out, error)) {
        report.error("%s: not a regular file", out.c_str());
        return report.exit_code();
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
        report.error("%s: %s", out.c_str(), std::strerror(errno));
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
        "What is written is the file as of the last flush() that returned ok, or of one during which the power failed. "
        "The dump is only read. OUT is written under another name and renamed when it is complete; one that is there "
        "is replaced.\n"
        "Exit code: 0 all of it, 1 nothing was written, 2 written with zeros for what is damaged, or from a dump that "
        "is too short: each range is listed.");
    add_flash_image_options(*command, arguments->image);
    command->add_option("OUT", arguments->out, "The HDF5 file")->required();
    return {command, [arguments] { return run_extract(*arguments); }};
}

}  // namespace h5mote::cli
