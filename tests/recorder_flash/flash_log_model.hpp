// What the log of a FlashRecorder must hold, and a player that appends rows, flushes and fails, and knows it.
//
// Every open() begins a generation. A row tells its generation and its number in it; the other bytes, and the dataset
// that it is appended to, follow from these. So the log must hold, generation by generation, the rows from 0 on: all
// that were flushed, and none that was never appended.
#pragma once

#include "../powercut/random.hpp"
#include "any_flash_recorder.hpp"

#include "flash_recording.hpp"

#include <functional>
#include <string>

namespace h5mote_test {

/// What a log may hold.
struct AllowedLog {
    struct Generation {
        std::uint32_t flushed = 0;   ///< rows that were acknowledged
        std::uint32_t appended = 0;  ///< rows that may be there
    };
    std::vector<Generation> generations;
    std::vector<Blob> settings;  ///< the values that all settings may have together
    bool begun = false;          ///< a recording must be there

    static AllowedLog blank(const AnyFlashRecorder::Facts& facts) { return {{}, {facts.values}, false}; }
};

/// What `h5mote extract` finds in a log.
struct FoundLog {
    struct Row {
        std::uint32_t generation;
        std::uint32_t number;
        std::uint32_t segment;
    };
    bool is_there = false;
    std::vector<Row> rows;
    Blob settings;
    std::uint32_t next_segment = 0;  ///< that of the block that is erased next
};

/// The bytes of a row, and the dataset that it belongs to.
void make_log_row(std::uint32_t generation, std::uint32_t number, std::vector<std::byte>& row);
std::size_t dataset_of(std::uint32_t generation, std::uint32_t number, std::size_t datasets);

/// Takes the rows out of a log that was read. Returns what is wrong with them; empty: nothing. `passed`: so many blocks
/// may be bad one after the other.
std::string take_rows(const h5mote::cli::FlashRecording& recording, const AnyFlashRecorder::Facts& facts,
                      std::uint32_t passed, FoundLog& found);
/// Reads a log. A log that is damaged is wrong, too.
std::string read_log(h5mote::FlashDevice& device, const AnyFlashRecorder::Facts& facts, std::uint32_t passed,
                     FoundLog& found);
/// Says what is wrong with a log. `before`: what was there earlier, none of which a ring may have lost, but for the
/// segments that are emptied.
std::string judge_log(const FoundLog& found, const AllowedLog& allowed, std::uint32_t segments, const FoundLog* before);

/// Passes calls on until the program is killed.
class MortalDevice final : public h5mote::FlashDevice {
public:
    explicit MortalDevice(h5mote::FlashDevice& chip) : chip_(chip) {}
    /// The `calls`-th call from now on fails, and so do all later ones. 0: none does.
    void kill_at(std::uint64_t calls) {
        left_ = calls;
        dead_ = false;
    }
    bool is_dead() const { return dead_; }

    h5mote::FlashGeometry geometry() const noexcept override { return chip_.geometry(); }
    h5mote::Status read(std::uint32_t block, std::uint32_t offset, h5mote::Bytes to) noexcept override {
        return live() ? chip_.read(block, offset, to) : h5mote::Status::io_error;
    }
    h5mote::Status program(std::uint32_t block, std::uint32_t offset, h5mote::ConstBytes from) noexcept override {
        return live() ? chip_.program(block, offset, from) : h5mote::Status::io_error;
    }
    h5mote::Status erase(std::uint32_t block) noexcept override {
        return live() ? chip_.erase(block) : h5mote::Status::io_error;
    }
    h5mote::Status is_bad(std::uint32_t block, bool& bad) noexcept override {
        return live() ? chip_.is_bad(block, bad) : h5mote::Status::io_error;
    }
    h5mote::Status mark_bad(std::uint32_t block) noexcept override {
        return live() ? chip_.mark_bad(block) : h5mote::Status::io_error;
    }

private:
    bool live() noexcept {
        dead_ = dead_ || (left_ != 0 && --left_ == 0);
        return !dead_;
    }

    h5mote::FlashDevice& chip_;
    std::uint64_t left_ = 0;
    bool dead_ = false;
};

class FlashPlay {
public:
    /// `operations` counts what has reached the chip so far; none: at() is not asked.
    FlashPlay(AnyFlashRecorder& recorder, h5mote::FlashDevice& chip, AllowedLog begin,
              std::function<std::size_t()> operations)
        : recorder_(recorder), device_(chip), now_(std::move(begin)), operations_(std::move(operations)) {}

    void open();
    void append(std::size_t rows);
    void flush();
    void set(std::size_t setting, std::uint64_t seed);
    void close();
    void abandon() { recorder_.base().abandon(); }
    void kill_at(std::uint64_t calls) { device_.kill_at(calls); }
    /// An error that is expected from now on.
    void allow(h5mote::Status status) { allowed_.push_back(status); }

    bool is_open() { return recorder_.base().is_open(); }
    /// Whether the chip refused something: it is full, or no block that is left can be used.
    bool is_full() const { return is_full_; }
    const AllowedLog& now() const { return now_; }
    /// What a cut within an operation may leave.
    const AllowedLog& at(std::size_t operation) const { return operation < during_.size() ? during_[operation] : now_; }

    /// The first error that nobody allowed; after it, nothing is done any more.
    std::string failure;

private:
    template <typename Call>
    h5mote::Status call(const char* name, const Call& call);
    void acknowledge();

    AnyFlashRecorder& recorder_;
    MortalDevice device_;
    AllowedLog now_;
    std::function<std::size_t()> operations_;
    std::vector<AllowedLog> during_;
    std::vector<h5mote::Status> allowed_;
    std::vector<Blob> changed_;  // for each setting, the value that this session gave it
    bool is_full_ = false;
};

/// How much a random play does at most.
struct PlaySize {
    std::size_t sessions = 3;
    std::size_t calls = 12;
    std::size_t rows = 60;  ///< of one call
};
/// Sessions of random calls, which end in all ways.
void play_at_random(FlashPlay& play, const AnyFlashRecorder::Facts& facts, Random& random, const PlaySize& size);

}  // namespace h5mote_test
