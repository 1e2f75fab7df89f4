// H5O - the headers of objects, in the order in which a walk over a file meets them.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

#include <cstring>

namespace h5mote {

/// A header that is added a second time stays where it is: several links may lead to one object.
class HeaderList {
public:
    explicit HeaderList(Context& context) noexcept : context_(context) {}
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;
    ~HeaderList() { context_.release(MemoryKind::other, headers_, room_ * sizeof(Address)); }

    std::size_t size() const noexcept { return count_; }
    Address operator[](std::size_t i) const noexcept { return headers_[i]; }

    /// out_of_memory: nothing changed.
    Status add(Address header) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (headers_[i] == header) {
                return Status::ok;
            }
        }
        if (count_ == room_) {
            const std::size_t room = room_ == 0 ? 8 : 2 * room_;
            auto* const more = static_cast<Address*>(context_.allocate(MemoryKind::other, room * sizeof(Address)));
            if (more == nullptr) {
                return Status::out_of_memory;
            }
            if (count_ != 0) {
                std::memcpy(more, headers_, count_ * sizeof(Address));
            }
            context_.release(MemoryKind::other, headers_, room_ * sizeof(Address));
            headers_ = more;
            room_ = room;
        }
        headers_[count_++] = header;
        return Status::ok;
    }

private:
    Context& context_;
    Address* headers_ = nullptr;
    std::size_t room_ = 0;
    std::size_t count_ = 0;
};

}  // namespace h5mote
