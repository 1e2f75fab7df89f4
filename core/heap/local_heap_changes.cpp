#include "local_heap_changes.hpp"

#include "checked.hpp"
#include "owned_bytes.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The rules that keep a power cut from losing names. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    cut_off_the_end,  // the storage finds the fields of every free block where its list leads
    names_first,      // a name is on the storage before a link that has it
    remove_later,     // bytes that a removed link had are used again only when no link on the storage has them
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

constexpr Phase kPhase = keep(Rule::names_first) ? Phase::index : Phase::object;

constexpr Address kUnit = 8;  // texts and free blocks begin at multiples of it
// Bytes for the names of links in a new heap of libhdf5: four names of eight characters, and one free block.
constexpr Address kFirstSize = 8 + 4 * 16;

// The longest text: more than any link name or path that libhdf5 writes.
constexpr std::size_t kMostText = 0xffffff;

constexpr Address rounded(Address size) noexcept { return (size + kUnit - 1) & ~(kUnit - 1); }

Status write_new(FileState& file, Address at, ConstBytes bytes) noexcept {
    file.unsynced = true;
    return told(file.context, file.driver, H5MOTE_HERE, file.driver.write(Usage::local_heap, at, bytes), at);
}

}  // namespace

struct LocalHeapChanges::FreePlace {
    Address before = LocalHeapHeader::kNoFree;  // the free block that leads to this one; none: the header does
    Address at = LocalHeapHeader::kNoFree;
    LocalHeapFreeBlock block;
};

Status LocalHeapChanges::create(FileState& file, Address& header) noexcept {
    const FileShape shape = file.shape();
    const Address least = LocalHeapFreeBlock::fields_size(shape);
    LocalHeapHeader fields;
    fields.data_size = kFirstSize + least;
    fields.free = kUnit;
    Pinned segment;
    H5MOTE_TRY(file.create_block(Usage::local_heap, static_cast<std::size_t>(fields.data_size), fields.data_size,
                                 segment, ChecksumPlace::none));
    fields.data = segment->address();
    Writer free(segment->image().subspan(kUnit));
    LocalHeapFreeBlock{LocalHeapHeader::kNoFree, fields.data_size - kUnit}.encode(shape, free);
    MetadataCache::mark_dirty(*segment, 0, Phase::index);
    segment.reset();
    Pinned block;
    const Status status = file.create_block(Usage::local_heap, LocalHeapHeader::size(shape),
                                            LocalHeapHeader::stored_size(shape), block, ChecksumPlace::none);
    if (status != Status::ok) {
        file.give_up(fields.data, fields.data_size, true);
        return status;
    }
    Writer writer(block->image());
    fields.encode(shape, writer);
    MetadataCache::mark_dirty(*block, 0, Phase::index);
    header = block->address();
    return Status::ok;
}

// Whether the fields of free blocks have to stay where they are.
bool LocalHeapChanges::keeps_fields() const noexcept { return !file_.is_atomic() && keep(Rule::cut_off_the_end); }

Status LocalHeapChanges::size_of(Address offset, Address& size) noexcept {
    std::size_t length = 0;
    H5MOTE_TRY(heap_.length(offset, length));
    size = rounded(static_cast<Address>(length) + 1);
    return Status::ok;
}

// The first free block with room. not_found: there is none.
Status LocalHeapChanges::find_room(MetadataWindow& window, Address need, FreePlace& place) noexcept {
    const Address least = LocalHeapFreeBlock::fields_size(file_.shape());
    Address passed = 0;
    place.before = LocalHeapHeader::kNoFree;
    for (place.at = heap_.fields().free; place.at != LocalHeapHeader::kNoFree; place.at = place.block.next) {
        H5MOTE_TRY(heap_.free_block(window, place.at, passed, place.block));
        const std::uint64_t field = std::uint64_t{heap_.fields().data} + place.at + file_.shape().sizeof_size;
        const bool whole = place.block.size == need && !keeps_fields();
        const bool cut = file_.one_write(field, field + file_.shape().sizeof_size);
        if (whole || (cut && place.block.size >= need && place.block.size - need >= least)) {
            return Status::ok;
        }
        place.before = place.at;
    }
    return Status::not_found;
}

// Changes bytes of the data segment, which is in the cache as a whole or not at all.
Status LocalHeapChanges::write(MetadataWindow& window, Address offset, ConstBytes bytes) noexcept {
    if (bytes.empty()) {
        return Status::ok;
    }
    if (!window.block()) {
        return write_new(file_, heap_.fields().data + offset, bytes);
    }
    CacheEntry& block = *window.block();
    std::memcpy(block.at(static_cast<std::size_t>(offset)), bytes.data(), bytes.size());
    MetadataCache::mark_dirty(block, static_cast<std::size_t>(offset), kPhase);
    return Status::ok;
}

Status LocalHeapChanges::write_text(MetadataWindow& window, Address offset, ConstBytes text) noexcept {
    constexpr std::byte kZeros[kUnit] = {};
    H5MOTE_TRY(write(window, offset, text));
    const Address end = rounded(text.size() + 1);
    return write(window, offset + text.size(), ConstBytes(kZeros).first(static_cast<std::size_t>(end - text.size())));
}

Status LocalHeapChanges::write_number(MetadataWindow& window, Address offset, Address number) noexcept {
    std::byte bytes[8];
    const unsigned width = file_.shape().sizeof_size;
    store_uint(bytes, width, number);
    return write(window, offset, ConstBytes(bytes).first(width));
}

// Makes the free block at `before`, or the header, lead to another one.
Status LocalHeapChanges::write_next(MetadataWindow& window, Address before, Address next) noexcept {
    if (before != LocalHeapHeader::kNoFree) {
        return write_number(window, before, next);
    }
    LocalHeapHeader fields = heap_.fields();
    fields.free = next;
    return switch_to(fields);
}

Status LocalHeapChanges::take(MetadataWindow& window, const FreePlace& place, Address need, Address& offset) noexcept {
    const Address rest = place.block.size - need;
    if (!keep(Rule::cut_off_the_end) && rest != 0) {
        std::byte fields[16];
        Writer writer{Bytes(fields)};
        LocalHeapFreeBlock{place.block.next, rest}.encode(file_.shape(), writer);
        offset = place.at;
        H5MOTE_TRY(write(window, place.at + need, ConstBytes(fields).first(writer.written())));
        return write_next(window, place.before, place.at + need);
    }
    offset = place.at + rest;
    return rest == 0 ? write_next(window, place.before, place.block.next)
                     : write_number(window, place.at + file_.shape().sizeof_size, rest);
}

Status LocalHeapChanges::insert(ConstBytes text, Address& offset) noexcept {
    Address need = 0;
    if (text.size() > kMostText) {
        return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, 0, text.size());
    }
    need = rounded(static_cast<Address>(text.size()) + 1);
    FreePlace place;
    MetadataWindow window;
    H5MOTE_TRY(heap_.open_data(window));
    Status status = find_room(window, need, place);
    for (const bool larger : {false, true}) {
        if (status == Status::not_found) {
            window.close();
            H5MOTE_TRY(replace_segment(need, larger));
            H5MOTE_TRY(heap_.open_data(window));
            status = find_room(window, need, place);
        }
    }
    if (status != Status::ok) {
        return status == Status::not_found
                   ? file_.context.fail(Module::heap, H5MOTE_HERE, Status::corrupt_file, 0, heap_.address())
                   : status;
    }
    H5MOTE_TRY(take(window, place, need, offset));
    return write_text(window, offset, text);
}

// ---- removal -----------------------------------------------------------------------------------------------------

// Makes [offset, offset + size) free: part of the free blocks beside it, or a free block of its own. `only_behind`:
// only if there is a free block that ends where it begins.
Status LocalHeapChanges::give(Address offset, Address size, bool only_behind) noexcept {
    const FileShape shape = file_.shape();
    FreePlace ahead;   // the free block that ends at `offset`
    FreePlace behind;  // the one that begins at its end
    FreePlace each;
    Address passed = 0;
    MetadataWindow window;
    H5MOTE_TRY(heap_.open_data(window));
    for (each.at = heap_.fields().free; each.at != LocalHeapHeader::kNoFree; each.at = each.block.next) {
        H5MOTE_TRY(heap_.free_block(window, each.at, passed, each.block));
        if (each.at + each.block.size == offset) {
            ahead = each;
        } else if (each.at == offset + size) {
            behind = each;
        } else if (each.at + each.block.size > offset && each.at < offset + size) {
            return file_.context.fail(Module::heap, H5MOTE_HERE, Status::corrupt_file, 0, heap_.address());
        }
        each.before = each.at;
    }
    const bool has_ahead = ahead.at != LocalHeapHeader::kNoFree;
    const bool has_behind = behind.at != LocalHeapHeader::kNoFree && !only_behind;
    if (only_behind && !has_ahead) {
        return Status::ok;
    }
    // Each step leaves a sound list if the next one fails: a block whose fields will be overwritten leaves it first.
    if (has_behind) {
        H5MOTE_TRY(write_next(window, behind.before, behind.block.next));
    }
    const Address all = size + (has_behind ? behind.block.size : 0);
    if (has_ahead) {
        return write_number(window, ahead.at + shape.sizeof_size, ahead.block.size + all);
    }
    if (all < LocalHeapFreeBlock::fields_size(shape)) {
        return Status::ok;  // the bytes are lost, as in libhdf5
    }
    std::byte fields[16];
    Writer writer{Bytes(fields)};
    LocalHeapFreeBlock{has_behind ? behind.block.next : heap_.fields().free, all}.encode(shape, writer);
    H5MOTE_TRY(write(window, offset, ConstBytes(fields).first(writer.written())));
    return write_next(window, has_behind ? behind.before : LocalHeapHeader::kNoFree, offset);
}

void LocalHeapChanges::take_back(Address offset) noexcept {
    Address size = 0;
    if (size_of(offset, size) == Status::ok) {
        (void)give(offset, size, keeps_fields());
    }
}

void LocalHeapChanges::remove(Address offset) noexcept {
    Address size = 0;
    const bool later = !file_.is_atomic() && keep(Rule::remove_later);
    if (!later && offset >= kUnit && offset % kUnit == 0 && size_of(offset, size) == Status::ok &&
        within(offset, size, heap_.data_size())) {
        (void)give(offset, size, false);
    }
}

// ---- another data segment ----------------------------------------------------------------------------------------

namespace {

// Adds up the bytes of all texts.
class UsedBytes final : public LocalHeapNote {
public:
    explicit UsedBytes(LocalHeap& heap) noexcept : heap_(heap) {}
    Status use(Address offset) noexcept override {
        std::size_t length = 0;
        H5MOTE_TRY(heap_.length(offset, length));
        bytes_ += rounded(static_cast<Address>(length) + 1);
        return Status::ok;
    }
    Address bytes() const noexcept { return bytes_; }

private:
    LocalHeap& heap_;
    Address bytes_ = kUnit;
};

// Which bytes of a part of the data segment are used, eight by eight. A heap for which there is no memory takes several
// parts.
class UsedUnits final : public LocalHeapNote {
public:
    UsedUnits(Context& context, LocalHeap& heap) noexcept : memory_(context), heap_(heap) {}

    Status reserve() noexcept {
        constexpr Address kLeast = 64;
        Address bytes = heap_.data_size() / (kUnit * 8) + 1;
        Status status = memory_.reserve(static_cast<std::size_t>(bytes));
        while (status == Status::out_of_memory && bytes > kLeast) {
            bytes /= 2;
            status = memory_.reserve(static_cast<std::size_t>(bytes));
        }
        part_ = bytes * kUnit * 8;
        return status;
    }
    Address part() const noexcept { return part_; }
    Status read(LocalHeapUser& user, Address from) noexcept {
        from_ = from;
        std::memset(memory_.data(), 0, static_cast<std::size_t>(part_ / kUnit / 8));
        return user.show(*this);
    }
    Status use(Address offset) noexcept override {
        std::size_t length = 0;
        H5MOTE_TRY(heap_.length(offset, length));
        const Address end = offset + static_cast<Address>(length);
        for (Address at = offset < from_ ? from_ : offset & ~(kUnit - 1); at <= end && at - from_ < part_;
             at += kUnit) {
            byte(at) |= bit(at);
        }
        return Status::ok;
    }
    bool is_used(Address at) const noexcept { return at < kUnit || (byte(at) & bit(at)) != std::byte{0}; }

private:
    static std::byte bit(Address at) noexcept { return static_cast<std::byte>(1U << (at / kUnit % 8)); }
    std::byte& byte(Address at) const noexcept {
        return memory_.data()[static_cast<std::size_t>((at - from_) / kUnit / 8)];
    }

    OwnedBytes memory_;
    LocalHeap& heap_;
    Address from_ = 0;
    Address part_ = 0;
};

// Copies a data segment to a new place, and makes a list of the bytes that no text has.
class SegmentCopy {
public:
    SegmentCopy(FileState& file, LocalHeap& heap, Address to, Address size) noexcept
        : file_(file), heap_(heap), used_(file.context, heap), to_(to), size_(size) {}

    Status run(LocalHeapUser& user) noexcept {
        const Address old = heap_.data_size();
        H5MOTE_TRY(used_.reserve());
        for (Address from = 0; from < old; from += used_.part()) {
            H5MOTE_TRY(used_.read(user, from));
            const Address end = old - from < used_.part() ? old : from + used_.part();
            H5MOTE_TRY(copy(from, end));
            for (Address at = from; at < end; at += kUnit) {
                if (used_.is_used(at)) {
                    H5MOTE_TRY(end_of_free(at));
                } else if (free_ == LocalHeapHeader::kNoFree) {
                    free_ = at;
                }
            }
        }
        free_ = free_ == LocalHeapHeader::kNoFree ? rounded(old) : free_;
        return end_of_free(size_);
    }
    Address first() const noexcept { return first_; }

private:
    Status copy(Address from, Address end) noexcept {
        MetadataWindow window;
        H5MOTE_TRY(heap_.open_data(window));
        while (from < end) {
            ConstBytes piece;
            H5MOTE_TRY(window.peek(from, piece));
            const Address size = end - from < piece.size() ? end - from : static_cast<Address>(piece.size());
            H5MOTE_TRY(write_new(file_, to_ + from, piece.first(static_cast<std::size_t>(size))));
            from += size;
        }
        return Status::ok;
    }
    // The bytes that are free, if there are any, end at `at`.
    Status end_of_free(Address at) noexcept {
        const Address begin = free_;
        free_ = LocalHeapHeader::kNoFree;
        if (begin == LocalHeapHeader::kNoFree || at - begin < LocalHeapFreeBlock::fields_size(file_.shape())) {
            return Status::ok;
        }
        std::byte fields[16];
        Writer writer{Bytes(fields)};
        LocalHeapFreeBlock{first_, at - begin}.encode(file_.shape(), writer);
        first_ = begin;
        return write_new(file_, to_ + begin, ConstBytes(fields).first(writer.written()));
    }

    FileState& file_;
    LocalHeap& heap_;
    UsedUnits used_;
    Address to_;
    Address size_;
    Address free_ = LocalHeapHeader::kNoFree;   // where free bytes begin that end behind what was copied
    Address first_ = LocalHeapHeader::kNoFree;  // the free block found last, with which the list begins
};

}  // namespace

// Puts another data segment in the place of the present one: one of twice the size or more, or, unless `larger`, one of
// the same size if the texts take less than half of it.
Status LocalHeapChanges::replace_segment(Address need, bool larger) noexcept {
    if (keep(Rule::remove_later)) {
        H5MOTE_TRY(file_.order());  // no link on the storage has bytes that are found to be free
    }
    LocalHeapHeader fields = heap_.fields();
    const Address old = fields.data_size;
    const Address room = need + LocalHeapFreeBlock::fields_size(file_.shape());
    UsedBytes used(heap_);
    H5MOTE_TRY(user_.show(used));
    if (larger || room > old / 2 || used.bytes() > old / 2 - room) {
        const Address most = kUndefinedAddress >> (file_.shape().sizeof_size >= sizeof(Address)
                                                       ? 1U
                                                       : 8U * (sizeof(Address) - file_.shape().sizeof_size) + 1U);
        if (old > most / 2 || room > most / 2) {
            return file_.context.fail(Module::heap, H5MOTE_HERE, Status::over_budget, 0, heap_.address());
        }
        fields.data_size = rounded(old) + (room > old ? room : rounded(old));
    }
    H5MOTE_TRY(file_.space.allocate(Usage::local_heap, fields.data_size, fields.data));
    file_.space.unkeep_metadata(fields.data_size);  // it is written at once
    Status status = Status::ok;
    {
        SegmentCopy copy(file_, heap_, fields.data, fields.data_size);
        status = copy.run(user_);
        fields.free = copy.first();
    }
    const Address header = heap_.address();
    const Address replaced = heap_.fields().data;
    status = status == Status::ok ? switch_to(fields) : status;
    if (status != Status::ok) {
        file_.space.release(fields.data, fields.data_size, true);
        return status;
    }
    file_.give_up(replaced, old);
    // What leads to new texts may be written in the phase in which what leads to the heap is written.
    return heap_.address() == header ? Status::ok : file_.order();
}

// Gives the header other fields: where it is, or, if no write does that wholly or not at all, beside it.
Status LocalHeapChanges::switch_to(const LocalHeapHeader& fields) noexcept {
    constexpr std::size_t kFirstField = 8;
    const FileShape shape = file_.shape();
    const std::size_t size = LocalHeapHeader::size(shape);
    const Address from = heap_.address();
    Pinned block;
    H5MOTE_TRY(file_.cache.protect(Usage::local_heap, from, size, block, ChecksumPlace::none));
    const bool moves = !file_.one_write(*block, kFirstField);
    if (moves) {
        block.reset();
        H5MOTE_TRY(file_.create_block(Usage::local_heap, size, LocalHeapHeader::stored_size(shape), block,
                                      ChecksumPlace::none));
    }
    Writer writer(block->image());
    fields.encode(shape, writer);
    MetadataCache::mark_dirty(*block, moves ? 0 : kFirstField, kPhase);
    const Address to = block->address();
    block.reset();
    if (moves) {
        const Status status = user_.lead_to(to);
        if (status != Status::ok) {
            file_.give_up(to, LocalHeapHeader::stored_size(shape), true);
            return status;
        }
        file_.give_up(from, LocalHeapHeader::stored_size(shape));
    }
    heap_.set_header(to, fields);
    return Status::ok;
}

}  // namespace h5mote

#endif
