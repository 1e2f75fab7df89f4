// H5SM - the header of a new dataset in a file that keeps equal messages only once.
#pragma once

#include "header.hpp"
#include "owned_bytes.hpp"
#include "shared_attributes.hpp"

namespace h5mote {

/// The messages of another header, of which those that the file shares are references.
class SharedContent final : public HeaderContent {
public:
    explicit SharedContent(FileState& file) noexcept : file_(file), bytes_(file.context), uses_(file) {}

    /// Takes the messages of `content`, and shares what can be: each counts as one use, on the storage when this
    /// returns. The dataspace of a dataset that can grow is not shared, because it changes. After an error nothing is
    /// used.
    Status take(const HeaderContent& content) noexcept;
    void write(HeaderWriter& header) const noexcept override;
    /// The header is not to be: its uses end.
    void release() noexcept { uses_.release(); }

private:
    Status share(MessageType type, ConstBytes body, Bytes reference, bool& shared) noexcept;

    FileState& file_;
    OwnedBytes bytes_;  // the messages, as they stand in a header of version 2
    std::size_t size_ = 0;
    SharedUses uses_;
};

}  // namespace h5mote
