// Attributes in every storage and references of every kind, in files that libhdf5 makes: memory and storage fail at
// every call, iterations continue after an error, references are cut off and damaged.
#include <h5mote/config.hpp>

#if defined(H5MOTE_TEST_HDF5) && H5MOTE_ALL_FORMATS && H5MOTE_OTHER_FILES

#include "cursor.hpp"
#include "faulty_files.hpp"
#include "sweep.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/selection_set.hpp>

#include <algorithm>

namespace {

using namespace h5mote;
using namespace h5mote_test;

// ---- attributes --------------------------------------------------------------------------------------------------

void put_attribute(hid_t object, const std::string& name, hid_t type, hid_t memory, const void* value,
                   const Hdf5Id& space) {
    const Hdf5Id made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(H5Awrite(made, memory, value), 0);
}

// The objects "few" (attributes in the header) and "many" (dense storage): a number, a text, a row, a committed type.
void put_objects(hid_t file) {
    const Hdf5Id committed(H5Tcopy(H5T_STD_I16BE), H5Tclose);
    EXPECT_GE(H5Tcommit2(file, "type", committed, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
    const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
    EXPECT_GE(H5Tset_size(text, 100), 0);
    char words[100] = "a text of some words that is longer than what is looked at in one piece of sixty-four";
    const int row[] = {1, 2, 3, 4, 5};
    const Hdf5Id ordered(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    EXPECT_GE(H5Pset_attr_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), 0);
    for (const int count : {2, 12}) {
        const Hdf5Id group(H5Gcreate2(file, count == 2 ? "few" : "many", H5P_DEFAULT, ordered, H5P_DEFAULT), H5Gclose);
        put_attribute(group, "text", text, text, words, {H5Screate(H5S_SCALAR), H5Sclose});
        put_attribute(group, "row", H5T_STD_I32LE, H5T_NATIVE_INT, row, {simple({5}), H5Sclose});
        put_attribute(group, "named", committed, H5T_NATIVE_INT, row, {simple({2}), H5Sclose});
        for (int i = 0; i < count; ++i) {
            put_attribute(group, "number " + std::to_string(7 * i % 12), H5T_IEEE_F64LE, H5T_NATIVE_INT, row + i % 5,
                          {H5Screate(H5S_SCALAR), H5Sclose});
        }
    }
}

const Images& attribute_images() {
    static const Images all = [] {
        Images images;
        images["old"] = made(put_objects);
        images["new"] = made(put_objects, H5P_DEFAULT, H5F_LIBVER_LATEST);
        const Hdf5Id shared(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        EXPECT_GE(H5Pset_shared_mesg_nindexes(shared, 1), 0);
        EXPECT_GE(H5Pset_shared_mesg_index(shared, 0, H5O_SHMESG_ALL_FLAG, 16), 0);
        images["shared"] = made(put_objects, shared, H5F_LIBVER_LATEST);
        return images;
    }();
    return all;
}

struct Seen {
    std::vector<std::string> lines;
    bool operator==(const Seen& other) const { return lines == other.lines; }
};

Status walk(const Object& object, IndexOrder order, Direction direction, std::vector<std::string>& names) {
    AttributeIterator iterator(object, order, direction);
    Attribute attribute;
    Status status;
    while ((status = iterator.next(attribute)) == Status::ok) {
        names.emplace_back(attribute.name());
    }
    return status == Status::not_found ? Status::ok : status;
}

// Asks everything that can be asked about the attributes of one object.
Status look_at_attributes(Library& library, FaultyFile& with, const char* name, Seen& seen) {
    auto file = File::open(library, with.main, with.access());
    H5MOTE_TRY(file.status());
    auto group = file->root().open_group(name);
    H5MOTE_TRY(group.status());
    ObjectInfo info;
    H5MOTE_TRY(group->info(info));
    std::uint32_t count = 0;
    H5MOTE_TRY(group->attribute_count(count));
    seen.lines.push_back(std::to_string(info.attributes) + " " + std::to_string(count));
    // The largest size of a message.
    static char text[0x10000];
    static std::byte buffer[0x10000];
    for (std::uint32_t i = 0; i < count; ++i) {
        std::size_t length = 0;
        H5MOTE_TRY(group->attribute_name(i, text, length));
        const std::string each(text, length);
        AttributeInfo about;
        DatatypeView type;
        H5MOTE_TRY(group->attribute_info(each, about));
        H5MOTE_TRY(group->attribute_type(each, buffer, type));
        seen.lines.push_back(each + " " + std::to_string(about.element_size) + " " + std::to_string(type.size()));
        EXPECT_FALSE(group->has_attribute("none of this name"));
        if (type.type_class() == TypeClass::string) {
            H5MOTE_TRY(group->read_attribute(each, text, length));
            seen.lines.emplace_back(text, length);
        } else {
            auto attribute = group->open_attribute(each);
            H5MOTE_TRY(attribute.status());
            std::vector<double> numbers(attribute->element_count());
            std::vector<std::byte> stored(attribute->data_size());
            H5MOTE_TRY(attribute->read(datatype_of<double>(), {reinterpret_cast<std::byte*>(numbers.data()),
                                                               numbers.size() * sizeof(double)}));
            H5MOTE_TRY(attribute->read_stored(0, {stored.data(), stored.size()}));
            seen.lines.push_back(std::to_string(numbers.back()) + " " + std::to_string(stored.size()));
        }
    }
    for (const IndexOrder order : {IndexOrder::native, IndexOrder::name, IndexOrder::creation}) {
        if (order == IndexOrder::creation && !info.tracks_attribute_order) {
            continue;
        }
        for (const Direction direction : {Direction::increasing, Direction::decreasing}) {
            H5MOTE_TRY(walk(*group, order, direction, seen.lines));
        }
    }
    return Status::ok;
}

TEST(AttributeFaults, MemoryAndStorageThatFail) {
    for (const char* image : {"old", "new", "shared"}) {
        for (const char* group : {"few", "many"}) {
            SCOPED_TRACE(std::string(image) + " " + group);
            FaultyFile file(attribute_images(), image);
            const unsigned refused = file.sweep<Seen>([group](Library& library, FaultyFile& with, Seen& seen) {
                return look_at_attributes(library, with, group, seen);
            });
            EXPECT_GT(refused, 40U);
        }
    }
}

// Whether all of `names` occur in `all`, in that order.
bool is_part_of(const std::vector<std::string>& names, const std::vector<std::string>& all) {
    auto at = all.begin();
    for (const std::string& name : names) {
        at = std::find(at, all.end(), name);
        if (at == all.end()) {
            return false;
        }
        ++at;
    }
    return true;
}

// After an error in the middle of an iteration, the next call continues behind the failed attribute, or the iteration
// has ended with that error: one error hides one attribute at most.
TEST(AttributeFaults, WalksGoOnAfterAnError) {
    unsigned errors = 0;
    for (const char* image : {"old", "new", "shared"}) {
        for (const auto& [name, cache] :
             {std::pair{"few", 2048U}, std::pair{"many", 2048U}, std::pair{"few", 700U}, std::pair{"many", 700U}}) {
            for (const IndexOrder order : {IndexOrder::native, IndexOrder::name, IndexOrder::creation}) {
                FaultyFile with(attribute_images(), image);
                Library library(with.failing, with.port);
                FileAccess access = with.access();
                access.metadata_cache = cache;
                auto file = File::open(library, with.main, access);
                ASSERT_EQ(file.status(), Status::ok);
                auto group = file->root().open_group(name);
                ASSERT_EQ(group.status(), Status::ok);
                std::vector<std::string> expected;
                ASSERT_EQ(walk(*group, order, Direction::increasing, expected), Status::ok);
                for (std::uint64_t k = 1, failures = 1; failures != 0; k += sweep_step()) {
                    with.failing.arm(k, true);
                    AttributeIterator iterator(*group, order);
                    Attribute attribute;
                    std::vector<std::string> names;
                    Status first = Status::ok;
                    Status status = Status::ok;
                    unsigned refused = 0;
                    while (refused < 3 && status != Status::not_found) {
                        status = iterator.next(attribute);
                        if (status == Status::ok) {
                            names.emplace_back(attribute.name());
                        } else if (status != Status::not_found) {
                            first = status;
                            with.failing.disarm();
                            ++refused;
                        }
                    }
                    failures = with.failing.failures();
                    with.failing.disarm();
                    errors += refused != 0 ? 1 : 0;
                    ASSERT_TRUE(first == Status::ok || first == Status::out_of_memory);
                    ASSERT_TRUE(refused == 3 || names.size() + refused >= expected.size())
                        << image << " " << name << " " << static_cast<int>(order) << " " << k;
                    ASSERT_TRUE(is_part_of(names, expected));
                }
            }
        }
    }
    EXPECT_GT(errors, 50U / sweep_step());
}

// A handle without an object or of a closed file returns invalid_handle, but still knows what the handle itself keeps.
TEST(AttributeFaults, EmptyHandlesAndClosedFiles) {
    FaultyFile with(attribute_images(), "new");
    Library library(with.failing, with.port);
    Attribute empty;
    Attribute kept;
    Object object;
    {
        auto file = File::open(library, with.main, with.access());
        ASSERT_EQ(file.status(), Status::ok);
        auto group = file->root().open_group("many");
        ASSERT_EQ(group.status(), Status::ok);
        auto opened = group->open_attribute("row");
        ASSERT_EQ(opened.status(), Status::ok);
        kept = static_cast<Attribute&&>(*opened);
        object = kept.object();
        EXPECT_TRUE(kept.valid() && object.valid());
        EXPECT_EQ(file->close(), Status::ok);
    }
    EXPECT_EQ(kept.name(), "row");
    EXPECT_EQ(kept.element_count(), 5U);
    EXPECT_EQ(kept.data_size(), 20U);
    EXPECT_EQ(kept.dataspace().rank(), 1U);
    EXPECT_TRUE(kept.has_order());
    EXPECT_EQ(kept.creation_order(), 1U);
    EXPECT_EQ(empty.name(), "");
    EXPECT_TRUE(empty.type().empty());
    EXPECT_EQ(empty.type_object(), kUndefinedAddress);
    EXPECT_EQ(empty.object_address(), kUndefinedAddress);
    EXPECT_TRUE(empty.dataspace().space_class() == DataspaceClass::null);
    EXPECT_EQ(empty.element_count() + empty.data_size() + empty.creation_order(), 0U);
    EXPECT_TRUE(!empty.has_order() && empty.character_set() == CharacterSet::ascii);
    std::byte bytes[20];
    std::uint64_t size = 0;
    for (const Attribute* const each : {&empty, &kept}) {
        EXPECT_FALSE(each->valid());
        EXPECT_FALSE(each->object().valid());
        EXPECT_EQ(each->read(datatype_of<int>(), bytes), Status::invalid_handle);
        EXPECT_EQ(each->read_stored(0, bytes), Status::invalid_handle);
        EXPECT_EQ(each->variable_size(bytes, size), Status::invalid_handle);
        EXPECT_EQ(each->read_variable(bytes, 0, bytes), Status::invalid_handle);
    }
    char text[8];
    std::size_t length = 1;
    ReferenceTarget target;
    SelectionSet region(library);
    AttributeInfo info;
    DatatypeView type;
    std::uint32_t count = 1;
    Object other;
    const Object nothing;
    const Object* const objects[] = {&object, &nothing};
    for (const Object* each : objects) {
        EXPECT_EQ(each->reference_target(ReferenceType::object1, bytes, target), Status::invalid_handle);
        EXPECT_EQ(each->open_reference(ReferenceType::object1, bytes).status(), Status::invalid_handle);
        EXPECT_EQ(each->open_attribute_reference(bytes).status(), Status::invalid_handle);
        EXPECT_EQ(each->reference_file_name(bytes, text, length), Status::invalid_handle);
        EXPECT_EQ(each->reference_attribute_name(bytes, text, length), Status::invalid_handle);
        EXPECT_EQ(each->reference_region(ReferenceType::region1, bytes, other, region), Status::invalid_handle);
        EXPECT_EQ(each->variable_size(bytes, size), Status::invalid_handle);
        EXPECT_EQ(each->read_variable(bytes, 0, bytes), Status::invalid_handle);
        EXPECT_EQ(each->open_attribute("row").status(), Status::invalid_handle);
        EXPECT_EQ(each->read_attribute("row", datatype_of<int>(), bytes), Status::invalid_handle);
        EXPECT_EQ(each->read_attribute("row", text, length), Status::invalid_handle);
        EXPECT_EQ(each->attribute_info("row", info), Status::invalid_handle);
        EXPECT_EQ(each->attribute_type("row", bytes, type), Status::invalid_handle);
        EXPECT_EQ(each->attribute_count(count), Status::invalid_handle);
        EXPECT_EQ(each->attribute_name(0, text, length), Status::invalid_handle);
        EXPECT_FALSE(each->has_attribute("row"));
        Attribute attribute;
        AttributeIterator walk(*each);
        EXPECT_EQ(walk.next(attribute), Status::invalid_handle);
    }
}

// Every bit of an object header without a checksum is flipped: only errors that a file can cause may be returned.
TEST(AttributeFaults, DamagedHeader) {
    Images damaged{{"old", attribute_images().at("old")}};
    Image& image = damaged.at("old");
    const auto head = [&image] {
        const Hdf5Id file = open_image({image.data(), image.size()});
        H5O_info_t info;
        EXPECT_GE(H5Oget_info_by_name2(file, "few", &info, H5O_INFO_BASIC | H5O_INFO_HDR, H5P_DEFAULT), 0);
        return std::pair<std::size_t, std::size_t>(info.addr, info.hdr.space.total);
    }();
    unsigned refused = 0;
    for (std::size_t i = head.first; i < head.first + head.second; ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            image[i] ^= static_cast<std::byte>(1U << bit);
            FaultyFile file(damaged, "old");
            Seen seen;
            Status status = Status::ok;
            {
                Library library(file.failing, file.port);
                status = look_at_attributes(library, file, "few", seen);
            }
            image[i] ^= static_cast<std::byte>(1U << bit);
            refused += status == Status::ok ? 0 : 1;
            ASSERT_TRUE(status == Status::ok || status == Status::corrupt_file || status == Status::unsupported ||
                        status == Status::out_of_memory || status == Status::not_found ||
                        status == Status::type_mismatch)
                << "byte " << i - head.first << " bit " << bit << " " << to_string(status);
            ASSERT_EQ(file.tracking.blocks(), 0U);
        }
    }
    EXPECT_GT(refused, 300U);
}

// ---- references --------------------------------------------------------------------------------------------------

constexpr char kOther[] = "other.h5";
constexpr unsigned kAddress = 8;

struct Kind {
    const char* name;
    ReferenceType type;
    bool other_file;
};

const Kind kKinds[] = {
    {"object1", ReferenceType::object1, false},      {"region1", ReferenceType::region1, false},
    {"object2", ReferenceType::object2, false},      {"region2", ReferenceType::region2, false},
    {"attribute", ReferenceType::attribute, false},  {"other object2", ReferenceType::object2, true},
    {"other region2", ReferenceType::region2, true}, {"other attribute", ReferenceType::attribute, true},
};

// The region of columns 1 and 2 in rows 0 and 2, in version 1 of the selection encoding: two blocks.
Image encoded_region() {
    const std::uint32_t words[] = {2, 1, 0, 8 + 32, 2, 2, 0, 1, 0, 2, 2, 1, 2, 2};
    Image bytes(sizeof words);
    for (std::size_t i = 0; i < std::size(words); ++i) {
        store_le<std::uint32_t>(bytes.data() + 4 * i, words[i]);
    }
    return bytes;
}

void add(Image& to, std::uint64_t number, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
        to.push_back(static_cast<std::byte>(number >> (8 * i)));
    }
}

void add_name(Image& to, std::string_view name) {
    add(to, name.size(), 2);
    for (const char c : name) {
        to.push_back(static_cast<std::byte>(c));
    }
}

// Returns the heap object that a reference of this kind points to.
Image in_heap(const Kind& kind, Address target) {
    Image bytes;
    if (kind.type != ReferenceType::region1) {
        add(bytes, kAddress, 1);
    }
    add(bytes, target, kAddress);
    if (kind.other_file) {
        add_name(bytes, kOther);
    }
    const Image region = encoded_region();
    if (kind.type == ReferenceType::region2) {
        add(bytes, region.size() + 4, 4);
        add(bytes, 2, 4);
    }
    if (kind.type == ReferenceType::region1 || kind.type == ReferenceType::region2) {
        bytes.insert(bytes.end(), region.begin(), region.end());
    }
    if (kind.type == ReferenceType::attribute) {
        add_name(bytes, "text");
    }
    return bytes;
}

bool uses_heap(const Kind& kind) {
    return kind.type != ReferenceType::object1 && (kind.type != ReferenceType::object2 || kind.other_file);
}

// Returns the reference as a dataset stores it: the heap id and the fields around it.
Image element(const Kind& kind, Address target, ConstBytes heap_id) {
    Image bytes;
    if (kind.type >= ReferenceType::object2) {
        add(bytes, static_cast<unsigned>(kind.type), 1);
        add(bytes, kind.other_file ? 1 : 0, 1);
        add(bytes, uses_heap(kind) ? 0 : kAddress, uses_heap(kind) ? 4 : 1);
    }
    if (uses_heap(kind)) {
        bytes.insert(bytes.end(), heap_id.data(), heap_id.data() + kAddress + 4);
    } else {
        add(bytes, target, kAddress);
    }
    return bytes;
}

Address put_target(hid_t file) {
    const Hdf5Id target(H5Dcreate2(file, "target", H5T_STD_I32LE, Hdf5Id(simple({4, 5}), H5Sclose), H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT),
                        H5Dclose);
    const int value = 5;
    put_attribute(target, "text", H5T_STD_I32LE, H5T_NATIVE_INT, &value, {H5Screate(H5S_SCALAR), H5Sclose});
    H5O_info_t info;
    EXPECT_GE(H5Oget_info2(target, &info, H5O_INFO_BASIC), 0);
    return info.addr;
}

// A file with the heap objects of all references, whole and cut off at every length, as sequences of bytes.
struct References {
    References() {
        images[kOther] = made([this](hid_t file) { target = put_target(file); });
        Address here = 0;
        images["main"] = made([this, &here](hid_t file) {
            here = put_target(file);
            std::vector<Image> contents;
            std::vector<hvl_t> sequences;
            for (const Kind& kind : kKinds) {
                if (!uses_heap(kind)) {
                    continue;
                }
                const Image whole = in_heap(kind, kind.other_file ? target : here);
                lengths[kind.name] = whole.size();
                first[kind.name] = contents.size();
                for (std::size_t size = 1; size <= whole.size(); ++size) {
                    contents.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
                }
            }
            for (Image& each : contents) {
                sequences.push_back({each.size(), each.data()});
            }
            const Hdf5Id type(H5Tvlen_create(H5T_STD_U8LE), H5Tclose);
            const Hdf5Id space(simple({contents.size()}), H5Sclose);
            const Hdf5Id heap(H5Dcreate2(file, "heap", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
            EXPECT_GE(H5Dwrite(heap, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, sequences.data()), 0);
            count = contents.size();
        });
        here_ = here;
        FaultyFile with(images, "main");
        Library library(with.heap, with.port);
        auto file = File::open(library, with.main, with.access());
        EXPECT_EQ(file.status(), Status::ok);
        auto heap = file->root().open_dataset("heap");
        EXPECT_EQ(heap.status(), Status::ok);
        ids.resize(16 * count);
        EXPECT_EQ(heap->read_stored(Selection::all(), {ids.data(), ids.size()}), Status::ok);
    }

    /// Returns a reference whose heap object has only its first `size` bytes.
    Image cut(const Kind& kind, std::size_t size) const {
        const std::size_t at = uses_heap(kind) ? first.at(kind.name) + size - 1 : 0;
        return element(kind, kind.other_file ? target : here_, {ids.data() + 16 * at + 4, kAddress + 4});
    }
    Image whole(const Kind& kind) const { return cut(kind, uses_heap(kind) ? lengths.at(kind.name) : 0); }

    Images images;
    Address target = 0;
    std::map<std::string, std::size_t> lengths, first;
    std::size_t count = 0;
    Image ids;

private:
    Address here_ = 0;
};

const References& references() {
    static const References all;
    return all;
}

// Asks everything about a reference and opens its target.
Status follow(const Object& root, const Kind& kind, ConstBytes stored, Seen& seen) {
    ReferenceTarget target;
    H5MOTE_TRY(root.reference_target(kind.type, stored, target));
    seen.lines.push_back(std::to_string(target.address) + (target.null ? " null" : "") +
                         (target.other_file ? " other" : ""));
    char text[64];
    std::size_t length = 0;
    if (kind.type >= ReferenceType::object2) {
        H5MOTE_TRY(root.reference_file_name(stored, text, length));
        seen.lines.emplace_back(text, length);
        H5MOTE_TRY(root.reference_attribute_name(stored, text, length));
        seen.lines.emplace_back(text, length);
    }
    auto object = root.open_reference(kind.type, stored);
    H5MOTE_TRY(object.status());
    seen.lines.push_back(std::to_string(object->address()));
    if (kind.type == ReferenceType::attribute) {
        auto attribute = root.open_attribute_reference(stored);
        H5MOTE_TRY(attribute.status());
        seen.lines.emplace_back(attribute->name());
    }
    return Status::ok;
}

Status follow_region(Library& library, const Object& root, const Kind& kind, ConstBytes stored, Seen& seen) {
    if (kind.type != ReferenceType::region1 && kind.type != ReferenceType::region2) {
        return Status::ok;
    }
    SelectionSet region(library);
    Object target;
    const Status status = root.reference_region(kind.type, stored, target, region);
    // After an error the results are empty: no target and no region.
    EXPECT_TRUE(status == Status::ok || (!target.valid() && region.type() == SelectionType::all));
    H5MOTE_TRY(status);
    std::uint64_t elements = 0;
    const Dataspace space = Dataspace::simple({4, 5});
    H5MOTE_TRY(region.view().element_count(space, elements));
    seen.lines.push_back(std::to_string(target.address()) + ": " + std::to_string(elements));
    return Status::ok;
}

Status look_at_reference(Library& library, FaultyFile& with, const Kind& kind, ConstBytes stored, Seen& seen) {
    auto file = File::open(library, with.main, with.access());
    H5MOTE_TRY(file.status());
    const Group root = file->root();
    H5MOTE_TRY(follow(root, kind, stored, seen));
    return follow_region(library, root, kind, stored, seen);
}

TEST(ReferenceFaults, MemoryAndStorageThatFail) {
    for (const Kind& kind : kKinds) {
        SCOPED_TRACE(kind.name);
        FaultyFile file(references().images, "main");
        const Image stored = references().whole(kind);
        Seen seen;
        {
            Library library(file.heap, file.port);
            ASSERT_EQ(look_at_reference(library, file, kind, {stored.data(), stored.size()}, seen), Status::ok);
            if (kind.type == ReferenceType::region1 || kind.type == ReferenceType::region2) {
                EXPECT_EQ(seen.lines.back().substr(seen.lines.back().find(": ")), ": 4");
            }
            if (kind.type == ReferenceType::attribute) {
                EXPECT_EQ(seen.lines[1], kind.other_file ? kOther : "");
                EXPECT_EQ(seen.lines[2], "text");
                EXPECT_EQ(seen.lines.back(), "text");
            }
        }
        const unsigned refused = file.sweep<Seen>([&](Library& library, FaultyFile& with, Seen& out) {
            return look_at_reference(library, with, kind, {stored.data(), stored.size()}, out);
        });
        EXPECT_GT(refused, 10U);
    }
}

// References cut off in the dataset or in the heap, or read as another kind, are refused without reading elsewhere.
TEST(ReferenceFaults, CutOffAndMistaken) {
    unsigned refused = 0;
    for (const Kind& kind : kKinds) {
        const std::size_t most = uses_heap(kind) ? references().lengths.at(kind.name) : 0;
        for (const Kind& as : kKinds) {
            for (std::size_t size = as.type == kind.type && most != 0 ? 1 : most; size <= most; ++size) {
                const Image stored = references().cut(kind, size);
                for (std::size_t length = size == most ? 0 : stored.size(); length <= stored.size(); ++length) {
                    FaultyFile file(references().images, "main");
                    Seen seen;
                    Status status;
                    {
                        Library library(file.failing, file.port);
                        status = look_at_reference(library, file, as, {stored.data(), length}, seen);
                    }
                    const bool sound = as.type == kind.type && size == most && length == stored.size();
                    ASSERT_TRUE(sound ? status == Status::ok : status != Status::io_error)
                        << kind.name << " as " << as.name << " of " << size << " and " << length << " bytes "
                        << to_string(status);
                    refused += status == Status::ok ? 0 : 1;
                    ASSERT_EQ(file.tracking.blocks(), 0U);
                    ASSERT_EQ(file.shelf.open_files(), 0);
                }
            }
        }
    }
    EXPECT_GT(refused, 500U);
}

// Wrong arguments are refused by name; an empty heap id has size 0.
TEST(ReferenceFaults, WrongQuestions) {
    FaultyFile with(references().images, "main");
    Library library(with.heap, with.port);
    auto file = File::open(library, with.main, with.access());
    ASSERT_EQ(file.status(), Status::ok);
    const Group root = file->root();
    Image id(kAddress + 4);
    std::uint64_t size = 7;
    for (std::size_t length = 0; length < kAddress; ++length) {
        EXPECT_EQ(root.variable_size({id.data(), length}, size), Status::invalid_argument);
    }
    for (const unsigned fill : {0U, 0xffU}) {
        std::fill(id.begin(), id.end(), static_cast<std::byte>(fill));
        size = 7;
        EXPECT_EQ(root.variable_size({id.data(), id.size()}, size), Status::ok);
        EXPECT_EQ(size, 0U);
    }
    SelectionSet region(library);
    Object target;
    for (const Kind& kind : kKinds) {
        const Image stored = references().whole(kind);
        const ConstBytes bytes{stored.data(), stored.size()};
        const bool has_region = kind.type == ReferenceType::region1 || kind.type == ReferenceType::region2;
        EXPECT_EQ(root.reference_region(kind.type, bytes, target, region),
                  has_region ? Status::ok : Status::invalid_argument);
        if (kind.type < ReferenceType::object2) {
            continue;
        }
        char text[64];
        std::size_t length = 99;
        const std::size_t whole = kind.other_file ? sizeof kOther - 1 : 0;
        EXPECT_EQ(root.reference_file_name(bytes, {text, 1}, length),
                  whole > 1 ? Status::invalid_argument : Status::ok);
        EXPECT_EQ(length, whole);
        EXPECT_EQ(root.reference_file_name(bytes, {}, length), Status::ok);
        EXPECT_EQ(length, whole);
        EXPECT_EQ(root.reference_attribute_name(bytes, {text, whole + 4}, length), Status::ok);
        EXPECT_EQ(length, kind.type == ReferenceType::attribute ? 4U : 0U);
    }
    std::size_t length = 0;
    EXPECT_EQ(root.reference_file_name({}, {}, length), Status::invalid_argument);
}

}  // namespace

#endif
