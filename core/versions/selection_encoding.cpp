#include "selection_encoding.hpp"

#include "axis.hpp"

namespace h5mote {
namespace {

constexpr std::uint64_t kLargest16 = 0xffff;
constexpr std::uint64_t kLargest32 = 0xffffffff;
constexpr unsigned kRegular = 1;

void raise_to(std::uint64_t& most, std::uint64_t number) noexcept { most = number > most ? number : most; }

class SelectionEncoder {
public:
    SelectionEncoder(const Selection& selection, const Dataspace& space) noexcept
        : selection_(selection), space_(space) {}

    /// Finds the version of a selection that has coordinates. `stored`: it has elements to be stored.
    Status plan(FormatVersion low, bool& stored) noexcept;
    unsigned version() const noexcept { return version_; }
    FormatVersion needed() const noexcept {
        return version_ == 1                ? FormatVersion::v18
               : version_ == 2 && !points() ? FormatVersion::v110
                                            : FormatVersion::v112;
    }
    void write(Writer& writer) noexcept;

private:
    bool points() const noexcept { return selection_.type() == SelectionType::points; }
    Axis axis(std::size_t d) const noexcept {
        const Hyperslab& slab = selection_.hyperslab();
        Axis axis = is_unlimited(slab, d) ? numbers_of(slab, d) : slab_axis(selection_, d);
        axis.stride = axis.count == 1 ? 1 : axis.stride;
        return axis;
    }
    unsigned hyperslab_version(FormatVersion low) const noexcept;
    unsigned width() const noexcept;

    const Selection& selection_;
    const Dataspace& space_;
    SelectionBlocks blocks_;
    std::uint64_t number_ = 0;  // of blocks or points
    std::uint64_t most_ = 0;    // the largest of the number and all coordinates
    bool unlimited_ = false;
    bool regular_ = false;
    unsigned version_ = 1;
};

Status SelectionEncoder::plan(FormatVersion low, bool& stored) noexcept {
    stored = true;
    unlimited_ = unlimited_dimension(selection_) >= 0;
    regular_ = !points() && (unlimited_ || selection_.is_regular());
    if (!unlimited_) {
        std::uint64_t first[H5MOTE_MAX_RANK];
        std::uint64_t last[H5MOTE_MAX_RANK];
        H5MOTE_TRY(blocks_.reset(selection_, space_, true));
        number_ = blocks_.count(number_) == Status::ok ? number_ : kUnlimited;
        stored = selection_.bounds(space_, first, last) == Status::ok;
        most_ = number_;
        for (std::size_t d = 0; stored && d < selection_.rank(); ++d) {
            raise_to(most_, last[d]);
        }
    }
    version_ = !points() ? hyperslab_version(low) : low >= FormatVersion::v112 || most_ > kLargest32 ? 2 : 1;
    return Status::ok;
}

unsigned SelectionEncoder::hyperslab_version(FormatVersion low) const noexcept {
    if (low >= FormatVersion::v112) {
        return 3;
    }
    if (unlimited_ || (regular_ && low == FormatVersion::v110 && number_ >= 4)) {
        return 2;
    }
    return most_ <= kLargest32 ? 1 : regular_ ? 2 : 3;
}

// Of regular hyperslabs the numbers are stored that describe them. Counts and blocks must have a value that they do not
// take, for "unlimited".
unsigned SelectionEncoder::width() const noexcept {
    std::uint64_t most = regular_ ? 0 : most_;
    for (std::size_t d = 0; regular_ && d < selection_.rank(); ++d) {
        const Axis numbers = axis(d);
        raise_to(most, numbers.start);
        raise_to(most, numbers.stride);
        raise_to(most, numbers.count == kUnlimited ? 0 : numbers.count + 1);
        raise_to(most, numbers.block == kUnlimited ? 0 : numbers.block + 1);
    }
    return most > kLargest32 ? 8 : most > kLargest16 ? 4 : 2;
}

// Versions 2 and 3. Version 2 of hyperslabs is always of regular ones here.
void SelectionEncoder::write(Writer& writer) noexcept {
    const std::size_t rank = selection_.rank();
    const bool version_2 = version_ == 2 && !points();
    const unsigned bytes = version_2 ? 8 : width();
    writer.u32(static_cast<std::uint32_t>(selection_.type()));
    writer.u32(version_);
    if (!points()) {
        writer.u8(regular_ ? kRegular : 0);
    }
    if (version_2) {
        writer.u32(static_cast<std::uint32_t>(4 + 32 * rank));
    } else {
        writer.u8(bytes);
    }
    writer.u32(static_cast<std::uint32_t>(rank));
    for (std::size_t d = 0; regular_ && d < rank; ++d) {
        const Axis numbers = axis(d);
        writer.uint(bytes, numbers.start);
        writer.uint(bytes, numbers.stride);
        writer.uint(bytes, numbers.count);
        writer.uint(bytes, numbers.block);
    }
    if (regular_) {
        return;
    }
    writer.uint(bytes, number_);
    std::uint64_t corners[2][H5MOTE_MAX_RANK];
    while (writer.ok() && blocks_.next(corners[0], corners[1])) {
        for (std::size_t i = 0; i < (points() ? rank : 2 * rank); ++i) {
            writer.uint(bytes, corners[i / rank][i % rank]);
        }
    }
}

}  // namespace

Status encode_bounded_selection(FileState& file, Writer& writer, const Selection& given,
                                const Dataspace& space) noexcept {
    const Selection selection = given.moved_by({});
    if (selection.rank() == 0) {
        return encode_selection(writer, selection, space);
    }
    bool stored = false;
    SelectionEncoder encoder(selection, space);
    H5MOTE_TRY(encoder.plan(file.low(), stored));
    if (!stored && !(selection.type() == SelectionType::points)) {
        return encode_selection(writer, selection, space);  // as `none`
    }
    H5MOTE_TRY(file.allow_version(encoder.needed()));
    if (encoder.version() == 1) {
        return encode_selection(writer, selection, space);
    }
    encoder.write(writer);
    return Status::ok;
}

}  // namespace h5mote
