// Makes the checksums of damaged files right: otherwise fuzzing would not get past the first block. Targets whose
// inputs are files or parts of files define play() and repair_superblock(); this header defines their entry points.
#pragma once

#include "checksum.hpp"
#include "cursor.hpp"

#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef H5MOTE_FUZZER
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace h5mote_fuzz {

#ifdef H5MOTE_FUZZER
// The input that the mutator is working on. If it makes the library fail, it is written to a file here, because
// libFuzzer keeps only inputs that fail when it runs them itself.
inline h5mote::ConstBytes mutated;

inline void keep_mutated() noexcept {
    if (!mutated.empty()) {
        if (std::FILE* file = std::fopen("mutated.bin", "wb")) {
            std::fwrite(mutated.data(), 1, mutated.size(), file);
            std::fclose(file);
            std::fputs("kept in mutated.bin\n", stderr);
        }
    }
}
#else
inline void keep_mutated() noexcept {}
#endif

/// Ends the program after an error of the library, and keeps the input.
[[noreturn]] inline void fail() noexcept {
    keep_mutated();
    std::abort();
}

/// Repairs a file in place.
class Repair {
public:
    explicit Repair(h5mote::Bytes file) noexcept : file_(file) {}

    /// Sets the end of file address in the superblock to the file's size, and corrects the checksum if there is one.
    void superblock() noexcept {
        constexpr std::size_t kOld = 24;  // where addresses begin in version 0; in version 1: 28
        if (file_.size() < 96) {
            return;
        }
        const unsigned version = number(8, 1);
        const std::size_t at = version < 2 ? 13 : 9;
        const std::size_t width = number(at, 1);
        if (version > 3 || width < 2 || width > 8) {
            return;
        }
        const std::size_t addresses = version < 2 ? kOld + (version == 0 ? 0U : 4U) : 12;
        h5mote::store_uint(file_.data() + addresses + 2 * width, static_cast<unsigned>(width), file_.size());
        if (version >= 2) {
            (void)checksum(0, 12 + 4 * width + 4);
        }
    }

    /// Repairs the checksums of the blocks that the error records of a walk name. Returns whether one was wrong.
    bool reported(const h5mote::ErrorTrail& trail) noexcept {
        using h5mote::Module;
        bool any = false;
        for (std::size_t i = 0; i < trail.size(); ++i) {
            const h5mote::ErrorRecord record = trail.newest(i);
            if (record.status != h5mote::Status::corrupt_file || record.value >= file_.size()) {
                continue;
            }
            const auto address = static_cast<std::size_t>(record.value);
            if (record.module == Module::storage && record.detail >= 8) {
                any = (signature(address, "FHDB") ? direct_block(address, record.detail)
                                                  : checksum(address, record.detail)) ||
                      any;
            } else if (record.module == Module::dataset) {
                any = collection(address) || any;
            }
        }
        return any;
    }

private:
    bool holds(std::size_t at, std::size_t size) const noexcept {
        return size <= file_.size() && at <= file_.size() - size;
    }
    bool signature(std::size_t at, const char* text) const noexcept {
        return holds(at, 4) && std::memcmp(file_.data() + at, text, 4) == 0;
    }
    unsigned number(std::size_t at, unsigned width) const noexcept {
        return static_cast<unsigned>(h5mote::load_uint(file_.data() + at, width));
    }
    bool store(std::size_t at, std::uint32_t right) noexcept {
        std::byte* const stored = file_.data() + at;
        if (h5mote::load_le<std::uint32_t>(stored) == right) {
            return false;
        }
        h5mote::store_le(stored, right);
        return true;
    }
    // Corrects the checksum at the end of a block. Returns whether it was wrong.
    bool checksum(std::size_t at, std::size_t size) noexcept {
        return size >= 8 && holds(at, size) && store(at + size - 4, h5mote::lookup3({file_.data() + at, size - 4}));
    }
    // Corrects the checksum of a direct block of a fractal heap. It follows the block offset, whose size depends on the
    // maximum heap size in the heap's header. Returns whether it was wrong.
    bool direct_block(std::size_t at, std::size_t size) noexcept {
        const bool old = number(8, 1) < 2;
        const std::size_t sizeof_addr = number(old ? 13 : 9, 1);
        const std::size_t sizeof_size = number(old ? 14 : 10, 1);
        if (sizeof_addr > 8 || sizeof_size > 8 || !holds(at, size) || size < 32) {
            return false;
        }
        const auto header =
            static_cast<std::size_t>(h5mote::load_uint(file_.data() + at + 5, static_cast<unsigned>(sizeof_addr)));
        const std::size_t heap_bits = 14 + 10 * sizeof_size + 2 * sizeof_addr + 2 + 2 * sizeof_size;
        if (!holds(header, heap_bits + 2)) {
            return false;
        }
        const std::size_t prefix = 5 + sizeof_addr + (number(header + heap_bits, 2) + 7U) / 8U;
        if (prefix > size - 4) {
            return false;
        }
        const auto before = h5mote::load_le<std::uint32_t>(file_.data() + at + prefix);
        (void)store(at + prefix, 0);
        const std::uint32_t right = h5mote::lookup3({file_.data() + at, size});
        (void)store(at + prefix, right);
        return before != right;
    }
    // Corrects the checksums of the objects in a global heap collection: the mappings of virtual datasets have one.
    bool collection(std::size_t at) noexcept {
        if (!holds(at, 16) || !signature(at, "GCOL")) {
            return false;
        }
        bool any = false;
        for (at += 16; holds(at, 16) && number(at, 2) != 0;) {
            const std::size_t size = number(at + 8, 4);
            if (!holds(at + 16, size)) {
                break;
            }
            any = checksum(at + 16, size) || any;
            at += 16 + ((size + 7) & ~std::size_t{7});
        }
        return any;
    }

    h5mote::Bytes file_;
};

/// Defined by the target: runs an input. Only with `repair` it may change the input: it then repairs the checksums that
/// the library found wrong, and returns whether there were any.
bool play(h5mote::Bytes input, bool repair) noexcept;
/// Defined by the target: makes the superblock fit an input whose size was changed.
void repair_superblock(h5mote::Bytes input) noexcept;

}  // namespace h5mote_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)h5mote_fuzz::play({reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(data)), size}, false);
    return 0;
}

#ifdef H5MOTE_FUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Mutates an input, then repairs its checksums: each pass of play() gets further and may find more of them. The number
// of passes is limited.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    constexpr unsigned kMost = 32;
    size = LLVMFuzzerMutate(data, size, max_size);
    const h5mote::Bytes input(reinterpret_cast<std::byte*>(data), size);
    // In one of eight inputs leave the superblock as it is, so that files shorter than it says occur, too.
    if (seed % 8 != 0) {
        h5mote_fuzz::repair_superblock(input);
    }
    __sanitizer_set_death_callback(h5mote_fuzz::keep_mutated);
    h5mote_fuzz::mutated = input;
    for (unsigned i = 0; i < kMost && h5mote_fuzz::play(input, true); ++i) {
    }
    h5mote_fuzz::mutated = {};
    return size;
}
#endif
