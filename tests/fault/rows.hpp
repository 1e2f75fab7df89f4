// Reads rows of logs for tests of profile logger, which cannot read them itself.
#pragma once

#include <h5mote/driver.hpp>

#include <memory>
#include <string>

namespace h5mote_test {

/// Reads rows with libhdf5, from the file that the storage holds when the reader is constructed.
class RowReader {
public:
    explicit RowReader(h5mote::Driver& driver);
    ~RowReader();

    /// Reads all rows of a log in the datatype that the file has. False when they are not exactly `bytes` bytes.
    bool read(const std::string& path, void* rows, std::size_t bytes);

private:
    struct Open;
    std::unique_ptr<Open> open_;
};

}  // namespace h5mote_test
