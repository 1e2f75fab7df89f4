// h5mote dump: datatypes, dataspaces, attributes.
#include "dump.hpp"

namespace h5mote::cli {

namespace {

/// The values of an attribute.
class AttributeData final : public DataSource {
public:
    AttributeData(Dumper& dumper, Attribute& attribute)
        : DataSource(dumper), attribute_(attribute), object_(attribute.object()) {
        type = attribute.type();
        space = attribute.dataspace();
    }

    Status read(std::uint64_t first, std::uint64_t& count, std::byte* buffer) override {
        const std::uint64_t size = type.size();
        return attribute_.read_stored(first * size, Bytes(buffer, static_cast<std::size_t>(count * size)));
    }
    const Object& object() const override { return object_; }

    Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) override {
        return attribute_.variable_size(heap_id, bytes);
    }
    Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) override {
        return attribute_.read_variable(heap_id, offset, to);
    }

private:
    Attribute& attribute_;
    Object object_;
};

}  // namespace

void Dumper::put_datatype(ElementText& text, Lines& lines, DatatypeView type, Address committed) {
    if (committed == kUndefinedAddress) {
        TypeText(printer_, format_).put(text, lines, type);
        return;
    }
    ElementText name(context());
    if (put_type_name(name, committed)) {
        text.put("\"");
        text.put(name.text());
        text.put("\"");
    } else {
        report_.error("unknown committed type.");
    }
}

void Dumper::dump_datatype(Lines& lines, DatatypeView type, Address committed) {
    ElementText text(context());
    lines.need_prefix = true;
    text.put("DATATYPE  ");
    put_datatype(text, lines, type, committed);
    printer_.print(lines, format_, text);
}

void Dumper::dump_dataspace(Lines& lines, const Dataspace& space) {
    text_.reset();
    text_.put("DATASPACE ");
    put_dataspace(text_, space);
    printer_.line(lines, format_, text_);
}

void Dumper::dump_named_type(NamedDatatype& type, std::string_view name) {
    ObjectInfo info;
    const Status status = type.info(info);
    if (status != Status::ok) {
        report_.failure(context(), status, "error in getting creation properties");
    }
    Lines lines = new_lines();
    named_line(lines, "DATATYPE", name, " ");
    ElementText text(context());
    bool before = false;
    if (status != Status::ok || !seen_before(type, info.reference_count, before)) {
        return;
    }
    if (before) {
        text.put("HARDLINK \"");
        put_path(text, type.address());
        text.put("\"");
        printer_.print(lines, format_, text);
        return;
    }
    put_datatype(text, lines, type.type(), kUndefinedAddress);
    if (type.type().type_class() != TypeClass::compound) {
        text.put(";");
    }
    printer_.print(lines, format_, text);
    ++indent_;
    dump_attributes(type, info.tracks_attribute_order);
    --indent_;
}

void Dumper::dump_attributes(const Object& object, bool tracks_order) {
    if (!options_.attributes) {
        return;
    }
    const bool by_creation = options_.sort_by == IndexOrder::creation && tracks_order;
    AttributeIterator attributes(object, by_creation ? IndexOrder::creation : IndexOrder::name, options_.sort_order);
    Attribute attribute;
    Status status;
    while ((status = attributes.next(attribute)) == Status::ok) {
        ++ids_.attributes;
        Lines lines = new_lines();
        dump_attribute(lines, attribute.name(), attribute);
    }
    if (status != Status::not_found) {
        report_.failure(context(), status, "error getting attribute information");
    }
}

void Dumper::dump_attribute(Lines& lines, std::string_view name, Attribute& attribute) {
    const std::int32_t id = ids_.attributes - 1;
    named_line(lines, "ATTRIBUTE", name, " {");
    if (!attribute.valid()) {
        report_.error("unable to open attribute \"%.*s\"", static_cast<int>(name.size()), name.data());
    } else {
        ++lines.indent;
        dump_datatype(lines, attribute.type(), attribute.type_object());
        dump_dataspace(lines, attribute.dataspace());
        if (options_.object_ids) {
            dump_object_id(lines, id);
        }
        if (options_.data || options_.attribute_data) {
            AttributeData source(*this, attribute);
            dump_data(lines, &source, nullptr);
        }
        --lines.indent;
    }
    line(lines, "}");
}

}  // namespace h5mote::cli
