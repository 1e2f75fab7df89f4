// The parts of a file, in memory, whose calls can fail.
#pragma once

#include "family_members.hpp"

#include <h5mote/vfd/multi.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace h5mote_test {

/// Parts in memory whose calls can fail.
class MemoryParts final : public MultiParts {
public:
    Status open(unsigned index, std::string_view /*name*/, Driver*& driver) noexcept override {
        if (faults.fails()) {
            return Status::io_error;
        }
        driver = members[index].get();
        return driver == nullptr ? Status::not_found : Status::ok;
    }
    Status make(unsigned index, std::string_view /*name*/, Driver*& driver) noexcept override {
        if (faults.fails()) {
            return Status::io_error;
        }
        made.push_back(index);
        storages[index] = std::make_unique<GrowingMemoryDriver>(heap_, limits[index]);
        members[index] = std::make_unique<Member>(*storages[index], faults, index);
        driver = members[index].get();
        return Status::ok;
    }
    void close(unsigned /*index*/) noexcept override {}
    /// As after the program has ended: nobody has a lock any more.
    void reopen() {
        for (unsigned i = 0; i < kMostParts; ++i) {
            members[i] = storages[i] ? std::make_unique<Member>(*storages[i], faults, i) : nullptr;
        }
    }

    FamilyFaults faults;
    std::size_t limits[kMostParts] = {~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0},
                                      ~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0}};
    std::unique_ptr<GrowingMemoryDriver> storages[kMostParts];
    std::unique_ptr<Member> members[kMostParts];
    std::vector<unsigned> made;

private:
    MallocAllocator heap_;
};

}  // namespace h5mote_test
