// What puts links and attributes in order within whatever memory there is.
#pragma once

#include <h5mote/context.hpp>
#include <h5mote/object.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// Gives the elements of a sequence in the order of their keys (bytes, compared as numbers). The sequence is shown to
/// it from its start, as often as need be: each pass keeps as many of those that come next as memory permits, all of
/// them if it can. What it holds it gives up when an allocation fails elsewhere; the next pass then makes do with less.
class OrderedBatch final : public Reclaimer {
public:
    OrderedBatch(Context& context, Direction direction) noexcept;
    ~OrderedBatch();

    /// The position of the next element. false: a pass has to be made, or, if finished(), there are no more.
    bool take(std::uint64_t& position) noexcept;
    bool finished() const noexcept { return finished_; }

    void begin_pass() noexcept;
    /// Shows an element. out_of_memory: not even one key fits.
    Status offer(ConstBytes key, std::uint64_t position) noexcept;
    void end_pass() noexcept;
    /// Ends a pass for which there was no memory, and gives up most of what the batch holds. false: it has the least
    /// already.
    bool shrink() noexcept;

    void reclaim() noexcept override;

private:
    struct Entry {
        std::uint64_t position;
        std::uint32_t key;  // where it stands in keys_
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
    void release() noexcept;

    Context& context_;
    Entry* entries_ = nullptr;  // during a pass a heap, the last in order on top; afterwards sorted
    std::byte* keys_ = nullptr;
    std::byte* last_ = nullptr;  // key of the last element that was taken
    std::uint64_t last_position_ = 0;
    std::size_t limit_;  // bytes of entries_ and keys_
    std::uint32_t last_length_ = 0;
    std::uint32_t last_capacity_ = 0;
    std::uint32_t entry_capacity_ = 0;
    std::uint32_t key_capacity_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t key_bytes_ = 0;  // used in keys_
    std::uint32_t waste_ = 0;      // of which belong to no entry
    std::uint32_t next_ = 0;       // first entry that was not taken
    Direction direction_;
    bool has_last_ = false;
    bool in_pass_ = false;
    bool complete_ = false;  // the batch holds all that remain
    bool finished_ = false;
};

#endif

}  // namespace h5mote
