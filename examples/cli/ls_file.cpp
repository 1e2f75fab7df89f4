// h5mote ls: which objects of a file are listed, and in which order.
#include "ls.hpp"

#include <h5mote/vfd/family.hpp>

namespace h5mote::cli {

namespace {

const char* driver_name(PosixFile::Kind kind) {
    switch (kind) {
        case PosixFile::Kind::family:
            return "family";
        case PosixFile::Kind::split:
        case PosixFile::Kind::multi:
            return "multi";
        default:
            return "sec2";
    }
}

// How many serial numbers h5ls uses up to open this file. libhdf5 numbers every file that it opens, the members of a
// family, split or multi file before the whole. A multi file of six members takes 8, because h5ls first tries to open
// it as a split file and thereby opens one member.
std::uint64_t opened_files(Session& session) {
    switch (session.kind()) {
        case PosixFile::Kind::family:
            return static_cast<FamilyDriver&>(session.driver()).members() + std::uint64_t{1};
        case PosixFile::Kind::split:
            return 3;
        case PosixFile::Kind::multi:
            return 8;
        default:
            return 1;
    }
}

}  // namespace

/// Lists every link below a group.
class Lister::Walk final : public Visitor {
public:
    explicit Walk(Lister& lister) : lister_(lister) {}
    Status link(std::string_view path, const Link& link) noexcept override { return lister_.list_link(path, link); }

private:
    Lister& lister_;
};

// Opens the file whose name is the longest prefix of the argument, in whole path components, that can be opened.
// `object` becomes the rest.
bool Lister::open(const std::string& argument, std::string& object) {
    file_name_ = argument;
    Status first = Status::ok;
    while (!file_name_.empty()) {
        const Status status = session_.open(file_name_.c_str());
        if (status == Status::ok) {
            object = argument.substr(file_name_.size());
            return true;
        }
        if (first == Status::ok) {
            first = status;
        }
        const std::size_t slash = file_name_.rfind('/');
        if (slash == std::string::npos) {
            break;
        }
        file_name_.resize(slash);
    }
    report_.failure(context(), first, (argument + ": unable to open file").c_str());
    return false;
}

bool Lister::list(const std::string& argument) {
    std::string object;
    if (!open(argument, object)) {
        return true;
    }
    file_number_ += opened_files(session_);
    if (options_.verbose) {
        out_.put("Opened \"");
        out_.put(file_name_);
        out_.print("\" with %s driver.\n", driver_name(session_.kind()));
    }
    root_ = session_.file().root();
    seen_.clear();
    root_shown_ = object.empty() && options_.recursive;
    name_start_ = object.empty() ? 0 : 1;
    base_ = object;
    if (!base_.empty() && base_.back() == '/') {
        base_.remove_suffix(1);
    }
    const bool goes_on = list_named(object.empty() ? std::string_view("/") : std::string_view(object));
    paths_.reset();
    group_ = Group();
    root_ = Group();
    session_.close();
    context().trail().clear();
    out_.flush();
    return goes_on;
}

// Lists the object or link that the argument names. Returns false if there is none.
bool Lister::list_named(std::string_view name) {
    bool found = true;
    if (name != "/") {
        Link link;
        found = root_.find_link(name, link) == Status::ok;
        if (found && link.type() != LinkType::hard) {
            (void)list_link(name, link);
            return true;
        }
    }
    Result<Object> object = root_.open_object(name);
    ObjectInfo info;
    if (!found || !object || object->info(info, false) != Status::ok) {
        put_name(name, "**NOT FOUND**");
        report_.fail();
        return false;
    }
    if (info.type != ObjectType::group || options_.group_itself) {
        list_object(name, static_cast<Object&&>(*object), info, false);
        return true;
    }
    Result<Group> group = Group::from(static_cast<Object&&>(*object));
    if (group) {
        group_ = static_cast<Group&&>(*group);
        if (root_shown_) {
            list_object(name, group_.duplicate(), info, false);
        }
        (void)seen_before(group_, info.reference_count);
        name_start_ = base_.size();
        list_group(group_, name);
    }
    return true;
}

// An error during the walk ends the list of this group with a warning, but does not change the exit code, as in h5ls.
void Lister::list_group(Group& group, std::string_view name) {
    Status status = Status::ok;
    if (options_.recursive) {
        Walk walk(*this);
        status = group.visit(walk);
    } else {
        LinkIterator links(group, IndexOrder::name);
        Link link;
        while ((status = links.next(link)) == Status::ok && (status = list_link(link.name(), link)) == Status::ok) {
        }
        status = status == Status::not_found ? Status::ok : status;
    }
    if (status != Status::ok) {
        report_.warning("%.*s: the list ends here: %s", static_cast<int>(name.size()), name.data(), to_string(status));
    }
}

Status Lister::list_link(std::string_view path, const Link& link) {
    if (link.type() == LinkType::hard) {
        Result<Object> object = root_.open_object_at(link.address());
        H5MOTE_TRY(object.status());
        ObjectInfo info;
        const Status status = object->info(info, false);
        if (status != Status::ok) {
            return status == Status::not_found ? Status::corrupt_file : status;
        }
        const bool seen = seen_before(*object, info.reference_count);
        list_object(path, static_cast<Object&&>(*object), info, seen);
        return Status::ok;
    }
    put_name(path, "");
    if (link.type() == LinkType::soft) {
        out_.put("Soft Link {");
        out_.put(link.target());
        out_.put("}\n");
    } else if (link.type() == LinkType::external) {
        out_.put("External Link {");
        out_.put(link.file_name());
        out_.put(link.target().substr(0, 1) == "/" ? "/" : "//");
        out_.put(link.target());
        out_.put("}\n");
    } else {
        out_.put("UD Link {cannot follow UD links}\n");
    }
    return Status::ok;
}

bool Lister::seen_before(const Object& object, std::uint32_t reference_count) {
    bool added = true;
    if (reference_count > 1 && seen_.add(object.address(), added) != Status::ok) {
        report_.failure(context(), Status::out_of_memory, "objects with several links are listed again");
        return false;
    }
    return !added;
}

namespace {

/// Passes text on without its first character, the slash with which ObjectPaths begins, and writes a slash of its own
/// before the rest, unless that is empty.
class WithoutFirst final : public TextSink {
public:
    explicit WithoutFirst(TextSink& to) : to_(to) {}
    using TextSink::put;
    void put(std::string_view text) override {
        if (!any_ && !text.empty()) {
            any_ = true;
            text.remove_prefix(1);
        }
        if (!text.empty()) {
            if (!slash_) {
                slash_ = true;
                to_.put('/');
            }
            (void)put_escaped(to_, text, true);
        }
    }
    bool empty() const { return !slash_; }

private:
    TextSink& to_;
    bool any_ = false;
    bool slash_ = false;
};

}  // namespace

// Writes the path under which an object was listed first.
void Lister::put_first_path(Address address) {
    (void)put_escaped(out_, base_, true);
    WithoutFirst sink(out_);
    if (options_.recursive) {
        if (!paths_) {
            paths_.emplace(context(), group_, session_.table_budget());
        }
        (void)paths_->put(sink, address);
    } else if (address != group_.address()) {
        LinkIterator links(group_, IndexOrder::name);
        Link link;
        while (links.next(link) == Status::ok) {
            if (link.type() == LinkType::hard && link.address() == address) {
                sink.put("/");
                sink.put(link.name());
                break;
            }
        }
    }
    if (sink.empty() && base_.empty()) {
        out_.put('/');
    }
}

// `name`: a path relative to the group that is listed or, with a slash at the beginning, the path in the argument.
void Lister::put_name(std::string_view name, const char* after) {
    std::size_t columns = 0;
    const bool from_group = name.substr(0, 1) != "/";
    if (!from_group) {
        name.remove_prefix(name_start_ <= 1 ? name_start_ : name.size());
    }
    if (options_.full_names) {
        if (options_.files.size() > 1) {
            columns += put_escaped(out_, file_name_, true);
            out_.put('/');
            ++columns;
        }
        if (from_group) {
            out_.put('/');
            ++columns;
        }
    } else {
        const std::size_t slash = name.rfind('/');
        name.remove_prefix(slash == std::string_view::npos ? 0 : slash + 1);
    }
    columns += put_escaped(out_, name, true);
    out_.print("%*s ", columns < 24 ? static_cast<int>(24 - columns) : 0, after);
}

}  // namespace h5mote::cli
