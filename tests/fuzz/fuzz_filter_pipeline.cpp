// Fuzzes the filter pipeline: chunks that went through up to four filters, some of them skipped or missing.
#include "fuzz_filter.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    h5mote_fuzz::decode(data, size);
    return 0;
}
