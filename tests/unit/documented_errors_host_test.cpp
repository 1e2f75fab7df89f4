// The errors that headers document for single calls: each is provoked, has exactly the documented status and leaves the
// file as it was. Errors that all calls share (invalid handles, read-only files, failing storage and memory) are in
// every_call_host_test.cpp.
#include "world.hpp"

#if H5MOTE_WRITE

#include <h5mote/encoded_type.hpp>
#include <h5mote/named_datatype.hpp>

#include <functional>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

// What programs have that write no variable-length data.
constexpr Formats kFormats = [] {
    Formats list = formats::standard;
    list.variable_length_changes = nullptr;
    return list;
}();

struct Case {
    const char* what;
    Status expected;
    std::function<Status(World&)> play;
};

void expect_all(const std::vector<Case>& cases) {
    const Image image = make_world();
    for (const Case& each : cases) {
        SCOPED_TRACE(each.what);
        World world(kFormats);
        ASSERT_EQ(world.open(image), Status::ok);
        EXPECT_EQ(each.play(world), each.expected);
        EXPECT_EQ(world.close(), Status::ok);
        EXPECT_TRUE(world.image() == image);
        EXPECT_EQ(world.memory.blocks(), 0U);
    }
}

constexpr auto kText = make_string(4);
constexpr auto kSequence = make_variable_length(make_integer(4, true));
constexpr auto kPair = make_compound<8>(member("a", 0, make_integer(4, true)), member("b", 4, make_integer(4, true)));
// A compound type whose member's type is cut off.
constexpr std::byte kUnsound[] = {std::byte{0x36}, std::byte{1}, std::byte{0}, std::byte{0},   std::byte{4},
                                  std::byte{0},    std::byte{0}, std::byte{0}, std::byte{'a'}, std::byte{0}};

std::int32_t numbers[40000];
ConstBytes bytes(std::size_t count) noexcept { return {reinterpret_cast<const std::byte*>(numbers), count}; }
Bytes room(std::size_t count) noexcept { return {reinterpret_cast<std::byte*>(numbers), count}; }

const std::string_view kWithNul("a\0b", 3);
const std::string kLong(65536, 'x');

DatasetCreate chunked(std::uint32_t rows) noexcept {
    DatasetCreate create;
    create.chunk = {rows};
    return create;
}

}  // namespace

TEST(DocumentedErrors, OfObjects) {
    const auto put = [](std::string_view name, DatatypeView type, const Dataspace& space, ConstBytes data) {
        return [=](World& w) { return w.root.write_attribute(name, type, space, data); };
    };
    expect_all({
        {"no name", Status::invalid_argument, put("", kNumber.view(), {}, bytes(4))},
        {"NUL in the name", Status::invalid_argument, put(kWithNul, kNumber.view(), {}, bytes(4))},
        {"sizes that do not fit", Status::invalid_argument,
         put("new", kNumber.view(), Dataspace::simple({3}, {2}), bytes(12))},
        {"data of another length", Status::invalid_argument, put("new", kNumber.view(), {}, bytes(5))},
        {"no type", Status::invalid_argument, put("new", DatatypeView(), {}, bytes(4))},
        {"a type that is not sound", Status::invalid_argument, put("new", DatatypeView(kUnsound), {}, bytes(4))},
        {"another type", Status::type_mismatch, put("number", kText.view(), {}, bytes(4))},
        {"another rank", Status::type_mismatch, put("number", kNumber.view(), Dataspace::simple({1}), bytes(4))},
        {"sequences", Status::unsupported, put("new", kSequence.view(), {}, bytes(16))},
        {"more than 64 KiB", Status::over_budget, put("new", kNumber.view(), Dataspace::simple({20000}), bytes(80000))},
        {"read: no such", Status::not_found,
         [](World& w) { return w.root.read_attribute("none", kNumber.view(), room(4)); }},
        {"read: another length", Status::invalid_argument,
         [](World& w) { return w.root.read_attribute("number", kNumber.view(), room(8)); }},
        {"text: no such", Status::not_found,
         [](World& w) {
             std::size_t length = 0;
             char text[4];
             return w.root.read_attribute("none", Span<char>(text), length);
         }},
        {"text: too small", Status::invalid_argument,
         [](World& w) {
             std::size_t length = 0;
             char text[4];
             return w.root.read_attribute("text", Span<char>(text), length);
         }},
        {"text: a number", Status::type_mismatch,
         [](World& w) {
             std::size_t length = 0;
             char text[4];
             return w.root.read_attribute("number", Span<char>(text), length);
         }},
        {"info: no such", Status::not_found,
         [](World& w) {
             AttributeInfo info;
             return w.root.attribute_info("none", info);
         }},
        {"type: no such", Status::not_found,
         [](World& w) {
             DatatypeView type;
             return w.root.attribute_type("none", room(20), type);
         }},
        {"type: too small", Status::over_budget,
         [](World& w) {
             DatatypeView type;
             return w.root.attribute_type("number", room(11), type);
         }},
        {"remove: no such", Status::not_found, [](World& w) { return w.root.remove_attribute("none"); }},
        {"name: no such", Status::not_found,
         [](World& w) {
             std::size_t length = 0;
             char name[20];
             return w.root.attribute_name(2, Span<char>(name), length);
         }},
        {"name: too small", Status::invalid_argument,
         [](World& w) {
             std::size_t length = 0;
             char name[5];
             const Status status = w.root.attribute_name(0, Span<char>(name), length);
             EXPECT_EQ(length, 6U);
             return status;
         }},
    });
}

TEST(DocumentedErrors, OfGroups) {
    const auto make = [](const char* path) { return [=](World& w) { return w.root.create_group(path).status(); }; };
    const auto make_log = [](const DatasetCreate& create, const Dataspace& space, DatatypeView type = kNumber.view()) {
        return [=](World& w) { return w.root.create_dataset("new", type, space, create).status(); };
    };
    DatasetCreate fill = chunked(8);
    fill.fill = bytes(3);
    expect_all({
        {"group: exists", Status::already_exists, make("log")},
        {"group: its parent does not", Status::not_found, make("none/new")},
        {"group: in a dataset", Status::not_found, make("log/new")},
        {"group: no name", Status::invalid_argument, make("")},
        {"group: a dot", Status::invalid_argument, make("group/.")},
        {"group: a slash", Status::invalid_argument, make("/")},
        {"group: a long name", Status::invalid_argument, [](World& w) { return w.root.create_group(kLong).status(); }},
        {"group: NUL", Status::invalid_argument, [](World& w) { return w.root.create_group(kWithNul).status(); }},
        {"open group: none", Status::not_found, [](World& w) { return w.root.open_group("none").status(); }},
        {"open group: leads nowhere", Status::not_found,
         [](World& w) { return w.root.open_group("nowhere").status(); }},
        {"open group: a dataset", Status::not_found, [](World& w) { return w.root.open_group("log").status(); }},
        {"open or create group: a dataset", Status::already_exists,
         [](World& w) { return w.root.open_or_create_group("log").status(); }},
        {"open dataset: none", Status::not_found, [](World& w) { return w.root.open_dataset("none").status(); }},
        {"open dataset: a group", Status::not_found, [](World& w) { return w.root.open_dataset("group").status(); }},
        {"open dataset: records that it has not", H5MOTE_CONVERSION != 0 ? Status::type_mismatch : Status::unsupported,
         [](World& w) { return w.log.set_memory_type(kPair.view()); }},
        {"create dataset: exists", Status::already_exists,
         [](World& w) {
             return w.root.create_dataset("log", kNumber.view(), Dataspace::unlimited(), chunked(8)).status();
         }},
        {"create dataset: no type", Status::invalid_argument,
         make_log(chunked(8), Dataspace::unlimited(), DatatypeView())},
        {"create dataset: a type that is not sound", Status::invalid_argument,
         make_log(chunked(8), Dataspace::unlimited(), DatatypeView(kUnsound))},
        {"create dataset: sizes", Status::invalid_argument, make_log(chunked(8), Dataspace::simple({9}, {8}))},
        {"create dataset: a chunk of none", Status::invalid_argument, make_log(chunked(0), Dataspace::unlimited())},
        {"create dataset: a fill value of another size", Status::invalid_argument,
         make_log(fill, Dataspace::unlimited())},
        {"create dataset: sequences", Status::unsupported,
         make_log(chunked(8), Dataspace::unlimited(), kSequence.view())},
        {"open or create dataset: a group", Status::already_exists,
         [](World& w) { return w.root.open_or_create_dataset<std::int32_t>("group", chunked(8)).status(); }},
        {"hard link: exists", Status::already_exists, [](World& w) { return w.root.create_hard_link("soft", w.log); }},
        {"hard link: of another file", Status::invalid_argument,
         [](World& w) {
             World other;
             EXPECT_EQ(other.open(make_world()), Status::ok);
             return w.root.create_hard_link("new", other.log);
         }},
        {"soft link: to nothing", Status::invalid_argument,
         [](World& w) { return w.root.create_soft_link("new", ""); }},
        {"soft link: long", Status::invalid_argument, [](World& w) { return w.root.create_soft_link("new", kLong); }},
        {"soft link: NUL", Status::invalid_argument, [](World& w) { return w.root.create_soft_link("new", kWithNul); }},
        {"unlink: none", Status::not_found, [](World& w) { return w.root.unlink("none"); }},
        {"unlink: open", Status::busy, [](World& w) { return w.root.unlink("log"); }},
        {"unlink: has links", Status::busy, [](World& w) { return w.root.unlink("group"); }},
        {"link: no such", Status::not_found,
         [](World& w) {
             LinkInfo info;
             char name[20];
             return w.root.link(9, info, Span<char>(name));
         }},
    });
}

#if H5MOTE_FILTERS
TEST(DocumentedErrors, OfFilters) {
    const auto make_log = [](std::uint32_t rows, const FilterSpec& filter) {
        return [=](World& w) {
            DatasetCreate create = chunked(rows);
            create.filters = {filter};
            return w.root.create_dataset("new", kNumber.view(), Dataspace::unlimited(), create).status();
        };
    };
    FilterSpec unknown;
    unknown.id = static_cast<FilterId>(300);
    expect_all({
        {"a chunk larger than the cache", Status::over_budget, make_log(1025, filters::fletcher32)},
        {"a filter that the program lacks", Status::unsupported, make_log(8, unknown)},
    });
}
#endif

TEST(DocumentedErrors, OfDatasets) {
    expect_all({
        {"datatype: too small", Status::over_budget,
         [](World& w) {
             DatatypeView type;
             return w.log.datatype(room(11), type);
         }},
            {"set_extent: another rank", Status::invalid_argument,
             [](World& w) {
                 return w.log.set_extent({30, 1});
             }},
            {"set_memory_type: no conversion", H5MOTE_CONVERSION != 0 ? Status::type_mismatch : Status::unsupported,
             [](World& w) { return w.log.set_memory_type(kText.view()); }},
#if H5MOTE_PARTIAL_IO
            {"set_extent: beyond the maximum", Status::invalid_argument,
             [](World& w) { return w.flat.set_extent({17}); }},
            {"append: fixed", Status::invalid_argument, [](World& w) { return w.flat.append_records(numbers, 1); }},
            // Nodes of the chunk index have 2048 bytes, which the metadata cache has no room for.
            {"two dimensions without limit", H5MOTE_ALL_FORMATS != 0 ? Status::over_budget : Status::unsupported,
             [](World& w) {
                 DatasetCreate create;
                 create.chunk = {2, 2};
                 return w.root
                     .create_dataset("new", kNumber.view(), Dataspace::simple({2, 2}, {kUnlimited, kUnlimited}), create)
                     .status();
             }},
            {"extensible without chunks", Status::invalid_argument,
             [](World& w) { return w.root.create_dataset("new", kNumber.view(), Dataspace::unlimited()).status(); }},
            {"contiguous with chunks", Status::invalid_argument,
             [](World& w) {
                 DatasetCreate create = chunked(8);
                 create.layout = Layout::contiguous;
                 return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({8}), create).status();
             }},
            {"a chunk larger than a fixed dimension", Status::invalid_argument,
             [](World& w) {
                 return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({8}), chunked(9)).status();
             }},
            {"a chunk of another rank", Status::invalid_argument,
             [](World& w) {
                 return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({8, 8}), chunked(8)).status();
             }},
            {"compact: larger than 64 KiB", Status::over_budget,
             [](World& w) {
                 DatasetCreate create;
                 create.layout = Layout::compact;
                 return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({20000}), create).status();
             }},
            {"fill_undefined with a fill value", Status::invalid_argument,
             [](World& w) {
                 DatasetCreate create;
                 create.fill = bytes(4);
                 create.fill_undefined = true;
                 return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({8}), create).status();
             }},
            {"open_or_create: other maxima", Status::invalid_argument,
             [](World& w) {
                 return w.root.open_or_create_dataset("flat", kNumber.view(), Dataspace::simple({17})).status();
             }},
            {"read: another length", Status::invalid_argument,
             [](World& w) { return w.log.read(Selection::all(), kNumber.view(), room(79)); }},
            {"write: another length", Status::invalid_argument,
             [](World& w) { return w.flat.write(Selection::all(), kNumber.view(), bytes(65)); }},
            {"read: beyond the extent", Status::invalid_argument,
             [](World& w) { return w.log.read(Selection::hyperslab({15}, {6}), kNumber.view(), room(24)); }},
            {"write: another rank", Status::invalid_argument,
             [](World& w) {
                 return w.log.write(Selection::hyperslab({1, 1}, {1, 1}), kNumber.view(), bytes(4));
             }},
            {"read: no conversion", Status::type_mismatch,
             [](World& w) { return w.log.read(Selection::all(), kText.view(), room(80)); }},
            {"write: no conversion", Status::type_mismatch,
             [](World& w) { return w.flat.write(Selection::all(), kText.view(), bytes(64)); }},
            {"read: memory has another number of elements", Status::invalid_argument,
             [](World& w) {
                 return w.flat.read(Selection::all(), kNumber.view(), Dataspace::simple({20}), Selection::all(),
                                    room(80));
             }},
            {"write: memory of another length", Status::invalid_argument, [](World& w) {
                 return w.flat.write(Selection::all(), kNumber.view(), Dataspace::simple({16}), Selection::all(),
                                     bytes(60));
             }},
#endif
    });
}

#if H5MOTE_ALL_FORMATS
TEST(DocumentedErrors, OfDatasetQueries) {
    static constexpr std::uint64_t kBig = std::uint64_t{1} << 40;
    expect_all({
        {"chunk_dims: not chunked", Status::invalid_argument,
         [](World& w) {
             std::uint64_t dims[1];
             return w.flat.chunk_dims(dims);
         }},
        {"chunk_dims: more than the rank", Status::invalid_argument,
         [](World& w) {
             std::uint64_t dims[2];
             return w.log.chunk_dims(dims);
         }},
        {"filter: none", Status::not_found,
         [](World& w) {
             FilterInfo filter;
             return w.log.filter(0, filter);
         }},
        {"external_file: none", Status::not_found,
         [](World& w) {
             ExternalFile each;
             return w.log.external_file(0, each, {});
         }},
        {"virtual_mapping: none", Status::not_found,
         [](World& w) {
             VirtualMapping mapping;
             return w.log.virtual_mapping(0, mapping);
         }},
        {"fill_value: another size", Status::invalid_argument,
         [](World& w) { return w.log.fill_value(kNumber.view(), room(5)); }},
        {"fill_value: no datatype", Status::invalid_argument, [](World& w) { return w.log.fill_value({}, room(0)); }},
        {"stored_fill_value: another size", Status::invalid_argument,
         [](World& w) { return w.log.stored_fill_value(room(3)); }},
        {"from: a group", Status::not_found,
         [](World& w) {
             auto object = w.root.open_object("group");
             const Status status = Dataset::from(static_cast<Object&&>(*object)).status();
             EXPECT_TRUE(object->valid());
             return status;
         }},
        {"from: no handle", Status::invalid_handle, [](World& /*w*/) { return Dataset::from(Object()).status(); }},
        {"ChunkIterator: not chunked", Status::invalid_argument,
         [](World& w) {
             ChunkIterator chunks(w.flat);
             ChunkInfo chunk;
             return chunks.next(chunk);
         }},
        {"read: a selection beyond the memory", Status::invalid_argument,
         [](World& w) {
             return w.flat.read(Selection::hyperslab({0}, {4}), kNumber.view(), Dataspace::simple({8}),
                                Selection::hyperslab({5}, {4}), room(32));
         }},
        {"read: memory of more elements than 64 bits count", Status::overflow,
         [](World& w) {
             return w.flat.read(Selection::hyperslab({0}, {4}), kNumber.view(), Dataspace::simple({kBig, kBig}),
                                Selection::hyperslab({0, 0}, {2, 2}), room(32));
         }},
        {"create: more bytes than 64 bits count", Status::invalid_argument,
         [](World& w) {
             return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({kBig, kBig})).status();
         }},
        {"create: more chunks than 64 bits count", Status::invalid_argument,
         [](World& w) {
             DatasetCreate create;
             create.chunk = {1, 1};
             return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({1, 1}, {kBig, kBig}), create)
                 .status();
         }},
        {"create: a chunk of 4 GiB", Status::invalid_argument,
         [](World& w) {
             return w.root.create_dataset("new", kNumber.view(), Dataspace::unlimited(), chunked(1U << 30)).status();
         }},
        {"create: an extent that is none", Status::invalid_argument,
         [](World& w) {
             return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({4}, {3}), chunked(1)).status();
         }},
        {"open_or_create: another rank", Status::invalid_argument,
         [](World& w) {
             return w.root.open_or_create_dataset("flat", kNumber.view(), Dataspace::simple({4, 4})).status();
         }},
    });
}

// filter() fills the caller's buffers for name and client data as far as they have room.
TEST(DocumentedErrors, OfFiltersThatAreAskedFor) {
    World world;
    ASSERT_EQ(world.open(make_world()), Status::ok);
    DatasetCreate create = chunked(8);
    create.filters = {filters::shuffle, filters::deflate};
    auto data = world.root.create_dataset("filtered", kNumber.view(), Dataspace::unlimited(), create);
    ASSERT_EQ(data.status(), Status::ok);
    FilterInfo filter;
    std::uint32_t values[3] = {9, 9, 9};
    char name[2] = {'?', '?'};
    EXPECT_EQ(data->filter(1, filter, name, values), Status::ok);
    EXPECT_TRUE(filter.id == FilterId::deflate);
    EXPECT_EQ(values[0], 6U);
    EXPECT_EQ(values[1], 9U);
    EXPECT_EQ(data->filter(2, filter, name, values), Status::not_found);
    EXPECT_EQ(data->filter(~std::size_t{0}, filter), Status::not_found);
}
#endif

TEST(DocumentedErrors, OfFiles) {
    const Image image = make_world();
    World world;
    const auto open = [&] { return File::open(world.library, world.driver, world.access).status(); };
    const auto create = [&](const FileCreate& properties, const FileAccess& access) {
        return File::create(world.library, world.driver, access, properties).status();
    };
    EXPECT_EQ(open(), Status::not_found);
    FileCreate properties;
    properties.sizeof_addr = 5;
    EXPECT_EQ(create(properties, {}), Status::invalid_argument);
    properties = {};
    properties.superblock_version = 4;
    EXPECT_EQ(create(properties, {}), Status::invalid_argument);
    FileAccess reading;
    reading.read_only = true;
    EXPECT_EQ(create({}, reading), Status::read_only);
    ASSERT_EQ(world.storage.assign({image.data(), image.size() - 1}), Status::ok);
    EXPECT_EQ(open(), Status::corrupt_file);
    Image foreign(700, std::byte{7});
    ASSERT_EQ(world.storage.assign({foreign.data(), foreign.size()}), Status::ok);
    EXPECT_EQ(open(), Status::not_hdf5);
    EXPECT_EQ(File::open_or_create(world.library, world.driver).status(), Status::not_hdf5);
    EXPECT_TRUE(world.image() == foreign);
    ASSERT_EQ(world.open(image), Status::ok);
    EXPECT_EQ(create({}, {}), Status::busy);
    // Another Library has the storage open.
    MallocAllocator memory;
    Library other(memory, world.port);
    EXPECT_EQ(File::open(other, world.driver).status(), Status::busy);
    EXPECT_EQ(world.close(), Status::ok);
    // A file that is open read-only cannot be opened for writing; a file with open objects is not closed.
    world.access.read_only = true;
    ASSERT_EQ(world.open(), Status::ok);
    EXPECT_EQ(File::open(world.library, world.driver).status(), Status::busy);
    EXPECT_EQ(world.close(), Status::ok);
    world.access = {};
    world.access.close_degree = CloseDegree::semi;
    ASSERT_EQ(world.open(), Status::ok);
    EXPECT_EQ(world.file.close(), Status::busy);
    EXPECT_EQ(world.close(), Status::ok);
    EXPECT_EQ(world.file.close(), Status::invalid_handle);
    EXPECT_EQ(world.file.flush(), Status::invalid_handle);
    EXPECT_EQ(world.memory.blocks(), 0U);
}

#if H5MOTE_ALL_FORMATS
TEST(DocumentedErrors, OfReading) {
    expect_all({
        {"open_attribute: none", Status::not_found, [](World& w) { return w.root.open_attribute("none").status(); }},
        {"Attribute::read: another length", Status::invalid_argument,
         [](World& w) { return w.root.open_attribute("number")->read(kNumber.view(), room(8)); }},
        {"Attribute::read: no conversion", Status::type_mismatch,
         [](World& w) { return w.root.open_attribute("number")->read(kText.view(), room(4)); }},
        {"Attribute::read_stored: beyond the end", Status::invalid_argument,
         [](World& w) { return w.root.open_attribute("number")->read_stored(2, room(3)); }},
        {"AttributeIterator: order is not tracked", Status::invalid_argument,
         [](World& w) {
             AttributeIterator walk(w.root, IndexOrder::creation);
             Attribute attribute;
             return walk.next(attribute);
         }},
        {"LinkIterator: order is not tracked", Status::invalid_argument,
         [](World& w) {
             LinkIterator walk(w.root, IndexOrder::creation);
             Link link;
             return walk.next(link);
         }},
        {"open_object: none", Status::not_found, [](World& w) { return w.root.open_object("none").status(); }},
        {"find_link: none", Status::not_found,
         [](World& w) {
             Link link;
             return w.root.find_link("none", link);
         }},
        {"Group::from: a dataset", Status::not_found,
         [](World& w) { return Group::from(static_cast<Object&&>(*w.root.open_object("log"))).status(); }},
        {"Dataset::from: a group", Status::not_found,
         [](World& w) { return Dataset::from(static_cast<Object&&>(*w.root.open_object("group"))).status(); }},
        {"NamedDatatype::from: a group", Status::not_found,
         [](World& w) { return NamedDatatype::from(static_cast<Object&&>(*w.root.open_object("group"))).status(); }},
        {"reference: null", Status::not_found,
         [](World& w) {
             const std::byte stored[8] = {};
             return w.root.open_reference(ReferenceType::object1, stored).status();
         }},
        {"chunk_dims: not chunked", Status::invalid_argument,
         [](World& w) {
             std::uint64_t dims[1];
             return w.flat.chunk_dims(dims);
         }},
        {"ChunkIterator: not chunked", Status::invalid_argument,
         [](World& w) {
             ChunkIterator walk(w.flat);
             ChunkInfo chunk;
             return walk.next(chunk);
         }},
        {"filter: no such", Status::not_found,
         [](World& w) {
             FilterInfo info;
             return w.log.filter(0, info);
         }},
        {"external_file: no such", Status::not_found,
         [](World& w) {
             ExternalFile info;
             char name[8];
             return w.flat.external_file(0, info, Span<char>(name));
         }},
        {"virtual_mapping: no such", Status::not_found,
         [](World& w) {
             VirtualMapping mapping;
             return w.flat.virtual_mapping(0, mapping);
         }},
        {"fill_value: no conversion", Status::type_mismatch,
         [](World& w) { return w.root.open_dataset("old")->fill_value(kText.view(), room(4)); }},
        {"mount: a circle", Status::invalid_argument, [](World& w) { return w.root.mount("empty", w.file); }},
        {"unmount: nothing is", Status::not_found, [](World& w) { return w.root.unmount("empty"); }},
        {"check: less memory than the objects take", Status::over_budget,
         [](World& w) {
             class Reporter final : public CheckReporter {
                 void problem(const Problem& /*problem*/) noexcept override {}
             } reporter;
             CheckOptions options;
             options.memory = 64;
             return check_file(w.file, options, reporter);
         }},
    });
}
#endif

#endif
