// The free space that a file records from one opening to the next: h5mote and libhdf5 take turns on one file.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "hdf5_image.hpp"

#include <gtest/gtest.h>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "sound.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;
using Section = std::pair<std::uint64_t, std::uint64_t>;  // address, size
using Contents = std::map<std::string, std::uint32_t>;    // name, number of rows

struct Row {
    std::uint32_t value;
};
H5MOTE_COMPOUND(Row, value)

struct Sections final : SectionVisitor {
    Status section(Address address, std::uint64_t size) noexcept override {
        all.emplace_back(address, size);
        return Status::ok;
    }
    std::vector<Section> all;
};

std::vector<Section> sorted(std::vector<Section> sections) {
    std::sort(sections.begin(), sections.end());
    return sections;
}

std::uint32_t row_of(const std::string& name, std::uint32_t i) {
    return static_cast<std::uint32_t>(std::hash<std::string>{}(name)) + i * 7919U;
}

class TakingTurns {
public:
    TakingTurns(unsigned seed, const FileCreate& properties) : random_(seed), properties_(properties) {
        access_.metadata_cache = 8192;
    }

    void ours(bool create) {
        Library library{malloc_, port_};
        GrowingMemoryDriver driver{malloc_};
        ASSERT_EQ(driver.assign({image_.data(), image_.size()}), Status::ok);
        auto file = create ? File::create(library, driver, access_, properties_) : File::open(library, driver, access_);
        ASSERT_EQ(file.status(), Status::ok) << to_string(file.status());
        Group root = file->root();
        for (unsigned i = below(4) + 1; i > 0; --i) {
            const std::string name = "m" + std::to_string(made_++);
            const std::uint32_t rows = 1 + below(400);
            DatasetCreate layout;
            layout.chunk = {8U << below(4)};
            auto log = root.create_dataset<Row>(name.c_str(), layout);
            ASSERT_EQ(log.status(), Status::ok);
            for (std::uint32_t row = 0; row < rows; ++row) {
                ASSERT_EQ(log->append(Row{row_of(name, row)}), Status::ok);
            }
            ASSERT_EQ(log->close(), Status::ok);
            contents_[name] = rows;
        }
        for (const std::string& name : victims()) {
            ASSERT_EQ(root.unlink(name.c_str()), Status::ok) << name;
            contents_.erase(name);
            if (below(3) == 0) {
                ASSERT_EQ(file->flush(), Status::ok);
            }
        }
        ASSERT_EQ(file->close(), Status::ok);
        image_ = image_of(driver);
    }

    void theirs(bool create) {
        const std::string name = ::testing::TempDir() + "turns.h5";
        const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        ASSERT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
        if (!create) {
            std::ofstream(name, std::ios::binary)
                .write(reinterpret_cast<const char*>(image_.data()), static_cast<std::streamsize>(image_.size()));
        }
        {
            const Hdf5Id list(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
            ASSERT_GE(H5Pset_file_space_strategy(list, static_cast<H5F_fspace_strategy_t>(properties_.file_space),
                                                 properties_.persist_free_space, properties_.free_space_threshold),
                      0);
            ASSERT_GE(H5Pset_file_space_page_size(list, properties_.page_size), 0);
            const Hdf5Id file(create ? H5Fcreate(name.c_str(), H5F_ACC_TRUNC, list, access)
                                     : H5Fopen(name.c_str(), H5F_ACC_RDWR, access),
                              H5Fclose);
            ASSERT_GE(file, 0);
            for (unsigned i = below(4) + 1; i > 0; --i) {
                const std::string made = "l" + std::to_string(made_++);
                std::vector<std::uint32_t> values(1 + below(400));
                for (std::uint32_t row = 0; row < values.size(); ++row) {
                    values[row] = row_of(made, row);
                }
                const hsize_t size = values.size();
                const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
                const Hdf5Id data(
                    H5Dcreate2(file, made.c_str(), H5T_STD_U32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose);
                ASSERT_GE(H5Dwrite(data, H5T_STD_U32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
                contents_[made] = static_cast<std::uint32_t>(size);
            }
            for (const std::string& victim : victims()) {
                ASSERT_GE(H5Ldelete(file, victim.c_str(), H5P_DEFAULT), 0) << victim;
                contents_.erase(victim);
            }
        }
        image_ = take_file(name);
    }

    /// Compares what h5mote and libhdf5 say of the file's free space, and reads all values.
    void judge() {
        SCOPED_TRACE(std::to_string(image_.size()) + " bytes");
        Library library{malloc_, port_};
        GrowingMemoryDriver driver{malloc_};
        ASSERT_EQ(driver.assign({image_.data(), image_.size()}), Status::ok);
        FileAccess access = access_;
        access.read_only = true;
        auto file = File::open(library, driver, access);
        ASSERT_EQ(file.status(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none());
        FreeSpaceInfo info;
        Sections sections;
        EXPECT_EQ(file->free_space(info, &sections), Status::ok);
        std::uint64_t end = 0;
        for (const Section& each : sorted(sections.all)) {
            EXPECT_GE(each.first, end);
            end = each.first + each.second;
        }
        EXPECT_LE(end, image_.size());
        recorded_ += sections.all.size();

        const Hdf5Id theirs = open_image({image_.data(), image_.size()}, H5F_ACC_RDONLY, H5F_LIBVER_LATEST);
        ASSERT_GE(theirs, 0);
        const ssize_t count = H5Fget_free_sections(theirs, H5FD_MEM_DEFAULT, 0, nullptr);
        ASSERT_EQ(count, static_cast<ssize_t>(sections.all.size()));
        std::vector<H5F_sect_info_t> found(sections.all.size() + 1);
        ASSERT_EQ(H5Fget_free_sections(theirs, H5FD_MEM_DEFAULT, found.size(), found.data()), count);
        std::vector<Section> same;
        for (ssize_t i = 0; i < count; ++i) {
            same.emplace_back(found[static_cast<std::size_t>(i)].addr, found[static_cast<std::size_t>(i)].size);
        }
        EXPECT_EQ(sorted(same), sorted(sections.all));
        EXPECT_EQ(H5Fget_freespace(theirs), static_cast<hssize_t>(info.bytes));
        for (const auto& each : contents_) {
            std::vector<std::uint32_t> values(each.second);
            const Hdf5Id data(H5Dopen2(theirs, each.first.c_str(), H5P_DEFAULT), H5Dclose);
            ASSERT_GE(data, 0) << each.first;
            const Hdf5Id type(each.first[0] == 'm' ? H5Tcreate(H5T_COMPOUND, 4) : H5Tcopy(H5T_STD_U32LE), H5Tclose);
            if (each.first[0] == 'm') {
                H5Tinsert(type, "value", 0, H5T_STD_U32LE);
            }
            ASSERT_GE(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << each.first;
            for (std::uint32_t row = 0; row < each.second; ++row) {
                ASSERT_EQ(values[row], row_of(each.first, row)) << each.first;
            }
        }
        EXPECT_EQ(file->close(), Status::ok);
    }

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::uint64_t recorded() const { return recorded_; }
    std::size_t size() const { return image_.size(); }

private:
    std::vector<std::string> victims() {
        std::vector<std::string> names;
        for (const auto& each : contents_) {
            // With more than eight links libhdf5 changes the group's storage to one that h5mote does not change.
            if (below(3) == 0 || contents_.size() - names.size() > 4) {
                names.push_back(each.first);
            }
        }
        return names;
    }

    std::mt19937 random_;
    FileCreate properties_;
    MallocAllocator malloc_;
    NullPort port_;
    FileAccess access_;
    Image image_;
    Contents contents_;
    unsigned made_ = 0;
    std::uint64_t recorded_ = 0;
};

FileCreate persistent() {
    FileCreate create;
    create.persist_free_space = true;
    return create;
}

}  // namespace

TEST(FreeSpaceRecord, IsTakenOverByEitherLibrary) {
    std::uint64_t recorded = 0;
    for (unsigned seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        FileCreate create = persistent();
        create.free_space_threshold = seed % 4 == 3 ? 200 : 1;
        TakingTurns file(seed, create);
        for (unsigned turn = 0; turn < 20 && !::testing::Test::HasFatalFailure(); ++turn) {
            SCOPED_TRACE(turn);
            if (seed % 3 == 0 || file.below(2) == 0) {
                file.ours(turn == 0);
            } else {
                file.theirs(turn == 0);
            }
            file.judge();
        }
        recorded += file.recorded();
        ASSERT_FALSE(::testing::Test::HasFailure());
    }
    EXPECT_GT(recorded, 1000U);
}

#endif
