#include "symbol_node.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The rules that keep a power cut from losing links. A test build leaves one of them out (H5MOTE_TEST_OMIT).
enum class Rule {
    none,
    change_in_one_write,  // a node that the storage leads to is changed only if one write of a sector does it
};

constexpr bool keep(Rule rule) noexcept { return rule != Rule::H5MOTE_TEST_OMIT; }

}  // namespace

Status SymbolNodeEditor::open(Address node) noexcept {
    ConstBytes prefix;
    std::uint16_t entries = 0;
    H5MOTE_TRY(file_.window(Usage::btree, node, size(), false, window_));
    H5MOTE_TRY(window_.view(0, SymbolNode::kPrefixSize, prefix));
    if (!SymbolNode::decode(prefix, entries) || entries > most()) {
        return file_.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, node);
    }
    address_ = node;
    entries_ = entries;
    return Status::ok;
}

Status SymbolNodeEditor::entry(unsigned i, SymbolEntry& entry) noexcept {
    ConstBytes bytes;
    H5MOTE_TRY(window_.view(offset_of(i), SymbolEntry::size(file_.shape()), bytes));
    return entry.decode(file_.shape(), bytes)
               ? Status::ok
               : file_.context.fail(Module::index, H5MOTE_HERE, Status::corrupt_file, 0, address_);
}

Status SymbolNodeEditor::find(ConstBytes name, unsigned& number, bool& found) noexcept {
    unsigned to = entries_;
    number = 0;
    found = false;
    while (number < to) {
        const unsigned middle = (number + to) / 2;
        SymbolEntry each;
        int order = 0;
        H5MOTE_TRY(entry(middle, each));
        H5MOTE_TRY(names_.compare(each.name, name, order));
        found = found || order == 0;
        if (order > 0) {
            number = middle + 1;
        } else {
            to = middle;
        }
    }
    return Status::ok;
}

bool SymbolNodeEditor::can_change() noexcept {
    return window_.block() &&
           (file_.one_write(*window_.block(), SymbolNode::kCountOffset) || !keep(Rule::change_in_one_write));
}

void SymbolNodeEditor::apply(const SymbolNodeChange& change) noexcept {
    CacheEntry& block = *window_.block();
    const FileShape shape = file_.shape();
    const unsigned count = change.entries();
    const unsigned behind = change.cut + (change.added == nullptr ? 0U : 1U);
    std::memmove(block.at(offset_of(behind)), block.at(offset_of(change.resume)),
                 offset_of(change.end) - offset_of(change.resume));
    if (change.added != nullptr) {
        Writer writer(block.image().subspan(offset_of(change.cut), SymbolEntry::size(shape)));
        change.added->encode(shape, writer);
    }
    if (count < entries_) {
        std::memset(block.at(offset_of(count)), 0, offset_of(entries_) - offset_of(count));
    }
    Writer prefix(block.image());
    SymbolNode::encode(prefix, count);
    MetadataCache::mark_dirty(block, SymbolNode::kCountOffset, Phase::object);
    entries_ = count;
}

// Writes bytes of a new node, which is in the cache or, if the cache has no room for it, only on the storage.
Status SymbolNodeEditor::put(std::size_t offset, ConstBytes bytes, Pinned& block, Address node) noexcept {
    if (block) {
        std::memcpy(block->at(offset), bytes.data(), bytes.size());
        return Status::ok;
    }
    file_.unsynced = true;
    return told(file_.context, file_.driver, H5MOTE_HERE, file_.driver.write(Usage::btree, node + offset, bytes), node);
}

Status SymbolNodeEditor::copy(unsigned from, unsigned end, unsigned to, Pinned& block, Address node) noexcept {
    const std::size_t size = SymbolEntry::size(file_.shape());
    const unsigned most = block ? end - from : static_cast<unsigned>(MetadataWindow::kWindow / size);
    while (from < end) {
        const unsigned now = end - from < most ? end - from : most;
        ConstBytes bytes;
        H5MOTE_TRY(window_.view(offset_of(from), now * size, bytes));
        H5MOTE_TRY(put(offset_of(to), bytes, block, node));
        from += now;
        to += now;
    }
    return Status::ok;
}

Status SymbolNodeEditor::write(const SymbolNodeChange& change, Address& made) noexcept {
    const FileShape shape = file_.shape();
    Pinned block;
    if (file_.cache.fits(size())) {
        H5MOTE_TRY(
            file_.create_block(Usage::btree, static_cast<std::size_t>(size()), size(), block, ChecksumPlace::none));
        made = block->address();
    } else {
        H5MOTE_TRY(file_.space.allocate(Usage::btree, size(), made));
        file_.space.unkeep_metadata(size());  // it is written at once
    }
    std::byte bytes[SymbolEntry::kMaxSize];
    Writer prefix{Bytes(bytes)};
    SymbolNode::encode(prefix, change.entries());
    Status status = put(0, ConstBytes(bytes).first(SymbolNode::kPrefixSize), block, made);
    unsigned to = change.cut - change.first;
    status = status == Status::ok ? copy(change.first, change.cut, 0, block, made) : status;
    if (status == Status::ok && change.added != nullptr) {
        Writer writer{Bytes(bytes)};
        change.added->encode(shape, writer);
        status = put(offset_of(to++), ConstBytes(bytes).first(writer.written()), block, made);
    }
    status = status == Status::ok ? copy(change.resume, change.end, to, block, made) : status;
    to = change.entries();
    for (std::memset(bytes, 0, sizeof bytes); status == Status::ok && !block && to < most(); ++to) {
        status = put(offset_of(to), ConstBytes(bytes).first(SymbolEntry::size(shape)), block, made);
    }
    if (status == Status::ok && block) {
        MetadataCache::set_fresh(*block);
        MetadataCache::mark_dirty(*block, 0, Phase::object);
    }
    block.reset();
    if (status != Status::ok) {
        undo(made);
    }
    return status;
}

}  // namespace h5mote

#endif
