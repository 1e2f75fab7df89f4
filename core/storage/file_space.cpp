#include "file_space.hpp"

#include "checked.hpp"

namespace h5mote {

// Computed in 64 bits: near the largest address the next unit may begin beyond what a 32-bit Address can express.
std::uint64_t FileSpace::place_in_units(Usage usage, Address address, Address size) const noexcept {
    if (usage == Usage::raw_data) {
        return address;
    }
    // The first `head` bytes of the block lie in one unit, and so do its last `tail` bytes. Of an object header the
    // first ones are what secure_change() may cut it down to, the last ones hold what changes most: the dimensions.
    const bool header = usage == Usage::object_header;
    const Address head = head_of(usage, size);
    const Address tail = size <= unit_ ? 0 : header ? unit_ / 2 : kLeastUnit / 2;
    const std::uint64_t mask = unit_ - 1;
    for (std::uint64_t start = address;;) {
        if ((start & mask) + head > unit_) {
            start = (start | mask) + 1;
        }
        const std::uint64_t last = (start + size) & mask;
        if (last == 0 || last >= tail) {
            return start;
        }
        start += tail - last;
    }
}

void FileSpace::open(Address end, Address limit, Address stored) noexcept {
    end_ = end;
    limit_ = limit;
    stored_ = stored;
    committed_.set(end);
    const Capabilities capabilities = driver_.capabilities();
    extends_with_zeros_ = capabilities.extends_with_zeros;
    commits_ = capabilities.sync_is_commit;
    // Storage in advance is cheap only where nothing has to be written for it, and where it takes no room from what is
    // to be committed.
    steps_.set(capabilities.extends_with_zeros && !commits_, stored, commits_ && capabilities.keeps_storage);
    // Where sync() commits all writes at once, only copies of the file on other storages profit from the placement.
    unit_ = commits_ ? kMostUnit : unit_of(capabilities.atomic_unit);
    free_.clear();
    forget_rests();
}

Status FileSpace::begin() noexcept {
    const bool waiting = waiting_;
    waiting_ = false;  // the keeper calls functions that call this one
    const Status status = waiting ? keeper_->begin() : Status::ok;
    waiting_ = status != Status::ok;
    return status;
}

void FileSpace::close() noexcept {
    free_.clear();
    forget_rests();
    free_.set_overflow(nullptr);
    if (keeper_ != nullptr) {
        keeper_->end();
        keeper_ = nullptr;
        waiting_ = false;
    }
}

// Takes the smallest extent that has room, so that large ones stay whole. With aggregation that is one of the same
// kind, then the rest of the aggregation block, and only then one of the other kind.
bool FileSpace::reuse(Usage usage, Address size, Address& address) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (!rule_.reuse) {
            return take_rest(usage, size, address);
        }
    }
    FreeExtent best{0, kUndefinedAddress, 0, SpaceKind::metadata};
    std::size_t chosen = free_.count();
    // A long list need not be searched from its beginning: with aggregation first for extents of the same kind, and
    // then for others.
    const bool finds = free_.finds_smallest() && !has_pages();
    if (finds) {
        const bool apart = is_aggregated(kind_of(usage), size);
        chosen = free_.find_smallest(size, [&](const FreeExtent& extent) {
            return (!apart || extent.kind == kind_of(usage)) && fits(usage, size, extent);
        });
        if (apart && chosen >= free_.count()) {
            chosen = free_.find_smallest(size, [&](const FreeExtent& extent) { return fits(usage, size, extent); });
        }
        best = chosen < free_.count() ? free_.get(chosen) : best;
    }
    for (std::size_t i = 0; !finds && i < free_.count(); ++i) {
        const FreeExtent extent = free_.get(i);
        if (extent.size >= size && extent.pending == 0 && prefers(extent, best, kind_of(usage), size) &&
            fits(usage, size, extent)) {
            best = extent;
            chosen = i;
            if (H5MOTE_ALL_FORMATS != 0 && extent.size == size && extent.kind == kind_of(usage)) {
                break;  // none can be better
            }
        }
    }
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if ((chosen >= free_.count() || best.kind != kind_of(usage)) && take_rest(usage, size, address)) {
            return true;
        }
    }
    if (chosen >= free_.count()) {
        return false;
    }
    free_.erase(chosen);
    const Address start = narrow(place(usage, best, size));
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (has_pages()) {
            add_beside(best, usage, start, size);
            address = start;
            return true;
        }
    }
    const Address before = start - best.address;
    FreeExtent behind{start + size, best.size - before - size, 0, best.kind};
    best.size = before;
    add(best);
    add(behind);
    address = start;
    return true;
}

Status FileSpace::keep(std::uint32_t ranges, Address bytes) noexcept {
    if constexpr (H5MOTE_KEEP_ROOM == 0) {
        return Status::ok;
    }
    const Address spare = bytes > bytes_ ? steps_.kept_spare() : 0;
    const Status status = commits_ ? driver_.keep_room(ranges + (spare == 0 ? 0 : 1), bytes + spare) : Status::ok;
    if (status == Status::ok) {
        ranges_ = ranges;
        bytes_ = bytes;
    }
    return status;
}

Status FileSpace::keep_metadata(Address size) noexcept {
    H5MOTE_TRY(keep(size));
    ++metadata_ranges_;
    metadata_bytes_ += size;
    return Status::ok;
}

// The blocks of an index are small beside the cache, and each write may cost more than its bytes. A large cache has
// room for more blocks than one change makes dirty.
Status FileSpace::keep_cache(Address size) noexcept {
    size = size < 8192 ? size : 8192;
    while (commits_ && metadata_bytes_ < size) {
        H5MOTE_TRY(keep_metadata(size / 8));
    }
    return Status::ok;
}

void FileSpace::unkeep_metadata() noexcept {
    (void)keep(ranges_ - metadata_ranges_, bytes_ - metadata_bytes_);
    metadata_ranges_ = 0;
    metadata_bytes_ = 0;
}

// The block's room may be given back already: all metadata may have been written since the block was allocated.
void FileSpace::unkeep_metadata(Address size) noexcept {
    if (metadata_ranges_ != 0 && metadata_bytes_ >= size) {
        --metadata_ranges_;
        metadata_bytes_ -= size;
        unkeep(size);
    }
}

Status FileSpace::allocate(Usage usage, Address size, Address& address, bool* zeros) noexcept {
    if (zeros != nullptr) {
        *zeros = false;
    }
    if (usage == Usage::raw_data) {
        return find_space(usage, size, address, zeros);
    }
    H5MOTE_TRY(keep_metadata(size));
    const Status status = find_space(usage, size, address, zeros);
    if (status != Status::ok) {
        unkeep_metadata(size);
    }
    return status;
}

Status FileSpace::find_space(Usage usage, Address size, Address& address, bool* zeros) noexcept {
    H5MOTE_TRY(begin());
    enter(usage);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        H5MOTE_TRY(fill_last_page());
        if (is_aggregated(kind_of(usage), size)) {
            return reuse(usage, size, address) ? Status::ok : begin_block(usage, size, address, zeros);
        }
    }
    return reuse(usage, size, address) ? Status::ok : extend(usage, size, address, zeros);
}

Status FileSpace::extend(Usage usage, Address size, Address& address, bool* zeros) noexcept {
    enter(usage);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (has_pages()) {
            return extend_by_pages(usage, size, address, zeros);
        }
    }
    const std::uint64_t placed = place(usage, end_, size);
    if (!within(placed, size, limit_)) {
        return free_.context().fail(Module::storage, H5MOTE_HERE, Status::no_space, 0, size);
    }
    const Address start = narrow(placed);
    if (H5MOTE_ALL_FORMATS != 0 && ranges() == nullptr) {
        H5MOTE_TRY(grow_in_steps(start, start + size, zeros));
    } else if (start + size > stored_) {
        if (zeros != nullptr) {
            *zeros = extends_with_zeros_ && start >= stored_;
        }
        H5MOTE_TRY(driver_.truncate(start + size));
        stored_ = start + size;
    }
    const Address gap = end_;
    end_ = start + size;
    release(gap, start - gap, true, kind_of(usage));
    address = start;
    return Status::ok;
}

bool FileSpace::add_free(Address address, Address size, SpaceKind kind) noexcept {
    FreeExtent extent{address, size, 0, kind};
    return add(extent);
}

Address FileSpace::add_unused(Address address, Address end) noexcept {
    Address found = 0;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        give_back_rests(false);
    }
    end = end < end_ ? end : end_;
    while (address < end) {
        // The first known extent from `address` on ends what was lost. So does the space that the keeper uses itself,
        // which may have come out of what add() has just made free.
        FreeExtent known{end, 0, 0, SpaceKind::raw_data};
        const auto consider = [&](const FreeExtent& each) {
            if (each.size != 0 && each.address + each.size > address && each.address < known.address) {
                known = each;
            }
        };
        if (keeper_ != nullptr) {
            for (const FreeExtent& own : keeper_->own()) {
                consider(own);
            }
        }
        for (std::size_t i = 0; i < free_.count(); ++i) {
            consider(free_.get(i));
        }
        if (known.address > address) {
            FreeExtent lost{address, known.address - address, 0, SpaceKind::raw_data};
            found += lost.size;
            add(lost);
            if (commits_) {
                tell(address, known.address - address, lost);
            }
        }
        address = known.address + known.size;
    }
    return found;
}

void FileSpace::release(Address address, Address size, bool fresh, SpaceKind kind) noexcept {
    const bool unseen = fresh || (commits_ && committed_.is_behind(address));
    FreeExtent merged{address, size, static_cast<std::uint8_t>(unseen ? 0 : held_ ? 2 : 1), kind};
    add(merged);
    if (!fresh && commits_) {
        tell(address, size, merged);
    }
}

bool FileSpace::add(FreeExtent& extent) noexcept {
    if (extent.size == 0) {
        return true;
    }
    enter_at(extent.address);
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (has_pages()) {
            const bool known = free_.overlaps(extent);
            if (!known) {
                add_to_pages(extent);
            }
            return !known;
        }
    }
    if (!free_.absorb(extent)) {
        return false;
    }
    if (extent.pending == 0 && extent.address + extent.size == end_) {
        end_ = extent.address;
    } else {
        free_.insert(extent);
    }
    return true;
}

// Tells the driver that [address, address + size) is free. A driver can give up whole pages only, so the free space
// around the range (`merged` is all of it) is named with it, as far as one page may reach.
void FileSpace::tell(Address address, Address size, const FreeExtent& merged) noexcept {
    const Address before = address - merged.address;
    const Address after = merged.size - before - size;
    const Address from = address - (before < kPage ? before : kPage);
    (void)driver_.release(Usage::raw_data, from, address + size + (after < kPage ? after : kPage) - from);
}

void FileSpace::tell_own(const FreeExtent& own) noexcept {
    if (!commits_ || own.size == 0) {
        return;
    }
    FreeExtent whole = own;
    for (std::size_t i = 0; i < free_.count(); ++i) {
        const FreeExtent each = free_.get(i);
        if (each.size != 0 && each.address + each.size == own.address) {
            whole.address = each.address;
            whole.size += each.size;
        } else if (each.size != 0 && each.address == own.address + own.size) {
            whole.size += each.size;
        }
    }
    tell(own.address, own.size, whole);
}

// An extent that becomes usable may become one with others, which changes the numbers: those before its address were
// looked at. Where some are not in memory, one that was not looked at may get a number that was: then the last pass
// finds none.
bool FileSpace::settle(bool all) noexcept {
    bool told = false;
    for (bool again = true; again;) {
        again = false;
        for (std::size_t i = 0; (i = free_.next_pending(i)) < free_.count();) {
            const FreeExtent extent = free_.get(i);
            if (extent.pending != 1 && !(all && extent.pending == 2)) {
                ++i;
                continue;
            }
            again = again || free_.spilled() != 0;
            free_.erase(i);
            FreeExtent merged{extent.address, extent.size, 0, extent.kind};
            add(merged);
            if (!commits_ || merged.size != extent.size) {
                tell(extent.address, extent.size, merged);
                told = commits_;
            }
            const std::size_t next = free_.first_ending_at(extent.address + 1);
            i = next < i ? next : i;
        }
    }
    for (std::size_t i = 0; (i = free_.next_pending(i)) < free_.count(); ++i) {
        FreeExtent extent = free_.get(i);
        if (extent.pending == 2) {
            extent.pending = 1;
            free_.set(i, extent);
        }
    }
    committed_.set(end_);
    return told;
}

}  // namespace h5mote
