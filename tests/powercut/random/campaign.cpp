#include "campaign.hpp"

#include <algorithm>

namespace h5mote_test {

const char* name_of(Medium medium) {
    static constexpr const char* kNames[] = {"file", "journal", "nor", "nand"};
    return kNames[static_cast<std::size_t>(medium)];
}

Plan plan_of(Medium medium, std::uint64_t seed) {
    Random random(seed * 4 + static_cast<std::uint64_t>(medium));
    Plan plan = draw_plan(random, 10 + random.below(60));
    Setting& setting = plan.setting;
    setting.wide = seed % 5 % 3 == 0;  // two of five, and none of those in CMakeLists.txt
    setting.refuses_memory = seed % 7 < 2;
    setting.fails = seed % 11 / 2 == 1;
    setting.overwrites_texts = seed % 13 / 4 == 1;
    static constexpr std::uint64_t kUserBlocks[] = {0, 0, 512, 1024, 4096};
    setting.user_block = setting.wide ? random.of(kUserBlocks) : 0;
    return plan;
}

void Cutter::fail(const std::string& what) {
    if (trial_.failure.empty()) {
        trial_.failure = what;
    }
}

bool Cutter::play(Storage& storage, Ledger& ledger) {
    std::string bad = storage.start();
    World world;
    if (bad.empty()) {
        Player player(storage, world, ledger);
        player.tells = trial_.tells;
        bad = player.play(trial_.plan);
        trial_.told = player.told;
    }
    bad += storage.violation();
    if (!bad.empty()) {
        fail("without a cut: " + bad);
    }
    return bad.empty() && judge_end(storage, ledger, "without a cut");
}

bool Cutter::judge(Storage& storage, const Allowed& allowed, std::uint64_t hash, const std::string& where,
                   World& found) {
    if (!seen_.insert(hash).second) {
        return false;
    }
    ++trial_.done;
    trial_.in_recovery += recovering ? 1 : 0;
    std::string bad = storage.start();
    if (bad.empty()) {
        bad = verify(storage, allowed, found);
    }
    if (!bad.empty()) {
        fail(where + ": " + bad);
        tell_what_followed(recovering);
    }
    return bad.empty();
}

// Adds what was done after the first cut to the calls that are printed, if that is `of_interest`.
void Cutter::tell_what_followed(bool of_interest) {
    for (std::size_t i = 0; i < followed_.size() && of_interest; ++i) {
        trial_.told.push_back("after the cut: " + followed_[i]);
    }
    followed_.clear();
}

bool Cutter::go_on(Storage& storage, World& world, Ledger& ledger, const std::string& where) {
    Plan plan = draw_plan(random_, trial_.goes_on);
    plan.setting = trial_.plan.setting;
    plan.steps.resize(std::min(plan.steps.size(), trial_.goes_on));
    Player player(storage, world, ledger);
    player.tells = trial_.tells;
    const std::string bad = player.play(plan) + storage.violation();
    if (!bad.empty()) {
        fail(where + ", gone on from: " + bad);
    }
    followed_ = player.told;
    const bool good = bad.empty() && judge_end(storage, ledger, where + ", gone on from");
    if (!good) {
        tell_what_followed(true);
    }
    return good;
}

bool Cutter::judge_end(Storage& storage, const Ledger& ledger, const std::string& where) {
    World found;
    std::string bad = storage.start();
    if (bad.empty()) {
        bad = verify(storage, ledger.last(), found);
    }
    if (!bad.empty()) {
        fail(where + ", in the end: " + bad);
    }
    return bad.empty();
}

}  // namespace h5mote_test
