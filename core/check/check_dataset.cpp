// h5check - raw data of datasets: where it is, and whether it can be decoded.

#include "check_dataset.hpp"
#include "block_decoder.hpp"
#include "btree2.hpp"
#include "chunk_grid.hpp"
#include "datatype_message.hpp"
#include "stored_message.hpp"
#include "tree1_walk.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {

DatasetCheck::~DatasetCheck() {
    Context& context = checker.file().context;
    context.release(MemoryKind::other, type_.data(), type_.size());
    context.release(MemoryKind::other, pipeline_.data(), pipeline_.size());
}

namespace {

Status copy_of(Context& context, ConstBytes from, Bytes& to) noexcept {
    auto* const memory = static_cast<std::byte*>(context.allocate(MemoryKind::other, from.size()));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    std::memcpy(memory, from.data(), from.size());
    to = {memory, from.size()};
    return Status::ok;
}

}  // namespace

Status DatasetCheck::load_space(Address header) noexcept {
    StoredMessage stored;
    ConstBytes body;
    DataspaceMessage space;
    H5MOTE_TRY(stored.find(checker.file(), header, MessageType::dataspace));
    H5MOTE_TRY(stored.view(body));
    H5MOTE_TRY(space.decode(checker.file().context, checker.shape(), body));
    rank = space.rank;
    null_space = space.type == DataspaceMessage::Type::null;
    elements = null_space ? 0 : 1;
    for (unsigned i = 0; i < rank; ++i) {
        dims[i] = space.dim(i);
        max_dims[i] = space.max_dim(i);
        if (!checked_multiply(elements, dims[i], elements)) {
            return Status::overflow;
        }
    }
    return Status::ok;
}

Status DatasetCheck::load_type(Address header) noexcept {
    StoredMessage stored;
    ConstBytes body;
    H5MOTE_TRY(stored.find(checker.file(), header, MessageType::datatype));
    H5MOTE_TRY(stored.view(body));
    std::size_t length = 0;
    Feature feature = Feature::none;
    const Status status = validate_datatype(body, length, feature);
    if (status != Status::ok) {
        return status == Status::unsupported ? checker.file().context.unsupported(Module::dataset, H5MOTE_HERE, feature)
                                             : status;
    }
    const DatatypeView type(body.first(length));
    element_size = type.size();
    return checker.options().data && has_heap_data(type) ? copy_of(checker.file().context, type.bytes(), type_)
                                                         : Status::ok;
}

namespace {

// Raw data that are looked at as if they were metadata. They must not stay in the cache, which would not notice when
// they change.
class RawWindow {
public:
    RawWindow(FileState& file, Address address) noexcept : file_(file), address_(address) {}
    RawWindow(const RawWindow&) = delete;
    RawWindow& operator=(const RawWindow&) = delete;
    ~RawWindow() {
        window.close();
        (void)file_.cache.drop_clean(address_);
    }
    Status open(Address size) noexcept { return file_.window(Usage::raw_data, address_, size, false, window); }

    MetadataWindow window;

private:
    FileState& file_;
    Address address_;
};

}  // namespace

// Whether the kind of index fits the dataspace: arrays number the chunks of the largest extent, which must be
// countable, and an extensible array has exactly one unlimited dimension, along which it grows.
bool DatasetCheck::fits_index() const noexcept {
    const bool searched = layout.index == ChunkIndex::btree1 || layout.index == ChunkIndex::btree2;
    unsigned unlimited = 0;
    std::uint64_t chunks = 1;
    bool countable = true;
    for (unsigned i = 0; i < rank; ++i) {
        if (max_dims[i] == kUnlimited) {
            ++unlimited;
        } else {
            countable = checked_multiply(chunks, chunks_along(max_dims[i], chunk_dims[i]), chunks) && countable;
        }
    }
    return (countable || searched) && (layout.index != ChunkIndex::extensible_array || unlimited == 1) &&
           (layout.index != ChunkIndex::single || chunks <= 1);
}

Status DatasetCheck::load_layout(Address header) noexcept {
    StoredMessage stored;
    ConstBytes body;
    H5MOTE_TRY(stored.find(checker.file(), header, MessageType::layout));
    const Address most = LayoutMessage::kMaxHead;
    const auto head = static_cast<std::size_t>(stored.size() < most ? stored.size() : most);
    H5MOTE_TRY(stored.bytes().view(0, head, body));
    H5MOTE_TRY(layout.decode(checker.file().context, checker.shape(), body, stored.size()));
    if (layout.layout_class != Layout::chunked) {
        return Status::ok;
    }
    if (layout.dimensionality != rank + 1U) {
        return Status::corrupt_file;
    }
    chunk_bytes = 1;
    for (unsigned i = 0; i <= rank; ++i) {
        chunk_dims[i] = layout.chunk_dim(i);
        if (chunk_dims[i] == 0 || chunk_dims[i] > 0xffffffffU ||
            !checked_multiply(chunk_bytes, chunk_dims[i], chunk_bytes)) {
            return Status::corrupt_file;
        }
    }
    layout.chunk_dims = nullptr;  // the dimensions go with the message, which is closed on return
    return chunk_dims[rank] == element_size && fits_index() ? Status::ok : Status::corrupt_file;
}

Status DatasetCheck::load_filters(Address header) noexcept {
    StoredMessage stored;
    ConstBytes body;
    const Status found = stored.find(checker.file(), header, MessageType::filter_pipeline);
    if (found != Status::ok) {
        return found == Status::not_found ? Status::ok : found;
    }
    H5MOTE_TRY(stored.view(body));
    PipelineReader reader(body);
    H5MOTE_TRY(reader.count(checker.file().context, filters));
    return copy_of(checker.file().context, body, pipeline_);
}

// Loads the messages that describe raw data. What is wrong within one message has been reported by now; here the layout
// must fit the other messages.
Status DatasetCheck::load(Address header) noexcept {
    StoredMessage stored;
    const Status found = stored.find(checker.file(), header, MessageType::external_files);
    external = found == Status::ok;
    if (!external && found != Status::not_found) {
        return found;
    }
    stored.bytes().close();
    H5MOTE_TRY(load_space(header));
    H5MOTE_TRY(load_type(header));
    H5MOTE_TRY(load_filters(header));
    return load_layout(header);
}

// A fill value of variable length is in the global heap, too.
Status DatasetCheck::check_fill(Address header) noexcept {
    StoredMessage stored;
    ConstBytes body;
    FillValueMessage fill;
    Status status = stored.find(checker.file(), header, MessageType::fill_value);
    const bool old = status == Status::not_found;
    if (old) {
        status = stored.find(checker.file(), header, MessageType::fill_value_old);
    }
    if (status == Status::not_found) {
        return Status::ok;
    }
    H5MOTE_TRY(status);
    H5MOTE_TRY(stored.view(body));
    Context& context = checker.file().context;
    H5MOTE_TRY(old ? fill.decode_old(context, body) : fill.decode(context, body));
    const DatatypeView type(type_);
    return fill.value.size() >= type.size() && type.size() != 0
               ? checker.check_value(type, fill.value.first(type.size()))
               : Status::ok;
}

Status DatasetCheck::check_compact(Address header) noexcept {
    std::uint64_t size = 0;
    if (!checked_multiply(elements, std::uint64_t{element_size}, size) || layout.size < size) {
        return checker.bad(ProblemKind::size, CheckPart::raw_data, header, layout.size);
    }
    if (type_.empty()) {
        return Status::ok;
    }
    StoredMessage stored;
    H5MOTE_TRY(checker.judge(stored.find(checker.file(), header, MessageType::layout), CheckPart::raw_data, header));
    return checker.judge(checker.check_values(DatatypeView(type_), stored.bytes(), layout.compact_offset, elements),
                         CheckPart::raw_data, header);
}

Status DatasetCheck::check_contiguous() noexcept {
    if (external && !type_.empty()) {
        checker.refuse(Status::unsupported);  // nobody looks where the values in other files lead
    }
    if (layout.address == kUndefinedAddress || external || null_space) {
        return Status::ok;
    }
    std::uint64_t size = 0;
    if (!checked_multiply(elements, std::uint64_t{element_size}, size)) {
        return checker.bad(ProblemKind::size, CheckPart::raw_data, layout.address, layout.size);
    }
    // Old versions of the layout message do not store the size.
    const Address stored = layout.size == kUndefinedAddress ? narrow(size) : layout.size;
    if (stored < size) {
        (void)checker.bad(ProblemKind::size, CheckPart::raw_data, layout.address, stored);
    }
    H5MOTE_TRY(checker.use(CheckPart::raw_data, layout.address, stored));
    if (type_.empty()) {
        return Status::ok;
    }
    RawWindow raw(checker.file(), layout.address);
    H5MOTE_TRY(checker.judge(raw.open(stored), CheckPart::raw_data, layout.address));
    return checker.judge(checker.check_values(DatatypeView(type_), raw.window, 0, elements), CheckPart::raw_data,
                         layout.address);
}

namespace {

// The number of chunks of the largest extent or, with `now`, of the current one along unlimited dimensions; ~0 if they
// cannot be counted.
std::uint64_t count_chunks(const DatasetCheck& dataset, bool now) noexcept {
    constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
    std::uint64_t chunks = 1;
    for (unsigned i = 0; i < dataset.rank; ++i) {
        const std::uint64_t size = now && dataset.max_dims[i] == kUnlimited ? dataset.dims[i] : dataset.max_dims[i];
        if (size == kUnlimited || !checked_multiply(chunks, chunks_along(size, dataset.chunk_dims[i]), chunks)) {
            return kUnlimited;
        }
    }
    return chunks;
}

}  // namespace

std::uint64_t DatasetCheck::most_chunks() const noexcept { return count_chunks(*this, false); }

std::uint64_t DatasetCheck::chunks_now() const noexcept { return count_chunks(*this, true); }

Status DatasetCheck::check_data(const ChunkLocation& location, const std::uint64_t* scaled, bool encoded) noexcept {
    const Address address = location.address;
    FileState& file = checker.file();
    const bool decode = encoded && checker.verifying() && !checker.only_space();
    if (!checker.options().data || (type_.empty() && !decode)) {
        return Status::ok;
    }
    if (!encoded) {
        if (filtered() && location.size < chunk_bytes) {
            return checker.bad(ProblemKind::size, CheckPart::chunk, address, location.size);
        }
        RawWindow raw(file, address);
        H5MOTE_TRY(checker.judge(raw.open(narrow(chunk_bytes)), CheckPart::chunk, address));
        return check_elements(raw.window, address, scaled);
    }
    MetadataWindow window;
    std::size_t size = 0;
    Bytes to;
    Status status = to_size(chunk_bytes, size) ? window.allocate(file.context, size, to) : Status::out_of_memory;
    if (status == Status::ok) {
        status = pipeline_block_decoder.decode(file, pipeline_, location.mask, address, location.size, to);
    }
    if (status == Status::out_of_memory || status == Status::over_budget) {
        file.context.trail().clear();
        return checker.note(ProblemKind::too_large, CheckPart::chunk, address, chunk_bytes);
    }
    if (status == Status::corrupt_file) {
        file.context.trail().clear();
        return checker.bad(ProblemKind::data, CheckPart::chunk, address);
    }
    if (status == Status::unsupported) {
        file.context.trail().clear();
        return checker.note(ProblemKind::unknown, CheckPart::chunk, address,
                            static_cast<std::uint64_t>(Feature::filter));
    }
    H5MOTE_TRY(checker.judge(status, CheckPart::chunk, address));
    return type_.empty() ? Status::ok : check_elements(window, address, scaled);
}

// Only elements within the extent are values: a power cut may leave others, which refer to nothing.
Status DatasetCheck::check_elements(MetadataWindow& window, Address chunk, const std::uint64_t* scaled) noexcept {
    std::uint64_t at[H5MOTE_MAX_RANK] = {};  // coordinates in the chunk
    const std::uint64_t count = chunk_bytes / element_size;
    for (std::uint64_t element = 0; element < count; ++element) {
        bool within = true;
        for (unsigned i = 0; i < rank; ++i) {
            within = within && (scaled == nullptr ? 0 : scaled[i] * chunk_dims[i]) + at[i] < dims[i];
        }
        if (within) {
            H5MOTE_TRY(
                checker.judge(checker.check_values(DatatypeView(type_), window, narrow(element * element_size), 1),
                              CheckPart::chunk, chunk));
        }
        for (unsigned i = rank; i-- > 0 && ++at[i] == chunk_dims[i];) {
            at[i] = 0;
        }
    }
    return Status::ok;
}

Status DatasetCheck::chunk(const ChunkLocation& location, const std::uint64_t* scaled, Address index,
                           const std::uint64_t* place) noexcept {
    if (location.address == kUndefinedAddress) {
        return Status::ok;
    }
    bool partial = false;
    bool outside = false;
    for (unsigned i = 0; scaled != nullptr && i < rank; ++i) {
        std::uint64_t from = 0;
        if (!checked_multiply(scaled[i], chunk_dims[i], from) || from >= max_dims[i]) {
            return checker.bad(ProblemKind::extent, CheckPart::chunk, index, location.address);
        }
        if (from >= dims[i]) {
            (void)checker.note(ProblemKind::extent, CheckPart::chunk, index, location.address);
            outside = true;
        }
        partial = partial || outside || dims[i] - from < chunk_dims[i];
    }
    const std::uint64_t* const at = place == nullptr ? scaled : place;
    bool ahead = false;
    for (unsigned i = 0; at != nullptr && i < rank; ++i) {
        ahead = ahead || at[i] >= chunks_along(dims[i], chunk_dims[i]);
    }
    H5MOTE_TRY(ahead ? checker.found_ahead() : Status::ok);
    const Address size = filtered() ? location.size : narrow(chunk_bytes);
    if (size == 0) {
        return checker.bad(ProblemKind::size, CheckPart::chunk, location.address, size);
    }
    H5MOTE_TRY(checker.use(CheckPart::chunk, location.address, size));
    // Partial chunks at the edge may be stored unfiltered. Where the index does not tell coordinates, any chunk may be
    // such a one, and nobody knows of one outside of the extent what it was.
    const bool edges = (layout.flags & LayoutMessage::kPartialEdgeUnfiltered) != 0;
    if (!filtered() || !edges || (scaled != nullptr && !outside)) {
        return check_data(location, at, filtered() && !(edges && partial));
    }
    if (!type_.empty()) {
        checker.refuse(Status::unsupported);  // nobody knows where its values lead
    }
    return Status::ok;
}

// Chunks without an index lie one behind the other, in the order of their coordinates.
Status DatasetCheck::check_implicit() noexcept {
    const std::uint64_t chunks = most_chunks();
    std::uint64_t size = 0;
    if (chunks == ~std::uint64_t{0} || !checked_multiply(chunks, chunk_bytes, size)) {
        return checker.bad(ProblemKind::size, CheckPart::raw_data, layout.address, chunk_bytes);
    }
    H5MOTE_TRY(checker.use(CheckPart::raw_data, layout.address, narrow(size)));
    for (std::uint64_t number = 0; number < chunks && !type_.empty(); ++number) {
        std::uint64_t scaled[kMaxRank];
        chunk_place(rank, max_dims, chunk_dims, number, scaled);
        ChunkLocation location;
        location.address = layout.address + narrow(number * chunk_bytes);
        H5MOTE_TRY(go_on(check_data(location, scaled, false)));
    }
    return Status::ok;
}

Status DatasetCheck::check_chunked() noexcept {
    if (layout.address == kUndefinedAddress) {
        return Status::ok;
    }
    ChunkLocation location;
    location.address = layout.address;
    switch (layout.index) {
        case ChunkIndex::single:
            if (elements == 0) {
                return checker.found_ahead();  // its space may belong to others: FreedChunk
            }
            location.size =
                (layout.flags & LayoutMessage::kSingleFiltered) != 0 ? layout.single_size : narrow(chunk_bytes);
            location.mask = (layout.flags & LayoutMessage::kSingleFiltered) != 0 ? layout.single_mask : ~0U;
            return chunk(location, nullptr, layout.address);
        case ChunkIndex::implicit:
            return check_implicit();
        case ChunkIndex::fixed_array:
            return check_fixed_array(layout.address);
        case ChunkIndex::extensible_array:
            return check_extensible_array(layout.address);
        case ChunkIndex::btree2:
            return check_btree2(layout.address);
        case ChunkIndex::btree1:
            return check_btree1(layout.address);
        default:
            return Status::ok;
    }
}

Status DatasetCheck::run(Address header) noexcept {
    const Status status = load(header);
    if (status == Status::corrupt_file || status == Status::not_found || status == Status::overflow) {
        checker.file().context.trail().clear();
        return checker.bad(ProblemKind::malformed, CheckPart::message, header,
                           static_cast<std::uint64_t>(MessageType::layout));
    }
    H5MOTE_TRY(checker.judge(status, CheckPart::message, header));
    if (!type_.empty()) {
        H5MOTE_TRY(go_on(checker.judge(check_fill(header), CheckPart::message, header)));
    }
    switch (layout.layout_class) {
        case Layout::compact:
            return check_compact(header);
        case Layout::contiguous:
            return check_contiguous();
        case Layout::chunked:
            return check_chunked();
        default:
            break;
    }
    // Mappings of a virtual dataset: an object of the global heap.
    return checker.check_heap_object({layout.address, layout.heap_index});
}

Status Checker::check_dataset(Address header) noexcept {
    auto* const check = file_.context.create<DatasetCheck>(MemoryKind::other, *this);
    if (check == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = check->run(header);
    file_.context.destroy(MemoryKind::other, check);
    return status;
}

namespace {

class ChunkTree final : public Tree1Walk {
public:
    ChunkTree(DatasetCheck& dataset, Address root) noexcept
        : Tree1Walk(dataset.checker, CheckPart::chunk_tree, BTree1Node::kChunks), dataset_(dataset) {
        set(dataset.checker.file(), root, dataset.checker.file().foreign()->btree_k.chunk,
            ChunkBTree1Key::size(dataset.rank));
    }

private:
    Status order_of(ConstBytes a, ConstBytes b, int& order) noexcept override {
        order = 0;
        for (unsigned i = 0; i <= dataset_.rank && order == 0; ++i) {
            const std::uint64_t mine = ChunkBTree1Key::offset(a, i);
            const std::uint64_t its = ChunkBTree1Key::offset(b, i);
            order = mine < its ? -1 : mine > its ? 1 : 0;
        }
        return Status::ok;
    }
    Status entry(ConstBytes key, ConstBytes /*next*/, Address child) noexcept override {
        ChunkLocation location;
        location.address = child;
        location.size = ChunkBTree1Key::bytes(key);
        location.mask = ChunkBTree1Key::mask(key);
        for (unsigned i = 0; i < dataset_.rank; ++i) {
            std::uint64_t rest = 0;
            scaled_[i] = divide(ChunkBTree1Key::offset(key, i), dataset_.chunk_dims[i], rest);
            if (rest != 0) {
                return checker_.bad(ProblemKind::extent, CheckPart::chunk, child);
            }
        }
        if (!dataset_.filtered() && location.size != dataset_.chunk_bytes) {
            (void)checker_.bad(ProblemKind::size, CheckPart::chunk, child, location.size);
        }
        return dataset_.chunk(location, scaled_, child);
    }

    DatasetCheck& dataset_;
    std::uint64_t scaled_[DatasetCheck::kMaxRank];
};

struct RecordWork {
    BTree2 tree;
    std::byte record[BTree2::kMaxRecordSize];
    std::uint64_t scaled[DatasetCheck::kMaxRank];
    std::uint64_t last[DatasetCheck::kMaxRank];
};

Status check_records(DatasetCheck& dataset, RecordWork& work, Address address) noexcept {
    Checker& checker = dataset.checker;
    H5MOTE_TRY(checker.check_btree2(work.tree, CheckPart::chunk_tree, address));
    const BTree2Type type = dataset.filtered() ? BTree2Type::chunk_filtered : BTree2Type::chunk;
    const std::size_t size = dataset.element().size() + std::size_t{8} * dataset.rank;
    if (work.tree.type() != type || work.tree.record_size() != size) {
        return checker.bad(ProblemKind::malformed, CheckPart::chunk_tree, address);
    }
    for (std::uint64_t i = 0; i < work.tree.size(); ++i) {
        ChunkLocation location;
        H5MOTE_TRY(checker.judge(work.tree.record(i, work.record), CheckPart::chunk_tree, address));
        if (!ChunkRecord::decode(checker.shape(), type, dataset.rank, {work.record, work.tree.record_size()}, location,
                                 work.scaled)) {
            return checker.bad(ProblemKind::malformed, CheckPart::chunk_tree, address);
        }
        int order = i == 0 ? 1 : 0;
        for (unsigned d = 0; d < dataset.rank && order == 0; ++d) {
            order = work.scaled[d] > work.last[d] ? 1 : work.scaled[d] < work.last[d] ? -1 : 0;
        }
        if (order <= 0) {
            (void)checker.bad(ProblemKind::order, CheckPart::chunk_tree, address);
        }
        std::memcpy(work.last, work.scaled, sizeof work.last);
        // A record without an address holds the place of a chunk that was never stored.
        if (location.address != kUndefinedAddress) {
            H5MOTE_TRY(go_on(dataset.chunk(location, work.scaled, address)));
        }
    }
    return Status::ok;
}

}  // namespace

Status DatasetCheck::check_btree1(Address address) noexcept {
    Context& context = checker.file().context;
    auto* const tree = context.create<ChunkTree>(MemoryKind::other, *this, address);
    if (tree == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = tree->run();
    context.destroy(MemoryKind::other, tree);
    return status;
}

Status DatasetCheck::check_btree2(Address address) noexcept {
    Context& context = checker.file().context;
    auto* const work = context.create<RecordWork>(MemoryKind::other);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    const Status status = check_records(*this, *work, address);
    context.destroy(MemoryKind::other, work);
    return status;
}

}  // namespace h5mote

#endif
