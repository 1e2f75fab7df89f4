// h5mote ls - lists the objects of a file in the form that h5ls 1.10 prints, byte for byte.
#pragma once

#include "address_set.hpp"
#include "dataset_data.hpp"
#include "object_paths.hpp"
#include "output.hpp"
#include "report.hpp"
#include "session.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/named_datatype.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace h5mote::cli {

struct LsOptions {
    CommonOptions common;
    bool address = false;
    bool full_names = false;
    bool group_itself = false;
    bool recursive = false;
    bool simple = false;
    bool verbose = false;
    std::vector<std::string> files;
};

/// Writes `text` up to its first zero byte, with the special characters (and, if asked for, spaces) escaped as in C.
/// Returns the number of columns written.
std::size_t put_escaped(TextSink& sink, std::string_view text, bool escape_spaces);

/// Bytes of one value as libhdf5 has it in memory on a 64-bit machine: variable-length values are pointers there, all
/// other values are as in the file.
std::uint64_t memory_size(DatatypeView type);

/// Writes datatypes as h5ls does. Number types that C has on a 64-bit machine get their C names ("native int").
class LsTypeText {
public:
    /// `simple`: describe number types without C names.
    explicit LsTypeText(TextSink& sink, bool simple) : sink_(sink), simple_(simple) {}

    /// `indent`: columns by which the second and later lines are indented.
    void put(DatatypeView type, unsigned indent);

private:
    void put_number(DatatypeView type, unsigned indent);
    void put_precision(DatatypeView type, unsigned indent);
    void put_float(DatatypeView type, unsigned indent);
    void put_compound(DatatypeView type, unsigned indent);
    void put_member(const CompoundMember& member, std::uint64_t offset, unsigned indent);
    void put_enumeration(DatatypeView type, unsigned indent);
    void put_string(DatatypeView type);
    void put_dimensions(ConstBytes dimensions);
    void new_line(unsigned indent);

    TextSink& sink_;
    bool simple_;
};

/// Lists files. Memory whose size depends on a file's contents comes from the session.
class Lister {
public:
    Lister(Session& session, const LsOptions& options, Report& report)
        : session_(session), options_(options), report_(report), seen_(session.context()) {}

    /// Lists `argument`: a file name, optionally followed by a slash and the path of an object in it. Returns false
    /// where h5ls would stop and not look at the remaining arguments.
    bool list(const std::string& argument);

private:
    class Walk;

    // ls_file.cpp
    bool open(const std::string& argument, std::string& object);
    bool list_named(std::string_view name);
    void list_group(Group& group, std::string_view name);
    Status list_link(std::string_view path, const Link& link);
    bool seen_before(const Object& object, std::uint32_t reference_count);
    void put_first_path(Address address);
    void put_name(std::string_view name, const char* after);

    // ls_object.cpp
    void list_object(std::string_view name, Object&& object, const ObjectInfo& info, bool seen);
    void list_attributes(const Object& object);
    void list_comment(const Object& object);
    void list_modified(const ObjectInfo& info);
    void list_extent(const Dataspace& space);
    void list_dataset(Dataset& dataset);
    void list_layout(Dataset& dataset, const DatasetInfo& info, std::uint64_t element_size);
    void list_external(Dataset& dataset, const DatasetInfo& info);
    void list_storage(Dataset& dataset, DatatypeView type, std::uint64_t element_size);
    void list_filters(Dataset& dataset, const DatasetInfo& info);
    void list_type(DatatypeView type, Address committed, unsigned indent);
    void list_addresses(const Dataset& dataset, const DatasetInfo& info);
    Context& context() { return session_.context(); }

    Session& session_;
    const LsOptions& options_;
    Report& report_;
    Output out_;
    AddressSet seen_;                   // objects with several links that were listed
    std::optional<ObjectPaths> paths_;  // paths of objects below group_
    Group root_;
    Group group_;                 // the group that is listed
    std::string_view base_;       // path of the object in the argument, without a slash at the end
    std::size_t name_start_ = 0;  // bytes at the beginning of an absolute path that are not shown
    bool root_shown_ = false;
    std::string file_name_;
    std::uint64_t file_number_ = 0;  // serial number that libhdf5 would give to the file
};

}  // namespace h5mote::cli
