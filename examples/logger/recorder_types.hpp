// What the logger's recorders have in common. There are three, each a class `logger::Recorder` with the same calls, in
// recorder.hpp, blueprint_recorder.hpp and flash_recorder.hpp; H5MOTE_LOGGER_RECORDER names the one of a program.
#pragma once

#include <cstddef>

namespace logger {

/// What the command line asks of the recorder.
struct RecorderOptions {
    bool compress = false;
    bool scale = false;   ///< the times are a dataset of their own; a logger that knows its file has it so anyway
    bool format = false;  ///< matters only to a recorder that works on the chip itself; else storage.hpp does it
};

/// How much memory the recorder uses: bytes, those for rows in memory among them.
struct MemoryUse {
    std::size_t peak = 0;
    std::size_t size = 0;  ///< what was set aside
};

}  // namespace logger
