#include "verify.hpp"

#include "judge.hpp"
#include "say.hpp"
#include "session.hpp"
#include "workload_allocator.hpp"

#include <h5mote/port/malloc.hpp>

#include <set>

namespace h5mote_test {

using namespace h5mote;

namespace {

// Reads the items of one open file and finds out in which of their possible states they are.
class Reader {
public:
    Reader(Library& library, File& file) : library_(library), root_(file.root()) {}

    // Finds the state of an item; false, with a reason in `why`, when it is in none of its states.
    bool state_of(const std::string& key, const Item& item, State& state, std::string& why) {
        const std::size_t at = key.find('@');
        switch (item.kind) {
            case Kind::attribute:
                return attribute(key, at, item, state, why);
            case Kind::soft_link:
                return soft_link(key, item, state, why);
            default:
                break;
        }
        path_.clear();
        auto opened = root_.open_object(key);
        if (opened.status() == Status::not_found) {
            state = {};
            return true;
        }
        if (!opened) {
            why = say(library_, opened.status());
            return false;
        }
        path_ = key;
        object_ = static_cast<Object&&>(*opened);
        ObjectType type{};
        if (const Status status = object_.type(type); status != Status::ok) {
            why = say(library_, status);
            return false;
        }
        if (names_repeat(type == ObjectType::group, key)) {
            why = "a name is there twice";
            return false;
        }
        if (item.kind == Kind::group) {
            why = "no group";
            state = {item.states.back().generation, 0, 0};
            for (const State& each : item.states) {
                state.generation = each.generation != 0 ? each.generation : state.generation;
            }
            return type == ObjectType::group;
        }
        return item.kind == Kind::imu ? rows<Imu>(key, item, state, why) : rows<Health>(key, item, state, why);
    }

private:
    bool names_repeat(bool group, const std::string& key) {
        std::set<std::string> names;
        std::uint32_t count = 0;
        char text[64];
        std::size_t length = 0;
        bool repeat = false;
        for (std::uint32_t i = 0; object_.attribute_count(count) == Status::ok && i < count; ++i) {
            repeat = repeat || (object_.attribute_name(i, text, length) == Status::ok &&
                                !names.insert(std::string(text, length)).second);
        }
        names.clear();
        auto opened = group ? root_.open_group(key) : Result<Group>(Status::not_found);
        LinkInfo info;
        for (std::uint32_t i = 0; opened && opened->link_count(count) == Status::ok && i < count; ++i) {
            repeat = repeat || (opened->link(i, info, text) == Status::ok &&
                                !names.insert(std::string(text, info.name_length)).second);
        }
        return repeat;
    }

    template <typename T>
    bool rows(const std::string& key, const Item& item, State& state, std::string& why) {
        auto log = root_.open_dataset<T>(key);
        if (!log) {
            why = say(library_, log.status());
            return false;
        }
        const std::uint64_t size = log->size();
        if (size > 1000000) {
            why = std::to_string(size) + " rows";
            return false;
        }
        std::vector<T> values(size);
        if (const Status status = log->read(Selection::all(), Span<T>(values.data(), size)); status != Status::ok) {
            why = "read: " + say(library_, status);
            return false;
        }
        for (const State& each : item.states) {
            std::uint64_t i = 0;
            while (each.generation != 0 && i < size && values[i] == row_at<T>(each.generation, i)) {
                ++i;
            }
            if (each.generation != 0 && i == size) {
                state = {each.generation, size, size};
                if (each.allows(state)) {
                    return true;
                }
            }
            why = "row " + std::to_string(i) + " of " + std::to_string(size) + " differs";
        }
        return state.generation != 0 && state.least == size;
    }

    bool attribute(const std::string& key, std::size_t at, const Item& item, State& state, std::string& why) {
        const std::string path = key.substr(0, at);
        state = {};
        if (path != path_) {
            path_.clear();
            auto opened = root_.open_object(path);
            if (opened.status() == Status::not_found) {
                return true;
            }
            if (!opened) {
                why = say(library_, opened.status());
                return false;
            }
            object_ = static_cast<Object&&>(*opened);
            path_ = path;
        }
        std::int32_t value = 0;
        const Status status = object_.read_attribute(key.substr(at + 1), value);
        if (status == Status::not_found) {
            return true;
        }
        if (status != Status::ok) {
            why = say(library_, status);
            return false;
        }
        for (const State& each : item.states) {
            if (each.generation != 0 && value == attribute_value(item.values.empty() ? key : item.values, each.least)) {
                state = each;
                return true;
            }
        }
        why = "value " + std::to_string(value);
        return false;
    }

    bool soft_link(const std::string& key, const Item& item, State& state, std::string& why) {
        Link link;
        const Status status = root_.find_link(key, link);
        state = {};
        if (status == Status::not_found) {
            return true;
        }
        if (status != Status::ok || link.type() != LinkType::soft || link.target() != item.target) {
            why = status != Status::ok ? say(library_, status) : "another link";
            return false;
        }
        for (const State& each : item.states) {
            state = each.generation != 0 ? each : state;
        }
        return true;
    }

    Library& library_;
    Group root_;
    std::string path_;
    Object object_;
};

}  // namespace

std::string compare(Driver& driver, const History::Interval& allowed, Found& found) {
    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters()};
    FileAccess access;
    access.read_only = true;
    std::uint64_t size = 0;
    if (!allowed.created) {
        // The creation was not acknowledged yet: the storage may be empty or hold an interrupted creation, which
        // open_or_create() begins anew. Then no item is there.
        if (driver.end_of_file(size) != Status::ok) {
            return "no end of file; ";
        }
        auto file = File::open(library, driver, access);
        if (!file) {
            for (const auto& [key, item] : allowed.items) {
                found[key] = {};
            }
            return "";
        }
    }
    auto file = File::open(library, driver, access);
    if (!file) {
        return "open: " + say(library, file.status()) + "; ";
    }
    Reader reader(library, *file);
    return judge(allowed, found, [&](const std::string& key, const Item& item, State& state, std::string& why) {
        return reader.state_of(key, item, state, why);
    });
}

std::string find_problems(Driver& driver) {
    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters()};
    FileAccess access;
    access.read_only = true;
    Result<File> file = File::open(library, driver, access);
    if (!file) {
        return {};
    }
    return problems_after_cut(*file);
}

namespace {

// What check_file() finds in an open file, and how many bytes are lost.
std::string problems_and_lost(File& file, bool may_lose) {
    ProblemsAfterCut found;
    CheckOptions options;
    options.memory = std::size_t{1} << 16;
    options.data = false;
    CheckSummary summary;
    const Status status = check_file(file, options, found, &summary);
    if (status != Status::ok) {
        found.text += std::string("cannot be checked: ") + to_string(status) + "; ";
    }
    if (summary.lost != 0 && !may_lose) {
        found.text += std::to_string(summary.lost) + " bytes are lost; ";
    }
    return found.text;
}

}  // namespace

std::string reclaim_all(Driver& driver) {
    WorkloadAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters()};
    allocator.prepare(library);
    FileAccess access;
    access.reclaim = true;
    auto file = File::open(library, driver, access);
    if (!file) {
        return "reclaim: open: " + say(library, file.status()) + "; ";
    }
    FileInfo info;
    // What is smaller than the threshold is lost when the file is closed, and the file says that it was closed.
    const Status told = file->info(info);
    const bool may_lose = told == Status::ok && info.free_space_threshold > 1;
    std::string bad = problems_and_lost(*file, may_lose);
    const Status closed = file->close();
    if (told != Status::ok || closed != Status::ok) {
        return bad + "reclaim: close: " + say(library, closed) + "; ";
    }
    access.reclaim = false;
    access.read_only = true;
    auto again = File::open(library, driver, access);
    if (!again) {
        return bad + "after reclaiming: open: " + say(library, again.status()) + "; ";
    }
    const std::string after = problems_and_lost(*again, !info.persists_free_space || may_lose);
    return bad.empty() && after.empty() ? "" : "reclaim: " + bad + (after.empty() ? "" : "closed: " + after);
}

}  // namespace h5mote_test
