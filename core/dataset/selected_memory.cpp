#include <h5mote/selected_memory.hpp>

#include "checked.hpp"
#include "prepare.hpp"
#include "selection_runs.hpp"

#include <cstring>

namespace h5mote {
namespace {

// The runs of a selection, in memory because iterators of rank 32 are too large for the stack of a small machine.
class Runs {
public:
    explicit Runs(Context& context) noexcept
        : context_(context), runs_(context.create<SelectionRuns>(MemoryKind::other)) {}
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;
    ~Runs() { context_.destroy(MemoryKind::other, runs_); }

    // `array` and `packed` are the sizes of the buffers in bytes.
    Status reset(const Dataspace& extent, const Selection& selection, std::size_t element_size, std::size_t array,
                 const std::size_t* packed) noexcept {
        if (runs_ == nullptr) {
            return Status::out_of_memory;
        }
        std::uint64_t all = 0;
        H5MOTE_TRY(extent.element_count(all));
        H5MOTE_TRY(runs_->reset(selection, extent));
        const auto is_size = [element_size](std::uint64_t count, std::size_t bytes) {
            std::uint64_t size = 0;
            return checked_multiply<std::uint64_t>(count, element_size, size) && size == bytes;
        };
        const bool sound =
            element_size != 0 && is_size(all, array) && (packed == nullptr || is_size(runs_->element_count(), *packed));
        return sound ? Status::ok : context_.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, array);
    }
    bool next(SelectionRun& run) noexcept { return runs_->next(run); }

private:
    Context& context_;
    SelectionRuns* runs_;
};

}  // namespace

// What the runs say is within the buffers, whose sizes were compared with the numbers of elements.
Status gather(Library& library, const Dataspace& extent, const Selection& selection, std::size_t element_size,
              ConstBytes from, Bytes to) noexcept {
    const LibraryLock lock(&library);
    Runs runs(library);
    const std::size_t packed = to.size();
    H5MOTE_TRY(runs.reset(extent, selection, element_size, from.size(), &packed));
    SelectionRun run;
    while (runs.next(run)) {
        std::memcpy(to.data() + static_cast<std::size_t>(run.packed) * element_size,
                    from.data() + static_cast<std::size_t>(run.offset) * element_size,
                    static_cast<std::size_t>(run.length) * element_size);
    }
    return Status::ok;
}

Status scatter(Library& library, const Dataspace& extent, const Selection& selection, std::size_t element_size,
               ConstBytes from, Bytes to) noexcept {
    const LibraryLock lock(&library);
    Runs runs(library);
    const std::size_t packed = from.size();
    H5MOTE_TRY(runs.reset(extent, selection, element_size, to.size(), &packed));
    SelectionRun run;
    while (runs.next(run)) {
        std::memcpy(to.data() + static_cast<std::size_t>(run.offset) * element_size,
                    from.data() + static_cast<std::size_t>(run.packed) * element_size,
                    static_cast<std::size_t>(run.length) * element_size);
    }
    return Status::ok;
}

Status fill(Library& library, const Dataspace& extent, const Selection& selection, DatatypeView value_type,
            ConstBytes value, DatatypeView type, Bytes to) noexcept {
    const LibraryLock lock(&library);
    const std::size_t size = type.size();
    if (!value.empty() && value.size() != value_type.size()) {
        return library.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, 0, value.size());
    }
    Conversion conversion;
    if (!value.empty()) {
        H5MOTE_TRY(prepare_conversion(library, conversion, value_type, type));
    }
    Runs runs(library);
    H5MOTE_TRY(runs.reset(extent, selection, size, to.size(), nullptr));
    // The first selected element is converted in its place; the others are copies of it.
    const std::byte* first = nullptr;
    SelectionRun run;
    while (runs.next(run)) {
        std::byte* at = to.data() + static_cast<std::size_t>(run.offset) * size;
        if (value.empty()) {
            std::memset(at, 0, static_cast<std::size_t>(run.length) * size);
            continue;
        }
        for (std::uint64_t i = 0; i < run.length; ++i, at += size) {
            if (first == nullptr) {
                std::memset(at, 0, size);
                H5MOTE_TRY(conversion.run(1, value.data(), value.size(), at, size));
                first = at;
            } else {
                std::memcpy(at, first, size);
            }
        }
    }
    return Status::ok;
}

}  // namespace h5mote
