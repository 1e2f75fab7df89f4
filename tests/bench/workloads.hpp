// The same work with two libraries, h5mote (h5mote_workloads.cpp) and libhdf5 (libhdf5_workloads.cpp), so that times
// can be compared. Both write a chunked, extensible dataset "imu" of the reference records in chunks of 64 rows,
// without filters, and read it back.
//
// Each has its default caches: h5mote 2 KiB for metadata and 16 KiB for chunks, libhdf5 1 MiB for chunks and 2 MiB or
// more for metadata. Neither asks the system to make bytes durable: libhdf5 never does, and h5mote's driver is wrapped
// so that sync() does nothing. The cost of durable data is measured by written.cpp.
#pragma once

#include "../size/reference.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

using reference::Sample;

enum class Storage { file, memory };

/// One library doing the work. Every function throws std::runtime_error when the library reports an error.
class Subject {
public:
    virtual ~Subject() = default;
    virtual const char* name() const = 0;

    /// Creates a file with an empty dataset, and leaves both open.
    virtual void begin_append(const std::string& path, Storage storage) = 0;
    /// Appends `count` rows, `at_once` of them with each call.
    virtual void append(const Sample* rows, std::size_t count, std::size_t at_once) = 0;
    /// Closes dataset and file, which hands all data to the operating system.
    virtual void end_append() = 0;

    /// Opens file and dataset to read. Storage::memory: the whole file is loaded first.
    virtual void begin_read(const std::string& path, Storage storage) = 0;
    /// Reads every `stride`-th row from row 0 on, exactly `count` of them.
    virtual void read(Sample* rows, std::size_t count, std::size_t stride) = 0;
    virtual void end_read() = 0;

    /// Creates a file with the dataset "imu" of one row, which has an attribute "rate" = 250.0 and two others.
    virtual void create_with_attributes(const std::string& path) = 0;
    /// Opens file, dataset and attribute "rate", reads it, closes all of them.
    virtual double read_attribute(const std::string& path) = 0;

    /// Creates a file with `count` datasets of 16 int32 each, named d0000...; element i of dataset k is i + k.
    virtual void create_datasets(const std::string& path, unsigned count) = 0;
};

std::unique_ptr<Subject> make_h5mote();
std::unique_ptr<Subject> make_libhdf5();

/// Whether libhdf5 reads in the file exactly the datasets of create_datasets().
bool check_datasets(const std::string& path, unsigned count);

/// The reference rows 0 to count - 1.
std::vector<Sample> make_rows(std::size_t count);

}  // namespace bench
