// interop_write OUTDIR: writes files that use everything the library can write, each with its sidecar, for the
// verifiers. Prints the CRC-32 of each file and writes the list to OUTDIR/crc32.list, which must be the same on every
// machine.

#include "compare.hpp"
#include "write.hpp"

#include <cstdio>

using namespace h5mote_interop;

namespace {

// Reads a file back with h5mote and compares it with its sidecar. Returns how many checks were made.
std::uint64_t read_back(const std::string& path) {
    Sidecar sidecar = Sidecar::load(path + ".expect");
    Options options;
    const bool large = path.find("/paged") != path.npos || path.find("/attributes") != path.npos;
    options.metadata_cache = large ? 16384 : 2048;
    Session file(path, sidecar, options);
    Comparison comparison(file.library(), file.file(), sidecar, path);
    if (!comparison.run()) {
        die("%s: h5mote does not read what it wrote", path.c_str());
    }
    const h5mote_test::DriverCounts counts = file.driver().total();
    if (counts.writes != 0) {
        die("%s: reading wrote to it", path.c_str());
    }
    return comparison.checks();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: interop_write OUTDIR\n");
        return 2;
    }
    const std::string folder = argv[1];
    for (const Variant& variant : {Variant{8, 2}, Variant{8, 3}, Variant{4, 2}, Variant{4, 3}}) {
        write_empty(folder, variant);
        write_links(folder, variant);
        write_unlinked(folder, variant);
        write_sessions(folder, variant);
        write_unclosed(folder, variant);
    }
    for (const Variant& variant : {Variant{8, 2}, Variant{4, 3}}) {
        write_groups(folder, variant);
        write_attributes(folder, variant);
        write_types(folder, variant);
        write_ranks(folder, variant);
        write_fills(folder, variant);
        write_chunks(folder, variant);
        write_partial(folder, variant);
        write_filters(folder, variant);
        write_logs(folder, variant);
        write_long_log(folder, variant);
    }
    write_conversions(folder, Variant{8, 2});
    write_recorder(folder);

    std::string list;
    std::string names;
    std::uint64_t checks = 0;
    for (const std::string& path : Session::written()) {
        const Blob bytes = read_file(path);
        char line[16];
        std::snprintf(line, sizeof line, "%08x", crc32({bytes.data(), bytes.size()}));
        const std::string name = path.substr(folder.size() + 1);
        names += name.rfind("lzf", 0) == 0 ? "" : name + "\n";
        list += std::string(line) + " " + name + "\n";
        checks += read_back(path);
    }
    write_file(folder + "/crc32.list", {reinterpret_cast<const std::byte*>(list.data()), list.size()});
    write_file(folder + "/supported.list", {reinterpret_cast<const std::byte*>(names.data()), names.size()});
    std::printf("%sinterop_write: %zu files, %llu checks of our own reading\n", list.c_str(), Session::written().size(),
                static_cast<unsigned long long>(checks));
    return 0;
}
