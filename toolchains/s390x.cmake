# Big-endian 64-bit Linux; programs run under qemu's user-mode emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# What is undefined in C++ ends the program: what only the code for this byte order does is seen here and not by the
# sanitizers of this machine's builds. Traps need no library.
set(H5MOTE_TRAPS "-fsanitize=undefined -fno-sanitize=vptr -fsanitize-undefined-trap-on-error")
set(CMAKE_C_FLAGS_INIT "${H5MOTE_TRAPS}")
set(CMAKE_CXX_FLAGS_INIT "${H5MOTE_TRAPS}")
