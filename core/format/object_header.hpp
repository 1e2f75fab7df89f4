// H5O - the object header. Specification IV.A.1.
//
// version 2
//   first block        OHDR | version 2 | flags | [4 times, 16 bytes] | [attribute phase change, 4] | size of messages
//                      | messages | [gap] | checksum
//   continuation block OCHK | messages | [gap] | checksum
//
// version 1
//   first block        version 1 | 0 | number of messages 2 | reference count 4 | bytes of messages 4 | 0 4 | messages
//   continuation block messages
//
// The number of messages in a version 1 header counts those of all its blocks. Readers do not need it: libhdf5 sets a
// wrong one right when it changes the header.
//
// Messages are described in message_slot.hpp.
#pragma once

#include "message_slot.hpp"
#include "messages.hpp"

namespace h5mote {

inline constexpr std::uint32_t kContinuationSignature = 0x4b48434fU;  // "OCHK"
/// Longest prefix of a first block.
inline constexpr std::size_t kMaxHeaderPrefix = 6 + 16 + 4 + 8;

/// What only the prefix of a version 1 header has.
struct OldHeaderPrefix {
    std::uint32_t reference_count = 1;

protected:
    void set_reference_count(std::uint32_t count) noexcept { reference_count = count; }
};

/// Takes its place in builds without H5MOTE_ALL_FORMATS, which read no such header.
struct NoOldHeaderPrefix {
    static constexpr std::uint32_t reference_count = 1;

protected:
    static void set_reference_count(std::uint32_t /*count*/) noexcept {}
};

struct HeaderPrefix : std::conditional_t<H5MOTE_ALL_FORMATS != 0, OldHeaderPrefix, NoOldHeaderPrefix> {
    static constexpr std::uint8_t kAttributesTracked = 0x04;
    static constexpr std::uint8_t kAttributesIndexed = 0x08;
    static constexpr std::uint8_t kAttributePhase = 0x10;
    static constexpr std::uint8_t kTimes = 0x20;
    static constexpr std::uint8_t kOldSize = 16;    ///< of a version 1 prefix
    static constexpr std::size_t kTimesOffset = 6;  ///< in a version 2 prefix with kTimes
    /// Offsets in a version 1 prefix.
    static constexpr std::size_t kOldMessageCount = 2;
    static constexpr std::size_t kOldReferenceCount = 4;
    static constexpr std::size_t kOldMessagesSize = 8;

    std::uint8_t version = 2;
    std::uint8_t flags = 0;
    std::uint8_t size = 0;      ///< bytes before the first message
    Address messages_size = 0;  ///< bytes of messages and gap

    /// Whether the header has version 1, which only builds with H5MOTE_ALL_FORMATS read.
    bool is_old() const noexcept { return H5MOTE_ALL_FORMATS != 0 && version == 1; }
    /// The size of messages in the prefix: its bytes, and its offset. It ends the prefix of a version 2 header.
    unsigned size_width() const noexcept { return is_old() ? 4U : 1U << (flags & 3U); }
    std::size_t size_offset() const noexcept { return is_old() ? kOldMessagesSize : size - size_width(); }
    /// Bytes of the whole first block.
    Address block_size() const noexcept { return size + messages_size + layout().checksum_size(); }
    HeaderLayout layout() const noexcept {
        return is_old() ? HeaderLayout::version_1() : HeaderLayout((flags & kAttributesTracked) != 0);
    }
    /// Reads a prefix from the first bytes of a header (kMaxHeaderPrefix, or what the file has).
    Status decode(Context& context, ConstBytes bytes) noexcept;
    /// Reads the times of access, modification, change and birth, in seconds since 1970, from the prefix `bytes` of a
    /// version 2 header with kTimes.
    static void decode_times(ConstBytes bytes, std::uint32_t (&times)[4]) noexcept;
    /// Offset of the attribute phase change in the prefix of a version 2 header with kAttributePhase.
    std::size_t phase_offset() const noexcept { return kTimesOffset + ((flags & kTimes) != 0 ? 16U : 0U); }
};

/// The layout of a new header, which has version 2.
struct NewHeaderLayout {
    explicit NewHeaderLayout(HeaderLayout the_layout) noexcept : layout(the_layout) {}
    const HeaderLayout layout;

protected:
    void note_body(std::size_t size) noexcept { longest_ = longest_ < size ? size : longest_; }
    // `all`: what has been written, heads included.
    std::size_t longest(std::size_t /*all*/) const noexcept { return longest_; }

private:
    std::size_t longest_ = 0;
};
/// The same in builds without H5MOTE_ALL_FORMATS, which make no headers with creation orders.
struct PlainHeaderLayout {
    explicit PlainHeaderLayout(HeaderLayout /*the_layout*/) noexcept {}
    static constexpr HeaderLayout layout{};

protected:
    static void note_body(std::size_t /*size*/) noexcept {}
    // These builds take all messages for one, which needs no more than what has been counted anyway.
    static constexpr std::size_t longest(std::size_t all) noexcept { return all; }
};

/// Writes the messages of a new header, or only measures them.
class HeaderWriter : public std::conditional_t<H5MOTE_ALL_FORMATS != 0, NewHeaderLayout, PlainHeaderLayout> {
public:
    HeaderWriter(Writer& writer, FileShape the_shape, HeaderLayout the_layout = {}) noexcept
        : std::conditional_t<H5MOTE_ALL_FORMATS != 0, NewHeaderLayout, PlainHeaderLayout>(the_layout),
          out(writer),
          shape(the_shape) {}

    /// Starts a message whose body is then written to `out`; end() fills in its size.
    void begin(MessageType type, std::uint8_t flags = 0) noexcept;
    void end() noexcept;
    /// over_budget: the head of a message so far cannot state the size of its body, 16 bits. Call it after measuring:
    /// what is written otherwise has a wrong size. Builds without H5MOTE_ALL_FORMATS refuse all messages together
    /// already when they have more bytes than that.
    Status check(Context& context) const noexcept {
        const std::size_t size = longest(out.written());
        return size > 0xffff ? context.fail(Module::format, H5MOTE_HERE, Status::over_budget, 0, size) : Status::ok;
    }
    /// Writes a null message as large as a continuation message, which replaces it when the block is full. `extra`: it
    /// is that many bytes larger, as room for messages that are added before.
    void reserve_continuation(std::size_t extra = 0) noexcept;

    Writer& out;
    const FileShape shape;

private:
    std::size_t start_ = 0;
};

/// Bytes of a continuation message's body.
constexpr std::size_t continuation_body(FileShape shape) noexcept {
    return static_cast<std::size_t>(shape.sizeof_addr) + shape.sizeof_size;
}

}  // namespace h5mote
