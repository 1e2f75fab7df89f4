#include "write.hpp"

#include <h5mote/compound.hpp>

#include <cstring>

namespace h5mote_interop {

using h5mote::ByteOrder;
using h5mote::Dataspace;
using h5mote::DatatypeView;
using namespace h5mote;

namespace {

enum class Mode : std::int8_t { off = 0, on = 1, automatic = -1 };
H5MOTE_ENUM(Mode, off, on, automatic)

struct Vector {
    double x;
    double y;
    double z;
};
H5MOTE_COMPOUND(Vector, x, y, z)

struct Record {
    std::uint16_t id;
    Vector position;
    Mode mode;
    std::uint8_t grid[2][2];
    char label[6];
    bool valid;
    FixedString<8, StringPadding::null_terminated, CharacterSet::utf8> unit;
    std::array<float, 3> gains;
    std::byte raw[5];
};
H5MOTE_COMPOUND(Record, id, position, mode, grid, label, valid, unit, gains, raw)

template <std::size_t... I>
std::vector<DatatypeView> numbers(std::index_sequence<I...>) {
    // Integers of 8 to 64 bits in both byte orders, signed and unsigned, and bit fields.
    static constexpr EncodedType<12> kNumbers[] = {
        make_integer(std::size_t{1} << (I % 4), I / 4 % 2 != 0, I / 8 % 2 != 0 ? ByteOrder::big : ByteOrder::little)...,
        make_bitfield(std::size_t{1} << (I % 4), I / 4 % 2 != 0 ? ByteOrder::big : ByteOrder::little)...};
    std::vector<DatatypeView> types;
    for (std::size_t i = 0; i < 24; ++i) {
        types.push_back(kNumbers[i]);
    }
    return types;
}

constexpr EncodedType<20> kFloats[] = {make_float(4), make_float(4, ByteOrder::big), make_float(8),
                                       make_float(8, ByteOrder::big)};
constexpr EncodedType<8> kStrings[] = {make_string(1, StringPadding::null_padded, CharacterSet::ascii),
                                       make_string(12, StringPadding::null_padded, CharacterSet::utf8),
                                       make_string(12, StringPadding::null_terminated, CharacterSet::ascii),
                                       make_string(7, StringPadding::null_terminated, CharacterSet::utf8),
                                       make_string(12, StringPadding::space_padded, CharacterSet::ascii),
                                       make_string(12, StringPadding::space_padded, CharacterSet::utf8)};
constexpr auto kOpaque1 = make_opaque(1, "one");
constexpr auto kOpaque8 = make_opaque(8, "eight bytes");
constexpr auto kOpaque5 = make_opaque(5, "");
constexpr auto kEnum1 = make_enum<std::int8_t>(ByteOrder::little, enumerator("A", 0), enumerator("B", 1));
constexpr auto kEnum2 = make_enum<std::uint16_t>(ByteOrder::big, enumerator("LOW", 0), enumerator("HIGH", 65535));
constexpr auto kEnum4 = make_enum<std::int32_t>(ByteOrder::little, enumerator("NEGATIVE", -5), enumerator("ZERO", 0),
                                                enumerator("LARGE", 2000000000));
constexpr auto kEnum8 =
    make_enum<std::int64_t>(ByteOrder::big, enumerator("A", -9000000000), enumerator("B", 9000000000));
constexpr auto kArray1 = make_array(make_integer(2, true), 3U);
constexpr auto kArray3 = make_array(make_integer(1, false), 2U, 1U, 3U);
constexpr auto kArrayOfArray = make_array(make_array(make_integer(4, true, ByteOrder::big), 3U), 2U);
constexpr auto kArrayOfText = make_array(make_string(4, StringPadding::null_terminated), 2U);
constexpr auto kArrayOfEnum = make_array(kEnum1, 4U);
constexpr auto kGaps =
    make_compound<24>(member("b", 17, make_integer(4, true, ByteOrder::big)), member("a", 1, make_float(8)));
constexpr auto kDeep = make_compound<40>(
    member("deep", 8,
           make_compound<32>(
               member("deeper", 4,
                      make_array(make_compound<13>(member("v", 0, make_integer(4, true)),
                                                   member("w", 5, make_array(make_float(4, ByteOrder::big), 2U))),
                                 2U)))));
constexpr auto kWide =
    make_compound<300>(member("first", 0, make_integer(1, true)), member("last", 299, make_integer(1, true)));

}  // namespace

std::vector<DatatypeView> all_types() {
    std::vector<DatatypeView> types = numbers(std::make_index_sequence<16>{});
    types.insert(types.end(), std::begin(kFloats), std::end(kFloats));
    types.insert(types.end(), std::begin(kStrings), std::end(kStrings));
    for (const DatatypeView type : {kOpaque1.view(),
                                    kOpaque8.view(),
                                    kOpaque5.view(),
                                    kEnum1.view(),
                                    kEnum2.view(),
                                    kEnum4.view(),
                                    kEnum8.view(),
                                    kArray1.view(),
                                    kArray3.view(),
                                    kArrayOfArray.view(),
                                    kArrayOfText.view(),
                                    kArrayOfEnum.view(),
                                    kGaps.view(),
                                    kDeep.view(),
                                    kWide.view(),
                                    packed_type_of<Record>(),
                                    packed_type_of<Vector>(),
                                    file_type_of<Vector>(),
                                    file_type_of<bool>(),
                                    file_type_of<Mode>()}) {
        types.push_back(type);
    }
    return types;
}

void write_types(const std::string& folder, const Variant& variant) {
    Session file(folder + "/types" + variant.suffix(), variant.options());
    const std::vector<DatatypeView> types = all_types();
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string group = "/types" + std::to_string(i);
        file.group(group);
        file.dataset(group + "/scalar", types[i], Dataspace::scalar());
        file.dataset(group + "/line", types[i], Dataspace::simple({7}));
        DatasetCreate create;
        create.layout = Layout::compact;
        file.dataset(group + "/compact", types[i], Dataspace::simple({2, 2}), create);
        create.layout = Layout::chunked;
        create.chunk = {4};
        file.dataset(group + "/chunks", types[i], Dataspace::unlimited(), create);
        for (const char* name : {"/scalar", "/line", "/compact"}) {
            file.fill(group + name);
        }
        file.append(group + "/chunks", 11, 3);
    }
    file.close();
}

namespace {

template <typename To, typename From>
Blob stored(const std::vector<From>& values, ByteOrder order) {
    Blob out;
    for (const From value : values) {
        const To to = static_cast<To>(value);
        std::byte bytes[sizeof(To)];
        std::memcpy(bytes, &to, sizeof to);
        for (std::size_t i = 0; i < sizeof to; ++i) {
            out.push_back(bytes[order == kNativeOrder ? i : sizeof to - 1 - i]);
        }
    }
    return out;
}

template <typename To, typename From>
void convert(Session& file, const std::string& path, const std::vector<From>& values) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const std::string name = path + (order == ByteOrder::big ? "_be" : "_le");
        const EncodedType<20> floating = make_float(sizeof(To) < 4 ? 4 : sizeof(To), order);
        const EncodedType<12> integer = make_integer(sizeof(To), std::is_signed_v<To>, order);
        file.dataset(name, std::is_floating_point_v<To> ? floating.view() : integer.view(),
                     Dataspace::simple({values.size()}));
        file.convert(name, datatype_of<From>(), as_bytes(Span<const From>(values.data(), values.size())),
                     stored<To>(values, order));
    }
}

// Conversion matches compound members by name. `unused` is missing in the file and `only_here` in memory; the others
// have another width, byte order or place.
struct Wide {
    std::int64_t t;
    float unused;
    double value;
    std::int16_t pair[2];
};
H5MOTE_COMPOUND(Wide, t, unused, value, pair)

constexpr auto kNarrow = make_compound<20>(
    member("value", 0, make_float(4, ByteOrder::big)), member("t", 4, make_integer(4, false, ByteOrder::big)),
    member("only_here", 8, make_integer(4, true)), member("pair", 12, make_array(make_integer(4, true), 2U)));

}  // namespace

void write_conversions(const std::string& folder, const Variant& variant) {
    Session file(folder + "/conversions" + variant.suffix(), variant.options());
    const std::vector<std::int32_t> small = {0, 1, -1, 100, -100, 127, -128};
    const std::vector<std::uint16_t> natural = {0, 1, 127, 100};
    const std::vector<double> real = {0.0, 1.5, -2.25, 1e10, -0.125};
    const std::vector<float> single = {0.0F, 1.5F, -2.25F, 1e10F, -0.125F};
    convert<std::int8_t>(file, "/i4_i1", small);
    convert<std::int16_t>(file, "/i4_i2", small);
    convert<std::int64_t>(file, "/i4_i8", small);
    convert<std::uint8_t>(file, "/u2_u1", natural);
    convert<std::int8_t>(file, "/u2_i1", natural);
    convert<std::uint64_t>(file, "/u2_u8", natural);
    convert<float>(file, "/f8_f4", real);
    convert<double>(file, "/f4_f8", single);

    file.dataset("/records", kNarrow, Dataspace::simple({3}));
    const std::vector<Wide> records = {{1, 9.0F, 0.5, {1, -1}}, {70000, 9.0F, -8.0, {2, -2}}, {3, 9.0F, 3.25, {3, -3}}};
    Blob expected;
    for (const Wide& record : records) {
        for (const Blob& part :
             {stored<float>(std::vector<double>{record.value}, ByteOrder::big),
              stored<std::uint32_t>(std::vector<std::int64_t>{record.t}, ByteOrder::big), Blob(4),
              stored<std::int32_t>(std::vector<std::int16_t>{record.pair[0], record.pair[1]}, ByteOrder::little)}) {
            expected.insert(expected.end(), part.begin(), part.end());
        }
    }
    file.convert("/records", datatype_of<Wide>(), as_bytes(Span<const Wide>(records.data(), records.size())), expected);

    // Structs in the packed form in which the typed interface stores them: the same bytes on every machine.
    DatasetCreate create;
    create.chunk = {16};
    const DatatypeView packed = packed_type_of<Record>();
    file.dataset("/packed", packed, Dataspace::unlimited(), create);
    Dataset dataset = file.open("/packed");
    file.need(dataset.set_memory_type(datatype_of<Record>()), "memory type of", "/packed");
    Blob rows;
    for (std::uint16_t i = 0; i < 50; ++i) {
        Record record{};
        record.id = i;
        record.position = {i * 0.5, i * -0.25, 1.0};
        record.mode = i % 3 == 0 ? Mode::automatic : Mode::on;
        record.grid[1][0] = static_cast<std::uint8_t>(i);
        std::memcpy(record.label, "row", 3);
        record.valid = i % 2 == 0;
        record.unit.assign("µT");
        record.gains = {1.0F, 2.0F, static_cast<float>(i)};
        record.raw[4] = static_cast<std::byte>(i);
        file.need(dataset.append_records(&record, 1), "append to", "/packed");
        for (const Blob& part :
             {stored<std::uint16_t>(std::vector<std::uint16_t>{record.id}, ByteOrder::little),
              stored<double>(std::vector<double>{record.position.x, record.position.y, record.position.z},
                             ByteOrder::little),
              Blob{static_cast<std::byte>(record.mode)}, Blob{std::byte{0}, std::byte{0}, record.raw[4], std::byte{0}},
              unhex("726f77000000"), Blob{static_cast<std::byte>(record.valid ? 1 : 0)}, unhex("c2b5540000000000"),
              stored<float>(std::vector<float>{1.0F, 2.0F, static_cast<float>(i)}, ByteOrder::little),
              Blob{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, record.raw[4]}}) {
            rows.insert(rows.end(), part.begin(), part.end());
        }
    }
    file.need(dataset.close(), "close", "/packed");
    Entry& entry = file.sidecar().at("/packed");
    entry.data = rows;
    entry.fields["shape"] = "50";
    file.close();
}

}  // namespace h5mote_interop
