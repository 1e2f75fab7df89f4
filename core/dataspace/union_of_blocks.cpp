#include "selection_editor.hpp"
#include "span_builder.hpp"

#include <utility>

namespace h5mote {

UnionOfBlocks::~UnionOfBlocks() {
    for (std::uint32_t i = 0; i < trees_.size(); ++i) {
        context_.destroy(MemoryKind::other, trees_[i].store);
    }
    context_.destroy(MemoryKind::other, spare_);
}

Status UnionOfBlocks::new_store(SpanStore*& store) noexcept {
    store =
        spare_ != nullptr ? std::exchange(spare_, nullptr) : context_.create<SpanStore>(MemoryKind::other, context_);
    return store == nullptr ? Status::out_of_memory : Status::ok;
}

Status UnionOfBlocks::add(const std::uint64_t* low, const std::uint64_t* high) noexcept {
    SpanStore* store = nullptr;
    H5MOTE_TRY(trees_.reserve(1));
    H5MOTE_TRY(new_store(store));
    trees_.push({store, 0});
    H5MOTE_TRY(builder_.make_block(low, high, *store));
    while (trees_.size() > 1 && trees_[trees_.size() - 2].level == trees_.back().level) {
        H5MOTE_TRY(join());
    }
    return Status::ok;
}

// Replaces the last two trees by their union.
Status UnionOfBlocks::join() noexcept {
    Tree& a = trees_[trees_.size() - 2];
    Tree& b = trees_.back();
    SpanStore* result = nullptr;
    H5MOTE_TRY(new_store(result));
    const Status status = builder_.combine(a.store->view(), b.store->view(), kOnlyA | kOnlyB | kBoth, *result);
    if (status == Status::ok) {
        std::swap(a.store, result);
        ++a.level;
        context_.destroy(MemoryKind::other, std::exchange(spare_, b.store));
        trees_.resize(trees_.size() - 1);
    }
    context_.destroy(MemoryKind::other, result);
    return status;
}

Status UnionOfBlocks::finish(SelectionSet& set) noexcept {
    if (trees_.size() == 0) {
        set.select_none();
        return Status::ok;
    }
    while (trees_.size() > 1) {
        H5MOTE_TRY(join());
    }
    return SelectionEditor::set_tree(set, rank_, *trees_[0].store);
}

}  // namespace h5mote
