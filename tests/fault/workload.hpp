// What a logger does, and a model of what it may expect to find later: acknowledged by a flush, or at least attempted.
#pragma once

#include <h5mote/h5mote.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace h5mote_test {

/// The row that a log has at an index, so that any row can be checked without a record of it.
struct Imu {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    std::uint16_t gap;  // no member of the datatype, but written with them: always 0, so that every run writes the same
    float temp_c;

    static Imu at(std::uint64_t i) noexcept;
    bool operator==(const Imu& other) const noexcept;
};
struct Health {
    std::uint32_t t_s;
    std::uint32_t rows;

    static Health at(std::uint64_t i) noexcept;
    bool operator==(const Health& other) const noexcept;
};
H5MOTE_COMPOUND(Imu, t_ms, accel, temp_c)
H5MOTE_COMPOUND(Health, t_s, rows)

/// State of a file: paths of groups, rows of logs, and of each integer attribute ("path@name") how many values it has
/// been given.
struct Model {
    std::set<std::string> groups;
    std::map<std::string, std::uint64_t> logs;
    std::map<std::string, std::size_t> values;
};

/// The value that an attribute is given for the n-th time.
std::int32_t attribute_value(const std::string& key, std::size_t n);

struct WorkloadOptions {
    bool filtered = false;
    unsigned rows = 64;
    unsigned flush_rows = 4;
    std::uint32_t chunk_rows = 8;
    std::uint32_t reserve = 65536;
    unsigned segment_rows = 24;   ///< so often a group with attributes and a log of its own is made; 0: never
    unsigned sessions = 1;        ///< closed and opened again in between
    bool create_exactly = false;  ///< create_..., which fails when an earlier failure left something behind
    bool track_order = false;
    bool retry = false;  ///< a call that fails is made once more, as after a passing fault; else all ends
    std::uint8_t sizeof_addr = 8;
};

/// Runs the logger against a driver. Every call's status is counted.
class Workload {
public:
    Workload(h5mote::Library& library, h5mote::Driver& driver, const WorkloadOptions& options)
        : library_(library), driver_(driver), options_(options) {}

    /// False when it ended early.
    bool run();

    unsigned errors = 0;              ///< calls that did not return ok
    unsigned acknowledged_files = 0;  ///< creations, flushes and closes that returned ok
    Model attempted;                  ///< after every call that returned ok
    Model acknowledged;               ///< at the last flush or close that returned ok
    std::function<void()> on_acknowledged;
    std::string failure;  ///< a status that must not be

private:
    using Call = std::function<h5mote::Status()>;
    bool session(unsigned number);
    bool make(const Call& call);
    bool set_attribute(h5mote::Object& object, const std::string& path, const char* name);
    bool flush(h5mote::File& file);
    bool segment(h5mote::Group& root, unsigned number);
    template <typename T>
    bool open_log(h5mote::Group& group, const std::string& path, const char* name, std::uint32_t chunk,
                  h5mote::TypedDataset<T>& log);
    template <typename T>
    bool append(h5mote::TypedDataset<T>& log, const std::string& path);
    bool open_group(h5mote::Group& parent, const std::string& path, h5mote::Group& group);
    void acknowledge();

    h5mote::Library& library_;
    h5mote::Driver& driver_;
    WorkloadOptions options_;
    unsigned row_ = 0;
    unsigned segments_ = 0;
};

/// Opens the storage, compares it with the model, goes on logging in it, opens it once more. Empty when all is well,
/// else what is wrong.
std::string verify(h5mote::Driver& driver, const Model& acknowledged, const Model& attempted, bool created);

/// Filters for a Library.
h5mote::Span<const h5mote::Filter* const> all_filters();

}  // namespace h5mote_test
