#include "write.hpp"

#include <h5mote/compound.hpp>

namespace h5mote_interop {

using namespace h5mote;

namespace {

constexpr auto kByte = make_integer(1, false);
constexpr auto kShort = make_integer(2, false);
constexpr auto kInt = make_integer(4, true);
constexpr auto kIntBig = make_integer(4, true, ByteOrder::big);
constexpr auto kDouble = make_float(8);

ChunkDims chunk_of(const Shape& dims, std::uint64_t less) {
    // ChunkDims takes an initializer list, so each rank needs a statement of its own.
    const auto c = [&](std::size_t i) { return static_cast<std::uint32_t>(dims[i] > less ? dims[i] - less : 1); };
    switch (dims.size()) {
        case 1:
            return {c(0)};
        case 2:
            return {c(0), c(1)};
        case 3:
            return {c(0), c(1), c(2)};
        case 4:
            return {c(0), c(1), c(2), c(3)};
        case 5:
            return {c(0), c(1), c(2), c(3), c(4)};
        default:
            return {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
    }
}

Dataspace growing(const Shape& dims, std::size_t which) {
    Shape most = dims;
    most[which] = kUnlimited;
    return Dataspace::simple({dims.data(), dims.size()}, {most.data(), most.size()});
}

}  // namespace

void write_ranks(const std::string& folder, const Variant& variant) {
    Session file(folder + "/ranks" + variant.suffix(), variant.options());
    Shape last(32, 1);
    last[14] = 2;
    last[31] = 3;
    const Shape shapes[] = {{}, {7}, {3, 4}, {2, 3, 4}, {2, 3, 2, 3}, {2, 1, 3, 2, 2}, last};
    for (const Shape& dims : shapes) {
        const Dataspace space = Dataspace::simple(Span<const std::uint64_t>(dims.data(), dims.size()));
        const std::string group = "/rank" + std::to_string(dims.size());
        file.group(group);
        DatasetCreate create;
        create.layout = Layout::compact;
        file.dataset(group + "/compact", kInt, space, create);
        create.layout = Layout::contiguous;
        file.dataset(group + "/contiguous", kIntBig, space, create);
        file.dataset(group + "/unwritten", kInt, space, create);
        create.allocation = AllocationTime::early;
        file.dataset(group + "/early", kDouble, space, create);
        for (const char* name : {"/compact", "/contiguous", "/early"}) {
            file.fill(group + name);
        }
        if (dims.empty()) {
            continue;
        }
        DatasetCreate chunks;
        chunks.chunk = chunk_of(dims, 1);
        file.dataset(group + "/fixed", kInt, space, chunks);
        file.fill(group + "/fixed");
        for (std::size_t which : {std::size_t{0}, dims.size() / 2, dims.size() - 1}) {
            const std::string name = group + "/growing" + std::to_string(which);
            if (file.sidecar().find(name) == nullptr) {
                file.dataset(name, kShort, growing(dims, which), chunks);
                file.fill(name);
            }
        }
    }
    file.close();
}

void write_fills(const std::string& folder, const Variant& variant) {
    Session file(folder + "/fills" + variant.suffix(), variant.options());
    static constexpr auto kRecord =
        make_compound<8>(member("a", 0, make_integer(4, true, ByteOrder::big)), member("b", 4, make_float(4)));
    static constexpr auto kText = make_string(5);
    static constexpr auto kEnum = make_enum<std::int8_t>(ByteOrder::little, enumerator("A", 0), enumerator("B", 1));
    const struct {
        DatatypeView type;
        const char* fill;
    } cases[] = {{kInt, "ffffffff"},    {kDouble, "000000000000f87f"},
                 {kText, "656d707479"}, {kRecord, "000000070000803f"},
                 {kEnum, "01"},         {kInt, ""}};
    static constexpr const char* kTimes[] = {"auto", "early", "late", "incremental"};
    int number = 0;
    for (const auto& one : cases) {
        const Blob fill = unhex(one.fill);
        for (unsigned time = 0; time < 4; ++time) {
            const std::string name = std::to_string(number) + "_" + kTimes[time];
            DatasetCreate create;
            create.fill = {fill.data(), fill.size()};
            create.allocation = static_cast<AllocationTime>(time);
            if (create.allocation != AllocationTime::incremental) {
                file.dataset("/contiguous" + name, one.type, Dataspace::simple({5}), create);
            }
            create.chunk = {4};
            file.dataset("/growing" + name, one.type, Dataspace::unlimited(9), create);
            file.dataset("/part" + name, one.type, Dataspace::unlimited(9), create);
            file.write("/part" + name, {{5}, {2}, {}, {}});
            file.dataset("/fixed" + name, one.type, Dataspace::simple({9}), create);
            create.filters = {filters::shuffle, filters::deflate};
            file.dataset("/filtered" + name, one.type, Dataspace::unlimited(9), create);
            file.write("/filtered" + name, {{2}, {3}, {}, {}});
        }
        ++number;
    }
    const Blob seven = unhex("07000000");
    for (const FillTime time : {FillTime::on_allocation, FillTime::never, FillTime::if_set}) {
        DatasetCreate create;
        create.fill = {seven.data(), seven.size()};
        create.fill_time = time;
        const std::string name = std::to_string(static_cast<unsigned>(time));
        file.dataset("/contiguous_time" + name, kInt, Dataspace::simple({6}), create);
        create.chunk = {4};
        file.dataset("/chunked_time" + name, kInt, Dataspace::simple({6}), create);
        if (time == FillTime::never) {
            file.fill("/contiguous_time" + name);
            file.fill("/chunked_time" + name);
        }
    }
    DatasetCreate create;
    create.layout = Layout::compact;
    create.fill = {seven.data(), seven.size()};
    file.dataset("/compact", kInt, Dataspace::simple({6}), create);
    file.close();
}

void write_chunks(const std::string& folder, const Variant& variant) {
    Session file(folder + "/chunks" + variant.suffix(), variant.options());
    DatasetCreate create;
    // Lengths around the numbers of elements at which an extensible array needs data blocks and super blocks.
    create.chunk = {1};
    for (const std::uint64_t length : {1U, 4U, 15U, 16U, 17U, 31U, 32U, 33U, 100U, 257U, 1000U}) {
        const std::string name = "/length" + std::to_string(length);
        file.dataset(name, kShort, Dataspace::unlimited(length), create);
        file.fill(name);
    }
    for (const std::uint64_t length : {1U, 17U, 1000U}) {
        const std::string name = "/fixed" + std::to_string(length);
        file.dataset(name, kShort, Dataspace::simple({length}), create);
        file.fill(name);
    }
    create.chunk = {8};
    file.dataset("/bounded", kInt, Dataspace::simple({100}, {1000}), create);
    file.fill("/bounded");
    file.extend("/bounded", {777});
    file.write("/bounded", {{770}, {7}, {}, {}});
    file.dataset("/single", kInt, Dataspace::simple({8}), create);
    file.fill("/single");
    // Write chunks far apart: those between them are not allocated.
    file.dataset("/sparse", kInt, Dataspace::unlimited(30000), create);
    file.write("/sparse", {{29990}, {10}, {}, {}});
    file.write("/sparse", {{3}, {1}, {}, {}});
    file.write("/sparse", {{9000}, {100}, {2}, {}});
    file.close();

    // A fixed array with pages: a page of the size that libhdf5 uses needs more memory than the logger's budget.
    Options options = variant.options();
    options.metadata_cache = 16384;
    Session paged(folder + "/paged" + variant.suffix(), options);
    DatasetCreate small;
    small.chunk = {1, 1};
    paged.dataset("/paged", kShort, Dataspace::simple({60, 60}), small);
    paged.fill("/paged");
    paged.dataset("/sparse", kShort, Dataspace::simple({100, 100}), small);
    paged.write("/sparse", {{50, 50}, {3, 3}, {}, {}});
    small.chunk = {1, 2};
    small.filters = {filters::fletcher32};
    paged.dataset("/filtered", kShort, Dataspace::simple({60, 60}), small);
    paged.fill("/filtered");
    paged.close();
}

void write_partial(const std::string& folder, const Variant& variant) {
    Session file(folder + "/partial" + variant.suffix(), variant.options());
    const struct {
        Shape dims;
        std::size_t which;
        Shape grown;
        ChunkDims chunk;
    } cases[] = {{{10, 7}, 0, {23, 7}, {3, 2}},         {{10, 7}, 1, {10, 19}, {3, 2}},
                 {{5, 6, 7}, 1, {5, 30, 7}, {2, 4, 3}}, {{5, 6, 7}, 2, {5, 6, 31}, {5, 1, 2}},
                 {{5, 6, 7}, 0, {12, 6, 7}, {2, 6, 7}}, {{3, 4, 2, 5}, 2, {3, 4, 9, 5}, {2, 2, 2, 2}},
                 {{40, 30}, 0, {60, 30}, {1, 1}},       {{2, 2, 2, 2, 2}, 4, {2, 2, 2, 2, 9}, {1, 2, 1, 2, 4}}};
    int number = 0;
    for (const auto& one : cases) {
        Slab every;
        Slab blocks;
        for (const std::uint64_t dim : one.dims) {
            every.start.push_back(1);
            every.stride.push_back(2);
            every.count.push_back(dim / 2);
            blocks.start.push_back(0);
            blocks.block.push_back(2);
            blocks.stride.push_back(3);
            blocks.count.push_back((dim - 2) / 3 + 1);
        }
        Slab corner;
        for (const std::uint64_t dim : one.grown) {
            corner.start.push_back(dim - 2);
            corner.count.push_back(2);
        }
        for (const bool filtered : {false, true}) {
            const std::string name = (filtered ? "/filtered" : "/plain") + std::to_string(number);
            DatasetCreate create;
            create.chunk = one.chunk;
            if (filtered) {
                create.filters = {filters::deflate, filters::fletcher32};
            }
            file.dataset(name, kInt, growing(one.dims, one.which), create);
            file.write(name, every);
            file.write(name, blocks);
            file.extend(name, one.grown);
            file.write(name, corner);
            file.write(name, every);
        }
        for (const Layout layout : {Layout::compact, Layout::contiguous}) {
            if (layout == Layout::compact && product(one.dims) > 500) {
                continue;  // the header would not fit in the metadata cache
            }
            DatasetCreate create;
            create.layout = layout;
            const std::string name = (layout == Layout::compact ? "/compact" : "/contiguous") + std::to_string(number);
            file.dataset(name, kShort, Dataspace::simple(Span<const std::uint64_t>(one.dims.data(), one.dims.size())),
                         create);
            file.write(name, every);
            file.write(name, blocks);
        }
        ++number;
    }
    file.close();
}

namespace {

void write_filtered(const std::string& path, const Variant& variant, Span<const FilterList> lists) {
    Session file(path, variant.options());
    static constexpr auto kRecord = make_compound<12>(member("t", 0, make_integer(4, false)),
                                                      member("v", 4, make_array(make_integer(2, true), 4U)));
    int number = 0;
    for (const FilterList& list : lists) {
        const std::string group = "/f" + std::to_string(number++);
        file.group(group);
        DatasetCreate create;
        create.filters = list;
        create.chunk = {64};
        Blob smooth;
        for (std::uint32_t i = 0; i < 1000; ++i) {
            for (unsigned k = 0; k < 4; ++k) {
                smooth.push_back(static_cast<std::byte>((3 * i) >> (8 * k)));
            }
        }
        file.dataset(group + "/smooth", kInt, Dataspace::unlimited(1000), create);
        file.fill(group + "/smooth", smooth);
        const FilterId first = list.data()[0].id;
        if (first != FilterId::scaleoffset && first != FilterId::szip) {  // these take numbers only
            file.dataset(group + "/records", kRecord, Dataspace::unlimited(), create);
            file.append(group + "/records", 500, 7, 13);
        }
        create.chunk = {50};
        file.dataset(group + "/random", kByte, Dataspace::unlimited(), create);
        file.append(group + "/random", 333);
        create.chunk = {5};
        file.dataset(group + "/odd", kByte, Dataspace::simple({13}), create);
        file.fill(group + "/odd");
        create.chunk = {6, 7};
        file.dataset(group + "/plane", kIntBig, Dataspace::simple({20, 30}, {20, kUnlimited}), create);
        file.fill(group + "/plane");
        file.dataset(group + "/fixed", first == FilterId::scaleoffset ? kInt.view() : kDouble.view(),
                     Dataspace::simple({20, 30}), create);
        file.fill(group + "/fixed");
    }
    file.close();
}

}  // namespace

// LZF, which of the other readers only h5py has, is in a file of its own.
void write_filters(const std::string& folder, const Variant& variant) {
    const FilterList lists[] = {{filters::shuffle},
                                {filters::fletcher32},
                                {filters::deflate},
                                {filters::deflate_level(1)},
                                {filters::shuffle, filters::deflate},
                                {filters::deflate, filters::fletcher32},
                                {filters::shuffle, filters::deflate, filters::fletcher32},
                                {filters::fletcher32, filters::shuffle},
                                {filters::fletcher32, filters::deflate, filters::shuffle},
                                {filters::nbit, filters::deflate},
                                {filters::scaleoffset_integer(), filters::deflate},
                                {filters::szip(filters::SzipCoding::nearest_neighbour, 4), filters::fletcher32},
                                {filters::szip(filters::SzipCoding::entropy, 2)}};
    write_filtered(folder + "/filters" + variant.suffix(), variant, lists);
    const FilterList with_lzf[] = {{filters::lzf},
                                   {filters::shuffle, filters::lzf, filters::fletcher32},
                                   {filters::nbit, filters::lzf},
                                   {filters::scaleoffset_integer(), filters::lzf}};
    write_filtered(folder + "/lzf" + variant.suffix(), variant, with_lzf);
}

}  // namespace h5mote_interop
