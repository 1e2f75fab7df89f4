// h5mote blueprint: what of a file is printed as a blueprint.
#pragma once

#include "report.hpp"
#include "session.hpp"

#include <h5mote/h5mote.hpp>

#include <string>
#include <utility>
#include <vector>

namespace h5mote::cli {

struct BlueprintOptions {
    std::string file;
    std::string name_space;             ///< of the C++ text; empty: the file's name
    std::vector<std::string> settings;  ///< PATH@NAME of attributes that are set at run time
    bool fixed_text = false;            ///< strings of any length become strings of their length
};

struct BlueprintAttribute {
    std::string name;
    std::vector<std::byte> type;  ///< the datatype message
    std::vector<std::uint64_t> dims;
    std::vector<std::byte> value;
    bool is_setting = false;
    bool is_empty = false;  ///< no elements (H5S_NULL)
};

/// A scale of a dimension, or its label.
struct BlueprintScale {
    unsigned dimension = 0;
    Address address = kUndefinedAddress;  ///< of the scale's object header; undefined: a label
    std::string text;                     ///< the label, or the path of the scale
};

struct BlueprintObject {
    enum class Kind { group, dataset, constant };

    Kind kind = Kind::group;
    std::string path;  ///< with a leading '/'; empty for the root group
    std::string name;
    Address address = kUndefinedAddress;
    std::size_t parent = 0;
    std::vector<std::byte> type;
    std::vector<std::uint64_t> dims;   ///< of a constant
    std::vector<std::byte> value;      ///< of a constant
    std::uint64_t chunk = 0;           ///< rows of a chunk of a dataset
    std::vector<std::string> filters;  ///< of a dataset: calls of functions of namespace blueprint
    std::vector<BlueprintAttribute> attributes;
    std::vector<BlueprintScale> scales;
    std::vector<std::string> remarks;  ///< what of it, or of what is in it, is missing or different
    std::size_t header = 0;            ///< bytes that its object header has at least
};

/// What a blueprint can have of a file. The first object is the root group, and a group stands before what is in it.
struct BlueprintModel {
    std::vector<BlueprintObject> objects;
    unsigned sizeof_addr = 8;
    bool track_order = false;

    BlueprintObject* find(Address address);
};

/// Reads the file. What a blueprint cannot have is reported, with the reason, and kept as a remark of the object. An
/// error that ends the reading is returned.
Status collect_blueprint(Session& session, const BlueprintOptions& options, Report& report, BlueprintModel& model);

/// Reads the lists of scales and the labels of an object from its attributes DIMENSION_LIST and DIMENSION_LABELS.
Status read_scales(const Attribute& attribute, std::vector<BlueprintScale>& scales);
/// Keeps of the scales those that a blueprint can have, and removes from the objects the attributes with which files
/// store scales.
void settle_scales(BlueprintModel& model, Report& report);

/// Reports that something at `path` is missing or different, and keeps it as a remark of the object.
void remark(BlueprintObject& object, Report& report, const std::string& path, const std::string& why);

/// Prints the C++ text.
void print_blueprint(BlueprintModel& model, const BlueprintOptions& options, Report& report);

}  // namespace h5mote::cli
