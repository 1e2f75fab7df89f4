#include "layout.hpp"

#include <cstring>

namespace h5mote::cli {

namespace {

std::size_t count_columns(std::string_view text) {
    std::size_t columns = 0;
    for (const char c : text) {
        // Bytes beyond ASCII take no column, as in the HDF5 tools.
        const auto byte = static_cast<unsigned char>(c);
        columns += byte >= ' ' && byte < 0x80 ? 1U : 0U;
    }
    return columns;
}

/// "3,0,12": the indices of an element, or its number where there are no dimensions.
class IndexText final : public TextSink {
public:
    IndexText(const Lines& lines, std::uint64_t element) {
        std::uint64_t rest = element;
        for (unsigned i = 0; i < lines.rank; ++i) {
            if (i != 0) {
                put(",");
            }
            const std::uint64_t step = lines.steps[i];
            const std::uint64_t index = step == 0 ? 0 : rest / step;
            rest -= index * step;
            put_unsigned(index);
        }
        if (lines.rank == 0) {
            put_unsigned(element);
        }
    }
    std::string_view text() const { return {text_, used_}; }

    using TextSink::put;
    void put(std::string_view text) override {
        std::memcpy(text_ + used_, text.data(), text.size());
        used_ += text.size();
    }

private:
    std::size_t used_ = 0;
    char text_[(H5MOTE_MAX_RANK + 1) * 21];
};

}  // namespace

void Lines::set_shape(Span<const std::uint64_t> dims) {
    rank = static_cast<unsigned>(dims.size());
    last_dim = rank == 0 ? 0 : dims[rank - 1];
    std::uint64_t step = 1;
    for (unsigned i = rank; i-- > 0;) {
        steps[i] = step;
        step *= dims[i];
    }
}

void ElementText::reset() {
    size_ = 0;
    columns_ = 0;
    first_section_ = 0;
    in_first_section_ = true;
    complete_ = true;
}

bool ElementText::make_room(std::size_t more) {
    const std::size_t have = memory_ == nullptr ? sizeof(short_) : capacity_;
    if (more <= have - size_) {
        return true;
    }
    if (more > limit_ - (size_ < limit_ ? size_ : limit_)) {
        return false;
    }
    std::size_t capacity = 2 * have;
    while (capacity - size_ < more) {
        capacity *= 2;
    }
    auto* memory = static_cast<char*>(context_.allocate(MemoryKind::other, capacity));
    if (memory == nullptr) {
        out_of_memory_ = true;
        return false;
    }
    std::memcpy(memory, data(), size_);
    context_.release(MemoryKind::other, memory_, capacity_);
    memory_ = memory;
    capacity_ = capacity;
    return true;
}

void ElementText::put(std::string_view text) {
    if (text.empty()) {
        return;
    }
    columns_ += count_columns(text);
    if (in_first_section_) {
        // Line breaks before any text do not begin a new section.
        std::size_t skip = 0;
        while (first_section_ == 0 && skip < text.size() && text[skip] == kLineBreak) {
            ++skip;
        }
        const std::size_t end = text.find(kLineBreak, skip);
        in_first_section_ = end == std::string_view::npos;
        first_section_ += (in_first_section_ ? text.size() : end) - skip;
    }
    if (complete_ && make_room(text.size())) {
        char* const to = memory_ == nullptr ? short_ : memory_;
        std::memcpy(to + size_, text.data(), text.size());
        size_ += text.size();
    } else {
        complete_ = false;
    }
}

void Printer::start_line(Lines& lines, const TextFormat& format, std::uint64_t element, bool continuation) {
    if (!lines.need_prefix) {
        return;
    }
    if (lines.column != 0) {
        out_.put(format.line_suffix);
        out_.put('\n');
    }
    const std::size_t indent_length = std::strlen(format.indent);
    std::size_t length = format.index_after_indent && lines.indent < 2 ? 0 : lines.indent * indent_length;
    if (format.index_after_indent) {
        for (unsigned level = 1; level < lines.indent; ++level) {
            out_.put(format.indent);
        }
    }
    if (element == 0 || continuation || format.index_on_every_line) {
        out_.put(format.index_begin);
        length += std::strlen(format.index_begin);
        if (format.indices) {
            IndexText indices(lines, element);
            out_.put(indices.text());
            length += indices.text().size();
        }
        out_.put(format.index_end);
        length += std::strlen(format.index_end);
    }
    if (!format.index_after_indent) {
        for (unsigned level = 0; level < lines.indent; ++level) {
            out_.put(format.indent);
        }
    }
    lines.column = lines.prefix_length = length;
    lines.element = 0;
    lines.need_prefix = false;
}

bool Printer::place(Lines& lines, const TextFormat& format, std::size_t columns, std::uint64_t in_row) {
    const std::size_t tail = std::strlen(format.element_gap) + std::strlen(format.line_suffix);
    const bool too_long = lines.column + columns + tail > format.columns;
    if (format.long_on_new_line && too_long &&
        (lines.previous_was_long || lines.prefix_length + columns + tail <= format.columns)) {
        lines.need_prefix = true;
    }
    bool same_row = true;
    if (format.array_line_breaks && lines.element != 0) {
        if (lines.last_dim != 0 && lines.element % lines.last_dim == 0) {
            lines.need_prefix = true;
        }
        if (in_row == lines.last_dim) {
            lines.need_prefix = true;
            same_row = false;
        }
    }
    if (format.per_line > 0 && lines.element >= format.per_line) {
        lines.need_prefix = true;
    }
    return same_row;
}

void Printer::begin_section(Lines& lines, const TextFormat& format, std::size_t length, std::uint64_t i, bool first,
                            bool& was_long) {
    const std::size_t gap = std::strlen(format.element_gap);
    if (lines.column + length + gap + std::strlen(format.line_suffix) > format.columns) {
        lines.need_prefix = true;
    }
    if (lines.need_prefix) {
        was_long = was_long || !first;
        start_line(lines, format, lines.position + i, !first);
    } else if ((i != 0 || lines.continued) && first) {
        out_.put(format.element_gap);
        lines.column += gap;
    }
    lines.column += length;
}

bool Printer::print(Lines& lines, const TextFormat& format, const ElementText& text, std::uint64_t i,
                    std::uint64_t in_row) {
    const bool same_row = place(lines, format, text.columns(), in_row);
    bool was_long = false;
    bool first = true;
    std::string_view rest = text.text();
    while (true) {
        while (!rest.empty() && rest.front() == kLineBreak) {
            rest.remove_prefix(1);
        }
        if (rest.empty()) {
            break;
        }
        const std::string_view section = rest.substr(0, rest.find(kLineBreak));
        begin_section(lines, format, section.size(), i, first, was_long);
        out_.put(section);
        rest.remove_prefix(section.size());
        first = false;
    }
    lines.previous_was_long = was_long;
    return same_row;
}

/// Prints a long element section by section, while it is being written. Printer has to know the length of a section
/// before it prints it. The first section was measured; a later one is collected in the buffer or, if it does not fit
/// there, is taken to be as long as a line, so that it begins on a new line.
class Printer::Sections final : public TextSink {
public:
    Sections(Printer& printer, Lines& lines, const TextFormat& format, std::size_t first_length, std::uint64_t i)
        : printer_(printer), lines_(lines), format_(format), first_length_(first_length), i_(i) {}

    using TextSink::put;
    void put(std::string_view text) override {
        while (!text.empty()) {
            if (text.front() == kLineBreak) {
                end_section();
                text.remove_prefix(1);
                continue;
            }
            const std::string_view part = text.substr(0, text.find(kLineBreak));
            add(part);
            text.remove_prefix(part.size());
        }
    }
    void finish() {
        end_section();
        lines_.previous_was_long = was_long_;
    }

private:
    void add(std::string_view part) {
        if (!begun_ && first_) {
            begin(first_length_);
            lines_.column -= first_length_;
        }
        if (!begun_ && used_ + part.size() <= sizeof(buffer_)) {
            std::memcpy(buffer_ + used_, part.data(), part.size());
            used_ += part.size();
            return;
        }
        if (!begun_) {
            begin(format_.columns);
            lines_.column -= format_.columns;
            show(std::string_view(buffer_, used_));
            used_ = 0;
        }
        show(part);
    }
    void begin(std::size_t length) {
        printer_.begin_section(lines_, format_, length, i_, first_, was_long_);
        begun_ = true;
    }
    void show(std::string_view part) {
        printer_.out_.put(part);
        lines_.column += part.size();
    }
    void end_section() {
        if (!begun_ && used_ != 0) {
            begin(used_);
            printer_.out_.put(std::string_view(buffer_, used_));
            used_ = 0;
        }
        first_ = first_ && !begun_;
        begun_ = false;
    }

    Printer& printer_;
    Lines& lines_;
    const TextFormat& format_;
    std::size_t first_length_;
    std::uint64_t i_;
    std::size_t used_ = 0;
    bool first_ = true;
    bool begun_ = false;
    bool was_long_ = false;
    char buffer_[2048];
};

bool Printer::print(Lines& lines, const TextFormat& format, ElementText& text, Element& element, std::uint64_t i,
                    std::uint64_t in_row) {
    text.reset();
    element.write(text);
    if (text.complete()) {
        return print(lines, format, text, i, in_row);
    }
    const bool same_row = place(lines, format, text.columns(), in_row);
    Sections sections(*this, lines, format, text.first_section(), i);
    element.write(sections);
    sections.finish();
    return same_row;
}

}  // namespace h5mote::cli
