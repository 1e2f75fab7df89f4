// h5mote dump - the contents of a file in the form that h5dump 1.10 prints, byte for byte.
#pragma once

#include "address_set.hpp"
#include "layout.hpp"
#include "object_paths.hpp"
#include "report.hpp"
#include "session.hpp"
#include "type_text.hpp"
#include "value_text.hpp"

#include <h5mote/attribute.hpp>
#include <h5mote/named_datatype.hpp>
#include <h5mote/selection_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace h5mote::cli {

/// Part of a dataset, as asked for on the command line. Vectors whose option was not given are empty.
struct Subset {
    std::vector<std::uint64_t> start, stride, count, block;
};

/// One object, attribute or link that is to be printed; with at least one of these the whole file is not printed.
struct DumpItem {
    enum class Kind : std::uint8_t { attribute, dataset, group, link, datatype, any };
    Kind kind;
    std::string path;
    std::optional<Subset> subset;
};

/// A bit field within integers that is printed as a number of its own (h5dump -M).
struct PackedBits {
    unsigned offset;
    unsigned length;
};

struct DumpOptions {
    CommonOptions common;
    bool data = true;
    bool attribute_data = true;
    bool attributes = true;
    bool superblock = false;
    bool contents = false;
    bool contents_attributes = false;
    bool properties = false;
    bool indices = true;
    bool escape = false;
    bool characters = false;
    bool object_ids = false;
    bool virtual_first_missing = false;
    std::uint64_t virtual_gap = 0;
    std::optional<std::string> number_format;
    unsigned columns = 80;  ///< length of a line; 0: one element per line, of any length
    IndexOrder sort_by = IndexOrder::name;
    Direction sort_order = Direction::increasing;
    std::vector<PackedBits> packed_bits;
    std::vector<DumpItem> items;
    std::vector<std::string> files;
};

/// The identifiers that h5dump would give to the next objects that it opens and prints with -i: each kind of object
/// counts from 0. Every object that h5dump opens along the way counts, so the tool counts wherever h5dump opens one.
struct ObjectIds {
    std::int32_t groups = 0;
    std::int32_t datasets = 0;
    std::int32_t attributes = 0;
    bool paths_collected = false;  // h5dump would have walked the file for the paths of object references by now
};

/// The committed datatypes that datasets of a file use, in the order in which the walk meets them.
class UsedTypes {
public:
    struct Entry {
        Address address;
        bool named;  // a hard link leads to the datatype
    };

    explicit UsedTypes(Context& context) : context_(context) {}
    UsedTypes(const UsedTypes&) = delete;
    UsedTypes& operator=(const UsedTypes&) = delete;
    ~UsedTypes() { context_.release(MemoryKind::other, entries_, capacity_ * sizeof(Entry)); }

    Entry* find(Address address);
    Status add(Address address);
    std::size_t size() const { return size_; }
    Entry& operator[](std::size_t i) const { return entries_[i]; }

private:
    Context& context_;
    Entry* entries_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// One of the files that are printed: the one asked for, or one that external links lead into.
struct DumpedFile {
    DumpedFile(Context& context, const Group& file_root, std::size_t budget, const DumpOptions& options)
        : paths(context, file_root, budget, options.sort_by, options.sort_order),
          shown(context),
          walked(context),
          types(context) {
        Result<Group> copy = Group::from(file_root.duplicate());
        root = static_cast<Group&&>(*copy);
    }

    Group root;
    ObjectPaths paths;
    AddressSet shown;   // printed objects with several links: the next link prints as a HARDLINK
    AddressSet walked;  // printed groups with one link: meeting one again means that the file is damaged
    UsedTypes types;
    bool external = false;
    DumpedFile* next = nullptr;
};

class Dumper;

/// The elements of a dataset or attribute, read piece by piece, and access to the data that their values refer to.
class DataSource : public ValueContext {
public:
    explicit DataSource(Dumper& dumper) : dumper_(dumper) {}
    virtual ~DataSource() = default;

    DatatypeView type;
    Dataspace space;
    bool is_dataset = false;

    /// Reads elements from number `first` on, in row-major order: at least one, at most `count`. Sets `count` to how
    /// many it read. `buffer` has room for `count` elements in their stored form.
    virtual Status read(std::uint64_t first, std::uint64_t& count, std::byte* buffer) = 0;
    /// The same for a part of a dataset: a regular hyperslab of elements, in its row-major order. Only the last
    /// dimension may have more than one block.
    virtual Status read_slab(const Subset& slab, std::uint64_t first, std::uint64_t& count, std::byte* buffer);
    virtual const Object& object() const = 0;
    void put_reference(TextSink& sink, ReferenceType reference_type, ConstBytes stored) override;

protected:
    Dumper& dumper_;
};

/// Prints files. Memory whose size depends on a file's contents comes from the session.
class Dumper final : public TypeNames {
public:
    Dumper(Session& session, const DumpOptions& options, Report& report);
    ~Dumper();

    /// Prints one file. Returns false where h5dump would stop and not look at the remaining files.
    bool dump(const char* path);

    bool put_type_name(TextSink& sink, Address address) override;

private:
    friend class DataSource;
    class Survey;
    class Contents;
    class PathSearch;

    // dump_file.cpp
    Status survey(DumpedFile& file);
    Status open_tables(const Group& root, bool external, DumpedFile*& file);
    void close_tables();
    DumpedFile* tables_of(const Object& object);
    // The tables of the file that the object is in, created if there are none yet; nullptr if that fails.
    DumpedFile* open_tables_of(const Object& object);
    bool print_superblock();
    bool print_contents();
    bool indentation(unsigned columns);

    // dump_group.cpp: groups and their links
    void dump_group(Group& group, std::string_view name);
    void dump_links(const Group& group, bool tracks_order);
    bool dump_link(const Group& group, const Link& link);
    bool dump_hard_link(const Group& group, const Link& link);
    void dump_external_link(const Group& group, const Link& link, Lines& lines);
    void dump_unnamed_types();
    void dump_comment(Lines& lines, const Object& object);
    void dump_object_id(Lines& lines, std::int32_t id);
    void count_opened(ObjectType type);
    void count_traversed(ObjectType type);

    // dump_object.cpp: datatypes, attributes
    void dump_named_type(NamedDatatype& type, std::string_view name);
    void dump_attributes(const Object& object, bool tracks_order);
    void dump_attribute(Lines& lines, std::string_view name, Attribute& attribute);
    void dump_datatype(Lines& lines, DatatypeView type, Address committed);
    void put_datatype(ElementText& text, Lines& lines, DatatypeView type, Address committed);
    void dump_dataspace(Lines& lines, const Dataspace& space);

    // dump_dataset.cpp
    void dump_dataset(Dataset& dataset, std::string_view name, const Subset* subset);
    void dump_packed_bits(Lines& lines, DataSource& source, const Subset* subset);

    // dump_properties.cpp
    void dump_properties(Lines& lines, Dataset& dataset, DataSource& source);
    void dump_layout(Lines& lines, Dataset& dataset, const DatasetInfo& info, const DataSource& source);
    void dump_chunked(Lines& lines, Dataset& dataset, const DatasetInfo& info, const DataSource& source);
    void dump_mappings(Lines& lines, Dataset& dataset, const DatasetInfo& info);
    void dump_selection(Lines& lines, const SelectionSet& selection);
    void dump_filters(Lines& lines, Dataset& dataset, const DatasetInfo& info);
    void dump_szip(Lines& lines, std::uint32_t options, std::uint32_t pixels);
    void dump_fill_value(Lines& lines, Dataset& dataset, const DatasetInfo& info, DataSource& source);

    // dump_data.cpp: values
    void dump_data(Lines& lines, DataSource* source, const Subset* subset);
    Status dump_values(Lines& lines, const TextFormat& format, DataSource& source);
    void dump_subset_header(Lines& lines, const Subset& subset, unsigned rank);
    Status dump_subset(Lines& lines, const TextFormat& format, DataSource& source, const Subset& subset);
    Status dump_slab(Lines& lines, const TextFormat& format, DataSource& source, const Subset& subset, Subset slab,
                     unsigned row_dimension, std::uint64_t rows);

    // dump_reference.cpp
    // Size in bytes of the largest reference element that is printed: a revised reference (object2, region2,
    // attribute) has at most 18 bytes.
    static constexpr std::size_t kMostReferenceBytes = 18;
    void dump_references(Lines lines, DataSource& source);
    void dump_region(Lines& lines, const Object& container, ReferenceType kind, ConstBytes stored, std::uint64_t i);
    void dump_referenced_attribute(Lines& lines, const Object& container, ConstBytes stored, std::uint64_t i);
    TextFormat reference_format() const;
    void open_block(Lines& lines, std::string_view brace, std::uint64_t i);
    void close_block(Lines& lines, std::uint64_t i);
    void block_line(Lines& lines, std::string_view content, std::uint64_t i);
    void dump_shape(Lines& lines, DatatypeView type, Address committed, const Dataspace& space, std::uint64_t i);
    void put_revised_reference(TextSink& sink, const Object& container, ConstBytes stored);
    void put_reference(TextSink& sink, const Object& container, ReferenceType type, ConstBytes stored);
    bool put_selection(TextSink& sink, const SelectionSet& selection);
    void dump_referenced(Lines& lines, Object&& object);

    // dump_select.cpp: single objects
    void dump_item(const DumpItem& item);
    void dump_selected_group(const Group& from, std::string_view path, std::string_view shown_name, bool complain);
    void dump_selected_dataset(const Group& from, std::string_view path, std::string_view shown_name,
                               const Subset* subset, bool complain);
    void dump_selected_type(const Group& from, std::string_view path, std::string_view shown_name, bool complain);
    void dump_selected_link(std::string_view path);
    void dump_selected_attribute(const Group& from, std::string_view path);
    void dump_any(std::string_view path);
    bool complete_subset(Subset& subset, std::size_t rank);

    // Prints `text` as a line of its own.
    void line(Lines& lines, std::string_view text);
    [[gnu::format(printf, 3, 4)]] void line_print(Lines& lines, const char* format, ...);
    void named_line(Lines& lines, const char* keyword, std::string_view name, const char* after);
    Lines new_lines() const { return Lines(indent_); }
    // Sets `before` to whether the object has been printed before, and remembers it as printed. An object with one
    // link is neither looked up nor remembered, except beyond external links. Returns false after reporting an error.
    bool seen_before(const Object& object, std::uint32_t reference_count, bool& before);
    void put_path(TextSink& sink, Address address);
    Context& context() { return session_.context(); }

    Session& session_;
    const DumpOptions& options_;
    Report& report_;
    Output out_;
    Printer printer_;
    TextFormat format_;
    ElementText text_;       // scratch text of a single line; calls that print may overwrite it
    std::string path_;       // the file's name, as it was opened
    unsigned indent_ = 0;    // levels of indentation
    bool below_ = false;     // within a group that is being printed
    bool external_ = false;  // printing the target of an external link
    bool unnamed_types_ = false;
    unsigned reference_depth_ = 0;
    ObjectIds ids_;
    DumpedFile* files_ = nullptr;  // the file of the command line, then those that external links lead into
    DumpedFile* file_ = nullptr;   // the one that is being printed
};

}  // namespace h5mote::cli
