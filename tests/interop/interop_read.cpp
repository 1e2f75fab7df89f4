// interop_read DIR: reads the files that make_reference.py wrote to DIR and compares them with their sidecars. Files
// with a feature that the library does not support must be refused with the name of the feature, before anything is
// written.

#include "compare.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

#include <cstdio>
#include <memory>

using namespace h5mote_interop;
using h5mote::Status;

namespace {

const h5mote::Filter* const kFilters[] = {
    &h5mote::shuffle_filter, &h5mote::fletcher32_filter,  &h5mote::deflate_filter, &h5mote::szip_filter,
    &h5mote::nbit_filter,    &h5mote::scaleoffset_filter, &h5mote::lzf_filter};

std::uint64_t total_checks = 0;
std::uint64_t failures = 0;

void failed(const std::string& what) {
    ++failures;
    std::fprintf(stderr, "interop_read: %s\n", what.c_str());
}

// --- files that have to be read ------------------------------------------------------------------------------------

constexpr std::size_t kChunkCache = 65536;

struct Reading {
    bool right = false;
    std::uint64_t checks = 0;
    std::size_t peak = 0;
    bool over_budget = false;
};

Reading read_reference(const std::string& path, std::size_t metadata_cache) {
    Reading result;
    // The arena has 64 KiB besides the two budgets.
    const std::size_t size = 65536 + kChunkCache + metadata_cache;
    std::unique_ptr<std::byte[]> memory(new std::byte[size]);
    h5mote::Arena arena({memory.get(), size});
    h5mote::NullPort port;
    h5mote::Library library(arena, port, kFilters);
    h5mote::PosixDriver posix;
    h5mote_test::CountingDriver driver(posix);
    if (posix.open(path.c_str(), h5mote::PosixDriver::Mode::read_only) != Status::ok) {
        failed(path + " cannot be opened");
        return result;
    }
    h5mote::FileAccess access;
    access.read_only = true;
    access.metadata_cache = metadata_cache;
    access.chunk_cache = kChunkCache;
    h5mote::Result<h5mote::File> file = h5mote::File::open(library, driver, access);
    result.right = file.status() == Status::ok;
    if (result.right) {
        Sidecar sidecar = Sidecar::load(path + ".expect");
        Comparison comparison(library, *file, sidecar, path);
        result.right = comparison.run();
        result.checks = comparison.checks();
    }
    result.peak = library.memory_report().total.peak;
    for (std::size_t i = 0; i < library.trail().size(); ++i) {
        result.over_budget = result.over_budget || library.trail().newest(i).status == Status::over_budget;
    }
    const bool closed = !result.right || file->close() == Status::ok;
    *file = h5mote::File();
    library.garbage_collect();
    if (!closed || library.memory_report().total.now != 0) {
        failed(path + ": memory is held after close");
    }
    if (driver.total().writes != 0 || driver.truncates() != 0) {
        failed(path + " was written to");
    }
    return result;
}

// Reads a file with the smallest metadata cache that suffices, starting from 1024 bytes, and prints its size.
void supported(const std::string& directory, const std::string& name) {
    Reading result;
    for (std::size_t cache = 1024;; cache *= 2) {
        std::fflush(stderr);
        result = read_reference(directory + "/" + name, cache);
        if (result.right || !result.over_budget || cache >= 131072) {
            std::printf("read %s: %s, %llu checks, metadata cache %zu, peak %zu bytes\n", name.c_str(),
                        result.right ? "ok" : "FAILED", static_cast<unsigned long long>(result.checks), cache,
                        result.peak);
            break;
        }
        std::fprintf(stderr, "interop_read: %s: a metadata cache of %zu bytes is too small (expected)\n", name.c_str(),
                     cache);
    }
    total_checks += result.checks;
    failures += result.right ? 0U : 1U;
}

// --- files that have to be refused ---------------------------------------------------------------------------------

struct Refusal {
    h5mote::Library& library;
    h5mote::File& file;
    std::string path;
    std::string feature;

    // Uses a group in every way. A feature that the library can only read is refused when the group is changed.
    Status use_group(h5mote::Group& group) {
        std::uint32_t count = 0;
        H5MOTE_TRY(group.link_count(count));
        H5MOTE_TRY(group.attribute_count(count));
        return feature == "dense_attributes" ? group.write_attribute("new", std::int32_t{1})
                                             : group.create_group("new").status();
    }

    Status use_dataset(h5mote::Dataset& dataset) {
        h5mote::Dataspace space;
        H5MOTE_TRY(dataset.dataspace(space));
        Blob message(8192);
        h5mote::DatatypeView type;
        H5MOTE_TRY(dataset.datatype({message.data(), message.size()}, type));
        std::uint64_t count = 0;
        H5MOTE_TRY(space.element_count(count));
        Blob data(static_cast<std::size_t>(count) * type.size());
        const Status status = dataset.read_stored(h5mote::Selection::all(), {data.data(), data.size()});
        if (status == Status::unsupported) {
            return status;
        }
        return dataset.write(h5mote::Selection::all(), type, {data.data(), data.size()});
    }

    // Uses the object in every way until something is refused.
    Status use() {
        h5mote::Result<h5mote::Group> group = file.root().open_group(path);
        if (group.status() == Status::ok) {
            return use_group(*group);
        }
        if (group.status() == Status::unsupported) {
            return Status::unsupported;
        }
        h5mote::Result<h5mote::Dataset> dataset = file.root().open_dataset(path);
        return dataset.status() == Status::ok ? use_dataset(*dataset) : dataset.status();
    }
};

void unsupported(const std::string& directory, const std::string& line) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    const std::string name = line.substr(0, first);
    const std::string feature = line.substr(first + 1, second - first - 1);
    const std::string copy = directory + "/refused.h5";
    const Blob before = read_file(directory + "/" + name);
    write_file(copy, {before.data(), before.size()});

    const std::size_t size = 65536 + kChunkCache;
    std::unique_ptr<std::byte[]> memory(new std::byte[size]);
    h5mote::Arena arena({memory.get(), size});
    h5mote::NullPort port;
    h5mote::Library library(arena, port, kFilters);
    h5mote::PosixDriver posix;
    h5mote_test::CountingDriver driver(posix);
    Status status = posix.open(copy.c_str(), h5mote::PosixDriver::Mode::read_write);
    h5mote::FileAccess access;
    access.chunk_cache = kChunkCache;
    h5mote::Result<h5mote::File> file = h5mote::File::open(library, driver, access);
    status = file.status();
    const std::string path = line.substr(second + 1);
    if (status == Status::ok && path != "/") {
        status = Refusal{library, *file, path, feature}.use();
    }
    std::string named = "nothing";
    if (library.trail().size() > 0 && library.trail().newest().status == Status::unsupported) {
        named = to_string(static_cast<h5mote::Feature>(library.trail().newest().value));
    }
    const bool open = file.status() == Status::ok;
    const bool closed = !open || file->close() == Status::ok;
    const std::uint64_t writes = driver.total().writes + driver.truncates();
    const bool clean = posix.close() == Status::ok && closed && writes == 0 && read_file(copy) == before;
    const bool right = status == Status::unsupported && named == feature && clean;
    std::printf("refuse %s: %s, %s names %s, %llu writes\n", name.c_str(), right ? "ok" : "FAILED", to_string(status),
                named.c_str(), static_cast<unsigned long long>(writes));
    total_checks += 3;
    failures += right ? 0U : 1U;
    std::remove(copy.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: interop_read DIR\n");
        return 2;
    }
    const std::string directory = argv[1];
    std::size_t files = 0;
    for (const std::string& name : read_lines(directory + "/supported.list")) {
        supported(directory, name);
        ++files;
    }
    for (const std::string& line : read_lines(directory + "/unsupported.list")) {
        unsupported(directory, line);
        ++files;
    }
    std::printf("interop_read: %zu files, %llu checks, %llu failed\n", files,
                static_cast<unsigned long long>(total_checks), static_cast<unsigned long long>(failures));
    return failures == 0 && files > 0 ? 0 : 1;
}
