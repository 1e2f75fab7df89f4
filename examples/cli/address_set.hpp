// A set of addresses in memory of the library's allocator: objects that were met before.
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
    /// `added`: it was not there yet. out_of_memory: the set is as it was.
    Status add(Address address, bool& added);
    std::size_t size() const { return size_; }
    void clear();

private:
    Status grow();
    std::size_t slot(Address address) const;

    // Open addressing; kUndefinedAddress marks empty slots.
    Context& context_;
    Address* slots_ = nullptr;
    std::size_t capacity_ = 0;  // a power of two, or 0
    std::size_t size_ = 0;
};

}  // namespace h5mote::cli
