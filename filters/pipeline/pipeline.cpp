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

}  // namespace

std::size_t FilterPipeline::Plan::total() const noexcept {
    std::size_t sum = 0;
    return checked_add(state, first, sum) && checked_add(sum, second, sum) ? sum : kTooLarge;
}

std::uint32_t FilterPipeline::skip_all() const noexcept {
    return entries_.size() >= 32 ? ~0U : (1U << entries_.size()) - 1;
}

Status FilterPipeline::prepare(const FilterTarget& target, FilterId& failed) noexcept {
    for (FilterEntry& entry : entries_) {
        failed = entry.spec.id;
        if (entry.filter == nullptr) {
            if (!entry.spec.optional) {
                return Status::unsupported;
            }
            continue;
        }
        const Status status = entry.filter->can_apply(entry.spec, target);
        if (status != Status::ok && !entry.spec.optional) {
            return status;
        }
        H5MOTE_TRY(entry.filter->set_local(entry.spec, target));
    }
    failed = FilterId::none;
    return entries_.size() <= 32 ? Status::ok : Status::invalid_argument;
}

// The first filter fills the first buffer; each later one needs the other, unless it works in place. Either may be
// skipped, so both buffers hold the largest result.
FilterPipeline::Plan FilterPipeline::encode_plan(std::size_t chunk_bytes) const noexcept {
    Plan plan;
    std::size_t bound = chunk_bytes;
    bool begun = false;
    bool second = false;
    for (const FilterEntry& entry : entries_) {
        if (entry.filter == nullptr) {
            continue;
        }
        second = second || (begun && !entry.filter->in_place());
        begun = true;
        plan.state = larger(plan.state, rounded(entry.filter->scratch_need(true, bound)));
        const std::size_t limit = entry.filter->encoded_limit(entry.spec, bound);
        plan.first = larger(plan.first, rounded(limit));
        bound = larger(bound, limit);
    }
    plan.second = second ? plan.first : 0;
    return plan;
}

// Seen from the end of decoding: the last result is in the chunk, what it was made of in the first buffer, what that
// was made of in the chunk again or, if it may not fit there, in the second buffer, and so on. Filters that can work in
// place read from the first buffer always.
FilterPipeline::Plan FilterPipeline::decode_plan(std::size_t chunk_bytes, std::size_t stored_bytes,
                                                 std::uint32_t filter_mask) const noexcept {
    Plan plan;
    std::size_t bound = larger(chunk_bytes, stored_bytes);
    std::size_t second = 0;
    bool in_first = false;
    const std::uint32_t run = active(filter_mask);
    for (unsigned i = 0; run >> i != 0; ++i) {
        if ((run >> i & 1) == 0) {
            continue;
        }
        const FilterEntry& entry = entries_[i];
        bool in_place = false;
        if (entry.filter != nullptr) {
            in_place = entry.filter->in_place();
            bound = larger(bound, entry.filter->encoded_limit(entry.spec, bound));
            plan.state = larger(plan.state, rounded(entry.filter->scratch_need(false, bound)));
        }
        const std::size_t size = run >> i == 1 ? stored_bytes : bound;
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
    if (encode) {
        return encode_plan(chunk_bytes).total();
    }
    // Whatever the mask: see decode_plan().
    Plan plan;
    std::size_t bound = chunk_bytes;
    bool second = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (const Filter* const filter = entries_[i].filter) {
            bound = larger(bound, filter->encoded_limit(entries_[i].spec, bound));
            plan.state = larger(plan.state, rounded(filter->scratch_need(false, bound)));
            second = second || (i > 0 && bound > chunk_bytes && !filter->in_place());
        }
    }
    plan.first = entries_.empty() ? 0 : rounded(bound);
    plan.second = second ? plan.first : 0;
    return plan.total();
}

Status FilterPipeline::encode(ConstBytes chunk, Bytes work, ConstBytes& result, std::uint32_t& filter_mask,
                              FilterId& failed) const noexcept {
    const Plan plan = encode_plan(chunk.size());
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

Status FilterPipeline::stored_place(std::size_t stored_bytes, std::uint32_t filter_mask, Bytes chunk, Bytes work,
                                    Bytes& place) const noexcept {
    const std::uint32_t run = active(filter_mask);
    if (run == 0) {
        place = chunk;
        return stored_bytes == chunk.size() ? Status::ok : Status::corrupt_file;
    }
    const Plan plan = decode_plan(chunk.size(), stored_bytes, filter_mask);
    if (work.size() < plan.total()) {
        return Status::over_budget;
    }
    const unsigned last = 31U - static_cast<unsigned>(__builtin_clz(run));
    std::byte* to = work.data() + plan.state;
    if ((plan.in_second >> last & 1) != 0) {
        to = plan.second != 0 ? to + plan.first : chunk.data();
    }
    place = {to, stored_bytes};
    return Status::ok;
}

Status FilterPipeline::decode(Bytes stored, std::uint32_t filter_mask, Bytes chunk, Bytes work,
                              FilterId& failed) const noexcept {
    failed = FilterId::none;
    Bytes place;
    H5MOTE_TRY(stored_place(stored.size(), filter_mask, chunk, work, place));
    if (place.data() != stored.data()) {
        return Status::invalid_argument;
    }
    const Plan plan = decode_plan(chunk.size(), stored.size(), filter_mask);
    const Bytes first = work.subspan(plan.state, plan.first);
    const Bytes second = plan.second != 0 ? work.subspan(plan.state + plan.first, plan.second) : chunk;
    ConstBytes in = stored;
    for (std::uint32_t run = active(filter_mask); run != 0;) {
        const unsigned stage = 31U - static_cast<unsigned>(__builtin_clz(run));
        run &= ~(1U << stage);
        const FilterEntry& entry = entries_[stage];
        failed = entry.spec.id;
        if (entry.filter == nullptr) {
            return Status::unsupported;
        }
        Bytes out = chunk;
        if (run != 0) {
            const unsigned next = 31U - static_cast<unsigned>(__builtin_clz(run));
            out = (plan.in_second >> next & 1) != 0 ? second : first;
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
