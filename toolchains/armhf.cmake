# 32-bit ARM Linux with hardware floating point; programs run under qemu's user-mode emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm -L /usr/arm-linux-gnueabihf)
set(CMAKE_FIND_ROOT_PATH /usr/arm-linux-gnueabihf)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
include(${CMAKE_CURRENT_LIST_DIR}/traps.cmake)
# References to Thumb functions would count as not aligned: programs are in ARM code. GCC 7 changed how some structs are
# passed; it says so at every call that could be concerned.
set(CMAKE_C_FLAGS_INIT "${H5MOTE_TRAPS} -marm")
set(CMAKE_CXX_FLAGS_INIT "${H5MOTE_TRAPS} -marm -Wno-psabi")
