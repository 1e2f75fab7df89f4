// Messages that the whole file shares: the master table, indexes, heaps.

#include "attribute_storage.hpp"
#include "btree2.hpp"
#include "checker.hpp"
#include "checksum.hpp"
#include "committed_type.hpp"
#include "fractal_heap.hpp"
#include "stored_message.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

constexpr CheckPart kPart = CheckPart::shared_messages;

struct SharedWork {
    SharedIndex index;
    FractalHeap heap;
    BTree2 tree;
    MetadataWindow message;
    std::byte record[BTree2::kMaxRecordSize];
};

class SharedCheck {
public:
    SharedCheck(Checker& checker, SharedWork& work) noexcept : checker_(checker), work_(work) {}

    Status run() noexcept {
        if (work_.index.heap != kUndefinedAddress) {
            H5MOTE_TRY(checker_.check_fractal_heap(work_.heap, work_.index.heap));
        }
        if (work_.index.index == kUndefinedAddress) {
            return Status::ok;
        }
        return work_.index.btree ? check_tree() : check_list();
    }

private:
    Status check_record(ConstBytes bytes) noexcept {
        SharedMessageRecord record;
        if (!record.decode(checker_.shape(), bytes)) {
            return checker_.bad(ProblemKind::malformed, kPart, work_.index.index);
        }
        if (!record.in_heap || !checker_.verifying()) {
            tell(static_cast<MessageType>(record.message_type), 1);
            return Status::ok;
        }
        H5MOTE_TRY(checker_.judge(work_.heap.object(record.heap_id, work_.message), kPart, work_.index.heap));
        ConstBytes body;
        const auto size = static_cast<std::size_t>(work_.message.size());
        H5MOTE_TRY(checker_.judge(work_.message.view(0, size, body), kPart, work_.index.heap));
        // The hash is seeded with the type of the message, which the record does not hold: try all types of this index.
        bool same = false;
        auto type = MessageType::null;
        for (std::uint32_t i = 0; i < 16 && !same; ++i) {
            type = static_cast<MessageType>(i);
            same = work_.index.holds(type) && lookup3(body, i) == record.hash;
        }
        const Address at = work_.message.address();
        const Status status = same && type == MessageType::attribute ? count_user() : Status::ok;
        work_.message.close();
        if (same) {
            tell(type, record.references);
        }
        return same ? status : checker_.bad(ProblemKind::hash, kPart, at);
    }

    void tell(MessageType type, std::uint32_t users) noexcept {
        checker_.tell({kPart, static_cast<std::uint8_t>(type), 0, static_cast<std::uint8_t>(work_.index.btree), users});
    }

    // An attribute is one user of its committed datatype. What is wrong with it is found where an object has it.
    Status count_user() noexcept {
        AttributeParts parts;
        ConstBytes reference;
        Address committed = kUndefinedAddress;
        Context& context = checker_.file().context;
        Status status = decode_attribute(context, work_.message, parts);
        if (status == Status::ok && (parts.flags & AttributeParts::kSharedType) != 0) {
            status = work_.message.view(parts.type, parts.type_size, reference);
            status = status == Status::ok ? committed_type_at(checker_.file(), reference, committed) : status;
        }
        if (status == Status::corrupt_file || status == Status::unsupported) {
            context.trail().clear();
            return Status::ok;
        }
        H5MOTE_TRY(checker_.judge(status, kPart, work_.index.heap));
        return committed == kUndefinedAddress ? Status::ok : checker_.link_to(committed);
    }

    Status check_list() noexcept {
        const std::size_t size = SharedMessageRecord::size(checker_.shape());
        const Address address = work_.index.index;
        const Address used = SharedList::size(checker_.shape(), work_.index.messages);
        if (work_.index.messages > work_.index.list_max) {
            return checker_.bad(ProblemKind::count, kPart, address, work_.index.messages);
        }
        H5MOTE_TRY(checker_.use(kPart, address, SharedList::size(checker_.shape(), work_.index.list_max)));
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(
            checker_.judge(checker_.file().window(Usage::object_header, address, used, true, window), kPart, address));
        H5MOTE_TRY(checker_.judge(window.view(0, SharedList::kPrefixSize, bytes), kPart, address));
        if (!SharedList::is_list(bytes)) {
            return checker_.bad(ProblemKind::malformed, kPart, address);
        }
        for (unsigned i = 0; i < work_.index.messages; ++i) {
            H5MOTE_TRY(
                checker_.judge(window.view(SharedList::offset(checker_.shape(), i), size, bytes), kPart, address));
            std::memcpy(work_.record, bytes.data(), bytes.size());
            H5MOTE_TRY(go_on(check_record({work_.record, size})));
        }
        return Status::ok;
    }

    Status check_tree() noexcept {
        const Address address = work_.index.index;
        H5MOTE_TRY(checker_.check_btree2(work_.tree, kPart, address));
        if (work_.tree.type() != BTree2Type::shared_message) {
            return checker_.bad(ProblemKind::malformed, kPart, address);
        }
        // A count that is too high only keeps the index from being given up with its last message.
        if (work_.tree.size() > work_.index.messages) {
            (void)checker_.bad(ProblemKind::count, kPart, address, work_.tree.size());
        } else if (work_.tree.size() < work_.index.messages) {
            (void)checker_.note(ProblemKind::count, kPart, address, work_.tree.size());
        }
        for (std::uint64_t i = 0; i < work_.tree.size(); ++i) {
            H5MOTE_TRY(checker_.judge(work_.tree.record(i, work_.record), kPart, address));
            H5MOTE_TRY(go_on(check_record({work_.record, work_.tree.record_size()})));
        }
        return Status::ok;
    }

    Checker& checker_;
    SharedWork& work_;
};

// The messages that an index finds in object headers.
class OwnerCheck {
public:
    OwnerCheck(Checker& checker, SharedWork& work) noexcept : checker_(checker), work_(work) {}

    Status run(unsigned i) noexcept {
        FileState& file = checker_.file();
        H5MOTE_TRY(read_shared_index(file, i, work_.index));
        if (work_.index.index == kUndefinedAddress) {
            return Status::ok;
        }
        MetadataWindow list;
        H5MOTE_TRY(work_.index.btree ? work_.tree.open(file, work_.index.index)
                                     : file.window(Usage::object_header, work_.index.index,
                                                   SharedList::size(file.shape(), work_.index.messages), true, list));
        const std::size_t size = SharedMessageRecord::size(file.shape());
        const std::uint64_t count = work_.index.btree ? work_.tree.size() : work_.index.messages;
        for (std::uint64_t each = 0; each < count; ++each) {
            const Bytes bytes{work_.record, size};
            H5MOTE_TRY(work_.index.btree
                           ? work_.tree.record(each, work_.record)
                           : list.read(SharedList::offset(file.shape(), static_cast<unsigned>(each)), bytes));
            SharedMessageRecord record;
            if (record.decode(file.shape(), bytes) && !record.in_heap) {
                H5MOTE_TRY(go_on(check(record)));
            }
        }
        return Status::ok;
    }

private:
    // The object may have gone while the index could not be changed: its header has stayed then, and is in use.
    Status check(const SharedMessageRecord& record) noexcept {
        MessageIterator message(checker_.file(), record.header);
        const bool lost = !checker_.knows(record.header);
        bool found = false;
        Address last = kUndefinedAddress;
        Status status;
        while ((status = message.next()) == Status::ok) {
            found = found || static_cast<std::uint8_t>(message.type()) == record.message_type;
            if (lost && message.block_address() != last) {
                last = message.block_address();
                H5MOTE_TRY(go_on(checker_.use(kPart, last, message.block_size(), true)));
            }
        }
        if (status != Status::not_found) {
            return checker_.judge(status, kPart, record.header);
        }
        return found ? Status::ok : checker_.bad(ProblemKind::malformed, kPart, record.header);
    }

    Checker& checker_;
    SharedWork& work_;
};

}  // namespace

// What is wrong with the indexes themselves was found before.
Status Checker::check_message_owners() noexcept {
    auto* const work = file_.context.create<SharedWork>(MemoryKind::other);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    Status status = Status::ok;
    for (unsigned i = 0; status == Status::ok && i < file_.foreign()->shared_indexes; ++i) {
        status = judge(OwnerCheck(*this, *work).run(i), kPart, file_.foreign()->shared_table);
        status = go_on(status);
    }
    file_.context.destroy(MemoryKind::other, work);
    return status;
}

Status Checker::check_shared_messages() noexcept {
    H5MOTE_TRY(use(kPart, file_.foreign()->shared_table, SharedTable::size(shape(), file_.foreign()->shared_indexes)));
    auto* const work = file_.context.create<SharedWork>(MemoryKind::other);
    if (work == nullptr) {
        return Status::out_of_memory;
    }
    Status status = Status::ok;
    for (unsigned i = 0; status == Status::ok && i < file_.foreign()->shared_indexes; ++i) {
        status = judge(read_shared_index(file_, i, work->index), kPart, file_.foreign()->shared_table);
        if (status == Status::ok) {
            status = go_on(SharedCheck(*this, *work).run());
        }
    }
    file_.context.destroy(MemoryKind::other, work);
    return status;
}

}  // namespace h5mote

#endif
