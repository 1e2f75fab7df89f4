// Datatype messages as h5py 3.7 over libhdf5 1.10.8 writes them (committed types; version bounds 1.10, and "earliest"
// for the versions 1 and 2), for the tests of datatypes.
#pragma once

#include <h5mote/config.hpp>
#include <h5mote/span.hpp>

#include <cstddef>

namespace h5mote_test {

// Without this a build validates only datatypes that it can store, in the newest versions of the message.
inline constexpr bool kAllTypes = H5MOTE_ALL_FORMATS != 0;

template <std::size_t N>
struct Message {
    std::byte bytes[N / 2]{};
    constexpr h5mote::ConstBytes view() const noexcept { return {bytes, N / 2}; }
};

constexpr unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

/// Bytes from hexadecimal digits.
template <std::size_t N>
constexpr Message<N - 1> hex(const char (&text)[N]) {
    Message<N - 1> message;
    for (std::size_t i = 0; i + 1 < N; i += 2) {
        message.bytes[i / 2] = static_cast<std::byte>(digit(text[i]) << 4 | digit(text[i + 1]));
    }
    return message;
}

inline constexpr auto kInt8 = hex("100800000100000000000800");
inline constexpr auto kUint16 = hex("100000000200000000001000");
inline constexpr auto kInt64Big = hex("100900000800000000004000");
inline constexpr auto kFloat32Le = hex("11201f000400000000002000170800177f000000");
inline constexpr auto kFloat32Be = hex("11211f000400000000002000170800177f000000");
inline constexpr auto kFloat64Le = hex("11203f000800000000004000340b0034ff030000");
inline constexpr auto kFloat64Be = hex("11213f000800000000004000340b0034ff030000");
inline constexpr auto kFloat16 = hex("11200f0002000000000010000a05000a0f000000");
inline constexpr auto kLongDouble = hex("11004f001000000000005000400f0040ff3f0000");
inline constexpr auto kBitfield8 = hex("140000000100000000000800");
inline constexpr auto kBitfield32Big = hex("140100000400000000002000");
inline constexpr auto kString5 = hex("1301000005000000");
inline constexpr auto kString5SpaceUtf8 = hex("1312000005000000");
inline constexpr auto kOpaque = hex("1500000003000000");
inline constexpr auto kOpaqueAbc = hex("15080000030000006162630000000000");
inline constexpr auto kOpaqueTag8 = hex("15080000030000003132333435363738");
inline constexpr auto kBool = hex("380200000100000010080000010000000000080046414c53450054525545000001");
inline constexpr auto kEnumBig = hex("380200000200000010090000020000000000100041006c6f6e675f6e616d6500fffd0005");
inline constexpr auto kArray3 = hex("3a000000060000000103000000100800000200000000001000");
inline constexpr auto kArray2x3 = hex("3a0000001800000002020000000300000011201f000400000000002000170800177f000000");
inline constexpr auto kArray2Of3 = hex("3a0000000c00000001020000003a000000060000000103000000100800000200000000001000");
// struct { uint32 t_ms; int16 accel[3]; float temp_c; }, 16 bytes
inline constexpr auto kSample =
    hex("3603000010000000745f6d730000100000000400000000002000616363656c00043a000000060000000103000000"
        "10080000020000000000100074656d705f63000c11201f000400000000002000170800177f000000");
// { a: uint8 at 0, s: kSample's struct at 256 }, 300 bytes: member offsets take two bytes
inline constexpr auto kNested =
    hex("360200002c01000061000000100000000100000000000800730000013603000010000000745f6d73000010000000"
        "0400000000002000616363656c00043a00000006000000010300000010080000020000000000100074656d705f63"
        "000c11201f000400000000002000170800177f000000");
// 70000 bytes: member offsets take three bytes
inline constexpr auto kBig = hex("36010000701101006100d00101100000000100000000000800");
inline constexpr auto kSize255 = hex("36010000ff0000006100fe100000000100000000000800");
inline constexpr auto kSize256 = hex("36010000000100006100fe00100000000100000000000800");
// { s: string 5, o: opaque "abc", e: enum16be, b: bitfield 16 big, d: float64 big }
inline constexpr auto kMixed =
    hex("360500001800000073000013010000050000006f000515080000030000006162630000000000650008380200000200000010"
        "090000020000000000100041006c6f6e675f6e616d6500fffd000562000a14010000020000000000100064000c11213f0008"
        "00000000004000340b0034ff030000");
inline constexpr auto kComplexAsCompound =
    hex("360200000800000072000011201f000400000000002000170800177f00000069000411201f000400000000002000170800177f"
        "000000");
inline constexpr auto kVariableStringUtf8 = hex("1901010010000000100000000100000000000800");
inline constexpr auto kVariableInt32 = hex("1900000010000000100800000400000000002000");
inline constexpr auto kRegionReference = hex("170100000c000000");
inline constexpr auto kReference = hex("1700000008000000");
inline constexpr auto kTime = hex("12000000040000002000");

// Version 1: only t_ms and temp_c of kSample. Version 2: all of kSample, and the zeros that pad the message.
inline constexpr auto kVersion1 =
    hex("1602000010000000745f6d730000000000000000000000000000000000000000000000000000000000000000000000001000"
        "0000040000000000200074656d705f6300000c0000000000000000000000000000000000000000000000000000000000000011"
        "201f000400000000002000170800177f000000");
inline constexpr auto kVersion2 =
    hex("2603000010000000745f6d730000000000000000100000000400000000002000616363656c000000040000002a0000000600"
        "000001000000030000000000000010080000020000000000100074656d705f6300000c00000011201f000400000000002000"
        "170800177f00000000000000");
inline constexpr auto kVersion1Enum =
    hex("180200000200000010090000020000000000100041000000000000006c6f6e675f6e616d6500000000000000fffd0005");
inline constexpr auto kVersion2Array =
    hex("2a0000000c0000000200000002000000030000000000000001000000100800000200000000001000");

}  // namespace h5mote_test
