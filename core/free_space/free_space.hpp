// H5MF H5FS - the free space that a file records from one opening to the next.
//
// The record is what libhdf5 keeps with H5Pset_file_space_strategy(persist): the file space info message in the
// superblock extension names free-space managers, one for metadata, one for raw data, in files with pages one for whole
// pages. It is used in this order:
//
//   opening      reads the message, and nothing else
//   begin()      checks all sections, takes them over into the SpaceMap, and makes the addresses in the message
//                undefined. On the storage that change comes before the first use of the space.
//   store()      writes new managers behind the end of the file, and their addresses into the message
//
// Where the managers of metadata and of pages lie decides whether libhdf5 can go on with the file: it needs space for
// the lists of such managers while it changes them. Version 1.10 therefore cuts them off the file first, from the end
// that the message names, and may not come to an end when it changes one that lies elsewhere. So these managers are the
// last in the file, with nothing behind them. In a full storage, in which they find no place there, the manager of raw
// data has all sections, which may lie anywhere; a full file with pages gets no record.
//
// HDF5 1.10.0 has written the message in version 0, which has no room for all that is recorded today. begin() takes
// over what its managers know, and store() replaces the message before it writes the first record. A message of that
// version without managers stays as it is: libhdf5 and this library take it as the strategy that has taken its place.
//
// A power cut between begin() and store() leaves a file without a record, and so does libhdf5. Its free space is lost
// until File::reclaim() finds it.
#pragma once

#include "free_space_format.hpp"
#include "section_writer.hpp"
#include "spilled_extents.hpp"

namespace h5mote {

class MessageIterator;

/// Goes to the file space info message, with a new iterator. not_found.
Status find_space_info(MessageIterator& message) noexcept;
/// Puts a message of version 1 in the place of one of version 0 that names no managers any more. Errors of
/// replace_short_message().
H5MOTE_STEP Status renew_space_info(FileState& file) noexcept;

class FreeSpace final : public SpilledExtents {
public:
    using SpilledExtents::SpilledExtents;

    /// Reads the superblock extension of a file that is being opened.
    Status open() noexcept;
    /// Makes a superblock extension for a new file.
    Status create(const FileCreate& create) noexcept;
    /// Whether the file said, when it was opened, that all its free space is recorded.
    bool is_complete() const noexcept { return recorded_; }

    Status begin() noexcept override;
    Status store() noexcept override;
    void end() noexcept override { file_.context.destroy(MemoryKind::file, this); }
    bool has_taken_over() const noexcept override { return persistent_ && begun_; }

private:
    static constexpr unsigned kWritten = 3;  // managers: one of each SpaceKind
    struct Managers;
    struct Room {
        Address header = 0;
        Address list = 0;
        Address size = 0;  // of the list; 0: there is none
    };
    // Where the managers of a record are to be, by SpaceKind.
    struct Rooms {
        Room of[kWritten];
        bool joined = false;  // the manager of raw data has all sections
        Address tail() const noexcept;
    };

    Status read(MessageIterator& message) noexcept;
    void use(SpaceStrategy strategy, std::uint64_t page_size) noexcept;
    SpaceKind kind_of(unsigned manager) const noexcept;
    H5MOTE_STEP Status check(const MessageIterator& message, const Managers& managers) noexcept;
    H5MOTE_STEP Status load(const Managers& managers) noexcept;
    Status release(const Managers& managers, bool gone) noexcept;
    Status check_end(const MessageIterator& message, std::size_t from) noexcept;
    H5MOTE_STEP Status take_over(bool& waits) noexcept;
    Status drop(MessageIterator& message, std::size_t from, bool& waits) noexcept;
    SectionWriter writer_of(SpaceKind kind, const Rooms& rooms) noexcept;
    Status find_room(bool anywhere, Address size, bool reuse, Address& address) noexcept;
    H5MOTE_STEP Status make_room(Rooms& rooms) noexcept;
    Status place_lists(const Address (&sizes)[kWritten], bool reuse, Rooms& rooms) noexcept;
    void give_back(Rooms& rooms) noexcept;
    H5MOTE_STEP Status write(const Rooms& rooms) noexcept;
    H5MOTE_STEP Status record() noexcept;

    std::uint64_t threshold_ = 1;
    bool persistent_ = false;  // the file has a record, or gets one
    bool recorded_ = false;
    bool begun_ = false;
};

}  // namespace h5mote
