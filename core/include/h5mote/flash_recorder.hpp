// H5FD H5F H5D - the recorder for a raw flash chip without a file system: rows go to the chip once, in order.
//
//     static h5mote::FlashRecorder<kFlight> recorder;
//     constexpr auto kImu = h5mote::blueprint::dataset_number<kFlight>("flight/imu");
//
//     H5MOTE_TRY(recorder.open(chip));             // begins a recording, or goes on with it
//     H5MOTE_TRY(recorder.append<kImu>(sample));   // a copy into the frame in memory
//     H5MOTE_TRY(recorder.flush());                // durable when it returns ok
//
// `h5mote extract` makes the blueprint's file out of a dump of the chip, which is all that it needs. The chip is NOR or
// NAND, on-chip or behind SPI; an EEPROM or FRAM, which need no erase, do as well.
//
// What a power cut leaves: every row for which flush() returned ok is in the file. Rows appended since are there from
// the first on, up to some row, or not at all. Settings are old or new. Blocks in which an erase or a program fails are
// passed over, and nothing that was appended is lost with them. After a power cut or a restart the log goes on in a new
// block, since nothing tells how far the old one was programmed.
//
// If the blueprint's datasets are rings (blueprint::ring()), the log never ends: the chip is divided into as many
// segments as a ring has datasets, and when it is full, the oldest segment is emptied. All blocks wear alike: their
// numbers of erases differ by one at most.
#pragma once

#include <h5mote/blueprint_recipe.hpp>
#include <h5mote/status.hpp>
#include <h5mote/vfd/flash_device.hpp>

#include <cstring>

namespace h5mote {

/// The part of a FlashRecorder that does not depend on its blueprint.
class FlashRecorderBase {
public:
    FlashRecorderBase(const FlashRecorderBase&) = delete;
    FlashRecorderBase& operator=(const FlashRecorderBase&) = delete;

    /// Whether open() or format() has returned ok and nothing has closed the recorder since.
    bool is_open() const noexcept { return device_ != nullptr; }

    /// Makes all rows that were appended and all settings durable: one program, or two where a page of the chip ends
    /// or settings were changed; nothing if nothing changed. no_space, io_error: what was durable still is, and the
    /// next flush() tries again. invalid_handle.
    Status flush() noexcept;
    /// flush(), and lets go of the chip. Errors of flush(); the recorder is closed all the same.
    Status close() noexcept;
    /// Closes the recorder without writing anything. Rows that were not flushed are lost.
    void abandon() noexcept;

protected:
    // What of a blueprint the recorder needs while it runs.
    struct Plan {
        const std::byte* recipe;  // see flash_recording.hpp
        std::uint32_t recipe_size;
        std::uint32_t fingerprint;
        std::uint32_t window;    // bytes of the largest frame
        std::uint32_t settings;  // bytes of the values of all settings
        std::uint32_t frame;     // bytes of a frame for which each block has room
        std::uint32_t segments;
    };
    // The blueprint is not cut into smaller pieces.
    static constexpr std::uint32_t kLeastRecipe = 24;
    // Bytes of the head of a block with so many bytes of settings.
    static constexpr std::uint32_t head_size(std::uint32_t settings) noexcept {
        return static_cast<std::uint32_t>(sizeof(RecordingHead)) + (settings == 0 ? 0 : settings + 4);
    }

    constexpr FlashRecorderBase() noexcept = default;
    ~FlashRecorderBase() = default;

    // `memory`: room for the head of a block and for a frame.
    Status open(FlashDevice& device, const Plan& plan, std::byte* memory, bool anew) noexcept;
    // Makes room in the frame for a row of `size` bytes of dataset `number`.
    Status advance(unsigned number, unsigned size) noexcept;
    // Where the value of a setting stands, to be changed; nullptr if the recorder is not open.
    std::byte* change_setting(std::uint32_t offset) noexcept;

    unsigned number_ = 0;        // dataset of the section to which next_ belongs; kNoSection if there is none
    std::byte* next_ = nullptr;  // where the next row goes
    std::byte* end_ = nullptr;   // end of the room for rows

private:
    static constexpr unsigned kNoSection = ~0U;
    enum class Unwritten : std::uint8_t {
        nothing,
        settings,  // settings were changed since they were last written
        head       // only the head of the open block, which does not count yet, has those that were changed
    };

    std::byte* settings() const noexcept { return reinterpret_cast<std::byte*>(head_ + 1); }
    std::uint32_t granule() const noexcept { return geometry_.program_unit < 4 ? 4 : geometry_.program_unit; }
    // Offset of the first frame in a block.
    std::uint32_t first() const noexcept { return (head_size(plan_->settings) + granule() - 1) & ~(granule() - 1); }
    std::uint32_t room() const noexcept { return geometry_.block_size - offset_; }
    void next_block() noexcept { block_ = block_ + 1 == geometry_.blocks ? 0 : block_ + 1; }

    // flash_recorder.cpp: writing
    Status check_geometry() noexcept;
    std::uint32_t shape() const noexcept;
    Status create() noexcept;
    Status make_room(std::uint32_t size) noexcept;
    void begin_frame(RecordingFrame::Kind kind) noexcept;
    std::byte kind_in_memory() const noexcept {
        return buffer_[2] & static_cast<std::byte>(~RecordingFrame::kCommit & 0xff);
    }
    void end_section() noexcept;
    Status write_frame() noexcept;
    Status write_recipe() noexcept;
    Status begin_block() noexcept;
    bool is_at_limit() const noexcept;
    Status start_over() noexcept;
    Status erase_again(bool& erased) noexcept;
    void clear() noexcept;
    Status write_head() noexcept;
    Status program(std::uint32_t size) noexcept;

    // flash_recorder_open.cpp: finding the end of the log
    Status start(bool anew) noexcept;
    Status scan(bool& found, bool& foreign) noexcept;
    Status erase_torn() noexcept;
    Status resume() noexcept;
    Status resume_in(std::uint32_t block, std::uint32_t sequence, bool& found) noexcept;
    Status last_frame(std::uint32_t block, std::uint32_t sequence, std::uint32_t& at) noexcept;
    bool may_be_torn(const std::byte* bytes) const noexcept;
    Status load_head(std::uint32_t block, RecordingHead& head, bool& good, bool& blank) noexcept;
    Status load_frame(std::uint32_t block, std::uint32_t offset, std::uint32_t sequence, std::uint32_t& size) noexcept;
    Status read_mended(std::uint32_t block, std::uint32_t offset, std::uint32_t size, std::uint32_t seed,
                       bool& good) noexcept;
    Status load_settings(std::uint32_t block, std::uint32_t sequence, bool& good) noexcept;
    Status read(std::uint32_t block, std::uint32_t offset, Bytes to, bool& good) noexcept;

    FlashDevice* device_ = nullptr;
    const Plan* plan_ = nullptr;
    RecordingHead* head_ = nullptr;  // of the open block; the values of the settings follow it
    std::byte* buffer_ = nullptr;    // the frame in memory
    std::byte* section_ = nullptr;   // the head of the section to which next_ belongs
    FlashGeometry geometry_{0, 0, 0, 0, 0};
    std::uint32_t block_ = 0;           // the open block, or the last one before the log goes on
    std::uint32_t offset_ = 0;          // where in it the next frame goes; the size of a block if none is open
    std::uint32_t counted_ = 0;         // sequence of the last block with a frame that counts
    std::uint32_t counted_end_ = 0;     // where the log ended there; 0: nothing counts yet
    std::uint32_t held_sequence_ = 0;   // of the block with the first frame that waits for the blueprint to count
    std::uint32_t held_ = 0;            // offset of this frame; 0: there is none
    std::uint32_t recipe_done_ = 0;     // so many bytes of the blueprint stand in the segment
    std::uint32_t recipe_segment_ = 0;  // number of that segment
    std::uint8_t restarts_ = 0;         // how often the log went back since a frame counted
    bool resumed_ = false;              // the frame in memory stands on the chip already
    bool has_rows_ = false;             // a frame counts that is no piece of the blueprint
    Unwritten unwritten_ = Unwritten::nothing;
};

/// Fills the file of a blueprint on a flash chip: `constexpr auto kFlight = blueprint::file(...);
/// static FlashRecorder<kFlight> recorder;` Window: bytes of the frame in memory, a multiple of the chip's program unit
/// and of four, so on NAND at least a page; the largest row and 11 bytes must fit. Rows that are appended between two
/// flushes share frames, with 11 bytes for each frame and 3 more wherever the dataset changes. The recorder allocates
/// nothing: it takes Window bytes, the settings, and about 140 bytes more. All members are zero at first. Not
/// thread-safe.
template <const auto& Blueprint, std::uint32_t Window = 512>
class FlashRecorder : public FlashRecorderBase {
    using Image = blueprint::Image<Blueprint>;
    template <std::size_t I>
    using Row = typename Image::template Row<I>;

public:
    /// Begins a recording on a chip whose blocks are blank, or goes on with one of this blueprint. `device` is borrowed
    /// until close(). The chip is only read where a recording is found: it is programmed when something is appended.
    /// The number of reads is bounded by the number of blocks and the size of a block.
    /// Before a recording is begun, blocks in which a power cut may have left the head of an earlier attempt are
    /// erased; on a chip whose ECC rejects erased bytes, that is every block that cannot be read.
    ///
    /// busy: the recorder is open. invalid_argument: the geometry makes no sense, or blocks or segments are too small
    /// for the rows or the blueprint; the two segments of a ring of two have two blocks at least. over_budget: the
    /// chip's program unit, or a frame that a recorder with a larger Window wrote, does not fit into Window. not_hdf5:
    /// the chip holds something that is no recording; blank means that the first bytes of all blocks but the first one
    /// that is good are erased, unreadable for the chip's ECC, or what a power cut left of the first bytes of such a
    /// recording. other_blueprint: the recording is one of another blueprint. unsupported: of a later version.
    /// corrupt_file: it was made with another geometry, or is damaged beyond what a power cut can do. no_space: the
    /// blueprint does not fit into the good blocks. io_error: the chip does not answer, or no block is good. After an
    /// error the chip is unchanged, but for a recording that was begun where none was.
    Status open(FlashDevice& device) noexcept { return FlashRecorderBase::open(device, kPlan, memory_, false); }
    /// Begins a new recording, whatever the chip holds. What it held is lost as soon as this returns ok, and may be
    /// lost if the power fails meanwhile: open() may then find the old log without its blueprint, to which nothing can
    /// be appended (no_space) and from which nobody can make a file. Call format() again after such a failure. Errors
    /// of open(), but for those that the old contents cause.
    Status format(FlashDevice& device) noexcept { return FlashRecorderBase::open(device, kPlan, memory_, true); }

    /// Appends one row to a dataset: its number is blueprint::dataset_number(), which in a ring is that of the first
    /// dataset: the ring's turn decides where the row comes to stand. When an error is returned, the row was not taken.
    /// Programs the chip only when the frame in memory is full. invalid_handle: the recorder is not open. no_space: the
    /// chip is full; what was appended before can be flushed. io_error.
    template <std::size_t I>
    Status append(const Row<I>& row) noexcept {
        static_assert(I % kSegments == 0, "h5mote: rows are appended to a ring, not to one of its datasets");
        if (number_ != I || static_cast<std::size_t>(end_ - next_) < sizeof row) {
            H5MOTE_TRY(advance(I, sizeof row));
        }
        std::memcpy(next_, &row, sizeof row);
        if constexpr (kNativeOrder == ByteOrder::big) {
            blueprint::detail::swap_numbers(detail::kEncoded<Row<I>, TypeLayout::memory>.bytes, next_);
        }
        next_ += sizeof row;
        return Status::ok;
    }
    /// Appends rows. `taken`, if not nullptr, says how many were taken, also after an error.
    template <std::size_t I>
    Status append(Span<const Row<I>> rows, std::size_t* taken = nullptr) noexcept {
        Status status = Status::ok;
        std::size_t i = 0;
        while (i < rows.size() && (status = append<I>(rows[i])) == Status::ok) {
            ++i;
        }
        if (taken != nullptr) {
            *taken = i;
        }
        return status;
    }

    /// Gives a setting a value: its number is blueprint::setting_number(). It is durable after the next flush(), which
    /// writes all settings; before the first row after open() that costs nothing. invalid_handle.
    template <std::size_t I>
    Status set(const typename Image::template Value<I>& value) noexcept {
        constexpr auto kAttributes = blueprint::detail::span(blueprint::detail::kParts<Blueprint>.attributes);
        static_assert(blueprint::detail::is_set_by_program(kAttributes[I]),
                      "h5mote: a ring's sequence follows from the log");
        std::byte* const at = change_setting(blueprint::detail::setting_bytes(kAttributes, I));
        if (at == nullptr) {
            return Status::invalid_handle;
        }
        const auto stored = blueprint::detail::store(value);
        std::memcpy(at, stored.bytes, sizeof value);
        return Status::ok;
    }

private:
    static constexpr std::uint32_t kSegments = blueprint::detail::kSegments<Blueprint>;
    static constexpr auto& kRecipe = blueprint::detail::kRecipe<Blueprint>;
    static constexpr std::uint32_t largest_row() noexcept {
        std::uint32_t row = 0;
        for (std::size_t i = 0; i < Image::kDatasets; ++i) {
            row = Image::kTable.datasets[i].row > row ? Image::kTable.datasets[i].row : row;
        }
        return row;
    }
    static constexpr std::uint32_t kSettings =
        blueprint::detail::setting_bytes(blueprint::detail::span(blueprint::detail::kParts<Blueprint>.attributes),
                                         blueprint::detail::kParts<Blueprint>.attributes.size());
    // A row, the settings, or some of the blueprint.
    static constexpr std::uint32_t largest_frame() noexcept {
        const std::uint32_t row = largest_row() + RecordingFrame::kSectionHead;
        const std::uint32_t most = row > kSettings ? row : kSettings;
        return RecordingFrame::kSmallest + (most > kLeastRecipe ? most : kLeastRecipe);
    }
    static constexpr Plan kPlan{kRecipe.data(),
                                static_cast<std::uint32_t>(kRecipe.size()),
                                detail::lookup3_constant(kRecipe.data(), kRecipe.size()),
                                Window,
                                kSettings,
                                largest_frame(),
                                kSegments};

    static_assert(Window % 4 == 0 && Window >= 64 && Window <= 32768,
                  "h5mote: the window of a FlashRecorder is a multiple of 4 from 64 to 32768");
    static_assert(largest_row() + RecordingFrame::kSmallest + RecordingFrame::kSectionHead <= Window,
                  "h5mote: a row of the blueprint does not fit into the window of the FlashRecorder");
    static_assert(head_size(kSettings) <= Window && kSettings + RecordingFrame::kSmallest <= Window,
                  "h5mote: the settings of the blueprint do not fit into the window of the FlashRecorder");
    static_assert(Image::kDatasets <= 255, "h5mote: a FlashRecorder has at most 255 datasets");
    static_assert(
        blueprint::detail::filter_memory(blueprint::detail::span(blueprint::detail::kParts<Blueprint>.objects)) == 0,
        "h5mote: a FlashRecorder stores rows as they are; its blueprint has no filters");
    static_assert(kSegments != 0,
                  "h5mote: for a FlashRecorder all datasets of the blueprint are rings with equally "
                  "many datasets each, or none is");

    alignas(RecordingHead) std::byte memory_[head_size(kSettings) + Window]{};
};

}  // namespace h5mote
