// Space is used again after a call that failed in the middle: what that call has left behind, in the cache or in an
// index of shared messages, must not be taken for what lies there later.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "failing_driver.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace h5mote;
using namespace h5mote_test;

namespace {

using Image = std::vector<std::byte>;

constexpr auto kText = make_variable_string(CharacterSet::utf8);
constexpr auto kNumber = make_integer(4, true);

// A file on a storage that can be made to fail.
class Machine {
public:
    explicit Machine(const Image& image = {}) {
        access_.metadata_cache = 16384;
        access_.low = FormatVersion::earliest;
        EXPECT_EQ(storage_.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
        Result<File> opened =
            image.empty() ? File::create(library, driver, access_) : File::open(library, driver, access_);
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
    }
    void fail(std::uint64_t at, bool persistent) {
        DriverFault fault;
        fault.at = at;
        fault.persistent = persistent;
        driver.arm(fault);
    }
    bool heal() {
        driver.disarm();
        return driver.failures() != 0;
    }
    Status make_dataset(const std::string& name, DatatypeView type) {
        DatasetCreate create;
        create.chunk = {4};
        return file.root().create_dataset(name, type, Dataspace::unlimited(), create).status();
    }
    Image close() {
        EXPECT_EQ(file.close(), Status::ok);
        return image_of(storage_);
    }

private:
    MallocAllocator memory_;
    NullPort port_;
    GrowingMemoryDriver storage_{memory_};
    FileAccess access_;

public:
    FailingDriver driver{storage_};
    Library library{memory_, port_, {}, formats::all};
    File file;
};

Hdf5Id text_type() {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return Hdf5Id(type, H5Tclose);
}

// libhdf5 keeps the first of equal messages in the header of its object, and the index leads there.
Image with_shared_messages(unsigned list) {
    const std::string name = ::testing::TempDir() + "reuse_faults.h5";
    {
        const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_shared_mesg_nindexes(create, 1), 0);
        EXPECT_GE(H5Pset_shared_mesg_index(create, 0, H5O_SHMESG_DTYPE_FLAG | H5O_SHMESG_SDSPACE_FLAG, 1), 0);
        EXPECT_GE(H5Pset_shared_mesg_phase_change(create, list, list == 0 ? 0 : list - 10), 0);
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
        const Hdf5Id type = text_type();
        const hsize_t five = 5;
        const hsize_t six = 6;
        const Hdf5Id space(H5Screate_simple(1, &five, nullptr), H5Sclose);
        const Hdf5Id others(H5Screate_simple(1, &six, nullptr), H5Sclose);
        const Hdf5Id texts(H5Dcreate2(file, "texts", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        const Hdf5Id numbers(H5Dcreate2(file, "numbers", H5T_STD_I32LE, others, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose);
        EXPECT_GE(texts, 0);
        EXPECT_GE(numbers, 0);
    }
    return take_file(name);
}

// libhdf5 makes a dataset of that type.
bool libhdf5_makes(const Image& image, const char* name) {
    const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR, H5F_LIBVER_LATEST);
    const Hdf5Id type = text_type();
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id made(file < 0 ? -1 : H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    return made >= 0;
}

}  // namespace

// The index leads to a message in the header of a dataset that is deleted, and cannot be changed. Nothing else gets the
// space of that header.
TEST(ReuseFaults, SharedMessagesOfADatasetThatGoes) {
    unsigned failed = 0;
    for (const unsigned list : {0U, 50U}) {
        const Image made = with_shared_messages(list);
        for (unsigned form = 0; form < 2; ++form) {
            for (std::uint64_t at = 1;; ++at) {
                SCOPED_TRACE((list == 0 ? "a tree, form " : "a list, form ") + std::to_string(form) + ", call " +
                             std::to_string(at));
                Machine machine(made);
                machine.fail(at, form == 1);
                (void)machine.file.root().unlink("texts");
                if (!machine.heal()) {
                    break;
                }
                ++failed;
                ASSERT_EQ(machine.file.flush(), Status::ok);
                ASSERT_EQ(machine.file.reclaim(), Status::ok);
                // Others take what is free, with bytes that are no object header.
                for (unsigned i = 0; i < 8; ++i) {
                    Group root = machine.file.root();
                    ASSERT_EQ(
                        root.write_attribute("text " + std::to_string(i), std::string_view(std::string(200, 'x'))),
                        Status::ok);
                }
                ASSERT_EQ(machine.make_dataset("more texts", kText), Status::ok);
                const Findings findings = findings_in(machine.file);
                ASSERT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
                ASSERT_TRUE(libhdf5_makes(machine.close(), "theirs"));
            }
        }
    }
    EXPECT_GT(failed, 8U);
}

// A copy fails after the index of a dataset was made, and reclaim() finds its space. Names of links take it then.
TEST(ReuseFaults, BlocksOfACopyThatFailed) {
    unsigned failed = 0;
    for (std::uint64_t at = 1;; ++at) {
        SCOPED_TRACE("call " + std::to_string(at));
        Machine machine;
        Group root = machine.file.root();
        for (const char* const group : {"from", "to"}) {
            ASSERT_EQ(root.create_group(group).status(), Status::ok);
        }
        for (unsigned i = 0; i < 4; ++i) {
            ASSERT_EQ(machine.make_dataset("from/numbers " + std::to_string(i), kNumber), Status::ok);
        }
        ASSERT_EQ(machine.file.flush(), Status::ok);
        machine.fail(at, true);
        const Status status = copy_object(root, "from", root, "to/copy");
        if (!machine.heal()) {
            break;
        }
        failed += status != Status::ok ? 1 : 0;
        ASSERT_EQ(machine.file.reclaim(), Status::ok);
        for (unsigned i = 0; i < 40; ++i) {
            ASSERT_EQ(root.create_soft_link("to/" + std::string(i, 'n') + std::to_string(i), "where it leads"),
                      Status::ok)
                << i;
        }
        const Findings findings = findings_in(machine.file);
        ASSERT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
        root.close();
        const Image image = machine.close();
        ASSERT_TRUE(libhdf5_makes(image, "to/theirs"));
    }
    EXPECT_GT(failed, 8U);
}

#endif
