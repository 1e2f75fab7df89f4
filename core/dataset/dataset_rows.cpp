// H5D - appending whole rows to a dataset of any rank.

#include "conversion.hpp"
#include "dataset_state.hpp"
#include "transfer.hpp"

#include <cstring>

namespace h5mote {
namespace {

DatasetState& state_of(AppendCursor* cursor) noexcept { return static_cast<DatasetState&>(*cursor); }

// The coordinates that a transfer of rows needs, in memory because a rank of 32 is too much for a small stack.
class Rows {
public:
    explicit Rows(DatasetState& state) noexcept : state_(state), rank_(state.rank()) {}
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    ~Rows() { state_.file().context.release(MemoryKind::other, numbers_, bytes()); }

    // Takes `rows` rows more than there are.
    Status reset(std::uint64_t rows) noexcept {
        numbers_ = static_cast<std::uint64_t*>(state_.file().context.allocate(MemoryKind::other, bytes()));
        if (numbers_ == nullptr) {
            return Status::out_of_memory;
        }
        std::memset(numbers_, 0, bytes());
        for (unsigned i = 1; i < rank_; ++i) {
            numbers_[rank_ + i] = numbers_[2 * rank_ + i] = state_.dims()[i];
        }
        numbers_[0] = state_.dims()[0];
        numbers_[rank_] = rows;
        numbers_[2 * rank_] = state_.dims()[0] + rows;
        return Status::ok;
    }
    Span<const std::uint64_t> start() const noexcept { return {numbers_, rank_}; }
    Span<const std::uint64_t> count() const noexcept { return {numbers_ + rank_, rank_}; }
    Span<const std::uint64_t> extent() const noexcept { return {numbers_ + 2 * rank_, rank_}; }

private:
    std::size_t bytes() const noexcept { return 3 * rank_ * sizeof(std::uint64_t); }

    DatasetState& state_;
    std::size_t rank_;
    std::uint64_t* numbers_ = nullptr;
};

// Number of rows that `count` elements are; false: they are no whole rows.
bool whole_rows(DatasetState& state, std::uint64_t count, std::uint64_t& rows) noexcept {
    std::uint64_t row = 1;
    bool sound = state.is_chunked() && state.rank() != 0;
    for (unsigned i = 1; sound && i < state.rank(); ++i) {
        sound = checked_multiply(row, state.dims()[i], row);
    }
    std::uint64_t rest = 0;
    rows = sound && row != 0 ? divide(count, row, rest) : 0;
    return sound && (row != 0 || count == 0) && rest == 0;
}

}  // namespace

Status Dataset::append_rows(DatatypeView type, const void* elements, std::size_t count) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = state_of(cursor_);
    H5MOTE_TRY(state.begin_change());
    state.count_appended();
    std::uint64_t rows = 0;
    const std::uint64_t before = state.rank() == 0 ? 0 : state.dims()[0];
    if (!whole_rows(state, count, rows) || rows > state.max_dims()[0] - before) {
        return file_->context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, state.rank(), count);
    }
    if (rows == 0) {
        return Status::ok;
    }
    Rows place(state);
    H5MOTE_TRY(place.reset(rows));
    H5MOTE_TRY(state.set_extent(place.extent()));
    const Bytes from{const_cast<std::byte*>(static_cast<const std::byte*>(elements)), count * type.size()};
    const Status status =
        transfer(state, {Selection::hyperslab(place.start(), place.count()), type, nullptr, nullptr, from, true});
    if (status != Status::ok) {
        state.withdraw_rows(before);
    }
    return status;
}

}  // namespace h5mote
