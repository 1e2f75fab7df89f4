// Keeps every write, truncate and sync in order, so that a power cut at any instant can be replayed. Hosts only.
#pragma once

#include "forwarding_driver.hpp"

#include <limits>
#include <vector>

namespace h5mote_test {

/// One change of the storage, or a sync.
struct DriverOperation {
    enum class Kind { write, truncate, sync };

    Kind kind = Kind::sync;
    h5mote::Usage usage = h5mote::Usage::superblock;
    std::uint64_t address = 0;     ///< of a write; the new length of a truncate
    std::vector<std::byte> bytes;  ///< of a write
};

class RecordingDriver final : public ForwardingDriver {
public:
    using Image = std::vector<std::byte>;
    static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

    /// What the inner driver holds now is the image that replaying starts from.
    explicit RecordingDriver(h5mote::Driver& inner);

    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

    /// Operations that succeeded, in order.
    const std::vector<DriverOperation>& operations() const noexcept { return operations_; }
    /// What stood in the storage before the first operation.
    const Image& initial() const noexcept { return initial_; }

    /// The storage after the first `count` operations.
    Image image(std::size_t count) const;
    /// The same with the operation after them begun: a write of which the first `torn_bytes` bytes arrived.
    Image image_torn(std::size_t count, std::size_t torn_bytes) const;
    /// Where the write `index` can tear when aligned units of `unit` bytes are atomic: lengths of its first bytes, more
    /// than 0 and less than all. unit 1: at every byte. Empty if it lies in one unit, or is no write.
    std::vector<std::size_t> tears(std::size_t index, std::uint32_t unit) const;
    /// Number of operations up to and including the last sync among the first `count`: what must have survived.
    std::size_t synced(std::size_t count) const noexcept;

    /// Does one operation on an image, a write up to `limit` bytes of it. For replaying in another order.
    static void apply(Image& image, const DriverOperation& operation, std::size_t limit = kWhole);

private:
    Image initial_;
    std::vector<DriverOperation> operations_;
};

}  // namespace h5mote_test
