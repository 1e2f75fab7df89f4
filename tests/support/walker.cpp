#include "walker.hpp"

#if H5MOTE_ALL_FORMATS

#include "checksum.hpp"
#include "cursor.hpp"

#include <h5mote/encoded_type.hpp>

// Steps are not inlined into each other, so that the locals of one do not add to the stack frame of another.
#define STEP __attribute__((noinline))

namespace h5mote_test {
namespace {

using namespace h5mote;

constexpr auto kInteger = make_integer(8, true);
constexpr auto kDouble = make_float(8);

// Properties of the dataset being walked. They are not on the stack, which on a board may be smaller than they are.
struct DatasetAtHand {
    DatasetInfo info;
    Dataspace extent;
    ChunkInfo chunk;
    std::uint64_t start[H5MOTE_MAX_RANK];
    std::uint64_t count[H5MOTE_MAX_RANK];
} at_hand;

class Walker final : public Visitor {
public:
    Walker(Context& context, Bytes buffer, const WalkLimits& limits, WalkResult& result) noexcept
        : context_(context), buffer_(buffer), limits_(limits), result_(result) {}

    Status link(std::string_view path, const Link& link) noexcept override;
    Status object(std::string_view path, Object& object) noexcept override;
    Status unreadable(std::string_view path, Status why) noexcept override {
        digest(path);
        (void)good(why);
        return step() ? Status::ok : Status::busy;
    }
    STEP void file(File& file) noexcept;

private:
    void digest(ConstBytes bytes) noexcept { result_.digest = lookup3(bytes, result_.digest); }
    void digest(std::string_view text) noexcept {
        number(text.size());
        digest(ConstBytes{reinterpret_cast<const std::byte*>(text.data()), text.size()});
    }
    void number(std::uint64_t value) noexcept {
        std::byte bytes[8];
        store_le(bytes, value);
        digest(ConstBytes{bytes, sizeof bytes});
    }
    /// True if the status is ok. Otherwise counts an error, and its code goes into the digest. Callers for which
    /// not_found is no error test for it first.
    bool good(Status status) noexcept {
        if (status != Status::ok) {
            number(static_cast<std::uint64_t>(status));
            ++result_.errors;
            result_.first_error = result_.first_error == Status::ok ? status : result_.first_error;
        }
        return status == Status::ok;
    }
    bool step() noexcept { return ++result_.steps < limits_.steps; }

    STEP bool facts(const Object& object, ObjectType& type) noexcept;
    STEP void comment(const Object& object) noexcept;
    STEP void open_dataset(const Object& object) noexcept;
    STEP void open_datatype(const Object& object) noexcept;
    STEP void open_group(const Object& object) noexcept;
    STEP void attributes(const Object& object) noexcept;
    STEP void attribute(const Attribute& attribute) noexcept;
    STEP void dataset(Dataset& dataset) noexcept;
    STEP void properties(const Dataset& dataset) noexcept;
    STEP void filter(const Dataset& dataset, unsigned i) noexcept;
    STEP void external_file(const Dataset& dataset, std::uint32_t i) noexcept;
    STEP void virtual_mapping(const Dataset& dataset, std::uint32_t i) noexcept;
    STEP void chunks(const Dataset& dataset) noexcept;
    STEP void values(Dataset& dataset, DatatypeView type) noexcept;
    STEP bool rows(Dataset& dataset, DatatypeView type, std::uint64_t count) noexcept;
    Selection selection() const noexcept {
        const std::size_t rank = at_hand.extent.rank();
        return rank == 0 ? Selection::all() : Selection::hyperslab({at_hand.start, rank}, {at_hand.count, rank});
    }
    STEP void numbers(Dataset& dataset, DatatypeView type, std::uint64_t count) noexcept;
    void space(const Dataspace& space) noexcept;
    void value(const Object& owner, DatatypeView type, ConstBytes stored, unsigned depth) noexcept;
    STEP void sequence(const Object& owner, DatatypeView type, ConstBytes stored, unsigned depth) noexcept;
    STEP void reference(const Object& owner, DatatypeView type, ConstBytes stored) noexcept;

    Context& context_;
    Bytes buffer_;
    const WalkLimits& limits_;
    WalkResult& result_;
};

void Walker::space(const Dataspace& space) noexcept {
    number(static_cast<std::uint64_t>(space.space_class()));
    for (std::size_t i = 0; i < space.rank(); ++i) {
        number(space.dims()[i]);
        number(space.max_dims()[i]);
    }
}

Status Walker::link(std::string_view path, const Link& link) noexcept {
    ++result_.links;
    digest(path);
    digest(link.name());
    number(static_cast<std::uint64_t>(link.type()));
    number(link.has_order() ? static_cast<std::uint64_t>(link.order()) : 0);
    if (link.type() == LinkType::hard) {
        number(link.address());
    }
    digest(link.data());
    return step() ? Status::ok : Status::busy;
}

Status Walker::object(std::string_view path, Object& object) noexcept {
    ++result_.objects;
    digest(path);
    ObjectType type = ObjectType::group;
    if (facts(object, type)) {
        comment(object);
        attributes(object);
        if (type == ObjectType::dataset) {
            open_dataset(object);
        } else if (type == ObjectType::datatype) {
            open_datatype(object);
        } else {
            open_group(object);
        }
    }
    return step() ? Status::ok : Status::busy;
}

bool Walker::facts(const Object& object, ObjectType& type) noexcept {
    ObjectInfo info;
    if (!good(object.info(info))) {
        return false;
    }
    type = info.type;
    number(static_cast<std::uint64_t>(info.type));
    number(info.address);
    number(info.reference_count);
    number(info.modification_time);
    number(info.attributes);
    return true;
}

void Walker::comment(const Object& object) noexcept {
    std::size_t length = 0;
    char comment[64];
    const Status status = object.comment({comment, sizeof comment}, length);
    if (status == Status::ok) {
        digest(std::string_view(comment, length));
    } else if (status != Status::invalid_argument) {  // it says that the comment is longer than the buffer: no error
        (void)good(status);
    }
}

void Walker::open_dataset(const Object& object) noexcept {
    Result<Dataset> opened = Dataset::from(object.duplicate());
    if (good(opened.status())) {
        dataset(*opened);
    }
}

void Walker::open_datatype(const Object& object) noexcept {
    Result<NamedDatatype> opened = NamedDatatype::from(object.duplicate());
    if (good(opened.status())) {
        digest(opened->type().bytes());
    }
}

void Walker::open_group(const Object& object) noexcept {
    Result<Group> group = Group::from(object.duplicate());
    GroupInfo what;
    if (good(group.status()) && good(group->group_info(what))) {
        number(what.links);
    }
}

void Walker::attributes(const Object& object) noexcept {
    AttributeIterator all(object, IndexOrder::name);
    for (;;) {
        Attribute next;
        const Status status = all.next(next);
        if (status == Status::not_found || !good(status) || !step()) {
            return;
        }
        attribute(next);
    }
}

void Walker::attribute(const Attribute& attribute) noexcept {
    ++result_.attributes;
    digest(attribute.name());
    digest(attribute.type().bytes());
    space(attribute.dataspace());
    const std::size_t size = attribute.type().size();
    const Object owner = attribute.object();
    std::uint64_t left = attribute.element_count();
    left = left < limits_.elements ? left : limits_.elements;
    if (size == 0 || size > buffer_.size() / 2) {
        return;
    }
    for (std::uint64_t i = 0; i < left && step(); ++i) {
        const Bytes stored = buffer_.first(size);
        if (!good(attribute.read_stored(i * size, stored))) {
            return;
        }
        ++result_.elements;
        value(owner, attribute.type(), stored, 0);
    }
}

void Walker::properties(const Dataset& dataset) noexcept {
    number(static_cast<std::uint64_t>(at_hand.info.layout));
    number(static_cast<std::uint64_t>(at_hand.info.chunk_index));
    number(static_cast<std::uint64_t>(at_hand.info.fill));
    number(at_hand.info.filters);
    std::uint64_t bytes = 0;
    if (good(dataset.storage_size(bytes))) {
        number(bytes);
    }
    for (unsigned i = 0; i < at_hand.info.filters && step(); ++i) {
        filter(dataset, i);
    }
    for (std::uint32_t i = 0; i < at_hand.info.external_files && step(); ++i) {
        external_file(dataset, i);
    }
    for (std::uint32_t i = 0; i < at_hand.info.virtual_mappings && step(); ++i) {
        virtual_mapping(dataset, i);
    }
    if (at_hand.info.fill_size != 0 && at_hand.info.element_size <= buffer_.size()) {
        const Bytes fill = buffer_.first(at_hand.info.element_size);
        if (good(dataset.stored_fill_value(fill))) {
            digest(ConstBytes(fill));
        }
    }
    if (at_hand.info.layout == Layout::chunked) {
        chunks(dataset);
    }
}

void Walker::filter(const Dataset& dataset, unsigned i) noexcept {
    FilterInfo filter;
    std::uint32_t values[8] = {};
    if (good(dataset.filter(i, filter, {}, values))) {
        number(static_cast<std::uint64_t>(filter.id));
        number(values[0]);
    }
}

void Walker::external_file(const Dataset& dataset, std::uint32_t i) noexcept {
    ExternalFile external;
    char name[64];
    if (good(dataset.external_file(i, external, {name, sizeof name}))) {
        digest(std::string_view(name, external.name_length < sizeof name ? external.name_length : sizeof name));
        number(external.size);
    }
}

void Walker::virtual_mapping(const Dataset& dataset, std::uint32_t i) noexcept {
    VirtualMapping mapping;
    if (good(dataset.virtual_mapping(i, mapping))) {
        digest(mapping.file_name());
        digest(mapping.dataset_name());
    }
}

void Walker::chunks(const Dataset& dataset) noexcept {
    ChunkIterator iterator(dataset);
    for (std::uint32_t i = 0; i < limits_.elements && step(); ++i) {
        const Status status = iterator.next(at_hand.chunk);
        if (status == Status::not_found || !good(status)) {
            return;
        }
        number(at_hand.chunk.address);
        number(at_hand.chunk.size);
        for (unsigned d = 0; d < at_hand.info.rank && d < at_hand.chunk.offset.size(); ++d) {
            number(at_hand.chunk.offset[d]);
        }
    }
}

void Walker::dataset(Dataset& dataset) noexcept {
    if (good(dataset.info(at_hand.info))) {
        properties(dataset);
    }
    if (!good(dataset.info(at_hand.info)) || !good(dataset.dataspace(at_hand.extent))) {
        return;
    }
    space(at_hand.extent);
    const std::size_t length = at_hand.info.type_length;
    auto* type_bytes = static_cast<std::byte*>(context_.allocate(MemoryKind::other, length));
    DatatypeView type;
    if (type_bytes == nullptr) {
        good(Status::out_of_memory);
        return;
    }
    if (good(dataset.datatype({type_bytes, length}, type))) {
        digest(type.bytes());
        values(dataset, type);
    }
    context_.release(MemoryKind::other, type_bytes, length);
}

// Reads the elements in file order up to WalkLimits::elements: each pass reads along the fastest dimension, at most as
// many elements as fit into half of the buffer.
void Walker::values(Dataset& dataset, DatatypeView type) noexcept {
    const std::size_t size = type.size();
    std::uint64_t total = 0;
    if (size == 0 || size > buffer_.size() / 2 || at_hand.extent.element_count(total) != Status::ok || total == 0) {
        return;
    }
    const std::size_t rank = at_hand.extent.rank();
    // At most one half of the buffer is filled with elements at a time.
    const std::uint64_t room = buffer_.size() / 2 / size;
    for (std::size_t d = 0; d < rank; ++d) {
        at_hand.start[d] = 0;
        at_hand.count[d] = 1;
    }
    for (std::uint64_t done = 0; done < total && done < limits_.elements && step();) {
        std::uint64_t now = 1;
        if (rank != 0) {
            now = at_hand.extent.dims()[rank - 1] - at_hand.start[rank - 1];
            now = now < room ? now : room;
            at_hand.count[rank - 1] = now;
        }
        if (!rows(dataset, type, now)) {
            return;
        }
        numbers(dataset, type, now);
        done += now;
        for (std::size_t d = rank; d-- > 0;) {
            at_hand.start[d] += at_hand.count[d];
            if (at_hand.start[d] < at_hand.extent.dims()[d]) {
                break;
            }
            at_hand.start[d] = 0;
        }
    }
}

// Reads `count` elements unconverted, as they are stored in the file, and digests each.
bool Walker::rows(Dataset& dataset, DatatypeView type, std::uint64_t count) noexcept {
    const std::size_t size = type.size();
    const Bytes stored = buffer_.first(static_cast<std::size_t>(count) * size);
    if (!good(dataset.read_stored(selection(), stored))) {
        return false;
    }
    const Object owner = dataset.duplicate();
    for (std::size_t i = 0; i < count && step(); ++i) {
        ++result_.elements;
        value(owner, type, {stored.data() + i * size, size}, 0);
    }
    return true;
}

// Reads the same elements once more, if they are numbers, and converts them to 64-bit integers or to doubles.
void Walker::numbers(Dataset& dataset, DatatypeView type, std::uint64_t count) noexcept {
    const bool integers = type.type_class() == TypeClass::integer;
    if (!integers && type.type_class() != TypeClass::floating) {
        return;
    }
    if (count * 8 > buffer_.size()) {
        return;
    }
    const Bytes converted = buffer_.first(static_cast<std::size_t>(count) * 8);
    if (good(dataset.read(selection(), integers ? kInteger.view() : kDouble.view(), converted))) {
        digest(ConstBytes(converted));
    }
}

// Recursion through members and array elements is as deep as the datatype nests, which validate_datatype() bounds.
void Walker::value(const Object& owner, DatatypeView type, ConstBytes stored, unsigned depth) noexcept {
    switch (type.type_class()) {
        case TypeClass::compound: {
            CompoundMembers members(type);
            CompoundMember member;
            while (members.next(member) && step()) {
                for (std::uint32_t i = 0; i < member.count() && step(); ++i) {
                    value(owner, member.type,
                          stored.subspan(member.offset + std::size_t{i} * member.type.size(), member.type.size()),
                          depth + 1);
                }
            }
            return;
        }
        case TypeClass::array: {
            const std::size_t size = type.base().size();
            for (std::size_t at = 0; size != 0 && at + size <= stored.size() && step(); at += size) {
                value(owner, type.base(), stored.subspan(at, size), depth + 1);
            }
            return;
        }
        case TypeClass::variable_length:
            sequence(owner, type, stored, depth);
            return;
        case TypeClass::reference:
            reference(owner, type, stored);
            return;
        default:
            digest(stored);
    }
}

void Walker::sequence(const Object& owner, DatatypeView type, ConstBytes stored, unsigned depth) noexcept {
    if (stored.size() < 4) {
        return;
    }
    const std::uint32_t count = load_le<std::uint32_t>(stored.data());
    number(count);
    const ConstBytes id = stored.subspan(4);
    std::uint64_t bytes = 0;
    if (count == 0 || !good(owner.variable_size(id, bytes))) {
        return;
    }
    number(bytes);
    const std::size_t size = type.is_variable_string() ? 1 : type.base().size();
    std::byte element[64];
    bytes = bytes < limits_.elements ? bytes : limits_.elements;
    if (size > sizeof element || depth > 8) {
        return;
    }
    const std::size_t piece = type.is_variable_string() ? sizeof element : size;
    for (std::uint64_t at = 0; at < bytes && step();) {
        const std::size_t now = bytes - at < piece ? static_cast<std::size_t>(bytes - at) : piece;
        if (!good(owner.read_variable(id, at, {element, now}))) {
            return;
        }
        if (type.is_variable_string()) {
            digest(ConstBytes{element, now});
        } else if (now == size) {
            value(owner, type.base(), {element, size}, depth + 1);
        }
        at += now;
    }
}

void Walker::reference(const Object& owner, DatatypeView type, ConstBytes stored) noexcept {
    ReferenceTarget target;
    const ReferenceType kind = type.reference_type();
    const Status status = owner.reference_target(kind, stored, target);
    number(static_cast<std::uint64_t>(status));
    if (status == Status::not_found || !good(status) || target.null || target.other_file) {
        return;
    }
    number(target.address);
    const Result<Object> opened = owner.open_reference(kind, stored);
    if (opened.status() != Status::not_found) {
        (void)good(opened.status());
    }
}

void Walker::file(File& file) noexcept {
    Group root = file.root();
    const Status status = root.visit(*this, IndexOrder::name);
    if (status != Status::busy) {
        (void)good(status);
    }
}

}  // namespace

Status walk_file(Library& library, Driver& driver, const FileAccess& access, Bytes buffer, const WalkLimits& limits,
                 WalkResult& result) noexcept {
    result = WalkResult{};
    Result<File> file = File::open(library, driver, access);
    if (!file) {
        result.first_error = file.status();
        return file.status();
    }
    Walker walker(library, buffer, limits, result);
    walker.file(*file);
    const Status closed = file->close();
    result.first_error = result.first_error == Status::ok ? closed : result.first_error;
    return Status::ok;
}

}  // namespace h5mote_test

#endif
