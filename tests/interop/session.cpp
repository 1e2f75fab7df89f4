#include "session.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace h5mote_interop {

using h5mote::ConstBytes;
using h5mote::Dataset;
using h5mote::Dataspace;
using h5mote::DatatypeView;
using h5mote::Status;

namespace {

const h5mote::Filter* const kFilters[] = {
    &h5mote::shuffle_filter, &h5mote::fletcher32_filter,  &h5mote::deflate_filter, &h5mote::szip_filter,
    &h5mote::nbit_filter,    &h5mote::scaleoffset_filter, &h5mote::lzf_filter};

ConstBytes view(const Blob& data) { return {data.data(), data.size()}; }
h5mote::Bytes view(Blob& data) { return {data.data(), data.size()}; }

// Calls `use` with the index of every element of an array of `dims`, in row-major order.
template <typename Use>
void for_each(const Shape& dims, Use use) {
    if (product(dims) == 0) {
        return;
    }
    Shape index(dims.size(), 0);
    for (;;) {
        use(index);
        std::size_t i = dims.size();
        while (i > 0 && ++index[i - 1] == dims[i - 1]) {
            index[--i] = 0;
        }
        if (i == 0) {
            return;
        }
    }
}

std::size_t position(const Shape& dims, const Shape& index) {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        at = at * dims[i] + index[i];
    }
    return static_cast<std::size_t>(at);
}

std::uint64_t part(const Shape& numbers, std::size_t i) { return numbers.empty() ? 1 : numbers[i]; }

}  // namespace

h5mote::Selection Slab::selection() const {
    return h5mote::Selection::hyperslab({start.data(), start.size()}, {count.data(), count.size()},
                                        {stride.data(), stride.size()}, {block.data(), block.size()});
}

void transfer(const Shape& dims, std::size_t element, const Slab& slab, Blob& whole, Blob& packed, bool scatter) {
    Shape selected;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        selected.push_back(slab.count[i] * part(slab.block, i));
    }
    packed.resize(static_cast<std::size_t>(product(selected)) * element);
    std::byte* next = packed.data();
    for_each(selected, [&](const Shape& index) {
        Shape at;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            const std::uint64_t block = part(slab.block, i);
            at.push_back(slab.start[i] + index[i] / block * part(slab.stride, i) + index[i] % block);
        }
        std::byte* const there = whole.data() + position(dims, at) * element;
        std::memcpy(scatter ? there : next, scatter ? next : there, element);
        next += element;
    });
}

Session::Session(const std::string& path, const Options& options)
    : path_(path), options_(options), random_(leaf_of(path)) {
    sidecar_.superblock = std::to_string(options.create.superblock_version);
    Entry& root = sidecar_.add("group", "/");
    if (options.create.track_link_order) {
        root.fields["track_order"] = "1";
    }
    start(true);
}

Session::Session(const std::string& path, const Sidecar& sidecar, const Options& options)
    : path_(path), options_(options), sidecar_(sidecar), random_(leaf_of(path) + "again") {
    start(false);
}

void Session::start(bool create) {
    const std::size_t size = 65536 + options_.chunk_cache;
    memory_.reset(new std::byte[size]);
    arena_.reset(new h5mote::Arena({memory_.get(), size}));
    library_.reset(new h5mote::Library(*arena_, port_, kFilters));
    using Mode = h5mote::PosixDriver::Mode;
    need(posix_.open(path_.c_str(), create ? Mode::truncate : Mode::read_write), "open the storage", path_);
    h5mote::FileAccess access;
    // Some object headers of libhdf5 lie across sector boundaries, so that a change could be torn. Allow that: here the
    // power does not fail.
    access.torn_headers = true;
    access.metadata_cache = options_.metadata_cache;
    access.chunk_cache = options_.chunk_cache;
    h5mote::Result<h5mote::File> file = create ? h5mote::File::create(*library_, counting_, access, options_.create)
                                               : h5mote::File::open(*library_, counting_, access);
    need(file.status(), create ? "create" : "open", path_);
    file_ = std::move(*file);
}

void Session::need(Status status, const char* what, const std::string& path) {
    if (status == Status::ok) {
        return;
    }
    std::fprintf(stderr, "%s: %s %s: %s\n", path_.c_str(), what, path.c_str(), to_string(status));
    for (std::size_t i = 0; i < library_->trail().size(); ++i) {
        const h5mote::ErrorRecord record = library_->trail().newest(i);
        std::fprintf(stderr, "    %s line %u: %s %u %llu\n", to_string(record.module), unsigned{record.line},
                     to_string(record.status), static_cast<unsigned>(record.detail),
                     static_cast<unsigned long long>(record.value));
    }
    die("given up");
}

namespace {

void save(const Sidecar& sidecar, const std::string& path) {
    sidecar.save(path + ".expect");
    std::vector<std::string>& names = Session::written();
    if (std::find(names.begin(), names.end(), path) == names.end()) {
        names.push_back(path);
    }
}

}  // namespace

void Session::close() {
    need(file_.close(), "close", path_);
    need(posix_.close(), "close the storage", path_);
    library_->garbage_collect();
    const std::size_t held = library_->memory_report().total.now;
    if (held != 0 || !arena_->check()) {
        die("%s: %zu bytes are held after close", path_.c_str(), held);
    }
    save(sidecar_, path_);
}

std::vector<std::string>& Session::written() {
    static std::vector<std::string> names;
    return names;
}

void Session::reopen() {
    close();
    start(false);
}

void Session::snapshot(const std::string& path, const Sidecar& expected) {
    const Blob now = read_file(path_);
    write_file(path, view(now));
    save(expected, path);
}

// --- groups and links ----------------------------------------------------------------------------------------------

void Session::group(const std::string& path, bool track_order) {
    h5mote::GroupCreate create;
    create.track_link_order = track_order;
    need(file_.root().create_group(path, create).status(), "create group", path);
    Entry& entry = sidecar_.add("group", path);
    if (track_order) {
        entry.fields["track_order"] = "1";
    }
}

void Session::softlink(const std::string& path, const std::string& target) {
    need(file_.root().create_soft_link(path, target), "create soft link", path);
    sidecar_.add("softlink", path).target = {target};
}

template <typename Use>
void Session::with_object(const std::string& path, Use use) {
    if (sidecar_.at(path).kind == "dataset") {
        Dataset dataset = open(path);
        use(dataset);
        return;
    }
    h5mote::Result<h5mote::Group> group = file_.root().open_group(path);
    need(group.status(), "open group", path);
    use(*group);
}

void Session::hardlink(const std::string& path, const std::string& other) {
    with_object(other, [&](h5mote::Object& object) {
        need(file_.root().create_hard_link(path, object), "create hard link", path);
    });
    sidecar_.add("hardlink", path).target = {other};
}

void Session::unlink(const std::string& path) {
    need(file_.root().unlink(path), "unlink", path);
    for (std::size_t i = 0; i < sidecar_.entries.size(); ++i) {
        if (sidecar_.entries[i].path == path) {
            sidecar_.entries.erase(sidecar_.entries.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
    }
}

// --- datasets ------------------------------------------------------------------------------------------------------

namespace {

void describe_storage(Entry& entry, const Dataspace& space, const h5mote::DatasetCreate& create) {
    const bool chunked = create.chunk.rank() != 0;
    if (chunked) {
        entry.fields["chunk"] = dims_text(Shape(create.chunk.data(), create.chunk.data() + create.chunk.rank()));
        entry.fields["index"] = space.unlimited_count() == 1 ? "extensible_array" : "fixed_array";
    } else {
        entry.fields["layout"] = create.layout == h5mote::Layout::compact ? "compact" : "contiguous";
    }
    std::string filters;
    for (std::size_t i = 0; i < create.filters.size(); ++i) {
        filters += (i == 0 ? "" : ",") + std::to_string(static_cast<unsigned>(create.filters.data()[i].id));
    }
    if (!filters.empty()) {
        entry.fields["filters"] = filters;
    }
    if (!create.fill.empty()) {
        entry.fields["fill"] = hex(create.fill);
    }
    static constexpr const char* kAllocations[] = {"", "early", "late", "incremental"};
    if (create.allocation != h5mote::AllocationTime::automatic) {
        entry.fields["alloc"] = kAllocations[static_cast<unsigned>(create.allocation)];
    }
    static constexpr const char* kFillTimes[] = {"alloc", "never", "ifset"};
    entry.fields["fill_time"] = kFillTimes[static_cast<unsigned>(create.fill_time)];
}

Blob repeat(ConstBytes element, std::uint64_t count) {
    Blob data;
    for (std::uint64_t i = 0; i < count; ++i) {
        data.insert(data.end(), element.begin(), element.end());
    }
    return data;
}

Blob fill_of(const Entry& entry, std::size_t size) {
    const std::string text = entry.field("fill");
    return text.empty() || text == "undefined" ? Blob(size) : unhex(text);
}

}  // namespace

Entry& Session::dataset(const std::string& path, DatatypeView type, const Dataspace& space,
                        const h5mote::DatasetCreate& create) {
    need(file_.root().create_dataset(path, type, space, create).status(), "create dataset", path);
    Entry& entry = sidecar_.add("dataset", path);
    entry.fields["type"] = type_text(type);
    entry.fields["shape"] = shape_text(space);
    if (space.extensible()) {
        entry.fields["max"] = max_text(space);
    }
    describe_storage(entry, space, create);
    const bool none = space.space_class() == h5mote::DataspaceClass::null;
    const Blob fill = fill_of(entry, type.size());
    entry.data = repeat(view(fill), none ? 0 : product(Shape(space.dims().begin(), space.dims().end())));
    entry.summarize = entry.data.size() > 65536;
    return entry;
}

Dataset Session::open(const std::string& path) {
    h5mote::Result<Dataset> dataset = file_.root().open_dataset(path);
    need(dataset.status(), "open dataset", path);
    return std::move(*dataset);
}

DatatypeView Session::type_of(const std::string& path, const Dataset& dataset) {
    Blob& bytes = types_[path];
    bytes.resize(8192);
    DatatypeView type;
    need(dataset.datatype(view(bytes), type), "datatype of", path);
    return type;
}

void Session::fill(const std::string& path, Blob data) {
    Entry& entry = sidecar_.at(path);
    Dataset dataset = open(path);
    const DatatypeView type = type_of(path, dataset);
    if (data.empty()) {
        data = random_.elements(type, entry.data.size() / type.size());
    }
    need(dataset.write(h5mote::Selection::all(), type, view(static_cast<const Blob&>(data))), "write", path);
    need(dataset.close(), "close", path);
    entry.data = std::move(data);
    clear_gaps(type, entry.data);
}

void Session::write(const std::string& path, const Slab& slab) {
    Entry& entry = sidecar_.at(path);
    Dataset dataset = open(path);
    const DatatypeView type = type_of(path, dataset);
    Blob data = random_.elements(type, slab.elements());
    need(dataset.write(slab.selection(), type, view(static_cast<const Blob&>(data))), "write part of", path);
    need(dataset.close(), "close", path);
    clear_gaps(type, data);
    transfer(parse_dims(entry.field("shape")), type.size(), slab, entry.data, data, true);
}

void Session::convert(const std::string& path, DatatypeView memory, ConstBytes from, const Blob& data) {
    Dataset dataset = open(path);
    need(dataset.write(h5mote::Selection::all(), memory, from), "convert", path);
    need(dataset.close(), "close", path);
    sidecar_.at(path).data = data;
}

void Session::extend(const std::string& path, const Shape& dims) {
    Entry& entry = sidecar_.at(path);
    Dataset dataset = open(path);
    need(dataset.set_extent({dims.data(), dims.size()}), "extend", path);
    const std::size_t size = dataset.element_size();
    need(dataset.close(), "close", path);
    const Shape old = parse_dims(entry.field("shape"));
    const Blob fill = fill_of(entry, size);
    Blob whole = repeat(view(fill), product(dims));
    const Shape from(old.size(), 0);
    if (product(old) != 0) {
        transfer(dims, size, Slab{from, old, {}, {}}, whole, entry.data, true);
    }
    entry.data = std::move(whole);
    entry.summarize = entry.summarize || entry.data.size() > 65536;
    entry.fields["shape"] = dims_text(dims);
}

void Session::append(const std::string& path, std::uint64_t rows, std::uint64_t step, std::uint64_t flush_every) {
    Entry& entry = sidecar_.at(path);
    Dataset dataset = open(path);
    const DatatypeView type = type_of(path, dataset);
    Blob data = random_.elements(type, rows);
    std::uint64_t calls = 0;
    for (std::uint64_t row = 0; row < rows; row += step) {
        const std::uint64_t count = rows - row < step ? rows - row : step;
        need(dataset.append_records(data.data() + static_cast<std::size_t>(row) * type.size(),
                                    static_cast<std::size_t>(count)),
             "append to", path);
        if (flush_every != 0 && ++calls % flush_every == 0) {
            flush();
        }
    }
    clear_gaps(type, data);
    entry.data.insert(entry.data.end(), data.begin(), data.end());
    entry.fields["shape"] = std::to_string(dataset.size());
    if (entry.data.size() != dataset.size() * type.size() && entry.digest.empty()) {
        die("%s: %s has %llu rows", path_.c_str(), path.c_str(), static_cast<unsigned long long>(dataset.size()));
    }
    entry.summarize = entry.summarize || entry.data.size() > 65536;
    need(dataset.close(), "close", path);
}

// --- attributes ----------------------------------------------------------------------------------------------------

void Session::attribute(const std::string& path, const std::string& name, DatatypeView type, const Dataspace& space,
                        Blob data) {
    const bool none = space.space_class() == h5mote::DataspaceClass::null;
    if (data.empty() && !none) {
        data = random_.elements(type, product(Shape(space.dims().begin(), space.dims().end())));
    }
    with_object(path, [&](h5mote::Object& object) {
        need(object.write_attribute(name, type, space, view(static_cast<const Blob&>(data))), "write attribute of",
             path);
    });
    clear_gaps(type, data);
    Entry& entry = sidecar_.at(path);
    Entry* attribute = Sidecar::find_attribute(entry, name);
    if (attribute == nullptr) {
        entry.attributes.emplace_back();
        attribute = &entry.attributes.back();
        attribute->name = name;
        attribute->fields["type"] = type_text(type);
        attribute->fields["shape"] = shape_text(space);
    }
    attribute->data = std::move(data);
}

void Session::remove_attribute(const std::string& path, const std::string& name) {
    with_object(path,
                [&](h5mote::Object& object) { need(object.remove_attribute(name), "remove attribute of", path); });
    std::deque<Entry>& attributes = sidecar_.at(path).attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (attributes[i].name == name) {
            attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
    }
}

}  // namespace h5mote_interop
