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
    /// From now on the file can grow by little or nothing, if this storage becomes full at times; unlimit(): no longer.
    virtual void limit(Random& /*random*/) {}
    virtual void unlimit() {}
    /// Whether limit() ever had an effect.
    virtual bool was_limited() const { return false; }
    /// The bytes of the file. Call it between two sessions.
    Blob contents();
    /// Replaces the stored file by `file`. Returns false if there is no room: the storage then holds neither file.
    bool load(const Blob& file);
};

inline constexpr const char* kStorages[] = {"memory", "buffer", "posix", "journal", "region", "flash", "full"};
/// Creates the storage of that name, or returns nullptr if there is none.
std::unique_ptr<Storage> make_storage(const std::string& name, Random& random);

}  // namespace differential
