// The same with zlib at work, for hosts: faster, larger, and with memory from malloc. Machines without zlib.h leave it
// out.
#include "deflate_backend.hpp"

#if H5MOTE_DEFLATE_ZLIB

#include <zlib.h>

namespace h5mote::deflate {
namespace {

// zlib counts in unsigned int: larger chunks go through in pieces.
uInt piece(std::size_t left) noexcept {
    constexpr std::size_t kPiece = std::size_t{1} << 30;
    return static_cast<uInt>(left < kPiece ? left : kPiece);
}

// Runs deflate() or inflate() until the stream ends or nothing is left to read or to write. `last` is zlib's verdict.
std::size_t run(z_stream& stream, int (*step)(z_stream*, int), bool encode, ConstBytes in, Bytes out,
                int& last) noexcept {
    // zlib does not write through next_in, but older versions declare it so.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    std::size_t in_left = in.size();
    std::size_t out_left = out.size();
    do {
        const uInt in_piece = piece(in_left);
        const uInt out_piece = piece(out_left);
        stream.avail_in = in_piece;
        stream.avail_out = out_piece;
        last = step(&stream, encode && in_piece == in_left ? Z_FINISH : Z_NO_FLUSH);
        in_left -= in_piece - stream.avail_in;
        out_left -= out_piece - stream.avail_out;
    } while (last == Z_OK);
    return out.size() - out_left;
}

Status failure(int code, Status other) noexcept { return code == Z_MEM_ERROR ? Status::out_of_memory : other; }

}  // namespace

std::size_t ZlibBackend::scratch_need(bool /*encode*/) noexcept { return 0; }

Status ZlibBackend::encode(std::uint32_t level, ConstBytes in, Bytes out, std::size_t& size,
                           Bytes /*scratch*/) noexcept {
    z_stream stream{};
    const int begun = deflateInit(&stream, static_cast<int>(level));
    if (begun != Z_OK) {
        return failure(begun, Status::invalid_argument);
    }
    int last = Z_OK;
    size = run(stream, ::deflate, true, in, out, last);
    (void)deflateEnd(&stream);
    return last == Z_STREAM_END ? Status::ok : failure(last, Status::no_space);
}

Status ZlibBackend::decode(ConstBytes in, Bytes out, std::size_t& size, Bytes /*scratch*/) noexcept {
    z_stream stream{};
    const int begun = inflateInit(&stream);
    if (begun != Z_OK) {
        return failure(begun, Status::corrupt_file);
    }
    int last = Z_OK;
    size = run(stream, ::inflate, false, in, out, last);
    (void)inflateEnd(&stream);
    return last == Z_STREAM_END ? Status::ok : failure(last, Status::corrupt_file);
}

}  // namespace h5mote::deflate

#endif
