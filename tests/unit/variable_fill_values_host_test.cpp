// Fill values of variable length that are parts of others, in datasets with committed datatypes and with filters, and
// what becomes of the copies of them when memory or storage ends.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "cursor.hpp"
#include "sound.hpp"
#include "test_allocators.hpp"

#include <h5mote/compound.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace h5mote_test {

struct Record {
    std::int32_t number;
    h5mote::VariableString<> text;
    h5mote::Sequence<h5mote::Sequence<std::int16_t>> parts;
};
H5MOTE_COMPOUND(Record, number, text, parts)

struct OnlyText {
    h5mote::VariableString<> text;
};
H5MOTE_COMPOUND(OnlyText, text)

namespace {

using namespace h5mote;

constexpr auto kText = make_variable_string();

struct Machine {
    explicit Machine(Allocator& allocator, Driver& driver)
        : library(allocator, port, filters, formats::all), disk(driver) {
        access.metadata_cache = 16384;
        access.chunk_cache = 16384;
    }
    Status create() {
        auto made = File::create(library, disk, access);
        H5MOTE_TRY(made.status());
        file = static_cast<File&&>(*made);
        return Status::ok;
    }
    Status open() {
        auto opened = File::open(library, disk, access);
        H5MOTE_TRY(opened.status());
        file = static_cast<File&&>(*opened);
        return take(file.root().open_dataset("data"));
    }
    Status take(Result<Dataset>&& dataset) {
        H5MOTE_TRY(dataset.status());
        data = static_cast<Dataset&&>(*dataset);
        return Status::ok;
    }
    // Makes a dataset of texts.
    Status create_texts(const char* fill, std::uint64_t size, DatasetCreate properties) {
        properties.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill};
        const bool chunked = properties.chunk.rank() != 0;
        return take(file.root().create_dataset("data", kText.view(),
                                               Dataspace::simple({size}, {chunked ? kUnlimited : size}), properties));
    }
    Status write(std::uint64_t at, const char* text) {
        return data.write(Selection::hyperslab({at}, {1}), kText.view(), as_bytes(Span<const char* const>(&text, 1)));
    }
    Status read(std::vector<std::string>& texts) {
        std::vector<char*> got(static_cast<std::size_t>(data.size()));
        texts.clear();
        H5MOTE_TRY(data.read(Selection::all(), kText.view(),
                             {reinterpret_cast<std::byte*>(got.data()), got.size() * sizeof(char*)}));
        for (const char* const each : got) {
            texts.push_back(each == nullptr ? "nothing" : each);
        }
        return reclaim(library, kText.view(), got.size(), sizeof(char*), got.data());
    }
    std::vector<std::string> texts() {
        std::vector<std::string> all;
        EXPECT_EQ(read(all), Status::ok);
        return all;
    }
    void close() {
        ASSERT_EQ(file.flush(), Status::ok);
        const Findings findings = findings_in(file);
        EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
        ASSERT_EQ(data.close(), Status::ok);
        ASSERT_EQ(file.close(), Status::ok);
    }

    NullPort port;
    const Filter* filters[1] = {&deflate_filter};
    Library library;
    Driver& disk;
    FileAccess access;
    File file;
    Dataset data;
};

// A value in the byte order of files, which is that of fill values.
template <typename Integer>
Integer in_file_order(Integer value) {
    std::byte bytes[sizeof value];
    store_le(bytes, static_cast<std::make_unsigned_t<Integer>>(value));
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

void expect_record(const Record& record, std::int32_t number, const char* text) {
    EXPECT_EQ(record.number, number);
    EXPECT_STREQ(record.text.text, text);
    ASSERT_EQ(record.parts.count, 2U);
    for (std::int16_t i = 0; i < 2; ++i) {
        const Sequence<std::int16_t>& part = record.parts.data[i];
        ASSERT_EQ(part.count, 2U);
        EXPECT_EQ(part.data[0], 10 * i);
        EXPECT_EQ(part.data[1], 10 * i + 1);
    }
}

}  // namespace

// A record is written in part: what it keeps of the fill value is its own.
TEST(VariableFillValues, PartsOfCompounds) {
    for (const bool filtered : {false, true}) {
        for (const bool in_place : {false, true}) {
            if (filtered && in_place) {
                continue;
            }
            MallocAllocator memory;
            GrowingMemoryDriver storage{memory};
            Machine machine(memory, storage);
            machine.access.chunk_cache = in_place ? 64 : 16384;
            ASSERT_EQ(machine.create(), Status::ok);
            std::int16_t numbers[] = {0, 1, 10, 11};
            Sequence<std::int16_t> parts[] = {{2, numbers}, {2, numbers + 2}};
            std::int16_t fill_numbers[4] = {};
            std::transform(numbers, numbers + 4, fill_numbers, in_file_order<std::int16_t>);
            Sequence<std::int16_t> fill_parts[] = {{2, fill_numbers}, {2, fill_numbers + 2}};
            const Record fill = {in_file_order(std::int32_t{7}), {"a fill value"}, {2, fill_parts}};
            DatasetCreate properties;
            properties.chunk = {4};
            properties.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill};
            if (filtered) {
                properties.filters = {filters::deflate};
            }
            {
                auto log = machine.file.root().create_dataset<Record>("data", properties);
                ASSERT_EQ(log.status(), Status::ok);
                ASSERT_EQ(log->append(Record{1, {"one"}, {2, parts}}), Status::ok);
                ASSERT_EQ(log->set_extent({6}), Status::ok);
                ASSERT_EQ(log->close(), Status::ok);
            }
            {
                // Members that a record lacks are those of the fill value.
                auto texts = machine.file.root().open_dataset<OnlyText>("data");
                ASSERT_EQ(texts.status(), Status::ok);
                ASSERT_EQ(texts->append(OnlyText{{"appended"}}), Status::ok);
                const OnlyText some[] = {{{"two"}}, {{"three"}}};
                ASSERT_EQ(texts->write(Selection::hyperslab({1}, {2}), Span<const OnlyText>(some, 2)), Status::ok);
                ASSERT_EQ(texts->close(), Status::ok);
            }
            ASSERT_EQ(machine.take(machine.file.root().open_dataset("data")), Status::ok);
            for (unsigned session = 0; session < 3; ++session) {
                SCOPED_TRACE(session);
                auto log = machine.file.root().open_dataset<Record>("data");
                ASSERT_EQ(log.status(), Status::ok);
                Record records[7] = {};
                ASSERT_EQ(log->read(Selection::all(), Span<Record>(records, 7)), Status::ok);
                expect_record(records[0], session == 2 ? 2 : 1, session == 2 ? "written again" : "one");
                expect_record(records[1], 7, "two");
                expect_record(records[2], 7, "three");
                expect_record(records[3], 7, "a fill value");
                expect_record(records[4], 7, "a fill value");
                expect_record(records[5], session == 2 ? 2 : 7, session == 2 ? "written again" : "a fill value");
                expect_record(records[6], 7, "appended");
                ASSERT_EQ(reclaim(machine.library, datatype_of<Record>(), 7, sizeof(Record), records), Status::ok);
                if (session == 1) {
                    const Record again[] = {{2, {"written again"}, {2, parts}}};
                    ASSERT_EQ(log->write(Selection::hyperslab({0}, {1}), Span<const Record>(again)), Status::ok);
                    ASSERT_EQ(log->write(Selection::hyperslab({5}, {1}), Span<const Record>(again)), Status::ok);
                }
                ASSERT_EQ(log->close(), Status::ok);
                machine.close();
                ASSERT_EQ(machine.open(), Status::ok);
            }
        }
    }
}

TEST(VariableFillValues, CommittedDatatype) {
    MallocAllocator memory;
    GrowingMemoryDriver storage{memory};
    Machine machine(memory, storage);
    ASSERT_EQ(machine.create(), Status::ok);
    auto type = machine.file.root().commit_datatype("type", kText);
    ASSERT_EQ(type.status(), Status::ok);
    const char* const fill = "of a committed type";
    DatasetCreate properties;
    properties.chunk = {2};
    properties.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill - 1};
    EXPECT_EQ(machine.file.root().create_dataset("data", *type, Dataspace::unlimited(), properties).status(),
              Status::invalid_argument);
    properties.fill = {reinterpret_cast<const std::byte*>(&fill), sizeof fill};
    ASSERT_EQ(machine.take(
                  machine.file.root().create_dataset("data", *type, Dataspace::simple({3}, {kUnlimited}), properties)),
              Status::ok);
    ASSERT_EQ(machine.write(1, "written"), Status::ok);
    type->close();
    machine.close();
    ASSERT_EQ(machine.open(), Status::ok);
    EXPECT_EQ(machine.texts(), (std::vector<std::string>{fill, "written", fill}));
}

// Earlier versions of this library filled new space with the bytes of the fill value, so that elements name its own
// object. Whoever writes such an element must not take that away from the others.
TEST(VariableFillValues, ElementsThatShareTheFillValue) {
    for (const Layout layout : {Layout::contiguous, Layout::chunked}) {
        MallocAllocator memory;
        GrowingMemoryDriver storage{memory};
        Machine machine(memory, storage);
        ASSERT_EQ(machine.create(), Status::ok);
        DatasetCreate properties;
        properties.layout = layout;
        properties.allocation = AllocationTime::early;
        if (layout == Layout::chunked) {
            properties.chunk = {5};
        }
        ASSERT_EQ(machine.create_texts("the fill value", 5, properties), Status::ok);
        std::byte fill[16];
        ASSERT_EQ(machine.data.element_size(), sizeof fill);
        ASSERT_EQ(machine.data.stored_fill_value({fill, sizeof fill}), Status::ok);
        machine.close();
        // Five elements with five objects become five with one: the same but for the number of the object.
        std::vector<std::byte> image(storage.contents().begin(), storage.contents().end());
        unsigned changed = 0;
        for (std::size_t at = 0; at + 16 <= image.size(); ++at) {
            if (std::equal(fill, fill + 12, image.begin() + static_cast<std::ptrdiff_t>(at)) &&
                !std::equal(fill, fill + 16, image.begin() + static_cast<std::ptrdiff_t>(at))) {
                std::copy_n(fill, 16, image.begin() + static_cast<std::ptrdiff_t>(at));
                ++changed;
            }
        }
        ASSERT_EQ(changed, 5U);
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        ASSERT_EQ(machine.open(), Status::ok);
        EXPECT_EQ(machine.texts(), (std::vector<std::string>(5, "the fill value")));
        std::vector<std::string> wanted(5, "the fill value");
        for (const std::uint64_t i : {3, 0, 3}) {
            ASSERT_EQ(machine.write(i, "another text"), Status::ok);
            wanted[static_cast<std::size_t>(i)] = "another text";
            ASSERT_EQ(machine.file.flush(), Status::ok);
            ASSERT_EQ(machine.file.flush(), Status::ok);
            // What was given up would be taken by this.
            const std::string filler(14, static_cast<char>('a' + i));
            ASSERT_EQ(
                machine.file.root().replace_attribute("filler " + std::to_string(i), VariableString<>{filler.c_str()}),
                Status::ok);
            EXPECT_EQ(machine.texts(), wanted);
        }
        machine.close();
        ASSERT_EQ(machine.open(), Status::ok);
        EXPECT_EQ(machine.texts(), wanted);
    }
}

namespace {

const DatasetCreate& layout_number(unsigned i) {
    static const std::vector<DatasetCreate> layouts = [] {
        std::vector<DatasetCreate> all(5);
        all[0].layout = Layout::contiguous;
        all[1].layout = Layout::compact;
        all[2].chunk = {8};
        all[3].chunk = {400};  // in place, with the cache that the tests give it
        all[4].chunk = {8};
        all[4].allocation = AllocationTime::early;
        return all;
    }();
    return layouts[i];
}

// Creates a dataset, writes two texts and makes it larger. Which of these calls went well.
struct Story {
    bool created = false;
    bool first = false;
    bool larger = false;
    bool second = false;

    std::vector<std::string> wanted() const {
        std::vector<std::string> all(larger ? 29 : 21, kFill);
        if (first) {
            all[4] = "first";
        }
        if (second) {
            all[18] = "second";
        }
        return all;
    }
    static constexpr const char* kFill = "a fill value of forty bytes, more or less";
};

Story play(Machine& machine, const DatasetCreate& layout) {
    Story story;
    story.created = machine.create_texts(Story::kFill, 21, layout) == Status::ok;
    if (story.created) {
        story.first = machine.write(4, "first") == Status::ok;
        story.larger = layout.chunk.rank() != 0 && machine.data.set_extent({29}) == Status::ok;
        story.second = machine.write(18, "second") == Status::ok;
    }
    return story;
}

}  // namespace

TEST(VariableFillValues, WithoutMemory) {
    for (unsigned layout = 0; layout < 5; ++layout) {
        SCOPED_TRACE(layout);
        for (std::uint64_t k = 1;; ++k) {
            MallocAllocator system;
            FailingAllocator memory(system);
            GrowingMemoryDriver storage{system};
            Machine machine(memory, storage);
            machine.access.chunk_cache = 2048;
            ASSERT_EQ(machine.create(), Status::ok);
            memory.arm(k, false);
            const Story story = play(machine, layout_number(layout));
            const bool failed = memory.failures() != 0;
            memory.disarm();
            if (story.created) {
                EXPECT_EQ(machine.texts(), story.wanted()) << "allocation " << k;
                machine.close();
                ASSERT_EQ(machine.open(), Status::ok);
                EXPECT_EQ(machine.texts(), story.wanted()) << "allocation " << k;
                machine.close();
            } else {
                ASSERT_EQ(machine.file.flush(), Status::ok);
                EXPECT_TRUE(findings_in(machine.file).none());
                EXPECT_EQ(machine.file.close(), Status::ok);
            }
            if (!failed) {
                break;
            }
        }
    }
}

TEST(VariableFillValues, WithoutSpace) {
    for (unsigned layout = 0; layout < 5; ++layout) {
        SCOPED_TRACE(layout);
        for (std::size_t capacity = 2000; capacity < 24000; capacity += 250) {
            MallocAllocator memory;
            std::vector<std::byte> bytes(capacity);
            MemoryDriver storage({bytes.data(), bytes.size()});
            Machine machine(memory, storage);
            machine.access.chunk_cache = 2048;
            if (machine.create() != Status::ok) {
                continue;
            }
            const Story story = play(machine, layout_number(layout));
            const Status flushed = machine.file.flush();
            ASSERT_TRUE(flushed == Status::ok || flushed == Status::no_space);
            if (story.created) {
                EXPECT_EQ(machine.texts(), story.wanted()) << "capacity " << capacity;
                (void)machine.data.close();
            }
            if (flushed == Status::ok && machine.file.close() == Status::ok && story.created) {
                ASSERT_EQ(machine.open(), Status::ok);
                EXPECT_EQ(machine.texts(), story.wanted()) << "capacity " << capacity;
                const Findings findings = findings_in(machine.file);
                EXPECT_TRUE(findings.none()) << findings.last_kind << " at " << findings.last_address;
            }
        }
    }
}

#ifdef H5MOTE_TEST_HDF5
// Elements beyond the extent name no object, so that libhdf5 can write what it makes the dataset larger by.
TEST(VariableFillValues, Libhdf5MakesItLarger) {
    MallocAllocator memory;
    GrowingMemoryDriver storage{memory};
    Machine machine(memory, storage);
    ASSERT_EQ(machine.create(), Status::ok);
    DatasetCreate properties;
    properties.chunk = {8};
    ASSERT_EQ(machine.create_texts("fill", 3, properties), Status::ok);
    ASSERT_EQ(machine.write(1, "h5mote"), Status::ok);
    machine.close();
    const std::string name = "variable_fill_values.h5";
    {
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(storage.contents().data()),
                   static_cast<std::streamsize>(storage.contents().size()));
        const Hdf5Id file(H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        const Hdf5Id dataset(H5Dopen2(file, "data", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
        const hsize_t size = 5;
        ASSERT_GE(H5Dset_extent(dataset, &size), 0);
        const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
        const hsize_t at = 4;
        const hsize_t one = 1;
        ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &one, nullptr), 0);
        const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
        const char* const text = "libhdf5";
        ASSERT_GE(H5Dwrite(dataset, type, scalar, space, H5P_DEFAULT, &text), 0);
    }
    const std::vector<std::byte> changed = take_file(name);
    ASSERT_EQ(storage.assign({changed.data(), changed.size()}), Status::ok);
    ASSERT_EQ(machine.open(), Status::ok);
    EXPECT_EQ(machine.texts(), (std::vector<std::string>{"fill", "h5mote", "fill", "nothing", "libhdf5"}));
    ASSERT_EQ(machine.data.set_extent({7}), Status::ok);
    EXPECT_EQ(machine.texts(),
              (std::vector<std::string>{"fill", "h5mote", "fill", "nothing", "libhdf5", "fill", "fill"}));
    machine.close();
}

// Before any chunk is written: for each chunk that an index could have, libhdf5 1.10 would copy the value in the file.
TEST(VariableFillValues, Libhdf5ReadsNoChunksForReading) {
    for (const FormatVersion low : {FormatVersion::standard, FormatVersion::earliest, FormatVersion::v110}) {
        MallocAllocator memory;
        GrowingMemoryDriver storage{memory};
        Machine machine(memory, storage);
        machine.access.low = low;
        ASSERT_EQ(machine.create(), Status::ok);
        DatasetCreate properties;
        properties.chunk = {4};
        ASSERT_EQ(machine.create_texts("fill", 10, properties), Status::ok);
        machine.close();
        const Hdf5Id file = open_image({storage.contents().data(), storage.contents().size()});
        const Hdf5Id dataset(H5Dopen2(file, "data", H5P_DEFAULT), H5Dclose);
        const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
        char* texts[10] = {};
        EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts), 0) << static_cast<int>(low);
    }
}
#endif

}  // namespace h5mote_test

#endif
