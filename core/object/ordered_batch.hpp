// H5G H5A - sorting links and attributes by name or creation order, with however little memory there is.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/object.hpp>

namespace h5mote {

/// Returns the elements of a sequence in the order of their keys (bytes, compared as numbers). The caller offers the
/// sequence from its start, in as many passes as are needed: a pass keeps as many of the elements that come next in
/// order as memory permits, all of them if it can. When an allocation fails elsewhere, the batch gives up what it
/// holds; the next pass then makes do with less.
class OrderedBatch final : public Reclaimer {
public:
    OrderedBatch(Context& context, Direction direction) noexcept;
    ~OrderedBatch();

    /// The position in the sequence of the next element in order. false: the caller has to make a pass, or, if
    /// finished(), there are no more elements.
    bool take(std::uint64_t& position) noexcept;
    bool finished() const noexcept { return finished_; }

    /// The sequence has changed: the next elements are looked for again, behind the last one that was taken.
    /// `by_key`: elements have keys of their own, so that their positions do not count.
    void forget(bool by_key) noexcept;
    void begin_pass() noexcept;
    /// Offers an element during a pass. out_of_memory: not even one key fits, or the last one that take() had to keep;
    /// over_budget: the key has 16 MiB or more.
    Status offer(ConstBytes key, std::uint64_t position) noexcept;
    void end_pass() noexcept;
    /// Ends a pass for which there was no memory. The batch gives up its memory, and the next pass takes a quarter of
    /// it at most. false: the batch had the least memory that it works with already.
    bool shrink() noexcept;

    void reclaim() noexcept override;

private:
    struct Entry {
        std::uint64_t position;
        std::uint32_t key;  // offset in keys_
        std::uint32_t length;
    };

    int compare(ConstBytes a, std::uint64_t position_a, ConstBytes b, std::uint64_t position_b) const noexcept;
    bool before(const Entry& a, const Entry& b) const noexcept;
    ConstBytes key_of(const Entry& entry) const noexcept { return {keys_ + entry.key, entry.length}; }
    bool make_room(std::size_t key_length) noexcept;
    bool grow(std::size_t key_length) noexcept;
    void compact_keys() noexcept;
    void drop_last() noexcept;
    template <typename Before>
    void sift_down(std::uint32_t at, std::uint32_t count, Before before) noexcept;
    template <typename Before>
    void sort(Before before) noexcept;
    bool keep_last(const Entry& entry) noexcept;
    bool grow_last(std::uint32_t length) noexcept;
    void release() noexcept;

    Context& context_;
    Entry* entries_ = nullptr;  // during a pass a binary heap, the last in order on top; afterwards sorted
    std::byte* keys_ = nullptr;
    std::byte* last_ = nullptr;  // key of the last element that was taken
    std::uint64_t last_position_ = 0;
    std::size_t limit_;  // most bytes of entries_ and keys_ together
    std::uint32_t last_length_ = 0;
    std::uint32_t last_capacity_ = 0;
    std::uint32_t entry_capacity_ = 0;
    std::uint32_t key_capacity_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t key_bytes_ = 0;  // used in keys_
    std::uint32_t waste_ = 0;      // those of them that belong to no entry any more
    std::uint32_t next_ = 0;       // first entry that was not taken yet
    Direction direction_;
    bool has_last_ = false;
    bool in_pass_ = false;
    bool complete_ = false;  // the batch holds all elements that remain
    bool finished_ = false;
    bool failed_ = false;  // there was no memory to keep the key of the last element
};

}  // namespace h5mote
