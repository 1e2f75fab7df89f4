// The port of FreeRTOS: a recursive mutex, the time since start, and a queue that brings samples out of an interrupt.
#pragma once

#include <h5mote/port.hpp>
#include <h5mote/status.hpp>

#include <cstddef>
#include <cstdint>

// The kernel's own headers come from the project that uses this one. Its configuration sets configUSE_RECURSIVE_MUTEXES
// and configSUPPORT_STATIC_ALLOCATION to 1.
#include <FreeRTOS.h>
#include <queue.h>
#include <semphr.h>
#include <task.h>

namespace h5mote {

/// The port of a Library that several tasks use; build the library with H5MOTE_THREADS=1. The lock is a recursive mutex
/// with priority inheritance, in memory of this object. Neither the port nor any function of the library may be used
/// from an interrupt, or unless valid().
class FreeRtosPort final : public Port {
public:
    using Log = void (*)(const char*);  ///< prints one message, without a line end of its own

    explicit FreeRtosPort(Log print = nullptr) noexcept
        : mutex_(xSemaphoreCreateRecursiveMutexStatic(&memory_)), log_(print) {}
    ~FreeRtosPort() { vSemaphoreDelete(mutex_); }

    bool valid() const noexcept { return mutex_ != nullptr; }

    /// Sets the time: `seconds` since 1970-01-01 UTC as of now. From here on time() counts the kernel's ticks. To be
    /// called again before 2^32 ticks have passed (49 days at 1000 ticks a second), and by one task at a time.
    void set_time(std::uint32_t seconds) noexcept {
        lock();
        seconds_ = seconds;
        since_ = xTaskGetTickCount();
        set_ = true;
        unlock();
    }
    /// Seconds since 1970-01-01 UTC; 0 until set_time() is called.
    std::uint32_t time() noexcept override {
        const TickType_t passed = xTaskGetTickCount() - since_;
        return set_ ? seconds_ + static_cast<std::uint32_t>(passed / configTICK_RATE_HZ) : 0;
    }
    void log(const char* message) noexcept override {
        if (log_ != nullptr) {
            log_(message);
        }
    }
    /// Waits without a limit, since every call of the library comes to an end.
    void lock() noexcept override { (void)xSemaphoreTakeRecursive(mutex_, portMAX_DELAY); }
    void unlock() noexcept override { (void)xSemaphoreGiveRecursive(mutex_); }

private:
    StaticSemaphore_t memory_;
    SemaphoreHandle_t mutex_;
    Log log_;
    TickType_t since_ = 0;
    std::uint32_t seconds_ = 0;
    bool set_ = false;
};

/// Brings samples out of an interrupt: the interrupt puts them into a queue of the kernel, and the task that writes
/// takes them out and appends them. `kCount` must be at least the number of samples that come while that task waits for
/// the storage.
template <typename T, std::size_t kCount>
class FreeRtosSamples {
public:
    FreeRtosSamples() noexcept : queue_(xQueueCreateStatic(kCount, sizeof(T), bytes_, &memory_)) {}
    ~FreeRtosSamples() { vQueueDelete(queue_); }
    FreeRtosSamples(const FreeRtosSamples&) = delete;
    FreeRtosSamples& operator=(const FreeRtosSamples&) = delete;

    /// To be called from an interrupt whose priority permits calls of the kernel. A sample for which there is no room
    /// is counted and lost.
    void put_from_interrupt(const T& sample) noexcept {
        BaseType_t woken = pdFALSE;
        if (xQueueSendFromISR(queue_, &sample, &woken) != pdTRUE) {
            lost_ = lost_ + 1;
        }
        portYIELD_FROM_ISR(woken);
    }
    /// Waits at most `ticks` for a sample. False: none came.
    bool take(T& sample, TickType_t ticks) noexcept { return xQueueReceive(queue_, &sample, ticks) == pdTRUE; }
    /// Samples that were lost since the start. Written by the interrupt only.
    std::uint32_t lost() const noexcept { return lost_; }

private:
    StaticQueue_t memory_;
    std::uint8_t bytes_[kCount * sizeof(T)];
    QueueHandle_t queue_;
    volatile std::uint32_t lost_ = 0;
};

}  // namespace h5mote
