// Fuzzes the decoders of object header messages and of other small parts of a file. An input has (offset, size,
// meaning):
//
//   0  1  which decoder
//   1  1  bits 0-1: size of offsets 2, 4 or 8; bits 2-3: size of lengths
//   2     the bytes to decode
#include "attribute_storage.hpp"
#include "info_fields.hpp"
#include "messages.hpp"
#include "object_header.hpp"
#include "superblock.hpp"
#include "symbol_entry.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/h5mote.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace h5mote;

void touch(ConstBytes bytes) noexcept {
    unsigned sum = 0;
    for (const std::byte each : bytes) {
        sum += std::to_integer<unsigned>(each);
    }
    volatile unsigned used = sum;
    (void)used;
}

void layout(Context& context, FileShape shape, ConstBytes body) noexcept {
    LayoutMessage message;
    if (message.decode(context, shape, body) != Status::ok) {
        return;
    }
    if (message.layout_class == Layout::chunked) {
        for (unsigned i = 0; i < message.dimensionality; ++i) {
            (void)message.chunk_dim(i);
        }
    }
    if (message.layout_class == Layout::compact && message.size != kUndefinedAddress) {
        touch(body.subspan(message.compact_offset, static_cast<std::size_t>(message.size)));
    }
}

void link(Context& context, FileShape shape, ConstBytes body) noexcept {
    LinkMessage message;
    if (message.decode(context, shape, body) == Status::ok) {
        touch(message.name);
        touch(message.target);
        (void)is_ascii(message.name);
        if (!LinkMessage::has_name(body, message.name)) {
            std::abort();
        }
    }
    const std::byte name[1] = {std::byte{'a'}};
    (void)LinkMessage::has_name(body, name);
}

void attribute(Context& context, ConstBytes body) noexcept {
    AttributeMessage message;
    if (message.decode(context, body) == Status::ok) {
        touch(message.name);
        touch(message.type);
        touch(message.space);
        touch(message.data);
    }
    AttributeParts parts;
    const std::size_t head = body.size() < AttributeParts::kHeadSize ? body.size() : AttributeParts::kHeadSize;
    if (parts.decode(context, body.first(head), narrow(body.size())) == Status::ok) {
        const struct {
            std::size_t at, size;
        } all[] = {{parts.name, parts.name_size}, {parts.type, parts.type_size}, {parts.space, parts.space_size}};
        for (const auto& part : all) {
            if (part.at > body.size() || part.size > body.size() - part.at) {
                std::abort();
            }
        }
    }
}

void fill_value(Context& context, ConstBytes body) noexcept {
    FillValueMessage message;
    if (message.decode(context, body) == Status::ok) {
        touch(message.value);
    }
#if H5MOTE_ALL_FORMATS
    FillValueMessage old;
    if (old.decode_old(context, body) == Status::ok) {
        touch(old.value);
    }
#endif
}

#if H5MOTE_ALL_FORMATS
void external_files(Context& context, FileShape shape, ConstBytes body) noexcept {
    ExternalFilesMessage message;
    const std::size_t head = ExternalFilesMessage::head_size(shape);
    if (message.decode(context, shape, body.first(head < body.size() ? head : body.size()), narrow(body.size())) ==
        Status::ok) {
        const std::size_t slot = ExternalFilesMessage::slot_size(shape);
        for (unsigned i = 0; i < message.slots; ++i) {
            (void)ExternalFilesMessage::slot(shape, body.subspan(head + i * slot, slot));
        }
    }
}

#endif

void infos(Context& context, FileShape shape, ConstBytes body) noexcept {
    LinkInfoMessage links;
    (void)links.decode(context, shape, body);
    AttributeInfoMessage attributes;
    (void)attributes.decode(context, shape, body);
}

void others(Context& context, FileShape shape, ConstBytes body) noexcept {
    Superblock superblock;
    (void)superblock.decode(context, body);
    HeaderPrefix prefix;
    if (prefix.decode(context, body) == Status::ok) {
        (void)prefix.block_size();
    }
    DataspaceMessage space;
    (void)space.decode(context, shape, body);
    SymbolEntry symbol;
    if (body.size() >= SymbolEntry::size(shape)) {
        (void)symbol.decode(shape, body.first(SymbolEntry::size(shape)));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    alignas(16) static std::byte memory[160 * 1024];
    Arena arena{memory};
    NullPort port;
    {
        Library library{arena, port};
        const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 2,
                                          reinterpret_cast<const std::byte*>(data) + size);
        const ConstBytes body{copy.data(), copy.size()};
        constexpr std::uint8_t kWidths[] = {2, 4, 8, 8};
        const FileShape shape{kWidths[data[1] & 3U], kWidths[data[1] >> 2 & 3U]};
        switch (data[0] % 7) {
            case 0:
                layout(library, shape, body);
                break;
            case 1:
                link(library, shape, body);
                break;
            case 2:
                attribute(library, body);
                break;
            case 3:
                fill_value(library, body);
                break;
#if H5MOTE_ALL_FORMATS
            case 4:
                external_files(library, shape, body);
                break;
#endif
            case 5:
                infos(library, shape, body);
                break;
            default:
                others(library, shape, body);
                break;
        }
    }
    if (arena.usage().now != 0 || !arena.check()) {
        std::abort();
    }
    return 0;
}
