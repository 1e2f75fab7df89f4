// H5D I/O - reading, piece by piece: from memory, from the file, or the fill value where nothing was stored.

#include "transfer.hpp"

#include "checked.hpp"
#include "virtual_layout.hpp"

#include <cstring>

namespace h5mote {
namespace {

// A piece of this many bytes or more is worth an access of its own to the storage.
constexpr std::uint64_t kLong = 4096;

// Bytes from one element to the next in file or chunk. The cast is safe where the elements stand in memory: two
// selected elements of one chunk are less than a chunk in memory apart.
std::size_t step_of(const PairedRun& piece, std::uint32_t element_size) noexcept {
    return static_cast<std::size_t>(piece.step * element_size);
}

}  // namespace

Status Transfer::from_memory(const std::byte* at, const PairedRun& piece) noexcept {
    return conversion_.run(static_cast<std::size_t>(piece.length),
                           at + static_cast<std::size_t>(piece.file * element_size_), step_of(piece, element_size_),
                           user(piece.memory), memory_size_);
}

// Long pieces are read straight into the caller's buffer. Shorter ones come through raw_, which reads ahead.
Status Transfer::from_raw(const PairedRun& piece) noexcept {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // from the first element to the end of the last
    if (!checked_multiply<std::uint64_t>(piece.file, element_size_, offset) ||
        !checked_multiply(piece.length - 1, piece.step, bytes) ||
        !checked_multiply<std::uint64_t>(bytes + 1, element_size_, bytes)) {
        return file_.context.fail(Module::dataset, H5MOTE_HERE, Status::corrupt_file, 0, piece.file);
    }
    const std::uint64_t together = piece.step == 1 ? bytes : element_size_;
    const bool direct = conversion_.is_copy() && together >= kLong;
    const std::uint64_t step = piece.step * element_size_;
    for (std::uint64_t done = 0; done < piece.length;) {
        ConstBytes there;
        const std::uint64_t passed = done * step;
        if (direct) {
            H5MOTE_TRY(raw_.read(offset + passed, {user(piece.memory + done), static_cast<std::size_t>(together)}));
            done += piece.step == 1 ? piece.length : 1;
            continue;
        }
        const std::uint64_t wanted = step > kLong ? element_size_ : bytes - passed;
        H5MOTE_TRY(raw_.view(offset + passed, element_size_, wanted, there));
        const std::uint64_t left = piece.length - done;
        const std::uint64_t held =
            there.size() >= bytes - passed ? left : quotient_of(there.size() - element_size_, step) + 1;
        H5MOTE_TRY(from_memory(there.data(), {0, piece.memory + done, held, piece.step}));
        done += held;
    }
    return Status::ok;
}

// What was never written reads as the fill value, which may need conversion.
H5MOTE_STEP Status Transfer::from_nothing(const PairedRun& piece) noexcept {
    if (conversion_.is_copy()) {
        return dataset_.fill(user(piece.memory), static_cast<std::size_t>(piece.length));
    }
    if (dataset_.reads_as_zeros()) {
        std::memset(user(piece.memory), 0, static_cast<std::size_t>(piece.length) * memory_size_);
        return Status::ok;
    }
    const std::uint64_t fit = element_size_ < 512 ? 512 / element_size_ : 1;
    const std::uint64_t room = fit < piece.length ? fit : piece.length;
    std::byte* const elements = file_.filter_scratch(static_cast<std::size_t>(room) * element_size_);
    if (elements == nullptr) {
        return Status::out_of_memory;
    }
    H5MOTE_TRY(dataset_.fill(elements, static_cast<std::size_t>(room)));
    for (std::uint64_t done = 0; done < piece.length; done += room) {
        const std::uint64_t left = piece.length - done;
        H5MOTE_TRY(from_memory(elements, {0, piece.memory + done, left < room ? left : room, 1}));
    }
    return Status::ok;
}

Status Transfer::read_memory(BoxRuns& runs, const std::byte* at) noexcept {
    PairedRun piece;
    while (pairs_.take_next(runs)) {
        while (pairs_.next(piece)) {
            H5MOTE_TRY(from_memory(at, piece));
        }
    }
    return Status::ok;
}

Status Transfer::read_raw(BoxRuns& runs) noexcept {
    PairedRun piece;
    while (pairs_.take_next(runs)) {
        while (pairs_.next(piece)) {
            H5MOTE_TRY(from_raw(piece));
        }
    }
    return Status::ok;
}

Status Transfer::read_nothing(BoxRuns& runs) noexcept {
    PairedRun piece;
    while (pairs_.take_next(runs)) {
        while (pairs_.next(piece)) {
            H5MOTE_TRY(from_nothing(piece));
        }
    }
    return Status::ok;
}

Status Transfer::read_whole() noexcept {
    SelectionRuns& runs = *::new (static_cast<void*>(&walk_.whole)) SelectionRuns;
    H5MOTE_TRY(runs.reset(request_.selection, space_));
    if (dataset_.is_virtual()) {
        // Fill the buffer first: the fill value stays where no source provides an element.
        H5MOTE_TRY(read_nothing(runs));
        return file_.context.formats().virtual_data->read(dataset_, request_, space_, pairs_, memory_size_);
    }
    H5MOTE_TRY(raw_.open());
    return raw_.exists() ? read_raw(runs) : read_nothing(runs);
}

Status Transfer::read_chunks(ChunkedRuns& runs) noexcept {
    while (runs.next_chunk()) {
        H5MOTE_TRY(read_chunk(runs, dataset_.key_of(runs.scaled().data())));
    }
    return Status::ok;
}

Status Transfer::read_chunk(ChunkedRuns& runs, const ChunkKey& key) noexcept {
    ChunkSlot* slot = dataset_.cached_chunk(key);
    if (slot == nullptr) {
        bool read = false;
        H5MOTE_TRY(read_stored_chunk(runs, key, slot, read));
        if (slot == nullptr) {
            return read ? Status::ok : read_nothing(runs);
        }
    }
    return read_memory(runs, slot->data());
}

// Reads a chunk that is not in the cache. Then either `slot` is the chunk, loaded into the cache, or it is nullptr and
// `read` says whether the chunk was read without the cache (true) or does not exist (false).
Status Transfer::read_stored_chunk(ChunkedRuns& runs, const ChunkKey& key, ChunkSlot*& slot, bool& read) noexcept {
    ChunkLocation location;
    bool filtered = false;
    H5MOTE_TRY(dataset_.locate_chunk(lookup_, key, location, filtered));
    if (location.address == kUndefinedAddress) {
        return Status::ok;
    }
    bool in_place = !filtered && !dataset_.fits_cache();
    SelectionRun first;
    read = true;
    if (request_.memory == nullptr && conversion_.is_copy() && runs.peek(first)) {
        // A chunk that is wanted whole, in one piece and without conversion is read into the caller's buffer, not into
        // the cache.
        const std::uint64_t bytes = first.length * element_size_;
        if (bytes == dataset_.chunk_bytes()) {
            return dataset_.load_chunk(location, filtered, {user(first.packed), static_cast<std::size_t>(bytes)});
        }
        in_place = in_place || (!filtered && bytes >= kLong);
    }
    if (in_place) {
        raw_.open(location.address, dataset_.chunk_bytes());
        return read_raw(runs);
    }
    raw_.release();
    return dataset_.cache_chunk(key, location, filtered, slot);
}

}  // namespace h5mote
