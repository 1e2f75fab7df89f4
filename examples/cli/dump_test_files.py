"""Makes the files for which `h5mote dump` is compared with h5dump: every kind of object, type, layout and link."""

import os

import h5py
import numpy
from h5py import h5a, h5d, h5g, h5o, h5p, h5r, h5s, h5t


def numbers(group):
    """Numbers of every size and byte order, in all shapes."""
    for code in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
        for order in "<>":
            values = (numpy.arange(-30, 30).astype("i8") * 37).astype(order + code)
            group.create_dataset(f"{code}{'le' if order == '<' else 'be'}", data=values)
    group.create_dataset("special", data=numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan, 1e300,
                                                      1e-300, 5e-324, 123456789.0, 1e5, 1e6, 0.1]))
    group.create_dataset("extended", data=numpy.array([1.5, -2.25e300, 3e-4000, numpy.inf], dtype=numpy.longdouble))
    group.create_dataset("scalar", data=numpy.int32(7))
    group.create_dataset("empty", shape=(0,), dtype="i4")
    group.create_dataset("empty2", shape=(3, 0), dtype="i4", maxshape=(None, 5), chunks=(2, 2))
    group.create_dataset("null", data=h5py.Empty("f4"))
    group.create_dataset("table", data=numpy.arange(35 * 40).reshape(35, 40))
    group.create_dataset("cube", data=numpy.arange(5 * 6 * 31, dtype="f4").reshape(5, 6, 31) / 7)
    group.create_dataset("bool", data=numpy.array([True, False, True]))
    group.create_dataset("complex", data=numpy.array([1 + 2j, 3 - 4j]))
    group.create_dataset("text8", data=numpy.frombuffer(b"Hello \"world\"\n\ttab\\ \x01\x7f\xe9 and so on, " * 5, "i1"))


def odd_numbers(group):
    """Numbers of unusual precision, offset and layout."""

    def add(name, tid, data):
        data = numpy.ascontiguousarray(data)
        space = h5s.create_simple(data.shape)
        dataset = h5d.create(group.id, name.encode(), tid, space)
        dataset.write(h5s.ALL, h5s.ALL, data, h5t.py_create(data.dtype))

    for size, precision, offset in ((2, 9, 3), (4, 17, 5), (4, 24, 0), (8, 40, 10), (8, 63, 0), (3, 20, 2)):
        for base in (h5t.STD_I32LE, h5t.STD_I32BE, h5t.STD_U32LE):
            tid = base.copy()
            tid.set_size(8)
            tid.set_precision(precision)
            tid.set_offset(offset)
            tid.set_size(size)
            signed = base.get_sign()
            name = f"{size}_{precision}_{offset}_{base.get_order()}_{signed}"
            limit = 1 << (precision - 2)
            add(name, tid, numpy.array([0, 1, -1 if signed else 2, limit, -limit if signed else 3, 100], "i8"))
    tid = h5t.IEEE_F32LE.copy()
    tid.set_fields(19, 14, 5, 0, 14)
    tid.set_ebias(15)
    tid.set_precision(20)
    tid.set_size(3)
    add("float20", tid, numpy.array([0.0, 1.5, -2.25, 1e4, 1e9, 1e-9, numpy.nan, 0.1]))
    tid = h5t.IEEE_F64BE.copy()
    tid.set_fields(47, 37, 10, 0, 37)
    tid.set_ebias(511)
    tid.set_precision(48)
    tid.set_size(6)
    add("float48", tid, numpy.array([0.0, 1.5, -2.25, 1e4, 1e9, 1e-9, -numpy.inf, 0.1]))
    bits = h5t.STD_B16BE.copy()
    dataset = h5d.create(group.id, b"bits16be", bits, h5s.create_simple((4,)))
    dataset.write(h5s.ALL, h5s.ALL, numpy.array([1, 0x1234, 0xffff, 0], "<u2"), h5t.STD_B16LE)
    bits = h5t.STD_B8LE.copy()
    dataset = h5d.create(group.id, b"bits8", bits, h5s.create_simple((30,)))
    dataset.write(h5s.ALL, h5s.ALL, numpy.arange(30, dtype="u1"), h5t.STD_B8LE)


def strings(group):
    """Strings of both kinds, every padding, with characters of all sorts."""
    text = [b"", b"a", b"two words", b"quote\" back\\slash", b"line\nfeed\r\ttab", b"\x01\x02\x7f\xc3\xa9\xff",
            b"long " * 40]
    for pad, name in ((h5t.STR_NULLTERM, "term"), (h5t.STR_NULLPAD, "null"), (h5t.STR_SPACEPAD, "space")):
        tid = h5t.C_S1.copy()
        tid.set_size(12)
        tid.set_strpad(pad)
        dataset = h5d.create(group.id, name.encode(), tid, h5s.create_simple((len(text),)))
        dataset.write(h5s.ALL, h5s.ALL, numpy.array(text, "S12"), tid)
    group.create_dataset("variable", data=numpy.array(text, dtype=object), dtype=h5py.string_dtype("ascii"))
    group.create_dataset("utf8", data=["gr\u00fcn", "\u65e5\u672c", ""], dtype=h5py.string_dtype())
    group.create_dataset("unset", shape=(3,), dtype=h5py.string_dtype())
    group.create_dataset("scalar", data="one string")
    group.create_dataset("many", data=[b"x" * (i % 30) for i in range(70)], dtype=h5py.string_dtype("ascii"))
    group.create_dataset("rows", data=numpy.array([[b"ab", b"c"], [b"", b"defg"]], "S5"))


def compounds(group):
    """Compounds, arrays, enumerations, sequences, opaque data, nested in each other."""
    inner = numpy.dtype([("x", "<f4"), ("name", "S4"), ("grid", "<i2", (2, 3))])
    outer = numpy.dtype([("id", ">u4"), ("part", inner), ("parts", inner, (2,)), ("flag", "i1")])
    data = numpy.zeros(4, outer)
    data["id"] = [1, 2, 3, 4]
    data["part"]["x"] = [0.5, 1e10, -3, 7]
    data["part"]["name"] = [b"ab", b"", b"wxyz", b"q"]
    data["parts"]["grid"] = numpy.arange(48).reshape(4, 2, 2, 3)
    group.create_dataset("nested", data=data)
    group.create_dataset("nested2", data=data.reshape(2, 2))
    group.create_dataset("nested0", data=data[0])
    group.create_dataset("padded", data=numpy.zeros(2, numpy.dtype({"names": ["a", "b"], "formats": ["i1", "f8"],
                                                                    "offsets": [3, 8], "itemsize": 24})))
    dataset = group.create_dataset("array_type", shape=(3,), dtype=numpy.dtype(("<i4", (2, 5))))
    dataset[...] = numpy.arange(30).reshape(3, 2, 5)
    dataset = group.create_dataset("array_long", shape=(2,), dtype=numpy.dtype(("<f8", (30,))))
    dataset[...] = numpy.arange(60).reshape(2, 30) / 3
    colours = h5py.enum_dtype({"red": 0, "green": 1, "a name of more than sixteen": -5, "it's \"\\": 7}, basetype=">i2")
    group.create_dataset("enum", data=numpy.array([0, 1, -5, 7, 9, 0], ">i2"), dtype=colours)
    colours = h5py.enum_dtype({"red": 0, "green": 1}, basetype="<i4")
    group.create_dataset("enum_le", data=numpy.array([0, 1, 3], "<i4"), dtype=colours)
    sequence = group.create_dataset("sequences", shape=(5,), dtype=h5py.vlen_dtype("<i4"))
    for i in range(5):
        sequence[i] = numpy.arange(i * 9)
    kinds = numpy.dtype([("s", h5py.string_dtype()), ("v", h5py.vlen_dtype("<f8")), ("n", "<i4")])
    mixed = group.create_dataset("mixed", shape=(2,), dtype=kinds)
    mixed[0] = ("text", numpy.array([1.0, 2.5]), 3)
    mixed[1] = ("", numpy.array([]), 4)
    tid = h5t.create(h5t.OPAQUE, 5)
    tid.set_tag(b"a tag")
    dataset = h5d.create(group.id, b"opaque", tid, h5s.create_simple((3,)))
    dataset.write(h5s.ALL, h5s.ALL, numpy.frombuffer(b"0123456789abcde", "V5"), tid)
    tid = h5t.create(h5t.OPAQUE, 1)
    tid.set_tag(b"")
    dataset = h5d.create(group.id, b"opaque1", tid, h5s.create_simple((3,)))
    dataset.write(h5s.ALL, h5s.ALL, numpy.frombuffer(b"012", "V1"), tid)
    tid = h5t.vlen_create(h5t.vlen_create(h5t.STD_I16BE))
    h5d.create(group.id, b"sequence_of_sequences", tid, h5s.create_simple((2,)))
    tid = h5t.array_create(h5t.py_create(h5py.string_dtype(), logical=True), (2,))
    h5d.create(group.id, b"array_of_strings", tid, h5s.create_simple((2,)))


def references(file):
    """Object and region references, bare and within other types."""
    group = file.create_group("refs")
    target = file.create_dataset("target", data=numpy.arange(100, dtype="i2").reshape(10, 10))
    line = file.create_dataset("line", data=numpy.arange(30, dtype="f4"))
    group.create_dataset("objects", data=numpy.array([target.ref, group.ref, file.ref, line.ref], h5py.ref_dtype))
    data = group.create_dataset("unset", shape=(3,), dtype=h5py.ref_dtype)
    data[1] = target.ref
    regions = group.create_dataset("regions", shape=(5,), dtype=h5py.regionref_dtype)
    regions[0] = target.regionref[2:5, 3:4]
    regions[1] = line.regionref[3:9]
    space = h5s.create_simple((10, 10))
    space.select_elements(numpy.array([[1, 2], [3, 4], [0, 9], [9, 9], [5, 5], [7, 1], [8, 2], [6, 6], [4, 3]], "u8"))
    regions[2] = h5r.create(file.id, b"/target", h5r.DATASET_REGION, space)
    space = h5s.create_simple((10, 10))
    space.select_hyperslab((0, 0), (3, 3), (3, 4), (2, 1))
    regions[3] = h5r.create(file.id, b"/target", h5r.DATASET_REGION, space)
    kinds = numpy.dtype([("o", h5py.ref_dtype), ("r", h5py.regionref_dtype), ("i", "i4")])
    mixed = group.create_dataset("mixed", shape=(2,), dtype=kinds)
    mixed[0] = (target.ref, regions[0], 5)
    group.attrs["object"] = target.ref
    group.attrs.create("region", target.regionref[0:2, 0:2], dtype=h5py.regionref_dtype)
    dataset = group.create_dataset("lists", shape=(2,), dtype=h5py.vlen_dtype(h5py.ref_dtype))
    dataset[0] = numpy.array([target.ref, line.ref], dtype=h5py.ref_dtype)


def links(file, directory):
    """Links of every kind, also in cycles; committed types with and without names; comments."""
    a = file.create_group("a group")
    b = a.create_group("b")
    b["back"] = a
    b["root"] = file["/"]
    data = b.create_dataset("data", data=numpy.arange(5))
    file["same data"] = data
    a["same data"] = data
    file["soft"] = h5py.SoftLink("/a group/b")
    file["dangling"] = h5py.SoftLink("nowhere/at/all")
    file["external"] = h5py.ExternalLink("other.h5", "/there/values")
    file["external group"] = h5py.ExternalLink("other.h5", "/there")
    file["external nowhere"] = h5py.ExternalLink("missing.h5", "/there")
    h5o.set_comment(a.id, b"What this group is for")
    h5o.set_comment(data.id, b"What these data are")
    file["type"] = numpy.dtype([("x", "f4"), ("y", "f4")])
    file["type"].attrs["unit"] = "mm"
    file["same type"] = file["type"]
    file["number"] = numpy.dtype(">i4")
    file["string type"] = h5py.string_dtype()
    file.create_dataset("typed", shape=(2,), dtype=file["type"])
    file["a group"].attrs.create("typed", 5, dtype=file["number"])
    file["gone"] = numpy.dtype("u2")
    file.create_dataset("untyped", data=[1, 2, 3], dtype=file["gone"])
    del file["gone"]
    file.create_group("long name " * 12).create_dataset("another long name " * 6, data=1)
    with h5py.File(os.path.join(directory, "other.h5"), "w") as other:
        there = other.create_group("there")
        there.create_dataset("values", data=[1.5, 2.5])
        there["values again"] = there["values"]
        there["back"] = h5py.ExternalLink("links.h5", "/a group")
        there["type"] = numpy.dtype("i2")
        there.create_dataset("typed", data=[3], dtype=there["type"])


def layouts(file):
    """Every layout, filter, fill value, allocation time."""
    data = numpy.arange(200, dtype="i4").reshape(20, 10)
    file.create_dataset("contiguous", data=data)
    for name, options in {
        "chunked": {},
        "deflated": {"compression": 9},
        "all": {"compression": 4, "shuffle": True, "fletcher32": True},
        "szip": {"compression": "szip"},
        "szip nn": {"compression": "szip", "compression_opts": ("nn", 4)},
        "scaleoffset": {"scaleoffset": 0},
        "growing": {"maxshape": (None, 10)},
        "growing both": {"maxshape": (None, None)},
    }.items():
        file.create_dataset(name, data=data, chunks=(6, 4), **options)
    file.create_dataset("one chunk", data=data, chunks=(20, 10))
    file.create_dataset("one chunk deflated", data=data, chunks=(20, 10), compression=1)
    file.create_dataset("filled", shape=(10,), dtype="f8", fillvalue=2.5)
    file.create_dataset("filled chunks", shape=(10,), dtype=">i4", chunks=(4,), fillvalue=-1)
    file["filled chunks"][5] = 3
    file.create_dataset("filled compound", shape=(2,), dtype=[("a", "i4"), ("b", "S3")],
                        fillvalue=numpy.array((5, b"xy"), dtype=[("a", "i4"), ("b", "S3")]))
    file.create_dataset("unset chunks", shape=(10, 3), dtype="i2", chunks=(4, 2))
    file.create_dataset("external", data=data, external=[("raw1.bin", 4, 300), ("raw2.bin", 0, h5py.h5f.UNLIMITED)])
    for name, time in (("early", h5d.ALLOC_TIME_EARLY), ("late", h5d.ALLOC_TIME_LATE), ("incr", h5d.ALLOC_TIME_INCR)):
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((4,))
        plist.set_alloc_time(time)
        plist.set_fill_time(h5d.FILL_TIME_ALLOC if time == h5d.ALLOC_TIME_LATE else h5d.FILL_TIME_NEVER)
        dataset = h5d.create(file.id, name.encode(), h5t.STD_I16LE, h5s.create_simple((9,)), plist)
        dataset.write(h5s.ALL, h5s.ALL, numpy.arange(9, dtype="i2"))
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_layout(h5d.COMPACT)
    compact = h5d.create(file.id, b"compact", h5t.STD_I16LE, h5s.create_simple((9,)), plist)
    compact.write(h5s.ALL, h5s.ALL, numpy.arange(9, dtype="i2"))
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((8, 4))
    plist.set_nbit() if hasattr(plist, "set_nbit") else plist.set_filter(5)
    tid = h5t.STD_I32LE.copy()
    tid.set_precision(11)
    tid.set_offset(3)
    packed = h5d.create(file.id, b"nbit", tid, h5s.create_simple((20, 10)), plist)
    packed.write(h5s.ALL, h5s.ALL, numpy.arange(200, dtype="i4"))


def virtual(file, directory):
    """Virtual datasets."""
    for i in range(3):
        with h5py.File(os.path.join(directory, f"source{i}.h5"), "w") as source:
            source.create_dataset("data", data=numpy.arange(10) + 100 * i)
    layout = h5py.VirtualLayout(shape=(4, 10), dtype="i8")
    for i in range(4):
        layout[i] = h5py.VirtualSource(f"source{i}.h5", "data", shape=(10,))
    file.create_virtual_dataset("rows", layout, fillvalue=-7)
    layout = h5py.VirtualLayout(shape=(10,), dtype="i8")
    layout[0:10:2] = h5py.VirtualSource("source1.h5", "data", shape=(10,))[0:5]
    layout[1:10:2] = h5py.VirtualSource("source2.h5", "data", shape=(10,))[5:10]
    file.create_virtual_dataset("mixed", layout)


def attributes(file):
    """Attributes of all types, few and many, large ones."""
    root = file["/"]
    root.attrs["number"] = 5
    root.attrs["text"] = "some text"
    root.attrs["bytes"] = numpy.bytes_(b"fixed")
    root.attrs["list"] = [1.5, 2.5, 3.5]
    root.attrs["texts"] = ["a", "bc"]
    root.attrs["none"] = h5py.Empty("i4")
    root.attrs["matrix"] = numpy.arange(60).reshape(3, 20)
    root.attrs["pair"] = numpy.array((1, 2.5), dtype=[("i", "i4"), ("f", "f8")])
    group = file.create_group("many")
    for i in range(40):
        group.attrs[f"attribute {i:02}"] = i
    data = file.create_dataset("data", data=[1, 2, 3])
    data.attrs["unit"] = "m/s"
    data.attrs["a/b"] = 1
    group = file.create_group("crowd")
    for i in range(50):
        group.create_group(f"member {i * 7 % 50:02}")


def ordered(file):
    """Groups that track the creation order of links, and objects that track the creation order of attributes."""
    group = file.create_group("group", track_order=True)
    for name in ("zebra", "apple", "mango"):
        group.create_group(name)
        group.attrs[name] = 1
    file.create_group("unordered").create_group("x")


CONTENTS = {
    "numbers": lambda file, directory: numbers(file),
    "odd": lambda file, directory: odd_numbers(file),
    "strings": lambda file, directory: strings(file),
    "compounds": lambda file, directory: compounds(file),
    "references": lambda file, directory: references(file),
    "links": links,
    "layouts": lambda file, directory: layouts(file),
    "virtual": virtual,
    "attributes": lambda file, directory: attributes(file),
    "ordered": lambda file, directory: ordered(file),
}

VERSIONS = {"old": ("earliest", "v108"), "middle": ("v108", "v108"), "new": ("v110", "latest")}


def make(directory):
    """Makes all files, each in the oldest, the 1.8 and the newest format; yields their directories and names."""
    for version, bounds in VERSIONS.items():
        place = os.path.join(directory, version)
        os.makedirs(place, exist_ok=True)
        before = os.getcwd()
        os.chdir(place)
        try:
            for name, fill in CONTENTS.items():
                if name == "virtual" and version != "new":
                    continue  # virtual datasets need the newest format
                with h5py.File(name + ".h5", "w", libver=bounds) as file:
                    fill(file, ".")
                yield place, name + ".h5"
        finally:
            os.chdir(before)
