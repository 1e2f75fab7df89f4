// An open file whose bytes a test lays out itself, below the object model.
#pragma once

#include "checksum.hpp"
#include "file_state.hpp"
#include "storage_bench.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote_test {

class StructureFile {
public:
    explicit StructureFile(std::uint8_t sizeof_addr = 8, std::size_t cache = 2048) noexcept
        : state_(bench_.library, bench_.driver) {
        h5mote::FileAccess access;
        access.metadata_cache = cache;
        EXPECT_EQ(bench_.driver.truncate(sizeof bench_storage), h5mote::Status::ok);
        std::memset(bench_storage, 0, sizeof bench_storage);
        h5mote::Superblock superblock;
        superblock.shape.sizeof_addr = sizeof_addr;
        superblock.end_of_file = sizeof bench_storage;
        superblock.encode(bench_storage);
        EXPECT_EQ(state_.open(access), h5mote::Status::ok);
    }
    ~StructureFile() {
        state_.abandon();
        EXPECT_TRUE(bench_.empty());
    }
    h5mote::FileState& operator*() noexcept { return state_; }
    h5mote::FileState* operator->() noexcept { return &state_; }

    /// Sets the end of the file, as its superblock would state it.
    void set_end(h5mote::Address end) noexcept { state_.space.open(end, state_.shape().max_addr(), end); }
    /// Returns a writer from `address` on. The cache is emptied, so that the library next sees the written bytes.
    h5mote::Writer write(h5mote::Address address) noexcept {
        state_.cache.reclaim();
        return h5mote::Writer({at(address), sizeof bench_storage - static_cast<std::size_t>(address)});
    }
    std::byte* at(h5mote::Address address) noexcept {
        state_.cache.reclaim();
        return bench_storage + address;
    }
    /// Writes the checksum of a block of `size` bytes into its last 4 bytes.
    void seal(h5mote::Address address, std::size_t size) noexcept {
        h5mote::store_le(at(address + size - 4), h5mote::lookup3({bench_storage + address, size - 4}));
    }
    void write_addr(h5mote::Writer& writer, h5mote::Address address) const noexcept {
        state_.shape().write_addr(writer, address);
    }

private:
    Bench bench_;
    h5mote::FileState state_;
};

}  // namespace h5mote_test

#endif
