// The file space info message of HDF5 1.10.0, which is replaced before free space is recorded in the file.

#include "extension_messages.hpp"
#include "free_space.hpp"
#include "header.hpp"

namespace h5mote {
namespace {

class SpaceInfoContent final : public MessageContent {
public:
    SpaceInfoContent(const FileSpaceInfoMessage& message, FileShape shape) noexcept
        : message_(message), shape_(shape) {}
    void write(Writer& writer) const noexcept override { message_.encode(shape_, writer); }

private:
    const FileSpaceInfoMessage& message_;
    FileShape shape_;
};

}  // namespace

Status renew_space_info(FileState& file) noexcept {
    MessageIterator message(file, file.superblock().extension);
    H5MOTE_TRY(find_space_info(message));
    FileSpaceInfoMessage info;
    (void)info.decode(file.shape(), message.body());
    if (info.version != 0) {
        return Status::ok;
    }
    return info.renew() ? replace_short_message(message, unsigned{kMessageNotShareable} | kMessageMarkIfUnknown,
                                                SpaceInfoContent(info, file.shape()))
                        : damaged_message(file.context, H5MOTE_HERE, message.type());
}

}  // namespace h5mote
