#include "header_rewrite.hpp"

#include "checksum.hpp"

#include <cstring>

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The least null message behind the new messages; the next message that is added may find room there.
constexpr std::size_t kSpare = 64;

// Writes the new block, from its start to its end, in pieces. Without a file it only counts.
class BlockWriter {
public:
    explicit BlockWriter(FileState* file, Address address, std::size_t size) noexcept
        : file_(file), at_(address), sum_(static_cast<std::uint32_t>(size)) {}

    std::size_t written() const noexcept { return written_; }
    Status put(ConstBytes bytes) noexcept {
        written_ += bytes.size();
        while (file_ != nullptr && !bytes.empty()) {
            const std::size_t room = sizeof piece_ - held_;
            const std::size_t now = bytes.size() < room ? bytes.size() : room;
            std::memcpy(piece_ + held_, bytes.data(), now);
            held_ += now;
            bytes = bytes.subspan(now);
            if (held_ == sizeof piece_) {
                H5MOTE_TRY(flush(true));
            }
        }
        return Status::ok;
    }
    Status end() noexcept {
        H5MOTE_TRY(flush(true));
        store_le<std::uint32_t>(piece_, sum_.finish());
        held_ = kChecksumSize;
        return flush(false);
    }

private:
    Status flush(bool sum) noexcept {
        const ConstBytes bytes{piece_, held_};
        if (sum) {
            sum_.update(bytes);
        }
        held_ = 0;
        if (bytes.empty()) {
            return Status::ok;
        }
        file_->unsynced = true;
        H5MOTE_TRY(told(file_->context, file_->driver, H5MOTE_HERE,
                        file_->driver.write(Usage::object_header, at_, bytes), at_));
        at_ += static_cast<Address>(bytes.size());
        return Status::ok;
    }

    FileState* file_;
    Address at_;
    Lookup3Stream sum_;
    std::size_t written_ = 0;
    std::size_t held_ = 0;
    std::byte piece_[240];  // a multiple of 12, as the checksum wants its pieces
};

class Rewrite {
public:
    Rewrite(FileState& file, Address header, HeaderEditor& editor) noexcept
        : file_(file), header_(header), editor_(editor) {}

    Status run() noexcept {
        Pinned first;
        std::size_t at = 0;
        H5MOTE_TRY(cut_header(file_, header_, first, at));
        const Address old = file_.shape().load_addr(first->at(at));
        const Address old_size =
            narrow(load_uint(first->at(at) + file_.shape().sizeof_addr, file_.shape().sizeof_size));
        first.reset();
        BlockWriter counter(nullptr, 0, 0);
        H5MOTE_TRY(write(counter));
        const std::size_t size = counter.written() + kChecksumSize;
        // A block that the cache cannot hold could be read, but not be changed any more.
        if (size > file_.cache.budget() / 4) {
            return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size);
        }
        Address address = 0;
        H5MOTE_TRY(file_.space.allocate(Usage::object_header, narrow(size), address));
        file_.space.unkeep_metadata(narrow(size));  // the block is written now
        BlockWriter writer(&file_, address, counter.written());
        Status status = write(writer);
        status = status == Status::ok ? writer.end() : status;
        status = status == Status::ok ? cut_header(file_, header_, first, at) : status;
        if (status != Status::ok) {
            file_.give_up(address, narrow(size), true);
            return status;
        }
        file_.shape().store_addr(first->at(at), address);
        store_uint(first->at(at) + file_.shape().sizeof_addr, file_.shape().sizeof_size, size);
        MetadataCache::mark_dirty(*first, at, Phase::object);
        first.reset();
        give_up_old(old, static_cast<std::uint32_t>(old_size));
        return Status::ok;
    }

private:
    Status put_head(BlockWriter& writer, MessageType type, std::size_t size, std::uint8_t flags,
                    std::uint16_t order) noexcept {
        std::byte head[MessageSlot::kMostHead];
        Writer out{Bytes(head)};
        write_message_head(out, layout_, type, size, flags, order);
        return writer.put({head, layout_.head_size()});
    }

    Status write(BlockWriter& writer) noexcept {
        std::byte signature[4];
        store_le<std::uint32_t>(signature, kContinuationSignature);
        H5MOTE_TRY(writer.put(signature));
        H5MOTE_TRY(write_kept(writer));
        H5MOTE_TRY(write_added(writer));
        static constexpr std::byte kZeros[kSpare] = {};
        H5MOTE_TRY(put_head(writer, MessageType::null, kSpare, 0, 0));
        return writer.put(kZeros);
    }

    Status write_kept(BlockWriter& writer) noexcept {
        MessageIterator message(file_, header_);
        Status status;
        while ((status = message.next()) == Status::ok) {
            layout_ = message.layout();
            if (message.type() == MessageType::null || message.type() == MessageType::continuation ||
                !editor_.stays(message)) {
                continue;
            }
            H5MOTE_TRY(put_head(writer, message.type(), message.size(), message.flags(), message.order()));
            MetadataWindow body;
            H5MOTE_TRY(message.open_body(body));
            WindowContent content(body);
            H5MOTE_TRY(write_content(writer, content));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    Status write_added(BlockWriter& writer) noexcept {
        NewMessage message;
        Status status;
        for (unsigned i = 0; (status = editor_.added(i, message)) == Status::ok; ++i) {
            const Address size = message.content->size();
            if (size > 0xffff) {
                return file_.context.fail(Module::object, H5MOTE_HERE, Status::over_budget, 0, size);
            }
            H5MOTE_TRY(put_head(writer, message.type, static_cast<std::size_t>(size), message.flags, message.order));
            H5MOTE_TRY(write_content(writer, *message.content));
        }
        return status == Status::not_found ? Status::ok : status;
    }

    static Status write_content(BlockWriter& writer, HeapContent& content) noexcept {
        for (Address done = 0; done < content.size();) {
            ConstBytes piece;
            H5MOTE_TRY(content.peek(done, piece));
            const Address left = content.size() - done;
            piece = piece.first(left < piece.size() ? static_cast<std::size_t>(left) : piece.size());
            H5MOTE_TRY(writer.put(piece));
            done += static_cast<Address>(piece.size());
        }
        return Status::ok;
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
};

}  // namespace

Status rewrite_header(FileState& file, Address header, HeaderEditor& editor) noexcept {
    return Rewrite(file, header, editor).run();
}

}  // namespace h5mote

#endif
