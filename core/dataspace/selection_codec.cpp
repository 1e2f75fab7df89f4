#include "selection_codec.hpp"

#include "axis.hpp"
#include "checked.hpp"
#include "selection_editor.hpp"

namespace h5mote {
namespace {

constexpr unsigned kRegular = 1;
constexpr std::uint64_t kLargest32 = 0xffffffff;

class Decoder {
public:
    Decoder(Context& context, ConstBytes bytes, unsigned rank, SelectionSet& selection) noexcept
        : context_(context), reader_(bytes), rank_(rank), selection_(selection) {}

    Status run() noexcept;
    std::size_t remaining() const noexcept { return reader_.remaining(); }

private:
    Status damaged(SourcePlace place) noexcept { return context_.fail(Module::dataspace, place, Status::corrupt_file); }
    Status read_rank() noexcept;
    Status points() noexcept;
    Status hyperslabs() noexcept;
    Status regular() noexcept;
    Status blocks() noexcept;
    /// Reads into number_ the number of points or blocks, of `size` numbers each. False: the input is too short for
    /// them.
    bool read_number(std::uint64_t size) noexcept;
    std::uint64_t read() noexcept { return reader_.uint(width_); }

    Context& context_;
    Reader reader_;
    unsigned rank_;
    SelectionSet& selection_;
    unsigned width_ = 4;
    std::uint64_t number_ = 0;
};

Status Decoder::run() noexcept {
    const std::uint32_t type = reader_.u32();
    switch (static_cast<SelectionType>(type)) {
        case SelectionType::points:
            return points();
        case SelectionType::hyperslabs:
            return hyperslabs();
        default:
            break;
    }
    const std::uint32_t version = reader_.u32();
    reader_.skip(8);
    if (!reader_.ok() || type > static_cast<std::uint32_t>(SelectionType::all)) {
        return damaged(H5MOTE_HERE);
    }
    if (version != 1) {
        return context_.unsupported(Module::dataspace, H5MOTE_HERE, Feature::dataspace_version, version);
    }
    if (static_cast<SelectionType>(type) == SelectionType::none) {
        selection_.select_none();
    } else {
        selection_.select_all();
    }
    return Status::ok;
}

Status Decoder::read_rank() noexcept {
    const std::uint32_t rank = reader_.u32();
    if (!reader_.ok() || rank == 0 || rank > 32 || (rank_ != 0 && rank != rank_) ||
        (width_ != 2 && width_ != 4 && width_ != 8)) {
        return damaged(H5MOTE_HERE);
    }
    rank_ = rank;
    return rank <= H5MOTE_MAX_RANK
               ? Status::ok
               : context_.unsupported(Module::dataspace, H5MOTE_HERE, Feature::dataspace_rank, rank);
}

bool Decoder::read_number(std::uint64_t size) noexcept {
    number_ = read();
    return reader_.ok() && number_ <= quotient_of(reader_.remaining(), size * width_);
}

Status Decoder::points() noexcept {
    const std::uint32_t version = reader_.u32();
    if (version == 1) {
        reader_.skip(8);
    } else if (version == 2) {
        width_ = reader_.u8();
    } else {
        return reader_.ok() ? context_.unsupported(Module::dataspace, H5MOTE_HERE, Feature::dataspace_version, version)
                            : damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(read_rank());
    if (!read_number(rank_)) {
        return damaged(H5MOTE_HERE);
    }
    SelectionSet made(context_);
    H5MOTE_TRY(SelectionEditor::make(made, SelectionType::points, rank_, number_ * rank_));
    for (std::uint64_t i = 0; i < number_ * rank_; ++i) {
        const std::uint64_t coordinate = read();
        if (coordinate == kUnlimited) {
            return damaged(H5MOTE_HERE);
        }
        SelectionEditor::numbers(made)[i] = coordinate;
    }
    SelectionEditor::adopt(selection_, made);
    return Status::ok;
}

Status Decoder::hyperslabs() noexcept {
    const std::uint32_t version = reader_.u32();
    unsigned flags = 0;
    if (version == 1) {
        reader_.skip(8);
    } else if (version == 2) {
        flags = reader_.u8();
        reader_.skip(4);
        width_ = 8;
    } else if (version == 3) {
        flags = reader_.u8();
        width_ = reader_.u8();
    } else {
        return reader_.ok() ? context_.unsupported(Module::dataspace, H5MOTE_HERE, Feature::dataspace_version, version)
                            : damaged(H5MOTE_HERE);
    }
    H5MOTE_TRY(read_rank());
    if ((flags & ~kRegular) != 0) {
        return damaged(H5MOTE_HERE);
    }
    return flags == kRegular ? regular() : blocks();
}

Status Decoder::regular() noexcept {
    const std::uint64_t unlimited = width_ == 8 ? kUnlimited : (std::uint64_t{1} << (8 * width_)) - 1;
    SelectionSet made(context_);
    const std::size_t r = rank_;
    H5MOTE_TRY(SelectionEditor::make(made, SelectionType::hyperslabs, r, 4 * std::uint64_t{r}));
    std::uint64_t* const numbers = SelectionEditor::numbers(made);
    for (std::size_t d = 0; d < r; ++d) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::uint64_t number = read();
            numbers[i * r + d] = i >= 2 && number == unlimited ? kUnlimited : number;
        }
    }
    SelectionSet checked(context_);
    Status status = SelectionEditor::set_slab(checked, made.view().hyperslab());
    if (status == Status::ok && reader_.ok()) {
        SelectionEditor::adopt(selection_, checked);
        return Status::ok;
    }
    return status == Status::out_of_memory ? status : damaged(H5MOTE_HERE);
}

Status Decoder::blocks() noexcept {
    const std::size_t r = rank_;
    if (!read_number(2 * std::uint64_t{r}) || number_ == 0) {
        return damaged(H5MOTE_HERE);
    }
    SelectionSet made(context_);
    SelectionSet corners(context_);
    H5MOTE_TRY(SelectionEditor::make(corners, SelectionType::points, r, 2 * std::uint64_t{r}));
    std::uint64_t* const low = SelectionEditor::numbers(corners);
    UnionOfBlocks all(context_, rank_);
    for (std::uint64_t i = 0; i < number_; ++i) {
        bool sound = true;
        for (std::size_t d = 0; d < 2 * r; ++d) {
            low[d] = read();
            sound = sound && low[d] != kUnlimited && (d < r || low[d] >= low[d - r]);
        }
        if (!sound) {
            return damaged(H5MOTE_HERE);
        }
        H5MOTE_TRY(all.add(low, low + r));
    }
    H5MOTE_TRY(all.finish(made));
    SelectionEditor::adopt(selection_, made);
    return Status::ok;
}

}  // namespace

Status decode_selection(Context& context, ConstBytes bytes, unsigned rank, SelectionSet& selection,
                        std::size_t& consumed) noexcept {
    Decoder decoder(context, bytes, rank, selection);
    H5MOTE_TRY(decoder.run());
    consumed = bytes.size() - decoder.remaining();
    return Status::ok;
}

namespace {

// How a selection is encoded, which has to be chosen before the first byte is written.
struct Form {
    unsigned version = 1;
    unsigned width = 4;
    bool regular = false;
    std::uint64_t number = 0;
};

void write_numbers(Writer& writer, unsigned width, const std::uint64_t* numbers, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        writer.uint(width, numbers[i]);
    }
}

void write_regular(Writer& writer, const Selection& selection) noexcept {
    const Hyperslab& slab = selection.hyperslab();
    for (std::size_t d = 0; d < selection.rank(); ++d) {
        const Axis axis = is_unlimited(slab, d) ? numbers_of(slab, d) : slab_axis(selection, d);
        writer.u64(axis.start);
        writer.u64(axis.count == 1 ? 1 : axis.stride);
        writer.u64(axis.count);
        writer.u64(axis.block);
    }
}

// Version 1 keeps the length of what follows it. Version 2 of points has the width of the numbers instead; hyperslabs
// have flags and the length in version 2, flags and the width in version 3.
void write_head(Writer& writer, SelectionType type, const Form& form, std::uint64_t length) noexcept {
    writer.u32(static_cast<std::uint32_t>(type));
    writer.u32(form.version);
    if (form.version == 1) {
        writer.u32(0);
        writer.u32(static_cast<std::uint32_t>(length));
    } else if (type == SelectionType::points) {
        writer.u8(form.width);
    } else {
        writer.u8(form.regular ? kRegular : 0);
        if (form.version == 2) {
            writer.u32(static_cast<std::uint32_t>(length));
        } else {
            writer.u8(form.width);
        }
    }
}

}  // namespace

Status encode_selection(Writer& writer, const Selection& given, const Dataspace& space) noexcept {
    const Selection selection = given.moved_by({});
    const std::size_t rank = selection.rank();
    Form form;
    if (rank == 0) {
        write_head(writer, selection.type(), form, 0);
        return Status::ok;
    }
    SelectionBlocks blocks;
    if (unlimited_dimension(selection) >= 0) {
        form = {2, 8, true, 0};
    } else {
        std::uint64_t low[H5MOTE_MAX_RANK];
        std::uint64_t high[H5MOTE_MAX_RANK];
        H5MOTE_TRY(blocks.reset(selection, space, true));
        const bool fits = blocks.count(form.number) == Status::ok;
        std::uint64_t largest = fits ? form.number : kUnlimited;
        if (selection.bounds(space, low, high) == Status::ok) {
            for (std::size_t d = 0; d < rank; ++d) {
                largest = high[d] > largest ? high[d] : largest;
            }
        } else if (selection.type() == SelectionType::hyperslabs) {
            // Stored hyperslabs have at least one block: a selection without elements is stored as `none`.
            write_head(writer, SelectionType::none, form, 0);
            return Status::ok;
        }
        if (largest > kLargest32) {
            form.regular = selection.type() == SelectionType::hyperslabs && selection.is_regular();
            form.width = 8;
            form.version = form.regular || selection.type() == SelectionType::points ? 2 : 3;
        }
    }
    const std::uint64_t corners = selection.type() == SelectionType::points ? rank : 2 * rank;
    write_head(writer, selection.type(), form, form.regular ? 4 + 32 * rank : 8 + form.number * corners * form.width);
    writer.u32(static_cast<std::uint32_t>(rank));
    if (form.regular) {
        write_regular(writer, selection);
        return Status::ok;
    }
    writer.uint(form.width, form.number);
    std::uint64_t low[H5MOTE_MAX_RANK];
    std::uint64_t high[H5MOTE_MAX_RANK];
    while (writer.ok() && blocks.next(low, high)) {
        write_numbers(writer, form.width, low, rank);
        write_numbers(writer, form.width, high, selection.type() == SelectionType::points ? 0 : rank);
    }
    return Status::ok;
}

}  // namespace h5mote
