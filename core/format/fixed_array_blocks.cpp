#include "fixed_array_blocks.hpp"

namespace h5mote {

bool FixedArrayFormat::decode(ConstBytes header) noexcept {
    Reader reader(header);
    const bool signature =
        reader.u32() == kHeader && reader.u8() == 0 && reader.u8() == element.client() && reader.u8() == element.size();
    page_bits = reader.u8();
    elements = element.shape.read_size(reader);
    return signature && page_bits_sound();
}

void FixedArrayFormat::encode(Writer& writer) const noexcept {
    writer.u32(kHeader);
    writer.u8(0);
    writer.u8(element.client());
    writer.u8(element.size());
    writer.u8(page_bits);
    element.shape.write_size(writer, elements);
    element.shape.write_addr(writer, kUndefinedAddress);
}

void FixedArrayFormat::encode_data_block(Writer& writer, Address header) const noexcept {
    writer.u32(kDataBlock);
    writer.u8(0);
    writer.u8(element.client());
    element.shape.write_addr(writer, header);
}

Address FixedArrayFormat::data_block_size() const noexcept {
    const Address count = pages();
    return prefix_size() + (count == 0 ? elements * element.size() : (count + 7) / 8) + kChecksumSize;
}

Address FixedArrayFormat::data_block_space() const noexcept {
    const Address count = pages();
    return data_block_size() + (count == 0 ? 0 : elements * element.size() + count * kChecksumSize);
}

}  // namespace h5mote
