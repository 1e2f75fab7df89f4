#include "others.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>

namespace h5mote_test {

using namespace h5mote;

namespace {

Status append(File& file, const Described& described, Contents& contents, unsigned life, Random& random) {
    const std::size_t which = random.below(described.datasets.size());
    const Described::Dataset& what = described.datasets[which];
    auto dataset = file.root().open_dataset(what.path);
    if (!dataset) {
        return dataset.status();
    }
    // append_records() takes rows as this machine has them; a host has the file's byte order.
    Blob row(what.row);
    for (std::size_t i = 1 + random.below(2 * what.chunk + 3); i > 0; --i) {
        make_row(which, contents.lives[which].size(), life, {row.data(), row.size()});
        H5MOTE_TRY(dataset->append_records(row.data(), 1));
        contents.lives[which].push_back(life);
    }
    contents.least[which] = contents.lives[which].size();
    return Status::ok;
}

Status change(File& file, const Described& described, Contents& contents, unsigned life, Change change,
              Random& random) {
    const std::string name = "added" + std::to_string(life);
    Group root = file.root();
    switch (change) {
        case Change::append:
            return described.datasets.empty() ? Status::ok : append(file, described, contents, life, random);
        case Change::attribute:
            if (!described.datasets.empty() && random.one_in(2)) {
                auto dataset = root.open_dataset(described.datasets[random.below(described.datasets.size())].path);
                return dataset ? dataset->write_attribute(name, 5) : dataset.status();
            }
            return root.write_attribute(name, 7);
        case Change::large:
            return root.write_attribute(name, std::array<std::uint8_t, 600>{});
        case Change::group:
            return root.create_group(name).status();
        case Change::dataset: {
            DatasetCreate create;
            create.chunk = {random.one_in(2) ? 1U : 4U};  // a chunk of four bytes fits in the smallest gap
            auto dataset = root.create_dataset<std::uint32_t>(name, create);
            return dataset ? dataset->append(3U) : dataset.status();
        }
        case Change::remove:
            (void)root.remove_attribute("added" + std::to_string(life - 1));
            return Status::ok;
        case Change::unlink:
            (void)root.unlink("added" + std::to_string(life - 1));
            return Status::ok;
        case Change::set:
            return Status::ok;
    }
    return Status::ok;
}

}  // namespace

std::string change_by_h5mote(Driver& driver, const Described& described, Contents& contents, unsigned life, Change what,
                             Random& random) {
    MallocAllocator allocator;
    NullPort port;
    Library library{allocator, port, {}, formats::rotating};
    FileAccess access;
    access.metadata_cache = 65536;
    access.reclaim = random.one_in(2);
    auto file = File::open(library, driver, access);
    Status status = file ? change(*file, described, contents, life, what, random) : file.status();
    if (file) {
        const Status closed = file->close();
        status = status == Status::ok ? closed : status;
    }
    // What libhdf5 has added may be of a format that the object model does not change: it then leaves the file alone.
    return status == Status::ok || status == Status::unsupported
               ? ""
               : "h5mote's object model: change " + std::to_string(static_cast<unsigned>(what)) + ": " +
                     to_string(status) + "; ";
}

}  // namespace h5mote_test
