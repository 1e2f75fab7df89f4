// h5mote blueprint: reads what a blueprint can have of a file.
#include "blueprint.hpp"
#include "cpp_types.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace h5mote::cli {

BlueprintObject* BlueprintModel::find(Address address) {
    for (BlueprintObject& object : objects) {
        if (object.address == address) {
            return &object;
        }
    }
    return nullptr;
}

void remark(BlueprintObject& object, Report& report, const std::string& path, const std::string& why) {
    const std::string text = (path.empty() ? "/" : path) + ": " + why;
    report.error("%s", text.c_str());
    object.remarks.push_back(text);
}

namespace {

// An object header of a blueprint has less than 64 KiB, and so has an attribute.
constexpr std::size_t kMostHeader = 60000;
// Bytes of all values: compilers evaluate so many steps at most, and some for each byte of a file.
constexpr std::size_t kMostValues = 60000;
constexpr const char* kTooManyValues =
    "it has, or with it the file has, more than 60,000 bytes of values, too many for constants in C++";
constexpr std::size_t kMostSetting = 508;
constexpr std::size_t kMostDepth = 32;

std::vector<std::byte> copy_of(DatatypeView type) { return {type.bytes().begin(), type.bytes().end()}; }

std::string counted(std::uint64_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

class Collector final : public Visitor {
public:
    Collector(const BlueprintOptions& options, Report& report, BlueprintModel& model)
        : options_(options), report_(report), model_(model) {
        for (const std::string& setting : options.settings) {
            settings_.insert(setting.substr(0, 1) == "/" ? setting : "/" + setting);
        }
    }

    Status link(std::string_view path, const Link& link) noexcept override {
        const std::string full = "/" + std::string(path);
        const bool is_further = link.type() == LinkType::hard && !seen_.insert(link.address()).second;
        BlueprintObject* const group = parent(full);
        if (group == nullptr) {
            return Status::ok;  // what is in an object that is left out is left out with it
        }
        if (link.type() == LinkType::soft) {
            remark(*group, report_, full, "left out: it is a soft link");
        } else if (link.type() != LinkType::hard) {
            remark(*group, report_, full,
                   link.user_defined() ? "left out: it is a user-defined link" : "left out: it is an external link");
        } else if (is_further) {
            remark(*group, report_, full, "left out: it is a further hard link to an object that has another name");
        } else if (link.name().find('\0') != std::string_view::npos) {
            remark(*group, report_, full, "left out: its name has a zero byte");
        } else {
            group->header += link.name().size() + 32;
        }
        return Status::ok;
    }

    Status object(std::string_view path, Object& object) noexcept override {
        const bool is_root = path == ".";
        const std::string full = is_root ? "" : "/" + std::string(path);
        seen_.insert(object.address());
        BlueprintObject* const group = is_root ? nullptr : parent(full);
        if (!is_root && group == nullptr) {
            return Status::ok;
        }
        BlueprintObject item;
        item.path = full;
        item.name = full.substr(full.rfind('/') + 1);
        item.address = object.address();
        item.parent = is_root ? 0 : static_cast<std::size_t>(group - model_.objects.data());
        std::string why;
        const Status status = read(object, item, why);
        if (status != Status::ok && is_root) {
            return status;
        }
        if (status != Status::ok) {
            why = std::string("it cannot be read: ") + to_string(status);
        }
        if (why.empty() && !is_root && group->header > kMostHeader) {
            why = "its group has too many links";
        }
        if (!why.empty() && group != nullptr) {
            remark(*group, report_, full, "left out: " + why);
            return Status::ok;
        }
        by_path_[full] = model_.objects.size();
        model_.objects.push_back(std::move(item));
        return Status::ok;
    }

    Status unreadable(std::string_view path, Status why) noexcept override {
        const std::string full = path == "." ? "" : "/" + std::string(path);
        BlueprintObject* const group = parent(full);
        if (group == nullptr) {
            return why;
        }
        remark(*group, report_, full, std::string("left out: ") + to_string(why));
        return Status::ok;
    }

    void finish() {
        for (const std::string& setting : settings_) {
            report_.error("--setting %s: the blueprint has no such attribute", setting.c_str());
        }
    }

private:
    BlueprintObject* parent(const std::string& path) {
        const auto found = by_path_.find(path.substr(0, path.rfind('/')));
        return found == by_path_.end() || path.empty() ? nullptr : &model_.objects[found->second];
    }

    // `why` says why the blueprint cannot have the object.
    Status read(Object& object, BlueprintObject& item, std::string& why) {
        ObjectInfo info;
        H5MOTE_TRY(object.info(info, false));
        if (static_cast<std::size_t>(std::count(item.path.begin(), item.path.end(), '/')) > kMostDepth) {
            why = "it lies within more than " + counted(kMostDepth, "group");
            return Status::ok;
        }
        if (info.type == ObjectType::datatype) {
            why = "it is a committed datatype; the datasets and attributes that use it have the type as their own";
            return Status::ok;
        }
        if (info.type == ObjectType::dataset) {
            H5MOTE_TRY(dataset(object, item, why));
        } else {
            H5MOTE_TRY(order(object));
        }
        if (!why.empty()) {
            return Status::ok;
        }
        std::size_t length = 0;
        if (object.comment({}, length) != Status::ok || length != 0) {
            remark(item, report_, item.path, "its comment is left out");
        }
        model_.track_order = model_.track_order || info.tracks_attribute_order;
        return attributes(object, info, item);
    }

    Status order(const Object& object) {
        Result<Group> group = Group::from(object.duplicate());
        H5MOTE_TRY(group.status());
        GroupInfo info;
        H5MOTE_TRY(group->group_info(info));
        model_.track_order = model_.track_order || info.tracks_order;
        return Status::ok;
    }

    Status dataset(const Object& object, BlueprintObject& item, std::string& why) {
        Result<Dataset> dataset = Dataset::from(object.duplicate());
        H5MOTE_TRY(dataset.status());
        DatasetInfo info;
        H5MOTE_TRY(dataset->info(info));
        Dataspace space;
        H5MOTE_TRY(dataset->dataspace(space));
        item.type.resize(info.type_length);
        DatatypeView type;
        H5MOTE_TRY(dataset->datatype({item.type.data(), item.type.size()}, type));
        const bool grows = space.extensible() || space.unlimited_count() != 0;
        const std::string no_type = no_cpp_type(type, grows);
        if (!no_type.empty()) {
            why = "its values " + no_type;
        } else if (info.layout == Layout::virtual_dataset) {
            why = "it is a virtual dataset";
        } else if (grows) {
            return rows(*dataset, info, space, item, why);
        } else {
            return constant(*dataset, space, item, why);
        }
        return Status::ok;
    }

    Status rows(Dataset& dataset, const DatasetInfo& info, const Dataspace& space, BlueprintObject& item,
                std::string& why) {
        item.kind = BlueprintObject::Kind::dataset;
        if (space.rank() != 1) {
            why = "it has " + counted(space.rank(), "dimension") +
                  " and grows; a dataset of rows has one (rows may be arrays)";
            return Status::ok;
        }
        if (info.layout != Layout::chunked) {
            why = "it grows and is not chunked";
            return Status::ok;
        }
        H5MOTE_TRY(dataset.chunk_dims({&item.chunk, 1}));
        if (item.chunk > 0xffffffffU / info.element_size) {
            why = "its chunks have 4 GiB or more";
            return Status::ok;
        }
        if (space.max_dims()[0] != kUnlimited) {
            remark(item, report_, item.path,
                   "it grows without limit in a blueprint, here to " + counted(space.max_dims()[0], "row"));
        }
        H5MOTE_TRY(filters(dataset, info, item));
        if (info.fill == FillState::user_defined) {
            remark(item, report_, item.path, "its fill value is left out: a recorder writes every row");
        }
        return Status::ok;
    }

    Status filters(const Dataset& dataset, const DatasetInfo& info, BlueprintObject& item) {
        for (unsigned i = 0; i < info.filters; ++i) {
            FilterInfo filter;
            std::uint32_t value = 0;
            H5MOTE_TRY(dataset.filter(i, filter, {}, {&value, 1}));
            constexpr std::size_t kMost = 4;
            if (item.filters.size() < kMost && filter.id == FilterId::shuffle) {
                item.filters.emplace_back("shuffle()");
            } else if (item.filters.size() < kMost && filter.id == FilterId::deflate && value <= 9) {
                item.filters.push_back("deflate(" + std::to_string(value) + ")");
            } else {
                remark(item, report_, item.path,
                       "its filter " + std::to_string(static_cast<unsigned>(filter.id)) +
                           " is left out: blueprint::filter() takes one of your own");
            }
        }
        return Status::ok;
    }

    Status constant(Dataset& dataset, const Dataspace& space, BlueprintObject& item, std::string& why) {
        item.kind = BlueprintObject::Kind::constant;
        item.dims.assign(space.dims().begin(), space.dims().end());
        std::uint64_t count = 0;
        const DatatypeView type{{item.type.data(), item.type.size()}};
        const std::uint32_t size = type.size();
        if (space.space_class() == DataspaceClass::null || space.element_count(count) != Status::ok || count == 0 ||
            size == 0) {
            why = "it has no elements and does not grow";
            return Status::ok;
        }
        if (count > (kMostValues - values_) / size) {
            why = kTooManyValues;
            return Status::ok;
        }
        item.value.resize(static_cast<std::size_t>(count * size));
        const Status status = dataset.read_stored(Selection::all(), {item.value.data(), item.value.size()});
        if (status != Status::ok) {
            why = std::string("its values cannot be read: ") + to_string(status);
            return Status::ok;
        }
        check_values(type, item.value, why);
        values_ += item.value.size();
        return Status::ok;
    }

    static void check_values(DatatypeView type, const std::vector<std::byte>& value, std::string& why) {
        for (std::size_t at = 0; at + type.size() <= value.size() && why.empty(); at += type.size()) {
            why = no_cpp_value(type, value.data() + at);
            if (!why.empty()) {
                why.insert(0, "it ");
            }
        }
    }

    Status attributes(const Object& object, const ObjectInfo& info, BlueprintObject& item) {
        AttributeIterator walk(object, info.tracks_attribute_order ? IndexOrder::creation : IndexOrder::name);
        Attribute attribute;
        Status status;
        while ((status = walk.next(attribute)) != Status::not_found) {
            if (status != Status::ok) {
                remark(item, report_, item.path, std::string("an attribute cannot be read: ") + to_string(status));
                return Status::ok;
            }
            const std::string name(attribute.name());
            const std::string path = (item.path.empty() ? "/" : item.path) + "@" + name;
            std::string why;
            if (name == "DIMENSION_LIST" || name == "DIMENSION_LABELS") {
                if (read_scales(attribute, item.scales) == Status::ok) {
                    continue;
                }
            } else if (name == "REFERENCE_LIST") {
                // settle_scales() compares what is kept here with what the blueprint makes.
                item.attributes.push_back(
                    {name, copy_of(attribute.type()), {attribute.element_count()}, {}, false, false});
                continue;
            }
            BlueprintAttribute kept;
            kept.name = name;
            status = this->attribute(attribute, kept, why);
            if (status != Status::ok) {
                why = std::string("its value cannot be read: ") + to_string(status);
            }
            const std::size_t header = name.size() + kept.type.size() + kept.value.size() + 64 + 8 * kept.dims.size();
            if (why.empty() && item.header + header > kMostHeader) {
                why = "it has, or the object has with it, too many bytes for an object header";
            }
            if (!why.empty()) {
                remark(item, report_, path, "left out: " + why);
                continue;
            }
            if (settings_.erase(path) != 0) {
                kept.is_setting = kept.value.size() <= kMostSetting && !kept.is_empty;
                if (kept.is_empty) {
                    remark(item, report_, path, "cannot be set at run time: it has no elements");
                } else if (!kept.is_setting) {
                    remark(item, report_, path,
                           "cannot be set at run time: it has more than " + counted(kMostSetting, "byte"));
                }
            }
            item.header += kept.is_setting ? 32 : header;
            values_ += kept.value.size();
            item.attributes.push_back(std::move(kept));
        }
        return Status::ok;
    }

    Status attribute(const Attribute& attribute, BlueprintAttribute& kept, std::string& why) {
        const DatatypeView type = attribute.type();
        if (options_.fixed_text && type.is_variable_string() && attribute.element_count() == 1 &&
            attribute.dataspace().rank() == 0) {
            return fixed_text(attribute, kept);
        }
        const std::string no_type = no_cpp_type(type, false);
        if (!no_type.empty()) {
            why = "its values " + no_type +
                  (type.is_variable_string() && attribute.dataspace().rank() == 0 ? " (see --fixed-text)" : "");
            return Status::ok;
        }
        kept.type = copy_of(type);
        kept.is_empty = attribute.dataspace().space_class() == DataspaceClass::null;
        if (kept.is_empty) {
            return Status::ok;
        }
        if (attribute.element_count() == 0) {
            why = "it has a dimension of no elements";
            return Status::ok;
        }
        kept.dims.assign(attribute.dataspace().dims().begin(), attribute.dataspace().dims().end());
        if (attribute.data_size() > kMostValues - values_) {
            why = kTooManyValues;
            return Status::ok;
        }
        kept.value.resize(static_cast<std::size_t>(attribute.data_size()));
        H5MOTE_TRY(attribute.read_stored(0, {kept.value.data(), kept.value.size()}));
        check_values(type, kept.value, why);
        return Status::ok;
    }

    Status fixed_text(const Attribute& attribute, BlueprintAttribute& kept) {
        std::vector<std::byte> stored(attribute.type().size());
        H5MOTE_TRY(attribute.read_stored(0, {stored.data(), stored.size()}));
        const ConstBytes heap_id(stored.data() + 4, stored.size() - 4);
        std::uint64_t length = 0;
        H5MOTE_TRY(attribute.variable_size(heap_id, length));
        if (length > kMostValues - values_) {
            return Status::over_budget;
        }
        kept.value.resize(static_cast<std::size_t>(length));
        H5MOTE_TRY(attribute.read_variable(heap_id, 0, {kept.value.data(), kept.value.size()}));
        while (!kept.value.empty() && kept.value.back() == std::byte{0}) {
            kept.value.pop_back();
        }
        kept.value.resize(kept.value.empty() ? 1 : kept.value.size());
        const bool ascii =
            std::all_of(kept.value.begin(), kept.value.end(), [](std::byte b) { return b < std::byte{0x80}; });
        const auto type = make_string(kept.value.size(), StringPadding::null_padded,
                                      ascii ? CharacterSet::ascii : CharacterSet::utf8);
        kept.type = copy_of(type.view());
        return Status::ok;
    }

    const BlueprintOptions& options_;
    Report& report_;
    BlueprintModel& model_;
    std::set<std::string> settings_;  // those that were not found yet
    std::set<Address> seen_;
    std::map<std::string, std::size_t> by_path_;
    std::size_t values_ = 0;  // bytes of values so far
};

}  // namespace

Status collect_blueprint(Session& session, const BlueprintOptions& options, Report& report, BlueprintModel& model) {
    FileInfo info;
    H5MOTE_TRY(session.file().info(info));
    Collector collector(options, report, model);
    // Groups that do not keep the order of creation are walked by name.
    Group root = session.file().root();
    H5MOTE_TRY(root.visit(collector, IndexOrder::creation));
    if (model.objects.empty()) {
        return Status::corrupt_file;
    }
    model.sizeof_addr = info.sizeof_addr;
    if (model.sizeof_addr != 4 && model.sizeof_addr != 8) {
        remark(model.objects[0], report, "",
               "addresses have 8 bytes in a blueprint, here " + std::to_string(model.sizeof_addr));
        model.sizeof_addr = 8;
    }
    if (info.user_block != 0) {
        remark(model.objects[0], report, "", "its user block is left out");
    }
    settle_scales(model, report);
    collector.finish();
    return Status::ok;
}

}  // namespace h5mote::cli
