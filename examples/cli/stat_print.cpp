// h5mote stat: prints the statistics.
#include "ls.hpp"
#include "stat.hpp"

namespace h5mote::cli {

namespace {

void line(TextSink& out, const char* label, std::uint64_t value, const char* after = "") {
    out.put(label);
    out.put(": ");
    out.put_unsigned(value);
    out.put(after);
    out.put("\n");
}

void header_line(TextSink& out, const char* label, const FileStatistics::Headers& sizes) {
    out.put(label);
    out.put(": ");
    out.put_unsigned(sizes.total);
    out.put("/");
    out.put_unsigned(sizes.free);
    out.put("\n");
}

/// Prints "BEFORE 3 AFTER: 2" for each number from `first` on that occurs. Returns the sum of the counts.
std::uint64_t print_small(TextSink& out, const char* before, const char* after, const SmallCounts& counts,
                          std::size_t first = 0) {
    std::uint64_t total = 0;
    for (std::size_t i = first; i < counts.size(); ++i) {
        if (counts[i] != 0) {
            out.put(before);
            out.put_unsigned(i);
            line(out, after, counts[i]);
            total += counts[i];
        }
    }
    return total;
}

/// Prints "BEFORE 10 - 99 AFTER: 2" for each number of digits that occurs. Returns the sum of the counts, without
/// zeros.
std::uint64_t print_bins(TextSink& out, const char* before, const char* after, const DigitBins& bins) {
    std::uint64_t total = 0;
    std::uint64_t power = 1;
    for (unsigned i = 1; i < bins.used; ++i) {
        if (bins.count[i] != 0) {
            out.put(before);
            out.put_unsigned(power);
            out.put(" - ");
            out.put_unsigned(power * 10 - 1);
            line(out, after, bins.count[i]);
            total += bins.count[i];
        }
        power *= 10;
    }
    return total;
}

void print_file(TextSink& out, const FileStatistics& all) {
    out.put("File information\n");
    line(out, "\t# of unique groups", all.groups);
    line(out, "\t# of unique datasets", all.datasets);
    line(out, "\t# of unique named datatypes", all.named_types);
    line(out, "\t# of unique links", all.links);
    line(out, "\t# of unique other", all.others);
    line(out, "\tMax. # of links to object", all.most_references);
    line(out, "\tMax. # of objects in group", all.most_links);
}

void print_file_metadata(TextSink& out, const FileStatistics& all) {
    out.put("File space information for file metadata (in bytes):\n");
    line(out, "\tSuperblock", all.info.superblock_size);
    line(out, "\tSuperblock extension", all.info.superblock_extension_size);
    line(out, "\tUser block", all.info.user_block);
    out.put("\tObject headers: (total/unused)\n");
    header_line(out, "\t\tGroups", all.group_headers);
    header_line(out, "\t\tDatasets(exclude compact data)", all.dataset_headers);
    header_line(out, "\t\tDatatypes", all.type_headers);
    out.put("\tGroups:\n");
    line(out, "\t\tB-tree/List", all.group_storage.index);
    line(out, "\t\tHeap", all.group_storage.heap);
    out.put("\tAttributes:\n");
    line(out, "\t\tB-tree/List", all.attribute_storage.index);
    line(out, "\t\tHeap", all.attribute_storage.heap);
    out.put("\tChunked datasets:\n");
    line(out, "\t\tIndex", all.dataset_storage.index);
    out.put("\tDatasets:\n");
    line(out, "\t\tHeap", all.dataset_storage.heap);
    out.put("\tShared Messages:\n");
    line(out, "\t\tHeader", all.info.shared_message_table_size);
    line(out, "\t\tB-tree/List", all.info.shared_message_storage.index);
    line(out, "\t\tHeap", all.info.shared_message_storage.heap);
    out.put("\tFree-space managers:\n");
    line(out, "\t\tHeader", all.free_space.total.metadata);
    line(out, "\t\tAmount of free space", all.free_space.total.bytes);
}

void print_groups(TextSink& out, const StatOptions& options, const FileStatistics& all) {
    out.print("Small groups (with 0 to %u links):\n", options.small_links - 1);
    std::uint64_t total = print_small(out, "\t# of groups with ", " link(s)", all.small_groups);
    line(out, "\tTotal # of small groups", total);
    out.put("Group bins:\n");
    total = all.group_bins.count[0];
    if (total > 0) {
        line(out, "\t# of groups with 0 link", total);
    }
    total += print_bins(out, "\t# of groups with ", " links", all.group_bins);
    line(out, "\tTotal # of groups", total);
}

void print_group_metadata(TextSink& out, const FileStatistics& all) {
    out.put("File space information for groups' metadata (in bytes):\n");
    header_line(out, "\tObject headers (total/unused)", all.group_headers);
    line(out, "\tB-tree/List", all.group_storage.index);
    line(out, "\tHeap", all.group_storage.heap);
}

void print_vectors(TextSink& out, const StatOptions& options, const FileStatistics& all) {
    out.put("1-D Dataset information:\n");
    line(out, "\tMax. dimension size of 1-D datasets", all.longest_vector);
    out.print("\tSmall 1-D datasets (with dimension sizes 0 to %u):\n", options.small_dims - 1);
    std::uint64_t total = print_small(out, "\t\t# of datasets with dimension sizes ", "", all.small_datasets);
    line(out, "\t\tTotal # of small datasets", total);
    if (all.dataset_bins.used == 0) {
        return;
    }
    out.put("\t1-D Dataset dimension bins:\n");
    total = all.dataset_bins.count[0];
    if (total > 0) {
        line(out, "\t\t# of datasets with dimension size 0", total);
    }
    total += print_bins(out, "\t\t# of datasets with dimension size ", "", all.dataset_bins);
    line(out, "\t\tTotal # of datasets", total);
}

void print_datasets(TextSink& out, const StatOptions& options, const FileStatistics& all) {
    if (all.datasets == 0) {
        return;
    }
    out.put("Dataset dimension information:\n");
    line(out, "\tMax. rank of datasets", all.most_rank);
    out.put("\tDataset ranks:\n");
    for (unsigned i = 0; i < all.ranks.size() - 1; ++i) {
        if (all.ranks[i] != 0) {
            out.print("\t\t# of dataset with rank %u", i);
            line(out, "", all.ranks[i]);
        }
    }
    print_vectors(out, options, all);
    out.put("Dataset storage information:\n");
    line(out, "\tTotal raw data size", all.raw_data);
    line(out, "\tTotal external raw data size", all.external_data);
    out.put("Dataset layout information:\n");
    line(out, "\tDataset layout counts[COMPACT]", all.layouts[0]);
    line(out, "\tDataset layout counts[CONTIG]", all.layouts[1]);
    line(out, "\tDataset layout counts[CHUNKED]", all.layouts[2]);
    line(out, "\tDataset layout counts[VIRTUAL]", all.layouts[3]);
    line(out, "\tNumber of external files ", all.external_files);
    out.put("Dataset filters information:\n\tNumber of datasets with:\n");
    static constexpr const char* kFilters[] = {"NO",   "GZIP", "SHUFFLE",     "FLETCHER32",
                                               "SZIP", "NBIT", "SCALEOFFSET", "USER-DEFINED"};
    for (unsigned i = 0; i < 8; ++i) {
        out.print("\t\t%s filter", kFilters[i]);
        line(out, "", all.filters[i]);
    }
}

void print_dataset_metadata(TextSink& out, const FileStatistics& all) {
    out.put("File space information for datasets' metadata (in bytes):\n");
    header_line(out, "\tObject headers (total/unused)", all.dataset_headers);
    line(out, "\tIndex for Chunked datasets", all.dataset_storage.index);
    line(out, "\tHeap", all.dataset_storage.heap);
}

void print_types(TextSink& out, const FileStatistics& all) {
    if (all.types == nullptr) {
        return;
    }
    out.put("Dataset datatype information:\n");
    line(out, "\t# of unique datatypes used by datasets", all.type_count);
    std::uint64_t total = 0;
    std::uint64_t i = 0;
    for (const StatType* type = all.types; type != nullptr; type = type->next, ++i) {
        out.put("\tDataset datatype #");
        out.put_unsigned(i);
        out.put(":\n\t\tCount (total/named) = (");
        out.put_unsigned(type->count);
        out.put("/");
        out.put_unsigned(type->named);
        out.put(")\n\t\tSize (desc./elmt) = (");
        // H5Tencode() puts two bytes before the message.
        out.put_unsigned(type->length + 2);
        out.put("/");
        out.put_unsigned(memory_size(type->view()));
        out.put(")\n");
        total += type->count;
    }
    line(out, "\tTotal dataset datatype count", total);
}

void print_attributes(TextSink& out, const StatOptions& options, const FileStatistics& all) {
    out.print("Small # of attributes (objects with 1 to %u attributes):\n", options.small_attributes);
    std::uint64_t total = print_small(out, "\t# of objects with ", " attributes", all.small_attributes, 1);
    line(out, "\tTotal # of objects with small # of attributes", total);
    out.put("Attribute bins:\n");
    total = print_bins(out, "\t# of objects with ", " attributes", all.attribute_bins);
    line(out, "\tTotal # of objects with attributes", total);
    line(out, "\tMax. # of attributes to objects", all.most_attributes);
}

void print_free_space(TextSink& out, const FileStatistics& all) {
    out.print("Free-space persist: %s\n", all.info.persists_free_space ? "TRUE" : "FALSE");
    line(out, "Free-space section threshold", all.info.free_space_threshold, " bytes");
    out.print("Small size free-space sections (< %u bytes):\n", FileStatistics::kSmallSection);
    std::uint64_t total = 0;
    for (unsigned i = 0; i < FileStatistics::kSmallSection; ++i) {
        if (all.free_space.small[i] != 0) {
            out.print("\t# of sections of size %u", i);
            line(out, "", all.free_space.small[i]);
            total += all.free_space.small[i];
        }
    }
    line(out, "\tTotal # of small size sections", total);
    out.put("Free-space section bins:\n");
    total = print_bins(out, "\t# of sections of size ", "", all.free_space.bins);
    line(out, "\tTotal # of sections", total);
}

void print_summary(TextSink& out, const FileStatistics& all) {
    static constexpr const char* kStrategies[] = {"FSM_AGGR", "PAGE", "AGGR", "NONE"};
    const FileInfo& info = all.info;
    out.print("File space management strategy: H5F_FSPACE_STRATEGY_%s\n", kStrategies[info.file_space_strategy & 3U]);
    line(out, "File space page size", info.page_size, " bytes");
    const std::uint64_t metadata = info.superblock_size + info.superblock_extension_size + info.user_block +
                                   all.group_headers.total + all.dataset_headers.total + all.type_headers.total +
                                   all.group_storage.index + all.group_storage.heap + all.attribute_storage.index +
                                   all.attribute_storage.heap + all.dataset_storage.index + all.dataset_storage.heap +
                                   info.shared_message_table_size + info.shared_message_storage.index +
                                   info.shared_message_storage.heap + all.free_space.total.metadata;
    out.put("Summary of file space information:\n");
    line(out, "  File metadata", metadata, " bytes");
    line(out, "  Raw data", all.raw_data, " bytes");
    const std::uint64_t free_bytes = all.free_space.total.bytes;
    out.put("  Amount/Percent of tracked free space: ");
    out.put_unsigned(free_bytes);
    out.print(" bytes/%3.1f%%\n", static_cast<double>(free_bytes) / static_cast<double>(info.file_size) * 100.0);
    const std::uint64_t known = metadata + all.raw_data + free_bytes;
    std::uint64_t unknown = 0;
    if (info.file_size < known) {
        unknown = known - info.file_size;
        out.put("  ??? File has ");
        out.put_unsigned(unknown);
        out.put(" more bytes accounted for than its size! ???\n");
    } else {
        unknown = info.file_size - known;
        line(out, "  Unaccounted space", unknown, " bytes");
    }
    line(out, "Total space", known + unknown, " bytes");
    if (all.external_files != 0) {
        line(out, "External raw data", all.external_data, " bytes");
    }
}

}  // namespace

void print_statistics(TextSink& out, const StatOptions& options, const FileStatistics& all) {
    const bool everything =
        !(options.file || options.file_metadata || options.groups || options.group_metadata || options.datasets ||
          options.dataset_metadata || options.types || options.attributes || options.free_space || options.summary);
    if (everything || options.file) {
        print_file(out, all);
    }
    if (everything || options.file_metadata) {
        print_file_metadata(out, all);
    }
    if (everything || options.groups) {
        print_groups(out, options, all);
    }
    if (options.group_metadata) {
        print_group_metadata(out, all);
    }
    if (everything || options.datasets) {
        print_datasets(out, options, all);
    }
    if (everything || options.types) {
        print_types(out, all);
    }
    if (options.dataset_metadata) {
        print_dataset_metadata(out, all);
    }
    if (everything || options.attributes) {
        print_attributes(out, options, all);
    }
    if (everything || options.free_space) {
        print_free_space(out, all);
    }
    if (everything || options.summary) {
        print_summary(out, all);
    }
}

}  // namespace h5mote::cli
