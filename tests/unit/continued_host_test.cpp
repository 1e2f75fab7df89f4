// Files that libhdf5 and h5mote change in turns: what one of them arranges, the other has to find and to change.
#include <h5mote/config.hpp>

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && defined(H5MOTE_TEST_HDF5)

#include "turns.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>

namespace {

using namespace h5mote;
using namespace h5mote_test;

std::string text_by_libhdf5(hid_t file, const char* object, const char* name) {
    const Hdf5Id attribute(H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (attribute < 0) {
        return "no attribute";
    }
    const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
    char* text = nullptr;
    EXPECT_GE(H5Aread(attribute, type, static_cast<void*>(&text)), 0);
    std::string result = text == nullptr ? "no text" : text;
    (void)H5free_memory(text);
    return result;
}

/// Whether every byte of the global heap is free that no text needs any more.
std::uint64_t heap_objects(hid_t file, const char* object) {
    std::uint64_t count = 0;
    const auto add = [](hid_t at, const char* name, const H5A_info_t*, void* to) -> herr_t {
        const Hdf5Id attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose);
        const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
        *static_cast<std::uint64_t*>(to) += H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0;
        return 0;
    };
    const Hdf5Id opened(H5Oopen(file, object, H5P_DEFAULT), H5Oclose);
    EXPECT_GE(H5Aiterate2(opened, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &count), 0);
    return count;
}

class AttributesInTurns : public ::testing::TestWithParam<std::tuple<FormatVersion, bool>> {};

// Values of any length, in object headers of both versions and in dense storage.
TEST_P(AttributesInTurns, AreReplacedRenamedAndRemoved) {
    const auto [version, dense] = GetParam();
    Turns turns(version);
    turns.begin();
    Group group = static_cast<Group&&>(*turns.root.create_group("g"));
    for (int i = 0; i < (dense ? 12 : 3); ++i) {
        ASSERT_EQ(group.write_attribute("number " + std::to_string(i), i), Status::ok);
    }
    const std::string long_text(300, 'x');
    ASSERT_EQ(group.write_attribute("text", VariableString<>{"first"}), Status::ok);
    ASSERT_EQ(group.write_attribute("text", VariableString<>{"second"}), Status::ok);
    ASSERT_EQ(group.replace_attribute("text", VariableString<>{long_text.c_str()}), Status::ok);
    ASSERT_EQ(group.replace_attribute("number 1", VariableString<>{"no number"}), Status::ok);
    ASSERT_EQ(group.write_attribute("gone", VariableString<>{"gone"}), Status::ok);
    ASSERT_EQ(group.remove_attribute("gone"), Status::ok);
    ASSERT_EQ(group.rename_attribute("text", "another name"), Status::ok);
    ASSERT_EQ(group.rename_attribute("number 2", "n"), Status::ok);
    EXPECT_EQ(group.rename_attribute("n", "number 0"), Status::already_exists);
    EXPECT_EQ(group.rename_attribute("number 2", "m"), Status::not_found);
    turns.by_libhdf5([&](hid_t file) {
        EXPECT_EQ(text_by_libhdf5(file, "g", "another name"), long_text);
        EXPECT_EQ(text_by_libhdf5(file, "g", "number 1"), "no number");
        EXPECT_EQ(heap_objects(file, "g"), 2U);
        int n = 0;
        const Hdf5Id attribute(H5Aopen_by_name(file, "g", "n", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        ASSERT_GE(H5Aread(attribute, H5T_NATIVE_INT, &n), 0);
        EXPECT_EQ(n, 2);
        EXPECT_GE(H5Arename_by_name(file, "g", "n", "renamed by libhdf5", H5P_DEFAULT), 0);
    });
    group = static_cast<Group&&>(*turns.root.open_group("g"));
    ASSERT_EQ(group.rename_attribute("renamed by libhdf5", "n"), Status::ok);
    ASSERT_EQ(group.replace_attribute("another name", 7.5), Status::ok);
    turns.by_libhdf5([&](hid_t file) {
        double value = 0;
        const Hdf5Id attribute(H5Aopen_by_name(file, "g", "another name", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        ASSERT_GE(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), 0);
        EXPECT_EQ(value, 7.5);
        EXPECT_GT(H5Aexists_by_name(file, "g", "n", H5P_DEFAULT), 0);
        EXPECT_EQ(H5Aexists_by_name(file, "g", "renamed by libhdf5", H5P_DEFAULT), 0);
    });
}

// Committed datatypes of fixed and of any length: their users are counted, wherever the attributes are.
TEST_P(AttributesInTurns, OfCommittedDatatypes) {
    const auto [version, dense] = GetParam();
    Turns turns(version);
    turns.begin();
    auto number = turns.root.commit_datatype("number", datatype_of<std::int32_t>());
    auto text = turns.root.commit_datatype("text", datatype_of<VariableString<>>());
    ASSERT_EQ(number.status(), Status::ok);
    ASSERT_EQ(text.status(), Status::ok);
    Group group = static_cast<Group&&>(*turns.root.create_group("g"));
    for (int i = 0; i < (dense ? 12 : 2); ++i) {
        ASSERT_EQ(group.write_attribute("plain " + std::to_string(i), i), Status::ok);
    }
    const std::int32_t five = 5;
    const char* const word = "word";
    const ConstBytes bytes = as_bytes(Span<const std::int32_t>(&five, 1));
    const ConstBytes pointer{reinterpret_cast<const std::byte*>(&word), sizeof word};
    ASSERT_EQ(group.write_attribute("n", *number, Dataspace::scalar(), bytes), Status::ok);
    ASSERT_EQ(group.write_attribute("n", *number, Dataspace::scalar(), bytes), Status::ok);
    EXPECT_EQ(group.write_attribute("t", *text, Dataspace::scalar(), pointer), Status::unsupported);
    const DatatypeView memory = datatype_of<VariableString<>>();
    ASSERT_EQ(group.write_attribute("t", *text, memory, Dataspace::scalar(), pointer), Status::ok);
    EXPECT_EQ(group.write_attribute("n", *text, memory, Dataspace::scalar(), pointer), Status::type_mismatch);
    ASSERT_EQ(group.write_attribute("u", *text, memory, Dataspace::scalar(), pointer), Status::ok);
    ASSERT_EQ(group.rename_attribute("u", "v"), Status::ok);
    const auto users = [&](hid_t file, const char* type) {
        H5O_info_t info;
        EXPECT_GE(H5Oget_info_by_name2(file, type, &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
        return info.rc;
    };
    number->close();
    text->close();
    turns.by_libhdf5([&](hid_t file) {
        EXPECT_EQ(users(file, "number"), 2U);
        EXPECT_EQ(users(file, "text"), 3U);
        EXPECT_EQ(text_by_libhdf5(file, "g", "t"), "word");
        EXPECT_EQ(text_by_libhdf5(file, "g", "v"), "word");
    });
    group = static_cast<Group&&>(*turns.root.open_group("g"));
    ASSERT_EQ(group.replace_attribute("n", 1.5), Status::ok);
    ASSERT_EQ(group.replace_attribute("t", std::int64_t{1}), Status::ok);
    ASSERT_EQ(group.remove_attribute("v"), Status::ok);
    turns.by_libhdf5([&](hid_t file) {
        EXPECT_EQ(users(file, "number"), 1U);
        EXPECT_EQ(users(file, "text"), 1U);
        EXPECT_EQ(heap_objects(file, "g"), 0U);
    });
    group = static_cast<Group&&>(*turns.root.open_group("g"));
    {
        const auto type = [&](const char* name) {
            return NamedDatatype::from(static_cast<Object&&>(*turns.root.open_object(name)));
        };
        ASSERT_EQ(group.write_attribute("m", *type("number"), Dataspace::scalar(), bytes), Status::ok);
        ASSERT_EQ(group.write_attribute("w", *type("text"), memory, Dataspace::scalar(), pointer), Status::ok);
    }
    group.close();
    ASSERT_EQ(turns.root.unlink("g"), Status::ok);
    turns.by_libhdf5([&](hid_t file) {
        EXPECT_EQ(users(file, "number"), 1U);
        EXPECT_EQ(users(file, "text"), 1U);
    });
}

INSTANTIATE_TEST_SUITE_P(All, AttributesInTurns,
                         ::testing::Values(std::tuple(FormatVersion::standard, false),
                                           std::tuple(FormatVersion::standard, true),
                                           std::tuple(FormatVersion::earliest, false),
                                           std::tuple(FormatVersion::v110, true)));

// libhdf5 writes a continuation message into a header of version 1 without asking whether there is room for it.
TEST(InTurns, OldHeadersHaveRoomForWhatLibhdf5Adds) {
    for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
        SCOPED_TRACE(int{width});
        Turns turns(FormatVersion::earliest, width);
        turns.begin();
        ASSERT_EQ(turns.root.create_group("g").status(), Status::ok);
        ASSERT_EQ(turns.root.commit_datatype("t", datatype_of<std::int8_t>()).status(), Status::ok);
        turns.by_libhdf5([&](hid_t file) {
            const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
            for (const char* const path : {"/", "g", "t"}) {
                for (const char* const name : {"a", "b"}) {
                    const Hdf5Id made(H5Acreate_by_name(file, path, name, H5T_NATIVE_INT, space, H5P_DEFAULT,
                                                        H5P_DEFAULT, H5P_DEFAULT),
                                      H5Aclose);
                    EXPECT_GE(made, 0);
                }
            }
        });
        for (const char* const path : {"/", "g", "t"}) {
            auto object = turns.root.open_object(path);
            ASSERT_EQ(object.status(), Status::ok);
            EXPECT_TRUE(object->has_attribute("b")) << path;
        }
    }
}

// A copy by libhdf5 of an old filter pipeline has the name of each filter, for which the original needs room.
TEST(InTurns, Libhdf5CopiesFilteredDatasets) {
    for (const FormatVersion version : {FormatVersion::earliest, FormatVersion::v18, FormatVersion::standard}) {
        Turns turns(version);
        turns.begin();
        std::vector<std::int32_t> values(100);
        std::iota(values.begin(), values.end(), 0);
        DatasetCreate create;
        create.chunk = {10};
        create.filters = {filters::shuffle, filters::deflate, filters::fletcher32};
        {
            auto made =
                turns.root.create_dataset("data", datatype_of<std::int32_t>(), Dataspace::simple({100}), create);
            ASSERT_EQ(made.status(), Status::unsupported);  // a filter is missing
            create.filters = {filters::deflate};
            made = turns.root.create_dataset("data", datatype_of<std::int32_t>(), Dataspace::simple({100}), create);
            ASSERT_EQ(made.status(), Status::ok);
            ASSERT_EQ(made->write(Selection::all(), datatype_of<std::int32_t>(),
                                  as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
                      Status::ok);
        }
        turns.by_libhdf5([&](hid_t file) {
            ASSERT_GE(H5Ocopy(file, "data", file, "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
            // More links than one: their number is a message for which the packed header of the copy has no room.
            ASSERT_GE(H5Ocopy(file, "data", file, "second", H5P_DEFAULT, H5P_DEFAULT), 0);
        });
        std::vector<std::int32_t> found(100);
        auto copy = turns.root.open_dataset("copy");
        ASSERT_EQ(copy.status(), Status::ok);
        ASSERT_EQ(copy->read(Selection::all(), datatype_of<std::int32_t>(),
                             {reinterpret_cast<std::byte*>(found.data()), 400}),
                  Status::ok);
        EXPECT_EQ(found, values);
        EXPECT_EQ(turns.root.create_hard_link("third", *turns.root.open_object("second")), Status::ok);
        EXPECT_EQ(copy->write_attribute("unit", "mm"), Status::ok);
    }
}

// A copy, and a walk over the chunks, see what was written before anything is flushed.
TEST(InTurns, ChunksInMemoryAreCopied) {
    for (const FormatVersion version : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
        Turns turns(version);
        turns.begin();
        DatasetCreate create;
        create.chunk = {7};
        auto rows = turns.root.create_dataset<std::int32_t>("rows", create);
        ASSERT_EQ(rows.status(), Status::ok);
        for (int i = 0; i < 36; ++i) {
            ASSERT_EQ(rows->append(i), Status::ok);
        }
        ChunkIterator chunks(*rows);
        ChunkInfo chunk;
        unsigned count = 0;
        while (chunks.next(chunk) == Status::ok) {
            ++count;
        }
        EXPECT_EQ(count, 6U);
        ASSERT_EQ(rows->append(36), Status::ok);
        ASSERT_EQ(copy_object(turns.root, "rows", turns.root, "copy"), Status::ok);
        auto copy = turns.root.open_dataset("copy");
        ASSERT_EQ(copy.status(), Status::ok);
        ASSERT_EQ(copy->size(), 37U);
        std::int32_t last = 0;
        const std::uint64_t at = 36;
        const std::uint64_t one = 1;
        auto opened = turns.root.open_dataset("copy");
        ASSERT_EQ(opened->read(Selection::hyperslab({&at, 1}, {&one, 1}), datatype_of<std::int32_t>(),
                               {reinterpret_cast<std::byte*>(&last), 4}),
                  Status::ok);
        EXPECT_EQ(last, 36);
    }
}

// Layout messages of version 4 in headers of version 1, where padding follows the address of the index.
TEST(InTurns, NewIndexesInOldHeaders) {
    Turns turns(FormatVersion::standard);
    turns.begin();
    std::vector<int> values(60);
    std::iota(values.begin(), values.end(), 0);
    const hsize_t dims[] = {60};
    turns.by_libhdf5([&](hid_t file) {
        for (const bool unlimited : {false, true}) {
            for (const hsize_t chunk : {hsize_t{7}, hsize_t{60}}) {
                const hsize_t most[] = {unlimited ? H5S_UNLIMITED : 60};
                const Hdf5Id space(H5Screate_simple(1, dims, most), H5Sclose);
                const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
                ASSERT_GE(H5Pset_chunk(create, 1, &chunk), 0);
                ASSERT_GE(H5Pset_deflate(create, 3), 0);
                ASSERT_GE(H5Pset_chunk_opts(create, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS), 0);
                const std::string name = std::string(unlimited ? "log" : "fixed") + std::to_string(chunk);
                const Hdf5Id made(
                    H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
                ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            }
        }
    });
    const char* const names[] = {"fixed7", "fixed60", "log7", "log60"};
    for (const char* const name : names) {
        auto dataset = turns.root.open_dataset(name);
        ASSERT_EQ(dataset.status(), Status::ok) << name;
        for (int& value : values) {
            value = -value;
        }
        ASSERT_EQ(dataset->write(Selection::all(), datatype_of<std::int32_t>(),
                                 as_bytes(Span<const int>(values.data(), values.size()))),
                  Status::ok)
            << name;
        for (int& value : values) {
            value = -value;
        }
    }
    turns.by_libhdf5([&](hid_t file) {
        for (const char* const name : names) {
            const Hdf5Id dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
            std::vector<int> found(60);
            ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0) << name;
            for (int i = 0; i < 60; ++i) {
                EXPECT_EQ(found[static_cast<std::size_t>(i)], -i) << name;
            }
        }
    });
}

// libhdf5 packs the messages of a header: each link that gets a shorter or longer name takes the place of others.
TEST(InTurns, LinksInPackedHeadersAreRenamed) {
    std::mt19937 random(1);
    for (unsigned round = 0; round < 300; ++round) {
        SCOPED_TRACE(round);
        Turns turns;
        turns.begin();
        std::vector<std::string> names;
        const auto new_name = [&] { return std::string(1 + random() % 12, static_cast<char>('a' + random() % 26)); };
        const auto is_new = [&](const std::string& name) {
            return std::find(names.begin(), names.end(), name) == names.end();
        };
        turns.by_libhdf5([&](hid_t file) {
            ASSERT_GE(H5Fset_libver_bounds(file, H5F_LIBVER_V18, H5F_LIBVER_LATEST), 0);
            const Hdf5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
            const std::size_t count = 1 + random() % 8;
            const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
            const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
            unsigned attributes = 0;
            while (names.size() < count) {
                if (random() % 4 == 0 && attributes < 7) {
                    const std::string attribute = "attribute " + std::to_string(attributes++);
                    ASSERT_GE(H5Tset_size(text, 1 + random() % 60), 0);
                    const Hdf5Id made(H5Acreate2(group, attribute.c_str(), text, scalar, H5P_DEFAULT, H5P_DEFAULT),
                                      H5Aclose);
                    ASSERT_GE(made, 0);
                }
                const std::string name = new_name();
                if (!is_new(name)) {
                    continue;
                }
                names.push_back(name);
                if (random() % 3 == 0) {
                    ASSERT_GE(H5Lcreate_soft("/somewhere", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
                } else {
                    const Hdf5Id made(H5Gcreate2(group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
                    ASSERT_GE(made, 0);
                }
                if (random() % 3 == 0) {
                    ASSERT_GE(H5Ldelete(group, names.back().c_str(), H5P_DEFAULT), 0);
                    names.pop_back();
                }
            }
            if (random() % 2 == 0) {
                ASSERT_GE(H5Ocopy(file, "g", file, "h", H5P_DEFAULT, H5P_DEFAULT), 0);
                ASSERT_GE(H5Ldelete(file, "g", H5P_DEFAULT), 0);
                ASSERT_GE(H5Lmove(file, "h", file, "g", H5P_DEFAULT, H5P_DEFAULT), 0);
            }
        });
        Group group = static_cast<Group&&>(*turns.root.open_group("g"));
        for (unsigned i = 0; i < 6; ++i) {
            std::string& name = names[random() % names.size()];
            const std::string next = new_name();
            if (is_new(next)) {
                ASSERT_EQ(group.rename(name, next), Status::ok) << name << " to " << next;
                name = next;
            }
        }
        // With the ninth link the group gets dense storage, and its header other messages.
        for (unsigned i = 0; round % 2 == 0 && i < 9; ++i) {
            names.push_back("new " + std::to_string(i));
            ASSERT_EQ(group.create_soft_link(names.back(), "/x"), Status::ok);
        }
        turns.by_libhdf5([&](hid_t file) {
            const Hdf5Id opened(H5Gopen2(file, "g", H5P_DEFAULT), H5Gclose);
            H5G_info_t info;
            ASSERT_GE(H5Gget_info(opened, &info), 0);
            EXPECT_EQ(info.nlinks, names.size());
            for (const std::string& name : names) {
                EXPECT_GT(H5Lexists(opened, name.c_str(), H5P_DEFAULT), 0) << name;
            }
        });
    }
}

// A cache that has no room for a node of the index refuses a smaller extent before anything changes. libhdf5 makes
// nodes of version 1 as large as H5Pset_istore_k() says.
TEST(InTurns, ASmallCacheRefusesToShrink) {
    Turns turns;
    const Hdf5Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_istore_k(properties, 200), 0);
    turns.begin_by_libhdf5(properties);
    turns.by_libhdf5([&](hid_t file) {
        const hsize_t dims[] = {20, 20};
        const hsize_t most[] = {20, 40};
        const hsize_t chunk[] = {1, 1};
        const std::vector<int> values(400, 7);
        const Hdf5Id space(H5Screate_simple(2, dims, most), H5Sclose);
        const Hdf5Id create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        ASSERT_GE(H5Pset_chunk(create, 2, chunk), 0);
        ASSERT_GE(H5Pset_deflate(create, 3), 0);
        const Hdf5Id made(H5Dcreate2(file, "data", H5T_STD_I32LE, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose);
        ASSERT_GE(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    });
    turns.close();
    turns.access.metadata_cache = 2048;
    auto opened = File::open(turns.library, turns.storage, turns.access);
    ASSERT_EQ(opened.status(), Status::ok);
    turns.file = static_cast<File&&>(*opened);
    turns.root = turns.file.root();
    auto dataset = turns.root.open_dataset("data");
    ASSERT_EQ(dataset.status(), Status::ok);
    EXPECT_EQ(dataset->set_extent({10, 20}), Status::over_budget);
    EXPECT_EQ(turns.file.flush(), Status::ok);
    DatasetInfo info;
    ASSERT_EQ(dataset->info(info), Status::ok);
    EXPECT_EQ(dataset->size(), 20U);
}

}  // namespace

#endif
