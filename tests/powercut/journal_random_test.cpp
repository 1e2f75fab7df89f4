// Random calls of the journal driver alone, compared with a model of what was committed. The home (which becomes the
// file) and the log are files or regions of a card; logs grow or have a fixed size. What goes wrong is chosen at
// random, too: power cuts in any operation and again in the recovery, after which any part of what was not synced is
// there, torn at any byte and in any order, on home and log independently; calls that fail; programs that are killed.
// H5MOTE_RANDOM_SEED chooses the first machine.
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/region.hpp>

#include "random_play.hpp"
#include "recording_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = RecordingDriver::Image;

// The power and the failures to come, which home and log share.
struct Power {
    bool on = true;
    std::uint64_t cut_in = 0;   // changes and syncs until the power fails; 0: it does not
    std::uint64_t fail_in = 0;  // calls until one fails; 0: none does
    bool failed = false;
};

// A storage in memory: only what was synced survives a power cut for certain.
class Disk final : public Driver {
public:
    Disk(Power& power, Image image, std::size_t capacity, bool zeros)
        : power_(power), image_(image), synced_(std::move(image)), capacity_(capacity), zeros_(zeros) {}

    Capabilities capabilities() const noexcept override {
        Capabilities capabilities;
        capabilities.extends_with_zeros = zeros_;
        return capabilities;
    }
    Status read(Usage /*usage*/, std::uint64_t address, Bytes to) noexcept override {
        if (fails() || address > image_.size() || to.size() > image_.size() - address) {
            return Status::io_error;
        }
        std::copy_n(image_.begin() + static_cast<std::ptrdiff_t>(address), to.size(), to.begin());
        return Status::ok;
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        if (address > capacity_ || from.size() > capacity_ - address) {
            return Status::no_space;
        }
        return change({DriverOperation::Kind::write, usage, address, {from.begin(), from.end()}});
    }
    Status truncate(std::uint64_t size) noexcept override {
        return size > capacity_ ? Status::no_space
                                : change({DriverOperation::Kind::truncate, Usage::raw_data, size, {}});
    }
    Status sync() noexcept override {
        if (fails() || cut()) {
            return Status::io_error;
        }
        loose_.clear();
        synced_ = image_;
        return Status::ok;
    }
    Status end_of_file(std::uint64_t& size) noexcept override {
        size = image_.size();
        return fails() ? Status::io_error : Status::ok;
    }

    // Draws what the cut left: of what was not synced all, nothing, or any part in any order.
    void power_on(Chance& random) {
        image_ = synced_;
        const std::uint32_t how = random.below(4);
        if (how > 1) {
            for (std::size_t i = loose_.size(); i > 1; --i) {
                std::swap(loose_[i - 1], loose_[random.below(i)]);
            }
        }
        for (const DriverOperation& each : loose_) {
            if (how == 0 || (how > 1 && !random.one_in(3))) {
                const bool torn = how > 1 && random.one_in(3);
                RecordingDriver::apply(image_, each,
                                       torn ? random.below(each.bytes.size() + 1) : RecordingDriver::kWhole);
            }
        }
        loose_.clear();
        synced_ = image_;
    }
    std::uint64_t changes() const { return changes_; }
    const Image& image() const { return image_; }
    /// Replaces the content, as somebody does who restores a copy.
    void put_back(Image image) {
        image_ = synced_ = std::move(image);
        loose_.clear();
    }

private:
    bool fails() {
        if (power_.fail_in != 0 && --power_.fail_in == 0) {
            power_.failed = true;
            return true;
        }
        return !power_.on;
    }
    bool cut() {
        power_.on = power_.on && (power_.cut_in == 0 || --power_.cut_in != 0);
        return !power_.on;
    }
    Status change(DriverOperation operation) {
        ++changes_;
        if (!power_.on || fails()) {
            return Status::io_error;
        }
        if (cut()) {
            loose_.push_back(std::move(operation));  // it was begun, so a part of it may arrive
            return Status::io_error;
        }
        RecordingDriver::apply(image_, operation);
        loose_.push_back(std::move(operation));
        return Status::ok;
    }

    Power& power_;
    Image image_;
    Image synced_;
    std::vector<DriverOperation> loose_;  // changes since the last sync
    std::size_t capacity_;
    bool zeros_;
    std::uint64_t changes_ = 0;
};

struct Kind {
    JournalOptions options;
    std::size_t gathered;
    std::size_t card;  // bytes of either region of a card; 0: files
    bool faulty;       // calls fail
    bool cuts;
};

Kind any_kind(Chance& random) {
    Kind kind;
    kind.options.lists = static_cast<std::uint16_t>(1U << random.below(7));
    kind.options.checkpoint = 1200 + random.below(random.one_in(2) ? 1000 : 8000);
    kind.card = random.one_in(3) ? 8192 + 4096 * random.below(5) : 0;
    kind.options.home_has_end = kind.card == 0;
    if (kind.card != 0) {
        kind.options.limit = static_cast<std::uint32_t>(kind.card);
    } else if (random.one_in(2)) {
        kind.options.limit = 4096 + random.below(12000);
    }
    kind.gathered = 256 + 4 * random.below(128);
    kind.faulty = random.one_in(3);
    kind.cuts = !random.one_in(5);
    return kind;
}

class Play {
public:
    Play(std::uint64_t seed, Totals& totals)
        : random_(seed),
          totals_(totals),
          kind_(any_kind(random_)),
          most_(kind_.card != 0 ? kind_.card : 30000),
          now_(kind_.card != 0 ? 0 : random_.below(2) * random_.below(3000)),
          work_(JournalDriver::required_memory(kind_.gathered, kind_.options) / 8 + 1) {
        any_bytes(now_);
        kept_ = now_;
        if (kind_.card != 0) {
            // The home's region holds random bytes at first, the log's is blank.
            Image card(2 * kind_.card);
            any_bytes(card);
            std::fill_n(card.begin(), kind_.card, random_.one_in(2) ? std::byte{0xff} : std::byte{0});
            first_.emplace(power_, card, card.size(), false);
            regions_[0].emplace(*first_, 0, kind_.card);
            regions_[1].emplace(*first_, kind_.card, kind_.card);
        } else {
            first_.emplace(power_, now_, 4 * most_, !random_.one_in(4));
            const bool fixed = kind_.options.limit < 0xffffffff;
            second_.emplace(power_, Image(), fixed ? kind_.options.limit : std::size_t{1} << 24, true);
        }
    }

    /// Returns what was wrong; empty: nothing.
    std::string run(unsigned steps) {
        ++totals_.machines;
        open();
        for (unsigned i = 0; i < steps && wrong_.empty(); ++i) {
            trouble();
            step();
            after();
        }
        power_.cut_in = power_.fail_in = 0;
        if (wrong_.empty()) {
            finish();
        }
        return wrong_.empty() ? "" : wrong_ + describe();
    }

private:
    void wrong(const std::string& what) { wrong_ = wrong_.empty() ? what : wrong_; }
    std::string describe() const {
        char text[200];
        std::snprintf(text, sizeof text, " [%s of %zu, limit %u, checkpoint %u, lists %u, gathered %zu, %s%s]",
                      kind_.card != 0 ? "regions" : "files", most_, static_cast<unsigned>(kind_.options.limit),
                      static_cast<unsigned>(kind_.options.checkpoint), static_cast<unsigned>(kind_.options.lists),
                      kind_.gathered, kind_.faulty ? "faulty" : "", kind_.cuts ? " cuts" : "");
        return text;
    }
    void any_bytes(Image& bytes) {
        for (std::byte& each : bytes) {
            each = std::byte(random_.below(256));
        }
    }
    Driver& home() { return kind_.card != 0 ? static_cast<Driver&>(*regions_[1]) : *first_; }
    Driver& log() { return kind_.card != 0 ? static_cast<Driver&>(*regions_[0]) : *second_; }
    std::uint64_t changes() const { return first_->changes() + (second_ ? second_->changes() : 0); }

    void trouble() {
        if (kind_.cuts && random_.one_in(12)) {
            power_.cut_in = 1 + random_.below(random_.one_in(2) ? 5 : 60);
        }
        if (kind_.faulty && random_.one_in(30)) {
            power_.fail_in = 1 + random_.below(random_.one_in(2) ? 5 : 100);
        }
    }

    void step() {
        const std::uint32_t what = random_.below(100);
        if (what < 45) {
            write_any();
        } else if (what < 60) {
            kept();
        } else if (what < 78) {
            sync();
        } else if (what < 83) {
            cut(random_.below(now_.size() + 1));
        } else if (what < 85) {
            cut(std::min<std::uint32_t>(static_cast<std::uint32_t>(now_.size()) + random_.below(300), 20000));
        } else if (what < 88) {
            fill();
        } else if (what < 91) {
            check();
        } else if (what < 93) {
            look();
        } else if (what < 96) {
            discard();
        } else if (what < 97) {
            close();
        } else if (what < 98) {
            older();
        } else {
            open();  // a program that was killed
        }
    }

    // If the power failed, switches it on again; it may soon fail once more.
    void after() {
        while (!power_.on && wrong_.empty()) {
            ++totals_.cuts;
            power_ = Power();
            first_->power_on(random_);
            if (second_) {
                second_->power_on(random_);
            }
            if (kind_.cuts && random_.one_in(2)) {
                power_.cut_in = 1 + random_.below(random_.one_in(2) ? 4 : 30);
            }
            open();
        }
    }
    /// Whether the test itself caused this error, by a power cut or a call that fails.
    bool excused(Status status) {
        if (!power_.on) {
            return true;
        }
        const bool failed = power_.failed;
        power_.failed = false;
        return status == Status::io_error && failed;
    }
    // Handles an error, which the test must have caused. The journal is opened anew: what was not committed is gone.
    void told(const char* what, Status status, bool stays_open = true) {
        if (!excused(status)) {
            wrong(std::string(what) + ": " + to_string(status));
        } else if (power_.on) {
            if (stays_open && random_.one_in(2)) {
                check();  // the call that failed has changed nothing
            }
            open();
        }
    }

    Status write(std::uint64_t address, std::uint32_t size) {
        Image data(size);
        any_bytes(data);
        const Status status = journal_->write(Usage::raw_data, address, {data.data(), size});
        ++totals_.calls;
        if (status == Status::ok) {
            now_.resize(std::max<std::size_t>(now_.size(), static_cast<std::size_t>(address) + size));
            std::copy(data.begin(), data.end(), now_.begin() + static_cast<std::ptrdiff_t>(address));
        } else if (status != Status::no_space) {
            told("write", status);
        }
        return status;
    }
    std::uint64_t place_for(std::uint32_t size) {
        const std::uint64_t most = std::min<std::uint64_t>(most_, 24000) - size;
        // A region does not fill a gap between its end and a write behind it with zeros, so there must be no gap.
        const std::uint64_t last = kind_.card != 0 ? std::min<std::uint64_t>(most, now_.size()) : most;
        if (random_.one_in(3) && now_.size() <= last) {
            return now_.size();
        }
        return random_.below((random_.one_in(2) ? std::min<std::uint64_t>(last, 600) : last) + 1);
    }
    void write_any() {
        static constexpr std::uint32_t kSizes[] = {1, 4, 24, 64, 64, 300, 1024, 5000};
        const std::uint32_t size = 1 + random_.below(random_.of(kSizes));
        if (write(place_for(size), size) == Status::no_space) {
            ++totals_.refused;
            sync();
        }
    }

    // Uses keep_room() as the library does when chunks enter its cache: room is reserved for one range after the other.
    // Then all of them must fit when they are written, and so must changes of the index that points to them.
    void kept() {
        std::vector<std::uint32_t> sizes;
        std::uint64_t total = 0;
        const std::uint64_t opens = opens_;
        for (std::uint32_t n = random_.below(20); n > 0; --n) {
            const std::uint32_t size = 8 + random_.below(500);
            const Status status = journal_->keep_room(static_cast<std::uint32_t>(sizes.size()) + 1, total + size);
            if (status == Status::no_space) {
                break;
            }
            if (status != Status::ok) {
                told("keep_room", status);
                return;
            }
            sizes.push_back(size);
            total += size;
        }
        for (std::uint32_t left = static_cast<std::uint32_t>(sizes.size()); left > 0; --left) {
            const std::uint32_t size = sizes[left - 1];
            total -= size;
            if (journal_->keep_room(left - 1, total) != Status::ok && !excused(Status::io_error)) {
                wrong("keep_room for less");
            }
            if (power_.on) {
                must_fit(write(place_for(size), size), "what room was kept for");
            }
            if (opens == opens_ && power_.on && random_.one_in(2)) {
                const std::uint32_t change = 1 + random_.below(192);
                must_fit(write(place_for(change), change), "what points to that");
            }
            if (opens != opens_ || !power_.on || !wrong_.empty()) {
                return;
            }
        }
        totals_.kept += sizes.size();
        sync();
    }
    void must_fit(Status status, const char* what) {
        if (status == Status::no_space) {
            wrong(std::string(what) + " does not fit");
        }
    }

    void sync() {
        for (unsigned tries = 0; tries < 3; ++tries) {
            const Status status = journal_->sync();
            ++totals_.calls;
            if (status == Status::ok) {
                kept_ = now_;
                perhaps_.clear();
                return;
            }
            perhaps_.push_back(now_);  // although sync() failed, its commit may be complete
            if (!power_.on) {
                return;
            }
            if (!excused(status)) {
                wrong(std::string("sync: ") + to_string(status));
                return;
            }
        }
        wrong("sync fails again and again");
    }
    void cut(std::uint32_t size) {
        if (kind_.card != 0 && size > now_.size()) {
            return;
        }
        const Status status = journal_->truncate(size);
        ++totals_.calls;
        if (status == Status::ok) {
            now_.resize(size);
        } else if (status != Status::no_space) {
            told("truncate", status);
        } else {
            ++totals_.refused;
            sync();
        }
    }
    // Fills the log: once the transaction is committed, there must be room for the next one.
    void fill() {
        const std::uint64_t opens = opens_;
        Status status = Status::ok;
        for (unsigned i = 0; i < 60 && status == Status::ok; ++i) {
            const std::uint32_t size = 1 + random_.below(700);
            status = write(place_for(size), size);
        }
        if (opens != opens_ || !power_.on || !wrong_.empty()) {
            return;
        }
        totals_.refused += status == Status::no_space ? 1 : 0;
        sync();
        if (power_.on && wrong_.empty()) {
            must_fit(write(place_for(100), 100), "a change behind a full log that was synced");
        }
    }
    void discard() {
        const Status status = journal_->discard();
        ++totals_.calls;
        if (status == Status::ok) {
            found("what discard() left");
        } else {
            told("discard", status, false);
        }
    }
    void close() {
        const Status status = journal_->close();
        ++totals_.calls;
        if (status != Status::ok) {
            perhaps_.push_back(now_);
            told("close", status, false);
            return;
        }
        kept_ = now_;
        perhaps_.clear();
        if (kind_.card == 0) {
            Image alone = content(home());
            if (!home().capabilities().extends_with_zeros && alone.size() > now_.size()) {
                // Behind the end there may be bytes of a transaction that was never committed; they do not count.
                alone.resize(now_.size());
            }
            if (alone != now_ && power_.on) {
                wrong("the home alone is not the file");
            }
        }
        open();
    }

    void open() {
        ++opens_;
        journal_.emplace(home(), log(), Bytes(reinterpret_cast<std::byte*>(work_.data()), work_.size() * 8));
        for (unsigned tries = 0; tries < 3 && power_.on && wrong_.empty(); ++tries) {
            ++totals_.calls;
            const Status status = journal_->open(kind_.options);
            if (status == Status::ok) {
                found("what open() found");
                return;
            }
            if (!excused(status)) {
                wrong(std::string("open: ") + to_string(status));
            }
        }
    }
    // The content must be that of an allowed commit; the model goes on with it.
    void found(const char* what) {
        const Image there = content(*journal_);
        if (!power_.on || !wrong_.empty()) {
            return;
        }
        if (there != kept_ && std::find(perhaps_.begin(), perhaps_.end(), there) == perhaps_.end()) {
            wrong(std::string(what) + " is not the last commit");
        }
        now_ = kept_ = there;
        perhaps_.clear();
    }
    // A journal opened read-only must show the same content, and change neither home nor log.
    void look() {
        open();
        if (!power_.on || !wrong_.empty()) {
            return;
        }
        write_any();
        sync();
        if (!power_.on || !wrong_.empty()) {
            return;
        }
        journal_.reset();
        reading([this](JournalDriver& reader, Status status) {
            if (status == Status::ok && content(reader) != now_ && power_.on) {
                wrong("who only reads sees something else");
            }
            return status == Status::ok;
        });
        open();
    }
    template <typename Judge>
    void reading(Judge judge) {
        std::vector<std::uint64_t> memory(work_.size());
        JournalDriver reader(home(), log(), Bytes(reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8));
        JournalOptions options = kind_.options;
        options.read_only = true;
        const std::uint64_t before = changes();
        const Status status = reader.open(options);
        if (!judge(reader, status) && !excused(status)) {
            wrong(std::string("open for reading: ") + to_string(status));
        }
        if (changes() != before) {
            wrong("who only reads changed something");
        }
    }

    // An old copy of the log, put back after the file got all its records and later ones, must not be replayed. Not on
    // faulty machines: if a failed call left only a part of the log in the file, the log could belong to any file.
    void older() {
        sync();
        if (kind_.faulty || kind_.card != 0 || !home().capabilities().extends_with_zeros || !power_.on ||
            !wrong_.empty()) {
            return;
        }
        const std::uint64_t opens = opens_;
        const Image log_then = second_->image();
        const Image home_then = first_->image();
        for (std::uint32_t n = 1 + random_.below(5); n > 0 && opens == opens_ && power_.on; --n) {
            write_any();
        }
        if (opens != opens_ || !power_.on || !wrong_.empty()) {
            return;
        }
        close();
        if (opens_ != opens + 1 || !power_.on || !wrong_.empty()) {
            return;
        }
        journal_.reset();
        const Image log_now = second_->image();
        if (first_->image() != home_then) {
            second_->put_back(log_then);
            reading([this](JournalDriver& reader, Status status) {
                if (status == Status::ok && content(reader) != now_ && power_.on) {
                    wrong("an older log was replayed onto a newer file");
                }
                return status == Status::ok || status == Status::invalid_argument;
            });
            second_->put_back(log_now);
        }
        open();
    }

    Image content(Driver& driver) {
        std::uint64_t size = 0;
        Image all;
        for (unsigned tries = 0; tries < 3; ++tries) {
            Status status = driver.end_of_file(size);
            if (status == Status::ok && size <= (1U << 24)) {
                all.resize(static_cast<std::size_t>(size));
                status = driver.read(Usage::raw_data, 0, {all.data(), all.size()});
            }
            if (status == Status::ok) {
                return all;
            }
            if (!power_.on || !excused(status)) {
                if (power_.on) {
                    wrong(std::string("read: ") + to_string(status));
                }
                break;
            }
        }
        return all;
    }
    void check() {
        const Image there = content(*journal_);
        if (power_.on && wrong_.empty() && there != now_) {
            wrong("what was written is not what is read");
        }
    }
    // At the end of the run: whatever happened, the file can be closed, and then it is wholly in the home.
    void finish() {
        sync();
        check();
        close();
        check();
    }

    Chance random_;
    Totals& totals_;
    const Kind kind_;
    const std::size_t most_;
    Power power_;
    std::optional<Disk> first_, second_;
    std::optional<RegionDriver> regions_[2];
    Image now_, kept_;
    std::vector<Image> perhaps_;
    std::vector<std::uint64_t> work_;
    std::optional<JournalDriver> journal_;
    std::uint64_t opens_ = 0;
    std::string wrong_;
};

}  // namespace

TEST(PowerCut, RandomJournal) {
    play_at_random(
        "journal", [](std::uint64_t seed, Totals& totals) { return Play(seed, totals).run(400); }, 3000, 100000);
}
