# Images whose differences are the figures of one core (measure_size.py).
find_program(H5MOTE_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)

set(board_cortex-m0 lm3s6965evb-m0) # the microbit has too little RAM for the file
set(board_cortex-m3 mps2-an385)
set(board_cortex-m4 mps2-an386)
set(board_cortex-m7 mps2-an500)
set(board_cortex-m33 mps2-an505)
set(board ${board_${H5MOTE_CORE}})
if(NOT board OR NOT H5MOTE_PYTHON)
    return()
endif()

# h5mote_variant(NAME definitions...): the library once more with other options, as one archive.
get_property(h5mote_folders GLOBAL PROPERTY H5MOTE_FOLDERS)
file(GLOB h5mote_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/core/*/*.cpp
    ${PROJECT_SOURCE_DIR}/filters/*/*.cpp
    ${PROJECT_SOURCE_DIR}/vfd/memory/*.cpp
    ${PROJECT_SOURCE_DIR}/vfd/journal/*.cpp
    ${PROJECT_SOURCE_DIR}/port/bare/*.cpp
)
h5mote_small_code(${h5mote_sources})
function(h5mote_variant name)
    add_library(h5mote_${name} STATIC ${h5mote_sources})
    target_include_directories(h5mote_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core/include PRIVATE ${h5mote_folders})
    target_compile_definitions(h5mote_${name} PUBLIC ${ARGN})
    target_compile_features(h5mote_${name} PUBLIC cxx_std_17)
    target_compile_options(h5mote_${name} PRIVATE ${H5MOTE_COMPILE_OPTIONS})
endfunction()
# What an image measures is the profile as it is. The library of the example loggers is that of profile logger, too,
# where no board needs other limits; the library of this build is that of profile full.
if(TARGET h5mote_small AND NOT H5MOTE_CORE MATCHES "^cortex-m[03]$")
    add_library(h5mote_variant_logger ALIAS h5mote_small)
else()
    h5mote_variant(variant_logger H5MOTE_PROFILE_LOGGER=1)
endif()
add_library(h5mote_variant_full ALIAS h5mote)
h5mote_variant(variant_logger_filters H5MOTE_PROFILE_LOGGER=1 H5MOTE_FILTERS=1)

# h5mote_image(NAME source library definitions...)
set(images "")
function(h5mote_image name source library)
    h5mote_board_executable(${name} BOARD ${board} SOURCES ${source}.cpp LINKS ${library} STACK 4096)
    target_compile_definitions(${name} PRIVATE ${ARGN})
endfunction()
h5mote_image(reference_logger reference_logger h5mote_variant_logger)
h5mote_image(reference_empty reference_logger h5mote_variant_logger H5MOTE_REFERENCE_EMPTY=1)
h5mote_image(reference_deflate reference_logger h5mote_variant_logger_filters H5MOTE_REFERENCE_DEFLATE=1)
h5mote_image(reference_fletcher32 reference_logger h5mote_variant_logger_filters H5MOTE_REFERENCE_FLETCHER32=1)
h5mote_image(reference_journal reference_logger h5mote_variant_logger H5MOTE_REFERENCE_JOURNAL=1)
h5mote_image(reference_reclaim reference_reclaim h5mote_variant_logger)
h5mote_image(reference_reclaim_not reference_reclaim h5mote_variant_logger H5MOTE_REFERENCE_UNLINK=1)
h5mote_image(reference_free_space reference_logger h5mote_variant_logger H5MOTE_REFERENCE_FREE_SPACE=1)
h5mote_image(reference_workload reference_workload h5mote_variant_logger)

h5mote_image(reference_recorder reference_recorder h5mote_variant_logger)
h5mote_image(reference_recorder_whole reference_recorder h5mote_variant_logger H5MOTE_REFERENCE_WHOLE=1)
h5mote_image(reference_recorder_empty reference_recorder h5mote_variant_logger H5MOTE_REFERENCE_EMPTY=1)
h5mote_image(reference_flash_recorder reference_flash_recorder h5mote_variant_logger)
h5mote_image(reference_flash_recorder_whole reference_flash_recorder h5mote_variant_logger H5MOTE_REFERENCE_WHOLE=1)
h5mote_image(reference_flash_recorder_empty reference_flash_recorder h5mote_variant_logger H5MOTE_REFERENCE_EMPTY=1)

set(whole "")
if(H5MOTE_CORE STREQUAL "cortex-m4")
    h5mote_image(reference_recorder_filters reference_recorder h5mote_variant_logger_filters H5MOTE_REFERENCE_FILTERS=1)
    h5mote_variant(variant_reader H5MOTE_PROFILE_READER=1)
    h5mote_image(reference_full reference_full h5mote_variant_full)
    h5mote_image(reference_reader reference_full h5mote_variant_reader)
    h5mote_image(reference_small reference_small h5mote_variant_reader)
    h5mote_image(reference_small_empty reference_small h5mote_variant_reader H5MOTE_REFERENCE_EMPTY=1)
    h5mote_image(reference_small_bare reference_small h5mote_variant_reader H5MOTE_REFERENCE_BARE=1)
    # Parts beside those of the small reader, and each of its own with no other.
    foreach(part IN ITEMS conversion virtual_data external_data dense_storage superblock_extension unindexed_chunks
            chunk_btree2)
        h5mote_image(reference_small_${part} reference_small h5mote_variant_reader H5MOTE_REFERENCE_PART=${part})
    endforeach()
    foreach(part IN ITEMS symbol_tables extensible_array fixed_array chunk_btree1)
        h5mote_image(reference_small_${part} reference_small h5mote_variant_reader H5MOTE_REFERENCE_BARE=1
            H5MOTE_REFERENCE_PART=${part})
    endforeach()
    h5mote_image(reference_full_empty reference_full h5mote_variant_full H5MOTE_REFERENCE_EMPTY=1)
    # Parts beside those of the full program.
    foreach(part IN ITEMS unfiltered_edges external_changes variable_length_changes virtual_changes
            shared_message_changes)
        h5mote_image(reference_full_${part} reference_full h5mote_variant_full H5MOTE_REFERENCE_PART=${part})
    endforeach()
    foreach(image IN ITEMS reference_full reference_reader reference_full_unfiltered_edges
            reference_full_external_changes reference_full_variable_length_changes reference_full_virtual_changes
            reference_full_shared_message_changes)
        target_sources(${image} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/walker.cpp)
        target_include_directories(${image} PRIVATE ${h5mote_folders})
    endforeach()
    set(whole --whole)

    h5mote_image(reference_flash reference_logger h5mote_variant_logger H5MOTE_REFERENCE_FLASH=1)
    h5mote_image(reference_latency reference_latency h5mote_variant_logger)
    target_sources(reference_latency PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/flash_simulator.cpp)
    target_include_directories(reference_latency PRIVATE ${h5mote_folders} ${PROJECT_SOURCE_DIR}/tests/support)
    add_test(NAME latency_${H5MOTE_CORE}
        COMMAND ${H5MOTE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/measure_latency.py --core ${H5MOTE_CORE}
                --board ${board} --images ${CMAKE_CURRENT_BINARY_DIR} --report ${H5MOTE_FIGURES_FOLDER}
    )
    set_tests_properties(latency_${H5MOTE_CORE} PROPERTIES LABELS "size;board" TIMEOUT 300)
endif()

add_test(NAME size_${H5MOTE_CORE}
    COMMAND ${H5MOTE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/measure_size.py --core ${H5MOTE_CORE} --board ${board}
            --images ${CMAKE_CURRENT_BINARY_DIR} --report ${H5MOTE_FIGURES_FOLDER} ${whole}
)
set_tests_properties(size_${H5MOTE_CORE} PROPERTIES LABELS "size;board" TIMEOUT 120)
