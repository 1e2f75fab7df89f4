// Error records as text. This has a source file of its own so that firmware which prints no text does not contain it.
#include <h5mote/trail.hpp>

namespace h5mote {
namespace {

class Text {
public:
    explicit Text(Span<char> to) noexcept : to_(to) {}

    std::size_t size() const noexcept { return used_; }
    void put(std::string_view text) noexcept {
        for (const char c : text) {
            if (used_ < to_.size()) {
                to_[used_++] = c;
            }
        }
    }
    void put(std::uint64_t number) noexcept {
        char digits[20];
        std::size_t at = sizeof digits;
        do {
            digits[--at] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        put(std::string_view(digits + at, sizeof digits - at));
    }
    void put_signed(std::uint32_t number) noexcept {
        const bool negative = (number >> 31) != 0;
        put(negative ? "-" : "");
        put(std::uint64_t{negative ? 0U - number : number});
    }

private:
    Span<char> to_;
    std::size_t used_ = 0;
};

void put_place(Text& text, const ErrorRecord& record) noexcept {
    const char* const source = source_name(record);
    text.put(to_string(record.status));
    text.put(" in ");
    text.put(source != nullptr ? source : to_string(record.module));
    text.put(", line ");
    text.put(std::uint64_t{record.line});
}

void put_number(Text& text, std::string_view what, std::uint64_t number) noexcept {
    text.put(what);
    text.put(number);
}

// Describes the record's numbers by the Subject in the first one. false: the first number has no Subject.
bool put_subject(Text& text, const ErrorRecord& record) noexcept {
    static constexpr const char* kObjects[] = {"group", "dataset", "committed datatype"};
    if (record.module != Module::group && record.module != Module::dataset) {
        return false;
    }
    const std::uint32_t number = record.detail & 0xffffU;
    switch (static_cast<Subject>(record.detail & ~0xffffU)) {
        case Subject::path_part:
            put_number(text, ": there is no part number ", number);
            text.put(record.value == 0 ? " of the path" : " of the path that a link leads to");
            return true;
        case Subject::object_type:
            text.put(": the object is a ");
            text.put(number < 3 ? kObjects[number] : "?");
            return true;
        case Subject::member:
            put_number(text, ": the file's datatype lacks member number ", number);
            text.put(" (from 0) of the program's");
            return true;
        case Subject::dimension:
            put_number(text, ": dimension ", number);
            put_number(text, " (from 0) has in the file the maximum ", record.value);
            return true;
        case Subject::rank:
            put_number(text, ": dimensions in the file: ", number);
            return true;
        case Subject::none:
            break;
    }
    return false;
}

// Says what the record's two numbers are, where its module, status or Subject tells that; otherwise prints them bare.
void put_numbers(Text& text, const ErrorRecord& record) noexcept {
    const bool told = record.detail != 0 || record.value != 0;
    if (record.module == Module::driver) {
        text.put(": the storage's code ");
        text.put_signed(record.detail);
        put_number(text, ", address ", record.value);
    } else if (record.status == Status::unsupported) {
        text.put(": ");
        text.put(to_string(static_cast<Feature>(record.value)));
        put_number(text, " ", record.detail);
    } else if (record.status == Status::out_of_memory) {
        put_number(text, ": no block of bytes: ", record.value);
    } else if (record.status == Status::over_budget && record.value != 0) {
        put_number(text, ": bytes needed: ", record.value);
    } else if (put_subject(text, record)) {
    } else if (record.status == Status::corrupt_file && record.module == Module::format) {
        put_number(text, ": message of type ", record.detail);
    } else if (record.status == Status::corrupt_file && record.value != 0) {
        put_number(text, ": file address ", record.value);
    } else if (told) {
        put_number(text, ": ", record.detail);
        put_number(text, ", ", record.value);
    }
}

}  // namespace

std::size_t describe(const ErrorRecord& record, Span<char> to) noexcept {
    Text text(to);
    put_place(text, record);
    put_numbers(text, record);
    return text.size();
}

void print_trail(Context& library, LineSink& sink) noexcept {
    const ErrorTrail& trail = library.trail();
    for (std::size_t i = 0; i < trail.size(); ++i) {
        char line[160];
        sink.line({line, describe(trail.newest(i), line)});
    }
}

}  // namespace h5mote
