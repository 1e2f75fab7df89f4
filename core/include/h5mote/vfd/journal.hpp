// H5FD - a redo log around any other storage: everything between two syncs appears wholly or not at all.
#pragma once

#include <h5mote/driver.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

class RedoLog;

/// Chosen at each opening.
struct JournalOptions {
    /// When the log has grown to this many bytes, sync() carries what it holds over into the file and empties it. A
    /// larger number makes this rarer, but opening after a power cut and reading what was just written slower.
    std::uint32_t checkpoint = 32 * 1024;
    /// Most bytes that the log may take: the size of its storage if that cannot grow. One transaction (all writes
    /// between two syncs) must fit into what is left of it; a write() that does not fit is no_space. sync() carries
    /// over when the log has taken half of this at the latest.
    std::uint32_t limit = 0xffffffff;
    /// Number of lists through which reading finds what is in the log: a power of two, 4 bytes of memory each. The cost
    /// of reading what was just written grows with the length of a list, which is the number of writes in the log
    /// divided by the number of lists.
    std::uint16_t lists = 64;
    /// Whether the home's end_of_file() is the length of the file. false for a raw card or a region of one: the log
    /// then keeps the length, and a file without a log counts as empty.
    bool home_has_end = true;
    /// Whether open() locks home and log until close() or the driver's end, so that nobody else recovers or uses them
    /// meanwhile; drivers that only read share them. FileAccess::file_locking then makes no difference.
    bool file_locking = true;
    /// Changes neither home nor log, and shows the file as the log would make it. The same happens when home or log is
    /// not writable.
    bool read_only = false;
};

/// What open() found in the log.
enum class JournalState : std::uint8_t {
    none,           ///< not opened yet
    blank,          ///< there is no log yet; the first write makes one
    clean,          ///< the log held nothing that was not in the file already
    replayed,       ///< the log held transactions, which are in the file now
    pending,        ///< the log holds transactions, which are shown on top of a file that is only read
    other_file,     ///< the log holds transactions of another file, or the file was changed since
    not_a_journal,  ///< the log's storage holds something else, which is left alone
    damaged,        ///< a log whose beginning cannot be read
    newer,          ///< a log of a later version, or a file that is longer than an Address of this build can say
};

/// What open() found and did.
struct JournalReport {
    JournalState state = JournalState::none;
    bool unfinished = false;         ///< behind the last commit stood a transaction whose sync() never returned ok
    std::uint32_t transactions = 0;  ///< commits in the log
    std::uint32_t records = 0;       ///< records up to the last commit
    std::uint32_t log_bytes = 0;     ///< bytes of log up to the last commit
    std::uint64_t file_size = 0;     ///< bytes of the file
};

/// A driver around another one, its home, which holds the file. What is written goes into a second storage first, the
/// log: a file beside the home, memory, or a region of the home's own storage (RegionDriver). Until a transaction is
/// durable in the log, the home gets nothing of it but zeros behind its end. So this driver promises sync_is_commit
/// whatever the home is: after a power cut at any instant open() finds the state of the last sync() that returned ok
/// or, when the power failed in a later sync(), possibly the state that this one was committing, with all bytes and the
/// length of the file.
///
/// What it needs of both storages: bytes that were synced stay, also when a write next to them is interrupted; and a
/// sync is a barrier. Unsynced writes may be lost, torn at any byte and arrive in any order.
///
/// What it costs: each byte is written twice. Each write (of a large one, each 4 KiB) and each sync takes 20 bytes more
/// in the log; for a write into the file, not behind its end, 16 bytes of the home are read. A sync is one sync of the
/// log; each time the log is full, one sync of the home and another one of the log are added.
///
/// The home alone is the file as of the time when the log was last carried over. Before other programs see it, call
/// close() or run `h5mote recover`. A log recognises its file by the file's length, by samples of its bytes, the newest
/// among them, and by the bytes that its own transactions replace. Transactions are never replayed onto another file,
/// nor onto a file that was changed without the log where a sample shows the change. An older copy of a log is refused
/// once its transactions are in the file, except a copy that was made while they were carried over, before the next
/// round began.
class JournalDriver final : public Driver {
public:
    /// Bytes of work memory: `gathered` for records on their way to the log, and the lists. `gathered` is at least 256;
    /// write() copies its bytes through it, in pieces of at most that size.
    static constexpr std::size_t required_memory(std::size_t gathered = 768,
                                                 const JournalOptions& options = {}) noexcept {
        return gathered + options.lists * sizeof(std::uint32_t);
    }

    /// Home, log and memory (aligned to 4) are borrowed until the driver is destroyed.
    JournalDriver(Driver& home, Driver& log, Bytes memory) noexcept;
    ~JournalDriver();

    /// Finds out what the log holds, and carries complete transactions over into the home. To be called before anything
    /// else. Calling it again starts anew, as with a new driver. A power cut during the call does no harm: the next
    /// open() begins from the start.
    ///
    /// busy: another driver, program or machine has home or log open, or a File is open on this driver (without
    /// FileAccess::file_locking the driver does not know that). invalid_argument: home and log are the same storage,
    /// the number of lists is no power of two, the memory is not aligned, or the log belongs to another file
    /// (other_file). over_budget: the memory is too small; for a log that is only read it must hold as many lists as
    /// the log was written with. corrupt_file: not_a_journal, damaged. unsupported: newer. Also what home and log
    /// return. report() tells more, also after an error. An open() that does not return ok changes neither home nor
    /// log, unless the error comes from one of them.
    Status open(const JournalOptions& options = {}) noexcept;
    const JournalReport& report() const noexcept;

    /// Makes the log blank, whatever it held: for a storage that carries something else, or to give up transactions
    /// that cannot be replayed. The home stays as it is. No other function ever does this. The driver must be opened
    /// again to be used. busy: a File is open on this driver.
    Status erase_log() noexcept;

    /// Syncs, carries everything over into the home and leaves an empty log. The driver must be opened again to be
    /// used. A program that does not call it loses nothing: the next open() does the same. busy: a File is open on this
    /// driver.
    Status close() noexcept;

    /// The home's capabilities, with sync_is_commit, and writable only if home and log are. sync_is_commit is missing
    /// where home or log cannot be written in order (Capabilities::overwrite, and `ordered` or sync_is_barrier),
    /// extends_with_zeros where the home has no end (JournalOptions::home_has_end) and so holds anything behind the
    /// file.
    Capabilities capabilities() const noexcept override;
    /// Reads what was written last, synced or not.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// read_only. no_space: the log or the home has no room. io_error: writing to the log failed. Nothing is changed
    /// after an error; if the log cannot be read either, so that this cannot be made sure of, all calls but discard()
    /// and open() return io_error from then on. Whether the home has room is known only where it takes the room when it
    /// is extended: a home that is a file of a full disk (PosixDriver) may say so when the log is carried over, see
    /// sync().
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Commits. When the log is full, also carries it over, which takes as long as writing `checkpoint` bytes. io_error
    /// or no_space from the log: nothing is committed yet, and the call can be repeated. An error while carrying over
    /// is returned, too, although what was written is durable then; the next sync() carries over again.
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    /// Keeps room in the log. no_space also when there is room only after the next sync(). The home is not asked: it is
    /// not known here whether the writes will go behind its end or into free space within the file.
    Status keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept override;
    /// Opens again if anything was written since the last commit, and returns what open() returns; report() tells of
    /// that opening.
    Status discard() noexcept override;
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// The log's code, or the home's if the log has none.
    std::int32_t last_error() const noexcept override;
    StorageId storage_id() const noexcept override;

private:
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;

    RedoLog& log() noexcept;
    const RedoLog& log() const noexcept;

    // What the driver remembers: a RedoLog (vfd/journal/redo_log.hpp). Its size is checked where the driver is
    // compiled.
    static constexpr std::size_t kStateSize = sizeof(void*) > 4 ? 208 : 184;
    alignas(std::uint64_t) std::byte state_[kStateSize];
};

}  // namespace h5mote
