// Fuzzes the decoder of filter pipeline messages.
#include "pipeline_message.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>

#include <cstdlib>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace h5mote;
    alignas(16) static std::byte memory[1024];
    Arena arena{memory};
    NullPort port;
    Library library{arena, port};
    const ConstBytes body{reinterpret_cast<const std::byte*>(data), size};
    PipelineReader reader(body);
    unsigned count = 0;
    std::size_t borrowed = 0;
    Status status = reader.count(library, count);
    for (unsigned i = 0; status == Status::ok && i < count; ++i) {
        FilterSpec spec;
        status = reader.next(library, spec);
        if (status == Status::ok) {
            // Read every value and the whole name, so that the sanitizer checks them.
            std::uint32_t sum = 0;
            for (unsigned v = 0; v < spec.value_count; ++v) {
                sum += spec.value(v);
            }
            for (const std::byte each : reader.name()) {
                sum += static_cast<std::uint32_t>(each);
            }
            volatile std::uint32_t used = sum;
            (void)used;
            borrowed += spec.encoded != nullptr ? std::size_t{4} * spec.value_count : 0;
        }
    }
    if (borrowed_values(library, body) != (status == Status::ok ? borrowed : 0)) {
        std::abort();
    }
    return 0;
}
