// The storages that the writing test runs on, one for each driver. Between two sessions, a file can be loaded into a
// storage and read back from it.
#pragma once

#include "random.hpp"

#include <h5mote/driver.hpp>

#include <memory>

namespace differential {

class Storage {
public:
    virtual ~Storage() = default;
    /// Opens the driver for one session. Throws Difference if the driver refuses.
    virtual h5mote::Driver& open() = 0;
    /// Ends the session: closes a journal, drops the driver of a flash chip.
    virtual void close() = 0;
    /// From now on some calls are refused, if this storage is one that refuses calls at times; calm(): no longer.
    virtual void disturb(Random& /*random*/) {}
    virtual void calm() {}
    /// What refused calls return.
    virtual h5mote::Status refusal() const { return h5mote::Status::no_space; }
    /// Whether a call was ever refused.
    virtual bool was_disturbed() const { return false; }
    /// The bytes of the file. Call it between two sessions.
    Blob contents();
    /// Replaces the stored file by `file`. Returns false if there is no room: the storage then holds neither file.
    bool load(const Blob& file);
};

inline constexpr const char* kStorages[] = {"memory", "buffer", "posix", "journal",
                                            "region", "flash",  "full",  "failing"};
/// Creates the storage of that name, or returns nullptr if there is none.
std::unique_ptr<Storage> make_storage(const std::string& name, Random& random);

}  // namespace differential
