// Heaps, and the B-trees 2 and free-space managers beside them; links and attributes in dense storage.

#include "btree2.hpp"
#include "checker.hpp"
#include "fractal_heap.hpp"
#include "local_heap.hpp"
#include "stored_message.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

Status Checker::check_local_heap(Address address) noexcept {
    LocalHeap heap;
    H5MOTE_TRY(judge(heap.open(file_, address), CheckPart::local_heap, address));
    UsedBlocks blocks(*this, CheckPart::local_heap);
    H5MOTE_TRY(heap.walk(blocks));
    Address free = 0;
    const Status status = heap.free_space(free);
    if (status == Status::corrupt_file) {
        file_.context.trail().clear();
        return bad(ProblemKind::free_list, CheckPart::local_heap, address);
    }
    return judge(status, CheckPart::local_heap, address);
}

Status Checker::check_fractal_heap(FractalHeap& heap, Address address) noexcept {
    H5MOTE_TRY(judge(heap.open(file_, address), CheckPart::fractal_heap, address));
    UsedBlocks blocks(*this, CheckPart::fractal_heap);
    return judge(heap.walk(blocks), CheckPart::fractal_heap, address);
}

Status Checker::check_btree2(BTree2& tree, CheckPart part, Address address) noexcept {
    H5MOTE_TRY(judge(tree.open(file_, address), part, address));
    UsedBlocks blocks(*this, part);
    return judge(tree.walk(blocks), part, address);
}

namespace {

// The working memory for one dense storage; too large for the stack.
struct Dense {
    FractalHeap heap;
    BTree2 index;
    MetadataWindow object;
    std::uint64_t in_heap = 0;
    std::uint64_t names = 0;
    std::byte bytes[BTree2::kMaxRecordSize];

    ConstBytes record() const noexcept { return {bytes, index.record_size()}; }
};

class DenseCheck {
public:
    DenseCheck(Checker& checker, Dense& dense, CheckPart part, std::uint64_t max_order) noexcept
        : checker_(checker), dense_(dense), part_(part), max_order_(max_order) {}

    Status run(const DenseStorage& storage, bool tracked) noexcept {
        H5MOTE_TRY(go_on(checker_.check_fractal_heap(dense_.heap, storage.heap)));
        H5MOTE_TRY(
            checker_.judge(dense_.heap.open(checker_.file(), storage.heap), CheckPart::fractal_heap, storage.heap));
        tracked_ = tracked;
        const Status names = check_names(storage.name_index);
        H5MOTE_TRY(go_on(names));
        counted_ = names == Status::ok;
        if (storage.order_index != kUndefinedAddress) {
            H5MOTE_TRY(go_on(check_orders(storage.order_index)));
        }
        return check_count(storage.heap);
    }

private:
    bool is_link() const noexcept { return part_ == CheckPart::link; }
    Status record(std::uint64_t i, Address tree) noexcept {
        return checker_.judge(dense_.index.record(i, dense_.bytes), CheckPart::btree2, tree);
    }

    // Checks the link or attribute that a record names. `hash` becomes that of its name, `order` the creation order of
    // a link.
    Status object(ConstBytes id, bool shared, std::uint32_t& hash, std::uint64_t& order) noexcept {
        Checker& c = checker_;
        if (shared) {
            MetadataWindow stored;
            H5MOTE_TRY(c.judge(open_shared_message(c.file(), MessageType::attribute, id, stored),
                               CheckPart::shared_messages, c.file().foreign()->shared_table));
            return c.check_attribute(stored, stored.address(), true, hash);
        }
        ++dense_.in_heap;
        H5MOTE_TRY(c.judge(dense_.heap.object(id, dense_.object), CheckPart::fractal_heap, kUndefinedAddress));
        const Address at = dense_.object.address();
        if (!is_link()) {
            return c.check_attribute(dense_.object, at, false, hash);
        }
        ConstBytes body;
        H5MOTE_TRY(c.judge(dense_.object.view(0, static_cast<std::size_t>(dense_.object.size()), body), part_, at));
        LinkMessage link;
        H5MOTE_TRY(c.judge(c.check_link(body, link), part_, at));
        hash = name_hash(link.name);
        order = link.order;
        return Status::ok;
    }

    Status check_names(Address tree) noexcept {
        Checker& c = checker_;
        H5MOTE_TRY(c.check_btree2(dense_.index, CheckPart::btree2, tree));
        const BTree2Type type = is_link() ? BTree2Type::link_name : BTree2Type::attribute_name;
        if (dense_.index.type() != type) {
            return c.bad(ProblemKind::malformed, CheckPart::btree2, tree);
        }
        dense_.names = dense_.index.size();
        std::uint32_t last = 0;
        // Values of attributes lead into the global heap: each walk has to meet its collections.
        for (std::uint64_t i = 0; i < dense_.names && (c.verifying() || !is_link()); ++i) {
            H5MOTE_TRY(record(i, tree));
            LinkNameRecord link;
            AttributeRecord attribute;
            if (is_link() ? !link.decode(dense_.record()) : !attribute.decode(type, dense_.record())) {
                return c.bad(ProblemKind::malformed, CheckPart::btree2, tree);
            }
            const std::uint32_t hash = is_link() ? link.hash : attribute.hash;
            if (hash < last) {
                return c.bad(ProblemKind::order, CheckPart::btree2, tree);
            }
            last = hash;
            const bool shared = !is_link() && (attribute.flags & kMessageShared) != 0;
            std::uint32_t own_hash = hash;
            std::uint64_t order = attribute.order;
            const Status status = object(is_link() ? link.heap_id : attribute.heap_id, shared, own_hash, order);
            dense_.object.close();
            H5MOTE_TRY(go_on(status));
            if (status == Status::ok && own_hash != hash) {
                (void)c.bad(ProblemKind::hash, part_, tree, hash);
            }
            if (status == Status::ok && tracked_ && order >= max_order_) {
                (void)c.bad(ProblemKind::order, part_, tree, order);
            }
        }
        return Status::ok;
    }

    // Checks the index by creation order: it has as many records as the index by name, each with an order of its own.
    Status check_orders(Address tree) noexcept {
        Checker& c = checker_;
        H5MOTE_TRY(c.check_btree2(dense_.index, CheckPart::btree2, tree));
        const BTree2Type type = is_link() ? BTree2Type::link_order : BTree2Type::attribute_order;
        if (dense_.index.type() != type) {
            return c.bad(ProblemKind::malformed, CheckPart::btree2, tree);
        }
        if (counted_ && dense_.index.size() != dense_.names) {
            return c.bad(ProblemKind::count, CheckPart::btree2, tree, dense_.names);
        }
        std::uint64_t last = 0;
        for (std::uint64_t i = 0; i < dense_.index.size() && c.verifying(); ++i) {
            H5MOTE_TRY(record(i, tree));
            LinkOrderRecord link;
            AttributeRecord attribute;
            if (is_link() ? !link.decode(dense_.record()) : !attribute.decode(type, dense_.record())) {
                return c.bad(ProblemKind::malformed, CheckPart::btree2, tree);
            }
            const std::uint64_t order = is_link() ? link.order : attribute.order;
            if ((i != 0 && order <= last) || order >= max_order_) {
                return c.bad(ProblemKind::order, CheckPart::btree2, tree, order);
            }
            last = order;
            if (is_link()) {
                const Status status = dense_.heap.object(link.heap_id, dense_.object);
                H5MOTE_TRY(c.judge(status, CheckPart::fractal_heap, tree));
                ConstBytes body;
                H5MOTE_TRY(
                    c.judge(dense_.object.view(0, static_cast<std::size_t>(dense_.object.size()), body), part_, tree));
                LinkMessage message;
                H5MOTE_TRY(c.judge(message.decode(c.file().context, c.shape(), body), part_, tree));
                const bool same = message.has_order && message.order == order;
                dense_.object.close();
                if (!same) {
                    return c.bad(ProblemKind::order, part_, tree, order);
                }
            }
        }
        return Status::ok;
    }

    Status check_count(Address heap) noexcept {
        FractalHeapHeader header;
        H5MOTE_TRY(checker_.judge(dense_.heap.read_header(header), CheckPart::fractal_heap, heap));
        const std::uint64_t objects = header.managed + header.huge + header.tiny;
        return objects == dense_.in_heap || !counted_ || !checker_.verifying()
                   ? Status::ok
                   : checker_.bad(ProblemKind::count, CheckPart::fractal_heap, heap, dense_.in_heap);
    }

    Checker& checker_;
    Dense& dense_;
    CheckPart part_;
    std::uint64_t max_order_;
    bool tracked_ = false;
    bool counted_ = false;  // all names were seen
};

Status check_dense(Checker& checker, const DenseStorage& storage, CheckPart part, bool tracked,
                   std::uint64_t max_order) noexcept {
    Context& context = checker.file().context;
    auto* const dense = context.create<Dense>(MemoryKind::other);
    if (dense == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = DenseCheck(checker, *dense, part, max_order).run(storage, tracked);
    context.destroy(MemoryKind::other, dense);
    return status;
}

}  // namespace

Status Checker::check_dense_links(const LinkInfoMessage& info) noexcept {
    return check_dense(*this, info.storage, CheckPart::link, (info.flags & kOrderTracked) != 0, info.max_order);
}

Status Checker::check_dense_attributes(const AttributeInfoMessage& info) noexcept {
    return check_dense(*this, info.storage, CheckPart::attribute, (info.flags & kOrderTracked) != 0, info.max_order);
}

}  // namespace h5mote

#endif
