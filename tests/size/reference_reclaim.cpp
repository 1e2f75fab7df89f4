// Shows what finding lost space costs a logger that deletes its oldest log. A session is killed, the next one opens the
// file. It is built in these ways; the figure is the difference of both images:
//   (nothing)                the next session reclaims what was lost: formats::reclaim, File::reclaim()
//   H5MOTE_REFERENCE_UNLINK  it goes on without
//
// reference_reclaim: prints the stack of reclaiming, and how many bytes were found.
#include "measure.hpp"
#include "reference.hpp"

#include <h5mote/port/stack.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cstring>

namespace {

alignas(8) std::byte memory[12 * 1024];
std::byte storage[20 * 1024];
std::byte killed[20 * 1024];  // what the storage held when the session was killed

constexpr h5mote::Formats kFormats = [] {
    h5mote::Formats list = h5mote::formats::standard;
#ifndef H5MOTE_REFERENCE_UNLINK
    list.reclaim = &h5mote::formats::reclaim;
#endif
    return list;
}();

h5mote::Arena arena{memory};
h5mote::NullPort port;
h5mote::Library library{arena, port, {}, kFormats};
h5mote::MemoryDriver driver{storage};

using h5mote::Status;

constexpr h5mote::DatasetCreate kImu = [] {
    h5mote::DatasetCreate create;
    create.chunk = {reference::kChunkRows};
    return create;
}();

Status log_rows(h5mote::Group& root, const char* name, std::uint32_t count) {
    auto imu = root.create_dataset<reference::Sample>(name, kImu);
    H5MOTE_TRY(imu.status());
    for (std::uint32_t i = 0; i < count; ++i) {
        reference::Sample sample;
        reference::make_row(i, sample);
        H5MOTE_TRY(imu->append(sample));
    }
    return imu->close();
}

Status run_first(h5mote::Span<std::byte> kept) {
    h5mote::FileAccess access;
    access.chunk_cache = reference::kChunkBytes;
    auto file = h5mote::File::open_or_create(library, driver, access, reference::file_create(4));
    H5MOTE_TRY(file.status());
    {
        h5mote::Group root = file->root();
        H5MOTE_TRY(log_rows(root, "old", 200));
        H5MOTE_TRY(log_rows(root, "new", 200));
        H5MOTE_TRY(file->flush());
        H5MOTE_TRY(root.unlink("old"));
    }
    H5MOTE_TRY(file->flush());
    std::memcpy(kept.data(), storage, kept.size());
    return file->close();
}

Status run_second([[maybe_unused]] std::uint64_t& bytes) {
    std::memcpy(storage, killed, sizeof killed);
    h5mote::FileAccess access;
    access.chunk_cache = reference::kChunkBytes;
    auto file = h5mote::File::open_or_create(library, driver, access, reference::file_create(4));
    H5MOTE_TRY(file.status());
#ifndef H5MOTE_REFERENCE_UNLINK
    H5MOTE_TRY(file->reclaim(&bytes));
#endif
    {
        h5mote::Group root = file->root();
        H5MOTE_TRY(log_rows(root, "next", 100));
        H5MOTE_TRY(root.unlink("new"));
    }
    return file->close();
}

}  // namespace

int main() {
    std::uint64_t bytes = 0;
    Status status = run_first(killed);
    h5mote::paint_stack();
    const void* const here = h5mote::stack_pointer();
    if (status == Status::ok) {
        status = run_second(bytes);
    }
    measure::print("stack", static_cast<std::uint32_t>(h5mote::painted_stack_used(here)));
    measure::print("bytes", static_cast<std::uint32_t>(bytes));
    measure::print("status", static_cast<std::uint32_t>(status));
    measure::print("left", static_cast<std::uint32_t>(arena.usage().now));
    return status == Status::ok ? 0 : 1;
}
