#include <h5mote/vfd/posix_opener.hpp>

#include "path.hpp"
#include "system.hpp"

#include <h5mote/vfd/posix_files.hpp>

#include <cerrno>
#include <cstring>
#include <new>

namespace h5mote {
namespace {

constexpr std::string_view kOrigin = "${ORIGIN}";

}  // namespace

/// One open file; its path follows in the same allocation.
struct PosixOpener::OpenFile {
    PosixDriver driver;
    OpenFile* next = nullptr;
    std::size_t path_length = 0;  // with its zero
    unsigned count = 1;
    bool writable = false;

    char* path() noexcept { return reinterpret_cast<char*>(this + 1); }
};

/// A search: the name, and the file from which it is searched.
struct PosixOpener::Search {
    char* path;               // of kLongestPath bytes, for candidates
    std::string_view parent;  // path of the file that holds the name
    std::string_view name;
    bool structured = false;  // only HDF5 files will do
    bool writing = false;     // the file is to be changed
    Driver* found = nullptr;
};

PosixOpener::~PosixOpener() {
    while (files_ != nullptr) {
        OpenFile* const file = files_;
        files_ = file->next;
        destroy(file);
    }
}

void PosixOpener::destroy(OpenFile* file) noexcept {
    const std::size_t size = sizeof(OpenFile) + file->path_length;
    file->~OpenFile();
    allocator_.release(file, size);
}

std::string_view PosixOpener::path_of(const Driver& driver) const noexcept {
    if (&driver == &main_) {
        return main_path_;
    }
    for (OpenFile* file = files_; file != nullptr; file = file->next) {
        if (&file->driver == &driver) {
            return file->path();
        }
    }
    return {};
}

void PosixOpener::close(Driver& driver) noexcept {
    for (OpenFile** at = &files_; *at != nullptr; at = &(*at)->next) {
        OpenFile* const file = *at;
        if (&file->driver == &driver) {
            if (--file->count == 0) {
                *at = file->next;
                destroy(file);
            }
            return;
        }
    }
}

// Opens a candidate, or finds the driver that has the same file open. not_found: there is no such file, it is something
// else, or this program may not open it. busy: it is open for reading, and is to be changed.
Status PosixOpener::give(const char* path, const Search& search, Driver*& driver) noexcept {
    const std::size_t length = std::strlen(path) + 1;
    void* const memory = allocator_.allocate(sizeof(OpenFile) + length, alignof(OpenFile));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    OpenFile* const file = ::new (memory) OpenFile;
    file->path_length = length;
    std::memcpy(file->path(), path, length);
    file->writable = search.writing;
    const PosixDriver::Mode mode = !search.writing     ? PosixDriver::Mode::read_only
                                   : search.structured ? PosixDriver::Mode::read_write
                                                       : PosixDriver::Mode::open_or_create;
    Status status = file->driver.open(path, mode);
    if (status == Status::ok && search.structured) {
        status = posix::find_signature(file->driver);
    }
    if (status != Status::ok) {
        // A file that could not be looked at must not pass for one that does not exist.
        const std::int32_t error = file->driver.last_error();
        destroy(file);
        return error == EMFILE || error == ENFILE              ? Status::busy
               : error == EIO                                  ? Status::io_error
               : search.writing && status == Status::read_only ? status
                                                               : Status::not_found;
    }
    if (main_.same_storage(file->driver)) {
        destroy(file);
        driver = &main_;
        return Status::ok;
    }
    for (OpenFile* other = files_; other != nullptr; other = other->next) {
        if (other->driver.same_storage(file->driver)) {
            destroy(file);
            if (search.writing && !other->writable) {
                return Status::busy;
            }
            ++other->count;
            driver = &other->driver;
            return Status::ok;
        }
    }
    file->next = files_;
    files_ = file;
    driver = &file->driver;
    return Status::ok;
}

// Tries one candidate, `directory` + `below` + "/" + `name`; the first two may be empty.
Status PosixOpener::attempt(Search& search, std::string_view directory, std::string_view below,
                            std::string_view name) noexcept {
    posix::PathWriter path(search.path, kLongestPath);
    path.add(directory);
    path.add(below);
    const std::string_view last = below.empty() ? directory : below;
    if (!last.empty() && last.back() != '/') {
        path.add("/");
    }
    path.add(name);
    return path.fits() ? give(search.path, search, search.found) : Status::not_found;
}

Status PosixOpener::search_data(Search& search) noexcept {
    std::string_view prefix = posix::environment("HDF5_EXTFILE_PREFIX");
    if (prefix.empty()) {
        prefix = prefixes_.external_data;
    }
    if (prefix == "." || search.name.front() == '/') {
        prefix = {};
    }
    const bool origin = prefix.substr(0, kOrigin.size()) == kOrigin;
    return attempt(search, origin ? posix::directory_of(search.parent) : std::string_view{},
                   origin ? prefix.substr(kOrigin.size()) : prefix, search.name);
}

Status PosixOpener::search(Search& search, OpenPurpose purpose) noexcept {
    const bool is_virtual = purpose == OpenPurpose::virtual_source;
    std::string_view name = search.name;
    Status status = Status::not_found;
    if (name.front() == '/') {
        status = attempt(search, {}, {}, name);
        name.remove_prefix(name.rfind('/') + 1);
    }
    std::string_view listed = posix::environment(is_virtual ? "HDF5_VDS_PREFIX" : "HDF5_EXT_PREFIX");
    std::string_view prefix = prefixes_.external_link;
    if (is_virtual) {
        prefix = listed.empty() ? prefixes_.virtual_source : listed;
    }
    while (status == Status::not_found && !listed.empty()) {
        const std::size_t colon = listed.find(':');
        if (colon != 0) {
            status = attempt(search, {}, listed.substr(0, colon), name);
        }
        listed.remove_prefix(colon == std::string_view::npos ? listed.size() : colon + 1);
    }
    const std::string_view beside = posix::directory_of(search.parent);
    if (status == Status::not_found && !prefix.empty() && prefix != ".") {
        const bool origin = is_virtual && prefix.substr(0, kOrigin.size()) == kOrigin;
        status = attempt(search, origin ? beside : std::string_view{}, origin ? prefix.substr(kOrigin.size()) : prefix,
                         name);
    }
    if (status == Status::not_found && !beside.empty()) {
        status = attempt(search, beside, {}, name);
    }
    if (status == Status::not_found) {
        status = attempt(search, {}, {}, name);
    }
    if (status == Status::not_found && !search.parent.empty() &&
        posix::resolve(search.parent.data(), search.path, kLongestPath)) {
        // Candidates are written into search.path: copy the resolved path out of it.
        char* const resolved = static_cast<char*>(allocator_.allocate(kLongestPath, 1));
        if (resolved == nullptr) {
            return Status::out_of_memory;
        }
        const std::string_view real = posix::directory_of(search.path);
        std::memcpy(resolved, real.data(), real.size());
        status = attempt(search, {resolved, real.size()}, {}, name);
        allocator_.release(resolved, kLongestPath);
    }
    return status;
}

Status PosixOpener::open(const Driver& parent, std::string_view name, OpenPurpose purpose, Driver*& driver) noexcept {
    return open_as(parent, name, purpose, false, driver);
}

Status PosixOpener::open_to_write(const Driver& parent, std::string_view name, OpenPurpose purpose,
                                  Driver*& driver) noexcept {
    return writes_ ? open_as(parent, name, purpose, true, driver) : Status::read_only;
}

Status PosixOpener::open_as(const Driver& parent, std::string_view name, OpenPurpose purpose, bool writing,
                            Driver*& driver) noexcept {
    if (name.empty()) {
        return Status::not_found;
    }
    Search search;
    search.path = static_cast<char*>(allocator_.allocate(kLongestPath, 1));
    if (search.path == nullptr) {
        return Status::out_of_memory;
    }
    search.parent = path_of(parent);
    search.name = name;
    search.writing = writing;
    search.structured = purpose != OpenPurpose::external_data;
    const Status status = search.structured ? this->search(search, purpose) : search_data(search);
    allocator_.release(search.path, kLongestPath);
    if (status == Status::ok) {
        driver = search.found;
    }
    return status;
}

}  // namespace h5mote
