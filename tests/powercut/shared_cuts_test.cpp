// Power cuts while objects that share messages are made, changed and deleted, in files that h5mote or libhdf5 made.
// After every cut the file is sound, what a flush covered is there, and libhdf5 deletes one object after the other and
// finds the others as they were: no shared message is counted less than it is used.
#include "cuts.hpp"
#include "disk_machine.hpp"
#include "hdf5_image.hpp"
#include "sound.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/type_builder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr unsigned kTypes = 5;

// Objects by name, as text: the number of the datatype, and the size. Attributes by the name of their object, a slash
// and their own: the number of their datatype.
using Objects = std::map<std::string, std::string>;

std::string described(unsigned type, std::uint64_t size) { return std::to_string(type) + "*" + std::to_string(size); }

void erase(Objects& objects, const std::string& name) {
    objects.erase(name);
    for (auto each = objects.lower_bound(name + "/"); each != objects.end() && each->first.rfind(name + "/", 0) == 0;) {
        each = objects.erase(each);
    }
}
std::vector<std::string> names_of(const Objects& objects) {
    std::vector<std::string> names;
    for (const auto& each : objects) {
        if (each.first.find('/') == std::string::npos) {
            names.push_back(each.first);
        }
    }
    return names;
}

// The names that attributes get, where an object has several.
constexpr const char* kNames[] = {"of", "by", "to", "as"};

struct Step {
    std::size_t operations;
    bool flushed;
    Objects objects;
};

struct Plan {
    bool by_libhdf5 = false;  // who made the file
    std::uint16_t list_max = 3;
    std::uint16_t btree_min = 2;
    std::size_t cache = 4096;
    bool journaled = false;
    int max_compact = -1;      // of attributes, of which objects have several then, in dense storage if they are more
    std::uint32_t least = 11;  // bytes of an attribute that is shared; with kLeast, those with one element are not
};
constexpr std::uint32_t kLeast = 110;

constexpr std::uint16_t kRest =
    SharedKinds::dataspace | SharedKinds::fill_value | SharedKinds::filter_pipeline | SharedKinds::attribute;
struct Indexes {
    explicit Indexes(const Plan& plan) : all{{SharedKinds::datatype, 20}, {kRest, plan.least}} {}
    SharedIndexCreate all[2];
};

std::string member_name(unsigned i) { return "a long name of a member " + std::to_string(i); }

Hdf5Id type_by_libhdf5(unsigned i) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 4);
    EXPECT_GE(H5Tinsert(type, member_name(i).c_str(), 0, H5T_STD_I32LE), 0);
    return Hdf5Id(type, H5Tclose);
}
int number_of(hid_t type) {
    for (unsigned i = 0; i < kTypes; ++i) {
        if (H5Tequal(type, type_by_libhdf5(i)) > 0) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

struct OwnType {
    explicit OwnType(unsigned i) {
        const auto integer = make_integer(4, true);
        EXPECT_EQ(builder.compound(4), Status::ok);
        EXPECT_EQ(builder.member(member_name(i), 0, integer), Status::ok);
    }
    std::byte bytes[100];
    TypeBuilder builder{bytes};
};

Image made_by_libhdf5(const Plan& plan, Objects& objects) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_shared_mesg_nindexes(create, 2);
    const Indexes indexes(plan);
    for (unsigned i = 0; i < 2; ++i) {
        H5Pset_shared_mesg_index(create, i, indexes.all[i].kinds, indexes.all[i].least_size);
    }
    H5Pset_shared_mesg_phase_change(create, plan.list_max, plan.btree_min);
    const std::string name = "shared_cuts." + std::to_string(getpid()) + ".h5";
    {
        const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
        const Hdf5Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const hsize_t chunk = 4;
        H5Pset_chunk(properties, 1, &chunk);
        if (plan.max_compact >= 0) {
            const auto most = static_cast<unsigned>(plan.max_compact);
            H5Pset_attr_phase_change(properties, most, most);
        }
        for (unsigned i = 0; i < 5; ++i) {
            const std::string object = "first" + std::to_string(i);
            const hsize_t size = 4;
            const hsize_t most = H5S_UNLIMITED;
            const Hdf5Id space(H5Screate_simple(1, &size, &most), H5Sclose);
            const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
            const Hdf5Id dataset(
                H5Dcreate2(file, object.c_str(), type_by_libhdf5(i % 3), space, H5P_DEFAULT, properties, H5P_DEFAULT),
                H5Dclose);
            for (unsigned k = 0; k < (plan.max_compact < 0 ? 1 : 3); ++k) {
                const Hdf5Id type = type_by_libhdf5(i % 2);
                const Hdf5Id attribute(H5Acreate2(dataset, kNames[k], type, scalar, H5P_DEFAULT, H5P_DEFAULT),
                                       H5Aclose);
                const std::int32_t value = 7;
                EXPECT_GE(H5Awrite(attribute, type, &value), 0);
                objects.emplace(object + "/" + kNames[k], std::to_string(i % 2));
            }
            objects.emplace(object, described(i % 3, 4));
        }
    }
    return take_file(name);
}

class Workload {
public:
    Workload(const Plan& plan, unsigned seed, const Objects& begin) : plan_(plan), random_(seed), objects_(begin) {}

    void run(Driver& driver, const std::vector<DiskOperation>& operations) {
        operations_ = &operations;
        FileAccess access;
        access.metadata_cache = plan_.cache;
        FileCreate create;
        const Indexes indexes(plan_);
        create.shared_messages = {indexes.all, plan_.list_max, plan_.btree_min};
        Library library(allocator_, port_, {}, formats::all);
        Result<File> opened =
            plan_.by_libhdf5 ? File::open(library, driver, access) : File::create(library, driver, access, create);
        ASSERT_EQ(opened.status(), Status::ok);
        File file = std::move(*opened);
        root_ = file.root();
        flush(file);
        for (const std::size_t aim : {std::size_t{9}, std::size_t{2}, std::size_t{6}, std::size_t{0}, std::size_t{3}}) {
            while (names_of(objects_).size() != aim && !testing::Test::HasFailure()) {
                change(aim);
                if (random(3) == 0) {
                    flush(file);
                }
            }
            flush(file);
        }
        root_ = Group();
        EXPECT_EQ(file.close(), Status::ok);
    }

    std::string judge(const Image& image, Disk& left, std::size_t count) const {
        const std::string bad = by_us(left, count);
        return bad.empty() && !plan_.journaled ? apart([&] { return by_libhdf5(image, count); }) : bad;
    }
    std::size_t flushes_before(std::size_t count) const { return count_flushes(steps_, count); }

private:
    unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
    void note(bool flushed) { steps_.push_back({operations_->size(), flushed, objects_}); }
    void flush(File& file) {
        ASSERT_EQ(file.flush(), Status::ok);
        note(true);
    }
    std::string any() {
        const std::vector<std::string> names = names_of(objects_);
        return names[random(static_cast<unsigned>(names.size()))];
    }
    void change(std::size_t aim) {
        const unsigned choice = random(6);
        if (objects_.empty() || (choice < 4 && names_of(objects_).size() < aim)) {
            make();
        } else if (choice < 4) {
            const std::string name = any();
            ASSERT_EQ(root_.unlink(name), Status::ok);
            erase(objects_, name);
            note(false);
        } else if (plan_.max_compact < 0) {
            alter(any(), choice == 4);
        } else {
            alter_attribute(any());
        }
    }
    void make() {
        const std::string name = "made" + std::to_string(made_++);
        const unsigned type = random(kTypes);
        const std::uint64_t size = 4 + random(2);
        const OwnType stored(type);
        DatasetCreate create;
        const bool grows = random(2) == 0;
        if (grows) {
            create.chunk = {4};
        }
        if (plan_.max_compact >= 0) {
            create.attributes.max_compact = create.attributes.min_dense = static_cast<std::uint16_t>(plan_.max_compact);
            create.attributes.track_order = grows;
        }
        ASSERT_EQ(root_
                      .create_dataset(name, stored.builder.type(),
                                      grows ? Dataspace::unlimited(size) : Dataspace::simple({size}), create)
                      .status(),
                  Status::ok);
        objects_[name] = described(type, size);
        note(false);
        for (unsigned i = 0; plan_.max_compact >= 0 && i < 3; ++i) {
            write_attribute(name, kNames[i]);
        }
    }
    void write_attribute(const std::string& name, const std::string& attribute) {
        const unsigned type = random(plan_.max_compact < 0 ? kTypes : 2);
        const OwnType stored(type);
        const std::vector<std::int32_t> values(plan_.least == kLeast && random(3) != 0 ? 12 : 1, 9);
        const Dataspace space = values.size() == 1 ? Dataspace::scalar() : Dataspace::simple({values.size()});
        Dataset dataset = std::move(*root_.open_dataset(name));
        ASSERT_EQ(dataset.replace_attribute(attribute, stored.builder.type(), space,
                                            {reinterpret_cast<const std::byte*>(values.data()), 4 * values.size()}),
                  Status::ok);
        objects_[name + "/" + attribute] = std::to_string(type);
        note(false);
    }
    void alter_attribute(const std::string& name) {
        const std::string attribute = kNames[random(4)];
        const std::string to = kNames[random(4)];
        const unsigned choice = random(3);
        const auto there = objects_.find(name + "/" + attribute);
        if (there == objects_.end() || choice == 0) {
            write_attribute(name, attribute);
            return;
        }
        Dataset dataset = std::move(*root_.open_dataset(name));
        if (choice == 1 && objects_.count(name + "/" + to) == 0) {
            ASSERT_EQ(dataset.rename_attribute(attribute, to), Status::ok);
            objects_[name + "/" + to] = there->second;
        } else {
            ASSERT_EQ(dataset.remove_attribute(attribute), Status::ok);
        }
        objects_.erase(name + "/" + attribute);
        note(false);
    }
    // Only what others made has dataspaces that are shared and grow.
    void alter(const std::string& name, bool attribute) {
        const std::string before = objects_[name];
        const unsigned type = static_cast<unsigned>(before[0] - '0');
        const std::uint64_t size = std::stoul(before.substr(2));
        if (attribute) {
            write_attribute(name, kNames[0]);
            return;
        }
        if (name[0] == 'f') {
            Dataset dataset = std::move(*root_.open_dataset(name));
            ASSERT_EQ(dataset.set_extent({size + 1}), Status::ok);
            objects_[name] = described(type, size + 1);
        }
        note(false);
    }

    // Whether each object and attribute is as some call has left it since the last flush before `count` operations.
    bool is_allowed(const Objects& found, std::size_t count) const {
        std::size_t from = 0;
        for (std::size_t i = 0; i < steps_.size() && steps_[i].operations <= count; ++i) {
            from = steps_[i].flushed ? i : from;
        }
        std::map<std::string, std::set<std::string>> allowed;
        std::set<std::string> names;
        for (std::size_t i = from; i < steps_.size(); ++i) {
            for (const auto& each : steps_[i].objects) {
                names.insert(each.first);
            }
        }
        for (std::size_t i = from; i < steps_.size(); ++i) {
            for (const std::string& name : names) {
                const auto there = steps_[i].objects.find(name);
                allowed[name].insert(there == steps_[i].objects.end() ? "" : there->second);
            }
            if (steps_[i].operations > count) {
                break;
            }
        }
        for (const auto& [name, states] : allowed) {
            const auto there = found.find(name);
            if (states.count(there == found.end() ? "" : there->second) == 0) {
                return false;
            }
        }
        return std::all_of(found.begin(), found.end(),
                           [&](const auto& each) { return allowed.count(each.first) != 0; });
    }

    static herr_t take_attribute(hid_t dataset, const char* name, const H5A_info_t* /*info*/, void* to) {
        const Hdf5Id opened(H5Aopen(dataset, name, H5P_DEFAULT), H5Aclose);
        const Hdf5Id type(opened < 0 ? -1 : H5Aget_type(opened), H5Tclose);
        const int number = number_of(type);
        auto& place = *static_cast<std::pair<Objects&, std::string>*>(to);
        place.first.emplace(place.second + "/" + name, std::to_string(number));
        return number < 0 ? -1 : 0;
    }
    static bool read(hid_t file, Objects& found) {
        const auto take = [](hid_t group, const char* name, const H5L_info_t*, void* to) -> herr_t {
            const Hdf5Id dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
            const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
            const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
            const int number = number_of(type);
            const hssize_t size = H5Sget_simple_extent_npoints(space);
            if (number < 0 || size < 0) {
                return -1;
            }
            Objects& all = *static_cast<Objects*>(to);
            all.emplace(name, described(static_cast<unsigned>(number), static_cast<std::uint64_t>(size)));
            std::pair<Objects&, std::string> place(all, name);
            hsize_t at = 0;
            return H5Aiterate2(dataset, H5_INDEX_NAME, H5_ITER_INC, &at, take_attribute, &place);
        };
        hsize_t at = 0;
        return H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, &at, take, &found) >= 0;
    }
    // Calls `judge`, and where losses are expected does so in another process: libhdf5 does not survive an attribute
    // that is counted too low.
    template <typename Judge>
    static std::string apart(const Judge& judge) {
        if (std::getenv("H5MOTE_EXPECT_LOSSES") == nullptr) {
            return judge();
        }
        const pid_t child = fork();
        if (child == 0) {
            _exit(judge().empty() ? 0 : 1);
        }
        int result = -1;
        return waitpid(child, &result, 0) == child && result == 0 ? "" : "libhdf5 has lost something; ";
    }
    std::string by_libhdf5(const Image& image, std::size_t count) const {
        Objects found;
        const Hdf5Id file = open_image({image.data(), image.size()}, H5F_ACC_RDWR);
        if (file < 0 || !read(file, found)) {
            return "libhdf5 does not read; ";
        }
        for (Objects left = found; !left.empty();) {
            const std::string name = left.begin()->first;
            Objects now;
            erase(left, name);
            if (H5Ldelete(file, name.c_str(), H5P_DEFAULT) < 0) {
                return "libhdf5 does not delete " + name + "; ";
            }
            if (!read(file, now) || now != left) {
                return "libhdf5 has damaged others with " + name + "; ";
            }
        }
        return is_allowed(found, count) ? "" : "other objects; ";
    }
    std::string by_us(Disk& left, std::size_t count) const {
        MallocAllocator allocator;
        NullPort port;
        Library library(allocator, port, {}, formats::all);
        FileAccess access;
        access.metadata_cache = plan_.cache;
        Result<File> opened = File::open(library, left.driver(), access);
        if (opened.status() != Status::ok) {
            return std::string("not opened: ") + to_string(opened.status()) + "; ";
        }
        File file = std::move(*opened);
        if (!findings_in(file).none()) {
            return "not sound; ";
        }
        Group root = file.root();
        std::vector<std::string> names;
        {
            LinkIterator all(root);
            Link link;
            while (all.next(link) == Status::ok) {
                names.emplace_back(link.name());
            }
        }
        const OwnType type(static_cast<unsigned>(count % kTypes));
        Status status = root.create_dataset("more", type.builder.type(), Dataspace::simple({4}), {}).status();
        for (const std::string& name : names) {
            status = status == Status::ok ? root.unlink(name) : status;
            status = status == Status::ok && !findings_in(file).none() ? Status::corrupt_file : status;
        }
        root = Group();
        status = status == Status::ok ? file.close() : status;
        return status == Status::ok ? "" : std::string("does not go on: ") + to_string(status) + "; ";
    }

    const Plan plan_;
    std::mt19937 random_;
    Objects objects_;
    std::vector<Step> steps_;
    const std::vector<DiskOperation>* operations_ = nullptr;
    MallocAllocator allocator_;
    NullPort port_;
    Group root_;
    unsigned made_ = 0;
};

void sweep(const char* name, const Plan& plan, unsigned seed, std::size_t floor) {
    Tally tally(name);
    Disks begin(plan.journaled ? 2 : 1);
    Objects objects;
    if (plan.by_libhdf5) {
        const std::vector<std::byte> made = made_by_libhdf5(plan, objects);
        begin[0].assign(made.begin(), made.end());
    }
    Disk machine(begin, plan.journaled);
    ASSERT_EQ(machine.mounted, Status::ok);
    Workload workload(plan, seed, objects);
    workload.run(machine.driver(), machine.operations);
    sweep_disks(
        begin, machine.operations, plan.journaled, tally,
        [&](std::size_t operations) { return workload.flushes_before(operations); },
        [&](const Disks& disks, Disk& left, std::size_t operations) {
            return left.mounted == Status::ok ? workload.judge(disks[0], left, operations) : std::string("no journal");
        });
    tally.report(floor);
}

}  // namespace

TEST(SharedCuts, Lists) { sweep("shared_lists", {false, 50, 40}, 1, 3300); }

TEST(SharedCuts, Phases) { sweep("shared_phases", {false, 2, 1}, 2, 1900); }

TEST(SharedCuts, Trees) { sweep("shared_trees", {false, 0, 0}, 3, 1500); }

TEST(SharedCuts, ForeignLists) { sweep("shared_foreign_lists", {true, 50, 40}, 4, 2000); }

TEST(SharedCuts, ForeignPhases) { sweep("shared_foreign_phases", {true, 4, 3}, 5, 1600); }

TEST(SharedCuts, ForeignTrees) { sweep("shared_foreign_trees", {true, 0, 0}, 6, 1800); }

TEST(SharedCuts, DenseLists) { sweep("shared_dense_lists", {false, 50, 40, 4096, false, 2}, 8, 4000); }

TEST(SharedCuts, DenseTrees) { sweep("shared_dense_trees", {false, 0, 0, 4096, false, 1}, 9, 3000); }

// Attributes are in dense storage from the first one on.
TEST(SharedCuts, AlwaysDense) { sweep("shared_always_dense", {false, 4, 3, 4096, false, 0}, 10, 4000); }

TEST(SharedCuts, ForeignDense) { sweep("shared_foreign_dense", {true, 4, 3, 4096, false, 2}, 11, 3000); }

// Attributes stay in headers, where they are replaced and renamed; some are shared and some are not.
TEST(SharedCuts, Headers) { sweep("shared_headers", {false, 50, 40, 4096, false, 8, kLeast}, 13, 6000); }

TEST(SharedCuts, HeadersTrees) { sweep("shared_headers_trees", {false, 0, 0, 4096, false, 8, kLeast}, 14, 2400); }

TEST(SharedCuts, ForeignHeaders) { sweep("shared_foreign_headers", {true, 4, 3, 4096, false, 8, kLeast}, 15, 3000); }

TEST(SharedCuts, DenseJournal) { sweep("shared_dense_journal", {false, 2, 1, 4096, true, 1}, 12, 4000); }

TEST(SharedCuts, Journal) { sweep("shared_journal", {false, 2, 1, 4096, true}, 7, 5000); }
