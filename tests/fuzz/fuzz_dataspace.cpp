// Fuzzes dataspace messages and encoded selections: walks the blocks and runs of a selection in a small extent,
// combines two selections, encodes and decodes the results again. An input has (offset, size, meaning):
//
//   0  1  rank of the extent, 1 to 4 (bits 0-1); operation that combines the two selections (the other bits)
//   1  4  sizes of the extent, 1 to 16 each
//   5     two encoded selections; decoded as a dataspace message, too
#include "dataspace_message.hpp"
#include "selection_codec.hpp"
#include "selection_runs.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/selection_set.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace h5mote;

alignas(16) std::byte memory[256 * 1024];

void message(Context& context, ConstBytes body) noexcept {
    for (const unsigned width : {2U, 4U, 8U}) {
        FileShape shape;
        shape.sizeof_size = static_cast<std::uint8_t>(width);
        DataspaceMessage decoded;
        if (decoded.decode(context, shape, body) == Status::ok) {
            std::uint64_t sum = 0;
            for (unsigned i = 0; i < decoded.rank; ++i) {
                sum += decoded.dim(i) + decoded.max_dim(i);
            }
            volatile std::uint64_t used = sum;
            (void)used;
        }
    }
}

// Checks that the runs lie in the extent, are not empty and hold as many elements as the selection says.
void runs(const Selection& selection, const Dataspace& space) noexcept {
    std::uint64_t elements = 0;
    std::uint64_t extent = 0;
    if (selection.element_count(space, elements) != Status::ok || space.element_count(extent) != Status::ok) {
        return;
    }
    SelectionRuns walk;
    if (walk.reset(selection, space) != Status::ok) {
        std::abort();
    }
    SelectionRun run;
    std::uint64_t seen = 0;
    while (walk.next(run)) {
        if (run.length == 0 || run.offset >= extent || run.length > extent - run.offset || run.packed != seen) {
            std::abort();
        }
        seen += run.length;
    }
    if (seen != elements) {
        std::abort();
    }
    if (elements != 0) {
        const std::uint64_t half = elements / 2;
        walk.seek(half);
        if (!walk.next(run) || run.packed != half) {
            std::abort();
        }
    }
    std::uint64_t low[H5MOTE_MAX_RANK];
    std::uint64_t high[H5MOTE_MAX_RANK];
    if ((selection.bounds(space, low, high) == Status::ok) != (elements != 0)) {
        std::abort();
    }
    SelectionBlocks blocks;
    std::uint64_t count = 0;
    if (blocks.reset(selection, space, true) == Status::ok && blocks.count(count) == Status::ok) {
        std::uint64_t told = 0;
        while (blocks.next(low, high)) {
            if (++told > count) {
                std::abort();
            }
        }
        if (told != count) {
            std::abort();
        }
    }
}

// Checks that an encoded selection is decoded to one with the same number of elements.
void encoded(Context& context, const SelectionSet& selection, const Dataspace& space) noexcept {
    std::byte buffer[4096];
    Writer writer({buffer, sizeof buffer});
    if (encode_selection(writer, selection, space) != Status::ok || !writer.ok()) {
        return;
    }
    SelectionSet again(context);
    std::size_t consumed = 0;
    const Status status = decode_selection(context, {buffer, writer.written()}, 0, again, consumed);
    if (status == Status::out_of_memory) {
        return;
    }
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (status != Status::ok || consumed != writer.written() ||
        (static_cast<const Selection&>(selection.view()).element_count(space, first) == Status::ok &&
         (again.view().element_count(space, second) != Status::ok || first != second))) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 6) {
        return 0;
    }
    Arena arena{memory};
    NullPort port;
    {
        Library library{arena, port};
        const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 5,
                                          reinterpret_cast<const std::byte*>(data) + size);
        const ConstBytes bytes{copy.data(), copy.size()};
        message(library, bytes);
        const unsigned rank = 1 + data[0] % 4;
        const unsigned what = data[0] >> 2;
        std::uint64_t dims[4];
        for (unsigned i = 0; i < 4; ++i) {
            dims[i] = 1 + data[1 + i] % 16;
        }
        const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(dims, rank));
        SelectionSet a(library);
        SelectionSet b(library);
        std::size_t consumed = 0;
        if (decode_selection(library, bytes, 0, a, consumed) == Status::ok) {
            if (consumed > bytes.size()) {
                std::abort();
            }
            if (a.unlimited_dimension() >= 0) {
                (void)a.clip_unlimited(dims[static_cast<unsigned>(a.unlimited_dimension()) % 4]);
            }
            runs(a, space);
            encoded(library, a, space);
            if (decode_selection(library, bytes.subspan(consumed), 0, b, consumed) == Status::ok) {
                (void)b.clip_unlimited(dims[0]);
                bool same = false;
                (void)select_shape_same(library, a, space, b, space, same);
                const std::uint64_t low[H5MOTE_MAX_RANK] = {};
                (void)select_intersect_block(b, space, low, dims, same);
                // Combine selections of few dimensions only: a combination may need as many spans as there are
                // elements.
                if (a.rank() <= 4 && a.combine(static_cast<SelectionOp>(what % 6), b, space) == Status::ok) {
                    runs(a, space);
                    encoded(library, a, space);
                }
            }
        }
    }
    if (arena.usage().now != 0 || !arena.check()) {
        std::abort();
    }
    return 0;
}
