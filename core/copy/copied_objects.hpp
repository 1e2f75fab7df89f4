// H5O (H5Ocopy) - which objects were copied, and where their copies are.
#pragma once

#include "owned_bytes.hpp"

#include <h5mote/address.hpp>

#include <functional>

namespace h5mote {

/// A sorted table of objects, by file and address of the header, with the addresses of their copies.
class CopiedObjects {
public:
    explicit CopiedObjects(Context& context) noexcept : entries_(context) {}

    /// The address of the copy, or kUndefinedAddress.
    Address find(const void* file, Address from) const noexcept {
        const std::size_t i = place(file, from);
        return i < count_ && entry(i).file == file && entry(i).from == from ? entry(i).to : kUndefinedAddress;
    }
    /// Enters an object that is not there yet. out_of_memory.
    Status add(const void* file, Address from, Address to) noexcept {
        if ((count_ + 1) * sizeof(Entry) > entries_.capacity()) {
            H5MOTE_TRY(entries_.reserve(sizeof(Entry) * (count_ < 8 ? 16 : 2 * count_), count_ * sizeof(Entry)));
        }
        const std::size_t i = place(file, from);
        std::memmove(at(i + 1), at(i), (count_ - i) * sizeof(Entry));
        const Entry added{file, from, to};
        std::memcpy(at(i), &added, sizeof added);
        ++count_;
        return Status::ok;
    }

private:
    struct Entry {
        const void* file;
        Address from;
        Address to;
    };

    std::byte* at(std::size_t i) const noexcept { return entries_.data() + i * sizeof(Entry); }
    Entry entry(std::size_t i) const noexcept {
        Entry found;
        std::memcpy(&found, at(i), sizeof found);
        return found;
    }
    // The first entry that does not come before the object.
    std::size_t place(const void* file, Address from) const noexcept {
        std::size_t low = 0;
        for (std::size_t high = count_; low < high;) {
            const std::size_t middle = (low + high) / 2;
            const Entry here = entry(middle);
            const bool before = here.file != file ? std::less<>{}(here.file, file) : here.from < from;
            (before ? low : high) = before ? middle + 1 : middle;
        }
        return low;
    }

    OwnedBytes entries_;
    std::size_t count_ = 0;
};

}  // namespace h5mote
