// Object headers that exceed the metadata cache, so that they are read in pieces, while memory and storage fail: what
// cannot be read is reported and never taken for missing.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "faulty_files.hpp"

#include <h5mote/named_datatype.hpp>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Seen = std::vector<std::uint64_t>;

constexpr char kFile[] = "large.h5";
constexpr unsigned kLinks = 60;
constexpr unsigned kCounted = 40;

// Names of many lengths, so that links begin and end anywhere in a piece.
std::string name_of(unsigned i) { return "link " + std::to_string(i) + std::string(i * 7 % 23, '-'); }

void put_attribute(hid_t object, const char* name, hsize_t size) {
    const std::vector<unsigned char> values(static_cast<std::size_t>(size), 7);
    const Hdf5Id attribute(
        H5Acreate2(object, name, H5T_STD_U8LE, Hdf5Id(simple({size}), H5Sclose), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_UCHAR, values.data()), 0);
}

// "group" has a header of several kilobytes: links, some longer than a piece, an attribute, a comment, a link count.
// "data" has values in the header and a modification time behind them, which old files have as a message.
Image make(H5F_libver_t version) {
    return made(
        [](hid_t file) {
            const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_link_phase_change(list, 5000, 4000), 0);
            EXPECT_GE(H5Pset_est_link_info(list, 100, 40), 0);
            const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
            put_attribute(group, "first", 1000);
            for (unsigned i = 0; i < kLinks; ++i) {
                const std::string target(i % 10 == 4 ? 700 : i % 17, 'x');
                EXPECT_GE(H5Lcreate_soft(("/" + target).c_str(), group, name_of(i).c_str(), H5P_DEFAULT, H5P_DEFAULT),
                          0);
            }
            EXPECT_GE(H5Lcreate_hard(file, "group", file, "again", H5P_DEFAULT, H5P_DEFAULT), 0);
            EXPECT_GE(H5Oset_comment(group, std::string(600, 'c').c_str()), 0);
            const Hdf5Id compact(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_layout(compact, H5D_COMPACT), 0);
            const Hdf5Id data(H5Dcreate2(file, "data", H5T_STD_U8LE, Hdf5Id(simple({2000}), H5Sclose), H5P_DEFAULT,
                                         compact, H5P_DEFAULT),
                              H5Dclose);
            put_attribute(data, "second", 800);
            EXPECT_GE(H5Lcreate_hard(file, "data", file, "data again", H5P_DEFAULT, H5P_DEFAULT), 0);
        },
        H5P_DEFAULT, version);
}

// Groups whose link count is near the end of a piece of the header, in one of them across that end.
Image make_counted() {
    return made(
        [](hid_t file) {
            const Hdf5Id list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
            EXPECT_GE(H5Pset_est_link_info(list, 100, 40), 0);
            for (hsize_t i = 0; i < kCounted; ++i) {
                const std::string name = std::to_string(i);
                const Hdf5Id group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose);
                put_attribute(group, "first", 1000);
                put_attribute(group, "second", 430 + 2 * i);
                EXPECT_GE(H5Lcreate_hard(file, name.c_str(), group, "self", H5P_DEFAULT, H5P_DEFAULT), 0);
            }
        },
        H5P_DEFAULT, H5F_LIBVER_LATEST);
}

using Ask = Status (*)(Group& root, Seen& seen);

Status facts(Group& root, const char* path, Seen& seen) {
    auto object = root.open_object(path);
    H5MOTE_TRY(object.status());
    ObjectInfo info;
    H5MOTE_TRY(object->info(info));
    seen = {info.reference_count, info.has_times ? 1U : 0U, info.change_time, info.header.messages, info.attributes};
    return Status::ok;
}

// Finds a link of "group" by name.
Status find(Group& root, const std::string& name, Seen& seen) {
    Link link;
    const Status status = root.find_link("group/" + name, link);
    seen = {link.target().size()};
    return status;
}

unsigned sweep(const Images& images, Ask ask) {
    FaultyFile file(images, kFile);
    return file.sweep<Seen>([ask](Library& library, FaultyFile& with, Seen& seen) {
        FileAccess access = with.access();
        access.metadata_cache = 700;
        auto opened = File::open(library, with.main, access);
        H5MOTE_TRY(opened.status());
        Group root = opened->root();
        return ask(root, seen);
    });
}

Status attributes(Group& root, const char* path, Seen& seen) {
    auto object = root.open_object(path);
    H5MOTE_TRY(object.status());
    AttributeIterator iterator(*object);
    Attribute attribute;
    Status status;
    while ((status = iterator.next(attribute)) == Status::ok) {
        seen.push_back(attribute.name().size());
    }
    return status == Status::not_found ? Status::ok : status;
}

Status links(Group& root, Seen& seen) {
    auto group = root.open_group("group");
    H5MOTE_TRY(group.status());
    LinkIterator iterator(*group);
    Link link;
    Status status;
    while ((status = iterator.next(link)) == Status::ok) {
        seen.push_back(link.name().size());
    }
    return status == Status::not_found ? Status::ok : status;
}

TEST(LargeHeaderFaults, NothingPassesForWhatIsNotThere) {
    static constexpr Ask kAsks[] = {
        [](Group& root, Seen& seen) { return facts(root, "group", seen); },
        [](Group& root, Seen& seen) { return facts(root, "data", seen); },
        [](Group& root, Seen& seen) {
            auto group = root.open_group("group");
            H5MOTE_TRY(group.status());
            std::uint32_t count = 0;
            H5MOTE_TRY(group->link_count(count));
            seen = {count};
            return Status::ok;
        },
        [](Group& root, Seen& seen) { return attributes(root, "group", seen); },
        [](Group& root, Seen& seen) { return attributes(root, "data", seen); },
        links,
        [](Group& root, Seen& seen) { return find(root, name_of(57), seen); },
        [](Group& root, Seen& seen) { return find(root, name_of(44), seen); },
        [](Group& root, Seen& seen) { return find(root, "none", seen); },
    };
    for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
        const Images images = {{kFile, make(version)}};
        for (std::size_t i = 0; i < std::size(kAsks); ++i) {
            SCOPED_TRACE(i);
            EXPECT_GT(sweep(images, kAsks[i]), 10U);
        }
    }
}

TEST(LargeHeaderFaults, NumbersOfLinksAcrossTheEndOfAPiece) {
    const Images images = {{kFile, make_counted()}};
    const unsigned refused = sweep(images, [](Group& root, Seen& seen) {
        for (unsigned i = 0; i < kCounted; ++i) {
            H5MOTE_TRY(facts(root, std::to_string(i).c_str(), seen));
            EXPECT_EQ(seen[0], 2U) << i;
        }
        return Status::ok;
    });
    EXPECT_GT(refused, kCounted);
}

}  // namespace

#endif
