#include "selection.hpp"

#include <algorithm>
#include <numeric>

namespace differential {
namespace {

using h5mote::Selection;
using h5mote::SelectionOp;
using h5mote::SelectionSet;
using h5mote::Status;

bool within(const Slab& slab, const Sizes& at) {
    for (std::size_t d = 0; d < at.size(); ++d) {
        if (at[d] < slab.start[d] || slab.count[d] == 0) {
            return false;
        }
        const std::uint64_t far = at[d] - slab.start[d];
        if (far / slab.stride[d] >= slab.count[d] || far % slab.stride[d] >= slab.block[d]) {
            return false;
        }
    }
    return true;
}

Sizes coordinates(std::uint64_t element, const Sizes& dims) {
    Sizes at(dims.size());
    for (std::size_t d = dims.size(); d-- > 0;) {
        at[d] = element % dims[d];
        element /= dims[d];
    }
    return at;
}

bool combined(bool a, bool b, SelectionOp op) {
    switch (op) {
        case SelectionOp::or_:
            return a || b;
        case SelectionOp::and_:
            return a && b;
        case SelectionOp::xor_:
            return a != b;
        case SelectionOp::not_b:
            return a && !b;
        case SelectionOp::not_a:
            return b && !a;
        default:
            return b;
    }
}

h5mote::Hyperslab view_of(const Slab& slab) {
    return {{slab.start.data(), slab.start.size()},
            {slab.stride.data(), slab.stride.size()},
            {slab.count.data(), slab.count.size()},
            {slab.block.data(), slab.block.size()}};
}

}  // namespace

std::uint64_t volume(const Sizes& dims) noexcept {
    return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, [](auto a, auto b) { return a * b; });
}

std::string text_of(const Sizes& numbers) {
    std::string text = "{";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i == 0 ? "" : ",") + (numbers[i] == h5mote::kUnlimited ? "inf" : std::to_string(numbers[i]));
    }
    return text + "}";
}

Slab Pick::random_slab(Random& random, const Sizes& dims) {
    Slab slab;
    for (const std::uint64_t dim : dims) {
        const std::uint64_t start = random.one_in(3) ? 0 : random.below(dim);
        const std::uint64_t room = dim - start;
        const std::uint64_t block = random.one_in(2) ? 1 : random.between(1, 1 + random.below(room));
        const std::uint64_t stride = block + (random.one_in(2) ? 0 : random.small(room));
        const std::uint64_t most = (room - block) / stride + 1;
        slab.start.push_back(start);
        slab.block.push_back(block);
        slab.stride.push_back(stride);
        slab.count.push_back(random.one_in(3) ? most : random.between(1, most));
    }
    return slab;
}

Pick Pick::random(Random& random, const Sizes& dims, bool repeat) {
    Pick pick;
    pick.rank_ = dims.size();
    const std::uint64_t total = volume(dims);
    if (dims.empty() || total == 0 || random.one_in(6)) {
        pick.kind_ = !dims.empty() && random.one_in(8) ? Kind::none : Kind::all;
        return pick;
    }
    switch (random.below(4)) {
        case 0: {
            pick.kind_ = Kind::points;
            Sizes chosen;
            const std::uint64_t count = random.between(1, 1 + random.below(std::min<std::uint64_t>(total, 60)));
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint64_t element = random.below(total);
                if (repeat || std::find(chosen.begin(), chosen.end(), element) == chosen.end()) {
                    chosen.push_back(element);
                    const Sizes at = coordinates(element, dims);
                    pick.points_.insert(pick.points_.end(), at.begin(), at.end());
                }
            }
            return pick;
        }
        case 1:
            pick.kind_ = Kind::set;
            pick.steps_.emplace_back(SelectionOp::set, random_slab(random, dims));
            for (std::uint64_t i = random.between(1, 3); i-- > 0;) {
                pick.steps_.emplace_back(random.pick({SelectionOp::or_, SelectionOp::or_, SelectionOp::and_,
                                                      SelectionOp::xor_, SelectionOp::not_b, SelectionOp::not_a}),
                                         random_slab(random, dims));
            }
            return pick;
        default:
            pick.kind_ = Kind::slab;
            pick.slab_ = random_slab(random, dims);
            return pick;
    }
}

Pick Pick::random_line(Random& random, std::uint64_t size, std::uint64_t count) {
    Pick pick;
    pick.rank_ = 1;
    if (random.one_in(2) || count == 0) {
        pick.kind_ = Kind::slab;
        const std::uint64_t stride = random.between(1, count < 2 ? 1 : std::max<std::uint64_t>((size - 1) / count, 1));
        pick.slab_ = {{random.below(size - (count == 0 ? 0 : (count - 1) * stride + 1) + 1)}, {stride}, {count}, {1}};
        return pick;
    }
    pick.kind_ = Kind::points;
    pick.points_.resize(size);
    std::iota(pick.points_.begin(), pick.points_.end(), std::uint64_t{0});
    for (std::uint64_t i = 0; i < count; ++i) {
        std::swap(pick.points_[i], pick.points_[i + random.below(size - i)]);
    }
    pick.points_.resize(count);
    return pick;
}

Sizes Pick::elements(const Sizes& dims) const {
    Sizes chosen;
    const std::uint64_t total = volume(dims);
    if (kind_ == Kind::points) {
        for (std::size_t i = 0; i < points_.size(); i += rank_) {
            std::uint64_t element = 0;
            for (std::size_t d = 0; d < rank_; ++d) {
                element = element * dims[d] + points_[i + d];
            }
            chosen.push_back(element);
        }
        return chosen;
    }
    for (std::uint64_t element = 0; element < total; ++element) {
        bool selected = kind_ == Kind::all;
        const Sizes at = coordinates(element, dims);
        if (kind_ == Kind::slab) {
            selected = within(slab_, at);
        }
        for (const auto& [op, slab] : steps_) {
            selected = combined(selected, within(slab, at), op);
        }
        if (selected) {
            chosen.push_back(element);
        }
    }
    return chosen;
}

Selection Pick::view(SelectionSet& set, const h5mote::Dataspace& space) const {
    switch (kind_) {
        case Kind::all:
            return Selection::all();
        case Kind::none:
            return Selection::none();
        case Kind::slab:
            return Selection(view_of(slab_));
        case Kind::points:
            return Selection::points(static_cast<unsigned>(rank_), {points_.data(), points_.size()});
        default:
            for (const auto& [op, slab] : steps_) {
                if (const Status status = set.select_hyperslab(op, view_of(slab), space); status != Status::ok) {
                    differ(std::string("selection: select_hyperslab ") + h5mote::to_string(status));
                }
            }
            return set.view();
    }
}

Id Pick::select(const Sizes& dims) const {
    const auto of = [](const Sizes& numbers) { return std::vector<hsize_t>(numbers.begin(), numbers.end()); };
    Id space = DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(dims.size()), of(dims).data(), nullptr));
    if (kind_ == Kind::slab) {
        DIFFERENTIAL_OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, of(slab_.start).data(), of(slab_.stride).data(),
                                            of(slab_.count).data(), of(slab_.block).data()));
    }
    return space;
}

std::string Pick::text() const {
    static const char* const kNames[] = {"all", "none", "slab", "points", "set"};
    std::string text = kNames[static_cast<int>(kind_)];
    const auto slab_text = [](const Slab& slab) {
        return text_of(slab.start) + text_of(slab.stride) + text_of(slab.count) + text_of(slab.block);
    };
    if (kind_ == Kind::slab) {
        text += slab_text(slab_);
    } else if (kind_ == Kind::points) {
        text += text_of(points_);
    }
    for (const auto& [op, slab] : steps_) {
        text += " op" + std::to_string(static_cast<int>(op)) + slab_text(slab);
    }
    return text;
}

Id select_elements(const Sizes& dims, const Sizes& elements) {
    const std::vector<hsize_t> extent(dims.begin(), dims.end());
    Id space = dims.empty() ? DIFFERENTIAL_ID(H5Screate(H5S_SCALAR))
                            : DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(dims.size()), extent.data(), nullptr));
    if (elements.empty()) {
        DIFFERENTIAL_OK(H5Sselect_none(space));
        return space;
    }
    bool all = elements.size() == volume(dims);
    for (std::size_t i = 0; all && i < elements.size(); ++i) {
        all = elements[i] == i;
    }
    if (all) {
        return space;
    }
    std::vector<hsize_t> points;
    for (const std::uint64_t element : elements) {
        const Sizes at = coordinates(element, dims);
        points.insert(points.end(), at.begin(), at.end());
    }
    DIFFERENTIAL_OK(H5Sselect_elements(space, H5S_SELECT_SET, elements.size(), points.data()));
    return space;
}

}  // namespace differential
