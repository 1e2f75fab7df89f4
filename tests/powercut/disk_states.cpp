#include "disk_states.hpp"

#include <algorithm>

namespace h5mote_test {

using h5mote::ConstBytes;
using h5mote::Status;

// Part of a write within one sector: it arrives wholly or not at all.
struct DiskStates::Piece {
    std::size_t operation;
    std::size_t begin;
    std::size_t size;

    static std::vector<Piece> of(const DriverOperation& operation, std::size_t index, std::size_t sector) {
        std::vector<Piece> pieces;
        for (std::size_t at = 0; at < operation.bytes.size();) {
            const std::size_t to =
                std::min<std::size_t>(operation.bytes.size(), at + sector - (operation.address + at) % sector);
            pieces.push_back({index, at, to - at});
            at = to;
        }
        return pieces;
    }
};

namespace {

// The bytes from `from` on that nobody wrote: they are the same each time when the same operation adds them.
void add_junk(Image& image, std::size_t from, std::size_t to, std::size_t operation) {
    for (std::size_t at = from; at < to; ++at) {
        image[at] = static_cast<std::byte>((at * 0x9e3779b97f4a7c15U + operation * 0xbf58476d1ce4e5b9U) >> 53);
    }
}

}  // namespace

void DiskStates::apply(Image& image, std::size_t i) const {
    const DriverOperation& operation = operations_[i].operation;
    const std::size_t before = image.size();
    RecordingDriver::apply(image, operation);
    if (junk && image.size() > before) {
        add_junk(image, before, std::max(before, static_cast<std::size_t>(operation.address)), i);
    }
}

void DiskStates::apply_piece(Image& image, const Piece& piece) const {
    const DriverOperation& operation = operations_[piece.operation].operation;
    const auto address = static_cast<std::size_t>(operation.address) + piece.begin;
    const std::size_t before = image.size();
    if (before < address + piece.size) {
        image.resize(address + piece.size);
        if (junk) {
            add_junk(image, before, std::max(before, address), piece.operation);
        }
    }
    std::copy_n(operation.bytes.begin() + static_cast<std::ptrdiff_t>(piece.begin), piece.size,
                image.begin() + static_cast<std::ptrdiff_t>(address));
}

Status DiskRecorder::write(h5mote::Usage usage, std::uint64_t address, ConstBytes from) noexcept {
    const Status status = inner().write(usage, address, from);
    if (status == Status::ok) {
        operations_.push_back({disk_, {DriverOperation::Kind::write, usage, address, {from.begin(), from.end()}}});
    }
    return status;
}

Status DiskRecorder::sync() noexcept {
    const Status status = inner().sync();
    if (status == Status::ok) {
        operations_.push_back({disk_, {}});
    }
    return status;
}

Status DiskRecorder::truncate(std::uint64_t size) noexcept {
    const Status status = inner().truncate(size);
    if (status == Status::ok) {
        operations_.push_back({disk_, {DriverOperation::Kind::truncate, h5mote::Usage::raw_data, size, {}}});
    }
    return status;
}

void DiskStates::run() {
    if (from == 0) {
        visit_(image_, 0, "nothing", 0);
    }
    for (std::size_t i = 0; i < operations_.size() && !enough(); ++i) {
        const auto& [disk, operation] = operations_[i];
        if (operation.kind == DriverOperation::Kind::sync) {
            if (i >= from) {
                subsets(i);
            }
            settle(disk);
            continue;
        }
        if (i >= from) {
            tears(i);
        }
        apply(image_[disk], i);
        pending_.push_back(i);
        if (i < from) {
            continue;
        }
        visit_(image_, i + 1, "prefix", 0);
        if (!ordered && pending_.size() > all_subsets) {
            Random random(i);
            for (std::size_t n = 0; n < random_subsets && !enough(); ++n) {
                random_subset(i + 1, random);
            }
        }
    }
    subsets(operations_.size());
}

// A sync of one disk: everything that was written to it before has arrived.
void DiskStates::settle(unsigned disk) {
    std::vector<std::size_t> left;
    for (const std::size_t i : pending_) {
        if (operations_[i].disk == disk) {
            apply(synced_[disk], i);
        } else {
            left.push_back(i);
        }
    }
    pending_ = left;
}

void DiskStates::draw(std::size_t count, Random& random) {
    const std::size_t places = operations_.size() + 1;
    for (std::size_t i = 0; i < places && !enough(); ++i) {
        // `count` states spread evenly over all places, and one more at about every second place.
        for (std::size_t n = (i + 1) * count / places - i * count / places + random.below(2); n > 0 && !enough(); --n) {
            draw_one(i, random);
        }
        if (i == operations_.size()) {
            break;
        }
        const auto& [disk, operation] = operations_[i];
        if (operation.kind == DriverOperation::Kind::sync) {
            settle(disk);
        } else {
            apply(image_[disk], i);
            pending_.push_back(i);
        }
    }
}

// Draws one of the states that a cut before operation `done` can leave behind.
void DiskStates::draw_one(std::size_t done, Random& random) {
    const std::size_t way = random.below(6);
    if (way == 0 || pending_.empty()) {
        visit_(image_, done, "prefix", 0);
        return;
    }
    if (way < 3) {
        random_subset(done, random);
        return;
    }
    // Of the operations that are not synced, one is singled out: only it arrives, only it is missing, or it is torn,
    // with or without all the others.
    const std::size_t one = random.below(pending_.size());
    const bool torn = way == 5;
    const bool others = way == 4 || (torn && random.one_in(2));
    Disks disks = synced_;
    for (std::size_t n = 0; n < pending_.size(); ++n) {
        const auto& [disk, operation] = operations_[pending_[n]];
        if (n == one && torn) {
            for (const Piece& piece : Piece::of(operation, pending_[n], sector)) {
                if (random.one_in(2)) {
                    apply_piece(disks[disk], piece);
                }
            }
        } else if ((n == one) != others) {
            apply(disks[disk], pending_[n]);
        }
    }
    visit_(disks, done, torn ? "torn operation" : others ? "without operation" : "only operation", pending_[one]);
}

// Only some sectors of operation i arrive; of the operations between the last sync and it, all or none arrive.
void DiskStates::tears(std::size_t i) {
    const auto& [disk, operation] = operations_[i];
    const std::vector<Piece> pieces = Piece::of(operation, i, sector);
    if (pieces.size() < 2) {
        return;
    }
    const auto arrive = [&](const auto& some, const char* what, std::size_t number) {
        for (const Disks* base : {&image_, &synced_}) {
            if (ordered && base == &synced_) {
                continue;
            }
            Disks disks = *base;
            for (std::size_t n = 0; n < pieces.size(); ++n) {
                if (some(n)) {
                    apply_piece(disks[disk], pieces[n]);
                }
            }
            visit_(disks, i, what, number);
        }
    };
    if (!ordered && pieces.size() <= 4) {
        for (unsigned mask = 1; mask + 1 < 1U << pieces.size(); ++mask) {
            arrive([&](std::size_t n) { return (mask >> n & 1U) != 0; }, "torn, sectors by mask", mask);
        }
        return;
    }
    for (std::size_t at = 1; at < pieces.size(); ++at) {
        arrive([&](std::size_t n) { return n < at; }, "torn after sectors", at);
        if (!ordered) {
            arrive([&](std::size_t n) { return n >= at; }, "only from sector", at);
        }
    }
}

// Of the operations since the last sync, some arrive and others do not: every subset of few, and chosen subsets of
// many.
void DiskStates::subsets(std::size_t done) {
    if (ordered) {
        return;
    }
    const auto arrive = [&](const auto& some, bool backwards, const char* what, std::size_t number) {
        Disks disks = synced_;
        for (std::size_t n = 0; n < pending_.size(); ++n) {
            const std::size_t at = backwards ? pending_.size() - 1 - n : n;
            if (some(at)) {
                apply(disks[operations_[pending_[at]].disk], pending_[at]);
            }
        }
        visit_(disks, done, what, number);
    };
    if (pending_.size() <= all_subsets) {
        for (unsigned mask = 0; mask + 1 < 1U << pending_.size(); ++mask) {
            arrive([&](std::size_t n) { return (mask >> n & 1U) != 0; }, false, "subset by mask", mask);
        }
        return;
    }
    for (std::size_t one = 0; one < pending_.size(); ++one) {
        arrive([&](std::size_t n) { return n != one; }, false, "without operation", pending_[one]);
        arrive([&](std::size_t n) { return n == one; }, false, "only operation", pending_[one]);
        arrive([&](std::size_t n) { return n >= one; }, false, "from operation", pending_[one]);
    }
    arrive([](std::size_t) { return false; }, false, "none since the sync", 0);
}

// Random sectors of random operations since the last sync arrive, the writes between two truncates in any order.
void DiskStates::random_subset(std::size_t done, Random& random) {
    const std::size_t likely = 1 + random.below(7);
    const bool whole = random.below(2) == 0;
    std::vector<Piece> pieces;
    Disks disks = synced_;
    const auto write_all = [&] {
        for (std::size_t n = pieces.size(); n > 1; --n) {
            std::swap(pieces[n - 1], pieces[random.below(n)]);
        }
        for (const Piece& piece : pieces) {
            apply_piece(disks[operations_[piece.operation].disk], piece);
        }
        pieces.clear();
    };
    for (const std::size_t i : pending_) {
        const DriverOperation& operation = operations_[i].operation;
        const bool arrives = random.below(8) < likely;
        if (operation.kind == DriverOperation::Kind::truncate) {
            if (arrives) {
                write_all();
                apply(disks[operations_[i].disk], i);
            }
            continue;
        }
        for (const Piece& piece : Piece::of(operation, i, sector)) {
            if (whole ? arrives : random.below(8) < likely) {
                pieces.push_back(piece);
            }
        }
    }
    write_all();
    visit_(disks, done, "drawn by lot", likely);
}

}  // namespace h5mote_test
