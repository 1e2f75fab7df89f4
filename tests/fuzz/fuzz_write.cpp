// Fuzzes copies of damaged files and changes to them: opens them for writing, copies them and changes objects. Every
// change must be carried out or refused without an access outside of the storage, and no memory may be lost. The
// changes follow from a hash of the file's bytes, so that an input alone determines a run.
#include "../reading/all_filters.hpp"
#include "checksum.hpp"
#include "repair.hpp"

#include <h5mote/copy.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

namespace {

using namespace h5mote;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr unsigned kObjects = 6;  // how many links of a group are followed
constexpr unsigned kSteps = 40;   // limit for the links followed and records appended in a run

class Work {
public:
    Work(File& file, std::uint32_t seed) noexcept : file_(file), state_(seed | 1U) {}

    void run() noexcept {
        group(file_.root(), 0);
        if (below(2) == 0) {
            (void)file_.flush();
        }
        group(file_.root(), 1);
    }

private:
    std::uint32_t below(std::uint32_t limit) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return (state_ >> 5) % limit;
    }
    bool step() noexcept { return steps_++ < kSteps; }

    void group(Group group, unsigned depth) noexcept {
        std::uint32_t count = 0;
        if (group.link_count(count) != Status::ok) {
            return;
        }
        for (std::uint32_t i = 0; i < count && i < kObjects && step(); ++i) {
            char name[80];
            LinkInfo info;
            if (group.link(i, info, {name, sizeof name}) != Status::ok || info.name_length > sizeof name) {
                continue;
            }
            const std::string_view path(name, info.name_length);
            if (auto log = group.open_dataset(path)) {
                dataset(*log);
            } else if (auto inner = group.open_group(path)) {
                if (depth < 2) {
                    this->group(static_cast<Group&&>(*inner), depth + 1);
                }
            }
            if (below(4) == 0) {
                (void)group.unlink(path);
            }
        }
        attributes(group);
        (void)group.create_group("new group");
        DatasetCreate create;
        create.chunk = {4};
        if (auto log = group.open_or_create_dataset<std::uint32_t>("new log", create)) {
            for (std::uint32_t i = 0; i < 9 && step(); ++i) {
                (void)log->append(i);
            }
        }
        (void)group.create_soft_link("new link", "new log");
    }

    void attributes(Object& object) noexcept {
        (void)object.write_attribute("new", state_);
        (void)object.write_attribute("text", below(2) == 0 ? "short" : "a text that is a good deal longer than that");
        std::uint32_t count = 0;
        if (below(3) == 0 && object.attribute_count(count) == Status::ok && count != 0) {
            char name[80];
            std::size_t length = 0;
            if (object.attribute_name(below(count), {name, sizeof name}, length) == Status::ok &&
                length <= sizeof name) {
                (void)object.remove_attribute({name, length});
            }
        }
    }

    void dataset(Dataset& dataset) noexcept {
        attributes(dataset);
        Dataspace space;
        std::byte type_bytes[400];
        DatatypeView type;
        if (dataset.dataspace(space) != Status::ok || dataset.datatype(type_bytes, type) != Status::ok) {
            return;
        }
        // Values of variable-length types contain pointers in memory, and random bytes are no valid pointers.
        if (contains_class(type, TypeClass::variable_length)) {
            return;
        }
        static std::byte element[2048];
        const std::uint32_t size = dataset.element_size();
        if (size == 0 || size > sizeof element) {
            return;
        }
        for (std::size_t i = 0; i < size; ++i) {
            element[i] = static_cast<std::byte>(below(256));
        }
        for (unsigned i = 0; i < 3 && step(); ++i) {
            (void)dataset.append_records(element, 1);
        }
        std::uint64_t larger[H5MOTE_MAX_RANK] = {};
        for (std::size_t i = 0; i < space.rank(); ++i) {
            const std::uint64_t more = space.dims()[i] + below(3);
            larger[i] = more < space.max_dims()[i] ? more : space.max_dims()[i];
        }
        (void)dataset.set_extent(Span<const std::uint64_t>(larger, space.rank()));
#if H5MOTE_PARTIAL_IO
        std::uint64_t start[H5MOTE_MAX_RANK] = {};
        std::uint64_t one[H5MOTE_MAX_RANK];
        for (std::size_t i = 0; i < space.rank(); ++i) {
            start[i] = space.dims()[i] == 0 ? 0 : space.dims()[i] - 1 - below(2) * (space.dims()[i] / 2);
            one[i] = 1;
        }
        const Span<const std::uint64_t> from(start, space.rank());
        const Span<const std::uint64_t> count(one, space.rank());
        if (space.rank() != 0) {
            (void)dataset.write(Selection::hyperslab(from, count), type, {element, size});
            (void)dataset.read(Selection::hyperslab(from, count), type, {element, size});
        } else {
            (void)dataset.write(Selection::all(), type, {element, size});
        }
#endif
        if (below(3) == 0) {
            (void)dataset.close();
        }
    }

    File& file_;
    std::uint32_t state_;
    unsigned steps_ = 0;
};

constexpr const Formats& all_formats() noexcept {
#if H5MOTE_ALL_FORMATS
    return formats::all;
#else
    return formats::standard;
#endif
}

// Copies the whole file to another storage.
void copy(Library& library, [[maybe_unused]] File& file, Allocator& storage) noexcept {
    GrowingMemoryDriver driver(storage, kLargestFile);
    if (auto copied = File::create(library, driver)) {
#if H5MOTE_ALL_FORMATS
        (void)copy_file(file, *copied);
#endif
        (void)copied->close();
    }
}

}  // namespace

// Changes a copy of the file.
bool h5mote_fuzz::play(Bytes bytes, bool repair) noexcept {
    MallocAllocator storage;
    MallocAllocator memory(256 * 1024);
    bool repaired = false;
    {
        GrowingMemoryDriver driver(storage, kLargestFile);
        if (driver.assign(bytes) != Status::ok) {
            return false;
        }
        NullPort port;
        Library library(memory, port, h5mote_test::kAllFilters, all_formats());
        const std::uint32_t seed = lookup3(bytes);
        FileAccess access;
        access.metadata_cache = seed % 2 == 0 ? 1024 : 8192;
        access.chunk_cache = seed % 3 == 0 ? 256 : 8192;
        if (auto file = File::open(library, driver, access)) {
            if (seed % 5 < 2) {
                copy(library, *file, storage);
            }
            Work(*file, seed).run();
            (void)file->close();
        }
        repaired = repair && h5mote_fuzz::Repair(bytes).reported(library.trail());
        if (library.memory_report().total.now != 0) {
            h5mote_fuzz::fail();
        }
    }
    if (storage.blocks() != 0 || memory.blocks() != 0) {
        h5mote_fuzz::fail();
    }
    return repaired;
}

void h5mote_fuzz::repair_superblock(Bytes input) noexcept { Repair(input).superblock(); }
