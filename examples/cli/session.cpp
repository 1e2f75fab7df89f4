#include "session.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

#if H5MOTE_CLI_JOURNAL
#include <h5mote/vfd/journal.hpp>
#include <h5mote/vfd/posix.hpp>
#endif

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace h5mote::cli {

namespace {

const Filter* const kFilters[] = {&deflate_filter, &shuffle_filter,     &fletcher32_filter, &szip_filter,
                                  &nbit_filter,    &scaleoffset_filter, &lzf_filter};

// Sizes of caches, tables and pieces without --memory.
constexpr std::size_t kMetadataCache = std::size_t{8} << 20;
constexpr std::size_t kChunkCache = std::size_t{256} << 20;
constexpr std::size_t kTables = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{1} << 20;

std::size_t largest(std::size_t a, std::size_t b) { return a > b ? a : b; }

// Warns if the journal beside a file holds transactions that were not replayed into it. Such a file lacks data whose
// writing was acknowledged; if a replay was interrupted, it is not even consistent.
void warn_of_journal(const char* path) {
#if H5MOTE_CLI_JOURNAL
    const std::string name = std::string(path) + "-journal";
    PosixDriver log;
    PosixDriver file;
    if (log.open(name.c_str(), PosixDriver::Mode::read_only) != Status::ok ||
        file.open(path, PosixDriver::Mode::read_only) != Status::ok) {
        return;
    }
    alignas(8) std::byte memory[JournalDriver::required_memory()];
    JournalDriver journal(file, log, memory);
    JournalOptions options;
    options.read_only = true;
    // over_budget: the journal was written with more lists than this memory holds. Its transactions were counted
    // anyhow.
    const Status status = journal.open(options);
    if ((status == Status::ok || status == Status::over_budget) && journal.report().transactions > 0) {
        std::fprintf(stderr, "%s: %s has %u transactions that are not in the file: h5mote recover brings them there\n",
                     path, name.c_str(), static_cast<unsigned>(journal.report().transactions));
    }
#else
    (void)path;
#endif
}

}  // namespace

bool parse_size(const std::string& text, std::size_t& bytes) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    if (errno != 0 || end == text.c_str() || text[0] == '-') {
        return false;
    }
    unsigned shift = 0;
    switch (*end) {
        case 'k':
        case 'K':
            shift = 10;
            break;
        case 'm':
        case 'M':
            shift = 20;
            break;
        case 'g':
        case 'G':
            shift = 30;
            break;
        default:
            break;
    }
    if (shift != 0) {
        ++end;
    }
    if (*end != '\0' || number > (static_cast<std::size_t>(-1) >> shift)) {
        return false;
    }
    bytes = static_cast<std::size_t>(number) << shift;
    return true;
}

bool parse_driver(const std::string& name, PosixFile::Kind& kind) {
    if (name == "sec2" || name == "stdio" || name == "core" || name == "direct" || name == "log") {
        kind = PosixFile::Kind::single;
    } else if (name == "family") {
        kind = PosixFile::Kind::family;
    } else if (name == "split") {
        kind = PosixFile::Kind::split;
    } else if (name == "multi") {
        kind = PosixFile::Kind::multi;
    } else {
        return false;
    }
    return true;
}

Session::Session(const CommonOptions& options) : options_(options) {
    if (options_.memory == 0) {
        library_.emplace(heap_, port_, kFilters, formats::all);
        access_.metadata_cache = kMetadataCache;
        access_.chunk_cache = kChunkCache;
    } else {
        memory_.reset(new std::byte[options_.memory]);  // not zeroed, so that only the pages in use take up memory
        arena_.emplace(Bytes(memory_.get(), options_.memory));
        library_.emplace(*arena_, port_, kFilters, formats::all);
        access_.metadata_cache = largest(1024, options_.memory / 8);
        access_.chunk_cache = options_.memory / 2;
    }
    access_.read_only = true;
    access_.allow_truncated = options_.allow_truncated;
}

Session::~Session() { close(); }

std::size_t Session::table_budget() const { return options_.memory == 0 ? kTables : options_.memory / 8; }

std::size_t Session::piece_budget() const { return options_.memory == 0 ? kPiece : options_.memory / 16; }

Status Session::open(const char* path) {
    close();
    if (options_.kind == PosixFile::Kind::any || options_.kind == PosixFile::Kind::single) {
        warn_of_journal(path);
    }
    H5MOTE_TRY(storage_.open(path, options_.kind));
    opener_.emplace(library_->allocator(), storage_.driver(), path);
    access_.opener = &*opener_;
    Result<File> file = File::open(*library_, storage_.driver(), access_);
    if (!file) {
        const Status status = file.status();
        close();
        return status;
    }
    file_ = static_cast<File&&>(*file);
    return Status::ok;
}

void Session::close() {
    if (file_.valid()) {
        (void)file_.close();
    }
    file_ = File();
    access_.opener = nullptr;
    opener_.reset();
    storage_.close();
}

}  // namespace h5mote::cli
