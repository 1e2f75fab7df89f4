// h5mote flash-stat: prints how the blocks of a flash chip are used and worn.
#include "commands.hpp"
#include "flash_image.hpp"
#include "output.hpp"

#include <algorithm>

namespace h5mote::cli {

namespace {

struct FlashStatArguments {
    FlashImageOptions image;
    bool blocks = false;
};

// Sums over all blocks.
struct Totals {
    std::uint32_t known = 0;  // blocks whose number of erases is known
    std::uint32_t fewest = ~std::uint32_t{0};
    std::uint32_t most = 0;
    std::uint64_t erases = 0;
    std::uint64_t live_pages = 0;
    std::uint64_t dead_pages = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t dead_bytes = 0;
    std::uint32_t unreadable = 0;

    void add(const FlashBlockInfo& info) {
        if (info.known) {
            ++known;
            fewest = std::min(fewest, info.erases);
            most = std::max(most, info.erases);
            erases += info.erases;
        }
        live_pages += info.live_pages;
        dead_pages += info.dead_pages;
        live_bytes += info.live_bytes;
        dead_bytes += info.dead_bytes;
    }
};

unsigned long long number(std::uint64_t value) { return value; }

void print_block(Output& out, std::uint32_t block, const FlashBlockInfo& info) {
    constexpr const char* kStates[] = {"free", "used", "bad"};
    out.print("%8u  %-4s", static_cast<unsigned>(block), kStates[static_cast<unsigned>(info.state)]);
    if (info.known) {
        out.print("  %10u  %8u", static_cast<unsigned>(info.sequence), static_cast<unsigned>(info.erases));
    } else {
        out.print("  %10s  %8s", "-", "-");
    }
    out.print("  %6u  %6u  %10u  %10u\n", static_cast<unsigned>(info.live_pages),
              static_cast<unsigned>(info.dead_pages), static_cast<unsigned>(info.live_bytes),
              static_cast<unsigned>(info.dead_bytes));
}

void print_summary(Output& out, FlashImage& image, const Totals& totals) {
    const FlashUsage usage = image.driver().usage();
    const FlashGeometry& geometry = image.geometry();
    out.print("Device: %u blocks of %u bytes, program unit %u, erased value 0x%02x\n",
              static_cast<unsigned>(geometry.blocks), static_cast<unsigned>(geometry.block_size),
              static_cast<unsigned>(geometry.program_unit), static_cast<unsigned>(geometry.erased_value));
    out.print("Format: pages of %u bytes, reserve %u %%\n", static_cast<unsigned>(image.format().page_size),
              static_cast<unsigned>(image.format().reserve));
    out.print("File: %llu bytes, %llu in live pages, of %llu that fit\n", number(usage.file_size), number(usage.live),
              number(usage.capacity));
    out.print("Blocks: %u used, %u free, %u bad\n", static_cast<unsigned>(usage.blocks_used),
              static_cast<unsigned>(usage.blocks_free), static_cast<unsigned>(usage.blocks_bad));
    out.print("Pages: %llu live, %llu dead\n", number(totals.live_pages), number(totals.dead_pages));
    out.print("Bytes in used blocks: %llu live, %llu dead\n", number(totals.live_bytes), number(totals.dead_bytes));
    if (totals.known > 0) {
        out.print("Erases of a block: %u to %u, spread %u, mean %.2f, of %u blocks that tell\n",
                  static_cast<unsigned>(totals.fewest), static_cast<unsigned>(totals.most),
                  static_cast<unsigned>(totals.most - totals.fewest), static_cast<double>(totals.erases) / totals.known,
                  static_cast<unsigned>(totals.known));
    }
    if (usage.total_written > 0) {
        out.print("Written since the format: %llu bytes, programmed %llu: write amplification %.2f\n",
                  number(usage.total_written), number(usage.total_programmed),
                  static_cast<double>(usage.total_programmed) / static_cast<double>(usage.total_written));
    }
    out.print("Mount: %u reads, %llu bytes\n", static_cast<unsigned>(usage.mount_reads), number(usage.mount_bytes));
}

int run_flash_stat(const FlashStatArguments& arguments) {
    Report report("h5mote flash-stat");
    FlashImage image;
    if (!image.open(arguments.image, report)) {
        return report.exit_code();
    }
    Output out;
    out.print("Dump: %.400s\n", arguments.image.name.c_str());
    if (image.missing_blocks() > 0) {
        out.print("The dump lacks %u blocks\n", static_cast<unsigned>(image.missing_blocks()));
    }
    if (arguments.blocks) {
        out.put("   block  state    sequence    erases    live    dead  live bytes  dead bytes\n");
    }
    Totals totals;
    for (std::uint32_t block = 0; block < image.geometry().blocks; ++block) {
        FlashBlockInfo info;
        const Status status = image.driver().block_info(block, info);
        if (status != Status::ok) {
            report.error("%s: block %u: %s", arguments.image.name.c_str(), static_cast<unsigned>(block),
                         to_string(status));
            continue;
        }
        totals.add(info);
        if (arguments.blocks) {
            print_block(out, block, info);
        }
    }
    print_summary(out, image, totals);
    return report.exit_code();
}

}  // namespace

Command add_flash_stat(CLI::App& tool) {
    const auto arguments = std::make_shared<FlashStatArguments>();
    CLI::App* const command =
        tool.add_subcommand("flash-stat", "Prints what a flash chip holds and how it is worn, from a raw dump");
    command->footer("Exit code: 0, or 1 if the dump or a block of it cannot be read.");
    add_flash_image_options(*command, arguments->image);
    command->add_flag("-b,--blocks", arguments->blocks, "A line for each block as well");
    return {command, [arguments] { return run_flash_stat(*arguments); }};
}

}  // namespace h5mote::cli
