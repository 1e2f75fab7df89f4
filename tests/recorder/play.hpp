// Drives a recorder, and keeps in memory what its file must hold from which instant on.
#pragma once

#include "failing_driver.hpp"
#include "recording.hpp"

#include <functional>

namespace h5mote_test {

/// A workload of one or more sessions with a recorder. The first call that fails unexpectedly ends it.
class Play {
public:
    /// `driver` is wrapped, so that calls of it can be made to fail. `operations` counts what has reached the storage
    /// so far. `begin` is what the storage holds.
    Play(Recording& recording, h5mote::Driver& driver, Contents begin, unsigned life,
         std::function<std::size_t()> operations);

    /// These return what the recorder returns. `failure` keeps the first error that nobody allowed.
    h5mote::Status open();
    h5mote::Status append(std::size_t dataset, std::size_t rows = 1);
    h5mote::Status flush();
    h5mote::Status set(std::size_t setting);
    h5mote::Status close();
    void abandon();

    /// What a cut may leave after `operations` operations of the storage.
    Contents at(std::size_t operations) const;
    /// What the storage holds now, if nothing fails: for comparing after close().
    Contents now() const { return at(~std::size_t{0}); }
    /// Rows of a dataset that were appended, those in memory among them.
    std::uint64_t rows(std::size_t dataset) const { return contents_.lives[dataset].size(); }
    const Described& described() const { return recording_.described(); }
    Recording& recording() { return recording_; }
    bool is_open() const { return recording_.is_open(); }
    /// Errors that the workload expects, for a storage that is full.
    void allow(h5mote::Status status) { allowed_ = status; }
    /// The `calls`-th write, sync or truncation from now on fails, and so do all later ones, as if the program were
    /// killed there; io_error is expected. 0: nothing fails any more.
    void kill_at(std::uint64_t calls);
    /// A fault of the storage: any error is expected until mend().
    void arm(const DriverFault& fault);
    void mend();
    unsigned errors() const { return errors_; }
    std::uint64_t faults() const { return failing_.failures(); }
    bool was_killed() const { return failing_.failures() != 0; }

    std::string failure;

private:
    struct Acknowledged {
        std::size_t operations;
        bool created;
        std::vector<std::uint64_t> rows;
        std::vector<std::size_t> settings;  // from these values on
    };
    // From one open() to the next one.
    struct Era {
        std::size_t operations;
        std::vector<std::vector<unsigned>> lives;
    };

    h5mote::Status judge(const char* call, h5mote::Status status);
    void acknowledge();

    Recording& recording_;
    FailingDriver failing_;
    std::function<std::size_t()> operations_;
    Contents contents_;
    unsigned life_;
    h5mote::Status allowed_ = h5mote::Status::ok;
    bool may_fail_ = false;
    bool torn_ = false;
    unsigned errors_ = 0;
    std::vector<bool> uncertain_;  // of each setting: whether the file has an older value than the last one
    std::vector<Acknowledged> history_;
    std::vector<Era> eras_;
};

/// What a workload does.
using Workload = std::function<void(Play& play)>;

}  // namespace h5mote_test
