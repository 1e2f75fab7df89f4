// H5FD - one file on the blocks of a SD card, without a file system: byte 0 of the file is byte 0 of the card.
#pragma once

#include "sd_card.hpp"

#include <h5mote/driver.hpp>

namespace board {

/// A power cut leaves each block of the card as it was or as it was written, which the library's ordered mode needs.
/// Bytes written to a part of a block stay in memory, with the rest of the block, until another block is written or
/// needs the buffer, or until sync().
///
/// The card keeps no end of file: after a start it is the card's, and the file's own superblock tells where it really
/// ends. Until the next start it follows write() and truncate().
class SdDriver : public h5mote::Driver {
public:
    /// The card is borrowed.
    explicit SdDriver(SdCard& card) noexcept : card_(card), end_(capacity()) {}

    /// Makes the card an empty file, whatever it held. Nothing else does.
    h5mote::Status format() noexcept;

    h5mote::Capabilities capabilities() const noexcept override;
    h5mote::Status read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept override;
    h5mote::Status write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept override;
    h5mote::Status sync() noexcept override;
    h5mote::Status end_of_file(std::uint64_t& size) noexcept override;
    h5mote::Status truncate(std::uint64_t size) noexcept override;

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::uint64_t capacity() const noexcept { return std::uint64_t{card_.blocks()} * SdCard::kBlock; }
    h5mote::Status hold(std::uint32_t block) noexcept;
    h5mote::Status store() noexcept;

    SdCard& card_;
    std::uint64_t end_;
    std::uint32_t held_ = kNone;  // the block in buffer_
    bool changed_ = false;        // buffer_ is newer than the card
    SdCard::Block buffer_;
};

}  // namespace board
