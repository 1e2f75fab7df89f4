// FlashDriver::fewest_blocks(): a chip of that many blocks, or of any number more, has room for a page.
#include "flash_chip.hpp"
#include "sweep.hpp"
#include "test.hpp"

namespace {

using namespace h5mote;
using namespace h5mote_test;

// What is kept from the pages grows in steps, and where several steps came together, a chip of two blocks more than the
// fewest had no room for any page.
TEST(FlashSmallest, LargerChipsHaveRoomToo) {
    const auto step = static_cast<unsigned>(sweep_step());
    for (const FlashGeometry& chip : {FlashGeometry{0, 512, 256, 1, 0xff}, FlashGeometry{0, 1024, 256, 1, 0xff},
                                      FlashGeometry{0, 1024, 256, 256, 0}, FlashGeometry{0, 2048, 256, 1, 0xff},
                                      FlashGeometry{0, 2048, 512, 512, 0xff}}) {
        for (const unsigned changes : {8U, 10U, 27U, 32U, 64U}) {
            for (unsigned reserve = 5; reserve <= 50; reserve += step) {
                const FlashFormat format{128, static_cast<std::uint8_t>(reserve)};
                const FlashOptions options{static_cast<std::uint16_t>(changes), false};
                FlashGeometry geometry = chip;
                const std::uint32_t fewest = FlashDriver::fewest_blocks(geometry, format, options);
                for (std::uint32_t more = 0; more < 6; ++more) {
                    geometry.blocks = fewest + more;
                    FlashChip rig(geometry, format, options);
                    ASSERT_EQ(rig.driver.format(format, options), Status::ok);
                    EXPECT_GT(rig.driver.usage().capacity, 0U)
                        << geometry.blocks << " blocks of " << geometry.block_size << ", " << more
                        << " more than the fewest; unit " << geometry.program_unit << ", reserve " << reserve
                        << ", changes " << changes;
                }
            }
        }
    }
}

}  // namespace
