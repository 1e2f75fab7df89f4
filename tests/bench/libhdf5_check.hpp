// What the workloads with libhdf5 share.
#pragma once

#include <stdexcept>
#include <string>

namespace bench {

/// Returns what a function of libhdf5 has returned. Throws if that is an error.
template <typename T>
T check(T result, const char* what) {
    if (result < 0) {
        throw std::runtime_error(std::string("libhdf5: ") + what);
    }
    return result;
}

}  // namespace bench
