// H5FD_family - a file that is cut into members of equal size: writing, growing and shrinking.
//
// Whatever order the members' own writes reach the storage in, two things hold. All members before the last one that is
// not empty have their full size before a file that uses them is flushed, because they are made full before the last
// one grows; and where a power cut came before that flush, the next change begins with making them full again. What a
// cut has left behind the end that the superblock records is not used by anybody.
#include "checked.hpp"

#include <h5mote/vfd/family.hpp>

namespace h5mote {
namespace {

// The rules that keep a power cut from losing anything. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    sync_each,  // sync() syncs every member that was written, not the last one only
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

}  // namespace

// A member that is about to change, and that the next sync() has to sync.
Status FamilyDriver::take_to_change(std::uint32_t index, Driver*& driver) noexcept {
    unsigned at = 0;
    while (at < written_count_ && written_[at] < index) {
        ++at;
    }
    if (at == written_count_ || written_[at] != index) {
        if (written_count_ == kMostWritten) {
            H5MOTE_TRY(sync());
            at = 0;
        }
        for (unsigned i = written_count_; i > at; --i) {
            written_[i] = written_[i - 1];
        }
        written_[at] = index;
        ++written_count_;
    }
    return take(index, driver);
}

Status FamilyDriver::sync() noexcept {
    Status status = Status::ok;
    // What a program before this one has written need not be durable.
    for (; unsynced_ < found_; ++unsynced_) {
        Driver* member = nullptr;
        H5MOTE_TRY(take(unsynced_, member));
        H5MOTE_TRY(note(*member, member->sync()));
    }
    unsigned done = keep(Rule::sync_each) || written_count_ == 0 ? 0 : written_count_ - 1;
    for (; done < written_count_ && status == Status::ok; ++done) {
        Driver* member = nullptr;
        status = take(written_[done], member);
        status = status == Status::ok ? note(*member, member->sync()) : status;
    }
    done -= status == Status::ok ? 0U : 1U;
    for (unsigned i = done; i < written_count_; ++i) {
        written_[i - done] = written_[i];
    }
    written_count_ -= done;
    return status;
}

Status FamilyDriver::set_length(std::uint32_t index, std::uint64_t size) noexcept {
    Driver* member = nullptr;
    H5MOTE_TRY(take_to_change(index, member));
    return note(*member, member->truncate(size));
}

// Call before every change. Makes full the members that a power cut has left short: the writes of their last bytes, or
// the change of their length, did not arrive, while a later member got some. Otherwise the file could be used up to its
// end, but only with a driver that knows how long its members ought to be.
Status FamilyDriver::prepare_change() noexcept {
    if (count_ == 0 || !promised_.writable || !size_known_) {
        return Status::read_only;
    }
    if (member_size_ % kSector != 0) {
        return Status::unsupported;
    }
    for (std::uint32_t i = 0; !full_ && i < last_; ++i) {
        Driver* member = nullptr;
        std::uint64_t size = 0;
        H5MOTE_TRY(take(i, member));
        H5MOTE_TRY(note(*member, member->end_of_file(size)));
        H5MOTE_TRY(size < member_size_ ? set_length(i, member_size_) : Status::ok);
    }
    full_ = true;
    return Status::ok;
}

// The last member of a file of `size` bytes, and its length. false: there cannot be as many members.
bool FamilyDriver::locate_end(std::uint64_t size, std::uint32_t& last, std::uint64_t& last_size) const noexcept {
    constexpr std::uint64_t kMost = ~std::uint32_t{0} - 1;
    const std::uint64_t index = size == 0 ? 0 : (size - 1) / member_size_;
    last = static_cast<std::uint32_t>(index);
    last_size = size - index * member_size_;
    return index < kMost;
}

// Makes the member behind the last. Members of a longer file may follow it by name, where a member in between was never
// durable: they become members, too, and are emptied.
Status FamilyDriver::make_next() noexcept {
    Driver* member = nullptr;
    Status status = members_.make(count_, member);
    error_ = status == Status::ok ? error_ : members_.last_error();
    H5MOTE_TRY(status);
    promise_as(*member);
    ++count_;
    const std::int32_t error = error_;
    while ((status = take(count_, member)) == Status::ok) {
        H5MOTE_TRY(set_length(count_, 0));
        ++count_;
    }
    error_ = status == Status::not_found ? error : error_;
    return status == Status::not_found ? Status::ok : status;
}

// Makes the file longer, so that member `last` has at least `size` bytes. Members are made full one after the other.
Status FamilyDriver::extend(std::uint32_t last, std::uint64_t size) noexcept {
    while (last_ < last) {
        H5MOTE_TRY(last_size_ < member_size_ ? set_length(last_, member_size_) : Status::ok);
        last_size_ = member_size_;
        if (last_ + 1 == count_) {
            H5MOTE_TRY(make_next());
        }
        ++last_;
        last_size_ = 0;
    }
    if (last_ == last && last_size_ < size) {
        H5MOTE_TRY(set_length(last, size));
        last_size_ = size;
    }
    return Status::ok;
}

// Makes the file shorter: members behind `last` are emptied, the last one first, and that one gets `size` bytes.
Status FamilyDriver::shorten(std::uint32_t last, std::uint64_t size) noexcept {
    while (last_ > last) {
        H5MOTE_TRY(set_length(last_, 0));
        --last_;
        last_size_ = member_size_;
    }
    if (last_size_ > size) {
        H5MOTE_TRY(set_length(last_, size));
        last_size_ = size;
    }
    return Status::ok;
}

// Takes back what made the file longer, after a call that failed. Where that fails, too, the longer file does no harm.
void FamilyDriver::restore(std::uint32_t last, std::uint64_t size) noexcept {
    const std::int32_t error = error_;
    (void)shorten(last, size);
    error_ = error;
}

// The last member first: it is the one that is most likely to have no room for its part, and nothing is overwritten yet
// when it says so.
Status FamilyDriver::write_parts(Usage usage, std::uint64_t address, ConstBytes from) noexcept {
    while (!from.empty()) {
        const std::uint64_t end = address + from.size();
        const std::uint64_t index = (end - 1) / member_size_;
        const std::uint64_t start = index * member_size_ > address ? index * member_size_ : address;
        const auto before = static_cast<std::size_t>(start - address);
        Driver* member = nullptr;
        H5MOTE_TRY(take_to_change(static_cast<std::uint32_t>(index), member));
        H5MOTE_TRY(note(*member, member->write(usage, start - index * member_size_, from.subspan(before))));
        if (index == last_ && end - index * member_size_ > last_size_) {
            last_size_ = end - index * member_size_;
        }
        from = from.first(before);
    }
    return Status::ok;
}

Status FamilyDriver::write(Usage usage, std::uint64_t address, ConstBytes from) noexcept {
    H5MOTE_TRY(prepare_change());
    std::uint64_t end = 0;
    std::uint32_t last = 0;
    std::uint64_t size = 0;
    if (from.empty()) {
        return Status::ok;
    }
    if (!checked_add(address, std::uint64_t{from.size()}, end) || !locate_end(end, last, size)) {
        return Status::no_space;
    }
    const std::uint32_t old_last = last_;
    const std::uint64_t old_size = last_size_;
    Status status = extend(last, 0);
    status = status == Status::ok ? write_parts(usage, address, from) : status;
    if (status != Status::ok) {
        restore(old_last, old_size);
    }
    return status;
}

Status FamilyDriver::truncate(std::uint64_t size) noexcept {
    if (size == 0 && new_size_ != 0) {
        set_member_size(new_size_);  // there is no file any more that says something else
    }
    H5MOTE_TRY(prepare_change());
    std::uint32_t last = 0;
    std::uint64_t last_size = 0;
    if (!locate_end(size, last, last_size)) {
        return Status::no_space;
    }
    if (last < last_ || (last == last_ && last_size <= last_size_)) {
        return shorten(last, last_size);
    }
    const std::uint32_t old_last = last_;
    const std::uint64_t old_size = last_size_;
    const Status status = extend(last, last_size);
    if (status != Status::ok) {
        restore(old_last, old_size);
    }
    return status;
}

Status FamilyDriver::release(Usage usage, std::uint64_t address, std::uint64_t size) noexcept {
    Status result = Status::ok;
    while (size != 0 && member_size_ != 0 && address / member_size_ < count_) {
        const std::uint64_t offset = address % member_size_;
        const std::uint64_t left = member_size_ - offset;
        const std::uint64_t part = left < size ? left : size;
        Driver* member = nullptr;
        Status status = take(static_cast<std::uint32_t>(address / member_size_), member);
        status = status == Status::ok ? note(*member, member->release(usage, offset, part)) : status;
        result = result == Status::ok ? status : result;
        address += part;
        size -= part;
    }
    return result;
}

}  // namespace h5mote
