#!/usr/bin/python3
"""filter_vectors.py OUT: writes chunks that were filtered by libhdf5 and libsz, for interop_filters. With --header it
writes a few small chunks as a C++ header, tests/unit/filter_vectors.hpp; with --seeds it writes them as inputs of the
fuzz targets, in folders of OUT, which is tests/fuzz/corpus. Otherwise OUT has one line for each chunk:

    MASK DECODED STORED ID[:VALUE/VALUE/...] ...

MASK is the chunk's filter mask in decimal, DECODED the chunk as libhdf5 decodes it, STORED its bytes in the file, both
as hexadecimal digits; then the filters in the order of the pipeline with their client data. The output is the same on
every run, except for a byte at the end of some chunks, which libhdf5 does not initialize."""

import ctypes
import io
import itertools
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

import expect
import hdf5_types
from make_reference import sample

NBIT, SCALEOFFSET, LZF = 5, 6, 32000
FLOAT_DECIMAL, INTEGER = 0, 2
EC, NN = h5z.SZIP_EC_OPTION_MASK, h5z.SZIP_NN_OPTION_MASK


class Vectors:
    def __init__(self, out):
        self.out = out
        self.count = {}
        self.skipped = 0
        self.lossy = 0
        self.unreadable = 0
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_fapl_core(1 << 20, False)
        fapl.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
        self.file = h5f.create(b"filter_vectors.h5", h5f.ACC_TRUNC, fapl=fapl)

    def line(self, mask, decoded, stored, filters):
        words = ["%d:%s" % (number, "/".join(map(str, values))) if values else "%d" % number
                 for number, values in filters]
        self.out.write("%d %s %s %s\n" % (mask, decoded.hex(), stored.hex(), " ".join(words)))
        name = "+".join(str(number) for number, _ in filters)
        self.count[name] = self.count.get(name, 0) + 1

    def chunk(self, tid, shape, data, *filters, fill=None):
        """Writes a dataset of one chunk and records the chunk. `filters`: functions that each add a filter to a
        property list."""
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk(shape)
        if fill is not None:
            hdf5_types.set_fill(plist, tid, None if fill == "undefined" else fill)
        for add in filters:
            add(plist)
        try:
            dataset = h5d.create(self.file, None, tid, h5s.create_simple(shape), dcpl=plist)
        except ValueError:
            self.skipped += 1  # the filter does not support this type or shape
            return
        dataset.write(h5s.ALL, h5s.ALL, numpy.frombuffer(data, "u1"), mtype=tid)
        hdf5_types.check_call("H5Dflush", hdf5_types.hid(dataset))
        mask, stored = dataset.read_direct_chunk((0,) * len(shape))
        # Discard the chunk in memory, so that the read decodes the stored one.
        hdf5_types.check_call("H5Drefresh", hdf5_types.hid(dataset))
        back = numpy.zeros(len(data), "u1")
        try:
            dataset.read(h5s.ALL, h5s.ALL, back, mtype=tid)
        except OSError:
            # libhdf5 cannot read some chunks that it wrote: szip, for one, fails if the bytes are no whole number of
            # pixels.
            self.unreadable += 1
            return
        plist = dataset.get_create_plist()
        all_filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
        self.lossy += back.tobytes() != data
        filters = [(f[0], self.values(plist, i)) for i, f in enumerate(all_filters)]
        dataset.close()
        if mask == (1 << len(filters)) - 1 or any(values is None for _, values in filters):
            self.skipped += 1
            return
        self.line(mask, back.tobytes(), stored, filters)

    @staticmethod
    def values(plist, index):
        """The client data of a filter: h5py gives only the first 16 values, this up to 256; None if there are more."""
        flags, config = ctypes.c_uint(), ctypes.c_uint()
        count = ctypes.c_size_t(256)
        values = (ctypes.c_uint * 256)()
        hdf5_types.check_call("H5Pget_filter2", hdf5_types.hid(plist), ctypes.c_uint(index), ctypes.byref(flags),
                              ctypes.byref(count), values, ctypes.c_size_t(0), None, ctypes.byref(config))
        return list(values[:count.value]) if count.value <= 256 else None


def number_data(type_, count, kind, rng):
    """`count` elements of a number type; `kind` says how the values are chosen."""
    top = (1 << type_.precision) - 1
    step = {"zero": lambda i: 0, "constant": lambda i: 0x5a5a5a5a5a5a5a5a, "ramp": lambda i: i * 3,
            "small": lambda i: 1000 + rng.randrange(6), "noise": lambda i: rng.getrandbits(64),
            "sparse": lambda i: rng.getrandbits(64) if rng.random() < 0.02 else 0,
            "walk": lambda i: top // 2 + rng.randrange(-3, 4) * (1 << rng.randrange(max(1, type_.precision // 2))),
            "ends": lambda i: rng.choice([0, 1, top, top - 1])}[kind]
    order = "little" if type_.order == "le" else "big"
    return b"".join(((step(i) & top) << type_.offset).to_bytes(type_.size, order) for i in range(count))


KINDS = ["zero", "constant", "ramp", "small", "noise", "sparse", "walk", "ends"]


def szip(vectors, rng):
    types = ["u1le", "i1le", "u2le", "i2be", "i4le", "u4be", "i8le", "u8be", "u1le:5@0", "u2le:10@0", "u2be:12@4",
             "u4le:17@0", "u4be:20@0", "u4le:24@0", "u4le:28@0", "i8le:40@0"]
    shapes = [(96,), (100,), (7, 33), (3, 5, 40), (3000,)]
    for text, shape, mask, pixels in itertools.product(types, shapes, (EC, NN), (2, 4, 8, 10, 16, 30, 32)):
        type_ = expect.parse_type(text)
        count = int(numpy.prod(shape))
        data = number_data(type_, count, rng.choice(KINDS), rng)
        vectors.chunk(hdf5_types.build(type_), shape, data, lambda p: p.set_szip(mask, pixels))
    for text, kind, mask in itertools.product(("u1le", "u2be", "i4le", "f8le"), KINDS, (EC, NN)):
        type_ = expect.parse_type(text)
        vectors.chunk(hdf5_types.build(type_), (64, 64), number_data(type_, 4096, kind, rng),
                      lambda p: p.set_szip(mask, 16))


class SzParameters(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("options", "bits", "block", "line")]


def szip_library(vectors, rng):
    """Chunks with szip parameters that libhdf5 does not use, encoded by libsz itself."""
    libsz = ctypes.CDLL("libsz.so.2")
    for bits in list(range(1, 25)) + [32, 64]:
        size = bits // 8 if bits >= 32 else 4 if bits > 16 else 2 if bits > 8 else 1
        for options, _ in itertools.product((NN, NN | 16, EC, EC | 16, NN | 16 | 128 | 1), range(6)):
            block = rng.choice(range(2, 33, 2))
            line = rng.choice([block, block * rng.randrange(1, 129), rng.randrange(1, 200), rng.randrange(1, 4097)])
            count = rng.choice([1, line, line * 3, rng.randrange(1, 3000)])
            type_ = expect.Number("u", size, "be" if options & 16 else "le", bits)
            plain = number_data(type_, count, rng.choice(KINDS), rng)
            parameters = SzParameters(options, bits, block, line)
            room = ctypes.c_size_t(len(plain) * 2 + 4096)
            packed = ctypes.create_string_buffer(room.value)
            if libsz.SZ_BufftoBuffCompress(packed, ctypes.byref(room), plain, ctypes.c_size_t(len(plain)),
                                           ctypes.byref(parameters)) != 0:
                vectors.skipped += 1
                continue
            stored = len(plain).to_bytes(4, "little") + packed.raw[:room.value]
            vectors.line(0, plain, stored, [(4, [options, block, bits, line])])


def set_nbit(plist):
    hdf5_types.check_call("H5Pset_nbit", hdf5_types.hid(plist))


def nbit(vectors, rng):
    for size, order, _ in itertools.product((1, 2, 4, 8), ("le", "be"), range(40)):
        precision = rng.randrange(1, 8 * size + 1)
        type_ = expect.Number("u", size, order, precision, rng.randrange(8 * size - precision + 1))
        count = rng.choice([1, 2, 7, 50])
        vectors.chunk(hdf5_types.build(type_), (count,), bytes(rng.getrandbits(8) for _ in range(size * count)),
                      set_nbit)
    # Integers of unusual sizes, and floating-point numbers of fewer bits.
    for size, _ in itertools.product((3, 5, 6, 7, 9, 12, 16, 31), range(8)):
        tid = h5t.STD_U32BE.copy() if rng.random() < 0.5 else h5t.STD_I32LE.copy()
        tid.set_size(size)
        precision = rng.randrange(1, 8 * size + 1)
        tid.set_precision(precision)
        tid.set_offset(rng.randrange(8 * size - precision + 1))
        vectors.chunk(tid, (9,), bytes(rng.getrandbits(8) for _ in range(size * 9)), set_nbit)
    for base in (h5t.IEEE_F32LE, h5t.IEEE_F32BE, h5t.IEEE_F64LE):
        tid = base.copy()
        tid.set_fields(26, 20, 6, 7, 13)
        tid.set_offset(7)
        tid.set_precision(20)
        tid.set_size(4)
        tid.set_ebias(31)
        vectors.chunk(tid, (40,), bytes(rng.getrandbits(8) for _ in range(160)), set_nbit)
    narrow = ["i4le:12@4", "u2be:9@0", "u1le:3@2", "i8be:33@5", "u4le:31@0", "i2le:16@0", "u4be:8@8", "f4le", "f8be"]
    others = ["str5:nullpad:ascii", "opaque3:x", "enum(i2le;A=0;B=1)", "bits2le"]
    for _ in range(400):
        type_ = random_type(rng, narrow, others, 4)
        if type_.size <= 2000:
            data = bytes(rng.getrandbits(8) for _ in range(type_.size * 5))
            vectors.chunk(hdf5_types.build(type_), (5,), data, set_nbit)


def random_type(rng, narrow, others, depth, last=True):
    """A compound or array of types that the nbit filter packs (`narrow`) and of others that it copies. An array of
    other types than numbers comes last only: for the members after it, libhdf5 would read its parameters at the wrong
    place and crash."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return expect.parse_type(rng.choice(narrow if rng.random() < 0.8 else others))
    if kind < 0.5:
        return expect.Array([rng.randrange(1, 4) for _ in range(rng.randrange(1, 3))],
                            random_type(rng, narrow, others, depth - 1 if last else 0, last))
    members, at = [], rng.randrange(3)
    count = rng.randrange(1, 5)
    for i in range(count):
        member = random_type(rng, narrow, others, depth - 1, last and i == count - 1)
        members.append(("m%d" % i, at, member))
        at += member.size + rng.randrange(3)
    return expect.Compound(at, members)


def scaleoffset(vectors, rng):
    fills = [None, "undefined", "one", "value"]
    for text in ["%s%d%s" % (k, s, o) for k in "iu" for s in (1, 2, 4, 8) for o in ("le", "be")]:
        type_ = expect.parse_type(text)
        tid = hdf5_types.build(type_)
        order = "little" if type_.order == "le" else "big"
        for fill, kind, bits in itertools.product(fills, KINDS + ["steps"], (0, 0, 1, 5, 8 * type_.size)):
            count = rng.choice([1, 5, 60])
            low = rng.getrandbits(type_.precision)
            if kind == "steps":
                data = b"".join(((low + rng.randrange(30)) % (1 << type_.precision)).to_bytes(type_.size, order)
                                for _ in range(count))
            else:
                data = number_data(type_, count, kind, rng)
            value = fill if fill in (None, "undefined") else data[:type_.size] if fill == "value" else \
                (1).to_bytes(type_.size, order)
            vectors.chunk(tid, (count,), data, lambda p: p.set_scaleoffset(INTEGER, bits), fill=value)
    for text in ("f4le", "f4be", "f8le", "f8be"):
        tid = hdf5_types.build(expect.parse_type(text))
        dtype = (">" if text.endswith("be") else "<") + text[:2]
        for fill, digits, kind in itertools.product(fills, (0, 1, 2, 3, 4, 6, 9, 12), range(5)):
            count = rng.choice([1, 5, 60])
            spread = rng.choice([0, 1, 100]) * 10.0 ** rng.randrange(-digits - 1, -digits + 3)
            start = rng.uniform(-1e3, 1e3) * rng.choice([0, 1, 1, 1e3, 1e-3])
            data = numpy.array([start + rng.uniform(-1, 1) * spread for _ in range(count)]).astype(dtype).tobytes()
            size = int(text[1])
            value = fill if fill in (None, "undefined") else data[:size] if fill == "value" else \
                numpy.array([1.5]).astype(dtype).tobytes()
            vectors.chunk(tid, (count,), data, lambda p: p.set_scaleoffset(FLOAT_DECIMAL, digits), fill=value)


def set_lzf(plist):
    plist.set_filter(LZF, h5z.FLAG_OPTIONAL, ())


def lzf(vectors, rng):
    texts = [b"abcabcabcabcabc" * 40, b"a" * 1000, bytes(range(256)) * 4, b"to be or not to be, " * 30]
    for text in texts:
        vectors.chunk(h5t.STD_U8LE, (len(text),), text, set_lzf)
    for text, kind, count in itertools.product(("u1le", "i2le", "f4le", "u8be"), KINDS, (4, 30, 500, 5000)):
        type_ = expect.parse_type(text)
        vectors.chunk(hdf5_types.build(type_), (count,), number_data(type_, count, kind, rng), set_lzf)


def pipelines(vectors, rng):
    """Chunks with several filters: the intermediate results are larger or smaller than the chunk."""
    adds = {"szip": lambda p: p.set_szip(NN, 8), "nbit": set_nbit, "lzf": set_lzf,
            "scaleoffset": lambda p: p.set_scaleoffset(INTEGER, 0), "deflate": lambda p: p.set_deflate(6),
            "shuffle": lambda p: p.set_shuffle(), "fletcher32": lambda p: p.set_fletcher32()}
    for length in (1, 2, 3):
        for names in itertools.permutations(adds, length):
            if names[0] in ("szip", "lzf", "deflate", "fletcher32") and set(names[1:]) & {"nbit", "scaleoffset"}:
                continue  # nbit and scaleoffset need numbers of the dataset's type, not the output of these filters
            if "nbit" in names[1:] or "scaleoffset" in names[1:] or \
                    ("szip" in names and names.index("szip") > 0 and names[0] != "shuffle"):
                continue
            for kind in ("ramp", "small", "noise"):
                type_ = expect.parse_type("u4le:20@0")
                vectors.chunk(hdf5_types.build(type_), (200,), number_data(type_, 200, kind, rng),
                              *[adds[name] for name in names])


def samples(vectors, rng):
    """The chunks for the unit tests: one for each way of coding that the filters have."""
    def numbers(text, shape, kind, *filters, fill=None):
        type_ = expect.parse_type(text)
        data = number_data(type_, int(numpy.prod(shape)), kind, rng)
        vectors.chunk(hdf5_types.build(type_), shape, data, *filters, fill=fill)

    numbers("u1le", (40,), "small", lambda p: p.set_szip(NN, 8))
    numbers("u2be", (48,), "walk", lambda p: p.set_szip(NN, 16))
    numbers("i2le", (60,), "sparse", lambda p: p.set_szip(EC, 10))
    numbers("u4le:20@0", (4, 13), "ramp", lambda p: p.set_szip(NN, 4))
    numbers("i4le", (50,), "ramp", lambda p: p.set_szip(NN, 2))
    numbers("u8be", (24,), "sparse", lambda p: p.set_szip(EC, 8))
    numbers("u1le", (70, 8), "zero", lambda p: p.set_szip(NN, 8))
    numbers("i4le:12@4", (17,), "noise", set_nbit)
    numbers("u8be:33@6", (9,), "noise", set_nbit)
    type_ = expect.parse_type("compound(23;a@1:i4le:12@4;b@5:array(3;u2be:9@0);c@11:str3:nullpad:ascii;"
                              "d@14:array(2;compound(4;e@0:u1le:3@2;f@1:i2le:13@1)))")
    vectors.chunk(hdf5_types.build(type_), (6,), bytes(rng.getrandbits(8) for _ in range(6 * 23)), set_nbit)
    numbers("i4be", (20,), "ramp", lambda p: p.set_scaleoffset(INTEGER, 0))
    numbers("u2le", (20,), "small", lambda p: p.set_scaleoffset(INTEGER, 0), fill="undefined")
    numbers("i8le", (20,), "noise", lambda p: p.set_scaleoffset(INTEGER, 0))
    floats = [1.5 if i % 5 == 0 else -3 + 0.125 * i for i in range(20)]
    for text, dtype in (("f4le", "<f4"), ("f8be", ">f8")):
        vectors.chunk(hdf5_types.build(expect.parse_type(text)), (20,), numpy.array(floats).astype(dtype).tobytes(),
                      lambda p: p.set_scaleoffset(FLOAT_DECIMAL, 2), fill=numpy.array([1.5]).astype(dtype).tobytes())
    text = b"round and round and round the rugged rocks " + bytes(60) + b"the ragged rascal ran"
    vectors.chunk(h5t.STD_U8LE, (len(text),), text, set_lzf)


def write_header(path, lines):
    """Writes the chunks that have one filter as arrays in a C++ header."""
    def table(data):
        return ", ".join("0x%02x" % byte for byte in data)

    with open(path, "w", encoding="utf-8") as out:
        out.write("// Chunks that libhdf5 filtered. Made by tests/interop/filter_vectors.py --header; do not edit.\n"
                  "#pragma once\n\nnamespace h5mote_test {\n\n"
                  "struct FilterVector {\n    unsigned id;\n    unsigned value_count;\n"
                  "    const unsigned char* values;\n    unsigned stored_size;\n    const unsigned char* stored;\n"
                  "    unsigned decoded_size;\n    const unsigned char* decoded;\n};\n\n"
                  "// clang-format off\n")
        rows = []
        for i, line in enumerate(lines):
            _, decoded, stored, word = line.split()
            number, _, values = word.partition(":")
            values = [int(value) for value in values.split("/")]
            encoded = b"".join(value.to_bytes(4, "little") for value in values)
            parts = {"Values": encoded, "Stored": bytes.fromhex(stored), "Decoded": bytes.fromhex(decoded)}
            for name, data in parts.items():
                out.write("inline constexpr unsigned char k%s%d[] = {%s};\n" % (name, i, table(data)))
            rows.append("{%s, %d, kValues%d, sizeof kStored%d, kStored%d, sizeof kDecoded%d, kDecoded%d}" %
                        (number, len(values), i, i, i, i, i))
        out.write("inline constexpr FilterVector kFilterVectors[] = {\n    %s};\n// clang-format on\n\n"
                  "}  // namespace h5mote_test\n" % ",\n    ".join(rows))


def write_seeds(directory, lines):
    """Writes the inputs of tests/fuzz/fuzz_filter_*.cpp: for each filter alone, and for the pipeline."""
    order = [(1, "deflate"), (2, "shuffle"), (3, "fletcher32"), (4, "szip"), (5, "nbit"), (6, "scaleoffset"),
             (LZF, "lzf")]
    kinds = [number for number, _ in order]
    for i, line in enumerate(lines):
        mask, decoded, stored, *words = line.split()
        out = (len(decoded) // 2).to_bytes(2, "little") + bytes([int(mask), len(words) - 1])
        for word in words:
            number, _, values = word.partition(":")
            values = [int(value) for value in values.split("/")] if values else []
            out += bytes([kinds.index(int(number)), len(values)])
            out += b"".join(value.to_bytes(4, "little") for value in values)
        out += bytes.fromhex(stored)
        name = "pipeline" if len(words) > 1 else dict(order)[int(words[0].partition(":")[0])]
        folder = os.path.join(directory, "filter_" + name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "seed%d" % i), "wb") as seed:
            seed.write(out)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--seeds":
        lines = io.StringIO()
        vectors = Vectors(lines)
        samples(vectors, random.Random("samples"))
        text = b"abcabcabcabc" * 20
        for add in (lambda p: p.set_deflate(6), lambda p: p.set_shuffle(), lambda p: p.set_fletcher32()):
            vectors.chunk(h5t.STD_U32LE, (60,), text, add)
        vectors.chunk(h5t.STD_U32LE, (60,), text, lambda p: p.set_shuffle(), lambda p: p.set_deflate(6),
                      lambda p: p.set_fletcher32())
        vectors.chunk(h5t.STD_U32LE, (60,), text, lambda p: p.set_szip(NN, 8), lambda p: p.set_fletcher32())
        vectors.chunk(h5t.STD_U32LE, (60,), text, lambda p: p.set_scaleoffset(INTEGER, 0), set_lzf)
        write_seeds(sys.argv[2], lines.getvalue().splitlines())
        return 0
    if len(sys.argv) == 3 and sys.argv[1] == "--header":
        lines = io.StringIO()
        samples(Vectors(lines), random.Random("samples"))
        write_header(sys.argv[2], lines.getvalue().splitlines())
        return 0
    if len(sys.argv) != 2:
        print("usage: filter_vectors.py [--header|--seeds] OUT")
        return 2
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        vectors = Vectors(out)
        for make in (szip, szip_library, nbit, scaleoffset, lzf, pipelines):
            make(vectors, random.Random(make.__name__))
            print("%s: %d chunks so far, %d came back changed, %d were not filtered, %d are not readable" %
                  (make.__name__, sum(vectors.count.values()), vectors.lossy, vectors.skipped, vectors.unreadable))
    return 0


if __name__ == "__main__":
    sys.exit(main())
