// Layout: the chunk's bytes, then 4 bytes of checksum, little-endian.
#include <h5mote/filters/fletcher32.hpp>

#include "checksum.hpp"
#include "cursor.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::size_t kChecksum = 4;

void copy(ConstBytes from, Bytes to) noexcept {
    if (from.data() != to.data() && !from.empty()) {
        std::memcpy(to.data(), from.data(), from.size());
    }
}

}  // namespace

FilterId Fletcher32Filter::id() const noexcept { return FilterId::fletcher32; }

std::size_t Fletcher32Filter::encoded_limit(const FilterSpec& /*spec*/, std::size_t size) const noexcept {
    return size > SIZE_MAX - kChecksum ? SIZE_MAX : size + kChecksum;
}

Status Fletcher32Filter::encode(const FilterSpec& /*spec*/, ConstBytes in, Bytes out, std::size_t& size,
                                Bytes /*scratch*/) const noexcept {
    if (out.size() < kChecksum || in.size() > out.size() - kChecksum) {
        return Status::no_space;
    }
    copy(in, out);
    store_le(out.data() + in.size(), fletcher32(in));
    size = in.size() + kChecksum;
    return Status::ok;
}

Status Fletcher32Filter::decode(const FilterSpec& /*spec*/, ConstBytes in, Bytes out, std::size_t& size,
                                Bytes /*scratch*/) const noexcept {
    if (in.size() < kChecksum || in.size() - kChecksum > out.size()) {
        return Status::corrupt_file;
    }
    size = in.size() - kChecksum;
    const ConstBytes data = in.first(size);
    const std::uint32_t stored = load_le<std::uint32_t>(in.data() + size);
    const std::uint32_t sum = fletcher32(data);
    const std::uint32_t swapped = ((sum & 0x00ff00ffU) << 8) | ((sum >> 8) & 0x00ff00ffU);
    if (stored != sum && stored != swapped) {
        return Status::corrupt_file;
    }
    copy(data, out);
    return Status::ok;
}

}  // namespace h5mote
