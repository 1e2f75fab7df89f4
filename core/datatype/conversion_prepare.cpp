#include <h5mote/variable_length.hpp>

#include "conversion.hpp"
#include "conversion_plan.hpp"
#include "cursor.hpp"
#include "machine_number.hpp"
#include "prepare.hpp"
#include "supported.hpp"

#include <cstring>

namespace h5mote {
namespace {

// Whether libhdf5 only changes the order of bytes: between numbers of one class and size, one little- and one
// big-endian. Of integers it compares neither sign nor precision. Bit fields it copies bit by bit, which does the same
// to those that use all bits.
bool differ_in_order(DatatypeView a, DatatypeView b) {
    const TypeClass type = a.type_class();
    const bool whole = a.precision() == 8 * a.size() && b.precision() == a.precision();
    if (type != b.type_class() || (type == TypeClass::bitfield && !whole) || a.size() != b.size() ||
        a.bit_offset() != 0 || b.bit_offset() != 0 || a.order() == b.order() || a.order() > ByteOrder::big ||
        b.order() > ByteOrder::big) {
        return false;
    }
    // Bits 3 to 5: padding between the fields, normalization of the mantissa.
    return type != TypeClass::floating ||
           (((a.bytes()[1] ^ b.bytes()[1]) & std::byte{0x38}) == std::byte{0} && a.bytes()[2] == b.bytes()[2] &&
            std::memcmp(a.bytes().data() + 12, b.bytes().data() + 12, 8) == 0);
}

bool is_whole_integer(DatatypeView type) {
    return type.type_class() == TypeClass::integer && type.size() <= 8 && type.bit_offset() == 0 &&
           type.precision() == 8 * type.size();
}

// Numbers that are C types on nearly all machines that libhdf5 runs on: it has the compiler convert these.
bool is_machine_number(DatatypeView type) {
    return type.order() == ByteOrder::little &&
           ((is_whole_integer(type) && (type.size() & (type.size() - 1)) == 0) || is_machine_float(type, false));
}

const UserConversion* find_conversion(Context& context, UserConversion::Kind kind, DatatypeView from, DatatypeView to) {
    const Span<const UserConversion* const> all = context.conversions();
    for (std::size_t i = all.size(); i-- > 0;) {
        if (all[i]->matches(kind, from, to)) {
            return all[i];
        }
    }
    return nullptr;
}

// Where items of a type lie: `count` of them, side by side from an offset in the source and in the target.
struct Place {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t count;
};

/// Walks the two types and writes the steps. A first walk, without memory for the plan, finds out how much is needed.
class PlanBuilder {
public:
    PlanBuilder(Context& context, const FileValues& file) : context_(context), file_(file) {}

    /// Starts over, to write into `plan`, whose number of steps is known.
    void write_to(ConversionPlan& plan) {
        steps_ = plan.first();
        tables_ = reinterpret_cast<std::byte*>(steps_ + plan.steps);
        count_ = 0;
        table_bytes_ = 0;
    }
    Status convert(DatatypeView from, DatatypeView to, Place place);
    void flush();

    std::uint32_t steps() const { return count_; }
    std::uint64_t table_bytes() const { return table_bytes_; }
    /// Conversion::is_partial().
    bool partial() const { return partial_; }
    bool lacks_members() const { return lacks_members_; }
    /// Whether the whole conversion is a copy of the first `size` bytes.
    bool copies_all(std::uint32_t size) const {
        return has_pending_ && count_ == 0 && pending_.kind == ConversionKind::copy && pending_.from_offset == 0 &&
               pending_.to_offset == 0 && pending_.count == size;
    }

private:
    Status fail(DatatypeView from, DatatypeView to, SourcePlace here, Status status = Status::type_mismatch) {
        const auto classes =
            static_cast<std::uint32_t>(from.type_class()) << 8 | static_cast<std::uint32_t>(to.type_class());
        return context_.fail(Module::datatype, here, status, classes);
    }
    Status unsupported(DatatypeView from, SourcePlace here, Feature feature = Feature::type_conversion) {
        return context_.unsupported(Module::datatype, here, feature, static_cast<std::uint32_t>(from.type_class()));
    }
    void emit(ConversionKind kind, DatatypeView from, DatatypeView to, Place place, std::uint32_t extra = 0);
    [[gnu::noinline]] void emit_copy(Place place, std::uint32_t size);
    // Appends to the tables; the first walk only counts their bytes.
    void add_table(const void* bytes, std::size_t size);
    // Call after emitting a step that the following ones belong to. Returns the number that end_group() counts them
    // from.
    std::uint32_t begin_group() {
        flush();
        return count_;
    }
    void end_group(std::uint32_t begin) {
        flush();
        if (steps_ != nullptr) {
            steps_[begin - 1].extra = count_ - begin;
        }
    }
    // Not inlined: functions that do not recurse must not enlarge the stack frames of those that do.
    [[gnu::noinline]] bool by_user(UserConversion::Kind kind, DatatypeView from, DatatypeView to, Place place);
    [[gnu::noinline]] bool simple_numbers(DatatypeView from, DatatypeView to, Place place);
    [[gnu::noinline]] Status numbers(DatatypeView from, DatatypeView to, Place place);
    [[gnu::noinline]] Status enumeration(DatatypeView from, DatatypeView to, Place place);
    [[gnu::noinline]] Status check_sequence(DatatypeView from, DatatypeView to);
    [[gnu::noinline]] Status begin_sequence(DatatypeView from, DatatypeView to, Place place);
    Status sequence(DatatypeView from, DatatypeView to, Place place);
    Status shapes(const MemberShape& from, const MemberShape& to, Place place);
    Status compound(DatatypeView from, DatatypeView to, Place place);
    Status other(DatatypeView from, DatatypeView to, Place place);

    Context& context_;
    const FileValues file_;
    ConversionStep* steps_ = nullptr;
    std::byte* tables_ = nullptr;
    std::uint64_t table_bytes_ = 0;
    std::uint32_t count_ = 0;
    ConversionStep pending_;
    bool has_pending_ = false;
    bool partial_ = false;
    bool lacks_members_ = false;
};

void PlanBuilder::flush() {
    if (has_pending_) {
        if (steps_ != nullptr) {
            steps_[count_] = pending_;
        }
        ++count_;
        has_pending_ = false;
    }
}

void PlanBuilder::add_table(const void* bytes, std::size_t size) {
    if (tables_ != nullptr && bytes != nullptr) {
        std::memcpy(tables_ + table_bytes_, bytes, size);
    }
    table_bytes_ += size;
}

void PlanBuilder::emit(ConversionKind kind, DatatypeView from, DatatypeView to, Place place, std::uint32_t extra) {
    flush();
    has_pending_ = true;
    pending_ = ConversionStep{};
    pending_.kind = kind;
    const auto flag = [](bool set, unsigned value) { return set ? value : 0U; };
    pending_.flags = static_cast<std::uint8_t>(
        flag(from.order() == ByteOrder::big, ConversionStep::from_big) |
        flag(to.order() == ByteOrder::big, ConversionStep::to_big) |
        flag(from.is_signed(), ConversionStep::from_signed) | flag(to.is_signed(), ConversionStep::to_signed) |
        flag(from.type_class() == TypeClass::floating, ConversionStep::from_float) |
        flag(to.type_class() == TypeClass::floating, ConversionStep::to_float) |
        flag(to.is_variable_string(), ConversionStep::to_string));
    pending_.from_padding = from.padding();
    pending_.to_padding = to.padding();
    pending_.from_offset = place.from;
    pending_.to_offset = place.to;
    pending_.from_size = from.size();
    pending_.to_size = to.size();
    pending_.count = place.count;
    pending_.extra = extra;
    pending_.table = static_cast<std::uint32_t>(table_bytes_);
}

void PlanBuilder::emit_copy(Place place, std::uint32_t size) {
    const std::uint32_t bytes = size * place.count;
    if (has_pending_ && pending_.kind == ConversionKind::copy && pending_.from_offset + pending_.count == place.from &&
        pending_.to_offset + pending_.count == place.to) {
        pending_.count += bytes;
        return;
    }
    emit(ConversionKind::copy, {}, {}, {place.from, place.to, bytes});
}

bool PlanBuilder::by_user(UserConversion::Kind kind, DatatypeView from, DatatypeView to, Place place) {
    const UserConversion* conversion = find_conversion(context_, kind, from, to);
    if (conversion == nullptr) {
        return false;
    }
    partial_ = lacks_members_ = true;
    emit(ConversionKind::user, from, to, place);
    const UserTable table{conversion, static_cast<std::uint32_t>(from.encoded_length()),
                          static_cast<std::uint32_t>(to.encoded_length())};
    add_table(&table, sizeof(table));
    add_table(from.bytes().data(), from.encoded_length());
    add_table(to.bytes().data(), to.encoded_length());
    return true;
}

// Emits a conversion that needs neither a table nor loops over bits; false if these types need one.
bool PlanBuilder::simple_numbers(DatatypeView from, DatatypeView to, Place place) {
    if (differ_in_order(from, to)) {
        if (from.size() == 1) {
            emit_copy(place, 1);
        } else {
            emit(ConversionKind::reverse, from, to, place);
        }
        return true;
    }
    const bool from_integer = is_whole_integer(from);
    const bool to_integer = is_whole_integer(to);
    const bool from_float = is_machine_float(from, to_integer);
    const bool to_float = is_machine_float(to, from_integer);
    if ((!from_integer && !from_float) || (!to_integer && !to_float)) {
        return false;
    }
    ConversionKind kind = ConversionKind::machine;
    if (from_integer && to_integer) {
        kind = ConversionKind::integer;
    } else if (kFastFloats && from_float && to_float && from.size() <= 8 && to.size() <= 8) {
        kind = from.size() < to.size() ? ConversionKind::widen : ConversionKind::narrow;
    }
    emit(kind, from, to, place);
    return true;
}

Status PlanBuilder::numbers(DatatypeView from, DatatypeView to, Place place) {
    if (simple_numbers(from, to, place)) {
        return Status::ok;
    }
    NumberFormat formats[2];
    if (!formats[0].assign(from) || !formats[1].assign(to)) {
        return unsupported(from, H5MOTE_HERE);
    }
    emit(ConversionKind::number, from, to, place);
    add_table(formats, sizeof(formats));
    return Status::ok;
}

Status PlanBuilder::enumeration(DatatypeView from, DatatypeView to, Place place) {
    EnumMembers walk_from(from);
    EnumMembers walk_to(to);
    EnumMember source;
    EnumMember target;
    emit(ConversionKind::enumeration, from, to, place, from.member_count());
    while (walk_from.next(source)) {
        // Usually the names of both types are in the same order.
        if ((!walk_to.next(target) || target.name != source.name) && !to.find_enum_name(source.name, target)) {
            return fail(from, to, H5MOTE_HERE);
        }
        add_table(source.value.data(), from.size());
        add_table(target.value.data(), to.size());
    }
    return Status::ok;
}

// The two forms of a sequence or string: in a file it is a place in the heap.
Status PlanBuilder::check_sequence(DatatypeView from, DatatypeView to) {
    const bool read = file_.side == FileValues::Side::from;
    const DatatypeView in_file = read ? from : to;
    const DatatypeView in_memory = read ? to : from;
    if (in_file.size() != 8U + file_.sizeof_address) {
        return fail(from, to, H5MOTE_HERE, read ? Status::corrupt_file : Status::type_mismatch);
    }
    const bool string = in_memory.is_variable_string();
    const bool both = string && in_file.is_variable_string();
    if (in_memory.size() != (string ? sizeof(char*) : sizeof(VariableLength)) ||
        (string && (to.base().size() != 1 || from.base().size() != 1)) ||
        (both && from.character_set() != to.character_set()) || (!read && !both && string)) {
        return fail(from, to, H5MOTE_HERE);
    }
    return Status::ok;
}

Status PlanBuilder::begin_sequence(DatatypeView from, DatatypeView to, Place place) {
    const bool read = file_.side == FileValues::Side::from;
    if (read ? file_.source == nullptr : file_.sink == nullptr) {
        return unsupported(from, H5MOTE_HERE, Feature::datatype_class);
    }
    H5MOTE_TRY(check_sequence(from, to));
    // A few elements at a time are in the form of the file, so that a long sequence is in memory once and not twice.
    constexpr std::uint32_t kWindow = 256;
    const std::uint32_t size = (read ? from : to).base().size();
    const std::size_t type_length = read ? 0 : to.encoded_length();
    const SequenceTable table{from.base().size(), to.base().size(), size < kWindow ? kWindow / size * size : size,
                              static_cast<std::uint32_t>(type_length)};
    emit(read ? ConversionKind::sequence : ConversionKind::to_heap, from, to, place);
    add_table(&table, sizeof(table));
    add_table(nullptr, table.window);
    add_table(to.bytes().data(), type_length);
    partial_ = partial_ || !read;  // the old value is needed
    return Status::ok;
}

Status PlanBuilder::sequence(DatatypeView from, DatatypeView to, Place place) {
    H5MOTE_TRY(begin_sequence(from, to, place));
    const std::uint32_t begin = begin_group();
    if (to.is_variable_string()) {
        emit_copy({0, 0, 1}, 1);
    } else {
        H5MOTE_TRY(convert(from.base(), to.base(), {0, 0, 1}));
    }
    end_group(begin);
    return Status::ok;
}

Status PlanBuilder::shapes(const MemberShape& from, const MemberShape& to, Place place) {
    const std::size_t length = to.dimensions.size();
    if (from.dimensions.size() != length) {
        return fail(from.element, to.element, H5MOTE_HERE);
    }
    for (std::size_t i = 0; i < length; i += 4) {
        const std::uint32_t extent = load_le<std::uint32_t>(to.dimensions.data() + i);
        if (load_le<std::uint32_t>(from.dimensions.data() + i) != extent) {
            return fail(from.element, to.element, H5MOTE_HERE);
        }
        place.count *= extent;
    }
    return convert(from.element, to.element, place);
}

Status PlanBuilder::compound(DatatypeView from, DatatypeView to, Place place) {
    const bool many = place.count > 1;
    std::uint32_t loop = 0;
    if (many) {
        emit(ConversionKind::loop, from, to, place);
        loop = begin_group();
        place.from = place.to = 0;
    }
    CompoundMembers walk_from(from);
    CompoundMembers walk_to(to);
    CompoundMember source;
    CompoundMember target;
    while (walk_to.next(target)) {
        if ((walk_from.next(source) && source.name == target.name) || from.find_member(target.name, source)) {
            H5MOTE_TRY(shapes(MemberShape(source), MemberShape(target),
                              {place.from + source.offset, place.to + target.offset, 1}));
        } else {
            partial_ = lacks_members_ = true;
        }
    }
    if (many) {
        end_group(loop);
    }
    return Status::ok;
}

// Calls itself through members and elements: as deep as the types are nested.
Status PlanBuilder::convert(DatatypeView from, DatatypeView to, Place place) {
    if (equal(from, to) && !contains_class(from, TypeClass::variable_length)) {
        emit_copy(place, to.size());
        return Status::ok;
    }
    if (context_.conversions().empty()) {
        return other(from, to, place);
    }
    if (by_user(UserConversion::Kind::hard, from, to, place) ||
        (!(is_machine_number(from) && is_machine_number(to)) && by_user(UserConversion::Kind::soft, from, to, place))) {
        return Status::ok;
    }
    return other(from, to, place);
}

Status PlanBuilder::other(DatatypeView from, DatatypeView to, Place place) {
    const TypeClass type = from.type_class();
    const bool to_number = to.type_class() == TypeClass::integer || to.type_class() == TypeClass::floating;
    if ((type == TypeClass::integer || type == TypeClass::floating) && to_number) {
        return numbers(from, to, place);
    }
    if (type == TypeClass::enumeration && to_number) {
        return convert(from.base(), to, place);
    }
    if (type != to.type_class()) {
        return fail(from, to, H5MOTE_HERE);
    }
    switch (type) {
        case TypeClass::bitfield:
            return numbers(from, to, place);
        case TypeClass::string:
            if (from.character_set() != to.character_set()) {
                return fail(from, to, H5MOTE_HERE);
            }
            emit(ConversionKind::string, from, to, place);
            return Status::ok;
        case TypeClass::enumeration:
            return enumeration(from, to, place);
        case TypeClass::array:
            return shapes(MemberShape(from), MemberShape(to), place);
        case TypeClass::complex:
            place.count *= 2;
            return convert(from.base(), to.base(), place);
        case TypeClass::compound:
            return compound(from, to, place);
        case TypeClass::variable_length:
            return sequence(from, to, place);
        default:
            return fail(from, to, H5MOTE_HERE);
    }
}

}  // namespace

Status Conversion::prepare(Context& context, DatatypeView from, DatatypeView to, const FileValues& file) noexcept {
    if (from.empty() || to.empty()) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::invalid_argument);
    }
    FileValues values = file;
    const VariableLengthFormat* const changes = context.formats().variable_length_changes;
    if (file.side == FileValues::Side::to && file.file != nullptr && changes != nullptr &&
        contains_class(to, TypeClass::variable_length)) {
        H5MOTE_TRY(changes->open_sink(*file.file, values.sink));
    }
    PlanBuilder builder(context, values);
    H5MOTE_TRY(builder.convert(from, to, {0, 0, 1}));
    if (from.size() == to.size() && builder.copies_all(to.size())) {
        reset();
        size_ = to.size();
        return Status::ok;
    }
    builder.flush();
    const std::uint64_t bytes =
        sizeof(ConversionPlan) + std::uint64_t{builder.steps()} * sizeof(ConversionStep) + builder.table_bytes();
    if (bytes > 0xffffffffU) {
        return context.fail(Module::datatype, H5MOTE_HERE, Status::out_of_memory, 0, bytes);
    }
    void* memory = context.allocate(MemoryKind::type, static_cast<std::size_t>(bytes));
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    auto* plan = ::new (memory) ConversionPlan{&context, values, builder.steps()};
    if (file.side == FileValues::Side::to || !contains_class(to, TypeClass::variable_length)) {
        plan->file.source = nullptr;  // values have no sequences in memory: nothing has to be emptied
    }
    builder.write_to(*plan);
    (void)builder.convert(from, to, {0, 0, 1});  // cannot fail: the first walk went well
    builder.flush();
    reset();
    run_ = run_plan;
    empty_ = plan->file.source != nullptr ? empty_value : nullptr;
    context_ = &context;
    plan_ = plan;
    plan_bytes_ = static_cast<std::uint32_t>(bytes);
    partial_ = builder.partial();
    lacks_members_ = builder.lacks_members();
    return Status::ok;
}

const ConversionFormat formats::conversion = {
    [](Conversion& conversion, Context& context, DatatypeView from, DatatypeView to, const FileValues& file) {
        return conversion.prepare(context, from, to, file);
    },
    [](void* memory, FileState& file) { ::new (memory) HeapSource(file); }};

}  // namespace h5mote
