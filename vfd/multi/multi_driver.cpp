// H5FD_multi - reads a file whose usages lie in several parts. The superblock's driver information "NCSAmult" is:
//
//   6  part of each usage, counted from 1; 0 stands for the usage itself
//   2  zero
//   8  address of the first byte  | for every part, in the order
//   8  bytes it holds             | of the first usage that each serves
//   -  name, ended by zero and padded with zeros to a multiple of 8, again for every part
#include "checked.hpp"
#include "cursor.hpp"

#include <h5mote/vfd/multi.hpp>

namespace h5mote {
namespace {

constexpr std::uint64_t kHighestAddress = ~std::uint64_t{0} - 1;  // HADDR_MAX of libhdf5

// Decodes the information. Names point into it. Sizes go to `sizes`.
bool decode(ConstBytes info, MultiLayout& layout, std::uint64_t (&sizes)[kMostParts]) noexcept {
    Reader reader(info);
    std::uint8_t order[kMostParts];  // parts as they are first named
    unsigned count = 0;
    unsigned seen = 0;
    for (unsigned usage = 0; usage < kMostParts; ++usage) {
        const unsigned stored = reader.u8();
        const unsigned part = stored == 0 ? usage : stored - 1;
        if (part >= kMostParts) {
            return false;
        }
        layout.map[usage] = static_cast<std::uint8_t>(part);
        if ((seen >> part & 1) == 0) {
            seen |= 1U << part;
            order[count++] = static_cast<std::uint8_t>(part);
        }
    }
    reader.skip(2);
    for (unsigned i = 0; i < count; ++i) {
        layout.parts[order[i]].start = reader.u64();
        sizes[order[i]] = reader.u64();
    }
    for (unsigned i = 0; i < count; ++i) {
        std::string_view& name = layout.parts[order[i]].name;
        const ConstBytes rest = reader.bytes(reader.remaining());
        name = {reinterpret_cast<const char*>(rest.data()), rest.size()};
        const std::size_t length = name.find('\0');
        if (length == std::string_view::npos) {
            return false;
        }
        name = {name.data(), length};
        const std::size_t padded = (length + 8) & ~std::size_t{7};
        reader = Reader(padded < rest.size() ? rest.subspan(padded) : ConstBytes{});
    }
    return true;
}

}  // namespace

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

MultiDriver::~MultiDriver() { close(); }

void MultiDriver::close() noexcept {
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (drivers_[i] != nullptr) {
            parts_.close(i);
            drivers_[i] = nullptr;
        }
    }
}

Status MultiDriver::open(const MultiLayout& layout) noexcept {
    close();
    for (const std::uint8_t part : layout.map) {
        if (part >= kMostParts) {
            close();
            return Status::invalid_argument;
        }
        if (drivers_[part] == nullptr) {
            starts_[part] = layout.parts[part].start;
            Driver* driver = nullptr;
            const Status status = parts_.open(part, layout.parts[part].name, driver);
            if (status != Status::ok) {
                error_ = parts_.last_error();
                close();
                return status;
            }
            drivers_[part] = driver;
        }
    }
    return Status::ok;
}

Status MultiDriver::note(Driver& part, Status status) noexcept {
    error_ = status == Status::ok ? error_ : part.last_error();
    return status;
}

Capabilities MultiDriver::capabilities() const noexcept {
    Capabilities capabilities;
    capabilities.writable = false;
    return capabilities;
}

// The address alone selects the part, as in libhdf5: the one with the highest start at or below it.
Status MultiDriver::read(Usage usage, std::uint64_t address, Bytes to) noexcept {
    unsigned best = kMostParts;
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (drivers_[i] != nullptr && starts_[i] <= address && (best == kMostParts || starts_[i] >= starts_[best])) {
            best = i;
        }
    }
    return best == kMostParts ? Status::io_error
                              : note(*drivers_[best], drivers_[best]->read(usage, address - starts_[best], to));
}

Status MultiDriver::write(Usage /*usage*/, std::uint64_t /*address*/, ConstBytes /*from*/) noexcept {
    return Status::read_only;
}

Status MultiDriver::truncate(std::uint64_t /*size*/) noexcept { return Status::read_only; }

Status MultiDriver::end_of_file(std::uint64_t& size) noexcept {
    size = 0;
    for (unsigned i = 0; i < kMostParts; ++i) {
        std::uint64_t end = 0;
        if (drivers_[i] == nullptr) {
            continue;
        }
        H5MOTE_TRY(note(*drivers_[i], drivers_[i]->end_of_file(end)));
        if (end != 0 && !checked_add(end, starts_[i], end)) {
            return Status::overflow;
        }
        size = end > size ? end : size;
    }
    return Status::ok;
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
    const Status status = locked ? do_lock(false) : Status::ok;
    if (status != Status::ok) {
        close();  // unlock() must not take the lock of those who have the parts
        return status;
    }
    std::uint64_t highest = 0;
    for (unsigned i = 0; i < kMostParts; ++i) {
        std::uint64_t last = 0;
        if (drivers_[i] == nullptr) {
            continue;
        }
        if (!checked_add(layout.parts[i].start, sizes[i], last)) {
            close();
            return Status::corrupt_file;
        }
        highest = sizes[i] != 0 && last > highest ? last : highest;
    }
    end = highest;
    return Status::ok;
}

Status MultiDriver::do_lock(bool exclusive) noexcept {
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
