// The bytes of a blueprint's file, made while compiling: which blocks it has, where each stands, what is in it.
//
// Everything that changes while a file is recorded is written by single writes within one sector of 512 bytes: the end
// of the file in the superblock, the dimension in a dataset's object header, the header and the index block of its
// chunk index, the value of a setting. So no such range crosses from one sector into the next. The dimension stands in
// a short first block of its object header; datatype, layout and attributes are in a second one.
#pragma once

#include <h5mote/blueprint_filters.hpp>
#include <h5mote/blueprint_scales.hpp>
#include <h5mote/lookup3.hpp>

namespace h5mote::blueprint::detail {

inline constexpr std::uint32_t kSector = 512;

/// One block of the file: its size, where it stands, and which of its bytes must lie in one sector.
struct Block {
    std::uint32_t size = 0;
    std::uint32_t address = 0;
    std::uint32_t atomic = 0;  ///< from this offset on; the size: nothing of it has to
    std::uint32_t value = 0;   ///< offset of a setting's value
};

/// Composes the blocks of a file, in two passes: the first measures them, and the second writes them where they were
/// placed meanwhile.
class Composer {
public:
    static constexpr std::uint64_t kUndefined = ~std::uint64_t{0};

    constexpr Composer(FileOptions options, Span<const ObjectPart> objects, Span<const AttributePart> attributes,
                       Span<const ScalePart> scales, Span<Block> blocks, Span<std::uint32_t> first_blocks) noexcept
        : options_(options),
          width_(options.sizeof_addr),
          objects_(objects),
          attributes_(attributes),
          scales_(scales),
          blocks_(blocks),
          first_blocks_(first_blocks) {}

    /// Returns the size of the file. The blocks have their addresses then.
    constexpr std::uint32_t measure() noexcept {
        compose();
        return place(blocks_.first(block_));
    }
    /// `bytes` is the file, all zeros; `changing` says for each of its bytes whether it may change, and is all true.
    constexpr void write(std::byte* bytes, bool* changing, std::uint32_t end) noexcept {
        bytes_ = bytes;
        changing_ = changing;
        end_ = end;
        compose();
        fingerprint(bytes, end);
    }
    constexpr Fault fault() const noexcept { return fault_; }

    /// Gives each block its address: first those with bytes that must lie in one sector, then the others, which fill
    /// the gaps. Returns the size of the file.
    static constexpr std::uint32_t place(Span<Block> blocks) noexcept {
        std::uint32_t end = blocks[0].size;
        for (const bool atomic : {true, false}) {
            for (Block& block : blocks.subspan(1)) {
                if ((block.atomic < block.size) == atomic) {
                    block.address = gap(blocks, block);
                    end = block.address + block.size > end ? block.address + block.size : end;
                }
            }
        }
        // No block ends where the file does: libhdf5 would extend an object header there instead of adding a block.
        return (end / 8 + 1) * 8;
    }

private:
    friend class ScaleWriter<Composer>;
    friend class FilterWriter<Composer>;

    // The lowest address where a block can stand. What is too large for a sector is reported as a fault.
    static constexpr std::uint32_t gap(Span<const Block> blocks, const Block& block) noexcept {
        std::uint32_t address = blocks[0].size;
        for (bool moved = true; moved;) {
            moved = false;
            const std::uint32_t from = address + block.atomic;
            const std::uint32_t to = address + block.size;
            if (from != to && to - from <= kSector && from / kSector != (to - 1) / kSector) {
                address = (from / kSector + 1) * kSector - block.atomic;
                moved = true;
            }
            for (const Block& other : blocks) {
                if (other.address != 0 && other.address < address + block.size &&
                    address < other.address + other.size) {
                    address = other.address + other.size;
                    moved = true;
                }
            }
        }
        return address;
    }

    constexpr void uint(unsigned width, std::uint64_t value) noexcept {
        for (unsigned i = 0; i < width; ++i, ++at_) {
            if (bytes_ != nullptr) {
                bytes_[blocks_[block_].address + at_] = static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0);
                changing_[blocks_[block_].address + at_] = is_changing_;
            }
        }
    }
    constexpr void address(std::uint64_t value) noexcept { uint(width_, value); }
    constexpr void size(std::uint64_t value) noexcept { uint(kSize, value); }
    constexpr void text(const char* from, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            uint(1, static_cast<unsigned char>(from[i]));
        }
    }
    // Compilers evaluate so many steps only: of values, of which there may be many, a byte takes few.
    constexpr void bytes(ConstBytes from) noexcept {
        if (bytes_ != nullptr) {
            std::byte* const to = bytes_ + blocks_[block_].address + at_;
            bool* const changing = changing_ + blocks_[block_].address + at_;
            for (std::size_t i = 0; i < from.size(); ++i) {
                to[i] = from[i];
                changing[i] = is_changing_;
            }
        }
        at_ += static_cast<std::uint32_t>(from.size());
    }

    constexpr void begin() noexcept { at_ = 0; }
    // Ends a block with its checksum. Bytes from `atomic` on must lie in one sector.
    constexpr void end(std::uint32_t atomic, std::uint32_t value = 0) noexcept {
        is_changing_ = true;
        const Block& block = blocks_[block_];
        uint(4, bytes_ == nullptr ? 0 : lookup3_constant(bytes_ + block.address, at_));
        is_changing_ = false;
        close(atomic, value);
    }
    constexpr void close(std::uint32_t atomic, std::uint32_t value = 0) noexcept {
        blocks_[block_].size = at_;
        blocks_[block_].atomic = atomic < at_ ? atomic : at_;
        blocks_[block_].value = value;
        ++block_;
    }
    // A block of an object header that fits into a sector lies in one, so that h5mote's object model, which keeps to
    // that as well, can change it where it is. `first`: the header says in two bytes how large this block is.
    constexpr void end_header(bool first) noexcept {
        if (first && fault_ == Fault::none && at_ - kFirstHead > 0xffff) {
            fault_ = Fault::header_size;
        }
        end(at_ + 4 <= kSector ? 0 : kNothing);
    }

    constexpr void message(unsigned type, std::uint64_t size, unsigned flags = 0) noexcept {
        if (size > 0xffff) {
            fault_ = Fault::message_size;
        }
        uint(1, type);
        uint(2, size);
        uint(1, flags);
        if (options_.track_order) {
            uint(2, type == kAttributeMessage ? order_ : 0);
        }
    }
    constexpr std::uint32_t message_head() const noexcept { return options_.track_order ? 6 : 4; }
    // The head of an object header whose first block has its size in `size_width` bytes.
    constexpr std::uint32_t header_head(unsigned size_width) noexcept {
        const std::uint32_t head = 6 + size_width;
        text("OHDR", 4);
        uint(1, 2);
        uint(1, (size_width == 2 ? 1U : 0U) | (options_.track_order ? 0xcU : 0U));
        uint(size_width, blocks_[block_].size - head - 4);
        return head;
    }
    constexpr void continuation(std::uint32_t block) noexcept {
        message(0x10, width_ + kSize);
        address(blocks_[block].address);
        size(blocks_[block].size);
    }
    constexpr unsigned attribute_info_size() const noexcept {
        return options_.track_order ? 4 + 3 * width_ : 2 + 2 * width_;
    }
    // Free space for one message of another program: for a continuation message. libhdf5 adds the attribute info
    // message with the first attribute; where that would fit into this space, there is room for both.
    constexpr void spare(bool has_attribute_info) noexcept {
        const unsigned more =
            has_attribute_info || attribute_info_size() > width_ + kSize ? 0 : message_head() + attribute_info_size();
        is_changing_ = true;
        message(0, width_ + kSize + more);
        uint(width_ + kSize + more, 0);
        is_changing_ = false;
    }
    constexpr void dataspace(const std::uint64_t* dimensions, unsigned rank) noexcept {
        message(1, 4 + rank * kSize);
        space(dimensions, rank);
    }
    constexpr void space(const std::uint64_t* dimensions, unsigned rank, bool is_null = false) noexcept {
        uint(1, 2);
        uint(1, rank);
        uint(1, 0);
        uint(1, is_null ? 2 : rank == 0 ? 0 : 1);
        for (unsigned i = 0; i < rank; ++i) {
            size(dimensions[i]);
        }
    }
    constexpr void type(const AttributePart& attribute) noexcept {
        if (attribute.source == Source::scale_name) {
            bytes({make_string(attribute.value.size(), StringPadding::null_terminated).bytes, attribute.type.size()});
            return;
        }
        for (std::size_t i = 0; i < attribute.type.size(); ++i) {
            // The character set stands in bits 4 to 7 of a string's flags.
            uint(1, static_cast<std::uint64_t>(attribute.type[i]) | (i == 1 && attribute.is_utf8 ? 0x10U : 0U));
        }
    }
    static constexpr std::size_t length(const char* text) noexcept { return std::string_view(text).size(); }

    constexpr std::size_t attribute_size(const AttributePart& attribute) const noexcept {
        return 9 + length(attribute.name) + 1 + attribute.type.size() + 4 + attribute.rank * kSize +
               attribute.value.size();
    }
    constexpr void attribute(const AttributePart& attribute, std::uint32_t& value) noexcept {
        message(kAttributeMessage, attribute_size(attribute));
        uint(1, 3);
        uint(1, 0);
        uint(2, length(attribute.name) + 1);
        uint(2, attribute.type.size());
        uint(2, 4 + attribute.rank * kSize);
        uint(1, is_ascii(attribute.name) ? 0 : 1);
        text(attribute.name, length(attribute.name) + 1);
        type(attribute);
        space(attribute.dimensions.data(), attribute.rank, attribute.is_empty);
        value = at_;
        is_changing_ = attribute.is_setting;
        if (attribute.source == Source::described) {
            bytes(attribute.value);
        } else {
            ScaleWriter(*this).value(attribute);
        }
        is_changing_ = false;
    }
    static constexpr bool is_ascii(const char* text) noexcept {
        for (; *text != '\0'; ++text) {
            if (static_cast<unsigned char>(*text) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    // The messages that every object's header ends with: its attributes, continuations to the blocks of its settings,
    // which are those from `next` on, and some space.
    constexpr void attributes(std::size_t object, std::uint32_t next) noexcept {
        std::uint64_t count = 0;
        for (const AttributePart& part : attributes_) {
            count += part.object == object ? 1U : 0U;
        }
        // Without the attribute info message, libhdf5 counts no attributes.
        if (options_.track_order || count != 0) {
            message(0x15, attribute_info_size(), 4);  // not to be shared, as libhdf5 marks it
            uint(1, 0);
            uint(1, options_.track_order ? 3 : 0);
            if (options_.track_order) {
                is_changing_ = true;
                uint(2, count);
                is_changing_ = false;
                address(kUndefined);
            }
            address(kUndefined);
            address(kUndefined);
        }
        std::uint32_t value = 0;
        order_ = 0;
        for (const AttributePart& part : attributes_) {
            if (part.object == object && !part.is_setting) {
                attribute(part, value);
            }
            order_ += part.object == object ? 1U : 0U;
        }
        for (const AttributePart& part : attributes_) {
            if (part.object == object && part.is_setting) {
                continuation(next++);
            }
        }
        spare(options_.track_order || count != 0);
    }
    constexpr void settings(std::size_t object) noexcept {
        order_ = 0;
        for (const AttributePart& part : attributes_) {
            if (part.object == object && part.is_setting) {
                begin();
                text("OCHK", 4);
                std::uint32_t value = 0;
                attribute(part, value);
                if (part.value.size() + 4 > kSector) {
                    fault_ = Fault::sector;
                }
                end(at_ + 4 <= kSector ? 0 : value, value);
            }
            order_ += part.object == object ? 1U : 0U;
        }
    }

    constexpr void compose() noexcept {
        block_ = 0;
        superblock();
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            first_blocks_[i] = block_;
            switch (objects_[i].kind) {
                case Kind::dataset:
                    dataset(i);
                    break;
                case Kind::constant:
                    constant(i);
                    break;
                default:
                    group(i);
                    break;
            }
        }
        first_blocks_[objects_.size()] = block_;
        if (!scales_.empty()) {
            ScaleWriter(*this).heap();
        }
        if (has_trees()) {
            FilterWriter(*this).superblock_extension();
        }
    }

    constexpr void superblock() noexcept {
        begin();
        uint(8, 0x0a1a0a0d46444889U);
        uint(1, 2);
        uint(1, width_);
        uint(1, kSize);
        uint(1, 0);
        address(0);
        // The superblock extension, the last block, has its number from the first pass.
        address(has_trees() ? blocks_[first_blocks_[objects_.size()] + (scales_.empty() ? 0 : 1)].address : kUndefined);
        is_changing_ = true;
        address(end_);
        is_changing_ = false;
        address(blocks_[1].address);
        is_changing_ = true;
        uint(4, bytes_ == nullptr ? 0 : lookup3_constant(bytes_, at_));
        uint(4, 0);  // the fingerprint
        is_changing_ = false;
        close(kNothing);
    }
    constexpr bool has_trees() const noexcept {
        bool has = false;
        for (const ObjectPart& part : objects_) {
            has = has || part.filters.count != 0;
        }
        return has;
    }
    // Behind the superblock stands a checksum of everything in the empty file: it tells files of this blueprint,
    // whatever became of them, from others. No structure of the format has these four bytes: reclaim() finds them, so
    // that objects of others may come to lie there.
    constexpr void fingerprint(std::byte* bytes, std::uint32_t size) noexcept {
        at_ = 12 + 4 * width_ + 4;
        block_ = 0;
        is_changing_ = true;
        uint(4, lookup3_constant(bytes, size));
    }

    constexpr void group(std::size_t i) noexcept {
        const std::uint32_t self = block_;
        begin();
        header_head(2);
        std::uint64_t links = 0;
        for (std::size_t k = 1; k < objects_.size(); ++k) {
            links += objects_[k].parent == i ? 1U : 0U;
        }
        message(2, 2 + (options_.track_order ? 8 + 3 * width_ : 2 * width_));
        uint(1, 0);
        uint(1, options_.track_order ? 3 : 0);
        if (options_.track_order) {
            is_changing_ = true;
            uint(8, links);
            is_changing_ = false;
            address(kUndefined);
        }
        address(kUndefined);
        address(kUndefined);
        message(0xa, 2, 1);
        uint(2, 0);
        std::uint64_t order = 0;
        for (std::size_t k = 1; k < objects_.size(); ++k) {
            if (objects_[k].parent == i) {
                link(k, order++);
            }
        }
        attributes(i, self + 1);
        end_header(true);
        settings(i);
    }
    constexpr void link(std::size_t object, std::uint64_t order) noexcept {
        const char* const name = objects_[object].name;
        const std::size_t count = length(name);
        const unsigned count_width = count > 0xff ? 2 : 1;
        const bool with_set = !is_ascii(name);
        message(6, 2 + (options_.track_order ? 8U : 0U) + (with_set ? 1U : 0U) + count_width + count + width_);
        uint(1, 1);
        uint(1, (count_width - 1) | (options_.track_order ? 4U : 0U) | (with_set ? 0x10U : 0U));
        if (options_.track_order) {
            uint(8, order);
        }
        if (with_set) {
            uint(1, 1);
        }
        uint(count_width, count);
        text(name, count);
        address(blocks_[first_blocks_[object]].address);
    }

    constexpr void dataset(std::size_t i) noexcept {
        const ObjectPart& part = objects_[i];
        const std::uint32_t self = block_;
        const bool has_filters = part.filters.count != 0;
        begin();
        header_head(1);
        continuation(self + part.blocks() - 1);
        message(1, 4 + 2 * kSize);
        uint(1, 2);
        uint(1, 1);
        uint(1, 1);
        uint(1, 1);
        const std::uint32_t dimension = at_;
        is_changing_ = true;
        size(0);
        is_changing_ = false;
        size(kUndefined);
        end(dimension);
        if (has_filters) {
            FilterWriter(*this).tree_root();
        } else {
            array_header(self + 1);
            index_block(self + 1);
        }
        begin();
        text("OCHK", 4);
        message(3, part.type.size(), 1);
        bytes(part.type);
        fill_value(3);
        if (has_filters) {
            FilterWriter(*this).layout(part, self + 1);
            FilterWriter(*this).pipeline(part.filters);
        } else {
            chunked_layout(part, self + 1);
        }
        attributes(i, self + part.blocks());
        end_header(false);
        settings(i);
        if (part.filter_items > RecordedFilters::kMost) {
            fault_ = Fault::many_filters;
        } else if (part.chunk == 0) {
            fault_ = Fault::no_rows;
        } else if (part.chunk > 0xffffffffU / part.row) {
            fault_ = Fault::chunk_size;
        }
    }
    constexpr void chunked_layout(const ObjectPart& part, std::uint32_t array) noexcept {
        const std::uint64_t largest = part.chunk > part.row ? part.chunk : part.row;
        unsigned width = 1;
        while (largest >> (8 * width) != 0) {
            ++width;
        }
        message(8, 6 + 2 * width + 5 + width_);
        uint(1, 4);
        uint(1, 2);
        uint(1, 0);
        uint(1, 2);
        uint(1, width);
        uint(width, part.chunk);
        uint(width, part.row);
        uint(1, 4);
        uint(1, ArrayParameters::kMaxBits);
        uint(1, ArrayParameters::kIndexElements);
        uint(1, ArrayParameters::kMinPointers);
        uint(1, ArrayParameters::kMinElements);
        uint(1, ArrayParameters::kPageBits);
        address(blocks_[array].address);
    }
    constexpr void array_header(std::uint32_t self) noexcept {
        begin();
        text("EAHD", 4);
        uint(1, 0);
        uint(1, 0);
        uint(1, width_);
        uint(1, ArrayParameters::kMaxBits);
        uint(1, ArrayParameters::kIndexElements);
        uint(1, ArrayParameters::kMinElements);
        uint(1, ArrayParameters::kMinPointers);
        uint(1, ArrayParameters::kPageBits);
        const std::uint32_t statistics = at_;
        is_changing_ = true;
        for (unsigned i = 0; i < 5; ++i) {
            size(0);
        }
        size(ArrayParameters::kIndexElements);  // elements that have a place: those of the index block
        is_changing_ = false;
        address(blocks_[self + 1].address);
        end(statistics);
    }
    constexpr void index_block(std::uint32_t array) noexcept {
        begin();
        text("EAIB", 4);
        uint(2, 0);
        address(blocks_[array].address);
        is_changing_ = true;
        for (std::uint32_t i = ArrayParameters::index_block_prefix(width_) + 4;
             i < ArrayParameters::index_block_size(width_); i += width_) {
            address(kUndefined);
        }
        is_changing_ = false;
        end(0);
    }
    constexpr void fill_value(unsigned allocation) noexcept {
        message(5, 2, 1);
        uint(1, 3);
        uint(1, allocation | 2 << 2);  // written when the program has set one
    }
    constexpr void constant(std::size_t i) noexcept {
        const ObjectPart& part = objects_[i];
        const std::uint32_t self = block_;
        begin();
        header_head(2);
        dataspace(part.dimensions.data(), part.rank);
        message(3, part.type.size(), 1);
        bytes(part.type);
        fill_value(part.is_compact ? 1 : 2);
        message(8, part.is_compact ? 4 + part.value.size() : 2 + width_ + kSize);
        uint(1, 4);
        uint(1, part.is_compact ? 0 : 1);
        if (part.is_compact) {
            uint(2, part.value.size());
            bytes(part.value);
        } else {
            address(blocks_[self + 1].address);
            size(part.value.size());
        }
        attributes(i, self + part.blocks());
        end_header(true);
        if (!part.is_compact) {
            begin();
            bytes(part.value);
            close(kNothing);
        }
        settings(i);
    }

    static constexpr unsigned kSize = ArrayParameters::kSize;
    static constexpr unsigned kAttributeMessage = 0xc;
    static constexpr std::uint32_t kNothing = 0xffffffffU;
    static constexpr std::uint32_t kFirstHead = 8;  // bytes before the first message of a group or constant

    FileOptions options_;
    unsigned width_;
    Span<const ObjectPart> objects_;
    Span<const AttributePart> attributes_;
    Span<const ScalePart> scales_;
    Span<Block> blocks_;
    Span<std::uint32_t> first_blocks_;
    std::byte* bytes_ = nullptr;
    bool* changing_ = nullptr;
    std::uint32_t end_ = 0;
    std::uint32_t block_ = 0;
    std::uint32_t at_ = 0;
    std::uint64_t order_ = 0;  // of the attribute that is written, among those of its object
    bool is_changing_ = false;
    Fault fault_ = Fault::none;
};

}  // namespace h5mote::blueprint::detail
