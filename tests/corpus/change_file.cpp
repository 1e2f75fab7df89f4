// h5mote_change_file FILE [--undo]: changes a file that others made, in every way that leaves what is in it as it was.
// Each object gets an attribute, which becomes larger, gets another name and goes; each dataset gets the values that it
// has, and if it can grow, it grows and shrinks. A new group of the root group gets attributes until they are dense,
// links, and datasets that are made, grow and go. --undo removes that group.
//
// Prints what is refused, with the error trail; the exit status is the number of such calls, at most 100. That of a
// file that cannot be opened for writing is 101.
#include "../reading/all_filters.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/posix.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace h5mote;

constexpr char kAdded[] = "h5mote added";
constexpr unsigned kMostObjects = 200;
constexpr std::uint64_t kMostBytes = 4 << 20;
constexpr std::uint64_t kMostElements = 1 << 20;

class Printer final : public LineSink {
public:
    void line(std::string_view text) noexcept override {
        std::printf("    %.*s\n", static_cast<int>(text.size()), text.data());
    }
};

class Paths final : public Visitor {
public:
    Status object(std::string_view path, Object& /*object*/) noexcept override {
        if (all.size() < kMostObjects) {
            all.emplace_back(path);
        }
        return Status::ok;
    }
    Status unreadable(std::string_view /*path*/, Status /*why*/) noexcept override { return Status::ok; }
    std::vector<std::string> all;
};

class Changer {
public:
    Changer(Library& library, File& file) : library_(library), file_(file), root_(file.root()) {}

    void change() {
        Paths paths;
        expect("visit", ".", root_.visit(paths));
        for (const std::string& path : paths.all) {
            change_attributes(path);
            change_dataset(path);
        }
        add();
        finish();
    }
    void undo() {
        expect("unlink_tree", kAdded, root_.unlink_tree(kAdded));
        finish();
    }
    int refused() const { return refused_ < 100 ? refused_ : 100; }

private:
    bool expect(const char* call, const std::string& path, Status status) {
        if (status != Status::ok) {
            ++refused_;
            std::printf("%s %s: %s\n", call, path.c_str(), to_string(status));
            Printer printer;
            print_trail(library_, printer);
        }
        library_.trail().clear();
        return status == Status::ok;
    }

    void change_attributes(const std::string& path) {
        auto object = root_.open_object(path);
        if (!expect("open_object", path, object.status())) {
            return;
        }
        const std::vector<double> larger(40, 1.5);
        Status status = object->write_attribute("h5mote new", std::int32_t{7});
        if (status == Status::unsupported) {
            // What lies behind the header may be lost space, of which the header can get some when it is found.
            expect("reclaim", path, file_.reclaim());
            status = object->write_attribute("h5mote new", std::int32_t{7});
        }
        if (expect("write_attribute", path, status) &&
            expect("replace_attribute", path,
                   object->replace_attribute("h5mote new", datatype_of<double>(), Dataspace::simple({40}),
                                             as_bytes(Span<const double>(larger.data(), larger.size())))) &&
            expect("rename_attribute", path, object->rename_attribute("h5mote new", "h5mote other"))) {
            expect("remove_attribute", path, object->remove_attribute("h5mote other"));
        }
    }

    void change_dataset(const std::string& path) {
        ObjectType type = ObjectType::group;
        auto object = root_.open_object(path);
        if (object.status() != Status::ok || object->type(type) != Status::ok || type != ObjectType::dataset) {
            return;
        }
        object->close();
        auto dataset = root_.open_dataset(path);
        DatasetInfo info;
        if (!expect("open_dataset", path, dataset.status()) || !expect("info", path, dataset->info(info))) {
            return;
        }
        // The data of these are in other files, which belong to other tests.
        ExternalFile external;
        if (info.layout == Layout::virtual_dataset || dataset->external_file(0, external, {}) == Status::ok) {
            return;
        }
        Dataspace space;
        expect("dataspace", path, dataset->dataspace(space));
        if (rewrite(path, *dataset, space) && info.layout == Layout::chunked) {
            resize(path, *dataset, space);
        }
    }

    // Whether the dataset is small enough for a test.
    bool rewrite(const std::string& path, Dataset& dataset, const Dataspace& space) {
        std::vector<std::byte> encoded(65536);
        DatatypeView type;
        std::uint64_t count = 0;
        if (!expect("datatype", path, dataset.datatype({encoded.data(), encoded.size()}, type)) ||
            space.element_count(count) != Status::ok || count > kMostElements || count * type.size() > kMostBytes) {
            return false;
        }
        std::vector<std::byte> values(static_cast<std::size_t>(count * type.size()));
        const Bytes bytes{values.data(), values.size()};
        if (dataset.read(Selection::all(), type, bytes) == Status::ok) {
            expect("write", path, dataset.write(Selection::all(), type, bytes));
        }
        library_.trail().clear();
        return true;
    }

    void resize(const std::string& path, Dataset& dataset, const Dataspace& space) {
        std::vector<std::uint64_t> dims(space.dims().begin(), space.dims().end());
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (space.max_dims()[i] > dims[i]) {
                dims[i] += 1;
                if (expect("set_extent, larger", path, dataset.set_extent({dims.data(), dims.size()}))) {
                    dims[i] -= 1;
                    expect("set_extent, smaller", path, dataset.set_extent({dims.data(), dims.size()}));
                } else {
                    dims[i] -= 1;
                }
            }
        }
    }

    void add() {
        auto group = root_.create_group(kAdded);
        if (!expect("create_group", kAdded, group.status())) {
            return;
        }
        for (std::int32_t i = 0; i < 20; ++i) {
            expect("write_attribute", kAdded, group->write_attribute("attribute " + std::to_string(i), i));
        }
        expect("remove_attribute", kAdded, group->remove_attribute("attribute 3"));
        expect("create_soft_link", kAdded, group->create_soft_link("soft", "/"));
        expect("create_hard_link", kAdded, group->create_hard_link("hard", root_));
        expect("unlink", kAdded, group->unlink("hard"));
        expect("set_comment", kAdded, group->set_comment("a comment"));
        DatasetCreate create;
        create.chunk = {4};
        const Dataspace space = Dataspace::unlimited();
        for (const char* name : {"kept", "removed"}) {
            auto rows = group->create_dataset(name, datatype_of<std::int32_t>(), space, create);
            if (expect("create_dataset", name, rows.status())) {
                for (std::int32_t i = 0; i < 30; ++i) {
                    expect("append_records", name, rows->append_records(&i, 1));
                }
            }
        }
        expect("flush", kAdded, file_.flush());
        expect("unlink", kAdded, group->unlink("removed"));
        const std::int32_t whole[] = {1, 2, 3};
        auto plain = group->create_dataset("plain", datatype_of<std::int32_t>(), Dataspace::simple({3}));
        if (expect("create_dataset", "plain", plain.status())) {
            expect(
                "write", "plain",
                plain->write(Selection::all(), datatype_of<std::int32_t>(), as_bytes(Span<const std::int32_t>(whole))));
        }
    }

    void finish() {
        root_.close();
        expect("close", "the file", file_.close());
    }

    Library& library_;
    File& file_;
    Group root_;
    int refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        return 101;
    }
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port, h5mote_test::kAllFilters, formats::all);
    PosixDriver driver;
    const Status status = driver.open(argv[1], PosixDriver::Mode::read_write);
    PosixOpener opener(memory, driver, argv[1]);
    FileAccess access;
    access.metadata_cache = 1 << 20;
    access.chunk_cache = 1 << 22;
    access.opener = &opener;
    if (status != Status::ok) {
        std::printf("%s: %s\n", argv[1], to_string(status));
        return 101;
    }
    auto file = File::open(library, driver, access);
    if (file.status() != Status::ok) {
        std::printf("open %s: %s\n", argv[1], to_string(file.status()));
        Printer printer;
        print_trail(library, printer);
        return 101;
    }
    Changer changer(library, *file);
    if (argc > 2 && std::strcmp(argv[2], "--undo") == 0) {
        changer.undo();
    } else {
        changer.change();
    }
    return changer.refused();
}
