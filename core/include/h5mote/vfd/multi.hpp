// H5FD_multi, H5FD_split - one HDF5 file in several files, each of which holds bytes of certain usages.
#pragma once

#include <h5mote/driver.hpp>

#include <cstdint>
#include <string_view>

namespace h5mote {

/// Most parts of a file: one for each Usage.
inline constexpr unsigned kMostParts = 6;

/// Which part each usage lies in. The number of a part is that of the first Usage that it serves.
struct MultiLayout {
    struct Part {
        std::uint64_t start = 0;  ///< address of its first byte
        std::string_view name;    ///< name of its file; "%s" stands for the name of the whole
    };
    std::uint8_t map[kMostParts] = {};  ///< number of the part of each usage, in the order of Usage
    Part parts[kMostParts];
};

/// The layout that libhdf5's tools assume for a file made by the split driver: "NAME-r.h5" holds raw data and global
/// heaps, "NAME-m.h5" everything else.
MultiLayout split_layout() noexcept;
/// The layout that they assume for a file made by the multi driver: "NAME-s.h5" (superblock), "-b" (B-trees), "-r" (raw
/// data), "-g", "-l" (global and local heaps), "-o" (object headers).
MultiLayout multi_layout() noexcept;

/// Opens the parts of a file for a MultiDriver.
class MultiParts {
public:
    /// Opens the file of that name (see MultiLayout::Part) as part `index`, in place of the file that was this part
    /// before. `driver` is valid until the next call with the same index, or close(). The name may come from a file and
    /// be anything. not_found, io_error, busy, invalid_argument (the name makes no sense).
    virtual Status open(unsigned index, std::string_view name, Driver*& driver) noexcept = 0;
    virtual void close(unsigned index) noexcept = 0;
    /// The system's own code for the last failure of open(); 0 if it has none.
    virtual std::int32_t last_error() const noexcept { return 0; }

protected:
    MultiParts() = default;
    MultiParts(const MultiParts&) = delete;
    MultiParts& operator=(const MultiParts&) = delete;
    ~MultiParts() = default;
};

/// A file in parts, for reading only. Each part has a range of addresses of its own, far from the others; the
/// superblock tells which.
class MultiDriver final : public Driver {
public:
    /// The parts are borrowed.
    explicit MultiDriver(MultiParts& parts) noexcept : parts_(parts) {}
    ~MultiDriver();

    /// Opens every part of that layout, or none. not_found: a part is missing. invalid_argument: a usage is mapped to
    /// no part.
    Status open(const MultiLayout& layout) noexcept;
    void close() noexcept;

    Capabilities capabilities() const noexcept override;
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override { return Status::ok; }
    /// End of the part with the highest addresses.
    Status end_of_file(std::uint64_t& size) noexcept override;
    Status truncate(std::uint64_t size) noexcept override;
    /// Opens the parts anew, by the layout that the superblock tells. not_found: a part is missing.
    Status use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept override;
    /// The code of the part that failed last, which may be closed by now.
    std::int32_t last_error() const noexcept override { return error_; }
    StorageId storage_id() const noexcept override;

private:
    Status note(Driver& part, Status status) noexcept;
    /// Locks all parts. Those that the superblock names are locked as they are opened.
    Status do_lock(bool exclusive) noexcept override;
    Status do_unlock() noexcept override;
    void unlock_parts(unsigned count) noexcept;

    MultiParts& parts_;
    Driver* drivers_[kMostParts] = {};  // nullptr: no such part
    std::uint64_t starts_[kMostParts] = {};
    std::int32_t error_ = 0;
};

}  // namespace h5mote
