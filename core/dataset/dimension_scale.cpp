#include <h5mote/dimension_scale.hpp>

#include <h5mote/variable_length.hpp>

#include "checked.hpp"
#include "file_state.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr std::string_view kClass = "DIMENSION_SCALE";
constexpr std::size_t kMostRank = H5MOTE_MAX_RANK;

// The references of a list are of the first generation, or revised: libhdf5 1.12 and later can be built to write these.
// Lists of revised references are only read.
constexpr ReferenceType kFirst = ReferenceType::object1;
constexpr ReferenceType kRevised = ReferenceType::object2;
// libhdf5 stores a revised reference in a sequence as it is in its memory, in more bytes than it needs.
constexpr std::uint32_t kMostReference = 64;

// An element of a REFERENCE_LIST in memory: the reference, and the dimension behind it. That of the first generation is
// as in libhdf5's memory, and this library writes it so, too.
constexpr std::uint32_t dimension_offset(ReferenceType kind) noexcept { return kind == kFirst ? 8 : kMostReference; }
constexpr std::uint32_t entry_size(ReferenceType kind) noexcept { return dimension_offset(kind) + 8; }
template <ReferenceType kKind>
constexpr auto make_entry() noexcept {
    return make_compound<entry_size(kKind)>(member("dataset", 0, make_reference(kKind)),
                                            member("dimension", dimension_offset(kKind), make_integer(4, false)));
}

// Whether this is a type of revised references to objects; `width` becomes its size.
bool is_revised(DatatypeView type, std::size_t& width) noexcept {
    width = type.size();
    return type.type_class() == TypeClass::reference && type.reference_type() == kRevised && width <= kMostReference;
}

Status rank_of(const Dataset& data, std::uint64_t& rank) noexcept {
    Dataspace space = Dataspace::scalar();
    H5MOTE_TRY(data.dataspace(space));
    rank = space.rank();
    return Status::ok;
}

// A text as libhdf5's H5LTset_attribute_string() writes it: with its NUL.
Status write_text(Context& context, Object& object, std::string_view name, std::string_view text) noexcept {
    const std::size_t size = text.size() + 1;
    auto* const bytes = static_cast<std::byte*>(context.allocate(MemoryKind::value, size));
    if (bytes == nullptr) {
        return Status::out_of_memory;
    }
    std::memcpy(bytes, text.data(), text.size());
    bytes[text.size()] = std::byte{0};
    const EncodedType<8> type = make_string(size, StringPadding::null_terminated);
    const Status status = object.write_attribute(name, type, Dataspace::scalar(), {bytes, size});
    context.release(MemoryKind::value, bytes, size);
    return status;
}

}  // namespace

/// The lists of one dataset and one scale: read, changed in memory, and written as a whole.
class DimensionScales::Lists {
public:
    explicit Lists(const Object& object) noexcept : context_(*object.library()), object_(object) {
        use_scales(kFirst, width_of_first());
        use_entries(kFirst, width_of_first());
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
        const Bytes to{reinterpret_cast<std::byte*>(lists_), count * sizeof *lists_};
        Status status = data.read_attribute("DIMENSION_LIST", scales_, to);
        if (H5MOTE_ALL_FORMATS != 0 && status == Status::type_mismatch && find_revised_scales(data)) {
            status = data.read_attribute("DIMENSION_LIST", scales_, to);
        }
        if (status == Status::ok || status == Status::not_found) {
            rank_ = count;
            return Status::ok;
        }
        return status;
    }
    /// The kind of the references in DIMENSION_LIST, and in REFERENCE_LIST.
    ReferenceType scale_kind() const noexcept { return H5MOTE_ALL_FORMATS != 0 ? scale_kind_ : kFirst; }
    ReferenceType entry_kind() const noexcept { return H5MOTE_ALL_FORMATS != 0 ? entry_kind_ : kFirst; }
    std::size_t scale_count(unsigned dimension) const noexcept { return lists_[dimension].count; }
    ConstBytes scale(unsigned dimension, std::size_t i) const noexcept {
        return {static_cast<const std::byte*>(lists_[dimension].data) + i * scale_width_, scale_width_};
    }
    /// Where the scale stands in the list of the dimension; not_found.
    Status find_scale(unsigned dimension, Address address, std::size_t& i) const noexcept {
        for (i = 0; i < scale_count(dimension); ++i) {
            if (leads_to(scale_kind(), scale(dimension, i), address)) {
                return Status::ok;
            }
        }
        return Status::not_found;
    }
    /// Writes DIMENSION_LIST with one reference more.
    Status add_scale(Dataset& data, unsigned dimension, const Object& target) noexcept {
        const std::size_t count = scale_count(dimension);
        H5MOTE_TRY(make_longer(dimension, count + 1));
        H5MOTE_TRY(data.create_reference(kFirst, target, {longer_ + count * scale_width_, scale_width_}));
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
        std::memmove(longer_ + i * scale_width_, longer_ + (i + 1) * scale_width_, (count - i) * scale_width_);
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
        H5MOTE_TRY(reserve_entries(count));
        Status read = scale.read_attribute("REFERENCE_LIST", entry_, {entries_, count_ * entry_size(entry_kind())});
        if (H5MOTE_ALL_FORMATS != 0 && read == Status::type_mismatch && find_revised_entries(scale)) {
            H5MOTE_TRY(reserve_entries(count));
            read = scale.read_attribute("REFERENCE_LIST", entry_, {entries_, count_ * entry_size(entry_kind())});
        }
        return read;
    }
    /// Call before something is changed. unsupported: a list holds revised references.
    Status check_change() noexcept {
        return scale_kind() == kFirst && entry_kind() == kFirst
                   ? Status::ok
                   : context_.unsupported(Module::dataset, H5MOTE_HERE, Feature::type_conversion);
    }
    Status find_entry(const Object& data, unsigned dimension, std::size_t& i) const noexcept {
        for (i = 0; i < count_; ++i) {
            const std::byte* const entry = entries_ + i * entry_size(entry_kind());
            if (load_le<std::uint32_t>(entry + dimension_offset(entry_kind())) == dimension &&
                leads_to(entry_kind(), {entry, entry_width_}, data.address())) {
                return Status::ok;
            }
        }
        return Status::not_found;
    }
    Status add_entry(Object& scale, const Object& data, unsigned dimension) noexcept {
        if (entries_ == nullptr) {
            H5MOTE_TRY(reserve_entries(0));
        }
        std::byte* const entry = entries_ + count_ * entry_size(entry_kind());
        std::memset(entry, 0, entry_size(entry_kind()));
        H5MOTE_TRY(scale.create_reference(kFirst, data, {entry, entry_width_}));
        store_le<std::uint32_t>(entry + dimension_offset(entry_kind()), dimension);
        ++count_;
        return write_entries(scale);
    }
    Status remove_entry(Object& scale, std::size_t i) noexcept {
        --count_;
        const std::size_t size = entry_size(entry_kind());
        std::memmove(entries_ + i * size, entries_ + (i + 1) * size, (count_ - i) * size);
        return count_ == 0 ? scale.remove_attribute("REFERENCE_LIST") : write_entries(scale);
    }

private:
    std::size_t width_of_first() const noexcept { return object_.reference_size(kFirst); }
    void use_scales(ReferenceType kind, std::size_t width) noexcept {
        scale_kind_ = kind;
        scale_width_ = width;
        EncodedType<8> reference = make_reference(kind);
        reference.bytes[4] = static_cast<std::byte>(width);
        scales_ = make_variable_length(reference);
    }
    void use_entries(ReferenceType kind, std::size_t width) noexcept {
        entry_kind_ = kind;
        entry_width_ = width;
        entry_ = make_entry<kFirst>();
        if constexpr (H5MOTE_ALL_FORMATS != 0) {
            entry_ = kind == kFirst ? entry_ : make_entry<kRevised>();
        }
        // The type of the first member begins behind the compound's head, its name and the offset of one byte.
        entry_.bytes[8 + sizeof "dataset" + 1 + 4] = static_cast<std::byte>(width);
    }
    // Whether DIMENSION_LIST is one of revised references; if it is, it can be read afterwards.
    bool find_revised_scales(const Object& data) noexcept {
        std::byte bytes[kMostType];
        DatatypeView type;
        std::size_t width = 0;
        const bool found = data.attribute_type("DIMENSION_LIST", bytes, type) == Status::ok &&
                           type.type_class() == TypeClass::variable_length && is_revised(type.base(), width);
        if (found) {
            use_scales(kRevised, width);
        }
        return found;
    }
    // The same for REFERENCE_LIST.
    bool find_revised_entries(const Object& scale) noexcept {
        std::byte bytes[kMostType];
        DatatypeView type;
        if (scale.attribute_type("REFERENCE_LIST", bytes, type) != Status::ok ||
            type.type_class() != TypeClass::compound) {
            return false;
        }
        CompoundMembers members(type);
        CompoundMember member;
        std::size_t width = 0;
        while (members.next(member)) {
            if (member.name == "dataset" && is_revised(member.type, width)) {
                use_entries(kRevised, width);
                return true;
            }
        }
        return false;
    }
    bool leads_to(ReferenceType kind, ConstBytes stored, Address address) const noexcept {
        if (H5MOTE_ALL_FORMATS == 0 || kind == kFirst) {
            return load_uint(stored.data(), static_cast<unsigned>(stored.size())) == address;
        }
        ReferenceTarget target;
        return object_.reference_target(kind, stored, target) == Status::ok && !target.null && !target.other_file &&
               target.address == address;
    }

    // Memory for `count` entries and one more.
    Status reserve_entries(std::uint64_t count) noexcept {
        context_.release(MemoryKind::value, entries_, entry_bytes_);
        entries_ = nullptr;
        count_ = 0;
        std::uint64_t bytes = 0;
        if (!checked_multiply<std::uint64_t>(count + 1, entry_size(entry_kind()), bytes) ||
            !to_size(bytes, entry_bytes_)) {
            entry_bytes_ = 0;
            return context_.fail(Module::dataset, H5MOTE_HERE, Status::out_of_memory, 0, bytes);
        }
        entries_ = static_cast<std::byte*>(context_.allocate(MemoryKind::value, entry_bytes_));
        count_ = entries_ == nullptr ? 0 : static_cast<std::size_t>(count);
        return entries_ == nullptr ? Status::out_of_memory : Status::ok;
    }
    // A list already there has the member types that its writer chose: it is removed, and written with these.
    Status write_entries(Object& scale) noexcept {
        const std::uint64_t count = count_;
        const Status status = scale.write_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}),
                                                    {entries_, count_ * entry_size(entry_kind())});
        if (status != Status::type_mismatch) {
            return status;
        }
        H5MOTE_TRY(scale.remove_attribute("REFERENCE_LIST"));
        return scale.write_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}),
                                     {entries_, count_ * entry_size(entry_kind())});
    }
    // Memory for `count` references, which begins with those that the dimension has.
    Status make_longer(unsigned dimension, std::size_t count) noexcept {
        longer_bytes_ = count * scale_width_;
        longer_ = static_cast<std::byte*>(context_.allocate(MemoryKind::value, longer_bytes_));
        if (longer_ == nullptr) {
            longer_bytes_ = 0;
            return Status::out_of_memory;
        }
        const std::size_t have = scale_count(dimension) < count ? scale_count(dimension) : count;
        if (have != 0) {
            std::memcpy(longer_, lists_[dimension].data, have * scale_width_);
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
    static constexpr std::size_t kMostType = 128;  // bytes of the type of a list, of which libhdf5's need 49

    const Object& object_;
    ReferenceType scale_kind_ = kFirst;
    ReferenceType entry_kind_ = kFirst;
    std::size_t scale_width_ = 0;  // bytes of a reference in lists_
    std::size_t entry_width_ = 0;  // and in entries_
    EncodedType<16, 1> scales_;
    decltype(make_entry<kFirst>()) entry_;
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
    if (!scale.valid()) {
        return Status::invalid_handle;
    }
    if (scale.has_attribute("DIMENSION_LIST") || name.find('\0') != std::string_view::npos) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(write_text(*scale.library(), scale, "CLASS", kClass));
    return name.empty() ? Status::ok : write_text(*scale.library(), scale, "NAME", name);
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
    std::size_t i = 0;
    const bool listed = lists.find_entry(data, dimension, i) == Status::ok;
    const bool attached = lists.find_scale(dimension, scale.address(), i) == Status::ok;
    H5MOTE_TRY(listed && attached ? Status::ok : lists.check_change());
    H5MOTE_TRY(is_scale(scale, is));
    if (!is) {
        H5MOTE_TRY(set(scale));
    }
    if (!listed) {
        H5MOTE_TRY(lists.add_entry(scale, data, dimension));
    }
    if (attached) {
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
    H5MOTE_TRY(lists.check_change());
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
    return data.open_reference(lists.scale_kind(), lists.scale(dimension, i));
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
