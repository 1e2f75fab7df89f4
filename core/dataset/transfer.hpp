// H5D I/O - one transfer between a dataset and a buffer.
#pragma once

#include "chunked_runs.hpp"
#include "conversion.hpp"
#include "prepare.hpp"
#include "raw_data.hpp"
#include "selection_runs.hpp"

namespace h5mote {

/// What a call asks a transfer to do. The selections and extents are borrowed from the caller.
struct TransferRequest {
    const Selection& selection;  ///< of the dataset
    DatatypeView type;           ///< of the elements in memory
    const Dataspace* memory;     ///< the buffer's extent; nullptr: packed in the order of the selection
    const Selection* memory_selection = nullptr;  ///< in `memory`
    Bytes data;                                   ///< the caller's buffer; a transfer that writes only reads it
    bool write = false;
    bool stored = false;     ///< elements in the file's form; an empty `type` is the dataset's own
    std::uint8_t depth = 0;  ///< number of virtual datasets in the chain that leads to this one as a source
};

/// Checks a request and carries it out. Its working state is allocated from the library's memory meanwhile: iterators
/// of rank 32 are too large for the stack of a small machine.
H5MOTE_STEP Status transfer(DatasetState& dataset, const TransferRequest& request) noexcept;

class Transfer {
public:
    Transfer(DatasetState& dataset, const TransferRequest& request) noexcept;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
        if constexpr (H5MOTE_ALL_FORMATS != 0 && H5MOTE_WRITE != 0) {
            file_.context.destroy(MemoryKind::other, fill_);
        }
    }

    H5MOTE_STEP Status run() noexcept;

private:
    Status check_sizes(std::uint64_t count) noexcept;
    H5MOTE_STEP Status prepare() noexcept;
    Status transfer_all() noexcept;
    H5MOTE_STEP Status chunked() noexcept;
    // Reading variable-length data: makes the sequences of all selected elements in memory empty; `release`: frees them
    // first.
    void empty_sequences(bool release) noexcept;

    // Reading. read_memory(), read_raw() and read_nothing() deliver all runs of a chunk or of the whole data that is in
    // memory at `at`, in the file (raw_), or was never stored. The from_ functions deliver one piece each.
    H5MOTE_STEP Status read_whole() noexcept;
    Status read_chunks(ChunkedRuns& runs) noexcept;
    H5MOTE_STEP Status read_chunk(ChunkedRuns& runs, const ChunkKey& key) noexcept;
    H5MOTE_STEP Status read_stored_chunk(ChunkedRuns& runs, const ChunkKey& key, ChunkSlot*& slot, bool& read) noexcept;
    Status read_memory(BoxRuns& runs, const std::byte* at) noexcept;
    Status read_raw(BoxRuns& runs) noexcept;
    Status read_nothing(BoxRuns& runs) noexcept;
    Status from_memory(const std::byte* at, const PairedRun& piece) noexcept;
    Status from_raw(const PairedRun& piece) noexcept;
    Status from_nothing(const PairedRun& piece) noexcept;

    // Writing. Short pieces that follow each other in the file wait in a window for one write: flash programs whole
    // pages, and a call of the operating system takes as long for few bytes as for many.
    static constexpr std::size_t kWindow = 512;
    static constexpr std::size_t kMostGap = 64;
    struct Window {
        std::uint64_t data_end;            // of the chunk or dataset; 0: external data, of which nothing is read ahead
        std::uint64_t at = 0;              // as put() takes it
        const std::byte* bytes = nullptr;  // the filters' scratch memory or, of one piece, the caller's buffer
        std::size_t size = 0;              // from `at` on, to be written; 0: there are none
        std::size_t known = 0;             // of the scratch memory: from `at` on, as in the file or newer
    };
    H5MOTE_STEP Status write_whole() noexcept;
    H5MOTE_STEP Status write_compact(SelectionRuns& runs) noexcept;
    Status write_chunks(ChunkedRuns& runs) noexcept;
    Status to_memory(std::byte* at, const PairedRun& piece) noexcept;
    Status to_elements(std::byte* to, std::size_t count, std::uint64_t from) noexcept;
    Status to_header(MessageIterator& message, std::size_t offset, const PairedRun& piece) noexcept;
    Status to_file(Window& window, std::uint64_t address, const PairedRun& piece) noexcept;
    Status convert_to(std::uint64_t at, const PairedRun& piece, Bytes buffer) noexcept;
    Status to_window(Window& window, std::uint64_t at, std::size_t bytes, const PairedRun& piece) noexcept;
    Status put_window(Window& window) noexcept;
    // Read and write bytes of the storage or, if `address` is an offset in external data, of the files there.
    Status get(std::uint64_t address, Bytes to) noexcept;
    Status put(std::uint64_t address, ConstBytes from) noexcept;
    Status order_heap() noexcept;

    Status invalid(SourcePlace place, std::uint64_t value = 0) noexcept {
        return file_.context.fail(Module::dataset, place, Status::invalid_argument, 0, value);
    }
    std::byte* user(std::uint64_t element) const noexcept {
        return request_.data.data() + static_cast<std::size_t>(element * memory_size_);
    }
    bool writing() const noexcept { return H5MOTE_WRITE != 0 && request_.write; }

    DatasetState& dataset_;
    FileState& file_;
    const TransferRequest& request_;
    Conversion conversion_;
    Dataspace space_;
    PairedRuns pairs_;
    RawData raw_;
    FileSource source_;
    std::uint32_t memory_size_ = 0;
    std::uint32_t element_size_ = 0;
    std::uint64_t count_ = 0;     // of selected elements
    bool to_heap_ = false;        // elements that are written have parts in the global heap ...
    bool replaces_heap_ = false;  // ... and may take the place of others, in an order
    bool refers_ = false;         // elements that are written may refer to objects there, old ones or new
    OwnFill* fill_ = nullptr;     // where the fill value has parts in the heap, too
    ChunkLookup lookup_;
    union Walk {
        Walk() noexcept {}
        ~Walk() {}
        ChunkedRuns chunks;
        SelectionRuns whole;
    } walk_;
};

}  // namespace h5mote
