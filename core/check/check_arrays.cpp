// Chunk indexes that are arrays: every block, page and element, and what the headers say of them. The bytes are shown
// in core/index/fixed_array.hpp and extensible_array.hpp.

#include "check_dataset.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

constexpr std::uint32_t kFixedHeader = 0x44484146U;  // "FAHD"
constexpr std::uint32_t kFixedBlock = 0x42444146U;   // "FADB"
constexpr std::uint32_t kHeader = 0x44484145U;       // "EAHD"
constexpr std::uint32_t kIndexBlock = 0x42494145U;   // "EAIB"
constexpr std::uint32_t kSuperBlock = 0x42534145U;   // "EASB"
constexpr std::uint32_t kDataBlock = 0x42444145U;    // "EADB"
constexpr Address kChecksum = 4;

class ArrayCheck {
public:
    ArrayCheck(DatasetCheck& dataset, CheckPart part) noexcept
        : dataset_(dataset), checker_(dataset.checker), part_(part), element_(dataset.element()) {}

protected:
    // Opens a block that begins with its signature, version, client and, if `header` is defined, the address of the
    // header.
    Status open(Address address, Address size, Address space, std::uint32_t signature, Address header,
                MetadataWindow& window) noexcept {
        H5MOTE_TRY(checker_.use(part_, address, space));
        H5MOTE_TRY(checker_.judge(checker_.file().window(Usage::btree, address, size, true, window), part_, address));
        const std::size_t prefix = 6U + (header == kUndefinedAddress ? 0U : checker_.shape().sizeof_addr);
        ConstBytes bytes;
        H5MOTE_TRY(checker_.judge(window.view(0, prefix, bytes), part_, address));
        Reader reader(bytes);
        bool sound = reader.u32() == signature && reader.u8() == 0 && reader.u8() == element_.client();
        if (header != kUndefinedAddress) {
            sound = sound && checker_.shape().read_addr(reader) == header;
        }
        return sound ? Status::ok : checker_.bad(ProblemKind::malformed, part_, address);
    }

    // Checks `count` elements from `at` on, the first of which is element `index` of the array.
    Status elements(MetadataWindow& window, Address at, std::uint64_t index, std::uint64_t count) noexcept {
        const Address address = window.address();
        for (std::uint64_t i = 0; i < count; ++i) {
            ConstBytes bytes;
            H5MOTE_TRY(
                checker_.judge(window.view(narrow(at + i * element_.size()), element_.size(), bytes), part_, address));
            const ChunkLocation location = element_.load(bytes.data());
            if (location.address == kUndefinedAddress) {
                continue;
            }
            // A power cut may leave chunks beyond the current extent. They do not count: nobody reads them.
            if (index + i >= highest_ && index + i < now_) {
                highest_ = index + i + 1;
            }
            H5MOTE_TRY(settle(dataset_.chunk(location, nullptr, address)));
        }
        return Status::ok;
    }

    DatasetCheck& dataset_;
    Checker& checker_;
    const CheckPart part_;
    const ChunkElementFormat element_;
    std::uint64_t now_ = ~std::uint64_t{0};  // chunks of the current extent
    std::uint64_t highest_ = 0;              // the highest element within it that is set, + 1
};

class FixedCheck final : public ArrayCheck {
public:
    explicit FixedCheck(DatasetCheck& dataset) noexcept : ArrayCheck(dataset, CheckPart::fixed_array) {}

    Status run(Address header) noexcept {
        const FileShape shape = checker_.shape();
        const Address size = 8U + shape.sizeof_size + shape.sizeof_addr + kChecksum;
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(open(header, size, size, kFixedHeader, kUndefinedAddress, window));
        H5MOTE_TRY(checker_.judge(window.view(6, static_cast<std::size_t>(size) - 6, bytes), part_, header));
        Reader reader(bytes);
        const unsigned element_size = reader.u8();
        const unsigned page_bits = reader.u8();
        const std::uint64_t count = shape.read_size(reader);
        const Address block = shape.read_addr(reader);
        window.close();
        if (element_size != element_.size() || page_bits == 0 || page_bits > 31) {
            return checker_.bad(ProblemKind::malformed, part_, header);
        }
        const std::uint64_t most = dataset_.most_chunks();
        if (count != most) {
            return checker_.bad(ProblemKind::count, part_, header, most);
        }
        if (block == kUndefinedAddress) {
            return Status::ok;
        }
        // An array in the file cannot have more elements than the file has bytes.
        if (count > checker_.file().space.end()) {
            return checker_.bad(ProblemKind::outside, part_, block);
        }
        return data_block(header, block, count, page_bits);
    }

private:
    H5MOTE_STEP Status data_block(Address header, Address address, std::uint64_t count, unsigned page_bits) noexcept {
        const std::uint64_t page = std::uint64_t{1} << page_bits;
        const std::uint64_t pages = count > page ? (count + page - 1) >> page_bits : 0;
        const Address prefix = 6U + checker_.shape().sizeof_addr;
        const Address bits = narrow((pages + 7) / 8);
        const Address size = narrow(prefix + bits + kChecksum + (pages == 0 ? count * element_.size() : 0));
        const Address space = narrow(size + (pages == 0 ? 0 : pages * kChecksum + count * element_.size()));
        MetadataWindow block;
        H5MOTE_TRY(open(address, size, space, kFixedBlock, header, block));
        if (pages == 0) {
            return elements(block, prefix, 0, count);
        }
        Address at = address + size;
        for (std::uint64_t i = 0; i < pages; ++i) {
            const std::uint64_t here = count - i * page < page ? count - i * page : page;
            const Address bytes = narrow(here * element_.size() + kChecksum);
            ConstBytes byte;
            H5MOTE_TRY(checker_.judge(block.view(narrow(prefix + i / 8), 1, byte), part_, address));
            if ((byte[0] & static_cast<std::byte>(0x80U >> (i % 8))) != std::byte{0}) {
                MetadataWindow window;
                const Status status =
                    checker_.judge(checker_.file().window(Usage::btree, at, bytes, true, window), part_, at);
                H5MOTE_TRY(settle(status));
                if (status == Status::ok) {
                    H5MOTE_TRY(settle(elements(window, 0, i * page, here)));
                }
            }
            at += bytes;
        }
        return Status::ok;
    }
};

class ExtensibleCheck final : public ArrayCheck {
public:
    explicit ExtensibleCheck(DatasetCheck& dataset) noexcept : ArrayCheck(dataset, CheckPart::extensible_array) {}

    Status run(Address header) noexcept {
        header_ = header;
        H5MOTE_TRY(read_header());
        now_ = dataset_.chunks_now();
        if (index_block_ == kUndefinedAddress) {
            return Status::ok;
        }
        const Status status = index_block();
        H5MOTE_TRY(settle(status));
        return status == Status::ok && whole_ ? check_statistics() : Status::ok;
    }

private:
    enum Stat : unsigned { super_blocks, super_bytes, data_blocks, data_bytes, highest, realized, kStats };

    // Geometry of an extensible array, for a super block: the number of its data blocks, and of those before it; the
    // elements of each data block, the first element, and the pages of each data block, 0 if they are not divided.
    static std::uint32_t blocks_of(unsigned super) noexcept { return std::uint32_t{1} << (super / 2); }
    static std::uint32_t blocks_before(unsigned super) noexcept {
        return super % 2 == 0 ? 2 * (blocks_of(super) - 1) : 3 * blocks_of(super) - 2;
    }
    std::uint64_t length_of(unsigned super) const noexcept {
        return std::uint64_t{1} << (min_shift_ + (super + 1) / 2);
    }
    std::uint64_t start_of(unsigned super) const noexcept {
        return index_elements_ + (((std::uint64_t{1} << super) - 1) << min_shift_);
    }
    std::uint64_t pages_of(unsigned super) const noexcept {
        return length_of(super) >> page_bits_ > 1 ? length_of(super) >> page_bits_ : 0;
    }
    Address prefix() const noexcept { return 6U + checker_.shape().sizeof_addr; }
    Address block_prefix() const noexcept { return prefix() + offset_width_; }

    H5MOTE_STEP Status read_header() noexcept {
        const FileShape shape = checker_.shape();
        const Address size = 12U + 6U * shape.sizeof_size + shape.sizeof_addr + kChecksum;
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(open(header_, size, size, kHeader, kUndefinedAddress, window));
        H5MOTE_TRY(checker_.judge(window.view(6, static_cast<std::size_t>(size) - 6, bytes), part_, header_));
        Reader reader(bytes);
        const unsigned element_size = reader.u8();
        const unsigned max_bits = reader.u8();
        index_elements_ = reader.u8();
        const unsigned min_elements = reader.u8();
        const unsigned min_pointers = reader.u8();
        page_bits_ = reader.u8();
        for (std::uint64_t& stat : recorded_) {
            stat = shape.read_size(reader);
        }
        index_block_ = shape.read_addr(reader);
        min_shift_ = floor_log2(min_elements);
        direct_supers_ = 2 * floor_log2(min_pointers);
        offset_width_ = (max_bits + 7) / 8;
        // Data blocks that the index block points to have no pages.
        const bool sound = element_size == element_.size() && max_bits != 0 && max_bits <= 32 &&
                           min_elements == 1U << min_shift_ && min_pointers == 1U << (direct_supers_ / 2) &&
                           min_pointers > 1 && page_bits_ <= 20 && min_shift_ + direct_supers_ <= max_bits &&
                           length_of(direct_supers_ - 1) <= std::uint64_t{1} << page_bits_;
        supers_ = 1 + max_bits - min_shift_ - direct_supers_;
        return sound ? Status::ok : checker_.bad(ProblemKind::malformed, part_, header_);
    }

    Status pointer(MetadataWindow& window, Address at, Address& address) noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(checker_.judge(window.view(at, checker_.shape().sizeof_addr, bytes), part_, window.address()));
        address = checker_.shape().load_addr(bytes.data());
        return Status::ok;
    }
    Status keep(Status status) noexcept {
        whole_ = whole_ && status == Status::ok;
        return settle(status);
    }

    H5MOTE_STEP Status index_block() noexcept {
        const unsigned width = checker_.shape().sizeof_addr;
        Address at = narrow(prefix() + index_elements_ * element_.size());
        const Address direct = 2 * ((Address{1} << (direct_supers_ / 2)) - 1);
        const Address size = at + (direct + supers_) * width + kChecksum;
        found_[realized] = index_elements_;
        MetadataWindow window;
        H5MOTE_TRY(open(index_block_, size, size, kIndexBlock, header_, window));
        H5MOTE_TRY(keep(elements(window, prefix(), 0, index_elements_)));
        for (unsigned super = 0; super < direct_supers_; ++super) {
            for (std::uint32_t i = 0; i < blocks_of(super); ++i, at += width) {
                Address address = 0;
                H5MOTE_TRY(pointer(window, at, address));
                if (address != kUndefinedAddress) {
                    H5MOTE_TRY(keep(data_block(super, i, address, nullptr)));
                }
            }
        }
        for (unsigned i = 0; i < supers_; ++i, at += width) {
            Address address = 0;
            H5MOTE_TRY(pointer(window, at, address));
            if (address != kUndefinedAddress) {
                H5MOTE_TRY(keep(super_block(direct_supers_ + i, address)));
            }
        }
        return Status::ok;
    }

    // Checks the offset that a block stores: the number of its first element, which may be either of two.
    Status check_offset(MetadataWindow& window, std::uint64_t offset, std::uint64_t other) noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(checker_.judge(window.view(prefix(), offset_width_, bytes), part_, window.address()));
        const std::uint64_t stored = load_uint(bytes.data(), offset_width_) + index_elements_;
        return stored == offset || stored == other ? Status::ok
                                                   : checker_.bad(ProblemKind::malformed, part_, window.address());
    }

    H5MOTE_STEP Status super_block(unsigned super, Address address) noexcept {
        const unsigned width = checker_.shape().sizeof_addr;
        const Address blocks = blocks_of(super);
        // The bits of the pages take a whole number of bytes for each data block, although they are numbered without
        // gaps.
        const Address pointers = narrow(block_prefix() + blocks * ((pages_of(super) + 7) / 8));
        const Address size = pointers + blocks * width + kChecksum;
        MetadataWindow window;
        H5MOTE_TRY(open(address, size, size, kSuperBlock, header_, window));
        H5MOTE_TRY(check_offset(window, start_of(super), start_of(super)));
        ++found_[super_blocks];
        found_[super_bytes] += size;
        for (std::uint32_t i = 0; i < blocks; ++i) {
            Address block = 0;
            H5MOTE_TRY(pointer(window, pointers + Address{i} * width, block));
            if (block != kUndefinedAddress) {
                H5MOTE_TRY(keep(data_block(super, i, block, &window)));
            }
        }
        return Status::ok;
    }

    // `holder`: the super block, which has the bits of the pages; nullptr if the index block points to the data block.
    H5MOTE_STEP Status data_block(unsigned super, std::uint32_t number, Address address,
                                  MetadataWindow* holder) noexcept {
        const std::uint64_t length = length_of(super);
        const std::uint64_t first = start_of(super) + number * length;
        const std::uint64_t pages = holder == nullptr ? 0 : pages_of(super);
        const Address page_size = (Address{1} << page_bits_) * element_.size() + kChecksum;
        const Address size = narrow(block_prefix() + kChecksum + (pages == 0 ? length * element_.size() : 0));
        const Address space = narrow(size + pages * page_size);
        MetadataWindow window;
        H5MOTE_TRY(open(address, size, space, kDataBlock, header_, window));
        // For data blocks that the index block points to, libhdf5 computes the offset from a number that also counts
        // the blocks before their super block: either is accepted.
        const std::uint64_t before = holder == nullptr ? blocks_before(super) : 0;
        H5MOTE_TRY(check_offset(window, first, first + before * length));
        ++found_[data_blocks];
        found_[data_bytes] += space;
        found_[realized] += length;
        if (pages == 0) {
            return elements(window, block_prefix(), first, length);
        }
        for (std::uint64_t i = 0; i < pages; ++i) {
            const std::uint64_t bit = number * pages + i;
            const Address at = narrow(address + size + i * page_size);
            ConstBytes byte;
            H5MOTE_TRY(
                checker_.judge(holder->view(narrow(block_prefix() + bit / 8), 1, byte), part_, holder->address()));
            if ((byte[0] & static_cast<std::byte>(0x80U >> (bit % 8))) != std::byte{0}) {
                const Status status =
                    checker_.judge(checker_.file().window(Usage::btree, at, page_size, true, window), part_, at);
                H5MOTE_TRY(keep(status));
                if (status == Status::ok) {
                    H5MOTE_TRY(keep(elements(window, 0, first + (i << page_bits_), std::uint64_t{1} << page_bits_)));
                }
            }
        }
        return Status::ok;
    }

    // The header may be in another sector than the pointers to blocks, and a power cut between the two writes. So only
    // too low a count of elements is a problem; other statistics that differ are a note.
    Status check_statistics() noexcept {
        if (recorded_[highest] < highest_) {
            return checker_.bad(ProblemKind::count, part_, header_, highest_);
        }
        found_[highest] = recorded_[highest];
        for (unsigned i = 0; i < kStats; ++i) {
            if (found_[i] != recorded_[i]) {
                return checker_.note(ProblemKind::statistics, part_, header_, found_[i]);
            }
        }
        return Status::ok;
    }

    Address header_ = kUndefinedAddress;
    Address index_block_ = kUndefinedAddress;
    std::uint64_t recorded_[kStats] = {};
    std::uint64_t found_[kStats] = {};
    std::uint64_t index_elements_ = 0;
    unsigned min_shift_ = 0;
    unsigned direct_supers_ = 0;
    unsigned supers_ = 0;
    unsigned offset_width_ = 0;
    unsigned page_bits_ = 0;
    bool whole_ = true;
};

}  // namespace

Status DatasetCheck::check_fixed_array(Address address) noexcept { return FixedCheck(*this).run(address); }

Status DatasetCheck::check_extensible_array(Address address) noexcept { return ExtensibleCheck(*this).run(address); }

}  // namespace h5mote

#endif
