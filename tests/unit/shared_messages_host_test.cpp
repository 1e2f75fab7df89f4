// Files that keep equal messages of object headers only once: h5mote and libhdf5 make, change and delete objects in
// turns.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "promising_driver.hpp"
#include "turns.hpp"

#include <h5mote/check.hpp>
#include <h5mote/compound.hpp>
#include <h5mote/type_builder.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace {

using namespace h5mote;
using namespace h5mote_test;

/// Bytes of the heaps of shared messages, of which there are none when no message is shared.
std::uint64_t heap_bytes(hid_t file) {
    H5F_info2_t info{};
    EXPECT_GE(H5Fget_info2(file, &info), 0);
    return info.sohm.msgs_info.heap_size;
}

std::string member_name(unsigned i) { return "a long name of a member " + std::to_string(i); }

/// The compound datatype number `i` as both libraries make it.
Hdf5Id type_by_libhdf5(unsigned i) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 12);
    EXPECT_GE(H5Tinsert(type, member_name(i).c_str(), 0, H5T_STD_I32LE), 0);
    EXPECT_GE(H5Tinsert(type, "and another one", 4, H5T_IEEE_F64LE), 0);
    return Hdf5Id(type, H5Tclose);
}
struct OwnType {
    explicit OwnType(unsigned i) {
        const auto integer = make_integer(4, true);
        const auto real = make_float(8);
        EXPECT_EQ(builder.compound(12), Status::ok);
        EXPECT_EQ(builder.member(member_name(i), 0, integer), Status::ok);
        EXPECT_EQ(builder.member("and another one", 4, real), Status::ok);
    }
    std::byte bytes[200];
    TypeBuilder builder{bytes};
};

struct Indexes {
    std::vector<SharedIndexCreate> list;
    std::uint16_t list_max;
    std::uint16_t btree_min;
};
constexpr std::uint16_t kAll = SharedKinds::dataspace | SharedKinds::datatype | SharedKinds::fill_value |
                               SharedKinds::filter_pipeline | SharedKinds::attribute;

/// Objects that both libraries make, change and delete, and what they should be.
class SharedObjects {
public:
    struct Object {
        unsigned type = 0;
        bool grows = false;
        std::uint64_t size = 0;
        std::map<std::string, std::pair<unsigned, int>> attributes;  // datatype and value
    };

    SharedObjects(Turns& turns, unsigned seed, unsigned types) : turns_(turns), random_(seed), types_(types) {}

    void step(hid_t file) {
        const unsigned choice = below(10);
        if (objects.size() < 3 || choice < 3) {
            create(file);
        } else if (choice < 4) {
            remove(file, any());
        } else if (choice < 5) {
            // In libhdf5 1.10.8 a shared dataspace that grows is used once more than is counted.
            if (file < 0) {
                grow(any());
            }
        } else if (choice < 8) {
            write_attribute(file, any());
        } else {
            remove_attribute(file, any());
        }
        if (file < 0) {
            check_own();
        }
    }
    /// Whether h5mote finds its file sound.
    void check_own() {
        class Reporter final : public CheckReporter {
        public:
            void problem(const Problem& problem) noexcept override {
                if (!problem.note) {
                    text += " kind " + std::to_string(static_cast<int>(problem.kind)) + " part " +
                            std::to_string(static_cast<int>(problem.part)) + " at " + std::to_string(problem.address) +
                            ", " + std::to_string(problem.number);
                }
            }
            std::string text;
        } reporter;
        EXPECT_EQ(check_file(turns_.file, CheckOptions(), reporter), Status::ok);
        EXPECT_EQ(reporter.text, "") << turns_.trail();
    }
    void check(hid_t file) {
        for (const auto& [name, object] : objects) {
            const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);

            ASSERT_GE(dataset, 0) << name;
            const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
            const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
            EXPECT_GT(H5Tequal(type, type_by_libhdf5(object.type)), 0) << name;
            EXPECT_EQ(H5Sget_simple_extent_npoints(space), static_cast<hssize_t>(object.size)) << name;
            H5O_info_t info{};
            ASSERT_GE(H5Oget_info2(dataset, &info, H5O_INFO_NUM_ATTRS), 0);
            EXPECT_EQ(info.num_attrs, object.attributes.size()) << name;
            for (const auto& [text, value] : object.attributes) {
                const Hdf5Id attribute(H5Aopen(dataset, text.c_str(), H5P_DEFAULT), H5Aclose);
                ASSERT_GE(attribute, 0) << name << " " << text;
                const Hdf5Id stored(H5Aget_type(attribute), H5Tclose);
                EXPECT_GT(H5Tequal(stored, type_by_libhdf5(value.first)), 0) << name << " " << text;
                std::int32_t bytes[3] = {};
                EXPECT_GE(H5Aread(attribute, stored, bytes), 0);
                EXPECT_EQ(bytes[0], value.second) << name << " " << text;
            }
        }
    }
    void remove_all(hid_t file) {
        while (!objects.empty() && !::testing::Test::HasFailure()) {
            remove(file, any());
        }
    }

    std::map<std::string, Object> objects;
    unsigned tried = 0;
    unsigned refused = 0;

private:
    unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }
    std::string any() { return std::next(objects.begin(), below(static_cast<unsigned>(objects.size())))->first; }
    Dataset open(const std::string& name) {
        auto dataset = turns_.root.open_dataset(name);
        EXPECT_EQ(dataset.status(), Status::ok) << name;
        return static_cast<Dataset&&>(*dataset);
    }

    // Whether h5mote has changed an object. Where a first block that libhdf5 made has the end of its sector in the head
    // of its first message, it does not (FileAccess::torn_headers): four in a thousand.
    bool done(Status status) {
        ++tried;
        refused += status == Status::unsupported ? 1U : 0U;
        EXPECT_TRUE(status == Status::ok || status == Status::unsupported) << turns_.trail();
        return status == Status::ok;
    }
    // `file` is libhdf5's; without one it is h5mote's turn.
    void create(hid_t file) {
        const std::string name = "d" + std::to_string(made_++);
        Object object;
        object.type = below(types_);
        object.grows = below(2) == 0;
        object.size = 4 + below(2);
        if (file >= 0) {
            const hsize_t size = object.size;
            const hsize_t most = object.grows ? H5S_UNLIMITED : size;
            const hsize_t chunk = 4;
            const Hdf5Id space(H5Screate_simple(1, &size, &most), H5Sclose);
            const Hdf5Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            if (object.grows) {
                ASSERT_GE(H5Pset_chunk(properties, 1, &chunk), 0);
                ASSERT_GE(H5Pset_deflate(properties, 3), 0);
            }
            const Hdf5Id made(H5Dcreate2(file, name.c_str(), type_by_libhdf5(object.type), space, H5P_DEFAULT,
                                         properties, H5P_DEFAULT),
                              H5Dclose);
            ASSERT_GE(made, 0) << name;
        } else {
            DatasetCreate properties;
            if (object.grows) {
                properties.chunk = {4};
                properties.filters = {filters::deflate};
            }
            const Dataspace space =
                object.grows ? Dataspace::simple({object.size}, {kUnlimited}) : Dataspace::simple({object.size});
            const OwnType type(object.type);
            ASSERT_EQ(turns_.root.create_dataset(name, type.builder.type(), space, properties).status(), Status::ok);
        }
        objects[name] = object;
    }
    void remove(hid_t file, const std::string& name) {
        if (file >= 0) {
            ASSERT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0) << name;
        } else {
            ASSERT_EQ(turns_.root.unlink(name), Status::ok) << name << "\n" << turns_.trail();
        }
        objects.erase(name);
    }
    void grow(const std::string& name) {
        Object& object = objects[name];
        if (object.grows) {
            object.size += done(open(name).set_extent({object.size + 1})) ? 1U : 0U;
        }
    }
    void write_attribute(hid_t file, const std::string& name) {
        Object& object = objects[name];
        const std::string text = "attribute " + std::to_string(below(14));
        const unsigned type = below(types_);
        const int value = static_cast<int>(below(3));
        const std::int32_t bytes[3] = {value, 0, 0};
        if (file >= 0) {
            const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
            const Hdf5Id stored = type_by_libhdf5(type);
            const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
            if (object.attributes.count(text) != 0) {
                ASSERT_GE(H5Adelete(dataset, text.c_str()), 0);
            }
            const Hdf5Id attribute(H5Acreate2(dataset, text.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                                   H5Aclose);
            ASSERT_GE(attribute, 0);
            ASSERT_GE(H5Awrite(attribute, stored, bytes), 0);
        } else {
            const OwnType stored(type);
            if (!done(open(name).replace_attribute(text, stored.builder.type(), Dataspace::scalar(),
                                                   {reinterpret_cast<const std::byte*>(bytes), 12}))) {
                return;
            }
        }
        object.attributes[text] = {type, value};
    }
    void remove_attribute(hid_t file, const std::string& name) {
        Object& object = objects[name];
        if (object.attributes.empty()) {
            return;
        }
        const auto victim =
            std::next(object.attributes.begin(), below(static_cast<unsigned>(object.attributes.size())));
        const std::string text = victim->first;
        if (file >= 0) {
            const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
            ASSERT_GE(H5Adelete(dataset, text.c_str()), 0);
        } else if (below(2) == 0 && object.attributes.count("renamed") == 0) {
            if (!done(open(name).rename_attribute(text, "renamed"))) {
                return;
            }
            object.attributes["renamed"] = victim->second;
        } else if (!done(open(name).remove_attribute(text))) {
            return;
        }
        object.attributes.erase(victim);
    }

    Turns& turns_;
    std::mt19937 random_;
    unsigned types_;
    unsigned made_ = 0;
};

struct Case {
    const char* name;
    bool by_libhdf5;     // who makes the file
    std::uint32_t unit;  // atomic unit of the storage
    FormatVersion low;
    std::uint16_t list_max;
    std::uint16_t btree_min;
};
std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class SharedMessagesInTurns : public ::testing::TestWithParam<Case> {};

TEST_P(SharedMessagesInTurns, AreFoundByBoth) {
    const Case& parameters = GetParam();
    unsigned refused = 0;
    unsigned tried = 0;
    for (unsigned seed = 0; seed < 12 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Turns turns(parameters.low);
        PromisingDriver ordered(turns.storage, with_unit(parameters.unit));
        turns.used = &ordered;
        const SharedIndexCreate list[] = {{kAll & ~SharedKinds::datatype, 12}, {SharedKinds::datatype, 20}};
        if (parameters.by_libhdf5) {
            const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
            ASSERT_GE(H5Pset_shared_mesg_nindexes(properties, 2), 0);
            ASSERT_GE(H5Pset_shared_mesg_index(properties, 0, list[0].kinds, 12), 0);
            ASSERT_GE(H5Pset_shared_mesg_index(properties, 1, list[1].kinds, 20), 0);
            ASSERT_GE(H5Pset_shared_mesg_phase_change(properties, parameters.list_max, parameters.btree_min), 0);
            turns.begin_by_libhdf5(properties);
        } else {
            turns.create.shared_messages = {list, parameters.list_max, parameters.btree_min};
            turns.begin();
        }
        SharedObjects objects(turns, seed, 3 + 4 * (seed % 3));
        for (int turn = 0; turn < 6 && !HasFailure(); ++turn) {
            for (int i = 0; i < 15 && !HasFailure(); ++i) {
                objects.step(-1);
            }
            if (HasFailure()) {
                break;
            }
            turns.by_libhdf5([&](hid_t file) {
                objects.check(file);
                for (int i = 0; i < 15 && !HasFailure(); ++i) {
                    objects.step(file);
                }
            });
        }
        if (seed % 2 == 0) {
            objects.remove_all(-1);
        }
        turns.by_libhdf5([&](hid_t file) {
            objects.remove_all(file);
            EXPECT_EQ(heap_bytes(file), 0U);
        });
        refused += objects.refused;
        tried += objects.tried;
    }
    EXPECT_LE(refused, tried / 25 + 2);
}

INSTANTIATE_TEST_SUITE_P(All, SharedMessagesInTurns,
                         ::testing::Values(Case{"Own", false, 512, FormatVersion::standard, 50, 40},
                                           Case{"OwnSmallLists", false, 512, FormatVersion::standard, 4, 3},
                                           Case{"OwnTrees", false, 512, FormatVersion::earliest, 0, 0},
                                           Case{"OwnEmptyTrees", false, 512, FormatVersion::standard, 2, 0},
                                           Case{"OwnAtOnce", false, 1U << 30, FormatVersion::v18, 6, 2},
                                           Case{"Foreign", true, 512, FormatVersion::standard, 50, 40},
                                           Case{"ForeignSmallLists", true, 512, FormatVersion::standard, 4, 3},
                                           Case{"ForeignTrees", true, 512, FormatVersion::v18, 0, 0},
                                           Case{"ForeignAtOnce", true, 1U << 30, FormatVersion::earliest, 6, 2}),
                         name_of);

constexpr auto kInteger = make_integer(4, true);
constexpr std::size_t kLong = 100;  // values of an attribute that is worth sharing

ConstBytes bytes_of(const std::vector<std::int32_t>& values) {
    return {reinterpret_cast<const std::byte*>(values.data()), 4 * values.size()};
}
Status write_long(Group& group, const char* name, std::int32_t value) {
    return group.write_attribute(name, kInteger, Dataspace::simple({kLong}),
                                 bytes_of(std::vector<std::int32_t>(kLong, value)));
}
/// The value that all elements of an attribute have.
std::int32_t value_by_libhdf5(hid_t group, const char* name) {
    const Hdf5Id attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(attribute, 0) << name;
    std::vector<std::int32_t> values(kLong);
    EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT32, values.data()), 0) << name;
    EXPECT_EQ(std::count(values.begin(), values.end(), values[0]), static_cast<std::ptrdiff_t>(kLong));
    return values[0];
}

// Deleting the last message leaves an index of the kind that it was, as in libhdf5: a tree that may be empty stays one.
TEST(SharedMessages, AnIndexThatWasEmptiedIsFilledAgain) {
    const SharedIndexCreate list[] = {{SharedKinds::attribute, 12}};
    Turns turns;
    turns.create.shared_messages = {list, 2, 0};
    turns.begin();
    for (unsigned round = 0; round < 3; ++round) {
        const unsigned messages = round == 1 ? 1 : 4;
        for (unsigned i = 0; i < messages; ++i) {
            ASSERT_EQ(write_long(turns.root, ("a" + std::to_string(i)).c_str(), static_cast<std::int32_t>(i)),
                      Status::ok);
        }
        ASSERT_EQ(turns.file.flush(), Status::ok);
        for (unsigned i = 0; i < messages; ++i) {
            ASSERT_EQ(turns.root.remove_attribute("a" + std::to_string(i)), Status::ok);
        }
        turns.by_libhdf5([&](hid_t file) { EXPECT_EQ(heap_bytes(file), 0U); });
    }
}

// Attributes are kept once also where others of the same object change.
TEST(SharedMessages, EqualAttributesAreKeptOnce) {
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v18}) {
        constexpr unsigned kGroups = 40;
        const SharedIndexCreate list[] = {{SharedKinds::attribute, 200}};
        Turns turns(low);
        turns.create.shared_messages = {list, 50, 40};
        turns.begin();
        const auto group = [&](unsigned i) {
            auto opened = turns.root.open_group(std::to_string(i));
            EXPECT_EQ(opened.status(), Status::ok);
            return static_cast<Group&&>(*opened);
        };
        const auto end = [&] {
            FileInfo info;
            EXPECT_EQ(turns.file.info(info), Status::ok);
            return info.end_of_address;
        };
        const Address before = end();
        for (unsigned i = 0; i < kGroups; ++i) {
            auto made = turns.root.create_group(std::to_string(i));
            ASSERT_EQ(write_long(*made, "long", 7), Status::ok);
            ASSERT_EQ(made->write_attribute("short", std::int32_t{1}), Status::ok);
        }
        ASSERT_EQ(turns.file.flush(), Status::ok);
        // The attribute would take 400 bytes more.
        EXPECT_LT((end() - before) / kGroups, low == FormatVersion::earliest ? 1100U : 500U);
        Group changed = group(0);
        EXPECT_EQ(write_long(changed, "long", 8), Status::ok);
        changed = group(1);
        EXPECT_EQ(changed.remove_attribute("long"), Status::ok);
        changed = group(2);
        EXPECT_EQ(changed.rename_attribute("long", "longer"), Status::ok);
        changed = group(3);
        EXPECT_EQ(changed.replace_attribute("long", kInteger, Dataspace::simple({1}), bytes_of({9})), Status::ok);
        EXPECT_EQ(turns.root.unlink("4"), Status::ok);
        changed = group(5);
        for (unsigned i = 0; i < 9; ++i) {  // the last ones in dense storage
            EXPECT_EQ(write_long(changed, ("a" + std::to_string(i)).c_str(), static_cast<std::int32_t>(i)), Status::ok)
                << turns.trail();
        }
        EXPECT_EQ(changed.rename_attribute("long", "short"), Status::already_exists);
        changed.close();
        turns.by_libhdf5([&](hid_t file) {
            EXPECT_GT(heap_bytes(file), 0U);
            for (unsigned i = 0; i < kGroups; ++i) {
                if (i == 4) {
                    continue;
                }
                const Hdf5Id opened(H5Gopen2(file, std::to_string(i).c_str(), H5P_DEFAULT), H5Gclose);
                if (i != 1 && i != 3) {
                    EXPECT_EQ(value_by_libhdf5(opened, i == 2 ? "longer" : "long"), i == 0 ? 8 : 7) << i;
                }
                EXPECT_EQ(H5Aexists(opened, "long"), i != 1 && i != 2) << i;
                for (int k = 0; i == 5 && k < 9; ++k) {
                    EXPECT_EQ(value_by_libhdf5(opened, ("a" + std::to_string(k)).c_str()), k);
                }
                EXPECT_GE(H5Ldelete(file, std::to_string(i).c_str(), H5P_DEFAULT), 0);
            }
            EXPECT_EQ(heap_bytes(file), 0U);
        });
    }
}

}  // namespace

#endif
