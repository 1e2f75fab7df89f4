// The files of which h5mote repack makes a new HDF5 file: members of a family, or the parts of a split or multi file.
#pragma once

#include "new_files.hpp"
#include "session.hpp"

#include <h5mote/vfd/multi.hpp>
#include <h5mote/vfd/posix_files.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace h5mote::cli {

/// The name of a member of a family. `pattern` has "%d", as for printf() and with zeros and a width if need be, in the
/// place of its number, and "%%" for a percent sign. Empty: the pattern has no such place.
std::string member_name(const std::string& pattern, unsigned number);

/// The path of a part of a file: `name` as in MultiLayout, `whole` the path that stands for the file.
std::string path_of_part(std::string_view name, const std::string& whole);

/// The paths of the parts of a file, without those that hold no usage; that with the superblock is the first one.
std::vector<std::string> paths_of_parts(const MultiLayout& layout, const std::string& whole);

/// All files of the HDF5 file that the session has open at `path`.
FileIds files_of(Session& session, const std::string& path);

/// The members of a new family. They have unfinished names until `files` is finished.
class NewMembers final : public FamilyMembers {
public:
    /// Borrows both.
    NewMembers(NewFiles& files, const std::string& pattern)
        : files_(files), pattern_(pattern), unfinished_(pattern + files.suffix()) {}

    /// invalid_argument: as PosixFamily::set_pattern().
    Status open() noexcept { return members_.set_pattern(unfinished_.c_str(), true); }
    /// Members that this object has not made do not exist, whatever files there are.
    Status member(std::uint32_t index, Driver*& driver) noexcept override;
    Status make(std::uint32_t index, Driver*& driver) noexcept override;
    std::int32_t last_error() const noexcept override { return members_.last_error(); }
    void close() noexcept { members_.close(); }

private:
    NewFiles& files_;
    const std::string& pattern_;
    std::string unfinished_;
    PosixFamily members_;
};

/// The parts of a new file. They have unfinished names until `files` is finished.
class NewParts final : public MultiParts {
public:
    /// Borrows both.
    NewParts(NewFiles& files, const std::string& whole) : files_(files), whole_(whole) {}

    /// Parts that this object has not made do not exist, whatever files there are.
    Status open(unsigned index, std::string_view name, Driver*& driver) noexcept override;
    Status make(unsigned index, std::string_view name, Driver*& driver) noexcept override;
    void close(unsigned index) noexcept override { (void)drivers_[index].close(); }
    std::int32_t last_error() const noexcept override { return error_; }

private:
    NewFiles& files_;
    const std::string& whole_;
    PosixDriver drivers_[kMostParts];
    std::int32_t error_ = 0;
};

}  // namespace h5mote::cli
