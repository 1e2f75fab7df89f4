// A stand-in for the parts of FreeRTOS's interface that h5mote/port/freertos.hpp uses, over threads of POSIX, so that a
// host compiles and runs that port. Names and types are the kernel's.
#pragma once

#include <pthread.h>

#include <cstdint>

using BaseType_t = long;
using UBaseType_t = unsigned long;
using TickType_t = std::uint32_t;

#define pdFALSE (static_cast<BaseType_t>(0))
#define pdTRUE (static_cast<BaseType_t>(1))
#define portMAX_DELAY (static_cast<TickType_t>(0xffffffffU))
#define configTICK_RATE_HZ (static_cast<TickType_t>(1000))
#define portYIELD_FROM_ISR(woken) (static_cast<void>(woken))

struct StaticSemaphore_t {
    pthread_mutex_t mutex;
};
using SemaphoreHandle_t = StaticSemaphore_t*;

struct StaticQueue_t {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    std::uint8_t* bytes;
    UBaseType_t length;
    UBaseType_t item_size;
    UBaseType_t first;
    UBaseType_t count;
};
using QueueHandle_t = StaticQueue_t*;
