#include "workload.hpp"

#include "rows.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/port/malloc.hpp>

namespace h5mote_test {

using namespace h5mote;

Imu Imu::at(std::uint64_t i) noexcept {
    const auto n = static_cast<std::int16_t>(i % 30000);
    return {static_cast<std::uint32_t>(4 * i),
            {n, static_cast<std::int16_t>(-n), static_cast<std::int16_t>(n / 3)},
            0,
            static_cast<float>(i) * 0.5F};
}
bool Imu::operator==(const Imu& other) const noexcept {
    return t_ms == other.t_ms && accel[0] == other.accel[0] && accel[1] == other.accel[1] &&
           accel[2] == other.accel[2] && temp_c == other.temp_c;
}
Health Health::at(std::uint64_t i) noexcept {
    return {static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>(i * 250)};
}
bool Health::operator==(const Health& other) const noexcept { return t_s == other.t_s && rows == other.rows; }

std::int32_t attribute_value(const std::string& key, std::size_t n) {
    std::uint32_t hash = 17;
    for (const char c : key) {
        hash = hash * 31 + static_cast<unsigned char>(c);
    }
    return static_cast<std::int32_t>(hash % 100000 * 1000 + n);
}

Span<const Filter* const> all_filters() {
    static constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter, &fletcher32_filter, &nbit_filter};
    return kFilters;
}

// ---- the logger --------------------------------------------------------------------------------------------------

bool Workload::make(const Call& call) {
    if (call() == Status::ok) {
        return true;
    }
    ++errors;
    return options_.retry && call() == Status::ok;
}

void Workload::acknowledge() {
    acknowledged = attempted;
    ++acknowledged_files;
    if (on_acknowledged) {
        on_acknowledged();
    }
}

bool Workload::flush(File& file) {
    if (!make([&] { return file.flush(); })) {
        return false;
    }
    acknowledge();
    return true;
}

bool Workload::set_attribute(Object& object, const std::string& path, const char* name) {
    const std::string key = path + "@" + name;
    const std::size_t n = attempted.values[key];
    if (!make([&] { return object.write_attribute(name, attribute_value(key, n)); })) {
        return false;
    }
    attempted.values[key] = n + 1;
    return true;
}

bool Workload::open_group(Group& parent, const std::string& path, Group& group) {
    GroupCreate create;
    create.track_link_order = options_.track_order;
    const bool exists = attempted.groups.count(path) != 0;
    const bool done = make([&] {
        auto opened = exists                    ? parent.open_group(path)
                      : options_.create_exactly ? parent.create_group(path, create)
                                                : parent.open_or_create_group(path, create);
        group = static_cast<Group&&>(*opened);
        return opened.status();
    });
    if (done) {
        attempted.groups.insert(path);
    }
    return done;
}

template <typename T>
bool Workload::open_log(Group& group, const std::string& path, const char* name, std::uint32_t chunk,
                        TypedDataset<T>& log) {
    DatasetCreate create;
    create.chunk = {chunk};
    create.reserve = options_.reserve;
    if (options_.filtered) {
        create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
    }
    const bool exists = attempted.logs.count(path) != 0;
    const bool done = make([&] {
        auto opened = exists                    ? group.open_dataset<T>(name)
                      : options_.create_exactly ? group.create_dataset<T>(name, create)
                                                : group.open_or_create_dataset<T>(name, create);
        log = static_cast<TypedDataset<T>&&>(*opened);
        return opened.status();
    });
    if (done) {
        attempted.logs.emplace(path, 0);
        if (log.size() != attempted.logs[path]) {
            failure = path + " has " + std::to_string(log.size()) + " rows instead of " +
                      std::to_string(attempted.logs[path]);
            return false;
        }
    }
    return done;
}

template <typename T>
bool Workload::append(TypedDataset<T>& log, const std::string& path) {
    std::uint64_t& rows = attempted.logs[path];
    if (!make([&] { return log.append(T::at(rows)); })) {
        return false;
    }
    ++rows;
    return true;
}

bool Workload::segment(Group& root, unsigned number) {
    const std::string path = "/segment" + std::to_string(number);
    Group group;
    TypedDataset<Health> events;
    return open_group(root, path, group) && set_attribute(group, path, "number") &&
           open_log(group, path + "/events", "events", 2, events) && append(events, path + "/events") &&
           append(events, path + "/events") && append(events, path + "/events") &&
           set_attribute(events, path + "/events", "kind") && make([&] { return events.close(); });
}

bool Workload::pass(Group& root, unsigned number) {
    const auto unlink = [&] {
        const Status status = root.unlink("passing" + std::to_string((number + 3) % 7));
        return status == Status::not_found ? Status::ok : status;
    };
    DatasetCreate create;
    create.chunk = {2};
    TypedDataset<Health> log;
    const auto open = [&] {
        auto result = root.open_or_create_dataset<Health>("passing" + std::to_string(number % 7), create);
        log = static_cast<TypedDataset<Health>&&>(*result);
        return result.status();
    };
    return make(unlink) && make(open) && make([&] { return log.append(Health::at(number)); }) &&
           make([&] { return log.close(); });
}

bool Workload::session(unsigned number) {
    FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = options_.chunk_rows * sizeof(Imu) < 16 ? 16 : options_.chunk_rows * sizeof(Imu);
    FileCreate properties = options_.space;
    properties.sizeof_addr = options_.sizeof_addr;
    properties.track_link_order = options_.track_order;
    File file;
    const bool opened = make([&] {
        auto result = number > 0 ? File::open(library_, driver_, access)
                                 : File::open_or_create(library_, driver_, access, properties);
        file = static_cast<File&&>(*result);
        return result.status();
    });
    if (!opened) {
        return false;
    }
    if (number == 0) {
        attempted.groups.insert("/");
        acknowledge();
    }
    if (options_.passing && !make([&] { return file.reclaim(); })) {
        return false;
    }
    Group root = file.root();
    Group flight;
    TypedDataset<Imu> imu;
    TypedDataset<Health> health;
    if (!open_group(root, "/flight", flight) || !set_attribute(root, "/", "session") ||
        !open_log(flight, "/flight/imu", "imu", options_.chunk_rows, imu) ||
        !open_log(flight, "/flight/health", "health", 2, health) || !set_attribute(imu, "/flight/imu", "rate")) {
        return false;
    }
    for (unsigned i = 1; i <= options_.rows; ++i, ++row_) {
        if (!append(imu, "/flight/imu") || (i % 5 == 0 && !append(health, "/flight/health")) ||
            (i % 7 == 0 && !set_attribute(flight, "/flight", "last")) ||
            (i % 13 == 0 && !set_attribute(imu, "/flight/imu", ("mark" + std::to_string(row_)).c_str())) ||
            (options_.segment_rows != 0 && i % options_.segment_rows == 0 && !segment(root, segments_++)) ||
            (options_.passing && i % 3 == 0 && !pass(root, row_)) || (i % options_.flush_rows == 0 && !flush(file))) {
            return false;
        }
    }
    if (number % 2 == 1) {
        // In every second session, the datasets are closed before the file.
        if (!make([&] { return imu.valid() ? imu.close() : Status::ok; }) ||
            !make([&] { return health.valid() ? health.close() : Status::ok; })) {
            return false;
        }
    }
    // close() is not retried: even if it fails, it ends all handles.
    if (file.close() != Status::ok) {
        ++errors;
        return false;
    }
    acknowledge();
    return true;
}

bool Workload::run() {
    for (unsigned i = 0; i < options_.sessions; ++i) {
        if (!session(i)) {
            return false;
        }
    }
    return true;
}

// ---- what is found afterwards ------------------------------------------------------------------------------------

namespace {

class Check {
public:
    Check(Library& library, Driver& driver) : library_(library), driver_(driver) {}

    std::string open(bool created) {
        auto result = created ? File::open(library_, driver_) : File::open_or_create(library_, driver_);
        file_ = static_cast<File&&>(*result);
        return result ? "" : "open: " + say(result.status());
    }

    std::string compare(const Model& acknowledged, const Model& attempted) {
        std::string bad;
        Group root = file_.root();
        for (const std::string& path : attempted.groups) {
            auto group = root.open_group(path);
            if (!group && (acknowledged.groups.count(path) != 0 || group.status() != Status::not_found)) {
                bad += path + ": " + say(group.status()) + "; ";
            }
        }
        for (const auto& [path, rows] : attempted.logs) {
            const auto known = acknowledged.logs.find(path);
            const bool must = known != acknowledged.logs.end();
            const std::uint64_t least = must ? known->second : 0;
            bad += path.find("imu") != std::string::npos ? log<Imu>(root, path, must, least, rows)
                                                         : log<Health>(root, path, must, least, rows);
        }
        for (const auto& [key, count] : attempted.values) {
            const auto known = acknowledged.values.find(key);
            bad += attribute(root, key, known == acknowledged.values.end() ? 0 : known->second, count);
        }
        return bad;
    }

    // Logs on in the file and closes it. `attempted` becomes the state in which the file then is.
    std::string resume(Model& attempted) {
        Group root = file_.root();
        auto flight = root.open_or_create_group("flight");
        if (!flight) {
            return "resume: group: " + say(flight.status());
        }
        std::string bad = extend<Imu>(*flight, "imu", "/flight/imu", attempted);
        bad += extend<Health>(*flight, "health", "/flight/health", attempted);
        const Status marked = flight->write_attribute("resumed", attribute_value("/flight@resumed", 0));
        attempted.values["/flight@resumed"] = 1;
        const Status flushed = file_.flush();
        const Status closed = file_.close();
        if (marked != Status::ok || flushed != Status::ok || closed != Status::ok) {
            bad += "resume: " + say(marked) + " " + to_string(flushed) + " " + to_string(closed) + "; ";
        }
        return bad;
    }

private:
    std::string say(Status status) {
        std::string text = to_string(status);
        if (status != Status::ok && library_.trail().size() > 0) {
            const ErrorRecord record = library_.trail().newest();
            text += std::string(" (") + to_string(record.module) + " " + std::to_string(record.line) + ", " +
                    std::to_string(record.detail) + ", " + std::to_string(record.value) + ")";
        }
        return text;
    }

    template <typename T>
    Status read(TypedDataset<T>& log, const std::string& path, std::vector<T>& rows) {
        if constexpr (H5MOTE_PARTIAL_IO != 0) {
            return log.read(Selection::all(), Span<T>(rows.data(), rows.size()));
        } else {
            if (rows_ == nullptr) {
                rows_ = std::make_shared<RowReader>(driver_);
            }
            return rows_->read(path, rows.data(), rows.size() * sizeof(T)) ? Status::ok : Status::corrupt_file;
        }
    }

    template <typename T>
    std::string log(Group& root, const std::string& path, bool must, std::uint64_t least, std::uint64_t most) {
        auto opened = root.open_dataset<T>(path);
        if (!opened) {
            return must || opened.status() != Status::not_found ? path + ": " + say(opened.status()) + "; " : "";
        }
        const std::uint64_t size = opened->size();
        if (size < least || size > most) {
            return path + ": " + std::to_string(size) + " rows, not " + std::to_string(least) + " to " +
                   std::to_string(most) + "; ";
        }
        std::vector<T> rows(size);
        const Status status = read(*opened, path, rows);
        if (status != Status::ok) {
            return path + ": read: " + say(status) + "; ";
        }
        for (std::uint64_t i = 0; i < size; ++i) {
            if (!(rows[i] == T::at(i))) {
                return path + ": row " + std::to_string(i) + " of " + std::to_string(size) + " differs (" +
                       std::to_string(least) + " acknowledged); ";
            }
        }
        return "";
    }

    std::string attribute(Group& root, const std::string& key, std::size_t known, std::size_t count) {
        const std::size_t split = key.find('@');
        const std::string path = key.substr(0, split);
        const std::string name = key.substr(split + 1);
        std::int32_t value = 0;
        Status status;
        if (path.find("imu") != std::string::npos || path.find("events") != std::string::npos) {
            auto object = root.open_dataset(path);
            status = object ? object->read_attribute(name, value) : object.status();
        } else {
            auto object = root.open_group(path);
            status = object ? object->read_attribute(name, value) : object.status();
        }
        if (status == Status::not_found && known == 0) {
            return "";
        }
        for (std::size_t n = known == 0 ? 0 : known - 1; n < count && status == Status::ok; ++n) {
            if (value == attribute_value(key, n)) {
                return "";
            }
        }
        return key + ": " + say(status) + " value " + std::to_string(value) + "; ";
    }

    template <typename T>
    std::string extend(Group& group, const char* name, const std::string& path, Model& attempted) {
        DatasetCreate create;
        create.chunk = {4};
        auto opened = group.open_or_create_dataset<T>(name, create);
        if (!opened) {
            return "resume: " + path + ": " + say(opened.status()) + "; ";
        }
        std::uint64_t size = opened->size();
        for (int i = 0; i < 9; ++i, ++size) {
            if (const Status status = opened->append(T::at(size)); status != Status::ok) {
                return "resume: " + path + ": append: " + say(status) + "; ";
            }
        }
        attempted.logs[path] = size;
        return "";
    }

    Library& library_;
    Driver& driver_;
    File file_;
    std::shared_ptr<RowReader> rows_;  // only in builds in which h5mote cannot read rows
};

}  // namespace

std::string verify(Driver& driver, const Model& acknowledged, const Model& attempted, bool created) {
    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port, all_filters()};
    Model resumed = acknowledged;
    {
        Check check(library, driver);
        std::string bad = check.open(created);
        if (bad.empty()) {
            bad = check.compare(acknowledged, attempted);
        }
        if (bad.empty()) {
            bad = check.resume(resumed);
        }
        if (!bad.empty()) {
            return bad;
        }
    }
    Check again(library, driver);
    std::string bad = again.open(true);
    Model most = attempted;
    for (const char* path : {"/flight/imu", "/flight/health"}) {
        most.logs[path] = resumed.logs[path];
    }
    most.values["/flight@resumed"] = 1;
    if (bad.empty()) {
        bad = again.compare(resumed, most);
    }
    return bad.empty() ? bad : "after resuming: " + bad;
}

}  // namespace h5mote_test
