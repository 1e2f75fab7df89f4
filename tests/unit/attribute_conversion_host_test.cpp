// Attributes that get a value of another type than they have: with a committed datatype, which stays, or of numbers
// that another program made larger, or in the other order.
#include <h5mote/config.hpp>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE && H5MOTE_CONVERSION

#include "test.hpp"

#include <h5mote/h5mote.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/type_builder.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>

#ifdef H5MOTE_TEST_HDF5
#include "hdf5_image.hpp"
#endif

#include <string>

namespace {

using namespace h5mote;
#ifdef H5MOTE_TEST_HDF5
using namespace h5mote_test;
#endif

constexpr auto kText = make_variable_string(CharacterSet::utf8);

struct Machine {
    Machine() {
        access.metadata_cache = 16384;
        auto made = File::create(library, storage, access);
        EXPECT_EQ(made.status(), Status::ok);
        file = static_cast<File&&>(*made);
        root = file.root();
    }
    void reopen() {
        root.close();
        ASSERT_EQ(file.close(), Status::ok);
        auto opened = File::open(library, storage, access);
        ASSERT_EQ(opened.status(), Status::ok);
        file = static_cast<File&&>(*opened);
        root = file.root();
    }
    template <typename T>
    T read(const char* name) {
        T value{};
        EXPECT_EQ(root.read_attribute(name, datatype_of<T>(), {reinterpret_cast<std::byte*>(&value), sizeof value}),
                  Status::ok);
        return value;
    }
    DatatypeView type_of(const char* name) {
        DatatypeView type;
        EXPECT_EQ(root.attribute_type(name, {buffer, sizeof buffer}, type), Status::ok);
        return type;
    }

    MallocAllocator memory;
    NullPort port;
    Library library{memory, port, {}, formats::all};
    GrowingMemoryDriver storage{memory};
    FileAccess access;
    File file;
    Group root;
    std::byte buffer[256];
};

TEST(AttributeConversion, ACommittedDatatypeStays) {
    Machine machine;
    Group& root = machine.root;
    for (const bool dense : {false, true}) {
        auto type = root.commit_datatype(dense ? "dense type" : "type", datatype_of<std::int32_t>());
        ASSERT_EQ(type.status(), Status::ok);
        auto made = root.create_group(dense ? "dense" : "compact");
        ASSERT_EQ(made.status(), Status::ok);
        for (int i = 0; dense && i < 12; ++i) {
            ASSERT_EQ(made->write_attribute("other " + std::to_string(i), i), Status::ok);
        }
        const std::int32_t first = 5;
        ASSERT_EQ(made->write_attribute("a", *type, Dataspace::scalar(), as_bytes(Span<const std::int32_t>(&first, 1))),
                  Status::ok);
        ObjectInfo before;
        ASSERT_EQ(type->info(before), Status::ok);
        ASSERT_EQ(made->write_attribute("a", std::int32_t{6}), Status::ok);
        ASSERT_EQ(made->write_attribute("a", 7.25), Status::ok);
        ASSERT_EQ(made->write_attribute("a", std::int64_t{1} << 40), Status::ok);  // more than the type has
        ASSERT_EQ(machine.file.flush(), Status::ok);
        AttributeInfo info;
        ASSERT_EQ(made->attribute_info("a", info), Status::ok);
        std::int32_t value = 0;
        ASSERT_EQ(made->read_attribute("a", datatype_of<std::int32_t>(),
                                       {reinterpret_cast<std::byte*>(&value), sizeof value}),
                  Status::ok);
        EXPECT_EQ(value, 0x7fffffff);
        auto opened = made->open_attribute("a");
        ASSERT_EQ(opened.status(), Status::ok);
        EXPECT_EQ(opened->type_object(), type->address());
        ObjectInfo after;
        ASSERT_EQ(type->info(after), Status::ok);
        EXPECT_EQ(after.reference_count, before.reference_count);
        // Other ranks and other kinds of values are refused, and the trail says which.
        const std::int32_t row[2] = {1, 2};
        machine.library.trail().clear();
        EXPECT_EQ(made->write_attribute("a", datatype_of<std::int32_t>(), Dataspace::simple({2}),
                                        as_bytes(Span<const std::int32_t>(row))),
                  Status::type_mismatch);
        EXPECT_EQ(machine.library.trail().size(), 1U);
        EXPECT_EQ(made->write_attribute("a", "a text"), Status::type_mismatch);
        ASSERT_EQ(made->read_attribute("a", datatype_of<std::int32_t>(),
                                       {reinterpret_cast<std::byte*>(&value), sizeof value}),
                  Status::ok);
        EXPECT_EQ(value, 0x7fffffff);
    }
}

TEST(AttributeConversion, ACommittedTextOfAnyLength) {
    Machine machine;
    Group& root = machine.root;
    auto type = root.commit_datatype("type", kText);
    ASSERT_EQ(type.status(), Status::ok);
    const char* text = "first";
    ASSERT_EQ(root.write_attribute("a", *type, kText, Dataspace::scalar(), as_bytes(Span<const char* const>(&text, 1))),
              Status::ok);
    ASSERT_EQ(root.write_attribute("a", VariableString<CharacterSet::utf8>{"second"}), Status::ok);
    machine.reopen();
    auto value = machine.read<VariableString<CharacterSet::utf8>>("a");
    EXPECT_STREQ(value.text, "second");
    EXPECT_EQ(reclaim(machine.library, kText, 1, sizeof value, &value), Status::ok);
    auto opened = machine.root.open_attribute("a");
    EXPECT_NE(opened->type_object(), kUndefinedAddress);
}

TEST(AttributeConversion, NumbersOfAnotherForm) {
    Machine machine;
    const struct {
        const char* name;
        EncodedType<12> type;
        std::size_t size;
    } integers[] = {
        {"big", make_integer(4, true, ByteOrder::big), 4},
        {"long", make_integer(8, true), 8},
        {"unsigned", make_integer(4, false), 4},
        {"byte", make_integer(1, true), 1},
    };
    const std::byte zeros[8] = {};
    for (const auto& each : integers) {
        ASSERT_EQ(machine.root.write_attribute(each.name, each.type, Dataspace::scalar(), {zeros, each.size}),
                  Status::ok);
        ASSERT_EQ(machine.root.write_attribute(each.name, std::int32_t{77}), Status::ok) << each.name;
    }
    ASSERT_EQ(machine.root.write_attribute("real", 0.0), Status::ok);
    ASSERT_EQ(machine.root.write_attribute("real", std::int32_t{77}), Status::ok);
    machine.reopen();
    for (const auto& each : integers) {
        EXPECT_TRUE(equal(machine.type_of(each.name), each.type.view())) << each.name;
        EXPECT_EQ(machine.read<std::int32_t>(each.name), 77) << each.name;
    }
    EXPECT_TRUE(equal(machine.type_of("real"), file_type_of<double>()));
    EXPECT_EQ(machine.read<double>("real"), 77.0);
    ASSERT_EQ(machine.root.write_attribute("text", "text"), Status::ok);
    EXPECT_EQ(machine.root.write_attribute("text", std::int32_t{77}), Status::type_mismatch);
    EXPECT_EQ(machine.root.write_attribute("real", "text"), Status::type_mismatch);
}

#ifdef H5MOTE_TEST_HDF5
// What libhdf5 finds is what H5Awrite() would have written.
TEST(AttributeConversion, AsLibhdf5Reads) {
    Machine machine;
    auto type = machine.root.commit_datatype("type", datatype_of<std::int32_t>());
    ASSERT_EQ(type.status(), Status::ok);
    const std::int32_t zero[2] = {};
    ASSERT_EQ(
        machine.root.write_attribute("a", *type, Dataspace::simple({2}), as_bytes(Span<const std::int32_t>(zero))),
        Status::ok);
    const double values[2] = {2.75, -1e10};
    ASSERT_EQ(machine.root.write_attribute("a", datatype_of<double>(), Dataspace::simple({2}),
                                           as_bytes(Span<const double>(values))),
              Status::ok);
    type->close();
    machine.reopen();
    ASSERT_EQ(machine.file.flush(), Status::ok);
    const Hdf5Id file = open_image(machine.storage.contents(), H5F_ACC_RDWR);
    const Hdf5Id attribute(H5Aopen(file, "a", H5P_DEFAULT), H5Aclose);
    const Hdf5Id stored(H5Aget_type(attribute), H5Tclose);
    EXPECT_GT(H5Tcommitted(stored), 0);
    int got[2] = {};
    ASSERT_GE(H5Aread(attribute, H5T_NATIVE_INT, got), 0);
    ASSERT_GE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, values), 0);
    int theirs[2] = {};
    ASSERT_GE(H5Aread(attribute, H5T_NATIVE_INT, theirs), 0);
    EXPECT_EQ(got[0], theirs[0]);
    EXPECT_EQ(got[1], theirs[1]);
}
#endif

}  // namespace

#endif
