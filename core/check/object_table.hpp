// h5check - the objects of a file in the order in which they are met, with their links counted; found by address.
#pragma once

#include <h5mote/address.hpp>
#include <h5mote/context.hpp>

namespace h5mote {

struct CheckedObject {
    Address address;
    std::uint32_t links;     ///< links that were found so far
    std::uint32_t recorded;  ///< links that its header counts, or kUnknown
};

class ObjectTable {
public:
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

    explicit ObjectTable(Context& context) noexcept : context_(context) {}
    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;
    ~ObjectTable();

    /// Room for `bytes`, at least eight objects. out_of_memory.
    Status reserve(std::size_t bytes) noexcept;
    /// One more link to the object. false: there is no room for one more object.
    bool add(Address address) noexcept;
    /// Whether the object was added.
    bool has(Address address) noexcept { return slots()[slot_of(address)] != 0; }
    /// Makes room for twice as many objects. out_of_memory: nothing changed.
    Status grow() noexcept;
    std::uint32_t size() const noexcept { return count_; }
    CheckedObject& operator[](std::uint32_t i) noexcept { return objects_[i]; }

private:
    static constexpr std::uint32_t kSlotsPerObject = 2;
    static constexpr std::size_t kFootprint = sizeof(CheckedObject) + kSlotsPerObject * sizeof(std::uint32_t);
    // The slots of the hash table follow the objects in memory: number of an object + 1, or 0.
    std::uint32_t slot_of(Address address) noexcept;
    std::uint32_t* slots() noexcept { return reinterpret_cast<std::uint32_t*>(objects_ + capacity_); }

    Context& context_;
    CheckedObject* objects_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace h5mote
