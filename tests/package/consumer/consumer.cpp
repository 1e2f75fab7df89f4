// A program of another project. It tests that the public headers suffice, that it links, and that it is compiled with
// the library's configuration. Unlike the library, it has exceptions and run-time type information.
#include <h5mote/check.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/port/posix.hpp>
#include <h5mote/vfd/flash_device.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <typeinfo>
#include <vector>

#if __has_include("cursor.hpp")
#error "private headers of the library are visible to an application"
#endif
#if H5MOTE_MAX_RANK != EXPECTED_MAX_RANK
#error "an option that was set for the library did not arrive at its user"
#endif
#ifndef H5MOTE_PROFILE_LOGGER
#error "the profile did not arrive"
#endif

namespace {

using namespace h5mote;

// A class derived from each of the interfaces that programs may implement.
struct OwnDriver final : Driver {
    Capabilities capabilities() const noexcept override { return file.capabilities(); }
    Status read(Usage usage, std::uint64_t address, Bytes to) noexcept override {
        return file.read(usage, address, to);
    }
    Status write(Usage usage, std::uint64_t address, ConstBytes from) noexcept override {
        return file.write(usage, address, from);
    }
    Status sync() noexcept override { return file.sync(); }
    Status end_of_file(std::uint64_t& size) noexcept override { return file.end_of_file(size); }
    Status truncate(std::uint64_t size) noexcept override { return file.truncate(size); }
    std::byte bytes[4096];
    MemoryDriver file{bytes};
};
struct OwnPort : Port {
    virtual ~OwnPort() = default;
    std::uint32_t time() noexcept override { return 7; }
};
struct OwnAllocator : Allocator {
    virtual ~OwnAllocator() = default;
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        return heap.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { heap.release(memory, size); }
    void* do_resize(void* memory, std::size_t old_size, std::size_t new_size) noexcept override {
        return heap.resize(memory, old_size, new_size);
    }
    MemoryUsage do_usage() const noexcept override { return heap.usage(); }
    MallocAllocator heap;
};
struct OwnDevice : FlashDevice {
    FlashGeometry geometry() const noexcept override { return {}; }
    Status read(std::uint32_t, std::uint32_t, Bytes) noexcept override { return Status::io_error; }
    Status program(std::uint32_t, std::uint32_t, ConstBytes) noexcept override { return Status::io_error; }
    Status erase(std::uint32_t) noexcept override { return Status::io_error; }
};

const std::type_info& type_of(Port& port) { return typeid(port); }

int work() {
    OwnPort port;
    OwnAllocator allocator;
    Library library{allocator, port};
    OwnDriver driver;
    OwnDevice device;
    std::byte buffer[4096];
    MemoryDriver memory{buffer};
    MallocAllocator heap;
    GrowingMemoryDriver growing{heap};
    PosixDriver posix;
    if (type_of(port) != typeid(OwnPort) || device.geometry().blocks != 0 || posix.is_open()) {
        throw std::runtime_error("types");
    }
    for (Driver* each : std::vector<Driver*>{&driver, &memory, &growing}) {
        auto file = File::create(library, *each);
        if (file.status() != Status::ok || file->close() != Status::ok) {
            throw std::runtime_error(to_string(file.status()));
        }
    }
    return static_cast<int>(port.time());
}

}  // namespace

int main() {
    try {
        std::printf("h5mote: %d\n", work());
        return 0;
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
}
