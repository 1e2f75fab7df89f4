// The text that a test prints of a failure, and what check_file() may find after a power cut.
#pragma once

#include <h5mote/check.hpp>
#include <h5mote/h5mote.hpp>

#include <string>

namespace h5mote_test {

/// A status and the newest record of the library's error trail, as text.
inline std::string say(h5mote::Library& library, h5mote::Status status) {
    std::string text = to_string(status);
    if (status != h5mote::Status::ok && library.trail().size() > 0) {
        const h5mote::ErrorRecord record = library.trail().newest();
        text += std::string(" (") + to_string(record.module) + " " + std::to_string(record.line) + ", " +
                std::to_string(record.detail) + ", " + std::to_string(record.value) + ")";
    }
    return text;
}

#if H5MOTE_ALL_FORMATS

/// Collects the problems that check_file() reports as text. Notes about statistics and reference counts are left out,
/// because a cut may come between a change and the write that counts it; any other note is a failure, too.
class ProblemsAfterCut final : public h5mote::CheckReporter {
public:
    void problem(const h5mote::Problem& problem) noexcept override {
        // What a power cut may leave, as ProblemKind says.
        using h5mote::ProblemKind;
        const bool left = problem.kind == ProblemKind::statistics || problem.kind == ProblemKind::reference_count ||
                          problem.kind == ProblemKind::extent || problem.kind == ProblemKind::siblings ||
                          problem.kind == ProblemKind::count;
        if (!problem.note || !left) {
            text += "check: problem " + std::to_string(static_cast<int>(problem.kind)) + " of part " +
                    std::to_string(static_cast<int>(problem.part)) + " at " + std::to_string(problem.address) + ", " +
                    std::to_string(problem.number) + "; ";
        }
    }
    std::string text;
};

/// Returns what check_file() finds in an open file, and closes the file. Raw data is not checked: the tests read it.
inline std::string problems_after_cut(h5mote::File& file) {
    ProblemsAfterCut found;
    h5mote::CheckOptions options;
    options.memory = std::size_t{1} << 16;
    options.data = false;
    const h5mote::Status status = check_file(file, options, found);
    const h5mote::Status closed = file.close();
    if (status != h5mote::Status::ok || closed != h5mote::Status::ok) {
        return std::string("cannot be checked: ") + to_string(status) + " " + to_string(closed) + "; " + found.text;
    }
    return found.text;
}

#endif

}  // namespace h5mote_test
