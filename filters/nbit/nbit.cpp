// The decoder; nbit_walk.hpp has the layout.
#include <h5mote/filters/nbit.hpp>

#include "bit_reader.hpp"
#include "nbit_walk.hpp"

#include <cstring>

namespace h5mote {
namespace {

class Unpacker {
public:
    static constexpr bool kEncodes = false;

    Unpacker(ConstBytes in, std::byte* out) noexcept : bits_(in), out_(out) {}
    void move(std::size_t at, unsigned low, unsigned width) noexcept {
        out_[at] = static_cast<std::byte>(bits_.bits(width) << low);
    }
    bool ok() const noexcept { return bits_.ok(); }

private:
    BitReader bits_;
    std::byte* out_;
};

}  // namespace

FilterId NbitDecoder::id() const noexcept { return FilterId::nbit; }

Status NbitDecoder::decode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                           Bytes /*scratch*/) const noexcept {
    if (spec.value_count == 0 || spec.value(nbit::kCount) != spec.value_count) {
        return Status::corrupt_file;
    }
    if (spec.value(nbit::kUnpacked) != 0) {
        if (in.size() > out.size()) {
            return Status::corrupt_file;
        }
        size = in.size();
        if (size != 0) {
            std::memcpy(out.data(), in.data(), size);
        }
        return Status::ok;
    }
    const std::uint64_t total = std::uint64_t{spec.value(nbit::kElements)} * spec.value(nbit::kTypeSize);
    if (total > out.size()) {
        return Status::corrupt_file;
    }
    size = static_cast<std::size_t>(total);
    if (size != 0) {
        std::memset(out.data(), 0, size);
    }
    Unpacker unpacker(in, out.data());
    return nbit::Walk<Unpacker>(spec, unpacker).run(size) ? Status::ok : Status::corrupt_file;
}

}  // namespace h5mote
