// Lines of output as the HDF5 tools lay them out (h5tools): values follow each other on a line until it is full, lines
// begin with an indentation or the indices of their first value.
//
// One element is a piece of text that is kept together where possible. kLineBreak in it marks where it may be broken.
// An element of any length is printed with a buffer of fixed size. If its text does not fit into the buffer, the text
// is produced twice: once to measure it, which decides where lines begin, and once to print it.
#pragma once

#include "output.hpp"

#include <h5mote/context.hpp>
#include <h5mote/dataspace.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace h5mote::cli {

inline constexpr char kLineBreak = '\001';

/// How values look and where lines break (h5tool_format_t).
struct TextFormat {
    const char* number_format = nullptr;  ///< printf format of 32 and 64 bit floating-point numbers; nullptr: "%g"
    bool characters = false;              ///< integers of one byte are characters
    bool escape = false;                  ///< special characters as in C
    bool packed = false;                  ///< of integers print only the bits given by bits_offset and bits_mask
    unsigned bits_offset = 0;
    std::uint64_t bits_mask = 0;

    const char* array_begin = "[ ";
    const char* array_separator = ",";
    const char* array_end = " ]";
    bool array_line_breaks = true;

    const char* name_suffix = nullptr;  ///< follows the names of compound members; nullptr: no names
    const char* compound_begin = "{";
    const char* compound_edge = "\n";  ///< after the opening and before the closing brace
    const char* compound_separator = ",\n";
    const char* compound_end = "}";

    const char* sequence_begin = "(";
    const char* sequence_separator = ", ";
    const char* sequence_end = ")";

    const char* element_suffix = ",";  ///< directly after each element but the last
    const char* element_gap = " ";     ///< between elements of a line

    const char* index_begin = "";  ///< a line begins with this, the indices of its first element, and index_end
    const char* index_end = "";
    bool indices = false;
    bool index_on_every_line = false;  ///< false: only on the first line, and on lines that continue an element
    bool index_after_indent = true;    ///< the index stands one level further out than the text

    const char* indent = "   ";
    const char* line_suffix = "";
    bool long_on_new_line = true;  ///< an element that does not fit goes to a line of its own
    std::size_t columns = 80;
    std::uint64_t per_line = 0;  ///< limit of elements per line; 0: as many as fit
};

/// Where on the page printing is (h5tools_context_t).
struct Lines {
    /// Begins at `level` levels of indentation. The current line is taken to hold the indentation already, so that
    /// (except at level 0) the next line first ends it.
    explicit Lines(unsigned level = 0) : column(3 * std::size_t{level}), indent(level) {}

    /// Sets the dimensions of the data, from which line breaks and indices follow, and starts at the first element.
    void set_shape(Span<const std::uint64_t> dims);

    std::size_t column = 0;
    std::size_t prefix_length = 0;
    std::uint64_t element = 0;  ///< number of elements printed on this line
    std::uint64_t last_dim = 0;
    std::uint64_t position = 0;  ///< number of the element with which this piece of the data begins
    unsigned indent = 0;
    unsigned rank = 0;
    bool need_prefix = false;
    bool previous_was_long = false;
    bool continued = false;                  ///< this is not the first piece of the data
    std::uint64_t steps[H5MOTE_MAX_RANK]{};  ///< elements for one step in each dimension
};

/// The text of one element, in memory from the library's allocator. Text beyond a limit is measured but not kept.
class ElementText final : public TextSink {
public:
    /// Keeps texts of up to `limit` bytes.
    explicit ElementText(Context& context, std::size_t limit = ~std::size_t{0}) : context_(context), limit_(limit) {}
    ElementText(const ElementText&) = delete;
    ElementText& operator=(const ElementText&) = delete;
    ~ElementText() { context_.release(MemoryKind::other, memory_, capacity_); }

    void reset();
    using TextSink::put;
    void put(std::string_view text) override;

    /// Whether text() is the whole text.
    bool complete() const { return complete_; }
    bool out_of_memory() const { return out_of_memory_; }
    std::string_view text() const { return {data(), size_}; }
    /// Columns that the whole text would take on one line.
    std::size_t columns() const { return columns_; }
    /// Bytes of the whole text up to the first kLineBreak that follows other characters.
    std::size_t first_section() const { return first_section_; }

private:
    bool make_room(std::size_t more);
    const char* data() const { return memory_ == nullptr ? short_ : memory_; }

    Context& context_;
    std::size_t limit_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;  // of memory_
    std::size_t columns_ = 0;
    std::size_t first_section_ = 0;
    bool in_first_section_ = true;
    bool complete_ = true;
    bool out_of_memory_ = false;
    char* memory_ = nullptr;
    char short_[512];
};

/// A source of text. write() may be called more than once and must give the same text each time.
class Element {
public:
    virtual void write(TextSink& sink) = 0;

protected:
    ~Element() = default;
};

/// Prints elements (h5tools_render_element).
class Printer {
public:
    explicit Printer(TextSink& out) : out_(out) {}

    /// Prints one element where it belongs. `i` is its number within the piece of data, `in_row` its number within the
    /// row of the last dimension. Returns false if it is the first element of the next row: the caller then counts
    /// `in_row` from there.
    bool print(Lines& lines, const TextFormat& format, const ElementText& text, std::uint64_t i = 0,
               std::uint64_t in_row = 0);
    /// The same for an element whose text may exceed the limit of `text`, which serves as its buffer.
    bool print(Lines& lines, const TextFormat& format, ElementText& text, Element& element, std::uint64_t i,
               std::uint64_t in_row);
    /// Prints `text` as an indented line of its own.
    void line(Lines& lines, const TextFormat& format, const ElementText& text) {
        lines.need_prefix = true;
        print(lines, format, text);
    }
    /// Ends the current line and begins the next one if lines.need_prefix is set; otherwise does nothing.
    void start_line(Lines& lines, const TextFormat& format, std::uint64_t element = 0, bool continuation = false);

    TextSink& out() { return out_; }

private:
    class Sections;

    bool place(Lines& lines, const TextFormat& format, std::size_t columns, std::uint64_t in_row);
    void begin_section(Lines& lines, const TextFormat& format, std::size_t length, std::uint64_t i, bool first,
                       bool& was_long);

    TextSink& out_;
};

}  // namespace h5mote::cli
