#include <h5mote/dimension_scale.hpp>

#include <h5mote/variable_length.hpp>

#include "checked.hpp"
#include "file_state.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::string_view kClass = "DIMENSION_SCALE";
constexpr std::size_t kMostRank = H5MOTE_MAX_RANK;
// The file's type of a REFERENCE_LIST has these members, as it is in libhdf5's memory.
constexpr std::uint32_t kEntryDimension = 8;
constexpr std::uint32_t kEntrySize = 16;

struct Entry {
    Address object;
    std::uint32_t dimension;
};

Status rank_of(const Dataset& data, std::uint64_t& rank) noexcept {
    Dataspace space = Dataspace::scalar();
    H5MOTE_TRY(data.dataspace(space));
    rank = space.rank();
    return Status::ok;
}

// A text as libhdf5's H5LTset_attribute_string() writes it: with its NUL.
Status write_text(Object& object, std::string_view name, std::string_view text) noexcept {
    char buffer[256];
    if (text.size() >= sizeof buffer) {
        return Status::invalid_argument;
    }
    std::memcpy(buffer, text.data(), text.size());
    buffer[text.size()] = '\0';
    const EncodedType<8> type = make_string(text.size() + 1, StringPadding::null_terminated);
    return object.write_attribute(name, type, Dataspace::scalar(), as_bytes(Span<const char>(buffer, text.size() + 1)));
}

}  // namespace

/// The lists of one dataset and one scale: read, changed in memory, and written as a whole.
class DimensionScales::Lists {
public:
    explicit Lists(const Object& object) noexcept
        : context_(*object.library()), width_(object.reference_size(ReferenceType::object1)) {
        reference_ = make_reference();
        reference_.bytes[4] = static_cast<std::byte>(width_);
        scales_ = make_variable_length(reference_);
        entry_ = make_compound<kEntrySize>(member("dataset", 0, make_reference()),
                                           member("dimension", kEntryDimension, make_integer(4, false)));
        // The type of the first member begins behind the compound's head, its name and the offset of one byte.
        entry_.bytes[8 + sizeof "dataset" + 1 + 4] = static_cast<std::byte>(width_);
    }
    Lists(const Lists&) = delete;
    Lists& operator=(const Lists&) = delete;
    ~Lists() {
        (void)reclaim(context_, scales_, rank_, sizeof(VariableLength), lists_);
        context_.release(MemoryKind::value, entries_, entry_bytes_);
        context_.release(MemoryKind::value, longer_, longer_bytes_);
    }

    /// Reads DIMENSION_LIST; without one all dimensions have no scale.
    Status read_scales(const Dataset& data, unsigned dimension) noexcept {
        std::uint64_t rank = 0;
        H5MOTE_TRY(rank_of(data, rank));
        if (dimension >= rank || rank > kMostRank) {
            return context_.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, dimension, rank);
        }
        const auto count = static_cast<std::size_t>(rank);
        const Status status = data.read_attribute("DIMENSION_LIST", scales_,
                                                  {reinterpret_cast<std::byte*>(lists_), count * sizeof *lists_});
        if (status == Status::ok || status == Status::not_found) {
            rank_ = count;
            return Status::ok;
        }
        return status;
    }
    std::size_t scale_count(unsigned dimension) const noexcept { return lists_[dimension].count; }
    ConstBytes scale(unsigned dimension, std::size_t i) const noexcept {
        return {static_cast<const std::byte*>(lists_[dimension].data) + i * width_, width_};
    }
    /// Where the scale stands in the list of the dimension; not_found.
    Status find_scale(unsigned dimension, Address address, std::size_t& i) const noexcept {
        for (i = 0; i < scale_count(dimension); ++i) {
            if (load_uint(scale(dimension, i).data(), static_cast<unsigned>(width_)) == address) {
                return Status::ok;
            }
        }
        return Status::not_found;
    }
    /// Writes DIMENSION_LIST with one reference more.
    Status add_scale(Dataset& data, unsigned dimension, const Object& target) noexcept {
        const std::size_t count = scale_count(dimension);
        H5MOTE_TRY(make_longer(dimension, count + 1));
        H5MOTE_TRY(data.create_reference(ReferenceType::object1, target, {longer_ + count * width_, width_}));
        return write_scales(data, dimension, count + 1);
    }
    /// Writes it with the i-th reference left out; it goes with the last one.
    Status remove_scale(Dataset& data, unsigned dimension, std::size_t i) noexcept {
        const std::size_t count = scale_count(dimension) - 1;
        std::size_t others = count;
        for (std::size_t d = 0; d < rank_; ++d) {
            others += d == dimension ? 0 : scale_count(static_cast<unsigned>(d));
        }
        if (others == 0) {
            return data.remove_attribute("DIMENSION_LIST");
        }
        H5MOTE_TRY(make_longer(dimension, count + 1));
        std::memmove(longer_ + i * width_, longer_ + (i + 1) * width_, (count - i) * width_);
        return write_scales(data, dimension, count);
    }

    /// Reads REFERENCE_LIST; without one it is empty.
    Status read_entries(const Object& scale) noexcept {
        AttributeInfo info;
        const Status status = scale.attribute_info("REFERENCE_LIST", info);
        if (status != Status::ok) {
            return status == Status::not_found ? Status::ok : status;
        }
        std::uint64_t count = 0;
        H5MOTE_TRY(info.space.element_count(count));
        // Room for one more.
        std::uint64_t bytes = 0;
        if (!checked_multiply<std::uint64_t>(count + 1, kEntrySize, bytes) || !to_size(bytes, entry_bytes_)) {
            entry_bytes_ = 0;
            return context_.fail(Module::dataset, H5MOTE_HERE, Status::out_of_memory, 0, bytes);
        }
        H5MOTE_TRY(reserve_entries(static_cast<std::size_t>(count)));
        return scale.read_attribute("REFERENCE_LIST", entry_, {entries_, count_ * kEntrySize});
    }
    Status find_entry(const Object& data, unsigned dimension, std::size_t& i) const noexcept {
        for (i = 0; i < count_; ++i) {
            const std::byte* const entry = entries_ + i * kEntrySize;
            if (load_uint(entry, static_cast<unsigned>(width_)) == data.address() &&
                load_ordered(entry + kEntryDimension) == dimension) {
                return Status::ok;
            }
        }
        return Status::not_found;
    }
    Status add_entry(Object& scale, const Object& data, unsigned dimension) noexcept {
        if (entries_ == nullptr) {
            H5MOTE_TRY(reserve_entries(0));
        }
        std::byte* const entry = entries_ + count_ * kEntrySize;
        std::memset(entry, 0, kEntrySize);
        H5MOTE_TRY(scale.create_reference(ReferenceType::object1, data, {entry, width_}));
        store_le<std::uint32_t>(entry + kEntryDimension, dimension);
        ++count_;
        return write_entries(scale);
    }
    Status remove_entry(Object& scale, std::size_t i) noexcept {
        --count_;
        std::memmove(entries_ + i * kEntrySize, entries_ + (i + 1) * kEntrySize, (count_ - i) * kEntrySize);
        return count_ == 0 ? scale.remove_attribute("REFERENCE_LIST") : write_entries(scale);
    }

private:
    static std::uint32_t load_ordered(const std::byte* at) noexcept { return load_le<std::uint32_t>(at); }

    Status reserve_entries(std::size_t count) noexcept {
        entry_bytes_ = (count + 1) * kEntrySize;
        entries_ = static_cast<std::byte*>(context_.allocate(MemoryKind::value, entry_bytes_));
        count_ = entries_ == nullptr ? 0 : count;
        return entries_ == nullptr ? Status::out_of_memory : Status::ok;
    }
    // A list already there has the member types that its writer chose: it is removed, and written with these.
    Status write_entries(Object& scale) noexcept {
        const std::uint64_t count = count_;
        const Status status = scale.write_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}),
                                                    {entries_, count_ * kEntrySize});
        if (status != Status::type_mismatch) {
            return status;
        }
        H5MOTE_TRY(scale.remove_attribute("REFERENCE_LIST"));
        return scale.write_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}),
                                     {entries_, count_ * kEntrySize});
    }
    // Memory for `count` references, which begins with those that the dimension has.
    Status make_longer(unsigned dimension, std::size_t count) noexcept {
        longer_bytes_ = count * width_;
        longer_ = static_cast<std::byte*>(context_.allocate(MemoryKind::value, longer_bytes_));
        if (longer_ == nullptr) {
            longer_bytes_ = 0;
            return Status::out_of_memory;
        }
        const std::size_t have = scale_count(dimension) < count ? scale_count(dimension) : count;
        if (have != 0) {
            std::memcpy(longer_, lists_[dimension].data, have * width_);
        }
        return Status::ok;
    }
    Status write_scales(Dataset& data, unsigned dimension, std::size_t count) noexcept {
        const VariableLength before = lists_[dimension];
        lists_[dimension] = {count, longer_};
        const std::uint64_t rank = rank_;
        const Status status =
            data.write_attribute("DIMENSION_LIST", scales_, Dataspace::simple({rank}),
                                 {reinterpret_cast<const std::byte*>(lists_), rank_ * sizeof *lists_});
        lists_[dimension] = before;
        return status;
    }

    Context& context_;
    std::size_t width_;  // bytes of a reference
    EncodedType<8> reference_;
    EncodedType<16, 1> scales_;
    decltype(make_compound<kEntrySize>(member("dataset", 0, make_reference()),
                                       member("dimension", 0, make_integer(4, false)))) entry_;
    VariableLength lists_[kMostRank];
    std::size_t rank_ = 0;
    std::byte* entries_ = nullptr;
    std::size_t count_ = 0;
    std::size_t entry_bytes_ = 0;
    std::byte* longer_ = nullptr;
    std::size_t longer_bytes_ = 0;
};

Status DimensionScales::is_scale(const Object& object, bool& result) noexcept {
    char text[kClass.size() + 1];
    std::size_t length = 0;
    const Status status = object.read_attribute("CLASS", Span<char>(text, sizeof text), length);
    result = status == Status::ok && std::string_view(text, length) == kClass;
    // Another class, whatever its type.
    return status == Status::not_found || status == Status::invalid_argument || status == Status::type_mismatch
               ? Status::ok
               : status;
}

Status DimensionScales::set(Dataset& scale, std::string_view name) noexcept {
    if (scale.has_attribute("DIMENSION_LIST") || name.size() > 254 || name.find('\0') != std::string_view::npos) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(write_text(scale, "CLASS", kClass));
    return name.empty() ? Status::ok : write_text(scale, "NAME", name);
}

Status DimensionScales::name(const Object& scale, Span<char> to, std::size_t& length) noexcept {
    length = 0;
    const Status status = scale.read_attribute("NAME", to, length);
    return status == Status::not_found ? Status::ok : status;
}

Status DimensionScales::attach(Dataset& data, unsigned dimension, Dataset& scale) noexcept {
    bool is = false;
    H5MOTE_TRY(is_scale(data, is));
    if (is || !data.valid() || !data.same_file(scale) || data.address() == scale.address() ||
        scale.has_attribute("DIMENSION_LIST")) {
        return Status::invalid_argument;
    }
    Lists lists(data);
    H5MOTE_TRY(lists.read_scales(data, dimension));
    H5MOTE_TRY(lists.read_entries(scale));
    H5MOTE_TRY(is_scale(scale, is));
    if (!is) {
        H5MOTE_TRY(set(scale));
    }
    std::size_t i = 0;
    const bool listed = lists.find_entry(data, dimension, i) == Status::ok;
    if (!listed) {
        H5MOTE_TRY(lists.add_entry(scale, data, dimension));
    }
    if (lists.find_scale(dimension, scale.address(), i) == Status::ok) {
        return Status::ok;
    }
    const Status status = lists.add_scale(data, dimension, scale);
    if (status != Status::ok && !listed && lists.find_entry(data, dimension, i) == Status::ok) {
        (void)lists.remove_entry(scale, i);
    }
    return status;
}

Status DimensionScales::detach(Dataset& data, unsigned dimension, Dataset& scale) noexcept {
    if (!data.valid() || !data.same_file(scale)) {
        return Status::invalid_argument;
    }
    Lists lists(data);
    H5MOTE_TRY(lists.read_scales(data, dimension));
    H5MOTE_TRY(lists.read_entries(scale));
    std::size_t entry = 0;
    std::size_t place = 0;
    const bool listed = lists.find_entry(data, dimension, entry) == Status::ok;
    const bool attached = lists.find_scale(dimension, scale.address(), place) == Status::ok;
    if (!listed && !attached) {
        return Status::not_found;
    }
    if (attached) {
        H5MOTE_TRY(lists.remove_scale(data, dimension, place));
    }
    return listed ? lists.remove_entry(scale, entry) : Status::ok;
}

Status DimensionScales::is_attached(const Dataset& data, unsigned dimension, const Dataset& scale,
                                    bool& result) noexcept {
    result = false;
    if (!data.valid() || !data.same_file(scale)) {
        return Status::invalid_argument;
    }
    Lists lists(data);
    std::size_t i = 0;
    H5MOTE_TRY(lists.read_scales(data, dimension));
    H5MOTE_TRY(lists.read_entries(scale));
    result = lists.find_entry(data, dimension, i) == Status::ok &&
             lists.find_scale(dimension, scale.address(), i) == Status::ok;
    return Status::ok;
}

Status DimensionScales::count(const Dataset& data, unsigned dimension, std::uint32_t& count) noexcept {
    count = 0;
    if (!data.valid()) {
        return Status::invalid_handle;
    }
    Lists lists(data);
    H5MOTE_TRY(lists.read_scales(data, dimension));
    count = static_cast<std::uint32_t>(lists.scale_count(dimension));
    return Status::ok;
}

Result<Object> DimensionScales::scale(const Dataset& data, unsigned dimension, std::uint32_t i) noexcept {
    if (!data.valid()) {
        return Status::invalid_handle;
    }
    Lists lists(data);
    H5MOTE_TRY(lists.read_scales(data, dimension));
    if (i >= lists.scale_count(dimension)) {
        return Status::not_found;
    }
    return data.open_reference(ReferenceType::object1, lists.scale(dimension, i));
}

namespace {

// The labels of all dimensions while they are in memory.
struct Labels {
    explicit Labels(Context& library) noexcept : context(library) {}
    Labels(const Labels&) = delete;
    Labels& operator=(const Labels&) = delete;
    ~Labels() { (void)reclaim(context, kType, rank, sizeof(char*), texts); }

    static constexpr EncodedType<20, 1> kType = make_variable_string();

    Status read(const Dataset& data, unsigned dimension) noexcept {
        std::uint64_t dimensions = 0;
        H5MOTE_TRY(rank_of(data, dimensions));
        if (dimension >= dimensions || dimensions > kMostRank) {
            return context.fail(Module::dataset, H5MOTE_HERE, Status::invalid_argument, dimension, dimensions);
        }
        count = static_cast<std::size_t>(dimensions);
        const Status status = data.read_attribute("DIMENSION_LABELS", kType, bytes());
        rank = status == Status::ok ? count : 0;
        return status == Status::not_found ? Status::ok : status;
    }
    Bytes bytes() noexcept { return {reinterpret_cast<std::byte*>(texts), count * sizeof(char*)}; }

    Context& context;
    const char* texts[kMostRank] = {};
    std::size_t count = 0;  // dimensions
    std::size_t rank = 0;   // labels that belong to the library
};

}  // namespace

Status DimensionScales::set_label(Dataset& data, unsigned dimension, const char* text) noexcept {
    if (!data.valid()) {
        return Status::invalid_handle;
    }
    Labels labels(*data.library());
    H5MOTE_TRY(labels.read(data, dimension));
    const std::uint64_t count = labels.count;
    const char* const before = labels.texts[dimension];
    labels.texts[dimension] = text;
    const Status status =
        data.write_attribute("DIMENSION_LABELS", Labels::kType, Dataspace::simple({count}), labels.bytes());
    labels.texts[dimension] = before;
    return status;
}

Status DimensionScales::label(const Dataset& data, unsigned dimension, Span<char> to, std::size_t& length) noexcept {
    length = 0;
    if (!data.valid()) {
        return Status::invalid_handle;
    }
    Labels labels(*data.library());
    H5MOTE_TRY(labels.read(data, dimension));
    const char* const text = labels.texts[dimension];
    length = text == nullptr ? 0 : std::strlen(text);
    if (length > to.size()) {
        return Status::invalid_argument;
    }
    if (length != 0) {
        std::memcpy(to.data(), text, length);
    }
    return Status::ok;
}

}  // namespace h5mote
