// H5FD (journal) - home and log, which is what a JournalDriver consists of.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/vfd/journal.hpp>

namespace h5mote {

/// Each function does what the function of JournalDriver with the same name says.
class RedoLog {
public:
    RedoLog(Driver& home, Driver& log, Bytes memory) noexcept : home_(home), log_(log), memory_(memory) {}
    RedoLog(const RedoLog&) = delete;
    RedoLog& operator=(const RedoLog&) = delete;
    ~RedoLog() { release_locks(); }

    Status open(const JournalOptions& options) noexcept;
    const JournalReport& report() const noexcept { return report_; }
    Status erase_log() noexcept;
    Status close() noexcept;

    Capabilities capabilities() const noexcept;
    Status read(Usage usage, std::uint64_t from, Bytes to) noexcept;
    Status write(std::uint64_t to, ConstBytes from) noexcept;
    Status sync() noexcept;
    Status end_of_file(std::uint64_t& size) noexcept;
    Status truncate(std::uint64_t length) noexcept;
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept;
    Status discard() noexcept;
    Driver& home() const noexcept { return home_; }
    std::int32_t last_error() const noexcept {
        const std::int32_t error = log_.last_error();
        return error != 0 ? error : home_.last_error();
    }
    /// Lock and unlock both storages, unless open() has locked them already.
    Status lock(bool exclusive) noexcept { return held_ ? Status::ok : lock_both(exclusive); }
    Status unlock() noexcept { return held_ ? Status::ok : unlock_both(); }

private:
    Status lock_both(bool exclusive) noexcept;
    Status unlock_both() noexcept;
    void release_locks() noexcept;

    struct Record;
    struct Header;
    struct Place;

    std::uint32_t position() const noexcept { return buffer_at_ + used_; }
    std::uint32_t& list(Address address) noexcept;
    void clear() noexcept;

    // journal_open.cpp: what the log holds when it is opened.
    Status look() noexcept;
    bool lay_out(std::uint32_t lists) noexcept;
    Status find_header(Header& header) noexcept;
    Status read_header(Header& header, unsigned slot, bool& valid, bool& blank) noexcept;
    Status torn_at_first(bool& torn) noexcept;
    Status recover(const Header& header) noexcept;
    Status scan() noexcept;
    Status follows(std::uint32_t at, const Record& record, std::uint32_t chain, bool& valid) noexcept;
    Status index(const Header& header, std::uint32_t& touched, bool& newer) noexcept;
    Status belongs(const Header& header, std::uint32_t touched, bool& same) noexcept;
    Status refuse(JournalState state, Status status) noexcept;

    // journal_write.cpp: writing the log.
    Status begin() noexcept;
    Status start_round() noexcept;
    Status sum_cell(Address at, Address size, std::uint32_t& sum, bool& there) noexcept;
    std::uint32_t log_bytes_for(std::uint32_t ranges, std::uint64_t bytes) const noexcept;
    Status reserve(std::uint64_t bytes) noexcept;
    Status reserve_or_carry_over(std::uint64_t bytes) noexcept;
    Status make_room(Address end, std::uint32_t log_bytes) noexcept;
    bool extend_last(Address address, ConstBytes from) noexcept;
    Status put(std::uint8_t type, Address address, ConstBytes payload) noexcept;
    void close_last() noexcept;
    Status flush() noexcept;
    void undo(const Place& place) noexcept;
    Status witness(Address address) noexcept;
    Status put_pieces(Address address, ConstBytes from) noexcept;
    Status commit(bool changes_home) noexcept;
    Status checkpoint() noexcept;
    Status apply() noexcept;
    Status cut_home(Address size) noexcept;
    Status apply_piece(std::uint32_t at, const Record& record) noexcept;

    // journal_read.cpp: reading the file through the log.
    Status fetch(std::uint32_t at, Bytes to) noexcept;
    Status fetch_record(std::uint32_t at, Record& record) noexcept;
    Status read_base(Usage usage, Address address, Bytes to) noexcept;
    Status read_window(Usage usage, Address address, Bytes to) noexcept;

    Driver& home_;
    Driver& log_;
    Bytes memory_;
    Bytes buffer_;                    // records that are not yet in the log's storage, from its position buffer_at_ on
    std::uint32_t* lists_ = nullptr;  // log position of the newest piece of each list, 0: none
    JournalOptions options_;
    JournalReport report_;
    Address file_size_ = 0;
    Address base_ = 0;            // the home's bytes count up to here; behind are zeros
    Address home_size_ = 0;       // bytes that the home has
    Address newest_ = 0;          // address of the last piece that was carried over
    Address lowest_cut_ = 0;      // shortest length that the file had in this round
    std::uint32_t log_size_ = 0;  // bytes that the log's storage has, as far as positions reach
    std::uint32_t kept_ = 0;      // bytes of log that keep_room() keeps
    std::uint32_t granted_ = 0;   // bytes of log that the last keep_room() gave up, for the writes after it
    std::uint32_t sequence_ = 0;  // of the newest header
    std::uint32_t chain_ = 0;     // checksum of the last complete record
    std::uint32_t witness_ = 0;   // checksum of the home's bytes that the pieces of this round replace
    std::uint32_t buffer_at_ = 0;
    std::uint32_t used_ = 0;       // bytes of the buffer
    std::uint32_t last_ = 0;       // offset in the buffer of the record that can still be extended, kNone: none
    std::uint32_t last_cut_ = 0;   // log position of the newest cut, 0: none
    std::uint32_t committed_ = 0;  // log position behind the last commit that is durable
    bool open_ = false;
    bool held_ = false;  // open() locked home and log
    bool writable_ = false;
    bool begun_ = false;       // the header of this round is written
    bool barrier_ = false;     // that header must be durable before the first record
    bool pending_ = false;     // there are changes since the last commit record
    bool unsynced_ = false;    // there is a commit record that is not known to be durable
    bool may_change_ = false;  // a commit record permits to change the home
    bool broken_ = false;      // the log in memory is not what it should be; only open() helps
};

}  // namespace h5mote
