// The rows of logs in a build that cannot read them itself.
#pragma once

#include <h5mote/driver.hpp>

#include <memory>
#include <string>

namespace h5mote_test {

/// Reads the rows of logs in the file that a storage holds when it is made; by libhdf5.
class RowReader {
public:
    explicit RowReader(h5mote::Driver& driver);
    ~RowReader();

    /// All rows of a log as they stand in the file. False when they are not exactly as many bytes.
    bool read(const std::string& path, void* rows, std::size_t bytes);

private:
    struct Open;
    std::unique_ptr<Open> open_;
};

}  // namespace h5mote_test
