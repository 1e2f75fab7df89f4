#include "play.hpp"

namespace h5mote_test {

using namespace h5mote;

Play::Play(Recording& recording, Driver& driver, Contents begin, unsigned life, std::function<std::size_t()> operations)
    : recording_(recording),
      failing_(driver),
      operations_(std::move(operations)),
      contents_(std::move(begin)),
      life_(life) {
    history_.push_back({0, contents_.created, contents_.least, std::vector<std::size_t>(contents_.settings.size(), 0)});
    uncertain_.resize(contents_.settings.size());
}

Status Play::judge(const char* call, Status status) {
    errors_ += status != Status::ok ? 1 : 0;
    if (status != Status::ok && status != allowed_ && !may_fail_ && failure.empty()) {
        failure = std::string(call) + ": " + to_string(status);
    }
    return status;
}

void Play::kill_at(std::uint64_t calls) {
    DriverFault fault;
    fault.at = calls;
    fault.persistent = true;
    fault.calls = kWriteCall | kSyncCall | kTruncateCall;
    failing_.arm(fault);
    allowed_ = calls == 0 ? Status::ok : Status::io_error;
}

void Play::arm(const DriverFault& fault) {
    failing_.arm(fault);
    may_fail_ = true;
    torn_ = fault.torn_bytes != 0;
}

void Play::mend() {
    failing_.disarm();
    may_fail_ = torn_ = false;
}

Status Play::open() {
    const Status opened = judge("open", recording_.open(failing_));
    if (opened != Status::ok) {
        return opened;
    }
    ++life_;
    eras_.push_back({operations_(), contents_.lives});
    for (std::size_t i = 0; i < contents_.lives.size(); ++i) {
        const std::uint64_t rows = recording_.rows(i);
        if (rows < history_.back().rows[i] || rows > contents_.lives[i].size()) {
            failure += "open: " + std::to_string(rows) + " rows of dataset " + std::to_string(i) + ", not " +
                       std::to_string(history_.back().rows[i]) + " to " + std::to_string(contents_.lives[i].size()) +
                       "; ";
            return Status::corrupt_file;
        }
        contents_.lives[i].resize(static_cast<std::size_t>(rows));
    }
    if (failing_.capabilities().sync_is_commit) {
        // What was set and not acknowledged is gone, unless the call that failed came after the commit.
        for (std::size_t i = 0; i < contents_.settings.size(); ++i) {
            uncertain_[i] = uncertain_[i] || contents_.settings[i].size() - 1 != history_.back().settings[i];
        }
    }
    // A file that open() made is durable; of one that it found, only what was acknowledged before is known to be.
    history_.push_back(history_.back());
    history_.back().operations = operations_();
    history_.back().created = true;
    return Status::ok;
}

Status Play::append(std::size_t dataset, std::size_t rows) {
    Blob row(described().datasets[dataset].row);
    for (std::size_t i = 0; i < rows; ++i) {
        make_row(dataset, contents_.lives[dataset].size(), life_, {row.data(), row.size()});
        const Status status = judge("append", recording_.append(dataset, {row.data(), row.size()}));
        if (status != Status::ok) {
            return status;
        }
        contents_.lives[dataset].push_back(life_);
    }
    return Status::ok;
}

void Play::acknowledge() {
    Acknowledged now{operations_(), true, {}, {}};
    for (std::size_t i = 0; i < contents_.lives.size(); ++i) {
        now.rows.push_back(contents_.lives[i].size());
    }
    for (std::size_t i = 0; i < contents_.settings.size(); ++i) {
        now.settings.push_back(uncertain_[i] ? history_.back().settings[i] : contents_.settings[i].size() - 1);
    }
    history_.push_back(std::move(now));
}

Status Play::flush() {
    const Status status = judge("flush", recording_.flush());
    if (status == Status::ok) {
        acknowledge();
    }
    return status;
}

Status Play::set(std::size_t setting) {
    Blob value(contents_.settings[setting][0].size());
    make_row(1000 + setting, contents_.settings[setting].size(), life_, {value.data(), value.size()});
    contents_.settings[setting].push_back(value);
    const Status status = judge("set", recording_.set(setting, {value.data(), value.size()}));
    uncertain_[setting] = uncertain_[setting] && status != Status::ok;
    if (status != Status::ok && !torn_) {
        contents_.settings[setting].pop_back();
    }
    return status;
}

Status Play::close() {
    const Status status = judge("close", recording_.close());
    if (status == Status::ok) {
        acknowledge();
    }
    return status;
}

void Play::abandon() { recording_.abandon(); }

Contents Play::at(std::size_t operations) const {
    Contents result = contents_;
    for (std::size_t i = eras_.size(); i-- > 0;) {
        if (eras_[i].operations > operations) {
            result.lives = eras_[i].lives;
        }
    }
    std::size_t last = 0;
    while (last + 1 < history_.size() && history_[last + 1].operations <= operations) {
        ++last;
    }
    const Acknowledged& known = history_[last];
    result.created = known.created;
    result.least = known.rows;
    for (std::size_t i = 0; i < result.settings.size(); ++i) {
        auto& values = result.settings[i];
        values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(known.settings[i]));
    }
    return result;
}

}  // namespace h5mote_test
