// Runs h5mote's own check_file() on an open file, in a form that tests can call in every profile of the library.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/file.hpp>
#if H5MOTE_ALL_FORMATS
#include <h5mote/check.hpp>
#endif

namespace h5mote_test {

/// Counts what check_file() reports; last_kind and last_address describe the last problem that was not a mere note.
struct Findings {
    h5mote::Status status = h5mote::Status::ok;  ///< what check_file() returned
    unsigned problems = 0;
    unsigned notes = 0;
    unsigned last_kind = 0;
    h5mote::Address last_address = h5mote::kUndefinedAddress;
    bool none() const noexcept { return status == h5mote::Status::ok && problems == 0; }
};

/// Checks an open file with CheckOptions::memory set to `memory` bytes. In a build without check_file() (profile
/// logger), it finds nothing: there, tests judge files by libhdf5 and by reading them back.
inline Findings findings_in([[maybe_unused]] h5mote::File& file, [[maybe_unused]] std::size_t memory = 65536) noexcept {
    Findings findings;
#if H5MOTE_ALL_FORMATS
    class Reporter final : public h5mote::CheckReporter {
    public:
        explicit Reporter(Findings& to) noexcept : to_(to) {}
        void problem(const h5mote::Problem& problem) noexcept override {
            ++(problem.note ? to_.notes : to_.problems);
            if (!problem.note) {
                to_.last_kind = static_cast<unsigned>(problem.kind);
                to_.last_address = problem.address;
            }
        }

    private:
        Findings& to_;
    } reporter(findings);
    h5mote::CheckOptions options;
    options.memory = memory;
    findings.status = check_file(file, options, reporter);
#endif
    return findings;
}

}  // namespace h5mote_test
