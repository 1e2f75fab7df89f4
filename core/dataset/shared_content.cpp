#include "shared_content.hpp"

#include "dataspace_message.hpp"
#include "fractal_heap_changes.hpp"

namespace h5mote {
namespace {

// The rule without which a power cut may leave a dataset whose shared messages do not count it.
enum class SharedContentRule {
    none,
    count_uses,
};

// Of the messages while they are gathered.
constexpr HeaderLayout kLayout;

constexpr bool keep(SharedContentRule rule) noexcept { return rule != SharedContentRule::H5MOTE_TEST_OMIT; }

}  // namespace

Status SharedContent::share(MessageType type, ConstBytes body, Bytes reference, bool& shared) noexcept {
    shared = false;
    if (body.size() <= SharedReference::kHeapSize) {
        return Status::ok;  // a reference is no shorter
    }
    if (type == MessageType::dataspace) {
        DataspaceMessage space;
        H5MOTE_TRY(space.decode(file_.context, file_.shape(), body));
        for (unsigned i = 0; i < space.rank; ++i) {
            if (space.dim(i) != space.max_dim(i)) {
                return Status::ok;
            }
        }
    } else if (type != MessageType::datatype && type != MessageType::fill_value &&
               type != MessageType::filter_pipeline) {
        return Status::ok;
    }
    BytesContent content(body);
    H5MOTE_TRY(share_message(file_, type, content, reference, shared));
    return shared ? uses_.add(type, reference) : Status::ok;
}

Status SharedContent::take(const HeaderContent& content) noexcept {
    set_prefix(content);
    Writer counter;
    HeaderWriter measure(counter, file_.shape());
    content.write(measure);
    H5MOTE_TRY(measure.check(file_.context));
    H5MOTE_TRY(bytes_.reserve(counter.written()));
    Writer writer(bytes_.first(counter.written()));
    HeaderWriter header(writer, file_.shape());
    content.write(header);
    const std::size_t head = kLayout.head_size();
    std::byte* const bytes = bytes_.data();
    for (std::size_t from = 0; from < writer.written();) {
        MessageSlot slot;
        slot.decode(kLayout, bytes + from);
        std::byte reference[SharedReference::kHeapSize];
        bool shared = false;
        const Status status =
            (slot.flags & kMessageShared) != 0
                ? Status::ok
                : share(static_cast<MessageType>(slot.type), {bytes + from + head, slot.size}, reference, shared);
        if (status != Status::ok) {
            release();
            return status;
        }
        // A reference is shorter than what it replaces, so that nothing is overwritten that is still to be read.
        const std::size_t old = head + slot.size;
        const std::size_t size = shared ? head + sizeof reference : old;
        std::memmove(bytes + size_, bytes + from, size);
        if (shared) {
            Writer again({bytes + size_, head});
            write_message_head(again, kLayout, static_cast<MessageType>(slot.type), sizeof reference,
                               slot.flags | kMessageShared, 0);
            std::memcpy(bytes + size_ + head, reference, sizeof reference);
        }
        size_ += size;
        from += old;
    }
    const Status status = uses_.empty() || !keep(SharedContentRule::count_uses) ? Status::ok : file_.order();
    if (status != Status::ok) {
        release();
    }
    return status;
}

void SharedContent::write(HeaderWriter& header) const noexcept {
    const std::size_t head = kLayout.head_size();
    for (std::size_t at = 0; at < size_;) {
        MessageSlot slot;
        slot.decode(kLayout, bytes_.data() + at);
        header.begin(static_cast<MessageType>(slot.type), slot.flags);
        header.out.bytes({bytes_.data() + at + head, slot.size});
        header.end();
        at += head + slot.size;
    }
}

Status create_sharing_header(FileState& file, const HeaderContent& content, Address& address) noexcept {
    SharedContent shared(file);
    H5MOTE_TRY(shared.take(content));
    const Status status = create_header(file, shared, address);
    if (status != Status::ok) {
        shared.release();
    }
    return status;
}

}  // namespace h5mote
