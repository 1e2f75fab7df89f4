// Chunk indexes that are arrays: every block, page and element, and what the headers say of them. The bytes are shown
// in core/format/fixed_array_blocks.hpp and extensible_array_blocks.hpp.

#include "check_dataset.hpp"
#include "chunk_grid.hpp"
#include "extensible_array_blocks.hpp"
#include "fixed_array_blocks.hpp"

#if H5MOTE_ALL_FORMATS

namespace h5mote {
namespace {

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
            std::uint64_t place[DatasetCheck::kMaxRank];
            chunk_place(dataset_.rank, dataset_.max_dims, dataset_.chunk_dims, index + i, place);
            H5MOTE_TRY(go_on(dataset_.chunk(location, nullptr, address, place)));
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
        array_.element = element_;
        const std::size_t size = array_.header_size();
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(open(header, size, size, FixedArrayFormat::kHeader, kUndefinedAddress, window));
        H5MOTE_TRY(checker_.judge(window.view(0, size, bytes), part_, header));
        if (!array_.decode(bytes)) {
            return checker_.bad(ProblemKind::malformed, part_, header);
        }
        const Address block = checker_.shape().load_addr(bytes.data() + array_.pointer());
        window.close();
        const std::uint64_t most = dataset_.most_chunks();
        if (array_.elements != most) {
            return checker_.bad(ProblemKind::count, part_, header, most);
        }
        if (block == kUndefinedAddress) {
            return Status::ok;
        }
        // An array in the file cannot have more elements than the file has bytes.
        if (array_.elements > checker_.file().space.end() || !array_.sound()) {
            return checker_.bad(ProblemKind::outside, part_, block);
        }
        return data_block(header, block);
    }

private:
    H5MOTE_STEP Status data_block(Address header, Address address) noexcept {
        const Address prefix = array_.prefix_size();
        const std::uint64_t count = array_.elements;
        const std::uint64_t page = std::uint64_t{1} << array_.page_bits;
        const std::uint64_t pages = array_.pages();
        const Address size = array_.data_block_size();
        MetadataWindow block;
        H5MOTE_TRY(open(address, size, array_.data_block_space(), FixedArrayFormat::kDataBlock, header, block));
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
                H5MOTE_TRY(go_on(status));
                if (status == Status::ok) {
                    H5MOTE_TRY(go_on(elements(window, 0, i * page, here)));
                }
            }
            at += bytes;
        }
        return Status::ok;
    }

    FixedArrayFormat array_;
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
        H5MOTE_TRY(go_on(status));
        return status == Status::ok && whole_ ? check_statistics() : Status::ok;
    }

private:
    using Format = ExtensibleArrayFormat;
    // Statistics of the header, by their number in it.
    static constexpr std::size_t kSuperBlocks = Format::kSuperBlockStats;
    static constexpr std::size_t kSuperBytes = kSuperBlocks + 1;
    static constexpr std::size_t kDataBlocks = Format::kDataBlockStats;
    static constexpr std::size_t kDataBytes = kDataBlocks + 1;

    // For a super block: the elements of each data block, the first element, and the pages of each data block, 0 if
    // they are not divided.
    std::uint64_t length_of(unsigned super) const noexcept {
        return std::uint64_t{array_.parameters.data_block_min_elements} << Format::length_shift(super);
    }
    std::uint64_t start_of(unsigned super) const noexcept {
        return index_elements() + ((std::uint64_t{1} << super) - 1) * array_.parameters.data_block_min_elements;
    }
    std::uint64_t pages_of(unsigned super) const noexcept {
        const std::uint64_t pages = length_of(super) >> array_.parameters.page_bits;
        return pages > 1 ? pages : 0;
    }
    std::uint64_t index_elements() const noexcept { return array_.parameters.index_block_elements; }

    H5MOTE_STEP Status read_header() noexcept {
        const FileShape shape = checker_.shape();
        array_.element = element_;
        const std::size_t size = array_.header_size();
        MetadataWindow window;
        ConstBytes bytes;
        H5MOTE_TRY(open(header_, size, size, Format::kHeader, kUndefinedAddress, window));
        H5MOTE_TRY(checker_.judge(window.view(0, size, bytes), part_, header_));
        if (!array_.decode(bytes)) {
            return checker_.bad(ProblemKind::malformed, part_, header_);
        }
        Reader reader(bytes);
        reader.skip(Format::kStatsOffset);
        for (std::uint64_t& stat : recorded_) {
            stat = shape.read_size(reader);
        }
        index_block_ = shape.read_addr(reader);
        return Status::ok;
    }

    Status pointer(MetadataWindow& window, Address at, Address& address) noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(checker_.judge(window.view(at, checker_.shape().sizeof_addr, bytes), part_, window.address()));
        address = checker_.shape().load_addr(bytes.data());
        return Status::ok;
    }
    Status keep(Status status) noexcept {
        whole_ = whole_ && status == Status::ok;
        return go_on(status);
    }

    H5MOTE_STEP Status index_block() noexcept {
        const unsigned width = checker_.shape().sizeof_addr;
        const unsigned direct_supers = array_.direct_super_blocks();
        const Address prefix = array_.prefix_size();
        const Address size = array_.index_block().size;
        Address at = array_.pointer_offset({});
        found_[Format::kRealized] = index_elements();
        MetadataWindow window;
        H5MOTE_TRY(open(index_block_, size, size, Format::kIndexBlock, header_, window));
        H5MOTE_TRY(keep(elements(window, prefix, 0, index_elements())));
        for (unsigned super = 0; super < direct_supers; ++super) {
            for (std::uint32_t i = 0; i < Format::data_blocks(super); ++i, at += width) {
                Address address = 0;
                H5MOTE_TRY(pointer(window, at, address));
                if (address != kUndefinedAddress) {
                    H5MOTE_TRY(keep(data_block(super, i, address, nullptr)));
                }
            }
        }
        for (unsigned super = direct_supers; super < array_.super_blocks(); ++super, at += width) {
            Address address = 0;
            H5MOTE_TRY(pointer(window, at, address));
            if (address != kUndefinedAddress) {
                H5MOTE_TRY(keep(super_block(super, address)));
            }
        }
        return Status::ok;
    }

    // Checks the offset that a block stores: the number of its first element, which may be either of two.
    Status check_offset(MetadataWindow& window, std::uint64_t offset, std::uint64_t other) noexcept {
        ConstBytes bytes;
        H5MOTE_TRY(
            checker_.judge(window.view(array_.prefix_size(), array_.offset_width(), bytes), part_, window.address()));
        const std::uint64_t stored = load_uint(bytes.data(), array_.offset_width()) + index_elements();
        return stored == offset || stored == other ? Status::ok
                                                   : checker_.bad(ProblemKind::malformed, part_, window.address());
    }

    H5MOTE_STEP Status super_block(unsigned super, Address address) noexcept {
        const unsigned width = checker_.shape().sizeof_addr;
        const Address blocks = Format::data_blocks(super);
        const Format::Block wanted = array_.super_block({super, 0, 0, static_cast<std::uint32_t>(length_of(super))});
        const Address size = wanted.size;
        MetadataWindow window;
        H5MOTE_TRY(open(address, size, size, Format::kSuperBlock, header_, window));
        H5MOTE_TRY(check_offset(window, start_of(super), start_of(super)));
        ++found_[kSuperBlocks];
        found_[kSuperBytes] += size;
        for (std::uint32_t i = 0; i < blocks; ++i) {
            Address block = 0;
            H5MOTE_TRY(pointer(window, narrow(wanted.contents) + Address{i} * width, block));
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
        const Address page_size = array_.page_size();
        const Address size =
            narrow(array_.block_prefix_size() + kChecksum + (pages == 0 ? length * element_.size() : 0));
        const Address space = narrow(size + pages * page_size);
        MetadataWindow window;
        H5MOTE_TRY(open(address, size, space, Format::kDataBlock, header_, window));
        // For data blocks that the index block points to, libhdf5 computes the offset from a number that also counts
        // the blocks before their super block: either is accepted.
        const std::uint64_t before = holder == nullptr ? Format::data_blocks_before(super) : 0;
        H5MOTE_TRY(check_offset(window, first, first + before * length));
        ++found_[kDataBlocks];
        found_[kDataBytes] += space;
        found_[Format::kRealized] += length;
        if (pages == 0) {
            return elements(window, array_.block_prefix_size(), first, length);
        }
        for (std::uint64_t i = 0; i < pages; ++i) {
            const std::uint64_t bit = number * pages + i;
            const Address at = narrow(address + size + i * page_size);
            ConstBytes byte;
            H5MOTE_TRY(checker_.judge(holder->view(narrow(array_.block_prefix_size() + bit / 8), 1, byte), part_,
                                      holder->address()));
            if ((byte[0] & static_cast<std::byte>(0x80U >> (bit % 8))) != std::byte{0}) {
                const Status status =
                    checker_.judge(checker_.file().window(Usage::btree, at, page_size, true, window), part_, at);
                H5MOTE_TRY(keep(status));
                if (status == Status::ok) {
                    H5MOTE_TRY(keep(elements(window, 0, first + (i << array_.parameters.page_bits),
                                             std::uint64_t{1} << array_.parameters.page_bits)));
                }
            }
        }
        return Status::ok;
    }

    // The header may be in another sector than the pointers to blocks, and a power cut between the two writes. So only
    // too low a count of elements is a problem; other statistics that differ are a note.
    Status check_statistics() noexcept {
        if (recorded_[Format::kHighestSet] < highest_) {
            return checker_.bad(ProblemKind::count, part_, header_, highest_);
        }
        found_[Format::kHighestSet] = recorded_[Format::kHighestSet];
        for (unsigned i = 0; i < Format::kStats; ++i) {
            if (found_[i] != recorded_[i]) {
                return checker_.note(ProblemKind::statistics, part_, header_, found_[i]);
            }
        }
        return Status::ok;
    }

    Address header_ = kUndefinedAddress;
    Address index_block_ = kUndefinedAddress;
    std::uint64_t recorded_[Format::kStats] = {};
    std::uint64_t found_[Format::kStats] = {};
    Format array_;
    bool whole_ = true;
};

}  // namespace

Status DatasetCheck::check_fixed_array(Address address) noexcept { return FixedCheck(*this).run(address); }

Status DatasetCheck::check_extensible_array(Address address) noexcept { return ExtensibleCheck(*this).run(address); }

}  // namespace h5mote

#endif
