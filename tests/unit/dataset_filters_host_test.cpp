// Datasets whose filters this program lacks: a change that cannot be stored is refused by the call that makes it.
#include "world.hpp"

#if H5MOTE_WRITE && H5MOTE_ALL_FORMATS && H5MOTE_FILTERS

namespace {

using namespace h5mote;
using namespace h5mote_test;

// Makes a dataset in chunks of 4 rows with two filters.
Image make_filtered(const FilterSpec& second, std::size_t count) {
    World world;
    auto created = File::create(world.library, world.driver, world.access);
    EXPECT_EQ(created.status(), Status::ok);
    world.file = static_cast<File&&>(*created);
    DatasetCreate create;
    create.chunk = {4};
    create.filters = {filters::shuffle, second};
    auto data = world.file.root().create_dataset("d", kNumber.view(), Dataspace::unlimited(), create);
    const std::int32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(data->append_records(rows, count), Status::ok);
    EXPECT_EQ(data->close(), Status::ok);
    EXPECT_EQ(world.close(), Status::ok);
    return world.image();
}

}  // namespace

TEST(DatasetFilters, ThatTheProgramLacks) {
    for (const FilterSpec& second : {filters::fletcher32, filters::deflate}) {
        const std::int32_t rows[] = {7, 8, 9, 10};
        const ConstBytes four = as_bytes(Span<const std::int32_t>(rows));
        for (unsigned change = 0; change < 10; ++change) {
            SCOPED_TRACE(change);
            // Whether the last chunk is full.
            const bool full = change >= 5;
            const Image image = make_filtered(second, full ? 8 : 6);
            MallocAllocator memory;
            MallocAllocator bytes;
            GrowingMemoryDriver storage{bytes};
            NullPort port;
            const Filter* const some[] = {&shuffle_filter};
            Library library{memory, port, some};
            ASSERT_EQ(storage.assign({image.data(), image.size()}), Status::ok);
            auto file = File::open(library, storage);
            ASSERT_EQ(file.status(), Status::ok);
            auto data = file->root().open_dataset("d");
            ASSERT_EQ(data.status(), Status::ok);
            const unsigned how = change % 5;
            const Status status = how == 0 ? data->write(Selection::hyperslab({0}, {4}), kNumber.view(), four)
                                  : how == 1
                                      ? data->write(Selection::hyperslab({0}, {1}), kNumber.view(), four.first(4))
                                  : how == 2 ? data->append_records(rows, 1)
                                  : how == 3 ? data->append_records(rows, 4)
                                             : data->set_extent({12});
            // Without an optional filter, chunks can be stored if they need not be read first.
            const bool can = second.optional && (how == 0 || (full && how >= 2));
            EXPECT_EQ(status, can ? Status::ok : Status::unsupported);
            EXPECT_EQ(data->close(), Status::ok);
            EXPECT_EQ(file->close(), Status::ok);
            EXPECT_EQ(Image(storage.contents().begin(), storage.contents().end()) == image, !can);
            EXPECT_EQ(memory.blocks(), 0U);
        }
    }
}

namespace {

class OnlyRead final : public DecodingFilter {
public:
    constexpr OnlyRead() = default;
    FilterId id() const noexcept override { return static_cast<FilterId>(300); }
    const char* name() const noexcept override { return "only read"; }
    Status decode(const FilterSpec& /*spec*/, ConstBytes /*in*/, Bytes /*out*/, std::size_t& /*size*/,
                  Bytes /*scratch*/) const noexcept override {
        return Status::corrupt_file;
    }
};
constexpr OnlyRead kOnlyRead;

}  // namespace

// An optional filter that can only decode is no reason to refuse creating a dataset.
TEST(DatasetFilters, ThatOnlyRead) {
    MallocAllocator memory;
    MallocAllocator bytes;
    GrowingMemoryDriver storage{bytes};
    NullPort port;
    const Filter* const some[] = {&kOnlyRead};
    Library library{memory, port, some};
    auto file = File::create(library, storage);
    ASSERT_EQ(file.status(), Status::ok);
    for (const bool optional : {false, true}) {
        DatasetCreate create;
        create.chunk = {4};
        create.filters.push_back(FilterSpec{kOnlyRead.id(), optional, 0, {}});
        auto data = file->root().create_dataset("d", kNumber.view(), Dataspace::unlimited(), create);
        EXPECT_EQ(data.status(), optional ? Status::ok : Status::unsupported);
        EXPECT_EQ(file->root().exists("d"), optional);
        const std::int32_t row = 5;
        EXPECT_EQ(optional ? data->append_records(&row, 1) : Status::ok, Status::ok);
        EXPECT_EQ(optional ? data->close() : Status::ok, Status::ok);
    }
    auto data = file->root().open_dataset("d");
    std::int32_t row = 0;
    EXPECT_EQ(data->read(Selection::all(), kNumber.view(), {reinterpret_cast<std::byte*>(&row), sizeof row}),
              Status::ok);
    EXPECT_EQ(row, 5);
}

#endif
