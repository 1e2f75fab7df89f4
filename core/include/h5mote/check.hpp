// h5check - verifies every structure of a file: what is wrong, and where.
#pragma once

#include <h5mote/file.hpp>

namespace h5mote {

#if H5MOTE_ALL_FORMATS

/// The structure that a problem is in.
enum class CheckPart : std::uint8_t {
    superblock,
    driver_information,
    object_header,
    message,  ///< Problem::number is its type: specification IV.A.2
    link,
    attribute,
    symbol_table_tree,
    symbol_table_node,
    local_heap,
    global_heap,
    fractal_heap,
    free_space,
    btree2,
    chunk_tree,
    fixed_array,
    extensible_array,
    chunk,
    raw_data,
    shared_messages,
};
inline constexpr unsigned kCheckParts = 19;

/// What is wrong.
enum class ProblemKind : std::uint8_t {
    unreadable,           ///< the storage could not be read there
    truncated,            ///< the file ends before its recorded end; number: that
    outside,              ///< lies partly or wholly outside of the file
    checksum,             ///< the checksum is not that of the bytes
    malformed,            ///< the bytes contradict the format; number: message type, if it is a message
    order,                ///< keys, records or names do not ascend, or not within what is above them
    siblings,             ///< the nodes beside it do not point back
    endless,              ///< more blocks than the file has room for
    count,                ///< says that it holds another number than there are; number: how many there are
    reference_count,      ///< of an object; number: the hard links and uses that were found. Too high: a note
    hash,                 ///< is not that of the name or message
    extent,               ///< a chunk lies outside of the largest extent of its dataset, or between chunks
    size,                 ///< cannot be of that size; number: the size
    statistics,           ///< a note: what the header counts of its blocks is not so; number: what is so
    free_list,            ///< the list of free blocks is damaged
    overlap,              ///< shares bytes with another structure; number: the address of that
    data,                 ///< the raw data do not pass their filters backwards (checksums among them)
    missing_heap_object,  ///< a global heap collection that has no such object; number: its index
    unknown,              ///< not known to this build; number: a Feature. A missing filter is a note
    too_large,            ///< a note: too little memory to verify it; number: the bytes it takes
    open_for_writing,     ///< a note: the file is marked as open for writing; number: the flags
};
inline constexpr unsigned kProblemKinds = 21;

struct Problem {
    ProblemKind kind = ProblemKind::malformed;
    CheckPart part = CheckPart::superblock;
    bool note = false;                    ///< worth knowing, but nothing is wrong
    Address address = kUndefinedAddress;  ///< of the structure, as the file counts
    std::uint64_t number = 0;             ///< as ProblemKind says
    Address object = kUndefinedAddress;   ///< header of the object that it belongs to, if to one
};

/// Is told what is found, in no particular order.
class CheckReporter {
public:
    virtual void problem(const Problem& problem) noexcept = 0;

protected:
    CheckReporter() = default;
    CheckReporter(const CheckReporter&) = delete;
    CheckReporter& operator=(const CheckReporter&) = delete;
    ~CheckReporter() = default;
};

struct CheckOptions {
    /// Bytes for tables: half of them for the objects, 24 bytes each but room for eight at least; with the other half
    /// blocks that overlap are looked for, in as many walks over the file as it needs, of one block in 32 bytes each.
    /// Windows into metadata and chunks that are decoded come on top.
    std::size_t memory = 16384;
    /// Passes every filtered chunk through its filters, and follows all variable-length data into the global heap.
    bool data = true;
};

struct CheckSummary {
    std::uint64_t objects = 0;
    std::uint64_t problems = 0;
    std::uint64_t notes = 0;
    std::uint64_t used = 0;    ///< bytes of the file that belong to a structure
    std::uint64_t unused = 0;  ///< bytes that belong to none
    std::uint32_t walks = 0;   ///< over the file
};

/// Verifies the whole file as it stands in the storage: changes that were not flushed are flushed first. After a
/// problem it goes on with what does not depend on it. ok: everything was looked at, whatever was found. over_budget:
/// more objects than there is memory for. out_of_memory; also what flush() returns. The error trail is emptied.
///
/// Every object that hard links lead to from the root group is looked at once. Soft and external links may dangle.
/// Space that belongs to nobody is no problem. What belongs to a structure that is damaged is not known, so that
/// objects with fewer links than they count are told of only as long as no structure before was; that is a note: no
/// program minds, only is such an object never deleted. A power cut may leave it so.
Status check_file(File& file, const CheckOptions& options, CheckReporter& reporter,
                  CheckSummary* summary = nullptr) noexcept;

#endif

}  // namespace h5mote
