#include "flash_image.hpp"

#include "session.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace h5mote::cli {

namespace {

// Smallest erase block: the search for block headers in a dump looks at multiples of this.
constexpr std::uint32_t kSmallestBlock = 512;
// Most geometries that are tried. A dump holds headers of more than one if the chip was reformatted with another
// geometry.
constexpr std::size_t kMostCandidates = 8;

bool same(const FlashGeometry& a, const FlashGeometry& b) {
    return a.blocks == b.blocks && a.block_size == b.block_size && a.program_unit == b.program_unit &&
           a.erased_value == b.erased_value;
}

bool read_at(std::FILE* file, std::uint64_t at, Bytes to) {
    return fseeko(file, static_cast<off_t>(at), SEEK_SET) == 0 &&
           std::fread(to.data(), 1, to.size(), file) == to.size();
}

std::string explain(Status status, const FlashUsage& usage) {
    const std::string block = "block " + std::to_string(usage.finding_block);
    switch (usage.finding) {
        case FlashFinding::none:
            return status == Status::ok ? "" : "cannot be mounted";
        case FlashFinding::blank:
            return "is blank: no block was ever used";
        case FlashFinding::foreign:
            return "holds nothing of the flash driver";
        case FlashFinding::geometry:
            return block + " is of a chip of another geometry";
        case FlashFinding::version:
            return block + " is of a later version of the format";
        case FlashFinding::no_commit:
            return "no state is complete; the newest is " + block;
        case FlashFinding::damaged:
            return "a record in " + block + " is damaged";
    }
    return "";
}

}  // namespace

void add_flash_image_options(CLI::App& command, FlashImageOptions& options) {
    command.add_option("DUMP", options.name, "The bytes of the chip, as a programmer or a debugger reads them")
        ->required();
    command
        .add_option_function<std::string>(
            "--offset",
            [&options](const std::string& text) {
                std::size_t size = 0;
                if (!parse_size(text, size)) {
                    throw CLI::ValidationError("--offset", "a number of bytes as 65536 or 64K: " + text);
                }
                options.offset = size;
            },
            "Where the driver's part of the chip begins in the dump; 0 if not given")
        ->option_text("SIZE");
    command
        .add_option_function<std::string>(
            "--block-size",
            [&options](const std::string& text) {
                std::size_t size = 0;
                if (!parse_size(text, size) || size < kSmallestBlock || size > (1U << 20)) {
                    throw CLI::ValidationError("--block-size", "512 to 1M: " + text);
                }
                options.block_size = static_cast<std::uint32_t>(size);
            },
            "Bytes of an erase block, for a dump in which logs of several geometries are left; otherwise the blocks "
            "themselves tell, as they tell the program unit and the erased value")
        ->option_text("SIZE");
    command.add_flag(
        "--truncated", options.allow_truncated,
        "Reads a dump that is shorter than the chip as far as it goes. What is found may be an older state");
}

Status FlashDump::read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept {
    const std::uint64_t at = offset_ + std::uint64_t{block} * geometry_.block_size + offset;
    return read_at(file_, at, to) ? Status::ok : Status::io_error;
}

FlashLogs find_flash_logs(const FlashImageOptions& options) {
    FlashLogs logs;
    std::FILE* const file = std::fopen(options.name.c_str(), "rb");
    if (file == nullptr) {
        return logs;
    }
    std::vector<std::pair<FlashGeometry, std::uint32_t>> found;
    std::byte first[sizeof(RecordingHead)];
    for (std::uint64_t at = options.offset; read_at(file, at, first); at += kSmallestBlock) {
        FlashGeometry geometry;
        FlashFormat format;
        logs.driver = logs.driver || FlashDriver::identify(first, geometry, format);
        if (!FlashRecording::identify(first, geometry) || (at - options.offset) % geometry.block_size != 0 ||
            (options.block_size != 0 && geometry.block_size != options.block_size)) {
            continue;
        }
        const auto known =
            std::find_if(found.begin(), found.end(), [&](const auto& each) { return same(each.first, geometry); });
        if (known != found.end()) {
            ++known->second;
        } else if (found.size() < kMostCandidates) {
            found.emplace_back(geometry, 1);
        }
    }
    std::fclose(file);
    logs.recorder = !found.empty();
    if (logs.recorder) {
        logs.recorded = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                            return a.second < b.second;
                        })->first;
    }
    return logs;
}

RecordingImage::~RecordingImage() {
    if (file_ != nullptr) {
        std::fclose(file_);
    }
}

bool RecordingImage::open(const FlashImageOptions& options, const FlashGeometry& geometry, Report& report) {
    const char* const name = options.name.c_str();
    file_ = std::fopen(name, "rb");
    if (file_ == nullptr || fseeko(file_, 0, SEEK_END) != 0) {
        report.error("%s: %s", name, std::strerror(errno));
        return false;
    }
    const auto size = static_cast<std::uint64_t>(ftello(file_)) - options.offset;
    if (size < geometry.capacity()) {
        missing_blocks_ = static_cast<std::uint32_t>(geometry.blocks - size / geometry.block_size);
        if (!options.allow_truncated) {
            report.error("%s is truncated: %llu of %llu bytes of the chip; --truncated reads what is there", name,
                         static_cast<unsigned long long>(size), static_cast<unsigned long long>(geometry.capacity()));
            return false;
        }
    }
    FlashDump dump(file_, options.offset, geometry);
    if (!recording_.read(dump)) {
        report.error("%s %s", name, recording_.why().c_str());
        return false;
    }
    return true;
}

FlashImage::~FlashImage() {
    if (file_ != nullptr) {
        std::fclose(file_);
    }
}

// Collects the geometries that block headers in the dump name, the most frequent first. `blank`: the dump looks erased.
std::vector<FlashImage::Candidate> FlashImage::find_candidates(const FlashImageOptions& options, bool& blank) {
    std::vector<Candidate> found;
    std::vector<std::byte> sector(kSmallestBlock);
    blank = true;
    for (std::uint64_t at = 0; at + FlashDriver::kIdentification <= size_;) {
        const Bytes first(sector.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size_ - at, kSmallestBlock)));
        if (!read_at(file_, options.offset + at, first)) {
            break;
        }
        blank = blank && std::all_of(first.begin(), first.end(), [&](std::byte each) {
                    return each == first[0] && (each == std::byte{0} || each == std::byte{0xff});
                });
        FlashGeometry geometry;
        FlashFormat format;
        std::uint32_t step = kSmallestBlock;
        if (FlashDriver::identify(first, geometry, format) && geometry.block_size >= kSmallestBlock &&
            at % geometry.block_size == 0 && at / geometry.block_size < geometry.blocks &&
            (options.block_size == 0 || geometry.block_size == options.block_size)) {
            const auto known = std::find_if(found.begin(), found.end(), [&](const Candidate& each) {
                return same(each.geometry, geometry) && each.format.page_size == format.page_size;
            });
            if (known != found.end()) {
                ++known->blocks;
            } else if (found.size() < kMostCandidates) {
                found.push_back({geometry, format, 1});
            }
            step = geometry.block_size;
        }
        at += step;
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.blocks > b.blocks; });
    return found;
}

bool FlashImage::mount(const Candidate& candidate, const FlashImageOptions& options, std::string& why) {
    FlashOptions mount_options;
    mount_options.read_only = true;
    geometry_ = candidate.geometry;
    // Nothing is programmed, so the page size of the chip does not matter; this one meets the driver's requirements.
    geometry_.page_size = std::max(geometry_.program_unit, 1U);
    format_ = candidate.format;
    if (format_.page_size < 128 || format_.page_size > 4096 || geometry_.program_unit > geometry_.block_size) {
        why = "a block header makes no sense";
        return false;
    }
    const std::uint64_t capacity = geometry_.capacity();
    missing_blocks_ =
        size_ < capacity ? static_cast<std::uint32_t>(geometry_.blocks - size_ / geometry_.block_size) : 0;
    dump_ = std::make_unique<FlashDump>(file_, options.offset, geometry_);
    // The dump does not tell with which FlashOptions::changes the chip was written. Take the smallest that the mount
    // accepts: the space that the driver has for the file depends on it.
    Status status = Status::over_budget;
    for (mount_options.changes = 32; status == Status::over_budget && mount_options.changes <= 1024;
         mount_options.changes = static_cast<std::uint16_t>(2 * mount_options.changes)) {
        memory_.assign(FlashDriver::required_memory(geometry_, format_, mount_options) / sizeof(std::uint64_t) + 1, 0);
        driver_ = std::make_unique<FlashDriver>(
            *dump_, Bytes(reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * sizeof(std::uint64_t)));
        status = driver_->mount(mount_options);
    }
    if (status != Status::ok) {
        why = explain(status, driver_->usage()) + " (" + to_string(status) + ")";
    }
    return status == Status::ok;
}

bool FlashImage::open(const FlashImageOptions& options, Report& report) {
    const char* const name = options.name.c_str();
    file_ = std::fopen(name, "rb");
    if (file_ == nullptr || fseeko(file_, 0, SEEK_END) != 0) {
        report.error("%s: %s", name, std::strerror(errno));
        return false;
    }
    const auto size = static_cast<std::uint64_t>(ftello(file_));
    size_ = size > options.offset ? size - options.offset : 0;
    bool blank = true;
    const std::vector<Candidate> candidates = find_candidates(options, blank);
    if (candidates.empty()) {
        report.error("%s %s (%s)", name,
                     blank ? "is blank: no block was ever used" : "holds nothing of the flash driver",
                     to_string(blank ? Status::not_found : Status::corrupt_file));
        return false;
    }
    std::string first_reason;
    for (const Candidate& candidate : candidates) {
        std::string why;
        if (!options.allow_truncated && size_ < candidate.geometry.capacity()) {
            why = "is truncated: " + std::to_string(size_) + " of " + std::to_string(candidate.geometry.capacity()) +
                  " bytes of the chip; --truncated reads what is there";
        } else if (mount(candidate, options, why)) {
            return true;
        }
        first_reason = first_reason.empty() ? why : first_reason;
    }
    report.error("%s %s", name, first_reason.c_str());
    return false;
}

}  // namespace h5mote::cli
