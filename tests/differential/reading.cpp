#include "reading.hpp"

#include "generate_file.hpp"
#include "selection.hpp"
#include "tree.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/attribute.hpp>
#include <h5mote/check.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <algorithm>
#include <optional>

namespace differential {
namespace {

using namespace h5mote;

constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter,     &fletcher32_filter,
                                      &nbit_filter,    &scaleoffset_filter, &szip_filter};

struct Session {
    Session(const Blob& image, FileAccess access, bool in_arena)
        : driver(MemoryDriver::reading({image.data(), image.size()})) {
        if (in_arena) {
            memory.resize(1 << 19);
            arena.emplace(Bytes{reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
        }
        library.emplace(arena ? static_cast<Allocator&>(*arena) : heap, port, kFilters);
        access.opener = &opener;
        auto opened = File::open(*library, driver, access);
        if (!opened) {
            differ("open: " + say(*library, opened.status()));
        }
        file = static_cast<File&&>(*opened);
    }
    // Closes the file; all memory must have been released.
    void end() {
        const Status status = file.close();
        if (status != Status::ok) {
            differ("close: " + say(*library, status));
        }
        library->garbage_collect();
        if (const std::size_t left = library->allocator().usage().now; left != 0) {
            differ("memory: the session left " + std::to_string(left) + " bytes behind");
        }
    }

    MemoryDriver driver;
    std::vector<std::uint64_t> memory;
    std::optional<Arena> arena;
    MallocAllocator heap;
    MallocAllocator openers;
    PosixOpener opener{openers, driver, "image"};
    NullPort port;
    std::optional<Library> library;
    File file;
};

FileAccess large_caches() {
    FileAccess access;
    access.read_only = true;
    access.metadata_cache = 1 << 20;
    access.chunk_cache = 1 << 20;
    return access;
}

class Problems final : public CheckReporter {
public:
    void problem(const Problem& problem) noexcept override {
        if (!problem.note) {
            text += " part " + std::to_string(static_cast<int>(problem.part)) + " kind " +
                    std::to_string(static_cast<int>(problem.kind)) + " at " + std::to_string(problem.address) +
                    " number " + std::to_string(problem.number);
        }
    }
    std::string text;
};

class Reading {
public:
    Reading(Blob image, std::FILE* log) : image_(std::move(image)), log_(log), file_(read_image(image_)) {
        if (log_ != nullptr) {
            if (std::FILE* const out = std::fopen("reading.failed.h5", "wb")) {
                (void)std::fwrite(image_.data(), 1, image_.size(), out);
                std::fclose(out);
            }
        }
        tree_ = read_libhdf5(file_);
        for (std::size_t i = 0; i < tree_.objects.size(); ++i) {
            if (tree_.objects[i].kind == ObjectValue::Kind::dataset) {
                datasets_.push_back(i);
            }
        }
        whole();
    }
    void run(Random& random);
    std::uint64_t operations() const noexcept { return operations_; }

private:
    void whole();
    void orders(Random& random, Session& session);
    void dataset(Random& random, Session& session, const FileAccess& access);
    void properties(Dataset& mine, hid_t theirs, const std::string& path);

    Blob image_;
    std::FILE* log_;
    Id file_;
    Tree tree_;
    std::vector<std::size_t> datasets_;
    std::uint64_t operations_ = 0;
};

// Compares and checks the whole file, with caches large enough for everything.
void Reading::whole() {
    Session session(image_, large_caches(), false);
    compare(tree_, read_h5mote(*session.library, session.file), "the file of libhdf5 read by h5mote");
    Problems problems;
    CheckOptions options;
    options.memory = 1 << 17;
    const Status status = check_file(session.file, options, problems);
    if (status != Status::ok || !problems.text.empty()) {
        differ("checked: " + say(*session.library, status) + problems.text);
    }
    session.end();
    operations_ += tree_.objects.size();
}

void Reading::properties(Dataset& mine, hid_t theirs, const std::string& path) {
    const Id list = DIFFERENTIAL_ID(H5Dget_create_plist(theirs));
    DatasetInfo info;
    std::uint64_t bytes = 0;
    if (mine.info(info) != Status::ok || mine.storage_size(bytes) != Status::ok) {
        differ("properties: of " + path + " cannot be told");
    }
    // The storage size of a virtual dataset differs: libhdf5 sums up the sources, h5mote counts the dataset's own
    // storage.
    const bool counted = info.layout != Layout::virtual_dataset;
    if (info.filters != H5Pget_nfilters(list) || (counted && bytes != H5Dget_storage_size(theirs))) {
        differ("properties: of " + path + ": " + std::to_string(bytes) + " bytes instead of " +
               std::to_string(H5Dget_storage_size(theirs)));
    }
    if (info.layout != Layout::chunked) {
        return;
    }
    std::uint64_t chunks = 0;
    std::uint64_t index = 0;
    hsize_t expected = 0;
    const Id space = DIFFERENTIAL_ID(H5Dget_space(theirs));
    DIFFERENTIAL_OK(H5Dget_num_chunks(theirs, space, &expected));
    if (mine.index_size(chunks, index) != Status::ok || chunks != expected) {
        differ("properties: " + path + " has " + std::to_string(chunks) + " chunks instead of " +
               std::to_string(expected));
    }
}

// Bytes that the chunk cache needs for a filtered chunk: an estimate of its size from above, or 0 without filters.
std::uint64_t filtered_chunk(hid_t dataset) {
    const Id list = DIFFERENTIAL_ID(H5Dget_create_plist(dataset));
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Pget_nfilters(list) > 0 ? H5Pget_chunk(list, H5S_MAX_RANK, dims) : 0;
    const Id type = DIFFERENTIAL_ID(H5Dget_type(dataset));
    // In memory a variable-length string has the bytes of a pointer, but 16 bytes in the file.
    constexpr std::size_t kLarger = 16 / sizeof(char*);
    if (H5Pget_layout(list) == H5D_VIRTUAL) {
        return ~std::uint64_t{0};  // its sources may be filtered
    }
    return rank <= 0 ? 0 : kLarger * H5Tget_size(type) * volume(Sizes(dims, dims + rank));
}

void Reading::dataset(Random& random, Session& session, const FileAccess& access) {
    if (datasets_.empty()) {
        return;
    }
    const std::size_t object = datasets_[random.below(datasets_.size())];
    const ObjectValue& value = tree_.objects[object];
    const std::string path = tree_.path_of(object);
    if (path == "?") {
        return;
    }
    const Id theirs = DIFFERENTIAL_ID(H5Dopen2(file_, path.c_str(), H5P_DEFAULT));
    const Id file_type = DIFFERENTIAL_ID(H5Dget_type(theirs));
    const Type memory(random_memory_type(random, DIFFERENTIAL_ID(H5Tget_native_type(file_type, H5T_DIR_ASCEND)), true));
    const Id memory_type = memory.id();
    const std::size_t size = memory.size();
    const Pick pick = Pick::random(random, value.extent.dims, true);
    const Sizes elements = value.extent.count() == 0 ? Sizes() : pick.elements(value.extent.dims);
    if (log_ != nullptr) {
        std::fprintf(log_, "read %s %s as %s\n", path.c_str(), pick.text().c_str(), type_text(memory.view()).c_str());
    }
    auto mine = session.file.root().open_dataset(path);
    if (!mine) {
        differ("open_dataset: " + path + " " + say(*session.library, mine.status()));
    }
    properties(*mine, theirs, path);

    Blob seen(elements.size() * size);
    SelectionSet set(*session.library);
    Status status = Status::ok;
    const Selection selection = pick.view(set, value.extent.dataspace());
    if (random.one_in(2)) {
        status = mine->read(selection, memory.view(), {seen.data(), seen.size()});
    } else {
        // Read into elements scattered over a larger extent in memory.
        const std::uint64_t extent = elements.size() + random.below(1 + elements.size());
        const Pick to = Pick::random_line(random, extent, elements.size());
        const Dataspace line = Dataspace::simple({extent});
        Blob scattered(extent * size);
        SelectionSet none(*session.library);
        status = mine->read(selection, memory.view(), line, to.view(none, line), {scattered.data(), scattered.size()});
        const Sizes places = to.elements({extent});
        for (std::size_t i = 0; i < places.size(); ++i) {
            std::copy_n(scattered.begin() + static_cast<std::ptrdiff_t>(places[i] * size), size,
                        seen.begin() + static_cast<std::ptrdiff_t>(i * size));
        }
    }
    if (status == Status::over_budget && filtered_chunk(theirs) > access.chunk_cache) {
        return;
    }
    if (status != Status::ok) {
        differ("read: " + path + " " + say(*session.library, status));
    }
    Blob whole(value.extent.count() * size);
    if (!whole.empty()) {
        const Alone alone;
        DIFFERENTIAL_OK(H5Dread(theirs, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, whole.data()));
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
        Blob expected;
        Blob found;
        flatten(memory_type, whole.data() + elements[i] * size, expected);
        flatten(memory_type, seen.data() + i * size, found);
        if (expected != found) {
            differ("value: " + path + " element " + std::to_string(elements[i]) + " of " +
                   type_text(value.type.view()) + " as " + type_text(memory.view()));
        }
    }
    release_values(memory_type, value.extent.count(), whole);
    if (contains_class(memory.view(), TypeClass::variable_length)) {
        status = reclaim(*session.library, memory.view(), elements.size(), size, seen.data());
        if (status != Status::ok) {
            differ("reclaim: " + say(*session.library, status));
        }
    }
    ++operations_;
}

// Compares the links and attributes of a random object, in an order that both libraries define.
void Reading::orders(Random& random, Session& session) {
    const std::size_t object = random.below(tree_.objects.size());
    const std::string path = tree_.path_of(object);
    if (path == "?") {
        return;
    }
    const ObjectValue& value = tree_.objects[object];
    const bool decreasing = random.one_in(2);
    const Direction direction = decreasing ? Direction::decreasing : Direction::increasing;
    auto mine = session.file.root().open_object(path.empty() ? "/" : path);
    if (!mine) {
        differ("open_object: " + path + " " + say(*session.library, mine.status()));
    }
    std::vector<std::string> expected;
    for (const auto& entry : value.attributes) {
        expected.push_back(entry.first);
    }
    std::vector<std::string> found;
    AttributeIterator attributes(*mine, IndexOrder::name, direction);
    Attribute attribute;
    Status status = Status::ok;
    while ((status = attributes.next(attribute)) == Status::ok) {
        found.emplace_back(attribute.name());
    }
    if (decreasing) {
        std::reverse(expected.begin(), expected.end());
    }
    if (status != Status::not_found || found != expected) {
        differ("attributes: of " + path + " in another order, " + say(*session.library, status));
    }
    ++operations_;
    if (value.kind != ObjectValue::Kind::group) {
        return;
    }
    expected.clear();
    found.clear();
    const bool creation = value.ordered && random.one_in(2);
    if (creation) {
        expected = value.order;
    } else {
        for (const auto& entry : value.links) {
            expected.push_back(entry.first);
        }
    }
    if (decreasing) {
        std::reverse(expected.begin(), expected.end());
    }
    auto group = Group::from(static_cast<Object&&>(*mine));
    if (!group) {
        differ("group: " + path + " " + say(*session.library, group.status()));
    }
    LinkIterator links(*group, creation ? IndexOrder::creation : IndexOrder::name, direction);
    Link link;
    while ((status = links.next(link)) == Status::ok) {
        found.emplace_back(link.name());
        const LinkValue& known = value.links.at(found.back());
        if (known.soft != (link.type() == LinkType::soft) || known.path != (known.soft ? link.target() : "")) {
            differ("links: " + path + "/" + found.back() + " leads elsewhere");
        }
    }
    if (status != Status::not_found || found != expected) {
        differ("links: of " + path + " in another order, " + say(*session.library, status));
    }
}

void Reading::run(Random& random) {
    FileAccess access;
    access.read_only = random.one_in(2);
    access.metadata_cache = random.pick<std::size_t>({1024, 1536, 2048, 4096, 16384, 1 << 20});
    access.chunk_cache = random.pick<std::size_t>({256, 1024, 4096, 16384, 65536, 1 << 20});
    access.read_only = true;
    if (log_ != nullptr) {
        std::fprintf(log_, "session: metadata cache %zu, chunk cache %zu\n", access.metadata_cache, access.chunk_cache);
    }
    Session session(image_, access, random.one_in(2));
    for (std::uint64_t i = random.between(1, 6); i-- > 0;) {
        random.one_in(4) ? orders(random, session) : dataset(random, session, access);
    }
    session.end();
}

}  // namespace

std::vector<Step> random_reading_steps(std::uint64_t seed) {
    Random random(seed ^ 0x2545f491);
    constexpr StepKind kOften[] = {StepKind::create_dataset, StepKind::create_dataset, StepKind::write,
                                   StepKind::set_extent, StepKind::attribute};
    std::vector<Step> steps;
    for (std::uint64_t i = 2 + random.small(40); i-- > 0;) {
        const StepKind kind = random.one_in(3)
                                  ? static_cast<StepKind>(random.below(static_cast<int>(StepKind::reopen) + 1))
                                  : kOften[random.below(sizeof kOften / sizeof *kOften)];
        if (kind != StepKind::read) {
            steps.push_back({kind, random.next()});
        }
    }
    for (std::uint64_t i = random.between(4, 20); i-- > 0;) {
        steps.push_back({StepKind::read, random.next()});
    }
    return steps;
}

WritingCounts run_reading(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options) {
    WritingCounts counts;
    std::size_t at = 0;
    const auto made = [&]() -> std::optional<Blob> {
        // A file that libhdf5 cannot finish, or cannot read itself, is not compared.
        const Alone alone;
        try {
            Random random(seed);
            FileMaker maker(random, options.log);
            for (; at < steps.size() && steps[at].kind != StepKind::read; ++at) {
                maker.run(steps[at]);
            }
            Blob image = maker.finish();
            (void)read_libhdf5(read_image(image));
            return image;
        } catch (const Difference&) {
            return std::nullopt;
        }
    }();
    if (!made) {
        counts.refused = 1;
        return counts;
    }
    Reading reading(*made, options.log);
    for (; at < steps.size(); ++at) {
        Random own(steps[at].seed);
        reading.run(own);
    }
    counts.operations = reading.operations();
    return counts;
}

}  // namespace differential
