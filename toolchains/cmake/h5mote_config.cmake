# The options of core/include/h5mote/config.hpp as CMake cache variables of the same name.
#
# An option that is left empty keeps the default of the header (which depends on the profile). What is set becomes a
# compiler definition of the target h5mote_config, which every component passes on, so that the library and its users
# see one configuration.

set(H5MOTE_PROFILE "full" CACHE STRING "What is compiled in: logger, reader or full")
set_property(CACHE H5MOTE_PROFILE PROPERTY STRINGS logger reader full)
if(NOT H5MOTE_PROFILE MATCHES "^(logger|reader|full)$")
    message(FATAL_ERROR "H5MOTE_PROFILE is '${H5MOTE_PROFILE}': logger, reader or full")
endif()
set(H5MOTE_CONFIG_HEADER "" CACHE FILEPATH "A header of your own that is read before <h5mote/config.hpp>")

add_library(h5mote_config INTERFACE)
add_library(h5mote::config ALIAS h5mote_config)
set_target_properties(h5mote_config PROPERTIES EXPORT_NAME config)
target_compile_features(h5mote_config INTERFACE cxx_std_17)
target_include_directories(
    h5mote_config INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include> $<INSTALL_INTERFACE:include>
)
string(TOUPPER "${H5MOTE_PROFILE}" profile)
target_compile_definitions(h5mote_config INTERFACE H5MOTE_PROFILE_${profile}=1)
if(H5MOTE_CONFIG_HEADER)
    get_filename_component(name ${H5MOTE_CONFIG_HEADER} NAME)
    target_compile_definitions(
        h5mote_config
        INTERFACE $<BUILD_INTERFACE:H5MOTE_CONFIG_HEADER="${H5MOTE_CONFIG_HEADER}">
                  $<INSTALL_INTERFACE:H5MOTE_CONFIG_HEADER="h5mote/${name}">
    )
endif()

# Every `#ifndef H5MOTE_...` that stands in the header is an option.
set(header ${PROJECT_SOURCE_DIR}/core/include/h5mote/config.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(STRINGS ${header} lines REGEX "^#ifndef H5MOTE_")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#ifndef +(H5MOTE_[A-Z0-9_]+).*" "\\1" option "${line}")
    set(${option} "" CACHE STRING "Option of <h5mote/config.hpp>; empty: the default of the profile")
    if(NOT "${${option}}" STREQUAL "")
        set(value "${${option}}")
        if(value MATCHES "^(ON|TRUE|YES)$")
            set(value 1)
        elseif(value MATCHES "^(OFF|FALSE|NO)$")
            set(value 0)
        elseif(NOT value MATCHES "^[0-9]+$")
            message(FATAL_ERROR "${option} is '${value}': a number, ON or OFF")
        endif()
        target_compile_definitions(h5mote_config INTERFACE ${option}=${value})
    endif()
endforeach()

# Folders that are built. A filter's folder follows its option in the header.
option(H5MOTE_VFD_MEMORY "Build vfd/memory: files in memory" ON)
option(H5MOTE_VFD_JOURNAL "Build vfd/journal: a redo log that makes what lies between two syncs atomic" ON)
option(H5MOTE_VFD_FLASH "Build vfd/flash: a file on raw flash" ON)
option(H5MOTE_VFD_POSIX "Build vfd/posix: files of an operating system or of newlib's system calls" ON)
option(H5MOTE_PORT_POSIX "Build port/posix: clock, log, malloc" ON)
if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
    set(bare ON)
else()
    set(bare OFF)
endif()
option(H5MOTE_PORT_BARE "Build port/bare: machines without an operating system" ${bare})

# h5mote_filter_enabled(OUTPUT NAME): whether the folder of that filter is built.
function(h5mote_filter_enabled output name)
    string(TOUPPER "H5MOTE_FILTER_${name}" option)
    if("${${option}}" STREQUAL "" OR ${option})
        set(${output} ON PARENT_SCOPE)
    else()
        set(${output} OFF PARENT_SCOPE)
    endif()
endfunction()
