// H5D I/O - raw data read by offset and not through the chunk cache: from the file, the object header, external files.
#pragma once

#include "dataset_state.hpp"
#include "external_storage.hpp"

namespace h5mote {

class RawData {
public:
    explicit RawData(DatasetState& dataset) noexcept
        : dataset_(dataset),
          file_(dataset.file()),
          header_(dataset.file(), dataset.address()),
          external_(dataset.file(), dataset.address()) {}
    RawData(const RawData&) = delete;
    RawData& operator=(const RawData&) = delete;
    ~RawData() { release(); }

    /// Opens all data of a contiguous or compact dataset. Contiguous data without an address was never allocated:
    /// exists() is false.
    Status open() noexcept;
    /// Opens `size` bytes at `address`: an unfiltered chunk.
    void open(Address address, Address size) noexcept;
    bool exists() const noexcept { return header_data_ || external_data_ || address_ != kUndefinedAddress; }

    /// Fills `to` from `offset` on. corrupt_file: beyond the data, or the file. io_error.
    Status read(std::uint64_t offset, Bytes to) noexcept;
    /// A view of at least `least` bytes from `offset` on. It is read in one go with what is expected to be needed next;
    /// `wanted`: bytes that are known to be needed. Valid until the next call. Errors of read(), out_of_memory.
    Status view(std::uint64_t offset, std::size_t least, std::uint64_t wanted, ConstBytes& bytes) noexcept;
    /// The external files of a dataset that has some.
    ExternalStorage& external() noexcept { return external_; }
    /// Gives back the memory for reading ahead. Call before a chunk is loaded into the chunk cache, which lends that
    /// memory from its budget.
    void release() noexcept;

private:
    // Most bytes of the chunk cache's budget that are used for reading ahead.
    static constexpr std::size_t kMostAhead = 65536;
    static constexpr std::size_t kLeastAhead = 512;

    Status reserve(std::size_t least) noexcept;

    DatasetState& dataset_;
    FileState& file_;
    Address address_ = kUndefinedAddress;
    std::uint64_t size_ = 0;
    std::uint32_t header_offset_ = 0;
    bool header_data_ = false;
    bool external_data_ = false;
    bool lent_ = false;           // the chunk cache lent ahead_; else it is the filters' scratch
    std::byte* ahead_ = nullptr;  // memory for what is read ahead
    std::size_t capacity_ = 0;
    std::uint64_t from_ = 0;  // offset of the held_ bytes in ahead_
    std::size_t held_ = 0;
    std::size_t grown_ = kLeastAhead;  // how much is read at a time
    HeaderMessage header_;
    ExternalStorage external_;
};

}  // namespace h5mote
