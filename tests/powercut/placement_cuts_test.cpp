// Objects of libhdf5 whose header begins at every offset in a sector are changed, and the power fails at every point:
// the object is as before or as after, for libhdf5 as well, and the change can be made again. Most of these headers one
// write can change or cut; those that need formats::any_placement are cut here.
#include "cuts.hpp"
#include "disk_states.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr std::size_t kSector = 512;

// An object "o", as libhdf5 makes it, and a change of it.
struct Made {
    const char* name;
    void (*make)(hid_t file);
    Status (*change)(File& file);
    /// In how many of 512 places the change may be refused.
    unsigned refused;
    /// The header has version 1, and begins at a multiple of 8.
    bool old = false;
    /// What the change returns where the header has to be moved and formats::any_placement is not there.
    Status without = Status::unsupported;
};

class Properties : public Hdf5Id {
public:
    explicit Properties(hid_t of) : Hdf5Id(H5Pcreate(of), H5Pclose) {}
};

void make_dataset(hid_t file, hid_t type, hsize_t rows, const Properties& create, hsize_t most) {
    const Hdf5Id space(H5Screate_simple(1, &rows, &most), H5Sclose);
    const Hdf5Id dataset(H5Dcreate2(file, "o", type, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    const std::vector<unsigned char> bytes(static_cast<std::size_t>(rows) * H5Tget_size(type), 1);
    EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
}

void make_rows(hid_t file, bool times) {
    const Properties create(H5P_DATASET_CREATE);
    const hsize_t chunk = 4;
    EXPECT_GE(H5Pset_chunk(create, 1, &chunk), 0);
    EXPECT_GE(H5Pset_obj_track_times(create, times), 0);
    make_dataset(file, H5T_STD_I32LE, 3, create, H5S_UNLIMITED);
}

Status append(File& file) {
    auto dataset = file.root().open_dataset("o");
    H5MOTE_TRY(dataset.status());
    const std::int32_t row = 7;
    H5MOTE_TRY(dataset->append_records(&row, 1));
    return dataset->close();
}

void make_attributes(hid_t file) {
    const Properties create(H5P_DATASET_CREATE);
    const hsize_t chunk = 4;
    EXPECT_GE(H5Pset_chunk(create, 1, &chunk), 0);
    EXPECT_GE(H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), 0);
    make_dataset(file, H5T_STD_I32LE, 3, create, H5S_UNLIMITED);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    for (const char* name : {"first", "second"}) {
        const Hdf5Id attribute(
            H5Acreate_by_name(file, "o", name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        const int value = 5;
        EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_INT, &value), 0);
    }
}

// A group whose first block, larger than a sector, has all its links.
void make_group(hid_t file) {
    const Properties create(H5P_GROUP_CREATE);
    EXPECT_GE(H5Pset_est_link_info(create, 24, 30), 0);
    EXPECT_GE(H5Pset_link_phase_change(create, 100, 50), 0);
    const Hdf5Id group(H5Gcreate2(file, "o", H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose);
    for (unsigned i = 0; i < 20; ++i) {
        const std::string name = "a link with a rather long name " + std::to_string(i);
        EXPECT_GE(H5Lcreate_soft("/", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
    }
}

Status add_links(File& file) {
    auto group = file.root().open_group("o");
    H5MOTE_TRY(group.status());
    return group->create_soft_link("the new link with a name that is longer than those of the others", "/");
}

#if H5MOTE_ALL_FORMATS
void make_small_group(hid_t file) {
    const Hdf5Id group(H5Gcreate2(file, "o", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    for (const char* name : {"first", "second"}) {
        EXPECT_GE(H5Lcreate_soft("/", group, name, H5P_DEFAULT, H5P_DEFAULT), 0);
    }
}

void make_empty_group(hid_t file) {
    const Hdf5Id group(H5Gcreate2(file, "o", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

void make_type(hid_t file) {
    const Hdf5Id type(H5Tcreate(H5T_COMPOUND, 12), H5Tclose);
    EXPECT_GE(H5Tinsert(type, "t", 0, H5T_STD_U32LE), 0);
    EXPECT_GE(H5Tinsert(type, "value", 4, H5T_IEEE_F64LE), 0);
    EXPECT_GE(H5Tcommit2(file, "o", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
}

Status add_attribute(File& file) {
    auto object = file.root().open_object("o");
    H5MOTE_TRY(object.status());
    return object->write_attribute("new", std::string_view("text"));
}

// A symbol table cannot have such a link: the group gets the storage of newer groups.
Status add_external_link(File& file) {
    auto group = file.root().open_group("o");
    H5MOTE_TRY(group.status());
    return group->create_external_link("new", "other.h5", "/there");
}

// The header is rewritten as a whole when its links or attributes become dense, as these make them, for which a header
// has no room. Of a group that also changes its first message, which says where the links are.
Status add_large_link(File& file) {
    auto group = file.root().open_group("o");
    H5MOTE_TRY(group.status());
    const std::string target(65535, 'x');
    return group->create_soft_link("new", target);
}

Status add_large_attribute(File& file) {
    auto object = file.root().open_object("o");
    H5MOTE_TRY(object.status());
    const std::string text(70000, 'x');
    return object->write_attribute("new", std::string_view(text));
}
#endif

#if H5MOTE_PARTIAL_IO
void make_compact(hid_t file) {
    const Properties create(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_layout(create, H5D_COMPACT), 0);
    make_dataset(file, H5T_STD_U8LE, 1500, create, 1500);
}

constexpr auto kByte = make_integer(1, false);

Status overwrite(File& file) {
    auto dataset = file.root().open_dataset("o");
    H5MOTE_TRY(dataset.status());
    const std::vector<std::byte> bytes(1500, std::byte{2});
    H5MOTE_TRY(dataset->write(Selection::all(), kByte.view(), {bytes.data(), bytes.size()}));
    return dataset->close();
}
#endif

#if H5MOTE_PARTIAL_IO && H5MOTE_FIXED_CHUNKS
constexpr hsize_t kChunks = 9000;

// A dataset of chunks of one byte. The fixed array has 9 pages of 8 KiB each, of which 5 have chunks: few, so that
// libhdf5 reads them quickly.
void make_index(hid_t file) {
    const Properties create(H5P_DATASET_CREATE);
    const hsize_t chunk = 1;
    EXPECT_GE(H5Pset_chunk(create, 1, &chunk), 0);
    const Hdf5Id space(H5Screate_simple(1, &kChunks, nullptr), H5Sclose);
    const Hdf5Id dataset(H5Dcreate2(file, "o", H5T_STD_U8LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
    const hsize_t start = 0;
    const hsize_t stride = 50;
    const hsize_t count = 100;
    EXPECT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, nullptr), 0);
    const std::vector<unsigned char> bytes(kChunks, 1);
    EXPECT_GE(H5Dwrite(dataset, H5T_STD_U8LE, space, space, H5P_DEFAULT, bytes.data()), 0);
}

// Stores one chunk more, whose page has others.
Status add_chunk(File& file) {
    auto dataset = file.root().open_dataset("o");
    H5MOTE_TRY(dataset.status());
    const std::uint64_t start[] = {5000};
    const std::uint64_t count[] = {1};
    const std::byte value{3};
    H5MOTE_TRY(dataset->write(Selection::hyperslab(start, count), kByte.view(), {&value, 1}));
    return dataset->close();
}
#endif

// A file with an object that begins about `pad` bytes later than without. `offset`: of its header in a sector.
Image make_file(const Made& object, std::size_t pad, std::size_t& offset) {
    const Properties access(H5P_FILE_ACCESS);
    EXPECT_GE(H5Pset_libver_bounds(access, object.old ? H5F_LIBVER_EARLIEST : H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    const std::string name = object.name + ("." + std::to_string(getpid()) + ".h5");
    const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const Properties compact(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_layout(compact, H5D_COMPACT), 0);
    const hsize_t size = pad;
    {
        const Hdf5Id bytes(H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Hdf5Id dataset(H5Dcreate2(file, "pad", H5T_NATIVE_UCHAR, bytes, H5P_DEFAULT, compact, H5P_DEFAULT),
                             H5Dclose);
    }
    object.make(file);
    H5O_info_t info{};
    EXPECT_GE(H5Oget_info_by_name(file, "o", &info, H5P_DEFAULT), 0);
    offset = static_cast<std::size_t>(info.addr % kSector);
    EXPECT_GE(H5Fclose(file), 0);
    return take_file(name);
}

// Everything that libhdf5 finds in "o". Begins with "!" if it cannot read something.
std::string described(const Image& image) {
    const Hdf5Id file = open_image({image.data(), image.size()});
    const Hdf5Id object(file < 0 ? -1 : H5Oopen(file, "o", H5P_DEFAULT), H5Oclose);
    if (object < 0) {
        return "! not opened";
    }
    std::string text;
    const auto read_values = [&](hid_t type, hid_t space, auto read) {
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        std::string values(count < 0 ? 0 : static_cast<std::size_t>(count) * H5Tget_size(type), '\0');
        text = (count < 0 || read(values.data()) < 0 ? "! not read " : "") + text + ": " + values;
    };
    if (H5Iget_type(object) == H5I_GROUP) {
        const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
            *static_cast<std::string*>(to) += std::string("link ") + name + "; ";
            return 0;
        };
        if (H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &text) < 0) {
            text = "! links " + text;
        }
    } else if (H5Iget_type(object) == H5I_DATATYPE) {
        text = "type of " + std::to_string(H5Tget_size(object));
    } else {
        const Hdf5Id type(H5Dget_type(object), H5Tclose);
        const Hdf5Id space(H5Dget_space(object), H5Sclose);
        read_values(type, space, [&](void* to) { return H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
    }
    const int count = H5Aget_num_attrs(object);
    text = count < 0 ? "! attributes " + text : text;
    for (int i = 0; i < count; ++i) {
        const Hdf5Id attribute(
            H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose);
        char name[32] = {};
        text = (H5Aget_name(attribute, sizeof name, name) < 0 ? "! attribute " : "") + text + "; attribute " + name;
        const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
        const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
        read_values(type, space, [&](void* to) { return H5Aread(attribute, type, to); });
    }
    return text;
}

// All formats where the build has them: with these, links and attributes become dense, which rewrites a header.
constexpr Formats with_any_placement(bool with) {
    Formats formats = H5MOTE_ALL_FORMATS != 0 ? formats::all : formats::standard;
    formats.any_placement = with ? &formats::any_placement : nullptr;
    return formats;
}
constexpr Formats kWith = with_any_placement(true);
constexpr Formats kWithout = with_any_placement(false);

// A file in memory; what reaches it is recorded.
class Storage {
public:
    Storage(const Image& image, const Formats& formats) : library_(memory_, port_, {}, formats), disk_(memory_) {
        EXPECT_EQ(disk_.assign({image.data(), image.size()}), Status::ok);
    }
    /// Opens the file, changes the object, and closes the file. `flushed`: the operations up to the flush.
    Status change(const Made& object, std::size_t& flushed) {
        auto file = File::open_or_create(library_, recorder_, access());
        H5MOTE_TRY(file.status());
        H5MOTE_TRY(reclaims_ ? file->reclaim() : Status::ok);
        const Status status = object.change(*file);
        const Status stored = file->flush();
        flushed = operations.size();
        const Status closed = file->close();
        return status != Status::ok ? status : stored != Status::ok ? stored : closed;
    }
    /// Adds attributes to the object until its header has several blocks more, replaces and removes some.
    Status grow() {
        auto file = File::open_or_create(library_, recorder_, access());
        H5MOTE_TRY(file.status());
        {
            auto object = file->root().open_object("o");
            H5MOTE_TRY(object.status());
            H5MOTE_TRY(grow(*file, *object));
        }
        return file->close();
    }
    /// The next change is made after what a cut has lost was found.
    void reclaim() { reclaims_ = true; }
    /// What is wrong with the file; empty: nothing.
    std::string problems() {
        auto file = File::open(library_, recorder_);
        if (file.status() != Status::ok) {
            return "not opened; ";
        }
        const bool sound = findings_in(*file).none();
        return sound && file->close() == Status::ok ? "" : "not sound; ";
    }
    Image image() { return Image(disk_.contents().data(), disk_.contents().data() + disk_.contents().size()); }

    std::vector<DiskOperation> operations;

private:
    static FileAccess access() {
        FileAccess access;
        access.metadata_cache = 32768;  // for the largest blocks
        return access;
    }
    static Status grow(File& file, h5mote::Object& object) {
        for (std::int32_t i = 0; i < 30; ++i) {
            const std::string name = "added " + std::to_string(i);
            H5MOTE_TRY(object.write_attribute(name, std::string_view("short")));
            if (i % 3 == 2) {
                H5MOTE_TRY(object.write_attribute(name, std::string_view("a text that is much longer than before")));
                H5MOTE_TRY(object.remove_attribute("added " + std::to_string(i / 2)));
            }
            H5MOTE_TRY(i % 2 == 0 ? file.flush() : Status::ok);
        }
        return Status::ok;
    }

    MallocAllocator memory_;
    NullPort port_;
    Library library_;
    GrowingMemoryDriver disk_;
    DiskRecorder recorder_{disk_, 0, operations};
    bool reclaims_ = false;
};

// Cuts the power everywhere while the object is changed, and then changes it again.
void cut(const Made& object, const Image& image, Tally& tally, std::size_t offset, const Formats& formats = kWith) {
    const std::string before = described(image);
    Storage storage(image, formats);
    std::size_t flushed = 0;
    EXPECT_EQ(storage.change(object, flushed), Status::ok) << object.name << " at " << offset;
    const std::string after = described(storage.image());
    // Where a rule is left out, the file may be damaged even without a cut.
    if (after == before || after[0] == '!' || !storage.problems().empty()) {
        tally.lost(object.name + (" at " + std::to_string(offset)) + " after the change: " + after);
        return;
    }
    // Only builds with all formats add attributes where the order of their creation is kept.
    if (formats.any_placement != nullptr && (H5MOTE_ALL_FORMATS != 0 || object.make != &make_attributes)) {
        EXPECT_EQ(storage.problems(), "");
        Storage grown(storage.image(), formats);
        EXPECT_EQ(grown.grow(), Status::ok) << object.name << " at " << offset;
        const std::string found = described(grown.image());
        EXPECT_TRUE(found[0] != '!' && grown.problems().empty() && found.find("added 29") != std::string::npos)
            << found;
    }
    const auto check = [&](const Disks& disks, std::size_t operations, const char* what, std::size_t number) {
        if (!tally.is_new(hash_of({disks[0].data(), disks[0].size()}, operations >= flushed))) {
            return;
        }
        tally.cut(true);
        const std::string now = described(disks[0]);
        Storage left(disks[0], formats);
        std::string bad = left.problems();
        bad += now == after || (now == before && operations < flushed) ? "" : "libhdf5 finds " + now.substr(0, 300);
        if (bad.empty() && now == before) {
            std::size_t done = 0;
            Status status = left.change(object, done);
            // Between two steps, what the header needs may be lost.
            if (status == Status::unsupported && object.old) {
                left.reclaim();
                status = left.change(object, done);
            }
            bad += status == Status::ok ? "" : "cannot be changed; ";
            bad += described(left.image()) == after ? left.problems() : "afterwards other values";
        }
        if (!bad.empty()) {
            tally.lost(object.name + (" at " + std::to_string(offset)) + ", cut after " + std::to_string(operations) +
                       ", " + what + " " + std::to_string(number) + ": " + bad);
        }
    };
    DiskStates states({image}, storage.operations, check);
    states.random_subsets = image.size() > 65536 ? 20 : 200;
    states.enough = [&] { return tally.enough(); };
    states.run();
}

void sweep(const Made& object, std::size_t floor) {
    Tally tally(std::string("placement-") + object.name);
    std::set<std::size_t> offsets;
    unsigned moved = 0;
    unsigned refused = 0;
    for (std::size_t pad = 1; offsets.size() < kSector && pad < 3 * kSector && !tally.enough(); ++pad) {
        std::size_t offset = 0;
        const Image image = make_file(object, pad, offset);
        std::size_t flushed = 0;
        if (!offsets.insert(offset).second) {
            continue;
        }
        const Status without = Storage(image, kWithout).change(object, flushed);
        if (without == Status::ok) {
            continue;
        }
        EXPECT_EQ(without, object.without);
        Storage storage(image, kWith);
        const Status status = storage.change(object, flushed);
        if (status == Status::unsupported) {
            EXPECT_TRUE(storage.image() == image);
            ++refused;
        } else {
            ++moved;
            cut(object, image, tally, offset);
        }
    }
    std::printf("%zu offsets: %u moved, %u refused\n", offsets.size(), moved, refused);
    if (!expects_losses()) {
        EXPECT_EQ(offsets.size(), object.old ? kSector / 8 : kSector);
        EXPECT_LE(refused, object.refused);
    }
    tally.report(floor);
}

TEST(PlacementCuts, Rows) {
    sweep({"rows", [](hid_t file) { make_rows(file, false); }, &append, 0}, 100);
}
TEST(PlacementCuts, RowsWithTimes) {
    sweep({"rows-times", [](hid_t file) { make_rows(file, true); }, &append, 0}, 100);
}
TEST(PlacementCuts, Attributes) { sweep({"attributes", &make_attributes, &append, 0}, 100); }
// One header begins with a message whose head crosses the end of a sector. Only builds with all formats keep it there.
TEST(PlacementCuts, LargeGroup) { sweep({"group", &make_group, &add_links, H5MOTE_ALL_FORMATS != 0 ? 0U : 1U}, 100); }
#if H5MOTE_PARTIAL_IO
TEST(PlacementCuts, CompactData) { sweep({"compact", &make_compact, &overwrite, 0}, 100); }
#endif

#if H5MOTE_ALL_FORMATS
TEST(PlacementCuts, DenseLinks) {
    sweep({"dense-links", &make_small_group, &add_large_link, 0, false, Status::over_budget}, 100);
}
TEST(PlacementCuts, DenseAttributes) {
    sweep({"dense-attributes", [](hid_t file) { make_rows(file, true); }, &add_large_attribute, 0}, 100);
}
// One message fills the header of a committed datatype; where it crosses the end of a sector, nothing can be added.
// Such a header is refused, and none is moved, so that there is nothing to cut.
TEST(PlacementCuts, CommittedDatatype) { sweep({"datatype", &make_type, &add_attribute, 23}, 0); }
#endif

#if H5MOTE_PARTIAL_IO && H5MOTE_ALL_FORMATS
TEST(PlacementCuts, OldCompactData) { sweep({"old-compact", &make_compact, &overwrite, 0, true}, 300); }
#endif

#if H5MOTE_ALL_FORMATS
// One message fills the header of a group with a symbol table. It gets room where the root of the group's B-tree was.
TEST(PlacementCuts, OldGroupAttribute) {
    sweep({"old-group-attribute", &make_small_group, &add_attribute, 0, true}, 30);
}
TEST(PlacementCuts, OldGroupLink) { sweep({"old-group-link", &make_small_group, &add_links, 0, true}, 60); }
TEST(PlacementCuts, OldGroupFirstLink) { sweep({"old-group-first", &make_empty_group, &add_links, 0, true}, 60); }
TEST(PlacementCuts, OldGroupConverted) {
    sweep({"old-group-converted", &make_small_group, &add_external_link, 0, true}, 80);
}
TEST(PlacementCuts, OldCommittedDatatype) { sweep({"old-datatype", &make_type, &add_attribute, 2, true}, 0); }
#endif

#if H5MOTE_PARTIAL_IO && H5MOTE_FIXED_CHUNKS
// An index of more than 64 KiB is changed in a copy. Without formats::any_placement it is changed in place, where a cut
// can tear one of its pages.
TEST(PlacementCuts, LargeIndex) {
    const Made object{"index", &make_index, &add_chunk, 0};
    std::size_t offset = 0;
    const Image image = make_file(object, 1, offset);
    Tally tally("placement-index");
    cut(object, image, tally, offset);
    tally.report(100);
    // Few of the cuts tear a page, and among those of a sample there may be none.
    if (!expects_losses() && std::getenv("H5MOTE_POWERCUT_ONE_IN") == nullptr) {
        Tally in_place("placement-index-in-place");
        cut(object, image, in_place, offset, kWithout);
        EXPECT_GT(in_place.losses(), 0U);
    }
}
#endif

}  // namespace
