// Every allocation and every driver call of a change of links, attributes, comments and extents fails: the call returns
// the error and nothing has changed, or all of it has. The file stays sound, and the same call then succeeds.
#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"
#include "sound.hpp"
#include "sweep.hpp"
#include "test_allocators.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr const Filter* kFilters[] = {&deflate_filter};
constexpr std::uint32_t kRows = 13;

std::string attributes_of(const Group& group) {
    std::string text;
    AttributeIterator attributes(group, IndexOrder::name);
    for (Attribute attribute; attributes.next(attribute) == Status::ok;) {
        std::byte value[32] = {};
        EXPECT_EQ(attribute.read_stored(0, {value, static_cast<std::size_t>(attribute.data_size())}), Status::ok);
        text += "@" + std::string(attribute.name()) + "=" + std::to_string(std::to_integer<int>(value[0])) + "," +
                std::to_string(attribute.data_size()) + " ";
    }
    return text;
}

// Everything that the changes can change, as text.
std::string state_of(File& file) {
    std::string text;
    for (const char* path : {"/", "/a", "/b"}) {
        auto group = file.root().open_group(path);
        if (!group) {
            text += std::string("no ") + path + "; ";
            continue;
        }
        LinkIterator links(*group, IndexOrder::name);
        for (Link link; links.next(link) == Status::ok;) {
            text += std::string(path) + ":" + std::string(link.name()) + "=" +
                    std::to_string(static_cast<unsigned>(link.type())) + std::string(link.target()) + " ";
        }
        text += attributes_of(*group);
        AttributeIterator ordered(*group, IndexOrder::creation);
        for (Attribute attribute; ordered.next(attribute) == Status::ok;) {
            text += "@" + std::string(attribute.name()) + " ";
        }
        char comment[64];
        std::size_t length = 0;
        EXPECT_EQ(group->comment(comment, length), Status::ok);
        text += "#" + std::string(comment, length) + "; ";
    }
    for (const char* path : {"/rows", "/table"}) {
        auto data = file.root().open_dataset(path);
        Dataspace space;
        EXPECT_EQ(data.status(), Status::ok);
        EXPECT_EQ(data->dataspace(space), Status::ok);
        std::uint64_t count = 1;
        for (const std::uint64_t dim : space.dims()) {
            text += std::to_string(dim) + "x";
            count *= dim;
        }
        std::vector<std::int32_t> values(static_cast<std::size_t>(count));
        EXPECT_EQ(data->read(Selection::all(), datatype_of<std::int32_t>(),
                             {reinterpret_cast<std::byte*>(values.data()), values.size() * 4}),
                  Status::ok);
        for (const std::int32_t value : values) {
            text += std::to_string(value) + ",";
        }
    }
    return text;
}

// How attributes are stored: those of group "a" in its header or in dense storage; shared, those of group "b" are in
// dense storage, too, and one more makes the root group dense.
enum class Storage { compact, dense, shared };

// The parts of the format that the program has.
const Formats& formats_for(Storage kind) { return kind == Storage::compact ? formats::standard : formats::all; }

#if H5MOTE_ALL_FORMATS
constexpr std::uint16_t kLimit = 4;  // of the attributes that "b" keeps in its header

// Attributes of the same names and values as those of "a". One less, and "b" has them in its header.
void put_equal_attributes(Group& root) {
    auto b = root.open_group("b");
    ASSERT_EQ(b.status(), Status::ok);
    for (std::int32_t i = 0; i < 8; ++i) {
        const std::string name = "number " + std::to_string(i);
        EXPECT_EQ(root.write_attribute(name, i), Status::ok);
        EXPECT_EQ(i <= kLimit ? b->write_attribute(name, i) : Status::ok, Status::ok);
    }
    EXPECT_EQ(b->remove_attribute("number " + std::to_string(kLimit)), Status::ok);
}
#endif

std::vector<std::byte> make_image(Storage kind) {
    MallocAllocator memory;
    NullPort port;
    Library library(memory, port, kFilters, formats_for(kind));
    GrowingMemoryDriver storage(memory);
    const bool dense = kind != Storage::compact;
    FileCreate properties;
    GroupCreate limited;
#if H5MOTE_ALL_FORMATS
    const SharedIndexCreate index[] = {{SharedKinds::attribute, 16}};
    if (kind == Storage::shared) {
        properties.shared_messages.indexes = index;
        limited.attributes.max_compact = limited.attributes.min_dense = kLimit;
    }
#endif
    auto file = File::create(library, storage, {}, properties);
    EXPECT_EQ(file.status(), Status::ok);
    Group root = file->root();
    GroupCreate attributes_dense;
    attributes_dense.attributes.track_order = dense;
    EXPECT_EQ(root.create_group("a", attributes_dense).status(), Status::ok);
    EXPECT_EQ(root.create_group("b", limited).status(), Status::ok);
    EXPECT_EQ(root.create_group("a/object").status(), Status::ok);
    EXPECT_EQ(root.create_soft_link("a/soft", "/b"), Status::ok);
    for (std::int32_t i = 0; i < 9; ++i) {
        EXPECT_EQ(root.create_soft_link("a/further " + std::to_string(i), "/somewhere/else"), Status::ok);
        EXPECT_EQ(root.open_group("a")->write_attribute("number " + std::to_string(i), i), Status::ok);
    }
    EXPECT_EQ(root.open_group("b")->set_comment("a comment"), Status::ok);
#if H5MOTE_ALL_FORMATS
    if (kind == Storage::shared) {
        put_equal_attributes(root);
    }
#endif
    DatasetCreate create;
    create.chunk = {4};
    create.reserve = 64;
    auto rows = root.create_dataset<std::int32_t>("rows", create);
    EXPECT_EQ(rows.status(), Status::ok);
    for (std::uint32_t i = 0; i < kRows; ++i) {
        EXPECT_EQ(rows->append(static_cast<std::int32_t>(i)), Status::ok);
    }
    create.chunk = {3, 4};
    create.filters = {filters::deflate};
    auto table =
        root.create_dataset("table", datatype_of<std::int32_t>(), Dataspace::simple({5, 7}, {kUnlimited, 9}), create);
    EXPECT_EQ(table.status(), Status::ok);
    const std::vector<std::int32_t> values(35, 3);
    EXPECT_EQ(table->write(Selection::all(), datatype_of<std::int32_t>(),
                           as_bytes(Span<const std::int32_t>(values.data(), values.size()))),
              Status::ok);
    EXPECT_EQ(rows->close(), Status::ok);
    EXPECT_EQ(table->close(), Status::ok);
    root.close();
    EXPECT_EQ(file->close(), Status::ok);
    const ConstBytes bytes = storage.contents();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

using Change = std::function<Status(File&)>;

struct Faults {
    bool allocations = false;
    bool persistent = false;
    Storage storage = Storage::compact;
    std::size_t cache = 4096;  // with a large one the file remembers the free sections of a heap
    DriverFault driver = {};
};

// One run in which the k-th call fails; false: none did.
bool point(const std::string& name, const Change& change, Faults faults, std::uint64_t k, std::uint64_t& unnoticed) {
    static const std::vector<std::byte> images[] = {make_image(Storage::compact), make_image(Storage::dense),
                                                    make_image(Storage::shared)};
    const std::vector<std::byte>& image = images[static_cast<unsigned>(faults.storage)];
    MallocAllocator memory;
    GrowingMemoryDriver storage(memory);
    EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    FailingDriver failing(storage);
    FailingAllocator refusing(memory);
    NullPort port;
    std::string before;
    std::string after;
    bool failed = false;
    {
        Library library(refusing, port, kFilters, formats_for(faults.storage));
        library.set_free_list_limits({0, 0});
        FileAccess access;
        access.metadata_cache = faults.cache;
        access.chunk_cache = 256;
        auto file = File::open(library, failing, access);
        EXPECT_EQ(file.status(), Status::ok);
        if (faults.storage == Storage::dense) {
            EXPECT_EQ(file->root().open_group("a")->write_attribute("first", 1), Status::ok);
        }
        before = state_of(*file);
        if (faults.allocations) {
            refusing.arm(k, faults.persistent);
        } else {
            faults.driver.at = k;
            faults.driver.persistent = faults.persistent;
            failing.arm(faults.driver);
        }
        const Status status = change(*file);
        const bool in_call = (faults.allocations ? refusing.failures() : failing.failures()) != 0;
        const Status flushed = status == Status::ok ? file->flush() : Status::ok;
        failed = (faults.allocations ? refusing.failures() : failing.failures()) != 0;
        refusing.disarm();
        failing.disarm();
        unnoticed += failed && status == Status::ok && flushed == Status::ok ? 1 : 0;
        EXPECT_TRUE(failed || (status == Status::ok && flushed == Status::ok))
            << name << " " << k << " " << to_string(status) << " " << to_string(flushed);
        EXPECT_TRUE(in_call || status == Status::ok) << name << " " << k;
        if (status != Status::ok) {
            EXPECT_EQ(state_of(*file), before) << name << " " << k;
            EXPECT_EQ(change(*file), Status::ok) << name << " " << k;
        }
        after = state_of(*file);
        EXPECT_NE(after, before) << name;
        EXPECT_EQ(file->flush(), Status::ok) << name << " " << k;
        const Findings findings = findings_in(*file);
        EXPECT_TRUE(findings.none()) << name << " " << k << " problem " << findings.last_kind;
        EXPECT_EQ(file->close(), Status::ok);
    }
    Library library(memory, port, kFilters, formats_for(faults.storage));
    auto again = File::open(library, storage);
    EXPECT_EQ(again.status(), Status::ok);
    EXPECT_EQ(state_of(*again), after) << name << " " << k;
    if (faults.storage == Storage::shared) {
        // What the others share with it is counted, and stays.
        const std::string others = attributes_of(again->root()) + attributes_of(*again->root().open_group("a"));
        EXPECT_EQ(again->root().unlink("b"), Status::ok);
        EXPECT_EQ(attributes_of(again->root()) + attributes_of(*again->root().open_group("a")), others)
            << name << " " << k;
        EXPECT_TRUE(findings_in(*again).none()) << name << " " << k;
    }
    return failed;
}

// Returns the number of points.
std::uint64_t sweep(const std::string& name, const Change& change, Storage storage = Storage::compact,
                    std::size_t cache = 4096) {
    std::uint64_t points = 0;
    std::uint64_t unnoticed = 0;
    const auto run = [&](const Faults& faults) {
        for (std::uint64_t k = 1; point(name, change, faults, k, unnoticed) && !testing::Test::HasFailure();
             k += sweep_step()) {
            ++points;
        }
    };
    for (const bool persistent : {false, true}) {
        Faults faults;
        faults.persistent = persistent;
        faults.storage = storage;
        faults.cache = cache;
        faults.allocations = true;
        run(faults);
        faults.allocations = false;
        for (const unsigned calls : {unsigned{kReadCall}, unsigned{kWriteCall}, unsigned{kSyncCall},
                                     unsigned{kTruncateCall}, unsigned{kAllCalls}}) {
            faults.driver.calls = calls;
            run(faults);
        }
    }
    std::printf("%s: %llu points, %llu unnoticed\n", name.c_str(), static_cast<unsigned long long>(points),
                static_cast<unsigned long long>(unnoticed));
    return points;
}

const std::vector<std::int32_t> kNew(14, 8);

TEST(ObjectChangesFaults, Links) {
    EXPECT_GT(sweep("rename", [](File& file) { return file.root().rename("a/object", "a/another name"); }), 1U);
    EXPECT_GT(sweep("rename soft", [](File& file) { return file.root().rename("a/soft", "a/s"); }), 1U);
    EXPECT_GT(sweep("move", [](File& file) { return file.root().rename("a/object", "b/object"); }), 1U);
    EXPECT_GT(sweep("move soft", [](File& file) { return file.root().rename("a/soft", "b/object"); }), 1U);
    EXPECT_GT(sweep("copy", [](File& file) { return file.root().copy_link("a/object", file.root(), "b/object"); }), 1U);
    EXPECT_GT(sweep("external", [](File& file) { return file.root().create_external_link("b/e", "f", "/g/h"); }), 1U);
    EXPECT_GT(
        sweep("unlink", [](File& file) { return file.root().unlink("a", IndexOrder::name, Direction::decreasing, 1); }),
        1U);
}

Change in_a(const std::function<Status(Group&)>& change) {
    return [change](File& file) {
        auto group = file.root().open_group("a");
        return group ? change(*group) : group.status();
    };
}

TEST(ObjectChangesFaults, Attributes) {
    EXPECT_GT(sweep("rename attribute", in_a([](Group& a) { return a.rename_attribute("number 3", "n"); })), 1U);
    EXPECT_GT(sweep("rename attribute, longer",
                    in_a([](Group& a) { return a.rename_attribute("number 3", "number three is longer"); })),
              1U);
    EXPECT_GT(sweep("replace attribute", in_a([](Group& a) { return a.replace_attribute("number 4", 1.5); })), 1U);
    EXPECT_GT(sweep("remove attribute",
                    in_a([](Group& a) { return a.remove_attribute(IndexOrder::name, Direction::increasing, 2); })),
              1U);
    EXPECT_GT(sweep("comment", in_a([](Group& a) { return a.set_comment("a comment of some length"); })), 1U);
    EXPECT_GT(sweep("no comment", [](File& file) { return file.root().open_group("b")->set_comment(""); }), 1U);
}

#if H5MOTE_ALL_FORMATS
TEST(ObjectChangesFaults, DenseAttributes) {
    const auto dense = [](const char* name, const std::function<Status(Group&)>& change) {
        EXPECT_GT(sweep(name, in_a(change), Storage::dense), 1U);
        EXPECT_GT(sweep(std::string(name) + ", large cache", in_a(change), Storage::dense, 65536), 1U);
    };
    dense("rename dense attribute", [](Group& a) { return a.rename_attribute("number 3", "n"); });
    dense("replace dense attribute", [](Group& a) { return a.replace_attribute("number 4", 1.5); });
    dense("remove dense attribute",
          [](Group& a) { return a.remove_attribute(IndexOrder::creation, Direction::increasing, 2); });
    dense("create dense attribute", [](Group& a) { return a.write_attribute("more", 7); });
    dense("make links dense", [](Group& a) { return a.create_soft_link("one more", "/"); });
}

TEST(ObjectChangesFaults, SharedAttributes) {
    const auto shared = [](const char* name, const Change& change) {
        EXPECT_GT(sweep(name, change, Storage::shared), 1U);
    };
    shared("rename shared attribute", in_a([](Group& a) { return a.rename_attribute("number 3", "n"); }));
    shared("replace shared attribute", in_a([](Group& a) { return a.replace_attribute("number 4", 1.5); }));
    shared("write shared attribute", in_a([](Group& a) { return a.write_attribute("number 4", 17); }));
    shared("remove shared attribute",
           in_a([](Group& a) { return a.remove_attribute(IndexOrder::creation, Direction::increasing, 2); }));
    shared("create shared attribute", in_a([](Group& a) { return a.write_attribute("more", 7); }));
    shared("become dense", [](File& file) { return file.root().write_attribute("number 8", 8); });
    shared("become compact", [](File& file) { return file.root().open_group("b")->remove_attribute("number 2"); });
    shared("rename in a header", [](File& file) { return file.root().rename_attribute("number 2", "n"); });
    shared("rename in a header, longer",
           [](File& file) { return file.root().rename_attribute("number 2", "number two is longer"); });
    shared("write in a header", [](File& file) { return file.root().write_attribute("number 2", 17); });
    shared("replace in a header", [](File& file) { return file.root().replace_attribute("number 2", 1.5); });
    shared("replace in a header, not shared",
           [](File& file) { return file.root().replace_attribute("number 2", std::int8_t{1}); });
    shared("remove from a header", [](File& file) { return file.root().remove_attribute("number 2"); });
}
#endif

TEST(ObjectChangesFaults, Extents) {
    const auto of = [](const char* path, const std::function<Status(Dataset&)>& change) {
        return [path, change](File& file) {
            auto data = file.root().open_dataset(path);
            return data ? change(*data) : data.status();
        };
    };
    EXPECT_GT(sweep("cut rows", of("rows", [](Dataset& data) { return data.set_extent({6}); })), 1U);
    EXPECT_GT(sweep("cut table", of("table", [](Dataset& data) { return data.set_extent({4, 3}); })), 1U);
    EXPECT_GT(sweep("cut and grow", of("table", [](Dataset& data) { return data.set_extent({8, 3}); })), 1U);
    EXPECT_GT(sweep("append rows", of("table",
                                      [](Dataset& data) {
                                          return data.append_rows(datatype_of<std::int32_t>(), kNew.data(),
                                                                  kNew.size());
                                      })),
              1U);
    EXPECT_GT(sweep("write chunk", of("rows",
                                      [](Dataset& data) {
                                          const std::uint64_t offset[1] = {4};
                                          return data.write_chunk(offset,
                                                                  as_bytes(Span<const std::int32_t>(kNew.data(), 4)));
                                      })),
              1U);
    EXPECT_GT(sweep("write filtered chunk", of("table",
                                               [](Dataset& data) {
                                                   const std::uint64_t offset[2] = {3, 4};
                                                   return data.write_chunk(
                                                       offset, as_bytes(Span<const std::int32_t>(kNew.data(), 12)), 1);
                                               })),
              1U);
}

}  // namespace
