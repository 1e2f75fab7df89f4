// measure_space() where the library can check a file.
#include "inspect.hpp"

#include <h5mote/check.hpp>

namespace h5mote_test {

namespace {

// Keeps the first problem, and adds up the whole pages in what nothing uses.
class Reporter final : public h5mote::CheckReporter {
public:
    explicit Reporter(std::uint32_t page) noexcept : page_(page) {}

    void problem(const h5mote::Problem& problem) noexcept override {
        if (!problem.note && text_.empty()) {
            text_ = "check: part " + std::to_string(static_cast<unsigned>(problem.part)) + ", problem " +
                    std::to_string(static_cast<unsigned>(problem.kind)) + " at " + std::to_string(problem.address) +
                    ", number " + std::to_string(problem.number);
        }
    }
    void unused(h5mote::Address address, std::uint64_t size) noexcept override {
        if (address != end_) {
            finish();
            begin_ = address;
        }
        end_ = address + size;
    }
    const std::string& text() const noexcept { return text_; }
    /// Bytes of whole pages that nothing uses. Call it last.
    std::uint64_t pages() noexcept {
        finish();
        return pages_;
    }

private:
    void finish() noexcept {
        const std::uint64_t first = (begin_ + page_ - 1) / page_;
        const std::uint64_t end = end_ / page_;
        pages_ += end > first ? (end - first) * page_ : 0;
        begin_ = end_ = 0;
    }

    std::string text_;
    std::uint32_t page_;
    std::uint64_t pages_ = 0;
    std::uint64_t begin_ = 0;  // of the range that may still grow
    std::uint64_t end_ = 0;
};

}  // namespace

std::string measure_space(h5mote::File& file, std::uint32_t page, SpaceUse& space) {
    Reporter reporter(page);
    h5mote::CheckOptions options;
    options.memory = 1 << 20;
    options.data = true;  // to see what rows and attributes use in the global heap
    h5mote::CheckSummary summary;
    const h5mote::Status status = check_file(file, options, reporter, &summary);
    if (status != h5mote::Status::ok || !reporter.text().empty()) {
        return reporter.text().empty() ? std::string("check: ") + h5mote::to_string(status) : reporter.text();
    }
    space.known = true;
    space.used = summary.used;
    space.free = summary.free;
    space.lost = summary.lost;
    space.pages = reporter.pages();
    return "";
}

}  // namespace h5mote_test
