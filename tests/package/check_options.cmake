# cmake -DSOURCE=... -DWORK=... -DGENERATOR=... -P check_options.cmake
#
# Options that a header of the user's own sets (H5MOTE_CONFIG_HEADER) decide which folders are built.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${output}")
    endif()
endfunction()
function(expect name built)
    if(built AND NOT EXISTS ${WORK}/library/filters/${name})
        message(FATAL_ERROR "filters/${name} is not built")
    elseif(NOT built AND EXISTS ${WORK}/library/filters/${name})
        message(FATAL_ERROR "filters/${name} is built although the header leaves it out")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/library -G ${GENERATOR} -DCMAKE_BUILD_TYPE=
    -DH5MOTE_BUILD_TESTS=OFF -DH5MOTE_BUILD_EXAMPLES=OFF)
# The header wins over the profile, which has every filter.
file(WRITE ${WORK}/own.hpp "#define H5MOTE_FILTER_SZIP 0\n#define H5MOTE_FILTER_LZF 1\n")
run(${configure} -DH5MOTE_CONFIG_HEADER=${WORK}/own.hpp -DH5MOTE_FILTER_NBIT=OFF)
expect(szip OFF)
expect(nbit OFF)
expect(lzf ON)
expect(shuffle ON)
# A change of the header is noticed by the next build.
file(WRITE ${WORK}/own.hpp "#define H5MOTE_FILTER_SZIP 1\n")
run(${CMAKE_COMMAND} --build ${WORK}/library --target h5mote_filter_szip)
expect(szip ON)
# Something that is no number is refused.
file(WRITE ${WORK}/own.hpp "#define H5MOTE_FILTER_SZIP perhaps\n")
execute_process(COMMAND ${configure} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "H5MOTE_FILTER_SZIP is no number")
    message(FATAL_ERROR "H5MOTE_FILTER_SZIP is \"perhaps\": ${output}")
endif()
message(STATUS "options of a header are seen")
