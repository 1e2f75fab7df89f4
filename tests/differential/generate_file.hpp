// Makes a file with libhdf5: random properties of the file, its groups, datasets and attributes.
#pragma once

#include "libhdf5.hpp"
#include "writing.hpp"

namespace differential {

class FileMaker {
public:
    /// `log`: where each step is printed, or nullptr.
    FileMaker(Random& random, std::FILE* log);
    /// Runs one step. Calls that libhdf5 refuses have no effect.
    void run(const Step& step);
    /// Closes the file and returns its bytes.
    Blob finish();

private:
    [[gnu::format(printf, 2, 3)]] void tell(const char* format, ...) const;
    std::string new_path(Random& random) const;
    const std::string& any(Random& random, const std::vector<std::string>& paths) const {
        return paths[random.below(paths.size())];
    }
    void create_group(Random& random);
    void create_dataset(Random& random);
    // Creates a virtual dataset that consists of other datasets of this file, one after the other.
    void create_virtual(Random& random);
    // Sets two files beside this one as external storage for the raw data.
    void set_external(Random& random, hid_t list, std::uint64_t bytes);
    void write(Random& random, const std::string& path);
    void set_extent(Random& random);
    void attribute(Random& random);
    void remove_attribute(Random& random);
    void link(Random& random, bool soft);
    void unlink(Random& random);

    std::FILE* log_;
    Bounds bounds_;
    Id file_;
    std::vector<std::string> groups_{"/"};
    std::vector<std::string> datasets_;
    unsigned external_files_ = 0;
};

}  // namespace differential
