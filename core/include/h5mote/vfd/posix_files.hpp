// H5FD_sec2 and the drivers over it - an HDF5 file by the name that a person gives it, in one file or in several.
#pragma once

#include <h5mote/vfd/family.hpp>
#include <h5mote/vfd/multi.hpp>
#include <h5mote/vfd/posix.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace h5mote {

/// Bytes of the longest path that these classes build, its terminating zero included.
#if defined(__unix__) || defined(__APPLE__)
inline constexpr std::size_t kLongestPath = 4096;
#else
inline constexpr std::size_t kLongestPath = 128;
#endif

/// The members of a family, named by a pattern such as "flight%05d.h5". A few of them are open at a time.
class PosixFamily final : public FamilyMembers {
public:
    /// Most members that are open at once.
    static constexpr unsigned kOpen = 4;

    /// Borrows the pattern: a path with one "%d", "%5d" or "%05d", and "%%" for a percent sign. invalid_argument: it
    /// has no such number, or something else behind a percent sign. `writing`: members are opened to be changed, and
    /// made when the family grows. Opens nothing yet.
    Status set_pattern(const char* pattern, bool writing = false) noexcept;
    /// A member that was opened to be changed is synced before another one takes its place among those that are open;
    /// what that returns, too.
    Status member(std::uint32_t index, Driver*& driver) noexcept override;
    Status make(std::uint32_t index, Driver*& driver) noexcept override;
    std::int32_t last_error() const noexcept override { return error_; }
    void close() noexcept;

private:
    Status open(std::uint32_t index, PosixDriver::Mode mode, Driver*& driver) noexcept;

    PosixDriver drivers_[kOpen];
    std::uint32_t indexes_[kOpen] = {};
    unsigned next_ = 1;
    std::int32_t error_ = 0;
    bool writing_ = false;
    const char* pattern_ = nullptr;
    char path_[kLongestPath];
};

/// The parts of a file of the multi or split driver. They lie beside the path that stands for the whole.
class PosixParts final : public MultiParts {
public:
    /// Borrows the path. `writing`: parts are opened to be changed, and can be made. Opens nothing yet.
    void set_path(const char* path, bool writing = false) noexcept {
        base_ = path;
        writing_ = writing;
    }
    /// A name without "%s" is a path by itself. invalid_argument: the name has several. read_only: a part that is to be
    /// changed cannot be.
    Status open(unsigned index, std::string_view name, Driver*& driver) noexcept override;
    Status make(unsigned index, std::string_view name, Driver*& driver) noexcept override;
    void close(unsigned index) noexcept override;
    std::int32_t last_error() const noexcept override { return error_; }

private:
    Status open(unsigned index, std::string_view name, PosixDriver::Mode mode, Driver*& driver) noexcept;

    PosixDriver drivers_[kMostParts];
    bool writing_ = false;
    const char* base_ = "";
    std::int32_t error_ = 0;
    char path_[kLongestPath];
};

/// An HDF5 file for reading, in whatever files it is stored.
class PosixFile {
public:
    enum class Kind : std::uint8_t {
        any,     ///< the first of the kinds below that is HDF5, as h5dump tries them
        single,  ///< one file
        family,  ///< `path` is a pattern
        split,   ///< `path` stands for PATH-m.h5 and PATH-r.h5
        multi,   ///< `path` stands for PATH-s.h5 and five more
    };

    PosixFile() noexcept = default;
    /// Opens the file; one that was open before is closed. Borrows the path. not_found: there is no such file, or a
    /// part of it is missing. not_hdf5: `kind` is `any`, and no kind has the HDF5 signature. invalid_argument,
    /// io_error.
    Status open(const char* path, Kind kind = Kind::any) noexcept;
    void close() noexcept;

    /// The kind that was opened; Kind::any when no file is open.
    Kind kind() const noexcept { return kind_; }
    const char* path() const noexcept { return path_; }
    /// The driver of the file, for File::open(). Valid until close().
    Driver& driver() noexcept;

private:
    Status open_as(Kind kind) noexcept;

    PosixDriver single_;
    PosixFamily family_members_;
    PosixParts multi_parts_;
    FamilyDriver family_{family_members_};
    MultiDriver multi_{multi_parts_};
    const char* path_ = "";
    Kind kind_ = Kind::any;
};

}  // namespace h5mote
