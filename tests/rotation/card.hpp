// An SD card of fixed size without a file system: byte 0 of the file is byte 0 of the card. Sectors that were written
// since the last sync() may be lost when the power fails, each by itself.
#pragma once

#include "storages.hpp"

#include <array>
#include <vector>

namespace h5mote_test {

class Card final : public h5mote::Driver {
public:
    static constexpr std::size_t kSector = 512;

    /// An empty card. `size`: a multiple of kSector.
    Card(std::uint64_t size, Power& power);

    /// Begins another session. After a power cut (`lossy`), `seed` decides which of the sectors that were written since
    /// the last sync() have arrived. The card keeps no end of file: it is the end of the card from now on.
    void restart(bool lossy, std::uint64_t seed);

    h5mote::Capabilities capabilities() const noexcept override;
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override;
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

private:
    /// What a sector held after one of the writes.
    struct Pending {
        std::size_t at;
        std::array<std::byte, kSector> bytes;
    };

    std::vector<std::byte> bytes_;   // as it is read
    std::vector<std::byte> synced_;  // as of the last sync()
    std::vector<Pending> pending_;   // the writes since then
    std::uint64_t end_ = 0;
    Power& power_;
};

}  // namespace h5mote_test
