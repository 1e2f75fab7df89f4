#include "new_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace h5mote::cli {

void FileIds::add(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) == 0) {
        ids_.emplace(static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino));
    }
}

bool FileIds::contains(const std::string& path) const {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 &&
           ids_.count({static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino)}) != 0;
}

std::string without_links(const std::string& path) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target.string();
}

const char* why_not_replaced(const std::string& path, const FileIds& inputs) {
    std::error_code error;
    const std::filesystem::file_status there = std::filesystem::symlink_status(path, error);
    if (!std::filesystem::exists(there)) {
        return nullptr;
    }
    if (std::filesystem::is_symlink(there)) {
        return "a symbolic link, which is not followed";
    }
    if (!std::filesystem::is_regular_file(there)) {
        return "not a regular file";
    }
    return inputs.contains(path) ? "the file that is read" : nullptr;
}

NewFiles::NewFiles(FileIds inputs) : inputs_(std::move(inputs)), suffix_(".part" + std::to_string(getpid())) {}

NewFiles::~NewFiles() {
    for (const std::string& name : names_) {
        (void)std::remove((name + suffix_).c_str());
    }
}

bool NewFiles::may_replace(const std::string& name) {
    const char* const why = why_not_replaced(name, inputs_);
    if (why != nullptr) {
        fail(name, why);
    }
    return why == nullptr;
}

int NewFiles::create(const std::string& name) {
    if (!may_replace(name)) {
        return -1;
    }
    const std::string unfinished = name + suffix_;
    const int descriptor = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        fail(unfinished, std::strerror(errno));
    } else {
        names_.insert(name);
    }
    return descriptor;
}

void NewFiles::drop(const std::string& name) {
    if (names_.erase(name) != 0) {
        (void)std::remove((name + suffix_).c_str());
    }
}

bool NewFiles::finish(const std::string& last) {
    while (!names_.empty()) {
        auto next = names_.begin();
        if (*next == last && names_.size() > 1) {
            ++next;
        }
        if (!rename(*next)) {
            return false;
        }
        names_.erase(next);
    }
    return true;
}

bool NewFiles::rename(const std::string& name) {
    if (std::rename((name + suffix_).c_str(), name.c_str()) != 0) {
        fail(name, std::strerror(errno));
        return false;
    }
    return true;
}

void NewFiles::fail(const std::string& name, const char* why) {
    if (problem_.empty()) {
        problem_ = name + ": " + why;
    }
}

}  // namespace h5mote::cli
