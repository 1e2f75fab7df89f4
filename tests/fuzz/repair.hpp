// Damaged files whose checksums are right: without them fuzzing would not get past the first block. Targets that take
// files or parts of them define play() and repair_superblock(), and have their entry points from here.
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
// What the mutator has at hand. libFuzzer keeps inputs that fail only when it runs them itself.
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

/// The library did what it must not.
[[noreturn]] inline void fail() noexcept {
    keep_mutated();
    std::abort();
}

/// A file, changed in place.
class Repair {
public:
    explicit Repair(h5mote::Bytes file) noexcept : file_(file) {}

    /// The superblock says where the file ends, and has the right checksum if it has one.
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

    /// Repairs what the errors of a walk tell of. false: nothing was left to repair.
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
    // Of a block that ends in its checksum.
    bool checksum(std::size_t at, std::size_t size) noexcept {
        return size >= 8 && holds(at, size) && store(at + size - 4, h5mote::lookup3({file_.data() + at, size - 4}));
    }
    // Of a direct block of a fractal heap. How long what stands before the checksum is, its heap's header tells.
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
    // Of the mappings of virtual datasets, which are objects of a collection.
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

/// What the target does with an input, which it may change only with `repair`: it then repairs what it met and returns
/// whether there was anything. Defined by the target, as the next one.
bool play(h5mote::Bytes input, bool repair) noexcept;
/// Makes the superblock fit an input that was changed.
void repair_superblock(h5mote::Bytes input) noexcept;

}  // namespace h5mote_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)h5mote_fuzz::play({reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(data)), size}, false);
    return 0;
}

#ifdef H5MOTE_FUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Repairs what it has made as long as that leads further, but not for ever.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    constexpr unsigned kMost = 32;
    size = LLVMFuzzerMutate(data, size, max_size);
    const h5mote::Bytes input(reinterpret_cast<std::byte*>(data), size);
    // Now and then a file is left as short as it has become.
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
