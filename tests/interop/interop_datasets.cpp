// Reads datasets of every kind that libhdf5 made, whole and in part, with small caches, and compares byte for byte.
//
// usage: interop_datasets FOLDER [METADATA_CACHE CHUNK_CACHE | damage STEP] (FOLDER as make_datasets.py made it)
#include <h5mote/file.hpp>
#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>
#include <h5mote/port/malloc.hpp>
#include <h5mote/port/posix.hpp>
#include <h5mote/selection_set.hpp>
#include <h5mote/variable_length.hpp>
#include <h5mote/vfd/memory.hpp>
#include <h5mote/vfd/posix_opener.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace h5mote;

namespace {

constexpr const Filter* kFilters[] = {&deflate_filter, &shuffle_filter, &fletcher32_filter, &szip_filter,
                                      &nbit_filter,    &lzf_filter,     &scaleoffset_filter};

unsigned failures = 0;
unsigned reads = 0;

struct Line {
    std::string file, dataset, kind, expected;
    std::vector<std::uint64_t> numbers;
};

void complain(const Line& line, const char* what, Status status, Library& library) {
    if (++failures <= 30) {
        std::printf("%s/%s %s: %s: %s", line.file.c_str(), line.dataset.c_str(), line.kind.c_str(), what,
                    to_string(status));
        for (std::size_t i = 0; i < library.trail().size() && i < 4; ++i) {
            const ErrorRecord record = library.trail().newest(i);
            std::printf(" [%s:%u %s %u %llu]", to_string(record.module), record.line, to_string(record.status),
                        record.detail, static_cast<unsigned long long>(record.value));
        }
        std::printf("\n");
    }
    library.trail().clear();
}

std::vector<char> contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void check_chunks(const Line& line, Dataset& dataset, Library& library) {
    std::uint64_t chunks = 0, index = 0, storage = 0;
    Status status = dataset.index_size(chunks, index);
    if (status == Status::ok) {
        status = dataset.storage_size(storage);
    }
    if (status != Status::ok || chunks != line.numbers[0] || storage != line.numbers[1]) {
        complain(line, "chunks", status, library);
    }
}

// Reads and compares a dataset of variable-length elements, in the library's native form.
void check_variable(const std::string& folder, const Line& line, Dataset& dataset, std::size_t count,
                    Library& library) {
    std::byte message[256];
    std::byte native_message[256];
    DatatypeView type;
    DatatypeView native;
    Status status = dataset.datatype({message, sizeof message}, type);
    if (status == Status::ok) {
        status = native_type(type, {native_message, sizeof native_message}, native);
    }
    const bool strings = line.kind == "strings";
    std::vector<char*> texts(strings ? count : 0, nullptr);
    std::vector<VariableLength> sequences(strings ? 0 : count);
    void* const data = strings ? static_cast<void*>(texts.data()) : static_cast<void*>(sequences.data());
    if (status == Status::ok) {
        status = dataset.read(Selection::all(), native, {static_cast<std::byte*>(data), count * native.size()});
    }
    if (status != Status::ok) {
        complain(line, "read", status, library);
        return;
    }
    std::vector<char> found;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t elements = strings ? (texts[i] == nullptr ? 0 : std::strlen(texts[i])) : sequences[i].count;
        for (unsigned b = 0; b < 8; ++b) {
            found.push_back(static_cast<char>(static_cast<std::uint64_t>(elements) >> (8 * b)));
        }
        for (std::size_t e = 0; e < elements; ++e) {
            if (strings) {
                found.push_back(texts[i][e]);
                continue;
            }
            const auto value = static_cast<const std::uint32_t*>(sequences[i].data)[e];
            for (unsigned b = 0; b < 4; ++b) {
                found.push_back(static_cast<char>(value >> (8 * b)));
            }
        }
    }
    status = reclaim(library, native, count, native.size(), data);
    if (status != Status::ok || found != contents(folder + "/" + line.expected)) {
        complain(line, "elements", status, library);
    }
}

void check(const std::string& folder, const Line& line, Dataset& dataset, Library& library) {
    ++reads;
    if (line.kind == "chunks") {
        check_chunks(line, dataset, library);
        return;
    }
    Dataspace space;
    if (dataset.dataspace(space) != Status::ok) {
        complain(line, "dataspace", Status::io_error, library);
        return;
    }
    if (line.kind == "strings" || line.kind == "sequences") {
        check_variable(folder, line, dataset, static_cast<std::size_t>(space.dims()[0]), library);
        return;
    }
    const std::size_t rank = space.rank();
    const Span<const std::uint64_t> all(line.numbers.data(), line.numbers.size());
    Selection selection;
    if (line.kind == "slab") {
        selection = Selection::hyperslab(all.subspan(0, rank), all.subspan(2 * rank, rank), all.subspan(rank, rank),
                                         all.subspan(3 * rank, rank));
    } else if (line.kind == "points") {
        selection = Selection::points(static_cast<unsigned>(rank), all);
    }
    const std::vector<char> wanted = contents(folder + "/" + line.expected);
    std::vector<char> stored(wanted.size(), 'x');
    Status status = dataset.read_stored(selection, {reinterpret_cast<std::byte*>(stored.data()), stored.size()});
    if (status != Status::ok || stored != wanted) {
        complain(line, "read_stored", status, library);
        return;
    }
    // Read once more, converted to doubles, and compare with the expected values converted here.
    std::byte message[512];
    DatatypeView type;
    status = dataset.datatype({message, sizeof message}, type);
    const std::size_t count = wanted.size() / dataset.element_size();
    std::vector<double> converted(count), again(count);
    if (status == Status::ok) {
        status = dataset.read(selection, datatype_of<double>(),
                              {reinterpret_cast<std::byte*>(converted.data()), count * sizeof(double)});
    }
    bool same = status == Status::ok;
    for (std::size_t i = 0; same && i < count; ++i) {
        const auto* at = reinterpret_cast<const unsigned char*>(wanted.data()) + i * type.size();
        std::uint64_t bits = 0;
        for (unsigned b = 0; b < type.size(); ++b) {
            bits |= std::uint64_t{at[type.order() == ByteOrder::big ? type.size() - 1 - b : b]} << (8 * b);
        }
        double value = 0;
        if (type.type_class() == TypeClass::floating) {
            std::memcpy(&value, &bits, sizeof value);
        } else {
            const unsigned shift = 64 - 8 * type.size();
            value = type.is_signed() ? static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift)
                                     : static_cast<double>(bits);
        }
        same = value == converted[i];
    }
    if (!same) {
        complain(line, "read", status, library);
    }
}

// Calls every query and read of a dataset; any status will do.
void ask(Dataset& dataset, Library& library) {
    Dataspace space;
    DatasetInfo info;
    (void)dataset.info(info);
    std::uint64_t chunks = 0, bytes = 0;
    (void)dataset.index_size(chunks, bytes);
    (void)dataset.storage_size(bytes);
    ExternalFile external;
    char name[64];
    (void)dataset.external_file(0, external, name);
    VirtualMapping mapping;
    SelectionSet source(library), destination(library);
    for (std::size_t i = 0; i < 3; ++i) {
        (void)dataset.virtual_mapping(i, mapping, &source, &destination);
    }
    std::uint64_t count = 0;
    if (dataset.dataspace(space) != Status::ok || space.element_count(count) != Status::ok || count > 100000 ||
        count * dataset.element_size() > 400000) {
        return;
    }
    std::vector<std::byte> data(static_cast<std::size_t>(count) * dataset.element_size());
    (void)dataset.read_stored(Selection::all(), {data.data(), data.size()});
    std::vector<double> values(static_cast<std::size_t>(count));
    (void)dataset.read(Selection::all(), datatype_of<double>(),
                       {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(double)});
    double fill = 0;
    (void)dataset.fill_value(datatype_of<double>(), {reinterpret_cast<std::byte*>(&fill), sizeof fill});
}

// Changes the bytes of the small files one at a time (every byte, or one in `step`): all calls must still return, and
// release all memory.
int damage(const std::string& folder, std::size_t step) {
    std::ifstream list(folder + "/list");
    std::map<std::string, std::set<std::string>> files;
    for (std::string text; std::getline(list, text);) {
        std::istringstream words(text);
        std::string file, dataset;
        words >> file >> dataset;
        files[file].insert(dataset);
    }
    unsigned long long tried = 0, opened = 0;
    for (const auto& [name, datasets] : files) {
        std::vector<char> bytes = contents(folder + "/" + name);
        if (bytes.size() > 30000) {
            continue;
        }
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            const char was = bytes[at];
            bytes[at] = static_cast<char>(was ^ static_cast<char>(1 + at * 7 % 255));
            MallocAllocator memory(2 * 1024 * 1024);
            {
                PosixPort port;
                Library library(memory, port, kFilters);
                MemoryDriver driver(Bytes(reinterpret_cast<std::byte*>(bytes.data()), bytes.size()), bytes.size());
                FileAccess access;
                access.read_only = true;
                Result<File> file = File::open(library, driver, access);
                for (const std::string& dataset : datasets) {
                    Result<Dataset> found = Status::not_found;
                    if (file) {
                        found = file->root().open_dataset(dataset);
                    }
                    ++tried;
                    if (found) {
                        ++opened;
                        ask(*found, library);
                    }
                }
            }
            failures += memory.blocks() != 0 ? 1 : 0;
            bytes[at] = was;
        }
    }
    std::printf("%llu datasets of damaged files, %llu opened, %u times memory was left\n", tried, opened, failures);
    return failures == 0 && opened > 1000 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::printf("usage: interop_datasets FOLDER [METADATA_CACHE CHUNK_CACHE | damage STEP]\n");
        return 2;
    }
    const std::string folder = argv[1];
    if (argc > 3 && std::string(argv[2]) == "damage") {
        return damage(folder, std::strtoul(argv[3], nullptr, 10));
    }
    FileAccess access;
    access.read_only = true;
    access.metadata_cache = argc > 3 ? std::strtoul(argv[2], nullptr, 10) : 4096;
    access.chunk_cache = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 16384;
    std::ifstream list(folder + "/list");
    if (!list) {
        return 77;
    }
    std::size_t peak = 0;
    for (std::string text; std::getline(list, text);) {
        Line line;
        std::size_t numbers = 0;
        std::istringstream words(text);
        words >> line.file >> line.dataset >> line.kind >> numbers;
        for (std::uint64_t number = 0; line.numbers.size() < numbers && words >> number;) {
            line.numbers.push_back(number);
        }
        words >> line.expected;
        MallocAllocator memory;
        PosixPort port;
        Library library(memory, port, kFilters);
        PosixDriver driver;
        const std::string path = folder + "/" + line.file;
        if (driver.open(path.c_str(), PosixDriver::Mode::read_only) != Status::ok) {
            complain(line, "open", Status::io_error, library);
            continue;
        }
        PosixOpener opener(memory, driver, path.c_str(), {{}, "${ORIGIN}", {}});
        access.opener = &opener;
        Result<File> file = File::open(library, driver, access);
        if (!file) {
            complain(line, "open", file.status(), library);
            continue;
        }
        {
            Result<Dataset> dataset = file->root().open_dataset(line.dataset);
            if (dataset) {
                check(folder, line, *dataset, library);
            } else {
                complain(line, "open_dataset", dataset.status(), library);
            }
        }
        if (file->close() != Status::ok) {
            complain(line, "close", Status::io_error, library);
        }
        peak = memory.usage().peak > peak ? memory.usage().peak : peak;
    }
    std::printf("%u reads, %u failures, at most %zu bytes of memory\n", reads, failures, peak);
    return failures == 0 && reads > 0 ? 0 : 1;
}
