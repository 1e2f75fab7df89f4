#include "player.hpp"

#include "../say.hpp"
#include "session.hpp"

#include <algorithm>

namespace h5mote_test {

using namespace h5mote;

void Ledger::attempt(const World& world) {
    if (atomic_) {
        World settled = world;
        settled.settle();
        intervals_.back().allowed.push_back(settled);
    }
}

void Ledger::acknowledge(std::size_t operations, World& world) {
    finish(world);
    world.settle();
    intervals_.push_back({operations, {world}});
}

void Ledger::finish(const World& world) {
    if (!atomic_) {
        intervals_.back().allowed = {world};
    }
}

const Allowed& Ledger::at(std::size_t operations) const {
    std::size_t i = intervals_.size() - 1;
    while (i > 0 && intervals_[i].operations > operations) {
        --i;
    }
    return intervals_[i].allowed;
}

std::string verify(Storage& storage, const Allowed& allowed, World& found) {
    const bool may_be_missing =
        std::any_of(allowed.begin(), allowed.end(), [](const World& world) { return !world.created; });
    std::uint64_t size = 0;
    Status status = storage.driver().end_of_file(size);
    // Far more than any of the storages holds. Without rules that protect it, the recorded end can be anything.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
    if (size > kMost) {
        return "the storage says that its file has " + std::to_string(size) + " bytes; ";
    }
    Blob image(static_cast<std::size_t>(size));
    if (status == Status::ok && size > 0) {
        status = storage.driver().read(Usage::raw_data, 0, {image.data(), image.size()});
    }
    if (status != Status::ok) {
        return std::string("the storage cannot be read: ") + to_string(status) + "; ";
    }
    Tree ours;
    std::string bad = H5MOTE_ALL_FORMATS != 0 ? read_by_h5mote(storage.driver(), ours) : "";
    if (!bad.empty() && !may_be_missing) {
        return bad;  // libhdf5 crashes in some files that are not sound
    }
    Tree tree;
    const std::string theirs = read_by_libhdf5({image.data(), image.size()}, tree);
    if (!theirs.empty() && may_be_missing && tree.nodes.empty()) {
        found = World();
        return "";
    }
    bad += theirs;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        bad += bad.empty() ? difference(tree, ours) : "";
    }
    std::string why;
    for (auto world = allowed.rbegin(); world != allowed.rend() && bad.empty(); ++world) {
        const std::string wrong = world->judge(tree, found);
        if (wrong.empty()) {
            return "";
        }
        why += (why.empty() ? "" : "nor: ") + wrong;
    }
    return bad + why;
}

namespace {

// How the file uses its space, now and then as by default.
[[maybe_unused]] void draw_file_space(Random& random, FileCreate& create) {
    static constexpr SpaceStrategy kStrategies[] = {SpaceStrategy::managers,    SpaceStrategy::managers,
                                                    SpaceStrategy::managers,    SpaceStrategy::pages,
                                                    SpaceStrategy::aggregation, SpaceStrategy::none};
    static constexpr std::uint64_t kThresholds[] = {1, 1, 1, 24, 200};
    static constexpr std::uint64_t kPages[] = {512, 512, 1024, 4096};
    const SpaceStrategy strategy = random.of(kStrategies);
    create.file_space = strategy;
    create.persist_free_space = !random.one_in(3) && create.file_space <= SpaceStrategy::pages;
    create.free_space_threshold = random.of(kThresholds);
    create.page_size = random.of(kPages);
}

template <typename Create>
void set_user_block([[maybe_unused]] std::uint64_t bytes, [[maybe_unused]] Create& create) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        create.user_block = bytes;
    }
}

// Equal messages are stored only once, in lists and trees.
[[maybe_unused]] void draw_shared_messages(Random& random, FileCreate& create) {
#if H5MOTE_ALL_FORMATS
    static constexpr std::uint16_t kSpaces = SharedKinds::dataspace | SharedKinds::fill_value;
    static constexpr SharedIndexCreate kOne[] = {{kSpaces | SharedKinds::datatype | SharedKinds::filter_pipeline, 12}};
    static constexpr SharedIndexCreate kTwo[] = {{kSpaces, 11}, {SharedKinds::datatype | SharedKinds::attribute, 20}};
    static constexpr std::uint16_t kMost[] = {0, 2, 5, 50};
    create.shared_messages.list_max = random.of(kMost);
    create.shared_messages.btree_min = static_cast<std::uint16_t>(random.below(create.shared_messages.list_max + 1U));
    create.shared_messages.indexes = random.one_in(2) ? Span<const SharedIndexCreate>(kOne) : kTwo;
#else
    (void)random;
    (void)create;
#endif
}

// A file that was opened with FileAccess::reclaim has no lost space, unless it is one that keeps no record of the
// smallest sections and says that it was closed. Where free space is not used again, a storage that is full has no room
// for a table of it.
std::string lost_after_reclaim([[maybe_unused]] File& file, [[maybe_unused]] bool limited) {
#if H5MOTE_ALL_FORMATS
    FileInfo info;
    CheckOptions options;
    options.memory = std::size_t{1} << 16;
    options.data = true;  // what is in the global heap is found through the data
    CheckSummary summary;
    ProblemsAfterCut found;
    if (file.info(info) != Status::ok || check_file(file, options, found, &summary) != Status::ok) {
        return "a file that was opened cannot be checked; ";
    }
    constexpr unsigned kAggregation = 2;
    const bool may_lack_room = limited && info.file_space_strategy >= kAggregation;
    if (summary.lost != 0 && !may_lack_room && (info.free_space_threshold == 1 || !info.persists_free_space)) {
        found.text += std::to_string(summary.lost) + " bytes are lost after reclaiming; ";
    }
    return found.text;
#else
    return "";
#endif
}

}  // namespace

// ---- a session ---------------------------------------------------------------------------------------------------

Player::Player(Storage& storage, World& world, Ledger& ledger) : storage_(storage), world_(world), ledger_(ledger) {}
Player::~Player() = default;

void Player::tell(const std::string& what, Status status) {
    if (tells) {
        told.push_back(std::to_string(storage_.operations()) + ": " + what + ": " +
                       (session_ != nullptr ? say(session_->library, status) : to_string(status)));
    }
}

bool Player::done(Status status, const std::string& what, std::initializer_list<Status> refusals) {
    tell(what, status);
    if (status == Status::ok) {
        return true;
    }
    const bool faulty = session_ != nullptr && session_->has_fault(status);
    const bool full = status == Status::no_space && storage_.limited();
    // A session with all parts of the format may have left what others cannot change.
    const bool lacking = status == Status::unsupported && H5MOTE_ALL_FORMATS != 0 && !everything_;
    if (!faulty && !full && !lacking && std::find(refusals.begin(), refusals.end(), status) == refusals.end() &&
        bad_.empty()) {
        bad_ = what + ": " + (session_ != nullptr ? say(session_->library, status) : to_string(status)) + "; ";
    }
    return false;
}

void Player::open(const FileAccess& access, const FileCreate& create) {
    session_ = std::make_unique<Session>(storage_.driver(), everything_);
    auto opened = world_.created ? File::open(session_->library, session_->driver, access)
                                 : File::open_or_create(session_->library, session_->driver, access, create);
    if (opened.status() == Status::over_budget) {
        FileAccess more = access;
        more.metadata_cache = 65536;
        tell("open", opened.status());
        opened = world_.created ? File::open(session_->library, session_->driver, more)
                                : File::open_or_create(session_->library, session_->driver, more, create);
    }
    if (!done(opened.status(), "open, metadata cache " + std::to_string(access.metadata_cache) + ", chunk cache " +
                                   std::to_string(access.chunk_cache))) {
        session_.reset();
        return;
    }
    session_->file = static_cast<File&&>(*opened);
    session_->root = session_->file.root();
    if (access.reclaim && world_.created && bad_.empty()) {
        // Opening reclaims only after a cut. Values of variable length leave space behind without one, too.
        if (done(session_->file.reclaim(), "reclaim")) {
            bad_ = lost_after_reclaim(session_->file, storage_.limited());
        }
    }
    if (!world_.created) {
        world_.created = true;
        ledger_.created(storage_.operations(), world_);
    }
}

void Player::end_session(bool kill) {
    session_->driver.dead = kill;
    session_->datasets.clear();
    session_->root = Group();
    if (kill) {
        session_.reset();
    }
}

void Player::flush() {
    ledger_.attempt(world_);
    if (done(session_->file.flush(), "flush")) {
        ledger_.acknowledge(storage_.operations(), world_);
    }
}

// Finds space that is lost, which the next steps use. It commits what was changed, as flush() does.
void Player::reclaim() {
    ledger_.attempt(world_);
    if (bad_.empty() && done(session_->file.reclaim(), "reclaim")) {
        ledger_.acknowledge(storage_.operations(), world_);
        session_->end_faults();
        bad_ = lost_after_reclaim(session_->file, storage_.limited());
    }
}

void Player::close() {
    end_session(false);
    ledger_.attempt(world_);
    if (done(session_->file.close(), "close")) {
        ledger_.acknowledge(storage_.operations(), world_);
        session_.reset();
    } else if (bad_.empty()) {
        kill();
    }
}

// Ends the session as kill -9 does: whatever was written to the storage stays there, the rest is lost. The world goes
// on with what is found.
void Player::kill() {
    tell("kill", Status::ok);
    end_session(true);
    unclear_ = false;
    World found;
    ledger_.finish(world_);
    bad_ = storage_.start();
    if (bad_.empty()) {
        bad_ = verify(storage_, ledger_.last(), found);
    }
    if (!bad_.empty()) {
        bad_ = "after a kill: " + bad_;
    } else if (storage_.atomic()) {
        // Object numbers are not used twice: an object that is gone now may be found again after a cut.
        found.made = std::max(found.made, world_.made);
        world_ = found;
    } else {
        world_.adopt(found);
    }
}

std::string Player::play(const Plan& plan) {
    Random random(plan.seed);
    FileCreate create;
    if constexpr (H5MOTE_CREATION_ORDER != 0) {
        create.track_link_order = random.one_in(3);
    }
    create.sizeof_addr = random.one_in(2) ? 4 : 8;
    create.superblock_version = random.one_in(3) ? 3 : 2;
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        draw_file_space(random, create);
        wide_ = plan.setting.wide;
        overwrites_texts_ = plan.setting.overwrites_texts;
        everything_ = random.one_in(2) || wide_;
        draw_attributes(random, everything_, create);
        if (everything_ && random.one_in(3)) {
            draw_shared_messages(random, create);
        }
        set_user_block(plan.setting.user_block, create);
    }
    open(draw_access(random, everything_), create);
    for (const Step& each : plan.steps) {
        if (session_ == nullptr || !bad_.empty()) {
            break;
        }
        Random lot(each.seed + 2);
        if (plan.setting.refuses_memory) {
            session_->allocator.refuse(lot.below(60), lot.one_in(3) ? 1 + lot.below(8) : 0);
        }
        if (plan.setting.fails) {
            session_->driver.fail(lot.one_in(3) ? 1 + lot.below(30) : 0);
        }
        step(each);
        if (session_ != nullptr) {
            session_->end_faults();
        }
        if (session_ != nullptr && unclear_ && bad_.empty()) {
            kill();
        }
        if (session_ == nullptr && bad_.empty()) {
            Random again(each.seed + 1);
            open(draw_access(again, everything_), create);
        }
    }
    if (session_ != nullptr && bad_.empty()) {
        close();
    }
    session_.reset();
    ledger_.finish(world_);
    return bad_;
}

void Player::step(const Step& step) {
    Random random(step.seed);
    const auto with_path = [&](bool logs, void (Player::*call)(const std::string&, Random&)) {
        const std::vector<std::string> all = paths(true, logs);
        if (!all.empty()) {
            (this->*call)(all[random.below(all.size())], random);
        }
    };
    switch (step.action) {
        case Action::append:
            return with_path(true, &Player::append);
        case Action::write:
            return with_path(false, &Player::write);
        case Action::grow:
            return with_path(false, &Player::grow);
        case Action::shrink:
            return with_path(false, &Player::shrink);
        case Action::make_dataset:
            return make_dataset(some_path(random), random);
        case Action::make_group:
            return make_group(some_path(random), random);
        case Action::set_attribute:
            return set_attribute(random);
        case Action::replace_attribute:
            return replace_attribute(random);
        case Action::remove_attribute:
            return remove_attribute(random);
        case Action::rename_attribute:
            return rename_attribute(random);
        case Action::move_link:
            return move_link(random);
        case Action::soft_link:
            return soft_link(some_path(random), random);
        case Action::hard_link:
            return with_path(false, &Player::hard_link);
        case Action::copy:
            return copy(random);
        case Action::unlink: {
            const std::vector<std::string> all = paths(false, false);
            if (!all.empty()) {
                unlink(all[random.below(all.size())]);
            }
            return;
        }
        case Action::remake:
            return remake(random);
        case Action::leave:
            while (!session_->datasets.empty()) {
                leave_object(session_->datasets.begin()->first);
            }
            if (everything_ && random.one_in(2)) {
                reclaim();
            }
            return;
        case Action::flush:
            return flush();
        case Action::reopen:
            return close();
        case Action::kill:
            return kill();
    }
}

// The paths of all links; only those of datasets if `datasets`, and of these only logs if `logs`.
std::vector<std::string> Player::paths(bool datasets, bool logs) const {
    std::vector<std::string> found;
    std::vector<std::pair<unsigned, std::string>> open = {{0, ""}};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const auto [number, path] = open[i];
        for (const auto& [name, states] : world_.objects.at(number).links) {
            const World::Link& link = states.back();
            const std::string full = path + "/" + name;
            if (link.type == World::Link::Type::hard) {
                const World::Object& object = world_.objects.at(link.object);
                if (object.dataset ? !logs || object.shape.is_log : !datasets) {
                    found.push_back(full);
                }
                if (object.is_group()) {
                    open.push_back({link.object, full});
                }
            } else if (link.type == World::Link::Type::soft && !datasets) {
                found.push_back(full);
            }
        }
    }
    return found;
}

std::string Player::some_path(Random& random) {
    static const std::string kGroups[] = {"", "", "/g", "/g/h", "/calibration of the second sensor"};
    static const std::string kNames[] = {"g",
                                         "h",
                                         "d",
                                         "imu",
                                         "health",
                                         "temperature_of_the_oil",
                                         "e",
                                         "calibration of the second sensor",
                                         std::string(100, 'n'),
                                         "f",
                                         "gps",
                                         "battery"};
    std::string group = kGroups[random.below(5)];
    const World::Object* const there = world_.find(group);
    if (there == nullptr || !there->is_group()) {
        group = "";
    }
    // Many names, so that groups need heaps and trees of more than one block.
    return group + "/" +
           (everything_ && random.one_in(3) ? "n" + std::to_string(random.below(50)) : kNames[random.below(12)]);
}

}  // namespace h5mote_test
