// h5mote dump -p: storage layout, filters, fill value.
#include "dump.hpp"
#include "ls.hpp"

namespace h5mote::cli {

namespace {

void put_numbers(TextSink& sink, Span<const std::uint64_t> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        sink.put(i == 0 ? "(" : ",");
        if (numbers[i] == kUnlimited) {
            sink.put("H5S_UNLIMITED");
        } else {
            sink.put_unsigned(numbers[i]);
        }
    }
    sink.put(")");
}

}  // namespace

void Dumper::dump_chunked(Lines& lines, Dataset& dataset, const DatasetInfo& info, const DataSource& source) {
    std::uint64_t dims[H5MOTE_MAX_RANK] = {};
    Status status = dataset.chunk_dims({dims, info.rank});
    std::uint64_t storage = 0;
    if (status == Status::ok) {
        status = dataset.storage_size(storage);
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "reading the layout");
    }
    text_.reset();
    text_.put("CHUNKED ( ");
    for (std::size_t i = 0; i < info.rank; ++i) {
        if (i != 0) {
            text_.put(", ");
        }
        text_.put_unsigned(dims[i]);
    }
    text_.put(" )");
    printer_.line(lines, format_, text_);
    text_.reset();
    text_.put("SIZE ");
    text_.put_unsigned(storage);
    if (info.filters != 0) {
        std::uint64_t elements = 0;
        if (source.space.element_count(elements) == Status::ok) {
            const double bytes = static_cast<double>(elements * memory_size(source.type));
            text_.print(" (%.3f:1 COMPRESSION)", storage == 0 ? 0.0 : bytes / static_cast<double>(storage));
        }
    }
    printer_.line(lines, format_, text_);
}

// Prints a regular hyperslab by its start, stride, count and block, any other selection as a list of its blocks.
void Dumper::dump_selection(Lines& lines, const SelectionSet& selection) {
    switch (selection.type()) {
        case SelectionType::none:
            line(lines, "SELECTION NONE");
            return;
        case SelectionType::all:
            line(lines, "SELECTION ALL");
            return;
        case SelectionType::hyperslabs:
            break;
        default:
            text_.reset();
            text_.put("POINT { ");
            put_selection(text_, selection);
            text_.put(" }");
            printer_.print(lines, format_, text_);
            return;
    }
    if (selection.is_regular()) {
        line(lines, "SELECTION REGULAR_HYPERSLAB { ");
        const Hyperslab slab = selection.view().hyperslab();
        const auto next_line = [&] {
            text_.put("\n");
            for (unsigned i = 0; i < lines.indent; ++i) {
                text_.put(format_.indent);
            }
        };
        text_.reset();
        text_.put(format_.indent);
        text_.put("START ");
        put_numbers(text_, slab.start);
        next_line();
        text_.put("STRIDE ");
        put_numbers(text_, slab.stride);
        next_line();
        text_.put("COUNT ");
        put_numbers(text_, slab.count);
        next_line();
        text_.put("BLOCK ");
        put_numbers(text_, slab.block);
    } else {
        line(lines, "SELECTION IRREGULAR_HYPERSLAB { ");
        ++lines.indent;
        lines.need_prefix = true;
        printer_.start_line(lines, format_);
        --lines.indent;
        text_.reset();
        put_selection(text_, selection);
    }
    printer_.print(lines, format_, text_);
    line(lines, "}");
}

void Dumper::dump_mappings(Lines& lines, Dataset& dataset, const DatasetInfo& info) {
    Status status = Status::ok;
    for (std::uint32_t i = 0; i < info.virtual_mappings && status == Status::ok; ++i) {
        VirtualMapping mapping;
        SelectionSet source(context());
        SelectionSet destination(context());
        status = dataset.virtual_mapping(i, mapping, &source, &destination);
        if (status != Status::ok) {
            break;
        }
        line_print(lines, "MAPPING %lu { ", static_cast<unsigned long>(i));
        ++lines.indent;
        line(lines, "VIRTUAL {");
        ++lines.indent;
        dump_selection(lines, destination);
        --lines.indent;
        line(lines, "}");
        line(lines, "SOURCE {");
        ++lines.indent;
        named_line(lines, "FILE", mapping.file_name(), "");
        named_line(lines, "DATASET", mapping.dataset_name(), "");
        dump_selection(lines, source);
        --lines.indent;
        line(lines, "}");
        --lines.indent;
        line(lines, "}");
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "reading the mappings of a virtual dataset");
    }
}

void Dumper::dump_layout(Lines& lines, Dataset& dataset, const DatasetInfo& info, const DataSource& source) {
    std::uint64_t storage = 0;
    line(lines, "STORAGE_LAYOUT {");
    ++lines.indent;
    switch (info.layout) {
        case Layout::chunked:
            dump_chunked(lines, dataset, info, source);
            break;
        case Layout::virtual_dataset:
            dump_mappings(lines, dataset, info);
            break;
        case Layout::compact:
            line(lines, "COMPACT");
            (void)dataset.storage_size(storage);
            line_print(lines, "SIZE %llu", static_cast<unsigned long long>(storage));
            break;
        default:
            line(lines, "CONTIGUOUS");
            if (info.external_files != 0) {
                line(lines, "EXTERNAL {");
                ++lines.indent;
                for (std::uint32_t i = 0; i < info.external_files; ++i) {
                    ExternalFile file;
                    char name[255] = {};
                    const Status status = dataset.external_file(i, file, name);
                    if (status != Status::ok) {
                        report_.failure(context(), status, "reading the list of external files");
                        break;
                    }
                    text_.reset();
                    text_.put("FILENAME ");
                    text_.put(
                        std::string_view(name, file.name_length < sizeof(name) ? file.name_length : sizeof(name)));
                    text_.put(" SIZE ");
                    text_.put_unsigned(file.size);
                    text_.put(" OFFSET ");
                    text_.put_signed(static_cast<std::int64_t>(file.offset));
                    printer_.line(lines, format_, text_);
                }
                --lines.indent;
                line(lines, "}");
            } else {
                (void)dataset.storage_size(storage);
                line_print(lines, "SIZE %llu", static_cast<unsigned long long>(storage));
                // h5dump's offset counts from the start of the storage, that is, it includes the user block.
                FileInfo file;
                const std::uint64_t base = session_.file().info(file) == Status::ok && !external_ ? file.user_block : 0;
                line_print(lines, "OFFSET %llu",
                           static_cast<unsigned long long>(info.address == kUndefinedAddress ? ~std::uint64_t{0}
                                                                                             : info.address + base));
            }
            break;
    }
    --lines.indent;
    line(lines, "}");
}

namespace {

constexpr std::uint32_t kSzipChip = 2;
constexpr std::uint32_t kSzipK13 = 1;
constexpr std::uint32_t kSzipEntropy = 4;
constexpr std::uint32_t kSzipNearest = 32;
constexpr std::uint32_t kSzipLittle = 8;
constexpr std::uint32_t kSzipBig = 16;
constexpr std::uint32_t kSzipRaw = 128;

}  // namespace

void Dumper::dump_szip(Lines& lines, std::uint32_t options, std::uint32_t pixels) {
    // If neither flag is set, print an empty element, which gives no line, as in h5dump.
    const auto choose = [&](std::uint32_t first, const char* first_text, std::uint32_t second,
                            const char* second_text) {
        lines.need_prefix = true;
        text_.reset();
        text_.put((options & first) != 0 ? first_text : (options & second) != 0 ? second_text : "");
        printer_.print(lines, format_, text_);
    };
    line(lines, "COMPRESSION SZIP {");
    ++lines.indent;
    line_print(lines, "PIXELS_PER_BLOCK %d", static_cast<int>(pixels));
    choose(kSzipChip, "MODE HARDWARE", kSzipK13, "MODE K13");
    choose(kSzipEntropy, "CODING ENTROPY", kSzipNearest, "CODING NEAREST NEIGHBOUR");
    choose(kSzipLittle, "BYTE_ORDER LSB", kSzipBig, "BYTE_ORDER MSB");
    if ((options & kSzipRaw) != 0) {
        line(lines, "HEADER RAW");
    }
    --lines.indent;
    line(lines, "}");
}

void Dumper::dump_filters(Lines& lines, Dataset& dataset, const DatasetInfo& info) {
    line(lines, "FILTERS {");
    ++lines.indent;
    for (std::size_t i = 0; i < info.filters; ++i) {
        FilterInfo filter;
        char name[255] = {};
        std::uint32_t values[64] = {};
        const Status status = dataset.filter(i, filter, name, values);
        if (status != Status::ok) {
            report_.failure(context(), status, "reading the filters");
            break;
        }
        switch (filter.id) {
            case FilterId::deflate:
                line_print(lines, "COMPRESSION DEFLATE { LEVEL %d }", static_cast<int>(values[0]));
                break;
            case FilterId::shuffle:
                line(lines, "PREPROCESSING SHUFFLE");
                break;
            case FilterId::fletcher32:
                line(lines, "CHECKSUM FLETCHER32");
                break;
            case FilterId::szip:
                dump_szip(lines, values[0], values[1]);
                break;
            case FilterId::nbit:
                line(lines, "COMPRESSION NBIT");
                break;
            case FilterId::scaleoffset:
                line_print(lines, "COMPRESSION SCALEOFFSET { MIN BITS %d }", static_cast<int>(values[0]));
                break;
            default: {
                line(lines, "USER_DEFINED_FILTER {");
                ++lines.indent;
                const auto id = static_cast<unsigned>(filter.id);
                line_print(lines, "FILTER_ID %u", id);
                std::string_view text(name, filter.name_length < sizeof(name) ? filter.name_length : sizeof(name));
                if (!text.empty()) {
                    text_.reset();
                    text_.put("COMMENT ");
                    text_.put(text);
                    printer_.line(lines, format_, text_);
                }
                if (filter.value_count != 0) {
                    text_.reset();
                    text_.put("PARAMS { ");
                    for (std::size_t j = 0; j < filter.value_count && j < 64; ++j) {
                        text_.put_signed(static_cast<std::int32_t>(values[j]));
                        text_.put(" ");
                    }
                    text_.put("}");
                    printer_.line(lines, format_, text_);
                }
                --lines.indent;
                line(lines, "}");
                break;
            }
        }
    }
    if (info.filters == 0) {
        line(lines, "NONE");
    }
    --lines.indent;
    line(lines, "}");
}

void Dumper::dump_fill_value(Lines& lines, Dataset& dataset, const DatasetInfo& info, DataSource& source) {
    line(lines, "FILLVALUE {");
    ++lines.indent;
    line(lines, info.fill_time == FillTime::on_allocation ? "FILL_TIME H5D_FILL_TIME_ALLOC"
                : info.fill_time == FillTime::never       ? "FILL_TIME H5D_FILL_TIME_NEVER"
                                                          : "FILL_TIME H5D_FILL_TIME_IFSET");
    ElementText text(context());
    text.put("VALUE  ");
    if (info.fill == FillState::undefined) {
        text.put("H5D_FILL_VALUE_UNDEFINED");
    } else if (info.fill == FillState::default_value) {
        text.put("H5D_FILL_VALUE_DEFAULT");
    } else {
        auto* const bytes = static_cast<std::byte*>(context().allocate(MemoryKind::other, info.element_size));
        Status status = Status::out_of_memory;
        if (bytes != nullptr) {
            const Bytes value(bytes, info.element_size);
            status = dataset.stored_fill_value(value);
            if (status == Status::ok) {
                ValueText values(context(), format_, source);
                values.put(text, source.type, value, lines.indent - 1);
                status = values.status();
            }
            context().release(MemoryKind::other, bytes, info.element_size);
        }
        if (status != Status::ok) {
            report_.failure(context(), status, "reading the fill value");
        }
    }
    printer_.line(lines, format_, text);
    --lines.indent;
    line(lines, "}");
}

void Dumper::dump_properties(Lines& lines, Dataset& dataset, DataSource& source) {
    DatasetInfo info;
    const Status status = dataset.info(info);
    if (status != Status::ok) {
        report_.failure(context(), status, "error in getting creation properties");
        return;
    }
    const bool in_one_place = info.layout != Layout::virtual_dataset;
    dump_layout(lines, dataset, info, source);
    if (in_one_place) {
        dump_filters(lines, dataset, info);
    }
    dump_fill_value(lines, dataset, info, source);
    if (in_one_place) {
        line(lines, "ALLOCATION_TIME {");
        ++lines.indent;
        line(lines, info.allocation_time == AllocationTime::early         ? "H5D_ALLOC_TIME_EARLY"
                    : info.allocation_time == AllocationTime::incremental ? "H5D_ALLOC_TIME_INCR"
                                                                          : "H5D_ALLOC_TIME_LATE");
        --lines.indent;
        line(lines, "}");
    }
}

}  // namespace h5mote::cli
