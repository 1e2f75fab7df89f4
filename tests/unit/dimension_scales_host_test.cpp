// Dimension scales whose lists h5mote itself does not write: of revised references, as libhdf5 1.12 and later can be
// built to write them. Also long names of scales.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include <h5mote/dimension_scale.hpp>
#include <h5mote/variable_length.hpp>

#include "resealed.hpp"
#include "sound.hpp"

#include <string>
#include <vector>

namespace {

using namespace h5mote;
using namespace h5mote_test;
using namespace std::string_view_literals;

constexpr auto kNumber = make_integer(4, true);
constexpr auto kRevised = ReferenceType::object2;
constexpr std::size_t kStored = 64;  // bytes of a reference in a sequence of libhdf5

struct Scratch {
    Scratch() { access.metadata_cache = 16384; }
    void create() {
        file = static_cast<File&&>(*File::create(library, storage, access));
        root = file.root();
    }
    void open(const std::vector<std::byte>& image) {
        ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
        file = static_cast<File&&>(*File::open(library, storage, access));
        root = file.root();
    }
    Status close() {
        root.close();
        return file.close();
    }
    std::vector<std::byte> image() const {
        const ConstBytes bytes = storage.contents();
        return {bytes.data(), bytes.data() + bytes.size()};
    }

    MallocAllocator memory;
    GrowingMemoryDriver storage{memory};
    NullPort port;
    Library library{memory, port};
    FileAccess access;
    File file;
    Group root;
};

// The scales "time" and "place" are attached to the first dimension of "data", and "theirs" to that of "old" by lists
// of the first kind.
std::vector<std::byte> make_image() {
    Scratch scratch;
    scratch.create();
    auto data = scratch.root.create_dataset("data", kNumber, Dataspace::simple({4, 5}));
    auto time = scratch.root.create_dataset("time", kNumber, Dataspace::simple({4}));
    auto place = scratch.root.create_dataset("place", kNumber, Dataspace::simple({4}));
    auto old = scratch.root.create_dataset("old", kNumber, Dataspace::simple({4}));
    auto theirs = scratch.root.create_dataset("theirs", kNumber, Dataspace::simple({4}));
    EXPECT_EQ(data->reference_size(kRevised), 18U);
    // The library writes no sequence of references of 64 bytes: it is made of texts, whose type is changed below.
    std::byte references[2][kStored] = {};
    EXPECT_EQ(data->create_reference(kRevised, *time, {references[0], 18}), Status::ok);
    EXPECT_EQ(data->create_reference(kRevised, *place, {references[1], 18}), Status::ok);
    const VariableLength lists[2] = {{2, references}, {}};
    const auto texts = make_variable_length(make_string(kStored, StringPadding::null_terminated));
    EXPECT_EQ(data->write_attribute("DIMENSION_LIST", texts, Dataspace::simple({2}),
                                    {reinterpret_cast<const std::byte*>(lists), sizeof lists}),
              Status::ok);
    const auto entries = make_compound<22>(member("dataset", 0, make_reference(kRevised)),
                                           member("dimension", 18, make_integer(4, false, ByteOrder::big)));
    for (Dataset* scale : {&*time, &*place}) {
        std::byte entry[22] = {};
        EXPECT_EQ(scale->create_reference(kRevised, *data, {entry, 18}), Status::ok);
        EXPECT_EQ(scale->write_attribute("REFERENCE_LIST", entries, Dataspace::simple({1}), {entry, sizeof entry}),
                  Status::ok);
        EXPECT_EQ(DimensionScales::set(*scale), Status::ok);
    }
    EXPECT_EQ(DimensionScales::attach(*old, 0, *theirs), Status::ok);
    for (Dataset* each : {&*data, &*time, &*place, &*old, &*theirs}) {
        EXPECT_EQ(each->close(), Status::ok);
    }
    EXPECT_EQ(scratch.close(), Status::ok);
    std::vector<std::byte> image = scratch.image();
    const std::size_t at = find_bytes(image, "\x19\0\0\0\x10\0\0\0\x13\0\0\0\x40\0\0\0"sv);
    image[at] = std::byte{0x49};
    image[at + 8] = std::byte{0x47};
    image[at + 9] = std::byte{0x12};
    reseal(image);
    return image;
}

TEST(DimensionScalesOfRevisedReferences, AreRead) {
    Scratch scratch;
    scratch.open(make_image());
    auto data = scratch.root.open_dataset("data");
    auto time = scratch.root.open_dataset("time");
    auto place = scratch.root.open_dataset("place");
    auto theirs = scratch.root.open_dataset("theirs");
    std::uint32_t count = 0;
    EXPECT_EQ(DimensionScales::count(*data, 0, count), Status::ok);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(DimensionScales::count(*data, 1, count), Status::ok);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(DimensionScales::scale(*data, 0, 0)->address(), time->address());
    EXPECT_EQ(DimensionScales::scale(*data, 0, 1)->address(), place->address());
    EXPECT_EQ(DimensionScales::scale(*data, 0, 2).status(), Status::not_found);
    for (const Dataset* scale : {&*time, &*place, &*theirs}) {
        for (const unsigned dimension : {0U, 1U}) {
            bool is = false;
            EXPECT_EQ(DimensionScales::is_attached(*data, dimension, *scale, is), Status::ok);
            EXPECT_EQ(is, scale != &*theirs && dimension == 0);
        }
    }
}

// What changes a list of revised references, or would mix both kinds, is refused, and all lists stay.
TEST(DimensionScalesOfRevisedReferences, AreNotChanged) {
    Scratch scratch;
    const std::vector<std::byte> image = make_image();
    scratch.open(image);
    auto data = scratch.root.open_dataset("data");
    auto time = scratch.root.open_dataset("time");
    auto old = scratch.root.open_dataset("old");
    auto theirs = scratch.root.open_dataset("theirs");
    EXPECT_EQ(DimensionScales::attach(*data, 0, *time), Status::ok);  // it is attached
    EXPECT_EQ(DimensionScales::attach(*data, 1, *time), Status::unsupported);
    EXPECT_EQ(DimensionScales::attach(*data, 0, *theirs), Status::unsupported);
    EXPECT_EQ(DimensionScales::attach(*old, 0, *time), Status::unsupported);
    EXPECT_EQ(DimensionScales::detach(*data, 0, *time), Status::unsupported);
    EXPECT_EQ(DimensionScales::detach(*data, 1, *time), Status::not_found);
    for (Dataset* each : {&*data, &*time, &*old, &*theirs}) {
        EXPECT_EQ(each->close(), Status::ok);
    }
    EXPECT_TRUE(findings_in(scratch.file).none());
    EXPECT_EQ(scratch.close(), Status::ok);
    EXPECT_TRUE(scratch.image() == image);
}

TEST(DimensionScaleNames, AreOfAnyLength) {
    Scratch scratch;
    scratch.create();
    auto scale = scratch.root.create_dataset("scale", kNumber, Dataspace::simple({4}));
    for (const std::size_t size : {std::size_t{254}, std::size_t{255}, std::size_t{5000}}) {
        const std::string name(size, 'n');
        ASSERT_EQ(DimensionScales::set(*scale, name), Status::ok);
        std::string text(6000, ' ');
        std::size_t length = 0;
        EXPECT_EQ(DimensionScales::name(*scale, Span<char>(text.data(), text.size()), length), Status::ok);
        EXPECT_EQ(text.substr(0, length), name);
    }
    EXPECT_EQ(DimensionScales::set(*scale, std::string(70000, 'n')), Status::over_budget);
    EXPECT_EQ(DimensionScales::set(*scale, "a\0b"sv), Status::invalid_argument);
    EXPECT_EQ(scale->close(), Status::ok);
    EXPECT_EQ(scratch.close(), Status::ok);
}

}  // namespace

#endif
