// H5FD_multi, H5FD_split - one HDF5 file whose parts, by what their bytes are for, lie in files of their own.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>
#include <string_view>

#if H5MOTE_OTHER_FILES

namespace h5mote {

/// Most parts of a file: one for each Usage.
inline constexpr unsigned kMostParts = 6;

/// Where each usage lies. A part is called by the number of the first usage it serves.
struct MultiLayout {
    struct Part {
        std::uint64_t start = 0;  ///< address of its first byte
        std::string_view name;    ///< its file, "%s" standing for the name of the whole
    };
    std::uint8_t map[kMostParts] = {};  ///< part of each usage, in the order of Usage
    Part parts[kMostParts];
};

/// What libhdf5's tools assume of a file that was made by the split driver: "NAME-m.h5", "NAME-r.h5".
MultiLayout split_layout() noexcept;
/// What they assume of one that was made by the multi driver: "NAME-s.h5" (superblock), "-b" (B-trees), "-r" (raw
/// data), "-g", "-l" (global and local heaps), "-o" (object headers).
MultiLayout multi_layout() noexcept;

/// Hands out the parts.
class MultiParts {
public:
    /// Makes the file of that name (as in MultiLayout::Part) the part `index`, in place of what was that part before.
    /// `driver` is valid until the next call with the same index, or close(). The name may be data from a file.
    /// not_found, io_error, busy, invalid_argument (a name without sense).
    virtual Status open(unsigned index, std::string_view name, Driver*& driver) noexcept = 0;
    virtual void close(unsigned index) noexcept = 0;
    /// The system's own code for the last failure of open(), 0: it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    MultiParts() = default;
    MultiParts(const MultiParts&) = delete;
    MultiParts& operator=(const MultiParts&) = delete;
    ~MultiParts() = default;
};

/// A file in parts. Each part has a range of addresses of its own, far from the others; the superblock tells which.
/// For reading only, so far.
class MultiDriver final : public Driver {
public:
    /// The parts are borrowed.
    explicit MultiDriver(MultiParts& parts) noexcept : parts_(parts) {}
    ~MultiDriver();

    /// Opens every part of that layout, or none. not_found: one of them is missing; invalid_argument: a usage is mapped
    /// to no part.
    Status open(const MultiLayout& layout) noexcept;
    void close() noexcept;

    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override { return Status::ok; }
    /// End of the part with the highest addresses.
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    /// Changes to the layout that the superblock tells. not_found: a part is missing.
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// That of the part that failed last; it may be closed since.
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override;

private:
    Status note(Driver& part, Status status) noexcept;
    /// All parts; those that the superblock names as well, when they are opened.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;
    void unlock_parts(unsigned count) noexcept;

    MultiParts& parts_;
    Driver* drivers_[kMostParts] = {};  // nullptr: no such part
    std::uint64_t starts_[kMostParts] = {};
    std::int32_t error_ = 0;
};

}  // namespace h5mote

#endif
