// The workload of a logger, and a model of what must be found in the file later (whatever a flush acknowledged) and of
// what may be found (whatever was attempted).
#pragma once

#include <h5mote/h5mote.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace h5mote_test {

/// Rows of the two kinds of logs. at(i) is the row that every log of this kind has at index i, so that any row can be
/// checked without a record of it.
struct Imu {
    std::uint32_t t_ms;
    std::int16_t accel[3];
    std::uint16_t gap;  // not a member of the datatype, but its bytes are written: always 0, so that files are alike
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

/// Value number `n` of an attribute, counted from 0.
std::int32_t attribute_value(const std::string& key, std::size_t n);

struct WorkloadOptions {
    bool filtered = false;
    unsigned rows = 64;
    unsigned flush_rows = 4;
    std::uint32_t chunk_rows = 8;
    std::uint32_t reserve = 65536;
    unsigned segment_rows = 24;   ///< after so many rows a group with attributes and a log is created; 0: never
    unsigned sessions = 1;        ///< the file is closed and opened again between sessions
    bool create_exactly = false;  ///< uses create_...(), which fails when an earlier failure left something behind
    bool track_order = false;
    bool retry = false;  ///< a call that fails is made once more, as after a passing fault; else the run ends
    std::uint8_t sizeof_addr = 8;
    h5mote::FileCreate space = {};  ///< how the file uses its space
    bool passing = false;  ///< logs of which the model knows nothing are made and unlinked, and lost space is searched
};

/// Runs the logger on a driver, counts errors, and keeps the models.
class Workload {
public:
    Workload(h5mote::Library& library, h5mote::Driver& driver, const WorkloadOptions& options)
        : library_(library), driver_(driver), options_(options) {}

    /// False when the run ended early, because a call failed.
    bool run();

    unsigned errors = 0;              ///< calls that did not return ok
    unsigned acknowledged_files = 0;  ///< creations, flushes and closes that returned ok
    Model attempted;                  ///< the state after the last call that returned ok
    Model acknowledged;               ///< the state at the last creation, flush or close that returned ok
    std::function<void()> on_acknowledged;
    std::string failure;  ///< a log whose number of rows is wrong when it is opened; empty: none

private:
    using Call = std::function<h5mote::Status()>;
    bool session(unsigned number);
    bool make(const Call& call);
    bool set_attribute(h5mote::Object& object, const std::string& path, const char* name);
    bool flush(h5mote::File& file);
    bool segment(h5mote::Group& root, unsigned number);
    bool pass(h5mote::Group& root, unsigned number);
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

/// Opens the storage, compares the file with the models, logs on in it, opens and compares it once more. `created`: the
/// creation of the file was acknowledged. Returns what is wrong; empty: nothing.
std::string verify(h5mote::Driver& driver, const Model& acknowledged, const Model& attempted, bool created);

/// The filters that the workload uses, for a Library.
h5mote::Span<const h5mote::Filter* const> all_filters();

}  // namespace h5mote_test
