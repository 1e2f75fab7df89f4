// The log that a FlashRecorder left on a flash chip, and the file that it is made into.
#pragma once

#include <h5mote/driver.hpp>
#include <h5mote/flash_recording.hpp>
#include <h5mote/vfd/flash_device.hpp>

#include <optional>
#include <string>
#include <vector>

namespace h5mote::cli {

/// Reads a log. Everything that the recorder acknowledged is found, in the order in which it was appended. What was
/// damaged since is repaired where one bit is wrong; other damage is listed, and what stands around it is read.
class FlashRecording {
public:
    /// Whether a block with these first bytes belongs to a log, and the geometry of its chip, with the program unit as
    /// page.
    static bool identify(ConstBytes first, FlashGeometry& geometry);

    /// Rows of one dataset, as the file holds them.
    struct Rows {
        std::uint32_t segment;
        std::uint32_t dataset;
        std::vector<std::byte> bytes;
    };
    /// Bytes of a block that are part of the log and cannot be read.
    struct Damage {
        std::uint32_t block;
        std::uint32_t offset;
        std::uint32_t size;
    };

    /// Reads the whole log of a chip. False: there is none, and why() says why.
    bool read(FlashDevice& device);
    const std::string& why() const { return why_; }

    const RecordingHead& head() const { return head_; }
    const std::vector<std::byte>& recipe() const { return recipe_; }
    const std::vector<Rows>& rows() const { return rows_; }
    /// The values of all settings, one after the other; empty if they stand nowhere.
    const std::vector<std::byte>& settings() const { return settings_; }
    const std::vector<Damage>& damages() const { return damages_; }
    /// Frames in which a flipped bit was repaired.
    unsigned repaired() const { return repaired_; }
    /// Number of the newest segment.
    std::uint32_t newest_segment() const { return head_.segment(chain_.front().sequence); }
    /// The number of blocks that the log takes.
    std::size_t blocks() const { return chain_.size(); }

private:
    struct Frame {
        std::uint32_t offset;
        std::vector<std::byte> bytes;
        unsigned kind() const { return static_cast<unsigned>(bytes[2]) & 0x7fU; }
        bool commits() const { return (bytes[2] & std::byte{RecordingFrame::kCommit}) != std::byte{0}; }
    };
    struct Block {
        std::uint32_t block;
        std::uint32_t sequence;
        bool has_head;       // it says where the log went before
        bool is_head_sound;  // no bit of it is flipped
        std::vector<Frame> frames;
        std::vector<Damage> damages;
        unsigned repaired;
    };

    bool load_head(std::uint32_t block, RecordingHead& head);
    bool load_mended_head(std::uint32_t block, RecordingHead& head);
    void load_block(std::uint32_t block);
    std::uint32_t frame_at(std::uint32_t offset, std::uint32_t sequence) const;
    bool repair(std::uint32_t offset, std::uint32_t end, std::uint32_t sequence);
    Block walk(std::uint32_t block, std::uint32_t sequence, std::uint32_t end, bool is_end_known);
    std::uint32_t block_of(std::uint32_t sequence) const;
    bool find_newest();
    bool find_chain();
    void add(Block&& block);
    bool collect();
    void drop_emptied();
    bool collect_recipe();
    void collect_frame(const Frame& frame, const Block& from);
    void collect_settings(const Block& from);

    FlashDevice* device_ = nullptr;
    FlashGeometry geometry_;
    std::uint32_t granule_ = 4;
    std::string why_;
    RecordingHead head_{};          // of the newest block
    std::uint32_t newest_ = 0;      // that block
    std::vector<Block> chain_;      // the blocks of the log, the newest first
    std::vector<std::byte> now_;    // the block that was loaded last
    std::vector<bool> unreadable_;  // of its granules
    std::vector<std::byte> recipe_;
    std::vector<std::byte> settings_;
    std::vector<Rows> rows_;
    std::vector<Damage> damages_;
    unsigned repaired_ = 0;
};

/// How a log is made into a file.
struct RecordingOptions {
    bool join = false;  ///< the datasets of a ring become one, in order of time
};

/// Writes the file of a log to an empty storage. corrupt_file: the blueprint in the log makes no sense, or does not fit
/// its rows. Errors of the driver.
Status write_recording(const FlashRecording& recording, const RecordingOptions& options, Driver& driver);

}  // namespace h5mote::cli
