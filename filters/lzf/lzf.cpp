// Layout: codes until the end of the bytes. The highest three bits of a code's first byte are a length l:
//   l = 0   the lower five bits + 1 are a number of bytes that follow and are copied
//   l < 7   l + 2 bytes are repeated from a distance of the lower five bits * 256 + the next byte + 1
//   l = 7   likewise 9 + the next byte bytes; the distance has the byte after that
#include <h5mote/filters/lzf.hpp>

#include "cursor.hpp"

namespace h5mote {

FilterId LzfDecoder::id() const noexcept { return FilterId::lzf; }

const char* LzfDecoder::name() const noexcept { return "lzf"; }

Status LzfDecoder::decode(const FilterSpec& /*spec*/, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes /*scratch*/) const noexcept {
    Reader reader(in);
    std::size_t at = 0;
    while (reader.remaining() > 0) {
        const unsigned code = reader.u8();
        std::size_t length = code >> 5;
        if (length == 0) {
            length = code + 1;
            const ConstBytes literal = reader.bytes(length);
            if (literal.empty() || length > out.size() - at) {
                return Status::corrupt_file;
            }
            std::memcpy(out.data() + at, literal.data(), length);
            at += length;
            continue;
        }
        length += length == 7 ? reader.u8() + 2U : 2U;
        const std::size_t distance = (code & 31U) * 256 + reader.u8() + 1;
        if (!reader.ok() || distance > at || length > out.size() - at) {
            return Status::corrupt_file;
        }
        // Byte by byte: the two may overlap.
        for (const std::byte* from = out.data() + at - distance; length > 0; --length) {
            out[at++] = *from++;
        }
    }
    size = at;
    return Status::ok;
}

}  // namespace h5mote
