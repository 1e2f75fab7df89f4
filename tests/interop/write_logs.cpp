// Files as a logger writes them: appending, flushing and power cycles, with the logger's budgets.

#include "write.hpp"

#include <h5mote/compound.hpp>

namespace h5mote_interop {

using namespace h5mote;

namespace {

constexpr auto kDouble = make_float(8);
constexpr auto kCount = make_integer(4, false);
constexpr auto kShort = make_integer(2, false);
constexpr auto kSample =
    make_compound<16>(member("t_ms", 0, make_integer(4, false)),
                      member("accel", 4, make_array(make_integer(2, true), 3U)), member("temp_c", 12, make_float(4)));

}  // namespace

void write_logs(const std::string& folder, const Variant& variant) {
    // A chunk cache with room for one chunk buffer only.
    Options options = variant.options();
    options.chunk_cache = 1024;
    Session file(folder + "/logs" + variant.suffix(), options);
    file.group("/flight");
    for (const std::uint32_t chunk : {1U, 2U, 3U, 16U, 64U}) {
        for (const std::uint64_t step : {1U, 5U, 64U, 1000U}) {
            const std::string name = "/flight/c" + std::to_string(chunk) + "_s" + std::to_string(step);
            DatasetCreate create;
            create.chunk = {chunk};
            create.reserve = step == 5 ? 0 : 65536;
            file.dataset(name, kSample, Dataspace::unlimited(), create);
            file.append(name, 700, step, step == 1 ? 10 : 1);
        }
    }
    // Append to two logs in turn.
    for (int i = 0; i < 40; ++i) {
        file.append("/flight/c16_s1", 5);
        file.append("/flight/c64_s5", 3);
        file.flush();
    }
    file.attribute("/flight", "rows", kCount, Dataspace::scalar());
    file.close();
}

void write_long_log(const std::string& folder, const Variant& variant) {
    Options options = variant.options();
    options.chunk_cache = 64;
    Session file(folder + "/long" + variant.suffix(), options);
    DatasetCreate create;
    create.chunk = {1};
    // 45,000 chunks: the extensible array has data blocks, super blocks and pages.
    file.dataset("/single_rows", kShort, Dataspace::unlimited(), create);
    file.append("/single_rows", 45000, 1, 5000);
    create.reserve = 0;
    create.chunk = {2};
    file.dataset("/no_reserve", kShort, Dataspace::unlimited(), create);
    file.append("/no_reserve", 20000, 3, 1000);
    create.filters = {filters::fletcher32};
    file.dataset("/filtered", kShort, Dataspace::unlimited(), create);
    file.append("/filtered", 20000, 7, 1000);
    file.close();
}

void write_sessions(const std::string& folder, const Variant& variant) {
    Options options = variant.options();
    options.chunk_cache = 1024;
    Session file(folder + "/sessions" + variant.suffix(), options);
    DatasetCreate create;
    create.chunk = {64};
    file.group("/log", true);
    file.dataset("/log/imu", kSample, Dataspace::unlimited(), create);
    create.filters = {filters::shuffle, filters::deflate};
    file.dataset("/log/packed", kSample, Dataspace::unlimited(), create);
    for (int session = 0; session < 12; ++session) {
        const std::string name = std::to_string(session);
        file.append("/log/imu", 37, 1, 7);
        file.append("/log/packed", 51, 4, 5);
        file.attribute("/log", "session" + name, kCount, Dataspace::scalar());
        file.attribute("/log/imu", "last", kDouble, Dataspace::scalar());
        file.group("/log/s" + name);
        file.dataset("/log/s" + name + "/extra", kShort, Dataspace::simple({3}));
        file.fill("/log/s" + name + "/extra");
        file.softlink("/log/latest" + name, "/log/s" + name);
        file.reopen();
    }
    file.close();
}

// Writes the storage as a power cut leaves it: its state after a flush and some more rows, without close().
void write_unclosed(const std::string& folder, const Variant& variant) {
    for (const bool filtered : {false, true}) {
        const std::string name = folder + (filtered ? "/unclosed_filtered" : "/unclosed") + variant.suffix();
        Options options = variant.options();
        options.chunk_cache = 1024;
        Session file(name, options);
        DatasetCreate create;
        create.chunk = {16};
        if (filtered) {
            create.filters = {filters::shuffle, filters::deflate};
        }
        file.group("/g");
        file.dataset("/g/log", kSample, Dataspace::unlimited(), create);
        file.append("/g/log", 1005, 1, 100);
        file.attribute("/g", "a", kShort, Dataspace::scalar());
        file.flush();
        const Sidecar flushed = file.sidecar();
        Dataset dataset = file.open("/g/log");
        const Blob more = file.random().elements(kSample, 75);
        file.need(dataset.append_records(more.data(), 75), "append to", "/g/log");
        file.snapshot(name + ".cut.h5", flushed);
        file.need(dataset.close(), "close", "/g/log");
        Entry& entry = file.sidecar().at("/g/log");
        Blob clean = more;
        clear_gaps(kSample, clean);
        entry.data.insert(entry.data.end(), clean.begin(), clean.end());
        entry.fields["shape"] = "1080";
        file.close();
    }
}

}  // namespace h5mote_interop
