// Fuzzes the lzf filter.
#include "fuzz_filter.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    h5mote_fuzz::decode(data, size, &h5mote::lzf_filter);
    return 0;
}
