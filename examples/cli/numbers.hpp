// Numbers of any stored form as libhdf5 would have them in memory: what h5dump prints is the native type's value.
#pragma once

#include "output.hpp"

#include <h5mote/datatype.hpp>
#include <h5mote/span.hpp>

#include <cstdint>

namespace h5mote::cli {

/// An integer or bit field of up to 64 significant bits. More than that: the nearest number.
struct StoredInteger {
    std::uint64_t bits = 0;  ///< in two's complement
    bool is_signed = false;
};

/// `stored`: type.size() bytes as they stand in the file. Also for bit fields and the values of enumerations.
StoredInteger read_integer(DatatypeView type, ConstBytes stored);
/// The value as a number of the machine. What the machine's widest type cannot hold becomes infinite or zero.
long double read_float(DatatypeView type, ConstBytes stored);

void put_integer(TextSink& sink, const StoredInteger& number);
/// `format`: of printf(), for numbers of up to 8 bytes; nullptr: "%g".
void put_float(TextSink& sink, DatatypeView type, ConstBytes stored, const char* format);
/// "0x2a", or "2a:00:ff" for more than one byte.
void put_hex(TextSink& sink, ConstBytes bytes);

/// Size in bytes of the native integer (H5Tget_native_type) for a precision in bits: 1, 2, 4 or 8.
unsigned native_integer_size(unsigned precision);

/// What libhdf5 has in memory for a value of this type on a machine of 64 bits: size and alignment in bytes. Size 0:
/// it has none (H5Tget_native_type fails).
struct NativeSize {
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
};
NativeSize native_size(DatatypeView type);

}  // namespace h5mote::cli
