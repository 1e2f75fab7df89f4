// An open file and the calls that scenarios make on it; each change is recorded in a History. After the first call that
// fails, further calls do nothing.
#pragma once

#include "../fault/workload.hpp"
#include "history.hpp"
#include "killable.hpp"

namespace h5mote_test {

struct LogOptions {
    std::uint32_t chunk = 8;
    bool filtered = false;
    std::uint32_t reserve = 65536;
    bool filled = false;  ///< the first row is never written: set_extent() makes it, and it has the fill value
};

class Session {
public:
    /// `operations` returns how many operations the storage has done. `repeats`: a call that fails is made once more,
    /// as after a passing fault of the storage. Not repeated are the calls that only changing() makes, and close(),
    /// which ends all handles even if it fails.
    Session(h5mote::Library& library, h5mote::Driver& driver, History& history, std::function<std::size_t()> operations,
            bool repeats = false)
        : library_(library),
          driver_(driver),
          history_(history),
          operations_(std::move(operations)),
          repeats_(repeats) {}

    /// `reclaim`: lost space is found (FileAccess::reclaim).
    void open(const h5mote::FileCreate& create = {}, bool reclaim = false);
    /// group(), imu() and health() open what is there, else they create it.
    void group(const std::string& path, bool track_order = false);
    void imu(const std::string& path, const LogOptions& options = {});
    void health(const std::string& path, const LogOptions& options = {});
    /// Appends the next row to a log.
    void append(const std::string& path);
    void set(const std::string& path, const std::string& name);
    void remove_attribute(const std::string& path, const std::string& name);
    void soft_link(const std::string& path, const std::string& target);
    /// Gives a log one more name, under which its further rows appear, too.
    void hard_link(const std::string& path, const std::string& target);
    /// Gives a log, a soft link or a group without links another path, where nothing ever was; in the root group or
    /// below.
    void rename(const std::string& from, const std::string& to);
    void rename_attribute(const std::string& path, const std::string& from, const std::string& to);
    /// Gives an attribute its next value, as a number of another type and rank.
    void replace(const std::string& path, const std::string& name);
    /// Makes a log shorter.
    void cut(const std::string& path, std::uint64_t rows);
    /// Gives a log one more name, as hard_link() does.
    void copy(const std::string& from, const std::string& to);
    /// Unlinks an object, after closing the session's handle of it. A group must have no links any more.
    void unlink(const std::string& path);
    bool exists(const std::string& path) { return history_.now(path) != nullptr; }
    void flush();
    void close();
    /// Ends the session as kill -9 does. Call after a flush, so that nothing is lost.
    void kill();
    /// Closes the handle of a group or log.
    void leave(const std::string& path);

    bool failed() const noexcept { return status_ != h5mote::Status::ok; }
    /// Returns the status of the first call that failed (ok: none did) and forgets it, so that further calls work
    /// again.
    h5mote::Status take_failure() noexcept;
    /// Describes the call that failed.
    std::string what() const;

private:
    struct Log {
        bool imu;
        h5mote::TypedDataset<Imu> imus;
        h5mote::TypedDataset<Health> healths;
    };

    static bool succeeded(h5mote::Status status) noexcept { return status == h5mote::Status::ok; }
    template <typename T>
    static bool succeeded(const h5mote::Result<T>& result) noexcept {
        return result.status() == h5mote::Status::ok;
    }
    template <typename Call>
    auto attempt(const Call& call) -> decltype(call()) {
        auto first = call();
        if (!repeats_ || succeeded(first)) {
            return first;
        }
        return call();
    }
    bool done(h5mote::Status status, const char* call, const std::string& path);
    h5mote::Object* object(const std::string& path);
    template <typename T>
    void open_log(const std::string& path, const LogOptions& options, Kind kind, h5mote::TypedDataset<T> Log::*member);

    h5mote::Library& library_;
    Killable driver_;
    History& history_;
    std::function<std::size_t()> operations_;
    bool repeats_;
    h5mote::File file_;
    std::map<std::string, h5mote::Group> groups_;
    std::map<std::string, Log> logs_;
    h5mote::Status status_ = h5mote::Status::ok;
    std::string what_;
};

/// Row `i` of a log that was created for the `generation`-th time.
template <typename T>
T row_at(unsigned generation, std::uint64_t i) noexcept {
    return T::at(i + std::uint64_t{generation - 1} * 7001);
}

}  // namespace h5mote_test
