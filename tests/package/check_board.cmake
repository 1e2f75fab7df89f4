# cmake -DSOURCE=... -DWORK=... -DGENERATOR=... -P check_board.cmake
#
# Builds an image for a board in a project that contains h5mote, and runs it in the emulator.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/package/board -B ${WORK} -DCMAKE_BUILD_TYPE=
    -DCMAKE_TOOLCHAIN_FILE=${SOURCE}/toolchains/cortex-m.cmake -DH5MOTE_CORE=cortex-m4 -DH5MOTE_SOURCE=${SOURCE}
    -DH5MOTE_PROFILE=logger)
run(${CMAKE_COMMAND} --build ${WORK})
run(${SOURCE}/toolchains/run-board mps2-an386 ${WORK}/app.elf)
message(STATUS "board: ${output}")
