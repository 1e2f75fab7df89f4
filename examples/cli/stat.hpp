// h5mote stat - counts and sizes of what a file is made of, in the form that h5stat 1.10 prints, byte for byte.
#pragma once

#include "dataset_data.hpp"
#include "output.hpp"
#include "report.hpp"
#include "session.hpp"

#include <array>
#include <string>

namespace h5mote::cli {

/// Which statistics are printed, and below which numbers of links, elements and attributes each number has its own
/// line.
struct StatOptions {
    CommonOptions common;
    bool file = false;
    bool file_metadata = false;
    bool groups = false;
    bool group_metadata = false;
    bool datasets = false;
    bool dataset_metadata = false;
    bool types = false;
    bool attributes = false;
    bool free_space = false;
    bool summary = false;
    unsigned small_links = 10;
    unsigned small_dims = 10;
    unsigned small_attributes = 10;
    std::string name;
};

/// A histogram of numbers by how many decimal digits they have; zero counts as having none.
struct DigitBins {
    std::array<std::uint64_t, 21> count{};
    unsigned used = 0;

    void add(std::uint64_t number);
};

/// Counts how often each small number occurs. The memory comes from the library's allocator.
class SmallCounts {
public:
    explicit SmallCounts(Context& context) : context_(context) {}
    SmallCounts(const SmallCounts&) = delete;
    SmallCounts& operator=(const SmallCounts&) = delete;
    ~SmallCounts() { context_.release(MemoryKind::other, counts_, size_ * sizeof(std::uint64_t)); }

    /// Makes room to count the numbers below `size`; add() ignores larger ones.
    Status allocate(std::size_t size);
    void add(std::uint64_t number) {
        if (number < size_) {
            ++counts_[static_cast<std::size_t>(number)];
        }
    }
    std::size_t size() const { return size_; }
    std::uint64_t operator[](std::size_t i) const { return counts_[i]; }

private:
    Context& context_;
    std::uint64_t* counts_ = nullptr;
    std::size_t size_ = 0;
};

/// A datatype that datasets use; the encoded datatype message follows in memory.
struct StatType {
    StatType* next;
    std::uint64_t count;
    std::uint64_t named;
    std::size_t length;
    DatatypeView view() const { return DatatypeView(ConstBytes(reinterpret_cast<const std::byte*>(this + 1), length)); }
};

/// The free space that a file's free-space managers record (H5FS).
struct FreeSpace {
    static constexpr unsigned kSmall = 10;

    FreeSpaceInfo total;
    std::array<std::uint64_t, kSmall> small{};  ///< number of free sections by their size in bytes
    DigitBins bins;
};

/// The statistics of one file.
struct FileStatistics {
    static constexpr unsigned kSmallSection = FreeSpace::kSmall;

    explicit FileStatistics(Context& memory)
        : context(memory), small_groups(memory), small_datasets(memory), small_attributes(memory) {}
    FileStatistics(const FileStatistics&) = delete;
    FileStatistics& operator=(const FileStatistics&) = delete;
    ~FileStatistics();

    struct Headers {
        std::uint64_t total = 0;
        std::uint64_t free = 0;
    };

    Context& context;
    FileInfo info;
    FreeSpace free_space;
    std::uint64_t groups = 0, datasets = 0, named_types = 0, links = 0, others = 0;
    std::uint64_t most_references = 0;
    std::uint64_t most_links = 0;
    std::uint64_t most_attributes = 0;
    SmallCounts small_groups, small_datasets, small_attributes;
    DigitBins group_bins, dataset_bins, attribute_bins;
    Headers group_headers, dataset_headers, type_headers;
    StorageSize group_storage, attribute_storage, dataset_storage;
    unsigned most_rank = 0;
    std::array<std::uint64_t, H5MOTE_MAX_RANK + 1> ranks{};
    std::uint64_t longest_vector = 0;
    std::array<std::uint64_t, 4> layouts{};  // compact, contiguous, chunked, virtual
    std::array<std::uint64_t, 8> filters{};  // none, the six of libhdf5 by number, others
    std::uint64_t raw_data = 0;
    std::uint64_t external_data = 0;
    std::uint64_t external_files = 0;
    StatType* types = nullptr;
    std::uint64_t type_count = 0;
};

/// Walks all objects of the file and fills `statistics`. Returns the library's errors.
Status collect_statistics(File& file, const StatOptions& options, FileStatistics& statistics);

/// Prints what the options ask for.
void print_statistics(TextSink& out, const StatOptions& options, const FileStatistics& statistics);

}  // namespace h5mote::cli
