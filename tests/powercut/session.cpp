#include "session.hpp"

#include "say.hpp"

namespace h5mote_test {

using namespace h5mote;

bool Session::done(Status status, const char* call, const std::string& path) {
    if (status_ == Status::ok && status != Status::ok) {
        status_ = status;
        what_ = std::string(call) + " " + path + ": " + say(library_, status);
    }
    return status == Status::ok;
}

Status Session::take_failure() noexcept {
    const Status status = status_;
    status_ = Status::ok;
    return status;
}

std::string Session::what() const { return what_; }

void Session::open(const FileCreate& create, bool reclaim) {
    FileAccess access;
    access.metadata_cache = 2048;
    access.chunk_cache = 4096;
    access.reclaim = reclaim;
    const bool created = history_.now("/") != nullptr;
    auto result = attempt([&] {
        return created ? File::open(library_, driver_, access)
                       : File::open_or_create(library_, driver_, access, create);
    });
    file_ = static_cast<File&&>(*result);
    if (!done(result.status(), "open", "")) {
        return;
    }
    if (!created) {
        history_.make("/", Kind::group);
    }
    groups_["/"] = file_.root();
    if (!created && repeats_) {
        flush();  // the second call may have opened what the first one made without making it durable
    } else if (!created) {
        history_.acknowledge(operations_());
    }
}

Object* Session::object(const std::string& path) {
    if (const auto group = groups_.find(path); group != groups_.end()) {
        return &group->second;
    }
    const auto log = logs_.find(path);
    if (log == logs_.end()) {
        done(Status::invalid_handle, "the test itself", path);
        return nullptr;
    }
    return log->second.imu ? static_cast<Object*>(&log->second.imus) : &log->second.healths;
}

void Session::group(const std::string& path, bool track_order) {
    if (failed() || groups_.count(path) != 0) {
        return;
    }
    GroupCreate create;
    create.track_link_order = track_order && H5MOTE_CREATION_ORDER != 0;
    const bool known = history_.now(path) != nullptr;
    auto result =
        attempt([&] { return known ? groups_["/"].open_group(path) : groups_["/"].create_group(path, create); });
    if (done(result.status(), "group", path)) {
        groups_[path] = static_cast<Group&&>(*result);
        if (!known) {
            history_.make(path, Kind::group);
        }
    }
}

template <typename T>
void Session::open_log(const std::string& path, const LogOptions& options, Kind kind, TypedDataset<T> Log::*member) {
    if (failed()) {
        return;
    }
    DatasetCreate create;
    create.chunk = {options.chunk};
    create.reserve = options.reserve;
    if (options.filtered) {
        // Chunks of an odd number of rows go through n-bit in place of shuffle: its client data are as long as the
        // type.
        create.filters = {options.chunk % 2 != 0 ? filters::nbit : filters::shuffle, filters::deflate,
                          filters::fletcher32};
    }
    State* const known = history_.now(path);
    const T first = row_at<T>(history_.made(path) + 1, 0);
    if (options.filled) {
        create.fill = as_bytes(Span<const T>(&first, 1));
    }
    auto result = attempt([&] {
        return known != nullptr ? groups_["/"].open_dataset<T>(path) : groups_["/"].create_dataset<T>(path, create);
    });
    if (!done(result.status(), "log", path)) {
        return;
    }
    Log& log = logs_[path];
    log.imu = kind == Kind::imu;
    log.*member = static_cast<TypedDataset<T>&&>(*result);
    if (known == nullptr) {
        history_.make(path, kind);
        if (options.filled && done((log.*member).set_extent({1}), "first row of", path)) {
            history_.append(path);
        }
    } else if (known->least <= (log.*member).size() && (log.*member).size() <= known->most) {
        // If the last flush of an earlier session failed, the file may have fewer rows than were appended.
        known->most = (log.*member).size();
    } else {
        done(Status::corrupt_file, "rows of", path);
    }
}

void Session::imu(const std::string& path, const LogOptions& options) {
    open_log(path, options, Kind::imu, &Log::imus);
}
void Session::health(const std::string& path, const LogOptions& options) {
    open_log(path, options, Kind::health, &Log::healths);
}

void Session::append(const std::string& path) {
    if (failed()) {
        return;
    }
    const State* const now = history_.now(path);
    const auto log = logs_.find(path);
    if (now == nullptr || log == logs_.end()) {
        done(Status::invalid_handle, "the test itself", path);
        return;
    }
    const Status status = attempt([&] {
        return log->second.imu ? log->second.imus.append(row_at<Imu>(now->generation, now->most))
                               : log->second.healths.append(row_at<Health>(now->generation, now->most));
    });
    if (done(status, "append", path)) {
        history_.append(path);
    }
}

void Session::set(const std::string& path, const std::string& name) {
    Object* const to = failed() ? nullptr : object(path);
    if (to == nullptr) {
        return;
    }
    const std::string key = path + "@" + name;
    const std::int32_t value = attribute_value(history_.values_of(key), history_.given(key));
    if (done(attempt([&] { return to->write_attribute(name, value); }), "attribute", key)) {
        history_.give(key);
    }
}

void Session::remove_attribute(const std::string& path, const std::string& name) {
    Object* const from = failed() ? nullptr : object(path);
    if (from != nullptr &&
        done(attempt([&] { return from->remove_attribute(name); }), "remove attribute", path + "@" + name)) {
        history_.remove(path + "@" + name);
    }
}

void Session::soft_link(const std::string& path, const std::string& target) {
    if (!failed() && done(attempt([&] { return groups_["/"].create_soft_link(path, target); }), "soft link", path)) {
        history_.make(path, Kind::soft_link, target);
    }
}

void Session::hard_link(const std::string& path, const std::string& target) {
    Object* const to = failed() ? nullptr : object(target);
    if (to != nullptr && done(attempt([&] { return groups_["/"].create_hard_link(path, *to); }), "hard link", path)) {
        history_.link(path, target);
    }
}

void Session::rename(const std::string& from, const std::string& to) {
    if (failed() || !done(groups_["/"].rename(from, to), "rename", from)) {
        return;
    }
    history_.move(from, to);
    if (const auto log = logs_.find(from); log != logs_.end()) {
        logs_[to] = static_cast<Log&&>(log->second);
        logs_.erase(log);
    }
}

void Session::rename_attribute(const std::string& path, const std::string& from, const std::string& to) {
    Object* const of = failed() ? nullptr : object(path);
    if (of != nullptr && done(of->rename_attribute(from, to), "rename attribute", path + "@" + from)) {
        history_.move(path + "@" + from, path + "@" + to);
    }
}

void Session::replace(const std::string& path, const std::string& name) {
    Object* const of = failed() ? nullptr : object(path);
    if (of == nullptr) {
        return;
    }
    const std::string key = path + "@" + name;
    const std::uint64_t n = history_.given(key);
    const std::int64_t value = attribute_value(history_.values_of(key), n);
    const Status status = n % 3 == 0   ? of->replace_attribute(name, value)
                          : n % 3 == 1 ? of->replace_attribute(name, static_cast<std::int32_t>(value))
                                       : of->replace_attribute(name, datatype_of<std::int64_t>(),
                                                               Dataspace::simple({1}), as_bytes(Span(&value, 1)));
    if (done(status, "replace attribute", key)) {
        history_.give(key);
    }
}

void Session::cut(const std::string& path, std::uint64_t rows) {
    const auto log = logs_.find(path);
    if (failed() || log == logs_.end()) {
        return;
    }
    const Status status =
        log->second.imu ? log->second.imus.set_extent({rows}) : log->second.healths.set_extent({rows});
    if (done(status, "cut", path)) {
        history_.cut(path, rows);
    }
}

void Session::copy(const std::string& from, const std::string& to) {
    if (!failed() && done(groups_["/"].copy_link(from, groups_["/"], to), "copy", from)) {
        history_.link(to, from);
    }
}

void Session::unlink(const std::string& path) {
    if (failed()) {
        return;
    }
    leave(path);
    if (done(attempt([&] { return groups_["/"].unlink(path); }), "unlink", path)) {
        history_.remove_all(path);
    }
}

void Session::leave(const std::string& path) {
    groups_.erase(path);
    logs_.erase(path);
}

void Session::flush() {
    if (!failed() && done(attempt([&] { return file_.flush(); }), "flush", "")) {
        history_.acknowledge(operations_());
    }
}

void Session::close() {
    if (!failed() && done(file_.close(), "close", "")) {
        history_.acknowledge(operations_());
    }
    groups_.clear();
    logs_.clear();
}

void Session::kill() {
    driver_.dead = true;
    logs_.clear();
    groups_.clear();
    file_ = File();
    driver_.dead = false;
    (void)driver_.discard();
}

}  // namespace h5mote_test
