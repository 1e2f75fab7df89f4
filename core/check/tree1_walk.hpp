// H5B - every node of a version 1 B-tree, from the root down: levels, siblings, the order of keys.
#pragma once

#include "btree1.hpp"
#include "checker.hpp"

namespace h5mote {

/// Visits every child of every node. The derived classes, for symbol tables and for chunks, say what keys mean.
class Tree1Walk : public BTree1 {
public:
    /// kReported, out_of_memory, what entry() returned.
    Status run() noexcept;

protected:
    Tree1Walk(Checker& checker, CheckPart part, std::uint8_t type) noexcept
        : BTree1(type), checker_(checker), part_(part) {}
    ~Tree1Walk();

    /// Sign of a - b. corrupt_file: what the keys refer to is not there.
    virtual Status order_of(ConstBytes a, ConstBytes b, int& order) noexcept = 0;
    /// Checks an entry of a leaf, with the keys before and after it.
    virtual Status entry(ConstBytes key, ConstBytes next, Address child) noexcept = 0;

    static constexpr std::size_t kMaxKey = ChunkBTree1Key::kMaxSize;
    Checker& checker_;
    const CheckPart part_;
    std::byte key_[kMaxKey];
    std::byte next_[kMaxKey];

private:
    struct Level {
        Address address = kUndefinedAddress;
        Address last = kUndefinedAddress;   // the node of this level that was met last
        Address right = kUndefinedAddress;  // and which one it names as the next
        std::uint32_t next = 0;             // number of the next child
        std::uint32_t entries = 0;
        bool gap = false;  // the nodes before the next one were not all seen
    };

    Status compare_key(ConstBytes /*key*/, int& order) noexcept override {
        order = 0;
        return Status::ok;
    }
    Status start() noexcept;
    Status enter(Address address, unsigned level) noexcept;
    Status step(unsigned level, Address& below) noexcept;
    Status leave(unsigned level) noexcept;
    Status check_siblings(unsigned level, Address address, Address left) noexcept;
    Status mend(Address node, bool right, Address to) noexcept;
    bool harmless(Address named, Address node) const noexcept;

    // Bytes that further nodes can take: as nodes do not overlap, all together are no larger than the file.
    Address room_ = 0;
    unsigned top_ = 0;
    Level* levels_ = nullptr;  // one for each level: top_ + 1
};

}  // namespace h5mote
