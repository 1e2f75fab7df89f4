// h5mote dump: groups and the links in them.
#include "dump.hpp"

namespace h5mote::cli {

void Dumper::dump_object_id(Lines& lines, std::int32_t id) { line_print(lines, "OBJECTID { %d }", id); }

void Dumper::count_opened(ObjectType type) {
    if (type == ObjectType::group) {
        ++ids_.groups;
    } else if (type == ObjectType::dataset) {
        ++ids_.datasets;
    }
}

// To follow an external link, h5dump opens the group that holds the link and the object that the link leads to.
void Dumper::count_traversed(ObjectType type) {
    count_opened(ObjectType::group);
    count_opened(type);
}

void Dumper::dump_comment(Lines& lines, const Object& object) {
    std::size_t length = 0;
    if (object.comment({}, length) != Status::ok || length == 0) {
        context().trail().clear();
        return;
    }
    auto* const comment = static_cast<char*>(context().allocate(MemoryKind::other, length));
    if (comment == nullptr) {
        report_.failure(context(), Status::out_of_memory, "reading a comment");
        return;
    }
    const Status status = object.comment({comment, length}, length);
    if (status == Status::ok) {
        named_line(lines, "COMMENT", {comment, length}, "");
    } else {
        report_.failure(context(), status, "reading a comment");
    }
    context().release(MemoryKind::other, comment, length);
}

void Dumper::dump_unnamed_types() {
    for (std::size_t i = 0; i < file_->types.size(); ++i) {
        const UsedTypes::Entry entry = file_->types[i];
        if (entry.named) {
            continue;
        }
        count_opened(ObjectType::dataset);
        Result<Object> object = file_->root.open_object_at(entry.address);
        Result<NamedDatatype> type =
            object ? NamedDatatype::from(static_cast<Object&&>(*object)) : Result<NamedDatatype>(object.status());
        if (!type) {
            report_.failure(context(), type.status(), "opening a datatype");
            continue;
        }
        char name[24];
        std::snprintf(name, sizeof(name), "#%llu", static_cast<unsigned long long>(entry.address));
        dump_named_type(*type, name);
    }
}

void Dumper::dump_group(Group& group, std::string_view name) {
    const std::int32_t id = ids_.groups - 1;
    ObjectInfo info;
    GroupInfo group_info;
    Status status = group.info(info);
    if (status == Status::ok) {
        status = group.group_info(group_info);
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "error in getting group creation properties");
    }
    Lines lines = new_lines();
    named_line(lines, "GROUP", name, " {");
    ++lines.indent;
    ++indent_;
    if (name == "/" && unnamed_types_) {
        dump_unnamed_types();
    }
    if (options_.object_ids) {
        dump_object_id(lines, id);
    }
    dump_comment(lines, group);
    bool before = false;
    // A group whose reference count is 1 cannot be met twice unless the file is damaged. Do not enter it again: its
    // links may form a cycle.
    bool first = true;
    if (status == Status::ok && info.reference_count <= 1 && below_ && !external_) {
        status = file_->walked.add(group.address(), first);
        status = status == Status::ok && !first ? Status::corrupt_file : status;
        if (status != Status::ok) {
            report_.failure(context(), status, "a group that was met before");
        }
    }
    if (status == Status::ok && seen_before(group, info.reference_count, before)) {
        if (before) {
            text_.reset();
            text_.put("HARDLINK \"");
            put_path(text_, group.address());
            text_.put("\"");
            printer_.line(lines, format_, text_);
        } else {
            dump_attributes(group, info.tracks_attribute_order);
            dump_links(group, group_info.tracks_order);
        }
    }
    --indent_;
    --lines.indent;
    line(lines, "}");
}

void Dumper::dump_links(const Group& group, bool tracks_order) {
    const bool by_creation = options_.sort_by == IndexOrder::creation && tracks_order;
    count_opened(ObjectType::group);
    LinkIterator links(group, by_creation ? IndexOrder::creation : IndexOrder::name, options_.sort_order);
    Link link;
    Status status;
    while ((status = links.next(link)) == Status::ok) {
        if (!dump_link(group, link)) {
            return;
        }
    }
    if (status != Status::not_found) {
        report_.failure(context(), status, "walking the links of a group");
    }
}

bool Dumper::dump_hard_link(const Group& group, const Link& link) {
    const std::string_view name = link.name();
    const auto complain = [&](const char* what, Status status) {
        report_.failure(context(), status, what);
        report_.error("unable to dump %s \"%.*s\"", what, static_cast<int>(name.size()), name.data());
        return false;
    };
    Group parent = static_cast<Group&&>(*Group::from(group.duplicate()));
    Result<Object> object = parent.open_object_at(link.address());
    ObjectType type = ObjectType::group;
    const Status status = object ? object->type(type) : object.status();
    if (status != Status::ok) {
        return complain("object", status);
    }
    if (type == ObjectType::group) {
        Result<Group> opened = Group::from(static_cast<Object&&>(*object));
        if (!opened) {
            return complain("group", opened.status());
        }
        count_opened(type);
        const bool below_before = below_;
        if (!below_) {
            file_->walked.clear();
        }
        below_ = true;
        dump_group(*opened, name);
        below_ = below_before;
        return true;
    }
    if (type == ObjectType::datatype) {
        Result<NamedDatatype> opened = NamedDatatype::from(static_cast<Object&&>(*object));
        if (!opened) {
            return complain("datatype", opened.status());
        }
        dump_named_type(*opened, name);
        return true;
    }
    ObjectInfo info;
    const Status known = object->info(info);
    Result<Dataset> opened =
        known == Status::ok ? Dataset::from(static_cast<Object&&>(*object)) : Result<Dataset>(known);
    if (!opened) {
        return complain("dataset", opened.status());
    }
    count_opened(type);
    bool before = false;
    Lines lines = new_lines();
    if (!seen_before(*opened, info.reference_count, before)) {
        ++lines.indent;
        named_line(lines, "DATASET", name, " {");
        line(lines, "}");
        return false;
    }
    if (!before) {
        dump_dataset(*opened, name, nullptr);
        return true;
    }
    named_line(lines, "DATASET", name, " {");
    ++lines.indent;
    text_.reset();
    text_.put("HARDLINK \"");
    put_path(text_, opened->address());
    text_.put("\"");
    printer_.line(lines, format_, text_);
    --lines.indent;
    line(lines, "}");
    return true;
}

bool Dumper::dump_link(const Group& group, const Link& link) {
    if (link.type() == LinkType::hard) {
        return dump_hard_link(group, link);
    }
    Lines lines = new_lines();
    if (link.type() == LinkType::soft) {
        named_line(lines, "SOFTLINK", link.name(), " {");
        ++lines.indent;
        named_line(lines, "LINKTARGET", link.target(), "");
        --lines.indent;
    } else if (link.type() == LinkType::external) {
        named_line(lines, "EXTERNAL_LINK", link.name(), " {");
        ++lines.indent;
        named_line(lines, "TARGETFILE", link.file_name(), "");
        named_line(lines, "TARGETPATH", link.target(), "");
        dump_external_link(group, link, lines);
        --lines.indent;
    } else {
        named_line(lines, "USERDEFINED_LINK", link.name(), " {");
        ++lines.indent;
        line_print(lines, "LINKCLASS %d", static_cast<int>(link.type()));
        --lines.indent;
    }
    line(lines, "}");
    return true;
}

// Prints the target of the link if it can be opened and is not in the file of the command line.
void Dumper::dump_external_link(const Group& group, const Link& link, Lines& /*lines*/) {
    Group parent = static_cast<Group&&>(*Group::from(group.duplicate()));
    Result<Object> object = parent.open_object(link.name());
    ObjectType type = ObjectType::group;
    if (!object || object->type(type) != Status::ok) {
        count_opened(ObjectType::group);
        context().trail().clear();
        return;
    }
    count_traversed(type);
    count_opened(type);
    DumpedFile* const target = open_tables_of(*object);
    if (target == nullptr || target == files_) {
        return;
    }
    DumpedFile* const file_before = file_;
    const bool external_before = external_;
    file_ = target;
    external_ = true;
    ++indent_;
    count_traversed(type);
    if (type == ObjectType::group) {
        dump_selected_group(parent, link.name(), link.target(), false);
    } else if (type == ObjectType::dataset) {
        dump_selected_dataset(parent, link.name(), link.target(), nullptr, false);
    } else {
        dump_selected_type(parent, link.name(), link.target(), false);
    }
    --indent_;
    file_ = file_before;
    external_ = external_before;
}

}  // namespace h5mote::cli
