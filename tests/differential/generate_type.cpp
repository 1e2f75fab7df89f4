// Random datatypes, memory types that libhdf5 can convert them to, and values.
#include "libhdf5.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace differential {
namespace {

Id copy_of(hid_t type) { return DIFFERENTIAL_ID(H5Tcopy(type)); }

Id random_integer(Random& random, bool odd) {
    Id type = copy_of(random.pick({H5T_STD_I8LE, H5T_STD_U8BE, H5T_STD_I16LE, H5T_STD_U16BE, H5T_STD_I32LE,
                                   H5T_STD_I32BE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64BE}));
    if (odd && random.one_in(6)) {
        const std::size_t bits = 8 * H5Tget_size(type);
        const std::size_t precision = random.between(2, bits);
        DIFFERENTIAL_OK(H5Tset_precision(type, precision));
        DIFFERENTIAL_OK(H5Tset_offset(type, random.below(bits - precision + 1)));
    }
    return type;
}

Id random_string(Random& random) {
    Id type = copy_of(H5T_C_S1);
    DIFFERENTIAL_OK(H5Tset_size(type, random.between(1, 1 + random.below(20))));
    DIFFERENTIAL_OK(H5Tset_strpad(type, random.pick({H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD})));
    DIFFERENTIAL_OK(H5Tset_cset(type, random.pick({H5T_CSET_ASCII, H5T_CSET_UTF8})));
    return type;
}

Id random_enumeration(Random& random) {
    const Id base = copy_of(random.pick({H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I16BE, H5T_STD_I32LE}));
    Id type = DIFFERENTIAL_ID(H5Tenum_create(base));
    const std::uint64_t count = random.between(1, 5);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::byte value[8] = {};
        const std::int64_t number = static_cast<std::int64_t>(3 * i);
        std::memcpy(value, &number, sizeof number);
        DIFFERENTIAL_OK(H5Tconvert(H5T_NATIVE_INT64, base, 1, value, nullptr, H5P_DEFAULT));
        DIFFERENTIAL_OK(H5Tenum_insert(type, ("E" + std::to_string(i)).c_str(), value));
    }
    return type;
}

Id random_opaque(Random& random) {
    Id type = DIFFERENTIAL_ID(H5Tcreate(H5T_OPAQUE, random.between(1, 12)));
    DIFFERENTIAL_OK(H5Tset_tag(type, random.pick({"", "raw", "a longer tag of it"})));
    return type;
}

Id random_single(Random& random, bool odd) {
    switch (random.below(10)) {
        case 0:
        case 1:
            return copy_of(random.pick({H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE}));
        case 2:
            return random_string(random);
        case 3:
            return random_enumeration(random);
        case 4:
            return random.one_in(2) ? random_opaque(random)
                                    : copy_of(random.pick({H5T_STD_B8LE, H5T_STD_B16BE, H5T_STD_B32LE}));
        default:
            return random_integer(random, odd);
    }
}

Id random_variable(Random& random, const TypeChoice& choice) {
    if (random.one_in(2)) {
        Id type = copy_of(H5T_C_S1);
        DIFFERENTIAL_OK(H5Tset_size(type, H5T_VARIABLE));
        DIFFERENTIAL_OK(H5Tset_cset(type, random.pick({H5T_CSET_ASCII, H5T_CSET_UTF8})));
        return type;
    }
    TypeChoice inner = choice;
    inner.depth = 1;
    inner.variable = false;  // libhdf5 1.10 loses heap objects of sequences within sequences
    return DIFFERENTIAL_ID(H5Tvlen_create(random_type(random, inner)));
}

Id random_compound(Random& random, const TypeChoice& choice) {
    const std::uint64_t count = random.between(1, 5);
    std::vector<Id> members;
    std::vector<std::size_t> offsets;
    std::size_t at = random.one_in(5) ? random.below(4) : 0;
    TypeChoice inner = choice;
    inner.depth = choice.depth - 1;
    inner.size = std::max<std::size_t>(choice.size / count, 8);
    // libhdf5 1.10 loses heap objects of sequences within inner compounds.
    inner.variable = false;
    for (std::uint64_t i = 0; i < count; ++i) {
        members.push_back(choice.variable && random.one_in(4) ? random_variable(random, choice)
                                                              : random_type(random, inner));
        offsets.push_back(at);
        at += H5Tget_size(members.back()) + (random.one_in(4) ? random.below(6) : 0);
    }
    Id type = DIFFERENTIAL_ID(H5Tcreate(H5T_COMPOUND, at));
    for (std::size_t i = 0; i < count; ++i) {
        // The alphabetical order of the names is not the order of the members.
        const std::string name = std::string(1, static_cast<char>('a' + (i * 7 + count) % 26)) + std::to_string(i);
        DIFFERENTIAL_OK(H5Tinsert(type, name.c_str(), offsets[i], members[i]));
    }
    return type;
}

Id random_array(Random& random, const TypeChoice& choice) {
    TypeChoice inner = choice;
    inner.depth = choice.depth - 1;
    inner.size = std::max<std::size_t>(choice.size / 4, 8);
    inner.variable = false;  // libhdf5 1.10 loses heap objects of sequences within arrays
    const Id base = random_type(random, inner);
    hsize_t dims[2];
    const unsigned rank = random.one_in(3) ? 2 : 1;
    for (unsigned d = 0; d < rank; ++d) {
        dims[d] = random.between(1, 3);
    }
    return DIFFERENTIAL_ID(H5Tarray_create2(base, rank, dims));
}

// A memory type for a compound: the members in another order, possibly fewer, each possibly of another type.
Id memory_compound(Random& random, hid_t file, bool subset) {
    const auto count = static_cast<unsigned>(H5Tget_nmembers(file));
    std::vector<unsigned> order;
    for (unsigned i = 0; i < count; ++i) {
        if (!subset || !random.one_in(3)) {
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.below(order.size() + 1)), i);
        }
    }
    if (order.empty()) {
        order.push_back(static_cast<unsigned>(random.below(count)));
    }
    std::vector<Id> members;
    std::vector<std::size_t> offsets;
    std::size_t at = 0;
    for (const unsigned i : order) {
        const Id member = DIFFERENTIAL_ID(H5Tget_member_type(file, i));
        members.push_back(random_memory_type(random, member, subset));
        offsets.push_back(at);
        at += H5Tget_size(members.back()) + (random.one_in(4) ? random.below(4) : 0);
    }
    Id type = DIFFERENTIAL_ID(H5Tcreate(H5T_COMPOUND, at));
    for (std::size_t i = 0; i < order.size(); ++i) {
        char* const name = H5Tget_member_name(file, order[i]);
        const herr_t inserted = H5Tinsert(type, name, offsets[i], members[i]);
        H5free_memory(name);
        check(inserted, "H5Tinsert");
    }
    return type;
}

Id memory_array(Random& random, hid_t file) {
    const Id base = DIFFERENTIAL_ID(H5Tget_super(file));
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Tget_array_dims2(file, dims);
    // No subset: libhdf5 clears the members that a subset of a compound within an array leaves out.
    const Id memory = random_memory_type(random, base, false);
    return DIFFERENTIAL_ID(H5Tarray_create2(memory, static_cast<unsigned>(rank), dims));
}

void fill_value(Random& random, hid_t type, std::byte* at);

void fill_number(Random& random, hid_t type, std::byte* at) {
    std::byte work[64] = {};
    if (H5Tget_class(type) == H5T_FLOAT) {
        const double value = (static_cast<double>(random.below(2'000'000)) - 1e6) / 8;
        std::memcpy(work, &value, sizeof value);
        DIFFERENTIAL_OK(H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, work, nullptr, H5P_DEFAULT));
    } else {
        const auto value = static_cast<std::int64_t>(random.one_in(3) ? random.next() : random.below(100));
        std::memcpy(work, &value, sizeof value);
        DIFFERENTIAL_OK(H5Tconvert(H5T_NATIVE_INT64, type, 1, work, nullptr, H5P_DEFAULT));
    }
    std::memcpy(at, work, H5Tget_size(type));
}

void fill_string(Random& random, hid_t type, std::byte* at) {
    const std::size_t size = H5Tget_size(type);
    const H5T_str_t padding = H5Tget_strpad(type);
    const std::size_t length = padding == H5T_STR_NULLTERM ? random.below(size) : random.between(0, size);
    std::fill_n(at, size, padding == H5T_STR_SPACEPAD ? std::byte{0x20} : std::byte{0});
    for (std::size_t i = 0; i < length; ++i) {
        at[i] = static_cast<std::byte>('!' + random.below(90));
    }
}

void fill_variable_string(Random& random, std::byte* at) {
    const std::size_t length = random.one_in(5) ? 0 : random.below(1 + random.below(40));
    auto* const text = static_cast<char*>(std::malloc(length + 1));
    for (std::size_t i = 0; i < length; ++i) {
        text[i] = static_cast<char>('!' + random.below(90));
    }
    text[length] = 0;
    std::memcpy(at, &text, sizeof text);
}

void fill_sequence(Random& random, hid_t type, std::byte* at) {
    const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
    const std::size_t step = H5Tget_size(base);
    hvl_t sequence{random.one_in(5) ? 0 : random.below(1 + random.below(20)), nullptr};
    if (sequence.len != 0) {
        sequence.p = std::calloc(sequence.len, step);
        for (std::size_t i = 0; i < sequence.len; ++i) {
            fill_value(random, base, static_cast<std::byte*>(sequence.p) + i * step);
        }
    }
    std::memcpy(at, &sequence, sizeof sequence);
}

void fill_value(Random& random, hid_t type, std::byte* at) {
    const std::size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_VLEN:
            return fill_sequence(random, type, at);
        case H5T_INTEGER:
        case H5T_FLOAT:
            fill_number(random, type, at);
            return;
        case H5T_STRING:
            return H5Tis_variable_str(type) > 0 ? fill_variable_string(random, at) : fill_string(random, type, at);
        case H5T_ENUM:
            DIFFERENTIAL_OK(H5Tget_member_value(
                type, static_cast<unsigned>(random.below(static_cast<std::uint64_t>(H5Tget_nmembers(type)))), at));
            return;
        case H5T_COMPOUND:
            for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
                const Id member = DIFFERENTIAL_ID(H5Tget_member_type(type, i));
                fill_value(random, member, at + H5Tget_member_offset(type, i));
            }
            return;
        case H5T_ARRAY: {
            const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
            const std::size_t step = H5Tget_size(base);
            for (std::size_t i = 0; i < size; i += step) {
                fill_value(random, base, at + i);
            }
            return;
        }
        default:
            for (std::size_t i = 0; i < size; ++i) {
                at[i] = static_cast<std::byte>(random.next());
            }
    }
}

void mark(hid_t type, std::byte* at) {
    const std::size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_COMPOUND) {
        for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
            const Id member = DIFFERENTIAL_ID(H5Tget_member_type(type, i));
            mark(member, at + H5Tget_member_offset(type, i));
        }
    } else if (H5Tget_class(type) == H5T_ARRAY) {
        const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
        const std::size_t step = H5Tget_size(base);
        for (std::size_t i = 0; i < size; i += step) {
            mark(base, at + i);
        }
    } else {
        std::fill_n(at, size, std::byte{0xff});
    }
}

}  // namespace

Id random_type(Random& random, const TypeChoice& choice) {
    if (choice.variable && random.one_in(5)) {
        return random_variable(random, choice);
    }
    if (choice.depth == 0 || !random.one_in(3)) {
        return random_single(random, choice.odd);
    }
    return random.one_in(3) ? random_array(random, choice) : random_compound(random, choice);
}

Id random_memory_type(Random& random, hid_t file, bool subset) {
    const H5T_class_t type_class = H5Tget_class(file);
    if (random.one_in(3)) {
        return copy_of(file);
    }
    switch (type_class) {
        case H5T_COMPOUND:
            return memory_compound(random, file, subset);
        case H5T_ARRAY:
            return memory_array(random, file);
        case H5T_INTEGER:
            return random.one_in(5) ? copy_of(random.pick({H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE}))
                                    : random_integer(random, false);
        case H5T_FLOAT:
            return copy_of(random.pick({H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_IEEE_F64BE, H5T_NATIVE_INT64}));
        case H5T_VLEN: {
            const Id base = DIFFERENTIAL_ID(H5Tget_super(file));
            return DIFFERENTIAL_ID(H5Tvlen_create(random_memory_type(random, base, subset)));
        }
        case H5T_STRING: {
            if (H5Tis_variable_str(file) > 0) {
                return copy_of(file);
            }
            Id type = random_string(random);
            DIFFERENTIAL_OK(H5Tset_cset(type, H5Tget_cset(file)));
            return type;
        }
        default:
            return copy_of(file);
    }
}

Blob random_values(Random& random, hid_t type, std::size_t count) {
    const std::size_t size = H5Tget_size(type);
    Blob values(count * size);
    for (std::size_t i = 0; i < count; ++i) {
        fill_value(random, type, values.data() + i * size);
    }
    return values;
}

void release_values(hid_t type, std::size_t count, Blob& values) {
    if (count != 0 && is_variable(type)) {
        const hsize_t dims = count;
        const Id space = DIFFERENTIAL_ID(H5Screate_simple(1, &dims, nullptr));
        DIFFERENTIAL_OK(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data()));
    }
}

bool is_variable(hid_t type) {
    return H5Tdetect_class(type, H5T_VLEN) > 0 ||
           h5mote::contains_class(Type(type).view(), h5mote::TypeClass::variable_length);
}

void flatten(hid_t type, const std::byte* value, Blob& to) {
    const auto add = [&](const void* from, std::size_t size) {
        const auto* const bytes = static_cast<const std::byte*>(from);
        to.insert(to.end(), bytes, bytes + size);
    };
    switch (H5Tget_class(type)) {
        case H5T_COMPOUND:
            for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
                const Id member = DIFFERENTIAL_ID(H5Tget_member_type(type, i));
                flatten(member, value + H5Tget_member_offset(type, i), to);
            }
            return;
        case H5T_ARRAY: {
            const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
            const std::size_t step = H5Tget_size(base);
            for (std::size_t i = 0; i < H5Tget_size(type); i += step) {
                flatten(base, value + i, to);
            }
            return;
        }
        case H5T_VLEN: {
            const Id base = DIFFERENTIAL_ID(H5Tget_super(type));
            hvl_t sequence;
            std::memcpy(&sequence, value, sizeof sequence);
            add(&sequence.len, sizeof sequence.len);
            for (std::size_t i = 0; i < sequence.len; ++i) {
                flatten(base, static_cast<const std::byte*>(sequence.p) + i * H5Tget_size(base), to);
            }
            return;
        }
        case H5T_STRING:
            if (H5Tis_variable_str(type) > 0) {
                const char* text = nullptr;
                std::memcpy(&text, value, sizeof text);
                // A null pointer and an empty string must give different bytes.
                text == nullptr ? add("\xff\xff", 2) : add(text, std::strlen(text) + 1);
                return;
            }
            break;
        default:
            break;
    }
    add(value, H5Tget_size(type));
}

Blob significant_bytes(hid_t type) {
    Blob mask(H5Tget_size(type));
    mark(type, mask.data());
    return mask;
}

std::string type_text(h5mote::DatatypeView type) {
    static const char* const kNames[] = {"int",      "float",     "time", "string", "bitfield", "opaque",
                                         "compound", "reference", "enum", "vlen",   "array"};
    const auto number = static_cast<unsigned>(type.type_class());
    std::string text = (number < 11 ? kNames[number] : "?") + std::to_string(type.size());
    if (type.order() == h5mote::ByteOrder::big) {
        text += "be";
    }
    if (type.type_class() == h5mote::TypeClass::array) {
        return text + "[" + type_text(type.base()) + "]";
    }
    if (type.type_class() == h5mote::TypeClass::compound) {
        h5mote::CompoundMembers members(type);
        h5mote::CompoundMember member;
        text += "{";
        while (members.next(member)) {
            text += std::string(member.name) + "@" + std::to_string(member.offset) + ":" + type_text(member.type) + " ";
        }
        text.back() = '}';
    }
    return text;
}

}  // namespace differential
