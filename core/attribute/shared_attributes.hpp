// H5SM - what attributes share with others: whole messages, or only a datatype or a dataspace.
#pragma once

#include "attribute_storage.hpp"
#include "owned_bytes.hpp"
#include "shared_changes.hpp"

namespace h5mote {

/// Uses of shared messages, which end together.
class SharedUses {
public:
    /// `discards`: with the last use of an attribute its elements in the global heap are discarded.
    explicit SharedUses(FileState& file, bool discards = false) noexcept
        : file_(file), bytes_(file.context), discards_(discards) {}

    bool empty() const noexcept { return count_ == 0; }
    /// Notes the bytes in place of a message, if they lead to a shared one. out_of_memory.
    Status add(MessageType type, ConstBytes reference) noexcept;
    /// Notes what an attribute uses: the message that it is, or what it shares otherwise.
    Status add(StoredAttributeMessage& attribute) noexcept;
    /// Notes what stands in place of the datatype and the dataspace of an attribute. Errors of MetadataWindow::view().
    Status add_parts(MetadataWindow& attribute, const AttributeParts& parts) noexcept;
    /// Counts every use once less, and those of the attributes that nobody uses any more. What fails leaves a count too
    /// high, which harms nothing.
    void release() noexcept;

    static bool leads_to_heap(ConstBytes reference) noexcept {
        return reference.size() >= SharedReference::kHeapSize && SharedReference::leads_to_heap(reference);
    }

private:
    static constexpr std::size_t kEntry = 1 + SharedReference::kHeapSize;

    void release_attribute(ConstBytes reference) noexcept;

    FileState& file_;
    OwnedBytes bytes_;
    std::size_t count_ = 0;
    bool discards_;
};

}  // namespace h5mote
