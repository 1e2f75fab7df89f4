// Walks over the links or attributes of an object that may change between two steps.
//
// A walk keeps addresses of the object's blocks. When the object changes, these may be free, or belong to others, and
// reading there would put into the metadata cache what the owner must not find. So whatever changes an object, or
// deletes it, tells the walks over it, and the next step of these looks up their place anew.
#pragma once

#include <h5mote/address.hpp>

namespace h5mote {

struct ObjectWalk {
    enum class Over : std::uint8_t { links, attributes, nothing };

    explicit ObjectWalk(Over what) noexcept : over(what) {}

    ObjectWalk* next = nullptr;  ///< in the list of ObjectWalks
    Over over;
    bool changed = false;  ///< since the last step
    bool gone = false;     ///< the object was deleted
    Address object = kUndefinedAddress;
    /// So many elements were passed that are still there, as far as the walk can know.
    std::uint64_t passed = 0;
};

/// All walks over the objects of a file: few, and the last to begin mostly ends first.
class ObjectWalks {
public:
    void add(ObjectWalk& walk) noexcept {
        walk.next = first_;
        first_ = &walk;
    }
    void remove(ObjectWalk& walk) noexcept {
        ObjectWalk** link = &first_;
        while (*link != &walk) {
            link = &(*link)->next;
        }
        *link = walk.next;
    }
    void change(Address object) noexcept {
        for (ObjectWalk* walk = first_; walk != nullptr; walk = walk->next) {
            walk->changed = walk->changed || walk->object == object;
        }
    }
    /// One link or attribute was removed. The walks take it for one that they have passed.
    void lose(Address object, ObjectWalk::Over what) noexcept {
        for (ObjectWalk* walk = first_; walk != nullptr; walk = walk->next) {
            if (walk->object == object && walk->over == what && walk->passed != 0) {
                --walk->passed;
            }
        }
    }
    void end(Address object) noexcept {
        for (ObjectWalk* walk = first_; walk != nullptr; walk = walk->next) {
            walk->gone = walk->gone || walk->object == object;
        }
    }

private:
    ObjectWalk* first_ = nullptr;
};

}  // namespace h5mote
