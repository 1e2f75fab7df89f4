# Bare-metal Cortex-M. H5MOTE_CORE names the core: cortex-m0, -m3, -m4, -m7 or -m33.
#
# newlib-nano and semihosting; no C++ runtime library, no start files of the compiler's (toolchains/boards has ours).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(H5MOTE_CORE "cortex-m4" CACHE STRING "Core that code is made for")
# Whether the compiler may combine byte accesses into unaligned loads and stores, which is how these cores come out of
# reset. Without, the start-up code sets CCR.UNALIGN_TRP, so that every access that is not aligned faults. cortex-m0
# has no unaligned access; cortex-m3 is the build that checks this with the other cores' instructions.
if(H5MOTE_CORE MATCHES "m0$|m3$")
    set(unaligned OFF)
else()
    set(unaligned ON)
endif()
set(H5MOTE_UNALIGNED_ACCESS ${unaligned} CACHE BOOL "Let the compiler use unaligned loads and stores")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES H5MOTE_CORE H5MOTE_UNALIGNED_ACCESS)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(core_m0 "-mcpu=cortex-m0")
set(core_m3 "-mcpu=cortex-m3")
set(core_m4 "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
set(core_m7 "-mcpu=cortex-m7 -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
set(core_m33 "-mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
string(REPLACE "cortex-" "core_" core "${H5MOTE_CORE}")
if(NOT DEFINED ${core})
    message(FATAL_ERROR "H5MOTE_CORE is '${H5MOTE_CORE}': cortex-m0, cortex-m3, cortex-m4, cortex-m7 or cortex-m33")
endif()
if(NOT H5MOTE_UNALIGNED_ACCESS)
    string(APPEND ${core} " -mno-unaligned-access")
endif()
# newlib-nano's headers must come first in the search path: the specs add them when compiling, too.
set(CMAKE_C_FLAGS_INIT "${${core}} -mthumb --specs=nano.specs")
set(CMAKE_CXX_FLAGS_INIT "${${core}} -mthumb --specs=nano.specs")
# Link-time optimisation of the program as one piece: in several, each gets its own copy of small functions.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostartfiles --specs=rdimon.specs -Wl,--gc-sections -flto-partition=one")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
