#include "extensible_array_blocks.hpp"

namespace h5mote {
namespace {

bool power_of_two(unsigned value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

bool ExtensibleArrayFormat::decode(ConstBytes header) noexcept {
    Reader reader(header);
    const bool signature =
        reader.u32() == kHeader && reader.u8() == 0 && reader.u8() == element.client() && reader.u8() == element.size();
    parameters.max_bits = reader.u8();
    parameters.index_block_elements = reader.u8();
    parameters.data_block_min_elements = reader.u8();
    parameters.super_block_min_pointers = reader.u8();
    parameters.page_bits = reader.u8();
    return signature && sound();
}

void ExtensibleArrayFormat::encode(Writer& writer) const noexcept {
    writer.u32(kHeader);
    writer.u8(0);
    writer.u8(element.client());
    writer.u8(element.size());
    writer.u8(parameters.max_bits);
    writer.u8(parameters.index_block_elements);
    writer.u8(parameters.data_block_min_elements);
    writer.u8(parameters.super_block_min_pointers);
    writer.u8(parameters.page_bits);
}

void ExtensibleArrayFormat::encode_block(Writer& writer, const Block& block, Address header) const noexcept {
    writer.u32(block.signature);
    writer.u8(0);
    writer.u8(element.client());
    element.shape.write_addr(writer, header);
    if (block.signature != kIndexBlock) {
        writer.uint(offset_width(), block.first);
    }
}

bool ExtensibleArrayFormat::sound() const noexcept {
    const ExtensibleArrayParameters& p = parameters;
    return p.max_bits > 0 && p.max_bits <= 32 && power_of_two(p.data_block_min_elements) &&
           power_of_two(p.super_block_min_pointers) && p.super_block_min_pointers > 1 && p.page_bits <= 20 &&
           floor_log2(p.data_block_min_elements) + direct_super_blocks() <= p.max_bits &&
           // Data blocks that the index block points to have no pages.
           (std::uint32_t{p.data_block_min_elements} << length_shift(direct_super_blocks() - 1)) <= page_elements();
}

ExtensibleArrayFormat::Block ExtensibleArrayFormat::index_block() const noexcept {
    const unsigned beside = super_blocks() - direct_super_blocks();
    const std::uint32_t elements = parameters.index_block_elements;
    const std::size_t size = prefix_size() + std::size_t{elements} * element.size() +
                             (direct_data_blocks() + beside) * addr_size() + kChecksumSize;
    return {kIndexBlock, 0, size, size, 0, prefix_size(), elements, elements};
}

ExtensibleArrayFormat::Block ExtensibleArrayFormat::super_block(const Position& at) const noexcept {
    const std::size_t count = data_blocks(at.super_block);
    // The bits of the pages take a whole number of bytes for each data block, although they are numbered without gaps.
    const std::size_t contents = block_prefix_size() + count * ((pages(at) + 7) / 8);
    const std::size_t size = contents + count * addr_size() + kChecksumSize;
    return {kSuperBlock, start_of(at.super_block), size, size, kSuperBlockStats, contents, 0, 0};
}

ExtensibleArrayFormat::Block ExtensibleArrayFormat::data_block(const Position& at) const noexcept {
    const Address first = start_of(at.super_block) + Address{at.data_block} * at.elements;
    const std::uint32_t page_count = pages(at);
    const std::uint32_t direct = page_count == 0 ? at.elements : 0;
    const std::size_t size = block_prefix_size() + std::size_t{direct} * element.size() + kChecksumSize;
    return {kDataBlock,          first,  size,       size + page_count * page_size(), kDataBlockStats,
            block_prefix_size(), direct, at.elements};
}

ExtensibleArrayFormat::Position ExtensibleArrayFormat::position(Address index) const noexcept {
    const unsigned min_shift = floor_log2(parameters.data_block_min_elements);
    Position at{};
    at.super_block = floor_log2((index >> min_shift) + 1);
    const Address rest = index - start_of(at.super_block);
    const unsigned shift = min_shift + length_shift(at.super_block);
    at.elements = 1U << shift;
    at.data_block = static_cast<std::uint32_t>(rest >> shift);
    at.element = static_cast<std::uint32_t>(rest) & (at.elements - 1);
    return at;
}

std::size_t ExtensibleArrayFormat::pointer_offset(const Position& at) const noexcept {
    const std::uint32_t number = at.super_block < direct_super_blocks()
                                     ? data_blocks_before(at.super_block) + at.data_block
                                     : direct_data_blocks() + at.super_block - direct_super_blocks();
    return prefix_size() + std::size_t{parameters.index_block_elements} * element.size() +
           std::size_t{number} * addr_size();
}

}  // namespace h5mote
