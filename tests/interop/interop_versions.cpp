// interop_versions LOW HIGH FILE: makes a file with these version bounds (earliest, v18, v110, v112, v114, v200) by the
// calls that versions_h5wasm.mjs makes with libhdf5, for their structures to be compared. Exit code 1 on any error.

#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS

#include <h5mote/encoded_type.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace h5mote;

namespace {

constexpr const Filter* kFilters[] = {&shuffle_filter};
constexpr auto kPair = make_compound<8>(member("a", 0, make_integer(4, true)), member("b", 4, make_integer(4, true)));
constexpr auto kNested = make_compound<12>(
    member("in", 0, make_compound<8>(member("a", 0, make_integer(4, true)), member("b", 4, make_integer(4, true)))),
    member("reference", 8, make_integer(4, true)));
const std::vector<std::byte> kZeros(4096);

bool require(Status status, const char* what) {
    if (status != Status::ok) {
        std::fprintf(stderr, "%s: %s\n", what, to_string(status));
    }
    return status == Status::ok;
}

class Maker {
public:
    explicit Maker(File& file) : root_(file.root()) {}
    bool run() { return groups() && datasets() && types() && references() && many(); }

private:
    bool groups() {
        auto group = root_.create_group("group");
        return require(group.status(), "group") && require(group->create_soft_link("soft", "/group"), "soft") &&
               require(root_.create_hard_link("hard", *group), "hard") &&
               require(root_.create_group("other").status(), "other") &&
               require(root_.create_external_link("elsewhere", "nowhere.h5", "/x"), "elsewhere");
    }
    bool dataset(const char* name, DatatypeView type, const Dataspace& space, DatasetCreate create = {}) {
        create.reserve = 0;
        create.track_times = true;  // as libhdf5, unless it is told otherwise
        auto made = root_.create_dataset(name, type, space, create);
        std::uint64_t count = 1;
        for (unsigned i = 0; i < space.rank(); ++i) {
            count *= space.dims()[i];
        }
        const std::size_t size = static_cast<std::size_t>(count) * type.size();
        return require(made.status(), name) &&
               require(made->write(Selection::all(), type, {kZeros.data(), size}), name);
    }
    bool datasets() {
        const std::uint64_t dims[2] = {6, 6};
        const std::uint64_t most[2] = {12, 12};
        const std::uint64_t endless[2] = {kUnlimited, kUnlimited};
        const DatatypeView type = file_type_of<std::int32_t>();
        bool made = dataset("contiguous", type, Dataspace::simple({dims, 2}));
        for (const bool filtered : {false, true}) {
            DatasetCreate create;
            if (filtered) {
                create.filters = {filters::shuffle};
            }
            const std::string end = filtered ? " filtered" : "";
            create.chunk = {4, 4};
            made = made && dataset(("fixed" + end).c_str(), type, Dataspace::simple({dims, 2}, {most, 2}), create) &&
                   dataset(("two" + end).c_str(), type, Dataspace::simple({dims, 2}, {endless, 2}), create);
            create.chunk = {6, 6};
            made = made && dataset(("single" + end).c_str(), type, Dataspace::simple({dims, 2}), create);
            create.chunk = {4};
            made = made && dataset(("one" + end).c_str(), type, Dataspace::simple({dims, 1}, {endless, 1}), create);
        }
        return made;
    }
    bool types() {
        return dataset("pair", kPair, Dataspace::simple({4})) && dataset("nested", kNested, Dataspace::simple({4})) &&
               require(root_.write_attribute("pair", kPair, Dataspace::simple({4}), {kZeros.data(), 32}), "pair") &&
               require(root_.write_attribute("number", file_type_of<std::int32_t>(), Dataspace::simple({4}),
                                             {kZeros.data(), 16}),
                       "number");
    }
    // Regions of the square dataset: a block, two and more of them.
    bool references() {
        const std::uint64_t dims[2] = {6, 6};
        const Dataspace space = Dataspace::simple({dims, 2});
        const std::uint64_t start[2] = {1, 0};
        const std::uint64_t strides[4][2] = {{1, 1}, {2, 1}, {2, 2}, {2, 2}};
        const std::uint64_t counts[4][2] = {{2, 3}, {2, 3}, {2, 2}, {2, 3}};
        auto target = root_.open_dataset("contiguous");
        std::vector<std::byte> stored(4 * root_.reference_size(ReferenceType::region1));
        bool made = require(target.status(), "target");
        for (unsigned i = 0; made && i < 4; ++i) {
            const std::size_t size = stored.size() / 4;
            const Selection region = Selection::hyperslab({start, 2}, {counts[i], 2}, {strides[i], 2});
            made = require(root_.create_region_reference(ReferenceType::region1, *target, space, region,
                                                         {stored.data() + i * size, size}),
                           "region");
        }
        const auto type = make_reference(ReferenceType::region1);
        DatasetCreate create;
        create.track_times = true;
        auto regions = root_.create_dataset("regions", type, Dataspace::simple({4}), create);
        return made && require(regions.status(), "regions") &&
               require(regions->write(Selection::all(), type, {stored.data(), stored.size()}), "regions");
    }
    // So many links and attributes that they get dense storage, where the bounds allow it.
    bool many() {
        auto crowd = root_.create_group("crowd");
        bool made = require(crowd.status(), "crowd");
        for (int i = 0; made && i < 20; ++i) {
            const std::string name = "n" + std::to_string(i);
            made = require(crowd->create_group(name).status(), name.c_str()) &&
                   require(crowd->write_attribute(name, file_type_of<std::int32_t>(), Dataspace::simple({1}),
                                                  {kZeros.data(), 4}),
                           name.c_str());
        }
        return made;
    }

    Group root_;
};

bool parse(const char* text, FormatVersion& version) {
    static constexpr struct {
        const char* name;
        FormatVersion version;
    } kVersions[] = {{"earliest", FormatVersion::earliest}, {"v18", FormatVersion::v18},
                     {"v110", FormatVersion::v110},         {"v112", FormatVersion::v112},
                     {"v114", FormatVersion::v114},         {"v200", FormatVersion::v200}};
    for (const auto& each : kVersions) {
        if (std::strcmp(each.name, text) == 0) {
            version = each.version;
            return true;
        }
    }
    return false;
}

bool store(ConstBytes image, const char* name) {
    std::FILE* const file = std::fopen(name, "wb");
    if (file == nullptr) {
        return false;
    }
    const bool written = std::fwrite(image.data(), 1, image.size(), file) == image.size();
    return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
    FileAccess access;
    if (argc != 4 || !parse(argv[1], access.low) || !parse(argv[2], access.high)) {
        std::fputs("usage: interop_versions LOW HIGH FILE\n", stderr);
        return 2;
    }
    access.metadata_cache = 65536;
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port, kFilters, formats::all);
    GrowingMemoryDriver driver(memory);
    auto file = File::create(library, driver, access);
    if (!require(file.status(), "file") || !Maker(*file).run() || !require(file->close(), "close")) {
        return 1;
    }
    return store(driver.contents(), argv[3]) ? 0 : 1;
}

#else

int main() { return 77; }

#endif
