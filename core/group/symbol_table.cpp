#include "symbol_table.hpp"

#include "btree1.hpp"
#include "local_heap.hpp"

namespace h5mote {
namespace {

class SymbolTable final : public SymbolTableReader {
public:
    static SymbolTableReader* make(Context& context) noexcept {
        return context.create<SymbolTable>(MemoryKind::handle);
    }

    Status open(FileState& file, Address btree, Address heap, bool backwards) noexcept override {
        H5MOTE_TRY(names_.open(file, heap));
        tree_.open(file, btree, names_);
        cursor_ = {};
        cursor_.backwards = backwards;
        return Status::ok;
    }

    Status find(ConstBytes name, StoredLink& link) noexcept override {
        SymbolEntry symbol;
        H5MOTE_TRY(names_.begin_search());
        const Status status = tree_.find(name, symbol);
        names_.end_search();
        return status == Status::ok ? decode(symbol, link) : status;
    }

    Status next(StoredLink& link) noexcept override {
        SymbolEntry symbol;
        H5MOTE_TRY(tree_.next(cursor_, symbol));
        return decode(symbol, link);
    }

    Status count(std::uint64_t& links) noexcept override {
        SymbolEntry symbol;
        Status status = Status::ok;
        while ((status = tree_.next(cursor_, symbol)) == Status::ok) {
            ++links;
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status walk(BlockVisitor& index, BlockVisitor& heap) noexcept override {
        H5MOTE_TRY(tree_.walk(index));
        return names_.walk(heap);
    }

    void destroy(Context& context) noexcept override { context.destroy(MemoryKind::handle, this); }

private:
    // Makes a link of a symbol table entry.
    Status decode(const SymbolEntry& symbol, StoredLink& stored) noexcept {
        stored.link = {};
        stored.link.keep_set(0);  // a symbol table has no character set: libhdf5 says ASCII
        H5MOTE_TRY(names_.name(symbol.name, stored.bytes));
        H5MOTE_TRY(stored.bytes.view(0, static_cast<std::size_t>(stored.bytes.size()), stored.link.name));
        if (symbol.cached != SymbolEntry::Cached::soft_link) {
            stored.link.address = symbol.header;
            return Status::ok;
        }
        stored.link.type = LinkType::soft;
        H5MOTE_TRY(names_.name(symbol.soft_link, stored.target));
        return stored.target.view(0, static_cast<std::size_t>(stored.target.size()), stored.link.target);
    }

    LocalHeap names_;
    GroupBTree1 tree_;
    GroupBTree1::Cursor cursor_;
};

}  // namespace

const SymbolTableFormat formats::symbol_tables = {&SymbolTable::make};

}  // namespace h5mote
