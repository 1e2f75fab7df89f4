// h5check - verifies every structure of a file: what is wrong, and where.
#pragma once

#include <h5mote/file.hpp>

namespace h5mote {

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
    unreadable,       ///< the storage could not be read at that address
    truncated,        ///< the file ends before its recorded end; number: the recorded end
    outside,          ///< the structure lies partly or wholly outside of the file
    checksum,         ///< the checksum is not that of the bytes
    malformed,        ///< the bytes contradict the format; number: message type, if it is a message
    order,            ///< keys, records or names do not ascend, or are not within the range that the node above gives
    siblings,         ///< the nodes beside this one are not those that it names; a note: it names another place
                      ///< in the file, one behind its end, or none, as a power cut may leave it
    endless,          ///< more blocks than the file has room for
    count,            ///< the recorded number of entries is not the real one; number: the real one. A note: the number
                      ///< of shared messages is too high, as a power cut may leave it
    reference_count,  ///< an object's count of links is wrong; number: the hard links and uses that were found. Too
                      ///< high: a note
    hash,             ///< the hash is not that of the name or message
    extent,           ///< a chunk lies outside of the largest extent of its dataset, or between chunks; a note: it lies
                      ///< outside of the present extent, as a power cut may leave it
    size,             ///< the structure cannot have its size; number: the size
    statistics,       ///< a note: a header's statistics of its blocks are wrong; number: the right value
    free_list,        ///< the list of free blocks is damaged
    overlap,          ///< shares bytes with another structure; number: the address of that one
    data,             ///< the raw data cannot be decoded by their filters, or fail a checksum
    missing_heap_object,  ///< a value refers to an object that its global heap collection does not have; number: the
                          ///< object's index
    unknown,              ///< this build does not know the structure; number: a Feature. A missing filter is a note
    too_large,            ///< a note: there is too little memory to verify it; number: the bytes that it takes
    open_for_writing,     ///< a note: the file is marked as open for writing; number: the flags
};
inline constexpr unsigned kProblemKinds = 21;

struct Problem {
    ProblemKind kind = ProblemKind::malformed;
    CheckPart part = CheckPart::superblock;
    bool note = false;                    ///< worth knowing, but nothing is wrong
    Address address = kUndefinedAddress;  ///< address of the structure, as the file counts
    std::uint64_t number = 0;             ///< as ProblemKind says
    Address object = kUndefinedAddress;   ///< header of the object that the structure belongs to, if it belongs to one
};

/// A structure that was met: one object header, one message, one shared message, one node or block of an index or heap.
struct Structure {
    CheckPart part = CheckPart::superblock;
    std::uint8_t message = 0;  ///< type of a message, attribute or shared message: specification IV.A.2
    std::uint8_t version = 0;  ///< of a superblock, object header, message or attribute; 0 where it has none
    /// Part `chunk`: the ChunkIndex of a chunked dataset, whose layout message has `version`. Part `shared_messages`:
    /// what kind of index the message is in, 0 for a list, 1 for a version 2 B-tree.
    std::uint8_t index = 0;
    /// Part `shared_messages`: how often the message is used, as its index counts.
    std::uint32_t users = 0;
};

/// Receives the problems that are found, in no particular order.
class CheckReporter {
public:
    virtual void problem(const Problem& problem) noexcept = 0;
    /// [address, address + size) of the file belongs to no structure that was met. Called in the order of addresses;
    /// two such ranges may lie side by side. Of a file in parts, addresses that no part holds are left out.
    virtual void unused(Address /*address*/, std::uint64_t /*size*/) noexcept {}
    /// The file has such a structure. Called once for each: every superblock, object header and message, every shared
    /// message, and every block of indexes and heaps, but not for raw data.
    virtual void structure(const Structure& /*structure*/) noexcept {}

protected:
    CheckReporter() = default;
    CheckReporter(const CheckReporter&) = delete;
    CheckReporter& operator=(const CheckReporter&) = delete;
    ~CheckReporter() = default;
};

struct CheckOptions {
    /// Bytes for two tables. Half of them hold the objects, 24 bytes each, with room for eight at least. The other half
    /// serves to find blocks that overlap, 32 bytes each, with room for four at least; where it cannot hold all blocks
    /// of the file, the file is walked several times. Windows into metadata, and chunks while they are decoded, come on
    /// top.
    std::size_t memory = 16384;
    /// Also decodes every filtered chunk, and follows all variable-length data into the global heap.
    bool data = true;
};

struct CheckSummary {
    std::uint64_t objects = 0;
    std::uint64_t problems = 0;
    std::uint64_t notes = 0;
    std::uint64_t used = 0;    ///< bytes of the file that belong to a structure
    std::uint64_t unused = 0;  ///< bytes that belong to none: free + lost. Of a file in parts, what the parts hold
    std::uint64_t free = 0;    ///< of these, bytes that are known to be free: the file records it, or, while it is open
                               ///< to be changed, this session knows it
    std::uint64_t lost = 0;    ///< the others: File::reclaim() finds them
    std::uint32_t walks = 0;   ///< number of walks over the file
};

/// Verifies the whole file as it stands in the storage; changes that were not flushed are flushed first. After a
/// problem the check goes on with everything that does not depend on it. ok: everything was looked at, whatever was
/// found. over_budget: there are more objects than the memory has room for. out_of_memory; also what flush() returns.
/// The error trail is emptied.
///
/// Every object that hard links lead to from the root group is looked at once. Soft and external links may lead
/// nowhere. Space that belongs to no structure is no problem.
///
/// An object with fewer hard links than it counts is only a note: a power cut may leave it so, and its only harm is
/// that such an object is never deleted. It is reported only as long as no problem was found before, since the missing
/// links may stand in a structure that is damaged.
H5MOTE_NEEDS_ALL_FORMATS Status check_file(File& file, const CheckOptions& options, CheckReporter& reporter,
                                           CheckSummary* summary = nullptr) noexcept;

}  // namespace h5mote
