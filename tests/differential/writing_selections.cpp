// The calls that the profile `logger` lacks: writing and reading selections, changing extents, reading files again.
#include "writing_run.hpp"

#include <h5mote/check.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>

namespace differential {
namespace {

class ProblemText final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        if (!problem.note) {
            text_ += " part " + std::to_string(static_cast<int>(problem.part)) + " kind " +
                     std::to_string(static_cast<int>(problem.kind)) + " at " + std::to_string(problem.address) +
                     " number " + std::to_string(problem.number) + " of object " + std::to_string(problem.object);
        }
    }
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

bool can_grow(const ObjectValue& value) { return has_elements(value) && value.extent.dims != value.extent.max_dims; }

}  // namespace

void verify_with_h5mote(const Tree& model, const Blob& image, const std::string& who, DriverOpener& opener) {
    MallocAllocator heap;
    {
        NullPort port;
        Library library(heap, port, writing_filters());
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        access.opener = &opener;
        access.metadata_cache = 1 << 18;
        access.chunk_cache = 1 << 20;
        auto file = File::open(library, driver, access);
        if (!file) {
            differ(who + " read by h5mote: open " + say(library, file.status()));
        }
        compare(model, read_h5mote(library, *file), who + " read by h5mote");
        ProblemText problems;
        CheckOptions options;
        options.memory = 1 << 16;
        const Status status = check_file(*file, options, problems);
        if (status != Status::ok || !problems.text().empty()) {
            differ(who + " checked by h5mote: " + say(library, status) + problems.text());
        }
    }
    if (heap.blocks() != 0) {
        differ("memory: reading left blocks behind");
    }
}

void Writing::write(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, has_elements, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    const Pick pick = Pick::random(random, value.extent.dims, false);
    const Sizes elements = pick.elements(value.extent.dims);
    const Type memory(random_memory_type(random, value.type.id(), true));
    const Id memory_type = memory.id();
    const Blob data = random_values(random, memory_type, elements.size());
    tell("write %s %s as %s", model_.path_of(object).c_str(), pick.text().c_str(), type_text(memory.view()).c_str());
    // The data in memory is packed, or scattered over a larger extent.
    const bool packed = random.one_in(2);
    const std::uint64_t extent = elements.size() + random.below(1 + elements.size());
    const Pick from = Pick::random_line(random, extent, elements.size());
    tell("%s%s\n", packed ? "" : " from ", packed ? "" : from.text().c_str());
    Dataset* const to = dataset(object);
    if (to == nullptr) {
        return;
    }
    SelectionSet set(selections_);
    const Selection selection = pick.view(set, value.extent.dataspace());
    Status status = Status::ok;
    if (packed) {
        status = to->write(selection, memory.view(), {data.data(), data.size()});
    } else {
        Blob scattered(extent * memory.size());
        const Sizes places = from.elements({extent});
        for (std::size_t i = 0; i < places.size(); ++i) {
            std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(i * memory.size()), memory.size(),
                        scattered.begin() + static_cast<std::ptrdiff_t>(places[i] * memory.size()));
        }
        SelectionSet none(selections_);
        const Dataspace line = Dataspace::simple({extent});
        status = to->write(selection, memory.view(), line, from.view(none, line), {scattered.data(), scattered.size()});
    }
    if (done(status, "write", {Status::type_mismatch})) {
        put(value, elements, memory_type, data);
        put_libhdf5(object, elements, memory_type, data);
        return;
    }
    // The write failed and may have written some of the elements: their values are unknown now.
    const std::size_t size = value.type.size();
    for (const std::uint64_t element : elements) {
        std::fill_n(value.known.begin() + static_cast<std::ptrdiff_t>(element * size), size, std::byte{0});
    }
}

void Writing::read(Random& random) {
    bool found = false;
    const std::size_t object = any_object(
        random, [](const ObjectValue& value) { return has_elements(value) || !value.parts.empty(); }, found);
    if (!found) {
        return;
    }
    look_through();
    const ObjectValue& value = model_.objects[object];
    const Pick pick = Pick::random(random, value.extent.dims, true);
    const Sizes elements = pick.elements(value.extent.dims);
    tell("read %s %s\n", model_.path_of(object).c_str(), pick.text().c_str());
    Dataset* const from = dataset(object);
    if (from == nullptr) {
        return;
    }
    SelectionSet set(selections_);
    const std::size_t size = value.type.size();
    Blob seen(elements.size() * size);
    const Status status =
        from->read(pick.view(set, value.extent.dataspace()), value.type.view(), {seen.data(), seen.size()});
    if (!done(status, "read")) {
        return;
    }
    const Blob mask = significant_bytes(value.type.id());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        for (std::size_t b = 0; b < size; ++b) {
            const std::size_t at = elements[i] * size + b;
            if (((seen[i * size + b] ^ value.values[at]) & value.known[at] & mask[b]) != std::byte{0}) {
                differ("read: " + model_.path_of(object) + " element " + std::to_string(elements[i]) + " byte " +
                       std::to_string(b) + " is wrong");
            }
        }
    }
}

void Writing::set_extent(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, can_grow, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    Sizes dims = value.extent.dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        // Larger, or at times smaller.
        if (random.one_in(4)) {
            dims[d] = random.below(dims[d] + 1);
        } else {
            dims[d] += std::min(value.extent.max_dims[d] - dims[d], random.small(dims.size() == 1 ? 200 : 6));
        }
    }
    if (volume(dims) * value.type.size() > kMostBytes) {
        return;
    }
    tell("set_extent %s %s\n", model_.path_of(object).c_str(), text_of(dims).c_str());
    Dataset* const to = dataset(object);
    if (to == nullptr || !done(to->set_extent(Span<const std::uint64_t>(dims.data(), dims.size())), "set_extent")) {
        return;
    }
    const std::vector<hsize_t> now(dims.begin(), dims.end());
    // libhdf5 1.10 crashes with unfiltered edges and a chunk index that was not made yet.
    const Alone alone;
    DIFFERENTIAL_OK(H5Dset_extent(other(object, file_), now.data()));
    grow(value, dims);
}

// What was deleted, cut off or replaced is used for the steps that follow, so that a byte of a value that reclaim()
// took for lost is found by the comparison with the model.
void Writing::reclaim(Random& random) {
    if (!everything_) {
        return;
    }
    if (!random.one_in(3)) {
        session_->datasets.clear();
    }
    const bool busy = !session_->datasets.empty();
    tell("reclaim%s\n", busy ? ", busy" : "");
    const Status status = session_->file.reclaim();
    if (busy && status == Status::ok) {
        differ("reclaim: a file with open datasets");
    }
    if (!done(status, "reclaim", {busy ? Status::busy : Status::ok})) {
        return;
    }
    calm();
    FileInfo info;
    ProblemText problems;
    CheckSummary summary;
    CheckOptions options;
    options.memory = 1 << 16;
    if (session_->file.info(info) != Status::ok ||
        check_file(session_->file, options, problems, &summary) != Status::ok || !problems.text().empty()) {
        differ("reclaim: check finds" + problems.text());
    }
    // A file that records its free space, but not the smallest sections, does not know of those that it read.
    if (summary.lost != 0 && (info.free_space_threshold == 1 || !info.persists_free_space)) {
        differ("reclaim: " + std::to_string(summary.lost) + " bytes are lost still");
    }
}

}  // namespace differential
