#include <h5mote/vfd/posix_files.hpp>

#include "path.hpp"

namespace h5mote {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr unsigned kWidest = 20;

// "%d", "%5d", "%05d" at the start of `text`: its length, or 0.
std::size_t number_format(std::string_view text, unsigned& width, bool& zeros) noexcept {
    std::size_t at = 1;
    width = 0;
    zeros = at < text.size() && text[at] == '0';
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && width <= kWidest; ++at) {
        width = width * 10 + static_cast<unsigned>(text[at] - '0');
    }
    return at < text.size() && (text[at] == 'd' || text[at] == 'u') && width <= kWidest ? at + 1 : 0;
}

// Writes the member's path. Returns how many numbers the pattern has, or -1 if it is not understood.
int expand(posix::PathWriter& path, std::string_view pattern, std::uint32_t index) noexcept {
    int numbers = 0;
    while (!pattern.empty()) {
        const std::size_t percent = pattern.find('%');
        path.add(pattern.substr(0, percent));
        if (percent == std::string_view::npos) {
            break;
        }
        pattern.remove_prefix(percent);
        if (pattern.substr(0, 2) == "%%") {
            path.add("%");
            pattern.remove_prefix(2);
            continue;
        }
        unsigned width = 0;
        bool zeros = false;
        const std::size_t length = number_format(pattern, width, zeros);
        if (length == 0) {
            return -1;
        }
        path.add_number(index, width, zeros);
        pattern.remove_prefix(length);
        ++numbers;
    }
    return numbers;
}

}  // namespace

Status PosixFamily::set_pattern(const char* pattern, bool writing) noexcept {
    close();
    posix::PathWriter path(path_, sizeof path_);
    if (expand(path, pattern, 0) != 1) {
        return Status::invalid_argument;
    }
    pattern_ = pattern;
    writing_ = writing;
    return path.fits() ? Status::ok : Status::invalid_argument;
}

void PosixFamily::close() noexcept {
    for (PosixDriver& driver : drivers_) {
        (void)driver.give_up();
    }
}

Status PosixFamily::member(std::uint32_t index, Driver*& driver) noexcept {
    for (unsigned i = 0; i < kOpen; ++i) {
        if (drivers_[i].is_open() && indexes_[i] == index) {
            driver = &drivers_[i];
            return Status::ok;
        }
    }
    return open(index, writing_ ? PosixDriver::Mode::read_write : PosixDriver::Mode::read_only, driver);
}

Status PosixFamily::make(std::uint32_t index, Driver*& driver) noexcept {
    return writing_ ? open(index, PosixDriver::Mode::truncate, driver) : Status::read_only;
}

Status PosixFamily::open(std::uint32_t index, PosixDriver::Mode mode, Driver*& driver) noexcept {
    posix::PathWriter path(path_, sizeof path_);
    if (pattern_ == nullptr || index == kNone || expand(path, pattern_, index) != 1 || !path.fits()) {
        return Status::invalid_argument;
    }
    // Drivers are reused in turn, because a family is mostly read from front to back. But the first member stays open
    // in the first one: its lock is the family's.
    const unsigned slot = index == 0 ? 0 : next_;
    PosixDriver& chosen = drivers_[slot];
    // Not every system tells who syncs a file what another handle of it could not write.
    Status status = writing_ && chosen.is_open() ? chosen.sync() : Status::ok;
    if (status == Status::ok) {
        (void)chosen.give_up();
        status = chosen.open(path_, mode);
    }
    if (status != Status::ok) {
        error_ = chosen.last_error();
        return status;
    }
    indexes_[slot] = index;
    next_ = slot + 1 == kOpen ? 1 : slot + 1;
    driver = &chosen;
    return Status::ok;
}

Status PosixParts::open(unsigned index, std::string_view name, Driver*& driver) noexcept {
    return open(index, name, writing_ ? PosixDriver::Mode::read_write : PosixDriver::Mode::read_only, driver);
}

Status PosixParts::make(unsigned index, std::string_view name, Driver*& driver) noexcept {
    return writing_ ? open(index, name, PosixDriver::Mode::truncate, driver) : Status::read_only;
}

Status PosixParts::open(unsigned index, std::string_view name, PosixDriver::Mode mode, Driver*& driver) noexcept {
    const std::size_t percent = name.find('%');
    posix::PathWriter path(path_, sizeof path_);
    path.add(name.substr(0, percent));
    if (percent != std::string_view::npos) {
        const std::string_view rest = name.substr(percent);
        if (rest.substr(0, 2) != "%s" || rest.find('%', 2) != std::string_view::npos) {
            return Status::invalid_argument;
        }
        path.add(base_);
        path.add(rest.substr(2));
    }
    if (index >= kMostParts || !path.fits()) {
        return Status::invalid_argument;
    }
    (void)drivers_[index].give_up();
    const Status status = drivers_[index].open(path_, mode);
    error_ = status == Status::ok ? error_ : drivers_[index].last_error();
    driver = status == Status::ok ? &drivers_[index] : nullptr;
    return status;
}

void PosixParts::close(unsigned index) noexcept {
    if (index < kMostParts) {
        (void)drivers_[index].give_up();
    }
}

Status PosixFile::open_as(Kind kind) noexcept {
    kind_ = kind;
    switch (kind) {
        case Kind::family:
            H5MOTE_TRY(family_members_.set_pattern(path_));
            return family_.open();
        case Kind::split:
            multi_parts_.set_path(path_);
            return multi_.open(split_layout());
        case Kind::multi:
            multi_parts_.set_path(path_);
            return multi_.open(multi_layout());
        case Kind::any:
        case Kind::single:
            break;
    }
    return single_.open(path_, PosixDriver::Mode::read_only);
}

Status PosixFile::open(const char* path, Kind kind) noexcept {
    close();
    path_ = path;
    if (kind != Kind::any) {
        const Status status = open_as(kind);
        if (status != Status::ok) {
            close();
        }
        return status;
    }
    // The status if no kind fits: that of the plain name, or that of another kind which says more.
    Status result = Status::not_found;
    for (const Kind candidate : {Kind::single, Kind::family, Kind::split, Kind::multi}) {
        Status status = open_as(candidate);
        status = status == Status::ok ? posix::find_signature(driver()) : status;
        if (status == Status::ok) {
            return Status::ok;
        }
        if (candidate == Kind::single || (result == Status::not_found && status != Status::invalid_argument) ||
            (result == Status::not_hdf5 && status == Status::io_error)) {
            result = status;
        }
        close();
    }
    return result;
}

void PosixFile::close() noexcept {
    multi_.close();
    family_members_.close();
    (void)single_.close();
    kind_ = Kind::any;
}

Driver& PosixFile::driver() noexcept {
    switch (kind_) {
        case Kind::family:
            return family_;
        case Kind::split:
        case Kind::multi:
            return multi_;
        case Kind::any:
        case Kind::single:
            break;
    }
    return single_;
}

}  // namespace h5mote
