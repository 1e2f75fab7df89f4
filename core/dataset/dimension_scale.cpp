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

// Whether reading the attribute CLASS says by this that an object is no scale: there is none, or another one of
// whatever type.
bool is_other_class(Status status) noexcept {
    return status == Status::not_found || status == Status::invalid_argument || status == Status::type_mismatch;
}

// Makes a dataset a scale, and again what it was.
class ScaleClass {
public:
    ScaleClass(Context& context, Dataset& scale) noexcept : context_(context), scale_(scale) {}

    /// Nothing happens if it is a scale already.
    Status write() noexcept {
        had_ = scale_.read_attribute("CLASS", Span<char>(text_, sizeof text_), length_);
        if (had_ == Status::ok ? std::string_view(text_, length_) == kClass : !is_other_class(had_)) {
            return had_;
        }
        H5MOTE_TRY(write_text(context_, scale_, "CLASS", kClass));
        written_ = true;
        return Status::ok;
    }
    /// Takes that back, as far as that does not fail. A class of more than 64 characters is not brought back.
    void undo() noexcept {
        if (written_ && had_ == Status::not_found) {
            (void)scale_.remove_attribute("CLASS");
        } else if (written_ && had_ == Status::ok) {
            (void)write_text(context_, scale_, "CLASS", {text_, length_});
        }
    }

private:
    Context& context_;
    Dataset& scale_;
    Status had_ = Status::not_found;  // what reading the class returned
    bool written_ = false;
    std::size_t length_ = 0;
    char text_[64];
};

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
        context_.release(MemoryKind::value, new_, new_bytes_);
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
    /// The list of the dimension that write_scales() writes: with one reference more.
    Status add_scale(Dataset& data, unsigned dimension, const Object& target) noexcept {
        const std::size_t count = scale_count(dimension);
        H5MOTE_TRY(make_new(dimension, count + 1));
        return data.create_reference(kFirst, target, {new_ + count * scale_width_, scale_width_});
    }
    /// Or with the i-th reference left out.
    Status remove_scale(unsigned dimension, std::size_t i) noexcept {
        H5MOTE_TRY(make_new(dimension, scale_count(dimension)));
        --new_count_;
        std::memmove(new_ + i * scale_width_, new_ + (i + 1) * scale_width_, (new_count_ - i) * scale_width_);
        return Status::ok;
    }
    /// Writes DIMENSION_LIST, which goes with the last reference.
    Status write_scales(Dataset& data, unsigned dimension) noexcept {
        std::size_t references = new_count_;
        for (std::size_t d = 0; d < rank_; ++d) {
            references += d == dimension ? 0 : scale_count(static_cast<unsigned>(d));
        }
        if (references == 0) {
            return data.remove_attribute("DIMENSION_LIST");
        }
        const VariableLength before = lists_[dimension];
        lists_[dimension] = {new_count_, new_};
        const std::uint64_t rank = rank_;
        const Status status =
            data.write_attribute("DIMENSION_LIST", scales_, Dataspace::simple({rank}),
                                 {reinterpret_cast<const std::byte*>(lists_), rank_ * sizeof *lists_});
        lists_[dimension] = before;
        return status;
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
    /// Puts an entry behind the others.
    Status add_entry(Object& data, unsigned dimension) noexcept {
        if (entries_ == nullptr) {
            H5MOTE_TRY(reserve_entries(0));
        }
        std::byte* const entry = entries_ + count_ * entry_size(entry_kind());
        std::memset(entry, 0, entry_size(entry_kind()));
        H5MOTE_TRY(data.create_reference(kFirst, data, {entry, entry_width_}));
        store_le<std::uint32_t>(entry + dimension_offset(entry_kind()), dimension);
        ++count_;
        return Status::ok;
    }
    void remove_entry(std::size_t i) noexcept {
        --count_;
        const std::size_t size = entry_size(entry_kind());
        std::memmove(entries_ + i * size, entries_ + (i + 1) * size, (count_ - i) * size);
    }
    /// Writes REFERENCE_LIST, which goes with the last entry. A list that another writer gave other member types gets
    /// these.
    Status write_entries(Object& scale) noexcept {
        if (count_ == 0) {
            return scale.remove_attribute("REFERENCE_LIST");
        }
        const std::uint64_t count = count_;
        const ConstBytes bytes{entries_, count_ * entry_size(entry_kind())};
        const Status status = scale.write_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}), bytes);
        return status == Status::type_mismatch
                   ? scale.replace_attribute("REFERENCE_LIST", entry_, Dataspace::simple({count}), bytes)
                   : status;
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
    // Memory for `count` references, not fewer than the dimension has; it begins with these.
    Status make_new(unsigned dimension, std::size_t count) noexcept {
        new_bytes_ = count * scale_width_;
        new_ = static_cast<std::byte*>(context_.allocate(MemoryKind::value, new_bytes_));
        if (new_ == nullptr) {
            new_bytes_ = 0;
            return Status::out_of_memory;
        }
        if (scale_count(dimension) != 0) {
            std::memcpy(new_, lists_[dimension].data, scale_count(dimension) * scale_width_);
        }
        new_count_ = count;
        return Status::ok;
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
    std::byte* new_ = nullptr;  // the new list of one dimension
    std::size_t new_bytes_ = 0;
    std::size_t new_count_ = 0;
};

Status DimensionScales::is_scale(const Object& object, bool& result) noexcept {
    char text[kClass.size() + 1];
    std::size_t length = 0;
    const Status status = object.read_attribute("CLASS", Span<char>(text, sizeof text), length);
    result = status == Status::ok && std::string_view(text, length) == kClass;
    return is_other_class(status) ? Status::ok : status;
}

Status DimensionScales::set(Dataset& scale, std::string_view name) noexcept {
    if (!scale.valid()) {
        return Status::invalid_handle;
    }
    bool attached = false;
    H5MOTE_TRY(scale.has_attribute("DIMENSION_LIST", attached));
    if (attached || name.find('\0') != std::string_view::npos) {
        return Status::invalid_argument;
    }
    ScaleClass scale_class(*scale.library(), scale);
    H5MOTE_TRY(scale_class.write());
    const Status status = name.empty() ? Status::ok : write_text(*scale.library(), scale, "NAME", name);
    if (status != Status::ok) {
        scale_class.undo();
    }
    return status;
}

Status DimensionScales::name(const Object& scale, Span<char> to, std::size_t& length) noexcept {
    length = 0;
    const Status status = scale.read_attribute("NAME", to, length);
    return status == Status::not_found ? Status::ok : status;
}

// What needs memory only comes first, so that little is to be undone if the storage fails.
Status DimensionScales::attach(Dataset& data, unsigned dimension, Dataset& scale) noexcept {
    bool is = false;
    bool has_scales = false;
    H5MOTE_TRY(is_scale(data, is));
    if (is || !data.valid() || !data.same_file(scale) || data.address() == scale.address()) {
        return Status::invalid_argument;
    }
    H5MOTE_TRY(scale.has_attribute("DIMENSION_LIST", has_scales));
    if (has_scales) {
        return Status::invalid_argument;
    }
    Lists lists(data);
    H5MOTE_TRY(lists.read_scales(data, dimension));
    H5MOTE_TRY(lists.read_entries(scale));
    std::size_t i = 0;
    const bool listed = lists.find_entry(data, dimension, i) == Status::ok;
    const bool attached = lists.find_scale(dimension, scale.address(), i) == Status::ok;
    H5MOTE_TRY(listed && attached ? Status::ok : lists.check_change());
    H5MOTE_TRY(attached ? Status::ok : lists.add_scale(data, dimension, scale));
    H5MOTE_TRY(listed ? Status::ok : lists.add_entry(data, dimension));
    ScaleClass scale_class(*scale.library(), scale);
    H5MOTE_TRY(scale_class.write());
    Status status = listed ? Status::ok : lists.write_entries(scale);
    Status undone = Status::ok;
    if (status == Status::ok && !attached) {
        status = lists.write_scales(data, dimension);
        if (status != Status::ok && !listed && lists.find_entry(data, dimension, i) == Status::ok) {
            lists.remove_entry(i);
            undone = lists.write_entries(scale);
        }
    }
    if (status != Status::ok && undone == Status::ok) {
        scale_class.undo();
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
    H5MOTE_TRY(attached ? lists.remove_scale(dimension, place) : Status::ok);
    if (listed) {
        lists.remove_entry(entry);
        H5MOTE_TRY(lists.write_entries(scale));
    }
    const Status status = attached ? lists.write_scales(data, dimension) : Status::ok;
    if (status != Status::ok && listed && lists.add_entry(data, dimension) == Status::ok) {
        (void)lists.write_entries(scale);
    }
    return status;
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
