// The log of records with which `written` and `flash_written` measure, and the output of their figures. A measurement
// that goes wrong throws.
#pragma once

#include <h5mote/dataset.hpp>
#include <h5mote/file.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace measured {

using h5mote::Status;

struct Record {
    std::uint64_t time_us;
    std::uint32_t sequence;
    float values[13];
};
static_assert(sizeof(Record) == 64);
H5MOTE_COMPOUND(Record, time_us, sequence, values)

inline void check(Status status, const char* what) {
    if (status != Status::ok) {
        throw std::runtime_error(std::string(what) + ": " + h5mote::to_string(status));
    }
}

inline void expect(bool condition, const std::string& what) {
    if (!condition) {
        throw std::runtime_error(what);
    }
}

inline Record record(std::uint32_t i) {
    Record made{};
    made.time_us = std::uint64_t{4000} * i;
    made.sequence = i;
    for (int k = 0; k < 13; ++k) {
        made.values[k] = 0.25F * static_cast<float>(i % 1024) + static_cast<float>(k);
    }
    return made;
}

/// Appends records 0 to rows - 1, with a flush after every `flush_rows` records.
inline void append_records(h5mote::File& file, h5mote::TypedDataset<Record>& log, std::uint32_t rows,
                           std::uint32_t flush_rows) {
    for (std::uint32_t i = 0; i < rows; ++i) {
        check(log.append(record(i)), "append");
        if ((i + 1) % flush_rows == 0) {
            check(file.flush(), "flush");
        }
    }
}

/// Throws unless the dataset holds records 0 to rows - 1 and nothing else.
inline void verify_records(h5mote::File& file, const char* name, std::uint32_t rows) {
    auto log = file.root().open_dataset<Record>(name);
    check(log.status(), "open dataset");
    std::vector<Record> records(rows);
    expect(log->size() == rows, "number of rows");
    check(log->read(h5mote::Selection::all(), h5mote::Span<Record>(records.data(), rows)), "read");
    for (std::uint32_t i = 0; i < rows; ++i) {
        const Record expected = record(i);
        expect(std::memcmp(&records[i], &expected, sizeof expected) == 0, "row " + std::to_string(i));
    }
}

inline std::string lines;  // the table of figures

inline void figure(const std::string& name, const std::string& value, const char* unit, const char* budget) {
    lines += name + "\t" + value + "\t" + unit + "\t" + budget + "\n";
}

inline std::string decimal(double value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

/// Calls `measure`, prints the figures and writes them for toolchains/figures as NAME.tsv. Returns the exit code.
inline int report(const std::string& name, void (*measure)()) {
    try {
        measure();
    } catch (const std::exception& error) {
        std::cout << lines;
        std::cerr << name << ": " << error.what() << "\n";
        return 1;
    }
    std::cout << lines;
    if (const char* const report = std::getenv("H5MOTE_REPORT_DIR")) {
        const std::filesystem::path folder = std::filesystem::path(report) / "figures.d";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / (name + ".tsv")) << lines;
    }
    return 0;
}

}  // namespace measured
