// Messages, names and types of about 64 KiB, where the fields of 16 bits end that state sizes in object headers: files
// of libhdf5 are changed, and nothing beside the change is lost.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

#include <h5mote/type_builder.hpp>

#include <functional>
#include <map>
#include <random>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

void put_text(hid_t object, const char* name, std::size_t length) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, length);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id made(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const std::string text(length, name[0]);
    ASSERT_GE(H5Awrite(made, type, text.data()), 0) << name;
}

// The value of an attribute that put_text() has made, or a text of h5mote.
std::string text_of_attribute(hid_t object, const char* name) {
    const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
    std::string text(H5Tget_size(type), ' ');
    return attribute < 0 || H5Aread(attribute, type, &text[0]) < 0 ? "none" : text;
}

// Makes the group "g" in the generation of the format whose lower bound is `low`.
void make_group(hid_t file, H5F_libver_t low, const std::function<void(hid_t)>& fill) {
    ASSERT_GE(H5Fset_libver_bounds(file, low, H5F_LIBVER_LATEST), 0);
    const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    ASSERT_GE(group, 0);
    fill(group);
}

// A file of libhdf5 with this lower bound; h5mote changes blocks of more than 64 KiB in its cache.
struct WideTurns : Turns {
    explicit WideTurns(H5F_libver_t low) {
        access.metadata_cache = std::size_t{1} << 20;
        const Hdf5Id bounds(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_libver_bounds(bounds, low, H5F_LIBVER_LATEST);
        begin_by_libhdf5(H5P_DEFAULT, bounds);
    }
};

}  // namespace

// libhdf5 extends the last block of a header at the end of a file: it is larger than one null message can be.
TEST(WideMessages, AShortAttributeTakesThePlaceOfLargeOnes) {
    for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18}) {
        SCOPED_TRACE(low);
        WideTurns turns(low);
        turns.by_libhdf5([&](hid_t file) {
            make_group(file, low, [](hid_t group) {
                put_text(group, "one", 10);
                put_text(group, "A", 30000);
                put_text(group, "B", 40000);
                put_text(group, "last", 10);
            });
        });
        Result<Group> group = turns.root.open_group("g");
        ASSERT_EQ(group.status(), Status::ok);
        EXPECT_EQ(group->remove_attribute("B"), Status::ok);
        EXPECT_EQ(group->write_attribute("A", "small"), Status::ok);
        group = Group();
        turns.by_libhdf5([](hid_t file) {
            const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
            EXPECT_EQ(text_of_attribute(changed, "one"), std::string(10, 'o'));
            EXPECT_EQ(text_of_attribute(changed, "A"), "small");
            EXPECT_EQ(text_of_attribute(changed, "last"), std::string(10, 'l'));
            put_text(changed, "more", 50000);
            EXPECT_GE(H5Adelete(changed, "one"), 0);
        });
        AttributeInfo info;
        EXPECT_EQ(turns.root.open_group("g")->attribute_info("more", info), Status::ok);
    }
}

namespace {

// Attributes by name, and how long their texts are.
using Model = std::map<std::string, std::size_t>;

// The next change: an attribute and its length; 0: it is removed.
std::pair<std::string, std::size_t> next_change(std::mt19937& random) {
    static constexpr std::size_t kLengths[] = {0, 0, 1, 20, 3000, 20000, 30000, 50000, 60000, 65400};
    const std::size_t length = kLengths[random() % std::size(kLengths)];
    return {std::string(1, static_cast<char>('a' + random() % 7)), length == 0 ? 0 : length + random() % 40};
}

void change(Model& model, const std::pair<std::string, std::size_t>& next) {
    if (next.second == 0) {
        model.erase(next.first);
    } else {
        model[next.first] = next.second;
    }
}

}  // namespace

// Attributes of such sizes come, go and change in turns, in headers of both versions.
TEST(WideMessages, LargeAttributesInTurns) {
    for (unsigned seed = 1; seed <= 16; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const H5F_libver_t low = seed % 2 == 0 ? H5F_LIBVER_EARLIEST : H5F_LIBVER_V18;
        WideTurns turns(low);
        turns.by_libhdf5([&](hid_t file) { make_group(file, low, [](hid_t) {}); });
        Model model;
        for (unsigned turn = 0; turn < 8; ++turn) {
            SCOPED_TRACE(turn);
            Result<Group> group = turns.root.open_group("g");
            ASSERT_EQ(group.status(), Status::ok);
            for (auto i = random() % 6; i != 0; --i) {
                const auto next = next_change(random);
                const std::string text(next.second, next.first[0]);
                const Status status = next.second == 0 ? group->remove_attribute(next.first)
                                                       : group->write_attribute(next.first, std::string_view(text));
                ASSERT_EQ(status, next.second == 0 && model.count(next.first) == 0 ? Status::not_found : Status::ok);
                change(model, next);
            }
            group = Group();
            turns.by_libhdf5([&](hid_t file) {
                const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
                H5O_info_t info;
                ASSERT_GE(H5Oget_info(changed, &info), 0);
                ASSERT_EQ(info.num_attrs, model.size());
                for (const auto& attribute : model) {
                    ASSERT_TRUE(text_of_attribute(changed, attribute.first.c_str()) ==
                                std::string(attribute.second, attribute.first[0]))
                        << attribute.first;
                }
                for (auto i = random() % 4; i != 0; --i) {
                    const auto next = next_change(random);
                    if (model.count(next.first) != 0) {
                        ASSERT_GE(H5Adelete(changed, next.first.c_str()), 0);
                    }
                    if (next.second != 0) {
                        put_text(changed, next.first.c_str(), next.second);
                    }
                    change(model, next);
                }
            });
        }
    }
}

// A run of messages that make room for a continuation message has more bytes than one null message can.
TEST(WideMessages, AnAttributeBesideOneOf64KiB) {
    constexpr std::size_t kRest = 23;  // what the message has besides the text
    for (const std::size_t size : {65533, 65534, 65535}) {
        SCOPED_TRACE(size);
        WideTurns turns(H5F_LIBVER_V18);
        turns.by_libhdf5([&](hid_t file) {
            ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_V18, H5F_LIBVER_LATEST), 0);
            const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
            const Hdf5Id data(H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                              H5Dclose);
            ASSERT_GE(data, 0);
            put_text(data, "B", size - kRest);
        });
        Result<Dataset> data = turns.root.open_dataset("d");
        ASSERT_EQ(data.status(), Status::ok);
        EXPECT_EQ(data->write_attribute("new", "value"), Status::ok);
        data = Dataset();
        turns.by_libhdf5([&](hid_t file) {
            const Hdf5Id changed(H5Dopen2(file, "d", H5P_DEFAULT), H5Dclose);
            EXPECT_EQ(text_of_attribute(changed, "B"), std::string(size - kRest, 'B'));
            EXPECT_EQ(text_of_attribute(changed, "new"), "value");
        });
    }
}

// A block of version 2 ends in a gap where libhdf5 has replaced an attribute by one that is a little shorter. The gap
// becomes part of what is removed.
TEST(WideMessages, AnAttributeOf64KiBIsRemovedFromABlockWithAGap) {
    for (const std::size_t gap : {1, 2, 3}) {
        for (const std::size_t first : {60, 100}) {
            SCOPED_TRACE(testing::Message() << first << ", " << gap);
            WideTurns turns(H5F_LIBVER_V18);
            turns.by_libhdf5([](hid_t file) {
                make_group(file, H5F_LIBVER_V18, [](hid_t group) { EXPECT_GE(group, 0); });
                const Hdf5Id other(H5Gcreate2(file, "behind", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
                EXPECT_GE(other, 0);
            });
            turns.by_libhdf5([&](hid_t file) {
                const Hdf5Id group(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
                put_text(group, "X", first);
                put_text(group, "Z", 60);
                put_text(group, "B", 65535 - 23);
                put_text(group, "W", 5);
            });
            turns.by_libhdf5([&](hid_t file) {
                const Hdf5Id group(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
                ASSERT_GE(H5Adelete(group, "X"), 0);
                put_text(group, "Y", first - gap);
            });
            Result<Group> group = turns.root.open_group("g");
            ASSERT_EQ(group.status(), Status::ok);
            EXPECT_EQ(group->remove_attribute("B"), Status::ok);
            group = Group();
            turns.by_libhdf5([&](hid_t file) {
                const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
                EXPECT_EQ(text_of_attribute(changed, "Z"), std::string(60, 'Z'));
                EXPECT_EQ(text_of_attribute(changed, "Y"), std::string(first - gap, 'Y'));
                EXPECT_EQ(text_of_attribute(changed, "W"), std::string(5, 'W'));
            });
        }
    }
}

// Links are encoded anew when a group gets storage of h5mote's; those beside the new one keep their names.
TEST(WideMessages, LinksWithNamesOfMoreThan64KiB) {
    const std::string name(70000, 'n');
    for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18}) {
        SCOPED_TRACE(low);
        WideTurns turns(low);
        turns.by_libhdf5([&](hid_t file) {
            make_group(file, low, [&](hid_t group) {
                const Hdf5Id made(H5Gcreate2(group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
                EXPECT_GE(made, 0);
            });
        });
        Result<Group> group = turns.root.open_group("g");
        ASSERT_EQ(group.status(), Status::ok);
        // An external link turns a symbol table into links.
        EXPECT_EQ(group->create_external_link("out", "other.h5", "/x"), Status::ok);
        EXPECT_EQ(group->create_soft_link("soft", "/x"), Status::ok);
        EXPECT_EQ(group->open_group(name).status(), Status::ok);
        group = Group();
        turns.by_libhdf5([&](hid_t file) {
            const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
            const Hdf5Id below(H5Gopen2(changed, name.c_str(), H5P_DEFAULT), H5Gclose);
            EXPECT_GE(below, 0);
            EXPECT_GT(H5Lexists(changed, "soft", H5P_DEFAULT), 0);
        });
    }
}

// libhdf5 can flag any name as ASCII or UTF-8. What happens to other links and attributes does not change that.
TEST(WideMessages, NamesKeepTheirCharacterSets) {
    const char* const kLatin = "l\xe9t";
    WideTurns turns(H5F_LIBVER_V18);
    turns.by_libhdf5([&](hid_t file) {
        make_group(file, H5F_LIBVER_V18, [&](hid_t group) {
            const Hdf5Id utf8(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
            H5Pset_char_encoding(utf8, H5T_CSET_UTF8);
            EXPECT_GE(H5Lcreate_soft("/x", group, "utf8", utf8, H5P_DEFAULT), 0);
            EXPECT_GE(H5Lcreate_soft("/x", group, kLatin, H5P_DEFAULT, H5P_DEFAULT), 0);
            const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
            const Hdf5Id create(H5Pcreate(H5P_ATTRIBUTE_CREATE), H5Pclose);
            H5Pset_char_encoding(create, H5T_CSET_UTF8);
            const Hdf5Id made(H5Acreate2(group, "utf8", H5T_STD_I32LE, space, create, H5P_DEFAULT), H5Aclose);
            EXPECT_GE(made, 0);
        });
    });
    Result<Group> group = turns.root.open_group("g");
    ASSERT_EQ(group.status(), Status::ok);
    for (unsigned i = 0; i < 9; ++i) {  // so many that they are stored densely
        const std::string name = "n" + std::to_string(i);
        EXPECT_EQ(group->create_soft_link(name, "/x"), Status::ok);
        EXPECT_EQ(group->write_attribute(name, i), Status::ok);
    }
    EXPECT_EQ(group->rename_attribute("utf8", "renamed"), Status::ok);
    group = Group();
    turns.by_libhdf5([&](hid_t file) {
        const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
        H5L_info_t link;
        ASSERT_GE(H5Lget_info(changed, "utf8", &link, H5P_DEFAULT), 0);
        EXPECT_EQ(link.cset, H5T_CSET_UTF8);
        ASSERT_GE(H5Lget_info(changed, kLatin, &link, H5P_DEFAULT), 0);
        EXPECT_EQ(link.cset, H5T_CSET_ASCII);
        H5A_info_t attribute;
        ASSERT_GE(H5Aget_info_by_name(changed, ".", "renamed", &attribute, H5P_DEFAULT), 0);
        EXPECT_EQ(attribute.cset, H5T_CSET_UTF8);
    });
}

// An attribute's message has 16 bits for the size of the datatype, wherever the attribute is stored.
TEST(WideMessages, ADatatypeOfMoreThan64KiB) {
    constexpr unsigned kMembers = 2000;
    std::vector<std::byte> memory(std::size_t{1} << 20);
    std::byte small[64];
    TypeBuilder number{Bytes(small)};
    ASSERT_EQ(number.integer(1, true), Status::ok);
    TypeBuilder compound{Bytes(memory.data(), memory.size())};
    ASSERT_EQ(compound.compound(kMembers), Status::ok);
    for (unsigned i = 0; i < kMembers; ++i) {
        const std::string name = "member with a long name " + std::to_string(i);
        ASSERT_EQ(compound.member(name, i, number.type()), Status::ok);
    }
    ASSERT_GT(compound.type().encoded_length(), 0xffffU);
    const std::vector<std::byte> value(kMembers, std::byte{3});
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest}) {
        Turns mine(low);
        mine.access.metadata_cache = std::size_t{1} << 20;
        mine.begin();
        EXPECT_EQ(mine.root.write_attribute("small", 1), Status::ok);
        EXPECT_EQ(mine.root.write_attribute("big", compound.type(), Dataspace(), {value.data(), value.size()}),
                  Status::over_budget);
        AttributeInfo info;
        EXPECT_EQ(mine.root.attribute_info("big", info), Status::not_found);
        int read = 0;
        EXPECT_EQ(mine.root.read_attribute("small", read), Status::ok);
        EXPECT_EQ(read, 1);
    }
}

namespace {

constexpr std::size_t kHuge = 5000;

std::string huge(char name) { return std::string(kHuge, name); }

bool has_link(hid_t group, char name) {
    char target[8] = "";
    return H5Lget_val(group, huge(name).c_str(), target, sizeof target, H5P_DEFAULT) >= 0 &&
           target == std::string("/x");
}

}  // namespace

// With addresses of two bytes and sizes of four, the ids of huge objects in a fractal heap tell where these are.
TEST(HugeObjects, IdsThatTellThePlace) {
    const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_sizes(properties, 2, 4), 0);
    Turns turns;
    turns.begin_by_libhdf5(properties);
    turns.by_libhdf5([&](hid_t file) {
        make_group(file, H5F_LIBVER_V18, [&](hid_t group) {
            for (const char* const name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
                EXPECT_GE(H5Lcreate_soft("/x", group, name, H5P_DEFAULT, H5P_DEFAULT), 0);
            }
            EXPECT_GE(H5Lcreate_soft("/x", group, huge('L').c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
        });
    });
    Result<Group> group = turns.root.open_group("g");
    ASSERT_EQ(group.status(), Status::ok);
    EXPECT_EQ(group->create_soft_link(huge('m'), "/x"), Status::ok);
    EXPECT_EQ(group->create_soft_link(huge('n'), "/x"), Status::ok);
    EXPECT_EQ(group->unlink(huge('m')), Status::ok);
    for (unsigned i = 0; i < 9; ++i) {
        EXPECT_EQ(group->write_attribute("small" + std::to_string(i), i), Status::ok);
    }
    EXPECT_EQ(group->write_attribute("big", std::string_view(huge('v'))), Status::ok);
    EXPECT_EQ(group->write_attribute("big", std::string_view(huge('w') + huge('w'))), Status::ok);
    Link found;
    EXPECT_EQ(group->find_link(huge('L'), found), Status::ok);
    EXPECT_EQ(group->find_link(huge('n'), found), Status::ok);
    group = Group();
    turns.by_libhdf5([&](hid_t file) {
        const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
        EXPECT_TRUE(has_link(changed, 'L'));
        EXPECT_FALSE(has_link(changed, 'm'));
        EXPECT_TRUE(has_link(changed, 'n'));
        EXPECT_EQ(text_of_attribute(changed, "big"), huge('w') + huge('w'));
        EXPECT_GE(H5Ldelete(changed, huge('n').c_str(), H5P_DEFAULT), 0);
        EXPECT_GE(H5Adelete(changed, "big"), 0);
        EXPECT_GE(H5Lcreate_soft("/x", changed, huge('o').c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
    });
    EXPECT_EQ(turns.root.open_group("g")->unlink(huge('o')), Status::ok);
    EXPECT_EQ(turns.root.open_group("g")->find_link(huge('L'), found), Status::ok);
}

// With sizes of two bytes no heap can have direct blocks of 64 KiB: links and attributes stay in the header.
TEST(HugeObjects, SizesOfTwoBytes) {
    const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_sizes(properties, 4, 2), 0);
    Turns turns;
    turns.begin_by_libhdf5(properties);
    turns.by_libhdf5([&](hid_t file) { make_group(file, H5F_LIBVER_V18, [](hid_t) {}); });
    Result<Group> group = turns.root.open_group("g");
    ASSERT_EQ(group.status(), Status::ok);
    for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(group->create_soft_link("link" + std::to_string(i), "/x"), Status::ok);
        EXPECT_EQ(group->write_attribute("a" + std::to_string(i), i), Status::ok);
    }
    group = Group();
    turns.by_libhdf5([&](hid_t file) {
        const Hdf5Id changed(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
        H5G_info_t info;
        ASSERT_GE(H5Gget_info(changed, &info), 0);
        EXPECT_EQ(info.nlinks, 20U);
        EXPECT_EQ(info.storage_type, H5G_STORAGE_TYPE_COMPACT);
        EXPECT_GT(H5Aexists(changed, "a19"), 0);
    });
}

#endif
