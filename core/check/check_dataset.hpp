// H5D - what the checks of a dataset's storage share.
#pragma once

#include "checker.hpp"
#include "chunk_element.hpp"

namespace h5mote {

/// One dataset under check, with all that its raw data must fit: dataspace, datatype, filters and layout.
class DatasetCheck {
public:
    static constexpr unsigned kMaxRank = H5MOTE_MAX_RANK;

    explicit DatasetCheck(Checker& the_checker) noexcept : checker(the_checker) {}
    DatasetCheck(const DatasetCheck&) = delete;
    DatasetCheck& operator=(const DatasetCheck&) = delete;
    ~DatasetCheck();

    Status run(Address header) noexcept;
    bool filtered() const noexcept { return filters != 0; }
    /// Number of chunks of the largest extent, or ~0 when it has no limit.
    std::uint64_t most_chunks() const noexcept;
    /// Number of chunks of the current extent, as the index numbers them: only unlimited dimensions count with their
    /// current size, the others with their largest.
    std::uint64_t chunks_now() const noexcept;
    /// Checks a chunk that an index names; `index` is the address at which a wrong entry is reported. `scaled`: the
    /// chunk's coordinates, if the index tells them; `place`: if they follow from its number there.
    Status chunk(const ChunkLocation& location, const std::uint64_t* scaled, Address index,
                 const std::uint64_t* place = nullptr) noexcept;
    /// The format of the index's elements, which say where a chunk is.
    ChunkElementFormat element() const noexcept {
        const std::uint8_t width =
            layout.version > 4 ? checker.shape().sizeof_size : ChunkElementFormat::width_for(narrow(chunk_bytes));
        return {checker.shape(), filtered() ? width : std::uint8_t{0}};
    }

    Status check_fixed_array(Address address) noexcept;
    Status check_extensible_array(Address address) noexcept;
    Status check_btree1(Address address) noexcept;
    Status check_btree2(Address address) noexcept;

    Checker& checker;
    LayoutMessage layout;
    unsigned rank = 0;
    unsigned filters = 0;
    std::uint32_t element_size = 0;
    bool null_space = false;
    bool external = false;
    std::uint64_t elements = 0;
    std::uint64_t chunk_bytes = 0;
    std::uint64_t dims[kMaxRank];
    std::uint64_t max_dims[kMaxRank];
    std::uint64_t chunk_dims[kMaxRank + 1];

private:
    Status load(Address header) noexcept;
    Status load_space(Address header) noexcept;
    Status load_type(Address header) noexcept;
    Status load_layout(Address header) noexcept;
    bool fits_index() const noexcept;
    Status load_filters(Address header) noexcept;
    Status check_fill(Address header) noexcept;
    Status check_compact(Address header) noexcept;
    Status check_contiguous() noexcept;
    Status check_implicit() noexcept;
    Status check_chunked() noexcept;
    Status check_data(const ChunkLocation& location, const std::uint64_t* scaled, bool encoded) noexcept;
    Status check_elements(MetadataWindow& window, Address chunk, const std::uint64_t* scaled) noexcept;

    Bytes type_;      // datatype of an element, if its values lead into the global heap
    Bytes pipeline_;  // the filter pipeline message
};

}  // namespace h5mote
