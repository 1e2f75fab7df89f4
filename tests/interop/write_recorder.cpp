// Files of blueprints, as the compiler made them and as recorders filled them. What they are meant to contain follows
// from the tables into which a description is taken apart.

#include "write.hpp"

#include "../recorder/blueprints.hpp"

#include <h5mote/recorder.hpp>
#include <h5mote/vfd/posix.hpp>

#include <algorithm>
#include <functional>

namespace h5mote_interop {

using namespace h5mote;
using namespace h5mote_test;

namespace {

using blueprint::Image;
using blueprint::detail::AttributePart;
using blueprint::detail::Kind;
using blueprint::detail::ObjectPart;

void need(Status status, const char* what) {
    if (status != Status::ok) {
        die("recorder: %s: %s", what, to_string(status));
    }
}

std::string path_of(Span<const ObjectPart> objects, std::size_t object) {
    std::string path;
    for (; object != 0; object = objects[object].parent) {
        path = "/" + std::string(objects[object].name) + path;
    }
    return path.empty() ? "/" : path;
}

Blob values_of(DatatypeView type, ConstBytes bytes) {
    Blob data(bytes.begin(), bytes.end());
    clear_gaps(type, data);
    return data;
}

template <typename Part>
std::string shape_of(const Part& part) {
    return part.rank == 0 ? "scalar"
                          : dims_text(Shape(part.dimensions.begin(),
                                            part.dimensions.begin() + static_cast<std::ptrdiff_t>(part.rank)));
}

// The bytes of the datatype of an attribute: those of its part, with the character set of its text.
Blob type_of(const AttributePart& part) {
    Blob type(part.type.begin(), part.type.end());
    type[1] |= part.is_utf8 ? std::byte{0x10} : std::byte{0};
    return type;
}

template <const auto& Blueprint>
Sidecar sidecar_of() {
    const auto objects = blueprint::detail::span(blueprint::detail::kParts<Blueprint>.objects);
    Sidecar sidecar;
    sidecar.superblock = "2";
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const ObjectPart& part = objects[i];
        Entry& entry = sidecar.add(part.kind == Kind::group ? "group" : "dataset", path_of(objects, i));
        if (Blueprint.options.track_order) {
            entry.fields["attr_order"] = "1";
        }
        if (part.kind == Kind::group) {
            if (Blueprint.options.track_order) {
                entry.fields["track_order"] = "1";
            }
            continue;
        }
        const DatatypeView type(part.type);
        entry.fields["type"] = type_text(type);
        entry.fields["fill_time"] = "ifset";
        if (part.kind == Kind::dataset) {
            entry.fields["shape"] = "0";
            entry.fields["max"] = "inf";
            entry.fields["chunk"] = std::to_string(part.chunk);
            entry.fields["index"] = "extensible_array";
            entry.fields["alloc"] = "incremental";
        } else {
            entry.fields["shape"] = shape_of(part);
            entry.fields["layout"] = part.is_compact ? "compact" : "contiguous";
            entry.fields["alloc"] = part.is_compact ? "early" : "late";
            entry.data = values_of(type, part.value);
        }
    }
    for (const AttributePart& part : blueprint::detail::span(blueprint::detail::kParts<Blueprint>.attributes)) {
        Entry& object = sidecar.at(path_of(objects, part.object));
        object.attributes.emplace_back();
        Entry& entry = object.attributes.back();
        const Blob type = type_of(part);
        entry.kind = "attr";
        entry.path = object.path;
        entry.name = part.name;
        entry.fields["type"] = type_text(DatatypeView({type.data(), type.size()}));
        entry.fields["shape"] = shape_of(part);
        entry.data = values_of(DatatypeView({type.data(), type.size()}), part.value);
    }
    return sidecar;
}

void save(const Sidecar& sidecar, const std::string& path) {
    sidecar.save(path + ".expect");
    Session::written().push_back(path);
}

template <std::size_t I, const auto& Blueprint>
void append(Recorder<Blueprint>& recorder, Sidecar& sidecar, std::uint64_t rows) {
    const auto objects = blueprint::detail::span(blueprint::detail::kParts<Blueprint>.objects);
    std::size_t object = 0;
    for (std::size_t left = I + 1; left > 0;) {
        left -= objects[++object].kind == Kind::dataset ? 1U : 0U;
    }
    Entry& entry = sidecar.at(path_of(objects, object));
    const DatatypeView type(objects[object].type);
    const std::uint64_t first = parse_dims(entry.field("shape"))[0];
    Random random(entry.path + std::to_string(first));
    const Blob data = random.elements(type, rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
        // The program's own row: in this machine's byte order.
        static typename Image<Blueprint>::template Row<I> row;
        std::byte bytes[sizeof row];
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(i * sizeof row), sizeof row, bytes);
        if constexpr (kNativeOrder == ByteOrder::big) {
            blueprint::detail::swap_numbers(objects[object].type.data(), bytes);
        }
        std::memcpy(static_cast<void*>(&row), bytes, sizeof row);
        need(recorder.template append<I>(row), "append");
    }
    Blob clean = data;
    clear_gaps(type, clean);
    entry.data.insert(entry.data.end(), clean.begin(), clean.end());
    entry.summarize = entry.data.size() > 65536;
    entry.fields["shape"] = std::to_string(first + rows);
}

template <const auto& Blueprint, std::size_t... I>
void append_all(Recorder<Blueprint>& recorder, Sidecar& sidecar, std::uint64_t rows, std::index_sequence<I...>) {
    (append<I>(recorder, sidecar, rows + 2 * I), ...);
}

// Opens the file, calls `use` with the recorder, and closes it or lets it lie as after a power cut.
template <const auto& Blueprint>
void session(const std::string& path, bool closes, const std::function<void(Recorder<Blueprint>&)>& use) {
    static Recorder<Blueprint> recorder;
    PosixDriver driver;
    need(driver.open(path.c_str(), PosixDriver::Mode::open_or_create), "open the storage");
    need(recorder.open(driver), "open");
    use(recorder);
    need(recorder.flush(), "flush");
    if (closes) {
        need(recorder.close(), "close");
    } else {
        recorder.abandon();
    }
    need(driver.close(), "close the storage");
}

template <const auto& Blueprint>
void write_one(const std::string& folder, const std::string& name, std::uint64_t rows) {
    using Numbers = std::make_index_sequence<Image<Blueprint>::kDatasets>;
    const std::string path = folder + "/recorder_" + name;
    Sidecar sidecar = sidecar_of<Blueprint>();
    write_file(path + "_new.h5", Image<Blueprint>::bytes());
    save(sidecar, path + "_new.h5");
    std::remove((path + ".h5").c_str());
    for (unsigned i = 0; i < 3; ++i) {
        session<Blueprint>(path + ".h5", i != 1, [&](Recorder<Blueprint>& recorder) {
            append_all(recorder, sidecar, 1 + i * rows, Numbers());
            need(recorder.flush(), "flush");
            append_all(recorder, sidecar, 3, Numbers());
        });
    }
    save(sidecar, path + ".h5");
}

template <int Width, bool Order>
void write_with_settings(const std::string& folder, const std::string& name) {
    constexpr auto& kFile = described::kFlight<Width, Order>;
    const std::string path = folder + "/recorder_" + name + ".h5";
    Sidecar sidecar = sidecar_of<kFile>();
    std::remove(path.c_str());
    session<kFile>(path, true, [&](Recorder<kFile>& recorder) {
        need(recorder.template set<blueprint::setting_number<kFile>("", "serial")>(0x12345678U), "set");
        need(recorder.template set<blueprint::setting_number<kFile>("flight/imu", "gain")>(-2.0F), "set");
        append<blueprint::dataset_number<kFile>("odd")>(recorder, sidecar, 70);
    });
    Sidecar::find_attribute(sidecar.at("/"), "serial")->data = unhex("78563412");
    Sidecar::find_attribute(sidecar.at("/flight/imu"), "gain")->data = unhex("000000c0");
    save(sidecar, path);
}

}  // namespace

void write_recorder(const std::string& folder) {
    write_one<described::kEmpty>(folder, "empty", 0);
    write_one<described::kOne>(folder, "one", 2000);
    write_one<described::kFlight<4, false>>(folder, "flight_a4", 90);
    write_one<described::kFlight<4, true>>(folder, "flight_a4_order", 90);
    write_one<described::kFlight<8, false>>(folder, "flight_a8", 90);
    write_one<described::kFlight<8, true>>(folder, "flight_a8_order", 90);
    write_one<described::kLarge<4, false>>(folder, "large_a4", 60);
    write_one<described::kLarge<8, true>>(folder, "large_a8_order", 60);
    write_one<described::kBytes>(folder, "bytes_a4", 9000);
    write_one<described::kBytes8>(folder, "bytes_a8", 1500);
    write_one<described::kTurns>(folder, "turns", 700);
    write_with_settings<4, true>(folder, "settings_a4");
    write_with_settings<8, false>(folder, "settings_a8");
}

}  // namespace h5mote_interop
