// A handle, or the reason why there is none.
#pragma once

#include <h5mote/status.hpp>

#include <utility>

namespace h5mote {

/// The result of a call that opens something. After a failure the value is an empty handle, through which every call
/// returns invalid_handle: so a program that forgets to look at the status gets an error, not undefined behaviour.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(Status failure) noexcept : status_(failure) {}
    Result(T&& value) noexcept : value_(std::move(value)), status_(Status::ok) {}

    Status status() const noexcept { return status_; }
    explicit operator bool() const noexcept { return status_ == Status::ok; }
    T* operator->() noexcept { return &value_; }
    T& operator*() noexcept { return value_; }
    const T& operator*() const noexcept { return value_; }

private:
    T value_;
    Status status_;
};

}  // namespace h5mote
