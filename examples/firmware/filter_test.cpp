// Runs what filters/README.md shows twice, reads the rows back, and looks how small they are in the file.
#include <h5mote/filters/deflate.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstdio>

h5mote::Status log_with_filter(h5mote::Driver& storage);

namespace {

std::byte contents[16 * 1024];
alignas(8) std::byte memory[16 * 1024];

}  // namespace

int main() {
    h5mote::MemoryDriver storage{contents};
    for (const std::uint64_t rows : {1000U, 2000U}) {
        const h5mote::Status logged = log_with_filter(storage);
        // Who has not got the filter is told so.
        h5mote::Arena arena{memory};
        h5mote::NullPort port;
        static constexpr const h5mote::Filter* kOthers[] = {&h5mote::deflate_filter};
        h5mote::Library library{arena, port, kOthers};
        auto file = h5mote::File::open(library, storage);
        auto log = file->root().open_dataset<std::uint8_t>("level");
        std::uint8_t last = 0;
        const h5mote::Status read =
            log->read(h5mote::Selection::hyperslab({rows - 1}, {1}), h5mote::Span<std::uint8_t>(&last, 1));
        std::uint64_t size = 0;
        const h5mote::Status known = log->storage_size(size);
        if (logged != h5mote::Status::ok || log->size() != rows || read != h5mote::Status::unsupported ||
            known != h5mote::Status::ok || size > rows / 4) {
            std::printf("%s, %u rows, %s, %u bytes\n", h5mote::to_string(logged), static_cast<unsigned>(log->size()),
                        h5mote::to_string(read), static_cast<unsigned>(size));
            return 1;
        }
    }
    return 0;
}
