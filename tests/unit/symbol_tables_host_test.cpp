// Groups as libhdf5 makes them by default: h5mote and libhdf5 add, rename and remove links in turns, against a model.
#include "hdf5_image.hpp"
#include "promising_driver.hpp"
#include "recording_driver.hpp"
#include "sound.hpp"
#include "storage_bench.hpp"
#include "test_allocators.hpp"

#include <h5mote/port/malloc.hpp>
#include <h5mote/trail.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_TEST_HDF5

using namespace h5mote;
using namespace h5mote_test;

namespace {

// Names, and what they lead to: "=a" and "=b" are the objects of these names, everything else is the path of a soft
// link.
using Links = std::map<std::string, std::string>;

struct Options {
    std::string group = "g";  // or "/"
    unsigned tree_k = 16;
    unsigned node_k = 4;
    std::size_t cache = 4096;
    std::size_t most = 200;  // characters of names and paths
    bool atomic = false;
    std::size_t width = 8;  // bytes of addresses and sizes
};

std::string text(std::mt19937& random, std::size_t most) {
    std::string name(1 + random() % (random() % 20 == 0 ? most : 30), ' ');
    for (char& c : name) {
        c = static_cast<char>(random() % 50 == 0 ? 0x80 + random() % 100 : 'a' + random() % 26);
    }
    return name;
}

Capabilities promised(const Driver& storage, bool atomic) {
    Capabilities result = storage.capabilities();
    result.sync_is_commit = atomic;
    return result;
}

void make(const std::string& path, const Options& options) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_sym_k(create, options.tree_k, options.node_k);
    H5Pset_sizes(create, options.width, options.width);
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
    for (const char* const name : {"a", "b", "g"}) {
        const Hdf5Id group(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        ASSERT_GE(group, 0);
    }
}

class Mine {
public:
    Mine(const std::string& path, const Options& options)
        : path_(path),
          storage_(std::size_t{16} << 20),
          library(allocator, port, {}, formats::all),
          memory({storage_.data(), storage_.size()}),
          driver(memory, promised(memory, options.atomic)) {
        FileAccess access;
        access.metadata_cache = options.cache;
        const std::vector<std::byte> image = take_file(path);
        EXPECT_EQ(memory.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
        Result<File> opened = File::open(library, driver, access);
        EXPECT_EQ(opened.status(), Status::ok);
        file = std::move(*opened);
        group = std::move(*file.root().open_group(options.group));
        EXPECT_TRUE(group.valid());
    }
    ~Mine() {
        EXPECT_TRUE(findings_in(file).none()) << findings_in(file).last_kind;
        group = Group();
        EXPECT_EQ(file.close(), Status::ok);
        const std::vector<std::byte> image = image_of(memory);
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    }
    bool insert(const std::string& name, const std::string& target) {
        if (target[0] != '=') {
            return group.create_soft_link(name, target) == Status::ok;
        }
        Result<Object> object = file.root().open_object(target.substr(1));
        return object.status() == Status::ok && group.create_hard_link(name, *object) == Status::ok;
    }
    bool remove(const std::string& name) { return group.unlink(name) == Status::ok; }
    bool rename(const std::string& from, const std::string& to) { return group.rename(from, to) == Status::ok; }
    void pause(bool flush) {
        if (flush) {
            EXPECT_EQ(file.flush(), Status::ok);
        }
    }

    std::string path_;
    std::vector<std::byte> storage_;
    MallocAllocator allocator;
    NullPort port;
    Library library;
    MemoryDriver memory;
    PromisingDriver driver;
    File file;
    Group group;
};

class Theirs {
public:
    explicit Theirs(const std::string& path, const Options& options, bool write = true)
        : file(H5Fopen(path.c_str(), write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose),
          group(H5Gopen2(file, options.group.c_str(), H5P_DEFAULT), H5Gclose) {
        EXPECT_GE(file, 0);
        EXPECT_GE(group, 0);
    }
    bool insert(const std::string& name, const std::string& target) {
        return (target[0] == '='
                    ? H5Lcreate_hard(file, target.c_str() + 1, group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                    : H5Lcreate_soft(target.c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT)) >= 0;
    }
    bool remove(const std::string& name) { return H5Ldelete(group, name.c_str(), H5P_DEFAULT) >= 0; }
    bool rename(const std::string& from, const std::string& to) {
        return H5Lmove(group, from.c_str(), group, to.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    static void pause(bool /*flush*/) {}

    Hdf5Id file;
    Hdf5Id group;
};

struct Found {
    haddr_t a = 0;
    haddr_t b = 0;
    std::vector<std::pair<std::string, std::string>> links;
};

herr_t take(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    Found& found = *static_cast<Found*>(data);
    if (info->type == H5L_TYPE_HARD) {
        found.links.emplace_back(name, info->u.address == found.a ? "=a" : info->u.address == found.b ? "=b" : "=");
        return 0;
    }
    std::string target(info->u.val_size, '\0');
    if (info->type != H5L_TYPE_SOFT || H5Lget_val(group, name, target.data(), target.size(), H5P_DEFAULT) < 0) {
        return -1;
    }
    found.links.emplace_back(name, target.c_str());
    return 0;
}

// What libhdf5 finds is what the model has; each name is found, and the objects count their links.
void compare(const std::string& path, const Options& options, Links links) {
    Theirs theirs(path, options, false);
    Found found;
    H5O_info_t a;
    H5O_info_t b;
    ASSERT_GE(H5Oget_info_by_name2(theirs.file, "a", &a, H5O_INFO_BASIC, H5P_DEFAULT), 0);
    ASSERT_GE(H5Oget_info_by_name2(theirs.file, "b", &b, H5O_INFO_BASIC, H5P_DEFAULT), 0);
    found.a = a.addr;
    found.b = b.addr;
    const auto leads_to = [&](const char* object) {
        return static_cast<unsigned>(
            std::count_if(links.begin(), links.end(), [&](const auto& link) { return link.second == object; }));
    };
    EXPECT_EQ(a.rc, 1 + leads_to("=a"));
    EXPECT_EQ(b.rc, 1 + leads_to("=b"));
    if (options.group == "/") {
        links.insert({{"a", "=a"}, {"b", "=b"}, {"g", "="}});
    }
    hsize_t at = 0;
    ASSERT_GE(H5Literate(theirs.group, H5_INDEX_NAME, H5_ITER_INC, &at, &take, &found), 0);
    ASSERT_EQ(found.links.size(), links.size());
    ASSERT_TRUE(std::equal(found.links.begin(), found.links.end(), links.begin(), [](const auto& one, const auto& two) {
        return one.first == two.first && one.second == two.second;
    }));
    for (const auto& [name, target] : links) {
        ASSERT_GT(H5Lexists(theirs.group, name.c_str(), H5P_DEFAULT), 0) << name;
    }
    H5G_info_t info;
    ASSERT_GE(H5Gget_info(theirs.group, &info), 0);
    EXPECT_EQ(info.storage_type, H5G_STORAGE_TYPE_SYMBOL_TABLE);
}

template <typename Library>
void work(Library& library, std::mt19937& random, const Options& options, unsigned steps, std::size_t aim,
          Links& links) {
    const auto any = [&] {
        auto which = links.begin();
        std::advance(which, static_cast<std::ptrdiff_t>(random() % links.size()));
        return which->first;
    };
    const auto is_free = [&](const std::string& name) {
        return links.count(name) == 0 && (options.group != "/" || (name != "a" && name != "b" && name != "g"));
    };
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
        const std::string name = text(random, options.most);
        if (links.empty() || (random() % 4 != 0) == (links.size() < aim)) {
            const std::string target = random() % 3 == 0 ? "=a" : random() % 3 == 0 ? "=b" : text(random, options.most);
            const bool is_new = is_free(name);
            ASSERT_EQ(library.insert(name, target), is_new) << name;
            if (is_new) {
                links.emplace(name, target);
            }
        } else if (random() % 3 == 0) {
            const std::string from = any();
            const bool is_new = is_free(name);
            ASSERT_EQ(library.rename(from, name), is_new) << from << " " << name;
            if (is_new) {
                links.emplace(name, links[from]);
                links.erase(from);
            }
        } else {
            const std::string gone = any();
            ASSERT_TRUE(library.remove(gone)) << gone;
            links.erase(gone);
        }
        library.pause(random() % 40 == 0);
    }
}

void run(unsigned seed, const Options& options, unsigned sessions, unsigned steps, bool both) {
    std::mt19937 random(seed);
    const std::string path = "symbol_tables.h5";
    Links links;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    make(path, options);
    for (unsigned session = 0; session < sessions && !testing::Test::HasFailure(); ++session) {
        const std::size_t aim = session + 1 == sessions ? 0 : random() % 3 == 0 ? 3 : random() % steps;
        if (both && session % 2 == 0) {
            Theirs theirs(path, options);
            work(theirs, random, options, steps, aim, links);
        } else {
            Mine mine(path, options);
            work(mine, random, options, steps, aim, links);
        }
        compare(path, options, links);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " session " << session;
    }
}

}  // namespace

TEST(SymbolTables, OursIsReadByLibhdf5) {
    for (unsigned seed = 0; seed < 8; ++seed) {
        Options options;
        options.group = seed % 4 == 3 ? "/" : "g";
        options.atomic = seed % 2 != 0;
        run(seed, options, 8, 300, false);
    }
}

TEST(SymbolTables, FilesGoBackAndForth) {
    for (unsigned seed = 100; seed < 116; ++seed) {
        Options options;
        options.group = seed % 4 == 3 ? "/" : "g";
        options.atomic = seed % 2 != 0;
        options.tree_k = seed % 3 == 0 ? 2 : 16;
        options.node_k = seed % 5 == 0 ? 1 : seed % 5 == 1 ? 7 : 4;
        options.width = seed % 4 == 2 ? 4 : 8;
        run(seed, options, 9, 300, true);
    }
}

TEST(SymbolTables, ThousandsOfLinksAndLongNames) {
    for (unsigned seed = 200; seed < 204; ++seed) {
        Options options;
        options.atomic = seed % 2 != 0;
        options.most = 6000;
        options.node_k = seed == 202 ? 100 : 4;  // nodes of 8 KB, for which the cache has no room
        options.tree_k = seed == 203 ? 3 : 16;
        run(seed, options, 4, 3000, true);
    }
}

// Sorted names, which libhdf5 adds to the last node, and their removal from either end.
TEST(SymbolTables, NamesInOrder) {
    for (const bool atomic : {false, true}) {
        for (const bool backwards : {false, true}) {
            const std::string path = "symbol_tables.h5";
            Options options;
            options.atomic = atomic;
            options.tree_k = 2;
            Links links;
            make(path, options);
            {
                Mine mine(path, options);
                for (unsigned i = 0; i < 500; ++i) {
                    const std::string name = "name" + std::to_string(backwards ? 9999 - i : 1000 + i);
                    ASSERT_TRUE(mine.insert(name, "=a"));
                    links.emplace(name, "=a");
                }
            }
            compare(path, options, links);
            {
                Mine mine(path, options);
                for (unsigned i = 0; i < 480; ++i) {
                    const std::string name = i % 3 == 0 ? links.rbegin()->first : links.begin()->first;
                    ASSERT_TRUE(mine.remove(name));
                    links.erase(name);
                }
            }
            compare(path, options, links);
        }
    }
}

// A link that a symbol table cannot hold makes libhdf5 turn the group into one with link messages. It must find room
// for them in the headers that h5mote makes: libhdf5 1.10 loses messages of headers with some sizes of null messages.
class TurnedIntoLinkMessages : public testing::TestWithParam<std::uint8_t> {
protected:
    // A file whose root group has `links` links.
    void make(unsigned links, std::size_t length, bool attribute) const {
        MallocAllocator allocator;
        NullPort port;
        GrowingMemoryDriver storage(allocator);
        Library library(allocator, port, {}, formats::all);
        FileAccess access;
        access.low = FormatVersion::earliest;
        FileCreate create;
        create.sizeof_addr = GetParam();
        create.attributes.track_order = true;
        auto file = File::create(library, storage, access, create);
        ASSERT_EQ(file.status(), Status::ok);
        Group root = file->root();
        for (unsigned i = 0; i < links; ++i) {
            const std::string name = std::string(length, 'a') + std::to_string(i);
            ASSERT_EQ(i % 2 == 0 ? root.create_group(name).status() : root.create_soft_link(name, "/x"), Status::ok);
        }
        ASSERT_EQ(attribute ? root.write_attribute("a", 1) : Status::ok, Status::ok);
        root.close();
        ASSERT_EQ(file->close(), Status::ok);
        const ConstBytes image = storage.contents();
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    }
    // libhdf5 adds an external link, and three soft ones.
    void change(const std::string& name) const {
        const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        EXPECT_GE(H5Lcreate_external("other.h5", "/", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        for (const char* const more : {"1", "2", "3"}) {
            EXPECT_GE(H5Lcreate_soft("/x", file, (name + more).c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    }
    void expect_whole(unsigned links, bool attribute) const {
        const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        const Hdf5Id root(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose);
        H5G_info_t info{};
        ASSERT_GE(root, 0);
        ASSERT_GE(H5Gget_info(root, &info), 0);
        EXPECT_EQ(info.nlinks, links + 4);
        EXPECT_EQ(H5Aexists(root, "a") > 0, attribute);
    }

    const std::string path = "symbol_tables.h5";
};

TEST_P(TurnedIntoLinkMessages, LosesNothing) {
    for (unsigned links = 0; links < 6; ++links) {
        for (const std::size_t length : {1U, 7U, 16U, 37U}) {
            for (const std::size_t added : {1U, 8U, 22U, 57U}) {
                const bool attribute = (links + length + added) % 2 != 0;
                SCOPED_TRACE(testing::Message() << links << " links of " << length << ", one of " << added);
                make(links, length, attribute);
                change(std::string(added, 'z'));
                expect_whole(links, attribute);
            }
        }
    }
    std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Addresses, TurnedIntoLinkMessages, testing::Values(4, 8));

namespace {

// A root group with a header as small as libhdf5 makes it with addresses of four bytes and creation orders of
// attributes: a symbol table, and four bytes more.
void make_smallest(const std::string& path) {
    const Hdf5Id create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_sizes(create, 4, 8);
    H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
    const Hdf5Id made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT), H5Fclose);
    const Hdf5Id group(H5Gcreate2(made, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    ASSERT_GE(group, 0);
}

std::string comment_of(hid_t file) {
    char text[64] = "";
    return H5Oget_comment_by_name(file, "/", text, sizeof text, H5P_DEFAULT) < 0 ? "none" : text;
}

}  // namespace

// A comment that has the four bytes and becomes longer finds room for a continuation message only when all else moves.
TEST(SymbolTables, CommentsGrowInTheSmallestHeaders) {
    const std::string path = "symbol_tables.h5";
    for (const bool atomic : {false, true}) {
        for (std::size_t length = 1; length < 40; ++length) {
            SCOPED_TRACE(testing::Message() << length << (atomic ? ", atomic" : ", ordered"));
            make_smallest(path);
            const std::string comment(length, 'c');
            Options options;
            options.atomic = atomic;
            {
                Mine mine(path, options);
                Group root = mine.file.root();
                ASSERT_EQ(root.set_comment("abc"), Status::ok);
                ASSERT_EQ(mine.file.flush(), Status::ok);
                ASSERT_EQ(root.set_comment(comment), Status::ok);
                ASSERT_EQ(root.create_soft_link("soft", "g"), Status::ok);
            }
            const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
            EXPECT_EQ(comment_of(file), comment);
            EXPECT_GT(H5Lexists(file, "g", H5P_DEFAULT), 0);
            EXPECT_GT(H5Lexists(file, "soft", H5P_DEFAULT), 0);
        }
    }
    std::remove(path.c_str());
}

TEST(SymbolTables, CutsOfCommentsThatGrow) {
    const std::string path = "symbol_tables.h5";
    make_smallest(path);
    MallocAllocator allocator;
    NullPort port;
    GrowingMemoryDriver memory(allocator);
    RecordingDriver recording(memory);
    const std::vector<std::byte> image = take_file(path);
    ASSERT_EQ(recording.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
    Library library(allocator, port, {}, formats::all);
    auto file = File::open(library, recording, {});
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    ASSERT_EQ(root.set_comment("abc"), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    const std::size_t before = recording.operations().size();
    const std::string comment(20, 'c');
    ASSERT_EQ(root.set_comment(comment), Status::ok);
    ASSERT_EQ(file->flush(), Status::ok);
    unsigned old = 0;
    unsigned changed = 0;
    for (std::size_t i = before; i <= recording.operations().size(); ++i) {
        const std::vector<std::byte> cut = recording.image(i);
        const Hdf5Id opened = open_image({cut.data(), cut.size()});
        ASSERT_GE(opened, 0) << i;
        EXPECT_GT(H5Lexists(opened, "g", H5P_DEFAULT), 0) << i;
        ++(comment_of(opened) == "abc" ? old : changed);
        EXPECT_TRUE(comment_of(opened) == "abc" || comment_of(opened) == comment) << i;
    }
    EXPECT_GT(old, 1U);
    EXPECT_GT(changed, 0U);
    root.close();
    EXPECT_EQ(file->close(), Status::ok);
}

// Whole groups below such a group come and go, and what they had is used again.
TEST(SymbolTables, GroupsAreDeleted) {
    const std::string path = "symbol_tables.h5";
    Options options;
    make(path, options);
    {
        Theirs theirs(path, options);
        for (unsigned i = 0; i < 20; ++i) {
            const std::string name = "below" + std::to_string(i);
            const Hdf5Id group(H5Gcreate2(theirs.group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            ASSERT_GE(group, 0);
            ASSERT_GE(H5Lcreate_soft("x", group, "link", H5P_DEFAULT, H5P_DEFAULT), 0);
        }
    }
    Mine mine(path, options);
    std::uint64_t lost = 1;
    EXPECT_EQ(mine.file.reclaim(&lost), Status::ok);  // what libhdf5 has forgotten
    EXPECT_EQ(mine.group.unlink("below0"), Status::busy);
    EXPECT_EQ(mine.group.unlink("below0/link"), Status::ok);
    EXPECT_EQ(mine.group.unlink("below0"), Status::ok);
    for (unsigned i = 1; i < 20; ++i) {
        ASSERT_EQ(mine.group.unlink_tree("below" + std::to_string(i)), Status::ok);
    }
    EXPECT_EQ(mine.file.flush(), Status::ok);
    EXPECT_EQ(mine.file.reclaim(&lost), Status::ok);
    EXPECT_EQ(lost, 0U);  // all that they had was known to be free
    std::uint32_t links = 0;
    EXPECT_EQ(mine.group.link_count(links), Status::ok);
    EXPECT_EQ(links, 0U);
}

// What no group can have is refused, and so is everything where the program lacks the part.
TEST(SymbolTables, Refusals) {
    const std::string path = "symbol_tables.h5";
    Options options;
    make(path, options);
    {
        Mine mine(path, options);
        EXPECT_EQ(mine.group.create_soft_link("x", std::string_view("a\0b", 3)), Status::invalid_argument);
        EXPECT_FALSE(mine.group.exists("x"));
        EXPECT_EQ(mine.group.unlink("x"), Status::not_found);
        EXPECT_EQ(mine.group.create_soft_link("x", "y"), Status::ok);
        EXPECT_EQ(mine.group.create_soft_link("x", "y"), Status::already_exists);
        EXPECT_EQ(mine.group.rename("x", "x"), Status::already_exists);
        EXPECT_EQ(mine.group.unlink("x"), Status::ok);
    }
    compare(path, options, {});
    const std::vector<std::byte> image = take_file(path);
    std::vector<std::byte> storage(image.size() + 4096);
    MallocAllocator allocator;
    NullPort port;
    Formats list = formats::all;
    list.symbol_table_changes = nullptr;
    Library library(allocator, port, {}, list);
    MemoryDriver driver({storage.data(), storage.size()});
    ASSERT_EQ(driver.write(Usage::raw_data, 0, {image.data(), image.size()}), Status::ok);
    Result<File> file = File::open(library, driver, FileAccess{});
    ASSERT_EQ(file.status(), Status::ok);
    EXPECT_EQ(file->root().create_soft_link("x", "y"), Status::unsupported);
    EXPECT_EQ(file->root().unlink("a"), Status::unsupported);
    EXPECT_EQ(file->close(), Status::ok);
}

#endif
