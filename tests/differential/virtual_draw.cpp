#include "virtual_draw.hpp"

#include "selection.hpp"

#include <fstream>
#include <numeric>

namespace differential {
namespace {

using h5mote::kUnlimited;

constexpr const char* kMain = "main.h5";
// Sources have fewer coordinates in each dimension, and values up to this times itself above their base.
constexpr std::uint64_t kMost = 30;

std::vector<hsize_t> hsizes(const Sizes& numbers) { return std::vector<hsize_t>(numbers.begin(), numbers.end()); }

Id simple(const Sizes& dims, const Sizes& most) {
    return DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(dims.size()), hsizes(dims).data(), hsizes(most).data()));
}

void select(hid_t space, const std::vector<Steps>& steps) {
    std::vector<hsize_t> numbers[4];
    for (const Steps& each : steps) {
        numbers[0].push_back(each.start);
        numbers[1].push_back(each.stride);
        numbers[2].push_back(each.count);
        numbers[3].push_back(each.block);
    }
    DIFFERENTIAL_OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, numbers[0].data(), numbers[1].data(), numbers[2].data(),
                                        numbers[3].data()));
}

// Selects that many coordinates from `start` on.
Steps draw_steps(Random& random, std::uint64_t elements, std::uint64_t start) {
    std::uint64_t block = random.between(1, elements);
    while (elements % block != 0) {
        --block;
    }
    return {start, block + random.below(3), elements / block, block};
}

Steps draw_endless(Random& random, bool blocks) {
    if (!blocks && random.one_in(3)) {
        return {random.below(4), 1, 1, kUnlimited};
    }
    const std::uint64_t block = random.between(1, 3);
    return {random.below(4), block + random.below(3), kUnlimited, block};
}

Id open_or_create(const std::string& name) {
    const bool there = std::ifstream(name).good();
    return DIFFERENTIAL_ID(there ? H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                 : H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

}  // namespace

bool Steps::unlimited() const { return count == kUnlimited || block == kUnlimited; }

bool Steps::find(std::uint64_t coordinate, std::uint64_t& index) const {
    if (coordinate < start) {
        return false;
    }
    const std::uint64_t far = coordinate - start;
    if (block == kUnlimited) {
        index = far;
        return true;
    }
    index = far / stride * block + far % stride;
    return far / stride < count && far % stride < block;
}

std::uint64_t Steps::coordinate(std::uint64_t index) const {
    return block == kUnlimited ? start + index : start + index / block * stride + index % block;
}

std::int32_t Source::value(const Sizes& at) const {
    std::uint64_t value = 0;
    for (const std::uint64_t coordinate : at) {
        value = value * kMost + coordinate;
    }
    return base + static_cast<std::int32_t>(value);
}

void Source::store(Random& random) const {
    const Id target = open_or_create(file);
    const bool exists = H5Lexists(target, dataset.c_str(), H5P_DEFAULT) > 0;
    if (!there) {
        DIFFERENTIAL_OK(exists ? H5Ldelete(target, dataset.c_str(), H5P_DEFAULT) : 0);
        return;
    }
    Id data;
    if (exists) {
        data = DIFFERENTIAL_ID(H5Dopen2(target, dataset.c_str(), H5P_DEFAULT));
        DIFFERENTIAL_OK(H5Dset_extent(data, hsizes(dims).data()));
    } else {
        const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
        Sizes chunk(dims.size());
        for (std::uint64_t& each : chunk) {
            each = random.between(1, 5);
        }
        DIFFERENTIAL_OK(H5Pset_chunk(list, static_cast<int>(chunk.size()), hsizes(chunk).data()));
        DIFFERENTIAL_OK(H5Pset_fill_value(list, H5T_NATIVE_INT32, &kSourceFill));
        data = DIFFERENTIAL_ID(H5Dcreate2(target, dataset.c_str(), type, simple(dims, Sizes(dims.size(), kUnlimited)),
                                          H5P_DEFAULT, list, H5P_DEFAULT));
    }
    std::vector<std::int32_t> values;
    for (std::uint64_t i = 0; i < volume(dims); ++i) {
        values.push_back(value(dims.size() == 1 ? Sizes{i} : Sizes{i / dims[1], i % dims[1]}));
    }
    if (!values.empty()) {
        DIFFERENTIAL_OK(H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    }
}

Sizes Mapping::draw_dims(Random& random, std::size_t unlimited) const {
    Sizes dims;
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (from[d].unlimited()) {
            dims.push_back(random.below(21));
            continue;
        }
        const std::uint64_t need = whole ? from[d].count * from[d].block : from[d].reach();
        // libhdf5 takes the extent of the first source that it opens for that of all. And which element of a source is
        // which must not depend on its extent.
        const bool fixed = whole && (kind == Kind::numbered || d != 0);
        const bool other = !fixed && (d == unlimited || random.one_in(4)) && random.one_in(2);
        dims.push_back(!other ? need : random.one_in(2) ? random.below(need) : need + random.below(4));
    }
    return dims;
}

VirtualDraw::VirtualDraw(Random& random) {
    const std::size_t rank = random.between(1, 2);
    unlimited = random.below(rank);
    grows = !random.one_in(4);
    const std::size_t count = random.between(1, 4);
    std::uint64_t offset = random.below(3);
    // In one dimension endless mappings take turns.
    const std::uint64_t period = 3 * count + random.below(3);
    for (std::size_t i = 0; i < count; ++i) {
        draw_mapping(random, i, count == 1, rank == 1 ? period : 0, offset);
    }
    dims.assign(rank, offset + random.below(3) + 1);
    std::uint64_t most = 0;
    for (const Mapping& mapping : mappings) {
        most = std::max(most, mapping.to[unlimited].unlimited() ? 0 : mapping.to[unlimited].reach());
    }
    if (rank == 2 || grows) {
        dims[unlimited] = std::max<std::uint64_t>(most + random.below(3), 1);
    }
}

void VirtualDraw::draw_mapping(Random& random, std::size_t number, bool single, std::uint64_t period,
                               std::uint64_t& offset) {
    using Kind = Mapping::Kind;
    Mapping mapping;
    mapping.kind = !grows ? Kind::limited : random.pick({Kind::endless, Kind::endless, Kind::numbered});
    if (grows && period == 0 && number != 0 && random.one_in(4)) {
        mapping.kind = Kind::limited;
    }
    mapping.whole = mapping.kind != Kind::endless && random.one_in(4);
    Steps to{}, from{};
    if (mapping.kind == Kind::limited) {
        const std::uint64_t elements = random.between(1, 6);
        to = draw_steps(random, elements, period != 0 ? offset : random.below(4));
        from = draw_steps(random, elements, random.below(3));
        offset = period != 0 ? to.reach() + random.below(2) : offset;
    } else {
        to = draw_endless(random, mapping.kind == Kind::numbered || (period != 0 && !single));
        if (period != 0 && !single) {
            to = {offset + 3 * number, period, kUnlimited, to.block};
        }
        from = mapping.kind == Kind::numbered ? draw_steps(random, to.block, random.below(3))
               : random.one_in(2)             ? Steps{random.below(4), to.stride, to.count, to.block}
                                              : draw_endless(random, false);
    }
    mapping.to.assign(1, to);
    mapping.from.assign(1, from);
    if (period == 0) {
        // The other dimension: each mapping has a band of its own.
        const std::uint64_t elements = random.between(1, 4);
        const Steps band = draw_steps(random, elements, offset);
        const std::size_t across = 1 - unlimited;
        mapping.to.insert(mapping.to.begin() + static_cast<std::ptrdiff_t>(across), band);
        mapping.from.insert(mapping.from.begin() + static_cast<std::ptrdiff_t>(across),
                            draw_steps(random, elements, random.below(3)));
        offset = band.reach() + random.below(2);
    }
    add_sources(random, mapping, number);
    mappings.push_back(mapping);
}

void VirtualDraw::add_sources(Random& random, Mapping& mapping, std::size_t number) {
    const bool numbered = mapping.kind == Mapping::Kind::numbered;
    const std::string own = std::to_string(number);
    const bool by_file = numbered && random.one_in(2);
    mapping.file = by_file ? "f" + own + "_%b.h5" : random.one_in(3) ? "." : "f" + own + ".h5";
    mapping.dataset = by_file ? "s" : numbered ? "part" + own + "_%b" : "s" + own;
    const auto resolved = [](std::string name, std::size_t block) {
        const std::size_t at = name.find("%b");
        return at == std::string::npos ? name : name.replace(at, 2, std::to_string(block));
    };
    for (std::size_t i = 0; i < (numbered ? 6 : 1); ++i) {
        Source source;
        source.file = mapping.file == "." ? kMain : resolved(mapping.file, i);
        source.dataset = resolved(mapping.dataset, i);
        source.base = static_cast<std::int32_t>((number * 6 + i) * (kMost + 1) * kMost);
        source.there = !random.one_in(numbered ? 3 : 8);
        source.dims = mapping.draw_dims(random, unlimited);
        source.type = random.pick({H5T_STD_I32LE, H5T_STD_I16BE, H5T_IEEE_F64LE});
        mapping.sources.push_back(source);
    }
}

void VirtualDraw::make(Random& random) {
    const Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    DIFFERENTIAL_OK(H5Pset_fill_value(list, H5T_NATIVE_INT32, &kOwnFill));
    Sizes most = dims;
    most[unlimited] = grows ? kUnlimited : dims[unlimited];
    for (const Mapping& mapping : mappings) {
        for (const Source& source : mapping.sources) {
            source.store(random);
        }
        Sizes extent;
        for (const Steps& steps : mapping.from) {
            extent.push_back(steps.unlimited() ? 1 : mapping.whole ? steps.count * steps.block : steps.reach());
        }
        const Id from = simple(extent, Sizes(extent.size(), kUnlimited));
        const Id to = simple(dims, most);
        select(to, mapping.to);
        if (!mapping.whole) {
            select(from, mapping.from);
        }
        DIFFERENTIAL_OK(H5Pset_virtual(list, to, mapping.file.c_str(), mapping.dataset.c_str(), from));
    }
    const Id file = open_or_create(kMain);
    DIFFERENTIAL_ID(H5Dcreate2(file, "v", H5T_STD_I32LE, simple(dims, most), H5P_DEFAULT, list, H5P_DEFAULT));
}

void VirtualDraw::change(Random& random) {
    for (Mapping& mapping : mappings) {
        for (Source& source : mapping.sources) {
            if (random.one_in(2)) {
                source.there = source.there ? !random.one_in(8) : random.one_in(2);
                source.dims = mapping.draw_dims(random, unlimited);
                source.store(random);
            }
        }
    }
}

bool VirtualDraw::same_file() const {
    return std::any_of(mappings.begin(), mappings.end(), [](const Mapping& each) { return each.file == "."; });
}

bool VirtualDraw::regular() const {
    return dims.size() == 1 && std::all_of(mappings.begin(), mappings.end(), [](const Mapping& each) {
               return each.from[0].stride == each.to[0].stride && each.from[0].block == each.to[0].block;
           });
}

namespace {

// The sources that count: in the view first_missing those before the first one that is missing.
std::size_t sources_used(const Mapping& mapping, const View& view) {
    std::size_t used = 0;
    const std::uint64_t gap = view.view == h5mote::VirtualView::first_missing ? 0 : view.gap;
    for (std::size_t i = 0; i < mapping.sources.size() && i <= used + gap; ++i) {
        used = mapping.sources[i].there ? i + 1 : used;
    }
    return used;
}

}  // namespace

Expected VirtualDraw::expected(const Sizes& extent, const View& view) const {
    Expected all;
    const std::size_t total = volume(extent);
    all.values.assign(total, kOwnFill);
    all.written.assign(total, false);
    for (const Mapping& mapping : mappings) {
        const std::size_t used =
            mapping.kind == Mapping::Kind::numbered ? sources_used(mapping, view) : mapping.sources.size();
        for (std::size_t element = 0; element < total; ++element) {
            Sizes at = extent.size() == 1 ? Sizes{element} : Sizes{element / extent[1], element % extent[1]};
            bool selected = true;
            for (std::size_t d = 0; d < at.size(); ++d) {
                selected = selected && mapping.to[d].find(at[d], at[d]);
            }
            std::size_t number = 0;
            if (selected && mapping.kind == Mapping::Kind::numbered) {
                number = at[unlimited] / mapping.to[unlimited].block;
                at[unlimited] %= mapping.to[unlimited].block;
            }
            if (!selected || number >= mapping.sources.size() || !mapping.sources[number].there) {
                continue;
            }
            all.behind = all.behind || number >= used;
            const Source& source = mapping.sources[number];
            if (mapping.whole) {
                // The n-th element of one is the n-th of the other.
                std::uint64_t n = 0;
                for (std::size_t d = 0; d < at.size(); ++d) {
                    n = n * mapping.from[d].count * mapping.from[d].block + at[d];
                }
                all.refused = all.refused || n >= volume(source.dims);
                at = at.size() == 1 ? Sizes{n} : Sizes{n / source.dims[1], n % source.dims[1]};
            } else {
                for (std::size_t d = 0; d < at.size(); ++d) {
                    at[d] = mapping.from[d].coordinate(at[d]);
                }
            }
            bool inside = true;
            for (std::size_t d = 0; d < at.size(); ++d) {
                inside = inside && at[d] < source.dims[d];
            }
            // In the view last_available an endless mapping ends where its source does.
            const bool ended = mapping.kind == Mapping::Kind::endless && at[unlimited] >= source.dims[unlimited] &&
                               view.view == h5mote::VirtualView::last_available;
            all.values[element] = inside ? source.value(at) : ended ? kOwnFill : kSourceFill;
            all.written[element] = inside;
            all.beyond = all.beyond || (!inside && !ended);
        }
    }
    return all;
}

}  // namespace differential
