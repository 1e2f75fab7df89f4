// Values as the HDF5 tools write them (h5tools_str_sprint), directly from their stored form.
#pragma once

#include "layout.hpp"

#include <h5mote/datatype.hpp>
#include <h5mote/span.hpp>

namespace h5mote::cli {

/// Access to the data that values refer to: the heap data of variable-length values, the objects of references.
class ValueContext {
public:
    /// Like Object's functions of the same names.
    virtual Status variable_size(ConstBytes heap_id, std::uint64_t& bytes) = 0;
    virtual Status read_variable(ConstBytes heap_id, std::uint64_t offset, Bytes to) = 0;
    /// Writes the target of a reference: DATASET 800 "/path" for an object reference, DATASET "/path" for a region.
    virtual void put_reference(TextSink& sink, ReferenceType type, ConstBytes stored) = 0;

protected:
    ~ValueContext() = default;
};

/// Writes one character of a string, escaped as `format` asks.
void put_character(TextSink& sink, const TextFormat& format, char character);

/// Writes values. If the data that a value refers to cannot be read, the text is incomplete and status() keeps the
/// first such error.
class ValueText {
public:
    ValueText(Context& memory, const TextFormat& format, ValueContext& values)
        : memory_(memory), format_(format), values_(values) {}

    /// `stored`: type.size() bytes in their stored form. `indent`: levels of indentation of the line.
    void put(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent);
    Status status() const { return status_; }
    /// Whether an array was written since this was last cleared. The elements of an array that are arrays themselves
    /// then begin on new lines. ValueElement saves and restores the flag, so that it can write a value twice.
    bool after_array() const { return after_array_; }
    void set_after_array(bool after) { after_array_ = after; }

private:
    void put_string(TextSink& sink, ConstBytes text, StringPadding padding);
    void put_variable_string(TextSink& sink, DatatypeView type, ConstBytes stored);
    void put_enumeration(TextSink& sink, DatatypeView type, ConstBytes stored);
    void put_bitfield(TextSink& sink, DatatypeView type, ConstBytes stored);
    void put_compound(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent);
    void put_array(TextSink& sink, DatatypeView element, ConstBytes dimensions, ConstBytes stored, unsigned indent);
    void put_sequence(TextSink& sink, DatatypeView type, ConstBytes stored, unsigned indent);
    void put_indent(TextSink& sink, unsigned indent);
    void fail(Status status) { status_ = status_ == Status::ok ? status : status_; }

    Context& memory_;
    const TextFormat& format_;
    ValueContext& values_;
    Status status_ = Status::ok;
    bool after_array_ = false;
};

/// One value as an Element, to be printed by a Printer.
class ValueElement final : public Element {
public:
    ValueElement(ValueText& text, DatatypeView type, unsigned indent) : text_(text), type_(type), indent_(indent) {}

    /// Sets the value to write next, and the text that follows it.
    void set(ConstBytes stored, std::string_view suffix) {
        stored_ = stored;
        suffix_ = suffix;
        after_array_ = text_.after_array();
    }
    void write(TextSink& sink) override {
        text_.set_after_array(after_array_);
        text_.put(sink, type_, stored_, indent_);
        sink.put(suffix_);
    }

private:
    ValueText& text_;
    DatatypeView type_;
    unsigned indent_;
    ConstBytes stored_;
    std::string_view suffix_;
    bool after_array_ = false;
};

}  // namespace h5mote::cli
