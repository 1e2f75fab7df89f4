# The options of core/include/h5mote/config.hpp as CMake cache variables of the same name.
#
# An option that is left empty keeps the default of the header (which depends on the profile). What is set becomes a
# compiler definition of the target h5mote_config, which every component passes on, so that the library and its users
# see one configuration. A header of one's own (H5MOTE_CONFIG_HEADER) can set options as well; therefore the value of an
# option is what the preprocessor makes of it: h5mote_option().

set(H5MOTE_PROFILE "full" CACHE STRING "What is compiled in: logger, reader or full")
set_property(CACHE H5MOTE_PROFILE PROPERTY STRINGS logger reader full)
if(NOT H5MOTE_PROFILE MATCHES "^(logger|reader|full)$")
    message(FATAL_ERROR "H5MOTE_PROFILE is '${H5MOTE_PROFILE}': logger, reader or full")
endif()
set(H5MOTE_CONFIG_HEADER "" CACHE FILEPATH "A header of your own that is read before <h5mote/config.hpp>")
set(definitions "") # what the preprocessor is given below

add_library(h5mote_config INTERFACE)
add_library(h5mote::config ALIAS h5mote_config)
set_target_properties(h5mote_config PROPERTIES EXPORT_NAME config)
target_compile_features(h5mote_config INTERFACE cxx_std_17)
target_include_directories(
    h5mote_config INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include> $<INSTALL_INTERFACE:include>
)
string(TOUPPER "${H5MOTE_PROFILE}" profile)
target_compile_definitions(h5mote_config INTERFACE H5MOTE_PROFILE_${profile}=1)
list(APPEND definitions -DH5MOTE_PROFILE_${profile}=1)
if(H5MOTE_CONFIG_HEADER)
    get_filename_component(name ${H5MOTE_CONFIG_HEADER} NAME)
    target_compile_definitions(
        h5mote_config
        INTERFACE $<BUILD_INTERFACE:H5MOTE_CONFIG_HEADER="${H5MOTE_CONFIG_HEADER}">
                  $<INSTALL_INTERFACE:H5MOTE_CONFIG_HEADER="h5mote/${name}">
    )
    list(APPEND definitions "-DH5MOTE_CONFIG_HEADER=\"${H5MOTE_CONFIG_HEADER}\"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${H5MOTE_CONFIG_HEADER})
endif()

# Every `#ifndef H5MOTE_...` that stands in the header is an option.
set(header ${PROJECT_SOURCE_DIR}/core/include/h5mote/config.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(STRINGS ${header} lines REGEX "^#ifndef H5MOTE_")
set(options "")
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
        list(APPEND definitions -D${option}=${value})
    endif()
    list(APPEND options ${option})
endforeach()

# Ask the preprocessor, with the flags that the library is compiled with. It does not replace what stands in quotes.
set(question "#include <h5mote/config.hpp>\n")
foreach(option IN LISTS options)
    string(APPEND question "\"${option}\" ${option}\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/h5mote_options.cpp CONTENT "${question}" @ONLY)
separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}")
if(CMAKE_CXX_COMPILER_TARGET AND CMAKE_CXX_COMPILE_OPTIONS_TARGET)
    list(APPEND flags ${CMAKE_CXX_COMPILE_OPTIONS_TARGET}${CMAKE_CXX_COMPILER_TARGET})
endif()
execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${definitions} -I${PROJECT_SOURCE_DIR}/core/include
            -E ${PROJECT_BINARY_DIR}/h5mote_options.cpp
    OUTPUT_VARIABLE answer ERROR_VARIABLE errors RESULT_VARIABLE result
)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "The compiler cannot read the options of h5mote:\n${errors}")
endif()
foreach(option IN LISTS options)
    if(NOT answer MATCHES "\"${option}\" ([0-9]+)")
        message(FATAL_ERROR "${option} is no number in <h5mote/config.hpp>, or in the header that it reads first")
    endif()
    set_property(GLOBAL PROPERTY H5MOTE_VALUE_OF_${option} ${CMAKE_MATCH_1})
endforeach()

# h5mote_option(OUTPUT NAME): the value of an option, such as H5MOTE_THREADS, in this build.
function(h5mote_option output name)
    get_property(value GLOBAL PROPERTY H5MOTE_VALUE_OF_${name})
    if("${value}" STREQUAL "")
        message(FATAL_ERROR "h5mote_option: ${name} is no option of <h5mote/config.hpp>")
    endif()
    set(${output} ${value} PARENT_SCOPE)
endfunction()

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
    h5mote_option(value ${option})
    set(${output} ${value} PARENT_SCOPE)
endfunction()
