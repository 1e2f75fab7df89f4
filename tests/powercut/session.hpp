// An open file and what is done to it, each change told to a History. After the first call that fails nothing is done
// any more.
#pragma once

#include "../fault/workload.hpp"
#include "history.hpp"

namespace h5mote_test {

struct LogOptions {
    std::uint32_t chunk = 8;
    bool filtered = false;
    std::uint32_t reserve = 65536;
    bool filled = false;  ///< its first row is never written: the fill value is what it holds
};

class Session {
public:
    /// `operations`: how many the storage has done.
    Session(h5mote::Library& library, h5mote::Driver& driver, History& history, std::function<std::size_t()> operations)
        : library_(library), driver_(driver), history_(history), operations_(std::move(operations)) {}

    void open(const h5mote::FileCreate& create = {}, std::size_t metadata_cache = 2048, std::size_t chunk_cache = 4096);
    /// What is there is opened, else made.
    void group(const std::string& path, bool track_order = false);
    void imu(const std::string& path, const LogOptions& options = {});
    void health(const std::string& path, const LogOptions& options = {});
    /// One row more.
    void append(const std::string& path);
    void set(const std::string& path, const std::string& name);
    void remove_attribute(const std::string& path, const std::string& name);
    void soft_link(const std::string& path, const std::string& target);
    /// One more name for a log, which gets its rows, too.
    void hard_link(const std::string& path, const std::string& target);
    /// With what lies below it, which must be no link; handles of all that are let go.
    void unlink(const std::string& path);
    bool exists(const std::string& path) { return history_.now(path) != nullptr; }
    void flush();
    void close();
    /// Lets go of the handles of a log.
    void leave(const std::string& path);

    bool failed() const noexcept { return status_ != h5mote::Status::ok; }
    /// What the first call that failed returned, and says `where`; the next ones are made again.
    h5mote::Status take_failure() noexcept;
    std::string what() const;

private:
    struct Log {
        bool imu;
        h5mote::TypedDataset<Imu> imus;
        h5mote::TypedDataset<Health> healths;
    };

    bool done(h5mote::Status status, const char* call, const std::string& path);
    h5mote::Object* object(const std::string& path);
    template <typename T>
    void open_log(const std::string& path, const LogOptions& options, Kind kind, h5mote::TypedDataset<T> Log::*member);

    h5mote::Library& library_;
    h5mote::Driver& driver_;
    History& history_;
    std::function<std::size_t()> operations_;
    h5mote::File file_;
    std::map<std::string, h5mote::Group> groups_;
    std::map<std::string, Log> logs_;
    h5mote::Status status_ = h5mote::Status::ok;
    std::string what_;
};

/// The row of a log that was made for the `generation`-th time.
template <typename T>
T row_at(unsigned generation, std::uint64_t i) noexcept {
    return T::at(i + std::uint64_t{generation - 1} * 7001);
}

}  // namespace h5mote_test
