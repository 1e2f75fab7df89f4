# cmake --install: headers, libraries and a package for find_package(h5mote).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/h5mote)

install(TARGETS h5mote h5mote_config ${h5mote_components} EXPORT h5mote-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT h5mote-targets NAMESPACE h5mote:: DESTINATION ${package_folder})

install(DIRECTORY core/include/h5mote DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(H5MOTE_CONFIG_HEADER)
    install(FILES ${H5MOTE_CONFIG_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/h5mote)
endif()

configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/h5mote-config.cmake.in ${PROJECT_BINARY_DIR}/h5mote-config.cmake
    INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/h5mote-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/h5mote-config.cmake ${PROJECT_BINARY_DIR}/h5mote-config-version.cmake
        DESTINATION ${package_folder})
