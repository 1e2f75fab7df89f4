// interop_filters VECTORS: decodes the chunks of filter_vectors.py, each in exactly the memory that the pipeline asks
// for, and compares. Then decodes damaged chunks: the pipeline must return a status and stay within that memory.

#include "pipeline.hpp"
#include "sidecar.hpp"

#include <h5mote/filters/deflate.hpp>
#include <h5mote/filters/fletcher32.hpp>
#include <h5mote/filters/lzf.hpp>
#include <h5mote/filters/nbit.hpp>
#include <h5mote/filters/scaleoffset.hpp>
#include <h5mote/filters/shuffle.hpp>
#include <h5mote/filters/szip.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace h5mote;
using h5mote_interop::Blob;

namespace {

const Filter* const kFilters[] = {&deflate_filter, &shuffle_filter,     &fletcher32_filter, &szip_filter,
                                  &nbit_filter,    &scaleoffset_filter, &lzf_filter};

struct Vector {
    std::uint32_t mask = 0;
    Blob decoded;
    Blob stored;
    std::string name;
    std::vector<Blob> values;  // encoded client data values of each filter
    std::vector<FilterEntry> entries;
};

Blob from_hex(const std::string& text) {
    Blob bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

// Parses ID[:VALUE/VALUE/...] and encodes the values as files store them.
void parse_filter(const std::string& word, Vector& vector) {
    FilterEntry entry;
    entry.spec.id = static_cast<FilterId>(std::stoul(word));
    for (const Filter* filter : kFilters) {
        entry.filter = filter->id() == entry.spec.id ? filter : entry.filter;
    }
    Blob values;
    for (std::size_t at = word.find(':'); at != std::string::npos; at = word.find('/', at + 1)) {
        const unsigned long value = std::stoul(word.substr(at + 1));
        for (unsigned shift = 0; shift < 32; shift += 8) {
            values.push_back(static_cast<std::byte>(value >> shift));
        }
    }
    entry.spec.value_count = static_cast<std::uint16_t>(values.size() / 4);
    entry.spec.encoded = values.data();
    vector.values.push_back(std::move(values));
    vector.entries.push_back(entry);
    vector.name += (vector.name.empty() ? "" : "+") + word.substr(0, word.find(':'));
}

Vector parse(const std::string& line) {
    std::istringstream words(line);
    Vector vector;
    std::string decoded;
    std::string stored;
    words >> vector.mask >> decoded >> stored;
    vector.decoded = from_hex(decoded);
    vector.stored = from_hex(stored);
    for (std::string word; words >> word;) {
        parse_filter(word, vector);
    }
    return vector;
}

// Memory of exactly `size` bytes, aligned to 8, so that a sanitizer notices an access to one byte more.
class Exact {
public:
    explicit Exact(std::size_t size) : size_(size), memory_(new std::byte[size]) {}
    Bytes bytes() const { return {memory_.get(), size_}; }

private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> memory_;
};

Status decode(Vector& vector, const Blob& stored, const Exact& chunk) {
    FilterPipeline pipeline{{vector.entries.data(), vector.entries.size()}};
    const Exact work(pipeline.decode_need(chunk.bytes().size(), stored.size(), vector.mask));
    Bytes place;
    H5MOTE_TRY(pipeline.stored_place(stored.size(), vector.mask, chunk.bytes(), work.bytes(), place));
    if (!place.empty()) {
        std::memcpy(place.data(), stored.data(), place.size());
    }
    FilterId failed = FilterId::none;
    return pipeline.decode(place, vector.mask, chunk.bytes(), work.bytes(), failed);
}

// Decodes prefixes of the stored chunk and of the client data, and both with single bytes changed: at every place of a
// small chunk, at about 64 places of a large one. Returns how many attempts were made.
std::uint64_t damage(Vector& vector) {
    const Exact chunk(vector.decoded.size());
    std::uint64_t tried = 0;
    const auto attempt = [&](const Blob& stored) {
        const Status status = decode(vector, stored, chunk);
        if (status != Status::ok && status != Status::corrupt_file && status != Status::unsupported) {
            h5mote_interop::die("damaged %s: %s", vector.name.c_str(), to_string(status));
        }
        ++tried;
    };
    const std::size_t step = vector.stored.size() / 64 + 1;
    for (std::size_t at = 0; at < vector.stored.size(); at += step) {
        attempt(Blob(vector.stored.begin(), vector.stored.begin() + static_cast<std::ptrdiff_t>(at)));
        Blob changed = vector.stored;
        for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
            changed[at] = vector.stored[at] ^ static_cast<std::byte>(flip);
            attempt(changed);
        }
    }
    for (std::size_t i = 0; i < vector.values.size(); ++i) {
        Blob& values = vector.values[i];
        for (std::size_t at = 0; at < values.size(); ++at) {
            const std::byte old = values[at];
            for (const unsigned value : {0x00U, 0x01U, 0x07U, 0x80U, 0xffU}) {
                values[at] = static_cast<std::byte>(value);
                attempt(vector.stored);
            }
            values[at] = old;
        }
        FilterSpec& spec = vector.entries[i].spec;
        const std::uint16_t count = spec.value_count;
        for (spec.value_count = 0; spec.value_count < count; ++spec.value_count) {
            attempt(vector.stored);
        }
    }
    return tried;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: interop_filters VECTORS\n");
        return 2;
    }
    std::ifstream in(argv[1]);
    std::map<std::string, std::size_t> seen;
    std::size_t count = 0;
    std::size_t failures = 0;
    std::uint64_t damaged = 0;
    for (std::string line; std::getline(in, line); ++count) {
        Vector vector = parse(line);
        const Exact chunk(vector.decoded.size());
        const Status status = decode(vector, vector.stored, chunk);
        if (status != Status::ok ||
            std::memcmp(chunk.bytes().data(), vector.decoded.data(), vector.decoded.size()) != 0) {
            std::fprintf(stderr, "interop_filters: line %zu: %s: %s\n", count + 1, vector.name.c_str(),
                         to_string(status));
            ++failures;
        }
        // Damage the first four vectors of each name, and of all others one in 16.
        if (seen[vector.name]++ < 4 || count % 16 == 0) {
            damaged += damage(vector);
        }
    }
    for (const auto& [name, number] : seen) {
        std::printf("filters %s: %zu chunks\n", name.c_str(), number);
    }
    std::printf("interop_filters: %zu chunks, %llu damaged ones, %zu failed\n", count,
                static_cast<unsigned long long>(damaged), failures);
    return failures == 0 && count > 3000 && damaged > 100000 ? 0 : 1;
}
