// The files that a command makes. They have names of their own until they are complete, and nothing but what the
// command itself has made is ever emptied or removed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace h5mote::cli {

/// Files that a command reads, whatever names they have: it must not replace them.
class FileIds {
public:
    /// A path at which there is no file adds nothing.
    void add(const std::string& path);
    bool contains(const std::string& path) const;

private:
    std::set<std::pair<std::uint64_t, std::uint64_t>> ids_;  // device and inode
};

/// The path of the file that `path` leads to, so that a symbolic link stays and its target is replaced. `path` itself
/// if that cannot be found out, and if the target does not exist.
std::string without_links(const std::string& path);

/// Why no new file may take the place of what is at `path`, e.g. "not a regular file"; nullptr if it may. `inputs`: the
/// files that the command reads. A symbolic link is not followed.
const char* why_not_replaced(const std::string& path, const FileIds& inputs);

/// Files that are made together. What has not got its name when this object ends is removed.
class NewFiles {
public:
    explicit NewFiles(FileIds inputs = {});
    NewFiles(const NewFiles&) = delete;
    NewFiles& operator=(const NewFiles&) = delete;
    ~NewFiles();

    /// What stands behind the name of a file until it is complete: ".part" and the number of the process.
    const std::string& suffix() const { return suffix_; }
    /// Makes an empty file, which finish() will call `name`. Returns its descriptor, which belongs to the caller; -1,
    /// and problem() says why: there is a file of the unfinished name, or what is at `name` must not be replaced.
    int create(const std::string& name);
    /// false, and problem() says why: what is at `name` must not be replaced.
    bool may_replace(const std::string& name);
    bool has(const std::string& name) const { return names_.count(name) != 0; }
    /// Removes a file that was made, which is not needed after all.
    void drop(const std::string& name);
    /// Gives all files their names, `last` being the last one: the file without which the others are of no use. false,
    /// and problem() says why: some files may have their names, the others are removed.
    bool finish(const std::string& last);
    /// "NAME: WHY" of the call that failed; empty if none has.
    const std::string& problem() const { return problem_; }

private:
    bool rename(const std::string& name);
    void fail(const std::string& name, const char* why);

    FileIds inputs_;
    std::string suffix_;
    std::set<std::string> names_;
    std::string problem_;
};

}  // namespace h5mote::cli
