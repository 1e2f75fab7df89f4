#include "external_changes.hpp"

#include "checked.hpp"
#include "disposing_visitor.hpp"
#include "owned_bytes.hpp"
#include "text.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

constexpr Address kUnit = 8;  // names begin at multiples of it

constexpr std::uint64_t rounded(std::uint64_t size) noexcept { return (size + kUnit - 1) & ~(kUnit - 1); }

// Bytes of the data segment: the empty name that every such heap begins with, and the names.
std::uint64_t segment_size(Span<const NewExternalFile> files) noexcept {
    std::uint64_t size = kUnit;
    for (const NewExternalFile& file : files) {
        size += rounded(std::uint64_t{file.name.size()} + 1);
    }
    return size;
}

std::uint64_t heap_size(FileShape shape, Span<const NewExternalFile> files) noexcept {
    return LocalHeapHeader::stored_size(shape) + segment_size(files);
}

bool check(Span<const NewExternalFile> files, std::uint64_t& bytes) noexcept {
    bytes = 0;
    bool sound = files.size() <= 0xffff;
    for (const NewExternalFile& file : files) {
        const bool last = &file == files.end() - 1;
        std::uint64_t sum = 0;
        sound = sound && !file.name.empty() && file.name.find('\0') == std::string_view::npos && file.size != 0 &&
                (file.size != kUnlimited || last);
        bytes = file.size != kUnlimited && checked_add(bytes, file.size, sum) ? sum : kUnlimited;
        sound = sound && (bytes != kUnlimited || file.size == kUnlimited) && file.offset <= (kUnlimited >> 1);
    }
    return sound;
}

Status create(FileState& file, Span<const NewExternalFile> files, Address& heap) noexcept {
    std::size_t size = 0;
    if (!to_size(heap_size(file.shape(), files), size)) {
        return Status::out_of_memory;
    }
    OwnedBytes bytes(file.context);
    H5MOTE_TRY(bytes.reserve(size));
    Address at = kUndefinedAddress;
    H5MOTE_TRY(file.space.allocate(Usage::local_heap, size, at));
    const Bytes image = bytes.first(size);
    std::memset(image.data(), 0, size);
    LocalHeapHeader fields;
    fields.data_size = narrow(segment_size(files));
    fields.data = at + LocalHeapHeader::stored_size(file.shape());
    Writer writer(image);
    fields.encode(file.shape(), writer);
    std::byte* to = image.data() + LocalHeapHeader::stored_size(file.shape()) + kUnit;
    for (const NewExternalFile& each : files) {
        std::memcpy(to, each.name.data(), each.name.size());
        to += rounded(each.name.size() + 1);
    }
    file.unsynced = true;
    const Status status =
        told(file.context, file.driver, H5MOTE_HERE, file.driver.write(Usage::local_heap, at, image), at);
    if (status != Status::ok) {
        file.space.release(at, size, true);
        return status;
    }
    heap = at;
    return Status::ok;
}

void discard(FileState& file, Span<const NewExternalFile> files, Address heap) noexcept {
    file.give_up(heap, narrow(heap_size(file.shape(), files)), true);
}

void encode(Writer& writer, FileShape shape, Span<const NewExternalFile> files, Address heap) noexcept {
    const auto count = static_cast<std::uint16_t>(files.size());
    writer.u8(1);
    writer.fill(std::byte{0}, 3);
    writer.u16(count);
    writer.u16(count);
    shape.write_addr(writer, heap);
    std::uint64_t name = kUnit;
    for (const NewExternalFile& file : files) {
        writer.uint(shape.sizeof_size, name);
        writer.uint(shape.sizeof_size, file.offset);
        writer.uint(shape.sizeof_size, file.size);
        name += rounded(file.name.size() + 1);
    }
}

Status dispose(FileState& file, Address header, Disposal& disposal) noexcept {
    DisposingVisitor visitor(disposal);
    Address at = kUndefinedAddress;
    H5MOTE_TRY(ExternalStorage(file, header).heap(at));
    LocalHeap heap;
    H5MOTE_TRY(heap.open(file, at));
    return heap.walk(visitor);
}

}  // namespace

const ExternalChangesFormat formats::external_changes = {
    &check,
    &create,
    &discard,
    &encode,
    [](ExternalStorage& storage, std::uint64_t offset, ConstBytes from) { return storage.write(offset, from); },
    [](ExternalStorage& storage) { return storage.sync(); },
    &dispose};

}  // namespace h5mote

#endif
