// H5O (H5Oset_comment) - comments of objects.

#include "header.hpp"
#include "object_messages.hpp"
#include "text.hpp"

#include <h5mote/object.hpp>

namespace h5mote {
namespace {

class CommentContent final : public MessageContent {
public:
    explicit CommentContent(std::string_view text) noexcept : text_(text) {}
    void write(Writer& writer) const noexcept override { CommentMessage::encode(writer, bytes_of(text_)); }

private:
    std::string_view text_;
};

}  // namespace

Status Object::set_comment(std::string_view text) noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    FileState& file = *file_;
    H5MOTE_TRY(file.check_writable());
    if (text.size() > 0xfffe || (!text.empty() && !is_name(text))) {
        return file.context.fail(Module::object, H5MOTE_HERE, Status::invalid_argument, 0, text.size());
    }
    const CommentContent content(text);
    MessageIterator message(file, address_);
    const Status status = message.next(MessageType::comment);
    if (status == Status::not_found) {
        message.park();
        return text.empty() ? Status::ok : add_message(file, address_, MessageType::comment, 0, 0, content);
    }
    H5MOTE_TRY(status);
    return text.empty() ? remove_message(message) : replace_short_message(message, content);
}

}  // namespace h5mote
