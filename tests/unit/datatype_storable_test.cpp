// Types whose values are in a heap: in a program that does not write there, new datasets and attributes refuse them by
// name.
#include <h5mote/variable_length.hpp>

#include "storage_bench.hpp"

using namespace h5mote;
using namespace h5mote_test;

namespace {

constexpr auto kText = make_variable_string(CharacterSet::utf8);
constexpr auto kSequence = make_variable_length(make_integer(4, true));
constexpr auto kNested = make_variable_length(kSequence);
constexpr auto kArray = make_array(kText, 2U);
constexpr auto kMember =
    make_compound<32>(member("a", 0, make_integer(4, true)), member("b", 8, make_array(kText, 2U)));
#if H5MOTE_MAX_TYPE_DEPTH >= 5
constexpr auto kDeep = make_compound<40>(member("m", 4, make_array(kMember, 1U)));
#endif

DatatypeView refused(unsigned i) noexcept {
    switch (i) {
        case 0:
            return kText;
        case 1:
            return kSequence;
        case 2:
            return kNested;
        case 3:
            return kArray;
        case 4:
            return kMember;
#if H5MOTE_MAX_TYPE_DEPTH >= 5
        case 5:
            return kDeep;
#endif
        default:
            return {};
    }
}

}  // namespace

TEST(DatatypeStorable, WhatIsMoreThanItsBytesIsRefusedByName) {
    static constexpr Formats kFormats = [] {
        Formats list = formats::standard;
        list.variable_length_changes = nullptr;
        return list;
    }();
    Bench bench(sizeof bench_storage, kFormats);
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    DatasetCreate chunked;
    chunked.chunk = {4};
    std::byte value[64] = {};
    for (unsigned i = 0; !refused(i).empty(); ++i) {
        const DatatypeView type = refused(i);
        EXPECT_EQ(root.create_dataset("d", type, Dataspace::unlimited(), chunked).status(), Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
        EXPECT_EQ(bench.library.trail().newest().value, static_cast<std::uint64_t>(Feature::datatype_class));
#endif
        EXPECT_EQ(root.open_or_create_dataset("d", type, Dataspace::unlimited(), chunked).status(),
                  Status::unsupported);
        EXPECT_EQ(root.write_attribute("a", type, Dataspace::scalar(), {value, type.size()}), Status::unsupported);
#if H5MOTE_ERROR_TRAIL > 0
        EXPECT_EQ(bench.library.trail().newest().value, static_cast<std::uint64_t>(Feature::datatype_class));
#endif
    }
    EXPECT_FALSE(root.exists("d"));
    EXPECT_FALSE(root.has_attribute("a"));
}

TEST(DatatypeStorable, WhatIsNoSoundMessageIsAnInvalidArgument) {
    Bench bench;
    ASSERT_EQ(bench.create(), Status::ok);
    Group root = bench.file.root();
    const EncodedType<12> sound = make_integer(4, true);
    std::byte longer[13] = {};
    std::memcpy(longer, sound.bytes, sizeof sound.bytes);
    EncodedType<12> wide = sound;
    wide.bytes[10] = std::byte{33};  // more significant bits than the value has
    const DatatypeView kTypes[] = {
        DatatypeView({sound.bytes, 11}), DatatypeView({sound.bytes, 3}), DatatypeView({longer, 13}), wide, {}};
    DatasetCreate create;
    create.chunk = {4};
    std::byte value[4] = {};
    for (const DatatypeView type : kTypes) {
        EXPECT_EQ(root.create_dataset("d", type, Dataspace::unlimited(), create).status(), Status::invalid_argument);
        EXPECT_EQ(root.write_attribute("a", type, Dataspace::scalar(), value), Status::invalid_argument);
    }
    EXPECT_FALSE(root.exists("d"));
    EXPECT_FALSE(root.has_attribute("a"));
}
