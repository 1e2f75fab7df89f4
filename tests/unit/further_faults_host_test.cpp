// Every allocation and every driver call fails while links to other objects and committed datatypes, references, and
// copies with options are made, and while links and attributes are removed by their order: the call returns the error
// and nothing has changed, or all of it has. The file stays sound, and the same call then succeeds. After a power cut
// between any two writes the file is as before or as after the call.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "promising_driver.hpp"
#include "recording_driver.hpp"
#include "sweep.hpp"
#include "world.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;

constexpr auto kText = make_variable_string();

// Everything in a file as text, without addresses: a reference is told by what it leads to.
class Content final : public Visitor {
public:
    explicit Content(Library& library) : library_(library) {}

    std::string of(File& file) {
        Group root = file.root();
        const Status status = root.visit(*this);
        return text_ + (status == Status::ok ? "" : std::string("ends by ") + to_string(status));
    }
    Status link(std::string_view path, const Link& link) noexcept override {
        text_ += "link " + std::string(path) + " " + std::to_string(static_cast<unsigned>(link.type()));
        if (link.type() != LinkType::hard) {
            text_ += " " + std::string(reinterpret_cast<const char*>(link.data().data()), link.data().size());
        }
        text_ += "\n";
        return Status::ok;
    }
    Status object(std::string_view path, Object& object) noexcept override {
        ObjectType type;
        EXPECT_EQ(object.type(type), Status::ok);
        text_ += "object " + std::string(path) + " " + std::to_string(static_cast<unsigned>(type)) + "\n";
        AttributeIterator attributes(object, IndexOrder::name);
        Attribute attribute;
        Status status;
        while ((status = attributes.next(attribute)) == Status::ok) {
            text_ += " attribute " + std::string(attribute.name());
            std::vector<std::byte> value(static_cast<std::size_t>(attribute.data_size()));
            status = attribute.read_stored(0, {value.data(), value.size()});
            values(object, attribute.type(), value, status);
        }
        EXPECT_EQ(status, Status::not_found);
        if (type == ObjectType::dataset) {
            auto dataset = Dataset::from(object.duplicate());
            EXPECT_EQ(dataset.status(), Status::ok);
            Dataspace space = Dataspace::scalar();
            EXPECT_EQ(dataset->dataspace(space), Status::ok);
            std::uint64_t count = 0;
            EXPECT_EQ(space.element_count(count), Status::ok);
            std::vector<std::byte> value(static_cast<std::size_t>(count) * dataset->element_size());
            status = dataset->read_stored(Selection::all(), {value.data(), value.size()});
            text_ += " data";
            std::byte encoded[128];
            DatatypeView stored;
            EXPECT_EQ(dataset->datatype(encoded, stored), Status::ok);
            values(object, stored, value, status);
        }
        return Status::ok;
    }

private:
    void values(const Object& object, DatatypeView type, const std::vector<std::byte>& bytes, Status status) {
        text_ += std::string(" ") + to_string(status) + " ";
        for (std::size_t at = 0; status == Status::ok && at < bytes.size(); at += type.size()) {
            const ConstBytes element{bytes.data() + at, type.size()};
            if (type.type_class() == TypeClass::reference) {
                follow(object, type.reference_type(), element);
            } else if (type.type_class() == TypeClass::variable_length) {
                std::uint64_t size = 0;
                text_ += to_string(object.variable_size(element.subspan(4), size)) + std::to_string(size) + " ";
            } else {
                for (const std::byte each : element) {
                    text_ += std::to_string(std::to_integer<unsigned>(each)) + ",";
                }
            }
        }
        text_ += "\n";
    }
    void follow(const Object& object, ReferenceType type, ConstBytes stored) {
        ReferenceTarget target;
        const Status status = object.reference_target(type, stored, target);
        text_ += std::string(to_string(status)) + (target.null ? " null " : " ");
        if (status != Status::ok || target.null) {
            return;
        }
        text_ += to_string(object.open_reference(type, stored).status()) + std::string(" ");
        if (type == ReferenceType::attribute) {
            text_ += std::string(object.open_attribute_reference(stored)->name()) + " ";
        } else if (type == ReferenceType::region1 || type == ReferenceType::region2) {
            Object to;
            SelectionSet region(library_);
            text_ += to_string(object.reference_region(type, stored, to, region)) + std::string(" ");
        }
    }

    Library& library_;
    std::string text_;
};

EncodedType<8> reference_type(const Object& object, ReferenceType type) {
    EncodedType<8> encoded = make_reference(type);
    encoded.bytes[4] = static_cast<std::byte>(object.reference_size(type));
    return encoded;
}

// Makes a reference of any kind to the dataset "A".
Status make(Group& root, ReferenceType type, std::uint64_t column, std::vector<std::byte>& to) {
    to.assign(root.reference_size(type), std::byte{0});
    auto target = root.open_object("A");
    H5MOTE_TRY(target.status());
    const Bytes bytes{to.data(), to.size()};
    const Dataspace space = Dataspace::simple({2, 3});
    return type == ReferenceType::attribute
               ? root.create_attribute_reference(*target, column == 0 ? "number" : "other", bytes)
           : type == ReferenceType::region1 || type == ReferenceType::region2
               ? root.create_region_reference(type, *target, space, Selection::hyperslab({0, column}, {2, 1}), bytes)
               : root.create_reference(type, *target, bytes);
}

constexpr ReferenceType kReferences[] = {ReferenceType::object1, ReferenceType::region1, ReferenceType::object2,
                                         ReferenceType::region2, ReferenceType::attribute};

std::string name_of(ReferenceType type) { return "references " + std::to_string(static_cast<unsigned>(type)); }

// A chunk of references to regions, of which only the first is one, as it is stored.
constexpr std::size_t kChunk = 64;

Status write_chunk(Group& root, std::uint64_t column) {
    std::vector<std::byte> reference;
    H5MOTE_TRY(make(root, ReferenceType::region1, column, reference));
    auto dataset = root.open_dataset("chunk");
    H5MOTE_TRY(dataset.status());
    reference.resize(reference.size() * kChunk);
    const std::uint64_t offset[1] = {0};
    return dataset->write_chunk(offset, {reference.data(), reference.size()});
}

Status fill(Group& root, bool ordered) {
    GroupCreate create;
    create.track_link_order = create.attributes.track_order = ordered;
    auto group = root.create_group("g", create);
    H5MOTE_TRY(group.status());
    for (std::int32_t i = 0; i < 10; ++i) {
        const std::string number = std::to_string(i);
        H5MOTE_TRY(group->create_soft_link("soft " + number, "/nowhere/" + number));
        H5MOTE_TRY(group->write_attribute("number " + number, i));
    }
    const std::int32_t values[6] = {1, 2, 3, 4, 5, 6};
    const ConstBytes bytes = as_bytes(Span<const std::int32_t>(values));
    for (const char* const name : {"A", "B"}) {
        auto dataset = root.create_dataset(name, kNumber.view(), Dataspace::simple({2, 3}));
        H5MOTE_TRY(dataset.status());
        H5MOTE_TRY(dataset->write(Selection::all(), kNumber.view(), bytes));
        H5MOTE_TRY(dataset->write_attribute("number", 7));
        H5MOTE_TRY(dataset->close());
    }
    auto type = root.commit_datatype("type", kNumber.view());
    H5MOTE_TRY(type.status());
    auto typed = group->create_dataset("typed", *type, Dataspace::simple({6}));
    H5MOTE_TRY(typed.status());
    H5MOTE_TRY(typed->write(Selection::all(), kNumber.view(), bytes));
    H5MOTE_TRY(typed->close());
    H5MOTE_TRY(group->write_attribute("typed", *type, Dataspace::simple({6}), bytes));
    H5MOTE_TRY(root.create_soft_link("soft", "/g/typed"));
    H5MOTE_TRY(group->create_soft_link("to A", "/A"));
    for (const ReferenceType each : kReferences) {
        std::vector<std::byte> reference;
        H5MOTE_TRY(make(root, each, 0, reference));
        const EncodedType<8> encoded = reference_type(root, each);
        auto references = root.create_dataset(name_of(each), encoded.view(), Dataspace::simple({2}));
        H5MOTE_TRY(references.status());
        H5MOTE_TRY(
            references->write(Selection::hyperslab({0}, {1}), encoded.view(), {reference.data(), reference.size()}));
        H5MOTE_TRY(references->close());
    }
    DatasetCreate chunked;
    chunked.chunk = {kChunk};
    const EncodedType<8> region = reference_type(root, ReferenceType::region1);
    H5MOTE_TRY(root.create_dataset("chunk", region.view(), Dataspace::simple({kChunk}), chunked).status());
    H5MOTE_TRY(write_chunk(root, 0));
    H5MOTE_TRY(root.create_group("tree").status());
    H5MOTE_TRY(root.create_group("tree/inner").status());
    auto texts = root.create_dataset("tree/inner/texts", kText.view(), Dataspace::simple({3}));
    H5MOTE_TRY(texts.status());
    const char* const text[] = {"one", "two", "three"};
    H5MOTE_TRY(texts->write(Selection::all(), kText.view(), as_bytes(Span<const char* const>(text))));
    H5MOTE_TRY(texts->close());
    return root.create_soft_link("tree/inner/soft", "/A");
}

FileAccess access_for(FormatVersion low) {
    FileAccess access;
    access.metadata_cache = 8192;
    access.chunk_cache = 512;  // less than a chunk
    access.low = low;
    return access;
}

const Image& start(FormatVersion low) {
    static const auto make = [](FormatVersion version) {
        MallocAllocator memory;
        NullPort port;
        Library library{memory, port, {}, formats::all};
        GrowingMemoryDriver storage{memory};
        FileCreate create;
        create.track_link_order = create.attributes.track_order = version != FormatVersion::earliest;
        auto file = File::create(library, storage, access_for(version), create);
        EXPECT_EQ(file.status(), Status::ok);
        Group root = file->root();
        EXPECT_EQ(fill(root, version != FormatVersion::earliest), Status::ok);
        root.close();
        EXPECT_EQ(file->close(), Status::ok);
        return Image(storage.contents().begin(), storage.contents().end());
    };
    static const Image images[] = {make(FormatVersion::earliest), make(FormatVersion::v112)};
    return images[low == FormatVersion::earliest ? 0 : 1];
}

std::string content(const Image& image) {
    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    EXPECT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
    FileAccess access = access_for(FormatVersion::standard);
    access.read_only = true;
    auto file = File::open(library, storage, access);
    if (!file) {
        return to_string(file.status());
    }
    EXPECT_TRUE(findings_in(*file).none());
    return Content(library).of(*file);
}

// The first line that differs.
std::string difference(const std::string& now, const std::string& wanted) {
    const std::size_t at = static_cast<std::size_t>(
        std::mismatch(now.begin(), now.end(), wanted.begin(), wanted.end()).first - now.begin());
    const std::size_t line = at == 0 ? 0 : now.rfind('\n', at - 1) + 1;
    return "'" + now.substr(line, now.find('\n', at) - line) + "' instead of '" +
           wanted.substr(line, wanted.find('\n', at) - line) + "'";
}

struct Step {
    std::string name;
    std::function<Status(Group&)> change;
    bool in_parts = false;  // each part of it by itself is done or not
    bool ordered = false;   // needs the order of creation
};

Status copy(Group& root, const char* from, const char* to, const CopyOptions& options) {
    return copy_object(root, from, root, to, options);
}

std::vector<Step> steps() {
    std::vector<Step> all = {
        {"hard link",
         [](Group& root) {
             auto target = root.open_object("A");
             return target ? root.create_hard_link("B again", *target) : target.status();
         }},
        {"hard link in a group",
         [](Group& root) {
             auto target = root.open_object("A");
             return target ? root.create_hard_link("g/A", *target) : target.status();
         }},
        {"unlink tree",
         [](Group& root) {
             const Status status = root.unlink_tree("tree");
             return status == Status::not_found ? Status::ok : status;
         },
         true},
        {"unlink by name order",
         [](Group& root) { return root.unlink("g", IndexOrder::name, Direction::decreasing, 4); }},
        {"unlink by creation order",
         [](Group& root) { return root.unlink("g", IndexOrder::creation, Direction::increasing, 3); }, false, true},
        {"unlink an object by creation order",
         [](Group& root) { return root.unlink(".", IndexOrder::creation, Direction::increasing, 2); }, false, true},
        {"remove attribute by name order",
         [](Group& root) {
             auto group = root.open_group("g");
             return group ? group->remove_attribute(IndexOrder::name, Direction::increasing, 2) : group.status();
         }},
        {"remove attribute by creation order",
         [](Group& root) {
             auto group = root.open_group("g");
             return group ? group->remove_attribute(IndexOrder::creation, Direction::decreasing, 3) : group.status();
         },
         false, true},
        {"commit", [](Group& root) { return root.commit_datatype("committed", datatype_of<double>()).status(); }},
        {"write with a committed datatype",
         [](Group& root) {
             auto object = root.open_object("type");
             H5MOTE_TRY(object.status());
             auto type = NamedDatatype::from(static_cast<Object&&>(*object));
             H5MOTE_TRY(type.status());
             const std::int32_t values[4] = {1, 2, 3, 4};
             return root.write_attribute("by type", *type, Dataspace::simple({4}),
                                         as_bytes(Span<const std::int32_t>(values)));
         }},
        {"create with a committed datatype",
         [](Group& root) {
             auto object = root.open_object("type");
             H5MOTE_TRY(object.status());
             auto type = NamedDatatype::from(static_cast<Object&&>(*object));
             H5MOTE_TRY(type.status());
             return root.create_dataset("by type", *type, Dataspace::simple({4})).status();
         }},
        {"write it anew",
         [](Group& root) {
             auto object = root.open_object("type");
             H5MOTE_TRY(object.status());
             auto type = NamedDatatype::from(static_cast<Object&&>(*object));
             H5MOTE_TRY(type.status());
             const std::int32_t values[6] = {9, 8, 7, 6, 5, 4};
             auto group = root.open_group("g");
             return group ? group->write_attribute("typed", *type, Dataspace::simple({6}),
                                                   as_bytes(Span<const std::int32_t>(values)))
                          : group.status();
         }},
        {"remove a use of a committed datatype",
         [](Group& root) {
             auto group = root.open_group("g");
             return group ? group->remove_attribute("typed") : group.status();
         }},
        {"write a chunk of references", [](Group& root) { return write_chunk(root, 1); }},
        {"unlink a committed datatype", [](Group& root) { return root.unlink("type"); }},
    };
    for (const std::size_t size : {std::size_t{3}, std::size_t{300}, std::size_t{5000}}) {
        for (const char* const path : {"user", "g/user"}) {
            all.push_back({"user link " + std::string(path) + std::to_string(size), [size, path](Group& root) {
                               const std::vector<std::byte> data(size, std::byte{'u'});
                               return root.create_user_link(path, static_cast<LinkType>(66), {data.data(), size});
                           }});
        }
    }
    for (const ReferenceType type : kReferences) {
        all.push_back({"attribute of " + name_of(type), [type](Group& root) {
                           std::vector<std::byte> reference;
                           H5MOTE_TRY(make(root, type, 1, reference));
                           const EncodedType<8> encoded = reference_type(root, type);
                           return root.write_attribute("reference", encoded.view(), Dataspace::scalar(),
                                                       {reference.data(), reference.size()});
                       }});
        for (const std::uint64_t at : {0U, 1U}) {
            all.push_back({"dataset of " + name_of(type) + " " + std::to_string(at), [type, at](Group& root) {
                               std::vector<std::byte> reference;
                               H5MOTE_TRY(make(root, type, 1, reference));
                               const EncodedType<8> encoded = reference_type(root, type);
                               auto dataset = root.open_dataset(name_of(type));
                               H5MOTE_TRY(dataset.status());
                               return dataset->write(Selection::hyperslab({at}, {1}), encoded.view(),
                                                     {reference.data(), reference.size()});
                           }});
        }
    }
    CopyOptions options;
    options.expand_soft_links = true;
    all.push_back({"copy with soft links", [options](Group& root) { return copy(root, "g", "copy", options); }});
    options.shallow = true;
    all.push_back({"shallow copy", [options](Group& root) { return copy(root, "g", "copy", options); }});
    options = {};
    options.merge_datatypes = true;
    all.push_back({"copy with merged datatypes", [options](Group& root) { return copy(root, "g", "copy", options); }});
    options = {};
    options.expand_references = true;
    all.push_back(
        {"copy with references", [options](Group& root) { return copy(root, "references 0", "copy", options); }});
    options = {};
    options.without_attributes = true;
    options.buffer = 64;
    all.push_back({"copy without attributes", [options](Group& root) { return copy(root, "A", "g/copy", options); }});
    return all;
}

constexpr FormatVersion kVersions[] = {FormatVersion::earliest, FormatVersion::v112};

template <typename Run>
void for_each_step(const Run& run) {
    for (const FormatVersion low : kVersions) {
        for (const Step& step : steps()) {
            if (!testing::Test::HasFailure() && !(step.ordered && low == FormatVersion::earliest)) {
                SCOPED_TRACE(step.name + " " + std::to_string(static_cast<unsigned>(low)));
                run(step, low);
            }
        }
    }
}

// A file in memory whose storage and allocator fail.
struct Bench {
    Bench(FormatVersion low, bool commits)
        : assigned(storage.assign({start(low).data(), start(low).size()})), promising(storage, promised(commits)) {
        library.set_free_list_limits({0, 0});
        EXPECT_EQ(assigned, Status::ok);
        auto opened = File::open(library, driver, access_for(low));
        EXPECT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    static Capabilities promised(bool commits) {
        Capabilities result = with_unit(512);
        result.sync_is_commit = commits;
        return result;
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }
    void close() {
        root.close();
        EXPECT_EQ(file.close(), Status::ok);
    }

    MallocAllocator memory;
    RefusingAllocator refusing{memory};
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    Status assigned;
    PromisingDriver promising;
    RecordingDriver recorder{promising};
    FailingDriver driver{recorder};
    NullPort port;
    Library library{refusing, port, {}, formats::all};
    File file;
    Group root;
};

std::string content_after(const Step& step, FormatVersion low) {
    Bench bench(low, false);
    EXPECT_EQ(step.change(bench.root), Status::ok);
    bench.close();
    return content(bench.image());
}

// false: nothing failed.
bool point(const Step& step, FormatVersion low, bool commits, const FaultKind& kind, std::uint64_t k,
           const std::string& before, const std::string& after) {
    Bench bench(low, commits);
    bench.library.garbage_collect();
    arm(bench.refusing, bench.driver, kind, k);
    const Status status = step.change(bench.root);
    const bool failed = disarm(bench.refusing, bench.driver);
    EXPECT_TRUE(failed || status == Status::ok);
    EXPECT_EQ(bench.file.flush(), Status::ok);
    const std::string now = content(bench.image());
    if (status == Status::ok) {
        EXPECT_TRUE(now == after) << difference(now, after);
    } else {
        EXPECT_TRUE(now == before || step.in_parts) << difference(now, before);
        EXPECT_EQ(step.change(bench.root), Status::ok);
    }
    bench.close();
    const std::string last = content(bench.image());
    EXPECT_TRUE(last == after) << difference(last, after);
    EXPECT_EQ(bench.memory.blocks(), 0U);
    return failed;
}

TEST(FurtherFaults, EveryCallFails) {
    std::uint64_t points = 0;
    for_each_step([&](const Step& step, FormatVersion low) {
        const std::string before = content(start(low));
        const std::string after = content_after(step, low);
        for (const bool commits : {false, true}) {
            for (const FaultKind& kind : kFaultKinds) {
                if (commits && (kind.calls & kWriteCall) == 0) {
                    continue;  // as on the other storage
                }
                for (std::uint64_t k = 1; !testing::Test::HasFailure(); k += sweep_step(), ++points) {
                    SCOPED_TRACE(std::string(kind.name) + " " + std::to_string(k) + (commits ? " commits" : ""));
                    if (!point(step, low, commits, kind, k, before, after)) {
                        break;
                    }
                }
            }
        }
    });
    std::printf("%llu points\n", static_cast<unsigned long long>(points));
    EXPECT_GT(points, 1000U / sweep_step());
}

TEST(FurtherFaults, ThePowerFailsBetweenWrites) {
    std::size_t cuts = 0;
    for_each_step([&](const Step& step, FormatVersion low) {
        const std::string before = content(start(low));
        const std::string after = content_after(step, low);
        Bench bench(low, false);
        EXPECT_EQ(step.change(bench.root), Status::ok);
        bench.close();
        bool done = false;
        for (std::size_t i = 0; i <= bench.recorder.operations().size() && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE(i);
            const std::string now = content(bench.recorder.image(i));
            EXPECT_TRUE((now == before && !done) || now == after || step.in_parts) << difference(now, before);
            done = done || now == after;
            ++cuts;
        }
        EXPECT_TRUE(done);
    });
    std::printf("%zu cuts\n", cuts);
    EXPECT_GT(cuts, 100U);
}

}  // namespace

#endif
