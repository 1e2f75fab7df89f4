#include "flight_csv.hpp"

#include "decimal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace logger {
namespace {

constexpr int kEndOfFile = -1;
constexpr int kError = -2;

constexpr unsigned kValues = 10;
constexpr char kNames[kValues][8] = {"t_us",    "gyro_x",  "gyro_y", "gyro_z", "accel_x",
                                     "accel_y", "accel_z", "mag_x",  "mag_y",  "mag_z"};
constexpr unsigned kAll = (1U << kValues) - 1;

}  // namespace

FlightCsv::~FlightCsv() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

int FlightCsv::get() noexcept {
    if (at_ == filled_) {
        const auto count = ::read(fd_, buffer_, sizeof buffer_);
        if (count <= 0) {
            return count == 0 ? kEndOfFile : kError;
        }
        at_ = 0;
        filled_ = static_cast<std::uint16_t>(count);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
}

FlightCsv::End FlightCsv::read_field(char (&field)[kField], bool& fits) noexcept {
    std::size_t length = 0;
    fits = true;
    for (;;) {
        const int c = get();
        if (c == ',' || c == '\n' || c < 0) {
            field[length] = '\0';
            return c == ',' ? End::field : c == '\n' ? End::line : c == kEndOfFile ? End::file : End::error;
        }
        if (c == ' ' || c == '\r') {
            continue;
        }
        if (length + 1 < kField) {
            field[length++] = static_cast<char>(c);
        } else {
            fits = false;
        }
    }
}

FlightCsv::Outcome FlightCsv::open(const char* path) noexcept {
    fd_ = ::open(path, O_RDONLY);
    if (fd_ < 0) {
        return Outcome::io_error;
    }
    line_ = 1;
    unsigned found = 0;
    End end = End::field;
    for (std::size_t column = 0; end == End::field; ++column) {
        char field[kField];
        bool fits = true;
        end = read_field(field, fits);
        for (unsigned i = 0; fits && i < kValues && column < kColumns; ++i) {
            if (std::strcmp(field, kNames[i]) == 0 && (found & 1U << i) == 0) {
                values_[column] = static_cast<std::uint8_t>(i + 1);
                found |= 1U << i;
            }
        }
    }
    return end == End::error ? Outcome::io_error : found == kAll ? Outcome::row : Outcome::malformed;
}

bool FlightCsv::store(ImuRow& row, unsigned value, const char* field) noexcept {
    if (value == 0) {
        std::uint64_t time = 0;
        const bool sound = parse_unsigned(field, time);
        row.t_us = time;
        return sound;
    }
    const unsigned axis = (value - 1) % 3;
    return parse_float(field, value < 4 ? row.gyro[axis] : value < 7 ? row.accel[axis] : row.mag[axis]);
}

FlightCsv::Outcome FlightCsv::next(ImuRow& row) noexcept {
    unsigned found = 0;
    bool sound = true;
    for (std::size_t column = 0;;) {
        char field[kField];
        bool fits = true;
        const End end = read_field(field, fits);
        if (end == End::error) {
            return Outcome::io_error;
        }
        if (column == 0) {
            ++line_;
            if (field[0] == '\0' && end == End::line) {
                continue;
            }
            if (field[0] == '\0' && end == End::file) {
                return Outcome::end;
            }
        }
        const unsigned value = column < kColumns ? values_[column] : 0;
        if (value != 0) {
            sound = sound && fits && store(row, value - 1, field);
            found |= 1U << (value - 1);
        }
        if (end != End::field) {
            return sound && found == kAll ? Outcome::row : Outcome::malformed;
        }
        ++column;
    }
}

}  // namespace logger
