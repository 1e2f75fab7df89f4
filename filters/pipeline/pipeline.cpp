#include "pipeline.hpp"

#include "checked.hpp"

namespace h5mote {
namespace {

constexpr std::size_t kTooLarge = SIZE_MAX;

std::size_t larger(std::size_t a, std::size_t b) noexcept { return a > b ? a : b; }

// Rounded up to 8; kTooLarge stays.
std::size_t rounded(std::size_t size) noexcept {
    return size > kTooLarge - 8 ? kTooLarge : (size + 7) & ~std::size_t{7};
}

// The most bytes that a filter may have made of `size` ones. libhdf5 also stores what an optional filter has made
// larger; builds for loggers read only what this library has written.
std::size_t stored_limit(const FilterEntry& entry, std::size_t size) noexcept {
    if constexpr (H5MOTE_ALL_FORMATS == 0) {
        return larger(size, entry.filter->encoded_limit(entry.spec, size));
    }
    FilterSpec spec = entry.spec;
    spec.optional = false;
    return larger(size, entry.filter->encoded_limit(spec, size));
}

// Whether a filter may have made fewer bytes.
bool may_shrink(const FilterEntry& entry) noexcept {
    return H5MOTE_ALL_FORMATS == 0 || entry.filter == nullptr ||
           !(entry.filter->keeps_size() || entry.spec.id == FilterId::fletcher32);
}

// Index of the highest bit that is set; there is one.
unsigned highest(std::uint32_t bits) noexcept { return 31U - static_cast<unsigned>(__builtin_clz(bits)); }

}  // namespace

std::size_t FilterPipeline::Plan::total() const noexcept {
    std::size_t sum = 0;
    return checked_add(state, first, sum) && checked_add(sum, second, sum) ? sum : kTooLarge;
}

std::uint32_t FilterPipeline::skip_all() const noexcept {
    return entries_.size() >= 32 ? ~0U : (1U << entries_.size()) - 1;
}

Status FilterPipeline::can_encode(const FilterTarget& target, FilterId& failed) const noexcept {
    FilterTarget here = target;
    for (const FilterEntry& entry : entries_) {
        failed = entry.spec.id;
        if (!entry.spec.optional) {
            H5MOTE_TRY(entry.filter == nullptr ? Status::unsupported : entry.filter->can_apply(entry.spec, here));
        }
        here.resized = here.resized || (entry.filter != nullptr && !entry.filter->keeps_size());
    }
    failed = FilterId::none;
    return Status::ok;
}

Status FilterPipeline::prepare(FilterTarget target, FilterId& failed, std::size_t& need) noexcept {
    H5MOTE_TRY(can_encode(target, failed));
    need = 0;
    Status room = Status::ok;
    for (FilterEntry& entry : entries_) {
        failed = entry.spec.id;
        if (entry.filter == nullptr) {
            continue;
        }
        // Builds for loggers have no filter with so many numbers.
        if constexpr (H5MOTE_ALL_FORMATS == 0) {
            H5MOTE_TRY(entry.filter->set_local(entry.spec, target));
            continue;
        }
        const Status status = entry.filter->set_local(entry.spec, target);
        const std::size_t values = std::size_t{4} * entry.spec.value_count;
        if (status == Status::over_budget) {
            need += values;
            room = status;
        } else {
            H5MOTE_TRY(status);
            if (entry.spec.encoded != nullptr && entry.spec.encoded == target.client_data.data()) {
                need += values;
                target.client_data = target.client_data.subspan(values);
            }
        }
    }
    H5MOTE_TRY(room);
    failed = FilterId::none;
    return entries_.size() <= 32 ? Status::ok : Status::invalid_argument;
}

// A plan that suffices whatever filters are skipped. Encoding: the first filter fills the first buffer, each later one
// needs the other unless it works in place. Decoding: the chunk serves as the other buffer if all results between fit
// there.
FilterPipeline::Plan FilterPipeline::any_plan(std::size_t chunk_bytes, bool encode) const noexcept {
    Plan plan;
    std::size_t bound = chunk_bytes;
    bool second = false;
    for (const FilterEntry& entry : entries_) {
        if (entry.filter == nullptr) {
            continue;
        }
        plan.state = larger(plan.state, rounded(entry.filter->scratch_need(encode, bound)));
        bound = larger(bound, entry.filter->encoded_limit(entry.spec, bound));
        second = second || (&entry != entries_.begin() && (encode || bound > chunk_bytes) && !entry.filter->in_place());
    }
    plan.first = entries_.empty() ? 0 : rounded(bound);
    plan.second = second ? plan.first : 0;
    return plan;
}

// Seen from the end of decoding: the last result goes into the chunk, its input is in the first buffer, the input of
// that one in the chunk again or, if it may not fit there, in the second buffer, and so on. Filters that can work in
// place always read from the first buffer.
FilterPipeline::Plan FilterPipeline::decode_plan(std::size_t chunk_bytes, std::size_t stored_bytes,
                                                 std::uint32_t filter_mask) const noexcept {
    Plan plan;
    const std::uint32_t run = active(filter_mask);
    std::size_t limit = chunk_bytes;
    unsigned known = 0;  // from this result on the sizes are at most that of what is stored
    for (unsigned i = 0; i < entries_.size(); ++i) {
        const FilterEntry& entry = entries_[i];
        if ((run >> i & 1) != 0) {
            limit = entry.filter == nullptr ? limit : stored_limit(entry, limit);
            known = may_shrink(entry) ? i : known;
        }
    }
    // More bytes than these filters make of a chunk: another writer stored a result that had grown, and the results
    // between may be as large.
    std::size_t bound = stored_bytes > limit ? stored_bytes : chunk_bytes;
    std::size_t second = 0;
    bool in_first = false;
    for (unsigned i = 0; run >> i != 0; ++i) {
        if ((run >> i & 1) == 0) {
            continue;
        }
        const FilterEntry& entry = entries_[i];
        bool in_place = false;
        if (entry.filter != nullptr) {
            in_place = entry.filter->in_place();
            bound = stored_limit(entry, bound);
            plan.state = larger(plan.state, rounded(entry.filter->scratch_need(false, bound)));
        }
        const std::size_t size = i >= known ? stored_bytes : bound;
        in_first = in_place || !in_first;
        if (in_first) {
            plan.first = larger(plan.first, rounded(size));
        } else {
            second = larger(second, size);
            plan.in_second |= 1U << i;
        }
        if (i == 31) {
            break;
        }
    }
    plan.second = second > chunk_bytes ? rounded(second) : 0;
    return plan;
}

std::size_t FilterPipeline::decode_need(std::size_t chunk_bytes, std::size_t stored_bytes,
                                        std::uint32_t filter_mask) const noexcept {
    return decode_plan(chunk_bytes, stored_bytes, filter_mask).total();
}

std::size_t FilterPipeline::scratch_need(std::size_t chunk_bytes, bool encode) const noexcept {
    return any_plan(chunk_bytes, encode).total();
}

Status FilterPipeline::encode(ConstBytes chunk, Bytes work, ConstBytes& result, std::uint32_t& filter_mask,
                              FilterId& failed) const noexcept {
    const Plan plan = any_plan(chunk.size(), true);
    failed = FilterId::none;
    filter_mask = 0;
    result = chunk;
    if (work.size() < plan.total()) {
        return Status::over_budget;
    }
    const Bytes state = work.first(plan.state);
    std::byte* const first = work.data() + plan.state;
    std::byte* const second = first + plan.first;
    std::uint32_t bit = 1;
    for (const FilterEntry& entry : entries_) {
        Status status = Status::unsupported;
        if (entry.filter != nullptr) {
            std::byte* to = result.data() == first ? second : first;
            if (entry.filter->in_place() && result.data() != chunk.data()) {
                to = work.data() + (result.data() - work.data());
            }
            const std::size_t limit = entry.filter->encoded_limit(entry.spec, result.size());
            std::size_t size = 0;
            status =
                entry.filter->encode(entry.spec, result, {to, limit < plan.first ? limit : plan.first}, size, state);
            if (status == Status::ok) {
                result = {to, size};
            }
        }
        if (status != Status::ok) {
            const bool may_skip =
                status == Status::unsupported || status == Status::no_space || status == Status::invalid_argument;
            if (!entry.spec.optional || !may_skip) {
                failed = entry.spec.id;
                return status;
            }
            filter_mask |= bit;
        }
        bit <<= 1;
    }
    return Status::ok;
}

Status FilterPipeline::locate(const Plan& plan, std::uint32_t run, std::size_t stored_bytes, Bytes chunk, Bytes work,
                              Bytes& place) const noexcept {
    if (run == 0) {
        // Bytes beyond the chunk's size are not read, as in libhdf5.
        place = chunk;
        return stored_bytes >= chunk.size() ? Status::ok : Status::corrupt_file;
    }
    if (work.size() < plan.total()) {
        return Status::over_budget;
    }
    std::byte* to = work.data() + plan.state;
    if ((plan.in_second >> highest(run) & 1) != 0) {
        to = plan.second != 0 ? to + plan.first : chunk.data();
    }
    place = {to, stored_bytes};
    return Status::ok;
}

Status FilterPipeline::stored_place(std::size_t stored_bytes, std::uint32_t filter_mask, Bytes chunk, Bytes work,
                                    Bytes& place) const noexcept {
    return locate(decode_plan(chunk.size(), stored_bytes, filter_mask), active(filter_mask), stored_bytes, chunk, work,
                  place);
}

Status FilterPipeline::decode(Bytes stored, std::uint32_t filter_mask, Bytes chunk, Bytes work,
                              FilterId& failed) const noexcept {
    failed = FilterId::none;
    const Plan plan = decode_plan(chunk.size(), stored.size(), filter_mask);
    std::uint32_t run = active(filter_mask);
    Bytes place;
    H5MOTE_TRY(locate(plan, run, stored.size(), chunk, work, place));
    if (place.data() != stored.data()) {
        return Status::invalid_argument;
    }
    if (run == 0) {
        return Status::ok;
    }
    const Bytes first = work.subspan(plan.state, plan.first);
    const Bytes second = plan.second != 0 ? work.subspan(plan.state + plan.first, plan.second) : chunk;
    ConstBytes in = stored;
    while (run != 0) {
        const unsigned stage = highest(run);
        run &= ~(1U << stage);
        const FilterEntry& entry = entries_[stage];
        failed = entry.spec.id;
        if (entry.filter == nullptr) {
            return Status::unsupported;
        }
        Bytes out = chunk;
        if (run != 0) {
            out = (plan.in_second >> highest(run) & 1) != 0 ? second : first;
        }
        std::size_t size = 0;
        H5MOTE_TRY(entry.filter->decode(entry.spec, in, out, size, work.first(plan.state)));
        in = {out.data(), size};
    }
    if (in.size() != chunk.size()) {
        return Status::corrupt_file;
    }
    failed = FilterId::none;
    return Status::ok;
}

}  // namespace h5mote
