// Standard output of the tool: one buffer of fixed size, written out when it is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace h5mote::cli {

/// Where text goes: the terminal, a counter, a buffer.
class TextSink {
public:
    virtual void put(std::string_view text) = 0;
    void put(char character) { put(std::string_view(&character, 1)); }
    void put_unsigned(std::uint64_t number);
    void put_signed(std::int64_t number);
    /// As printf() does. Results longer than 500 characters are cut: for numbers, not for text from files.
    [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);

protected:
    ~TextSink() = default;
};

class Output final : public TextSink {
public:
    Output() = default;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() { flush(); }

    using TextSink::put;
    void put(std::string_view text) override;
    void flush();
    /// Whether everything so far could be written.
    bool good() const { return good_; }

private:
    std::size_t used_ = 0;
    bool good_ = true;
    char buffer_[4096];
};

}  // namespace h5mote::cli
