// Several small blocks that belong together are one write.

#include "metadata_cache.hpp"

#include <cstring>

#if H5MOTE_WRITE

namespace h5mote {
namespace {

// No atomic unit that a file reckons with is larger.
constexpr std::size_t kMostTogether = 512;

// The rule without which a power cut may leave the headers of a heap and of its indexes apart.
enum class JoinRule {
    none,
    join_headers,
};

constexpr bool keep(JoinRule rule) noexcept { return rule != JoinRule::H5MOTE_TEST_OMIT; }

}  // namespace

// Writes a changed block, and with it those changed blocks of its phase that follow without a gap in the same aligned
// 512 bytes. Where these lie in one atomic unit, all of them are on the storage or none is.
Status MetadataCache::write_run(MetadataCache& cache, CacheEntry& first) noexcept {
    std::byte bytes[kMostTogether];
    const std::size_t from = first.dirty_from_;
    const Address begin = first.address_ + static_cast<Address>(from);
    Address end = first.address_ + first.size_;
    if (((begin ^ (end - 1)) & ~Address{kMostTogether - 1}) != 0) {
        return cache.write(first);
    }
    const auto copy = [&](CacheEntry& entry, std::size_t offset) {
        if (has_checksum(entry.checksum())) {
            (void)entry.seal();
        }
        std::memcpy(bytes + (entry.address_ + offset - begin), entry.at(offset), entry.size_ - offset);
    };
    copy(first, from);
    while (keep(JoinRule::join_headers)) {
        CacheEntry* const next = cache.lookup(end);
        const Address last = end - 1 + (next == nullptr ? 0 : next->size_);
        if (next == nullptr || !next->dirty() || next->phase() != first.phase() ||
            ((begin ^ last) & ~Address{kMostTogether - 1}) != 0) {
            break;
        }
        copy(*next, 0);
        end = last + 1;
    }
    cache.hook_.unsynced = true;
    H5MOTE_TRY(told(cache.context_, cache.driver_, H5MOTE_HERE,
                    cache.driver_.write(first.usage_, begin, {bytes, static_cast<std::size_t>(end - begin)}), begin));
    for (Address at = first.address_; at != end;) {
        CacheEntry& entry = *cache.lookup(at);
        entry.dirty_from_ = entry.size_;
        at += entry.size_;
    }
    return Status::ok;
}

}  // namespace h5mote

#endif
