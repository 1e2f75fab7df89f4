// The works of change_workloads.hpp: which part of each is timed, and how their files are verified.
#include "change_workloads.hpp"
#include "work.hpp"

#include <filesystem>

namespace bench {
namespace {

using Mode = Changing::Mode;

const char* const kTreeFile = "bench_change_tree.h5";
const char* const kObjectsFile = "bench_change_objects.h5";
const char* const kLargeFile = "bench_change_large.h5";
constexpr std::size_t kTexts = 100000;

struct State {
    std::vector<std::unique_ptr<Changing>> libraries;  // h5mote, libhdf5
    std::vector<std::vector<std::int32_t>> steps;
    std::vector<std::string> texts;
    std::vector<const char*> text_pointers;
    bool prepared = false;
};
State state;

std::string path_of(const Changing& library, const std::string& what) {
    return "bench_change_" + what + "_" + library.name() + ".h5";
}

// The seconds of making something in a new file, until all data are with the operating system. Creating the file is not
// counted.
double make(Changing& library, const std::string& what, const std::function<void()>& work) {
    library.open(path_of(library, what), Mode::create);
    return seconds_of([&] {
        work();
        library.close();
    });
}

// The seconds of changing a copy of a file, likewise.
double change(Changing& library, const std::string& what, const char* original, const std::function<void()>& work) {
    const std::string path = path_of(library, what);
    std::filesystem::copy_file(original, path, std::filesystem::copy_options::overwrite_existing);
    library.open(path, Mode::change);
    return seconds_of([&] {
        work();
        library.close();
    });
}

// The seconds of reading, or copying from, a file that has just been opened.
double use(Changing& library, const std::string& path, const std::function<void()>& work) {
    library.open(path, Mode::read);
    const double seconds = seconds_of(work);
    library.close();
    return seconds;
}

double create_datasets(Changing& library) {
    return make(library, "created", [&] { library.create_datasets(); });
}
double insert_links(Changing& library) {
    return make(library, "links", [&] { library.insert_links(); });
}
double look_up_links(Changing& library, const std::string& path) {
    return use(library, path, [&] { expect(library.look_up_links() == kManyLinks, path); });
}
double insert_attributes(Changing& library) {
    return make(library, "attributes", [&] { library.insert_attributes(); });
}
double look_up_attributes(Changing& library, const std::string& path) {
    return use(library, path, [&] { expect(library.look_up_attributes() == kManyAttributes, path); });
}
double grow(Changing& library) {
    return make(library, "grown", [&] { library.grow(state.steps); });
}
double write_strings(Changing& library) {
    return make(library, "strings", [&] { library.write_strings(state.text_pointers); });
}
double delete_objects(Changing& library) {
    return change(library, "deleted", kObjectsFile, [&] { library.delete_objects(); });
}
double copy_within(Changing& library) {
    return change(library, "copied_within", kTreeFile, [&] { library.copy_tree(); });
}
double copy_between(Changing& library) {
    return use(library, kTreeFile, [&] { library.copy_tree(path_of(library, "copied")); });
}
double repack(Changing& library) {
    return use(library, kLargeFile, [&] { library.repack(path_of(library, "repacked")); });
}

std::uint64_t fingerprint(Changing& library, const std::string& path) {
    std::uint64_t sum = 0;
    use(library, path, [&] { sum = library.fingerprint(); });
    return sum;
}

// Each library reads the same values in the files of both.
void verify_equal(const char* what) {
    const std::uint64_t expected = fingerprint(*state.libraries[1], path_of(*state.libraries[1], what));
    for (const auto& reader : state.libraries) {
        for (const auto& writer : state.libraries) {
            expect(fingerprint(*reader, path_of(*writer, what)) == expected, path_of(*writer, what));
        }
    }
}

void verify_strings(Changing& reader, const std::string& path) {
    use(reader, path, [&] { expect(reader.read_strings() == state.texts, path); });
}

// Makes the files that are changed and copied. Lets each library do each work, and the other one read and compare the
// file.
void prepare() {
    state = State();
    state.libraries.push_back(make_h5mote_changing());
    state.libraries.push_back(make_libhdf5_changing());
    for (std::size_t i = 0; i < 2 * kGrowSteps; ++i) {
        state.steps.push_back(grow_values(i));
    }
    for (std::size_t i = 0; i < kTexts; ++i) {
        state.texts.push_back("text " + std::to_string(i * 7919) + std::string(i % 23, 'x'));
    }
    for (const std::string& text : state.texts) {
        state.text_pointers.push_back(text.c_str());
    }
    make_tree_file(kTreeFile);
    make_objects_file(kObjectsFile);
    make_large_file(kLargeFile);
    for (std::size_t i = 0; i < 2; ++i) {
        Changing& writer = *state.libraries[i];
        Changing& reader = *state.libraries[1 - i];
        create_datasets(writer);
        insert_links(writer);
        look_up_links(reader, path_of(writer, "links"));
        insert_attributes(writer);
        look_up_attributes(reader, path_of(writer, "attributes"));
        write_strings(writer);
        verify_strings(reader, path_of(writer, "strings"));
        grow(writer);
        delete_objects(writer);
        copy_within(writer);
        copy_between(writer);
        repack(writer);
    }
    for (const char* what : {"created", "grown", "deleted", "copied_within", "copied", "repacked"}) {
        verify_equal(what);
    }
}

double run_prepared(double (*run)(Changing&), std::size_t library) {
    if (!state.prepared) {
        prepare();
        state.prepared = true;
    }
    return run(*state.libraries[library]);
}

}  // namespace

void add_changes(std::vector<Work>& works) {
    const auto add = [&](const char* name, double (*run)(Changing&)) {
        works.push_back({name, "1.0", [run](std::size_t library) { return run_prepared(run, library); }, true});
    };
    add("create1000.dense", create_datasets);
    add("links.insert", insert_links);
    add("links.look_up", [](Changing& library) { return look_up_links(library, path_of(library, "links")); });
    add("attributes.insert", insert_attributes);
    add("attributes.look_up",
        [](Changing& library) { return look_up_attributes(library, path_of(library, "attributes")); });
    add("grow2d", grow);
    add("strings.write", write_strings);
    add("delete1000", delete_objects);
    add("copy.tree", copy_between);
    add("copy.tree.within", copy_within);
    add("repack.100mb", repack);
}

void finish_changes() { state = State(); }

}  // namespace bench
