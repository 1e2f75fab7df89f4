// Memory in which elements are made before they are written.
#pragma once

#include "file_state.hpp"

namespace h5mote {

/// Lent by the chunk cache if many elements are made, else the filters' scratch memory, which others must not use
/// meanwhile. If they may, it is memory of its own.
class WorkBuffer {
public:
    /// For elements of `element_size` bytes, `wanted` bytes in all. `own`: others may use the scratch memory.
    WorkBuffer(FileState& file, std::uint64_t wanted, std::uint32_t element_size, bool own = false) noexcept
        : file_(file) {
        const std::size_t least = element_size < kLeast ? kLeast - kLeast % element_size : element_size;
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            std::size_t most = file.chunks.budget() < kMost ? file.chunks.budget() : kMost;
            most = wanted < most ? static_cast<std::size_t>(wanted) : most;
            most -= most % element_size;
            std::byte* memory = nullptr;
            lent_ = most > least && file.chunks.lend(most, memory) == Status::ok;
            if (lent_) {
                bytes_ = {memory, most};
                return;
            }
            if (own) {
                auto* const alone = static_cast<std::byte*>(file.context.allocate(MemoryKind::other, least));
                own_ = alone != nullptr;
                bytes_ = own_ ? Bytes(alone, least) : Bytes();
                return;
            }
        }
        std::byte* const scratch = file.filter_scratch(least);
        bytes_ = scratch == nullptr ? Bytes() : Bytes(scratch, least);
    }
    WorkBuffer(const WorkBuffer&) = delete;
    WorkBuffer& operator=(const WorkBuffer&) = delete;
    ~WorkBuffer() {
        if (H5MOTE_ALL_FORMATS != 0 && lent_) {
            file_.chunks.take_back(bytes_.data(), bytes_.size());
        }
        if (H5MOTE_ALL_FORMATS != 0 && own_) {
            file_.context.release(MemoryKind::other, bytes_.data(), bytes_.size());
        }
    }

    /// Room for a whole number of elements; none if there is no memory.
    Bytes bytes() const noexcept { return bytes_; }

private:
    static constexpr std::size_t kLeast = 512;
    static constexpr std::size_t kMost = 65536;

    FileState& file_;
    Bytes bytes_;
    bool lent_ = false;
    bool own_ = false;
};

}  // namespace h5mote
