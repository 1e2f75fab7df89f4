// The storages on which logs rotate. Each can lose its power at any operation, and be switched on again.
#pragma once

#include <h5mote/vfd/flash.hpp>

#include <memory>
#include <string>

namespace h5mote_test {

/// Erase counts of a chip's blocks.
struct Wear {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
};

/// Counts the operations of a storage that change it, and switches it off before one of them.
class Power {
public:
    /// The operation-th operation from now does not happen, nor does any after it. 0: none fails.
    void cut_after(std::uint64_t operation) noexcept { cut_at_ = operation == 0 ? 0 : operations_ + operation; }
    void restore() noexcept {
        on_ = true;
        cut_at_ = 0;
    }
    bool on() const noexcept { return on_; }
    std::uint64_t operations() const noexcept { return operations_; }
    /// Call before an operation. false: it does not happen.
    bool spend() noexcept {
        ++operations_;
        on_ = on_ && (cut_at_ == 0 || operations_ < cut_at_);
        return on_;
    }

private:
    std::uint64_t operations_ = 0;
    std::uint64_t cut_at_ = 0;
    bool on_ = true;
};

class Storage {
public:
    virtual ~Storage() = default;

    /// The driver of the present session: valid until restart().
    virtual h5mote::Driver& driver() noexcept = 0;
    /// Bytes of file that fit.
    virtual std::uint64_t capacity() const noexcept = 0;
    /// Ends the session of the driver and begins another one, as a device does that is switched on. What a power cut
    /// has left undecided is decided by `seed`.
    virtual h5mote::Status restart(std::uint64_t seed) = 0;

    /// The power fails in the operation-th operation from now. 0: it does not.
    virtual void cut_after(std::uint64_t operation, std::uint64_t seed) noexcept = 0;
    virtual bool powered() const noexcept = 0;
    virtual std::uint64_t operations() const noexcept = 0;

    /// The driver of a chip; nullptr for other storages.
    virtual h5mote::FlashDriver* flash() noexcept { return nullptr; }
    virtual Wear wear() const noexcept { return {}; }

protected:
    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
};

/// `kind`: file, journal, card, memory, nor or nand. `capacity`: bytes, roughly, except for the file systems, which
/// have no end: it is what capacity() says. `folder`: for the files. nullptr: no such kind.
std::unique_ptr<Storage> make_storage(const std::string& kind, std::uint64_t capacity, const std::string& folder);

}  // namespace h5mote_test
