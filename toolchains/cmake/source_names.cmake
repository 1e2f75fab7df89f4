# cmake -DROOT=folder -DOUTPUT=file -P source_names.cmake
#
# Makes source_names.cpp: core/base/source_names.cpp.in with the names of all sources of the library that record errors
# (they contain H5MOTE_HERE), one string a line.
set(names "")
foreach(folder IN ITEMS core filters vfd)
    file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.hpp)
    foreach(source IN LISTS sources)
        file(STRINGS ${ROOT}/${source} uses REGEX "H5MOTE_HERE" LIMIT_COUNT 1)
        if(uses)
            # What __FILE__ is cut to: three components at most.
            string(REGEX MATCH "[^/]+/[^/]+/[^/]+$" name ${source})
            string(APPEND names "    \"${name}\",\n")
        endif()
    endforeach()
endforeach()
configure_file(${ROOT}/core/base/source_names.cpp.in ${OUTPUT} @ONLY)
