// The filters that compress, beside those of libhdf5: n-bit, scale-offset and szip, one at a time.
//
//   h5mote_filters [--seed N] [--count N] [--least N]
//
// Both libraries make the same dataset of a random type and write the same random values, of which some chunks are
// constant, are all fill values or have the largest numbers there are. Client data must be equal, and so must be the
// bytes of each chunk and its filter mask. Each library must read what the other wrote, and change a part of it. A
// chunk may differ only if libhdf5 does not read its own as it was written, but ours.
#include "filters_draw.hpp"
#include "run_options.hpp"

#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/szip.hpp>
#include <h5mote/h5mote.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/vfd/memory.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace h5mote;
using namespace differential;

namespace {

constexpr const Filter* kFilters[] = {&nbit_filter, &scaleoffset_filter, &szip_filter};

// Old chunk indexes are no part of this comparison.
constexpr Bounds kBounds{H5F_LIBVER_LATEST, H5F_LIBVER_LATEST};

struct Totals {
    unsigned datasets = 0;
    unsigned refused = 0;  // by both libraries
    unsigned chunks = 0;   // of the same bytes
    unsigned skipped = 0;  // chunks among them that the filter was not applied to
    unsigned saved = 0;    // chunks that libhdf5 loses
    unsigned failures = 0;
};

Id make_list(const Draw& draw) {
    Id list = DIFFERENTIAL_ID(H5Pcreate(H5P_DATASET_CREATE));
    DIFFERENTIAL_OK(H5Pset_chunk(list, static_cast<int>(draw.chunk.size()), draw.chunk.data()));
    const unsigned flags = draw.mandatory ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
    DIFFERENTIAL_OK(
        H5Pset_filter(list, static_cast<H5Z_filter_t>(draw.spec.id), flags, draw.spec.value_count, draw.spec.values));
    if (draw.undefined) {
        DIFFERENTIAL_OK(H5Pset_fill_value(list, draw.type.id(), nullptr));
    } else if (!draw.fill.empty()) {
        DIFFERENTIAL_OK(H5Pset_fill_value(list, draw.type.id(), draw.fill.data()));
    }
    // Otherwise libhdf5 would fill what it never wrote, with a value that is not there.
    DIFFERENTIAL_OK(H5Pset_fill_time(list, draw.undefined ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_IFSET));
    return list;
}

Id make_space(const Draw& draw) {
    std::vector<hsize_t> limits = draw.dims;
    limits[0] = H5S_UNLIMITED;
    return DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(draw.dims.size()), draw.dims.data(), limits.data()));
}

/// One file of ours, in memory.
struct Ours {
    MallocAllocator heap;
    NullPort port;
    Library library{heap, port, kFilters};
    GrowingMemoryDriver driver{heap};
    File file;
    Dataset dataset;

    void open(const Blob& image, bool read_only = false) {
        if (driver.assign({image.data(), image.size()}) != Status::ok) {
            differ("no memory for the file");
        }
        FileAccess access;
        access.read_only = read_only;
        access.chunk_cache = 1 << 18;
        auto opened = File::open(library, driver, access);
        must(opened.status(), "open");
        file = static_cast<File&&>(*opened);
        auto found = file.root().open_dataset("d");
        must(found.status(), "open_dataset");
        dataset = static_cast<Dataset&&>(*found);
    }
    Status create(const Draw& draw) {
        FileAccess access;
        access.chunk_cache = 1 << 18;
        auto created = File::create(library, driver, access);
        must(created.status(), "create");
        file = static_cast<File&&>(*created);
        DatasetCreate create;
        Dataspace space;
        std::vector<std::uint64_t> dims(draw.dims.begin(), draw.dims.end());
        std::vector<std::uint64_t> limits = dims;
        limits[0] = kUnlimited;
        for (const hsize_t size : draw.chunk) {
            create.chunk.push_back(static_cast<std::uint32_t>(size));
        }
        create.filters.push_back(draw.spec);
        create.fill = {draw.fill.data(), draw.fill.size()};
        create.fill_undefined = draw.undefined;
        create.fill_time = draw.undefined ? FillTime::never : FillTime::if_set;
        auto made =
            file.root().create_dataset("d", draw.type.view(),
                                       Dataspace::simple(Span<const std::uint64_t>(dims.data(), dims.size()),
                                                         Span<const std::uint64_t>(limits.data(), limits.size())),
                                       create);
        if (made) {
            dataset = static_cast<Dataset&&>(*made);
        }
        return made.status();
    }
    Blob close() {
        must(dataset.close(), "close of the dataset");
        must(file.close(), "close");
        return Blob(driver.contents().begin(), driver.contents().end());
    }
    static void must(Status status, const char* what) {
        if (status != Status::ok) {
            differ(std::string("h5mote: ") + what + ": " + to_string(status));
        }
    }
};

// `lost`: libhdf5 has damaged chunks of the image. If h5mote finds the damage, the result is empty.
Blob read_ours(const Draw& draw, const Blob& image, bool lost = false) {
    Ours ours;
    ours.open(image, true);
    Blob values(draw.values.size());
    const Status status = ours.dataset.read(Selection::all(), draw.type.view(), {values.data(), values.size()});
    if (lost && status == Status::corrupt_file && draw.kind == Kind::nbit) {
        return {};
    }
    Ours::must(status, "read");
    return values;
}

Blob read_theirs(const Draw& draw, hid_t file) {
    const Id dataset = DIFFERENTIAL_ID(H5Dopen2(file, "d", H5P_DEFAULT));
    Blob values(draw.values.size());
    DIFFERENTIAL_OK(H5Dread(dataset, draw.type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return values;
}

// Whether `read` may have been read where `draw.values` were written, at element `i`.
bool is_near(const Draw& draw, const Blob& read, std::size_t i) {
    const std::size_t size = draw.type.size();
    if (std::memcmp(read.data() + i * size, draw.values.data() + i * size, size) == 0) {
        return true;
    }
    if (draw.kind != Kind::floats) {
        return false;
    }
    const double wrote = number_at(draw, draw.values, i);
    const double got = number_at(draw, read, i);
    const double digit = std::pow(10.0, -draw.digits);
    const double fill = draw.fill.empty() ? 0 : number_at(draw, draw.fill, 0);
    const double precision = size == 4 ? 6e-7 : 1e-15;
    const double off = std::fabs(wrote - got);
    return off <= draw.roundings * (digit * 0.501 + draw.largest * precision) ||
           (!draw.undefined && got == fill && std::fabs(wrote - fill) <= digit * (0.5001 + draw.roundings / 2.0));
}

// The first element that was not read as it was written, or their number.
std::size_t first_lost(const Draw& draw, const Blob& read, const Blob& mask) {
    const std::size_t size = draw.type.size();
    for (std::size_t i = 0; i < draw.elements(); ++i) {
        bool same = true;
        for (std::size_t k = 0; k < size; ++k) {
            same = same && ((read[i * size + k] ^ draw.values[i * size + k]) & mask[k]) == std::byte{0};
        }
        if (!same && !is_near(draw, read, i)) {
            return i;
        }
    }
    return draw.elements();
}

std::string hex(const Blob& values, std::size_t at, std::size_t size) {
    std::string text;
    for (std::size_t i = at; i < at + size; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        text += kDigits[static_cast<unsigned>(values[i]) >> 4];
        text += kDigits[static_cast<unsigned>(values[i]) & 15U];
    }
    return text;
}

// Both libraries read the same bytes, except for the bits that tell one NaN from another.
void same_values(const Draw& draw, const Blob& ours, const Blob& theirs, const char* what) {
    const std::size_t size = draw.type.size();
    for (std::size_t i = 0; i < draw.elements(); ++i) {
        const bool same = std::memcmp(ours.data() + i * size, theirs.data() + i * size, size) == 0;
        const bool nans =
            draw.kind == Kind::floats && std::isnan(number_at(draw, ours, i)) && std::isnan(number_at(draw, theirs, i));
        if (!same && !nans) {
            differ(std::string(what) + ": element " + std::to_string(i) + " of what was written as " +
                   hex(draw.values, i * size, size) + " is read as " + hex(ours, i * size, size) + " by h5mote, as " +
                   hex(theirs, i * size, size) + " by libhdf5");
        }
    }
}

void compare_client_data(hid_t ours, hid_t theirs) {
    const Id lists[2] = {DIFFERENTIAL_ID(H5Dget_create_plist(ours)), DIFFERENTIAL_ID(H5Dget_create_plist(theirs))};
    unsigned values[2][256] = {};
    std::size_t counts[2] = {256, 256};
    unsigned flags[2] = {};
    for (unsigned i = 0; i < 2; ++i) {
        DIFFERENTIAL_OK(H5Pget_filter2(lists[i], 0, &flags[i], &counts[i], values[i], 0, nullptr, nullptr));
    }
    if (counts[0] != counts[1] || flags[0] != flags[1] || std::memcmp(values[0], values[1], sizeof values[0]) != 0) {
        std::string text = "client data:";
        for (unsigned i = 0; i < 2; ++i) {
            for (std::size_t k = 0; k < counts[i]; ++k) {
                text += ' ' + std::to_string(values[i][k]);
            }
            text += i == 0 ? " |" : "";
        }
        differ(text);
    }
}

struct Stored {
    Blob bytes;
    std::uint32_t mask = 0;
};

Stored stored_chunk(hid_t dataset, const std::vector<hsize_t>& at) {
    Stored stored;
    hsize_t size = 0;
    DIFFERENTIAL_OK(H5Dget_chunk_storage_size(dataset, at.data(), &size));
    stored.bytes.resize(size);
    DIFFERENTIAL_OK(H5Dread_chunk(dataset, H5P_DEFAULT, at.data(), &stored.mask, stored.bytes.data()));
    return stored;
}

// Whether all elements of the chunk at `at` are as they were written.
bool chunk_is_kept(const Draw& draw, const Blob& read, const std::vector<hsize_t>& at, const Blob& mask) {
    const std::size_t size = draw.type.size();
    for (std::size_t i = 0; i < draw.elements(); ++i) {
        std::size_t rest = i;
        bool within = true;
        for (std::size_t d = draw.dims.size(); d-- > 0; rest /= draw.dims[d]) {
            const hsize_t place = rest % draw.dims[d];
            within = within && place >= at[d] && place - at[d] < draw.chunk[d];
        }
        bool same = true;
        for (std::size_t k = 0; k < size; ++k) {
            same = same && ((read[i * size + k] ^ draw.values[i * size + k]) & mask[k]) == std::byte{0};
        }
        if (within && !same && !is_near(draw, read, i)) {
            return false;
        }
    }
    return true;
}

// Whether a chunk may differ for what lies beyond the extent, which libhdf5 loses: integers of more bits than were
// asked for, and NaNs that are the fill value.
bool differs_beyond(const Draw& draw, const Stored& stored) {
    if (draw.kind == Kind::floats) {
        return !draw.fill.empty() && std::isnan(number_at(draw, draw.fill, 0));
    }
    return draw.kind == Kind::integers && draw.spec.values[1] != 0 && draw.undefined && !stored.bytes.empty() &&
           static_cast<std::size_t>(stored.bytes[0]) == 8 * draw.type.size();
}

void compare_chunks(const Draw& draw, hid_t ours, hid_t theirs, const Blob& read_of_theirs, Totals& totals) {
    const Blob mask = significant_bytes(draw.type.id());
    std::vector<hsize_t> at(draw.dims.size(), 0);
    for (;;) {
        const Stored mine = stored_chunk(ours, at);
        Stored other = stored_chunk(theirs, at);
        // Of equal numbers libhdf5 stores the header of a packed chunk and a byte that it does not set.
        if (draw.spec.id == FilterId::scaleoffset && other.bytes.size() == 22 && other.bytes[0] == std::byte{0}) {
            other.bytes[21] = std::byte{0};
        }
        if (mine.bytes == other.bytes && mine.mask == other.mask) {
            ++totals.chunks;
            totals.skipped += mine.mask != 0 ? 1 : 0;
        } else if (!chunk_is_kept(draw, read_of_theirs, at, mask) || differs_beyond(draw, mine)) {
            ++totals.saved;
        } else {
            std::size_t i = 0;
            while (i < mine.bytes.size() && i < other.bytes.size() && mine.bytes[i] == other.bytes[i]) {
                ++i;
            }
            differ("chunk: " + std::to_string(mine.bytes.size()) + " bytes, mask " + std::to_string(mine.mask) +
                   ", theirs " + std::to_string(other.bytes.size()) + ", mask " + std::to_string(other.mask) +
                   ", equal up to " + std::to_string(i));
        }
        std::size_t d = draw.dims.size();
        while (d > 0 && (at[d - 1] += draw.chunk[d - 1]) >= draw.dims[d - 1]) {
            at[--d] = 0;
        }
        if (d == 0) {
            return;
        }
    }
}

// Writes other values to some rows of a file, by h5mote or by libhdf5.
Blob change_by_us(const Draw& draw, const Blob& image, std::uint64_t first, std::uint64_t count, const Blob& rows) {
    Ours ours;
    ours.open(image);
    std::vector<std::uint64_t> start(draw.dims.size(), 0);
    std::vector<std::uint64_t> block(draw.dims.begin(), draw.dims.end());
    start[0] = first;
    block[0] = count;
    const Span<const std::uint64_t> starts(start.data(), start.size());
    const Span<const std::uint64_t> blocks(block.data(), block.size());
    Ours::must(ours.dataset.write(Selection::hyperslab(starts, blocks), draw.type.view(), {rows.data(), rows.size()}),
               "write of rows");
    return ours.close();
}

Blob change_by_them(const Draw& draw, const Blob& image, std::uint64_t first, std::uint64_t count, const Blob& rows) {
    Id file = open_image(image, kBounds);
    {
        const Id dataset = DIFFERENTIAL_ID(H5Dopen2(file, "d", H5P_DEFAULT));
        std::vector<hsize_t> start(draw.dims.size(), 0);
        std::vector<hsize_t> block = draw.dims;
        start[0] = first;
        block[0] = count;
        const Id space = DIFFERENTIAL_ID(H5Dget_space(dataset));
        const Id memory = DIFFERENTIAL_ID(H5Screate_simple(static_cast<int>(block.size()), block.data(), nullptr));
        DIFFERENTIAL_OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr));
        DIFFERENTIAL_OK(H5Dwrite(dataset, draw.type.id(), memory, space, H5P_DEFAULT, rows.data()));
    }
    return close_image(file);
}

// Each library changes rows in the file of the other.
void change(Random& random, const Draw& draw, const Blob& ours, const Blob& theirs, bool lost, Totals& totals) {
    const std::uint64_t first = random.below(draw.dims[0]);
    const std::uint64_t count = random.between(1, draw.dims[0] - first);
    const std::size_t row = draw.values.size() / draw.dims[0];
    Draw changed = draw;
    draw_values(random, changed);
    if (draw.mandatory) {
        return;  // the filter may not be able to encode other values
    }
    const Blob rows(changed.values.begin() + static_cast<std::ptrdiff_t>(first * row),
                    changed.values.begin() + static_cast<std::ptrdiff_t>((first + count) * row));
    changed.values = draw.values;
    changed.roundings = 2;
    std::copy(rows.begin(), rows.end(), changed.values.begin() + static_cast<std::ptrdiff_t>(first * row));
    const Blob mask = significant_bytes(draw.type.id());
    // libhdf5 may lose numbers: then only its opinion of our file counts.
    if (!lost) {
        const Blob image = change_by_us(draw, theirs, first, count, rows);
        Id file = read_image(image);
        const Blob by_them = read_theirs(changed, file);
        const std::size_t at = first_lost(changed, by_them, mask);
        if (at != draw.elements()) {
            const std::size_t size = draw.type.size();
            differ("rows changed by h5mote: libhdf5 reads element " + std::to_string(at) + " as " +
                   hex(by_them, at * size, size) + ", which was written as " + hex(changed.values, at * size, size));
        }
        same_values(draw, read_ours(changed, image), by_them, "rows changed by h5mote");
    }
    const Blob image = change_by_them(draw, ours, first, count, rows);
    Id file = read_image(image);
    if (!raw_sized_chunks(DIFFERENTIAL_ID(H5Dopen2(file, "d", H5P_DEFAULT)), H5Z_FILTER_SZIP).empty()) {
        return;  // libhdf5 may have kept a wrong filter mask
    }
    const Blob read = read_ours(changed, image, lost);
    if (!read.empty()) {
        same_values(draw, read, read_theirs(changed, file), "rows changed by libhdf5");
    }
    ++totals.datasets;
}

void run(std::uint64_t seed, Totals& totals) {
    Random random(seed);
    const Draw draw = draw_dataset(random);
    Id theirs = create_image(kBounds);
    const Id list = make_list(draw);
    const hid_t made = H5Dcreate2(theirs, "d", draw.type.id(), make_space(draw), H5P_DEFAULT, list, H5P_DEFAULT);
    Ours ours;
    const Status status = ours.create(draw);
    if (made >= 0 && status == Status::invalid_argument && draw.kind == Kind::integers &&
        draw.type.view().type_class() == TypeClass::floating) {
        // libhdf5 makes such a dataset, but cannot encode any of its chunks.
        H5Dclose(made);
        ++totals.refused;
        return;
    }
    if (made < 0 || status != Status::ok) {
        if (made >= 0 || status == Status::ok) {
            const bool fine = made >= 0;
            if (fine) {
                H5Dclose(made);
            }
            differ(std::string("creation: ") + to_string(status) + (fine ? ", libhdf5 ok" : ", libhdf5 refuses"));
        }
        ++totals.refused;
        close_image(theirs);
        return;
    }
    Id their_dataset(made, "H5Dcreate2");
    const Blob mask = significant_bytes(draw.type.id());
    const bool written =
        H5Dwrite(their_dataset, draw.type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, draw.values.data()) >= 0 &&
        H5Fflush(theirs, H5F_SCOPE_LOCAL) >= 0;
    Status wrote = ours.dataset.write(Selection::all(), draw.type.view(), {draw.values.data(), draw.values.size()});
    wrote = wrote == Status::ok ? ours.file.flush() : wrote;
    if (!written || wrote != Status::ok) {
        // A mandatory filter that cannot encode.
        if (written || wrote == Status::ok) {
            differ(std::string("write: ") + to_string(wrote) + (written ? ", libhdf5 ok" : ", libhdf5 refuses"));
        }
        ++totals.refused;
        return;
    }
    const Blob our_image = ours.close();
    const Blob our_read = read_ours(draw, our_image);
    if (const std::size_t at = first_lost(draw, our_read, mask); at != draw.elements()) {
        differ("h5mote loses element " + std::to_string(at) + ": " +
               hex(draw.values, at * draw.type.size(), draw.type.size()) + " is read as " +
               hex(our_read, at * draw.type.size(), draw.type.size()));
    }
    Id our_file = read_image(our_image);
    const Blob our_read_by_them = read_theirs(draw, our_file);
    same_values(draw, our_read, our_read_by_them, "our chunks");
    Blob their_read;
    {
        const Id our_dataset = DIFFERENTIAL_ID(H5Dopen2(our_file, "d", H5P_DEFAULT));
        compare_client_data(our_dataset, their_dataset);
        their_dataset = Id();
        const Blob their_image = close_image(theirs);
        Id again = read_image(their_image);
        their_read = read_theirs(draw, again);
        const bool lost = first_lost(draw, their_read, mask) != draw.elements();
        const Blob read = read_ours(draw, their_image, lost);
        same_values(draw, read.empty() ? their_read : read, their_read, "their chunks");
        compare_chunks(draw, our_dataset, DIFFERENTIAL_ID(H5Dopen2(again, "d", H5P_DEFAULT)), their_read, totals);
        change(random, draw, our_image, their_image, lost, totals);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const auto [seed, runs, least] = run_options(count, arguments, 1000);
    prepare_libhdf5();
    Totals totals;
    for (std::uint64_t i = 0; i < runs && totals.failures < 10; ++i) {
        try {
            run(seed + i, totals);
        } catch (const Difference& difference) {
            Random random(seed + i);
            const Draw draw = draw_dataset(random);
            std::printf("seed %llu, filter %u %s, %s: %s\n", static_cast<unsigned long long>(seed + i),
                        static_cast<unsigned>(draw.spec.id), draw.mandatory ? "mandatory" : "optional",
                        type_text(draw.type.view()).c_str(), difference.text.c_str());
            ++totals.failures;
        }
    }
    std::printf(
        "%u datasets, %u refused by both; %u chunks equal, of which the filter was skipped for %u; "
        "%u chunks saved that libhdf5 loses; %u failures\n",
        totals.datasets, totals.refused, totals.chunks, totals.skipped, totals.saved, totals.failures);
    std::fflush(stdout);
    // Without the end of libhdf5, which crashes when it cannot write a chunk of a dataset that was left open.
    std::_Exit(totals.failures == 0 && totals.chunks >= least ? 0 : 1);
}
