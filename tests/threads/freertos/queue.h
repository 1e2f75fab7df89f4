// Part of the stand-in for FreeRTOS; see FreeRTOS.h.
#pragma once

#include <FreeRTOS.h>

#include <cstring>
#include <ctime>

inline QueueHandle_t xQueueCreateStatic(UBaseType_t length, UBaseType_t item_size, std::uint8_t* bytes,
                                        StaticQueue_t* queue) {
    pthread_mutex_init(&queue->mutex, nullptr);
    pthread_cond_init(&queue->filled, nullptr);
    queue->bytes = bytes;
    queue->length = length;
    queue->item_size = item_size;
    queue->first = queue->count = 0;
    return queue;
}
inline void vQueueDelete(QueueHandle_t queue) {
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->mutex);
}
inline BaseType_t xQueueSendFromISR(QueueHandle_t queue, const void* item, BaseType_t* woken) {
    pthread_mutex_lock(&queue->mutex);
    const bool room = queue->count < queue->length;
    if (room) {
        const UBaseType_t at = (queue->first + queue->count) % queue->length;
        std::memcpy(queue->bytes + at * queue->item_size, item, queue->item_size);
        ++queue->count;
        *woken = pdTRUE;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&queue->mutex);
    return room ? pdTRUE : pdFALSE;
}
/// A tick is a millisecond.
inline BaseType_t xQueueReceive(QueueHandle_t queue, void* item, TickType_t ticks) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += static_cast<std::time_t>(ticks / 1000);
    until.tv_nsec += static_cast<long>(ticks % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        ++until.tv_sec;
    }
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && pthread_cond_timedwait(&queue->filled, &queue->mutex, &until) == 0) {
    }
    const bool there = queue->count > 0;
    if (there) {
        std::memcpy(item, queue->bytes + queue->first * queue->item_size, queue->item_size);
        queue->first = (queue->first + 1) % queue->length;
        --queue->count;
    }
    pthread_mutex_unlock(&queue->mutex);
    return there ? pdTRUE : pdFALSE;
}
