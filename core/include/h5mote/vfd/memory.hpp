// H5FD_core - files in memory: over a buffer that the caller lends, or growing through an allocator.
#pragma once

#include <h5mote/allocator.hpp>
#include <h5mote/driver.hpp>
#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>

namespace h5mote {

/// Whether a driver permits changes.
enum class MemoryAccess : std::uint8_t { read_write, read_only };

/// What both kinds of memory files share; not for other classes to derive from. Memory does not outlive a power cut, so
/// that any promise about power cuts holds. The capabilities are those of a file (atomic unit 512, unordered), so that
/// a file made in memory is laid out as one made by PosixDriver.
class MemoryFile : public Driver {
public:
    /// The bytes of the file. Valid until the next call that changes it.
    ConstBytes contents() const noexcept { return {data_, size_}; }

    Capabilities capabilities() const noexcept override;
    /// io_error when the range leaves the file.
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override;
    /// read_only; no_space when it does not fit: nothing is changed then. A gap behind the old end is zero.
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override;
    Status sync() noexcept override { return Status::ok; }
    Status end_of_file(std::uint64_t& size) noexcept override;
    /// read_only, no_space. New bytes are zero. Memory is not given back.
    Status truncate(std::uint64_t size) noexcept override;

protected:
    ~MemoryFile() = default;

    /// Makes room for `size` bytes, which is more than capacity_. no_space when that is refused.
    virtual Status grow(std::size_t size) noexcept = 0;
    Status extend(std::uint64_t end) noexcept;

    std::byte* data_;
    std::size_t size_;
    std::size_t capacity_;
    MemoryAccess access_;

private:
    friend class MemoryDriver;
    friend class GrowingMemoryDriver;
    MemoryFile(std::byte* data, std::size_t size, std::size_t capacity, MemoryAccess access) noexcept
        : data_(data), size_(size), capacity_(capacity), access_(access) {}
};

/// A file in a buffer of fixed size.
class MemoryDriver final : public MemoryFile {
public:
    /// The buffer is borrowed. Its first `size` bytes, by default none, are the file to begin with.
    explicit MemoryDriver(Bytes buffer, std::size_t size = 0, MemoryAccess access = MemoryAccess::read_write) noexcept
        : MemoryFile(buffer.data(), size < buffer.size() ? size : buffer.size(), buffer.size(), access) {}
    /// A file that is only read, in place; the bytes may lie in read-only memory.
    static MemoryDriver reading(ConstBytes image) noexcept {
        return MemoryDriver({const_cast<std::byte*>(image.data()), image.size()}, image.size(),
                            MemoryAccess::read_only);
    }

private:
    // Not inline, so that the compiler emits the class's table of virtual functions in the library. A program that has
    // run-time type information, without which this library is built, would otherwise make a table of its own that
    // needs the type information of the base class.
    Status grow(std::size_t size) noexcept override;
};

/// A file that takes its memory from an allocator, grows by half whenever it is full, and gives the memory back when it
/// is destroyed.
class GrowingMemoryDriver final : public MemoryFile {
public:
    /// The allocator is borrowed. The file never becomes longer than `limit` bytes.
    explicit GrowingMemoryDriver(Allocator& allocator, std::size_t limit = ~std::size_t{0}) noexcept
        : MemoryFile(nullptr, 0, 0, MemoryAccess::read_write), allocator_(allocator), limit_(limit) {}
    ~GrowingMemoryDriver();

    /// Replaces the file by a copy of `image`, which can only be read from then on if `access` says so. no_space: the
    /// file stays as it was.
    Status assign(ConstBytes image, MemoryAccess access = MemoryAccess::read_write) noexcept;

private:
    Status grow(std::size_t size) noexcept override;

    Allocator& allocator_;
    std::size_t limit_;
};

}  // namespace h5mote
