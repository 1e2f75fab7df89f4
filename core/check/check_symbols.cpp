// Symbol tables: the links of old groups.

#include "local_heap.hpp"
#include "tree1_walk.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

class SymbolTree final : public Tree1Walk {
public:
    SymbolTree(Checker& checker, Address root, LocalHeap& names) noexcept
        : Tree1Walk(checker, CheckPart::symbol_table_tree, BTree1Node::kGroup), names_(names) {
        set(checker.file(), root, checker.file().foreign()->btree_k.group_internal, checker.shape().sizeof_size);
    }

private:
    // Sign of (name at a) - (name at b).
    Status order_of_names(Address a, Address b, int& order) noexcept {
        MetadataWindow name;
        ConstBytes bytes;
        H5MOTE_TRY(names_.name(a, name));
        H5MOTE_TRY(name.view(0, static_cast<std::size_t>(name.size()), bytes));
        return names_.compare(b, bytes, order);
    }
    Address name_of(ConstBytes key) const noexcept {
        return narrow(load_uint(key.data(), checker_.shape().sizeof_size));
    }
    Status order_of(ConstBytes a, ConstBytes b, int& order) noexcept override {
        return order_of_names(name_of(a), name_of(b), order);
    }

    Status entry(ConstBytes key, ConstBytes next, Address child) noexcept override {
        const Address end = name_of(next);
        const FileShape shape = checker_.shape();
        const std::size_t entry_size = SymbolEntry::size(shape);
        const std::uint32_t most = 2U * checker_.file().foreign()->btree_k.group_leaf;
        MetadataWindow window;
        ConstBytes bytes;
        std::uint16_t symbols = 0;
        constexpr CheckPart kPart = CheckPart::symbol_table_node;
        H5MOTE_TRY(checker_.open(kPart, child, SymbolNode::kPrefixSize + Address{most} * entry_size, false, window));
        H5MOTE_TRY(checker_.judge(window.view(0, SymbolNode::kPrefixSize, bytes), kPart, child));
        if (!SymbolNode::decode(bytes, symbols)) {
            return checker_.bad(ProblemKind::malformed, kPart, child);
        }
        if (symbols == 0 || symbols > most) {
            return checker_.bad(ProblemKind::count, kPart, child, symbols);
        }
        Address last = name_of(key);
        for (unsigned i = 0; i < symbols && checker_.verifying(); ++i) {
            SymbolEntry symbol;
            H5MOTE_TRY(
                checker_.judge(window.view(SymbolNode::kPrefixSize + i * entry_size, entry_size, bytes), kPart, child));
            if (!symbol.decode(shape, bytes)) {
                return checker_.bad(ProblemKind::malformed, kPart, child);
            }
            H5MOTE_TRY(go_on(check_symbol(symbol, last, i + 1 == symbols ? end : kUndefinedAddress, child)));
            last = symbol.name;
        }
        return Status::ok;
    }

    // Checks that names ascend, and that the last one is not beyond the key that ends the node.
    Status check_symbol(const SymbolEntry& symbol, Address last, Address end, Address node) noexcept {
        constexpr CheckPart kPart = CheckPart::symbol_table_node;
        int order = 0;
        H5MOTE_TRY(checker_.judge(order_of_names(last, symbol.name, order), kPart, node));
        bool ascend = order < 0;
        if (end != kUndefinedAddress) {
            H5MOTE_TRY(checker_.judge(order_of_names(symbol.name, end, order), kPart, node));
            ascend = ascend && order <= 0;
        }
        if (!ascend) {
            (void)checker_.bad(ProblemKind::order, kPart, node);
        }
        if (symbol.cached != SymbolEntry::Cached::soft_link) {
            return checker_.link_to(symbol.header);
        }
        std::size_t length = 0;
        return checker_.judge(names_.length(symbol.soft_link, length), kPart, node);
    }

    LocalHeap& names_;
};

struct SymbolWork {
    SymbolWork(Checker& checker, Address root) noexcept : tree(checker, root, names) {}
    LocalHeap names;
    SymbolTree tree;
};

}  // namespace

Status Checker::check_symbol_table(Address tree, Address heap) noexcept {
    H5MOTE_TRY(check_local_heap(heap));
    auto* const work = file_.context.create<SymbolWork>(MemoryKind::other, *this, tree);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    Status status = judge(work->names.open(file_, heap), CheckPart::local_heap, heap);
    if (status == Status::ok) {
        status = work->tree.run();
    }
    file_.context.destroy(MemoryKind::other, work);
    return status;
}

}  // namespace h5mote

#endif
