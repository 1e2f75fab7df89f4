// h5mote dump: a file as a whole.
#include "dump.hpp"

#include <cstdarg>
#include <cstdio>

namespace h5mote::cli {

UsedTypes::Entry* UsedTypes::find(Address address) {
    for (std::size_t i = 0; i < size_; ++i) {
        if (entries_[i].address == address) {
            return &entries_[i];
        }
    }
    return nullptr;
}

Status UsedTypes::add(Address address) {
    if (size_ == capacity_) {
        const std::size_t capacity = capacity_ == 0 ? 8 : 2 * capacity_;
        auto* const entries = static_cast<Entry*>(context_.allocate(MemoryKind::other, capacity * sizeof(Entry)));
        if (entries == nullptr) {
            return Status::out_of_memory;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            entries[i] = entries_[i];
        }
        context_.release(MemoryKind::other, entries_, capacity_ * sizeof(Entry));
        entries_ = entries;
        capacity_ = capacity;
    }
    entries_[size_++] = Entry{address, false};
    return Status::ok;
}

Dumper::Dumper(Session& session, const DumpOptions& options, Report& report)
    : session_(session), options_(options), report_(report), printer_(out_), text_(session.context()) {
    format_.escape = options.escape;
    format_.number_format = options.number_format ? options.number_format->c_str() : nullptr;
    format_.columns = options.columns;
    if (options.columns == 0) {
        format_.columns = 65535;
        format_.per_line = 1;
    }
}

Dumper::~Dumper() { close_tables(); }

/// Visits every object before anything is printed, because h5dump does not print a file at all in which an object
/// cannot be opened. Collects the committed datatypes that datasets use.
class Dumper::Survey final : public Visitor {
public:
    Survey(Dumper& dumper, DumpedFile& file) : dumper_(dumper), file_(file) {}

    Status object(std::string_view /*path*/, Object& object) noexcept override {
        ObjectType type = ObjectType::group;
        H5MOTE_TRY(object.type(type));
        if (type != ObjectType::dataset) {
            return Status::ok;
        }
        ++dumper_.ids_.datasets;
        Result<Dataset> dataset = Dataset::from(object.duplicate());
        DatasetInfo info;
        Status status = dataset.status();
        if (status == Status::ok) {
            status = dataset->info(info);
        }
        if (status == Status::unsupported) {
            return Status::ok;  // the dataset is printed as far as possible
        }
        H5MOTE_TRY(status);
        if (info.type_object != kUndefinedAddress && file_.types.find(info.type_object) == nullptr) {
            return file_.types.add(info.type_object);
        }
        return Status::ok;
    }

private:
    Dumper& dumper_;
    DumpedFile& file_;
};

Status Dumper::survey(DumpedFile& file) {
    Survey survey(*this, file);
    count_opened(ObjectType::group);
    H5MOTE_TRY(file.root.visit(survey, options_.sort_by, options_.sort_order));
    for (std::size_t i = 0; i < file.types.size(); ++i) {
        const Status named = file.paths.find(file.types[i].address);
        if (named != Status::ok && named != Status::not_found) {
            return named;
        }
        file.types[i].named = named == Status::ok;
    }
    return Status::ok;
}

Status Dumper::open_tables(const Group& root, bool external, DumpedFile*& file) {
    auto* const made =
        context().create<DumpedFile>(MemoryKind::other, context(), root, session_.table_budget(), options_);
    if (made == nullptr) {
        return Status::out_of_memory;
    }
    made->external = external;
    const Status status = survey(*made);
    if (status != Status::ok) {
        context().destroy(MemoryKind::other, made);
        return status;
    }
    DumpedFile** end = &files_;
    while (*end != nullptr) {
        end = &(*end)->next;
    }
    *end = made;
    file = made;
    return Status::ok;
}

void Dumper::close_tables() {
    while (files_ != nullptr) {
        DumpedFile* const file = files_;
        files_ = file->next;
        context().destroy(MemoryKind::other, file);
    }
    file_ = nullptr;
}

DumpedFile* Dumper::tables_of(const Object& object) {
    DumpedFile* file = files_;
    while (file != nullptr && !file->root.same_file(object)) {
        file = file->next;
    }
    return file;
}

DumpedFile* Dumper::open_tables_of(const Object& object) {
    DumpedFile* file = tables_of(object);
    if (file == nullptr) {
        Result<Group> root = Group::from(object.file_root());
        if (!root || open_tables(*root, true, file) != Status::ok) {
            context().trail().clear();
        }
    }
    return file;
}

bool Dumper::seen_before(const Object& object, std::uint32_t reference_count, bool& before) {
    before = false;
    if (reference_count <= 1 && !external_) {
        return true;
    }
    if (!file_->root.same_file(object)) {
        // The path leads through an external link. Like h5dump, this keeps no table of the objects in that file.
        report_.error("internal error: an object of another file");
        return false;
    }
    bool added = false;
    const Status status = file_->shown.add(object.address(), added);
    if (status != Status::ok) {
        report_.failure(context(), status, "remembering an object");
        return false;
    }
    before = !added;
    return true;
}

void Dumper::put_path(TextSink& sink, Address address) {
    const Status status = file_->paths.put(sink, address);
    if (status != Status::ok && status != Status::not_found) {
        report_.failure(context(), status, "searching for a path");
    }
}

bool Dumper::put_type_name(TextSink& sink, Address address) {
    const UsedTypes::Entry* const known = file_->types.find(address);
    if (known == nullptr || known->named) {
        const Status status = file_->paths.put(sink, address);
        if (status == Status::ok) {
            return true;
        }
    }
    if (known == nullptr) {
        return false;
    }
    sink.put("/#");
    sink.put_unsigned(address);
    return true;
}

void Dumper::line(Lines& lines, std::string_view text) {
    text_.reset();
    text_.put(text);
    printer_.line(lines, format_, text_);
}

void Dumper::line_print(Lines& lines, const char* format, ...) {
    char text[501];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    line(lines, length < 0 ? std::string_view() : std::string_view(text));
}

void Dumper::named_line(Lines& lines, const char* keyword, std::string_view name, const char* after) {
    text_.reset();
    text_.put(keyword);
    text_.put(" \"");
    text_.put(name);
    text_.put("\"");
    text_.put(after);
    printer_.line(lines, format_, text_);
}

// Indents lines that do not go through the Printer. It fails unless the line is longer than the indentation; as in
// h5dump, it always fails with -m, which sets the length of lines to 0.
bool Dumper::indentation(unsigned columns) {
    if (columns >= options_.columns) {
        report_.error("the indentation exceeds the number of cols.");
        return false;
    }
    for (unsigned i = 0; i < columns; ++i) {
        out_.put(' ');
    }
    return true;
}

bool Dumper::print_superblock() {
    FileInfo info;
    const Status status = session_.file().info(info);
    if (status != Status::ok) {
        report_.failure(context(), status, "reading the superblock");
        return false;
    }
    static const char* const kStrategies[] = {"H5F_FSPACE_STRATEGY_FSM_AGGR", "H5F_FSPACE_STRATEGY_PAGE",
                                              "H5F_FSPACE_STRATEGY_AGGR", "H5F_FSPACE_STRATEGY_NONE"};
    out_.put("\nSUPER_BLOCK {\n");
    struct Field {
        const char* name;
        std::uint64_t value;
    };
    const Field fields[] = {
        {"SUPERBLOCK_VERSION", info.superblock_version},
        {"FREELIST_VERSION", info.free_space_version},
        {"SYMBOLTABLE_VERSION", 0},
        {"OBJECTHEADER_VERSION", info.shared_header_version},
        {"OFFSET_SIZE", info.sizeof_addr},
        {"LENGTH_SIZE", info.sizeof_size},
        {"BTREE_RANK", info.symbol_internal_k},
        {"BTREE_LEAF", info.symbol_leaf_k},
        {"ISTORE_K", info.chunk_btree_k},
    };
    for (const Field& field : fields) {
        if (!indentation(3)) {
            return false;
        }
        out_.print("%s %llu\n", field.name, static_cast<unsigned long long>(field.value));
    }
    out_.print("   FILE_SPACE_STRATEGY %s\n",
               info.file_space_strategy < 4 ? kStrategies[info.file_space_strategy] : "Unknown strategy");
    out_.print("   FREE_SPACE_PERSIST %s\n", info.persists_free_space ? "TRUE" : "FALSE");
    out_.print("   FREE_SPACE_SECTION_THRESHOLD %llu\n", static_cast<unsigned long long>(info.free_space_threshold));
    out_.print("   FILE_SPACE_PAGE_SIZE %llu\n", static_cast<unsigned long long>(info.page_size));
    out_.put("   USER_BLOCK {\n");
    out_.print("      USERBLOCK_SIZE %llu\n", static_cast<unsigned long long>(info.user_block));
    out_.put("   }\n}");
    return true;
}

/// h5dump -n: one line for each object and link.
class Dumper::Contents final : public Visitor {
public:
    explicit Contents(Dumper& dumper) : dumper_(dumper), output_(dumper.out_), pending_(dumper.context()) {}

    Status link(std::string_view path, const Link& link) noexcept override {
        flush();
        if (link.type() == LinkType::hard) {
            // If object() is not called next, this link leads to an object that was met before; flush() then prints it.
            pending_.reset();
            pending_.put(path);
            pending_address_ = link.address();
            return Status::ok;
        }
        const char* const kind = link.type() == LinkType::soft       ? "link"
                                 : link.type() == LinkType::external ? "ext link"
                                                                     : "unknown type of UD link";
        begin(kind, path);
        output_.put(" -> ");
        if (link.type() == LinkType::external) {
            output_.put(link.file_name());
            output_.put(" ");
            output_.put(link.target());
        } else if (link.type() == LinkType::soft) {
            output_.put(link.target());
        } else {
            output_.put("???");
        }
        output_.put("\n");
        return Status::ok;
    }

    Status object(std::string_view path, Object& object) noexcept override {
        pending_address_ = kUndefinedAddress;
        H5MOTE_TRY(begin_object(path == "." ? std::string_view() : path, object));
        output_.put("\n");
        if (!dumper_.options_.contents_attributes) {
            return Status::ok;
        }
        ObjectInfo info;
        H5MOTE_TRY(object.info(info));
        const bool by_creation = dumper_.options_.sort_by == IndexOrder::creation && info.tracks_attribute_order;
        AttributeIterator attributes(object, by_creation ? IndexOrder::creation : IndexOrder::name,
                                     dumper_.options_.sort_order);
        Attribute attribute;
        Status status;
        while ((status = attributes.next(attribute)) == Status::ok) {
            begin("attribute", path == "." ? std::string_view() : path);
            if (path != ".") {
                output_.put("/");
            }
            output_.put(attribute.name());
            output_.put("\n");
        }
        return status == Status::not_found ? Status::ok : status;
    }

    void flush() {
        if (pending_address_ == kUndefinedAddress) {
            return;
        }
        const Address address = pending_address_;
        pending_address_ = kUndefinedAddress;
        Result<Object> object = dumper_.file_->root.open_object_at(address);
        if (object && begin_object(pending_.text(), *object) == Status::ok) {
            output_.put(" -> ");
            dumper_.put_path(output_, address);
            output_.put("\n");
        }
    }

private:
    void begin(const char* kind, std::string_view path) {
        output_.print(" %-10s /", kind);
        output_.put(path);
    }
    Status begin_object(std::string_view path, const Object& object) {
        ObjectType type = ObjectType::group;
        H5MOTE_TRY(object.type(type));
        begin(type == ObjectType::group ? "group" : type == ObjectType::dataset ? "dataset" : "datatype", path);
        return Status::ok;
    }

    Dumper& dumper_;
    Output& output_;
    ElementText pending_;
    Address pending_address_ = kUndefinedAddress;
};

bool Dumper::print_contents() {
    out_.put("\nFILE_CONTENTS {\n");
    for (std::size_t i = 0; i < file_->types.size(); ++i) {
        if (!file_->types[i].named) {
            out_.print(" %-10s /#%llu\n", "datatype", static_cast<unsigned long long>(file_->types[i].address));
        }
    }
    Contents contents(*this);
    const Status status = file_->root.visit(contents, options_.sort_by, options_.sort_order);
    contents.flush();
    if (status != Status::ok) {
        report_.failure(context(), status, "walking the file");
    }
    out_.put(" }\n}\n");
    return false;
}

bool Dumper::dump(const char* path) {
    path_ = path;
    Status status = session_.open(path);
    if (status != Status::ok) {
        report_.failure(context(), status, "unable to open the file");
        report_.error("unable to open file \"%s\"", path);
        return false;
    }
    const Group root = session_.file().root();
    status = open_tables(root, false, file_);
    if (status != Status::ok) {
        report_.failure(context(), status, "internal error: looking at all objects");
        return false;
    }
    unnamed_types_ = false;
    for (std::size_t i = 0; i < file_->types.size(); ++i) {
        unnamed_types_ = unnamed_types_ || !file_->types[i].named;
    }
    out_.put("HDF5 \"");
    out_.put(path);
    out_.put("\" {");
    if (options_.contents) {
        return print_contents();
    }
    if (options_.superblock && !print_superblock()) {
        return false;
    }
    if (options_.items.empty()) {
        ++indent_;
        count_opened(ObjectType::group);
        dump_group(file_->root, "/");
        --indent_;
    } else {
        for (const DumpItem& item : options_.items) {
            dump_item(item);
        }
    }
    out_.put("\n}\n");
    close_tables();
    session_.close();
    return true;
}

}  // namespace h5mote::cli
