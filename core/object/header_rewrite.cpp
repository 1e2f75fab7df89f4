#include "header_rewrite.hpp"

#include "old_prefix.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The least null message behind the new messages; the next message that is added may find room there.
constexpr std::size_t kSpare = 64;

class Rewrite {
public:
    Rewrite(FileState& file, Address header, HeaderEditor& editor) noexcept
        : file_(file), header_(header), editor_(editor) {}

    Status run() noexcept {
        Pinned first;
        std::size_t at = 0;
        H5MOTE_TRY(file_.write_waiting_number());
        H5MOTE_TRY(cut_header(file_, header_, first, at));
        const Address old = file_.shape().load_addr(first->at(at));
        const Address old_size =
            narrow(load_uint(first->at(at) + file_.shape().sizeof_addr, file_.shape().sizeof_size));
        HeaderPrefix prefix;
        H5MOTE_TRY(prefix.decode(file_.context, first->image()));
        layout_ = prefix.layout();
        first.reset();
        MetadataWriter counter;
        H5MOTE_TRY(write(counter));
        if (first_.goes()) {
            H5MOTE_TRY(file_.allow_torn());  // its head crosses the end of a unit
        }
        const std::size_t size = counter.written() + layout_.checksum_size();
        // A block that the cache cannot hold could be read, but not be changed any more.
        if (size > file_.cache.budget() / 4) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size);
        }
        Address address = 0;
        H5MOTE_TRY(file_.space.allocate(Usage::object_header, narrow(size), address));
        file_.space.unkeep_metadata(narrow(size));  // the block is written now
        MetadataWriter writer(file_, Usage::object_header, address, narrow(counter.written()));
        Status status = write(writer);
        status = status == Status::ok ? writer.end(layout_.checksum_size() != 0) : status;
        status = status == Status::ok ? cut_header(file_, header_, first, at) : status;
        status = status == Status::ok && first_.replaced ? replace_first(*first) : status;
        if (status != Status::ok) {
            file_.give_up(address, narrow(size), true);
            return status;
        }
        file_.shape().store_addr(first->at(at), address);
        store_uint(first->at(at) + file_.shape().sizeof_addr, file_.shape().sizeof_size, size);
        std::size_t from = first_.replaced ? first_.offset : at;
        if (first_.goes()) {
            from = first_.offset - layout_.head_size();
            Writer head{Bytes(first->at(from), layout_.head_size())};
            write_message_head(head, layout_, MessageType::null, first_.size);
        }
        MetadataCache::mark_dirty(*first, from, Phase::object);
        first.reset();
        give_up_old(old, static_cast<std::uint32_t>(old_size));
        if (layout_.is_old()) {
            count_messages(file_, header_, Phase::object);
        }
        return Status::ok;
    }

private:
    // The message that keeps its place in the first block. Type null: there is none.
    struct First {
        MessageType type = MessageType::null;
        std::uint8_t flags = 0;
        std::uint16_t order = 0;
        std::size_t size = 0;
        std::size_t offset = 0;
        bool stays = false;     // as it is
        bool replaced = false;  // one of the new messages differs from it in the body only, and takes its place
        bool goes() const noexcept { return type != MessageType::null && !stays && !replaced; }
    };

    bool replaces_first(const NewMessage& message, std::size_t body) const noexcept {
        return first_.type == message.type && !first_.stays && first_.flags == message.flags &&
               first_.order == message.order && first_.size == body;
    }

    Status replace_first(CacheEntry& first) noexcept {
        NewMessage message;
        ConstBytes body;
        for (unsigned i = 0; body.size() != first_.size; ++i) {
            H5MOTE_TRY(editor_.added(i, message));
            if (replaces_first(message, static_cast<std::size_t>(message.content->size()))) {
                H5MOTE_TRY(message.content->peek(0, body));
            }
        }
        std::memcpy(first.at(first_.offset), body.data(), first_.size);
        return Status::ok;
    }

    Status put_head(MetadataWriter& writer, MessageType type, std::size_t size, std::uint8_t flags,
                    std::uint16_t order) noexcept {
        std::byte head[MessageSlot::kMostHead];
        Writer out{Bytes(head)};
        write_message_head(out, layout_, type, size, flags, order);
        return writer.put({head, layout_.head_size()});
    }

    Status write(MetadataWriter& writer) noexcept {
        if (layout_.block_prefix() != 0) {
            std::byte signature[4];
            store_le<std::uint32_t>(signature, kContinuationSignature);
            H5MOTE_TRY(writer.put(signature));
        }
        H5MOTE_TRY(write_kept(writer));
        H5MOTE_TRY(write_added(writer));
        static constexpr std::byte kZeros[kSpare] = {};
        H5MOTE_TRY(put_head(writer, MessageType::null, kSpare, 0, 0));
        return writer.put(kZeros);
    }

    Status write_kept(MetadataWriter& writer) noexcept {
        MessageIterator message(file_, header_);
        first_ = {};
        Status status;
        while ((status = message.next()) == Status::ok) {
            if (stays_first(message)) {
                first_ = {message.type(), message.flags(),  message.order(),
                          message.size(), message.offset(), editor_.stays(message),
                          false};
                continue;
            }
            if (message.type() == MessageType::null || message.type() == MessageType::continuation ||
                !editor_.stays(message)) {
                continue;
            }
            H5MOTE_TRY(put_head(writer, message.type(), message.size(), message.flags(), message.order()));
            MetadataWindow body;
            H5MOTE_TRY(message.open_body(body));
            WindowContent content(body);
            H5MOTE_TRY(put_content(writer, content, 0, content.size()));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status write_added(MetadataWriter& writer) noexcept {
        NewMessage message;
        Status status;
        for (unsigned i = 0; (status = editor_.added(i, message)) == Status::ok; ++i) {
            const Address size = message.content->size();
            const auto body = size > 0xffff ? std::size_t{0} : layout_.body_size(static_cast<std::size_t>(size));
            if (size > 0xffff || !layout_.can_hold(static_cast<std::size_t>(size))) {
                return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size);
            }
            if (!first_.replaced && replaces_first(message, body)) {
                ConstBytes bytes;
                H5MOTE_TRY(message.content->peek(0, bytes));
                first_.replaced = bytes.size() == body;
                if (first_.replaced) {
                    continue;
                }
            }
            H5MOTE_TRY(put_head(writer, message.type, body, message.flags, message.order));
            H5MOTE_TRY(put_content(writer, *message.content, 0, size));
            static constexpr std::byte kPadding[8] = {};
            H5MOTE_TRY(writer.put({kPadding, body - static_cast<std::size_t>(size)}));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    // The old blocks lead to each other. What cannot be read is lost space.
    void give_up_old(Address block, std::uint32_t size) noexcept {
        MessageIterator message(file_, header_);
        message.restart_at(layout_, block, size);
        Disposal disposal(file_, false);
        Address last = kUndefinedAddress;
        Address last_size = 0;
        Status status;
        while ((status = message.next()) == Status::ok) {
            if (message.block_address() != last) {
                (void)disposal.give(last, last_size);
                last = message.block_address();
                last_size = message.block_size();
            }
        }
        (void)disposal.give(last, last_size);
        if (status != Status::not_found) {
            file_.space.free().set_complete(false);
        }
    }

    FileState& file_;
    Address header_;
    HeaderEditor& editor_;
    HeaderLayout layout_;
    First first_;
};

}  // namespace

Status rewrite_header(FileState& file, Address header, HeaderEditor& editor) noexcept {
    return Rewrite(file, header, editor).run();
}

}  // namespace h5mote

#endif
