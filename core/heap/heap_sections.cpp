#include "heap_sections.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// Classes of sections: bytes of a direct block; blocks that do not exist, of which more bytes say which.
constexpr std::uint8_t kSingle = 0;
constexpr std::uint8_t kFirstRow = 1;

}  // namespace

Status HeapSections::load(FileState& file, const FractalHeapTable& table, Address manager) noexcept {
    changed_ = false;
    now_.count = 0;
    now_.manager = manager;
    now_.list = kUndefinedAddress;
    if (manager == kUndefinedAddress) {
        return Status::ok;
    }
    const FreeHeapSpace* const last = file.foreign()->last_sections;
    if (last != nullptr && last->manager == manager) {
        now_ = *last;
        return Status::ok;
    }
    const FileShape shape = file.shape();
    const std::size_t size = FreeSpaceHeader::size(shape);
    MetadataWindow window;
    ConstBytes bytes;
    FreeSpaceHeader header;
    H5MOTE_TRY(file.window(Usage::object_header, manager, size, true, window));
    H5MOTE_TRY(window.view(0, size, bytes));
    if (!header.decode(shape, bytes) || header.client != FreeSpaceHeader::kClientHeap ||
        header.address_width() != table.offset_width()) {
        return file.context.fail(Module::heap, H5MOTE_HERE, Status::corrupt_file, 0, manager);
    }
    window.close();
    now_.list = header.list;
    now_.list_size = header.list_size;
    return now_.list == kUndefinedAddress || header.serialized == 0 ? Status::ok : read_list(file, table, header);
}

Status HeapSections::read_list(FileState& file, const FractalHeapTable& table, const FreeSpaceHeader& header) noexcept {
    const auto damaged = [&](SourcePlace place) {
        return file.context.fail(Module::heap, place, Status::corrupt_file, 0, header.list);
    };
    const unsigned offset_width = table.offset_width();
    const unsigned head = header.count_width() + header.size_width();
    const std::size_t prefix = FreeSpaceList::prefix_size(file.shape());
    MetadataWindow window;
    ConstBytes ahead;  // from `at` on, as much as is in memory: the list has many short entries
    H5MOTE_TRY(file.window(Usage::object_header, header.list, header.list_used, true, window));
    FreeSpaceList list;
    H5MOTE_TRY(window.view(0, prefix, ahead));
    if (!list.decode(file.shape(), ahead) || list.header != now_.manager) {
        return damaged(H5MOTE_HERE);
    }
    auto at = static_cast<Address>(prefix);
    ahead = {};
    const auto take = [&](std::size_t count, const std::byte*& bytes) {
        if (ahead.size() < count) {
            H5MOTE_TRY(window.view(at, count, ahead));
            H5MOTE_TRY(window.peek(at, ahead));
        }
        bytes = ahead.data();
        ahead = ahead.subspan(count);
        at += static_cast<Address>(count);
        return Status::ok;
    };
    const std::byte* bytes = nullptr;
    for (std::uint64_t left = header.serialized; left != 0;) {
        H5MOTE_TRY(take(head, bytes));
        const std::uint64_t count = load_uint(bytes, header.count_width());
        const std::uint64_t size = load_uint(bytes + header.count_width(), header.size_width());
        if (count == 0 || count > left) {
            return damaged(H5MOTE_HERE);
        }
        left -= count;
        for (std::uint64_t i = 0; i < count; ++i) {
            H5MOTE_TRY(take(offset_width + 1U, bytes));
            const auto kind = std::to_integer<std::uint8_t>(bytes[offset_width]);
            if (kind > kFirstRow) {
                return damaged(H5MOTE_HERE);
            }
            if (kind == kSingle && size != 0) {
                keep({narrow(load_uint(bytes, offset_width)), narrow(size)});
            } else if (kind == kFirstRow) {
                H5MOTE_TRY(take(offset_width + 6U, bytes));
            }
        }
    }
    return Status::ok;
}

void HeapSections::keep(const Section& section) noexcept {
    if (now_.count < kMost) {
        now_.sections[now_.count++] = section;
        return;
    }
    Section* smallest = now_.sections;
    for (Section& each : now_.sections) {
        smallest = each.size < smallest->size ? &each : smallest;
    }
    if (smallest->size < section.size) {
        *smallest = section;
    }
}

void HeapSections::shrink(unsigned i, Address size) noexcept {
    changed_ = true;
    now_.sections[i].offset += size;
    now_.sections[i].size -= size;
    if (now_.sections[i].size == 0) {
        erase(i);
    }
}

HeapSections::Section HeapSections::add(Address offset, Address size) noexcept {
    Section joined{offset, size};
    for (unsigned i = 0; i < now_.count;) {
        const Section each = now_.sections[i];
        if (each.offset + each.size == joined.offset || joined.offset + joined.size == each.offset) {
            joined.offset = each.offset < joined.offset ? each.offset : joined.offset;
            joined.size += each.size;
            erase(i);
            i = 0;
        } else {
            ++i;
        }
    }
    changed_ = true;
    keep(joined);
    return joined;
}

void HeapSections::remove(Address offset, Address size) noexcept {
    for (unsigned i = 0; i < now_.count;) {
        if (now_.sections[i].offset - offset < size) {
            changed_ = true;
            erase(i);
        } else {
            ++i;
        }
    }
}

void HeapSections::sort() noexcept {
    for (unsigned i = 1; i < now_.count; ++i) {
        const Section section = now_.sections[i];
        unsigned at = i;
        for (;
             at != 0 && (now_.sections[at - 1].size > section.size ||
                         (now_.sections[at - 1].size == section.size && now_.sections[at - 1].offset > section.offset));
             --at) {
            now_.sections[at] = now_.sections[at - 1];
        }
        now_.sections[at] = section;
    }
}

// Sorts the sections, and finds out what the manager has to say of them.
void HeapSections::plan(FileShape shape, const FractalHeapTable& table, FreeSpaceHeader& fields) noexcept {
    sort();
    fields = FreeSpaceHeader{};
    fields.client = FreeSpaceHeader::kClientHeap;
    fields.address_bits = table.heap_bits;
    fields.longest = std::uint64_t{1} << table.direct_bits;
    fields.sections = fields.serialized = now_.count;
    unsigned groups = 0;
    for (unsigned i = 0; i < now_.count; ++i) {
        groups += i == 0 || now_.sections[i].size != now_.sections[i - 1].size ? 1U : 0U;
        fields.bytes += now_.sections[i].size;
    }
    fields.list_used = fields.list_size =
        static_cast<Address>(FreeSpaceList::prefix_size(shape) + groups * (fields.count_width() + fields.size_width()) +
                             now_.count * (fields.address_width() + 1U) + FreeSpaceHeader::kChecksumSize);
}

// Whether the manager and its list stay, which are pinned then. That needs a list of the same size: libhdf5 cannot go
// on with a heap whose list does not fill its space.
bool HeapSections::stays(FileState& file, const FractalHeapTable& table) noexcept {
    if (now_.count == 0 || now_.list == kUndefinedAddress || !file.cache.is_generous()) {
        return false;
    }
    plan(file.shape(), table, fields_);
    fields_.list = now_.list;
    manager_ = file.cache.find(now_.manager);
    list_ = file.cache.find(now_.list);
    const bool both = manager_ && list_ && is_stored(file) && fields_.list_used == now_.list_size;
    if (!both) {
        undo();
    }
    return both;
}

Status HeapSections::store(FileState& file, const FractalHeapTable& table, StagedBlocks& blocks, bool in_place,
                           Address& manager) noexcept {
    if (!changed_ || (manager_ ? is_stored(file) : in_place && stays(file, table))) {
        return Status::ok;
    }
    undo();
    const FileShape shape = file.shape();
    const auto header_size = static_cast<Address>(FreeSpaceHeader::size(shape));
    if (now_.manager != kUndefinedAddress) {
        H5MOTE_TRY(blocks.replace(now_.manager, header_size));
    }
    if (now_.list != kUndefinedAddress) {
        H5MOTE_TRY(blocks.replace(now_.list, now_.list_size));
    }
    now_.manager = now_.list = manager = kUndefinedAddress;
    changed_ = false;
    if (now_.count == 0) {
        return Status::ok;
    }
    plan(shape, table, fields_);
    Pinned block;
    Pinned list;
    H5MOTE_TRY(blocks.create(Usage::object_header, header_size, block));
    H5MOTE_TRY(blocks.create(Usage::object_header, fields_.list_size, list));
    now_.manager = manager = block->address();
    now_.list = fields_.list = list->address();
    now_.list_size = fields_.list_size;
    write(shape, *block, *list);
    return Status::ok;
}

void HeapSections::apply(FileState& file) noexcept {
    if (manager_) {
        write(file.shape(), *manager_, *list_);
        changed_ = false;
        undo();
    }
    FreeHeapSpace*& last = file.foreign()->last_sections;
    if (last == nullptr && file.cache.is_generous()) {
        void* const memory = file.context.allocate_spare(MemoryKind::file, sizeof(FreeHeapSpace));
        last = memory == nullptr ? nullptr : ::new (memory) FreeHeapSpace;
    }
    if (last != nullptr) {
        *last = now_;
    }
}

// Fills the blocks of a manager and of its list, as plan() has found out.
void HeapSections::write(FileShape shape, CacheEntry& manager, CacheEntry& list) noexcept {
    Writer header(manager.image());
    fields_.encode(shape, header);
    Writer writer(list.image());
    writer.u32(FreeSpaceList::kSignature);
    writer.u8(0);
    shape.write_addr(writer, manager.address());
    std::byte* at = list.at(writer.written());
    // Eight bytes are stored at once. What belongs behind the number comes next; behind the last address, which has
    // more than three bytes, that is the checksum.
    const auto put = [&at](unsigned width, std::uint64_t value) {
        store_le(at, value);
        at += width;
    };
    const unsigned count_width = fields_.count_width();
    const unsigned size_width = fields_.size_width();
    const unsigned address_width = fields_.address_width();
    for (unsigned i = 0; i < now_.count;) {
        unsigned end = i + 1;
        while (end < now_.count && now_.sections[end].size == now_.sections[i].size) {
            ++end;
        }
        put(count_width, end - i);
        put(size_width, now_.sections[i].size);
        for (; i < end; ++i) {
            put(address_width, now_.sections[i].offset);
            *at++ = std::byte{kSingle};
        }
    }
    StagedBlocks::mark(manager);
    StagedBlocks::mark(list);
}

}  // namespace h5mote

#endif
