// A kind of work that both libraries do, as bench.cpp times it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// One kind of work. `run` does it once with the library of this number (0: h5mote, 1: libhdf5), and returns the
/// seconds of the part that counts.
struct Work {
    std::string name;
    std::string budget;  ///< the largest ratio of times, h5mote's to libhdf5's, that is wanted; empty: no matter
    std::function<double(std::size_t)> run;
    bool large = false;  ///< takes so long that it is run three times only
};

inline void expect(bool condition, const std::string& what) {
    if (!condition) {
        throw std::runtime_error("wrong values: " + what);
    }
}

inline double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Adds the works that change large files. The first of them that runs also makes the files that are changed and
/// copied, and lets the other library read and compare every file that one has written. Works throw std::runtime_error
/// when a library reports an error or files differ.
void add_changes(std::vector<Work>& works);
/// Releases the libraries' objects. Call before the end of main(), because libhdf5 cleans up when the program ends.
void finish_changes();

}  // namespace bench
