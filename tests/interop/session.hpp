// A file under test together with its sidecar, which says what the file is meant to contain. Every call changes both:
// the file through h5mote, the sidecar directly from the arguments, so that the two are independent. Any error ends the
// program and prints the error trail.
#pragma once

#include "counting_driver.hpp"
#include "sidecar.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/file.hpp>
#include <h5mote/library.hpp>
#include <h5mote/port.hpp>
#include <h5mote/vfd/posix.hpp>

#include <memory>
#include <string>

namespace h5mote_interop {

/// The numbers of a hyperslab selection.
struct Slab {
    Shape start;
    Shape count;
    Shape stride;
    Shape block;

    h5mote::Selection selection() const;
    std::uint64_t elements() const { return product(count) * product(block); }
};

/// Copies the selected elements of `whole`, an array of `dims`, to `packed`, or back when `scatter`.
void transfer(const Shape& dims, std::size_t element, const Slab& slab, Blob& whole, Blob& packed, bool scatter);

struct Options {
    h5mote::FileCreate create;
    /// Sizes of the caches, by default the logger's. The arena has 64 KiB more than the chunk cache.
    std::size_t metadata_cache = 2048;
    std::size_t chunk_cache = 16384;
};

class Session {
public:
    /// Creates a new file.
    Session(const std::string& path, const Options& options = {});
    /// Opens an existing file; `sidecar` says what it contains.
    Session(const std::string& path, const Sidecar& sidecar, const Options& options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Ends the program when `status` is not ok.
    void need(h5mote::Status status, const char* what, const std::string& path);

    void group(const std::string& path, bool track_order = false);
    void softlink(const std::string& path, const std::string& target);
    void hardlink(const std::string& path, const std::string& other);
    /// Removes a link, and the object that it leads to from the sidecar. No `hardlink` statement may name this path.
    void unlink(const std::string& path);

    /// Creates a dataset without writing to it: all elements are fill values.
    Entry& dataset(const std::string& path, h5mote::DatatypeView type, const h5mote::Dataspace& space,
                   const h5mote::DatasetCreate& create = {});
    /// Writes all elements from `data`, or random ones if `data` is empty.
    void fill(const std::string& path, Blob data = {});
    /// Writes part of a dataset.
    void write(const std::string& path, const Slab& slab);
    /// Writes all elements from the values `from` of the type `memory`; `data` are the bytes expected in the file.
    void convert(const std::string& path, h5mote::DatatypeView memory, h5mote::ConstBytes from, const Blob& data);
    void extend(const std::string& path, const Shape& dims);
    /// Appends random rows, `step` of them with each call, and flushes after every `flush_every` calls (0: never).
    void append(const std::string& path, std::uint64_t rows, std::uint64_t step = 1, std::uint64_t flush_every = 0);

    void attribute(const std::string& path, const std::string& name, h5mote::DatatypeView type,
                   const h5mote::Dataspace& space, Blob data = {});
    void remove_attribute(const std::string& path, const std::string& name);

    void flush() { need(file_.flush(), "flush", path_); }
    /// Closes the file and opens it again.
    void reopen();
    /// Closes the file, checks that no memory is held, and writes the sidecar.
    void close();
    /// Copies the bytes of the storage as they are now to `path`, and writes `expected` as the copy's sidecar.
    void snapshot(const std::string& path, const Sidecar& expected);

    /// The paths of all files that were written with a sidecar, in order.
    static std::vector<std::string>& written();

    h5mote::File& file() { return file_; }
    h5mote::Library& library() { return *library_; }
    h5mote_test::CountingDriver& driver() { return counting_; }
    Sidecar& sidecar() { return sidecar_; }
    Random& random() { return random_; }
    h5mote::Dataset open(const std::string& path);
    h5mote::DatatypeView type_of(const std::string& path, const h5mote::Dataset& dataset);
    std::size_t peak() { return library_->memory_report().total.peak; }

private:
    void start(bool create);
    /// Calls `use` with the group or dataset at `path`.
    template <typename Use>
    void with_object(const std::string& path, Use use);

    std::string path_;
    Options options_;
    Sidecar sidecar_;
    Random random_;
    std::unique_ptr<std::byte[]> memory_;
    std::unique_ptr<h5mote::Arena> arena_;
    h5mote::NullPort port_;
    std::unique_ptr<h5mote::Library> library_;
    h5mote::PosixDriver posix_;
    h5mote_test::CountingDriver counting_{posix_};
    h5mote::File file_;
    std::map<std::string, Blob> types_;
};

}  // namespace h5mote_interop
