#include "links.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

#include "link_storage.hpp"
#include "symbol_table_changes.hpp"

namespace h5mote {
namespace {

class SymbolTableContent final : public HeaderContent {
public:
    SymbolTableContent(const SymbolTableMessage& symbols, const GroupCreate& create) noexcept : symbols_(symbols) {
        track_times = create.track_times;
        attributes = create.attributes;
    }
    void write(HeaderWriter& header) const noexcept override {
        header.begin(MessageType::symbol_table);
        symbols_.encode(header.shape, header.out);
        header.end();
        // Without room for a continuation message the group could never get other links than a symbol table has. A
        // header of version 1 has that room anyway. Four bytes more keep libhdf5 1.10 from losing messages: it does
        // when the first of the new ones, the link info message, leaves a gap in the place of the null message.
        if (attributes.track_order) {
            header.reserve_continuation(4);
        }
    }

private:
    const SymbolTableMessage& symbols_;
};

}  // namespace

Status create_symbol_table_group(FileState& file, const GroupCreate& create, Address& header) noexcept {
    const SymbolTableChangesFormat* const format = file.context.formats().symbol_table_changes;
    if (format == nullptr) {
        return file.context.unsupported(Module::group, H5MOTE_HERE, Feature::symbol_table_group);
    }
    SymbolTableMessage symbols;
    H5MOTE_TRY(format->create(file, symbols));
    const Status status = create_header(file, SymbolTableContent(symbols, create), header);
    if (status != Status::ok) {
        Disposal disposal(file, false);
        (void)format->dispose(file, symbols, disposal);
    }
    return status;
}

void discard_symbol_table(FileState& file, Address header) noexcept {
    GroupStorage storage;
    if (storage.open(file, header) == Status::ok && storage.kind == LinkStorage::symbol_table) {
        Disposal disposal(file, false);
        (void)file.context.formats().symbol_table_changes->dispose(file, storage.symbols, disposal);
    }
}

}  // namespace h5mote

#endif
