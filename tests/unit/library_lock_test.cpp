// Every public call of a file and an object takes the lock of its Library once: see lock_bench.hpp.
#include "lock_bench.hpp"

#include <h5mote/check.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>

#if H5MOTE_WRITE

using namespace h5mote_test;

TEST(LibraryLock, EveryCallOfAFile) {
    LockBench bench;
    TAKES_AND_ENDS(1, File::create(bench.library, bench.driver, bench.access));
    TAKES_AND_ENDS(1, File::open(bench.library, bench.driver, bench.access));
    TAKES_AND_ENDS(1, File::open_or_create(bench.library, bench.driver, bench.access));
    auto file = File::open(bench.library, bench.driver, bench.access);
    TAKES(file->valid());
    TAKES(file->flush());
    TAKES(file->reclaim());
    TAKES_AND_ENDS(1, file->root());
#if H5MOTE_ALL_FORMATS
    FileInfo info;
    FreeSpaceInfo space;
    CheckSummary summary;
    class Silent final : public CheckReporter {
    public:
        void problem(const Problem& /*problem*/) noexcept override {}
    } silent;
    TAKES(file->info(info));
    TAKES(file->free_space(space));
    TAKES(check_file(*file, {}, silent, &summary));
#endif
    TAKES(file->close());
    (void)bench.took(0);
    EXPECT_EQ(file->close(), Status::invalid_handle);
    EXPECT_TRUE(bench.took(0));  // an empty handle does not refer to a Library
    TAKES(bench.library.garbage_collect());
    TAKES(bench.library.set_free_list_limits({}));
    TAKES(bench.library.memory_report());
#if H5MOTE_CONVERSION
    TAKES(bench.library.set_conversions({}));
#endif
    {
        const LibraryLock held(bench.library);
        EXPECT_EQ(bench.port.depth, kOnce);
        bench.library.garbage_collect();
        EXPECT_EQ(bench.port.depth, kOnce);
    }
    EXPECT_EQ(bench.port.depth, 0U);
}

TEST(LibraryLock, EveryCallOfAnObject) {
    LockBench bench;
    auto file = File::create(bench.library, bench.driver, bench.access);
    ASSERT_EQ(file.status(), Status::ok);
    Group root = file->root();
    std::int32_t value = 3;
    char text[16];
    std::size_t length = 0;
    std::uint32_t count = 0;
    AttributeInfo about;
    std::byte encoded[64];
    DatatypeView type;
    TAKES(root.valid());
    TAKES(root.write_attribute("number", value));
    TAKES(root.write_attribute("name", "text"));
    TAKES(root.write_attribute("typed", datatype_of<std::int32_t>(), Dataspace::scalar(),
                               as_bytes(Span<const std::int32_t>(&value, 1))));
    TAKES(root.read_attribute("number", value));
    TAKES(root.read_attribute("name", Span<char>(text), length));
    TAKES(root.attribute_info("number", about));
    TAKES(root.attribute_type("number", encoded, type));
    TAKES(root.has_attribute("number"));
    TAKES(root.attribute_count(count));
    TAKES(root.attribute_name(0, text, length));
#if H5MOTE_ALL_FORMATS
    ObjectType kind;
    ObjectInfo info;
    ReferenceTarget target;
    SelectionSet region(bench.library);
    Object object;
    std::uint64_t bytes = 0;
    const std::byte stored[16] = {};
    TAKES(root.type(kind));
    TAKES(root.info(info));
    TAKES(root.comment(text, length));
    TAKES(root.reference_target(ReferenceType::object1, stored, target));
    TAKES(root.open_reference(ReferenceType::object1, stored));
    TAKES(root.open_attribute_reference(stored));
    TAKES(root.reference_file_name(stored, {}, length));
    TAKES(root.reference_attribute_name(stored, {}, length));
    TAKES(root.reference_region(ReferenceType::region1, stored, object, region));
    TAKES(root.variable_size(stored, bytes));
    TAKES(root.read_variable(stored, 0, {}));
    TAKES_AND_ENDS(1, root.file_root());
    TAKES_AND_ENDS(1, root.duplicate());
    (void)bench.took(0);
    {
        AttributeIterator attributes(root);
        EXPECT_TRUE(bench.took(1));
        Attribute attribute;
        TAKES(attributes.next(attribute));
        TAKES(attribute.valid());
        TAKES(attribute.read(datatype_of<std::int32_t>(), {}));
        TAKES(attribute.read_stored(0, {encoded, 1}));
        TAKES_AND_ENDS(1, attribute.object());
        TAKES(attribute.variable_size(stored, bytes));
        TAKES(attribute.read_variable(stored, 0, {}));
        TAKES(attribute.close());
        auto opened = root.open_attribute("number");
        EXPECT_TRUE(bench.took(1));
        *opened = Attribute();
        EXPECT_TRUE(bench.took(1));
    }
    // The iterator and the object that it iterates over end here.
    EXPECT_TRUE(bench.took(2));
    TAKES(reclaim(bench.library, datatype_of<std::int32_t>(), 1, 4, &value));
    TAKES(root.reference_size(ReferenceType::object1));
    TAKES(root.create_reference(ReferenceType::object1, root, {encoded, 8}));
    TAKES(root.create_region_reference(ReferenceType::region1, root, Dataspace::simple({1}), Selection::all(),
                                       {encoded, 12}));
    TAKES(root.create_attribute_reference(root, "number", encoded));
    TAKES(root.set_comment("about the group"));
    TAKES(root.rename_attribute("typed", "renamed"));
    TAKES(root.replace_attribute("renamed", value));
#endif
    TAKES(root.remove_attribute("number"));
    TAKES(root.close());
    TAKES(file->close());
}

#endif
