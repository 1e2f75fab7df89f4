// Each public call that works on a file is made to fail in the ways that all calls share: by an empty handle, a closed
// file, a read-only file, and by the k-th allocation and the k-th driver call for each k. The status names the fault,
// nothing is lost, and the same call can be made again.
#include "world.hpp"

#if H5MOTE_WRITE

#include <h5mote/check.hpp>
#include <h5mote/named_datatype.hpp>

#include <cstdio>
#include <functional>
#include <string>

using namespace h5mote;
using namespace h5mote_test;

namespace {

/// `done`: whether the file, closed and opened again, has the change that the call makes.
struct Call {
    const char* name;
    bool changes;
    std::function<Status(World&)> play;
    std::function<bool(World&)> done = [](World&) { return true; };
};

bool reads(World& world, const char* name, std::int32_t expected) {
    std::int32_t value = 0;
    return world.root.read_attribute(name, value) == Status::ok && value == expected;
}

template <typename T>
Bytes bytes_of(T& value) noexcept {
    return {reinterpret_cast<std::byte*>(&value), sizeof value};
}

std::vector<Call> attribute_calls() {
    return {
        {"write_attribute, new", true,
         [](World& w) {
             const std::int32_t values[] = {1, 2, 3};
             return w.root.write_attribute("new", kNumber.view(), Dataspace::simple({3}),
                                           as_bytes(Span<const std::int32_t>(values)));
         },
         [](World& w) {
             AttributeInfo info;
             return w.root.attribute_info("new", info) == Status::ok && info.space == Dataspace::simple({3});
         }},
        {"write_attribute, value", true, [](World& w) { return w.root.write_attribute("number", std::int32_t{50}); },
         [](World& w) { return reads(w, "number", 50); }},
        {"write_attribute, text", true,
         [](World& w) { return w.root.write_attribute("text", "a text that is longer than the one before"); },
         [](World& w) {
             char text[80];
             std::size_t length = 0;
             return w.root.read_attribute("text", Span<char>(text), length) == Status::ok && length == 41;
         }},
        {"read_attribute", false,
         [](World& w) {
             std::int32_t value = 41;
             const Status status = w.root.read_attribute("number", kNumber.view(), bytes_of(value));
             EXPECT_EQ(value, 41);
             return status;
         }},
        {"read_attribute, text", false,
         [](World& w) {
             char text[80];
             std::size_t length = 0;
             const Status status = w.root.read_attribute("text", Span<char>(text), length);
             EXPECT_TRUE(status != Status::ok || std::string(text, length) == "some text");
             return status;
         }},
        {"attribute_info", false,
         [](World& w) {
             AttributeInfo info;
             return w.root.attribute_info("number", info);
         }},
        {"attribute_type", false,
         [](World& w) {
             std::byte buffer[64];
             DatatypeView type;
             return w.root.attribute_type("number", buffer, type);
         }},
        {"remove_attribute", true, [](World& w) { return w.root.remove_attribute("number"); },
         [](World& w) { return !w.root.has_attribute("number") && w.root.has_attribute("text"); }},
        {"attribute_count", false,
         [](World& w) {
             std::uint32_t count = 0;
             const Status status = w.root.attribute_count(count);
             EXPECT_TRUE(status != Status::ok || count == 2);
             return status;
         }},
        {"attribute_name", false,
         [](World& w) {
             char name[20];
             std::size_t length = 0;
             return w.root.attribute_name(1, Span<char>(name), length);
         }},
    };
}

std::vector<Call> group_calls() {
    return {
        {"create_group", true, [](World& w) { return w.root.create_group("group/new").status(); },
         [](World& w) { return w.root.open_group("group/new").status() == Status::ok; }},
            {"open_group", false, [](World& w) { return w.root.open_group("soft").status(); }},
            {"open_or_create_group, new", true, [](World& w) { return w.group.open_or_create_group("new").status(); },
             [](World& w) { return w.root.open_group("group/new").status() == Status::ok; }},
            {"open_or_create_group", false, [](World& w) { return w.root.open_or_create_group("empty").status(); }},
            {"open_or_create_groups", true,
             [](World& w) {
                 const Status status = w.root.open_or_create_groups("one/two/three").status();
                 // A call that has failed leaves nothing, unless the storage fails while it removes what it has made.
                 EXPECT_TRUE(status == Status::ok || status == Status::io_error || !w.root.exists("one"));
                 return status;
             },
             [](World& w) { return w.root.open_group("one/two/three").status() == Status::ok; }},
#if H5MOTE_PARTIAL_IO
            {"create_dataset", true,
             [](World& w) { return w.root.create_dataset("new", kNumber.view(), Dataspace::simple({100})).status(); },
             [](World& w) { return w.root.open_dataset("new")->size() == 100; }},
#endif
            {"create_dataset, log", true,
             [](World& w) {
                 DatasetCreate create;
                 create.chunk = {16};
                 create.track_times = true;
#if H5MOTE_FILTERS
                 create.filters = {filters::shuffle, filters::deflate};
#endif
                 return w.group.create_dataset<std::int32_t>("new", create).status();
             },
             [](World& w) { return w.root.open_dataset<std::int32_t>("group/new").status() == Status::ok; }},
            {"open_dataset", false, [](World& w) { return w.root.open_dataset("old").status(); }},
            {"open_dataset, typed", false,
             [](World& w) { return w.root.open_dataset<std::int32_t>("/also").status(); }},
            {"open_or_create_dataset, new", true,
             [](World& w) {
                 DatasetCreate create;
                 create.chunk = {16};
                 return w.root.open_or_create_dataset<std::int32_t>("new", create).status();
             },
             [](World& w) { return w.root.open_dataset("new").status() == Status::ok; }},
            {"open_or_create_dataset", false,
             [](World& w) {
                 DatasetCreate create;
                 create.chunk = {8};
                 return w.root.open_or_create_dataset("old", kNumber.view(), Dataspace::unlimited(), create).status();
             }},
            {"create_hard_link", true, [](World& w) { return w.root.create_hard_link("group/new", w.log); },
             [](World& w) { return w.root.open_dataset("group/new")->size() == kWorldRows; }},
            {"create_soft_link", true, [](World& w) { return w.group.create_soft_link("new", "/log"); },
             [](World& w) { return w.root.open_dataset("group/new")->size() == kWorldRows; }},
            {"unlink, one of two", true, [](World& w) { return w.root.unlink("also"); },
             [](World& w) { return !w.root.exists("also") && w.root.open_dataset("old")->size() == 40; }},
            {"unlink, soft", true, [](World& w) { return w.root.unlink("circle"); },
             [](World& w) { return !w.root.exists("circle") && w.root.exists("soft"); }},
            {"unlink, group", true, [](World& w) { return w.root.unlink("empty"); },
             [](World& w) { return !w.root.exists("empty"); }},
            {"link_count", false,
             [](World& w) {
                 std::uint32_t count = 0;
                 return w.root.link_count(count);
             }},
            {"link", false, [](World& w) {
                 LinkInfo info;
                 char name[40];
                 return w.root.link(6, info, Span<char>(name));
             }},
    };
}

std::vector<Call> dataset_calls() {
    return {
        {"append_records", true,
         [](World& w) {
             // After an error the rows that fitted have been appended: append only the missing ones.
             const auto first = static_cast<std::size_t>(w.log.valid() ? w.log.size() : kWorldRows);
             std::int32_t rows[kWorldRows + 70];
             for (std::size_t i = 0; i < std::size(rows); ++i) {
                 rows[i] = static_cast<std::int32_t>(3 * i);
             }
             return w.log.append_records(rows + first, std::size(rows) - first);
         },
         [](World& w) { return w.log.size() == kWorldRows + 70; }},
            {"dataspace", false,
             [](World& w) {
                 Dataspace space;
                 return w.log.dataspace(space);
             }},
            {"datatype", false,
             [](World& w) {
                 std::byte buffer[64];
                 DatatypeView type;
                 return w.log.datatype(buffer, type);
             }},
            {"set_extent", true, [](World& w) { return w.log.set_extent({50}); },
             [](World& w) { return w.log.size() == 50; }},
            {"set_memory_type", false, [](World& w) { return w.log.set_memory_type(kNumber.view()); }},
#if H5MOTE_PARTIAL_IO
            {"write", true,
             [](World& w) {
                 const std::int32_t values[] = {70, 71, 72, 73, 74, 75};
                 return w.log.write(Selection::hyperslab({5}, {6}), kNumber.view(),
                                    as_bytes(Span<const std::int32_t>(values)));
             },
             [](World& w) {
                 std::int32_t values[2] = {};
                 return w.log.read(Selection::hyperslab({9}, {2}), kNumber.view(), bytes_of(values)) == Status::ok &&
                        values[0] == 74 && values[1] == 75;
             }},
            {"read", false,
             [](World& w) {
                 std::int32_t values[kWorldRows] = {};
                 const Status status = w.log.read(Selection::all(), kNumber.view(), bytes_of(values));
                 EXPECT_TRUE(status != Status::ok || values[kWorldRows - 1] == 3 * (kWorldRows - 1));
                 return status;
             }},
            {"write, converted", true,
             [](World& w) {
                 static constexpr auto kWide = make_float(8, kNativeOrder);
                 const double values[] = {70, 71, 72, 73};
                 static const std::uint64_t points[] = {3, 15, 1, 9};
                 return w.flat.write(Selection::points(1, Span<const std::uint64_t>(points)), kWide.view(),
                                     as_bytes(Span<const double>(values)));
             },
             [](World& w) {
                 std::int32_t values[kWorldFlat] = {};
                 return w.flat.read(Selection::all(), kNumber.view(), bytes_of(values)) == Status::ok &&
                        values[3] == 70 && values[15] == 71 && values[1] == 72 && values[9] == 73 && values[2] == 2;
             }},
            {"read, into a selection of memory", false,
             [](World& w) {
                 std::int32_t values[8] = {};
                 const Status status =
                     w.flat.read(Selection::hyperslab({1}, {4}, {3}), kNumber.view(), Dataspace::simple({8}),
                                 Selection::hyperslab({0}, {4}, {2}), bytes_of(values));
                 EXPECT_TRUE(status != Status::ok || (values[2] == 4 && values[6] == 10));
                 return status;
             }},
#endif
            {"close", true,
             [](World& w) {
                 if (!w.log.valid()) {
                     // close() ends the handle even when it fails; the file keeps what could not be stored and stores
                     // it later.
                     return w.root.valid() ? Status::ok : Status::invalid_handle;
                 }
                 const std::int32_t row = 5;
                 H5MOTE_TRY(w.log.append_records(&row, 1));
                 return w.log.close();
             },
             [](World& w) { return w.log.size() == kWorldRows + 1; }},
            {"flush", true,
             [](World& w) {
                 H5MOTE_TRY(w.root.write_attribute("number", std::int32_t{60}));
                 return w.file.flush();
             },
             [](World& w) { return reads(w, "number", 60); }},
    };
}

#if H5MOTE_ALL_FORMATS

class Silent final : public CheckReporter, public Visitor, public SectionVisitor {
public:
    void problem(const Problem& /*problem*/) noexcept override {}
    Status section(Address /*address*/, std::uint64_t /*size*/) noexcept override { return Status::ok; }
    Status object(std::string_view /*path*/, Object& object) noexcept override {
        ObjectInfo info;
        return object.info(info);
    }
};

// Calls next() until the iteration ends.
template <typename Iterator, typename Item>
Status walk(Iterator& iterator, Item& item) noexcept {
    Status status;
    while ((status = iterator.next(item)) == Status::ok) {
    }
    return status == Status::not_found ? Status::ok : status;
}

std::vector<Call> reading_calls() {
    return {
        {"Object::open_attribute", false, [](World& w) { return w.root.open_attribute("text").status(); }},
        {"Object::type", false,
         [](World& w) {
             ObjectType type;
             return w.log.type(type);
         }},
        {"Object::info", false,
         [](World& w) {
             ObjectInfo info;
             return w.group.info(info);
         }},
        {"Object::comment", false,
         [](World& w) {
             std::size_t length = 0;
             return w.root.comment({}, length);
         }},
        {"Object::open_reference", false,
         [](World& w) {
             std::byte stored[8] = {};
             for (unsigned i = 0; i < 8; ++i) {
                 stored[i] = static_cast<std::byte>(w.flat.address() >> (8 * i));
             }
             return w.root.open_reference(ReferenceType::object1, stored).status();
         }},
        {"Object::variable_size", false,
         [](World& w) {
             const std::byte none[12] = {};
             std::uint64_t bytes = 0;
             return w.root.variable_size(none, bytes);
         }},
        {"Attribute::read", false,
         [](World& w) {
             auto attribute = w.root.open_attribute("number");
             std::int32_t value = 41;
             const Status status = attribute->read(kNumber.view(), bytes_of(value));
             EXPECT_EQ(value, 41);
             return attribute.status() != Status::ok ? attribute.status() : status;
         }},
        {"AttributeIterator", false,
         [](World& w) {
             AttributeIterator iterator(w.root, IndexOrder::name);
             Attribute attribute;
             return walk(iterator, attribute);
         }},
        {"Group::open_object", false, [](World& w) { return w.root.open_object("soft").status(); }},
        {"Group::open_object_at", false, [](World& w) { return w.root.open_object_at(w.flat.address()).status(); }},
        {"Group::find_link", false,
         [](World& w) {
             Link link;
             return w.root.find_link("nowhere", link);
         }},
        {"Group::group_info", false,
         [](World& w) {
             GroupInfo info;
             return w.root.group_info(info);
         }},
        {"Group::visit", false,
         [](World& w) {
             Silent visitor;
             return w.root.visit(visitor);
         }},
        {"LinkIterator", false,
         [](World& w) {
             LinkIterator iterator(w.root, IndexOrder::name, Direction::decreasing);
             Link link;
             return walk(iterator, link);
         }},
        {"Dataset::info", false,
         [](World& w) {
             DatasetInfo info;
             return w.log.info(info);
         }},
        {"Dataset::storage_size", false,
         [](World& w) {
             std::uint64_t bytes = 0;
             return w.log.storage_size(bytes);
         }},
        {"Dataset::index_size", false,
         [](World& w) {
             std::uint64_t chunks = 0;
             std::uint64_t bytes = 0;
             return w.log.index_size(chunks, bytes);
         }},
        {"Dataset::heap_size", false,
         [](World& w) {
             std::uint64_t bytes = 0;
             return w.log.heap_size(bytes);
         }},
        {"Dataset::chunk_dims", false,
         [](World& w) {
             std::uint64_t dims[1];
             return w.log.chunk_dims(dims);
         }},
        {"Dataset::fill_value", false,
         [](World& w) {
             std::int32_t value = 0;
             return w.log.fill_value(kNumber.view(), bytes_of(value));
         }},
        {"Dataset::stored_fill_value", false,
         [](World& w) {
             std::int32_t value = 0;
             return w.log.stored_fill_value(bytes_of(value));
         }},
        {"Dataset::read_stored", false,
         [](World& w) {
             std::int32_t values[kWorldRows] = {};
             return w.log.read_stored(Selection::all(), bytes_of(values));
         }},
        {"ChunkIterator", false,
         [](World& w) {
             ChunkIterator iterator(w.log);
             ChunkInfo chunk;
             return walk(iterator, chunk);
         }},
        {"File::info", false,
         [](World& w) {
             FileInfo info;
             return w.root.valid() ? w.file.info(info) : Status::invalid_handle;
         }},
        {"File::free_space", false,
         [](World& w) {
             FreeSpaceInfo info;
             Silent visitor;
             return w.root.valid() ? w.file.free_space(info, &visitor) : Status::invalid_handle;
         }},
    };
}
#endif

std::vector<Call> every_call() {
    std::vector<Call> calls = attribute_calls();
    const auto add = [&](const std::vector<Call>& more) { calls.insert(calls.end(), more.begin(), more.end()); };
    add(group_calls());
    add(dataset_calls());
#if H5MOTE_ALL_FORMATS
    add(reading_calls());
#endif
    return calls;
}

// One kind of fault: `allocations` that fail in a row, or, if that is 0, the driver's fault.
struct Fault {
    std::string name;
    std::uint64_t allocations = 0;
    DriverFault driver;

    Status status() const noexcept { return allocations != 0 ? Status::out_of_memory : driver.status; }
};

std::vector<Fault> every_fault() {
    std::vector<Fault> faults;
    // A single allocation, several in a row, or all from then on.
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{4}, ~std::uint64_t{0}}) {
        Fault fault;
        fault.name = "allocations";
        fault.allocations = count;
        faults.push_back(fault);
    }
    for (const bool persistent : {false, true}) {
        for (const unsigned calls : {unsigned{kReadCall}, kAllCalls & ~unsigned{kReadCall}}) {
            Fault fault;
            fault.name = calls == kReadCall ? "reads" : "writes";
            fault.driver.persistent = persistent;
            fault.driver.calls = calls;
            faults.push_back(fault);
        }
        Fault fault;
        fault.name = "full";
        fault.driver.persistent = persistent;
        fault.driver.calls = kTruncateCall;
        fault.driver.status = Status::no_space;
        faults.push_back(fault);
    }
    return faults;
}

// Makes one call with the k-th allocation or driver call failing. Returns false when there are fewer than k.
bool point(const Image& image, const Call& call, const Fault& fault, std::uint64_t k) {
    World world;
    EXPECT_EQ(world.open(image), Status::ok);
    world.library.garbage_collect();
    if (fault.allocations != 0) {
        world.refusing.arm(k, fault.allocations);
    } else {
        DriverFault driver = fault.driver;
        driver.at = k;
        world.driver.arm(driver);
    }
    Status status = call.play(world);
    const bool failed = (fault.allocations != 0 ? world.refusing.failures() : world.driver.failures()) != 0;
    world.refusing.arm(0, 0);
    world.driver.disarm();
    EXPECT_TRUE(status == Status::ok || (failed && status == fault.status())) << to_string(status);
    if (status != Status::ok) {
        status = call.play(world);
        EXPECT_EQ(status, Status::ok) << "again";
    }
    EXPECT_EQ(world.file.flush(), Status::ok);
    EXPECT_TRUE(findings_in(world.file).none());
    EXPECT_EQ(world.close(), Status::ok);
    EXPECT_EQ(world.memory.blocks(), 0U);
    EXPECT_EQ(world.open(), Status::ok);
    EXPECT_TRUE(call.done(world));
    return failed;
}

}  // namespace

TEST(EveryCall, SaysWhatFailedAndCanBeMadeAgain) {
    const Image image = make_world();
    unsigned points = 0;
    for (const Call& call : every_call()) {
        for (const Fault& fault : every_fault()) {
            for (std::uint64_t k = 1;; ++k) {
                SCOPED_TRACE(std::string(call.name) + ", " + fault.name + " " + std::to_string(fault.allocations) +
                             (fault.driver.persistent ? ", persistent, " : ", ") + std::to_string(k));
                if (!point(image, call, fault, k) || HasFailure()) {
                    break;
                }
                ++points;
            }
        }
    }
    std::printf("%u points\n", points);
    EXPECT_GT(points, H5MOTE_ALL_FORMATS != 0 ? 800U : 400U);
}

TEST(EveryCall, SaysThatTheHandleIsNone) {
    const Image image = make_world();
    for (const Call& call : every_call()) {
        SCOPED_TRACE(call.name);
        World world;
        ASSERT_EQ(world.open(image), Status::ok);
        // Closing the file ends the handles of its objects.
        EXPECT_EQ(world.file.close(), Status::ok);
        EXPECT_EQ(call.play(world), Status::invalid_handle);
        world.forget();
        EXPECT_EQ(call.play(world), Status::invalid_handle);
        EXPECT_FALSE(world.root.exists("log"));
        EXPECT_FALSE(world.root.has_attribute("number"));
        EXPECT_EQ(world.memory.blocks(), 0U);
    }
}

TEST(EveryCall, SaysThatTheFileIsOnlyRead) {
    const Image image = make_world();
    for (const Call& call : every_call()) {
        SCOPED_TRACE(call.name);
        World world;
        world.access.read_only = true;
        ASSERT_EQ(world.open(image), Status::ok);
        EXPECT_EQ(call.play(world), call.changes ? Status::read_only : Status::ok);
        EXPECT_EQ(world.close(), Status::ok);
        EXPECT_TRUE(world.image() == image);
    }
}

#endif
