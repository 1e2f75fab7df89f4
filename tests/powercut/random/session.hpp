// Shared by the two sources of Player: the open file with its handles, and the functions that draw datasets.
#pragma once

#include "../workload_allocator.hpp"
#include "player.hpp"

namespace h5mote_test {

/// All parts of the format, or those that a library has by default. Profile `logger` has no others.
inline const h5mote::Formats& formats_of([[maybe_unused]] bool everything) {
    if constexpr (H5MOTE_ALL_FORMATS != 0) {
        if (everything) {
            return h5mote::formats::all;
        }
    }
    return h5mote::formats::standard;
}

/// Refuses some allocations in a row when it is told to. After a refusal the library drops what it can do without and
/// asks again, so that it takes several to make a call fail.
class RefusingAllocator final : public h5mote::Allocator {
public:
    /// After `first` more allocations, `count` of them are refused. 0: none is, from now on.
    void refuse(std::size_t first, std::size_t count) {
        first_ = first;
        count_ = count;
        refused_ = false;
    }
    /// Whether one was refused since refuse() was called.
    bool has_refused() const { return refused_; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (count_ != 0 && first_ == 0) {
            --count_;
            refused_ = true;
            return nullptr;
        }
        first_ -= first_ == 0 ? 0 : 1;
        return inner_.allocate(size, alignment);
    }
    void do_release(void* memory, std::size_t size) noexcept override { inner_.release(memory, size); }
    void* do_resize(void*, std::size_t, std::size_t) noexcept override { return nullptr; }
    h5mote::MemoryUsage do_usage() const noexcept override { return inner_.usage(); }

    FrugalAllocator inner_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    bool refused_ = false;
};

struct Player::Session {
    /// `everything`: with all parts of the format.
    Session(h5mote::Driver& inner, bool everything)
        : driver(inner), library(allocator, port, all_filters(), formats_of(everything)) {
        FrugalAllocator::prepare(library);
    }

    /// Whether the status is that of a fault which the step had.
    bool has_fault(h5mote::Status status) const {
        return (status == h5mote::Status::out_of_memory && allocator.has_refused()) ||
               (status == h5mote::Status::io_error && driver.has_failed());
    }
    void end_faults() {
        allocator.refuse(0, 0);
        driver.fail(0);
    }

    Killable driver;
    RefusingAllocator allocator;
    h5mote::NullPort port;
    h5mote::Library library;
    h5mote::File file;
    h5mote::Group root;
    std::map<unsigned, h5mote::Dataset> datasets;  // open datasets, by their number in World::objects
};

/// Random bytes.
Blob draw_bytes(std::size_t size, Random& random);
/// Encodes an opaque datatype of `size` bytes, or a compound of opaque members (those of `sizes` that are `chosen`).
/// The tag of an opaque type is the dataset's `mark`, by which the dataset is recognised under whatever name it is
/// found.
Blob encode_opaque(std::uint32_t size, unsigned mark);
Blob encode_compound(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& chosen, unsigned mark);

/// Random strings: as h5mote takes them, and as a World has them. One in six is empty.
struct Texts {
    Texts(std::size_t count, Random& random);
    static constexpr std::size_t kWidth = Tree::kTextWidth;  ///< bytes of each in a World
    static h5mote::DatatypeView type() noexcept;

    std::vector<std::string> strings;
    std::vector<const char*> pointers;
    Blob padded;
};

/// How a random dataset is created.
struct DatasetDraw {
    World::Shape shape;
    h5mote::DatasetCreate create;
    Dims dims;
    Dims max_dims;
};
/// In the result, `create.fill` borrows from `shape.fill`. `largest_compact`: bytes that a compact dataset may have.
/// `everything`: also what only a library with all parts of the format can make.
void draw_dataset(Random& random, std::uint32_t largest_compact, unsigned mark, bool everything, DatasetDraw& draw);

}  // namespace h5mote_test
