#include "recorder.hpp"

#include "console.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>

namespace logger {
namespace {

using h5mote::Status;

static_assert(H5MOTE_LOGGER_MEMORY >=
              h5mote::required_memory(recorder_limits(Recorder::kCanCompress, Recorder::kCanScale)));

// All the memory that the library gets.
alignas(8) std::byte memory_bytes[H5MOTE_LOGGER_MEMORY];
h5mote::Arena arena{memory_bytes};
h5mote::NullPort port;
#if H5MOTE_LOGGER_COMPRESS
constexpr const h5mote::Filter* kFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};
constexpr h5mote::Formats kFormats = [] {
    h5mote::Formats list = h5mote::formats::standard;
    list.variable_length_changes = &h5mote::formats::variable_length_changes;  // what scales are kept in
    return list;
}();
h5mote::Library library{arena, port, kFilters, kFormats};
#else
h5mote::Library library{arena, port};
#endif

// Not inlined: its text buffer must not take up stack while the library's functions run.
[[gnu::noinline]] void print_record(const h5mote::ErrorRecord& record) noexcept {
    Line line{Line::To::errors};
    line << "  " << to_string(record.module) << ":" << record.line << " " << to_string(record.status) << " "
         << record.detail << " ";
    if (record.status == Status::unsupported) {
        line << to_string(static_cast<h5mote::Feature>(record.value));
    } else {
        line << record.value;
    }
}

constexpr h5mote::DatasetCreate chunks_of(std::uint32_t rows, bool compress) noexcept {
    h5mote::DatasetCreate create;
    create.chunk = {rows};
    // Less than the default: both datasets grow in turns, so that the space that one of them has reserved at the end
    // lies before chunks of the other, cannot be cut off, and stays in the file.
    create.reserve = 16384;
    if (compress) {
        create.filters = {h5mote::filters::shuffle, h5mote::filters::deflate};
    }
    return create;
}

// Constants, so that they lie in read-only memory rather than on the stack.
constexpr h5mote::DatasetCreate kImu = chunks_of(kImuChunk, false);
constexpr h5mote::DatasetCreate kImuCompressed = chunks_of(kImuChunk, true);
constexpr h5mote::DatasetCreate kHealth = chunks_of(kHealthChunk, false);

// Writes an attribute unless it exists. If the logger continues a file, the attributes of the run that created it stay:
// they name the firmware and the device of that run.
template <typename T>
Status attribute(h5mote::Object& object, const char* name, const T& value) noexcept {
    return object.has_attribute(name) ? Status::ok : object.write_attribute(name, value);
}

}  // namespace

// Each step of opening is a function that is not inlined, so that the stack that one step needs is free again before
// the next begins.
[[gnu::noinline]] Status Recorder::open_file(const RecorderOptions& options) noexcept {
    h5mote::FileCreate create;
    // Addresses of 4 bytes suffice, because no flight fills 4 GiB. They make metadata, and the memory for it, smaller.
    // But the lists of a scale then have references of 4 bytes, which libhdf5 1.10 does not know.
    create.sizeof_addr = is_scaled_ ? 8 : 4;
    auto file = h5mote::File::open_or_create(library, *storage_,
                                             recorder_limits(options.compress, options.scale).access, create);
    file_ = std::move(*file);
    return file.status();
}

[[gnu::noinline]] Status Recorder::open_imu(h5mote::Group& flight, const RecorderOptions& options) noexcept {
    const h5mote::DatasetCreate& layout = options.compress ? kImuCompressed : kImu;
    if (kCanScale && options.scale) {
        return scaled_imu_.open(flight, layout);
    }
    auto imu = flight.open_or_create_dataset<ImuRow>("imu", layout);
    imu_ = std::move(*imu);
    return imu.status();
}

[[gnu::noinline]] Status Recorder::open_health() noexcept {
    auto health = file_.root().open_or_create_dataset<HealthRow>("health", kHealth);
    health_ = std::move(*health);
    return health.status();
}

Status Recorder::describe_imu(h5mote::Object& imu) noexcept {
    H5MOTE_TRY(attribute(imu, "rate_hz", 250.0F));
    H5MOTE_TRY(is_scaled_ ? Status::ok : attribute(imu, "t_us_units", "us"));
    H5MOTE_TRY(attribute(imu, "gyro_units", "rad/s"));
    H5MOTE_TRY(attribute(imu, "accel_units", "m/s^2"));
    return attribute(imu, "mag_units", "gauss");
}

[[gnu::noinline]] Status Recorder::describe(h5mote::Group& flight) noexcept {
    H5MOTE_TRY(attribute(flight, "device", "PX4 autopilot"));
    H5MOTE_TRY(attribute(flight, "firmware", "h5mote logger"));
    H5MOTE_TRY(attribute(flight, "firmware_version", H5MOTE_LOGGER_VERSION));
    H5MOTE_TRY(describe_imu(is_scaled_ ? scaled_imu_.values(imu_) : imu_));
    H5MOTE_TRY(attribute(health_, "rate_hz", 1.0F));
    H5MOTE_TRY(attribute(health_, "t_us_units", "us"));
    return attribute(health_, "free_memory_units", "bytes");
}

Status Recorder::open(Storage& storage, const RecorderOptions& options) noexcept {
    storage_ = &storage;
    is_scaled_ = kCanScale && options.scale;
    H5MOTE_TRY(open_file(options));
    auto flight = file_.root().open_or_create_group("flight");
    H5MOTE_TRY(flight.status());
    H5MOTE_TRY(open_imu(*flight, options));
    H5MOTE_TRY(open_health());
    H5MOTE_TRY(describe(*flight));
    rows_ = is_scaled_ ? scaled_imu_.size() : imu_.size();
    return flush();
}

Status Recorder::add(const ImuRow& row) noexcept {
    H5MOTE_TRY(is_scaled_ ? scaled_imu_.append(row) : imu_.append(row));
    ++rows_;
    return clock_.is_due(row.t_us) ? health_.append(HealthClock::row(row.t_us, rows_)) : Status::ok;
}

MemoryUse Recorder::memory() const noexcept { return {arena.usage().peak, arena.capacity()}; }

void Recorder::print_errors() const noexcept {
    for (std::size_t i = 0; i < library.trail().size(); ++i) {
        print_record(library.trail().newest(i));
    }
}

Status Recorder::close() noexcept {
    // Close everything even if an earlier step failed, and return the first error.
    Status result = is_scaled_ ? scaled_imu_.close() : imu_.close();
    for (const Status status : {health_.close(), file_.close(), storage_->end_of_file(file_size_)}) {
        result = result == Status::ok ? status : result;
    }
    return result;
}

}  // namespace logger
