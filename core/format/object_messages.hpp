// H5G H5O - small messages about an object as a whole: group info, comment, modification time, reference count.
// Specification IV.A.2.k, n, o, s, w.
#pragma once

#include "file_shape.hpp"

namespace h5mote {

/// version 0 | flags: 1 limits, 2 estimates | [limits: most links in compact storage 2, fewest in dense storage 2]
/// | [estimates: number of links 2, length of a name 2]
struct GroupInfoMessage {
    /// Bytes of version and flags, and of the message that begins with them.
    static constexpr std::size_t kHeadSize = 2;
    static std::size_t size(ConstBytes head) noexcept {
        const unsigned flags = std::to_integer<unsigned>(head[1]);
        return kHeadSize + 4 * ((flags & kLimits) + (flags / kEstimates & 1U));
    }
    /// Sets those members of `info`, a GroupInfo, that the message has; false: damaged.
    template <typename Info>
    static bool decode(ConstBytes body, Info& info) noexcept {
        Reader reader(body);
        const unsigned version = reader.u8();
        const unsigned flags = reader.u8();
        if ((flags & kLimits) != 0) {
            info.max_compact = reader.u16();
            info.min_dense = reader.u16();
        }
        if ((flags & kEstimates) != 0) {
            info.estimated_links = reader.u16();
            info.estimated_name_length = reader.u16();
        }
        return version == 0 && reader.ok();
    }
    /// Writes a message without limits and estimates: those of the HDF5 library count.
    static void encode(Writer& writer) noexcept { writer.u16(0); }
    /// Writes those limits and estimates of `create`, a GroupCreate, that differ from those of the HDF5 library.
    template <typename Create>
    static void encode(Writer& writer, const Create& create) noexcept {
        const Create defaults{};
        const bool limits = create.max_compact != defaults.max_compact || create.min_dense != defaults.min_dense;
        const bool estimates = create.estimated_links != defaults.estimated_links ||
                               create.estimated_name_length != defaults.estimated_name_length;
        writer.u8(0);
        writer.u8((limits ? kLimits : 0U) | (estimates ? kEstimates : 0U));
        if (limits) {
            writer.u16(create.max_compact);
            writer.u16(create.min_dense);
        }
        if (estimates) {
            writer.u16(create.estimated_links);
            writer.u16(create.estimated_name_length);
        }
    }

private:
    static constexpr unsigned kLimits = 1;
    static constexpr unsigned kEstimates = 2;
};

/// text | NUL
struct CommentMessage {
    /// Characters of the text; the size of the message if it has no end.
    static std::size_t length(ConstBytes body) noexcept {
        std::size_t length = 0;
        while (length < body.size() && body[length] != std::byte{0}) {
            ++length;
        }
        return length;
    }
    static void encode(Writer& writer, ConstBytes text) noexcept {
        writer.bytes(text);
        writer.u8(0);
    }
};

/// version 1 | 0 3 | seconds since 1970-01-01 4
struct ModificationTimeMessage {
    static constexpr std::size_t kSize = 8;
    /// Offset of the seconds in the body.
    static constexpr std::size_t kTimeOffset = 4;

    /// Of kSize bytes.
    static std::uint32_t decode(ConstBytes body) noexcept { return load_le<std::uint32_t>(body.data() + kTimeOffset); }
};

/// The old one: year 4 | month 2 | day 2 | hour 2 | minute 2 | second 2 | 0 2, as ASCII digits, UTC
struct OldModificationTimeMessage {
    static constexpr std::size_t kDigits = 14;

    /// Seconds since 1970-01-01; 0: the message is no time.
    static std::uint32_t decode(ConstBytes body) noexcept;
};

/// version 0 | number of hard links 4
struct ReferenceCountMessage {
    static constexpr std::size_t kSize = 5;
    /// Offset of the count in the body.
    static constexpr std::size_t kCountOffset = 1;

    /// Of kSize bytes.
    static std::uint32_t decode(ConstBytes body) noexcept { return load_le<std::uint32_t>(body.data() + kCountOffset); }
    static void encode(Writer& writer, std::uint32_t count) noexcept {
        writer.u8(0);
        writer.u32(count);
    }
};

}  // namespace h5mote
