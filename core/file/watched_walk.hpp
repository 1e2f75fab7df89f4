// A walk over an object that learns of the object's changes: see object_walk.hpp.
#pragma once

#include "file_state.hpp"

namespace h5mote {

class WatchedWalk : public ObjectWalk {
public:
    WatchedWalk(FileState& file, Over what) noexcept : ObjectWalk(what), file_(file) {}
    WatchedWalk(const WatchedWalk&) = delete;
    WatchedWalk& operator=(const WatchedWalk&) = delete;
    ~WatchedWalk() {
        if (file_.foreign() != nullptr && object != kUndefinedAddress) {
            file_.foreign()->walks.remove(*this);
        }
    }

    /// Begins to watch the object whose header is at `header`, if that is an address. Call once. Builds that do not
    /// read all formats tell walks nothing.
    void watch(Address header) noexcept {
        object = header;
        if (file_.foreign() != nullptr && object != kUndefinedAddress) {
            file_.foreign()->walks.add(*this);
        }
    }

private:
    FileState& file_;
};

}  // namespace h5mote
