// h5mote dump: datasets.
#include "dataset_data.hpp"
#include "dump.hpp"
#include "numbers.hpp"

namespace h5mote::cli {

void Dumper::dump_dataset(Dataset& dataset, std::string_view name, const Subset* subset) {
    const std::int32_t id = ids_.datasets - 1;
    DatasetInfo info;
    ObjectInfo object_info;
    Dataspace space;
    OwnedType type(context());
    Status status = dataset.info(info);
    if (status == Status::ok && info.layout == Layout::virtual_dataset && options_.data &&
        (options_.virtual_first_missing || options_.virtual_gap != 0)) {
        status = dataset.set_virtual_view(
            options_.virtual_first_missing ? VirtualView::first_missing : VirtualView::last_available,
            options_.virtual_gap);
    }
    if (status == Status::ok) {
        status = type.read(dataset, info.type_length);
    }
    if (status == Status::ok) {
        status = dataset.dataspace(space);
    }
    if (status == Status::ok) {
        status = dataset.Object::info(object_info);
    }
    Lines lines = new_lines();
    lines.need_prefix = true;
    printer_.start_line(lines, format_);
    text_.reset();
    text_.put("DATASET \"");
    text_.put(name);
    text_.put("\" {");
    printer_.print(lines, format_, text_);
    dump_comment(lines, dataset);
    ++indent_;
    ++lines.indent;
    if (status == Status::ok) {
        dump_datatype(lines, type.view(), info.type_object);
        dump_dataspace(lines, space);
        if (options_.object_ids) {
            dump_object_id(lines, id);
        }
        DatasetData source(*this, dataset, type.view(), space);
        if (options_.properties) {
            dump_properties(lines, dataset, source);
        }
        if (options_.data) {
            if (type.view().type_class() == TypeClass::time) {
                ++lines.indent;
                lines.need_prefix = true;
                printer_.start_line(lines, format_);
                text_.reset();
                text_.put("DATA{ not yet implemented.}");
                printer_.print(lines, format_, text_);
                --lines.indent;
            } else {
                if (options_.packed_bits.empty()) {
                    dump_data(lines, &source, subset);
                } else {
                    dump_packed_bits(lines, source, subset);
                }
            }
        }
        dump_attributes(dataset, object_info.tracks_attribute_order);
    } else {
        report_.failure(context(), status, "opening a dataset");
    }
    --lines.indent;
    --indent_;
    lines.need_prefix = true;
    printer_.start_line(lines, format_);
    text_.reset();
    text_.put("}");
    printer_.print(lines, format_, text_);
}

void Dumper::dump_packed_bits(Lines& lines, DataSource& source, const Subset* subset) {
    for (const PackedBits& bits : options_.packed_bits) {
        lines.need_prefix = true;
        printer_.start_line(lines, format_);
        format_.bits_offset = bits.offset;
        format_.bits_mask = bits.length >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits.length) - 1;
        if (source.type.type_class() == TypeClass::integer) {
            const unsigned size = 8 * native_integer_size(source.type.precision());
            if (bits.offset + bits.length > size) {
                report_.warning("Packed Bit offset+length value(%u) too large. Max is %u", bits.offset + bits.length,
                                size);
                format_.bits_mask = 0;
            }
        }
        format_.packed = true;
        text_.reset();
        text_.print("PACKED_BITS OFFSET=%u LENGTH=%u", bits.offset, bits.length);
        printer_.print(lines, format_, text_);
        dump_data(lines, &source, subset);
        format_.packed = false;
    }
}

}  // namespace h5mote::cli
