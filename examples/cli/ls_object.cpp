// h5mote ls: the description of one object.
#include "ls.hpp"
#include "numbers.hpp"

#include <ctime>

namespace h5mote::cli {

namespace {

constexpr unsigned kTypeIndent = 15;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostFilterValues = 64;

/// Discards its text.
class Nothing final : public TextSink {
public:
    using TextSink::put;
    void put(std::string_view /*text*/) override {}
};

const char* type_name(ObjectType type) {
    switch (type) {
        case ObjectType::group:
            return "Group";
        case ObjectType::dataset:
            return "Dataset";
        default:
            return "Type";
    }
}

/// The name that h5ls shows for a filter without a name in the file.
const char* filter_name(FilterId id) {
    static constexpr const char* kNames[] = {"deflate", "shuffle", "fletcher32", "szip", "nbit", "scaleoffset"};
    const auto number = static_cast<unsigned>(id);
    return number >= 1 && number <= 6 ? kNames[number - 1] : number < 256 ? "Unknown library filter" : "method";
}

unsigned long long number(std::uint64_t value) { return value; }

}  // namespace

void Lister::list_object(std::string_view name, Object&& object, const ObjectInfo& info, bool seen) {
    put_name(name, "");
    out_.put(type_name(info.type));
    if (seen) {
        out_.put(", same as ");
        put_first_path(info.address);
        out_.put("\n");
        return;
    }
    Dataset dataset;
    NamedDatatype type;
    Status status = Status::ok;
    if (info.type == ObjectType::dataset) {
        Result<Dataset> opened = Dataset::from(object.duplicate());
        status = opened.status();
        if (opened) {
            dataset = static_cast<Dataset&&>(*opened);
            Dataspace space;
            status = dataset.dataspace(space);
            if (status == Status::ok) {
                list_extent(space);
            }
        }
    } else if (info.type == ObjectType::datatype) {
        Result<NamedDatatype> opened = NamedDatatype::from(object.duplicate());
        status = opened.status();
        if (opened) {
            type = static_cast<NamedDatatype&&>(*opened);
        }
    }
    if (status != Status::ok) {
        out_.put(" *ERROR*\n");
        report_.warning("%.*s: %s", static_cast<int>(name.size()), name.data(), to_string(status));
        return;
    }
    out_.put("\n");
    if (options_.verbose) {
        list_attributes(object);
        out_.print("    %-10s %llu:%llu\n", "Location:", number(file_number_), number(info.address));
        out_.print("    %-10s %u\n", "Links:", static_cast<unsigned>(info.reference_count));
        list_modified(info);
        list_comment(object);
        if (info.type == ObjectType::datatype) {
            list_type(type.type(), info.address, 4);
        }
    }
    if (info.type == ObjectType::dataset) {
        list_dataset(dataset);
    }
}

void Lister::list_extent(const Dataspace& space) {
    out_.put(" {");
    for (std::size_t i = 0; i < space.rank(); ++i) {
        const std::uint64_t dim = space.dims()[i];
        const std::uint64_t most = space.max_dims()[i];
        out_.print("%s%llu", i == 0 ? "" : ", ", number(dim));
        if (most == kUnlimited) {
            out_.put("/Inf");
        } else if (most != dim || options_.verbose) {
            out_.print("/%llu", number(most));
        }
    }
    out_.put(space.space_class() == DataspaceClass::scalar ? "SCALAR"
             : space.space_class() == DataspaceClass::null ? "NULL"
                                                           : "");
    out_.put("}");
}

void Lister::list_type(DatatypeView type, Address committed, unsigned indent) {
    out_.print("%*s%-10s ", static_cast<int>(indent), "", "Type:");
    if (committed != kUndefinedAddress) {
        out_.print("shared-%llu:%llu ", number(file_number_), number(committed));
    }
    LsTypeText(out_, options_.simple).put(type, kTypeIndent);
    out_.put("\n");
}

void Lister::list_attributes(const Object& object) {
    Attribute attribute;
    Status status;
    // Read all attributes before printing: if one cannot be read, h5ls prints none.
    AttributeIterator all(object, IndexOrder::native);
    while ((status = all.next(attribute)) == Status::ok) {
    }
    if (status != Status::not_found) {
        report_.warning("an attribute cannot be read: %s", to_string(status));
        return;
    }
    AttributeIterator attributes(object, IndexOrder::name);
    while ((status = attributes.next(attribute)) == Status::ok) {
        out_.put("    Attribute: ");
        (void)put_escaped(out_, attribute.name(), true);
        const Dataspace& space = attribute.dataspace();
        if (space.space_class() == DataspaceClass::simple) {
            for (std::size_t i = 0; i < space.rank(); ++i) {
                out_.print("%s%llu", i == 0 ? " {" : ", ", number(space.dims()[i]));
            }
            out_.put("}\n");
        } else {
            out_.put(space.space_class() == DataspaceClass::null ? " null\n" : " scalar\n");
        }
        list_type(attribute.type(), attribute.type_object(), 8);
    }
}

// Prints the time only of version 2 object headers; libhdf5 gives the time of version 1 headers another meaning.
void Lister::list_modified(const ObjectInfo& info) {
    if (info.header.version < 2 || info.modification_time == 0) {
        return;
    }
    const auto time = static_cast<std::time_t>(info.modification_time);
    std::tm parts{};
    char text[64];
    if ((options_.simple ? gmtime_r(&time, &parts) : localtime_r(&time, &parts)) != nullptr &&
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &parts) != 0) {
        out_.print("    %-10s %s\n", "Modified:", text);
    }
}

void Lister::list_comment(const Object& object) {
    std::size_t length = 0;
    if (object.comment({}, length) != Status::ok || length == 0) {
        return;
    }
    auto* const text = static_cast<char*>(context().allocate(MemoryKind::other, length));
    if (text == nullptr) {
        report_.failure(context(), Status::out_of_memory, "a comment");
        return;
    }
    std::size_t again = 0;
    if (object.comment(Span<char>(text, length), again) == Status::ok) {
        out_.print("    %-10s \"", "Comment:");
        (void)put_escaped(out_, {text, length}, false);
        out_.put("\"\n");
    }
    context().release(MemoryKind::other, text, length);
}

void Lister::list_dataset(Dataset& dataset) {
    if (!options_.verbose) {
        return;
    }
    DatasetInfo info;
    OwnedType type(context());
    Status status = dataset.info(info);
    if (status == Status::ok) {
        status = type.read(dataset, info.type_length);
    }
    if (status != Status::ok) {
        report_.failure(context(), status, "a dataset");
        return;
    }
    const std::uint64_t element_size = memory_size(type.view());
    list_layout(dataset, info, element_size);
    list_storage(dataset, type.view(), element_size);
    list_filters(dataset, info);
    list_type(type.view(), info.type_object, 4);
    if (options_.address) {
        list_addresses(dataset, info);
    }
}

void Lister::list_layout(Dataset& dataset, const DatasetInfo& info, std::uint64_t element_size) {
    if (info.layout == Layout::chunked) {
        std::uint64_t dims[H5MOTE_MAX_RANK];
        const Status status = dataset.chunk_dims(Span<std::uint64_t>(dims, info.rank));
        std::uint64_t bytes = element_size;
        out_.print("    %-10s {", "Chunks:");
        for (unsigned i = 0; i < info.rank && status == Status::ok; ++i) {
            out_.print("%s%llu", i == 0 ? "" : ", ", number(dims[i]));
            bytes *= dims[i];
        }
        out_.print("} %llu bytes\n", number(bytes));
    } else if (info.layout == Layout::virtual_dataset && info.virtual_mappings != 0) {
        out_.print("    %-10s {%u} Source {\n", "Maps:", static_cast<unsigned>(info.virtual_mappings));
        VirtualMapping mapping;
        for (std::uint32_t i = 0; i < info.virtual_mappings; ++i) {
            if (dataset.virtual_mapping(i, mapping) != Status::ok) {
                break;
            }
            out_.print("    %-10s        ", " ");
            (void)put_escaped(out_, mapping.file_name().substr(0, kLongestName - 1), true);
            out_.put("   ");
            (void)put_escaped(out_, mapping.dataset_name().substr(0, kLongestName - 1), true);
            out_.put("\n");
        }
        out_.print("     %-10s}\n", " ");
    } else if (info.external_files != 0) {
        list_external(dataset, info);
    }
}

void Lister::list_external(Dataset& dataset, const DatasetInfo& info) {
    char name[kLongestName];
    ExternalFile file;
    Nothing nothing;
    std::size_t widest = 0;
    const auto read = [&](std::uint32_t i) {
        const Status status = dataset.external_file(i, file, Span<char>(name, sizeof(name)));
        file.name_length = file.name_length < sizeof(name) ? file.name_length : sizeof(name);
        return status == Status::ok;
    };
    for (std::uint32_t i = 0; i < info.external_files && read(i); ++i) {
        const std::size_t columns = put_escaped(nothing, {name, file.name_length}, true);
        widest = columns > widest ? columns : widest;
    }
    const auto rule = [&] {
        out_.print("        %4s %10s %10s %10s ", "----", "----------", "----------", "----------");
        for (std::size_t i = 0; i < widest; ++i) {
            out_.put('-');
        }
        out_.put("\n");
    };
    out_.print("    %-10s %u external file%s\n", "Extern:", static_cast<unsigned>(info.external_files),
               info.external_files == 1 ? "" : "s");
    out_.print("        %4s %10s %10s %10s %s\n", "ID", "DSet-Addr", "File-Addr", "Bytes", "File");
    rule();
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < info.external_files && read(i); ++i) {
        out_.print("        #%03u %10llu %10llu ", static_cast<unsigned>(i), number(total), number(file.offset));
        if (file.size == kUnlimited) {
            out_.print("%10s ", "INF");
        } else {
            out_.print("%10llu ", number(file.size));
        }
        (void)put_escaped(out_, {name, file.name_length}, true);
        out_.put("\n");
        total += file.size;
    }
    rule();
}

void Lister::list_storage(Dataset& dataset, DatatypeView type, std::uint64_t element_size) {
    out_.print("    %-10s ", "Storage:");
    const TypeClass type_class = type.type_class();
    if (type_class == TypeClass::reference ||
        (type_class == TypeClass::variable_length && !type.is_variable_string())) {
        out_.put("information not available\n");
        return;
    }
    Dataspace space;
    std::uint64_t elements = 0;
    std::uint64_t used = 0;
    if (dataset.dataspace(space) == Status::ok) {
        (void)space.element_count(elements);
    }
    if (dataset.storage_size(used) != Status::ok) {
        used = 0;
    }
    const std::uint64_t total = elements * element_size;
    out_.print("%llu logical byte%s, %llu allocated byte%s", number(total), total == 1 ? "" : "s", number(used),
               used == 1 ? "" : "s");
    if (used > 0) {
        out_.print(", %1.2f%% utilization", static_cast<double>(total) * 100.0 / static_cast<double>(used));
    }
    out_.put("\n");
}

void Lister::list_filters(Dataset& dataset, const DatasetInfo& info) {
    for (unsigned i = 0; i < info.filters; ++i) {
        FilterInfo filter;
        char name[kLongestName];
        std::uint32_t values[kMostFilterValues];
        if (dataset.filter(i, filter, Span<char>(name, sizeof(name)), Span<std::uint32_t>(values, kMostFilterValues)) !=
            Status::ok) {
            return;
        }
        char head[32];
        std::snprintf(head, sizeof(head), "Filter-%u:", i);
        out_.print("    %-10s ", head);
        const std::string_view stored(name, filter.name_length < sizeof(name) ? filter.name_length : sizeof(name) - 1);
        if (stored.empty() || stored[0] == '\0') {
            out_.put(filter_name(filter.id));
        } else {
            out_.put(stored.substr(0, stored.find('\0')));
        }
        out_.print("-%u %s {", static_cast<unsigned>(filter.id), (filter.flags & 1U) != 0 ? "OPT" : "");
        for (unsigned v = 0; v < filter.value_count && v < kMostFilterValues; ++v) {
            out_.print("%s%u", v == 0 ? "" : ", ", static_cast<unsigned>(values[v]));
        }
        out_.put("}\n");
    }
}

// Prints the addresses of the raw data (H5Ddebug).
void Lister::list_addresses(const Dataset& dataset, const DatasetInfo& info) {
    if (info.layout == Layout::contiguous) {
        out_.print("    %-10s %llu\n", "Address:", number(info.address));
    }
    if (info.layout != Layout::chunked) {
        return;
    }
    out_.print("    Address: %llu\n", number(info.address));
    const char* head =
        "           Flags    Bytes     Address          Logical Offset\n"
        "        ========== ======== ========== ==============================\n";
    const auto show = [&](std::uint32_t mask, std::uint64_t bytes, Address address) {
        out_.print("%s        0x%08x %8llu %10llu [", head, static_cast<unsigned>(mask), number(bytes),
                   number(address));
        head = "";
    };
    // h5ls prints the chunk of a single-chunk index even if it is not allocated.
    if (info.chunk_index == ChunkIndex::single && info.address == kUndefinedAddress) {
        std::uint64_t dims[H5MOTE_MAX_RANK] = {};
        std::uint64_t bytes = info.element_size;
        (void)dataset.chunk_dims(Span<std::uint64_t>(dims, info.rank));
        for (unsigned i = 0; i < info.rank; ++i) {
            bytes *= dims[i];
        }
        show(0, bytes, info.address);
        for (unsigned i = 0; i < info.rank; ++i) {
            out_.put("0, ");
        }
        out_.put("0]\n");
        return;
    }
    ChunkIterator chunks(dataset);
    ChunkInfo chunk;
    while (chunks.next(chunk) == Status::ok) {
        show(chunk.filter_mask, chunk.size, chunk.address);
        for (const std::uint64_t start : chunk.offset) {
            out_.put_unsigned(start);
            out_.put(", ");
        }
        out_.put("0]\n");
    }
}

}  // namespace h5mote::cli
