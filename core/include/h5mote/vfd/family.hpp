// H5FD_family - one HDF5 file cut into members of equal size.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>

namespace h5mote {

/// Opens and makes the members of a family for a FamilyDriver.
class FamilyMembers {
public:
    /// Member number `index`, from 0 on. `driver` is valid until the next call of this object, so that an
    /// implementation can do with one open member at a time; what was written to a member before it was closed must not
    /// get lost when it is opened again and synced. not_found: the family has no such member. io_error, busy. The first
    /// member has the lock of the family: if it cannot be had when the lock is given back, it is asked for once more.
    virtual Status member(std::uint32_t index, Driver*& driver) noexcept = 0;
    /// Makes member number `index`, the one behind the last, and empties what there is of that name. That it exists is
    /// durable when this returns ok. read_only: members cannot be made, which is what the default says. no_space,
    /// io_error, busy.
    virtual Status make(std::uint32_t /*index*/, Driver*& /*driver*/) noexcept { return Status::read_only; }
    /// The system's own code for the last failure of member() or make(); 0 if it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    FamilyMembers() = default;
    FamilyMembers(const FamilyMembers&) = delete;
    FamilyMembers& operator=(const FamilyMembers&) = delete;
    ~FamilyMembers() = default;
};

/// Members that the program has opened already. The family cannot get more: it is full when all of them are, so that a
/// new family needs as many empty ones as it may ever have.
class FamilySpan final : public FamilyMembers {
public:
    /// The members, and the list of them, are borrowed.
    explicit FamilySpan(Span<Driver* const> members) noexcept : members_(members) {}
    Status member(std::uint32_t index, Driver*& driver) noexcept override {
        if (index >= members_.size()) {
            return Status::not_found;
        }
        driver = members_[index];
        return Status::ok;
    }
    Status make(std::uint32_t /*index*/, Driver*& /*driver*/) noexcept override { return Status::no_space; }

private:
    Span<Driver* const> members_;
};

/// A family of files. Byte `a` of the HDF5 file is byte a % size of member a / size. All members but the last have that
/// size. It is what the superblock says; until that is read, it is the length of the first member, or what
/// open_or_create() was told if that is more.
///
/// Files that are made on this driver keep the size of the members in the superblock, as libhdf5 does: the driver
/// information "NCSAfami", which is that size in 8 bytes. That takes formats::superblock_extension. They cannot have a
/// user block (File::create(): unsupported, Feature::base_address), with which libhdf5 would not open them.
///
/// To be written, a family needs members of a multiple of 512 bytes. No sector then lies in two members, so that each
/// part of a write is as safe as it is in its member, and what all members promise holds for the family; only that
/// writes arrive in the order in which they were made (Capabilities::ordered) holds within a member alone, and the
/// library orders them by sync() instead. Members whose sync is a commit cannot be written: two of them do not commit
/// at once. Put a JournalDriver around the family if its flushes have to be commits.
///
/// When the file becomes shorter, members that are not needed any more stay, with no bytes, and are used again when it
/// grows; libhdf5 does the same.
class FamilyDriver final : public Driver {
public:
    /// Member sizes of families that are written are multiples of this.
    static constexpr std::uint32_t kSector = 512;

    /// The members are borrowed.
    explicit FamilyDriver(FamilyMembers& members) noexcept : members_(members) { set_superblock_info(stored_info_); }

    /// Finds the members of a family that exists. It can be written if its members can. not_found: there is no first
    /// one. io_error, busy. Calling it again starts anew.
    Status open() noexcept;
    /// The same, but makes the first member if there is none. `member_size`: bytes of each member of a file that is
    /// made on this driver. A file that is there keeps the size that its superblock says; a JournalDriver around the
    /// family writes before that is read, and therefore needs the size that the file has. invalid_argument: not a
    /// multiple of kSector, or 0. Errors of FamilyMembers::make().
    Status open_or_create(std::uint64_t member_size) noexcept;
    /// The number of members, empty ones included.
    std::uint32_t members() const noexcept { return count_; }
    std::uint64_t member_size() const noexcept { return member_size_; }

    Capabilities capabilities() const noexcept override;
    /// io_error also where a member is shorter than the family says, except that a family which can be written reads
    /// zeros where a power cut has left one short in front of others.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// Makes members as they are needed, and makes full those that a power cut has left short. A range that lies in
    /// several members is several writes, the last member first; after an error the family is as long as before. At the
    /// ninth member that was written since the last sync(), the eight before it are synced. read_only: the members
    /// cannot be written, or the family was opened by open() and has one member and no superblock that says how large
    /// members are. unsupported: their size is no multiple of kSector. no_space: also when there are as many members as
    /// can be counted.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    /// Syncs, in ascending order, all members that were written or cut since they were synced last; the first call
    /// syncs all members that open() has found. After an error those that were not reached are synced by the next call.
    Status sync() noexcept override;
    Status end_of_file(std::uint64_t& size) noexcept override;
    /// Errors of write(). When the file was to become shorter, it may have become shorter in part after an error.
    Status truncate(std::uint64_t size) noexcept override;
    Status release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept override;
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// The code of the member that failed last, which may be closed by now.
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override { return id_; }

private:
    static constexpr unsigned kMostWritten = 8;

    Status scan() noexcept;
    Status take(std::uint32_t index, Driver*& driver) noexcept;
    Status take_to_change(std::uint32_t index, Driver*& driver) noexcept;
    Status note(Driver& member, Status status) noexcept;
    Status read_part(Usage usage, std::uint32_t index, std::uint64_t offset, Bytes to) noexcept;
    void promise_as(const Driver& member) noexcept;
    void set_member_size(std::uint64_t size) noexcept;
    Status prepare_change() noexcept;
    Status set_length(std::uint32_t index, std::uint64_t size) noexcept;
    Status make_next() noexcept;
    Status extend(std::uint32_t last, std::uint64_t size) noexcept;
    Status shorten(std::uint32_t last, std::uint64_t size) noexcept;
    void restore(std::uint32_t last, std::uint64_t size) noexcept;
    Status write_parts(Usage usage, std::uint64_t address, ConstBytes from) noexcept;
    bool locate_end(std::uint64_t size, std::uint32_t& last, std::uint64_t& last_size) const noexcept;
    /// The lock of the first member is the lock of the family.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;

    FamilyMembers& members_;
    Capabilities promised_;
    std::uint64_t member_size_ = 0;
    std::uint64_t new_size_ = 0;  // of the members of a new file; 0: open() was not told
    std::uint32_t count_ = 0;
    std::uint32_t last_ = 0;       // the last member that is not empty
    std::uint64_t last_size_ = 0;  // its length
    std::int32_t error_ = 0;
    bool size_known_ = false;
    bool size_told_ = false;      // not by the length of the first member alone
    bool full_ = false;           // all members before the last one have their size
    std::uint32_t unsynced_ = 0;  // members from this one on are as open() has found them ...
    std::uint32_t found_ = 0;     // ... up to this one, and were not synced yet
    unsigned written_count_ = 0;
    std::uint32_t written_[kMostWritten] = {};  // members to sync, in ascending order
    std::byte encoded_[8] = {};
    SuperblockInfo stored_info_{"NCSAfami", {}, nullptr};
    StorageId id_;
};

}  // namespace h5mote
