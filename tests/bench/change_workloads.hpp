// Changes of large files with two libraries, h5mote (h5mote_changing.cpp) and libhdf5 (libhdf5_changing.cpp, which also
// makes the files that are changed and copied).
//
// Both write the structures of HDF5 1.10, and neither makes anything durable. Both have 1 MiB for chunks, and 1 MiB
// to copy data through, and may use up to 32 MiB for metadata, which is how far libhdf5's cache grows by default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t kManyLinks = 100000;
inline constexpr std::size_t kManyAttributes = 100000;
inline constexpr std::size_t kGrowSteps = 200;   ///< in each of two dimensions
inline constexpr std::size_t kGrowBy = 8;        ///< rows or columns a step; chunks have twice as many
inline constexpr std::size_t kObjects = 2000;    ///< every second one is deleted
inline constexpr std::size_t kCreated = 1000;    ///< datasets
inline constexpr std::size_t kCreatedSize = 16;  ///< elements of each
inline constexpr std::size_t kTreeGroups = 100;
inline constexpr std::size_t kTreeDatasets = 99;  ///< in each group

/// The name of a link or attribute: `stem` and five digits.
std::string numbered(const char* stem, std::size_t i);

/// The elements that step `i` of Changing::grow() adds: with even numbers kGrowBy rows, and with odd ones as many
/// columns.
std::vector<std::int32_t> grow_values(std::size_t i);

/// A number for one dataset, from its path, its elements and the value of its attribute, 0 if it has none.
std::uint64_t fingerprint_of(const std::string& path, const std::vector<std::byte>& elements, std::int32_t attribute);

/// One library that changes files, one at a time. Functions throw std::runtime_error when the library reports an error.
class Changing {
public:
    enum class Mode { create, change, read };

    virtual ~Changing() = default;
    virtual const char* name() const = 0;

    virtual void open(const std::string& path, Mode mode) = 0;
    /// Closes the file, which hands all data to the operating system.
    virtual void close() = 0;

    /// Makes the group /created with kCreated contiguous datasets of kCreatedSize int32, "dataset00000" and so on, each
    /// of which has its number in all elements. The group gets dense storage.
    virtual void create_datasets() = 0;

    /// Makes the groups /links and /target, and in the first kManyLinks hard links to the second, named "link00000" and
    /// so on. The group gets dense storage.
    virtual void insert_links() = 0;
    /// Looks up each of these links, in an order unlike that of the names; returns the number of those that lead to
    /// /target.
    virtual std::size_t look_up_links() = 0;

    /// Makes the group /attributes with kManyAttributes attributes of one int32, "attribute00000" and so on, whose
    /// values are their numbers. They get dense storage.
    virtual void insert_attributes() = 0;
    /// Reads each of these attributes by its name, in an order unlike that of the names; returns the number of those
    /// with the right value.
    virtual std::size_t look_up_attributes() = 0;

    /// Makes the dataset /grown of int32 in chunks of 2 kGrowBy x 2 kGrowBy, which may grow in both dimensions. Begins
    /// with 0 x kGrowBy elements, and adds kGrowSteps times first rows and then columns; `steps` has the elements that
    /// each of these steps writes.
    virtual void grow(const std::vector<std::vector<std::int32_t>>& steps) = 0;

    /// Writes the dataset /strings of variable-length strings.
    virtual void write_strings(const std::vector<const char*>& texts) = 0;
    virtual std::vector<std::string> read_strings() = 0;

    /// Deletes every second dataset of the group /objects: numbers 0, 2 and so on.
    virtual void delete_objects() = 0;

    /// Copies /tree to /copy in the same file.
    virtual void copy_tree() = 0;
    /// Makes a file, copies /tree into it, and closes it.
    virtual void copy_tree(const std::string& to) = 0;
    /// Makes a file, copies everything into it, and closes it.
    virtual void repack(const std::string& to) = 0;

    /// The sum of fingerprint_of() all datasets. Of their elements, those of 4 bytes are read as int32 and those of 8
    /// as double; the attribute is called "number".
    virtual std::uint64_t fingerprint() = 0;
};

std::unique_ptr<Changing> make_h5mote_changing();
std::unique_ptr<Changing> make_libhdf5_changing();

/// Makes a file, with libhdf5, that has the group /tree with kTreeGroups groups of kTreeDatasets datasets of ten int32,
/// each with an attribute.
void make_tree_file(const std::string& path);
/// Makes a file, with libhdf5, that has the group /objects with kObjects such datasets, "object00000" and so on.
void make_objects_file(const std::string& path);
/// Makes a file, with libhdf5, of 100 MB: /contiguous and /chunked of 40 MB each, and /deflated.
void make_large_file(const std::string& path);

}  // namespace bench
