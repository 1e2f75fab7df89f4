// Selections combined at random, against libhdf5: same elements in the same order, blocks, bounds and encodings.
#ifdef H5MOTE_TEST_HDF5

#include "dataspace_libhdf5.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

TEST_F(SelectionsOfLibhdf5, CombinedHyperslabs) {
    Random random(11);
    std::size_t irregular = 0;
    std::size_t confused = 0;
    for (int i = 0; i < 6000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        both.select(SelectionOp::set, random_slab(random, both.dims));
        compare(both, random);
        const std::uint32_t steps = 1 + random.below(6);
        for (std::uint32_t step = 0; step < steps && !HasFatalFailure(); ++step) {
            both.select(static_cast<SelectionOp>(random.below(6)), random_slab(random, both.dims));
            if (libhdf5_is_confused(both)) {
                ++confused;
                break;
            }
            compare(both, random);
            irregular += both.ours.type() == SelectionType::hyperslabs && !both.ours.is_regular() ? 1 : 0;
        }
        ASSERT_FALSE(HasFatalFailure()) << "case " << i;
    }
    EXPECT_GT(irregular, 4000U);
    EXPECT_LT(confused, 200U);
}

TEST_F(SelectionsOfLibhdf5, Points) {
    Random random(12);
    for (int i = 0; i < 1000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        both.points(random_points(random, both.dims, 1 + random.below(40)));
        compare(both, random);
        ASSERT_FALSE(HasFatalFailure()) << "case " << i;
    }
}

TEST_F(SelectionsOfLibhdf5, Encoded) {
    Random random(13);
    for (int i = 0; i < 4000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        const bool points = random.below(8) == 0;
        if (points) {
            both.points(random_points(random, both.dims, 1 + random.below(20)));
        } else {
            both.select(SelectionOp::set, random_slab(random, both.dims));
            for (std::uint32_t step = random.below(4); step > 0; --step) {
                both.select(static_cast<SelectionOp>(random.below(6)), random_slab(random, both.dims));
            }
        }
        if (random.below(50) == 0) {
            both.ours.select_all();
            H5Sselect_all(both.theirs);
        }
        if (libhdf5_is_confused(both)) {
            continue;
        }
        const Buffer theirs = encoded_by_libhdf5(both.theirs);
        ASSERT_EQ(theirs, encoded_by_us(both.ours, both.space)) << i;
        SelectionSet read(context);
        std::size_t consumed = 0;
        const auto rank = static_cast<unsigned>(both.dims.size());
        Buffer longer = theirs;
        longer.resize(theirs.size() + 5);
        ASSERT_EQ(decode_selection(context, {longer.data(), longer.size()}, rank, read, consumed), Status::ok);
        ASSERT_EQ(consumed, theirs.size());
        ASSERT_EQ(elements_of_runs(read, both.space), elements_of_runs(both.ours, both.space));
        if (read.type() == SelectionType::hyperslabs) {
            std::uint64_t low[4], high[4];
            SelectionBlocks merged;
            ASSERT_EQ(merged.reset(both.ours, both.space, true), Status::ok);
            Numbers blocks;
            while (merged.next(low, high)) {
                blocks.insert(blocks.end(), low, low + rank);
                blocks.insert(blocks.end(), high, high + rank);
            }
            ASSERT_EQ(blocks_of(read, both.space), blocks);
        }
        // A truncated encoding is refused, and a refused decoding changes nothing.
        for (std::size_t size = 0; size < theirs.size(); size += 1 + theirs.size() / 50) {
            ASSERT_NE(decode_selection(context, {theirs.data(), size}, rank, read, consumed), Status::ok);
        }
        ASSERT_EQ(decode_selection(context, {theirs.data(), theirs.size()}, 5, read, consumed) == Status::ok,
                  read.rank() == 0);
        ASSERT_EQ(elements_of_runs(read, both.space), elements_of_runs(both.ours, both.space));
    }
}

TEST_F(SelectionsOfLibhdf5, MovedAndAdjusted) {
    Random random(15);
    std::size_t inside = 0;
    for (int i = 0; i < 3000; ++i) {
        Both both(context, random_dims(random, 1 + random.below(4)));
        if (i % 4 == 0) {
            both.points(random_points(random, both.dims, 1 + random.below(5)));
        } else {
            both.select(SelectionOp::set, random_slab(random, both.dims));
            if (i % 4 > 1) {
                both.select(SelectionOp::not_b, random_slab(random, both.dims));
            }
        }
        if (both.ours.type() == SelectionType::none || libhdf5_is_confused(both)) {
            continue;
        }
        std::vector<std::int64_t> by;
        for (std::size_t d = 0; d < both.dims.size(); ++d) {
            by.push_back(static_cast<std::int64_t>(random.below(5)) - 2);
        }
        const Span<const std::int64_t> offset{by.data(), by.size()};
        if (random.below(2) == 0) {
            ASSERT_EQ(both.ours.set_offset(offset), Status::ok);
            ASSERT_GE(H5Soffset_simple(both.theirs, reinterpret_cast<const hssize_t*>(by.data())), 0);
            const bool valid = both.ours.view().validate(both.space) == Status::ok;
            // libhdf5 considers a point just beyond the extent valid.
            ASSERT_TRUE(valid == (H5Sselect_valid(both.theirs) > 0) || both.ours.type() == SelectionType::points);
            if (!valid) {
                continue;
            }
        } else {
            const Numbers low_before = blocks_of(both.ours, both.space);
            H5E_auto2_t print = nullptr;
            void* data = nullptr;
            H5Eget_auto2(H5E_DEFAULT, &print, &data);
            H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
            const bool adjusted = H5Sselect_adjust(both.theirs, reinterpret_cast<const hssize_t*>(by.data())) >= 0;
            H5Eset_auto2(H5E_DEFAULT, print, data);
            const bool ours = both.ours.adjust(offset) == Status::ok;
            ASSERT_EQ(ours, adjusted);
            if (!ours) {
                ASSERT_EQ(blocks_of(both.ours, both.space), low_before);
                continue;
            }
            if (both.ours.view().validate(both.space) != Status::ok) {
                continue;
            }
        }
        ++inside;
        // H5Sselect_adjust() moves what libhdf5 iterates over, but not the start that libhdf5 reports: compare no
        // blocks.
        compare(both, random, !both.ours.view().offset().empty());
        ASSERT_FALSE(HasFatalFailure()) << i;
    }
    EXPECT_GT(inside, 400U);
}

}  // namespace

#endif
