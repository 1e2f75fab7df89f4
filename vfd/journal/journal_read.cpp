// Reading: the file as home and log together have it, before the log is carried over into the home.
#include "checked.hpp"
#include "journal_format.hpp"

namespace h5mote {

using namespace journal;

namespace {

// Bytes of the file that are put together from the log's records at a time.
constexpr std::size_t kWindow = 512;

// Which bytes of a window are filled already.
struct Done {
    std::uint8_t bits[kWindow / 8] = {};

    bool operator[](std::size_t i) const noexcept { return (bits[i / 8] >> (i % 8) & 1) != 0; }
    /// Finds the next run [from, end) of bytes before `limit` that are not filled, and counts them as filled from now
    /// on. false: there is none.
    bool next(std::size_t& from, std::size_t limit, std::size_t& end) noexcept {
        while (from < limit && (*this)[from]) {
            ++from;
        }
        for (end = from; end < limit && !(*this)[end]; ++end) {
            bits[end / 8] = static_cast<std::uint8_t>(bits[end / 8] | 1U << (end % 8));
        }
        return from < end;
    }
};

}  // namespace

// Reads bytes of the log, from the buffer if they are not written yet.
Status RedoLog::fetch(std::uint32_t at, Bytes to) noexcept {
    if (at < buffer_at_) {
        return within(at, to.size(), buffer_at_) ? log_.read(Usage::raw_data, at, to) : Status::io_error;
    }
    if (!within(at - buffer_at_, to.size(), used_)) {
        return Status::io_error;
    }
    std::memcpy(to.data(), buffer_.data() + (at - buffer_at_), to.size());
    return Status::ok;
}

Status RedoLog::fetch_record(std::uint32_t at, Record& record) noexcept {
    std::byte bytes[kRecordSize];
    H5MOTE_TRY(fetch(at, bytes));
    record.checksum = load_le<std::uint32_t>(bytes);
    record.length = load_le<std::uint16_t>(bytes + 4);
    record.type = load_le<std::uint8_t>(bytes + 6);
    record.address = narrow(load_le<std::uint64_t>(bytes + 8));
    record.previous = load_le<std::uint32_t>(bytes + 16);
    return Status::ok;
}

// Reads the file as it was when the round began, and zeros after its end.
Status RedoLog::read_base(Usage usage, Address address, Bytes to) noexcept {
    std::size_t inside = to.size();
    if (!within(address, to.size(), base_)) {
        inside = address < base_ ? static_cast<std::size_t>(base_ - address) : 0;
        std::memset(to.data() + inside, 0, to.size() - inside);
    }
    return inside > 0 ? home_.read(usage, address, to.first(inside)) : Status::ok;
}

Status RedoLog::read(Usage usage, std::uint64_t from, Bytes to) noexcept {
    if (!open_) {
        return Status::invalid_handle;
    }
    if (broken_ || !within(from, to.size(), file_size_)) {
        return Status::io_error;
    }
    auto address = static_cast<Address>(from);
    while (!to.empty()) {
        const auto more = [&](std::size_t n) {
            return n < to.size() && list(address + n) == 0 && address + n < lowest_cut_;
        };
        std::size_t size = 0;
        while (more(size)) {
            size += kPage - static_cast<std::size_t>((address + size) % kPage);
        }
        if (size > 0) {
            // No record of the log changes these bytes.
            size = size < to.size() ? size : to.size();
            size = size < lowest_cut_ - address ? size : static_cast<std::size_t>(lowest_cut_ - address);
            H5MOTE_TRY(read_base(usage, address, to.first(size)));
        } else {
            size = kWindow - static_cast<std::size_t>(address % kWindow);
            size = size < to.size() ? size : to.size();
            H5MOTE_TRY(read_window(usage, address, to.first(size)));
        }
        address += size;
        to = to.subspan(size);
    }
    return Status::ok;
}

// Fills a part of one window from the log's records, the newest first, and then from the home. Bytes that a cut removed
// read as zero unless a later record wrote them.
Status RedoLog::read_window(Usage usage, Address address, Bytes to) noexcept {
    Done done;
    Record record;
    std::size_t left = to.size();
    std::uint32_t piece = list(address);
    std::uint32_t cut = last_cut_;
    while (left > 0 && (piece | cut) != 0) {
        const std::uint32_t at = piece > cut ? piece : cut;
        H5MOTE_TRY(fetch_record(at, record));
        if (record.previous >= at) {
            // open() has checked that every record leads back, so somebody else has changed the log. Reading must end
            // all the same.
            return Status::io_error;
        }
        const bool zeros = at == cut;
        (zeros ? cut : piece) = record.previous;
        const Address behind = address + to.size();
        Address end = record.address + record.length;
        end = zeros || end > behind ? behind : end;
        std::size_t from = record.address > address ? static_cast<std::size_t>(record.address - address) : 0;
        const std::size_t limit = end > address ? static_cast<std::size_t>(end - address) : 0;
        for (std::size_t stop = 0; record.address < behind && done.next(from, limit, stop); from = stop) {
            const Bytes part = to.subspan(from, stop - from);
            if (zeros) {
                std::memset(part.data(), 0, part.size());
            } else {
                H5MOTE_TRY(fetch(at + kRecordSize + static_cast<std::uint32_t>(address + from - record.address), part));
            }
            left -= part.size();
        }
    }
    std::size_t stop = 0;
    for (std::size_t from = 0; left > 0 && done.next(from, to.size(), stop); from = stop) {
        H5MOTE_TRY(read_base(usage, address + from, to.subspan(from, stop - from)));
    }
    return Status::ok;
}

}  // namespace h5mote
