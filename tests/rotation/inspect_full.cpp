// measure_space() where the library can check a file.
#include "inspect.hpp"

#include <h5mote/check.hpp>

namespace h5mote_test {

namespace {

class FirstProblem final : public h5mote::CheckReporter {
public:
    void problem(const h5mote::Problem& problem) noexcept override {
        if (!problem.note && text_.empty()) {
            text_ = "check: part " + std::to_string(static_cast<unsigned>(problem.part)) + ", problem " +
                    std::to_string(static_cast<unsigned>(problem.kind)) + " at " + std::to_string(problem.address) +
                    ", number " + std::to_string(problem.number);
        }
    }
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

class WholePages final : public h5mote::SectionVisitor {
public:
    explicit WholePages(std::uint32_t page) noexcept : page_(page) {}
    h5mote::Status section(h5mote::Address address, std::uint64_t size) noexcept override {
        const std::uint64_t first = (address + page_ - 1) / page_;
        const std::uint64_t end = (address + size) / page_;
        bytes_ += end > first ? (end - first) * page_ : 0;
        return h5mote::Status::ok;
    }
    std::uint64_t bytes() const noexcept { return bytes_; }

private:
    std::uint32_t page_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

std::string measure_space(h5mote::File& file, std::uint32_t page, SpaceUse& space) {
    FirstProblem problem;
    h5mote::CheckOptions options;
    options.memory = 1 << 20;
    options.data = false;
    h5mote::CheckSummary summary;
    h5mote::Status status = check_file(file, options, problem, &summary);
    if (status != h5mote::Status::ok || !problem.text().empty()) {
        return problem.text().empty() ? std::string("check: ") + h5mote::to_string(status) : problem.text();
    }
    h5mote::FreeSpaceInfo free;
    WholePages pages(page);
    status = file.free_space(free, &pages);
    if (status != h5mote::Status::ok) {
        return std::string("free space: ") + h5mote::to_string(status);
    }
    space.known = true;
    space.used = summary.used;
    space.unused = summary.unused;
    space.recorded = free.bytes;
    space.pages = pages.bytes();
    space.sections = free.sections;
    if (free.bytes > summary.unused) {
        return "the file says that " + std::to_string(free.bytes) + " bytes are free, but only " +
               std::to_string(summary.unused) + " are";
    }
    return "";
}

}  // namespace h5mote_test
