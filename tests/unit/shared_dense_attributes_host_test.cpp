// Attributes that are shared messages, in object headers and in dense storage: after the same calls, h5mote and libhdf5
// share the same messages, count as many uses of each, and have the attributes of the same objects in dense storage;
// one goes on with the objects of the other.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "cursor.hpp"
#include "promising_driver.hpp"
#include "shared_index.hpp"
#include "turns.hpp"

#include <h5mote/named_datatype.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace {

using namespace h5mote;
using namespace h5mote_test;

using Image = std::vector<std::byte>;

// ---- what a file shares ------------------------------------------------------------------------------------------

/// The one index of shared messages of a file whose addresses have eight bytes, as its bytes say.
class StoredIndex {
public:
    explicit StoredIndex(const Image& image) : image_(image) {
        const std::size_t table = find_table();
        if (table == 0 ||
            !index_.decode(kShape, {image.data() + table + SharedTable::kPrefixSize, SharedIndex::size(kShape)})) {
            ADD_FAILURE() << "no table of shared messages";
            return;
        }
        if (index_.index != kUndefinedAddress) {
            read(index_.btree ? leaf() : static_cast<std::size_t>(index_.index) + SharedList::kPrefixSize);
        }
    }
    /// How often each message is used, in ascending order.
    std::vector<std::uint32_t> uses;
    bool has_heap() const { return index_.heap != kUndefinedAddress; }

private:
    static constexpr FileShape kShape{8, 8};

    // The message in the superblock extension: version 0, address of the table, number of indexes.
    std::size_t find_table() const {
        constexpr std::size_t kExtension = 20;  // in the superblock
        const auto extension = static_cast<std::size_t>(load_le<std::uint64_t>(image_.data() + kExtension));
        for (std::size_t at = extension; at + 10 <= image_.size(); ++at) {
            const auto table = static_cast<std::size_t>(load_le<std::uint64_t>(image_.data() + at + 1));
            if (image_[at] == std::byte{0} && image_[at + 9] == std::byte{1} && table + 4 < image_.size() &&
                SharedTable::is_table({image_.data() + table, SharedTable::kPrefixSize})) {
                return table;
            }
        }
        return 0;
    }
    // The records of a tree that is one leaf.
    std::size_t leaf() const {
        constexpr std::size_t kDepth = 12;
        constexpr std::size_t kRoot = 16;
        const std::byte* const header = image_.data() + index_.index;
        EXPECT_EQ(load_le<std::uint16_t>(header + kDepth), 0U);
        return static_cast<std::size_t>(load_le<std::uint64_t>(header + kRoot)) + 6;
    }
    void read(std::size_t at) {
        for (unsigned i = 0; i < index_.messages; ++i) {
            const std::size_t size = SharedMessageRecord::size(kShape);
            SharedMessageRecord record;
            ASSERT_TRUE(record.decode(kShape, {image_.data() + at + i * size, size}));
            EXPECT_TRUE(record.in_heap);
            uses.push_back(record.references);
        }
        std::sort(uses.begin(), uses.end());
    }

    const Image& image_;
    SharedIndex index_;
};

// ---- calls that both libraries make ------------------------------------------------------------------------------

constexpr std::size_t kLong = 100;  // values of an attribute that is worth sharing
constexpr auto kInteger = make_integer(4, true);

struct Call {
    // replace: the value becomes another one of the same size; resize: one of another size.
    enum class Kind { create, add, replace, resize, rename, remove, drop };
    Kind kind;
    std::string group;
    std::string name;
    std::string to;
    std::int32_t value = 0;
    std::size_t count = kLong;
};

using Values = std::map<std::string, std::pair<std::int32_t, std::size_t>>;
using Model = std::map<std::string, Values>;

void apply(Model& model, const Call& call) {
    Values& group = model[call.group];
    switch (call.kind) {
        case Call::Kind::create:
            break;
        case Call::Kind::drop:
            model.erase(call.group);
            break;
        case Call::Kind::remove:
            group.erase(call.name);
            break;
        case Call::Kind::rename:
            group[call.to] = group[call.name];
            group.erase(call.name);
            break;
        default:
            group[call.name] = {call.value, call.count};
    }
}

Status apply(Group& root, const Call& call, bool tracked) {
    if (call.kind == Call::Kind::create) {
        GroupCreate create;
        create.attributes.track_order = tracked;
        return root.create_group(call.group, create).status();
    }
    if (call.kind == Call::Kind::drop) {
        return root.unlink(call.group);
    }
    auto group = root.open_group(call.group);
    if (!group) {
        return group.status();
    }
    const std::vector<std::int32_t> values(call.count, call.value);
    const ConstBytes bytes{reinterpret_cast<const std::byte*>(values.data()), 4 * values.size()};
    switch (call.kind) {
        case Call::Kind::rename:
            return group->rename_attribute(call.name, call.to);
        case Call::Kind::remove:
            return group->remove_attribute(call.name);
        case Call::Kind::resize:
            return group->replace_attribute(call.name, kInteger, Dataspace::simple({call.count}), bytes);
        default:
            return group->write_attribute(call.name, kInteger, Dataspace::simple({call.count}), bytes);
    }
}

bool apply(hid_t file, const Call& call, bool tracked) {
    if (call.kind == Call::Kind::create) {
        const Hdf5Id create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        if (tracked) {
            H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
        }
        return Hdf5Id(H5Gcreate2(file, call.group.c_str(), H5P_DEFAULT, create, H5P_DEFAULT), H5Gclose) >= 0;
    }
    if (call.kind == Call::Kind::drop) {
        return H5Ldelete(file, call.group.c_str(), H5P_DEFAULT) >= 0;
    }
    const Hdf5Id group(H5Gopen2(file, call.group.c_str(), H5P_DEFAULT), H5Gclose);
    const std::vector<std::int32_t> values(call.count, call.value);
    const hsize_t size = call.count;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    switch (call.kind) {
        case Call::Kind::rename:
            return H5Arename(group, call.name.c_str(), call.to.c_str()) >= 0;
        case Call::Kind::remove:
            return H5Adelete(group, call.name.c_str()) >= 0;
        case Call::Kind::replace: {
            const Hdf5Id attribute(H5Aopen(group, call.name.c_str(), H5P_DEFAULT), H5Aclose);
            return H5Awrite(attribute, H5T_NATIVE_INT32, values.data()) >= 0;
        }
        default: {
            if (call.kind == Call::Kind::resize && H5Adelete(group, call.name.c_str()) < 0) {
                return false;
            }
            const Hdf5Id attribute(H5Acreate2(group, call.name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT),
                                   H5Aclose);
            return H5Awrite(attribute, H5T_NATIVE_INT32, values.data()) >= 0;
        }
    }
}

/// Whether libhdf5 finds every group and attribute as the model has it, also by creation order.
void check(hid_t file, const Model& model, bool tracked) {
    for (const auto& [name, attributes] : model) {
        const Hdf5Id group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
        ASSERT_GE(group, 0) << name;
        unsigned seen = 0;
        const auto count = [](hid_t, const char*, const H5A_info_t*, void* to) -> herr_t {
            ++*static_cast<unsigned*>(to);
            return 0;
        };
        hsize_t at = 0;
        ASSERT_GE(H5Aiterate2(group, tracked ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, &at, count, &seen), 0);
        EXPECT_EQ(seen, attributes.size()) << name;
        for (const auto& [text, value] : attributes) {
            const Hdf5Id attribute(H5Aopen(group, text.c_str(), H5P_DEFAULT), H5Aclose);
            ASSERT_GE(attribute, 0) << name << " " << text;
            std::vector<std::int32_t> values(value.second);
            EXPECT_EQ(H5Aget_storage_size(attribute), 4 * values.size());
            EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT32, values.data()), 0) << name << " " << text;
            EXPECT_EQ(std::count(values.begin(), values.end(), value.first), static_cast<std::ptrdiff_t>(values.size()))
                << name << " " << text;
        }
    }
}

/// The groups that have their attributes in dense storage.
std::string dense_groups(hid_t file, const Model& model) {
    std::string names;
    for (const auto& [name, attributes] : model) {
        H5O_info_t info{};
        EXPECT_GE(H5Oget_info_by_name2(file, name.c_str(), &info, H5O_INFO_META_SIZE, H5P_DEFAULT), 0) << name;
        names += info.meta_size.attr.heap_size != 0 ? name + " " : "";
    }
    return names;
}

/// Two groups whose headers have equal attributes that are shared, some that differ, and some too small for that. One
/// group has them in dense storage for a while.
std::vector<Call> story_of_headers(std::size_t length) {
    using Kind = Call::Kind;
    const auto name = [](int i) { return "attribute " + std::to_string(i); };
    std::vector<Call> calls;
    for (const char* group : {"a", "b"}) {
        calls.push_back({Kind::create, group, "", ""});
        for (int i = 0; i < 4; ++i) {
            calls.push_back({Kind::add, group, name(i), "", i % 3, length});
        }
        calls.push_back({Kind::add, group, "short", "", 1, 1});
        calls.push_back({Kind::add, group, "own", "", group[0], length});
    }
    calls.push_back({Kind::rename, "a", name(0), "renamed"});
    calls.push_back({Kind::rename, "a", name(1), "a name that is longer"});
    calls.push_back({Kind::rename, "b", name(0), "renamed"});
    calls.push_back({Kind::rename, "b", "short", "brief"});
    calls.push_back({Kind::rename, "b", "brief", "a name that is too long to be brief"});
    calls.push_back({Kind::rename, "a", "short", "other"});
    calls.push_back({Kind::replace, "a", name(2), "", 9, length});
    calls.push_back({Kind::replace, "b", name(2), "", 9, length});
    calls.push_back({Kind::replace, "b", name(3), "", 0, length});  // the value that it has
    calls.push_back({Kind::replace, "a", "other", "", 7, 1});
    calls.push_back({Kind::resize, "a", name(3), "", 3, 1});  // too small now
    calls.push_back({Kind::resize, "a", name(3), "", 3, length});
    calls.push_back({Kind::resize, "b", name(3), "", 3, length});
    calls.push_back({Kind::resize, "b", name(3), "", 3, length / 2});
    calls.push_back({Kind::replace, "b", "own", "", 'a', length});  // that of the other group
    calls.push_back({Kind::rename, "b", "own", "attribute 0"});
    calls.push_back({Kind::remove, "a", "renamed", ""});
    for (int i = 4; i < 8; ++i) {  // until "a" has dense storage
        calls.push_back({Kind::add, "a", name(i), "", i % 3, length});
    }
    calls.push_back({Kind::rename, "a", name(4), "attribute 0"});
    for (const char* less : {"attribute 5", "attribute 6", "attribute 7", "other"}) {  // and until it is compact
        calls.push_back({Kind::remove, "a", less, ""});
    }
    calls.push_back({Kind::rename, "a", "own", "a name for another"});
    calls.push_back({Kind::drop, "b", "", ""});
    calls.push_back({Kind::drop, "a", "", ""});
    return calls;
}

/// Two groups with equal attributes that are shared, one that differs, and some too small for that.
std::vector<Call> story(std::size_t length) {
    using Kind = Call::Kind;
    const auto name = [](int i) { return "attribute " + std::to_string(i); };
    std::vector<Call> calls;
    for (const char* group : {"a", "b"}) {
        calls.push_back({Kind::create, group, "", ""});
        for (int i = 0; i < 11; ++i) {  // the last ones in dense storage
            calls.push_back({Kind::add, group, name(i), "", i % 3, length});
        }
        calls.push_back({Kind::add, group, "short", "", 1, 1});
        calls.push_back({Kind::add, group, "own", "", group[0], length});
    }
    calls.push_back({Kind::rename, "a", name(3), "renamed"});
    calls.push_back({Kind::rename, "a", name(9), "a name that is longer"});
    calls.push_back({Kind::rename, "b", name(3), "renamed"});
    calls.push_back({Kind::rename, "b", "short", "brief"});
    calls.push_back({Kind::replace, "a", name(4), "", 9, length});
    calls.push_back({Kind::replace, "a", name(10), "", 9, length});
    calls.push_back({Kind::replace, "b", name(4), "", 9, length});
    calls.push_back({Kind::replace, "b", name(5), "", 2, length});  // the value that it has
    calls.push_back({Kind::replace, "a", "short", "", 7, 1});
    for (const char* group : {"a", "b"}) {
        calls.push_back({Kind::remove, group, name(5), ""});
        calls.push_back({Kind::remove, group, "own", ""});
    }
    for (const int i : {0, 1, 2, 6, 7, 8}) {  // until "a" is compact again
        calls.push_back({Kind::remove, "a", name(i), ""});
    }
    calls.push_back({Kind::add, "a", "one more", "", 5, length});
    calls.push_back({Kind::drop, "b", "", ""});
    for (const char* left : {"attribute 4", "renamed", "one more"}) {
        calls.push_back({Kind::remove, "a", left, ""});
    }
    calls.push_back({Kind::drop, "a", "", ""});
    return calls;
}

struct Case {
    const char* name;
    bool tracked;
    std::uint16_t list_max;
    std::uint16_t btree_min;
    FormatVersion low;
    std::size_t length;
    std::vector<Call> (*calls)(std::size_t) = &story;
    std::size_t least = 13;  // different messages that are shared at some time
};
std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class SharedDenseAttributes : public ::testing::TestWithParam<Case> {
protected:
    static constexpr std::uint32_t kLeast = 200;

    /// Creation properties of files that share attributes, for libhdf5.
    static hid_t properties() {
        const hid_t list = H5Pcreate(H5P_FILE_CREATE);
        EXPECT_GE(H5Pset_shared_mesg_nindexes(list, 1), 0);
        EXPECT_GE(H5Pset_shared_mesg_index(list, 0, H5O_SHMESG_ATTR_FLAG, kLeast), 0);
        EXPECT_GE(H5Pset_shared_mesg_phase_change(list, GetParam().list_max, GetParam().btree_min), 0);
        return list;
    }
    void SetUp() override {
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
        const Hdf5Id list(properties(), H5Pclose);
        const Hdf5Id made(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, list, bounds_), H5Fclose);
        ASSERT_GE(made, 0);
    }
    void TearDown() override { (void)take_file(path_); }
    /// What libhdf5 shares after it has made all calls so far, and one more.
    std::vector<std::uint32_t> next_by_libhdf5(const Call& call) {
        {
            const Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, bounds_), H5Fclose);
            EXPECT_TRUE(apply(file, call, GetParam().tracked)) << call.group << " " << call.name;
        }
        std::ifstream in(path_, std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
        return StoredIndex(Image(bytes, bytes + text.size())).uses;
    }

    const std::string path_ = ::testing::TempDir() + "shared_dense_attributes.h5";
    const Hdf5Id bounds_{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    const SharedIndexCreate index_[1] = {{SharedKinds::attribute, kLeast}};
};

TEST_P(SharedDenseAttributes, AreCountedAsInLibhdf5) {
    Turns turns(GetParam().low);
    turns.create.shared_messages = {index_, GetParam().list_max, GetParam().btree_min};
    turns.begin();
    Model model;
    std::size_t most = 0;
    for (const Call& call : GetParam().calls(GetParam().length)) {
        const std::string text = call.group + "/" + call.name;
        ASSERT_EQ(apply(turns.root, call, GetParam().tracked), Status::ok) << text << "\n" << turns.trail();
        ASSERT_EQ(turns.file.flush(), Status::ok);
        EXPECT_TRUE(findings_in(turns.file).none()) << text;
        apply(model, call);
        const StoredIndex own(image_of(turns.storage));
        ASSERT_EQ(own.uses, next_by_libhdf5(call)) << text;
        std::string dense;
        {
            const Hdf5Id theirs(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
            dense = dense_groups(theirs, model);
        }
        most = std::max(most, own.uses.size());
        if (call.kind != Call::Kind::add) {
            turns.by_libhdf5([&](hid_t file) {
                check(file, model, GetParam().tracked);
                EXPECT_EQ(dense_groups(file, model), dense) << text;
            });
        }
        ASSERT_FALSE(HasFailure()) << text;
    }
    EXPECT_GE(most, GetParam().least);
    EXPECT_FALSE(StoredIndex(image_of(turns.storage)).has_heap());
}

// Each library makes every second call, in a file that one of them has made. What one of them writes are other bytes
// than what the other writes, so that only all uses together are as many as in libhdf5.
TEST_P(SharedDenseAttributes, AreChangedInTurns) {
    const auto sum = [](const std::vector<std::uint32_t>& uses) {
        return std::accumulate(uses.begin(), uses.end(), 0U);
    };
    for (const bool libhdf5_begins : {false, true}) {
        SetUp();
        Turns turns(GetParam().low);
        // Where only sectors are atomic, a heap of libhdf5 across the end of one is not changed.
        Capabilities capabilities = turns.storage.capabilities();
        capabilities.sync_is_commit = true;
        PromisingDriver at_once(turns.storage, capabilities);
        turns.used = &at_once;
        if (libhdf5_begins) {
            turns.begin_by_libhdf5(Hdf5Id(properties(), H5Pclose));
        } else {
            turns.create.shared_messages = {index_, GetParam().list_max, GetParam().btree_min};
            turns.begin();
        }
        Model model;
        bool by_h5mote = !libhdf5_begins;
        for (const Call& call : GetParam().calls(GetParam().length)) {
            // libhdf5 1.10 leaves the old record of an attribute that it renames in the index by creation order.
            const bool own = by_h5mote || (call.kind == Call::Kind::rename && GetParam().tracked);
            const std::string text = call.group + "/" + call.name + (own ? " by h5mote" : " by libhdf5");
            apply(model, call);
            if (own) {
                ASSERT_EQ(apply(turns.root, call, GetParam().tracked), Status::ok) << text << "\n" << turns.trail();
            }
            turns.by_libhdf5([&](hid_t file) {
                EXPECT_TRUE(own || apply(file, call, GetParam().tracked)) << text;
                check(file, model, GetParam().tracked);
            });
            ASSERT_EQ(sum(StoredIndex(image_of(turns.storage)).uses), sum(next_by_libhdf5(call))) << text;
            ASSERT_FALSE(HasFailure()) << text;
            by_h5mote = !by_h5mote;
        }
        EXPECT_FALSE(StoredIndex(image_of(turns.storage)).has_heap());
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, SharedDenseAttributes,
    ::testing::Values(Case{"Lists", false, 50, 40, FormatVersion::standard, kLong},
                      Case{"TrackedLists", true, 50, 40, FormatVersion::standard, kLong},
                      Case{"TrackedPhases", true, 4, 3, FormatVersion::v18, kLong},
                      Case{"Trees", false, 0, 0, FormatVersion::v18, kLong},
                      Case{"OldMessages", true, 50, 40, FormatVersion::earliest, kLong},
                      Case{"Large", true, 50, 40, FormatVersion::standard, 20000},
                      Case{"Headers", false, 50, 40, FormatVersion::standard, kLong, &story_of_headers, 8},
                      Case{"HeadersTrees", true, 0, 0, FormatVersion::v18, kLong, &story_of_headers, 8},
                      Case{"OldHeaders", true, 4, 3, FormatVersion::earliest, kLong, &story_of_headers, 8},
                      Case{"LargeInHeaders", false, 50, 40, FormatVersion::standard, 20000, &story_of_headers, 8}),
    name_of);

// ---- committed datatypes -----------------------------------------------------------------------------------------

unsigned uses_of_type(hid_t file) {
    H5O_info_t info{};
    EXPECT_GE(H5Oget_info_by_name2(file, "type", &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
    return info.rc;
}

// Groups "a", "b" and "c" with an equal attribute of a committed datatype in dense storage, which libhdf5 shares.
void put_typed(hid_t file) {
    const Hdf5Id type(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    EXPECT_GE(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
    const std::vector<std::int32_t> values(kLong, 5);
    const hsize_t size = kLong;
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    for (const char* name : {"a", "b", "c"}) {
        const Hdf5Id group(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        for (int i = 0; i < 10; ++i) {
            const std::string text = "small " + std::to_string(i);
            const Hdf5Id small(H5Acreate2(group, text.c_str(), H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
            EXPECT_GE(H5Awrite(small, H5T_NATIVE_INT32, values.data()), 0);
        }
        const Hdf5Id typed(H5Acreate2(group, "typed", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        EXPECT_GE(H5Awrite(typed, H5T_NATIVE_INT32, values.data()), 0);
    }
}

// The shared message is one user of the datatype, as long as it exists; each attribute of its own is another.
TEST(SharedTypedAttributes, AreUsersOfTheirDatatypeOnce) {
    const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_shared_mesg_nindexes(properties, 1), 0);
    ASSERT_GE(H5Pset_shared_mesg_index(properties, 0, H5O_SHMESG_ATTR_FLAG, 200), 0);
    Turns turns;
    turns.begin_by_libhdf5(properties);
    turns.by_libhdf5([](hid_t file) {
        put_typed(file);
        EXPECT_EQ(uses_of_type(file), 2U);  // with the link
    });
    const auto after = [&](unsigned uses) {
        turns.by_libhdf5([&](hid_t file) { EXPECT_EQ(uses_of_type(file), uses); });
    };
    const auto group = [&](const char* name) { return static_cast<Group&&>(*turns.root.open_group(name)); };
    EXPECT_EQ(StoredIndex(image_of(turns.storage)).uses, std::vector<std::uint32_t>{3});
    EXPECT_EQ(group("a").rename_attribute("typed", "renamed"), Status::ok) << turns.trail();
    after(3);
    EXPECT_EQ(StoredIndex(image_of(turns.storage)).uses, std::vector<std::uint32_t>{2});
    const std::vector<std::int32_t> values(kLong, 6);
    const ConstBytes bytes{reinterpret_cast<const std::byte*>(values.data()), 4 * values.size()};
    {
        auto type = NamedDatatype::from(static_cast<Object&&>(*turns.root.open_object("type")));
        ASSERT_EQ(type.status(), Status::ok);
        EXPECT_EQ(group("b").write_attribute("typed", *type, Dataspace::simple({kLong}), bytes), Status::ok)
            << turns.trail();
    }
    after(4);
    EXPECT_EQ(StoredIndex(image_of(turns.storage)).uses, std::vector<std::uint32_t>{1});
    EXPECT_EQ(group("c").replace_attribute("typed", kInteger, Dataspace::simple({kLong}), bytes), Status::ok);
    after(3);  // the message is gone
    EXPECT_EQ(StoredIndex(image_of(turns.storage)).uses, std::vector<std::uint32_t>{1});
    EXPECT_EQ(group("a").remove_attribute("renamed"), Status::ok);
    EXPECT_EQ(group("b").remove_attribute("typed"), Status::ok);
    after(1);
    EXPECT_EQ(turns.root.unlink("c"), Status::ok);
    after(1);
    EXPECT_FALSE(StoredIndex(image_of(turns.storage)).has_heap());
}

}  // namespace

#endif
