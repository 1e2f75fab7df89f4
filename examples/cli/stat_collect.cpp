// h5mote stat: walks a file and collects the statistics.
#include "ls.hpp"
#include "stat.hpp"

#include <cstring>

namespace h5mote::cli {

void DigitBins::add(std::uint64_t number) {
    unsigned digits = 0;
    for (; number != 0; number /= 10) {
        ++digits;
    }
    ++count[digits];
    used = digits + 1 > used ? digits + 1 : used;
}

Status SmallCounts::allocate(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / sizeof(std::uint64_t)) {
        return Status::out_of_memory;
    }
    counts_ = static_cast<std::uint64_t*>(context_.allocate(MemoryKind::other, size * sizeof(std::uint64_t)));
    if (counts_ == nullptr) {
        return Status::out_of_memory;
    }
    size_ = size;
    std::memset(counts_, 0, size * sizeof(std::uint64_t));
    return Status::ok;
}

FileStatistics::~FileStatistics() {
    while (types != nullptr) {
        StatType* const type = types;
        types = type->next;
        context.release(MemoryKind::other, type, sizeof(StatType) + type->length);
    }
}

namespace {

void add(StorageSize& sum, const StorageSize& size) {
    sum.index += size.index;
    sum.heap += size.heap;
}

class Collector final : public Visitor {
public:
    explicit Collector(FileStatistics& statistics) : all_(statistics) {}

    Status link(std::string_view /*path*/, const Link& link) noexcept override {
        if (link.type() != LinkType::hard) {
            ++(link.user_defined() ? all_.others : all_.links);
        }
        return Status::ok;
    }

    Status object(std::string_view /*path*/, Object& object) noexcept override {
        ObjectInfo info;
        H5MOTE_TRY(object.info(info));
        all_.most_references =
            info.reference_count > all_.most_references ? info.reference_count : all_.most_references;
        add(all_.attribute_storage, info.attribute_storage);
        all_.small_attributes.add(info.attributes);
        all_.attribute_bins.add(info.attributes);
        all_.most_attributes = info.attributes > all_.most_attributes ? info.attributes : all_.most_attributes;
        switch (info.type) {
            case ObjectType::group:
                return group(object, info);
            case ObjectType::dataset:
                return dataset(object, info);
            default:
                ++all_.named_types;
                add(all_.type_headers, info);
                return Status::ok;
        }
    }

private:
    static void add(StorageSize& sum, const StorageSize& size) { cli::add(sum, size); }
    static void add(FileStatistics::Headers& sum, const ObjectInfo& info) {
        sum.total += info.header.total;
        sum.free += info.header.free;
    }

    Status group(Object& object, const ObjectInfo& info) noexcept {
        Result<Group> group = Group::from(object.duplicate());
        H5MOTE_TRY(group.status());
        GroupInfo links;
        H5MOTE_TRY(group->group_info(links));
        ++all_.groups;
        add(all_.group_headers, info);
        add(all_.group_storage, info.object_storage);
        all_.small_groups.add(links.links);
        all_.group_bins.add(links.links);
        all_.most_links = links.links > all_.most_links ? links.links : all_.most_links;
        return Status::ok;
    }

    Status dataset(Object& object, const ObjectInfo& info) noexcept {
        Result<Dataset> dataset = Dataset::from(object.duplicate());
        H5MOTE_TRY(dataset.status());
        DatasetInfo about;
        H5MOTE_TRY(dataset->info(about));
        ++all_.datasets;
        add(all_.dataset_headers, info);
        add(all_.dataset_storage, info.object_storage);
        if (about.chunk_index == ChunkIndex::extensible_array) {
            all_.dataset_storage.index -= uncounted(*dataset);
        }
        std::uint64_t bytes = 0;
        if (dataset->storage_size(bytes) != Status::ok) {
            bytes = 0;  // h5stat also takes a failure for a dataset without data
        }
        const auto layout = static_cast<unsigned>(about.layout);
        ++all_.layouts[layout];
        all_.dataset_headers.total -= layout == 0 ? bytes : 0;
        (about.external_files != 0 ? all_.external_data : all_.raw_data) += bytes;
        all_.external_files += about.external_files;
        H5MOTE_TRY(filters(*dataset, about));
        H5MOTE_TRY(extent(*dataset));
        return type(*dataset, about);
    }

    // Bytes that h5stat misses in an extensible array index. When libhdf5 reads an index block, it computes its size
    // without the addresses of super blocks, 29 in the arrays that it creates. An array without chunks may have an
    // index block too: then the index is larger than the header alone, which has at most 72 bytes.
    std::uint64_t uncounted(const Dataset& dataset) const noexcept {
        std::uint64_t chunks = 0;
        std::uint64_t bytes = 0;
        const Status status = dataset.index_size(chunks, bytes);
        const std::uint64_t missed = 29 * std::uint64_t{all_.info.sizeof_addr};
        return status == Status::ok && (chunks != 0 || bytes >= 72 + missed) ? missed : 0;
    }

    Status extent(const Dataset& dataset) noexcept {
        Dataspace space;
        H5MOTE_TRY(dataset.dataspace(space));
        const auto rank = static_cast<unsigned>(space.rank());
        all_.most_rank = rank > all_.most_rank ? rank : all_.most_rank;
        ++all_.ranks[rank];
        if (rank == 1) {
            const std::uint64_t length = space.dims()[0];
            all_.longest_vector = length > all_.longest_vector ? length : all_.longest_vector;
            all_.small_datasets.add(length);
            all_.dataset_bins.add(length);
        }
        return Status::ok;
    }

    Status filters(const Dataset& dataset, const DatasetInfo& about) noexcept {
        if (about.filters == 0) {
            ++all_.filters[0];
        }
        for (unsigned i = 0; i < about.filters; ++i) {
            FilterInfo filter;
            H5MOTE_TRY(dataset.filter(i, filter));
            const auto number = static_cast<unsigned>(filter.id);
            ++all_.filters[number < 7 ? number : 7];
        }
        return Status::ok;
    }

    Status type(const Dataset& dataset, const DatasetInfo& about) noexcept {
        OwnedType type(all_.context);
        H5MOTE_TRY(type.read(dataset, about.type_length));
        StatType** at = &all_.types;
        while (*at != nullptr && !equal((*at)->view(), type.view())) {
            at = &(*at)->next;
        }
        if (*at == nullptr) {
            const std::size_t length = type.view().encoded_length();
            *at = static_cast<StatType*>(all_.context.allocate(MemoryKind::other, sizeof(StatType) + length));
            if (*at == nullptr) {
                return Status::out_of_memory;
            }
            **at = StatType{nullptr, 0, 0, length};
            std::memcpy(*at + 1, type.view().bytes().data(), length);
            ++all_.type_count;
        }
        ++(*at)->count;
        (*at)->named += about.type_object != kUndefinedAddress ? 1 : 0;
        return Status::ok;
    }

    FileStatistics& all_;
};

class Sections final : public SectionVisitor {
public:
    explicit Sections(FreeSpace& all) : all_(all) {}
    Status section(Address /*address*/, std::uint64_t size) noexcept override {
        if (size < FreeSpace::kSmall) {
            ++all_.small[static_cast<std::size_t>(size)];
        }
        all_.bins.add(size);
        return Status::ok;
    }

private:
    FreeSpace& all_;
};

}  // namespace

Status collect_statistics(File& file, const StatOptions& options, FileStatistics& statistics) {
    H5MOTE_TRY(statistics.small_groups.allocate(options.small_links));
    H5MOTE_TRY(statistics.small_datasets.allocate(options.small_dims));
    H5MOTE_TRY(statistics.small_attributes.allocate(std::size_t{options.small_attributes} + 1));
    H5MOTE_TRY(file.info(statistics.info));
    Sections sections(statistics.free_space);
    H5MOTE_TRY(file.free_space(statistics.free_space.total, &sections));
    Collector collector(statistics);
    return file.root().visit(collector);
}

}  // namespace h5mote::cli
