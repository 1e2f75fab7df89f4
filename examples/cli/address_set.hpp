// A set of object addresses, which tells objects that a walk has met before. Its memory comes from the library's
// allocator.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

#include <cstddef>

namespace h5mote::cli {

class AddressSet {
public:
    explicit AddressSet(Context& context) : context_(context) {}
    AddressSet(const AddressSet&) = delete;
    AddressSet& operator=(const AddressSet&) = delete;
    ~AddressSet() { clear(); }

    bool contains(Address address) const;
    /// Sets `added` to whether the address is new to the set. After out_of_memory the set is unchanged.
    Status add(Address address, bool& added);
    std::size_t size() const { return size_; }
    void clear();

private:
    Status grow();
    std::size_t slot(Address address) const;

    // A hash table with open addressing; kUndefinedAddress marks empty slots.
    Context& context_;
    Address* slots_ = nullptr;
    std::size_t capacity_ = 0;  // a power of two, or 0
    std::size_t size_ = 0;
};

}  // namespace h5mote::cli
