#include "write.hpp"

#include <h5mote/compound.hpp>

namespace h5mote_interop {

using h5mote::Dataspace;
using h5mote::DatatypeView;

namespace {

constexpr auto kInt = h5mote::make_integer(4, true);
constexpr auto kByte = h5mote::make_integer(1, false);
constexpr auto kDouble = h5mote::make_float(8);
constexpr auto kText = h5mote::make_string(40, h5mote::StringPadding::space_padded);

}  // namespace

void write_empty(const std::string& folder, const Variant& variant) {
    Session file(folder + "/empty" + variant.suffix(), variant.options());
    file.close();
    Options options = variant.options();
    options.create.track_link_order = true;
    Session tracked(folder + "/empty_tracked" + variant.suffix(), options);
    tracked.close();
    Session groups(folder + "/empty_groups" + variant.suffix(), variant.options());
    groups.group("/a");
    groups.group("/b", true);
    groups.dataset("/no_rows", kInt, Dataspace::simple({0}), {});
    h5mote::DatasetCreate create;
    create.chunk = {5, 3};
    groups.dataset("/no_rows_yet", kInt, Dataspace::simple({0, 3}, {h5mote::kUnlimited, 3}), create);
    groups.dataset("/no_columns_yet", kInt, Dataspace::simple({4, 0}, {4, h5mote::kUnlimited}), [] {
        h5mote::DatasetCreate other;
        other.chunk = {2, 7};
        return other;
    }());
    groups.dataset("/null", kInt, Dataspace::null(), {});
    groups.attribute("/a", "null", kInt, Dataspace::null());
    groups.close();
}

void write_groups(const std::string& folder, const Variant& variant) {
    Session file(folder + "/groups" + variant.suffix(), variant.options());
    std::string path;
    for (int i = 0; i < 20; ++i) {
        path += "/level" + std::to_string(i);
        file.group(path);
    }
    file.dataset(path + "/bottom", kInt, Dataspace::simple({3}));
    file.fill(path + "/bottom");
    file.group("/Grüße");
    file.group("/Grüße/日本語");
    file.dataset("/Grüße/日本語/µ", kDouble, Dataspace::scalar());
    file.fill("/Grüße/日本語/µ");
    file.group("/with blank, = and %");
    file.group("/" + std::string(255, 'n'));
    file.group("/" + std::string(300, 'm'));
    // More links than libhdf5 itself would keep in an object header.
    file.group("/forty");
    for (int i = 0; i < 40; ++i) {
        file.group("/forty/g" + std::to_string(i * 7 % 40));
    }
    file.group("/datasets");
    for (int i = 0; i < 30; ++i) {
        const std::string name = "/datasets/d" + std::to_string(i);
        file.dataset(name, kInt, Dataspace::simple({std::uint64_t(i)}));
        if (i > 0) {
            file.fill(name);
        }
    }
    file.close();
}

void write_links(const std::string& folder, const Variant& variant) {
    Options options = variant.options();
    options.create.track_link_order = true;
    Session file(folder + "/links" + variant.suffix(), options);
    file.group("/zulu", true);
    file.group("/alpha");
    file.dataset("/zulu/data", kInt, Dataspace::simple({4}));
    file.fill("/zulu/data");
    file.softlink("/soft", "/zulu/data");
    file.softlink("/dangling", "/no/where");
    file.softlink("/alpha/relative", "../not resolved by anyone");
    file.hardlink("/hard", "/zulu/data");
    file.hardlink("/alpha/group", "/zulu");
    for (const char* name : {"yankee", "bravo", "xray", "charlie", "whiskey", "delta", "victor", "echo", "uniform",
                             "foxtrot", "tango", "golf"}) {
        file.group(std::string("/zulu/") + name);
    }
    file.softlink("/zulu/soft", "/alpha");
    file.hardlink("/zulu/hard", "/zulu/data");
    file.reopen();
    file.group("/zulu/after");
    file.softlink("/zulu/Aafter", std::string(400, 't'));
    for (int i = 0; i < 6; ++i) {
        file.hardlink("/alpha/h" + std::to_string(i), "/zulu/data");
    }
    file.close();
}

// Unlinks objects of every layout and creates others, which reuse their space.
void write_unlinked(const std::string& folder, const Variant& variant) {
    Options options = variant.options();
    options.create.track_link_order = variant.superblock == 3;
    Session file(folder + "/unlinked" + variant.suffix(), options);
    const auto make = [&](const std::string& name, std::uint64_t rows) {
        h5mote::DatasetCreate log;
        log.chunk = {4};
        file.dataset(name + "_log", kInt, Dataspace::simple({0}, {h5mote::kUnlimited}), log);
        file.append(name + "_log", rows, 3, 5);
        h5mote::DatasetCreate grid;
        grid.chunk = {3, 5};
        grid.filters = {h5mote::filters::shuffle, h5mote::filters::fletcher32};
        file.dataset(name + "_grid", kDouble, Dataspace::simple({rows / 4, 7}), grid);
        file.fill(name + "_grid");
        file.dataset(name + "_plain", kDouble, Dataspace::simple({rows}));
        file.fill(name + "_plain");
        file.attribute(name + "_plain", "rows", kInt, Dataspace::simple({9}));
        file.attribute(name + "_log", "text", kText, Dataspace::simple({20}));
    };
    file.group("/keep");
    for (int round = 0; round < 4; ++round) {
        const auto number = static_cast<std::uint64_t>(round);
        const std::string name = "/round" + std::to_string(round * round * 31);
        make(name, 40 + 30 * number);
        file.flush();
        // Rename a dataset: create a second link and remove the first; the object stays.
        file.hardlink("/keep/log" + std::to_string(round), name + "_log");
        file.softlink("/soft", name + "_log");
        file.flush();
        file.unlink("/soft");
        file.unlink("/keep/log" + std::to_string(round));
        file.unlink(name + "_grid");
        if (round % 2 == 0) {
            file.unlink(name + "_log");
            file.flush();
            file.unlink(name + "_plain");
        }
        file.flush();
        if (round == 1) {
            file.reopen();
        }
    }
    file.group("/keep/empty");
    file.unlink("/keep/empty");
    make("/last", 200);
    file.close();
}

void write_attributes(const std::string& folder, const Variant& variant) {
    // A block of an object header has to be in the metadata cache as a whole, and attributes have up to two kilobytes.
    Options options = variant.options();
    options.metadata_cache = 8192;
    Session file(folder + "/attributes" + variant.suffix(), options);
    static constexpr std::uint64_t kLast[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3};
    const std::vector<DatatypeView> types = all_types();
    const Dataspace spaces[] = {Dataspace::scalar(), Dataspace::simple({3}), Dataspace::simple({2, 3}),
                                Dataspace::simple({2, 1, 2}), Dataspace::simple({1, 2, 1, 2})};
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string group = "/types" + std::to_string(i / 10);
        if (i % 10 == 0) {
            file.group(group);
        }
        file.attribute(group, "a" + std::to_string(i), types[i], spaces[i % 5]);
    }
    file.attribute("/", "rank32", kByte, Dataspace::simple(kLast));
    file.attribute("/", "null", kInt, Dataspace::null());
    file.attribute("/", "einheit µ", kText, Dataspace::scalar());
    file.attribute("/", std::string(300, 'l'), kText, Dataspace::scalar());
    // Many attributes in one object header need a chain of continuation blocks; then attributes of several objects in
    // turn.
    file.group("/many");
    file.dataset("/data", kInt, Dataspace::simple({3}));
    file.fill("/data");
    for (int i = 0; i < 60; ++i) {
        file.attribute("/many", "attribute" + std::to_string(i * 37 % 60), kDouble,
                       Dataspace::simple({std::uint64_t(1 + i % 5)}));
    }
    for (int i = 0; i < 12; ++i) {
        file.attribute("/data", "a" + std::to_string(i), kText, Dataspace::scalar());
        file.attribute("/types1", "b" + std::to_string(i), kText, Dataspace::scalar());
    }
    file.flush();
    // Rewrite attributes, remove some, and write others that fit into the gaps.
    for (int i = 0; i < 60; i += 3) {
        file.attribute(
            "/many", "attribute" + std::to_string(i), kDouble,
            parse_space(
                Sidecar::find_attribute(file.sidecar().at("/many"), "attribute" + std::to_string(i))->field("shape"),
                ""));
    }
    for (int i = 1; i < 60; i += 3) {
        file.remove_attribute("/many", "attribute" + std::to_string(i));
    }
    file.flush();
    for (int i = 0; i < 10; ++i) {
        file.attribute("/many", "late" + std::to_string(i), kInt, Dataspace::scalar());
    }
    file.remove_attribute("/data", "a3");
    file.attribute("/data", "a3", kInt, Dataspace::simple({2}));
    file.reopen();
    file.remove_attribute("/data", "a0");
    file.attribute("/data", "after", kByte, Dataspace::simple({500}));
    file.attribute("/data", "a11", kText, Dataspace::scalar());
    file.close();
}

}  // namespace h5mote_interop
