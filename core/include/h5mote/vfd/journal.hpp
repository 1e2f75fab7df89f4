// H5FD - a redo log around any other storage: everything between two syncs appears wholly or not at all.
#pragma once

#include <h5mote/driver.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Chosen at each opening.
struct JournalOptions {
    /// Bytes of log from which on sync() carries over into the file what the log holds, and empties it. More make this
    /// rarer, and opening after a power cut and reading what was just written slower.
    std::uint32_t checkpoint = 32 * 1024;
    /// Most bytes that the log may take, what fits its storage if that cannot grow. One transaction (all between two
    /// syncs) fits into what is left of it: write() is no_space before. A sync carries over at half of it at the
    /// latest.
    std::uint32_t limit = 0xffffffff;
    /// Lists through which reading finds what is in the log, a power of two, 4 bytes of memory each. Their length, and
    /// with it the cost of reading what was just written, is the number of writes in the log divided by their number.
    std::uint16_t lists = 64;
    /// Whether the home's end_of_file() says how long the file is. false for a raw card, or a region of one: the log
    /// then keeps the length, and without a log the file is empty.
    bool home_has_end = true;
    /// Whether open() locks home and log, until close() or the driver's end: nobody else recovers or uses them. Those
    /// who only read share. FileAccess::file_locking then makes no difference.
    bool file_locking = true;
    /// Changes neither home nor log, and shows the file as the log would make it. So does a home or log that is not
    /// writable.
    bool read_only = false;
};

/// What open() found in the log.
enum class JournalState : std::uint8_t {
    none,           ///< not opened yet
    blank,          ///< no log yet: what is written first makes one
    clean,          ///< all was in the file already
    replayed,       ///< transactions, now in the file
    pending,        ///< transactions, shown on top of a file that is only read
    other_file,     ///< transactions that belong to another file, or the file was changed since
    not_a_journal,  ///< something else, which is left alone
    damaged,        ///< a log whose beginning cannot be read
    newer,          ///< a log of a later version
};

/// What open() found and did.
struct JournalReport {
    JournalState state = JournalState::none;
    bool unfinished = false;         ///< behind the last commit stood a transaction that was never acknowledged
    std::uint32_t transactions = 0;  ///< commits in the log
    std::uint32_t records = 0;       ///< records up to the last commit
    std::uint32_t log_bytes = 0;     ///< bytes of log up to the last commit
    std::uint64_t file_size = 0;     ///< bytes of the file
};

/// A driver around another one, its home, which is left as it is until a transaction is durable in a second storage,
/// the log: a file beside the home, memory, a region (RegionDriver) of the home's own storage. Whatever the home is,
/// this driver promises sync_is_commit: after a power cut at any instant open() finds the state of the last sync() that
/// returned ok, or, when the power failed in a later one, possibly of that one: bytes, length and all.
///
/// What it needs of both storages: bytes that were synced stay, also when a write next to them is interrupted; a sync
/// is a barrier. Unsynced writes may be lost, torn at any byte and arrive in any order.
///
/// What it costs: each byte is written twice, with 20 bytes for each write (or 4 KiB of a large one) and 20 for each
/// sync; where a write goes into the file, not behind its end, 16 bytes of that are read. A sync is one sync of the
/// log; each time the log is full there is one more of the home and another of the log.
///
/// The home alone is the file as of the last carrying over. Before other programs see it, close(), or `h5mote recover`.
/// A log knows its file by samples of its bytes, the newest among them, by what stood where its own transactions go,
/// and by the file's length: transactions are never replayed onto another file, nor onto one that was changed without
/// the log where samples show it. So an older copy of a log is refused once what it holds is in the file; but not one
/// that was copied while that was carried over, before the next round began.
class JournalDriver final : public Driver {
public:
    /// Bytes of work memory: `gathered` for records on their way to the log (at least 256; write() copies through them,
    /// and each of its pieces is at most that large), and the lists.
    static constexpr std::size_t required_memory(std::size_t gathered = 768,
                                                 const JournalOptions& options = {}) noexcept {
        return gathered + options.lists * sizeof(std::uint32_t);
    }

    /// Home, log and memory (aligned to 4) are borrowed until the driver is destroyed.
    JournalDriver(Driver& home, Driver& log, Bytes memory) noexcept : home_(home), log_(log), memory_(memory) {}
    ~JournalDriver() { let_go(); }

    /// Finds out what the log holds, and carries complete transactions over into the home. To be called before anything
    /// else; again: as if new. A power cut in it does no harm: the next open() begins anew.
    /// busy: another driver, program or machine has home or log open. invalid_argument: home and log are the same
    /// storage, lists no power of two, memory not aligned, or the log is one of another file (other_file); over_budget:
    /// memory, which for a log that is only read must hold as many lists as the log was written with; corrupt_file:
    /// not_a_journal, damaged; unsupported: newer; what home and log return. report() tells more, also after an error.
    /// Neither home nor log is changed by an open() that does not return ok, unless it is one of them that fails.
    Status open(const JournalOptions& options = {}) noexcept;
    const JournalReport& report() const noexcept { return report_; }

    /// Makes the log blank, whatever it held: for storage that carries something else, and to give up what cannot be
    /// replayed. The home stays as it is. Nothing else ever does this.
    Status erase_log() noexcept;

    /// Syncs, carries everything over and leaves an empty log; the driver must be opened again to be used. Without it,
    /// the next open() does the same.
    Status close() noexcept;

    /// The home's, but for: sync_is_commit, and writable only if both are.
    Capabilities capabilities() const noexcept override;
    /// What was written last, synced or not.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// read_only; no_space: the log or the home cannot take it; io_error: the log. Nothing is changed then.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Commits; when the log is full, also carries over, which takes as long as writing `checkpoint` bytes. io_error,
    /// no_space of the log: not yet; to be called again. An error while carrying over is returned, too, although what
    /// was written is durable then: it is tried again at the next sync().
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    /// Room in the log; no_space also when there is some only after the next sync(). The home is not asked: whether
    /// what is written goes behind its end or into the file's own free space is not known here.
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override;
    /// Opens again, if anything was written since the last commit; report() tells of that. What open() returns.
    Status discard() noexcept override;
#if H5MOTE_OTHER_FILES || H5MOTE_ALL_FORMATS
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override {
        return home_.use_superblock_info(name, info, end);
    }
#endif
    /// The log's, or where that has none the home's.
    std::int32_t last_error() const noexcept override {
        const std::int32_t error = log_.last_error();
        return error != 0 ? error : home_.last_error();
    }
    StorageId storage_id() const noexcept override { return home_.storage_id(); }

private:
    /// Both storages, unless open() locked them.
    Status do_lock(bool exclusive) noexcept override { return held_ ? Status::ok : lock_both(exclusive); }
    Status do_unlock() noexcept override { return held_ ? Status::ok : unlock_both(); }
    Status lock_both(bool exclusive) noexcept;
    Status unlock_both() noexcept;
    void let_go() noexcept;

    struct Record;
    struct Header;
    struct Place;

    std::uint32_t position() const noexcept { return buffer_at_ + used_; }
    std::uint32_t& list(std::uint64_t address) noexcept;
    void forget() noexcept;

    // journal_open.cpp: what is there already.
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

    // journal_driver.cpp: the log that is being written.
    Status begin() noexcept;
    Status start_round() noexcept;
    Status sum_cell(std::uint64_t at, std::uint64_t size, std::uint32_t& sum, bool& there) noexcept;
    std::uint64_t log_bytes_for(std::uint64_t ranges, std::uint64_t bytes) const noexcept;
    Status reserve(std::uint64_t bytes) noexcept;
    Status reserve_or_carry_over(std::uint64_t bytes) noexcept;
    Status make_room(std::uint64_t end, std::uint64_t log_bytes) noexcept;
    bool extend_last(std::uint64_t address, ConstBytes from) noexcept;
    Status put(std::uint8_t type, std::uint64_t address, ConstBytes payload) noexcept;
    void close_last() noexcept;
    Status flush() noexcept;
    void undo(const Place& place) noexcept;
    Status witness(std::uint64_t address) noexcept;
    Status put_pieces(std::uint64_t address, ConstBytes from) noexcept;
    Status commit(bool changes_home) noexcept;
    Status checkpoint() noexcept;
    Status apply() noexcept;
    Status cut_home(std::uint64_t size) noexcept;
    Status apply_piece(std::uint32_t at, const Record& record) noexcept;

    // journal_read.cpp: the file as it is with the log.
    Status fetch(std::uint32_t at, Bytes to) noexcept;
    Status fetch_record(std::uint32_t at, Record& record) noexcept;
    Status read_base(Usage usage, std::uint64_t address, Bytes to) noexcept;
    Status read_window(Usage usage, std::uint64_t address, Bytes to) noexcept;

    Driver& home_;
    Driver& log_;
    Bytes memory_;
    Bytes buffer_;                    // records from buffer_at_ of the log on
    std::uint32_t* lists_ = nullptr;  // position of the newest piece of each list, 0: none
    JournalOptions options_;
    JournalReport report_;
    std::uint64_t file_size_ = 0;
    std::uint64_t base_ = 0;        // the home is valid up to here, zeros follow
    std::uint64_t home_size_ = 0;   // bytes that the home has
    std::uint64_t newest_ = 0;      // where the last piece went that was carried over
    std::uint64_t lowest_cut_ = 0;  // shortest length that the file had in this round
    std::uint64_t log_size_ = 0;    // bytes that the log's storage has
    std::uint64_t kept_ = 0;        // bytes of log that room is kept for
    std::uint64_t granted_ = 0;     // and that there is room for besides, as it was kept until just now
    std::uint32_t sequence_ = 0;    // of the newest header
    std::uint32_t chain_ = 0;       // checksum of the last complete record
    std::uint32_t witness_ = 0;     // checksum of what the pieces of this round take the place of
    std::uint32_t buffer_at_ = 0;
    std::uint32_t used_ = 0;       // bytes of the buffer
    std::uint32_t last_ = 0;       // the record in the buffer that can still be extended, kNone: none
    std::uint32_t last_cut_ = 0;   // position of the newest cut, 0: none
    std::uint32_t committed_ = 0;  // position behind the last durable commit
    bool open_ = false;
    bool held_ = false;  // open() locked both
    bool writable_ = false;
    bool begun_ = false;       // the header of this round is written
    bool barrier_ = false;     // it must be durable before the first record
    bool pending_ = false;     // changes since the last commit record
    bool unsynced_ = false;    // a commit record that is not known to be durable
    bool may_change_ = false;  // a commit record permits to change the home
    bool broken_ = false;      // the log in memory is not what it should be: only open() helps
};

}  // namespace h5mote
