#include "section_writer.hpp"

#include "extension_messages.hpp"

namespace h5mote {
namespace {

// As with libhdf5, whose drivers have addresses of 63 bits.
constexpr std::uint16_t kAddressBits = 63;

constexpr std::uint64_t longest(FileShape shape) noexcept {
    return ~std::uint64_t{0} >> (shape.sizeof_size == 8 ? 1 : 64 - 8 * shape.sizeof_size);
}

constexpr unsigned section_class(Address page, SpaceKind kind) noexcept {
    return page == 0 ? 0 : kind == SpaceKind::pages ? 2 : 1;
}

// In a file with pages the managers tell sections apart by their size, too.
SpaceKind kind_of(const FreeExtent& extent, Address page) noexcept {
    return page != 0 && extent.size >= page     ? SpaceKind::pages
           : extent.kind == SpaceKind::raw_data ? SpaceKind::raw_data
                                                : SpaceKind::metadata;
}

// Where the message has the mark kIncomplete, libhdf5 takes it for the size of what is never used at the end of a page
// with metadata: it drops a section there that is no larger. When it reads the record it also makes any section that
// ends so near to the end of a page longer by those bytes, which may be in use. The record must have neither.
bool is_dropped(const FreeExtent& extent, Address page) noexcept {
    if (H5MOTE_ALL_FORMATS == 0 || page == 0) {
        return false;
    }
    const Address over = (extent.address + extent.size) % page;
    return over == 0 ? extent.kind != SpaceKind::raw_data && extent.size <= FileSpaceInfoMessage::kIncomplete
                     : page - over <= FileSpaceInfoMessage::kIncomplete;
}

}  // namespace

bool SectionWriter::next(std::size_t& i, NumberPair& section) noexcept {
    SpaceMap& free = file_.space.free();
    const Address page = file_.space.rule().page;
    while (i < free.count() + own_.size()) {
        const FreeExtent extent = i < free.count() ? free.get(i) : own_[i - free.count()];
        ++i;
        if (extent.size == 0 || extent.address >= end_) {
            continue;
        }
        if (extent.size < least_) {
            free.set_complete(false);
        } else if ((all_ || kind_of(extent, page) == kind_) && (free.is_complete() || !is_dropped(extent, page))) {
            section = {extent.size, extent.address};
            return true;
        }
    }
    return false;
}

// One pass: the next few sections in their order.
void SectionWriter::gather(NextPairs& sections) noexcept {
    sections.begin_pass();
    NumberPair section{};
    for (std::size_t i = 0; next(i, section);) {
        sections.offer(section);
    }
}

std::uint64_t SectionWriter::count_equal(Address size) noexcept {
    std::uint64_t count = 0;
    NumberPair section{};
    for (std::size_t i = 0; next(i, section);) {
        count += section.first == size ? 1 : 0;
    }
    return count;
}

void SectionWriter::measure() noexcept {
    header_.address_bits = kAddressBits;
    header_.longest = longest(file_.shape());
    NumberPair section{};
    for (std::size_t i = 0; next(i, section);) {
        header_.bytes += section.first;
        ++header_.sections;
    }
    header_.serialized = header_.sections;
    Address groups = 0;
    Address size = 0;
    NextPairs few;
    do {
        gather(few);
        for (std::size_t i = 0; i < few.count(); ++i) {
            groups += few[i].first != size ? 1 : 0;
            size = few[i].first;
        }
    } while (few.count() == NextPairs::kMost);
    header_.list_used = static_cast<Address>(
        FreeSpaceList::prefix_size(file_.shape()) + FreeSpaceHeader::kChecksumSize +
        groups * (header_.count_width() + header_.size_width()) + header_.sections * (header_.address_width() + 1));
}

Status SectionWriter::flush() noexcept {
    const ConstBytes bytes{piece_, held_};
    checksum_.update(bytes);
    held_ = 0;
    file_.unsynced = true;
    const Status status = file_.driver.write(Usage::object_header, to_, bytes);
    to_ += static_cast<Address>(bytes.size());
    return status;
}

// More than was measured is io_error: reading what the keeper holds has failed meanwhile.
Status SectionWriter::put(std::uint64_t number, unsigned width) noexcept {
    if (width > left_) {
        return Status::io_error;
    }
    left_ -= width;
    if (held_ + width > kPiece) {
        H5MOTE_TRY(flush());
    }
    store_uint(piece_ + held_, width, number);
    held_ += width;
    return Status::ok;
}

Status SectionWriter::write_sections() noexcept {
    const unsigned section = section_class(file_.space.rule().page, kind_);
    Address size = 0;
    NextPairs few;
    do {
        gather(few);
        for (std::size_t i = 0; i < few.count(); ++i) {
            if (few[i].first != size) {
                size = few[i].first;
                H5MOTE_TRY(put(count_equal(size), header_.count_width()));
                H5MOTE_TRY(put(size, header_.size_width()));
            }
            H5MOTE_TRY(put(few[i].second, header_.address_width()));
            H5MOTE_TRY(put(section, 1));
        }
    } while (few.count() == NextPairs::kMost);
    return Status::ok;
}

Status SectionWriter::write(Address header, Address list) noexcept {
    const FileShape shape = file_.shape();
    const auto spilled = file_.space.free().spilled();
    to_ = list;
    left_ = header_.list_used - FreeSpaceHeader::kChecksumSize;
    checksum_ = Lookup3Stream(static_cast<std::uint32_t>(left_));
    H5MOTE_TRY(put(FreeSpaceList::kSignature, 5));  // and version 0
    H5MOTE_TRY(put(header, shape.sizeof_addr));
    H5MOTE_TRY(write_sections());
    // If those in the table could not be read meanwhile, they are gone from it, and the counts of the groups are wrong.
    if (left_ != 0 || file_.space.free().spilled() != spilled) {
        return Status::io_error;
    }
    H5MOTE_TRY(flush());
    left_ = FreeSpaceHeader::kChecksumSize;
    H5MOTE_TRY(put(checksum_.finish(), FreeSpaceHeader::kChecksumSize));
    H5MOTE_TRY(flush());
    header_.list = list;
    header_.list_size = header_.list_used;
    std::byte bytes[14 + 7 * 8 + 8 + FreeSpaceHeader::kChecksumSize];
    Writer writer{Bytes{bytes, FreeSpaceHeader::size(shape)}};
    header_.encode(shape, writer);
    return file_.driver.write(Usage::object_header, header, {bytes, writer.written()});
}

}  // namespace h5mote
