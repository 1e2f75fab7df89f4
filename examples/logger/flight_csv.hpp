// Reads a recorded flight, which takes the place of sensors, from a CSV file with the names of the columns in the first
// line. A program on an emulated board reads the file from the host, through newlib's system calls.
#pragma once

#include "flight.hpp"

#include <cstddef>
#include <cstdint>

namespace logger {

class FlightCsv {
public:
    enum class Outcome : std::uint8_t { row, end, malformed, io_error };

    FlightCsv() noexcept = default;
    FlightCsv(const FlightCsv&) = delete;
    FlightCsv& operator=(const FlightCsv&) = delete;
    ~FlightCsv();

    /// Opens the file and finds the columns t_us and gyro_x to mag_z by their names, in any order, among the first
    /// kColumns columns; other columns are ignored. Returns Outcome::row if rows can be read, malformed if one of these
    /// columns is missing, io_error if the file cannot be read.
    Outcome open(const char* path) noexcept;
    /// Reads the next row. Blank lines are skipped. Returns end after the last row, malformed if a value is missing or
    /// no number.
    Outcome next(ImuRow& row) noexcept;
    /// Number, from 1, of the line that was read last.
    std::uint32_t line() const noexcept { return line_; }

private:
    static constexpr std::size_t kColumns = 32;
    static constexpr std::size_t kBuffer = 128;  // a compromise between system calls and memory
    static constexpr std::size_t kField = 32;

    enum class End : std::uint8_t { field, line, file, error };

    int get() noexcept;
    End read_field(char (&field)[kField], bool& fits) noexcept;
    static bool store(ImuRow& row, unsigned value, const char* field) noexcept;

    int fd_ = -1;
    std::uint32_t line_ = 0;
    std::uint16_t at_ = 0;
    std::uint16_t filled_ = 0;
    std::uint8_t values_[kColumns] = {};  // which value of a row each column holds, from 1; 0: the column is ignored
    char buffer_[kBuffer];
};

}  // namespace logger
