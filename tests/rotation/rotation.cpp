#include "rotation.hpp"

#include "../powercut/random.hpp"
#include "hdf5_image.hpp"
#include "logging_session.hpp"

#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <optional>

namespace h5mote_test {

using h5mote::Status;

const char* to_string(Fault fault) noexcept {
    constexpr const char* kNames[] = {"none",    "no_space", "call", "rows", "unsound",
                                      "libhdf5", "growth",   "live", "wear", "lost"};
    return kNames[static_cast<unsigned>(fault)];
}

namespace {

constexpr std::uint32_t kLogs = 3;
constexpr std::uint32_t kPage = 512;         // of the flash driver
constexpr std::uint32_t kSpread = 2;         // of the erases of blocks
constexpr std::uint64_t kMostRecord = 4096;  // bytes of a record of what is free
// Pages without need that a chip may keep while the file is open, and after sessions of which some were cut.
constexpr int kPagesKept = 8;
// The same after a power cut, until the file is closed.
constexpr int kPagesAfterCut = 32;

// The power has failed.
struct PowerCut {};

// A log as the program knows it.
struct KnownLog {
    std::uint32_t log;
    bool durable;            // a flush has covered its creation
    bool leaving;            // its deletion has begun
    std::uint64_t flushed;   // rows that a flush has covered
    std::uint64_t appended;  // rows that may be there
};

struct Failure {
    Fault fault;
    std::string text;
};

class Rotation {
public:
    Rotation(const RotationPlan& plan, RotationResult& result) : plan_(plan), result_(result), random_(plan.seed) {
        storage_ = make_storage(plan.storage, plan.capacity, plan.folder);
        if (storage_ == nullptr) {
            throw Failure{Fault::call, "no such storage: " + plan.storage};
        }
        result_.capacity = storage_->capacity();
        result_.rows = rows_that_fit();
    }

    void run() {
        session_.emplace(plan_);
        need(session_->open(storage_->driver()), "create the file");
        for (std::uint32_t n = 0; n < plan_.rotations; ++n) {
            const std::uint64_t before = storage_->operations();
            const std::uint32_t kills = result_.kills;
            arm();
            while (!attempt(n)) {
            }
            storage_->cut_after(0, 0);
            if (result_.kills == kills) {
                operations_ = storage_->operations() - before;
            }
            ++result_.rotations;
        }
        if (session_) {
            need(session_->close(), "close the file");
            session_.reset();
            need(storage_->restart(0), "restart");
            examine(true, result_.lost_after_close);
        }
    }

private:
    void need(Status status, const char* what) {
        if (status == Status::ok) {
            return;
        }
        if (!storage_->powered()) {
            throw PowerCut{};
        }
        throw Failure{status == Status::no_space ? Fault::no_space : Fault::call,
                      std::string(what) + ": " + h5mote::to_string(status) + (session_ ? session_->trail() : "")};
    }

    // The most rows with which three logs take no more than their share of the storage.
    std::uint32_t rows_that_fit() {
        const std::uint64_t room = storage_->capacity() * plan_.share / 100;
        const std::uint64_t few = size_of_three(128);
        const std::uint64_t more = size_of_three(1152);
        std::uint64_t rows = room > few ? 128 + (room - few) * 1024 / (more - few) : 128;
        while (rows > 16 && size_of_three(rows) > room) {
            rows -= rows / 64 + 1;
        }
        return static_cast<std::uint32_t>(rows);
    }

    // Bytes of a file with three logs into which nothing else was ever written.
    std::uint64_t size_of_three(std::uint64_t rows) {
        h5mote::MallocAllocator allocator;
        h5mote::GrowingMemoryDriver driver(allocator);
        LoggingSession session(plan_);
        need(session.open(driver), "create a file in memory");
        for (std::uint32_t log = 0; log < kLogs; ++log) {
            need(session.start(log), "create a log in memory");
            for (std::uint32_t i = 0; i < rows; ++i) {
                need(session.append(row_of(log, i)), "append in memory");
            }
            need(session.finish(), "close a log in memory");
        }
        need(session.close(), "close the file in memory");
        return driver.contents().size();
    }

    // Lets the power fail at some operation of the next rotation, or soon. The first rotations show how long one takes.
    void arm() {
        if (plan_.sessions == Sessions::killed && result_.rotations >= 2) {
            const std::size_t most = random_.one_in(4) ? 60 : static_cast<std::size_t>(operations_ * 5 / 4 + 60);
            storage_->cut_after(1 + random_.below(most), random_.next());
        }
    }

    // false: the power failed, and the rotation is not complete.
    bool attempt(std::uint32_t n) {
        try {
            if (!session_) {
                session_.emplace(plan_);
                need(session_->open(storage_->driver()), "open the file");
            }
            rotate(n);
            return true;
        } catch (const PowerCut&) {
            recover();
            return false;
        }
    }

    void rotate(std::uint32_t n) {
        while (logs_.size() >= kLogs && logs_.front().log != n) {
            if (logs_.back().log == n && logs_.size() == kLogs) {
                break;
            }
            logs_.front().leaving = true;
            need(session_->remove(logs_.front().log), "unlink the oldest log");
            need(session_->flush(), "flush");
            logs_.erase(logs_.begin());
        }
        if (logs_.empty() || logs_.back().log != n) {
            logs_.push_back({n, false, false, 0, 0});
        }
        KnownLog& log = logs_.back();
        need(session_->start(n), "create a log");
        fill(log);
        need(session_->finish(), "close the log");
        need(session_->flush(), "flush");
        durable(log);
        if (plan_.sessions != Sessions::one) {
            need(session_->close(), "close the file");
            session_.reset();
            storage_->cut_after(0, 0);
            need(storage_->restart(0), "restart");
        }
        // While the file is open, only the program knows what is free.
        std::uint64_t unrecorded = 0;
        const bool closed = plan_.sessions != Sessions::one;
        examine(closed, closed ? result_.lost_after_close : unrecorded);
    }

    void fill(KnownLog& log) {
        const std::uint32_t rows = rows_of(log.log);
        for (auto i = static_cast<std::uint32_t>(session_->rows()); i < rows; ++i) {
            log.appended = i + 1;
            need(session_->append(row_of(log.log, i)), "append");
            if ((i + 1) % plan_.flush_rows == 0) {
                need(session_->flush(), "flush");
                durable(log);
            }
        }
        log.appended = std::max<std::uint64_t>(log.appended, rows);
    }

    static void durable(KnownLog& log) {
        log.durable = true;
        log.flushed = log.appended;
    }

    std::uint32_t rows_of(std::uint32_t log) const {
        const std::uint32_t half = result_.rows / 2;
        return plan_.uneven ? half + static_cast<std::uint32_t>(Random(plan_.seed + log).below(half)) : result_.rows;
    }

    // After the power failed: judges what is there, opens the file again, and lets the power fail again.
    void recover() {
        ++result_.kills;
        session_.reset();
        const std::uint64_t seed = random_.next();
        if (storage_->restart(seed) != Status::ok) {
            throw Failure{Fault::call, "the storage does not start again"};
        }
        examine(false, result_.lost_after_kill);
        if (random_.one_in(3)) {
            // Somebody opens the file and closes it: what was lost is found, and known from then on.
            session_.emplace(plan_);
            need(session_->open(storage_->driver()), "open the file after a power cut");
            need(session_->close(), "close the file after a power cut");
            session_.reset();
            need(storage_->restart(0), "restart");
            examine(true, result_.lost_after_reclaim);
        }
        arm();
    }

    // Judges the file as it stands. `closed`: it was closed, so that all free space must be known. `lost`: the most
    // bytes that were lost.
    void examine(bool closed, std::uint64_t& lost) {
        const std::vector<std::byte> image = image_of(storage_->driver());
        const Inspection found = inspect({image.data(), image.size()}, kPage);
        if (!found.fault.empty()) {
            throw Failure{found.rows_wrong ? Fault::rows : Fault::unsound, found.fault};
        }
        compare(found.logs);
        if (plan_.libhdf5_every != 0 && result_.rotations % plan_.libhdf5_every == plan_.libhdf5_every - 1) {
            const std::string wrong = read_by_libhdf5({image.data(), image.size()}, found.logs);
            if (!wrong.empty()) {
                throw Failure{Fault::libhdf5, wrong};
            }
        }
        judge_size(found.space);
        if (storage_->flash() != nullptr) {
            judge_chip(found.space, closed);
        }
        if (found.space.known) {
            lost = std::max(lost, found.space.lost);
            if (closed && plan_.persist) {
                judge_record(found.space, {image.data(), image.size()});
            }
        }
    }

    // The logs that are there against those that the program knows. Rows that no flush has covered may be missing.
    void compare(const std::vector<FoundLog>& found) {
        std::vector<KnownLog> there;
        std::size_t matched = 0;
        for (const KnownLog& known : logs_) {
            const auto it =
                std::find_if(found.begin(), found.end(), [&](const FoundLog& each) { return each.log == known.log; });
            const std::uint64_t rows = it == found.end() ? 0 : it->rows;
            if (it == found.end() ? known.durable && !known.leaving : rows < known.flushed || rows > known.appended) {
                throw Failure{Fault::rows, name_of(known.log) + " has " + std::to_string(rows) + " rows, not " +
                                               std::to_string(known.flushed) + " to " + std::to_string(known.appended)};
            }
            if (it != found.end()) {
                ++matched;
                there.push_back({known.log, true, known.leaving, rows, rows});
            }
        }
        if (matched != found.size()) {
            throw Failure{Fault::rows, "there are logs that were deleted"};
        }
        if (!session_) {
            logs_ = there;
        }
    }

    void judge_size(const SpaceUse& space) {
        std::uint64_t size = space.end;
        std::uint64_t stored = 0;
        if (plan_.storage != "card" && storage_->driver().end_of_file(stored) == Status::ok) {
            size = std::max(size, stored);
        }
        const std::uint64_t live = space.known ? space.used : result_.capacity * plan_.share / 100;
        result_.largest_file = std::max(result_.largest_file, size);
        result_.largest_live = std::max(result_.largest_live, live);
        if (size > result_.largest_live * 12 / 10 + 65536) {
            throw Failure{Fault::growth, "the file has " + std::to_string(size) + " bytes, of which never more than " +
                                             std::to_string(result_.largest_live) + " were in use"};
        }
    }

    // When the file is closed, all that is free must be known. Only a storage that is full, or was, may have no room
    // for the record of what is free, or for extents that memory does not hold, and the text of a deleted log is free
    // without being known. The file must say so then: where there is room, the next opening finds all of it.
    void judge_record(const SpaceUse& space, h5mote::ConstBytes image) {
        if (space.lost == 0) {
            return;
        }
        SpaceUse after;
        if (plan_.text || result_.largest_file + kMostRecord > result_.capacity || storage_->flash() != nullptr) {
            h5mote::MallocAllocator allocator;
            h5mote::GrowingMemoryDriver copy(allocator);
            LoggingSession session(plan_);
            need(copy.assign(image), "copy the file");
            need(session.open(copy), "open a copy of the file");
            need(session.close(), "close the copy of the file");
            const std::vector<std::byte> next = image_of(copy);
            after = inspect({next.data(), next.size()}, kPage).space;
        }
        if (!after.known || after.lost != 0) {
            throw Failure{Fault::lost, std::to_string(space.lost) + " bytes of " + std::to_string(space.end) +
                                           " are lost, " + std::to_string(space.free) + " known to be free"};
        }
    }

    // The chip need not keep a page that lies wholly in what nothing uses, or behind the end of the file. Until the
    // file is closed it keeps a few: pages behind the end that the file had, and pages of which parts became free in
    // different transactions. Where a power cut came between these, it keeps some until they are used again.
    void judge_chip(const SpaceUse& space, bool closed) {
        if (space.known) {
            const std::uint64_t live = storage_->flash()->usage().live;
            const std::uint64_t needed = (space.end + kPage - 1) / kPage * kPage - space.pages;
            const auto lost = static_cast<std::int64_t>(live) - static_cast<std::int64_t>(needed);
            result_.flash_lost = std::max(result_.flash_lost, lost);
            const int most = plan_.sessions == Sessions::killed && !closed ? kPagesAfterCut
                             : plan_.sessions == Sessions::each            ? 0
                                                                           : kPagesKept;
            if (lost > std::int64_t{most} * kPage) {
                throw Failure{Fault::live, "the chip keeps " + std::to_string(live) +
                                               " bytes of pages, the file needs " + std::to_string(needed)};
            }
        }
        result_.wear = storage_->wear();
        // After each cut the block that was begun may have to be erased once more.
        if (result_.wear.most - result_.wear.least > kSpread + result_.kills) {
            throw Failure{Fault::wear, "blocks were erased " + std::to_string(result_.wear.least) + " to " +
                                           std::to_string(result_.wear.most) + " times"};
        }
    }

    const RotationPlan& plan_;
    RotationResult& result_;
    Random random_;
    std::unique_ptr<Storage> storage_;
    std::optional<LoggingSession> session_;
    std::vector<KnownLog> logs_;
    std::uint64_t operations_ = 0;  // of a rotation without a power cut
};

}  // namespace

RotationResult rotate_logs(const RotationPlan& plan) {
    RotationResult result;
    try {
        Rotation(plan, result).run();
    } catch (const Failure& failure) {
        result.fault = failure.fault;
        result.text = failure.text;
    } catch (const PowerCut&) {
        result.fault = Fault::call;
        result.text = "a call failed after the power was restored";
    }
    return result;
}

}  // namespace h5mote_test
