#include <h5mote/vfd/memory.hpp>

#include <cstring>

namespace h5mote {

GrowingMemoryDriver::~GrowingMemoryDriver() { allocator_.release(data_, capacity_); }

Status GrowingMemoryDriver::assign(ConstBytes image, MemoryAccess access) noexcept {
    if (image.size() > capacity_) {
        H5MOTE_TRY(grow(image.size()));
    }
    if (!image.empty()) {
        std::memcpy(data_, image.data(), image.size());
    }
    size_ = image.size();
    access_ = access;
    return Status::ok;
}

Status GrowingMemoryDriver::grow(std::size_t size) noexcept {
    if (size > limit_) {
        return Status::no_space;
    }
    // Growing by half keeps the copying in proportion to the size of the file. If there is not that much memory, what
    // is needed must do.
    std::size_t wish = capacity_ + capacity_ / 2;
    if (wish < size || wish > limit_) {
        wish = size;
    }
    for (;;) {
        void* const data = data_ == nullptr ? allocator_.allocate(wish) : allocator_.resize(data_, capacity_, wish);
        if (data != nullptr) {
            data_ = static_cast<std::byte*>(data);
            capacity_ = wish;
            return Status::ok;
        }
        if (wish == size) {
            return Status::no_space;
        }
        wish = size;
    }
}

}  // namespace h5mote
