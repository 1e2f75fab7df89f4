// The storages that the writing test runs on: every driver, loaded with a file and emptied again between two sessions.
#pragma once

#include "random.hpp"

#include <h5mote/driver.hpp>

#include <memory>

namespace differential {

class Storage {
public:
    virtual ~Storage() = default;
    /// Opens the driver, for one session. Throws Difference when it refuses.
    virtual h5mote::Driver& open() = 0;
    /// Ends the session: journals are carried over, chips forgotten.
    virtual void close() = 0;
    /// The bytes of the file, between two sessions.
    Blob contents();
    /// Puts a file in the place of the one that is there. False: there is no room for it, and what is there is neither.
    bool load(const Blob& file);
};

inline constexpr const char* kStorages[] = {"memory", "buffer", "posix", "journal", "region", "flash"};
/// nullptr: no such storage.
std::unique_ptr<Storage> make_storage(const std::string& name, Random& random);

}  // namespace differential
