#include "facts.hpp"
#include "writing_run.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>

#include <algorithm>
#include <cstdarg>

namespace differential {
namespace {

// Profile `logger` has no other parts of the format than those by default.
const Formats& formats_of([[maybe_unused]] bool everything) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (everything) {
            return formats::all;
        }
    }
    return formats::standard;
}

constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter, &fletcher32_filter, &scaleoffset_filter};

}  // namespace

Span<const Filter* const> writing_filters() noexcept { return kFilters; }

Machine::Machine(Random& random, bool with_everything) : everything(with_everything) {
    if (random.one_in(2)) {
        constexpr std::size_t kSize = 2 << 20;
        memory.reset(new std::byte[kSize]);
        arena.emplace(Bytes{memory.get(), kSize});
    }
    failing.emplace(arena ? static_cast<Allocator&>(*arena) : heap);
    library.emplace(allocator(), port, writing_filters(), formats_of(everything));
}

void Machine::expect_unused() {
    library->garbage_collect();
    if (allocator().usage().now != 0) {
        differ("memory: the session left " + std::to_string(allocator().usage().now) + " bytes behind");
    }
}

Writing::Writing(std::uint64_t seed, const WritingOptions& options, Machine* shared, const char* label)
    : random_(seed), options_(options), shared_(shared), label_(label) {
    std::string name = options.storage;
    if (name.empty()) {
        name = kStorages[random_.below(sizeof kStorages / sizeof *kStorages)];
    }
    storage_ = make_storage(name, random_);
    if (storage_ == nullptr) {
        differ("storage: unknown");
    }
    lacks_memory_ = random_.one_in(4);
    tell("storage %s%s\n", name.c_str(), lacks_memory_ ? ", short of memory" : "");
    everything_ = shared_ != nullptr ? shared_->everything : H5MOTE_ALL_FORMATS != 0 && random_.one_in(2);
    start();
}

void Writing::tell(const char* format, ...) const {
    if (options_.log != nullptr) {
        std::va_list arguments;
        va_start(arguments, format);
        std::fputs(label_, options_.log);
        std::vfprintf(options_.log, format, arguments);
        va_end(arguments);
        std::fflush(options_.log);
    }
}

bool Writing::open(Random& random, bool create, const FileCreate& properties) {
    session_.emplace(random, storage_->open(), everything_, shared_);
    session_->access.opener = everything_ ? &shelf_ : nullptr;
    tell("session: %s, metadata cache %zu, chunk cache %zu%s, versions from %d%s%s\n",
         session_->machine->arena ? "arena" : "malloc", session_->access.metadata_cache, session_->access.chunk_cache,
         everything_ ? ", all formats" : "", static_cast<int>(session_->access.low),
         session_->access.torn_headers ? ", torn headers" : "", session_->access.reclaim ? ", reclaim" : "");
    const auto attempt = [&] {
        auto opened = create ? File::create(library(), session_->driver, session_->access, properties)
                             : File::open(library(), session_->driver, session_->access);
        session_->file = static_cast<File&&>(*opened);
        return opened.status();
    };
    Status status = attempt();
    if (status == Status::over_budget) {
        tell("  over budget, now with 256 KiB\n");
        session_->access.metadata_cache = 262144;
        status = attempt();
    }
    // Without H5MOTE_ALL_FORMATS the library follows at most four continuations of an object header at a time.
    const bool limited =
        (status == Status::unsupported && !everything_) || (H5MOTE_ALL_FORMATS == 0 && status == Status::over_budget);
    if (status != Status::ok && !limited) {
        differ("open: " + say(library(), status));
    }
    return status == Status::ok;
}

void Writing::start() {
    bounds_.low = random_.pick({H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110, H5F_LIBVER_V110});
    NewFile properties(random_, everything_);
    tell("%s\n", properties.text().c_str());
    (void)open(random_, true, properties.create());
    file_ = create_image(bounds_, properties.list());
    shares_messages_ = properties.shares_messages();
    short_addresses_ = properties.create().sizeof_addr < 8;
    model_.tracks_all = properties.shares_attributes();
    model_.objects[0].ordered = properties.create().track_link_order;
    model_.objects[0].attributes_ordered = properties.create().attributes.track_order;
}

void Writing::verify(const Blob& image, const std::string& who) {
    if (options_.log != nullptr) {
        if (std::FILE* const file = std::fopen((who.substr(who.rfind(' ') + 1) + ".failed.h5").c_str(), "wb")) {
            (void)std::fwrite(image.data(), 1, image.size(), file);
            std::fclose(file);
        }
    }
    {
        const Id file = read_image(image);
        compare(model_, read_libhdf5(file), who + " read by libhdf5");
    }
    verify_with_h5mote(model_, image, who, shelf_);
}

// Ends the session, compares both files with the model, and returns the file of libhdf5.
Blob Writing::end() {
    // Close only some of the datasets: errors of those that the destructor closes are returned by the file's close().
    for (auto& entry : session_->datasets) {
        const Status closed = random_.one_in(2) ? entry.second.close() : Status::ok;
        if (closed != Status::ok) {
            differ("close dataset: " + say(library(), closed));
        }
    }
    session_->datasets.clear();
    const Status status = session_->file.close();
    if (status != Status::ok) {
        differ("close: " + say(library(), status));
    }
    if (shared_ == nullptr) {
        session_->machine->expect_unused();
    }
    session_.reset();
    storage_->close();
    look_through();
    const Blob other = close_image(file_);
    const Blob mine = storage_->contents();
    verify(mine, "the file of h5mote");
    verify(other, "the file of libhdf5");
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        // Profile `logger` allocates what the next appends need, and goes on with creation orders.
        // Calls that were refused may have taken a number, or space. A copy that found no room to give up its staging
        // group is counted once more, and what lost its last link or attribute may go on with its orders.
        const bool calm = !was_disturbed_;
        const bool all = counts_.refused == 0 && !uncertain_ && calm;
        compare_facts(read_image(mine), read_image(other), {all, !renewed_ && calm, all, calm});
    }
    if (everything_ && random_.one_in(2)) {
        repack(random_.one_in(2) ? mine : other);
    }
    return other;
}

void Writing::reopen(Random& random) {
    const bool swap = random.one_in(2);
    tell("close, %s\n", swap ? "exchange the files, open" : "open");
    const Blob other = end();
    const Blob mine = storage_->contents();
    if (swap) {
        if (storage_->load(other)) {
            if (open(random, false, {})) {
                file_ = open_image(mine, bounds_);
                exchanged_ = true;
                return;
            }
            // h5mote cannot write to a file of this format: both libraries continue with their own files.
            session_.reset();
            storage_->close();
        }
        if (!storage_->load(mine)) {
            differ("storage: no room for the file that was there");
        }
    }
    file_ = open_image(other, bounds_);
    if (!open(random, false, {})) {
        differ("open: h5mote refuses its own file");
    }
}

bool Writing::is_refusal(Status status) {
    return status == storage_->refusal() || (status == Status::out_of_memory && memory().failures() != 0);
}

bool Writing::done(Status status, const std::string& what, std::initializer_list<Status> allowed) {
    if (status == Status::ok) {
        ++counts_.operations;
        return true;
    }
    tell("  refused: %s\n", say(library(), status).c_str());
    ++counts_.refused;
    renewed_ = renewed_ || what == "write_attribute" || what == "copy_object";
    // A call may need more memory than a small cache has, or more space than a small chip. Four in a thousand headers
    // that libhdf5 makes can only be changed with FileAccess::torn_headers.
    const bool torn = status == Status::unsupported && !session_->access.torn_headers &&
                      library().trail().newest().value == static_cast<std::uint64_t>(Feature::ordered_writing);
    if (!torn && (status != Status::unsupported || everything_) && status != Status::over_budget &&
        !is_refusal(status) && std::find(allowed.begin(), allowed.end(), status) == allowed.end()) {
        differ(what + ": " + say(library(), status));
    }
    library().trail().clear();
    return false;
}

void Writing::expect_exists(Status status, const std::string& what) {
    if (status != Status::already_exists && done(status, what)) {
        differ(what + ": a name that exists is taken");
    }
    library().trail().clear();
}

std::size_t Writing::any_object(Random& random, bool (*fits)(const ObjectValue&), bool& found) const {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < model_.objects.size(); ++i) {
        if (fits(model_.objects[i]) && model_.path_of(i) != "?") {
            candidates.push_back(i);
        }
    }
    found = !candidates.empty();
    return found ? candidates[random.below(candidates.size())] : 0;
}

std::string Writing::new_name(Random& random) const {
    std::string name = random.pick<const char*>({"a", "b", "log", "data", "\xc3\xa4\xc3\xb6", "x"});
    name += std::to_string(random.below(30));
    if (random.one_in(10)) {
        name.append(random.below(200), '_');
    }
    return name;
}

Dataset* Writing::dataset(std::size_t object) {
    const auto open = session_->datasets.find(object);
    if (open != session_->datasets.end()) {
        return &open->second;
    }
    auto opened = session_->file.root().open_dataset(model_.path_of(object));
    if (!done(opened.status(), "open_dataset")) {
        return nullptr;
    }
    return &session_->datasets.emplace(object, static_cast<Dataset&&>(*opened)).first->second;
}

Object* Writing::open_object(std::size_t object, Object& other) {
    if (is_dataset(model_.objects[object])) {
        return dataset(object);
    }
    auto opened = session_->file.root().open_object(object == 0 ? "/" : model_.path_of(object));
    other = static_cast<Object&&>(*opened);
    return done(opened.status(), "open_object") ? &other : nullptr;
}

Id Writing::other(std::size_t object, hid_t file) const {
    return DIFFERENTIAL_ID(H5Oopen(file, object == 0 ? "/" : model_.path_of(object).c_str(), H5P_DEFAULT));
}

void Writing::link(std::size_t group, const std::string& name, const LinkValue& value) {
    model_.objects[group].links[name] = value;
    model_.objects[group].order.push_back(name);
}

ObjectValue& Writing::add_object(std::size_t parent, const std::string& name, ObjectValue::Kind kind) {
    link(parent, name, {false, "", model_.objects.size()});
    model_.objects.emplace_back();
    model_.objects.back().kind = kind;
    return model_.objects.back();
}

void Writing::create_group(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    GroupCreate create;
    create.track_link_order = random.one_in(3);
    if (everything_ && random.one_in(3)) {
        create.min_dense = static_cast<std::uint16_t>(random.below(4));
        create.max_compact = static_cast<std::uint16_t>(create.min_dense + random.below(3));
    }
    const NewAttributes attributes(random, everything_);
    attributes.set(create);
    tell("create_group %s%s, compact %d to %d%s\n", path.c_str(), create.track_link_order ? ", ordered" : "",
         create.min_dense, create.max_compact, attributes.text().c_str());
    const bool exists = model_.objects[parent].links.count(name) != 0;
    auto made = session_->file.root().create_group(path, create);
    if (exists) {
        return expect_exists(made.status(), "create_group");
    }
    if (!done(made.status(), "create_group")) {
        return;
    }
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_GROUP_CREATE));
    if (create.track_link_order) {
        DIFFERENTIAL_OK(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    }
    DIFFERENTIAL_OK(H5Pset_link_phase_change(list, create.max_compact, create.min_dense));
    attributes.set_list(list);
    DIFFERENTIAL_ID(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, list, H5P_DEFAULT));
    ObjectValue& value = add_object(parent, name, ObjectValue::Kind::group);
    value.ordered = create.track_link_order;
    value.attributes_ordered = create.attributes.track_order;
}

void Writing::soft_link(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    // The targets have no superfluous slashes, which libhdf5 would remove from a soft link.
    std::string target = random.one_in(2) ? "/no/where" : model_.path_of(any_object(random, is_any, found));
    target = target.empty() ? "/" : target;
    const std::string path = model_.path_of(parent) + "/" + name;
    if (model_.objects[parent].links.count(name) != 0) {
        return;
    }
    tell("soft_link %s to %s\n", path.c_str(), target.c_str());
    if (done(session_->file.root().create_soft_link(path, target), "create_soft_link")) {
        DIFFERENTIAL_OK(H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
        link(parent, name, {true, target, 0});
    }
}

void Writing::hard_link(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::size_t object = any_object(random, is_any, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    // No links to groups, so that there are no cycles: unlinking a group that contains itself would leave unreachable
    // objects in both files.
    if (model_.objects[parent].links.count(name) != 0 || is_group(model_.objects[object])) {
        return;
    }
    tell("hard_link %s to %s\n", path.c_str(), model_.path_of(object).c_str());
    Object held;
    Object* const opened = open_object(object, held);
    if (opened == nullptr || !done(session_->file.root().create_hard_link(path, *opened), "create_hard_link")) {
        return;
    }
    DIFFERENTIAL_OK(
        H5Lcreate_hard(file_, model_.path_of(object).c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
    link(parent, name, {false, "", object});
}

void Writing::unlink(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(
        random, [](const ObjectValue& value) { return is_group(value) && !value.links.empty(); }, found);
    if (!found) {
        return;
    }
    auto at = model_.objects[parent].links.begin();
    std::advance(at, random.below(model_.objects[parent].links.size()));
    const std::string name = at->first;
    const LinkValue value = at->second;
    const std::string path = model_.path_of(parent) + "/" + name;
    if (is_pinned(path)) {
        return;
    }
    bool busy = false;
    if (!value.soft && model_.links_to(value.object) == 1) {
        busy = !model_.objects[value.object].links.empty();
        if (random.one_in(2)) {
            session_->datasets.erase(value.object);
        }
        busy = busy || session_->datasets.count(value.object) != 0;
    }
    tell("unlink %s%s\n", path.c_str(), busy ? ", busy" : "");
    const Status status = session_->file.root().unlink(path);
    if (busy && status == Status::ok) {
        differ("unlink: an object that is in use went");
    }
    if (!done(status, "unlink", {busy ? Status::busy : Status::unsupported})) {
        return;
    }
    DIFFERENTIAL_OK(H5Ldelete(file_, path.c_str(), H5P_DEFAULT));
    ObjectValue& group = model_.objects[parent];
    group.links.erase(name);
    group.order.erase(std::find(group.order.begin(), group.order.end(), name));
}

void Writing::close_dataset(Random& random) {
    if (session_->datasets.empty()) {
        return;
    }
    auto at = session_->datasets.begin();
    std::advance(at, random.below(session_->datasets.size()));
    tell("close %s\n", model_.path_of(at->first).c_str());
    (void)done(at->second.close(), "close dataset");
    session_->datasets.erase(at);
}

void Writing::run(const Step& step) {
    // A handle that cannot be closed is gone all the same, with what it had in memory.
    Random room(~step.seed);
    const bool closes = step.kind == StepKind::close_dataset || step.kind == StepKind::reopen;
    if (!closes && room.one_in(3)) {
        storage_->disturb(room);
    }
    if (!closes && lacks_memory_ && room.one_in(3)) {
        memory().arm(1 + room.below(room.pick<std::uint64_t>({3, 20, 200})), room.one_in(3));
    }
    take(step);
    calm();
}

void Writing::calm() {
    storage_->calm();
    was_disturbed_ = was_disturbed_ || memory().failures() != 0 || storage_->was_disturbed();
    memory().arm(0, false);
}

void Writing::take(const Step& step) {
    Random random(step.seed);
    switch (step.kind) {
        case StepKind::create_group:
            return create_group(random);
        case StepKind::create_dataset:
            return create_dataset(random);
        case StepKind::append:
            return append(random);
        case StepKind::write:
            return write(random);
        case StepKind::read:
            return read(random);
        case StepKind::set_extent:
            return set_extent(random);
        case StepKind::attribute:
            return attribute(random);
        case StepKind::remove_attribute:
            return remove_attribute(random);
        case StepKind::rename_attribute:
            return rename_attribute(random);
        case StepKind::move_link:
        case StepKind::copy_link:
            return move_link(random, step.kind == StepKind::copy_link);
        case StepKind::soft_link:
            return soft_link(random);
        case StepKind::other_link:
            return other_link(random);
        case StepKind::external:
            return external(random);
        case StepKind::virtual_dataset:
            return virtual_dataset(random);
        case StepKind::write_through:
            return write_through(random);
        case StepKind::references:
            return references(random);
        case StepKind::comment:
            return comment(random);
        case StepKind::commit_datatype:
            return commit_datatype(random);
        case StepKind::hard_link:
            return hard_link(random);
        case StepKind::unlink:
            return unlink(random);
        case StepKind::copy_object:
            return copy_object(*this, random);
        case StepKind::variable_length:
            return variable_length(random);
        case StepKind::flush: {
            tell("flush\n");
            Status status = session_->file.flush();
            if (is_refusal(status)) {
                // Everything is still in memory.
                tell("  once more\n");
                calm();
                status = session_->file.flush();
            }
            if (status != Status::ok) {
                differ("flush: " + say(library(), status));
            }
            return;
        }
        case StepKind::close_dataset:
            return close_dataset(random);
        case StepKind::reclaim:
            return reclaim(random);
        case StepKind::reopen:
            return reopen(random);
    }
}

std::vector<Step> random_steps(std::uint64_t seed) {
    Random random(seed ^ 0x5bd1e995);
    // Steps that change data are more frequent; every kind occurs sometimes.
    constexpr StepKind kOften[] = {StepKind::append,    StepKind::write,      StepKind::write,
                                   StepKind::read,      StepKind::set_extent, StepKind::create_dataset,
                                   StepKind::attribute, StepKind::flush,      StepKind::close_dataset};
    const std::uint64_t count = 5 + random.small(100);
    std::vector<Step> steps{{StepKind::create_dataset, random.next()}};
    while (steps.size() < count) {
        const StepKind kind = random.one_in(4)
                                  ? static_cast<StepKind>(random.below(static_cast<int>(StepKind::reopen) + 1))
                                  : kOften[random.below(sizeof kOften / sizeof *kOften)];
        steps.push_back({kind, random.next()});
    }
    return steps;
}

namespace {

// Runs the steps. `shares_messages` says whether a file of the run does: libhdf5 1.10 cannot delete some of the objects
// that it has made there.
template <typename Run, typename Shares>
void pass_known_faults(const Run& run, const Shares& shares_messages) {
    try {
        run();
    } catch (const Spoiled&) {
    } catch (const Difference& difference) {
        if (!shares_messages() || difference.text.rfind("libhdf5 refuses", 0) != 0) {
            throw;
        }
    }
}

}  // namespace

WritingCounts run_writing(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options) {
    Writing writing(seed, options);
    const auto run = [&] {
        for (const Step& step : steps) {
            writing.run(step);
        }
        writing.finish();
    };
    pass_known_faults(run, [&] { return writing.shares_messages(); });
    return writing.counts();
}

WritingCounts run_two_files(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options) {
    Random random(seed);
    Machine machine(random, H5MOTE_ALL_FORMATS != 0 && !random.one_in(4));
    Writing first(random.next(), options, &machine, "first: ");
    Writing second(random.next(), options, &machine, "second: ");
    const auto run = [&] {
        for (const Step& step : steps) {
            Random choice(~step.seed);
            const bool is_first = choice.one_in(2);
            Writing& file = is_first ? first : second;
            if (step.kind == StepKind::copy_object && !choice.one_in(4)) {
                file.copy_object(is_first ? second : first, choice);
            } else {
                file.run(step);
            }
        }
        first.finish();
        second.finish();
        machine.expect_unused();
    };
    pass_known_faults(run, [&] { return first.shares_messages() || second.shares_messages(); });
    return {first.counts().operations + second.counts().operations, first.counts().refused + second.counts().refused};
}

std::vector<Step> random_steps_for_two_files(std::uint64_t seed) {
    std::vector<Step> steps = random_steps(seed);
    Random random(seed ^ 0x94d049bb);
    for (Step& step : steps) {
        if (random.one_in(6)) {
            step.kind = StepKind::copy_object;
        }
    }
    return steps;
}

}  // namespace differential
