#include "large_blocks.hpp"

#include "checksum.hpp"
#include "cursor.hpp"
#include "metadata_cache.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {

bool LargeBlocks::is_fresh(Address address) const noexcept {
    bool found = false;
    for (const Address each : fresh_) {
        found = found || each == address;
    }
    return found;
}

void LargeBlocks::note_fresh(Address address) noexcept {
    if (!is_fresh(address)) {
        fresh_[next_fresh_] = address;
        next_fresh_ = static_cast<std::uint8_t>((next_fresh_ + 1U) % kFresh);
    }
}

bool LargeBlocks::is_unsealed(Address address) const noexcept {
    bool found = false;
    for (const Unsealed& block : unsealed_) {
        found = found || block.address == address;
    }
    return found;
}

Status LargeBlocks::unseal(MetadataCache& cache, Address address, Address size) noexcept {
    H5MOTE_TRY(undo(cache));
    if (is_unsealed(address)) {
        return Status::ok;
    }
    Unsealed& block = unsealed_[next_unsealed_];
    H5MOTE_TRY(seal(cache, block));
    block.address = address;
    block.size = size;
    next_unsealed_ = static_cast<std::uint8_t>((next_unsealed_ + 1U) % kUnsealed);
    return Status::ok;
}

void LargeBlocks::undo_later(Address address, ConstBytes bytes, std::uint32_t count) noexcept {
    undo_.address = address;
    undo_.count = count;
    undo_.size = static_cast<std::uint8_t>(bytes.size());
    std::memcpy(undo_.bytes, bytes.data(), bytes.size());
}

Status LargeBlocks::undo(MetadataCache& cache) noexcept {
    for (; undo_.count != 0; --undo_.count) {
        H5MOTE_TRY(cache.write_past(Usage::btree, undo_.address, {undo_.bytes, undo_.size}));
        undo_.address += undo_.size;
    }
    return Status::ok;
}

Status LargeBlocks::seal(MetadataCache& cache) noexcept {
    H5MOTE_TRY(undo(cache));
    for (Unsealed& block : unsealed_) {
        H5MOTE_TRY(seal(cache, block));
    }
    return Status::ok;
}

Status LargeBlocks::seal(MetadataCache& cache, Unsealed& block) noexcept {
    if (block.address == kUndefinedAddress) {
        return Status::ok;
    }
    Driver& driver = cache.driver();
    const Address end = block.size - Address{kChecksumSize};
    Lookup3Stream sum(static_cast<std::uint32_t>(end));
    std::byte bytes[240];
    for (Address done = 0; done < end;) {
        const Address left = end - done;
        const Bytes piece{bytes, left < sizeof bytes ? static_cast<std::size_t>(left) : sizeof bytes};
        const Address at = block.address + done;
        H5MOTE_TRY(told(cache.context(), driver, H5MOTE_HERE, driver.read(Usage::btree, at, piece), at));
        sum.update(piece);
        done += static_cast<Address>(piece.size());
    }
    store_le<std::uint32_t>(bytes, sum.finish());
    H5MOTE_TRY(cache.write_past(Usage::btree, block.address + end, {bytes, kChecksumSize}));
    block = Unsealed();
    return Status::ok;
}

void LargeBlocks::forget(Address address, Address size) noexcept {
    for (Unsealed& block : unsealed_) {
        if (block.address - address < size) {
            block = Unsealed();
        }
    }
    undo_.count = undo_.address - address < size ? 0 : undo_.count;
    for (Address& each : fresh_) {
        each = each - address < size ? kUndefinedAddress : each;
    }
}

void LargeBlocks::settle() noexcept {
    for (Address& each : fresh_) {
        each = kUndefinedAddress;
    }
}

}  // namespace h5mote

#endif
