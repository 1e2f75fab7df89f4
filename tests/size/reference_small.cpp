// Shows what the smallest useful reader costs: it opens a file, reads one dataset of 32-bit floating-point numbers and
// one attribute, and names the parts of the format that such files have. Profile `reader`. It is built in these ways;
// the figures are differences of images:
//   (nothing)                       with symbol tables, both arrays and version 1 B-trees of chunks
//   H5MOTE_REFERENCE_BARE           without any part
//   H5MOTE_REFERENCE_BARE and PART  with that part alone
//   H5MOTE_REFERENCE_PART=PART      with those parts and that one
//   H5MOTE_REFERENCE_EMPTY          without the library
//
//   reference_small FILE   prints the sum of /values and the attribute `scale`, both as integers, and the deepest stack
#include "measure.hpp"

#include <h5mote/port/stack.hpp>

#ifndef H5MOTE_REFERENCE_EMPTY
#include <h5mote/arena.hpp>
#include <h5mote/file.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/formats.hpp>
#include <h5mote/group.hpp>
#include <h5mote/library.hpp>
#include <h5mote/vfd/memory.hpp>
#endif

namespace {

constexpr std::size_t kValues = 256;

alignas(8) std::byte memory[32 * 1024];
std::byte storage[32 * 1024];
float values[kValues];

#ifdef H5MOTE_REFERENCE_EMPTY

bool run(const char* path) { return measure::load(path, storage) != 0 && memory[0] == storage[0] && values[0] == 0; }

#else

using h5mote::Status;

const h5mote::Filter* const filters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter};

constexpr h5mote::Formats kFormats = [] {
    h5mote::Formats formats;
#if !defined(H5MOTE_REFERENCE_BARE)
    formats.symbol_tables = &h5mote::formats::symbol_tables;
    formats.extensible_array = &h5mote::formats::extensible_array;
    formats.fixed_array = &h5mote::formats::fixed_array;
    formats.chunk_btree1 = &h5mote::formats::chunk_btree1;
#endif
#if defined(H5MOTE_REFERENCE_PART)
    formats.H5MOTE_REFERENCE_PART = &h5mote::formats::H5MOTE_REFERENCE_PART;
#endif
    return formats;
}();

h5mote::Arena arena{memory};
h5mote::NullPort port;
h5mote::Library library{arena, port, filters, kFormats};

Status read(h5mote::Driver& driver, std::uint32_t& scale) {
    h5mote::FileAccess access;
    access.read_only = true;
    auto file = h5mote::File::open(library, driver, access);
    H5MOTE_TRY(file.status());
    auto data = file->root().open_dataset("values");
    H5MOTE_TRY(data.status());
    H5MOTE_TRY(data->read(h5mote::Selection::all(), h5mote::datatype_of<float>(),
                          {reinterpret_cast<std::byte*>(values), sizeof values}));
    return data->read_attribute("scale", h5mote::datatype_of<std::uint32_t>(),
                                {reinterpret_cast<std::byte*>(&scale), sizeof scale});
}

bool run(const char* path) {
    h5mote::MemoryDriver driver{storage, measure::load(path, storage), h5mote::MemoryAccess::read_only};
    std::uint32_t scale = 0;
    if (read(driver, scale) != Status::ok) {
        return false;
    }
    std::uint32_t sum = 0;
    for (const float value : values) {
        sum += static_cast<std::uint32_t>(value);
    }
    measure::print("sum", sum);
    measure::print("scale", scale);
    return true;
}

#endif

}  // namespace

int main(int argc, char** argv) {
    h5mote::paint_stack();
    const void* const here = h5mote::stack_pointer();
    const bool good = argc > 1 && run(argv[1]);
    measure::print("stack", static_cast<std::uint32_t>(h5mote::painted_stack_used(here)));
    return good ? 0 : 1;
}
