#include "repack_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace h5mote::cli {

std::string member_name(const std::string& pattern, unsigned number) {
    std::string name;
    bool has_number = false;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '%') {
            name += pattern[at];
            continue;
        }
        const std::size_t end = std::min(pattern.find_first_not_of("0123456789", at + 1), pattern.size() - 1);
        const std::string width = pattern.substr(at + 1, end - at - 1);
        if (pattern[end] == '%' && end == at + 1) {
            name += '%';
        } else if (has_number || (pattern[end] != 'd' && pattern[end] != 'u') || width.size() > 2) {
            return "";
        } else {
            const std::string digits = std::to_string(number);
            const std::size_t wanted = width.empty() ? 0 : std::stoul(width);
            name.append(digits.size() < wanted ? wanted - digits.size() : 0, width[0] == '0' ? '0' : ' ');
            name += digits;
            has_number = true;
        }
        at = end;
    }
    return has_number ? name : "";
}

std::string path_of_part(std::string_view name, const std::string& whole) {
    const std::size_t place = name.find("%s");
    return place == std::string_view::npos
               ? std::string(name)
               : std::string(name.substr(0, place)) + whole + std::string(name.substr(place + 2));
}

std::vector<std::string> paths_of_parts(const MultiLayout& layout, const std::string& whole) {
    std::vector<std::string> paths;
    for (unsigned i = 0; i < kMostParts; ++i) {
        if (layout.map[i] == i) {
            paths.push_back(path_of_part(layout.parts[i].name, whole));
        }
    }
    return paths;
}

namespace {

// The names of the parts stand in what the driver keeps in the superblock: eight bytes, start and size of each part,
// then a text for each part, padded to a multiple of eight bytes.
void add_parts(FileIds& files, Driver& driver, const std::string& path) {
    const UsageRanges* const ranges = driver.usage_ranges();
    const SuperblockInfo* const stored = driver.superblock_info();
    if (ranges == nullptr || stored == nullptr) {
        return;
    }
    std::string_view rest(reinterpret_cast<const char*>(stored->info.data()), stored->info.size());
    rest.remove_prefix(std::min(rest.size(), 8 + std::size_t{16} * ranges->count));
    for (unsigned i = 0; i < ranges->count && !rest.empty(); ++i) {
        const std::string_view name = rest.substr(0, rest.find('\0'));
        files.add(path_of_part(name, path));
        rest.remove_prefix(std::min(rest.size(), (name.size() + 8) & ~std::size_t{7}));
    }
}

}  // namespace

FileIds files_of(Session& session, const std::string& path) {
    FileIds files;
    std::error_code error;
    switch (session.kind()) {
        case PosixFile::Kind::family:
            for (unsigned i = 0; std::filesystem::exists(member_name(path, i), error); ++i) {
                files.add(member_name(path, i));
            }
            break;
        case PosixFile::Kind::split:
        case PosixFile::Kind::multi:
            add_parts(files, session.driver(), path);
            break;
        default:
            files.add(path);
            break;
    }
    return files;
}

Status NewMembers::member(std::uint32_t index, Driver*& driver) noexcept {
    return files_.has(member_name(pattern_, index)) ? members_.member(index, driver) : Status::not_found;
}

Status NewMembers::make(std::uint32_t index, Driver*& driver) noexcept {
    const int descriptor = files_.create(member_name(pattern_, index));
    if (descriptor < 0) {
        return Status::io_error;
    }
    (void)::close(descriptor);
    return members_.make(index, driver);
}

Status NewParts::open(unsigned index, std::string_view name, Driver*& driver) noexcept {
    const std::string path = path_of_part(name, whole_);
    if (!files_.has(path)) {
        return Status::not_found;
    }
    const Status status = drivers_[index].open((path + files_.suffix()).c_str(), PosixDriver::Mode::read_write);
    error_ = status == Status::ok ? error_ : drivers_[index].last_error();
    driver = status == Status::ok ? &drivers_[index] : nullptr;
    return status;
}

Status NewParts::make(unsigned index, std::string_view name, Driver*& driver) noexcept {
    const int descriptor = files_.create(path_of_part(name, whole_));
    if (descriptor < 0) {
        return Status::io_error;
    }
    (void)::close(descriptor);
    return open(index, name, driver);
}

}  // namespace h5mote::cli
