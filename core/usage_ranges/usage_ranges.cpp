// H5MF H5FD_multi - file space of which each usage has its own range of addresses, and the ends of these ranges in the
// driver information.
#include "multi_changes_format.hpp"

#include "extension_messages.hpp"
#include "header.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The rule without which a power cut may leave something reachable behind the recorded end of its range.
enum class RangeRule {
    none,
    record_ends,
};

constexpr bool keep(RangeRule rule) noexcept { return rule != RangeRule::H5MOTE_TEST_OMIT; }

class UsageSpace final : public SpaceRanges {
public:
    UsageSpace(FileState& file, UsageRanges& ranges) noexcept : file_(file), ranges_(ranges) {}

    Status begin() noexcept;
    Status find_information() noexcept;

    void enter(Usage usage) noexcept override { enter_range(ranges_.map[static_cast<unsigned>(usage)]); }
    void enter_at(Address address) noexcept override { enter_range(range_of(address)); }
    Address first() const noexcept override { return narrow(ranges_.list[current_].start); }
    Address start_of(Address address) const noexcept override { return narrow(ranges_.list[range_of(address)].start); }
    Usage usage_at(Usage usage, Address address) const noexcept override;
    bool keeps_together() const noexcept override;
    bool contains(Address address, Address size) const noexcept override {
        const unsigned range = range_of(address);
        const Address start = narrow(ranges_.list[range].start);
        return address >= start && within(address - start, size, end_of(range) - start);
    }
    Address end() const noexcept override;
    Address first_end() const noexcept override { return end_of(home()); }
    bool has_grown() const noexcept override { return differs(true); }
    bool has_shrunk() const noexcept override { return differs(false); }
    Status record() noexcept override;
    Status cut() noexcept override;
    void close() noexcept override { file_.context.destroy(MemoryKind::file, this); }

private:
    unsigned home() const noexcept { return ranges_.map[static_cast<unsigned>(Usage::superblock)]; }
    unsigned range_of(Address address) const noexcept;
    Address end_of(unsigned range) const noexcept {
        return range == current_ ? file_.space.current_range().end : narrow(ranges_.list[range].end);
    }
    bool differs(bool grown) const noexcept;
    bool is_sound() const noexcept;
    void store_current() noexcept;
    void load(unsigned range) noexcept;
    void enter_range(unsigned range) noexcept {
        if (range != current_) {
            store_current();
            load(range);
        }
    }
    Status find_block() noexcept;
    Status find_message() noexcept;
    Status check_one_write() noexcept;

    FileState& file_;
    UsageRanges& ranges_;
    unsigned current_ = 0;
    std::size_t offset_ = 0;  // of the driver information in its block
    Pinned block_;            // the one with the driver information
};

// The range with the highest start at or below the address.
unsigned UsageSpace::range_of(Address address) const noexcept {
    unsigned best = home();
    for (unsigned i = 0; i < ranges_.count; ++i) {
        const std::uint64_t start = ranges_.list[i].start;
        best = start <= address && start >= ranges_.list[best].start ? i : best;
    }
    return best;
}

Usage UsageSpace::usage_at(Usage usage, Address address) const noexcept {
    const unsigned range = range_of(address);
    for (unsigned i = UsageRanges::kMost; i > 0 && ranges_.map[static_cast<unsigned>(usage)] != range; --i) {
        usage = ranges_.map[i - 1] == range ? static_cast<Usage>(i - 1) : usage;
    }
    return usage;
}

bool UsageSpace::keeps_together() const noexcept { return h5mote::keeps_together(ranges_); }

bool UsageSpace::is_sound() const noexcept {
    bool sound = ranges_.count != 0 && ranges_.count <= UsageRanges::kMost;
    for (const std::uint8_t range : ranges_.map) {
        sound = sound && range < ranges_.count;
    }
    sound = sound && ranges_.list[home()].start == 0;
    for (unsigned i = 0; sound && i < ranges_.count; ++i) {
        const UsageRange& range = ranges_.list[i];
        sound = range.start <= range.end && range.end <= range.stored && range.end <= range.limit;
    }
    return sound;
}

Status UsageSpace::begin() noexcept {
    const std::uint64_t most = file_.superblock().most_end();
    const SpaceRule rule = file_.space.rule();
    if (rule.page != 0 || rule.metadata_block != 0 || rule.small_data_block != 0) {
        return file_.context.unsupported(Module::storage, H5MOTE_HERE, Feature::free_space);
    }
    if (!is_sound()) {
        const Status status = file_.space.end() == 0 ? Status::invalid_argument : Status::corrupt_file;
        return file_.context.fail(Module::storage, H5MOTE_HERE, status);
    }
    for (unsigned i = 0; i < ranges_.count; ++i) {
        UsageRange& range = ranges_.list[i];
        if (range.start >= most || range.end > most) {
            return file_.context.unsupported(Module::storage, H5MOTE_HERE, Feature::sizeof_offsets);
        }
        range.limit = range.limit < most ? range.limit : most;
    }
    load(home());
    return Status::ok;
}

void UsageSpace::store_current() noexcept {
    const RangeEnd now = file_.space.current_range();
    ranges_.list[current_].end = now.end;
    ranges_.list[current_].stored = now.stored;
}

void UsageSpace::load(unsigned range) noexcept {
    const UsageRange& next = ranges_.list[range];
    current_ = range;
    file_.space.set_current_range({narrow(next.limit), narrow(next.end), narrow(next.stored)});
}

Address UsageSpace::end() const noexcept {
    Address last = 0;
    for (unsigned i = 0; i < ranges_.count; ++i) {
        const Address end = end_of(i);
        last = end > ranges_.list[i].start && end > last ? end : last;
    }
    return last;
}

bool UsageSpace::differs(bool grown) const noexcept {
    bool differs = false;
    for (unsigned i = 0; i < ranges_.count; ++i) {
        const std::uint64_t recorded = ranges_.list[i].recorded;
        differs = differs || (grown ? end_of(i) > recorded : end_of(i) < recorded);
    }
    return differs;
}

Status UsageSpace::record() noexcept {
    if (!block_ || !keep(RangeRule::record_ends)) {
        return Status::ok;
    }
    store_current();
    std::size_t first = ranges_.list[0].place;
    for (unsigned i = 0; i < ranges_.count; ++i) {
        const UsageRange& range = ranges_.list[i];
        const std::uint64_t user_block = i == home() ? file_.foreign()->base_driver.base() : 0;
        store_le<std::uint64_t>(block_->at(offset_ + range.place), user_block + range.end - range.start);
        first = range.place < first ? range.place : first;
    }
    MetadataCache::mark_dirty(*block_, offset_ + first, Phase::ends);
    const Status status = file_.cache.flush(Phase::ends);
    for (UsageRange& range : ranges_.list) {
        // What a failed write has left is undefined: the next commit writes the ends again, even if none has grown.
        range.recorded = status == Status::ok ? range.end : 0;
    }
    return status;
}

Status UsageSpace::cut() noexcept {
    store_current();
    Status status = Status::ok;
    for (unsigned i = 0; status == Status::ok && i < ranges_.count; ++i) {
        UsageRange& range = ranges_.list[i];
        if (range.stored != range.end) {
            status = file_.driver.truncate(range.end);
            range.stored = status == Status::ok ? range.end : range.stored;
        }
    }
    load(current_);
    return status;
}

// In old files the information is a block of its own, and each end in it is a number by itself.
Status UsageSpace::find_block() noexcept {
    constexpr std::size_t kPrefix = DriverInfoBlock::kPrefixSize;
    const Address at = file_.superblock().driver_info;
    std::byte prefix[kPrefix] = {};
    DriverInfoBlock information;
    if (Pinned made = file_.cache.find(at)) {  // in a new file, which has nothing on the storage yet
        std::memcpy(prefix, made->at(0), kPrefix);
    } else {
        H5MOTE_TRY(file_.driver.read(Usage::superblock, at, prefix));
    }
    if (!information.decode(prefix) || !file_.contains(at, kPrefix + information.size)) {
        return file_.context.fail(Module::storage, H5MOTE_HERE, Status::corrupt_file, 0, at);
    }
    offset_ = kPrefix;
    return file_.cache.protect(Usage::superblock, at, kPrefix + information.size, block_, ChecksumPlace::none);
}

Status UsageSpace::find_message() noexcept {
    MessageIterator message(file_, file_.superblock().extension);
    Status status;
    while ((status = message.next()) == Status::ok) {
        FileSpaceInfoMessage space;
        DriverInfoMessage information;
        if (message.type() == MessageType::file_space_info && space.decode(file_.shape(), message.body()) &&
            (space.persistent || space.strategy == FileSpaceStrategy::kPages)) {
            return file_.context.unsupported(Module::storage, H5MOTE_HERE, Feature::free_space, space.strategy);
        }
        if (message.type() != MessageType::driver_info || block_) {
            continue;
        }
        H5MOTE_TRY(message.hold());
        const ConstBytes body = message.body();
        if (!information.decode(body)) {
            return damaged_message(file_.context, H5MOTE_HERE, message.type());
        }
        offset_ = message.offset() + static_cast<std::size_t>(information.info.data() - body.data());
        H5MOTE_TRY(file_.cache.protect(Usage::object_header, message.block_address(), message.block_size(), block_,
                                       message.block()->checksum()));
    }
    return status == Status::not_found ? Status::ok : status;
}

Status UsageSpace::check_one_write() noexcept {
    bool in_one = true;
    for (unsigned i = 0; i < ranges_.count; ++i) {
        const std::uint64_t at = std::uint64_t{block_->address()} + offset_ + ranges_.list[i].place;
        const std::uint64_t behind =
            has_checksum(block_->checksum()) ? std::uint64_t{block_->address()} + block_->size() : at + 8;
        in_one = in_one && offset_ + ranges_.list[i].place + 8 <= block_->size() && file_.one_write(at, behind);
    }
    return in_one ? Status::ok : file_.allow_torn();
}

Status UsageSpace::find_information() noexcept {
    if (file_.superblock().extension != kUndefinedAddress) {
        H5MOTE_TRY(find_message());
    } else if (file_.superblock().driver_info != kUndefinedAddress) {
        H5MOTE_TRY(find_block());
    }
    if (file_.superblock().end_of_file != 0) {
        // The ranges of a file that exists were not known when the block was read, and it was taken for a new one.
        file_.cache.settle();
    }
    return block_ ? check_one_write() : file_.context.unsupported(Module::storage, H5MOTE_HERE, Feature::driver);
}

Status begin(FileState& file, UsageRanges& ranges) {
    auto* const space = file.context.create<UsageSpace>(MemoryKind::file, file, ranges);
    if (space == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = space->begin();
    if (status != Status::ok) {
        space->close();
        return status;
    }
    file.space.set_ranges(space);
    return Status::ok;
}

// The file's ranges were made by begin().
Status find_information(FileState& file) { return static_cast<UsageSpace*>(file.space.ranges())->find_information(); }

}  // namespace

const MultiChangesFormat formats::multi_changes = {&begin, &find_information};

}  // namespace h5mote

#endif
