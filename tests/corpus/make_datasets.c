/* Datatypes, dataspaces, layouts, fill values, filters, external and virtual data, references. */
#include "make_files.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static hid_t creation(void) { return CHECK(H5Pcreate(H5P_DATASET_CREATE)); }
static hid_t scalar(void) { return CHECK(H5Screate(H5S_SCALAR)); }
static hid_t line(hsize_t size) { return simple_space(1, &size, NULL); }

static void make_numbers(const Form* form) {
    const hid_t file = make_file(form, "numbers", H5P_DEFAULT, 0);
    const struct {
        const char* name;
        hid_t type;
    } types[] = {
        {"i8le", H5T_STD_I8LE},
        {"i8be", H5T_STD_I8BE},
        {"i16le", H5T_STD_I16LE},
        {"i16be", H5T_STD_I16BE},
        {"i32le", H5T_STD_I32LE},
        {"i32be", H5T_STD_I32BE},
        {"i64le", H5T_STD_I64LE},
        {"i64be", H5T_STD_I64BE},
        {"u8le", H5T_STD_U8LE},
        {"u8be", H5T_STD_U8BE},
        {"u16le", H5T_STD_U16LE},
        {"u16be", H5T_STD_U16BE},
        {"u32le", H5T_STD_U32LE},
        {"u32be", H5T_STD_U32BE},
        {"u64le", H5T_STD_U64LE},
        {"u64be", H5T_STD_U64BE},
        {"f32le", H5T_IEEE_F32LE},
        {"f32be", H5T_IEEE_F32BE},
        {"f64le", H5T_IEEE_F64LE},
        {"f64be", H5T_IEEE_F64BE},
        {"vaxf32", H5T_VAX_F32},
        {"vaxf64", H5T_VAX_F64},
        {"long double", H5T_NATIVE_LDOUBLE},
        {"b8le", H5T_STD_B8LE},
        {"b16be", H5T_STD_B16BE},
        {"b32le", H5T_STD_B32LE},
        {"b64be", H5T_STD_B64BE},
    };
    const double values[] = {0,    1,          -1,     127,     128,    255,
                             256,  65535,      -65536, 1e9,     0.1,    3.14159265358979,
                             1e-5, 123456.789, 1e17,   -1e-300, 5e-324, 1.7e308};
    long long whole[COUNT(values)];
    for (size_t i = 0; i < COUNT(values); ++i) {
        whole[i] = fabs(values[i]) < 9e18 ? (long long)values[i] : 1LL << 62;
    }
    for (size_t i = 0; i < COUNT(types); ++i) {
        const H5T_class_t class = H5Tget_class(types[i].type);
        put(file, types[i].name, types[i].type, line(COUNT(values)), H5P_DEFAULT,
            class == H5T_FLOAT     ? H5T_NATIVE_DOUBLE
            : class == H5T_INTEGER ? H5T_NATIVE_LLONG
                                   : H5T_NATIVE_B64,
            class == H5T_FLOAT ? (const void*)values : (const void*)whole);
    }
    const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
    put(file, "not numbers", H5T_IEEE_F32BE, line(4), H5P_DEFAULT, H5T_NATIVE_DOUBLE, special);

    /* Precision, offset, padding, byte counts of no machine. */
    static const size_t kShapes[][4] = {{4, 17, 3, 0}, {3, 24, 0, 0}, {3, 20, 4, 1}, {5, 33, 1, 1},
                                        {8, 40, 0, 0}, {2, 9, 7, 0},  {1, 3, 2, 1}};
    char name[64];
    for (size_t i = 0; i < COUNT(kShapes); ++i) {
        for (int is_signed = 0; is_signed < 2; ++is_signed) {
            const hid_t type = CHECK(H5Tcopy(is_signed ? H5T_STD_I64LE : H5T_STD_U64BE));
            CHECK(H5Tset_precision(type, kShapes[i][1]));
            CHECK(H5Tset_offset(type, 0));
            CHECK(H5Tset_size(type, kShapes[i][0]));
            CHECK(H5Tset_offset(type, kShapes[i][2]));
            CHECK(H5Tset_pad(type, kShapes[i][3] ? H5T_PAD_ONE : H5T_PAD_ZERO, H5T_PAD_ZERO));
            snprintf(name, sizeof name, "%s%d bits", is_signed ? "i" : "u", (int)kShapes[i][1]);
            put(file, name, type, line(COUNT(values)), H5P_DEFAULT, H5T_NATIVE_LLONG, whole);
            CHECK(H5Tclose(type));
        }
    }
    const hid_t half = CHECK(H5Tcopy(H5T_IEEE_F32LE));
    CHECK(H5Tset_fields(half, 15, 10, 5, 0, 10));
    CHECK(H5Tset_size(half, 2));
    CHECK(H5Tset_ebias(half, 15));
    put(file, "f16le", half, line(COUNT(values)), H5P_DEFAULT, H5T_NATIVE_DOUBLE, values);
    CHECK(H5Tclose(half));
    const hid_t odd = CHECK(H5Tcopy(H5T_IEEE_F64BE));
    CHECK(H5Tset_fields(odd, 40, 30, 9, 3, 27));
    CHECK(H5Tset_precision(odd, 41));
    CHECK(H5Tset_size(odd, 6));
    CHECK(H5Tset_ebias(odd, 255));
    put(file, "f41 of 48", odd, line(COUNT(values)), H5P_DEFAULT, H5T_NATIVE_DOUBLE, values);
    CHECK(H5Tclose(odd));
    put(file, "time", H5T_UNIX_D32LE, line(2), H5P_DEFAULT, 0, NULL);
    CHECK(H5Fclose(file));
}

static hid_t text_type(size_t size, H5T_str_t pad, H5T_cset_t set) {
    const hid_t type = CHECK(H5Tcopy(H5T_C_S1));
    CHECK(H5Tset_size(type, size));
    CHECK(H5Tset_strpad(type, pad));
    CHECK(H5Tset_cset(type, set));
    return type;
}

static void make_texts(const Form* form) {
    const hid_t file = make_file(form, "texts", H5P_DEFAULT, 0);
    static const char kWords[4][12] = {"short", "full length!", "t\tn\n\"q\"\\", "\xc3\xa4\x01\xff"};
    static const char* const kNames[] = {"terminated", "nulls", "spaces"};
    char name[64];
    for (int pad = 0; pad < 3; ++pad) {
        for (int set = 0; set < 2; ++set) {
            const hid_t type = text_type(12, (H5T_str_t)pad, (H5T_cset_t)set);
            snprintf(name, sizeof name, "%s %d", kNames[pad], set);
            put(file, name, type, line(4), H5P_DEFAULT, type, kWords);
            CHECK(H5Tclose(type));
        }
    }
    static char many[200][40];
    static const char* words[200];
    for (int i = 0; i < 200; ++i) {
        snprintf(many[i], sizeof many[i], "word %d%.*s", i, i % 30, "------------------------------");
        words[i] = i % 50 == 49 ? NULL : i % 40 == 39 ? "" : many[i];
    }
    for (int set = 0; set < 2; ++set) {
        const hid_t type = text_type(H5T_VARIABLE, H5T_STR_NULLTERM, (H5T_cset_t)set);
        snprintf(name, sizeof name, "variable %d", set);
        put(file, name, type, line(200), H5P_DEFAULT, type, words);
        put_attribute(file, name, type, line(3), type, words);
        put_attribute(file, set ? "one" : "another", type, scalar(), type, words + 1);
        CHECK(H5Tclose(type));
    }
    static char large[70000];
    memset(large, 'x', sizeof large - 1);
    const char* const pointer = large;
    const hid_t type = text_type(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_ASCII);
    put(file, "very long", type, scalar(), H5P_DEFAULT, type, &pointer);
    CHECK(H5Tclose(type));
    put(file, "characters", H5T_STD_I8LE, line(48), H5P_DEFAULT, H5T_NATIVE_CHAR, kWords);
    const hsize_t table[2] = {4, 12};
    put(file, "lines", H5T_STD_U8LE, simple_space(2, table, NULL), H5P_DEFAULT, H5T_NATIVE_UCHAR, kWords);
    CHECK(H5Fclose(file));
}

static hid_t enumeration(hid_t base) {
    static const char* const kNames[] = {"RED", "GREEN", "BLUE", "odd name"};
    const hid_t type = CHECK(H5Tenum_create(base));
    for (int i = 0; i < 4; ++i) {
        const int value = i * i - 1;
        char bytes[16] = {0};
        memcpy(bytes, &value, sizeof value);
        CHECK(H5Tconvert(H5T_NATIVE_INT, base, 1, bytes, NULL, H5P_DEFAULT));
        CHECK(H5Tenum_insert(type, kNames[i], bytes));
    }
    return type;
}

static void make_compounds(const Form* form) {
    const hid_t file = make_file(form, "compounds", H5P_DEFAULT, 0);
    typedef struct {
        short a;
        double b[2][3];
        char c[5];
        int d;
        hvl_t e;
        char* f;
    } Record;
    const hsize_t sides[2] = {2, 3};
    const hid_t array = CHECK(H5Tarray_create2(H5T_NATIVE_DOUBLE, 2, sides));
    const hid_t text = text_type(5, H5T_STR_NULLPAD, H5T_CSET_ASCII);
    const hid_t variable = text_type(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8);
    const hid_t colour = enumeration(H5T_NATIVE_INT);
    const hid_t list = CHECK(H5Tvlen_create(H5T_NATIVE_SHORT));
    const hid_t type = CHECK(H5Tcreate(H5T_COMPOUND, sizeof(Record)));
    CHECK(H5Tinsert(type, "a", HOFFSET(Record, a), H5T_NATIVE_SHORT));
    CHECK(H5Tinsert(type, "b", HOFFSET(Record, b), array));
    CHECK(H5Tinsert(type, "c", HOFFSET(Record, c), text));
    CHECK(H5Tinsert(type, "d", HOFFSET(Record, d), colour));
    CHECK(H5Tinsert(type, "e", HOFFSET(Record, e), list));
    CHECK(H5Tinsert(type, "f", HOFFSET(Record, f), variable));
    short numbers[] = {1, 2, 3, 4};
    const Record records[3] = {{-1, {{1, 2, 3}, {4, 5, 6}}, "abc", 0, {4, numbers}, "first"},
                               {2, {{.5, 0, 0}, {0, 0, 1e30}}, "abcde", 3, {0, NULL}, ""},
                               {3, {{0}}, "", 99, {1, numbers + 2}, NULL}};
    put(file, "records", type, line(3), H5P_DEFAULT, type, records);
    put_attribute(file, "record", type, scalar(), type, records + 1);
    const hid_t packed = CHECK(H5Tcopy(type));
    CHECK(H5Tpack(packed));
    put(file, "packed", packed, line(3), H5P_DEFAULT, type, records);
    const hid_t nested = CHECK(H5Tcreate(H5T_COMPOUND, 2 * sizeof(Record) + 8));
    CHECK(H5Tinsert(nested, "inner", 0, type));
    CHECK(H5Tinsert(nested, "with gap", sizeof(Record) + 8, type));
    Record pair[4];
    memset(pair, 0, sizeof pair);
    memcpy((char*)pair, records, sizeof(Record));
    memcpy((char*)pair + sizeof(Record) + 8, records + 1, sizeof(Record));
    put(file, "nested", nested, scalar(), H5P_DEFAULT, nested, pair);
    CHECK(H5Tcommit2(file, "committed", nested, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_number(nested, "about it", 1);
    put(file, "of committed type", nested, scalar(), H5P_DEFAULT, nested, pair);
    put_attribute(file, "of committed type", nested, scalar(), nested, pair);
    const hid_t over = CHECK(H5Tarray_create2(nested, 1, sides));
    put(file, "array of committed type", over, scalar(), H5P_DEFAULT, 0, NULL);
    const hid_t lists = CHECK(H5Tvlen_create(list));
    hvl_t inner[3] = {{2, numbers}, {0, NULL}, {4, numbers}};
    hvl_t outer[2] = {{3, inner}, {0, NULL}};
    put(file, "lists of lists", lists, line(2), H5P_DEFAULT, lists, outer);
    const hid_t structured = CHECK(H5Tvlen_create(type));
    hvl_t some[2] = {{2, (void*)records}, {1, (void*)(records + 2)}};
    put(file, "lists of records", structured, line(2), H5P_DEFAULT, structured, some);
    hid_t arrays = CHECK(H5Tarray_create2(colour, 2, sides));
    put(file, "array of colours", arrays, line(2), H5P_DEFAULT, 0, NULL);
    CHECK(H5Tclose(arrays));
    const hid_t bases[] = {H5T_STD_I8LE, H5T_STD_I16BE, H5T_STD_I64LE};
    for (int i = 0; i < 3; ++i) {
        char name[32];
        const int colours[5] = {-1, 0, 3, 8, 5};
        const hid_t small = enumeration(bases[i]);
        snprintf(name, sizeof name, "colours %d", i);
        char data[5 * 8];
        for (int k = 0; k < 5; ++k) {
            char one[8];
            memcpy(one, colours + k, 4);
            CHECK(H5Tconvert(H5T_NATIVE_INT, bases[i], 1, one, NULL, H5P_DEFAULT));
            memcpy(data + (size_t)k * H5Tget_size(bases[i]), one, H5Tget_size(bases[i]));
        }
        put(file, name, small, line(5), H5P_DEFAULT, small, data);
        CHECK(H5Tclose(small));
    }
    const hid_t opaque = CHECK(H5Tcreate(H5T_OPAQUE, 7));
    CHECK(H5Tset_tag(opaque, "what it is"));
    put(file, "opaque", opaque, line(2), H5P_DEFAULT, opaque, "0123456789abcd");
    const hid_t all[] = {array, text, variable, colour, list, type, packed, nested, over, lists, structured, opaque};
    for (size_t i = 0; i < COUNT(all); ++i) {
        CHECK(H5Tclose(all[i]));
    }
    CHECK(H5Fclose(file));
}

static void make_spaces(const Form* form) {
    const hid_t file = make_file(form, "dataspaces", H5P_DEFAULT, 0);
    put(file, "null", H5T_STD_I32LE, CHECK(H5Screate(H5S_NULL)), H5P_DEFAULT, 0, NULL);
    const double one = 1.5;
    put(file, "scalar", H5T_IEEE_F32LE, scalar(), H5P_DEFAULT, H5T_NATIVE_DOUBLE, &one);
    hsize_t sizes[32];
    char name[32];
    static int values[1024];
    for (int i = 0; i < 1024; ++i) {
        values[i] = i;
    }
    for (int rank = 1; rank <= 32; rank += rank < 6 ? 1 : 13) {
        for (int i = 0; i < 32; ++i) {
            sizes[i] = rank < 6 ? (hsize_t)(2 + i % 3) : i % 9 == 4 ? 2 : 1;
        }
        snprintf(name, sizeof name, "rank %d", rank);
        put(file, name, H5T_STD_U16LE, simple_space(rank, sizes, NULL), H5P_DEFAULT, H5T_NATIVE_INT, values);
    }
    const hsize_t none[2] = {0, 5};
    put(file, "empty", H5T_STD_I32LE, simple_space(2, none, NULL), H5P_DEFAULT, 0, NULL);
    CHECK(H5Fclose(file));
}

/* One dataset for each way to find chunks, with all chunks, with some, with none. */
static void make_layouts(const Form* form) {
    static const struct {
        const char* name;
        hsize_t size[2];
        hsize_t most[2];
        hsize_t chunk[2];
        int early;
    } kWays[] = {
        {"single", {7, 9}, {7, 9}, {7, 9}, 0},
        {"implicit", {7, 9}, {7, 9}, {3, 4}, 1},
        {"fixed", {7, 9}, {7, 9}, {3, 4}, 0},
        {"fixed limit", {7, 9}, {20, 9}, {3, 4}, 0},
        {"fixed paged", {60, 40}, {60, 40}, {1, 1}, 0},
        {"extensible", {7, 9}, {H5S_UNLIMITED, 9}, {3, 4}, 0},
        {"extensible second", {7, 9}, {7, H5S_UNLIMITED}, {3, 4}, 0},
        {"extensible paged", {3000, 1}, {H5S_UNLIMITED, 1}, {1, 1}, 0},
        {"tree", {7, 9}, {H5S_UNLIMITED, H5S_UNLIMITED}, {3, 4}, 0},
        {"tree deep", {60, 30}, {H5S_UNLIMITED, H5S_UNLIMITED}, {1, 1}, 0},
    };
    static int values[3000];
    for (int i = 0; i < 3000; ++i) {
        values[i] = i * 3 - 1000;
    }
    const hid_t file = make_file(form, "chunks", H5P_DEFAULT, 0);
    for (size_t way = 0; way < COUNT(kWays); ++way) {
        for (int kind = 0; kind < 8; ++kind) {
            const int filtered = kind & 1;
            const int written = kind >> 1; /* all, some, none, all but partial chunks are not filtered */
            if ((written == 3 && (!filtered || !is_new(form))) || (filtered && kWays[way].early) ||
                (kWays[way].size[0] > 30 && written != 0)) {
                continue;
            }
            const hid_t dcpl = creation();
            const int fill = -9;
            CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
            CHECK(H5Pset_chunk(dcpl, 2, kWays[way].chunk));
            if (filtered) {
                CHECK(H5Pset_deflate(dcpl, 9));
            }
            if (written == 3) {
                CHECK(H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
            }
            if (kWays[way].early) {
                CHECK(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY));
            }
            char name[64];
            snprintf(name, sizeof name, "%s%s %d", kWays[way].name, filtered ? " deflated" : "", written);
            const hid_t space = simple_space(2, kWays[way].size, kWays[way].most);
            const hid_t dataset = CHECK(H5Dcreate2(file, name, H5T_STD_I16BE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
            if (written == 1) {
                const hsize_t start[2] = {4, 1};
                const hsize_t count[2] = {2, 3};
                const hid_t memory = simple_space(2, count, NULL);
                CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
                CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values));
                CHECK(H5Sclose(memory));
            } else if (written != 2) {
                CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
            }
            CHECK(H5Dclose(dataset));
            CHECK(H5Sclose(space));
            CHECK(H5Pclose(dcpl));
        }
    }
    CHECK(H5Fclose(file));

    const hid_t other = make_file(form, "layouts", H5P_DEFAULT, 0);
    static const H5D_alloc_time_t kTimes[] = {H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR};
    static const H5D_fill_time_t kFills[] = {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_NEVER, H5D_FILL_TIME_IFSET};
    const hsize_t sizes[2] = {5, 6};
    for (int layout = 0; layout < 3; ++layout) {
        for (int when = 0; when < 3; ++when) {
            for (int fill = 0; fill < 9; ++fill) {
                const H5D_layout_t kind = (H5D_layout_t)layout;
                if ((kind == H5D_COMPACT && when != 0) || fill == 3) {
                    continue; /* libhdf5 refuses these */
                }
                const hid_t dcpl = creation();
                CHECK(H5Pset_layout(dcpl, kind));
                if (kind == H5D_CHUNKED) {
                    CHECK(H5Pset_chunk(dcpl, 2, sizes));
                }
                CHECK(H5Pset_alloc_time(dcpl, kTimes[when]));
                CHECK(H5Pset_fill_time(dcpl, kFills[fill % 3]));
                const float value = 2.5F;
                if (fill / 3 > 0) {
                    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_FLOAT, fill / 3 == 2 ? &value : NULL));
                }
                char name[64];
                snprintf(name, sizeof name, "layout %d allocated %d filled %d", layout, when, fill);
                /* What nobody wrote nor filled may be anything: written then. */
                const int defined = fill / 3 != 1 && fill % 3 != 1 && !(fill % 3 == 2 && fill / 3 == 0);
                put(other, name, H5T_IEEE_F64BE, simple_space(2, sizes, NULL), dcpl, H5T_NATIVE_INT,
                    defined ? NULL : values);
            }
        }
    }
    CHECK(H5Fclose(other));
}

static void make_filters(const Form* form) {
    const hid_t file = make_file(form, "filters", H5P_DEFAULT, 0);
    const hsize_t sizes[2] = {37, 40};
    const hsize_t chunk[2] = {16, 32};
    static int values[37 * 40];
    static double reals[37 * 40];
    for (int i = 0; i < 37 * 40; ++i) {
        values[i] = i * i % 1000 - i % 7 * 100;
        reals[i] = i * 0.25 + i % 11;
    }
    const hid_t types[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I32LE, H5T_STD_I64BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE};
    static const char* const kTypes[] = {"i8le", "u16be", "i32le", "i64be", "f32le", "f64be"};
    static const char* const kFilters[] = {"deflate", "shuffle", "fletcher32", "szip nn", "szip ec",
                                           "nbit",    "scale",   "three",      "all"};
    for (size_t t = 0; t < COUNT(types); ++t) {
        const int is_float = t >= 4;
        for (size_t f = 0; f < COUNT(kFilters); ++f) {
            const hid_t dcpl = creation();
            CHECK(H5Pset_chunk(dcpl, 2, chunk));
            hid_t type = CHECK(H5Tcopy(types[t]));
            switch (f) {
                case 0:
                    CHECK(H5Pset_deflate(dcpl, (unsigned)t + 1));
                    break;
                case 1:
                    CHECK(H5Pset_shuffle(dcpl));
                    break;
                case 2:
                    CHECK(H5Pset_fletcher32(dcpl));
                    break;
                case 3:
                    CHECK(H5Pset_szip(dcpl, H5_SZIP_NN_OPTION_MASK, 32));
                    break;
                case 4:
                    CHECK(H5Pset_szip(dcpl, H5_SZIP_EC_OPTION_MASK, 4));
                    break;
                case 5:
                    if (!is_float && H5Tget_size(type) > 1) {
                        CHECK(H5Tset_precision(type, H5Tget_size(type) * 8 - 5));
                        CHECK(H5Tset_offset(type, 3));
                    }
                    CHECK(H5Pset_nbit(dcpl));
                    break;
                case 6:
                    CHECK(H5Pset_scaleoffset(dcpl, is_float ? H5Z_SO_FLOAT_DSCALE : H5Z_SO_INT, is_float ? 2 : 0));
                    break;
                case 7:
                    CHECK(H5Pset_shuffle(dcpl));
                    CHECK(H5Pset_deflate(dcpl, 9));
                    CHECK(H5Pset_fletcher32(dcpl));
                    break;
                default:
                    CHECK(H5Pset_nbit(dcpl));
                    CHECK(H5Pset_shuffle(dcpl));
                    CHECK(H5Pset_deflate(dcpl, 1));
                    CHECK(H5Pset_fletcher32(dcpl));
                    break;
            }
            char name[64];
            snprintf(name, sizeof name, "%s %s", kFilters[f], kTypes[t]);
            put(file, name, type, simple_space(2, sizes, NULL), dcpl, is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT,
                is_float ? (const void*)reals : (const void*)values);
            CHECK(H5Tclose(type));
        }
    }
    /* A filter that nobody has, left out where it fails; scaleoffset with a fill value; nbit of compounds. */
    const hid_t dcpl = creation();
    CHECK(H5Pset_chunk(dcpl, 2, chunk));
    const unsigned options[3] = {1, 2, 3};
    CHECK(H5Pset_filter(dcpl, 299, H5Z_FLAG_OPTIONAL, 3, options));
    put(file, "unknown, optional", H5T_STD_I32LE, simple_space(2, sizes, NULL), dcpl, H5T_NATIVE_INT, values);
    const hid_t scale = creation();
    CHECK(H5Pset_chunk(scale, 2, chunk));
    CHECK(H5Pset_scaleoffset(scale, H5Z_SO_INT, 0));
    CHECK(H5Pset_fill_value(scale, H5T_NATIVE_INT, values + 3));
    put(file, "scale with fill value", H5T_STD_I32BE, simple_space(2, sizes, NULL), scale, H5T_NATIVE_INT, values);
    const hid_t nbit = creation();
    CHECK(H5Pset_chunk(nbit, 1, (const hsize_t[]){2}));
    CHECK(H5Pset_nbit(nbit));
    const hid_t small = CHECK(H5Tcopy(H5T_NATIVE_SHORT));
    CHECK(H5Tset_precision(small, 11));
    CHECK(H5Tset_offset(small, 2));
    const hid_t record = CHECK(H5Tcreate(H5T_COMPOUND, 8));
    const hid_t pair = CHECK(H5Tarray_create2(small, 1, (const hsize_t[]){2}));
    CHECK(H5Tinsert(record, "pair", 0, pair));
    CHECK(H5Tinsert(record, "float", 4, H5T_NATIVE_FLOAT));
    const struct {
        short pair[2];
        float single;
    } records[3] = {{{4, 8}, 1}, {{400, 804}, 2.5F}, {{-4, -8}, -1}};
    put(file, "nbit of records", record, line(3), nbit, record, records);
    CHECK(H5Tclose(record));
    CHECK(H5Tclose(pair));
    CHECK(H5Tclose(small));
    CHECK(H5Fclose(file));
}

/* Raw data in other files, which are made first: the bytes 0, 1, 2 ... */
static void make_external(const Form* form) {
    FILE* raw = fopen("external.raw", "wb");
    for (int i = 0; i < 256; ++i) {
        fputc(i, raw);
    }
    fclose(raw);
    const hid_t file = make_file(form, "external", H5P_DEFAULT, 0);
    static const struct {
        const char* name;
        struct {
            const char* file;
            off_t offset;
            hsize_t size;
        } parts[3];
    } kWays[] = {
        {"one file", {{"external.raw", 0, 64}}},
        {"with offset", {{"external.raw", 13, 64}}},
        {"three parts", {{"external.raw", 200, 7}, {"external.raw", 0, 30}, {"external.raw", 100, H5F_UNLIMITED}}},
        {"behind the end", {{"external.raw", 240, 64}}}};
    for (size_t i = 0; i < COUNT(kWays); ++i) {
        const hid_t dcpl = creation();
        for (int part = 0; part < 3 && kWays[i].parts[part].file != NULL; ++part) {
            CHECK(H5Pset_external(dcpl, kWays[i].parts[part].file, kWays[i].parts[part].offset,
                                  kWays[i].parts[part].size));
        }
        put(file, kWays[i].name, H5T_STD_U16LE, line(32), dcpl, 0, NULL);
    }
    CHECK(H5Fclose(file));

    const hid_t other = make_file(form, "external-missing", H5P_DEFAULT, 0);
    const hid_t dcpl = creation();
    CHECK(H5Pset_external(dcpl, "missing.raw", 0, 64));
    put(other, "missing", H5T_STD_U16LE, line(32), dcpl, 0, NULL);
    CHECK(H5Fclose(other));
}

static void make_virtual(const Form* form) {
    if (form->high == H5F_LIBVER_V18) {
        return; /* did not have them */
    }
    char source[4][64];
    static int values[40];
    for (int i = 0; i < 4; ++i) {
        char stem[32];
        snprintf(stem, sizeof stem, "source%d", i);
        snprintf(source[i], sizeof source[i], "%s", file_name(form, stem));
        if (i == 2) {
            continue; /* is not there */
        }
        const hid_t file = make_file(form, stem, H5P_DEFAULT, 0);
        const hsize_t size[2] = {4, 5};
        const hsize_t most[2] = {H5S_UNLIMITED, 5};
        const hsize_t chunk[2] = {2, 5};
        for (int k = 0; k < 40; ++k) {
            values[k] = 100 * i + k;
        }
        const hid_t dcpl = creation();
        CHECK(H5Pset_chunk(dcpl, 2, chunk));
        put(file, "data", H5T_STD_I32LE, simple_space(2, size, most), dcpl, H5T_NATIVE_INT, values);
        CHECK(H5Fclose(file));
    }
    const hid_t file = make_file(form, "virtual", H5P_DEFAULT, 0);
    const hsize_t whole[2] = {16, 5};
    const hsize_t part[2] = {4, 5};
    const hsize_t most[2] = {H5S_UNLIMITED, 5};
    const int fill = -1;
    hid_t space = simple_space(2, whole, NULL);
    hid_t from = simple_space(2, part, NULL);
    hid_t dcpl = creation();
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill));
    for (int i = 0; i < 4; ++i) {
        const hsize_t start[2] = {(hsize_t)i * 4, 0};
        CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL));
        CHECK(H5Pset_virtual(dcpl, space, source[i], "data", from));
    }
    CHECK(H5Sselect_all(space));
    put(file, "fixed", H5T_STD_I32LE, space, dcpl, 0, NULL);
    CHECK(H5Sclose(from));

    /* Of this very file, strided and in two pieces. */
    const hsize_t local[1] = {12};
    put(file, "local", H5T_STD_I16BE, simple_space(1, local, NULL), H5P_DEFAULT, H5T_NATIVE_INT, values);
    space = simple_space(1, local, NULL);
    from = simple_space(1, local, NULL);
    dcpl = creation();
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[]){1}, (const hsize_t[]){2}, (const hsize_t[]){4},
                              NULL));
    CHECK(H5Sselect_hyperslab(from, H5S_SELECT_SET, (const hsize_t[]){0}, (const hsize_t[]){6}, (const hsize_t[]){2},
                              (const hsize_t[]){2}));
    CHECK(H5Pset_virtual(dcpl, space, ".", "/local", from));
    CHECK(H5Sselect_all(space));
    put(file, "strided", H5T_STD_I64LE, space, dcpl, 0, NULL);
    CHECK(H5Sclose(from));

    /* As long as its source; one source after the other. */
    for (int printf_names = 0; printf_names < 2; ++printf_names) {
        space = simple_space(2, part, most);
        from = simple_space(2, part, most);
        dcpl = creation();
        const hsize_t zero[2] = {0, 0};
        const hsize_t one[2] = {1, 1};
        const hsize_t endless[2] = {H5S_UNLIMITED, 1};
        CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, zero, printf_names ? part : NULL, endless,
                                  printf_names ? part : (const hsize_t[]){1, 5}));
        char name[64];
        if (printf_names) {
            snprintf(name, sizeof name, "source%%b-%s.h5", form->name);
            CHECK(H5Sselect_hyperslab(from, H5S_SELECT_SET, zero, NULL, one, part));
        } else {
            snprintf(name, sizeof name, "%s", source[0]);
            CHECK(H5Sselect_hyperslab(from, H5S_SELECT_SET, zero, NULL, endless, (const hsize_t[]){1, 5}));
        }
        CHECK(H5Pset_virtual(dcpl, space, name, "data", from));
        put(file, printf_names ? "printf" : "unlimited", H5T_STD_I32LE, space, dcpl, 0, NULL);
        CHECK(H5Sclose(from));
    }
    CHECK(H5Fclose(file));
}

static void make_references(const Form* form) {
    const hid_t file = make_file(form, "references", H5P_DEFAULT, 0);
    const hsize_t sizes[2] = {6, 8};
    static int values[48];
    for (int i = 0; i < 48; ++i) {
        values[i] = i;
    }
    put(file, "target", H5T_STD_I32LE, simple_space(2, sizes, NULL), H5P_DEFAULT, H5T_NATIVE_INT, values);
    put_group(file, "group");
    CHECK(H5Tcommit2(file, "type", CHECK(H5Tcopy(H5T_STD_I8LE)), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hobj_ref_t objects[5];
    memset(objects, 0, sizeof objects);
    CHECK(H5Rcreate(&objects[0], file, "target", H5R_OBJECT, -1));
    CHECK(H5Rcreate(&objects[1], file, "group", H5R_OBJECT, -1));
    CHECK(H5Rcreate(&objects[2], file, "type", H5R_OBJECT, -1));
    CHECK(H5Rcreate(&objects[3], file, "/", H5R_OBJECT, -1));
    put(file, "objects", H5T_STD_REF_OBJ, line(5), H5P_DEFAULT, H5T_STD_REF_OBJ, objects);
    put_attribute(file, "objects", H5T_STD_REF_OBJ, line(5), H5T_STD_REF_OBJ, objects);

    hdset_reg_ref_t regions[6];
    memset(regions, 0, sizeof regions);
    const hid_t space = simple_space(2, sizes, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[]){1, 2}, NULL, (const hsize_t[]){2, 3}, NULL));
    CHECK(H5Rcreate(&regions[0], file, "target", H5R_DATASET_REGION, space));
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[]){0, 0}, (const hsize_t[]){3, 3},
                              (const hsize_t[]){2, 3}, (const hsize_t[]){2, 1}));
    CHECK(H5Rcreate(&regions[1], file, "target", H5R_DATASET_REGION, space));
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_OR, (const hsize_t[]){5, 5}, NULL, (const hsize_t[]){1, 3}, NULL));
    CHECK(H5Rcreate(&regions[2], file, "target", H5R_DATASET_REGION, space));
    const hsize_t points[] = {5, 7, 0, 0, 3, 3, 0, 1};
    CHECK(H5Sselect_elements(space, H5S_SELECT_SET, 4, points));
    CHECK(H5Rcreate(&regions[3], file, "target", H5R_DATASET_REGION, space));
    CHECK(H5Sselect_all(space));
    CHECK(H5Rcreate(&regions[4], file, "target", H5R_DATASET_REGION, space));
    CHECK(H5Sselect_none(space));
    CHECK(H5Rcreate(&regions[5], file, "target", H5R_DATASET_REGION, space));
    CHECK(H5Sclose(space));
    put(file, "regions", H5T_STD_REF_DSETREG, line(4), H5P_DEFAULT, H5T_STD_REF_DSETREG, regions);
    put(file, "all and none", H5T_STD_REF_DSETREG, line(2), H5P_DEFAULT, H5T_STD_REF_DSETREG, regions + 4);
    put_attribute(file, "regions", H5T_STD_REF_DSETREG, line(4), H5T_STD_REF_DSETREG, regions);
    hdset_reg_ref_t nothing[2];
    memset(nothing, 0, sizeof nothing);
    put(file, "null regions", H5T_STD_REF_DSETREG, line(2), H5P_DEFAULT, H5T_STD_REF_DSETREG, nothing);

    const hid_t list = CHECK(H5Tvlen_create(H5T_STD_REF_OBJ));
    const hvl_t lists[2] = {{4, objects}, {1, objects + 1}};
    put(file, "lists of objects", list, line(2), H5P_DEFAULT, list, lists);
    const hid_t record = CHECK(H5Tcreate(H5T_COMPOUND, sizeof(hobj_ref_t) + 4));
    CHECK(H5Tinsert(record, "object", 0, H5T_STD_REF_OBJ));
    CHECK(H5Tinsert(record, "number", sizeof(hobj_ref_t), H5T_NATIVE_INT));
    char bytes[2][sizeof(hobj_ref_t) + 4];
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes[0], objects, sizeof(hobj_ref_t));
    memcpy(bytes[1], objects + 1, sizeof(hobj_ref_t));
    put(file, "records with objects", record, line(2), H5P_DEFAULT, record, bytes);
    CHECK(H5Tclose(record));
    CHECK(H5Tclose(list));
    CHECK(H5Fclose(file));
}

/* Committed types that other types and datasets refer to; types in a cycle of groups. */
static void make_committed(const Form* form) {
    const hid_t file = make_file(form, "committed", H5P_DEFAULT, 0);
    put_group(file, "types");
    const hid_t number = CHECK(H5Tcopy(H5T_STD_I32BE));
    CHECK(H5Tcommit2(file, "types/number", number, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t pair = CHECK(H5Tcreate(H5T_COMPOUND, 8));
    CHECK(H5Tinsert(pair, "left", 0, number));
    CHECK(H5Tinsert(pair, "right", 4, number));
    CHECK(H5Tcommit2(file, "types/pair", pair, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t list = CHECK(H5Tvlen_create(pair));
    CHECK(H5Tcommit2(file, "list", list, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Tcommit_anon(file, CHECK(H5Tcopy(H5T_IEEE_F32LE)), H5P_DEFAULT, H5P_DEFAULT));
    const hid_t anonymous = CHECK(H5Tcopy(H5T_IEEE_F64LE));
    CHECK(H5Tcommit_anon(file, anonymous, H5P_DEFAULT, H5P_DEFAULT));
    const int values[4] = {1, 2, 3, 4};
    const double reals[2] = {.5, -.5};
    const hvl_t lists[2] = {{2, (void*)values}, {0, NULL}};
    put(file, "numbers", number, line(4), H5P_DEFAULT, H5T_NATIVE_INT, values);
    put(file, "of a type without name", anonymous, line(2), H5P_DEFAULT, H5T_NATIVE_DOUBLE, reals);
    put(file, "pairs", pair, line(2), H5P_DEFAULT, pair, values);
    put(file, "lists", list, line(2), H5P_DEFAULT, list, lists);
    put_attribute(number, "of itself", number, scalar(), H5T_NATIVE_INT, values);
    put_attribute(file, "pair", pair, scalar(), pair, values);
    CHECK(H5Lcreate_hard(file, "types/pair", file, "types/again", H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Lcreate_hard(file, "/", file, "types/up", H5P_DEFAULT, H5P_DEFAULT));
    const hid_t all[] = {number, pair, list, anonymous};
    for (size_t i = 0; i < COUNT(all); ++i) {
        CHECK(H5Tclose(all[i]));
    }
    CHECK(H5Fclose(file));
}

const Listed kDatasetMakers[] = {
    {"numbers", make_numbers},
    {"texts", make_texts},
    {"compounds", make_compounds},
    {"spaces", make_spaces},
    {"layouts", make_layouts},
    {"filters", make_filters},
    {"external", make_external},
    {"virtual", make_virtual},
    {"references", make_references},
    {"committed", make_committed},
    {NULL, NULL},
};
