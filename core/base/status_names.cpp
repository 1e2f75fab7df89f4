// The names of statuses, features and modules, for messages on a host. They have a source file of their own so that
// firmware which prints no names does not contain them.
#include <h5mote/status.hpp>

namespace h5mote {

const char* to_string(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::out_of_memory:
            return "out_of_memory";
        case Status::over_budget:
            return "over_budget";
        case Status::not_found:
            return "not_found";
        case Status::already_exists:
            return "already_exists";
        case Status::invalid_argument:
            return "invalid_argument";
        case Status::invalid_handle:
            return "invalid_handle";
        case Status::corrupt_file:
            return "corrupt_file";
        case Status::unsupported:
            return "unsupported";
        case Status::not_hdf5:
            return "not_hdf5";
        case Status::read_only:
            return "read_only";
        case Status::io_error:
            return "io_error";
        case Status::no_space:
            return "no_space";
        case Status::busy:
            return "busy";
        case Status::type_mismatch:
            return "type_mismatch";
        case Status::overflow:
            return "overflow";
        case Status::other_blueprint:
            return "other_blueprint";
        case Status::foreign_changes:
            return "foreign_changes";
    }
    return "unknown";
}

const char* to_string(Feature feature) noexcept {
    switch (feature) {
        case Feature::none:
            return "none";
        case Feature::superblock_version:
            return "superblock_version";
        case Feature::superblock_extension:
            return "superblock_extension";
        case Feature::file_locked_for_writing:
            return "file_locked_for_writing";
        case Feature::sizeof_offsets:
            return "sizeof_offsets";
        case Feature::object_header_version:
            return "object_header_version";
        case Feature::symbol_table_group:
            return "symbol_table_group";
        case Feature::dense_links:
            return "dense_links";
        case Feature::dense_attributes:
            return "dense_attributes";
        case Feature::shared_message:
            return "shared_message";
        case Feature::external_link:
            return "external_link";
        case Feature::user_defined_link:
            return "user_defined_link";
        case Feature::ordered_writing:
            return "ordered_writing";
        case Feature::free_space:
            return "free_space";
        case Feature::format_version:
            return "format_version";
        case Feature::reclaim:
            return "reclaim";
        case Feature::unknown_message:
            return "unknown_message";
        case Feature::datatype_class:
            return "datatype_class";
        case Feature::datatype_version:
            return "datatype_version";
        case Feature::dataspace_version:
            return "dataspace_version";
        case Feature::dataspace_rank:
            return "dataspace_rank";
        case Feature::layout_version:
            return "layout_version";
        case Feature::layout_class:
            return "layout_class";
        case Feature::chunk_index:
            return "chunk_index";
        case Feature::external_storage:
            return "external_storage";
        case Feature::filter:
            return "filter";
        case Feature::fill_value_version:
            return "fill_value_version";
        case Feature::attribute_version:
            return "attribute_version";
        case Feature::link_version:
            return "link_version";
        case Feature::base_address:
            return "base_address";
        case Feature::message_version:
            return "message_version";
        case Feature::type_conversion:
            return "type_conversion";
        case Feature::creation_order:
            return "creation_order";
        case Feature::driver:
            return "driver";
    }
    return "unknown";
}

const char* to_string(Module module) noexcept {
    switch (module) {
        case Module::none:
            return "none";
        case Module::base:
            return "base";
        case Module::memory:
            return "memory";
        case Module::format:
            return "format";
        case Module::storage:
            return "storage";
        case Module::file:
            return "file";
        case Module::index:
            return "index";
        case Module::object:
            return "object";
        case Module::datatype:
            return "datatype";
        case Module::dataspace:
            return "dataspace";
        case Module::attribute:
            return "attribute";
        case Module::group:
            return "group";
        case Module::dataset:
            return "dataset";
        case Module::filter:
            return "filter";
        case Module::driver:
            return "driver";
        case Module::heap:
            return "heap";
    }
    return "unknown";
}

}  // namespace h5mote
