// H5G (H5G_obj_insert) - a group gets the storage of newer groups in the place of its symbol table.
#include "symbol_table_changes.hpp"

#include "dense_changes.hpp"
#include "header_rewrite.hpp"
#include "link_storage.hpp"
#include "object_messages.hpp"
#include "owned_bytes.hpp"

#if H5MOTE_ALL_FORMATS && H5MOTE_WRITE

namespace h5mote {
namespace {

// The header gets a link info message and a group info message, as libhdf5 makes them by default, and the links, unless
// these are in dense storage.
class ConversionEditor final : public HeaderEditor {
public:
    ConversionEditor(FileState& file, Address group) noexcept
        : file_(file), group_(group), cursor_(file), link_(file.context) {
        Writer writer{Bytes(group_info_)};
        GroupInfoMessage::encode(writer);
    }

    void set_storage(const DenseAddresses& dense) noexcept {
        Writer writer{Bytes(link_info_)};
        encode_dense_info(writer, file_.shape(), 8, 0, 0, dense);
        link_info_size_ = writer.written();
        with_links_ = dense.heap == kUndefinedAddress;
    }

    bool stays(MessageIterator& message) noexcept override { return message.type() != MessageType::symbol_table; }
    Status added(unsigned i, NewMessage& message) noexcept override {
        message.content = &content_;
        if (i == 0) {
            message.type = MessageType::link_info;
            content_ = BytesContent({link_info_, link_info_size_});
            return Status::ok;
        }
        if (i == 1) {
            message.type = MessageType::group_info;
            message.flags = kMessageConstant;
            content_ = BytesContent(ConstBytes(group_info_));
            return with_links_ ? cursor_.open(group_) : Status::ok;
        }
        message.type = MessageType::link;
        message.flags = 0;
        return with_links_ ? next() : Status::not_found;
    }

private:
    Status next() noexcept {
        StoredLink stored;
        const Status status = cursor_.next(stored);
        cursor_.park();
        H5MOTE_TRY(status);
        Writer counter;
        stored.link.encode(counter, file_.shape());
        H5MOTE_TRY(link_.reserve(counter.written()));
        Writer writer(link_.first(counter.written()));
        stored.link.encode(writer, file_.shape());
        content_ = BytesContent(link_.first(counter.written()));
        return Status::ok;
    }

    FileState& file_;
    Address group_;
    LinkCursor cursor_;
    OwnedBytes link_;  // the message of the link at hand
    BytesContent content_{ConstBytes{}};
    std::byte link_info_[2 + 8 + 3 * 8];
    std::byte group_info_[GroupInfoMessage::kHeadSize];
    std::size_t link_info_size_ = 0;
    bool with_links_ = true;
};

Status count_links(FileState& file, Address group, std::uint64_t& links) noexcept {
    LinkCursor cursor(file);
    H5MOTE_TRY(cursor.open(group));
    return cursor.count(links);
}

Status rewrite(FileState& file, Address group, const DenseAddresses& dense) noexcept {
    Temporary<ConversionEditor> editor(file.context, file, group);
    if (!editor) {
        return Status::out_of_memory;
    }
    editor->set_storage(dense);
    return rewrite_header(file, group, *editor);
}

Status rewrite_dense(FileState& file, Address group) noexcept {
    const DenseChangesFormat* const format = file.context.formats().dense_changes;
    if (format == nullptr) {
        return file.context.unsupported(Module::group, H5MOTE_HERE, Feature::dense_links);
    }
    DenseAddresses dense;
    H5MOTE_TRY(format->take_symbols(file, group, dense));
    const Status status = rewrite(file, group, dense);
    if (status != Status::ok) {
        Disposal disposal(file, false);
        (void)format->dispose(file, dense, disposal);
    }
    return status;
}

}  // namespace

Status convert_symbol_table(FileState& file, Address group) noexcept {
    H5MOTE_TRY(prepare_table(file, group));
    GroupStorage storage;
    H5MOTE_TRY(storage.open(file, group));
    if (storage.kind != LinkStorage::symbol_table) {
        return Status::ok;
    }
    std::uint64_t links = 0;
    H5MOTE_TRY(count_links(file, group, links));
    // Where one kind of storage is not possible, the group gets the other one.
    const bool few = links <= GroupInfo{}.max_compact;
    Status status = few ? rewrite(file, group, {}) : rewrite_dense(file, group);
    if (status == Status::over_budget || status == Status::unsupported) {
        // If neither is possible, the error is that of the kind that the group should have.
        const Status other = few ? rewrite_dense(file, group) : rewrite(file, group, {});
        status = other == Status::unsupported ? status : other;
    }
    H5MOTE_TRY(status);
    if (group == file.root()) {
        file.forget_root_table();
    }
    Disposal disposal(file, false);
    if (file.context.formats().symbol_table_changes->dispose(file, storage.symbols, disposal) != Status::ok) {
        file.space.free().set_complete(false);
    }
    return Status::ok;
}

}  // namespace h5mote

#endif
