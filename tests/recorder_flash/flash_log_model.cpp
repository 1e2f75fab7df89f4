#include "flash_log_model.hpp"

#include <algorithm>
#include <cstring>

namespace h5mote_test {

using h5mote::Status;
using h5mote::cli::FlashRecording;

void make_log_row(std::uint32_t generation, std::uint32_t number, std::vector<std::byte>& row) {
    Random random(std::uint64_t{generation} << 32 | number);
    for (std::byte& byte : row) {
        byte = static_cast<std::byte>(random.next());
    }
    for (unsigned i = 0; i < 2; ++i) {
        row[i] = static_cast<std::byte>(generation >> (8 * i));
        row[2 + i] = static_cast<std::byte>(number >> (8 * i));
    }
}

std::size_t dataset_of(std::uint32_t generation, std::uint32_t number, std::size_t datasets) {
    return Random(generation * 7919 + number / (1 + generation % 5)).below(datasets);
}

std::string take_rows(const FlashRecording& recording, const AnyFlashRecorder::Facts& facts, std::uint32_t passed,
                      FoundLog& found) {
    found = {};
    found.is_there = true;
    found.settings = recording.settings();
    found.next_segment = recording.head().segment(recording.head().sequence + 1 + passed);
    std::vector<std::byte> expected;
    for (const FlashRecording::Rows& rows : recording.rows()) {
        const std::size_t dataset = rows.dataset / facts.segments;
        if (rows.dataset % facts.segments != 0 || dataset >= facts.rows.size() ||
            rows.bytes.size() % facts.rows[dataset] != 0) {
            return "rows of a dataset that cannot be; ";
        }
        expected.resize(facts.rows[dataset]);
        for (std::size_t at = 0; at < rows.bytes.size(); at += expected.size()) {
            const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(rows.bytes[at + i]); };
            const FoundLog::Row row{byte(0) | byte(1) << 8, byte(2) | byte(3) << 8, rows.segment};
            make_log_row(row.generation, row.number, expected);
            if (dataset_of(row.generation, row.number, facts.rows.size()) != dataset ||
                std::memcmp(rows.bytes.data() + at, expected.data(), expected.size()) != 0) {
                return "a row that was never appended; ";
            }
            found.rows.push_back(row);
        }
    }
    return "";
}

std::string read_log(h5mote::FlashDevice& device, const AnyFlashRecorder::Facts& facts, std::uint32_t passed,
                     FoundLog& found) {
    FlashRecording recording;
    found = {};
    if (!recording.read(device)) {
        return "";
    }
    const std::string bad = take_rows(recording, facts, passed, found);
    // Where a ring empties its oldest block, or the last blocks are erased to be used once more, a cut may leave a bit
    // to repair.
    const bool is_sound = recording.damages().empty() && (recording.repaired() <= 1 || facts.segments > 1);
    return bad.empty() && !is_sound ? "damaged; " : bad;
}

namespace {

std::string name_of(const FoundLog::Row& row) {
    return "row " + std::to_string(row.generation) + "." + std::to_string(row.number);
}

// A ring keeps everything but the segment that the log comes to next.
std::string judge_beginning(const FoundLog& found, const AllowedLog& allowed, std::uint32_t segments,
                            const FoundLog& before) {
    for (const FoundLog::Row& row : before.rows) {
        const bool is_safe = row.segment + segments > found.next_segment &&
                             row.generation < allowed.generations.size() &&
                             row.number < allowed.generations[row.generation].flushed;
        if (is_safe) {
            const bool is_there = !found.rows.empty() &&
                                  (found.rows[0].generation < row.generation ||
                                   (found.rows[0].generation == row.generation && found.rows[0].number <= row.number));
            return is_there ? "" : name_of(row) + " is gone with its segment; ";
        }
    }
    return "";
}

// The segment of the newest row is kept until a row of another segment counts: the next row stands fewer segments
// behind it than there are.
std::string judge_going_on(const FoundLog& found, const AllowedLog& allowed, std::uint32_t segments,
                           const FoundLog& before) {
    const auto was_flushed = [&](const FoundLog::Row& row) {
        return row.generation < allowed.generations.size() && row.number < allowed.generations[row.generation].flushed;
    };
    const auto newest = std::find_if(before.rows.rbegin(), before.rows.rend(), was_flushed);
    if (newest == before.rows.rend()) {
        return "";
    }
    // The row that was appended next, if it is still there.
    const auto follows = [&](const FoundLog::Row& row) {
        if (row.generation == newest->generation) {
            return row.number == newest->number + 1;
        }
        bool is_next = row.generation > newest->generation && row.number == 0 &&
                       newest->number + 1 == allowed.generations[newest->generation].appended;
        for (std::uint32_t i = newest->generation + 1; is_next && i < row.generation; ++i) {
            is_next = allowed.generations[i].appended == 0;
        }
        return is_next;
    };
    const auto next = std::find_if(found.rows.begin(), found.rows.end(), follows);
    return next == found.rows.end() || segments == 2 || next->segment < newest->segment + segments
               ? ""
               : "the segment of " + name_of(*newest) + " was emptied before that of " + name_of(*next) + " began; ";
}

}  // namespace

std::string judge_log(const FoundLog& found, const AllowedLog& allowed, std::uint32_t segments,
                      const FoundLog* before) {
    if (!found.is_there) {
        return allowed.begun ? "there is no log; " : "";
    }
    if (std::find(allowed.settings.begin(), allowed.settings.end(), found.settings) == allowed.settings.end()) {
        return "settings that nobody set; ";
    }
    const std::vector<AllowedLog::Generation>& generations = allowed.generations;
    std::vector<std::uint32_t> counts(generations.size());
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
        const FoundLog::Row& row = found.rows[i];
        const bool continues = i > 0 && row.generation == found.rows[i - 1].generation;
        const bool follows = continues ? row.number == found.rows[i - 1].number + 1
                             : i > 0   ? row.number == 0 && row.generation > found.rows[i - 1].generation
                                       : row.number == 0 || segments > 1;
        if (!follows || row.generation >= generations.size()) {
            return name_of(row) + " out of order; ";
        }
        counts[row.generation] = row.number + 1;
    }
    const bool any_flushed = std::any_of(generations.begin(), generations.end(),
                                         [](const AllowedLog::Generation& each) { return each.flushed != 0; });
    if (found.rows.empty() && any_flushed) {
        return "all rows are gone; ";
    }
    // A ring may have lost older generations as a whole.
    const std::size_t first = segments == 1 ? 0 : found.rows.empty() ? generations.size() : found.rows[0].generation;
    for (std::size_t i = first; i < generations.size(); ++i) {
        if (counts[i] < generations[i].flushed || counts[i] > generations[i].appended) {
            return std::to_string(counts[i]) + " rows of generation " + std::to_string(i) + ", not " +
                   std::to_string(generations[i].flushed) + " to " + std::to_string(generations[i].appended) + "; ";
        }
    }
    return segments > 1 && before != nullptr
               ? judge_beginning(found, allowed, segments, *before) + judge_going_on(found, allowed, segments, *before)
               : "";
}

template <typename Call>
Status FlashPlay::call(const char* name, const Call& call) {
    const AllowedLog before = operations_ ? now_ : AllowedLog();
    const Status status = call();
    if (operations_) {
        during_.resize(std::max(operations_(), during_.size()), before);
    }
    is_full_ = is_full_ || (status != Status::ok && !device_.is_dead());
    if (status != Status::ok && !device_.is_dead() &&
        std::find(allowed_.begin(), allowed_.end(), status) == allowed_.end()) {
        failure = std::string(name) + ": " + h5mote::to_string(status) + "; ";
    }
    return status;
}

void FlashPlay::open() {
    const std::size_t before = operations_ ? operations_() : 0;
    if (failure.empty() && call("open", [&] { return recorder_.open(device_); }) == Status::ok) {
        // A recording that was found may be one of which a power cut left the last frame unstable.
        now_.begun = now_.begun || (operations_ && operations_() != before);
        now_.generations.emplace_back();
        changed_.assign(recorder_.facts().settings.size(), {});
    }
}

void FlashPlay::append(std::size_t rows) {
    const std::vector<std::size_t>& sizes = recorder_.facts().rows;
    const auto generation = static_cast<std::uint32_t>(now_.generations.size() - 1);
    std::uint32_t& appended = now_.generations.back().appended;
    for (; rows > 0 && failure.empty() && is_open(); --rows) {
        const std::size_t dataset = dataset_of(generation, appended, sizes.size());
        std::vector<std::byte> row(sizes[dataset]);
        make_log_row(generation, appended++, row);
        if (call("append", [&] { return recorder_.append(dataset, row.data()); }) != Status::ok) {
            --appended;
            return;
        }
    }
}

void FlashPlay::acknowledge() {
    now_.begun = now_.begun || now_.generations.back().appended != 0;
    now_.generations.back().flushed = now_.generations.back().appended;
    const auto differs = [&](const Blob& values) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < changed_.size(); at += recorder_.facts().settings[i++]) {
            if (!std::equal(changed_[i].begin(), changed_[i].end(), values.begin() + static_cast<std::ptrdiff_t>(at))) {
                return true;
            }
        }
        return false;
    };
    now_.settings.erase(std::remove_if(now_.settings.begin(), now_.settings.end(), differs), now_.settings.end());
}

void FlashPlay::flush() {
    if (failure.empty() && is_open() && call("flush", [&] { return recorder_.base().flush(); }) == Status::ok) {
        acknowledge();
    }
}

void FlashPlay::close() {
    if (failure.empty() && is_open() && call("close", [&] { return recorder_.base().close(); }) == Status::ok) {
        acknowledge();
    }
}

void FlashPlay::set(std::size_t setting, std::uint64_t seed) {
    if (!failure.empty() || !is_open()) {
        return;
    }
    const std::vector<std::size_t>& sizes = recorder_.facts().settings;
    Random random(seed);
    Blob& value = changed_[setting];
    value.resize(sizes[setting]);
    for (std::byte& byte : value) {
        byte = static_cast<std::byte>(random.next());
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < setting; ++i) {
        at += sizes[i];
    }
    std::vector<Blob> more = now_.settings;
    for (Blob& values : more) {
        std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(at));
        if (std::find(now_.settings.begin(), now_.settings.end(), values) == now_.settings.end()) {
            now_.settings.push_back(values);
        }
    }
    (void)call("set", [&] { return recorder_.set(setting, value.data()); });
}

void play_at_random(FlashPlay& play, const AnyFlashRecorder::Facts& facts, Random& random, const PlaySize& size) {
    for (std::size_t sessions = 1 + random.below(size.sessions); sessions > 0 && play.failure.empty(); --sessions) {
        play.kill_at(random.one_in(4) ? 1 + random.below(60) : 0);
        play.open();
        const std::size_t many = random.one_in(2) ? 4 : size.rows;
        for (std::size_t calls = random.below(size.calls); calls > 0 && play.is_open(); --calls) {
            if (random.one_in(3)) {
                play.flush();
            } else if (random.one_in(5) && !facts.settings.empty()) {
                play.set(random.below(facts.settings.size()), random.next());
            } else {
                play.append(1 + random.below(random.one_in(4) ? size.rows : many));
            }
        }
        if (random.one_in(3)) {
            play.flush();
        } else if (random.one_in(2)) {
            play.close();
        }
        play.abandon();
        play.kill_at(0);
    }
}

}  // namespace h5mote_test
