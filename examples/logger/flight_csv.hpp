// The recorded flight that takes the place of sensors: comma-separated numbers, the names of the columns in the first
// line. On a board the file is one of the host's, read through newlib's system calls.
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

    /// Opens the file and finds the columns t_us, gyro_x to mag_z by their names, in any order and place among the
    /// first kColumns; others are ignored. Outcome::row: rows can be read. malformed: one is missing.
    Outcome open(const char* path) noexcept;
    /// The next row. Blank lines are skipped.
    Outcome next(ImuRow& row) noexcept;
    /// Number of the line that was read last, from 1.
    std::uint32_t line() const noexcept { return line_; }

private:
    static constexpr std::size_t kColumns = 32;
    static constexpr std::size_t kBuffer = 128;  // few enough calls of the system, little enough memory
    static constexpr std::size_t kField = 32;

    enum class End : std::uint8_t { field, line, file, error };

    int get() noexcept;
    End read_field(char (&field)[kField], bool& fits) noexcept;
    static bool store(ImuRow& row, unsigned value, const char* field) noexcept;

    int fd_ = -1;
    std::uint32_t line_ = 0;
    std::uint16_t at_ = 0;
    std::uint16_t filled_ = 0;
    std::uint8_t values_[kColumns] = {};  // of each column which value of a row it is, from 1; 0: ignored
    char buffer_[kBuffer];
};

}  // namespace logger
