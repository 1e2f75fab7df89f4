// A pointer and a count, like C++20's std::span; and spans of bytes, which most functions take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace h5mote {

template <typename T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr Span(const Span<U>& other) noexcept : data_(other.data()), size_(other.size()) {}

    constexpr T* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T* begin() const noexcept { return data_; }
    constexpr T* end() const noexcept { return data_ + size_; }
    constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
    /// The part of `count` elements from `offset` on. The caller makes sure that offset + count <= size().
    constexpr Span subspan(std::size_t offset, std::size_t count) const noexcept { return {data_ + offset, count}; }
    constexpr Span subspan(std::size_t offset) const noexcept { return {data_ + offset, size_ - offset}; }
    constexpr Span first(std::size_t count) const noexcept { return {data_, count}; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

using Bytes = Span<std::byte>;
using ConstBytes = Span<const std::byte>;

/// The bytes of trivially copyable objects.
template <typename T>
ConstBytes as_bytes(Span<T> objects) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const std::byte*>(objects.data()), objects.size() * sizeof(T)};
}

}  // namespace h5mote
