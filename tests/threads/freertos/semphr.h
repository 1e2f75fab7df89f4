// Part of the stand-in for FreeRTOS; see FreeRTOS.h.
#pragma once

#include <FreeRTOS.h>

inline SemaphoreHandle_t xSemaphoreCreateRecursiveMutexStatic(StaticSemaphore_t* memory) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&memory->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return memory;
}
inline void vSemaphoreDelete(SemaphoreHandle_t mutex) { pthread_mutex_destroy(&mutex->mutex); }
inline BaseType_t xSemaphoreTakeRecursive(SemaphoreHandle_t mutex, TickType_t /*ticks*/) {
    return pthread_mutex_lock(&mutex->mutex) == 0 ? pdTRUE : pdFALSE;
}
inline BaseType_t xSemaphoreGiveRecursive(SemaphoreHandle_t mutex) {
    return pthread_mutex_unlock(&mutex->mutex) == 0 ? pdTRUE : pdFALSE;
}
