#include "virtual_layout.hpp"

#include "checked.hpp"
#include "checksum.hpp"
#include "dataset_state.hpp"
#include "global_heap.hpp"
#include "selection_codec.hpp"
#include "virtual_mappings.hpp"

#include <cstring>

namespace h5mote {

void VirtualMapping::reset() noexcept {
    if (context_ != nullptr) {
        context_->release(MemoryKind::other, text_, file_length_ + dataset_length_);
    }
    context_ = nullptr;
    text_ = nullptr;
    file_length_ = dataset_length_ = 0;
}

Status VirtualLayout::open(Address collection, std::uint32_t index) noexcept {
    collection_ = collection;
    count_ = next_ = 0;
    if (collection == kUndefinedAddress) {
        return Status::ok;
    }
    GlobalHeap heap(file_);
    H5MOTE_TRY(heap.object(collection, index, heap_));
    H5MOTE_TRY(verify());
    ConstBytes bytes;
    H5MOTE_TRY(heap_.view(0, VirtualMappings::kVersionSize, bytes));
    version_ = static_cast<std::uint8_t>(bytes[0]);
    if (version_ > VirtualMappings::kNewest) {
        return file_.context.unsupported(Module::dataset, H5MOTE_HERE, Feature::layout_version, version_);
    }
    at_ = VirtualMappings::kVersionSize;
    H5MOTE_TRY(number(at_, count_));
    first_ = at_;
    // Each mapping takes some bytes, so there cannot be more of them than bytes.
    return count_ <= heap_.size() ? Status::ok : damaged(H5MOTE_HERE);
}

Status VirtualLayout::resume(std::uint32_t index) noexcept {
    GlobalHeap heap(file_);
    return heap.object(collection_, index, heap_);
}

Status VirtualLayout::verify() noexcept {
    const Address size = heap_.size();
    if (size < VirtualMappings::least_size(file_.shape()) || size > 0xffffffffU) {
        return damaged(H5MOTE_HERE);
    }
    const Address end = size - VirtualMappings::kChecksumSize;
    Lookup3Stream sum(static_cast<std::uint32_t>(end));
    ConstBytes bytes;
    for (Address at = 0; at < end; at += bytes.size()) {
        H5MOTE_TRY(heap_.peek(at, bytes));
        bytes = bytes.size() > end - at ? bytes.first(static_cast<std::size_t>(end - at)) : bytes;
        sum.update(bytes);
    }
    H5MOTE_TRY(heap_.view(end, VirtualMappings::kChecksumSize, bytes));
    return load_le<std::uint32_t>(bytes.data()) == sum.finish() ? Status::ok : damaged(H5MOTE_HERE);
}

Status VirtualLayout::number(Address& at, std::uint64_t& value) noexcept {
    const unsigned width = file_.shape().sizeof_size;
    ConstBytes bytes;
    H5MOTE_TRY(heap_.view(at, width, bytes));
    value = load_uint(bytes.data(), width);
    at += width;
    return Status::ok;
}

Status VirtualLayout::read_name(Address& at, Name& name) noexcept {
    name = {at, 0, false};
    for (;;) {
        ConstBytes bytes;
        H5MOTE_TRY(heap_.peek(at, bytes));
        const void* const nul = std::memchr(bytes.data(), 0, bytes.size());
        if (nul != nullptr) {
            at += static_cast<std::size_t>(static_cast<const std::byte*>(nul) - bytes.data());
            name.length = static_cast<std::size_t>(at - name.at);
            ++at;
            return Status::ok;
        }
        at += bytes.size();
    }
}

// Finds the name in mapping `origin`, an earlier one, which must have the name itself and not refer to another mapping.
Status VirtualLayout::shared_name(std::uint64_t origin, bool file, Name& name) noexcept {
    Address at = first_;
    Name file_name;
    Name dataset_name;
    for (std::uint64_t i = 0;; ++i) {
        H5MOTE_TRY(read_names(at, file_name, dataset_name, 1));
        if (i == origin) {
            name = file ? file_name : dataset_name;
            return name.length != 0 || name.same ? Status::ok : damaged(H5MOTE_HERE);
        }
        H5MOTE_TRY(skip_selection(at));
        H5MOTE_TRY(skip_selection(at));
    }
}

Status VirtualLayout::read_names(Address& at, Name& file, Name& dataset, unsigned depth) noexcept {
    unsigned flags = 0;
    if (VirtualMappingFlags::size(version_) != 0) {
        ConstBytes bytes;
        H5MOTE_TRY(heap_.view(at++, VirtualMappingFlags::size(version_), bytes));
        flags = static_cast<unsigned>(bytes[0]);
    }
    file = Name{};
    dataset = Name{};
    std::uint64_t origin = 0;
    if ((flags & VirtualMappingFlags::kSameFile) != 0) {
        file.same = true;
    } else if ((flags & VirtualMappingFlags::kFileShared) != 0) {
        H5MOTE_TRY(number(at, origin));
        if (depth == 0) {
            H5MOTE_TRY(origin < next_ ? shared_name(origin, true, file) : damaged(H5MOTE_HERE));
        }
    } else {
        H5MOTE_TRY(read_name(at, file));
    }
    if ((flags & VirtualMappingFlags::kDatasetShared) == 0) {
        return read_name(at, dataset);
    }
    H5MOTE_TRY(number(at, origin));
    if (depth != 0) {
        return Status::ok;
    }
    return origin < next_ ? shared_name(origin, false, dataset) : damaged(H5MOTE_HERE);
}

// Decodes a selection whose length is not known: from its first 256 bytes, and if those may have been too few, from
// more.
Status VirtualLayout::read_selection(Address& at, SelectionSet* selection) noexcept {
    const Address left =
        heap_.size() > at + VirtualMappings::kChecksumSize ? heap_.size() - VirtualMappings::kChecksumSize - at : 0;
    SelectionSet scratch(file_.context);
    Address size = 256;
    for (;; size *= 8) {
        size = size < left ? size : left;
        ConstBytes bytes;
        H5MOTE_TRY(heap_.view(at, static_cast<std::size_t>(size), bytes));
        std::size_t consumed = 0;
        const Status status =
            decode_selection(file_.context, bytes, 0, selection == nullptr ? scratch : *selection, consumed);
        if (status != Status::corrupt_file || size == left) {
            at += consumed;
            return status;
        }
    }
}

Status VirtualLayout::skip_selection(Address& at) noexcept { return read_selection(at, nullptr); }

Status VirtualLayout::next() noexcept {
    if (next_ == count_) {
        return Status::not_found;
    }
    H5MOTE_TRY(read_names(at_, file_name_, dataset_name_, 0));
    H5MOTE_TRY(read_selection(at_, &source_));
    H5MOTE_TRY(read_selection(at_, &destination_));
    ++next_;
    if (file_name_.length == 1) {
        ConstBytes bytes;
        H5MOTE_TRY(heap_.view(file_name_.at, 1, bytes));
        file_name_.same = bytes[0] == std::byte{'.'};
    }
    return Status::ok;
}

// Writes a name to `to` and moves `to` behind it. Unless `literal`, "%b" becomes the number `block`, which sets
// `numbered`, and "%" before any other character is left out.
Status VirtualLayout::expand(const Name& name, std::uint64_t block, bool literal, char*& to, bool& numbered) noexcept {
    if (name.same) {
        *to++ = '.';
        return Status::ok;
    }
    bool percent = false;
    for (std::size_t done = 0; done < name.length;) {
        ConstBytes bytes;
        H5MOTE_TRY(heap_.peek(name.at + done, bytes));
        const std::size_t left = name.length - done;
        bytes = bytes.first(bytes.size() < left ? bytes.size() : left);
        for (const std::byte each : bytes) {
            const char c = static_cast<char>(each);
            if (!percent || literal) {
                percent = c == '%' && !literal;
                *to = c;
                to += percent ? 0 : 1;
                continue;
            }
            percent = false;
            if (c != 'b') {
                *to++ = c;
                continue;
            }
            numbered = true;
            char digits[20];
            unsigned count = 0;
            std::uint64_t rest = block;
            do {
                std::uint64_t digit = 0;
                rest = divide(rest, 10, digit);
                digits[count++] = static_cast<char>('0' + digit);
            } while (rest != 0);
            while (count > 0) {
                *to++ = digits[--count];
            }
        }
        done += bytes.size();
    }
    return Status::ok;
}

Status VirtualLayout::make(std::uint64_t block, bool literal, VirtualMapping& mapping, bool& numbered) noexcept {
    mapping.reset();
    numbered = false;
    // A block number takes up to 20 characters in the place of the two of "%b".
    std::size_t room = 0;
    if (!to_size(1 + (literal ? 1 : 10) * (std::uint64_t{file_name_.length} + dataset_name_.length + 1), room)) {
        return Status::out_of_memory;
    }
    auto* const text = static_cast<char*>(file_.context.allocate(MemoryKind::other, room));
    if (text == nullptr) {
        return Status::out_of_memory;
    }
    char* to = text;
    Status status = expand(file_name_, block, literal, to, numbered);
    const auto file_length = static_cast<std::size_t>(to - text);
    if (status == Status::ok) {
        status = expand(dataset_name_, block, literal, to, numbered);
    }
    const auto length = static_cast<std::size_t>(to - text);
    if (status == Status::ok) {
        mapping.text_ = static_cast<char*>(file_.context.allocate(MemoryKind::other, length == 0 ? 1 : length));
        status = mapping.text_ == nullptr ? Status::out_of_memory : Status::ok;
    }
    if (status == Status::ok) {
        std::memcpy(mapping.text_, text, length);
        mapping.context_ = &file_.context;
        mapping.file_length_ = file_length;
        mapping.dataset_length_ = length - file_length;
    }
    file_.context.release(MemoryKind::other, text, room);
    return status;
}

Status VirtualLayout::names(VirtualMapping& mapping) noexcept {
    bool numbered = false;
    return make(0, true, mapping, numbered);
}

Status VirtualLayout::resolve(std::uint64_t block, VirtualMapping& mapping, bool& numbered) noexcept {
    return make(block, false, mapping, numbered);
}

Status count_mappings(FileState& file, const LayoutMessage& layout, std::uint32_t& count) noexcept {
    VirtualLayout mappings(file);
    H5MOTE_TRY(mappings.open(layout.address, layout.heap_index));
    count = static_cast<std::uint32_t>(mappings.size());
    return Status::ok;
}

Status Dataset::virtual_mapping(std::size_t i, VirtualMapping& mapping, SelectionSet* source,
                                SelectionSet* destination) const noexcept {
    const LibraryLock lock(context_of(file_));
    H5MOTE_TRY(check());
    DatasetState& state = static_cast<DatasetState&>(*cursor_);
    if (state.layout_class() != Layout::virtual_dataset) {
        return Status::not_found;
    }
    VirtualLayout mappings(*file_);
    H5MOTE_TRY(mappings.open(state.data_address(), state.mappings_index()));
    for (std::size_t at = 0; at <= i; ++at) {
        H5MOTE_TRY(mappings.next());
    }
    H5MOTE_TRY(mappings.names(mapping));
    if (source != nullptr) {
        *source = static_cast<SelectionSet&&>(mappings.source());
    }
    if (destination != nullptr) {
        *destination = static_cast<SelectionSet&&>(mappings.destination());
    }
    return Status::ok;
}

}  // namespace h5mote
