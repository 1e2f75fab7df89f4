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
// 32-bit addresses; with filters, also their work memory and twice the largest chunk that goes through them.
//
// What a power cut leaves: every row for which flush() returned ok is in the file, which any HDF5 library opens. Rows
// appended since are there from the first on, up to some row, or not at all. Settings are old or new.
#pragma once

#include <h5mote/blueprint_image.hpp>
#include <h5mote/filtering_recorder.hpp>

#include <cstring>

namespace h5mote {

namespace detail {

template <const auto& Blueprint>
inline constexpr std::size_t kFilterMemory =
    blueprint::detail::filter_memory(blueprint::detail::span(blueprint::detail::kParts<Blueprint>.objects));
/// A recorder of which no dataset has filters has nothing of what filters need.
template <const auto& Blueprint>
using RecorderBaseOf = std::conditional_t<kFilterMemory<Blueprint> == 0, RecorderBase, FilteringRecorderBase>;

}  // namespace detail

/// Fills the file of a blueprint: `constexpr auto kFlight = blueprint::file(...); static Recorder<kFlight> recorder;`
/// All members are zero at first, so that a static object costs no ROM and no code before main(). Nothing happens when
/// the object ends: call close() or abandon() before. Not thread-safe.
template <const auto& Blueprint>
class Recorder : public detail::RecorderBaseOf<Blueprint> {
    using Base = detail::RecorderBaseOf<Blueprint>;
    using Image = blueprint::Image<Blueprint>;
    using typename Base::Slot;

public:
    /// Makes the file on a storage that holds none (its first bytes are all zero or all erased), or goes on with the
    /// file of this blueprint that is there. `driver` is borrowed, and locked, until close(). The new file is durable
    /// when this returns ok.
    ///
    /// busy: the recorder is open, or somebody else has the storage. read_only. unsupported: the storage promises too
    /// little (see Capabilities: unless a sync is a commit, the atomic unit must be a multiple of 512); a JournalDriver
    /// around it helps. not_hdf5: the storage holds something else.
    /// other_blueprint: it holds an HDF5 file that this blueprint does not describe. foreign_changes: it holds the file
    /// of this blueprint, but another program changed objects that the blueprint describes; rows, attributes and
    /// objects that were added do no harm, unless they made libhdf5 move what was there; after File::reclaim() this may
    /// also be other_blueprint, because the bytes that tell files apart can be used then. difference() says where.
    /// corrupt_file. io_error, no_space. Where datasets have filters, also over_budget: a filter needs more memory than
    /// the blueprint says; and what a filter says of a last chunk that another program stored. After an error the
    /// storage is unchanged, but for a file that was begun where none was.
    Status open(Driver& driver) noexcept {
        if constexpr (kWork != 0) {
            return Base::open(driver, Image::kTable, slots_, chunks_ + kWork, call_link,
                              blueprint::detail::kFilters<Blueprint>.data(), {chunks_, kWork});
        } else {
            return Base::open(driver, Image::kTable, slots_, chunks_, call_link);
        }
    }

    /// Appends one row to a dataset: its number is blueprint::dataset_number(). Nothing is written before the chunk is
    /// full or flush() is called. When an error is returned, the row was not taken. invalid_handle: the recorder is not
    /// open. no_space, io_error, from writing the full chunk before this row. io_error also: a sync has failed.
    template <std::size_t I>
    Status append(const typename Image::template Row<I>& row) noexcept {
        Slot& slot = slots_[I];
        if (slot.next == slot.end) {
            H5MOTE_TRY(this->advance(slot));
        }
        copy(slot.next, row);
        slot.next += sizeof row;
        return Status::ok;
    }
    /// Appends rows. `taken`, if not nullptr, says how many were taken, also after an error. No rows are always ok,
    /// also where the recorder is not open.
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
        return this->is_open() ? Base::rows(slots_[I]) : 0;
    }

    /// Makes a dataset without filters shorter (H5Dset_extent): it has `rows` rows, and the next one comes behind
    /// these. For datasets that belong together, as the rows of a log and the times of these rows do: each of them
    /// counts its rows in a sector of its own, so that a power cut may leave one of them longer, by rows which no
    /// flush() had covered. Call it after open(), before anything is appended. Durable after the next flush().
    /// invalid_handle, io_error. invalid_argument: there are fewer rows, or some that were not flushed.
    template <std::size_t I>
    Status set_extent(Address rows) noexcept {
        static_assert(kWork == 0, "h5mote: the recorder cannot take rows back out of chunks that went through filters");
        return Base::set_extent(slots_[I], rows);
    }

    /// Gives a setting a value: its number is blueprint::setting_number(). It is written at once and durable after the
    /// next flush(). invalid_handle, io_error.
    template <std::size_t I>
    Status set(const typename Image::template Value<I>& value) noexcept {
        constexpr const blueprint::RecordedSetting& setting = Image::template setting<I>();
        std::byte bytes[sizeof value + 4];
        const auto stored = blueprint::detail::store(value);
        std::memcpy(bytes, stored.bytes, sizeof value);
        return Base::set(setting, bytes);
    }

private:
    template <typename Row>
    static void copy(std::byte* to, const Row& row) noexcept {
        std::memcpy(to, &row, sizeof row);
        if constexpr (kNativeOrder == ByteOrder::big) {
            blueprint::detail::swap_numbers(detail::kEncoded<Row, TypeLayout::memory>.bytes, to);
        }
    }

    static Status call_link(RecorderBase& recorder, const Slot& slot, const typename Base::Change& change) noexcept {
        std::byte block[blueprint::ArrayParameters::index_block_size(Image::kTable.sizeof_addr)];
        return static_cast<Recorder&>(recorder).link(slot, change, block);
    }
    static constexpr std::size_t kWork = detail::kFilterMemory<Blueprint>;
    static constexpr std::size_t chunk_bytes() noexcept {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < Image::kDatasets; ++i) {
            bytes += std::size_t{Image::kTable.datasets[i].chunk} * Image::kTable.datasets[i].row;
        }
        return bytes;
    }

    Slot slots_[Image::kDatasets == 0 ? 1 : Image::kDatasets];
    // Work memory of the filters, if there are any, then the chunks.
    alignas(kWork == 0 ? 1 : 8) std::byte chunks_[kWork + chunk_bytes() == 0 ? 1 : kWork + chunk_bytes()]{};
};

}  // namespace h5mote
