// H5E - the result of a call, and the error trail that tells where it went wrong.
#pragma once

#include <h5mote/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace h5mote {

/// The result of a call. The status tells what the caller can do about it, the error trail where the error arose.
enum class [[nodiscard]] Status : std::uint8_t{
    ok = 0,
    out_of_memory,     ///< the allocator is exhausted, also after caches were emptied; release something, try again
    over_budget,       ///< a fixed budget is too small; the trail's second number is the bytes needed
    not_found,         ///< no object, attribute or file of that name or index
    already_exists,    ///< the name is taken
    invalid_argument,  ///< the call's arguments do not fit each other or the object
    invalid_handle,    ///< the handle is empty or its file was closed
    corrupt_file,      ///< the bytes contradict the format; the trail's second number is the file address if known
    unsupported,       ///< valid HDF5 that this build does not handle; the trail's second number is a Feature
    not_hdf5,          ///< no HDF5 signature at any place where one may stand
    read_only,         ///< the file, the driver or the build does not permit writing
    io_error,          ///< the driver failed
    no_space,          ///< the storage is full
    busy,              ///< the object is in use in a way that excludes this call
    type_mismatch,     ///< no conversion between the two datatypes
    overflow,          ///< a size or address exceeds what the machine or the file can express
    other_blueprint,   ///< the storage holds a file that this recorder's blueprint does not describe
    foreign_changes,   ///< another program changed the recorder's file where the recorder does not expect changes
};

/// Name of a status, for messages on a host ("out_of_memory"). Static storage.
const char* to_string(Status status) noexcept;

/// What a file needs and this build lacks. It is the second number of an `unsupported` trail record.
enum class Feature : std::uint8_t {
    none = 0,
    superblock_version,
    superblock_extension,
    file_locked_for_writing,
    sizeof_offsets,
    object_header_version,
    symbol_table_group,
    dense_links,
    dense_attributes,
    shared_message,
    external_link,
    user_defined_link,
    unknown_message,
    datatype_class,
    datatype_version,
    dataspace_version,
    dataspace_rank,
    layout_version,
    layout_class,
    chunk_index,
    external_storage,
    filter,
    fill_value_version,
    attribute_version,
    link_version,
    base_address,
    message_version,
    type_conversion,
    creation_order,
    driver,
    ordered_writing,  ///< the storage promises too little to be written without a journal: see Capabilities
    free_space,       ///< FileCreate::file_space, persist_free_space, FileAccess::alignment and so on
    reclaim,          ///< FileAccess::reclaim
    format_version,   ///< FileAccess::low or high
};

/// Name of a feature, for messages on a host ("dense_links"). Static storage.
const char* to_string(Feature feature) noexcept;

/// The part of the library that reports; the HDF5 library's own package letters are given beside it.
enum class Module : std::uint8_t {
    none = 0,
    base,
    memory,  // H5MM H5FL
    format,
    storage,    // H5MF H5C
    file,       // H5F
    index,      // H5B H5B2 H5EA H5FA
    object,     // H5O
    datatype,   // H5T
    dataspace,  // H5S
    attribute,  // H5A
    group,      // H5G H5L
    dataset,    // H5D
    filter,     // H5Z
    driver,     // H5FD
    heap,       // H5HL H5HG H5HF
};

/// Name of a module, for messages on a host ("object"). Static storage.
const char* to_string(Module module) noexcept;

/// What the lower 16 bits of a record's first number count; the upper bits hold the Subject. Records of the modules
/// group and dataset with not_found, invalid_argument or type_mismatch have it.
enum class Subject : std::uint32_t {
    none = 0,
    /// The part of a path that is missing, the first is 1; second number: links followed before it.
    path_part = 0x10000,
    object_type = 0x20000,  ///< the ObjectType of the object, which is not the one asked for
    member = 0x30000,       ///< the member of the program's compound type, from 0, that the file's type lacks
    dimension = 0x40000,    ///< the dimension, from 0, that has another maximum; second number: the maximum in the file
    rank = 0x50000,         ///< the number of dimensions in the file, which is another one than asked for
};
constexpr std::uint32_t subject(Subject what, std::uint32_t number) noexcept {
    return static_cast<std::uint32_t>(what) | (number & 0xffffU);
}

/// A place in the library's sources as one number: the line in bits 5 to 14, a hash of the file's name in bits 19 to
/// 31. The bits between and below are for the status and the module of an error record.
struct SourcePlace {
    std::uint32_t number = 0;
};

/// The number of a line of a file. Only the last three components of the file's path count, as in
/// "core/dataset/raw_data.cpp", so that the number does not depend on where the library is built.
constexpr SourcePlace source_place(const char* path, unsigned line) noexcept {
    const char* component[3] = {path, path, path};
    for (const char* at = path; *at != '\0'; ++at) {
        if (*at == '/') {
            component[0] = component[1];
            component[1] = component[2];
            component[2] = at + 1;
        }
    }
    // FNV-1a. The seed is free to choose: it must only give every source file another hash of 13 bits, which
    // source_names.cpp asserts.
    constexpr std::uint32_t kSeed = 2166136261U;
    std::uint32_t hash = kSeed;
    for (const char* at = component[0]; *at != '\0'; ++at) {
        hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619U;
    }
    return {(hash ^ hash >> 13) << 19 | (line & 0x3ffU) << 5};
}

/// One record of the trail: where an error was first seen. No strings, no allocation.
struct ErrorRecord {
    /// Status, line, module and source file in one number, for devices that print no text: `h5mote explain NUMBER` and
    /// source_name() decode it.
    std::uint32_t number = 0;
    Module module = Module::none;
    Status status = Status::ok;
    std::uint16_t line = 0;    ///< source line, 1 to 1023
    std::uint32_t detail = 0;  ///< first number: a message type, a version, a count
    std::uint64_t value = 0;   ///< second number: bytes needed, a file address, a Feature
};

/// The record that has this number; its detail and value are 0.
constexpr ErrorRecord error_record(std::uint32_t number) noexcept {
    return {number,
            static_cast<Module>(number >> 15 & 0xfU),
            static_cast<Status>(number & 0x1fU),
            static_cast<std::uint16_t>(number >> 5 & 0x3ffU),
            0,
            0};
}

/// The source file of a record, as "core/dataset/raw_data.cpp"; nullptr when this version of the library has no such
/// file. Static storage. Only a program that calls this function contains the names.
const char* source_name(const ErrorRecord& record) noexcept;

/// Fixed ring of the newest H5MOTE_ERROR_TRAIL records; older ones are overwritten. Nothing clears it but clear().
class RingTrail {
public:
    /// Number of records kept, at most H5MOTE_ERROR_TRAIL.
    std::size_t size() const noexcept { return size_; }
    /// The i-th newest record; i = 0 is the latest. An empty record when i >= size().
    ErrorRecord newest(std::size_t i = 0) const noexcept;
    void clear() noexcept { size_ = 0; }

    /// Keeps a record and returns its status, so that `return trail.fail(...)` reads as one statement.
    [[gnu::always_inline]] Status fail(Module module, SourcePlace place, Status status, std::uint32_t detail = 0,
                                       std::uint64_t value = 0) noexcept {
        // There are hundreds of call sites. So everything known at compile time goes into one word, and no argument
        // onto the stack, unless the value needs 64 bits.
        const std::uint32_t where =
            static_cast<std::uint32_t>(status) | static_cast<std::uint32_t>(module) << 15 | place.number;
        if (__builtin_constant_p(value <= 0xffffffffU) && value <= 0xffffffffU) {
            const auto small = static_cast<std::uint32_t>(value);
            return __builtin_constant_p(detail) && detail == 0 && __builtin_constant_p(small) && small == 0
                       ? add(where)
                       : add_small(where, detail, small);
        }
        return __builtin_constant_p(detail) && detail == 0 ? add_value(where, value) : add(where, detail, value);
    }

private:
    struct Entry {
        std::uint32_t where;  // ErrorRecord::number
        std::uint32_t detail;
        std::uint64_t value;
    };

    Status add(std::uint32_t where) noexcept;
    Status add_small(std::uint32_t where, std::uint32_t detail, std::uint32_t value) noexcept;
    Status add_value(std::uint32_t where, std::uint64_t value) noexcept;
    Status add(std::uint32_t where, std::uint32_t detail, std::uint64_t value) noexcept;

    // One record where this class is not used, because an array cannot be empty.
    static constexpr std::size_t kCapacity = H5MOTE_ERROR_TRAIL > 0 ? H5MOTE_ERROR_TRAIL : 1;

    Entry entries_[kCapacity];
    std::uint8_t size_ = 0;
    std::uint8_t next_ = 0;
};

/// The trail with H5MOTE_ERROR_TRAIL 0: it has the functions of RingTrail, is always empty and costs nothing.
class NoTrail {
public:
    std::size_t size() const noexcept { return 0; }
    ErrorRecord newest(std::size_t /*i*/ = 0) const noexcept { return {}; }
    void clear() noexcept {}
    [[gnu::always_inline]] Status fail(Module /*module*/, SourcePlace /*place*/, Status status,
                                       std::uint32_t /*detail*/ = 0, std::uint64_t /*value*/ = 0) noexcept {
        return status;
    }
};

/// Where errors were first seen. A Library has one.
using ErrorTrail = std::conditional_t<(H5MOTE_ERROR_TRAIL > 0), RingTrail, NoTrail>;

}  // namespace h5mote

/// The place in the sources where the macro is used, computed at compile time.
#define H5MOTE_HERE         \
    (::h5mote::SourcePlace{ \
        ::std::integral_constant<::std::uint32_t, ::h5mote::source_place(__FILE__, __LINE__).number>::value})

/// Returns from the enclosing function when the expression is not Status::ok.
#define H5MOTE_TRY(expression)                                \
    do {                                                      \
        const ::h5mote::Status h5mote_status_ = (expression); \
        if (h5mote_status_ != ::h5mote::Status::ok) {         \
            return h5mote_status_;                            \
        }                                                     \
    } while (0)
