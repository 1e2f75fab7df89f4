// H5FD_family - one HDF5 file cut into members of equal size.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>

namespace h5mote {

/// Opens the members of a family for a FamilyDriver.
class FamilyMembers {
public:
    /// Member number `index`, from 0 on. `driver` is valid until the next call, so that an implementation can do with
    /// one open member at a time. not_found: the family has no such member. io_error, busy.
    virtual Status member(std::uint32_t index, Driver*& driver) noexcept = 0;
    /// The system's own code for the last failure of member(); 0 if it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    FamilyMembers() = default;
    FamilyMembers(const FamilyMembers&) = delete;
    FamilyMembers& operator=(const FamilyMembers&) = delete;
    ~FamilyMembers() = default;
};

/// Members that the program has opened already.
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

private:
    Span<Driver* const> members_;
};

/// A family of files, for reading only. Byte `a` of the HDF5 file is byte a % size of member a / size. The size is what
/// the superblock says; until that is read, it is the length of the first member.
class FamilyDriver final : public Driver {
public:
    /// The members are borrowed.
    explicit FamilyDriver(FamilyMembers& members) noexcept : members_(members) {}

    /// Counts the members. not_found: there is no first one. io_error, busy. Calling it again starts anew.
    Status open() noexcept;
    std::uint32_t members() const noexcept { return count_; }
    std::uint64_t member_size() const noexcept { return member_size_; }

    Capabilities capabilities() const noexcept override;
    /// io_error also where a member is shorter than the family says.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override { return Status::ok; }
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// The code of the member that failed last, which may be closed by now.
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override { return id_; }

private:
    Status take(std::uint32_t index, Driver*& driver) noexcept;
    Status note(Driver& member, Status status) noexcept;
    /// The lock of the first member is the lock of the family.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;

    FamilyMembers& members_;
    std::uint64_t member_size_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t last_ = 0;       // the last member that is not empty
    std::uint64_t last_size_ = 0;  // its length
    std::int32_t error_ = 0;
    StorageId id_;
};

}  // namespace h5mote
