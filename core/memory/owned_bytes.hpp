// Memory of the library's allocator for the length of a call.
#pragma once

#include <h5mote/context.hpp>

#include <cstring>
#include <string_view>

namespace h5mote {

/// Some bytes, which the destructor releases.
class OwnedBytes {
public:
    explicit OwnedBytes(Context& context, MemoryKind kind = MemoryKind::other) noexcept
        : context_(context), kind_(kind) {}
    OwnedBytes(const OwnedBytes&) = delete;
    OwnedBytes& operator=(const OwnedBytes&) = delete;
    ~OwnedBytes() { context_.release(kind_, data_, capacity_); }

    /// Makes room for `size` bytes. When that takes new memory, the bytes so far are kept only up to `kept`.
    /// out_of_memory: all is as it was.
    Status reserve(std::size_t size, std::size_t kept = 0) noexcept {
        if (size <= capacity_) {
            return Status::ok;
        }
        auto* const data = static_cast<std::byte*>(context_.allocate(kind_, size));
        if (data == nullptr) {
            return Status::out_of_memory;
        }
        if (kept != 0) {
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there are bytes to keep.
            std::memcpy(data, data_, kept);
        }
        context_.release(kind_, data_, capacity_);
        data_ = data;
        capacity_ = size;
        return Status::ok;
    }
    std::byte* data() const noexcept { return data_; }
    std::size_t capacity() const noexcept { return capacity_; }
    Bytes first(std::size_t size) const noexcept { return {data_, size}; }

private:
    Context& context_;
    MemoryKind kind_;
    std::byte* data_ = nullptr;
    std::size_t capacity_ = 0;
};

/// A text that grows.
class OwnedText {
public:
    explicit OwnedText(Context& context) noexcept : bytes_(context) {}

    /// Cuts the text to `length` and appends `more`.
    Status set(std::size_t length, std::string_view more) noexcept {
        const std::size_t size = length + more.size();
        if (size > bytes_.capacity()) {
            H5MOTE_TRY(bytes_.reserve(size < 64 ? 64 : 2 * size, length));
        }
        if (!more.empty()) {
            std::memcpy(bytes_.data() + length, more.data(), more.size());
        }
        size_ = size;
        return Status::ok;
    }
    std::string_view view() const noexcept { return {reinterpret_cast<const char*>(bytes_.data()), size_}; }

private:
    OwnedBytes bytes_;
    std::size_t size_ = 0;
};

}  // namespace h5mote
