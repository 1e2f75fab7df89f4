# One CMake target a folder.
#
#   h5mote_component(NAME storage LINKS memory format)
#
# makes the static library h5mote_NAME (alias h5mote::NAME) of the folder's *.cpp. It sees the public headers, its own
# folder and the folders of what it LINKS (and of what those link), nothing else: a call upwards does not compile.
# Whoever links it sees the public headers only. The global properties H5MOTE_FOLDERS and H5MOTE_SOURCES list what
# compiling the whole library once more, with another configuration, takes.

set(H5MOTE_WARNINGS -Wall -Wextra -Wconversion -Wshadow)
# Clang, which builds the fuzz targets, remarks on other things than GCC.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND H5MOTE_WARNINGS -Wno-sign-conversion)
elseif(PROJECT_IS_TOP_LEVEL)
    list(APPEND H5MOTE_WARNINGS -Werror)
endif()

set(H5MOTE_COMPILE_OPTIONS
    ${H5MOTE_WARNINGS}
    -ffunction-sections
    -fdata-sections
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>
)
# Numbers that were just stored one by one, loaded as a vector, make a processor wait until all stores before them are
# done: half the time of reading rows.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    list(APPEND H5MOTE_COMPILE_OPTIONS -fno-tree-slp-vectorize)
else()
    list(APPEND H5MOTE_COMPILE_OPTIONS -fno-asynchronous-unwind-tables -fno-unwind-tables)
endif()

# h5mote_small_code(SOURCES...): options for those of the sources, compiled by the calling folder, that belong to the core
# or to a driver. Their code is many calls and few loops, and on a Cortex-M it grows by what GCC does for speed: values
# are kept in registers, of which there are few, across loops and calls, and pairs of registers for 64-bit numbers are
# split late. Equal ends of branches are merged well by the later passes; the early one (tree-tail-merge) costs more than
# it saves. Checksums (core/base) and filters consist of loops over bytes: they are compiled as usual.
function(h5mote_small_code)
    if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        return()
    endif()
    foreach(source IN LISTS ARGN)
        if(source MATCHES "/(core|vfd)/[a-z]+/[a-z0-9_]+\\.cpp$" AND NOT source MATCHES "/core/base/")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-fno-tree-loop-im;-fno-move-loop-invariants;-fsplit-wide-types-early;-fno-gcse;-fno-schedule-insns2;-fno-tree-tail-merge")
        endif()
    endforeach()
endfunction()

function(h5mote_component)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "LINKS")
    if(NOT arg_NAME OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "h5mote_component(NAME name LINKS components): ${ARGN}")
    endif()
    set(target h5mote_${arg_NAME})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})

    # Folders whose headers this one may include: its own and, transitively, those of its links.
    set(folders ${folder})
    foreach(link IN LISTS arg_LINKS)
        if(NOT TARGET h5mote_${link})
            message(FATAL_ERROR "${target}: no component ${link} below it")
        endif()
        get_target_property(below h5mote_${link} H5MOTE_VISIBLE_FOLDERS)
        list(APPEND folders ${below})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(TRANSFORM arg_LINKS PREPEND h5mote_)

    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(sources)
        set(scope PUBLIC)
        add_library(${target} STATIC ${sources})
        target_include_directories(${target} PRIVATE ${folders})
        target_compile_options(${target} PRIVATE ${H5MOTE_COMPILE_OPTIONS})
        h5mote_small_code(${sources})
    else()
        set(scope INTERFACE)
        add_library(${target} INTERFACE)
    endif()
    add_library(h5mote::${arg_NAME} ALIAS ${target})
    set_target_properties(${target} PROPERTIES H5MOTE_VISIBLE_FOLDERS "${folders}" EXPORT_NAME ${arg_NAME})
    target_link_libraries(${target} ${scope} ${arg_LINKS} h5mote_config)
    set_property(GLOBAL APPEND PROPERTY H5MOTE_COMPONENTS ${target})
    set_property(GLOBAL APPEND PROPERTY H5MOTE_FOLDERS ${folder})
    set_property(GLOBAL APPEND PROPERTY H5MOTE_SOURCES ${sources})
endfunction()
