# cmake -DMODE=find_package|add_subdirectory -DSOURCE=... -DWORK=... -DGENERATOR=... [-DFLAGS=...] -P check.cmake
#
# Builds the project `consumer` with an installed h5mote (find_package), or with h5mote as a part of it
# (add_subdirectory), and runs it.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
# Build without optimization, which is faster: how the package is found and configured does not depend on it.
set(options -G ${GENERATOR} -DCMAKE_BUILD_TYPE= "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_C_FLAGS=${FLAGS}")
set(library -DH5MOTE_PROFILE=logger -DH5MOTE_MAX_RANK=5 -DH5MOTE_FILTER_DEFLATE=OFF)
if(MODE STREQUAL "find_package")
    run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/library ${options} ${library} -DH5MOTE_BUILD_TESTS=OFF
        -DH5MOTE_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
    run(${CMAKE_COMMAND} --build ${WORK}/library)
    run(${CMAKE_COMMAND} --install ${WORK}/library)
    # Move the installed package: it must not refer to the place where it was built or first installed.
    file(RENAME ${WORK}/prefix ${WORK}/moved)
    file(REMOVE_RECURSE ${WORK}/library)
    file(GLOB_RECURSE texts ${WORK}/moved/*.cmake ${WORK}/moved/*.hpp)
    foreach(text IN LISTS texts)
        file(STRINGS ${text} lines REGEX "${SOURCE}")
        if(lines)
            message(FATAL_ERROR "${text} names the source folder: ${lines}")
        endif()
    endforeach()
    set(library -DCMAKE_PREFIX_PATH=${WORK}/moved)
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${WORK}/consumer ${options} ${library}
    -DMODE=${MODE} -DH5MOTE_SOURCE=${SOURCE} -DEXPECTED_MAX_RANK=5)
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
set(said "${output}")
# A program compiled with other options must not link, and the error message must name the options.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/consumer --target other_options
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "options_write_1_[a-z0-9_]*rank_7")
    message(FATAL_ERROR "a program with H5MOTE_MAX_RANK=7 and a library with 5: ${output}")
endif()
set(output "${said}")
message(STATUS "${MODE}: ${output}")
