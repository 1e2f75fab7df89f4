// Shared by the fuzz targets of filters: an input is a stored chunk with the client data of its filters. The seeds are
// made by filter_vectors.py --seeds. Layout, with sizes in bytes:
//
//   size of the decoded chunk 2 | filter mask 1 | number of filters 1
//   | for each filter: index in kFilters 1, number of values 1, values 4 each | stored chunk
#pragma once

#include "cursor.hpp"
#include "pipeline.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace h5mote_fuzz {

inline constexpr const h5mote::Filter* kFilters[] = {
    &h5mote::deflate_filter, &h5mote::shuffle_filter,     &h5mote::fletcher32_filter, &h5mote::szip_filter,
    &h5mote::nbit_filter,    &h5mote::scaleoffset_filter, &h5mote::lzf_filter,        nullptr};
inline constexpr std::size_t kKinds = sizeof kFilters / sizeof kFilters[0];
inline constexpr unsigned kMostFilters = 4;

/// Encodes a decoded chunk, in exactly as much memory as the filter asks for. What comes of it can be decoded again, to
/// the same bytes if the filter loses none.
inline void encode(const h5mote::FilterSpec& spec, const h5mote::Filter& filter, h5mote::ConstBytes chunk) {
    using namespace h5mote;
    const std::size_t limit = filter.encoded_limit(spec, chunk.size());
    const std::size_t need = filter.scratch_need(true, chunk.size());
    const std::unique_ptr<std::byte[]> scratch(new std::byte[need]);
    const std::unique_ptr<std::byte[]> out(new std::byte[limit]);
    std::size_t size = 0;
    const Status status = filter.encode(spec, chunk, {out.get(), limit}, size, {scratch.get(), need});
    if (status != Status::ok) {
        if (status != Status::no_space && status != Status::invalid_argument && status != Status::unsupported &&
            status != Status::read_only) {
            std::abort();
        }
        return;
    }
    const std::size_t decode_need = filter.scratch_need(false, size);
    const std::unique_ptr<std::byte[]> work(new std::byte[decode_need]);
    const std::unique_ptr<std::byte[]> back(new std::byte[chunk.size()]);
    std::size_t length = 0;
    const bool decoded = size <= limit && filter.decode(spec, {out.get(), size}, {back.get(), chunk.size()}, length,
                                                        {work.get(), decode_need}) == Status::ok;
    const bool rounds = spec.id == FilterId::scaleoffset && spec.value(3) == 1;
    if (!decoded || length != chunk.size() ||
        (!rounds && length != 0 && std::memcmp(back.get(), chunk.data(), length) != 0)) {
        std::abort();
    }
}

/// Decodes one input in exactly the memory that the pipeline asks for, and encodes the result. `only`: if not nullptr,
/// use this filter alone, with the first client data, whatever filters the input names.
inline void decode(const std::uint8_t* data, std::size_t size, const h5mote::Filter* only = nullptr) {
    using namespace h5mote;
    Reader reader({reinterpret_cast<const std::byte*>(data), size});
    const std::size_t chunk_size = reader.u16();
    const std::uint32_t mask = reader.u8();
    const unsigned filters = reader.u8() % kMostFilters + 1;
    FilterEntry entries[kMostFilters];
    const unsigned count = only == nullptr ? filters : 1;
    for (unsigned i = 0; i < count; ++i) {
        FilterEntry& entry = entries[i];
        const Filter* const named = kFilters[reader.u8() % kKinds];
        entry.filter = only == nullptr ? named : only;
        entry.spec.id = entry.filter == nullptr ? FilterId::none : entry.filter->id();
        const unsigned values = reader.u8();
        const ConstBytes encoded = reader.bytes(std::size_t{4} * values);
        entry.spec.value_count = static_cast<std::uint16_t>(encoded.size() / 4);
        entry.spec.encoded = encoded.data();
    }
    const ConstBytes stored = reader.rest();
    if (!reader.ok()) {
        return;
    }
    // Allocate exactly this size, so that the sanitizer notices an access to one byte more.
    const std::unique_ptr<std::byte[]> chunk(new std::byte[chunk_size]);
    FilterPipeline pipeline{{entries, count}};
    const std::size_t need = pipeline.decode_need(chunk_size, stored.size(), only == nullptr ? mask : 0);
    if (need > (std::size_t{1} << 22)) {
        std::abort();
    }
    const std::unique_ptr<std::byte[]> work(new std::byte[need]);
    Bytes place;
    const std::uint32_t used_mask = only == nullptr ? mask : 0;
    Status status =
        pipeline.stored_place(stored.size(), used_mask, {chunk.get(), chunk_size}, {work.get(), need}, place);
    if (status == Status::ok) {
        if (!place.empty()) {
            std::memcpy(place.data(), stored.data(), place.size());
        }
        FilterId failed = FilterId::none;
        status = pipeline.decode(place, used_mask, {chunk.get(), chunk_size}, {work.get(), need}, failed);
    }
    if (status != Status::ok && status != Status::corrupt_file && status != Status::unsupported) {
        std::abort();
    }
    if (status == Status::ok && only != nullptr) {
        encode(entries[0].spec, *only, {chunk.get(), chunk_size});
    }
}

}  // namespace h5mote_fuzz
