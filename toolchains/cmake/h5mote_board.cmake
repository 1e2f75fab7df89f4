# Images for the boards that the emulator knows.
#
#   h5mote_board_executable(NAME BOARD board SOURCES files... [LINKS targets...]
#                           [HEAP bytes] [STACK bytes] [ARGUMENTS bytes] [ROM bytes])
#
# makes the executable NAME (file NAME.elf) with our start-up code and linker script. HEAP: bytes for malloc, default 0
# (malloc fails; newlib's stdio needs 2048 or more, files through open() and write() need none). STACK: bytes that must at least be left for the stack, default 1024. ARGUMENTS: bytes kept for the
# command line, a multiple of 8, default 384. ROM: bytes that the image may take, default all of the board's. Run it with toolchains/run-board BOARD IMAGE [arguments].

include_guard(GLOBAL)

# Programs of this folder that tests run.
set(H5MOTE_RUN_BOARD ${CMAKE_CURRENT_LIST_DIR}/../run-board)
set(H5MOTE_COUNT_INSNS ${CMAKE_CURRENT_LIST_DIR}/../count-insns)

# core, ROM base and size, RAM base and size. lm3s6965evb-m0 is that board with another core: the only way to have
# v6-M code, its alignment faults and more RAM than the microbit's. All memory of the ast1030-evb is RAM: a boot loader
# puts the program there. A macro that the functions call, since they are called from other projects' folders, too,
# which see no variables of this one.
macro(h5mote_define_boards)
    set(H5MOTE_BOARD_microbit cortex-m0 0x00000000 256K 0x20000000 16K)
    set(H5MOTE_BOARD_lm3s6965evb-m0 cortex-m0 0x00000000 256K 0x20000000 64K)
    set(H5MOTE_BOARD_stm32vldiscovery cortex-m3 0x08000000 128K 0x20000000 8K)
    set(H5MOTE_BOARD_lm3s6965evb cortex-m3 0x00000000 256K 0x20000000 64K)
    set(H5MOTE_BOARD_emcraft-sf2 cortex-m3 0x00000000 256K 0x20000000 64K)
    set(H5MOTE_BOARD_ast1030-evb cortex-m4 0x00000000 256K 0x00040000 512K)
    set(H5MOTE_BOARD_mps2-an385 cortex-m3 0x00000000 4M 0x20000000 4M)
    set(H5MOTE_BOARD_mps2-an386 cortex-m4 0x00000000 4M 0x20000000 4M)
    set(H5MOTE_BOARD_mps2-an500 cortex-m7 0x00000000 4M 0x20000000 4M)
    set(H5MOTE_BOARD_mps2-an505 cortex-m33 0x10000000 4M 0x38000000 4M)
    set(board_names microbit lm3s6965evb-m0 stm32vldiscovery lm3s6965evb emcraft-sf2 ast1030-evb
        mps2-an385 mps2-an386 mps2-an500 mps2-an505)
endmacro()

# The boards whose core this build is made for.
function(h5mote_boards output)
    h5mote_define_boards()
    set(found "")
    foreach(board IN LISTS board_names)
        list(GET H5MOTE_BOARD_${board} 0 core)
        if(core STREQUAL H5MOTE_CORE)
            list(APPEND found ${board})
        endif()
    endforeach()
    set(${output} ${found} PARENT_SCOPE)
endfunction()

function(h5mote_board_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "BOARD;HEAP;STACK;ARGUMENTS;ROM" "SOURCES;LINKS")
    h5mote_define_boards()
    set(boards_folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../boards)
    if(NOT DEFINED H5MOTE_BOARD_${arg_BOARD})
        message(FATAL_ERROR "${name}: no board '${arg_BOARD}'")
    endif()
    list(GET H5MOTE_BOARD_${arg_BOARD} 0 core)
    if(NOT core STREQUAL H5MOTE_CORE)
        message(FATAL_ERROR "${name}: board ${arg_BOARD} has a ${core}, this build is for ${H5MOTE_CORE}")
    endif()
    foreach(default IN ITEMS HEAP=0 STACK=1024 ARGUMENTS=384)
        string(REGEX MATCH "^(.*)=(.*)$" ignored ${default})
        if(NOT DEFINED arg_${CMAKE_MATCH_1})
            set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
        endif()
    endforeach()
    set(symbols __rom_base __rom_size __ram_base __ram_size)
    set(options "")
    foreach(symbol IN LISTS symbols)
        list(FIND symbols ${symbol} index)
        math(EXPR index "${index} + 1")
        list(GET H5MOTE_BOARD_${arg_BOARD} ${index} value)
        if(symbol STREQUAL "__rom_size" AND arg_ROM)
            set(value ${arg_ROM})
        endif()
        if(value MATCHES "^([0-9]+)K$")
            math(EXPR value "${CMAKE_MATCH_1} * 1024")
        elseif(value MATCHES "^([0-9]+)M$")
            math(EXPR value "${CMAKE_MATCH_1} * 1048576")
        endif()
        list(APPEND options "-Wl,--defsym=${symbol}=${value}")
    endforeach()
    list(APPEND options
        -Wl,--defsym=__heap_size=${arg_HEAP}
        -Wl,--defsym=__stack_size=${arg_STACK}
        -Wl,--defsym=__argument_size=${arg_ARGUMENTS}
        -T ${boards_folder}/cortex_m.ld
        -Wl,-Map=$<TARGET_FILE:${name}>.map
        -Wl,--no-warn-rwx-segments
    )
    add_executable(${name} ${arg_SOURCES} ${boards_folder}/startup.c
                   ${boards_folder}/syscalls.c ${boards_folder}/cxx_runtime.c)
    # Start-up code is addressed by the linker script and holds assembly: whole-program optimisation leaves it alone.
    set_source_files_properties(${boards_folder}/startup.c ${boards_folder}/syscalls.c
                                ${boards_folder}/cxx_runtime.c PROPERTIES COMPILE_OPTIONS -fno-lto)
    # In another project there are no such options: its sources are compiled as that project says.
    target_compile_options(${name} PRIVATE ${H5MOTE_COMPILE_OPTIONS} -ffunction-sections -fdata-sections)
    target_link_options(${name} PRIVATE ${options})
    target_link_libraries(${name} PRIVATE ${arg_LINKS})
    set_target_properties(${name} PROPERTIES
        H5MOTE_BOARD ${arg_BOARD}
        SUFFIX .elf
        LINKER_LANGUAGE C # not C++: what `-nostdlib++` of later compilers means, no C++ runtime library
        LINK_DEPENDS ${boards_folder}/cortex_m.ld
    )
endfunction()

# h5mote_add_board_test(NAME test TARGET image [ARGUMENTS ...] [LABELS ...]): a ctest entry that runs the image.
function(h5mote_add_board_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TARGET;TIMEOUT" "ARGUMENTS;LABELS")
    get_target_property(board ${arg_TARGET} H5MOTE_BOARD)
    add_test(NAME ${arg_NAME} COMMAND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../run-board ${board} $<TARGET_FILE:${arg_TARGET}> ${arg_ARGUMENTS})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "board;${arg_LABELS}")
endfunction()

# The emulator's plugin that counts instructions, made by this machine's own compiler; toolchains/count-insns finds it
# at the top of the build folder.
find_program(H5MOTE_HOST_CC NAMES cc gcc clang NO_CMAKE_FIND_ROOT_PATH DOC "C compiler of this machine")
if(H5MOTE_HOST_CC AND NOT TARGET h5mote_insn_count)
    set(plugin_source ${CMAKE_CURRENT_LIST_DIR}/../plugin/insn_count.c)
    add_custom_command(
        OUTPUT ${PROJECT_BINARY_DIR}/insn_count.so
        COMMAND ${H5MOTE_HOST_CC} -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden
                -o ${PROJECT_BINARY_DIR}/insn_count.so ${plugin_source}
        DEPENDS ${plugin_source}
        COMMENT "Building the emulator's instruction counter"
        VERBATIM
    )
    add_custom_target(h5mote_insn_count ALL DEPENDS ${PROJECT_BINARY_DIR}/insn_count.so)
endif()
