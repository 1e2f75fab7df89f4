// Layout of a zlib stream (RFC 1950): compression method and window (1 byte), flags and check (1 byte), deflate blocks
// (RFC 1951), Adler-32 of the uncompressed bytes (4 bytes, big-endian).
#include <h5mote/filters/deflate.hpp>

#include "deflate_backend.hpp"
#include "deflate_format.hpp"

namespace h5mote::deflate {
namespace {

constexpr std::byte kMethod{0x78};  // deflate, 32 KiB window
constexpr std::byte kFlags{0x9c};   // default effort; makes the two bytes a multiple of 31
constexpr unsigned kPresetDictionary = 0x20;
constexpr std::uint32_t kAdlerModulus = 65521;

Bytes aligned(Bytes scratch) noexcept {
    return reinterpret_cast<std::uintptr_t>(scratch.data()) % 8 == 0 ? scratch : Bytes{};
}

// The sums of many bytes at once, for machines with vectors: lane i has those of every kLanes-th byte from i on. Takes
// as many bytes from `at` as are whole steps.
const std::byte* add_in_lanes(const std::byte* at, std::size_t size, std::uint32_t& a, std::uint32_t& b) noexcept {
    constexpr std::size_t kLanes = 16;
    std::uint32_t sum[kLanes] = {};
    std::uint32_t weighted[kLanes] = {};  // each byte as often as there are steps after its own
    const std::size_t taken = size - size % kLanes;
    for (const std::byte* const end = at + taken; at != end; at += kLanes) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            weighted[i] += sum[i];
            sum[i] += static_cast<std::uint8_t>(at[i]);
        }
    }
    // A byte counts in `b` once for itself and once for each byte that follows it.
    std::uint64_t total = b + std::uint64_t{a} * taken;
    for (std::size_t i = 0; i < kLanes; ++i) {
        total += std::uint64_t{weighted[i]} * kLanes + std::uint64_t{sum[i]} * (kLanes - i);
        a += sum[i];
    }
    b = static_cast<std::uint32_t>(total % kAdlerModulus);
    return at;
}

}  // namespace

std::uint32_t adler32(ConstBytes bytes) noexcept {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    while (left > 0) {
        // 5552 bytes are the most that cannot overflow 32 bits between two reductions.
        const std::size_t run = left < 5552 ? left : 5552;
        const std::byte* const end = at + run;
        if constexpr (sizeof(std::size_t) >= 8) {
            at = add_in_lanes(at, run, a, b);
        }
        for (; at != end; ++at) {
            a += static_cast<std::uint8_t>(*at);
            b += a;
        }
        a %= kAdlerModulus;
        b %= kAdlerModulus;
        left -= run;
    }
    return (b << 16) | a;
}

std::size_t OwnBackend::scratch_need(bool encode) noexcept {
    return encode ? DeflateFilter::kEncodeScratch : DeflateFilter::kDecodeScratch;
}

Status OwnBackend::encode(std::uint32_t /*level*/, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes scratch) noexcept {
    if (aligned(scratch).size() < DeflateFilter::kEncodeScratch) {
        return Status::over_budget;
    }
    if (out.size() < 2) {
        return Status::no_space;
    }
    out[0] = kMethod;
    out[1] = kFlags;
    const bool fits = compress(in, out.subspan(2), size, scratch);
    size += 2;
    return fits ? Status::ok : Status::no_space;
}

Status OwnBackend::decode(ConstBytes in, Bytes out, std::size_t& size, Bytes scratch) noexcept {
    if (aligned(scratch).size() < DeflateFilter::kDecodeScratch) {
        return Status::over_budget;
    }
    if (in.size() < 2) {
        return Status::corrupt_file;
    }
    const auto method = static_cast<unsigned>(in[0]);
    const auto flags = static_cast<unsigned>(in[1]);
    // Method 8 with a window of up to 32 KiB, and a header that passes its own check.
    if ((method & 0x0f) != 8 || method > 0x78 || (method * 256 + flags) % 31 != 0 || (flags & kPresetDictionary) != 0) {
        return Status::corrupt_file;
    }
    return expand(in.subspan(2), out, size, scratch) ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote::deflate
