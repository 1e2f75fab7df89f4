// h5mote dump -a -d -g -l -t -N: single objects.
#include "dump.hpp"

namespace h5mote::cli {

namespace {

/// Splits the path of an attribute at the last slash that is not escaped: `object` ends with this slash, `name`
/// follows.
void split_attribute(std::string_view path, std::string_view& object, std::string_view& name) {
    std::size_t at = path.size();
    while (at > 0 && !(path[at - 1] == '/' && (at == 1 || path[at - 2] != '\\'))) {
        --at;
    }
    object = at == 0 ? std::string_view("/") : path.substr(0, at);
    name = path.substr(at);
}

/// "\/" in the name of an attribute stands for a slash.
std::string unescaped(std::string_view name) {
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '\\' && i + 1 < name.size() && name[i + 1] == '/') {
            ++i;
        }
        result += name[i];
    }
    return result;
}

Result<Object> open_object(const Group& from, std::string_view path) {
    Group group = static_cast<Group&&>(*Group::from(from.duplicate()));
    return group.open_object(path);
}

int length_of(std::string_view text) { return static_cast<int>(text.size()); }

}  // namespace

void Dumper::dump_selected_group(const Group& from, std::string_view path, std::string_view shown_name, bool complain) {
    Result<Object> object = open_object(from, path);
    Result<Group> group = object ? Group::from(static_cast<Object&&>(*object)) : Result<Group>(object.status());
    if (!group) {
        if (complain) {
            out_.put("\nGROUP \"");
            out_.put(shown_name);
            out_.put("\" {\n   }");
            report_.failure(context(), group.status(), "opening a group");
            report_.error("unable to open group \"%.*s\"", length_of(shown_name), shown_name.data());
        }
        return;
    }
    count_opened(ObjectType::group);
    ++indent_;
    dump_group(*group, shown_name);
    --indent_;
}

// Fills in the defaults of numbers that were not given: 0 for start, 1 for the others. Returns false after reporting
// that the subset does not fit the dataset's rank or that its blocks overlap.
bool Dumper::complete_subset(Subset& subset, std::size_t rank) {
    struct Part {
        const char* name;
        std::vector<std::uint64_t>& numbers;
        std::uint64_t value;
    };
    const Part parts[] = {{"start", subset.start, 0},
                          {"stride", subset.stride, 1},
                          {"count", subset.count, 1},
                          {"block", subset.block, 1}};
    for (const Part& part : parts) {
        if (part.numbers.size() > rank) {
            report_.error("number of %s dims (%zu) exceed dataset dims (%zu)", part.name, part.numbers.size(), rank);
            return false;
        }
        part.numbers.resize(rank, part.value);
    }
    for (std::size_t i = 0; i < rank; ++i) {
        if (subset.count[i] > 1 && subset.stride[i] < subset.block[i]) {
            report_.error("wrong subset selection; blocks overlap");
            return false;
        }
    }
    return true;
}

void Dumper::dump_selected_dataset(const Group& from, std::string_view path, std::string_view shown_name,
                                   const Subset* subset, bool complain) {
    Result<Object> object = open_object(from, path);
    ObjectInfo info;
    const Status status = object ? object->info(info) : object.status();
    Result<Dataset> dataset =
        status == Status::ok ? Dataset::from(static_cast<Object&&>(*object)) : Result<Dataset>(status);
    if (!dataset) {
        if (complain) {
            context().trail().clear();
            dump_selected_link(path);
        }
        return;
    }
    count_opened(ObjectType::dataset);
    Subset part;
    if (subset != nullptr) {
        Dataspace space;
        part = *subset;
        if (dataset->dataspace(space) != Status::ok || !complete_subset(part, space.rank())) {
            report_.fail();
            return;
        }
        subset = &part;
    }
    bool before = false;
    if (!seen_before(*dataset, info.reference_count, before)) {
        return;
    }
    if (!before) {
        ++indent_;
        dump_dataset(*dataset, shown_name, subset);
        --indent_;
        return;
    }
    out_.put("\n");
    const unsigned columns = 3 * indent_;
    if (!indentation(columns)) {
        return;
    }
    out_.put("DATASET \"");
    out_.put(shown_name);
    out_.put("\" {\n");
    (void)indentation(columns + 3);
    out_.put("HARDLINK \"");
    put_path(out_, dataset->address());
    out_.put("\"\n");
    (void)indentation(columns);
    out_.put("}");
}

void Dumper::dump_selected_type(const Group& from, std::string_view path, std::string_view shown_name, bool complain) {
    Result<Object> object = open_object(from, path);
    Result<NamedDatatype> type =
        object ? NamedDatatype::from(static_cast<Object&&>(*object)) : Result<NamedDatatype>(object.status());
    if (!type) {
        // Perhaps `shown_name` is "/#ADDRESS", which stands for a committed datatype without links.
        for (std::size_t i = 0; i < file_->types.size(); ++i) {
            const UsedTypes::Entry& entry = file_->types[i];
            if (!entry.named && shown_name == "/#" + std::to_string(entry.address)) {
                Result<Object> unnamed = file_->root.open_object_at(entry.address);
                if (unnamed) {
                    type = NamedDatatype::from(static_cast<Object&&>(*unnamed));
                }
                break;
            }
        }
    }
    if (type) {
        context().trail().clear();
        ++indent_;
        dump_named_type(*type, shown_name);
        --indent_;
    } else if (complain) {
        out_.put("\nDATATYPE \"");
        out_.put(shown_name);
        out_.put("\" \n   ");
        report_.failure(context(), type.status(), "opening a datatype");
        report_.error("unable to open datatype \"%.*s\"", length_of(shown_name), shown_name.data());
    }
}

void Dumper::dump_selected_link(std::string_view path) {
    Link link;
    const Status status = file_->root.find_link(path, link);
    if (status != Status::ok) {
        report_.failure(context(), status, "finding a link");
        report_.error("unable to get link info from \"%.*s\"", length_of(path), path.data());
        return;
    }
    const auto begin = [&](const char* keyword) {
        out_.put("\n");
        out_.put(keyword);
        out_.put(" \"");
        out_.put(path);
        out_.put("\" {\n");
    };
    if (link.type() == LinkType::hard) {
        report_.error("\"%.*s\" is a hard link", length_of(path), path.data());
    } else if (link.type() == LinkType::soft) {
        begin("SOFTLINK");
        out_.put("   LINKTARGET \"");
        out_.put(link.target());
        out_.put("\"\n}");
    } else if (link.type() == LinkType::external) {
        begin("EXTERNAL_LINK");
        out_.put("   TARGETFILE \"");
        out_.put(link.file_name());
        out_.put("\"\n   TARGETPATH \"");
        out_.put(link.target());
        out_.put("\"\n}");
    } else {
        begin("USERDEFINED_LINK");
        out_.print("   LINKCLASS %d\n}", static_cast<int>(link.type()));
    }
}

void Dumper::dump_selected_attribute(const Group& from, std::string_view path) {
    std::string_view object_path;
    std::string_view escaped;
    split_attribute(path, object_path, escaped);
    ++indent_;
    Lines lines = new_lines();
    Result<Object> object = open_object(from, object_path);
    if (!object) {
        named_line(lines, "ATTRIBUTE", path, " {");
        report_.failure(context(), object.status(), "opening an object");
        report_.error("unable to open object \"%.*s\"", length_of(object_path), object_path.data());
        line(lines, "}");
    } else {
        ObjectType type = ObjectType::group;
        if (object->type(type) == Status::ok) {
            count_opened(type);
        }
        const std::string name = unescaped(escaped);
        Result<Attribute> attribute = object->open_attribute(name);
        ++ids_.attributes;
        dump_attribute(lines, name, *attribute);
    }
    --indent_;
}

/// h5dump -N: prints every object, link and attribute with the path or name that was asked for.
class Dumper::PathSearch final : public Visitor {
public:
    PathSearch(Dumper& dumper, std::string_view wanted) : dumper_(dumper), wanted_(wanted) {
        std::string_view object;
        std::string_view escaped;
        split_attribute(wanted, object, escaped);
        attribute_ = unescaped(escaped);
        pending_path_ = "";
    }

    Status link(std::string_view path, const Link& link) noexcept override {
        flush();
        if (link.type() == LinkType::hard) {
            pending_ = link.address();
            pending_path_ = "/" + std::string(path);
            return Status::ok;
        }
        const bool absolute = !wanted_.empty() && wanted_.front() == '/';
        if ((absolute ? wanted_.substr(1) : wanted_) == path) {
            if (link.user_defined()) {
                dumper_.report_.error("unknown link type value");
            } else {
                dumper_.dump_selected_link(wanted_);
            }
        }
        return Status::ok;
    }
    Status object(std::string_view path, Object& object) noexcept override {
        pending_ = kUndefinedAddress;
        look_at(path == "." ? std::string("/") : "/" + std::string(path), object);
        return Status::ok;
    }
    // A link that no call of object() followed leads to an object that was met before: look at it under this path too.
    void flush() {
        if (pending_ != kUndefinedAddress) {
            const Address address = pending_;
            pending_ = kUndefinedAddress;
            Result<Object> object = dumper_.file_->root.open_object_at(address);
            if (object) {
                look_at(pending_path_, *object);
            }
        }
    }

private:
    void look_at(const std::string& path, const Object& object) {
        if (object.has_attribute(attribute_) && !attribute_.empty()) {
            std::string full;
            if (wanted_.empty() || wanted_.front() != '/') {
                full = path.back() == '/' ? path : path + "/";
            }
            full += wanted_;
            dumper_.dump_selected_attribute(dumper_.file_->root, full);
        }
        ObjectType type = ObjectType::group;
        if (path != wanted_ || object.type(type) != Status::ok) {
            return;
        }
        const Group& root = dumper_.file_->root;
        if (type == ObjectType::group) {
            dumper_.dump_selected_group(root, path, path, false);
        } else if (type == ObjectType::dataset) {
            dumper_.dump_selected_dataset(root, path, path, nullptr, false);
        } else {
            dumper_.dump_selected_type(root, path, path, false);
        }
    }

    Dumper& dumper_;
    std::string_view wanted_;
    std::string attribute_;
    std::string pending_path_;
    Address pending_ = kUndefinedAddress;
};

void Dumper::dump_any(std::string_view path) {
    PathSearch search(*this, path);
    ids_.groups += 2;
    const Status status = file_->root.visit(search, options_.sort_by, options_.sort_order);
    search.flush();
    if (status != Status::ok) {
        report_.failure(context(), status, "error traversing information");
    }
}

void Dumper::dump_item(const DumpItem& item) {
    switch (item.kind) {
        case DumpItem::Kind::attribute:
            dump_selected_attribute(file_->root, item.path);
            break;
        case DumpItem::Kind::dataset:
            dump_selected_dataset(file_->root, item.path, item.path, item.subset ? &*item.subset : nullptr, true);
            break;
        case DumpItem::Kind::group:
            dump_selected_group(file_->root, item.path, item.path, true);
            break;
        case DumpItem::Kind::link:
            dump_selected_link(item.path);
            break;
        case DumpItem::Kind::datatype:
            dump_selected_type(file_->root, item.path, item.path, true);
            break;
        case DumpItem::Kind::any:
            dump_any(item.path);
            break;
    }
}

}  // namespace h5mote::cli
