// Links and objects are created and removed, and the power fails anywhere in between, losing any of the writes since
// the last sync: objects that stay are whole, those being removed are there or not, and the file is sound.
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "flash_chip.hpp"
#include "recording_driver.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using Image = RecordingDriver::Image;
using Operation = DriverOperation;
constexpr std::size_t kSector = 512;

struct Row {
    std::uint32_t seed;
    std::uint32_t index;
};
H5MOTE_COMPOUND(Row, seed, index)

// A log: the value with which its rows begin, and their number.
struct Log {
    std::uint32_t seed;
    std::uint64_t rows;
    bool operator==(const Log& other) const { return seed == other.seed && rows == other.rows; }
};
using Model = std::map<std::string, Log>;

class Script {
public:
    Script(File& file, bool compact) : file_(file), root_(file.root()), compact_(compact) {}

    // Calls `after` whenever all changes are durable.
    template <typename After>
    void run(After after) {
        after(model);
        for (std::uint32_t round = 0; round < 8; ++round) {
            const std::string name = "log" + std::to_string(round % 3 == 2 ? round * 1000 : round);
            make(name, 10 + 17 * round);
            flush(after);
            if (round % 2 == 1) {
                // Rename a log: it must be found at any time by the old or the new name.
                link("kept" + std::to_string(round), name);
                if (round % 4 == 1) {
                    flush(after);
                }
                unlink(name);
                flush(after);
            } else if (round != 0) {
                // Replace a log by another of the same name.
                unlink(name);
                make(name, 5);
                flush(after);
                unlink(name);
                flush(after);
            }
            if (round == 4) {
                unlink("kept1");
                make("segment", 3);
                flush(after);
            }
        }
    }

    Model model;

private:
    template <typename After>
    void flush(After after) {
        ASSERT_EQ(file_.flush(), Status::ok);
        after(model);
    }
    void make(const std::string& name, std::uint32_t rows) {
        DatasetCreate create;
        create.chunk = {compact_ ? 8U : 1U};
        create.reserve = 64;
        auto log = root_.create_dataset<Row>(name, create);
        ASSERT_EQ(log.status(), Status::ok);
        const std::uint32_t seed = ++seed_;
        for (std::uint32_t i = 0; i < rows; ++i) {
            ASSERT_EQ(log->append({seed, i}), Status::ok);
        }
        ASSERT_EQ(log->write_attribute("seed", seed), Status::ok);
        ASSERT_EQ(log->close(), Status::ok);
        model[name] = {seed, rows};
    }
    void link(const std::string& name, const std::string& target) {
        auto log = root_.open_dataset<Row>(target);
        ASSERT_EQ(log.status(), Status::ok);
        ASSERT_EQ(root_.create_hard_link(name, *log), Status::ok);
        model[name] = model[target];
    }
    void unlink(const std::string& name) {
        ASSERT_EQ(root_.unlink(name), Status::ok);
        model.erase(name);
    }

    File& file_;
    Group root_;
    bool compact_;
    std::uint32_t seed_ = 0;
};

class Sweep {
public:
    explicit Sweep(bool compact) : storage_(memory_), recorder_(storage_) {
        Library library{memory_, port_};
        FileAccess access;
        access.metadata_cache = 4096;
        auto file = File::create(library, recorder_, access);
        EXPECT_EQ(file.status(), Status::ok);
        Script script(*file, compact);
        script.run([&](const Model& model) { known_.push_back({recorder_.operations().size(), model}); });
        final_ = script.model;
        EXPECT_EQ(file->close(), Status::ok);
    }

    void run() {
        const auto& operations = recorder_.operations();
        Image synced;
        Image image;
        std::vector<std::size_t> pending;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            if (operations[i].kind == Operation::Kind::sync) {
                for (std::size_t one = 0; one < pending.size(); ++one) {
                    for (const bool alone : {false, true}) {
                        Image part = synced;
                        for (const std::size_t n : pending) {
                            if ((n == pending[one]) == alone) {
                                RecordingDriver::apply(part, operations[n]);
                            }
                        }
                        check(part, i);
                    }
                }
                synced = image;
                pending.clear();
                continue;
            }
            if (operations[i].kind == Operation::Kind::write) {
                for (const std::size_t length : recorder_.tears(i, kSector)) {
                    Image torn = image;
                    RecordingDriver::apply(torn, operations[i], length);
                    check(torn, i);
                }
            }
            RecordingDriver::apply(image, operations[i]);
            pending.push_back(i);
            check(image, i + 1);
        }
    }

    std::size_t cuts = 0;
    std::size_t lost = 0;

private:
    struct Known {
        std::size_t operations;
        Model model;
    };

    void check(const Image& image, std::size_t operations) {
        // The state of the last flush that returned, and the one after it.
        std::size_t last = known_.size();
        for (std::size_t i = 0; i < known_.size() && known_[i].operations <= operations; ++i) {
            last = i;
        }
        ++cuts;
        if (last == known_.size()) {
            return;  // not created yet
        }
        const Model& before = known_[last].model;
        const Model& after = last + 1 < known_.size() ? known_[last + 1].model : final_;
        const std::string bad = compare(image, before, after);
        if (!bad.empty() && ++lost <= 5) {
            ADD_FAILURE() << "cut after " << operations << " of " << recorder_.operations().size() << ":" << bad;
        }
    }

    std::string compare(const Image& image, const Model& before, const Model& after) {
        GrowingMemoryDriver storage(memory_);
        EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        Library library{memory_, port_};
        auto file = File::open(library, storage);
        if (!file) {
            return " does not open";
        }
        if (const Findings findings = findings_in(*file); !findings.none()) {
            return " problem " + std::to_string(findings.last_kind) + " at " + std::to_string(findings.last_address) +
                   " found by the check";
        }
        std::string bad;
        for (const auto& [name, log] : before) {
            const std::optional<Log> found = read(*file, name);
            const auto later = after.find(name);
            if (later != after.end() && later->second == log && !(found && *found == log)) {
                bad += " " + name + " is lost";
            } else if (found && !(*found == log) && !(later != after.end() && *found == later->second)) {
                bad += " " + name + " is damaged";
            }
        }
        // A log that is renamed must have at least one of its two names.
        for (const auto& [name, log] : before) {
            for (const auto& [other, same] : after) {
                if (same == log && name != other && !read(*file, name) && !read(*file, other)) {
                    bad += " " + name + " is lost on its way to " + other;
                }
            }
        }
        EXPECT_EQ(file->close(), Status::ok);
        return bad;
    }

    static std::optional<Log> read(File& file, const std::string& name) {
        auto log = file.root().open_dataset<Row>(name);
        if (!log) {
            return log.status() == Status::not_found ? std::nullopt : std::optional<Log>(Log{0, 0});
        }
        Log found{0, log->size()};
        EXPECT_EQ(log->read_attribute("seed", found.seed), Status::ok);
        std::vector<Row> rows(static_cast<std::size_t>(found.rows));
        if (log->read(Selection::all(), Span<Row>(rows.data(), rows.size())) != Status::ok) {
            return Log{0, 0};
        }
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            if (rows[i].seed != found.seed || rows[i].index != i) {
                return Log{0, i};
            }
        }
        return found;
    }

    MallocAllocator memory_;
    NullPort port_;
    GrowingMemoryDriver storage_;
    RecordingDriver recorder_;
    std::vector<Known> known_;
    Model final_;
};

TEST(UnlinkPowerCut, ManyChunks) {
    Sweep sweep(false);
    sweep.run();
    std::printf("%zu cuts, %zu lost\n", sweep.cuts, sweep.lost);
    EXPECT_EQ(sweep.lost, 0U);
    EXPECT_GT(sweep.cuts, 1000U);
}
TEST(UnlinkPowerCut, LongChunks) {
    Sweep sweep(true);
    sweep.run();
    std::printf("%zu cuts, %zu lost\n", sweep.cuts, sweep.lost);
    EXPECT_EQ(sweep.lost, 0U);
    EXPECT_GT(sweep.cuts, 400U);
}

#ifdef H5MOTE_TEST_HDF5

// A file that libhdf5 makes in memory.
class Foreign {
public:
    Foreign() : access_(H5Pcreate(H5P_FILE_ACCESS)) {
        H5Pset_libver_bounds(access_, H5F_LIBVER_V110, H5F_LIBVER_V110);
        file = H5Fcreate(kName, H5F_ACC_TRUNC, H5P_DEFAULT, access_);
    }
    ~Foreign() { H5Pclose(access_); }

    void dataset(const char* name, std::vector<hsize_t> most, hsize_t chunk, bool early = false) const {
        const std::vector<hsize_t> dims(most.size(), 40);
        const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data());
        const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
        if (chunk != 0) {
            const std::vector<hsize_t> sizes(most.size(), chunk);
            H5Pset_chunk(create, static_cast<int>(sizes.size()), sizes.data());
        }
        if (early) {
            H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
        }
        const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, create, H5P_DEFAULT);
        std::size_t count = 1;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            count *= 40;
        }
        const std::vector<int> values(count, 7);
        EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
        H5Pclose(create);
        H5Sclose(space);
    }
    void group(const std::string& name) const {
        H5Gclose(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    Image close() {
        H5Fclose(file);
        return take_file(kName);
    }
    // Opens an image with libhdf5 and counts the links of the root group; -1 if an object cannot be read.
    static int open(const Image& image) {
        const Hdf5Id opened = open_image(image);
        if (opened < 0) {
            return -1;
        }
        int links = 0;
        const auto each = [](hid_t group, const char* name, const H5L_info_t*, void* count) -> herr_t {
            ++*static_cast<int*>(count);
            const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
            if (object < 0) {
                return -1;
            }
            int values[1600] = {};
            const bool set = H5Iget_type(object) == H5I_DATASET;
            const herr_t status =
                set ? H5Dread(object, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) : herr_t{0};
            H5Oclose(object);
            return status < 0 || (set && values[39] != 7) ? -1 : 0;
        };
        if (H5Literate(opened, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, each, &links) < 0) {
            links = -1;
        }
        // libhdf5 must be able to continue with the file.
        H5Gclose(H5Gcreate2(opened, "libhdf5 was here", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        return links;
    }

    // Opens an image with libhdf5 and removes a link.
    static bool unlink(const Image& image, const char* name) {
        const Hdf5Id opened = open_image(image);
        return opened >= 0 && H5Ldelete(opened, name, H5P_DEFAULT) >= 0 && H5Fflush(opened, H5F_SCOPE_GLOBAL) >= 0;
    }

    hid_t file;

private:
    static Hdf5Id open_image(const Image& image) {
        return h5mote_test::open_image({image.data(), image.size()}, H5F_ACC_RDWR, H5F_LIBVER_V110);
    }

    static constexpr const char* kName = "unlink_host_test.h5";
    hid_t access_;
};

TEST(Unlink, InFilesOfLibhdf5) {
    Foreign foreign;
    constexpr hsize_t kMore = H5S_UNLIMITED;
    foreign.dataset("plain", {40}, 0);
    foreign.dataset("extensible", {kMore}, 1);
    foreign.dataset("fixed", {40, 40}, 3);
    foreign.dataset("single", {40}, 40);
    foreign.dataset("implicit", {40}, 4, true);
    foreign.dataset("btree", {kMore, kMore}, 5);
    foreign.dataset("stays", {kMore}, 1);
    foreign.group("many");
    for (int i = 0; i < 20; ++i) {
        foreign.group("many/" + std::to_string(i));
    }
    const Image before = foreign.close();

    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    ASSERT_EQ(storage.assign({before.data(), before.size()}), Status::ok);
    Library library{memory, port};
    FileAccess access;
    access.metadata_cache = 16384;
    auto file = File::open(library, storage, access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    const auto refuses = [&](const char* path, Feature feature) {
        EXPECT_EQ(root.unlink(path), Status::unsupported) << path;
        EXPECT_EQ(static_cast<Feature>(library.trail().newest().value), feature) << path;
    };
    refuses("many/7", Feature::dense_links);
    refuses("many", Feature::dense_links);
    ASSERT_EQ(file->flush(), Status::ok);
    const ConstBytes unchanged = storage.contents();
    EXPECT_TRUE(Image(unchanged.begin(), unchanged.end()) == before);

    for (const char* path : {"plain", "extensible", "fixed", "single", "implicit", "btree"}) {
        EXPECT_EQ(root.unlink(path), Status::ok) << path;
        ASSERT_EQ(file->flush(), Status::ok);
        EXPECT_TRUE(findings_in(*file).none()) << path;
    }
    root.close();
    ASSERT_EQ(file->close(), Status::ok);
    const ConstBytes after = storage.contents();
    EXPECT_EQ(foreign.open({after.begin(), after.end()}), 2);
}

// A dataset whose maximum size has no elements must get no chunk index: libhdf5 makes no fixed array without elements,
// and cannot delete one.
TEST(Unlink, OfADatasetForNoElementsByLibhdf5) {
    MallocAllocator memory;
    NullPort port;
    GrowingMemoryDriver storage(memory);
    Library library{memory, port};
    auto file = File::create(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {1, 16};
    for (const AllocationTime allocation : {AllocationTime::early, AllocationTime::incremental}) {
        create.allocation = allocation;
        const char* const name = allocation == AllocationTime::early ? "early" : "incremental";
        auto data =
            file->root().create_dataset(name, datatype_of<std::int32_t>(), Dataspace::simple({0, 3}, {0, 55}), create);
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(data->set_extent({0, 20}), Status::ok);
    }
    ASSERT_EQ(file->close(), Status::ok);
    const ConstBytes made = storage.contents();
    Foreign foreign;
    foreign.close();
    EXPECT_TRUE(foreign.unlink({made.begin(), made.end()}, "early"));
    EXPECT_TRUE(foreign.unlink({made.begin(), made.end()}, "incremental"));
}

#endif

// On a full flash chip, removing a dataset makes room for others.
TEST(Unlink, MakesRoomOnAFullChip) {
    constexpr FlashGeometry kGeometry{24, 4096, 256, 4, 0xff};
    constexpr FlashFormat kFormat{256, 12};
    FlashChip chip(kGeometry, kFormat);
    FlashDriver& driver = chip.driver;
    ASSERT_EQ(driver.format(kFormat), Status::ok);
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port};
    auto file = File::create(library, driver);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {32};
    create.reserve = 1024;
    const auto fill = [&](const char* name, std::uint32_t most) {
        std::uint32_t count = 0;
        auto log = file->root().open_or_create_dataset<Row>(name, create);
        EXPECT_EQ(log.status(), Status::ok);
        std::uint32_t flushed = static_cast<std::uint32_t>(log->size());
        for (Status status = Status::ok; status == Status::ok && count < most;) {
            for (unsigned i = 0; i < 32 && status == Status::ok; ++i) {
                status = log->append({9, static_cast<std::uint32_t>(log->size())});
            }
            status = status == Status::ok ? file->flush() : status;
            EXPECT_TRUE(status == Status::ok || status == Status::no_space) << to_string(status);
            flushed = status == Status::ok ? static_cast<std::uint32_t>(log->size()) : flushed;
            count += 32;
        }
        // Rows for which the chip has no room are lost when the handle is closed; later flushes do not need them.
        const Status closed = log->close();
        EXPECT_TRUE(closed == Status::ok || closed == Status::no_space) << to_string(closed);
        return flushed;
    };
    const std::uint32_t old = fill("old", 2000);
    const std::uint32_t rows = fill("log", 100000);
    EXPECT_GT(old, 1000U);
    EXPECT_LT(rows, 99000U);
    ASSERT_EQ(file->root().unlink("old"), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    const std::uint32_t more = fill("log", 100000);
    EXPECT_GT(more, rows + 1000);
    EXPECT_EQ(file->close(), Status::ok);
    auto again = File::open(library, driver);
    ASSERT_EQ(again.status(), Status::ok);
    EXPECT_TRUE(findings_in(*again).none());
    auto log = again->root().open_dataset<Row>("log");
    ASSERT_EQ(log.status(), Status::ok);
    EXPECT_GE(log->size(), more);
    std::vector<Row> values(static_cast<std::size_t>(log->size()));
    ASSERT_EQ(log->read(Selection::all(), Span<Row>(values.data(), values.size())), Status::ok);
    for (std::uint32_t i = 0; i < more; ++i) {
        ASSERT_EQ(values[i].index, i);
    }
}

// One session keeps three logs and removes the oldest before it creates the next: a chip with room for three logs has
// room for any number of them over time.
TEST(Unlink, RotatingLogsNeverFillAChip) {
    constexpr FlashGeometry kGeometry{64, 4096, 256, 1, 0xff};
    FlashChip chip(kGeometry);
    FlashDriver& driver = chip.driver;
    ASSERT_EQ(driver.format(), Status::ok);
    std::vector<std::uint64_t> memory(64 * 1024 / 8);
    Arena arena({reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
    NullPort port;
    Library library{arena, port};
    auto file = File::create(library, driver);
    ASSERT_EQ(file.status(), Status::ok);
    DatasetCreate create;
    create.chunk = {32};
    std::uint64_t most = 0;
    for (unsigned n = 0; n < 150; ++n) {
        if (n >= 3) {
            ASSERT_EQ(file->root().unlink("log" + std::to_string(n - 3)), Status::ok);
            ASSERT_EQ(file->flush(), Status::ok);
        }
        auto log = file->root().create_dataset<Row>("log" + std::to_string(n), create);
        ASSERT_EQ(log.status(), Status::ok) << n;
        for (std::uint32_t i = 0; i < 2400; ++i) {
            ASSERT_EQ(log->append({n, i}), Status::ok) << n << ' ' << i;
            if (i % 128 == 127) {
                ASSERT_EQ(file->flush(), Status::ok) << n << ' ' << i;
            }
        }
        ASSERT_EQ(log->close(), Status::ok);
        if (n == 10) {
            most = driver.usage().live;
        }
    }
    // The last round needs little more space than the tenth.
    EXPECT_LT(driver.usage().live, most + most / 4);
    for (unsigned n = 147; n < 150; ++n) {
        ASSERT_EQ(file->root().unlink("log" + std::to_string(n)), Status::ok);
    }
    ASSERT_EQ(file->flush(), Status::ok);
    EXPECT_LT(driver.usage().live, most / 4);
    EXPECT_EQ(file->close(), Status::ok);
    EXPECT_EQ(arena.usage().now, 0U);
}

}  // namespace
