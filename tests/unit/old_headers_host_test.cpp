// Object headers of version 1, as libhdf5 writes them by default, are changed: attributes and comments come and go, in
// files with superblocks of version 0 and 1 and behind user blocks.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include "byte_order.hpp"
#include "hdf5_image.hpp"
#include "recording_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;
using Values = std::vector<std::uint16_t>;
using Attributes = std::map<std::string, Values>;

struct Made {
    unsigned superblock = 0;  // version
    hsize_t user_block = 0;
    unsigned pad = 0;  // bytes of the attributes that the objects have from the start
};

// A file of the oldest versions with the objects "group", "dataset" and "type".
Image made_by_libhdf5(const Made& made) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_userblock(create, made.user_block);
    if (made.superblock == 1) {
        H5Pset_istore_k(create, 20);
    }
    const std::string name = "old_headers.h5";
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose);
        EXPECT_GE(file, 0);
        const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        const Hdf5Id type(H5Tcopy(H5T_STD_I32LE), H5Tclose);
        EXPECT_GE(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
        const hsize_t size = 8;
        const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Hdf5Id dataset(H5Dcreate2(file, "dataset", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        const int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), 0);
        const hsize_t pad = made.pad;
        const Hdf5Id bytes(H5Screate_simple(1, &pad, nullptr), H5Sclose);
        for (const hid_t object : {hid_t(group), hid_t(dataset)}) {
            const Hdf5Id kept(H5Acreate2(object, "kept", H5T_STD_U8LE, bytes, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            EXPECT_GE(kept, 0);
        }
    }
    return take_file(name);
}

// The object's attributes but for "kept", as libhdf5 reads them. false: it cannot.
bool attributes_by_libhdf5(hid_t file, const char* path, Attributes& attributes) {
    attributes.clear();
    const Hdf5Id object(H5Oopen(file, path, H5P_DEFAULT), H5Oclose);
    H5O_info_t info;
    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS | H5O_INFO_BASIC) < 0) {
        return false;
    }
    for (hsize_t i = 0; i < info.num_attrs; ++i) {
        const Hdf5Id attribute(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
        char name[64];
        if (attribute < 0 || H5Aget_name(attribute, sizeof name, name) < 0) {
            return false;
        }
        const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
        Values values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) + 1);
        if (std::string(name) != "kept") {
            if (H5Aread(attribute, H5T_NATIVE_USHORT, values.data()) < 0) {
                return false;
            }
            values.pop_back();
            attributes[name] = values;
        }
    }
    int numbers[8] = {};
    const Hdf5Id dataset(H5Dopen2(file, "dataset", H5P_DEFAULT), H5Dclose);
    return H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0 && numbers[7] == 8;
}

// Whether the prefix of the version 1 header at `address` has the number of messages that all its blocks have.
bool counts_its_messages(ConstBytes file, haddr_t address) {
    const auto at = [&](std::uint64_t offset) { return file.data() + offset; };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks{
        {address + 16, load_le<std::uint32_t>(at(address + 8))}};
    unsigned messages = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::uint64_t end = blocks[i].first + blocks[i].second;
        for (std::uint64_t head = blocks[i].first; head < end; head += 8U + load_le<std::uint16_t>(at(head + 2))) {
            ++messages;
            if (load_le<std::uint16_t>(at(head)) == 0x10) {
                blocks.emplace_back(load_le<std::uint64_t>(at(head + 8)), load_le<std::uint64_t>(at(head + 16)));
            }
        }
    }
    return *at(address) == std::byte{1} && load_le<std::uint16_t>(at(address + 2)) == messages;
}

// Our side: the file, opened for changes, and what its objects should have.
class Ours {
public:
    Ours(const Image& image, unsigned seed) : filled_(driver_.assign({image.data(), image.size()})), random_(seed) {
        EXPECT_EQ(filled_, Status::ok);
        open();
    }

    void open() {
        FileAccess access;
        access.metadata_cache = 4096;
        auto opened = File::open(library_, recorder_, access);
        ASSERT_EQ(opened.status(), Status::ok);
        file_ = static_cast<File&&>(*opened);
    }
    void close() {
        const Findings findings = findings_in(file_);
        EXPECT_TRUE(findings.none()) << "problem " << findings.last_kind << " at " << findings.last_address;
        ASSERT_EQ(file_.close(), Status::ok);
    }
    void flush() { ASSERT_EQ(file_.flush(), Status::ok); }

    // One change of one object.
    void change() {
        const char* const path = kPaths[random_() % 3];
        Attributes& known = attributes[path];
        auto object = file_.root().open_object(path);
        ASSERT_EQ(object.status(), Status::ok);
        const std::string name = "name" + std::to_string(random_() % 6);
        const bool exists = known.count(name) != 0;
        switch (random_() % 5) {
            case 0: {
                EXPECT_EQ(object->remove_attribute(name), exists ? Status::ok : Status::not_found);
                known.erase(name);
                break;
            }
            case 1: {
                const std::string other = "renamed" + std::to_string(random_() % 3);
                const Status expected = known.count(other) != 0 ? Status::already_exists
                                        : exists                ? Status::ok
                                                                : Status::not_found;
                EXPECT_EQ(object->rename_attribute(name, other), expected);
                if (expected == Status::ok) {
                    known[other] = known[name];
                    known.erase(name);
                }
                break;
            }
            case 2:
                EXPECT_EQ(object->set_comment(std::string(random_() % 40, 'c')), Status::ok);
                break;
            default: {
                Values values(1 + random_() % 60);
                for (std::uint16_t& each : values) {
                    each = static_cast<std::uint16_t>(random_());
                }
                const std::uint64_t size = values.size();
                const Dataspace space = Dataspace::simple({&size, 1});
                const ConstBytes data{reinterpret_cast<const std::byte*>(values.data()), 2 * values.size()};
                const DatatypeView type = file_type_of<std::uint16_t>();
                EXPECT_EQ(exists ? object->replace_attribute(name, type, space, data)
                                 : object->write_attribute(name, type, space, data),
                          Status::ok)
                    << path << " " << name << " " << size << " " << trail();
                known[name] = values;
            }
        }
    }
    void compare() {
        const Image now = image(recorder_.operations().size());
        const Hdf5Id file = open_image({now.data(), now.size()});
        ASSERT_GE(file, 0);
        for (const char* const path : kPaths) {
            Attributes found;
            ASSERT_TRUE(attributes_by_libhdf5(file, path, found)) << path;
            EXPECT_EQ(found, attributes[path]) << path;
            H5O_info_t info;
            ASSERT_GE(H5Oget_info_by_name2(file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
            EXPECT_TRUE(counts_its_messages({now.data() + user_block, now.size() - user_block}, info.addr)) << path;
        }
    }
    Image image(std::size_t operations) const { return recorder_.image(operations); }
    RecordingDriver& recorder() { return recorder_; }

    std::string trail() {
        struct Lines final : public LineSink {
            void line(std::string_view text) noexcept override { all += std::string(text) + "\n"; }
            std::string all;
        } lines;
        print_trail(library_, lines);
        return lines.all;
    }

    static constexpr const char* kPaths[3] = {"group", "dataset", "type"};
    std::map<std::string, Attributes> attributes;
    std::size_t user_block = 0;

private:
    MallocAllocator memory_;
    NullPort port_;
    Library library_{memory_, port_, {}, formats::all};
    GrowingMemoryDriver driver_{memory_};
    Status filled_;
    RecordingDriver recorder_{driver_};
    File file_;
    std::mt19937 random_;
};

TEST(OldHeaders, AttributesComeAndGo) {
    unsigned seed = 0;
    for (const Made& made : {Made{0, 0, 10}, Made{1, 0, 300}, Made{0, 512, 50}, Made{1, 2048, 10}}) {
        Ours ours(made_by_libhdf5(made), ++seed);
        ours.user_block = made.user_block;
        for (unsigned session = 0; session < 6; ++session) {
            for (unsigned i = 0; i < 30; ++i) {
                ours.change();
                ASSERT_FALSE(HasFatalFailure());
            }
            ours.close();
            ours.compare();
            ours.open();
            ASSERT_FALSE(HasFailure()) << "superblock " << made.superblock << ", session " << session;
        }
        ours.close();
    }
}

// The power fails at every write, also within one: what the last flush covered is there, whatever was being changed.
TEST(OldHeaders, CutsLoseNothing) {
    std::size_t states = 0;
    for (unsigned seed = 0; seed < 80; seed += static_cast<unsigned>(sweep_step())) {
        Ours ours(made_by_libhdf5({0, 0, 8 * seed}), seed);
        for (unsigned i = 0; i < 12; ++i) {
            const auto before = ours.attributes;
            const std::size_t from = ours.recorder().operations().size();
            ours.change();
            ours.flush();
            ASSERT_FALSE(HasFailure()) << "seed " << seed;
            const auto look = [&](const Image& image) {
                ++states;
                const Hdf5Id file = open_image({image.data(), image.size()});
                ASSERT_GE(file, 0);
                for (const char* const path : Ours::kPaths) {
                    Attributes found;
                    ASSERT_TRUE(attributes_by_libhdf5(file, path, found));
                    EXPECT_TRUE(found == before.at(path) || found == ours.attributes.at(path)) << path;
                }
            };
            for (const char* const path : Ours::kPaths) {
                (void)ours.attributes[path];
            }
            for (std::size_t at = from; i > 0 && at < ours.recorder().operations().size(); ++at) {
                look(ours.image(at));
                for (const std::size_t length : ours.recorder().tears(at, 512)) {
                    look(ours.recorder().image_torn(at, length));
                }
                ASSERT_FALSE(HasFailure()) << "seed " << seed << ", change " << i << ", operation " << at;
            }
        }
    }
    EXPECT_GT(states, sweep_step() == 1 ? 2000U : 0U);
    RecordProperty("states", static_cast<int>(states));
}

// A user block of zeros is no blank storage.
TEST(OldHeaders, AUserBlockOfZerosIsNotReplaced) {
    for (const hsize_t user_block : {hsize_t{512}, hsize_t{4096}}) {
        const Image image = made_by_libhdf5({0, user_block, 10});
        ASSERT_EQ(image[0], std::byte{0});
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        GrowingMemoryDriver driver{memory};
        ASSERT_EQ(driver.assign({image.data(), image.size()}), Status::ok);
        auto file = File::open_or_create(library, driver);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(file->root().exists("dataset"));
        EXPECT_EQ(file->close(), Status::ok);
    }
}

}  // namespace

#endif
