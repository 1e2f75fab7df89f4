# cmake -DBUILD=... -DWORK=... -DBIN=... -P tool_test.cmake
#
# Installs the tool and calls it with arguments that it must refuse with a message and an exit code, replacing no file.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK} --component h5mote_tool
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(tool ${WORK}/${BIN}/h5mote)
# The number of an error record: corrupt_file in line 20 of core/file/file_open.cpp.
set(KNOWN 0x6fea8287)

# expect(CODE PATTERN WORDS...): runs the tool with WORDS; checks its exit code, and that its output matches PATTERN.
function(expect code pattern)
    execute_process(COMMAND ${tool} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL code OR NOT output MATCHES "${pattern}")
        message(SEND_ERROR "h5mote ${ARGN}: code ${result} instead of ${code}: ${output}")
    endif()
endfunction()

expect(0 "^h5mote: Version" --version)
expect(1 "no command 'bogus'; there are: dump, check" bogus)
file(WRITE ${WORK}/nothing.h5 "nothing of the kind")
expect(1 "not_hdf5" ls ${WORK}/nothing.h5)
foreach(size IN ITEMS 0 -1 64Q 99999999999G "")
    expect(1 "--memory" dump --memory "${size}" ${WORK}/nothing.h5)
endforeach()
expect(1 "not as much memory" dump --memory 9999999G ${WORK}/nothing.h5)
expect(1 "no error record" explain 0)
expect(1 "not a number" explain x)
expect(0 "corrupt_file in core/file/file_open.cpp, line 20 .file." explain ${KNOWN})
# A device is neither replaced nor written to.
expect(1 "/dev/full: not a regular file" extract ${WORK}/nothing.h5 /dev/full)
expect(1 ": not a regular file" extract ${WORK}/nothing.h5 ${WORK})
execute_process(COMMAND ${tool} --help OUTPUT_FILE /dev/full RESULT_VARIABLE result ERROR_VARIABLE output)
if(NOT result EQUAL 3 OR NOT output MATCHES "standard output cannot be written")
    message(SEND_ERROR "output that cannot be written: code ${result}: ${output}")
endif()
execute_process(COMMAND ${tool} explain ${KNOWN} OUTPUT_FILE /dev/full RESULT_VARIABLE result ERROR_VARIABLE output)
if(NOT result EQUAL 3 OR NOT output MATCHES "standard output cannot be written")
    message(SEND_ERROR "output that cannot be written: code ${result}: ${output}")
endif()
