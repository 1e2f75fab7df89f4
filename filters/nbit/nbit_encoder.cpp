// The encoder, and the client data, of which nbit_walk.hpp has the layout.
#include <h5mote/filters/nbit.hpp>

#include "bit_writer.hpp"
#include "cursor.hpp"
#include "nbit_walk.hpp"

namespace h5mote {
namespace {

using namespace nbit;

constexpr std::size_t kMostValues = 4096;

class Packer {
public:
    static constexpr bool kEncodes = true;

    Packer(ConstBytes in, Bytes out) noexcept : in_(in.data()), bits_(out) {}
    void move(std::size_t at, unsigned low, unsigned width) noexcept {
        bits_.bits(static_cast<unsigned>(in_[at]) >> low & ((1U << width) - 1), width);
    }
    bool ok() const noexcept { return bits_.ok(); }
    /// Ends the stream as libhdf5 does: where it fills its last byte, one more follows.
    std::size_t finish() noexcept {
        bits_.bits(0, bits_.at_byte() ? 8 : 0);
        return bits_.finish();
    }

private:
    const std::byte* in_;
    BitWriter bits_;
};

/// Writes client data into a specification or, if there are more, into the room beside it.
class ClientData {
public:
    ClientData(FilterSpec& spec, Bytes room) noexcept : spec_(spec), room_(room) {}

    void put(std::uint32_t value) noexcept { set(count_++, value); }
    void set(std::size_t i, std::uint32_t value) noexcept {
        if (i < FilterSpec::kMaxValues) {
            spec_.values[i] = value;
        }
        if (i < room_.size() / 4) {
            store_le(room_.data() + 4 * i, value);
        }
    }
    std::size_t count() const noexcept { return count_; }
    Status finish() noexcept {
        if (count_ > kMostValues) {
            return Status::invalid_argument;
        }
        const bool many = count_ > FilterSpec::kMaxValues;
        spec_.value_count = static_cast<std::uint16_t>(count_);
        spec_.encoded = many ? room_.data() : nullptr;
        return many && room_.size() / 4 < count_ ? Status::over_budget : Status::ok;
    }

private:
    FilterSpec& spec_;
    const Bytes room_;
    std::size_t count_ = 0;
};

/// Describes a datatype by client data.
class Description {
public:
    explicit Description(ClientData& to) noexcept : to_(to) {}

    /// False: libhdf5 refuses the type. `outer`: whether it is the type of the dataset.
    bool type(DatatypeView type, unsigned depth, bool outer) noexcept;
    /// Whether some number has fewer bits than its bytes have.
    bool packs() const noexcept { return packs_; }

private:
    bool number(DatatypeView type) noexcept;
    bool array(std::uint32_t size, DatatypeView element, unsigned depth) noexcept;
    bool compound(DatatypeView type, unsigned depth) noexcept;
    void other(std::uint32_t size) noexcept {
        to_.put(kOther);
        to_.put(size);
    }

    ClientData& to_;
    bool packs_ = false;
};

bool Description::type(DatatypeView type, unsigned depth, bool outer) noexcept {
    switch (type.type_class()) {
        case TypeClass::integer:
        case TypeClass::floating:
            return number(type);
        case TypeClass::array:
            return depth > 0 && array(type.size(), type.base(), depth - 1);
        case TypeClass::compound:
            return depth > 0 && compound(type, depth - 1);
        default:
            if (!outer) {
                other(type.size());
            }
            return true;
    }
}

bool Description::number(DatatypeView type) noexcept {
    const ByteOrder order = type.order();
    const unsigned bits = type.size() * 8;
    if (order != ByteOrder::little && order != ByteOrder::big) {
        return false;
    }
    to_.put(kNumber);
    to_.put(type.size());
    to_.put(order == ByteOrder::big ? 1 : 0);
    to_.put(type.precision());
    to_.put(type.bit_offset());
    packs_ = packs_ || type.precision() != bits || type.bit_offset() != 0;
    return type.precision() != 0 && type.precision() + type.bit_offset() <= bits;
}

bool Description::array(std::uint32_t size, DatatypeView element, unsigned depth) noexcept {
    to_.put(kArray);
    to_.put(size);
    return element.type_class() != TypeClass::variable_length && type(element, depth, false);
}

// libhdf5 takes the space up to the next member for the size of variable-length data.
bool Description::compound(DatatypeView compound, unsigned depth) noexcept {
    to_.put(kCompound);
    to_.put(compound.size());
    to_.put(compound.member_count());
    CompoundMembers members(compound);
    CompoundMember next;
    bool sound = true;
    for (bool more = members.next(next); sound && more && to_.count() <= kMostValues;) {
        const CompoundMember member = next;
        more = members.next(next);
        to_.put(member.offset);
        if (!member.dimensions.empty()) {
            sound = array(member.size(), member.type, depth);
        } else if (member.type.type_class() == TypeClass::variable_length) {
            const std::uint32_t end = more ? next.offset : compound.size();
            sound = end >= member.offset && end - member.offset >= member.type.size();
            other(end - member.offset);
        } else {
            sound = type(member.type, depth, false);
        }
    }
    return sound;
}

/// Does nothing with the bits of an element: what is left of a walk tells whether it can be encoded.
struct Nowhere {
    static constexpr bool kEncodes = true;
    void move(std::size_t /*at*/, unsigned /*low*/, unsigned /*width*/) noexcept {}
    bool ok() const noexcept { return true; }
};

}  // namespace

Status NbitFilter::can_apply(const FilterSpec& /*spec*/, const FilterTarget& target) const noexcept {
    return target.resized ? Status::invalid_argument : Status::ok;
}

Status NbitFilter::set_local(FilterSpec& spec, const FilterTarget& target) const noexcept {
    if (target.type.empty() || target.element_size == 0) {
        return Status::invalid_argument;
    }
    ClientData values(spec, target.client_data);
    values.put(0);
    values.put(0);
    values.put(target.chunk_bytes / target.element_size);
    Description description(values);
    const bool known = description.type(target.type, H5MOTE_MAX_TYPE_DEPTH, true);
    values.set(kCount, static_cast<std::uint32_t>(values.count()));
    values.set(kUnpacked, description.packs() ? 0 : 1);
    H5MOTE_TRY(known ? values.finish() : Status::invalid_argument);
    if (spec.optional || !description.packs()) {
        return Status::ok;
    }
    Nowhere nowhere;
    return Walk<Nowhere>(spec, nowhere).run(target.chunk_bytes) ? Status::ok : Status::invalid_argument;
}

Status NbitFilter::encode(const FilterSpec& spec, ConstBytes in, Bytes out, std::size_t& size,
                          Bytes /*scratch*/) const noexcept {
    if (spec.value_count == 0 || spec.value(kCount) != spec.value_count) {
        return Status::invalid_argument;
    }
    if (spec.value(kUnpacked) != 0) {
        if (in.size() > out.size()) {
            return Status::no_space;
        }
        size = in.size();
        if (size != 0) {
            std::memcpy(out.data(), in.data(), size);
        }
        return Status::ok;
    }
    if (std::uint64_t{spec.value(kElements)} * spec.value(kTypeSize) != in.size()) {
        return Status::invalid_argument;
    }
    Packer packer(in, out);
    const bool sound = Walk<Packer>(spec, packer).run(in.size());
    size = packer.finish();
    if (!packer.ok()) {
        return Status::no_space;
    }
    return sound ? Status::ok : Status::invalid_argument;
}

}  // namespace h5mote
