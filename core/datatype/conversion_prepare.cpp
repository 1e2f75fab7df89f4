#include <h5mote/encoded_type.hpp>

#include "conversion.hpp"
#include "conversion_plan.hpp"
#include "cursor.hpp"
#include "supported.hpp"

#include <cstring>

namespace h5mote {
namespace {

constexpr auto kFloat32 = make_float(4);
constexpr auto kFloat64 = make_float(8);

// Numbers that agree in everything but whether they are little- or big-endian.
bool same_but_order(DatatypeView a, DatatypeView b) {
    const std::byte* one = a.bytes().data();
    const std::byte* other = b.bytes().data();
    return a.type_class() == b.type_class() && a.encoded_length() == b.encoded_length() &&
           a.order() <= ByteOrder::big && b.order() <= ByteOrder::big &&
           ((one[1] ^ other[1]) & std::byte{0xfe}) == std::byte{0} &&
           std::memcmp(one + 2, other + 2, a.encoded_length() - 2) == 0;
}

bool is_common_integer(DatatypeView type) {
    return type.size() <= 8 && type.bit_offset() == 0 && type.precision() == 8 * type.size();
}

bool is_common_float(DatatypeView type) {
    return same_but_order(type, kFloat32.view()) || same_but_order(type, kFloat64.view());
}

// Where items of a type lie: `count` of them, side by side from an offset in the source and in the target.
struct Place {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t count;
};

/// Goes over the two types and writes steps; the first time without memory, to learn how much is needed.
class PlanBuilder {
public:
    explicit PlanBuilder(Context& context) : context_(context) {}

    /// Starts over, to write into `plan`, whose number of steps is known.
    void write_to(ConversionPlan& plan) {
        steps_ = reinterpret_cast<ConversionStep*>(&plan + 1);
        tables_ = reinterpret_cast<std::byte*>(steps_ + plan.steps);
        count_ = table_bytes_ = 0;
    }
    Status convert(DatatypeView from, DatatypeView to, Place place);
    void flush();

    std::uint32_t steps() const { return count_; }
    std::uint32_t table_bytes() const { return table_bytes_; }
    /// Whether all that was done is to copy the first `size` bytes.
    bool copies_all(std::uint32_t size) const {
        return has_pending_ && count_ == 0 && pending_.kind == ConversionKind::copy && pending_.from_offset == 0 &&
               pending_.to_offset == 0 && pending_.count == size;
    }

private:
    Status mismatch(DatatypeView from, DatatypeView to, unsigned line) {
        const auto classes =
            static_cast<std::uint32_t>(from.type_class()) << 8 | static_cast<std::uint32_t>(to.type_class());
        return context_.fail(Module::datatype, line, Status::type_mismatch, classes);
    }
    Status unsupported(DatatypeView from, unsigned line) {
        return context_.unsupported(Module::datatype, line, Feature::type_conversion,
                                    static_cast<std::uint32_t>(from.type_class()));
    }
    void emit(ConversionKind kind, DatatypeView from, DatatypeView to, Place place, std::uint32_t extra = 0);
    [[gnu::noinline]] void emit_copy(Place place, std::uint32_t size);
    // Not inlined: what does not nest stays off the stack of what does.
    [[gnu::noinline]] Status numbers(DatatypeView from, DatatypeView to, Place place);
    [[gnu::noinline]] Status enumeration(DatatypeView from, DatatypeView to, Place place);
    Status shapes(const MemberShape& from, const MemberShape& to, Place place);
    Status compound(DatatypeView from, DatatypeView to, Place place);

    Context& context_;
    ConversionStep* steps_ = nullptr;
    std::byte* tables_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t table_bytes_ = 0;
    ConversionStep pending_;
    bool has_pending_ = false;
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

void PlanBuilder::emit(ConversionKind kind, DatatypeView from, DatatypeView to, Place place, std::uint32_t extra) {
    flush();
    has_pending_ = true;
    pending_ = ConversionStep{};
    pending_.kind = kind;
    pending_.flags = static_cast<std::uint8_t>((from.order() == ByteOrder::big ? ConversionStep::from_big : 0) |
                                               (to.order() == ByteOrder::big ? ConversionStep::to_big : 0) |
                                               (from.is_signed() ? ConversionStep::from_signed : 0) |
                                               (to.is_signed() ? ConversionStep::to_signed : 0));
    pending_.from_padding = from.padding();
    pending_.to_padding = to.padding();
    pending_.from_offset = place.from;
    pending_.to_offset = place.to;
    pending_.from_size = from.size();
    pending_.to_size = to.size();
    pending_.count = place.count;
    pending_.extra = extra;
    pending_.table = table_bytes_;
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

Status PlanBuilder::numbers(DatatypeView from, DatatypeView to, Place place) {
    const TypeClass type = from.type_class();
    if (same_but_order(from, to)) {
        if (from.size() == 1) {
            emit_copy(place, 1);
        } else {
            emit(ConversionKind::reverse, from, to, place);
        }
        return Status::ok;
    }
    if (type == TypeClass::integer && is_common_integer(from) && is_common_integer(to)) {
        emit(ConversionKind::integer, from, to, place);
        return Status::ok;
    }
    if (type == TypeClass::floating && is_common_float(from) && is_common_float(to)) {
        emit(from.size() < to.size() ? ConversionKind::widen : ConversionKind::narrow, from, to, place);
        return Status::ok;
    }
    return unsupported(from, __LINE__);
}

Status PlanBuilder::enumeration(DatatypeView from, DatatypeView to, Place place) {
    EnumMembers walk_from(from);
    EnumMembers walk_to(to);
    EnumMember source;
    EnumMember target;
    emit(ConversionKind::enumeration, from, to, place, from.member_count());
    while (walk_from.next(source)) {
        // Mostly both have the same order.
        if ((!walk_to.next(target) || target.name != source.name) && !to.find_enum_name(source.name, target)) {
            return mismatch(from, to, __LINE__);
        }
        if (tables_ != nullptr) {
            std::byte* pair = tables_ + table_bytes_;
            std::memcpy(pair, source.value.data(), from.size());
            std::memcpy(pair + from.size(), target.value.data(), to.size());
        }
        table_bytes_ += from.size() + to.size();
    }
    return Status::ok;
}

Status PlanBuilder::shapes(const MemberShape& from, const MemberShape& to, Place place) {
    const std::size_t length = to.dimensions.size();
    if (from.dimensions.size() != length) {
        return mismatch(from.element, to.element, __LINE__);
    }
    for (std::size_t i = 0; i < length; i += 4) {
        const std::uint32_t extent = load_le<std::uint32_t>(to.dimensions.data() + i);
        if (load_le<std::uint32_t>(from.dimensions.data() + i) != extent) {
            return mismatch(from.element, to.element, __LINE__);
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
        flush();
        loop = count_;
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
        }
    }
    if (many) {
        flush();
        if (steps_ != nullptr) {
            steps_[loop - 1].extra = count_ - loop;
        }
    }
    return Status::ok;
}

// Calls itself through members and elements: as deep as the types are nested.
Status PlanBuilder::convert(DatatypeView from, DatatypeView to, Place place) {
    const TypeClass type = from.type_class();
    if (type != to.type_class()) {
        return mismatch(from, to, __LINE__);
    }
    if (equal(from, to)) {
        emit_copy(place, to.size());
        return Status::ok;
    }
    switch (type) {
        case TypeClass::integer:
        case TypeClass::floating:
        case TypeClass::bitfield:
            return numbers(from, to, place);
        case TypeClass::string:
            if (from.character_set() != to.character_set()) {
                return mismatch(from, to, __LINE__);
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
        case TypeClass::opaque:
            return mismatch(from, to, __LINE__);
        default:
            return unsupported(from, __LINE__);
    }
}

}  // namespace

Status Conversion::prepare(Context& context, DatatypeView from, DatatypeView to, const FileValues& /*file*/) noexcept {
    if (from.empty() || to.empty()) {
        return context.fail(Module::datatype, __LINE__, Status::invalid_argument);
    }
    if (!is_plain(from) || !is_plain(to)) {
        const TypeClass type = is_plain(from) ? to.type_class() : from.type_class();
        return context.unsupported(Module::datatype, __LINE__, Feature::datatype_class,
                                   static_cast<std::uint32_t>(type));
    }
    PlanBuilder builder(context);
    H5MOTE_TRY(builder.convert(from, to, {0, 0, 1}));
    if (from.size() == to.size() && builder.copies_all(to.size())) {
        reset();
        size_ = to.size();
        return Status::ok;
    }
    builder.flush();
    const std::size_t bytes = sizeof(ConversionPlan) + builder.steps() * sizeof(ConversionStep) + builder.table_bytes();
    void* memory = context.allocate(MemoryKind::type, bytes);
    if (memory == nullptr) {
        return Status::out_of_memory;
    }
    auto* plan = ::new (memory) ConversionPlan{builder.steps()};
    builder.write_to(*plan);
    const Status second = builder.convert(from, to, {0, 0, 1});
    builder.flush();
    if (second != Status::ok) {  // what was true a moment ago still is
        context.release(MemoryKind::type, memory, bytes);
        return second;
    }
    reset();
    run_ = run_plan;
    context_ = &context;
    plan_ = plan;
    plan_bytes_ = static_cast<std::uint32_t>(bytes);
    return Status::ok;
}

}  // namespace h5mote
