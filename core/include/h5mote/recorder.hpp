// H5F H5D - the recorder: fills the file that a blueprint describes.
//
//     static h5mote::Recorder<kFlight> recorder;
//     constexpr auto kImu = h5mote::blueprint::dataset_number<kFlight>("flight/imu");
//
//     H5MOTE_TRY(recorder.open(storage));          // makes the file, or goes on with it
//     H5MOTE_TRY(recorder.append<kImu>(sample));   // a copy into the chunk in memory
//     H5MOTE_TRY(recorder.flush());                // durable when it returns ok
//
// The file is made by the compiler (<h5mote/blueprint.hpp>). So a device needs no code that creates, encodes or finds
// objects: the recorder compares the storage with the constant, writes rows, and switches the dimension. It allocates
// nothing: the object holds one chunk of every dataset, and 28 bytes more for each, 52 for the first, on machines with
// 32-bit addresses.
//
// What a power cut leaves: every row for which flush() returned ok is in the file, which any HDF5 library opens. Rows
// appended since are there from the first on, up to some row, or not at all. Settings are old or new.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/blueprint_image.hpp>
#include <h5mote/driver.hpp>

#include <cstring>

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
    /// what the storage has, and everything is io_error until the recorder is opened again.
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

private:
    struct Place;
    class BlockWriter;

    const blueprint::RecordedDataset& dataset_of(const Slot& slot) const noexcept {
        return table_->datasets[&slot - slots_];
    }
    static std::uint32_t chunk_size(const blueprint::RecordedDataset& dataset) noexcept {
        return dataset.chunk * dataset.row;
    }
    static std::byte* begin(const Slot& slot, const blueprint::RecordedDataset& dataset) noexcept {
        return slot.end - chunk_size(dataset);
    }

    Status let_go() noexcept;
    Status start() noexcept;
    Status create() noexcept;
    Status go_on() noexcept;
    Status compare() noexcept;
    Status differs(Address address) noexcept;
    Status resume(Slot& slot) noexcept;

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

/// Fills the file of a blueprint: `constexpr auto kFlight = blueprint::file(...); static Recorder<kFlight> recorder;`
/// All members are zero at first, so that a static object costs no ROM and no code before main(). Nothing happens when
/// the object ends: call close() or abandon() before. Not thread-safe.
template <const auto& Blueprint>
class Recorder : public RecorderBase {
    using Image = blueprint::Image<Blueprint>;

public:
    /// Makes the file on a storage that holds none (its first bytes are all zero or all erased), or goes on with the
    /// file of this blueprint that is there. `driver` is borrowed, and locked, until close(). The new file is durable
    /// when this returns ok.
    ///
    /// busy: the recorder is open, or somebody else has the storage. read_only. unsupported: the storage promises too
    /// little (see Capabilities); a JournalDriver around it helps. not_hdf5: the storage holds something else.
    /// other_blueprint: it holds an HDF5 file that this blueprint does not describe. foreign_changes: it holds the file
    /// of this blueprint, but another program changed objects that the blueprint describes; rows, attributes and
    /// objects that were added do no harm, unless they made libhdf5 move what was there. difference() then says where.
    /// corrupt_file. io_error, no_space. After an error the storage is unchanged, but for a file that was begun where
    /// none was.
    Status open(Driver& driver) noexcept {
        return RecorderBase::open(driver, Image::kTable, slots_, chunks_, call_link);
    }

    /// Appends one row to a dataset: its number is blueprint::dataset_number(). Nothing is written before the chunk is
    /// full or flush() is called. When an error is returned, the row was not taken. invalid_handle: the recorder is not
    /// open. no_space, io_error, from writing the full chunk before this row.
    template <std::size_t I>
    Status append(const typename Image::template Row<I>& row) noexcept {
        Slot& slot = slots_[I];
        if (slot.next == slot.end) {
            H5MOTE_TRY(advance(slot));
        }
        copy(slot.next, row);
        slot.next += sizeof row;
        return Status::ok;
    }
    /// Appends rows. `taken`, if not nullptr, says how many were taken, also after an error.
    template <std::size_t I>
    Status append(Span<const typename Image::template Row<I>> rows, std::size_t* taken = nullptr) noexcept {
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
    /// Rows of a dataset, those in memory among them; 0 if the recorder is not open.
    template <std::size_t I>
    Address rows() const noexcept {
        return is_open() ? RecorderBase::rows(slots_[I]) : 0;
    }

    /// Gives a setting a value: its number is blueprint::setting_number(). It is written at once and durable after the
    /// next flush(). invalid_handle, io_error.
    template <std::size_t I>
    Status set(const typename Image::template Value<I>& value) noexcept {
        constexpr const blueprint::RecordedSetting& setting = Image::template setting<I>();
        std::byte bytes[sizeof value + 4];
        const auto stored = blueprint::detail::store(value);
        std::memcpy(bytes, stored.bytes, sizeof value);
        return RecorderBase::set(setting, bytes);
    }

private:
    template <typename Row>
    static void copy(std::byte* to, const Row& row) noexcept {
        std::memcpy(to, &row, sizeof row);
        if constexpr (kNativeOrder == ByteOrder::big) {
            blueprint::detail::swap_numbers(detail::kEncoded<Row, TypeLayout::memory>.bytes, to);
        }
    }

    static Status call_link(RecorderBase& recorder, const Slot& slot, const Change& change) noexcept {
        std::byte block[blueprint::ArrayParameters::index_block_size(Image::kTable.sizeof_addr)];
        return static_cast<Recorder&>(recorder).link(slot, change, block);
    }
    static constexpr std::size_t chunk_bytes() noexcept {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < Image::kDatasets; ++i) {
            bytes += std::size_t{Image::kTable.datasets[i].chunk} * Image::kTable.datasets[i].row;
        }
        return bytes;
    }

    Slot slots_[Image::kDatasets == 0 ? 1 : Image::kDatasets];
    std::byte chunks_[chunk_bytes() == 0 ? 1 : chunk_bytes()]{};
};

}  // namespace h5mote
