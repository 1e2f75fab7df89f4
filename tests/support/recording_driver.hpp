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

    /// Replaying starts from what the inner driver holds now; if that cannot be read, the process is aborted.
    explicit RecordingDriver(h5mote::Driver& inner);

    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

    /// Operations that succeeded, in order.
    const std::vector<DriverOperation>& operations() const noexcept { return operations_; }
    /// The content of the storage before the first operation.
    const Image& initial() const noexcept { return initial_; }

    /// The content of the storage after the first `count` operations.
    Image image(std::size_t count) const;
    /// The same with the next operation begun: if it is a write, its first `torn_bytes` bytes have arrived.
    Image image_torn(std::size_t count, std::size_t torn_bytes) const;
    /// Where operation `index` can tear when aligned units of `unit` bytes are atomic: the possible values of
    /// `torn_bytes`, more than 0 and less than the whole write. unit 1: it can tear at every byte. Empty if the write
    /// lies within one unit, or if the operation is no write.
    std::vector<std::size_t> tears(std::size_t index, std::uint32_t unit) const;
    /// Number of operations up to and including the last sync among the first `count`: these must survive a power cut
    /// after `count` operations.
    std::size_t synced(std::size_t count) const noexcept;

    /// Applies one operation to an image; of a write, only the first `limit` bytes. For replaying in another order.
    static void apply(Image& image, const DriverOperation& operation, std::size_t limit = kWhole);

private:
    Image initial_;
    std::vector<DriverOperation> operations_;
};

}  // namespace h5mote_test
