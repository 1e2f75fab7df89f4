// Reading workloads for two libraries, h5mote (h5mote_reading.cpp) and libhdf5 (libhdf5_reading.cpp, which also makes
// the file). Both have the caches that libhdf5 has by default: 1 MiB for chunks, 2 MiB for metadata. All times include
// opening and closing the object; the file is opened before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t kRows = 1024;  ///< rows of each two-dimensional dataset of double
inline constexpr std::size_t kColumns = 1024;
inline constexpr std::size_t kPoints = 100000;
inline constexpr std::size_t kLinks = 10000;
inline constexpr std::size_t kAttributes = 10000;
inline constexpr std::size_t kStrings = 100000;

/// Element (row, column) of every two-dimensional dataset.
inline double matrix_value(std::size_t row, std::size_t column) {
    return static_cast<double>(row * kColumns + column) / 8;
}

/// One library reading the file of make_read_file(). Throws std::runtime_error when the library reports an error.
class Reading {
public:
    virtual ~Reading() = default;
    virtual void open(const std::string& path) = 0;
    virtual void close() = 0;

    /// All elements of a dataset of double.
    virtual void read_all(const std::string& dataset, double* to) = 0;
    /// Every third row and second column, from (1, 1) on: kRows / 3 x kColumns / 2 elements, packed.
    virtual void read_strided(const std::string& dataset, double* to) = 0;
    /// The elements at `points` (row, column, row, column ...), in that order.
    virtual void read_points(const std::string& dataset, const std::vector<std::uint64_t>& points, double* to) = 0;
    /// Opens each object by its path and closes it; returns the sum of their addresses.
    virtual std::uint64_t open_each(const std::vector<std::string>& paths) = 0;
    /// Opens every attribute of a group, in the native order of the library, and reads its one int32; returns their
    /// sum.
    virtual std::int64_t read_attributes(const std::string& group) = 0;
    /// Reads a dataset of variable-length strings; returns the number of their characters.
    virtual std::uint64_t read_strings(const std::string& dataset) = 0;
};

std::unique_ptr<Reading> make_h5mote_reading();
std::unique_ptr<Reading> make_libhdf5_reading();

/// Makes a file, with libhdf5, that has the datasets /contiguous, /chunked (version 1 B-tree), /fixed (fixed array),
/// /deflated and /strings, the groups /symbol_table, /compact and /dense with kLinks links each, named "link00000" and
/// so on, and the group /attributes with kAttributes attributes.
void make_read_file(const std::string& path);

}  // namespace bench
