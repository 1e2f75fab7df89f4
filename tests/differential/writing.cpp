#include "writing.hpp"

#include "selection.hpp"
#include "storage.hpp"
#include "tree.hpp"

#include <h5mote/arena.hpp>
#include <h5mote/attribute.hpp>
#include <h5mote/check.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <algorithm>
#include <cstdarg>
#include <optional>

namespace differential {
namespace {

using namespace h5mote;

constexpr std::uint64_t kMostBytes = 60000;  // of one dataset
constexpr const Filter* kFilters[] = {&shuffle_filter, &deflate_filter, &fletcher32_filter};

// One session of h5mote: memory, library, file and the handles that stay open. In an arena or with malloc.
struct Session {
    Session(Random& random, Driver& storage) : driver(storage) {
        if (random.one_in(2)) {
            memory.resize(1 << 18);
            arena.emplace(Bytes{reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8});
        }
        access.metadata_cache = random.pick<std::size_t>({1024, 1536, 2048, 4096, 16384, 262144});
        access.chunk_cache = random.pick<std::size_t>({256, 481, 1024, 4096, 16384, 1 << 20});
    }
    Allocator& allocator() { return arena ? static_cast<Allocator&>(*arena) : heap; }

    std::vector<std::uint64_t> memory;
    std::optional<Arena> arena;
    MallocAllocator heap;
    NullPort port;
    std::optional<Library> library;
    Driver& driver;
    FileAccess access;
    File file;
    std::map<std::size_t, Dataset> datasets;  // by the object of the model
};

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

class Writing {
public:
    Writing(std::uint64_t seed, const WritingOptions& options) : random_(seed), options_(options) {
        name_ = options.storage;
        if (name_.empty()) {
            name_ = kStorages[random_.below(sizeof kStorages / sizeof *kStorages)];
        }
        storage_ = make_storage(name_, random_);
        if (storage_ == nullptr) {
            differ("storage: unknown");
        }
        tell("storage %s\n", name_.c_str());
        start();
    }
    void run(const Step& step);
    void finish() { (void)end(); }
    const WritingCounts& counts() const noexcept { return counts_; }

private:
    [[gnu::format(printf, 2, 3)]] void tell(const char* format, ...) const {
        if (options_.log != nullptr) {
            std::va_list arguments;
            va_start(arguments, format);
            std::vfprintf(options_.log, format, arguments);
            va_end(arguments);
            std::fflush(options_.log);
        }
    }
    Library& library() { return *session_->library; }

    void start();
    Blob end();
    void reopen(Random& random);
    // False: unsupported.
    bool open(Random& random, bool create, const FileCreate& properties);
    void verify(const Blob& image, const std::string& who);

    // Whether h5mote did it; throws when it may not refuse.
    bool done(Status status, const std::string& what, std::initializer_list<Status> allowed = {});
    std::size_t any_object(Random& random, bool (*fits)(const ObjectValue&), bool& found) const;
    std::string new_name(Random& random) const;
    Dataset* dataset(std::size_t object);
    Id other(std::size_t object, hid_t file) const;

    void create_group(Random& random);
    void create_dataset(Random& random);
    void append(Random& random);
    void write(Random& random);
    void read(Random& random);
    void set_extent(Random& random);
    void attribute(Random& random);
    void remove_attribute(Random& random);
    void soft_link(Random& random);
    void hard_link(Random& random);
    void unlink(Random& random);
    void close_dataset(Random& random);

    void link(std::size_t group, const std::string& name, const LinkValue& value);
    void grow(ObjectValue& value, const Sizes& dims);
    void put(ObjectValue& value, const Sizes& elements, hid_t memory_type, const Blob& data);
    void put_libhdf5(std::size_t object, const Sizes& elements, hid_t memory_type, const Blob& data);

    Random random_;
    WritingOptions options_;
    WritingCounts counts_;
    std::string name_;
    std::unique_ptr<Storage> storage_;
    std::optional<Session> session_;
    Bounds bounds_;
    Id file_;
    Tree model_;
    // What new elements of each dataset hold: one element, and whether it is known.
    std::map<std::size_t, std::pair<Blob, std::byte>> fills_;
};

bool is_group(const ObjectValue& value) { return value.kind == ObjectValue::Kind::group; }
bool is_dataset(const ObjectValue& value) { return value.kind == ObjectValue::Kind::dataset; }
bool is_any(const ObjectValue&) { return true; }

bool Writing::open(Random& random, bool create, const FileCreate& properties) {
    session_.emplace(random, storage_->open());
    session_->library.emplace(session_->allocator(), session_->port, kFilters);
    tell("session: %s, metadata cache %zu, chunk cache %zu\n", session_->arena ? "arena" : "malloc",
         session_->access.metadata_cache, session_->access.chunk_cache);
    const auto attempt = [&] {
        auto opened = create ? File::create(library(), session_->driver, session_->access, properties)
                             : File::open(library(), session_->driver, session_->access);
        session_->file = static_cast<File&&>(*opened);
        return opened.status();
    };
    Status status = attempt();
    if (status == Status::over_budget) {
        tell("  over budget, now with 256 KiB\n");
        session_->access.metadata_cache = 262144;
        status = attempt();
    }
    if (status != Status::ok && status != Status::unsupported) {
        differ("open: " + say(library(), status));
    }
    return status == Status::ok;
}

void Writing::start() {
    bounds_.low = random_.pick({H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110, H5F_LIBVER_V110});
    FileCreate properties;
    properties.sizeof_addr = random_.pick<std::uint8_t>({4, 8, 8});
    properties.superblock_version = random_.pick<std::uint8_t>({2, 2, 3});
    (void)open(random_, true, properties);
    file_ = create_image(bounds_);
}

void Writing::verify(const Blob& image, const std::string& who) {
    if (options_.log != nullptr) {
        if (std::FILE* const file = std::fopen((who.substr(who.rfind(' ') + 1) + ".failed.h5").c_str(), "wb")) {
            (void)std::fwrite(image.data(), 1, image.size(), file);
            std::fclose(file);
        }
    }
    {
        const Id file = read_image(image);
        compare(model_, read_libhdf5(file), who + " read by libhdf5");
    }
    MallocAllocator heap;
    {
        NullPort port;
        Library library(heap, port, kFilters);
        MemoryDriver driver = MemoryDriver::reading({image.data(), image.size()});
        FileAccess access;
        access.read_only = true;
        access.metadata_cache = 1 << 18;
        access.chunk_cache = 1 << 20;
        auto file = File::open(library, driver, access);
        if (!file) {
            differ(who + " read by h5mote: open " + say(library, file.status()));
        }
        compare(model_, read_h5mote(library, *file), who + " read by h5mote");
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

// Ends the session and compares; the file of libhdf5.
Blob Writing::end() {
    // What a destructor cannot say, the file's close() does.
    for (auto& entry : session_->datasets) {
        const Status closed = random_.one_in(2) ? entry.second.close() : Status::ok;
        if (closed != Status::ok) {
            differ("close dataset: " + say(library(), closed));
        }
    }
    session_->datasets.clear();
    const Status status = session_->file.close();
    if (status != Status::ok) {
        differ("close: " + say(library(), status));
    }
    library().garbage_collect();
    if (session_->allocator().usage().now != 0) {
        differ("memory: the session left " + std::to_string(session_->allocator().usage().now) + " bytes behind");
    }
    session_.reset();
    storage_->close();
    const Blob other = close_image(file_);
    const Blob mine = storage_->contents();
    verify(mine, "the file of h5mote");
    verify(other, "the file of libhdf5");
    return other;
}

void Writing::reopen(Random& random) {
    const bool swap = random.one_in(2);
    tell("close, %s\n", swap ? "exchange the files, open" : "open");
    const Blob other = end();
    const Blob mine = storage_->contents();
    if (swap) {
        storage_->load(other);
        if (open(random, false, {})) {
            file_ = open_image(mine, bounds_);
            return;
        }
        // A file in a format that h5mote only reads.
        session_.reset();
        storage_->close();
        storage_->load(mine);
    }
    file_ = open_image(other, bounds_);
    if (!open(random, false, {})) {
        differ("open: h5mote refuses its own file");
    }
}

bool Writing::done(Status status, const std::string& what, std::initializer_list<Status> allowed) {
    if (status == Status::ok) {
        ++counts_.operations;
        return true;
    }
    tell("  refused: %s\n", say(library(), status).c_str());
    ++counts_.refused;
    if (status != Status::unsupported && status != Status::over_budget &&
        std::find(allowed.begin(), allowed.end(), status) == allowed.end()) {
        differ(what + ": " + say(library(), status));
    }
    library().trail().clear();
    return false;
}

std::size_t Writing::any_object(Random& random, bool (*fits)(const ObjectValue&), bool& found) const {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < model_.objects.size(); ++i) {
        if (fits(model_.objects[i]) && model_.path_of(i) != "?") {
            candidates.push_back(i);
        }
    }
    found = !candidates.empty();
    return found ? candidates[random.below(candidates.size())] : 0;
}

std::string Writing::new_name(Random& random) const {
    std::string name = random.pick<const char*>({"a", "b", "log", "data", "\xc3\xa4\xc3\xb6", "x"});
    name += std::to_string(random.below(30));
    if (random.one_in(10)) {
        name.append(random.below(200), '_');
    }
    return name;
}

Dataset* Writing::dataset(std::size_t object) {
    const auto open = session_->datasets.find(object);
    if (open != session_->datasets.end()) {
        return &open->second;
    }
    auto opened = session_->file.root().open_dataset(model_.path_of(object));
    if (!done(opened.status(), "open_dataset")) {
        return nullptr;
    }
    return &session_->datasets.emplace(object, static_cast<Dataset&&>(*opened)).first->second;
}

Id Writing::other(std::size_t object, hid_t file) const {
    return DIFFERENTIAL_ID(H5Oopen(file, object == 0 ? "/" : model_.path_of(object).c_str(), H5P_DEFAULT));
}

void Writing::link(std::size_t group, const std::string& name, const LinkValue& value) {
    model_.objects[group].links[name] = value;
    model_.objects[group].order.push_back(name);
}

void Writing::create_group(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    GroupCreate create;
    create.track_link_order = random.one_in(3);
    tell("create_group %s%s\n", path.c_str(), create.track_link_order ? ", ordered" : "");
    const bool exists = model_.objects[parent].links.count(name) != 0;
    auto made = session_->file.root().create_group(path, create);
    if (exists) {
        if (made.status() != Status::already_exists && made.status() != Status::unsupported) {
            differ("create_group: an existing name gives " + say(library(), made.status()));
        }
        return;
    }
    if (!done(made.status(), "create_group")) {
        return;
    }
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_GROUP_CREATE));
    if (create.track_link_order) {
        DIFFERENTIAL_OK(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    }
    DIFFERENTIAL_ID(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, list, H5P_DEFAULT));
    link(parent, name, {false, "", model_.objects.size()});
    model_.objects.emplace_back();
    model_.objects.back().ordered = create.track_link_order;
}

ChunkDims chunk_dims(const std::vector<std::uint32_t>& dims) {
    switch (dims.size()) {
        case 0:
            return {};
        case 1:
            return {dims[0]};
        case 2:
            return {dims[0], dims[1]};
        case 3:
            return {dims[0], dims[1], dims[2]};
        default:
            return {dims[0], dims[1], dims[2], dims[3]};
    }
}

struct NewDataset {
    Type type;
    Extent extent;
    std::vector<std::uint32_t> chunk;
    unsigned filters = 0;  // bits: shuffle, deflate, fletcher32
    bool compact = false;
    Blob fill;
    AllocationTime allocation = AllocationTime::automatic;
    FillTime fill_time = FillTime::if_set;
    std::uint32_t reserve = 65536;

    explicit NewDataset(Random& random);
    std::string text() const;
    DatasetCreate create() const;
    Id list() const;
};

NewDataset::NewDataset(Random& random) {
    TypeChoice choice;
    choice.depth = random.one_in(2) ? 0 : 3;
    type = Type(random_type(random, choice));
    const bool log = random.one_in(2);
    const std::uint64_t rank = log ? 1 : random.pick<std::uint64_t>({0, 1, 1, 2, 2, 3, 4});
    extent.space_class = rank == 0 ? DataspaceClass::scalar : DataspaceClass::simple;
    const bool chunked = log || (rank != 0 && !random.one_in(3));
    const bool fixed = !log && random.one_in(2);
    const std::uint64_t unlimited = random.below(rank + 1);
    for (std::uint64_t d = 0; d < rank; ++d) {
        const std::uint64_t dim = rank == 1 ? random.small(400) : random.between(d == 0 ? 0 : 1, rank == 2 ? 12 : 5);
        extent.dims.push_back(dim);
        const bool grows = d == unlimited || (log && d == 0);
        extent.max_dims.push_back(!chunked || fixed ? dim : grows ? h5mote::kUnlimited : dim + random.below(20));
        if (chunked && fixed && random.one_in(3)) {
            extent.max_dims.back() += random.below(400);
        }
        if (chunked) {
            const std::uint64_t most = extent.max_dims.back() == h5mote::kUnlimited
                                           ? 200
                                           : std::min<std::uint64_t>(extent.max_dims.back(), 200);
            chunk.push_back(static_cast<std::uint32_t>(1 + random.small(std::max<std::uint64_t>(most, 1) - 1)));
        }
    }
    compact = !chunked && random.one_in(3);
    if (chunked && random.one_in(3)) {
        filters = static_cast<unsigned>(random.between(1, 7));
    }
    if (random.one_in(3)) {
        fill = random_values(random, type.id(), 1);
    }
    if (random.one_in(2)) {
        allocation = chunked ? random.pick({AllocationTime::early, AllocationTime::late, AllocationTime::incremental})
                             : random.pick({AllocationTime::early, AllocationTime::late});
    }
    if (compact) {
        allocation = AllocationTime::automatic;
    }
    if (random.one_in(3)) {
        fill_time = random.pick({FillTime::on_allocation, FillTime::never, FillTime::if_set});
    }
    reserve = random.pick({0U, 0U, 300U, 65536U});
}

std::string NewDataset::text() const {
    std::string text = type_text(type.view()) + " " + text_of(extent.dims) + text_of(extent.max_dims) + " chunk " +
                       text_of(Sizes(chunk.begin(), chunk.end()));
    return text + " filters " + std::to_string(filters) + (compact ? " compact" : "") + " fill " +
           std::to_string(fill.size()) + " allocation " + std::to_string(static_cast<int>(allocation)) + " fill time " +
           std::to_string(static_cast<int>(fill_time)) + " reserve " + std::to_string(reserve);
}

DatasetCreate NewDataset::create() const {
    DatasetCreate create;
    create.layout = compact ? Layout::compact : Layout::automatic;
    create.chunk = chunk_dims(chunk);
    const FilterSpec specs[] = {filters::shuffle, filters::deflate, filters::fletcher32};
    const FilterSpec* chosen[3] = {};
    unsigned count = 0;
    for (unsigned i = 0; i < 3; ++i) {
        if ((filters >> i & 1U) != 0) {
            chosen[count++] = &specs[i];
        }
    }
    create.filters = count == 0   ? FilterList{}
                     : count == 1 ? FilterList{*chosen[0]}
                     : count == 2 ? FilterList{*chosen[0], *chosen[1]}
                                  : FilterList{*chosen[0], *chosen[1], *chosen[2]};
    create.fill = {fill.data(), fill.size()};
    create.allocation = allocation;
    create.fill_time = fill_time;
    create.reserve = reserve;
    return create;
}

Id NewDataset::list() const {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    if (!chunk.empty()) {
        const std::vector<hsize_t> dims(chunk.begin(), chunk.end());
        DIFFERENTIAL_OK(H5Pset_chunk(list, static_cast<int>(dims.size()), dims.data()));
    }
    if (compact) {
        DIFFERENTIAL_OK(H5Pset_layout(list, H5D_COMPACT));
    }
    if ((filters & 1U) != 0) {
        DIFFERENTIAL_OK(H5Pset_shuffle(list));
    }
    if ((filters & 2U) != 0) {
        DIFFERENTIAL_OK(H5Pset_deflate(list, 6));
    }
    if ((filters & 4U) != 0) {
        DIFFERENTIAL_OK(H5Pset_fletcher32(list));
    }
    if (!fill.empty()) {
        DIFFERENTIAL_OK(H5Pset_fill_value(list, type.id(), fill.data()));
    }
    const H5D_alloc_time_t times[] = {H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE,
                                      H5D_ALLOC_TIME_INCR};
    DIFFERENTIAL_OK(H5Pset_alloc_time(list, times[static_cast<int>(allocation)]));
    const H5D_fill_time_t fills[] = {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_NEVER, H5D_FILL_TIME_IFSET};
    // libhdf5 leaves in a contiguous dataset without a fill value of its own what the file held there.
    const bool leaves = chunk.empty() && fill_time == FillTime::if_set && fill.empty();
    DIFFERENTIAL_OK(H5Pset_fill_time(list, leaves ? H5D_FILL_TIME_ALLOC : fills[static_cast<int>(fill_time)]));
    return list;
}

void Writing::create_dataset(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    const NewDataset what(random);
    tell("create_dataset %s %s\n", path.c_str(), what.text().c_str());
    const bool exists = model_.objects[parent].links.count(name) != 0;
    auto made = session_->file.root().create_dataset(path, what.type.view(), what.extent.dataspace(), what.create());
    if (exists) {
        if (made.status() != Status::already_exists && made.status() != Status::unsupported) {
            differ("create_dataset: an existing name gives " + say(library(), made.status()));
        }
        return;
    }
    // An early dataset of no size, and chunks larger than what may ever be there, are refused by both.
    if (!done(made.status(), "create_dataset")) {
        return;
    }
    const Id created = DIFFERENTIAL_ID(
        H5Dcreate2(file_, path.c_str(), what.type.id(), what.extent.id(), H5P_DEFAULT, what.list(), H5P_DEFAULT));
    const std::size_t object = model_.objects.size();
    link(parent, name, {false, "", object});
    model_.objects.emplace_back();
    ObjectValue& value = model_.objects.back();
    value.kind = ObjectValue::Kind::dataset;
    value.type = what.type;
    value.extent = what.extent;
    const std::byte known = what.fill_time == FillTime::never ? std::byte{0} : std::byte{0xff};
    fills_[object] = {what.fill.empty() ? Blob(what.type.size()) : what.fill, known};
    const std::uint64_t count = value.extent.count();
    for (std::uint64_t i = 0; i < count; ++i) {
        value.values.insert(value.values.end(), fills_[object].first.begin(), fills_[object].first.end());
    }
    value.known.assign(value.values.size(), known);
    if (random.one_in(2)) {
        session_->datasets.emplace(object, static_cast<Dataset&&>(*made));
    }
}

// The model's elements stay where they are in the new extent.
void Writing::grow(ObjectValue& value, const Sizes& dims) {
    const auto object = static_cast<std::size_t>(&value - model_.objects.data());
    const auto& [fill, known] = fills_[object];
    const std::size_t size = value.type.size();
    const Sizes before = value.extent.dims;
    Blob values;
    const std::uint64_t count = volume(dims);
    values.reserve(count * size);
    for (std::uint64_t i = 0; i < count; ++i) {
        values.insert(values.end(), fill.begin(), fill.end());
    }
    Blob mask(values.size(), known);
    for (std::uint64_t i = 0; i < volume(before); ++i) {
        std::uint64_t rest = i;
        std::uint64_t to = 0;
        std::uint64_t scale = 1;
        for (std::size_t d = dims.size(); d-- > 0;) {
            to += rest % before[d] * scale;
            rest /= before[d];
            scale *= dims[d];
        }
        std::copy_n(value.values.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    values.begin() + static_cast<std::ptrdiff_t>(to * size));
        std::copy_n(value.known.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    mask.begin() + static_cast<std::ptrdiff_t>(to * size));
    }
    value.values = std::move(values);
    value.known = std::move(mask);
    value.extent.dims = dims;
}

// Into the model. libhdf5 converts; what it leaves of the background shows which bytes became known.
void Writing::put(ObjectValue& value, const Sizes& elements, hid_t memory_type, const Blob& data) {
    const std::size_t size = value.type.size();
    const Id type = value.type.id();
    Blob before(elements.size() * size);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        std::copy_n(value.values.begin() + static_cast<std::ptrdiff_t>(elements[i] * size), size,
                    before.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    const Blob after = convert(memory_type, type, data, elements.size(), before);
    // A byte that comes out the same before two backgrounds was written.
    const std::size_t memory_size = H5Tget_size(memory_type);
    Blob written(size, std::byte{0xff});
    if (!elements.empty()) {
        const Blob one(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(memory_size));
        const Blob zeros = convert(memory_type, type, one, 1, Blob(size));
        const Blob ones = convert(memory_type, type, one, 1, Blob(size, std::byte{0xff}));
        for (std::size_t i = 0; i < size; ++i) {
            written[i] = zeros[i] == ones[i] ? std::byte{0xff} : std::byte{0};
        }
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
        for (std::size_t b = 0; b < size; ++b) {
            value.values[elements[i] * size + b] = after[i * size + b];
            value.known[elements[i] * size + b] |= written[b];
        }
    }
}

void Writing::put_libhdf5(std::size_t object, const Sizes& elements, hid_t memory_type, const Blob& data) {
    const Id dataset = other(object, file_);
    const Id space = select_elements(model_.objects[object].extent.dims, elements);
    const hsize_t count = elements.size();
    const Id memory = DIFFERENTIAL_ID(H5Screate_simple(1, &count, nullptr));
    if (count == 0) {
        return;
    }
    // Where space is allocated late, libhdf5 1.10 leaves the fill value out of what an edge chunk has beyond the extent
    // when the first write covers all of that (libhdf5_faults.cpp).
    if (elements.size() == model_.objects[object].extent.count()) {
        const hsize_t one = 1;
        DIFFERENTIAL_OK(H5Dwrite(dataset, memory_type, DIFFERENTIAL_ID(H5Screate_simple(1, &one, nullptr)),
                                 select_elements(model_.objects[object].extent.dims, {elements[0]}), H5P_DEFAULT,
                                 data.data()));
    }
    const std::vector<Sizes> before = raw_sized_chunks(dataset);
    DIFFERENTIAL_OK(H5Dwrite(dataset, memory_type, memory, space, H5P_DEFAULT, data.data()));
    for (const Sizes& chunk : raw_sized_chunks(dataset)) {
        if (std::find(before.begin(), before.end(), chunk) != before.end()) {
            throw Spoiled{};
        }
    }
}

bool is_log(const ObjectValue& value) {
    return is_dataset(value) && value.extent.dims.size() == 1 && value.extent.max_dims[0] > value.extent.dims[0];
}

void Writing::append(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_log, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    const std::uint64_t before = value.extent.dims[0];
    const std::uint64_t room =
        std::min(value.extent.max_dims[0] - before,
                 (kMostBytes - std::min(kMostBytes, before * value.type.size())) / value.type.size());
    std::uint64_t count = std::min<std::uint64_t>(random.small(300), room);
    const Type memory(random_memory_type(random, value.type.id(), true));
    const Id memory_type = memory.id();
    const Blob data = random_values(random, memory_type, count);
    tell("append %s %llu as %s\n", model_.path_of(object).c_str(), static_cast<unsigned long long>(count),
         type_text(memory.view()).c_str());
    Dataset* const to = dataset(object);
    if (to == nullptr || !done(to->set_memory_type(memory.view()), "set_memory_type", {Status::type_mismatch})) {
        return;
    }
    const Status status = to->append_records(data.data(), count);
    const std::uint64_t now = to->size();
    if (now < before || now > before + count || (status == Status::ok && now != before + count)) {
        differ("append: the size is " + std::to_string(now) + " after " + say(library(), status));
    }
    (void)done(status, "append");
    count = now - before;
    const hsize_t dims[] = {now};
    DIFFERENTIAL_OK(H5Dset_extent(other(object, file_), dims));
    grow(value, {now});
    Sizes elements(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        elements[i] = before + i;
    }
    put(value, elements, memory_type, data);
    put_libhdf5(object, elements, memory_type, data);
}

void Writing::write(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_dataset, found);
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
    // Packed, or scattered over a larger extent in memory.
    const bool packed = random.one_in(2);
    const std::uint64_t extent = elements.size() + random.below(1 + elements.size());
    const Pick from = Pick::random_line(random, extent, elements.size());
    tell("%s%s\n", packed ? "" : " from ", packed ? "" : from.text().c_str());
    Dataset* const to = dataset(object);
    if (to == nullptr) {
        return;
    }
    SelectionSet set(library());
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
        SelectionSet none(library());
        const Dataspace line = Dataspace::simple({extent});
        status = to->write(selection, memory.view(), line, from.view(none, line), {scattered.data(), scattered.size()});
    }
    if (done(status, "write", {Status::type_mismatch})) {
        put(value, elements, memory_type, data);
        put_libhdf5(object, elements, memory_type, data);
        return;
    }
    // A part may have been written.
    const std::size_t size = value.type.size();
    for (const std::uint64_t element : elements) {
        std::fill_n(value.known.begin() + static_cast<std::ptrdiff_t>(element * size), size, std::byte{0});
    }
}

void Writing::read(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_dataset, found);
    if (!found) {
        return;
    }
    const ObjectValue& value = model_.objects[object];
    const Pick pick = Pick::random(random, value.extent.dims, true);
    const Sizes elements = pick.elements(value.extent.dims);
    tell("read %s %s\n", model_.path_of(object).c_str(), pick.text().c_str());
    Dataset* const from = dataset(object);
    if (from == nullptr) {
        return;
    }
    SelectionSet set(library());
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

bool can_grow(const ObjectValue& value) { return is_dataset(value) && value.extent.dims != value.extent.max_dims; }

void Writing::set_extent(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, can_grow, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    Sizes dims = value.extent.dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        dims[d] += std::min(value.extent.max_dims[d] - dims[d], random.small(dims.size() == 1 ? 200 : 6));
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
    DIFFERENTIAL_OK(H5Dset_extent(other(object, file_), now.data()));
    grow(value, dims);
}

void Writing::attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(random, is_any, found);
    ObjectValue& value = model_.objects[object];
    const std::string name = "at" + std::to_string(random.below(12));
    const auto old = value.attributes.find(name);
    AttributeValue made;
    if (old != value.attributes.end() && random.one_in(2)) {
        made.type = old->second.type;
        made.extent = old->second.extent;
    } else {
        TypeChoice choice;
        choice.depth = 2;
        made.type = Type(random_type(random, choice));
        const std::uint64_t rank = random.below(3);
        made.extent.space_class =
            rank == 0 ? random.pick({DataspaceClass::scalar, DataspaceClass::scalar, DataspaceClass::null})
                      : DataspaceClass::simple;
        for (std::uint64_t d = 0; d < rank; ++d) {
            made.extent.dims.push_back(random.between(1, random.one_in(8) ? 30 : 3));
        }
        made.extent.max_dims = made.extent.dims;
    }
    made.values = random_values(random, made.type.id(), made.extent.count());
    tell("attribute %s@%s %s %s\n", model_.path_of(object).c_str(), name.c_str(), type_text(made.type.view()).c_str(),
         text_of(made.extent.dims).c_str());
    auto opened = session_->file.root().open_object(object == 0 ? "/" : model_.path_of(object));
    if (!done(opened.status(), "open_object")) {
        return;
    }
    const Status status = opened->write_attribute(name, made.type.view(), made.extent.dataspace(),
                                                  {made.values.data(), made.values.size()});
    const bool same = old != value.attributes.end() && made.extent == old->second.extent &&
                      h5mote::equal(made.type.view(), old->second.type.view());
    const Status mismatch = old != value.attributes.end() && !same ? Status::type_mismatch : Status::unsupported;
    if (!done(status, "write_attribute", {mismatch})) {
        return;
    }
    const Id to = other(object, file_);
    if (old != value.attributes.end()) {
        DIFFERENTIAL_OK(H5Adelete(to, name.c_str()));
    }
    const Id type = made.type.id();
    const Id attribute =
        DIFFERENTIAL_ID(H5Acreate2(to, name.c_str(), type, made.extent.id(), H5P_DEFAULT, H5P_DEFAULT));
    if (!made.values.empty()) {
        DIFFERENTIAL_OK(H5Awrite(attribute, type, made.values.data()));
    }
    value.attributes[name] = made;
}

void Writing::remove_attribute(Random& random) {
    bool found = false;
    const std::size_t object = any_object(
        random, [](const ObjectValue& value) { return !value.attributes.empty(); }, found);
    if (!found) {
        return;
    }
    ObjectValue& value = model_.objects[object];
    auto at = value.attributes.begin();
    std::advance(at, random.below(value.attributes.size()));
    tell("remove_attribute %s@%s\n", model_.path_of(object).c_str(), at->first.c_str());
    auto opened = session_->file.root().open_object(object == 0 ? "/" : model_.path_of(object));
    if (!done(opened.status(), "open_object") || !done(opened->remove_attribute(at->first), "remove_attribute")) {
        return;
    }
    DIFFERENTIAL_OK(H5Adelete(other(object, file_), at->first.c_str()));
    value.attributes.erase(at);
}

void Writing::soft_link(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::string name = new_name(random);
    // libhdf5 takes needless slashes out of what a soft link says.
    std::string target = random.one_in(2) ? "/no/where" : model_.path_of(any_object(random, is_any, found));
    target = target.empty() ? "/" : target;
    const std::string path = model_.path_of(parent) + "/" + name;
    if (model_.objects[parent].links.count(name) != 0) {
        return;
    }
    tell("soft_link %s to %s\n", path.c_str(), target.c_str());
    if (done(session_->file.root().create_soft_link(path, target), "create_soft_link")) {
        DIFFERENTIAL_OK(H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
        link(parent, name, {true, target, 0});
    }
}

void Writing::hard_link(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(random, is_group, found);
    const std::size_t object = any_object(random, is_any, found);
    const std::string name = new_name(random);
    const std::string path = model_.path_of(parent) + "/" + name;
    // No circles: deleting a group within itself leaves both libraries with what nobody can reach.
    if (model_.objects[parent].links.count(name) != 0 || is_group(model_.objects[object])) {
        return;
    }
    tell("hard_link %s to %s\n", path.c_str(), model_.path_of(object).c_str());
    auto opened = session_->file.root().open_object(model_.path_of(object));
    if (!done(opened.status(), "open_object") ||
        !done(session_->file.root().create_hard_link(path, *opened), "create_hard_link")) {
        return;
    }
    DIFFERENTIAL_OK(
        H5Lcreate_hard(file_, model_.path_of(object).c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
    link(parent, name, {false, "", object});
}

void Writing::unlink(Random& random) {
    bool found = false;
    const std::size_t parent = any_object(
        random, [](const ObjectValue& value) { return is_group(value) && !value.links.empty(); }, found);
    if (!found) {
        return;
    }
    auto at = model_.objects[parent].links.begin();
    std::advance(at, random.below(model_.objects[parent].links.size()));
    const std::string name = at->first;
    const LinkValue value = at->second;
    const std::string path = model_.path_of(parent) + "/" + name;
    bool busy = false;
    if (!value.soft && model_.links_to(value.object) == 1) {
        busy = !model_.objects[value.object].links.empty();
        if (random.one_in(2)) {
            session_->datasets.erase(value.object);
        }
        busy = busy || session_->datasets.count(value.object) != 0;
    }
    tell("unlink %s%s\n", path.c_str(), busy ? ", busy" : "");
    const Status status = session_->file.root().unlink(path);
    if (busy && status == Status::ok) {
        differ("unlink: an object that is in use went");
    }
    if (!done(status, "unlink", {busy ? Status::busy : Status::unsupported})) {
        return;
    }
    DIFFERENTIAL_OK(H5Ldelete(file_, path.c_str(), H5P_DEFAULT));
    ObjectValue& group = model_.objects[parent];
    group.links.erase(name);
    group.order.erase(std::find(group.order.begin(), group.order.end(), name));
}

void Writing::close_dataset(Random& random) {
    if (session_->datasets.empty()) {
        return;
    }
    auto at = session_->datasets.begin();
    std::advance(at, random.below(session_->datasets.size()));
    tell("close %s\n", model_.path_of(at->first).c_str());
    (void)done(at->second.close(), "close dataset");
    session_->datasets.erase(at);
}

void Writing::run(const Step& step) {
    Random random(step.seed);
    switch (step.kind) {
        case StepKind::create_group:
            return create_group(random);
        case StepKind::create_dataset:
            return create_dataset(random);
        case StepKind::append:
            return append(random);
        case StepKind::write:
            return write(random);
        case StepKind::read:
            return read(random);
        case StepKind::set_extent:
            return set_extent(random);
        case StepKind::attribute:
            return attribute(random);
        case StepKind::remove_attribute:
            return remove_attribute(random);
        case StepKind::soft_link:
            return soft_link(random);
        case StepKind::hard_link:
            return hard_link(random);
        case StepKind::unlink:
            return unlink(random);
        case StepKind::flush: {
            tell("flush\n");
            const Status status = session_->file.flush();
            if (status != Status::ok) {
                differ("flush: " + say(library(), status));
            }
            return;
        }
        case StepKind::close_dataset:
            return close_dataset(random);
        case StepKind::reopen:
            return reopen(random);
    }
}

}  // namespace

std::vector<Step> random_steps(std::uint64_t seed) {
    Random random(seed ^ 0x5bd1e995);
    // More of what changes data; every kind at least sometimes.
    constexpr StepKind kOften[] = {StepKind::append,    StepKind::write,      StepKind::write,
                                   StepKind::read,      StepKind::set_extent, StepKind::create_dataset,
                                   StepKind::attribute, StepKind::flush,      StepKind::close_dataset};
    const std::uint64_t count = 5 + random.small(100);
    std::vector<Step> steps{{StepKind::create_dataset, random.next()}};
    while (steps.size() < count) {
        const StepKind kind = random.one_in(4)
                                  ? static_cast<StepKind>(random.below(static_cast<int>(StepKind::reopen) + 1))
                                  : kOften[random.below(sizeof kOften / sizeof *kOften)];
        steps.push_back({kind, random.next()});
    }
    return steps;
}

WritingCounts run_writing(std::uint64_t seed, const std::vector<Step>& steps, const WritingOptions& options) {
    Writing writing(seed, options);
    try {
        for (const Step& step : steps) {
            writing.run(step);
        }
        writing.finish();
    } catch (const Spoiled&) {
    }
    return writing.counts();
}

}  // namespace differential
