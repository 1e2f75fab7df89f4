// H5F H5D - what recorders of all blueprints have in common. Programs include <h5mote/recorder.hpp>.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/blueprint_parts.hpp>
#include <h5mote/driver.hpp>

namespace h5mote {

/// The part of a Recorder that does not depend on its blueprint.
class RecorderBase {
public:
    RecorderBase(const RecorderBase&) = delete;
    RecorderBase& operator=(const RecorderBase&) = delete;

    /// Whether open() has returned ok and nothing has closed the recorder since.
    bool is_open() const noexcept { return driver_ != nullptr; }

    /// Makes all rows that were appended and all settings durable. Two syncs, or one where a sync is a commit; none if
    /// nothing changed, but at least one after open(); up to two more when new chunks were placed. no_space, io_error:
    /// what was durable still is, and the next flush() tries again; but after a sync that failed nothing is known of
    /// what the storage has: append(), set() and flush() return io_error, and rows() tells nothing, until the recorder
    /// is opened again.
    Status flush() noexcept;
    /// flush(), gives back the chunks at the end of the file that were placed in advance, and lets go of the storage.
    /// Errors of flush(); the recorder is closed all the same.
    Status close() noexcept;
    /// Closes the recorder without writing anything. Rows that were not flushed are lost.
    void abandon() noexcept;

    /// The address of the first byte in which the file on the storage differs, after other_blueprint or
    /// foreign_changes.
    Address difference() const noexcept { return difference_; }

protected:
    // A dataset, as the recorder sees it while it is open.
    struct Slot {
        std::byte* next = nullptr;   // where the next row goes
        std::byte* end = nullptr;    // the end of the chunk in memory
        std::byte* saved = nullptr;  // the rows before are on the storage
        std::uint32_t run = 0;       // so many chunks, this one the first, have addresses that follow each other
        Address address = 0;         // of the chunk in the file; valid if run is not 0
        Address chunk = 0;           // its number in the dataset
        Address stored = 0;          // rows that the dimension on the storage counts
    };

    // New values of addresses that follow each other in a block of a chunk index.
    struct Change {
        std::uint32_t first;  // which address is the first one
        std::uint32_t count;
        Address value;  // the first one's; the others are a chunk's size more each time, or undefined as the first one

        Address at(std::uint32_t i, Address chunk_bytes) const noexcept {
            return value == kUndefinedAddress ? value : value + i * chunk_bytes;
        }
    };
    // Calls link() with memory for an index block of this blueprint.
    using Linker = Status (*)(RecorderBase& recorder, const Slot& slot, const Change& change);

    constexpr RecorderBase() noexcept = default;
    ~RecorderBase() = default;

    // `slots` and `chunks` are memory for all datasets of the table.
    Status open(Driver& driver, const blueprint::Table& table, Slot* slots, std::byte* chunks, Linker linker) noexcept;
    // The chunk in memory is full: saves it and begins the next one.
    Status advance(Slot& slot) noexcept;
    // Changes addresses of the index block by one write. `block`: memory for it.
    Status link(const Slot& slot, const Change& change, std::byte* block) noexcept;
    // `value`: the value as the file holds it, and room for four bytes more.
    Status set(const blueprint::RecordedSetting& setting, std::byte* value) noexcept;
    Address rows(const Slot& slot) const noexcept;
    Status set_extent(Slot& slot, Address rows) noexcept;

private:
    struct Place;
    class BlockWriter;

    friend class FilteringRecorderBase;

    const blueprint::RecordedDataset& dataset_of(const Slot& slot) const noexcept {
        return table_->datasets[&slot - slots_];
    }
    static std::uint32_t chunk_size(const blueprint::RecordedDataset& dataset) noexcept {
        return dataset.chunk * dataset.row;
    }
    static std::byte* begin(const Slot& slot, const blueprint::RecordedDataset& dataset) noexcept {
        return slot.end - chunk_size(dataset);
    }

    void end_appending() noexcept;
    Status let_go() noexcept;
    Status start() noexcept;
    Status create() noexcept;
    Status go_on() noexcept;
    Status compare() noexcept;
    Status differs(Address address) noexcept;
    Status resume(Slot& slot) noexcept;
    void seek(Slot& slot, Address rows) noexcept;

    Status save(Slot& slot) noexcept;
    Status place(Slot& slot) noexcept;
    [[gnu::noinline]] Status locate(const Slot& slot, Place& place) noexcept;
    Status count_run(Slot& slot, const Place& place) noexcept;
    Status grow(Slot& slot, const Place& place) noexcept;
    [[gnu::noinline]] Status reserve(Address chunk_bytes, Address blocks, std::uint32_t& count, Address& end) noexcept;
    Status extend(Address size) noexcept;
    Status give_back(const Slot& slot) noexcept;
    [[gnu::noinline]] Status prepare_to_give_back(const Slot& slot, Change& change, Address& end) noexcept;
    std::uint32_t used(const Slot& slot) const noexcept;
    Status write_blocks(const Slot& slot, const Place& place, Address at, const Change& change) noexcept;
    Status write_block(const Slot& slot, Address at, std::uint32_t signature, std::uint32_t offset, Address old,
                       std::uint32_t addresses, const Change& change) noexcept;
    Status count_chunks(const Slot& slot, Address chunks) noexcept;
    Status write_statistics(const Slot& slot, Address chunks) noexcept;

    static void store_field(std::byte* to, unsigned width, Address value) noexcept;
    Status read(Address from, std::byte* to, std::size_t count) noexcept;
    Status write(Address to, const std::byte* from, std::size_t count, Usage usage = Usage::object_header) noexcept;
    Status fill(Address from, Address size, std::byte value) noexcept;
    Status barrier() noexcept { return ordered_ ? Status::ok : sync(); }
    Status sync() noexcept;
    Status read_field(Address from, unsigned width, Address& value) noexcept;
    Status read_address(Address from, Address& address) noexcept;
    Status verify(Address address, Address size) noexcept;
    Status rewrite(Address block, std::uint32_t bytes, unsigned size, unsigned from, const Address* values,
                   unsigned count, unsigned width) noexcept;
    Status set_end(Address end) noexcept;
    Status lengthen(Address end) noexcept;
    Status shorten(Address end) noexcept;

    const blueprint::Table* table_ = nullptr;
    Slot* slots_ = nullptr;
    Linker linker_ = nullptr;
    Driver* driver_ = nullptr;
    Address end_ = 0;         // of the file, as its superblock says
    Address difference_ = 0;  // see difference()
    bool commits_ = false;    // Capabilities::sync_is_commit
    bool ordered_ = false;    // no sync is needed between writes that depend on each other
    bool clears_ = false;     // new space has to be filled with zeros
    bool unsynced_ = false;   // something was written since the last sync
    bool failed_ = false;     // a sync has failed
};

}  // namespace h5mote
