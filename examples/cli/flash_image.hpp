// The raw dump of a flash chip as a read-only flash device, and the file that the flash driver finds in it.
#pragma once

#include "flash_recording.hpp"
#include "report.hpp"

#include <h5mote/vfd/flash.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace h5mote::cli {

/// The options that all commands which read a flash dump have.
struct FlashImageOptions {
    std::string name;
    std::uint64_t offset = 0;      ///< where in the dump the driver's blocks begin
    std::uint32_t block_size = 0;  ///< erase block size to look for; 0: any
    bool allow_truncated = false;
};

void add_flash_image_options(CLI::App& command, FlashImageOptions& options);

/// The bytes of a dump from an offset on, as a flash device. Reading beyond the end of the dump fails.
class FlashDump final : public FlashDevice {
public:
    FlashDump(std::FILE* file, std::uint64_t offset, const FlashGeometry& geometry)
        : file_(file), offset_(offset), geometry_(geometry) {}

    FlashGeometry geometry() const noexcept override { return geometry_; }
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to) noexcept override;
    Status program(std::uint32_t, std::uint32_t, ConstBytes) noexcept override { return Status::read_only; }
    Status erase(std::uint32_t) noexcept override { return Status::read_only; }

private:
    std::FILE* file_;
    std::uint64_t offset_;
    FlashGeometry geometry_;
};

/// What kinds of logs have blocks in a dump.
struct FlashLogs {
    bool driver = false;       ///< a FlashDriver's
    bool recorder = false;     ///< a FlashRecorder's
    FlashGeometry recorded{};  ///< the geometry that most blocks of the latter name
};
/// Looks for blocks of both kinds. Nothing is found if the dump cannot be read, which FlashImage::open() reports.
FlashLogs find_flash_logs(const FlashImageOptions& options);

/// A dump with the log of a FlashRecorder.
class RecordingImage {
public:
    RecordingImage() = default;
    RecordingImage(const RecordingImage&) = delete;
    RecordingImage& operator=(const RecordingImage&) = delete;
    ~RecordingImage();

    /// Reads the log. Returns false after reporting why that failed.
    bool open(const FlashImageOptions& options, const FlashGeometry& geometry, Report& report);
    const FlashRecording& recording() const { return recording_; }
    /// Number of blocks of the chip that the dump does not hold, or holds in part only.
    std::uint32_t missing_blocks() const { return missing_blocks_; }

private:
    std::FILE* file_ = nullptr;
    std::uint32_t missing_blocks_ = 0;
    FlashRecording recording_;
};

/// A dump, mounted by the flash driver so that the file in it can be read.
class FlashImage {
public:
    FlashImage() = default;
    FlashImage(const FlashImage&) = delete;
    FlashImage& operator=(const FlashImage&) = delete;
    ~FlashImage();

    /// Finds the chip's geometry in the block headers of the dump and mounts it. Returns false after reporting why that
    /// failed.
    bool open(const FlashImageOptions& options, Report& report);
    FlashDriver& driver() { return *driver_; }
    const FlashGeometry& geometry() const { return geometry_; }
    const FlashFormat& format() const { return format_; }
    /// Number of blocks of the chip that the dump does not hold, or holds in part only.
    std::uint32_t missing_blocks() const { return missing_blocks_; }

private:
    struct Candidate {
        FlashGeometry geometry;
        FlashFormat format;
        std::uint32_t blocks;  // number of block headers that name this geometry and format
    };

    std::vector<Candidate> find_candidates(const FlashImageOptions& options, bool& blank);
    bool mount(const Candidate& candidate, const FlashImageOptions& options, std::string& why);

    std::FILE* file_ = nullptr;
    std::uint64_t size_ = 0;  // bytes of the dump from the offset on
    FlashGeometry geometry_;
    FlashFormat format_;
    std::uint32_t missing_blocks_ = 0;
    std::unique_ptr<FlashDump> dump_;
    std::vector<std::uint64_t> memory_;
    std::unique_ptr<FlashDriver> driver_;
};

}  // namespace h5mote::cli
