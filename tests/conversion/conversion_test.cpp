// Compares every conversion of values with H5Tconvert of libhdf5: millions of values, bit for bit.
//
// Not compared are results that libhdf5 leaves undefined or gets wrong:
// - bits of a floating-point number that belong to no field, and the last six bytes of a long double;
// - NaN, and exactly 2^n, converted to integers of n bits by the compiler's conversion (undefined in C);
// - -infinity converted to an integer that does not begin at bit 0 (libhdf5 sets a bit elsewhere);
// - targets in VAX byte order (libhdf5 swaps only half of the bytes);
// - integers that lose more than 64 bits (libhdf5 reads beyond a variable);
// - floating-point numbers with a long mantissa and a short exponent converted to integers, and with a short exponent
//   to long integers (libhdf5 1.10 works in a buffer of as many bits as there are exponents).
#include <gtest/gtest.h>
#include <hdf5.h>

#include <h5mote/arena.hpp>
#include <h5mote/encoded_type.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "bits.hpp"
#include "conversion.hpp"
#include "datatype_message.hpp"

namespace {

using h5mote::ByteOrder;
using h5mote::Conversion;
using h5mote::DatatypeView;
using h5mote::FloatFields;
using h5mote::Status;
using h5mote::TypeClass;
using Blob = std::vector<std::byte>;

struct Bench {
    alignas(8) std::array<std::byte, 1 << 18> memory;
    h5mote::Arena arena{h5mote::Bytes{memory.data(), memory.size()}};
    h5mote::NullPort port;
    h5mote::Context context{arena, port, {}};
};

std::string hex(const Blob& bytes, std::size_t at, std::size_t count) {
    std::ostringstream text;
    for (std::size_t i = at; i < at + count; ++i) {
        text << std::hex << std::setw(2) << std::setfill('0') << static_cast<unsigned>(bytes[i]);
    }
    return text.str();
}

std::string hex(const Blob& bytes) { return hex(bytes, 0, bytes.size()); }

// A datatype as a libhdf5 handle and as a datatype message.
class Type {
public:
    explicit Type(hid_t id) : id_(id) {
        std::size_t size = 0;
        H5Tencode(id_, nullptr, &size);
        message_.resize(size);
        H5Tencode(id_, message_.data(), &size);
        message_.erase(message_.begin(), message_.begin() + 2);  // H5Tencode()'s message type and version
    }
    explicit Type(const Blob& message) : message_(message) {
        Blob encoded(2);
        encoded[0] = std::byte{3};
        encoded.insert(encoded.end(), message.begin(), message.end());
        encoded.resize(encoded.size() + 64);  // H5Tdecode() does not know the length and may read beyond it
        id_ = H5Tdecode(encoded.data());
    }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;
    ~Type() { H5Tclose(id_); }

    hid_t id() const { return id_; }
    DatatypeView view() const { return DatatypeView({message_.data(), message_.size()}); }
    std::size_t size() const { return view().size(); }
    const Blob& message() const { return message_; }
    bool is_machine() const {
        for (const hid_t native :
             {H5T_NATIVE_SCHAR, H5T_NATIVE_UCHAR, H5T_NATIVE_SHORT, H5T_NATIVE_USHORT, H5T_NATIVE_INT, H5T_NATIVE_UINT,
              H5T_NATIVE_LLONG, H5T_NATIVE_ULLONG, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_LDOUBLE}) {
            if (H5Tequal(id_, native) > 0) {
                return true;
            }
        }
        return false;
    }

private:
    hid_t id_;
    Blob message_;
};

// A mask of the bits of a value that are compared.
Blob significant(const Type& type) {
    Blob mask(type.size(), std::byte{0xff});
    const DatatypeView view = type.view();
    if (view.type_class() == TypeClass::floating) {
        const FloatFields f = view.float_fields();
        const unsigned end = view.bit_offset() + view.precision();
        const bool machine = type.is_machine();
        h5mote::fill_bits(mask.data(), view.bit_offset(), view.precision(), false);
        h5mote::fill_bits(mask.data(), f.mantissa, f.mantissa_size, true);
        h5mote::fill_bits(mask.data(), f.exponent, f.exponent_size, true);
        h5mote::fill_bits(mask.data(), f.sign, 1, true);
        h5mote::fill_bits(mask.data(), end, 8 * static_cast<unsigned>(type.size()) - end, !machine);
        if (view.order() == ByteOrder::big) {
            mask = Blob(mask.rbegin(), mask.rend());
        }
    }
    return mask;
}

double number_of(const Type& type, const std::byte* at) {
    Blob copy(at, at + type.size());
    copy.resize(64);
    H5Tconvert(type.id(), H5T_NATIVE_DOUBLE, 1, copy.data(), nullptr, H5P_DEFAULT);
    double value = 0;
    std::memcpy(&value, copy.data(), sizeof(value));
    return value;
}

// Whether libhdf5's result of converting this value is defined.
bool is_defined(const Type& from, const Type& to, const std::byte* at) {
    if (from.view().type_class() != TypeClass::floating || to.view().type_class() != TypeClass::integer) {
        return true;
    }
    const double value = number_of(from, at);
    if (from.is_machine() && to.is_machine()) {
        const double end = std::ldexp(1.0, static_cast<int>(to.view().precision()) - (to.view().is_signed() ? 1 : 0));
        return !std::isnan(value) && std::fabs(value) != end;
    }
    // -infinity is not compared if the integer does not begin at bit 0. (A value too large for a double counts as
    // infinite.)
    return to.view().bit_offset() == 0 || !(value < 0 && std::isinf(value));
}

struct Tally {
    std::uint64_t values = 0;
    std::uint64_t skipped = 0;
    unsigned pairs = 0;
};

// Converts `in` with both libraries and compares the results.
void compare(Bench& bench, const Type& from, const Type& to, const Blob& in, Tally& tally) {
    const std::size_t count = in.size() / from.size();
    Conversion conversion;
    const Status prepared = conversion.prepare(bench.context, from.view(), to.view());
    // Call H5Tconvert() for each value: libhdf5 1.10 carries the fact that a value was denormal over to the rounding of
    // the values after it.
    Blob theirs(count * to.size());
    Blob value(std::max(from.size(), to.size()));
    Blob background(to.size());
    herr_t converted = 0;
    for (std::size_t i = 0; i < count && converted >= 0; ++i) {
        std::memcpy(value.data(), &in[i * from.size()], from.size());
        converted = H5Tconvert(from.id(), to.id(), 1, value.data(), background.data(), H5P_DEFAULT);
        std::memcpy(&theirs[i * to.size()], value.data(), to.size());
    }
    ASSERT_EQ(prepared == Status::ok, converted >= 0) << to_string(prepared) << "\n"
                                                      << hex(from.message()) << "\n"
                                                      << hex(to.message());
    if (converted < 0) {
        return;
    }
    ++tally.pairs;
    Blob ours(count * to.size());
    ASSERT_EQ(conversion.run(count, in.data(), from.size(), ours.data(), to.size()), Status::ok);
    const Blob mask = significant(to);
    for (std::size_t i = 0; i < count; ++i) {
        bool same = true;
        for (std::size_t k = 0; k < to.size(); ++k) {
            const std::size_t at = i * to.size() + k;
            same = same && ((ours[at] ^ theirs[at]) & mask[k]) == std::byte{0};
        }
        ++tally.values;
        if (!same && !is_defined(from, to, &in[i * from.size()])) {
            ++tally.skipped;
            continue;
        }
        ASSERT_TRUE(same) << "from " << hex(from.message()) << "\nto   " << hex(to.message()) << "\nvalue  "
                          << hex(in, i * from.size(), from.size()) << "\nours   " << hex(ours, i * to.size(), to.size())
                          << "\nlibhdf5 " << hex(theirs, i * to.size(), to.size());
    }
}

class Values {
public:
    explicit Values(unsigned seed) : random_(seed) {}

    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    bool one_in(unsigned n) { return below(n) == 0; }

    // Random values of all magnitudes, with many zeros and ones in a row, and the smallest and largest values.
    Blob of(const Type& type, std::size_t count) {
        Blob values(count * type.size());
        for (std::size_t i = 0; i < count; ++i) {
            Blob value(type.size());
            fill(type.view(), value);
            if (type.view().order() == ByteOrder::big) {
                value = Blob(value.rbegin(), value.rend());
            } else if (type.view().order() == ByteOrder::vax) {
                for (std::size_t k = 0; k < value.size() / 2; k += 2) {
                    std::swap_ranges(&value[k], &value[k] + 2, &value[value.size() - 2 - k]);
                }
            }
            std::memcpy(&values[i * type.size()], value.data(), type.size());
        }
        return values;
    }

    Blob integer_message(TypeClass type, unsigned max_size) {
        const unsigned size = 1 + below(max_size);
        const unsigned precision = 1 + below(8 * size);
        const unsigned offset = below(8 * size - precision + 1);
        const bool whole = one_in(3);
        const unsigned flags = type == TypeClass::integer ? below(16) : below(8);
        return message(static_cast<unsigned>(type) | 0x10U, flags, 0, size, whole ? 0 : offset,
                       whole ? 8 * size : precision);
    }

    Blob float_message(unsigned order) {
        const unsigned size = order == 0x41 ? 4U << below(2) : 2 + below(15);
        const unsigned bits = 8 * size;
        const unsigned exponent_size = 2 + below(std::min(16U, bits / 2 - 2));
        const unsigned mantissa_size = 1 + below(std::min(112U, bits - exponent_size - 2));
        const unsigned fields = 1 + exponent_size + mantissa_size;
        const unsigned precision = one_in(2) ? fields : (fields + 7) / 8 * 8;
        const unsigned offset = one_in(2) ? 0 : below(bits - precision + 1);
        // The fields in any order, except that the sign is not directly above a mantissa whose leading bit is stored:
        // libhdf5 damages the sign then.
        const unsigned layout = below(2);
        unsigned sign = offset + fields - 1;
        unsigned exponent = offset + mantissa_size;
        unsigned mantissa = offset;
        if (layout == 1) {
            exponent = offset;
            sign = offset + exponent_size;
            mantissa = sign + 1;
        }
        const bool normal = one_in(2);
        const unsigned half = (1U << (exponent_size - 1)) - 1;
        const unsigned bias = one_in(2) ? half : half / 2 + below(half + 1);
        Blob bytes = message(order == 0x41 ? 0x31 : 0x11, order | below(4) << 1 | (normal ? 0x20U : 0U), sign, size,
                             offset, precision);
        for (const unsigned field : {exponent, exponent_size, mantissa, mantissa_size}) {
            bytes.push_back(static_cast<std::byte>(field));
        }
        for (unsigned i = 0; i < 4; ++i) {
            bytes.push_back(static_cast<std::byte>(bias >> (8 * i)));
        }
        return bytes;
    }

private:
    static Blob message(unsigned head, unsigned flags, unsigned sign, unsigned size, unsigned offset,
                        unsigned precision) {
        Blob bytes;
        for (const unsigned byte :
             {head, flags, sign, 0U, size, 0U, 0U, 0U, offset & 0xff, offset >> 8, precision & 0xff, precision >> 8}) {
            bytes.push_back(static_cast<std::byte>(byte));
        }
        return bytes;
    }

    void fill_random(std::byte* to, unsigned at, unsigned count) {
        const unsigned kind = below(6);
        for (unsigned i = 0; i < count; ++i) {
            const bool bit = kind == 0 ? false : kind == 1 ? true : one_in(2);
            h5mote::put_bits(to, at + i, 1, bit ? 1 : 0);
        }
        if (kind >= 4) {
            const unsigned run = below(count + 1);
            h5mote::fill_bits(to, at + (kind == 4 ? 0 : run), kind == 4 ? run : count - run, one_in(2));
        }
        if (one_in(4)) {
            h5mote::put_bits(to, at + below(count), 1, below(2));
        }
    }

    void fill(DatatypeView type, Blob& value) {
        for (std::byte& byte : value) {
            byte = static_cast<std::byte>(below(256));
        }
        if (type.type_class() == TypeClass::floating) {
            const FloatFields f = type.float_fields();
            fill_random(value.data(), f.mantissa, f.mantissa_size);
            fill_random(value.data(), f.exponent, f.exponent_size);
            if (!one_in(4)) {
                // Exponents near that of 1, where the values of integers and the limits of other types lie.
                const unsigned around = one_in(2) ? 140 : 20;
                h5mote::put_bits(value.data(), f.exponent, f.exponent_size, f.bias - around / 2 + below(around));
            }
            // If the leading bit is stored, processors accept only numbers that have it set, except denormal ones.
            const bool denormal = h5mote::top_bit(value.data(), f.exponent, f.exponent_size, true) < 0;
            if (f.normalization == 0) {
                h5mote::put_bits(value.data(), f.mantissa + f.mantissa_size - 1U, 1, denormal ? 0 : 1);
            }
        } else {
            fill_random(value.data(), type.bit_offset(), type.precision());
        }
    }

    std::mt19937 random_;
};

class ConversionBesideLibhdf5 : public testing::Test {
protected:
    static void SetUpTestSuite() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }
    void TearDown() override {
        EXPECT_EQ(bench_->arena.usage().now, 0U);
        std::printf("%u pairs of types, %llu values, %llu not defined\n", tally_.pairs,
                    static_cast<unsigned long long>(tally_.values), static_cast<unsigned long long>(tally_.skipped));
    }

    std::unique_ptr<Bench> bench_ = std::make_unique<Bench>();
    Tally tally_;
    Values values_{42};
};

TEST_F(ConversionBesideLibhdf5, NumbersOfProcessorsInBothOrders) {
    const hid_t types[] = {H5T_STD_I8LE,      H5T_STD_U8LE,   H5T_STD_I16LE,  H5T_STD_U16LE,  H5T_STD_I32LE,
                           H5T_STD_U32LE,     H5T_STD_I64LE,  H5T_STD_U64LE,  H5T_STD_I8BE,   H5T_STD_U8BE,
                           H5T_STD_I16BE,     H5T_STD_U16BE,  H5T_STD_I32BE,  H5T_STD_U32BE,  H5T_STD_I64BE,
                           H5T_STD_U64BE,     H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE,
                           H5T_NATIVE_LDOUBLE};
    for (const hid_t from_id : types) {
        for (const hid_t to_id : types) {
            const Type from(H5Tcopy(from_id));
            const Type to(H5Tcopy(to_id));
            compare(*bench_, from, to, values_.of(from, 10000), tally_);
            ASSERT_FALSE(HasFatalFailure());
        }
    }
    EXPECT_EQ(tally_.pairs, 441U);
    EXPECT_LT(tally_.skipped, tally_.values / 50);
}

TEST_F(ConversionBesideLibhdf5, IntegersOfAnyPrecision) {
    for (unsigned i = 0; i < 8000; ++i) {
        const Type from(values_.integer_message(TypeClass::integer, i % 8 == 0 ? 60 : 10));
        const Type to(values_.integer_message(TypeClass::integer, i % 8 == 1 ? 60 : 10));
        compare(*bench_, from, to, values_.of(from, 200), tally_);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_EQ(tally_.pairs, 8000U);
}

TEST_F(ConversionBesideLibhdf5, BitFields) {
    for (unsigned i = 0; i < 3000; ++i) {
        const Type from(values_.integer_message(TypeClass::bitfield, 10));
        const Type to(values_.integer_message(TypeClass::bitfield, 10));
        compare(*bench_, from, to, values_.of(from, 100), tally_);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_EQ(tally_.pairs, 3000U);
}

TEST_F(ConversionBesideLibhdf5, FloatsOfAnyLayout) {
    const hid_t known[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE, H5T_NATIVE_LDOUBLE};
    for (unsigned i = 0; i < 12000; ++i) {
        const unsigned order = values_.one_in(5) ? 0x41 : values_.below(2);
        const Type from(i % 3 == 0 ? Type(H5Tcopy(known[i / 3 % 5])).message() : values_.float_message(order));
        const Type to(i % 3 == 1 ? Type(H5Tcopy(known[i / 3 % 5])).message() : values_.float_message(values_.below(2)));
        compare(*bench_, from, to, values_.of(from, 150), tally_);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_GE(tally_.pairs, 11900U);
}

TEST_F(ConversionBesideLibhdf5, IntegersToFloatsOfAnyLayout) {
    for (unsigned i = 0; i < 8000; ++i) {
        const Type from(values_.integer_message(TypeClass::integer, 9));
        const Type to(values_.float_message(values_.one_in(5) ? 0x41 : values_.below(2)));
        if (from.view().precision() > to.view().float_fields().mantissa_size + 60U) {
            continue;
        }
        compare(*bench_, from, to, values_.of(from, 150), tally_);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_GE(tally_.pairs, 6000U);
}

TEST_F(ConversionBesideLibhdf5, FloatsOfAnyLayoutToIntegers) {
    for (unsigned i = 0; i < 8000; ++i) {
        const Type from(values_.float_message(values_.one_in(5) ? 0x41 : values_.below(2)));
        const Type to(values_.integer_message(TypeClass::integer, 10));
        const FloatFields f = from.view().float_fields();
        if (std::max<unsigned>(f.mantissa_size, to.view().precision()) < (1U << f.exponent_size)) {
            compare(*bench_, from, to, values_.of(from, 250), tally_);
            ASSERT_FALSE(HasFatalFailure());
        }
    }
    EXPECT_GE(tally_.pairs, 3000U);
}

// Random nested types. Converted values are compared as a whole, including members that the source lacks.
class Types {
public:
    explicit Types(Values& values) : values_(values) {}

    // A type and another one that mostly has the same structure.
    std::pair<hid_t, hid_t> pair(unsigned depth) {
        switch (values_.below(depth == 0 ? 4 : 7)) {
            case 0:
                return {integer(), integer()};
            case 1:
                return {floating(), floating()};
            case 2:
                return {text(), text()};
            case 3:
                return enumerations();
            case 4:
                return arrays(depth - 1);
            default:
                return compounds(depth - 1);
        }
    }

private:
    hid_t integer() {
        const hid_t all[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_U64LE, H5T_STD_I16LE};
        return H5Tcopy(all[values_.below(6)]);
    }
    hid_t floating() {
        const hid_t all[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
        return H5Tcopy(all[values_.below(3)]);
    }
    hid_t text() {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 1 + values_.below(6));
        const H5T_str_t paddings[] = {H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD};
        H5Tset_strpad(type, paddings[values_.below(3)]);
        return type;
    }
    // The second enumeration has all names of the first, with other values and in another order.
    std::pair<hid_t, hid_t> enumerations() {
        const hid_t bases[] = {H5T_STD_I8LE, H5T_STD_I16BE, H5T_STD_I32LE};
        const std::pair<hid_t, hid_t> types{H5Tenum_create(bases[values_.below(3)]),
                                            H5Tenum_create(bases[values_.below(3)])};
        for (unsigned i = 0; i < 5; ++i) {
            const unsigned other = 4 - i;
            const std::int32_t value = static_cast<std::int32_t>(i * 0x01010101U);
            const std::int32_t new_value = static_cast<std::int32_t>((other + 3) * 0x01010101U);
            if (i != 2) {
                H5Tenum_insert(types.first, std::string(1, static_cast<char>('a' + i)).c_str(), &value);
            }
            H5Tenum_insert(types.second, std::string(1, static_cast<char>('a' + other)).c_str(), &new_value);
        }
        return types;
    }
    std::pair<hid_t, hid_t> arrays(unsigned depth) {
        const std::pair<hid_t, hid_t> base = pair(depth);
        const hsize_t dims[2] = {1 + values_.below(3), 1 + values_.below(3)};
        const unsigned rank = 1 + values_.below(2);
        const std::pair<hid_t, hid_t> types{H5Tarray_create2(base.first, rank, dims),
                                            H5Tarray_create2(base.second, rank, dims)};
        H5Tclose(base.first);
        H5Tclose(base.second);
        return types;
    }
    std::pair<hid_t, hid_t> compounds(unsigned depth) {
        std::vector<std::pair<std::string, std::pair<hid_t, hid_t>>> members;
        std::size_t size = 0;
        for (unsigned i = 0; i < 4; ++i) {
            members.emplace_back(std::string("m") + std::to_string(i), pair(depth));
            size += H5Tget_size(members.back().second.first) + H5Tget_size(members.back().second.second) + 4;
        }
        const std::pair<hid_t, hid_t> types{H5Tcreate(H5T_COMPOUND, size), H5Tcreate(H5T_COMPOUND, size)};
        std::size_t at = 0;
        std::size_t to_at = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const auto& from = members[i];
            const auto& to = members[3 - i];
            // Now and then a member is on one side only.
            if (!values_.one_in(6)) {
                H5Tinsert(types.first, from.first.c_str(), at, from.second.first);
            }
            if (!values_.one_in(6) || i == 0) {
                H5Tinsert(types.second, to.first.c_str(), to_at, to.second.second);
            }
            at += H5Tget_size(from.second.first) + values_.below(3);
            to_at += H5Tget_size(to.second.second) + values_.below(3);
        }
        if (H5Tget_nmembers(types.first) == 0) {
            H5Tinsert(types.first, "m0", 0, members[0].second.first);
        }
        for (const auto& member : members) {
            H5Tclose(member.second.first);
            H5Tclose(member.second.second);
        }
        return types;
    }

    Values& values_;
};

TEST_F(ConversionBesideLibhdf5, NestedTypes) {
    Types types(values_);
    for (unsigned i = 0; i < 4000; ++i) {
        const std::pair<hid_t, hid_t> ids = types.pair(3);
        const Type from(ids.first);
        const Type to(ids.second);
        // Half of the bytes are small numbers, so that enumeration values have names and strings have an end.
        Blob in(20 * from.size());
        for (std::byte& byte : in) {
            byte = static_cast<std::byte>(values_.one_in(2) ? values_.below(6) : values_.below(256));
        }
        compare(*bench_, from, to, in, tally_);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_GE(tally_.pairs, 3000U);
}

TEST_F(ConversionBesideLibhdf5, NativeTypesAreThoseOfLibhdf5) {
    Types types(values_);
    unsigned compared = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        const std::pair<hid_t, hid_t> ids = types.pair(3);
        const Type first(ids.first);
        const Type second(ids.second);
        const Type number(i % 2 == 0 ? values_.integer_message(i % 4 == 0 ? TypeClass::integer : TypeClass::bitfield, 9)
                                     : values_.float_message(0));
        for (const Type* type : {&first, &second, &number}) {
            const hid_t theirs = H5Tget_native_type(type->id(), H5T_DIR_ASCEND);
            if (theirs < 0) {
                continue;
            }
            Blob buffer(h5mote::native_type_length(type->view()));
            DatatypeView native;
            ASSERT_EQ(h5mote::native_type(type->view(), {buffer.data(), buffer.size()}, native), Status::ok);
            std::size_t length = 0;
            h5mote::Feature feature = h5mote::Feature::none;
            ASSERT_EQ(h5mote::validate_datatype(native.bytes(), length, feature), Status::ok) << hex(buffer);
            ASSERT_EQ(length, buffer.size());
            const Type ours(buffer);
            ASSERT_GT(H5Tequal(ours.id(), theirs), 0) << hex(type->message()) << "\n" << hex(buffer);
            const Type encoded(theirs);
            ASSERT_TRUE(h5mote::equal(native, encoded.view()));
            ++compared;
        }
    }
    EXPECT_GE(compared, 8000U);
}

// Compares equal() with libhdf5 for pairs of types that differ a little or not at all.
TEST_F(ConversionBesideLibhdf5, EqualTypes) {
    unsigned same = 0;
    for (unsigned i = 0; i < 20000; ++i) {
        Blob message = i % 2 == 0 ? values_.integer_message(i % 4 == 0 ? TypeClass::integer : TypeClass::bitfield, 9)
                                  : values_.float_message(values_.one_in(4) ? 0x41 : values_.below(2));
        const Type one(message);
        message[values_.one_in(3) ? 0 : 1 + values_.below(static_cast<unsigned>(message.size()) - 1)] ^=
            static_cast<std::byte>(values_.one_in(3) ? 0x10 : 1U << values_.below(8));
        std::size_t length = 0;
        h5mote::Feature feature = h5mote::Feature::none;
        if (h5mote::validate_datatype({message.data(), message.size()}, length, feature) != Status::ok) {
            continue;
        }
        const Type other(message);
        if (other.id() < 0) {
            continue;
        }
        const bool expected = H5Tequal(one.id(), other.id()) > 0;
        ASSERT_EQ(h5mote::equal(one.view(), other.view()), expected) << hex(one.message()) << "\n"
                                                                     << hex(other.message());
        same += expected ? 1 : 0;
        ++tally_.pairs;
    }
    EXPECT_GE(same, 500U);
    EXPECT_GE(tally_.pairs, 8000U);
}

}  // namespace
