// Part of the stand-in for FreeRTOS; see FreeRTOS.h.
#pragma once

#include <FreeRTOS.h>

#include <atomic>

/// The test turns the kernel's clock itself.
inline std::atomic<TickType_t> stand_in_ticks{0};

inline TickType_t xTaskGetTickCount() { return stand_in_ticks; }
