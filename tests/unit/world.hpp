// A file with something of everything, in which tests make each call fail in every way that its header documents.
#pragma once

#include <h5mote/config.hpp>

#if H5MOTE_WRITE

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include "failing_driver.hpp"
#include "sound.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace h5mote_test {

using Image = std::vector<std::byte>;

/// Refuses `count` allocations from the `first` on. Refusing a single one may go unnoticed: the library empties its
/// caches and asks again.
class RefusingAllocator final : public h5mote::Allocator {
public:
    explicit RefusingAllocator(h5mote::Allocator& inner) noexcept : inner_(inner) {}
    void arm(std::uint64_t first, std::uint64_t count) noexcept {
        first_ = first;
        count_ = count;
        calls_ = 0;
        failures_ = 0;
    }
    std::uint64_t failures() const noexcept { return failures_; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        ++calls_;
        if (first_ != 0 && calls_ >= first_ && calls_ - first_ < count_) {
            ++failures_;
            return nullptr;
        }
        return inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    h5mote::MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    h5mote::Allocator& inner_;
    std::uint64_t first_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t failures_ = 0;
};

/// One kind of fault: `allocations` that fail in a row, or, if that is 0, the kinds of driver `calls` that fail.
struct FaultKind {
    const char* name;
    std::uint64_t allocations;
    unsigned calls;  ///< a mask of kReadCall and the like
    bool persistent;
};

inline constexpr FaultKind kFaultKinds[] = {
    {"one allocation", 1, 0, false},
    {"every allocation", ~std::uint64_t{0}, 0, true},
    {"one read", 0, kReadCall, false},
    {"every read", 0, kReadCall, true},
    {"one change", 0, kAllCalls & ~unsigned{kReadCall}, false},
    {"every change", 0, kAllCalls & ~unsigned{kReadCall}, true},
};

/// Makes the k-th allocation or driver call from now fail, and those after it as `kind` says.
inline void arm(RefusingAllocator& allocator, FailingDriver& driver, const FaultKind& kind, std::uint64_t k) {
    if (kind.allocations != 0) {
        allocator.arm(k, kind.allocations);
        return;
    }
    DriverFault fault;
    fault.at = k;
    fault.calls = kind.calls;
    fault.persistent = kind.persistent;
    driver.arm(fault);
}

/// Ends all faults. Returns whether any call failed since arm().
inline bool disarm(RefusingAllocator& allocator, FailingDriver& driver) {
    const bool failed = allocator.failures() + driver.failures() != 0;
    allocator.arm(0, 0);
    driver.arm({});
    return failed;
}

inline h5mote::Span<const h5mote::Filter* const> world_filters() {
#if H5MOTE_FILTERS
    static constexpr const h5mote::Filter* kFilters[] = {&h5mote::shuffle_filter, &h5mote::deflate_filter,
                                                         &h5mote::fletcher32_filter};
    return kFilters;
#else
    return {};
#endif
}

/// A library and a file in memory with handles of the objects in it. Each allocation and driver call can be made to
/// fail.
class World {
public:
    /// `formats`: the parts that the library has; borrowed.
    explicit World(const h5mote::Formats& formats = h5mote::formats::standard) noexcept
        : library(refusing, port, world_filters(), formats) {
        access.chunk_cache = 4096;
        library.set_free_list_limits({0, 0});  // so that every allocation can fail
    }
    ~World() { (void)close(); }

    h5mote::Status open(const Image& image) {
        EXPECT_EQ(storage.assign({image.data(), image.size()}), h5mote::Status::ok);
        return open();
    }
    h5mote::Status open() {
        auto opened = h5mote::File::open(library, driver, access);
        file = static_cast<h5mote::File&&>(*opened);
        if (file.valid()) {
            root = file.root();
            group = static_cast<h5mote::Group&&>(*root.open_group("group"));
            log = static_cast<h5mote::Dataset&&>(*root.open_dataset("log"));
            flat = static_cast<h5mote::Dataset&&>(*root.open_dataset("flat"));
        }
        return opened.status();
    }
    /// Closes every handle, that of the file last.
    h5mote::Status close() {
        forget();
        return file.valid() ? file.close() : h5mote::Status::ok;
    }
    /// Closes the handles of objects, which are empty afterwards.
    void forget() {
        (void)log.close();
        (void)flat.close();
        log = h5mote::Dataset();
        flat = h5mote::Dataset();
        group = h5mote::Group();
        root = h5mote::Group();
    }
    Image image() const { return Image(storage.contents().begin(), storage.contents().end()); }

    h5mote::MallocAllocator memory;
    RefusingAllocator refusing{memory};
    h5mote::MallocAllocator bytes;
    h5mote::GrowingMemoryDriver storage{bytes};
    FailingDriver driver{storage};
    h5mote::NullPort port;
    h5mote::Library library;
    h5mote::FileAccess access;
    h5mote::File file;
    h5mote::Group root;
    h5mote::Group group;
    h5mote::Dataset log;   // 20 rows of std::int32_t in chunks of 8: row i has the value 3 i
    h5mote::Dataset flat;  // 16 elements of std::int32_t: element i has the value i
};

constexpr std::uint32_t kWorldRows = 20;
constexpr std::uint32_t kWorldFlat = 16;
constexpr auto kNumber = h5mote::make_integer(4, true, h5mote::kNativeOrder);

/// Returns the image of the file that the calls are tried on.
inline Image make_world() {
    using namespace h5mote;
    World world;
    auto created = File::create(world.library, world.driver, world.access);
    EXPECT_EQ(created.status(), Status::ok);
    world.file = static_cast<File&&>(*created);
    Group root = world.file.root();
    EXPECT_EQ(root.write_attribute("number", std::int32_t{41}), Status::ok);
    EXPECT_EQ(root.write_attribute("text", "some text"), Status::ok);
    auto group = root.create_group("group");
    EXPECT_EQ(group->write_attribute("number", std::int32_t{42}), Status::ok);
    EXPECT_EQ(root.create_group("group/inner").status(), Status::ok);
    for (const char* name : {"empty", "group/1", "group/2", "group/3"}) {
        EXPECT_EQ(root.create_group(name).status(), Status::ok);
    }
    DatasetCreate create;
    create.chunk = {8};
    auto log = root.create_dataset("log", kNumber.view(), Dataspace::unlimited(), create);
    for (std::uint32_t i = 0; i < kWorldRows; ++i) {
        const auto row = static_cast<std::int32_t>(3 * i);
        EXPECT_EQ(log->append_records(&row, 1), Status::ok);
    }
    const std::int32_t fill = 9;
    create.fill = as_bytes(Span<const std::int32_t>(&fill, 1));
    auto old = root.create_dataset("old", kNumber.view(), Dataspace::unlimited(), create);
    std::int32_t rows[40] = {};
    EXPECT_EQ(old->append_records(rows, 40), Status::ok);
#if H5MOTE_PARTIAL_IO
    auto flat = root.create_dataset("flat", kNumber.view(), Dataspace::simple({kWorldFlat}));
    EXPECT_EQ(flat.status(), Status::ok);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(kWorldFlat); ++i) {
        rows[i] = i;
    }
    EXPECT_EQ(flat->write(Selection::all(), kNumber.view(), as_bytes(Span<const std::int32_t>(rows, kWorldFlat))),
              Status::ok);
    EXPECT_EQ(flat->close(), Status::ok);
#endif
    EXPECT_EQ(root.create_hard_link("also", *old), Status::ok);
    EXPECT_EQ(root.create_hard_link("again", *old), Status::ok);
    EXPECT_EQ(root.create_soft_link("soft", "group"), Status::ok);
    EXPECT_EQ(root.create_soft_link("nowhere", "not/there"), Status::ok);
    EXPECT_EQ(root.create_soft_link("circle", "circle"), Status::ok);
    EXPECT_EQ(root.unlink("again"), Status::ok);
    EXPECT_EQ(log->close(), Status::ok);
    EXPECT_EQ(old->close(), Status::ok);
    group->close();
    root.close();
    EXPECT_EQ(world.close(), Status::ok);
    EXPECT_EQ(world.memory.blocks(), 0U);
    return world.image();
}

}  // namespace h5mote_test

#endif
