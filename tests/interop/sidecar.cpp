#include "sidecar.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace h5mote_interop {

void die(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    std::exit(1);
}

Blob read_file(const std::string& path) {
    Blob bytes;
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        die("%s: cannot be read", path.c_str());
    }
    std::byte block[65536];
    std::size_t count = 0;
    while ((count = std::fread(block, 1, sizeof block, file)) > 0) {
        bytes.insert(bytes.end(), block, block + count);
    }
    std::fclose(file);
    return bytes;
}

void write_file(const std::string& path, h5mote::ConstBytes bytes) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
        die("%s: cannot be written", path.c_str());
    }
}

std::vector<std::string> read_lines(const std::string& path) {
    const Blob bytes = read_file(path);
    std::vector<std::string> lines;
    std::string line;
    for (const std::byte b : bytes) {
        if (b == std::byte{'\n'}) {
            lines.push_back(line);
            line.clear();
        } else {
            line += static_cast<char>(b);
        }
    }
    return lines;
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string leaf_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Entry::field(const char* key, const char* otherwise) const {
    const auto found = fields.find(key);
    return found == fields.end() ? otherwise : found->second;
}

Entry& Sidecar::add(const char* kind, const std::string& path) {
    entries.emplace_back();
    entries.back().kind = kind;
    entries.back().path = path;
    return entries.back();
}

Entry* Sidecar::find(const std::string& path) {
    for (Entry& entry : entries) {
        if (entry.path == path) {
            return &entry;
        }
    }
    return nullptr;
}

Entry& Sidecar::at(const std::string& path) {
    Entry* const entry = find(path);
    if (entry == nullptr) {
        die("the sidecar has no %s", path.c_str());
    }
    return *entry;
}

Entry* Sidecar::find_attribute(Entry& object, const std::string& name) {
    for (Entry& attribute : object.attributes) {
        if (attribute.name == name) {
            return &attribute;
        }
    }
    return nullptr;
}

namespace {

constexpr const char* kMagic = "h5mote-expect 1";
constexpr std::size_t kLineBytes = 4096;

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> words(1);
    for (const char c : line) {
        if (c == ' ') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

void set_fields(Entry& entry, const std::vector<std::string>& words, std::size_t first) {
    for (std::size_t i = first; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        entry.fields[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
}

}  // namespace

Sidecar Sidecar::load(const std::string& path) {
    Sidecar sidecar;
    const std::vector<std::string> lines = read_lines(path);
    if (lines.empty() || lines[0] != kMagic) {
        die("%s: no sidecar", path.c_str());
    }
    Entry* last = nullptr;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (!lines[i].empty() && lines[i][0] != '#') {
            sidecar.statement(split(lines[i]), last);
        }
    }
    return sidecar;
}

void Sidecar::statement(const std::vector<std::string>& words, Entry*& last) {
    const std::string& kind = words[0];
    if (kind == "file") {
        superblock = words.size() > 1 ? words[1].substr(words[1].find('=') + 1) : "";
    } else if (kind.compare(0, 4, "data") == 0 && kind != "dataset" && kind != "datatype") {
        if (kind == "data") {
            const Blob more = unhex(words.size() > 1 ? words[1] : "");
            last->data.insert(last->data.end(), more.begin(), more.end());
        } else if (kind == "data-skip") {
            last->skip = true;
        } else {
            last->digest = kind + " " + words[1] + " " + words[2];
        }
    } else if (kind == "attr") {
        Entry& object = at(unquote(words[1]));
        object.attributes.emplace_back();
        last = &object.attributes.back();
        last->kind = kind;
        last->path = object.path;
        last->name = unquote(words[2]);
        set_fields(*last, words, 3);
    } else {
        last = &add(kind.c_str(), unquote(words.at(1)));
        if (kind == "group" || kind == "dataset" || kind == "datatype") {
            set_fields(*last, words, 2);
        } else {
            for (std::size_t i = 3; i < words.size(); ++i) {
                last->target.push_back(unquote(words[i]));
            }
        }
    }
}

namespace {

void print_fields(std::string& out, const Entry& entry) {
    for (const auto& [key, value] : entry.fields) {
        out += " " + key + "=" + value;
    }
    out += "\n";
}

void print_data(std::string& out, const Entry& entry) {
    const std::string shape = entry.field("shape");
    if (entry.skip) {
        out += "data-skip\n";
    } else if (!entry.digest.empty()) {
        out += entry.digest + "\n";
    } else if (entry.summarize) {
        char line[64];
        std::snprintf(line, sizeof line, "data-crc32 %zu %08x\n", entry.data.size(),
                      crc32({entry.data.data(), entry.data.size()}));
        out += line;
    } else if (shape != "null") {
        std::size_t at = 0;
        do {
            const std::size_t count = entry.data.size() - at < kLineBytes ? entry.data.size() - at : kLineBytes;
            out += at == 0 && count == 0 ? "data\n" : "data " + hex({entry.data.data() + at, count}) + "\n";
            at += count;
        } while (at < entry.data.size());
    }
}

}  // namespace

void Sidecar::save(const std::string& path) const {
    std::string out = kMagic + std::string("\n");
    if (!superblock.empty()) {
        out += "file superblock=" + superblock + "\n";
    }
    for (const Entry& entry : entries) {
        out += entry.kind + " " + quote(entry.path);
        if (!entry.target.empty()) {
            out += entry.kind == "hardlink" ? " =" : " ->";
            for (const std::string& target : entry.target) {
                out += " " + quote(target);
            }
            out += "\n";
            continue;
        }
        print_fields(out, entry);
        if (entry.kind == "dataset") {
            print_data(out, entry);
        }
        for (const Entry& attribute : entry.attributes) {
            out += "attr " + quote(entry.path) + " " + quote(attribute.name);
            print_fields(out, attribute);
            print_data(out, attribute);
        }
    }
    write_file(path, {reinterpret_cast<const std::byte*>(out.data()), out.size()});
}

}  // namespace h5mote_interop
