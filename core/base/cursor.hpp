// Little-endian bytes, read and written one by one: any alignment, any byte order of the machine. Compilers
// turn the fixed-size forms into single loads and stores where the machine allows it.
#pragma once

#include <h5mote/span.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace h5mote {

/// The unsigned integer at `from`, little-endian.
template <typename T>
inline T load_le(const std::byte* from) noexcept {
    static_assert(std::is_unsigned_v<T>);
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << (8 * i)));
    }
    return value;
}

/// Stores an unsigned integer at `to`, little-endian.
template <typename T>
inline void store_le(std::byte* to, T value) noexcept {
    static_assert(std::is_unsigned_v<T>);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        to[i] = static_cast<std::byte>(value >> (8 * i));
    }
}

/// The integer of `width` bytes (1 to 8) at `from`, little-endian.
std::uint64_t load_uint(const std::byte* from, unsigned width) noexcept;
/// Stores the low `width` bytes (1 to 8) of `value` at `to`, little-endian.
void store_uint(std::byte* to, unsigned width, std::uint64_t value) noexcept;
/// Moves bytes to a lower address in the same buffer. A C library's memmove() takes 254 bytes of code on a Cortex-M,
/// for both directions and in words; what moves here is short.
void move_bytes_down(std::byte* to, const std::byte* from, std::size_t size) noexcept;

/// Bytes needed to store `value`: 1 to 8.
unsigned uint_width(std::uint64_t value) noexcept;
/// Largest n with 2^n <= value; 0 for value 0.
unsigned floor_log2(std::uint64_t value) noexcept;

/// Reads little-endian fields from bytes that may be hostile. Running past the end sets a flag that stays, and
/// yields zeros, so that a decoder reads straight through and asks ok() once.
class Reader {
public:
    explicit Reader(ConstBytes bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    // Out of line, for there are hundreds of calls.
    std::uint64_t uint(unsigned width) noexcept;
    std::uint32_t u32() noexcept;
    std::uint16_t u16() noexcept;
    std::uint8_t u8() noexcept;
    std::uint64_t u64() noexcept { return uint(8); }
    void skip(std::size_t count) noexcept;
    /// The next `count` bytes; empty when there are fewer.
    ConstBytes bytes(std::size_t count) noexcept {
        const std::byte* from = take(count);
        return from == nullptr ? ConstBytes{} : ConstBytes{from, count};
    }
    /// The bytes that have not been read yet.
    ConstBytes rest() const noexcept { return {at_, remaining()}; }
    std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    bool ok() const noexcept { return ok_; }

private:
    const std::byte* take(std::size_t count) noexcept;

    const std::byte* at_;
    const std::byte* end_;
    bool ok_ = true;
};

/// Writes little-endian fields into a buffer whose size was computed before. Running past the end sets a flag and
/// writes nothing more.
class Writer {
public:
    explicit Writer(Bytes bytes) noexcept : to_(bytes.data()), size_(bytes.size()) {}
    /// A writer that only counts: the first of two passes, to learn how large a structure will be.
    Writer() noexcept : to_(nullptr), size_(static_cast<std::size_t>(-1)) {}

    // Out of line, for there are hundreds of calls; the width first, so that all arguments travel in registers.
    void uint(unsigned width, std::uint64_t value) noexcept;
    void u8(std::uint32_t value) noexcept { small(1, value); }
    void u16(std::size_t value) noexcept { small(2, static_cast<std::uint32_t>(value)); }
    void u32(std::uint32_t value) noexcept { small(4, value); }
    void u64(std::uint64_t value) noexcept { uint(8, value); }
    void bytes(ConstBytes from) noexcept;
    void fill(std::byte value, std::size_t count) noexcept;
    std::size_t written() const noexcept { return at_; }
    bool ok() const noexcept { return ok_; }
    /// Pointer to byte `offset` of the structure; nullptr while only counting.
    std::byte* at(std::size_t offset) const noexcept { return to_ == nullptr ? nullptr : to_ + offset; }

private:
    void small(unsigned width, std::uint32_t value) noexcept;
    std::byte* take(std::size_t count) noexcept;

    std::byte* to_;
    std::size_t size_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace h5mote
