// h5check - the walk over a whole file: what is common to the checks of all structures.
//
// A file is walked once to verify it and to find its objects, and then again, silently, as often as the table of blocks
// needs to see the whole file. Whatever a check finds is reported where it is found; the check then gives up the
// structure by returning kReported, which goes no further than to whoever began with that structure: go_on().
//
// Most damage is found by the same code that reads files. judge() turns its status and its newest record in the error
// trail into a problem.
#pragma once

#include "block_visitor.hpp"
#include "checked.hpp"
#include "extent_table.hpp"
#include "file_state.hpp"
#include "global_heap.hpp"
#include "header.hpp"
#include "header_list.hpp"
#include "link_message.hpp"
#include "messages.hpp"
#include "object_table.hpp"
#include "symbol_entry.hpp"
#include "used_runs.hpp"

#include <h5mote/check.hpp>

namespace h5mote {

class FractalHeap;
class BTree2;
struct FreeSpaceHeader;

/// The structure at hand cannot be followed further, which was reported.
inline constexpr Status kReported = Status::busy;

/// Turns kReported into ok: a structure that was given up because of damage is no reason to stop the walk.
inline Status go_on(Status status) noexcept { return status == kReported ? Status::ok : status; }

/// What an object header says, gathered while its messages are verified.
struct HeaderFacts {
    std::uint32_t present = 0;   ///< bit n: there is a message of type n
    std::uint32_t recorded = 1;  ///< links that the header counts
    bool damaged = false;        ///< a message that is no attribute is damaged: raw data cannot be followed
    SymbolTableMessage symbols;
    LinkInfoMessage links;
    AttributeInfoMessage attributes;

    bool has(MessageType type) const noexcept { return (present >> static_cast<unsigned>(type) & 1U) != 0; }
    bool is_group() const noexcept { return has(MessageType::link_info) || has(MessageType::symbol_table); }
    /// Whether this is a committed datatype. A header that has a dataspace as well is that of a dataset without its
    /// layout.
    bool is_datatype() const noexcept { return has(MessageType::datatype) && !has(MessageType::dataspace); }
};

class Checker {
public:
    Checker(FileState& file, const CheckOptions& options, CheckReporter& reporter) noexcept;
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// The state of an open file, or nullptr.
    static FileState* state_of(File& file) noexcept { return file.file_; }
    Status run(CheckSummary& summary) noexcept;
    /// Walks once over the file, and adds all blocks that something in it uses to `runs`. Whatever is damaged, or
    /// cannot be verified, ends in an error: corrupt_file, unsupported, io_error, out_of_memory. A walk that is not the
    /// first meets the same objects as the first one. Takes memory for as many objects as there are. The first walk
    /// adds to `ahead` the datasets that have chunks wholly beyond their extent.
    Status find_used(UsedRuns& runs, HeaderList& ahead) noexcept;

    FileState& file() noexcept { return file_; }
    FileShape shape() const noexcept { return file_.shape(); }
    const CheckOptions& options() const noexcept { return options_; }
    /// The walk that verifies; later ones only look for blocks that overlap.
    bool verifying() const noexcept { return walks_ == 0; }
    bool knows(Address header) noexcept { return objects_.has(header); }
    /// Whether values of that kind must be followed, and nothing else of the raw data is looked at: find_used().
    bool only_space() const noexcept { return runs_ != nullptr; }
    /// What find_used() returns in the end, unless there was another error before: something was left out.
    void refuse(Status status) noexcept { refusal_ = refusal_ == Status::ok ? status : refusal_; }
    /// The dataset at hand has a chunk wholly beyond its extent. out_of_memory.
    Status found_ahead() noexcept { return only_space() && verifying() ? ahead_->add(object_) : Status::ok; }

    /// Reports and returns kReported.
    Status bad(ProblemKind kind, CheckPart part, Address address, std::uint64_t number = 0) noexcept;
    Status note(ProblemKind kind, CheckPart part, Address address, std::uint64_t number = 0) noexcept;
    /// Judges the status of a library call: damage is reported and becomes kReported; ok and other errors are returned.
    Status judge(Status status, CheckPart part, Address address) noexcept;
    /// [address, address + size) belongs to the object at hand. kReported: it is not in the file. `shared`: it may
    /// belong to others as well.
    Status use(CheckPart part, Address address, Address size, bool shared = false) noexcept;
    /// Tells the reporter of a structure, once.
    void tell(const Structure& structure) noexcept {
        if (verifying() && !only_space()) {
            reporter_.structure(structure);
        }
    }
    /// Counts one more link or use of the object with that header.
    Status link_to(Address header) noexcept;
    /// Opens a block of metadata for reading, and counts it as a block of the object at hand.
    Status open(CheckPart part, Address address, Address size, bool checksummed, MetadataWindow& window) noexcept;

    // Defined in the check_*.cpp files. They report what they find, and return kReported, out_of_memory, over_budget or
    // ok.
    Status check_header(Address header, HeaderFacts& facts) noexcept;
    Status check_symbol_table(Address tree, Address heap) noexcept;
    Status check_dense_links(const LinkInfoMessage& info) noexcept;
    Status check_dense_attributes(const AttributeInfoMessage& info) noexcept;
    Status check_link(ConstBytes body, LinkMessage& link) noexcept;
    /// An attribute message; `hash` becomes that of its name. `shared`: it is a shared message, which its index counts
    /// as one user of a committed datatype, however many objects have the attribute.
    Status check_attribute(MetadataWindow& bytes, Address address, bool shared, std::uint32_t& hash) noexcept;
    Status check_dataset(Address header) noexcept;
    Status check_shared_messages() noexcept;
    /// Checks the headers that indexes of shared messages lead to. Call when all objects are known.
    Status check_message_owners() noexcept;
    Status check_fractal_heap(FractalHeap& heap, Address address) noexcept;
    Status check_local_heap(Address address) noexcept;
    /// Checks that the list of a free-space manager fills its space.
    Status check_list_size(Address manager) noexcept;
    /// Opens a B-tree 2 and adds its nodes to the table of blocks.
    Status check_btree2(BTree2& tree, CheckPart part, Address address) noexcept;
    /// Checks an element of variable-length data: its length in 4 bytes, then its id in the global heap.
    Status check_heap_id(ConstBytes id) noexcept;
    /// Checks the collection of an object in the global heap, and that the object is there.
    Status check_heap_object(const GlobalHeapId& place) noexcept;
    /// Checks the variable-length data in `elements` values of a type that has some.
    Status check_values(DatatypeView type, MetadataWindow& bytes, Address offset, std::uint64_t elements) noexcept;
    /// Checks a value of a valid type, and what it leads to in the global heap.
    Status check_value(DatatypeView type, ConstBytes value) noexcept;

private:
    Status walk() noexcept;
    Status check_superblock() noexcept;
    Status check_extension() noexcept;
    Status check_cache_image(ConstBytes body) noexcept;
    Status check_file_space(ConstBytes body) noexcept;
    class Sections;
    Status check_free_space(Address manager, Address tail) noexcept;
    void check_list_size(const FreeSpaceHeader& manager) noexcept;
    Status check_sequence(DatatypeView type, ConstBytes value) noexcept;
    Status check_reference(DatatypeView type, ConstBytes value) noexcept;
    Status check_object(std::uint32_t i) noexcept;
    void tell_message(MessageType type, std::byte first) noexcept;
    Status check_message(MessageIterator& message, HeaderFacts& facts) noexcept;
    Status check_body(MessageType type, ConstBytes body, HeaderFacts& facts) noexcept;
    void check_reference_counts() noexcept;
    void find_overlaps() noexcept;
    void found_unused(Address begin, Address end) noexcept;
    void report(const Problem& problem) noexcept;

    FileState& file_;
    CheckOptions options_;
    CheckReporter& reporter_;
    CheckSummary summary_;
    ObjectTable objects_;
    ExtentTable extents_;
    GlobalHeap global_heap_;
    Address collection_ = kUndefinedAddress;  // the global heap collection that was verified last
    Address object_ = kUndefinedAddress;      // header of the object at hand
    Problem last_;
    Address reach_ = 0;  // end of the blocks so far, and address of the block that ends there
    Address reached_by_ = kUndefinedAddress;
    std::uint32_t walks_ = 0;
    bool complete_ = true;  // nothing was given up so far
    bool unreadable_ = false;
    UsedRuns* runs_ = nullptr;     // find_used(): where the blocks go instead of the table
    HeaderList* ahead_ = nullptr;  // find_used(): datasets with chunks beyond their extent
    Status refusal_ = Status::ok;
    Address free_ = 0;  // bytes that the file's free-space managers name
};

/// Shows the blocks of a structure to the checker.
class UsedBlocks final : public BlockVisitor {
public:
    /// `tree`: the part that nodes of B-trees are counted for.
    UsedBlocks(Checker& checker, CheckPart tree) noexcept : checker_(checker), tree_(tree) {}
    Status block(BlockKind kind, Address address, Address size) noexcept override;

private:
    Checker& checker_;
    CheckPart tree_;
};

/// Whether values of a valid type may lead into the global heap.
bool has_heap_data(DatatypeView type) noexcept;

}  // namespace h5mote
