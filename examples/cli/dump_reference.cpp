// h5mote dump: references and their targets.
#include "dataset_data.hpp"
#include "dump.hpp"

#include <cstring>
#include <functional>

namespace h5mote::cli {

namespace {

// Limit of nested references: references may lead to datasets of references, also in cycles.
constexpr unsigned kMostReferences = 16;

const char* object_keyword(ObjectType type) {
    return type == ObjectType::group ? "GROUP" : type == ObjectType::dataset ? "DATASET" : "DATATYPE";
}

// The opening brace after reference number i. The printer puts a space before all elements but the first.
const char* revised_brace(std::uint64_t i) { return i == 0 ? " {" : "{"; }

void put_point(TextSink& sink, Span<const std::uint64_t> point) {
    for (std::size_t i = 0; i < point.size(); ++i) {
        sink.put(i == 0 ? "(" : ",");
        sink.put_unsigned(point[i]);
    }
    sink.put(")");
}

/// The file name or attribute name that a revised reference holds; empty if it has none, or if it cannot be read.
class ReferenceName {
public:
    using Read = Status (Object::*)(ConstBytes stored, Span<char> to, std::size_t& length) const;

    ReferenceName(Context& context, const Object& container, Read read, ConstBytes stored) : context_(context) {
        std::size_t length = 0;
        if ((container.*read)(stored, {}, length) != Status::ok || length == 0) {
            return;
        }
        text_ = static_cast<char*>(context.allocate(MemoryKind::other, length));
        size_ = text_ == nullptr ? 0 : length;
        if (text_ != nullptr && (container.*read)(stored, {text_, size_}, length) != Status::ok) {
            std::memset(text_, '?', size_);
        }
    }
    ReferenceName(const ReferenceName&) = delete;
    ReferenceName& operator=(const ReferenceName&) = delete;
    ~ReferenceName() { context_.release(MemoryKind::other, text_, size_); }

    std::string_view text() const { return {text_, size_}; }

private:
    Context& context_;
    char* text_ = nullptr;
    std::size_t size_ = 0;
};

bool all_zero(ConstBytes bytes) {
    for (const std::byte byte : bytes) {
        if (byte != std::byte{0}) {
            return false;
        }
    }
    return true;
}

}  // namespace

void DataSource::put_reference(TextSink& sink, ReferenceType reference_type, ConstBytes stored) {
    dumper_.put_reference(sink, object(), reference_type, stored);
}

// Prints a revised reference as h5dump 2.0 does, but not the object's contents: DATASET "file/path", ATTRIBUTE
// "file/path/name".
void Dumper::put_revised_reference(TextSink& sink, const Object& container, ConstBytes stored) {
    const auto type = static_cast<ReferenceType>(stored[0]);
    ObjectType kind = ObjectType::dataset;
    Result<Object> object = container.open_reference(type, stored);
    const bool found = object && object->type(kind) == Status::ok;
    sink.put(!found                             ? "UNKNOWN"
             : type == ReferenceType::attribute ? "ATTRIBUTE"
             : type == ReferenceType::region2   ? "DATASET"
                                                : object_keyword(kind));
    sink.put(" \"");
    ReferenceName file(context(), container, &Object::reference_file_name, stored);
    sink.put(file.text().empty() ? std::string_view(path_) : file.text());
    if (DumpedFile* const tables = found ? open_tables_of(*object) : nullptr) {
        (void)tables->paths.put(sink, object->address());
    }
    ReferenceName attribute(context(), container, &Object::reference_attribute_name, stored);
    if (!attribute.text().empty()) {
        sink.put("/");
        sink.put(attribute.text());
    }
    context().trail().clear();
    sink.put("\"");
}

void Dumper::put_reference(TextSink& sink, const Object& container, ReferenceType type, ConstBytes stored) {
    if (type >= ReferenceType::object2) {
        put_revised_reference(sink, container, stored);
        return;
    }
    const bool region = type == ReferenceType::region1 && stored.size() == 12;
    if (!region && (type != ReferenceType::object1 || stored.size() != 8)) {
        return;  // h5dump prints nothing for references of other sizes
    }
    ReferenceTarget target;
    ObjectType kind = ObjectType::dataset;
    Status status = container.reference_target(type, stored, target);
    if (status == Status::ok) {
        Result<Object> object = container.open_reference(type, stored);
        status = object ? object->type(kind) : object.status();
    }
    context().trail().clear();
    count_opened(kind);
    if (region) {
        count_opened(ObjectType::group);  // h5dump walks the file from the root group to find the path
        sink.put("DATASET");
    } else {
        if (!ids_.paths_collected) {
            ids_.paths_collected = true;
            count_opened(ObjectType::group);
        }
        sink.put(object_keyword(kind));
        sink.put(" ");
        sink.put_unsigned(target.address);
    }
    sink.put(" \"");
    if (status == Status::ok) {
        put_path(sink, target.address);
    }
    sink.put("\"");
}

// Prints the blocks of a selection as pairs of corners, or its points. Returns false if nothing is selected.
bool Dumper::put_selection(TextSink& sink, const SelectionSet& selection) {
    std::uint64_t huge[H5MOTE_MAX_RANK];
    for (std::uint64_t& size : huge) {
        size = kUnlimited - 1;
    }
    const std::size_t rank = selection.rank();
    const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(huge, rank));
    const bool points = selection.type() != SelectionType::hyperslabs && selection.type() != SelectionType::all &&
                        selection.type() != SelectionType::none;
    SelectionBlocks blocks;
    if (rank == 0 || blocks.reset(selection.view(), space) != Status::ok) {
        return false;
    }
    std::uint64_t low[H5MOTE_MAX_RANK];
    std::uint64_t high[H5MOTE_MAX_RANK];
    bool any = false;
    while (blocks.next(low, high)) {
        if (any) {
            sink.put(",");
            sink.put(kLineBreak);
            sink.put(" ");
        }
        any = true;
        put_point(sink, {low, rank});
        if (!points) {
            sink.put("-");
            put_point(sink, {high, rank});
        }
    }
    return any;
}

/// The text of a region reference, which may have any number of blocks and thus any length.
class SelectionElement final : public Element {
public:
    SelectionElement(std::function<void(TextSink&)> write_it) : write_it_(std::move(write_it)) {}
    void write(TextSink& sink) override { write_it_(sink); }

private:
    std::function<void(TextSink&)> write_it_;
};

void Dumper::dump_region(Lines& lines, const Object& container, ReferenceType kind, ConstBytes stored,
                         std::uint64_t i) {
    Object target;
    SelectionSet region(context());
    Status status = container.reference_region(kind, stored, target, region);
    Result<Dataset> dataset =
        status == Status::ok ? Dataset::from(static_cast<Object&&>(target)) : Result<Dataset>(status);
    if (!dataset) {
        context().trail().clear();
        return;
    }
    count_opened(ObjectType::dataset);
    const bool blocks = region.type() == SelectionType::hyperslabs;
    // There is no list of blocks or points for these selections; one without limit has infinitely many.
    if (region.type() == SelectionType::all || region.type() == SelectionType::none ||
        region.unlimited_dimension() >= 0) {
        return;
    }
    DatasetInfo info;
    Dataspace space;
    OwnedType type(context());
    status = dataset->info(info);
    if (status == Status::ok) {
        status = type.read(*dataset, info.type_length);
    }
    if (status == Status::ok) {
        status = dataset->dataspace(space);
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "opening a dataset that a reference leads to");
        return;
    }
    const TextFormat format = reference_format();
    open_block(lines, kind == ReferenceType::region2 ? revised_brace(i) : blocks ? " {" : "{", i);
    ElementText text(context(), 4096);
    SelectionElement selection([&](TextSink& sink) {
        sink.put(blocks ? "REGION_TYPE BLOCK  " : "REGION_TYPE POINT  ");
        put_selection(sink, region);
    });
    printer_.print(lines, format, text, selection, i, i);
    dump_shape(lines, type.view(), info.type_object, space, i);
    close_block(lines, i);
}

// Prints the datatype and dataspace of the attribute that an attribute reference (H5R_ATTR) leads to, not its values.
void Dumper::dump_referenced_attribute(Lines& lines, const Object& container, ConstBytes stored, std::uint64_t i) {
    Result<Attribute> attribute = container.open_attribute_reference(stored);
    open_block(lines, revised_brace(i), i);
    if (attribute) {
        dump_shape(lines, attribute->type(), attribute->type_object(), attribute->dataspace(), i);
    } else {
        context().trail().clear();
        block_line(lines, "NULL", i);
    }
    close_block(lines, i);
}

// References are printed with lines of 80 columns, whatever line length was asked for.
TextFormat Dumper::reference_format() const {
    TextFormat format = format_;
    format.columns = 80;
    return format;
}

// Begins the block in braces that describes the target of reference number i.
void Dumper::open_block(Lines& lines, std::string_view brace, std::uint64_t i) {
    block_line(lines, brace, i);
    ++lines.indent;
    lines.need_prefix = true;
}

void Dumper::close_block(Lines& lines, std::uint64_t i) {
    --lines.indent;
    lines.need_prefix = true;
    block_line(lines, "}", i);
}

void Dumper::block_line(Lines& lines, std::string_view content, std::uint64_t i) {
    const TextFormat format = reference_format();
    ElementText text(context());
    text.put(content);
    printer_.print(lines, format, text, i, i);
}

void Dumper::dump_shape(Lines& lines, DatatypeView type, Address committed, const Dataspace& space, std::uint64_t i) {
    const TextFormat format = reference_format();
    lines.need_prefix = true;
    ElementText text(context());
    text.put("DATATYPE  ");
    ++lines.indent;
    put_datatype(text, lines, type, committed);
    --lines.indent;
    printer_.print(lines, format, text, i, i);
    lines.need_prefix = true;
    text.reset();
    text.put("DATASPACE ");
    put_dataspace(text, space);
    printer_.print(lines, format, text, i, i);
}

// Prints the data of the object that an object reference leads to.
void Dumper::dump_referenced(Lines& lines, Object&& object) {
    ObjectType kind = ObjectType::group;
    if (object.type(kind) != Status::ok || kind != ObjectType::dataset || reference_depth_ >= kMostReferences) {
        dump_data(lines, nullptr, nullptr);
        return;
    }
    Result<Dataset> dataset = Dataset::from(static_cast<Object&&>(object));
    DatasetInfo info;
    Dataspace space;
    OwnedType type(context());
    Status status = dataset ? dataset->info(info) : dataset.status();
    if (status == Status::ok) {
        status = type.read(*dataset, info.type_length);
    }
    if (status == Status::ok) {
        status = dataset->dataspace(space);
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "opening a dataset that a reference leads to");
        return;
    }
    DatasetData source(*this, *dataset, type.view(), space);
    ++reference_depth_;
    dump_data(lines, &source, nullptr);
    --reference_depth_;
}

// Prints one line for each reference and, below it, the reference's target.
void Dumper::dump_references(Lines lines, DataSource& source) {
    const TextFormat format = reference_format();
    std::uint64_t count = 0;
    if (source.space.element_count(count) != Status::ok) {
        return;
    }
    const std::size_t size = source.type.size();
    const bool revised = source.type.reference_type() >= ReferenceType::object2;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::byte stored[kMostReferenceBytes];
        std::uint64_t one = 1;
        const Status status = source.read(i, one, stored);
        if (status != Status::ok) {
            report_.failure(context(), status, "reading references");
            return;
        }
        const ConstBytes value(stored, size);
        ElementText text(context());
        ValueText values(context(), format, source);
        lines.need_prefix = true;
        values.put(text, source.type, value, lines.indent);
        printer_.print(lines, format, text, i, count);
        if (!all_zero(value)) {
            const auto kind = revised ? static_cast<ReferenceType>(value[0]) : source.type.reference_type();
            if (kind == ReferenceType::attribute) {
                dump_referenced_attribute(lines, source.object(), value, i);
            } else if (kind == ReferenceType::object1) {
                Result<Object> object = source.object().open_reference(kind, value);
                if (object) {
                    ObjectType opened = ObjectType::group;
                    if (object->type(opened) == Status::ok) {
                        count_opened(opened);
                    }
                    ++lines.indent;
                    dump_referenced(lines, static_cast<Object&&>(*object));
                    --lines.indent;
                }
                context().trail().clear();
            } else if (kind != ReferenceType::object2) {
                dump_region(lines, source.object(), kind, value, i);
            }
        }
        ++lines.element;
    }
}

}  // namespace h5mote::cli
