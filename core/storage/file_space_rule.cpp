// Placement by the SpaceRule of a file. A program whose files have none does not contain it.
#include "checked.hpp"
#include "file_space.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

// The first multiple of `step` at or after `address`, or the largest number if there is none.
std::uint64_t round_up(std::uint64_t address, Address step) noexcept {
    const std::uint64_t over = remainder_of(address, step);
    const std::uint64_t rounded = over == 0 ? address : address - over + step;
    return rounded < address ? ~std::uint64_t{0} : rounded;
}

}  // namespace

bool FileSpace::take_free(Address address, Address size) noexcept {
    if (begin() != Status::ok || !rule_.reuse || has_pages()) {
        return false;
    }
    for (std::size_t i = 0; i < free_.count(); ++i) {
        FreeExtent before = free_.get(i);
        if (before.pending == 0 && before.address <= address && within(address - before.address, size, before.size)) {
            free_.erase(i);
            FreeExtent behind{address + size, before.address + before.size - (address + size), 0, before.kind};
            before.size = address - before.address;
            add(before);
            add(behind);
            return true;
        }
    }
    return false;
}

Address FileSpace::last_end() const noexcept { return ranges() == nullptr ? end_ : ranges()->end(); }

bool FileSpace::ends_behind(Address recorded) const noexcept {
    return ranges() == nullptr ? end_ > recorded : ranges()->has_grown();
}

bool FileSpace::in_one_unit_of_range(std::uint64_t from, std::uint64_t to) const noexcept {
    const std::uint64_t start = ranges() == nullptr ? 0 : ranges()->start_of(narrow(from));
    return ((from - start) ^ (to - 1 - start)) < unit_;
}

// The loop ends after at most one unit's worth of pages: by then one begins where a unit begins, and in that one the
// block fits.
std::uint64_t FileSpace::place_in_page(Usage usage, Address address, Address size) const noexcept {
    for (std::uint64_t start = address; start < limit_;) {
        const std::uint64_t placed = place_in_units(usage, narrow(start), size);
        const std::uint64_t next = round_up(start + 1, rule_.page);
        if (placed <= next && size <= next - placed) {
            return placed;
        }
        start = next;
    }
    return ~std::uint64_t{0};
}

// Among the first multiples of `step`, within one unit, one where the last bytes of the block lie in one unit as well
// is taken if there is one. The loop ends: one of unit_ multiples in a row is where a unit begins, which suits any
// first bytes.
std::uint64_t FileSpace::place_aligned(Usage usage, Address address, Address size, Address step) const noexcept {
    std::uint64_t first = ~std::uint64_t{0};
    for (std::uint64_t start = round_up(address, step); start < limit_;) {
        const std::uint64_t placed = place_in_units(usage, narrow(start), size);
        if (placed == start || usage == Usage::raw_data) {
            return start;
        }
        if (first > start && (start & (unit_ - 1U)) + head_of(usage, size) <= unit_) {
            first = start;
        }
        start = round_up(placed, step);
        if (first < start && start - first > unit_) {
            break;
        }
    }
    return first;
}

std::uint64_t FileSpace::place_by_rule(Usage usage, Address address, Address size) const noexcept {
    if (has_pages()) {
        return size < rule_.page ? place_in_page(usage, address, size)
                                 : place_aligned(usage, address, size, rule_.page);
    }
    return is_aligned(size) ? place_aligned(usage, address, size, rule_.alignment)
                            : place_in_units(usage, address, size);
}

// Whole pages may begin with the rest of one that a large block has begun: nothing is placed there.
Address FileSpace::first_in(const FreeExtent& extent) const noexcept {
    return has_pages() && extent.kind == SpaceKind::pages ? narrow(round_up(extent.address, rule_.page))
                                                          : extent.address;
}

// Whole pages are given out as such. The last one may be in use further on, if a large block was cut.
bool FileSpace::last_page_is_free(std::uint64_t end, const FreeExtent& extent) const noexcept {
    return !has_pages() || extent.kind != SpaceKind::pages ||
           round_up(end, rule_.page) <= std::uint64_t{extent.address} + extent.size;
}

std::uint32_t FileSpace::count_together(Address size) const noexcept {
    constexpr std::uint32_t kAny = ~std::uint32_t{0};
    if (has_pages() && size < rule_.page) {
        const std::uint64_t count = quotient_of(rule_.page, size == 0 ? 1 : size);
        return count < kAny ? static_cast<std::uint32_t>(count) : kAny;
    }
    const Address step = has_pages() ? rule_.page : is_aligned(size) ? rule_.alignment : 1;
    return remainder_of(size, step) == 0 ? kAny : 1;
}

// A small block takes a whole page out of free pages; the rest of that page is for more of its kind.
void FileSpace::add_beside(const FreeExtent& extent, Usage usage, Address address, Address size) noexcept {
    Address from = address;
    Address to = address + size;
    if (extent.kind == SpaceKind::pages && size < rule_.page) {
        from = narrow(address - remainder_of(address, rule_.page));
        to = from + rule_.page;
    }
    release(extent.address, from - extent.address, true, extent.kind);
    release(from, address - from, true, kind_of(usage));
    release(address + size, to - address - size, true, kind_of(usage));
    release(to, extent.address + extent.size - to, true, extent.kind);
}

// What a block leaves free that began in one page and ends in another is free by pages, because only pieces of one page
// can become that page again.
void FileSpace::add_to_pages(FreeExtent& extent) noexcept {
    const FreeExtent whole = extent;
    const Address left = narrow(round_up(extent.address, rule_.page)) - extent.address;
    if (extent.kind != SpaceKind::pages) {
        if (left != 0 && left < extent.size) {
            FreeExtent front{extent.address, left, extent.pending, extent.kind};
            add_by_page(front);
            extent.address += left;
            extent.size -= left;
        }
        extent.kind = extent.size >= rule_.page ? SpaceKind::pages : extent.kind;
    }
    add_by_page(extent);
    if (whole.address < extent.address) {
        extent = whole;
    }
}

void FileSpace::add_by_page(FreeExtent& extent) noexcept {
    for (Address known = 0; known != extent.size;) {
        known = extent.size;
        (void)free_.absorb(extent, rule_.page);
        extent.kind = extent.size >= rule_.page ? SpaceKind::pages : extent.kind;
    }
    FreeExtent kept = extent;
    if (extent.pending == 0 && extent.kind == SpaceKind::pages && extent.address + extent.size == end_) {
        end_ = narrow(round_up(extent.address, rule_.page));
        kept.size = end_ - extent.address;
    }
    if (kept.size != 0) {
        free_.insert(kept);
    }
}

bool FileSpace::take_rest(Usage usage, Address size, Address& address) noexcept {
    const SpaceKind kind = kind_of(usage);
    if (!is_aggregated(kind, size)) {
        return false;
    }
    const Rest old = rest(kind);
    const std::uint64_t placed = place(usage, old.address, size);
    if (!within(placed - old.address, size, old.size)) {
        return false;
    }
    address = narrow(placed);
    rest(kind) = {address + size, old.address + old.size - address - size};
    release(old.address, address - old.address, true, kind);
    return true;
}

// What is left of the last block of this kind is free for all. If it ends the file, the new block begins there.
Status FileSpace::begin_block(Usage usage, Address size, Address& address, bool* zeros) noexcept {
    const SpaceKind kind = kind_of(usage);
    const Rest old = rest(kind);
    rest(kind).size = 0;
    release(old.address, old.size, true, kind);
    const Address start = end_;
    const Address block = kind == SpaceKind::metadata ? rule_.metadata_block : rule_.small_data_block;
    H5MOTE_TRY(extend(usage, size, address, zeros));
    // On a storage that has no room for a whole block the file grows by what is needed.
    const Address used = end_ - start;
    if (used < block && within(start, block, limit_) && grow_storage(start + block) == Status::ok) {
        rest(kind) = {end_, block - used};
        end_ = start + block;
        steps_.use(end_);  // what is put into the rest may go again, and the end of the file with it
    }
    return Status::ok;
}

FreeExtent FileSpace::rest_of(SpaceKind kind) noexcept { return {rest(kind).address, rest(kind).size, 0, kind}; }

void FileSpace::give_back_rests(bool last) noexcept {
    if (last) {
        rule_.metadata_block = 0;
        rule_.small_data_block = 0;
    }
    for (const SpaceKind kind : {SpaceKind::metadata, SpaceKind::raw_data}) {
        const Rest old = rest(kind);
        rest(kind).size = 0;
        release(old.address, old.size, true, kind);
    }
}

// How far the storage must reach for a file that ends at `end`.
Address FileSpace::with_spare(Address end) const noexcept {
    const std::uint64_t spare = has_pages() ? round_up(steps_.spare(), rule_.page) : steps_.spare();
    return spare <= limit_ - end ? narrow(end + spare) : end;
}

Status FileSpace::grow_in_steps(Address start, Address end, bool* zeros) noexcept {
    if (zeros != nullptr) {
        *zeros = extends_with_zeros_ && steps_.is_unused(start);
    }
    const Address least = with_spare(end);
    if (least > stored_) {
        Address to = steps_.extended(least, limit_);
        Status status = driver_.truncate(to);
        if (status != Status::ok && to != least) {
            to = least;
            status = driver_.truncate(to);
        }
        H5MOTE_TRY(status);
        stored_ = to;
    }
    steps_.use(end);
    return Status::ok;
}

Status FileSpace::grow_storage(Address end) noexcept {
    const Address least = with_spare(end);
    if (least > stored_) {
        H5MOTE_TRY(driver_.truncate(least));
        stored_ = least;
    }
    return Status::ok;
}

// A file without a whole number of pages is one of which only the superblock was allocated, or that another program
// left so. What is added belongs to the superblock's kind.
Status FileSpace::fill_last_page() noexcept {
    const std::uint64_t end = has_pages() ? round_up(end_, rule_.page) : end_;
    if (end > limit_) {
        return free_.context().fail(Module::storage, H5MOTE_HERE, Status::no_space, 0, end_);
    }
    if (end == end_) {
        return Status::ok;
    }
    H5MOTE_TRY(grow_storage(narrow(end)));
    const Address gap = end_;
    end_ = narrow(end);
    release(gap, end_ - gap, true, SpaceKind::metadata);
    return Status::ok;
}

Status FileSpace::extend_by_pages(Usage usage, Address size, Address& address, bool* zeros) noexcept {
    H5MOTE_TRY(fill_last_page());
    const std::uint64_t placed = place(usage, end_, size);
    if (!within(placed, size, limit_) || round_up(placed + size, rule_.page) > limit_) {
        return free_.context().fail(Module::storage, H5MOTE_HERE, Status::no_space, 0, size);
    }
    const Address from = end_;
    const Address to = narrow(round_up(placed + size, rule_.page));
    H5MOTE_TRY(grow_in_steps(narrow(placed), to, zeros));
    end_ = to;
    address = narrow(placed);
    add_beside({from, to - from, 0, SpaceKind::pages}, usage, address, size);
    return Status::ok;
}

}  // namespace h5mote

#endif
