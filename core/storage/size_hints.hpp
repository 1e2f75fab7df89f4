// H5FS - which sizes may be found where in a long list of free extents, so that a search need not look at all of them.
//
// The list is divided into runs. Each run has 128 bits: one for each class of sizes, and one for extents that are
// pending, which nobody looks for by their sizes. A bit that is not set says that the run has no such extent; one that
// is set promises nothing, so that an extent that leaves a run costs nothing. Whoever finds that a bit is wrong clears
// it.
#pragma once

#include "cursor.hpp"

#include <h5mote/address.hpp>

namespace h5mote {

class SizeHints {
public:
    static constexpr std::size_t kRun = 16;  ///< extents in a run
    static constexpr unsigned kClasses = 127;

    /// Bytes of memory that a list with room for so many extents needs.
    static constexpr std::size_t bytes(std::size_t room) noexcept { return (room + kRun - 1) / kRun * sizeof(Bits); }
    /// The hints in `memory`; nullptr: there are none.
    explicit SizeHints(void* memory) noexcept : runs_(static_cast<Bits*>(memory)) {}
    bool valid() const noexcept { return runs_ != nullptr; }
    /// Starts with no extents, in memory for `room` of them.
    void start(std::size_t room) noexcept {
        for (std::size_t i = 0; i < bytes(room) / sizeof(Bits); ++i) {
            at(i) = {};
        }
    }
    /// Notes that extent number `i` has that size.
    void note(std::size_t i, Address size, bool pending) noexcept {
        if (valid()) {
            Bits& run = at(i / kRun);
            const unsigned size_class = class_of(size);
            if (pending) {
                run.words[1] |= kPendingBit;
            } else {
                run.words[size_class / 64] |= std::uint64_t{1} << size_class % 64;
            }
        }
    }
    /// The first class, `from` or a later one, that a run may have; kClasses if there is none.
    unsigned next_class(std::size_t run, unsigned from) const noexcept {
        const Bits& bits = at(run);
        const std::uint64_t low = from < 64 ? bits.words[0] >> from : 0;
        const unsigned second = from < 64 ? 64 : from;
        const std::uint64_t high = (bits.words[1] & ~kPendingBit) >> (second - 64);
        return low != 0    ? from + static_cast<unsigned>(__builtin_ctzll(low))
               : high != 0 ? second + static_cast<unsigned>(__builtin_ctzll(high))
                           : kClasses;
    }
    /// Says that a run has no extents of the class `from` and later ones.
    void clear_classes(std::size_t run, unsigned from) noexcept {
        Bits& bits = at(run);
        if (from < 64) {
            bits.words[0] &= (std::uint64_t{1} << from) - 1;
        }
        bits.words[1] &= ((std::uint64_t{1} << (from < 64 ? 0 : from - 64)) - 1) | kPendingBit;
    }
    bool may_be_pending(std::size_t run) const noexcept { return (at(run).words[1] & kPendingBit) != 0; }
    void clear_pending(std::size_t run) noexcept { at(run).words[1] &= ~kPendingBit; }

    /// The class of a size: each by itself up to 64, because most extents are small; then four for each power of two.
    static unsigned class_of(Address size) noexcept {
        if (size < kSingle) {
            return static_cast<unsigned>(size);
        }
        const unsigned log = floor_log2(size);
        const unsigned found = kSingle + (log - 6) * 4 + static_cast<unsigned>(size >> (log - 2) & 3U);
        return found < kClasses ? found : kClasses - 1;
    }
    /// The smallest size that belongs to a class.
    static std::uint64_t least_of(unsigned size_class) noexcept {
        const unsigned step = size_class - kSingle;
        return size_class < kSingle ? size_class : (4 + step % 4ULL) << (4 + step / 4);
    }

private:
    static constexpr unsigned kSingle = 64;
    static constexpr std::uint64_t kPendingBit = std::uint64_t{1} << 63;  // of the second word
    struct Bits {
        std::uint64_t words[2] = {};
    };

    // The hints of a run. Callers have found valid().
    Bits& at(std::size_t run) const noexcept {
        if (!valid()) {
            __builtin_unreachable();
        }
        return runs_[run];
    }

    Bits* runs_;
};

/// Takes its place in builds whose lists are short.
class NoSizeHints {
public:
    static constexpr std::size_t kRun = 1;
    static constexpr unsigned kClasses = 0;

    explicit NoSizeHints(void* /*memory*/) noexcept {}
    static constexpr std::size_t bytes(std::size_t /*room*/) noexcept { return 0; }
    static constexpr bool valid() noexcept { return false; }
    static void start(std::size_t /*room*/) noexcept {}
    static void note(std::size_t /*i*/, Address /*size*/, bool /*pending*/) noexcept {}
    static constexpr unsigned next_class(std::size_t /*run*/, unsigned /*from*/) noexcept { return kClasses; }
    static void clear_classes(std::size_t /*run*/, unsigned /*from*/) noexcept {}
    static constexpr bool may_be_pending(std::size_t /*run*/) noexcept { return false; }
    static void clear_pending(std::size_t /*run*/) noexcept {}
    static constexpr unsigned class_of(Address /*size*/) noexcept { return kClasses; }
    static constexpr std::uint64_t least_of(unsigned /*size_class*/) noexcept { return 0; }
};

}  // namespace h5mote
