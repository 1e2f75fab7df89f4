// H5MF - finding space that nothing uses in files of any kind: the blocks are those that h5check verifies.

#include "checker.hpp"
#include "free_space_format.hpp"
#include "lost_space.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

class Silent final : public CheckReporter {
public:
    void problem(const Problem& /*problem*/) noexcept override {}
};

class AnyFileWalk final : public BlockWalk {
public:
    AnyFileWalk(Context& context, Checker& checker) noexcept : BlockWalk(context), checker_(checker) {}
    Status walk(UsedRuns& runs) noexcept override { return checker_.find_used(runs, ahead_); }

private:
    Checker& checker_;
};

Status search(FileState& file, std::size_t memory, std::uint64_t& bytes) noexcept {
    bytes = 0;
    Silent silent;
    auto* const checker = file.context.create<Checker>(MemoryKind::other, file, CheckOptions(), silent);
    if (checker == nullptr) {
        return Status::out_of_memory;
    }
    AnyFileWalk walk(file.context, *checker);
    const Status status = give_back_lost_space(file, memory, walk, bytes);
    file.context.destroy(MemoryKind::other, checker);
    return status;
}

}  // namespace

const ReclaimFormat formats::reclaim_any = {&search};

}  // namespace h5mote

#endif
