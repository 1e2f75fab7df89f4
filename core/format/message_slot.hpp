// H5O - where the messages of an object header stand in its blocks. Specification IV.A.1.
//
// A message has a head and a body, and one message follows the other:
//
//   version 2   type 1 | size 2 | flags 1 | [creation order 2] | body
//   version 1   type 2 | size 2, a multiple of 8 | flags 1 | 0 3 | body
//
// A continuation block of version 2 has a signature before its messages, and every block of version 2 has a checksum
// behind them. Where the bytes between the last message and the end are too few for a head, they are a gap, which only
// version 2 has. What walks or changes messages knows a header's version by its HeaderLayout only.
#pragma once

#include "cursor.hpp"
#include "message_type.hpp"

#include <h5mote/config.hpp>

namespace h5mote {

/// How the messages of one object header stand in its blocks. The size of a head says it all: the three forms of a head
/// have three sizes. In builds without H5MOTE_ALL_FORMATS, which read no version 1, whatever depends on the version is
/// a constant.
class HeaderLayout {
public:
    /// Least bytes of a continuation block: of version 2, the signature and the checksum; of version 1, a head.
    static constexpr std::uint32_t kLeastBlock = 8;

    /// Version 2, without creation orders.
    constexpr HeaderLayout() noexcept = default;
    /// Version 2; `tracked`: heads have the creation order of attributes.
    explicit constexpr HeaderLayout(bool tracked) noexcept : head_(tracked ? kTrackedHead : kHead) {}
    static constexpr HeaderLayout version_1() noexcept {
        HeaderLayout old;
        old.head_ = kOldHead;
        return old;
    }

    /// Whether the header has version 1.
    constexpr bool is_old() const noexcept { return H5MOTE_ALL_FORMATS != 0 && head_ == kOldHead; }
    constexpr bool has_order() const noexcept { return head_ == kTrackedHead; }
    /// Bytes of a message's head. Fewer bytes at the end of a block are a gap.
    constexpr std::size_t head_size() const noexcept { return head_; }
    /// Bytes of a continuation block before its messages, and of every block behind them.
    constexpr std::size_t block_prefix() const noexcept { return is_old() ? 0 : 4; }
    constexpr std::size_t checksum_size() const noexcept { return is_old() ? 0 : 4; }
    /// Bytes of a body that holds `size` bytes of content.
    constexpr std::size_t body_size(std::size_t size) const noexcept {
        return is_old() ? (size + 7) & ~std::size_t{7} : size;
    }
    /// Whether a head can state the size of a body that holds `size` bytes of content, of which there are no more than
    /// 0xffff.
    constexpr bool can_hold(std::size_t size) const noexcept { return !is_old() || body_size(size) <= 0xffff; }
    /// Whether a body of `need` bytes can replace one of `size`: exactly, or with enough left over for a null message.
    constexpr bool fits(std::size_t need, std::size_t size) const noexcept {
        return need == size || need + head_ <= size;
    }

    /// The size of the body behind the head at `head`.
    std::size_t body_size_at(const std::byte* head) const noexcept {
        return load_le<std::uint16_t>(head + size_offset());
    }
    /// Bytes of the message whose head is at `head`.
    std::size_t length_at(const std::byte* head) const noexcept { return head_ + body_size_at(head); }
    void set_body_size(std::byte* head, std::size_t size) const noexcept {
        store_le(head + size_offset(), static_cast<std::uint16_t>(size));
    }
    /// The type of a message. 0xff: one of version 1 that is greater than any type there is.
    std::uint8_t type_at(const std::byte* head) const noexcept {
        return is_old() && head[1] != std::byte{0} ? std::uint8_t{0xff} : std::to_integer<std::uint8_t>(head[0]);
    }
    bool is_null(const std::byte* head) const noexcept { return type_at(head) == 0; }
    /// Makes a null message of the message whose head is at `head`; its size and its creation order stay.
    void make_null(std::byte* head) const noexcept;
    /// Makes a null message of the `size` bytes at `head`, of which there are enough for a head. If a head cannot state
    /// so many, they become several, and between two of them stands another message: libhdf5 joins null messages side
    /// by side when it opens an object to change it, and loses the upper bits of what they are together. That message
    /// has B-tree 'K' values, which mean nothing outside of a superblock extension.
    void put_null(std::byte* head, std::size_t size) const noexcept;

    /// The offset at which the last message of `block` ends; its messages begin at `at`. A gap may follow, up to `end`.
    /// The result is beyond `end` when the block is damaged.
    std::size_t end_of_messages(const std::byte* block, std::size_t at, std::size_t end) const noexcept;
    /// Closes the gap before `end`, the end of the messages of `block`: its bytes join those of the null message at
    /// offset `null`, and the messages between are moved. libhdf5 refuses a block that has a gap and a null message.
    void close_gap(std::byte* block, std::size_t null, std::size_t end) const noexcept;

private:
    static constexpr std::uint8_t kHead = 4;
    static constexpr std::uint8_t kTrackedHead = 6;
    static constexpr std::uint8_t kOldHead = 8;

    constexpr std::size_t size_offset() const noexcept { return is_old() ? 2 : 1; }

    std::uint8_t head_ = kHead;
};

/// What the head of a message says.
struct MessageSlot {
    static constexpr std::size_t kMostHead = 8;  ///< bytes of the longest head

    std::uint16_t size = 0;   ///< bytes of the body
    std::uint16_t order = 0;  ///< creation order; 0 in headers that have none
    std::uint8_t type = 0;
    std::uint8_t flags = 0;

    /// Reads the head at `head`, which has HeaderLayout::head_size() bytes.
    void decode(HeaderLayout layout, const std::byte* head) noexcept;
};

/// Writes the head of a message whose body has `size` bytes (HeaderLayout::body_size()).
void write_message_head(Writer& writer, HeaderLayout layout, MessageType type, std::size_t size, std::uint8_t flags = 0,
                        std::uint16_t order = 0) noexcept;

}  // namespace h5mote
