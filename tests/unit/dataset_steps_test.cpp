// Reading every n-th element.
#include "storage_bench.hpp"

#if H5MOTE_PARTIAL_IO

using namespace h5mote;
using namespace h5mote_test;

namespace {

Bytes bytes_of(std::int32_t* from, std::size_t count) noexcept {
    return {reinterpret_cast<std::byte*>(from), count * sizeof *from};
}

}  // namespace

// Elements at equal steps are right whether single or read together with the gaps, for caches of any size and up to the
// end of the file. An element is changed before each read, which must not return an older value.
TEST(DatasetSteps, AnyStepByAnyCache) {
    constexpr std::size_t kCount = 2200;
    static std::int32_t values[kCount];
    static std::int32_t got[kCount];
    const DatatypeView type = datatype_of<std::int32_t>();
    for (const std::size_t cache : {std::size_t{8}, std::size_t{600}, std::size_t{4096}}) {
        for (const bool chunked : {false, true}) {
            Bench bench;
            bench.access.chunk_cache = cache;
            ASSERT_EQ(bench.create(), Status::ok);
            DatasetCreate create;
            if (chunked) {
                create.chunk = {1000};
            }
            auto dataset = bench.file.root().create_dataset(
                "d", file_type_of<std::int32_t>(), chunked ? Dataspace::unlimited(kCount) : Dataspace::simple({kCount}),
                create);
            ASSERT_EQ(dataset.status(), Status::ok);
            for (std::size_t i = 0; i < kCount; ++i) {
                values[i] = static_cast<std::int32_t>(i * 7919);
            }
            ASSERT_EQ(dataset->write(Selection::all(), type, bytes_of(values, kCount)), Status::ok);
            for (const std::size_t step : {2U, 3U, 64U, 129U, 1100U}) {
                for (const std::size_t start : {std::size_t{0}, (kCount - 1) % step}) {
                    const std::size_t count = (kCount - 1 - start) / step + 1;
                    const std::uint64_t changed = start + count / 2 * step;
                    --values[changed];
                    EXPECT_EQ(dataset->write(Selection::hyperslab({changed}, {1}), type, bytes_of(values + changed, 1)),
                              Status::ok);
                    std::memset(got, 0x55, sizeof got);
                    ASSERT_EQ(dataset->read(Selection::hyperslab({start}, {count}, {step}), type, bytes_of(got, count)),
                              Status::ok);
                    std::size_t same = 0;
                    while (same < count && got[same] == values[start + same * step]) {
                        ++same;
                    }
                    EXPECT_EQ(same, count);
                }
            }
        }
    }
}

#endif
