// The elements of a sidecar's format (expect.py): names, shapes, canonical text of datatypes, checksums. For hosts
// only.
#pragma once

#include <h5mote/dataspace.hpp>
#include <h5mote/datatype.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace h5mote_interop {

using Blob = std::vector<std::byte>;
using Shape = std::vector<std::uint64_t>;

/// Converts a name to its form in a sidecar, and back.
std::string quote(std::string_view name);
std::string unquote(std::string_view text);

std::string hex(h5mote::ConstBytes bytes);
Blob unhex(std::string_view text);

/// Shapes and maximum shapes as text: "3x4", "infx4", "scalar", "null".
std::string shape_text(const h5mote::Dataspace& space);
std::string max_text(const h5mote::Dataspace& space);
std::string dims_text(const Shape& dims);
/// Parses "3x4" to sizes; none for "scalar" and "null". "inf" gives kUnlimited.
Shape parse_dims(std::string_view text);
h5mote::Dataspace parse_space(std::string_view shape, std::string_view maxima);
std::uint64_t product(const Shape& dims);

/// The canonical text of a datatype, with "?" for what sidecars cannot express.
std::string type_text(h5mote::DatatypeView type);

/// Sets the padding between the members of compounds to zero, in all elements.
void clear_gaps(h5mote::DatatypeView type, Blob& data);

/// Makes random elements of plausible content: strings that end as their padding says, enumerators that exist, finite
/// numbers. The same seed gives the same elements on every machine.
class Random {
public:
    explicit Random(std::string_view seed) noexcept;
    std::uint64_t bits() noexcept;
    std::uint64_t below(std::uint64_t limit) noexcept { return bits() % limit; }
    Blob elements(h5mote::DatatypeView type, std::uint64_t count);

private:
    void element(h5mote::DatatypeView type, std::byte* to);
    void text(h5mote::DatatypeView type, std::byte* to);
    void number(h5mote::DatatypeView type, std::byte* to);

    std::uint64_t state_ = 0x9e3779b97f4a7c15U;
};

/// zlib's CRC-32 and SHA-256 (FIPS 180-4), the latter in hexadecimal.
std::uint32_t crc32(h5mote::ConstBytes bytes) noexcept;
std::string sha256(h5mote::ConstBytes bytes);

}  // namespace h5mote_interop
