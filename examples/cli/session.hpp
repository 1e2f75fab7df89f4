// What every command begins with: memory of the size asked for, a library that uses this memory only, and an open file.
#pragma once

#include <h5mote/arena.hpp>
#include <h5mote/file.hpp>
#include <h5mote/library.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/port/posix.hpp>
#include <h5mote/vfd/posix_files.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace h5mote::cli {

/// Options that all commands have.
struct CommonOptions {
    std::size_t memory = 0;  ///< bytes of the arena; 0: as much as the system gives
    PosixFile::Kind kind = PosixFile::Kind::any;
    bool allow_truncated = false;
};

/// Converts a size such as "64K", "2M" or "123" to bytes. Returns false if `text` is no such size.
bool parse_size(const std::string& text, std::size_t& bytes);
/// Converts the name of a libhdf5 driver ("sec2", "family", "split", "multi", ...) to the kind of file. Returns false
/// if the name is unknown.
bool parse_driver(const std::string& name, PosixFile::Kind& kind);

/// The memory, the library and, between open() and close(), one file and the files that it refers to.
class Session {
public:
    explicit Session(const CommonOptions& options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    Library& library() { return *library_; }
    /// Memory whose size depends on the file's contents is to be allocated here, so that --memory limits it.
    Context& context() { return *library_; }
    /// Most bytes that one of the tool's own tables, such as ObjectPaths, may take.
    std::size_t table_budget() const;
    /// Most bytes of raw data that are read at once.
    std::size_t piece_budget() const;

    /// Errors of PosixFile::open() and File::open(). `path` is borrowed.
    Status open(const char* path);
    void close();
    File& file() { return file_; }
    Driver& driver() { return storage_.driver(); }
    PosixFile::Kind kind() const { return storage_.kind(); }
    const FileAccess& access() const { return access_; }

private:
    CommonOptions options_;
    std::unique_ptr<std::byte[]> memory_;
    std::optional<Arena> arena_;
    MallocAllocator heap_;
    PosixPort port_;
    std::optional<Library> library_;
    PosixFile storage_;
    std::optional<PosixOpener> opener_;
    FileAccess access_;
    File file_;
};

}  // namespace h5mote::cli
