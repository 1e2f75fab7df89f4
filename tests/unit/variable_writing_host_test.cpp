// Strings and sequences of any length, and references, written by h5mote: read again here and by libhdf5; what becomes
// of their space; memory and storage that fail at every call.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/dimension_scale.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#include "hdf5_image.hpp"
#include "world.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace h5mote_test {

struct Note {
    std::uint32_t number;
    h5mote::VariableString<> text;
    std::int16_t level;
    h5mote::Sequence<h5mote::Sequence<std::int16_t>> parts;
};
H5MOTE_COMPOUND(Note, number, text, level, parts)

namespace {

using namespace h5mote;

constexpr auto kText = make_variable_string(CharacterSet::utf8);

ConstBytes bytes_of(const std::vector<const char*>& texts) {
    return {reinterpret_cast<const std::byte*>(texts.data()), texts.size() * sizeof(char*)};
}

/// A file in memory.
struct Scratch {
    explicit Scratch(const FileCreate& create = {}) {
        access.chunk_cache = 4096;
        access.metadata_cache = 16384;
        auto made = File::create(library, storage, access, create);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
        root = file.root();
    }
    Status close() {
        root.close();
        return file.close();
    }
    ConstBytes contents() const { return storage.contents(); }
    /// Writes the closed file to the working directory, for libhdf5, and returns its name there.
    std::string on_disk() const {
        const std::string name = "variable_writing.h5";
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(contents().data()), static_cast<std::streamsize>(contents().size()));
        return name;
    }
    /// Goes on with that file, which is taken away there.
    Result<File> open_from_disk(const std::string& name) {
        const std::vector<std::byte> changed = take_file(name);
        EXPECT_EQ(storage.assign({changed.data(), changed.size()}), Status::ok);
        return File::open(library, storage, access);
    }

    MallocAllocator memory;
    GrowingMemoryDriver storage{memory};
    NullPort port;
    Library library{memory, port};
    FileAccess access;
    File file;
    Group root;
};

// Texts of many lengths: none, empty, some that fill a collection or more.
std::vector<std::string> some_texts(std::size_t count, unsigned seed) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t length = i % 13 == 4 ? 0 : i % 41 == 7 ? 5000 + i : (i * 37 + seed * 11) % 90;
        texts.push_back(std::string(length, static_cast<char>('a' + (i + seed) % 26)));
    }
    return texts;
}
std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> to;
    for (const std::string& each : texts) {
        to.push_back(to.size() % 17 == 5 ? nullptr : each.c_str());
    }
    return to;
}

void expect_texts(Library& library, Dataset& dataset, const std::vector<const char*>& wanted) {
    std::vector<char*> got(wanted.size());
    const Bytes to{reinterpret_cast<std::byte*>(got.data()), got.size() * sizeof(char*)};
    ASSERT_EQ(dataset.read(Selection::all(), kText, to), Status::ok);
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i] == nullptr, wanted[i] == nullptr) << i;
        EXPECT_STREQ(got[i], wanted[i]) << i;
    }
    EXPECT_EQ(reclaim(library, kText, got.size(), sizeof(char*), got.data()), Status::ok);
}

void expect_texts_by_libhdf5(ConstBytes image, const char* name, const std::vector<const char*>& wanted) {
    const Hdf5Id file = open_image(image);
    const Hdf5Id dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
    ASSERT_GE(H5Tset_cset(type, H5T_CSET_UTF8), 0);
    std::vector<char*> got(wanted.size());
    ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, got.data()), 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_STREQ(got[i], wanted[i]) << i;
        EXPECT_GE(H5free_memory(got[i]), 0);
    }
}

}  // namespace

TEST(VariableWriting, TextsInEveryLayout) {
    for (const std::uint8_t width : {std::uint8_t{8}, std::uint8_t{4}}) {
        FileCreate create;
        create.sizeof_addr = width;
        Scratch scratch(create);
        const std::vector<std::string> texts = some_texts(200, 1);
        const std::vector<const char*> values = pointers(texts);
        DatasetCreate compact;
        compact.layout = Layout::compact;
        DatasetCreate chunked;
        chunked.chunk = {16};
        const DatasetCreate* const layouts[] = {&compact, &chunked, nullptr};
        const char* const names[] = {"compact", "chunked", "contiguous"};
        for (unsigned i = 0; i < 3; ++i) {
            auto dataset = scratch.root.create_dataset(names[i], kText, Dataspace::simple({200}),
                                                       layouts[i] == nullptr ? DatasetCreate() : *layouts[i]);
            ASSERT_EQ(dataset.status(), Status::ok);
            EXPECT_EQ(dataset->element_size(), 8U + width);
            EXPECT_EQ(dataset->write(Selection::all(), kText, bytes_of(values)), Status::ok);
            expect_texts(scratch.library, *dataset, values);
        }
        EXPECT_TRUE(findings_in(scratch.file).none());
        EXPECT_EQ(scratch.file.flush(), Status::ok);
        for (const char* name : names) {
            expect_texts_by_libhdf5(scratch.contents(), name, values);
        }
        EXPECT_EQ(scratch.close(), Status::ok);
    }
}

TEST(VariableWriting, RecordsWithNestedSequences) {
    Scratch scratch;
    DatasetCreate create;
    create.chunk = {8};
    auto log = scratch.root.create_dataset<Note>("log", create);
    ASSERT_EQ(log.status(), Status::ok);
    std::int16_t numbers[400];
    Sequence<std::int16_t> parts[5];
    for (int i = 0; i < 400; ++i) {
        numbers[i] = static_cast<std::int16_t>(i);
    }
    for (std::size_t i = 0; i < 5; ++i) {
        parts[i] = {i * i * 20, numbers + i};
    }
    for (std::uint32_t i = 0; i < 100; ++i) {
        const std::string text = "note " + std::to_string(i);
        ASSERT_EQ(log->append({i, {i % 5 == 0 ? nullptr : text.c_str()}, std::int16_t(-3), {i % 6, parts}}),
                  Status::ok);
        if (i % 9 == 0) {
            ASSERT_EQ(scratch.file.flush(), Status::ok);
        }
    }
    std::vector<Note> got(100);
    ASSERT_EQ(log->read(Selection::all(), Span<Note>(got.data(), 100)), Status::ok);
    for (std::uint32_t i = 0; i < 100; ++i) {
        EXPECT_EQ(got[i].number, i);
        EXPECT_EQ(got[i].level, -3);
        const std::string text = "note " + std::to_string(i);
        EXPECT_STREQ(got[i].text.text, i % 5 == 0 ? nullptr : text.c_str());
        ASSERT_EQ(got[i].parts.count, i % 6);
        for (std::size_t p = 0; p < got[i].parts.count; ++p) {
            ASSERT_EQ(got[i].parts.data[p].count, parts[p].count);
            for (std::size_t n = 0; n < parts[p].count; ++n) {
                EXPECT_EQ(got[i].parts.data[p].data[n], parts[p].data[n]);
            }
        }
    }
    EXPECT_EQ(reclaim(scratch.library, datatype_of<Note>(), 100, sizeof(Note), got.data()), Status::ok);
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_TRUE(findings_in(scratch.file).none());
    EXPECT_EQ(scratch.close(), Status::ok);
}

// Each round replaces all values. Their space is used again: the file does not grow for ever.
TEST(VariableWriting, OldValuesAreGivenUp) {
    Scratch scratch;
    auto dataset = scratch.root.create_dataset("texts", kText, Dataspace::simple({120}));
    ASSERT_EQ(dataset.status(), Status::ok);
    std::uint64_t size = 0;
    for (unsigned round = 0; round < 60; ++round) {
        const std::vector<std::string> texts = some_texts(120, round);
        const std::vector<const char*> values = pointers(texts);
        if (round % 3 == 2) {
            // Only every fifth value: the others stay between them.
            std::vector<const char*> few;
            for (std::size_t i = 0; i < 120; i += 5) {
                few.push_back(values[i]);
            }
            ASSERT_EQ(dataset->write(Selection::hyperslab({0}, {24}, {5}), kText, bytes_of(few)), Status::ok);
        } else {
            ASSERT_EQ(dataset->write(Selection::all(), kText, bytes_of(values)), Status::ok);
            ASSERT_EQ(scratch.root.write_attribute("text", VariableString<>{texts[7].c_str()}), Status::ok);
            expect_texts(scratch.library, *dataset, values);
        }
        ASSERT_EQ(scratch.file.flush(), Status::ok);
        ASSERT_TRUE(findings_in(scratch.file).none()) << round;
        if (round % 3 != 2) {
            expect_texts_by_libhdf5(scratch.contents(), "texts", values);
        }
        size = round == 11 ? scratch.contents().size() : size;
    }
    EXPECT_LT(scratch.contents().size(), size * 5 / 4);
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

TEST(VariableWriting, LibhdfGoesOn) {
    Scratch scratch;
    DatasetCreate create;
    create.chunk = {16};
    auto dataset = scratch.root.create_dataset("texts", kText, Dataspace::simple({100}), create);
    for (unsigned round = 0; round < 4; ++round) {
        const std::vector<std::string> texts = some_texts(100, round);
        ASSERT_EQ(dataset->write(Selection::hyperslab({round * 7U}, {50}), kText,
                                 bytes_of(pointers({texts.begin(), texts.begin() + 50}))),
                  Status::ok);
        ASSERT_EQ(scratch.file.flush(), Status::ok);
    }
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
    const std::string name = scratch.on_disk();
    std::vector<std::string> texts = some_texts(100, 9);
    {
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        const Hdf5Id data(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
        ASSERT_GE(H5Tset_size(type, H5T_VARIABLE), 0);
        ASSERT_GE(H5Tset_cset(type, H5T_CSET_UTF8), 0);
        ASSERT_GE(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers(texts).data()), 0);
    }
    auto file = scratch.open_from_disk(name);
    ASSERT_EQ(file.status(), Status::ok);
    auto again = file->root().open_dataset("texts");
    expect_texts(scratch.library, *again, pointers(texts));
    texts = some_texts(100, 12);
    EXPECT_EQ(again->write(Selection::all(), kText, bytes_of(pointers(texts))), Status::ok);
    EXPECT_EQ(file->flush(), Status::ok);
    EXPECT_TRUE(findings_in(*file).none());
    expect_texts_by_libhdf5(scratch.contents(), "texts", pointers(texts));
    EXPECT_EQ(again->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

// libhdf5 allocates space that was something else's. Without FillTime::on_allocation it would leave in it what was
// there, and take that for the places of values.
TEST(VariableWriting, ValuesThatLibhdf5AllocatesAndDoesNotWriteAreNone) {
    Scratch scratch;
    DatasetCreate create;
    create.allocation = AllocationTime::early;
    auto former = scratch.root.create_dataset<std::uint8_t>("former", create, Dataspace::simple({4096}));
    ASSERT_EQ(former.status(), Status::ok);
    const std::vector<std::uint8_t> bytes(4096, 0xa5);
    EXPECT_EQ(former->write(Selection::all(), Span<const std::uint8_t>(bytes.data(), bytes.size())), Status::ok);
    EXPECT_EQ(former->close(), Status::ok);
    create.allocation = AllocationTime::late;
    auto texts = scratch.root.create_dataset("texts", kText, Dataspace::simple({100}), create);
    DatasetInfo info;
    EXPECT_EQ(texts->info(info), Status::ok);
    EXPECT_EQ(info.fill_time, FillTime::on_allocation);
    EXPECT_EQ(texts->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
    const std::string name = scratch.on_disk();
    {
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        ASSERT_GE(H5Ldelete(file, "former", H5P_DEFAULT), 0);
        const Hdf5Id data(H5Dopen2(file, "texts", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Dget_type(data), H5Tclose);
        const Hdf5Id space(H5Dget_space(data), H5Sclose);
        const hsize_t at = 7;
        const hsize_t one = 1;
        ASSERT_GE(H5Sselect_elements(space, H5S_SELECT_SET, 1, &at), 0);
        const Hdf5Id memory(H5Screate_simple(1, &one, nullptr), H5Sclose);
        const char* const text = "seven";
        ASSERT_GE(H5Dwrite(data, type, memory, space, H5P_DEFAULT, &text), 0);
    }
    auto file = scratch.open_from_disk(name);
    ASSERT_EQ(file.status(), Status::ok);
    auto again = file->root().open_dataset("texts");
    std::vector<const char*> wanted(100, nullptr);
    wanted[7] = "seven";
    expect_texts(scratch.library, *again, wanted);
    EXPECT_EQ(again->close(), Status::ok);
    EXPECT_EQ(file->close(), Status::ok);
}

TEST(VariableWriting, TextAttributes) {
    Scratch scratch;
    char text[64];
    std::size_t length = 0;
    const Span<char> to(text, sizeof text);
    for (const char* each : {"short", "a longer one", "", "sh\xc3\xb6rt"}) {
        EXPECT_EQ(scratch.root.write_attribute("a", VariableString<>{each}), Status::ok);
        EXPECT_EQ(scratch.root.read_attribute("a", to, length), Status::ok);
        EXPECT_EQ(std::string(text, length), each);
        EXPECT_EQ(scratch.file.flush(), Status::ok);
    }
    EXPECT_EQ(scratch.root.read_attribute("a", to.first(3), length), Status::invalid_argument);
    EXPECT_EQ(length, 6U);
    EXPECT_EQ(scratch.root.write_attribute("a", VariableString<>{}), Status::ok);
    EXPECT_EQ(scratch.root.read_attribute("a", to, length), Status::ok);
    EXPECT_EQ(length, 0U);
    EXPECT_EQ(scratch.root.write_attribute("a", std::int32_t{3}), Status::type_mismatch);
    EXPECT_EQ(scratch.root.remove_attribute("a"), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

TEST(VariableWriting, WhatTheFormatLacksIsRefused) {
    Scratch scratch;
    DatasetCreate create;
    create.fill_undefined = true;
    EXPECT_EQ(scratch.root.create_dataset("d", kText, Dataspace::simple({2}), create).status(),
              Status::invalid_argument);
    create = {};
    create.fill_time = FillTime::never;
    EXPECT_EQ(scratch.root.create_dataset("d", kText, Dataspace::simple({2}), create).status(),
              Status::invalid_argument);
    auto wrong = kText;
    wrong.bytes[4] = std::byte{16};  // the form of a file
    EXPECT_EQ(scratch.root.create_dataset("d", wrong, Dataspace::simple({2})).status(), Status::invalid_argument);
    auto dataset = scratch.root.create_dataset("d", kText, Dataspace::simple({2}));
    static constexpr auto kAscii = make_variable_string();
    const char* texts[] = {"a", "b"};
    EXPECT_EQ(dataset->write(Selection::all(), kAscii, as_bytes(Span<const char* const>(texts, 2))),
              Status::type_mismatch);
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

TEST(VariableWriting, LostCollectionsAreReclaimed) {
    Scratch scratch;
    for (const char* name : {"a", "b"}) {
        auto dataset = scratch.root.create_dataset(name, kText, Dataspace::simple({100}));
        const std::vector<std::string> texts = some_texts(100, 5);
        EXPECT_EQ(dataset->write(Selection::all(), kText, bytes_of(pointers(texts))), Status::ok);
        EXPECT_EQ(dataset->close(), Status::ok);
        EXPECT_EQ(scratch.file.flush(), Status::ok);
    }
    // As in libhdf5 the values of a dataset that is deleted stay in the heap.
    EXPECT_EQ(scratch.root.unlink("a"), Status::ok);
    EXPECT_EQ(scratch.file.flush(), Status::ok);
    std::uint64_t bytes = 0;
    EXPECT_EQ(scratch.file.reclaim(&bytes), Status::ok);
    EXPECT_GE(bytes, 12000U);
    EXPECT_TRUE(findings_in(scratch.file).none());
    auto dataset = scratch.root.open_dataset("b");
    const std::vector<std::string> texts = some_texts(100, 5);
    expect_texts(scratch.library, *dataset, pointers(texts));
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

TEST(VariableWriting, References) {
    Scratch scratch;
    const auto number = make_integer(4, true);
    auto dataset = scratch.root.create_dataset("d", number, Dataspace::simple({4, 5}));
    ASSERT_EQ(dataset.status(), Status::ok);
    EXPECT_EQ(dataset->write_attribute("unit", "mm"), Status::ok);
    const Dataspace space = Dataspace::simple({4, 5});
    const std::uint64_t start[] = {1, 2};
    const std::uint64_t count[] = {2, 3};
    const Selection region =
        Selection::hyperslab(Span<const std::uint64_t>(start, 2), Span<const std::uint64_t>(count, 2));
    for (const ReferenceType type : {ReferenceType::object1, ReferenceType::region1, ReferenceType::object2,
                                     ReferenceType::region2, ReferenceType::attribute}) {
        std::byte bytes[18];
        const Bytes to{bytes, scratch.root.reference_size(type)};
        const bool is_region = type == ReferenceType::region1 || type == ReferenceType::region2;
        EXPECT_EQ(is_region ? scratch.root.create_region_reference(type, *dataset, space, region, to)
                  : type == ReferenceType::attribute ? scratch.root.create_attribute_reference(*dataset, "unit", to)
                                                     : scratch.root.create_reference(type, *dataset, to),
                  Status::ok);
        const std::string name = "reference " + std::to_string(static_cast<unsigned>(type));
        const auto message = make_reference(type);
        ASSERT_EQ(message.size(), to.size());
        EXPECT_EQ(scratch.root.write_attribute(name, message, Dataspace::scalar(), to), Status::ok);
        std::byte stored[18];
        EXPECT_EQ(scratch.root.read_attribute(name, message, {stored, to.size()}), Status::ok);
        EXPECT_EQ(scratch.root.open_reference(type, {stored, to.size()})->address(), dataset->address());
        if (is_region) {
            Object target;
            SelectionSet set(scratch.library);
            EXPECT_EQ(scratch.root.reference_region(type, {stored, to.size()}, target, set), Status::ok);
            bool same = false;
            EXPECT_EQ(select_shape_same(scratch.library, set, space, region, space, same), Status::ok);
            EXPECT_TRUE(same);
        }
        EXPECT_EQ(scratch.root.create_reference(type, *dataset, {bytes, 3}), Status::invalid_argument);
    }
    EXPECT_TRUE(findings_in(scratch.file).none());
    EXPECT_EQ(scratch.file.flush(), Status::ok);
    {
        const Hdf5Id file = open_image(scratch.contents());
        const Hdf5Id attribute(H5Aopen(file, "reference 1", H5P_DEFAULT), H5Aclose);
        hdset_reg_ref_t value;
        ASSERT_GE(H5Aread(attribute, H5T_STD_REF_DSETREG, &value), 0);
        const Hdf5Id got(H5Rget_region(file, H5R_DATASET_REGION, &value), H5Sclose);
        EXPECT_EQ(H5Sget_select_npoints(got), 6);
        const Hdf5Id target(H5Rdereference2(file, H5P_DEFAULT, H5R_DATASET_REGION, &value), H5Oclose);
        EXPECT_GE(target, 0);
    }
    EXPECT_EQ(dataset->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

TEST(VariableWriting, DimensionScales) {
    Scratch scratch;
    const auto number = make_integer(4, true);
    auto data = scratch.root.create_dataset("data", number, Dataspace::simple({4, 5}));
    auto other = scratch.root.create_dataset("other", number, Dataspace::simple({4}));
    auto time = scratch.root.create_dataset("time", number, Dataspace::simple({4}));
    auto place = scratch.root.create_dataset("place", number, Dataspace::simple({5}));
    bool is = true;
    EXPECT_EQ(DimensionScales::is_scale(*time, is), Status::ok);
    EXPECT_FALSE(is);
    EXPECT_EQ(DimensionScales::set(*time, "t"), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *time), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *time), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *place), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*data, 1, *place), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*other, 0, *time), Status::ok);
    EXPECT_EQ(DimensionScales::attach(*data, 2, *time), Status::invalid_argument);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *data), Status::invalid_argument);
    EXPECT_EQ(DimensionScales::attach(*time, 0, *place), Status::invalid_argument);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *other), Status::invalid_argument);
    EXPECT_EQ(DimensionScales::set(*data), Status::invalid_argument);
    std::uint32_t count = 0;
    EXPECT_EQ(DimensionScales::count(*data, 0, count), Status::ok);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(DimensionScales::scale(*data, 0, 1)->address(), place->address());
    EXPECT_EQ(DimensionScales::scale(*data, 0, 2).status(), Status::not_found);
    EXPECT_EQ(DimensionScales::detach(*data, 0, *place), Status::ok);
    EXPECT_EQ(DimensionScales::detach(*data, 0, *place), Status::not_found);
    EXPECT_EQ(DimensionScales::is_attached(*data, 0, *place, is), Status::ok);
    EXPECT_FALSE(is);
    EXPECT_EQ(DimensionScales::is_attached(*data, 1, *place, is), Status::ok);
    EXPECT_TRUE(is);
    char text[16];
    std::size_t length = 0;
    EXPECT_EQ(DimensionScales::set_label(*data, 1, "where"), Status::ok);
    EXPECT_EQ(DimensionScales::label(*data, 1, Span<char>(text, sizeof text), length), Status::ok);
    EXPECT_EQ(std::string(text, length), "where");
    EXPECT_EQ(DimensionScales::label(*data, 0, Span<char>(text, sizeof text), length), Status::ok);
    EXPECT_EQ(length, 0U);
    EXPECT_EQ(DimensionScales::name(*time, Span<char>(text, sizeof text), length), Status::ok);
    EXPECT_EQ(std::string(text, length), "t");
    EXPECT_EQ(DimensionScales::detach(*other, 0, *time), Status::ok);
    EXPECT_FALSE(other->has_attribute("DIMENSION_LIST"));
    EXPECT_EQ(DimensionScales::detach(*data, 0, *time), Status::ok);
    EXPECT_FALSE(time->has_attribute("REFERENCE_LIST"));
    for (Dataset* each : {&*data, &*other, &*time, &*place}) {
        EXPECT_EQ(each->close(), Status::ok);
    }
    EXPECT_TRUE(findings_in(scratch.file).none());
    EXPECT_EQ(scratch.close(), Status::ok);
}

namespace {

// What the sweep does to a file that has a log of three notes and an attribute; ok if everything went well.
Status change(World& world) {
    auto log = world.root.open_dataset<Note>("notes");
    H5MOTE_TRY(log.status());
    const std::int16_t numbers[] = {1, 2, 3};
    const Sequence<std::int16_t> parts[] = {{3, numbers}, {2, numbers}};
    const std::string large(700, 'l');
    Status status = log->append({3, {large.c_str()}, 5, {2, parts}});
    if (status == Status::ok) {
        const Note other{9, {"another"}, 4, {1, parts}};
        status = log->write(Selection::hyperslab({1}, {1}), Span<const Note>(&other, 1));
    }
    status = status == Status::ok ? world.root.write_attribute("title", VariableString<>{"new title"}) : status;
    status = status == Status::ok ? world.root.write_attribute("second", VariableString<>{large.c_str()}) : status;
    std::byte region[12];
    status = status == Status::ok
                 ? world.root.create_region_reference(ReferenceType::region1, world.flat, Dataspace::simple({16}),
                                                      Selection::hyperslab({1}, {4}), {region, 12})
                 : status;
    status = status == Status::ok ? DimensionScales::attach(world.flat, 0, *log) : status;
    status = status == Status::ok ? DimensionScales::set_label(world.flat, 0, "x") : status;
    status = status == Status::ok ? world.file.flush() : status;
    const Status closed = log->close();
    return status == Status::ok ? closed : status;
}

}  // namespace

// The k-th allocation or driver call fails, for every k: an error if and only if something failed; afterwards the file
// is sound, what was there before is there, and all memory is back.
TEST(VariableWriting, MemoryAndStorageThatFail) {
    Image image = make_world();
    {
        World world;
        ASSERT_EQ(world.open(image), Status::ok);
        DatasetCreate create;
        create.chunk = {4};
        auto log = world.root.create_dataset<Note>("notes", create);
        ASSERT_EQ(log.status(), Status::ok);
        for (std::uint32_t i = 0; i < 3; ++i) {
            ASSERT_EQ(log->append({i, {"a note"}, 1, {}}), Status::ok);
        }
        ASSERT_EQ(world.root.write_attribute("title", VariableString<>{"title"}), Status::ok);
        ASSERT_EQ(log->close(), Status::ok);
        ASSERT_EQ(world.close(), Status::ok);
        image = world.image();
    }
    unsigned points = 0;
    for (const FaultKind& kind : kFaultKinds) {
        bool failed = true;
        for (std::uint64_t k = 1; failed; ++k, ++points) {
            World world;
            ASSERT_EQ(world.open(image), Status::ok);
            arm(world.refusing, world.driver, kind, k);
            const Status status = change(world);
            failed = disarm(world.refusing, world.driver);
            EXPECT_TRUE(failed || status == Status::ok) << kind.name << " " << k;
            EXPECT_EQ(world.file.flush(), Status::ok) << kind.name << " " << k;
            EXPECT_TRUE(findings_in(world.file).none()) << kind.name << " " << k;
            auto log = world.root.open_dataset<Note>("notes");
            ASSERT_EQ(log.status(), Status::ok) << kind.name << " " << k;
            ASSERT_GE(log->size(), 3U);
            Note note{};
            EXPECT_EQ(log->read(Selection::hyperslab({2}, {1}), Span<Note>(&note, 1)), Status::ok);
            EXPECT_STREQ(note.text.text, "a note");
            EXPECT_EQ(reclaim(world.library, datatype_of<Note>(), 1, sizeof note, &note), Status::ok);
            char title[16];
            std::size_t length = 0;
            EXPECT_EQ(world.root.read_attribute("title", Span<char>(title, sizeof title), length), Status::ok);
            EXPECT_TRUE(std::string(title, length) == "title" || std::string(title, length) == "new title");
            EXPECT_EQ(log->close(), Status::ok);
            EXPECT_EQ(change(world), Status::ok) << kind.name << " " << k;
            EXPECT_TRUE(findings_in(world.file).none()) << kind.name << " " << k;
            EXPECT_EQ(world.close(), Status::ok);
            EXPECT_EQ(world.memory.blocks(), 0U) << kind.name << " " << k;
            if (testing::Test::HasFailure()) {
                return;
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GE(points, 150U);
}

}  // namespace h5mote_test

#endif
