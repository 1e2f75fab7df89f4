// Numbers of any datatype, converted to the value that libhdf5 would have in memory: h5dump converts to the native
// datatype (H5Tget_native_type) and prints the result.
#pragma once

#include "output.hpp"

#include <h5mote/datatype.hpp>
#include <h5mote/span.hpp>

#include <cstdint>

namespace h5mote::cli {

/// The value of an integer or bit field. A value that 64 bits cannot hold is replaced by the nearest one that they can.
struct StoredInteger {
    std::uint64_t bits = 0;  ///< in two's complement
    bool is_signed = false;
};

/// Reads an integer, a bit field or the value of an enumeration. `stored`: type.size() bytes in their stored form.
StoredInteger read_integer(DatatypeView type, ConstBytes stored);
/// The value as a long double. Values too large for a long double become infinite, too small ones zero.
long double read_float(DatatypeView type, ConstBytes stored);

void put_integer(TextSink& sink, const StoredInteger& number);
/// `format`: a printf() format for numbers of up to 8 bytes; nullptr: "%g".
void put_float(TextSink& sink, DatatypeView type, ConstBytes stored, const char* format);
/// "0x2a", or "2a:00:ff" for more than one byte.
void put_hex(TextSink& sink, ConstBytes bytes);

/// Size in bytes of the native integer (H5Tget_native_type) for a precision in bits: 1, 2, 4 or 8.
unsigned native_integer_size(unsigned precision);

/// Size and alignment, in bytes, of the native datatype that libhdf5 has for this type on a 64-bit machine. Size 0:
/// there is none (H5Tget_native_type fails).
struct NativeSize {
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
};
NativeSize native_size(DatatypeView type);

}  // namespace h5mote::cli
