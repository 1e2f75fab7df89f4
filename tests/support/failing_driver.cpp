#include "failing_driver.hpp"

namespace h5mote_test {

using h5mote::Status;

void FailingDriver::arm(const DriverFault& fault) noexcept {
    fault_ = fault;
    calls_ = 0;
    failures_ = 0;
}

bool FailingDriver::fails(unsigned call) noexcept {
    if ((fault_.calls & call) == 0) {
        return false;
    }
    ++calls_;
    const bool hit = fault_.at != 0 && (calls_ == fault_.at || (fault_.persistent && calls_ > fault_.at));
    failures_ += hit ? 1 : 0;
    return hit;
}

Status FailingDriver::read(h5mote::Usage usage, std::uint64_t address, h5mote::Bytes to) noexcept {
    return fails(kReadCall) ? fault_.status : inner().read(usage, address, to);
}

Status FailingDriver::write(h5mote::Usage usage, std::uint64_t address, h5mote::ConstBytes from) noexcept {
    if (!fails(kWriteCall)) {
        return inner().write(usage, address, from);
    }
    const bool whole = fault_.whole_raw_data && usage == h5mote::Usage::raw_data;
    if (fault_.torn_bytes != 0 && fault_.status != Status::no_space && !whole) {
        (void)inner().write(usage, address,
                            from.first(fault_.torn_bytes < from.size() ? fault_.torn_bytes : from.size()));
    }
    return fault_.status;
}

Status FailingDriver::sync() noexcept { return fails(kSyncCall) ? fault_.status : inner().sync(); }

Status FailingDriver::end_of_file(std::uint64_t& size) noexcept {
    return fails(kEndOfFileCall) ? fault_.status : inner().end_of_file(size);
}

Status FailingDriver::truncate(std::uint64_t size) noexcept {
    return fails(kTruncateCall) ? fault_.status : inner().truncate(size);
}

// Giving room back does not fail.
Status FailingDriver::keep_room(std::uint32_t ranges, std::uint64_t bytes) noexcept {
    if (bytes > kept_ && fails(kKeepRoomCall)) {
        return fault_.status;
    }
    const Status status = inner().keep_room(ranges, bytes);
    kept_ = status == Status::ok ? bytes : kept_;
    return status;
}

Status FailingDriver::do_lock(bool exclusive) noexcept {
    return fails(kLockCall) ? fault_.status : inner().lock(exclusive);
}

// The driver contract says that the lock is released even if unlock() reports an error, so the inner unlock always
// runs.
Status FailingDriver::do_unlock() noexcept {
    const Status status = inner().unlock();
    return fails(kUnlockCall) ? fault_.status : status;
}

}  // namespace h5mote_test
