// h5mote dump: the values of datasets and attributes.
#include "dump.hpp"
#include "numbers.hpp"

namespace h5mote::cli {

namespace {

// Bytes in memory of a strip: h5dump reads and prints data in strips of at most this size, and where lines break
// depends on where a strip begins.
constexpr std::uint64_t kStripBytes = std::uint64_t{32} << 20;

std::uint64_t strip_elements(const Dataspace& space, std::uint64_t native_size) {
    std::uint64_t bytes = native_size;
    std::uint64_t elements = 1;
    const Span<const std::uint64_t> dims = space.dims();
    for (std::size_t i = dims.size(); i-- > 0;) {
        const std::uint64_t most = kStripBytes / bytes == 0 ? 1 : kStripBytes / bytes;
        const std::uint64_t part = dims[i] < most ? dims[i] : most;
        bytes *= part;
        elements *= part;
    }
    return elements;
}

/// Number of elements in the strip that begins at element `first` of `count`. A strip does not go beyond the end of the
/// row (of the innermost dimensions that together exceed a strip) in which it begins.
std::uint64_t strip_length(const Dataspace& space, std::uint64_t strip, std::uint64_t first, std::uint64_t count) {
    std::uint64_t row = 1;
    const Span<const std::uint64_t> dims = space.dims();
    for (std::size_t i = dims.size(); i-- > 0;) {
        row *= dims[i];
        if (row > strip) {
            break;
        }
    }
    const std::uint64_t left_in_row = row - first % row;
    std::uint64_t length = strip < left_in_row ? strip : left_in_row;
    return length < count - first ? length : count - first;
}

/// A buffer for elements in their stored form.
class ElementBuffer {
public:
    explicit ElementBuffer(Context& context) : context_(context) {}
    ElementBuffer(const ElementBuffer&) = delete;
    ElementBuffer& operator=(const ElementBuffer&) = delete;
    ~ElementBuffer() { context_.release(MemoryKind::other, bytes_, size_); }

    /// Allocates room for as many elements as fit into `budget` bytes, but at least one and at most `most`.
    Status allocate(std::uint64_t element_size, std::uint64_t most, std::size_t budget) {
        if (element_size > static_cast<std::size_t>(-1) / 2) {
            return Status::out_of_memory;
        }
        elements_ = element_size == 0 || element_size >= budget ? 1 : budget / element_size;
        elements_ = elements_ < most ? elements_ : most;
        size_ = static_cast<std::size_t>(elements_ * element_size);
        bytes_ = static_cast<std::byte*>(context_.allocate(MemoryKind::other, size_));
        return bytes_ == nullptr ? Status::out_of_memory : Status::ok;
    }
    std::byte* data() { return bytes_; }
    std::uint64_t elements() const { return elements_; }

private:
    Context& context_;
    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t elements_ = 0;
};

}  // namespace

Status DataSource::read_slab(const Subset& /*slab*/, std::uint64_t /*first*/, std::uint64_t& /*count*/,
                             std::byte* /*buffer*/) {
    return Status::invalid_argument;
}

Status Dumper::dump_values(Lines& lines, const TextFormat& format, DataSource& source) {
    const std::uint64_t native = native_size(source.type).size;
    std::uint64_t count = 0;
    H5MOTE_TRY(source.space.element_count(count));
    if (native == 0 || count == 0) {
        return Status::ok;
    }
    lines.set_shape(source.space.dims());
    const std::uint64_t strip = source.is_dataset ? strip_elements(source.space, native) : count;
    const std::size_t size = source.type.size();
    ElementBuffer buffer(context());
    H5MOTE_TRY(buffer.allocate(size, count, session_.piece_budget()));
    ElementText text(context(), 2048);
    ValueText values(context(), format, source);
    ValueElement element(values, source.type, lines.indent);
    std::uint64_t done = 0;
    while (done < count) {
        const std::uint64_t in_strip = strip_length(source.space, strip, done, count);
        lines.position = done;
        std::uint64_t row_element = 0;
        for (std::uint64_t i = 0; i < in_strip;) {
            std::uint64_t part = buffer.elements() < in_strip - i ? buffer.elements() : in_strip - i;
            H5MOTE_TRY(source.read(done + i, part, buffer.data()));
            for (std::uint64_t j = 0; j < part; ++j, ++i) {
                element.set(ConstBytes(buffer.data() + j * size, size),
                            done + i + 1 < count ? format.element_suffix : "");
                const bool same_row = printer_.print(lines, format, text, element, i, row_element);
                H5MOTE_TRY(values.status());
                row_element = same_row ? row_element + 1 : 1;
                ++lines.element;
            }
        }
        done += in_strip;
        lines.continued = true;
    }
    return Status::ok;
}

void Dumper::dump_subset_header(Lines& lines, const Subset& subset, unsigned rank) {
    line(lines, "SUBSET {");
    ++lines.indent;
    const auto show = [&](const char* name, const std::vector<std::uint64_t>& numbers) {
        text_.reset();
        text_.put(name);
        text_.put(" ( ");
        for (unsigned i = 0; i < rank; ++i) {
            if (i != 0) {
                text_.put(", ");
            }
            text_.put_unsigned(numbers[i]);
        }
        text_.put(" );");
        printer_.line(lines, format_, text_);
    };
    show("START", subset.start);
    show("STRIDE", subset.stride);
    show("COUNT", subset.count);
    show("BLOCK", subset.block);
    --lines.indent;
}

// Prints the rows of a slab. Each row begins a new line.
Status Dumper::dump_slab(Lines& lines, const TextFormat& format, DataSource& source, const Subset& subset, Subset slab,
                         unsigned row_dimension, std::uint64_t rows) {
    const std::size_t size = source.type.size();
    ElementText text(context(), 2048);
    ValueText values(context(), format, source);
    ValueElement element(values, source.type, lines.indent);
    const std::uint64_t row_block = subset.block[row_dimension];
    const unsigned rank = static_cast<unsigned>(source.space.rank());
    std::uint64_t row = 0;
    for (; rows > 0; slab.start[row_dimension] += slab.stride[row_dimension], --rows) {
        if (row_block > 1 && row == row_block && subset.stride[row_dimension] > row_block) {
            slab.start[row_dimension] += subset.stride[row_dimension] - row_block;
            row = 0;
        }
        ++row;
        std::uint64_t count = 1;
        lines.position = 0;
        for (unsigned i = 0; i < rank; ++i) {
            count *= slab.count[i] * slab.block[i];
            lines.position += slab.start[i] * lines.steps[i];
        }
        if (count == 0) {
            return Status::ok;
        }
        lines.need_prefix = true;
        ElementBuffer buffer(context());
        H5MOTE_TRY(buffer.allocate(size, count, session_.piece_budget()));
        std::uint64_t row_element = 0;
        for (std::uint64_t i = 0; i < count;) {
            std::uint64_t part = buffer.elements() < count - i ? buffer.elements() : count - i;
            H5MOTE_TRY(source.read_slab(slab, i, part, buffer.data()));
            for (std::uint64_t j = 0; j < part; ++j, ++i) {
                element.set(ConstBytes(buffer.data() + j * size, size),
                            i + 1 < count || rows != 1 ? format.element_suffix : "");
                const bool same_row = printer_.print(lines, format, text, element, i, row_element);
                H5MOTE_TRY(values.status());
                row_element = same_row ? row_element + 1 : 1;
                ++lines.element;
            }
        }
        lines.continued = true;
    }
    return Status::ok;
}

// Prints a subset as a sequence of tables: the last two dimensions span a table, and there is one for each position in
// the other dimensions.
Status Dumper::dump_subset(Lines& lines, const TextFormat& format, DataSource& source, const Subset& subset) {
    const auto rank = static_cast<unsigned>(source.space.rank());
    if (rank == 0 || native_size(source.type).size == 0) {
        return Status::ok;
    }
    lines.set_shape(source.space.dims());
    const unsigned row_dimension = rank == 1 ? 0 : rank - 2;
    const unsigned outer = rank > 2 ? rank - 2 : 0;
    Subset slab = subset;
    std::uint64_t tables = 1;
    for (unsigned i = 0; i < outer; ++i) {
        tables *= subset.count[i];
        slab.count[i] = 1;
    }
    std::uint64_t rows = 1;
    if (rank > 1) {
        rows = subset.count[row_dimension] * subset.block[row_dimension];
        slab.count[row_dimension] = 1;
        slab.block[row_dimension] = 1;
        if (subset.block[row_dimension] > 1) {
            slab.stride[row_dimension] = 1;
        }
    }
    for (std::uint64_t n = 0; n < tables; ++n) {
        // A table that cannot be read is left out silently, as in h5dump.
        if (dump_slab(lines, format, source, subset, slab, row_dimension, rows) != Status::ok) {
            context().trail().clear();
        }
        for (unsigned i = outer; i-- > 0;) {
            slab.start[i] += subset.stride[i];
            if (slab.start[i] < subset.start[i] + subset.count[i] * subset.stride[i]) {
                break;
            }
            slab.start[i] = subset.start[i];
        }
    }
    return Status::ok;
}

// `source` is nullptr for an object without data, such as a group that an object reference leads to.
void Dumper::dump_data(Lines& lines, DataSource* source, const Subset* subset) {
    TextFormat format = format_;
    format.index_after_indent = options_.indices;
    if (options_.indices) {
        format.index_begin = "(";
        format.index_end = "): ";
        format.indices = true;
        format.index_on_every_line = true;
    }
    const bool is_subset = subset != nullptr && source != nullptr && source->is_dataset;
    if (is_subset) {
        dump_subset_header(lines, *subset, static_cast<unsigned>(source->space.rank()));
        ++lines.indent;
    }
    line(lines, "DATA {");
    const TypeClass type_class = source == nullptr ? TypeClass::none : source->type.type_class();
    if (type_class == TypeClass::reference) {
        ++lines.indent;
        const ReferenceType kind = source->type.reference_type();
        const std::uint32_t size = source->type.size();
        if ((kind == ReferenceType::object1 && size == 8) || (kind == ReferenceType::region1 && size == 12) ||
            (kind >= ReferenceType::object2 && size != 0 && size <= kMostReferenceBytes)) {
            dump_references(lines, *source);
            --lines.indent;
        }  // references of other sizes: h5dump 1.10 prints nothing, and does not undo the indentation
    } else if (source != nullptr) {
        Lines data_lines = lines;
        const bool characters = options_.characters && source->type.size() == 1 && type_class == TypeClass::integer;
        data_lines.need_prefix = true;
        if (characters) {
            format.index_begin = "\"";
            format.index_end = "";
            format.indices = false;
            ++data_lines.indent;
            printer_.start_line(data_lines, format);
            format.characters = true;
            format.element_suffix = "";
            format.element_gap = "";
            format.line_suffix = "\"";
        }
        Status status = Status::ok;
        if (source->space.space_class() != DataspaceClass::null) {
            status = is_subset ? dump_subset(data_lines, format, *source, *subset)
                               : dump_values(data_lines, format, *source);
        }
        if (characters) {
            data_lines.need_prefix = false;
            format.array_line_breaks = false;
            format.index_begin = "";
            format.long_on_new_line = false;
            format.line_suffix = "";
            text_.reset();
            text_.put("\"");
            printer_.print(data_lines, format, text_);
        }
        if (status != Status::ok) {
            report_.failure(context(), status, "unable to print data");
        }
    }
    lines.need_prefix = true;
    printer_.start_line(lines, format_);
    text_.reset();
    text_.put("}");
    printer_.print(lines, format_, text_);
    if (is_subset) {
        --lines.indent;
        lines.need_prefix = true;
        printer_.start_line(lines, format_);
        text_.reset();
        text_.put("}");
        printer_.print(lines, format_, text_);
    }
}

}  // namespace h5mote::cli
