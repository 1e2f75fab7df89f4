// H5FD_multi - a file whose usages lie in several parts: finding them, reading, and what the superblock says.
#include "checked.hpp"
#include "multi_format.hpp"

#include <h5mote/vfd/multi.hpp>

#include <cstring>

namespace h5mote {

MultiLayout split_layout() noexcept {
    MultiLayout layout;
    const auto raw = static_cast<std::uint8_t>(Usage::raw_data);
    layout.map[raw] = layout.map[static_cast<std::uint8_t>(Usage::global_heap)] = raw;
    layout.parts[0].name = "%s-m.h5";
    layout.parts[raw] = {kHighestAddress / 2, "%s-r.h5"};
    return layout;
}

MultiLayout multi_layout() noexcept {
    static constexpr char kNames[] = "%s-s.h5%s-b.h5%s-r.h5%s-g.h5%s-l.h5%s-o.h5";
    MultiLayout layout;
    for (unsigned i = 0; i < kMostParts; ++i) {
        layout.map[i] = static_cast<std::uint8_t>(i);
        layout.parts[i] = {kHighestAddress / 6 * i, {kNames + std::size_t{7} * i, 7}};
    }
    return layout;
}

MultiDriver::MultiDriver(MultiParts& parts) noexcept : parts_(parts) {
    set_superblock_info(stored_info_);
    stored_info_.ranges = &ranges_;
}

MultiDriver::~MultiDriver() { close(); }

void MultiDriver::close() noexcept {
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (drivers_[i] != nullptr) {
            parts_.close(i);
            drivers_[i] = nullptr;
        }
    }
    stored_info_.info = {};
    ranges_.count = 0;
    unsynced_ = 0;
}

void MultiDriver::begin() noexcept {
    close();
    unsynced_ = (1U << kMostParts) - 1;  // what a program before this one has written need not be durable
    promised_ = {};
    promised_.atomic_unit = 512;
}

// The file promises only what all of its parts promise.
void MultiDriver::promise_as(const Driver& part) noexcept {
    const Capabilities one = part.capabilities();
    const std::uint32_t both = promised_.atomic_unit | one.atomic_unit;
    promised_.atomic_unit = both & (~both + 1);  // the largest power of two that divides both
    promised_.writable = promised_.writable && one.writable && !one.sync_is_commit;
    promised_.overwrite = promised_.overwrite && one.overwrite;
    promised_.extends_with_zeros = promised_.extends_with_zeros && one.extends_with_zeros;
    promised_.sync_is_barrier = promised_.sync_is_barrier && one.sync_is_barrier;
    promised_.erased_value = one.erased_value;
}

Status MultiDriver::add(const MultiLayout& layout, unsigned part, bool make) noexcept {
    if (drivers_[part] != nullptr) {
        return Status::ok;
    }
    Driver* driver = nullptr;
    Status status = parts_.open(part, layout.parts[part].name, driver);
    error_ = status == Status::ok ? error_ : parts_.last_error();
    if (status == Status::not_found && make) {
        status = parts_.make(part, layout.parts[part].name, driver);
        error_ = status == Status::ok ? 0 : parts_.last_error();
    }
    H5MOTE_TRY(status);
    drivers_[part] = driver;
    starts_[part] = layout.parts[part].start;
    promise_as(*driver);
    return Status::ok;
}

Status MultiDriver::open(const MultiLayout& layout) noexcept {
    begin();
    for (const std::uint8_t part : layout.map) {
        const Status status = part < kMostParts ? add(layout, part, false) : Status::invalid_argument;
        if (status != Status::ok) {
            close();
            return status;
        }
    }
    keep_layout(layout);
    return Status::ok;
}

Status MultiDriver::note(Driver& part, Status status) noexcept {
    error_ = status == Status::ok ? error_ : part.last_error();
    return status;
}

Capabilities MultiDriver::capabilities() const noexcept {
    Capabilities capabilities = promised_;
    capabilities.writable = ranges_.count != 0 && promised_.writable;
    return capabilities;
}

// The address alone selects the part, as in libhdf5: the one with the highest start at or below it.
unsigned MultiDriver::find(std::uint64_t& address) const noexcept {
    unsigned best = kMostParts;
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (drivers_[i] != nullptr && starts_[i] <= address && (best == kMostParts || starts_[i] >= starts_[best])) {
            best = i;
        }
    }
    address -= best == kMostParts ? 0 : starts_[best];
    return best;
}

Status MultiDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    const unsigned part = find(address);
    if (part == kMostParts) {
        return Status::io_error;
    }
    Driver& driver = *drivers_[part];
    if (usage == Usage::superblock || usage == Usage::object_header) {
        std::uint64_t end = 0;
        H5MOTE_TRY(note(driver, driver.end_of_file(end)));
        const std::uint64_t there = address < end ? end - address : 0;
        if (there < to.size() && (there != 0 || usage == Usage::superblock)) {
            const Bytes missing = to.subspan(static_cast<std::size_t>(there));
            std::memset(missing.data(), 0, missing.size());
            to = to.first(static_cast<std::size_t>(there));
        }
    }
    return to.empty() ? Status::ok : note(driver, driver.read(usage, address, to));
}

Status MultiDriver::end_of_file(std::uint64_t& size) noexcept {
    size = 0;
    bool any = true;
    for (unsigned i = 0; i < kMostParts; ++i) {
        std::uint64_t end = 0;
        if (drivers_[i] == nullptr) {
            continue;
        }
        H5MOTE_TRY(note(*drivers_[i], drivers_[i]->end_of_file(end)));
        any = any && (i != first_ || end != 0);
        if (end != 0 && !checked_add(end, starts_[i], end)) {
            return Status::overflow;
        }
        size = end > size ? end : size;
    }
    size = any ? size : 0;
    return Status::ok;
}

// The layout of files that are made on the driver from now on, and the ranges of one that is empty. Parts that make no
// sense for a new file can be read, but not written.
void MultiDriver::keep_layout(const MultiLayout& layout) noexcept {
    const PartOrder order = order_of(layout.map);
    first_ = layout.map[0];
    ranges_ = {};
    stored_info_.info = {};
    bool sound = starts_[first_] == 0;
    for (unsigned i = 0; i < order.count; ++i) {
        const std::uint64_t start = starts_[order.parts[i]];
        ranges_.list[i] = {start, limit_of(order.parts[i]), start, start, start, size_place(i)};
        sound = sound && start < ranges_.list[i].limit && layout.map[order.parts[i]] == order.parts[i];
        for (unsigned j = 0; j < i; ++j) {
            sound = sound && starts_[order.parts[j]] != start;
        }
        for (unsigned usage = 0; usage < kMostParts; ++usage) {
            ranges_.map[usage] =
                layout.map[usage] == order.parts[i] ? static_cast<std::uint8_t>(i) : ranges_.map[usage];
        }
    }
    // libhdf5 allocates global heaps as raw data, and reads none behind the end of the part with raw data.
    ranges_.map[static_cast<unsigned>(Usage::global_heap)] = ranges_.map[static_cast<unsigned>(Usage::raw_data)];
    if (sound) {
        ranges_.count = order.count;
        stored_info_.info = ConstBytes{encoded_, encode(layout, encoded_)};
    }
}

// One address before the next part stays free: blocks of two parts never lie side by side.
std::uint64_t MultiDriver::limit_of(unsigned part) const noexcept {
    std::uint64_t next = kHighestAddress;
    for (unsigned i = 0; i < kMostParts; ++i) {
        next = drivers_[i] != nullptr && starts_[i] > starts_[part] && starts_[i] < next ? starts_[i] : next;
    }
    return next - 1;
}

Status MultiDriver::use_superblock_info(std::string_view name, ConstBytes info, std::uint64_t& end) noexcept {
    if (name != "NCSAmult") {
        return name == "NCSAfami" ? Status::unsupported : Status::corrupt_file;
    }
    MultiLayout layout;
    std::uint64_t sizes[kMostParts] = {};
    if (!decode(info, layout, sizes)) {
        return Status::corrupt_file;
    }
    // The parts are opened anew, and may be the same drivers: each has as many locks afterwards as before.
    const bool locked = is_locked();
    if (locked) {
        unlock_parts(kMostParts);
    }
    H5MOTE_TRY(open(layout));
    Status status = locked ? do_lock(exclusive_) : Status::ok;
    if (status == Status::ok) {
        status = use_layout(layout, sizes, end);
        if (status != Status::ok && locked) {
            unlock_parts(kMostParts);
        }
    }
    if (status != Status::ok) {
        close();  // unlock() must not take the lock of those who have the parts
    }
    return status;
}

Status MultiDriver::use_layout(const MultiLayout& layout, const std::uint64_t (&sizes)[kMostParts],
                               std::uint64_t& end) noexcept {
    const PartOrder order = order_of(layout.map);
    end = 0;
    for (unsigned i = 0; i < order.count; ++i) {
        const unsigned part = order.parts[i];
        UsageRange& range = ranges_.list[i];
        if (!checked_add(starts_[part], sizes[part], range.end)) {
            return Status::corrupt_file;
        }
        end = sizes[part] != 0 && range.end > end ? range.end : end;
        range.recorded = range.end;
        H5MOTE_TRY(note(*drivers_[part], drivers_[part]->end_of_file(range.stored)));
        if (!checked_add(starts_[part], range.stored, range.stored)) {
            return Status::overflow;
        }
    }
    return Status::ok;
}

Status MultiDriver::do_lock(bool exclusive) noexcept {
    exclusive_ = exclusive;
    for (unsigned i = 0; i < kMostParts; ++i) {
        const Status status = drivers_[i] == nullptr ? Status::ok : note(*drivers_[i], drivers_[i]->lock(exclusive));
        if (status != Status::ok) {
            unlock_parts(i);
            return status;
        }
    }
    return Status::ok;
}

Status MultiDriver::do_unlock() noexcept {
    unlock_parts(kMostParts);
    return Status::ok;
}

void MultiDriver::unlock_parts(unsigned count) noexcept {
    for (unsigned i = 0; i < count; ++i) {
        if (drivers_[i] != nullptr) {
            (void)drivers_[i]->unlock();
        }
    }
}

StorageId MultiDriver::storage_id() const noexcept {
    if (drivers_[0] == nullptr) {
        return Driver::storage_id();
    }
    // The first part opened as a file of its own is not the same storage as the whole file.
    StorageId id = drivers_[0]->storage_id();
    id.volume ^= std::uint64_t{1} << 62;
    return id;
}

}  // namespace h5mote
