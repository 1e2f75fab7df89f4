#!/usr/bin/python3
"""make_reference.py OUTDIR: writes HDF5 files through h5py, each with its sidecar (expect.py), for the tests that read
and change files made by libhdf5. OUTDIR/supported.list names the files that the library must read, one on each line.
OUTDIR/unsupported.list has lines `FILE FEATURE PATH` for the files that it must refuse to change: with the Feature that
it must name and the object that cannot be used, `/` for the file as a whole. The values are the same on every run, and
so is every byte of the supported files except times.h5, which holds clock times."""

import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy
from h5py import h5a, h5d, h5f, h5g, h5o, h5p, h5s, h5t, h5z

import expect
import hdf5_types
from expect import quote, shape_text

BOUNDS = {"earliest": h5f.LIBVER_EARLIEST, "v18": h5f.LIBVER_V18, "v110": h5f.LIBVER_V110}
TRACKED = h5p.CRT_ORDER_TRACKED
INDEXED = h5p.CRT_ORDER_INDEXED
DEFLATE, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET, LZF = 1, 2, 3, 4, 5, 6, 32000
UNKNOWN_FILTER = 400
ADD_FILTER = {DEFLATE: lambda plist: plist.set_deflate(6), SHUFFLE: lambda plist: plist.set_shuffle(),
              FLETCHER32: lambda plist: plist.set_fletcher32(),
              SZIP: lambda plist: plist.set_szip(h5z.SZIP_NN_OPTION_MASK, 8),
              NBIT: lambda plist: hdf5_types.check_call("H5Pset_nbit", hdf5_types.hid(plist)),
              SCALEOFFSET: lambda plist: plist.set_scaleoffset(h5z.SO_INT, 0),
              LZF: lambda plist: plist.set_filter(LZF, h5z.FLAG_OPTIONAL, ())}
ALLOCS = {"early": h5d.ALLOC_TIME_EARLY, "late": h5d.ALLOC_TIME_LATE, "incremental": h5d.ALLOC_TIME_INCR}
FILL_TIMES = {"alloc": h5d.FILL_TIME_ALLOC, "never": h5d.FILL_TIME_NEVER, "ifset": h5d.FILL_TIME_IFSET}
LAYOUTS = {"compact": h5d.COMPACT, "contiguous": h5d.CONTIGUOUS, "chunked": h5d.CHUNKED}
INF = None


def space_of(shape, maxima=None):
    if shape == "null":
        return h5s.create(h5s.NULL)
    if shape == ():
        return h5s.create(h5s.SCALAR)
    if maxima is not None:
        maxima = tuple(h5s.UNLIMITED if d is INF else d for d in maxima)
    return h5s.create_simple(shape, maxima)


def count_of(shape):
    if shape == "null":
        return 0
    count = 1
    for d in shape:
        count *= d
    return count


def sample(type_, rng):
    """The bytes of one random element; padding in a compound is 0."""
    if isinstance(type_, expect.Number):
        if type_.kind == "f":
            special = [0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"), 1e-40 if type_.size == 4 else 5e-324]
            value = rng.choice(special) if rng.random() < 0.1 else rng.uniform(-1, 1) * 10 ** rng.randint(-30, 30)
            return expect.struct.pack(("<" if type_.order == "le" else ">") + "fd"[type_.size == 8], value)
        raw = rng.getrandbits(type_.precision)
        if type_.kind != "bits" and rng.random() < 0.2:
            raw = rng.choice([0, 1, (1 << type_.precision) - 1, 1 << (type_.precision - 1)])
        raw <<= type_.offset
        return raw.to_bytes(type_.size, "little" if type_.order == "le" else "big")
    if isinstance(type_, expect.String):
        letters = "abcXYZ 0129_-\"\\'" + ("äß€" if type_.cset == "utf8" else "")
        room = type_.size - (type_.pad == "nullterm")
        text = b""
        for _ in range(rng.randint(0, type_.size)):
            more = rng.choice(letters).encode()
            if len(text) + len(more) <= room:
                text += more
        if type_.pad == "spacepad":
            return text.rstrip(b" ") + b" " * (type_.size - len(text.rstrip(b" ")))
        return text.ljust(type_.size, b"\0")
    if isinstance(type_, expect.Opaque):
        return bytes(rng.getrandbits(8) for _ in range(type_.size))
    if isinstance(type_, expect.Enum):
        value = rng.choice(type_.members)[1]
        return value.to_bytes(type_.size, "little" if type_.base.order == "le" else "big", signed=value < 0)
    if isinstance(type_, expect.Array):
        return b"".join(sample(type_.base, rng) for _ in range(type_.count))
    data = bytearray(type_.size)
    for _, offset, member in type_.members:
        data[offset:offset + member.size] = sample(member, rng)
    return bytes(data)


def numbers(type_text, count, scale=3):
    """The integers 0, 3, 6 ... of a type: the values of large datasets."""
    type_ = expect.parse_type(type_text)
    dtype = ("<" if type_.order == "le" else ">") + type_.kind + str(type_.size)
    return (numpy.arange(count) * scale).astype(dtype).tobytes()


class Reference:
    """One file being written, with the statements of its sidecar."""

    made = []  # (file name, "FEATURE PATH" or None) of all files of this run

    def __init__(self, directory, name, low="v110", high="v110", superblock=None, unsupported=None, userblock=0,
                 root_track_order=False, root_attr_order=False, fcpl=None, times=False):
        self.path = os.path.join(directory, name)
        self.rng = random.Random(name)
        self.lines = [expect.MAGIC]
        if superblock is not None:
            self.lines.append("file superblock=%d" % superblock)
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(BOUNDS[low], BOUNDS[high])
        plist = h5p.create(h5p.FILE_CREATE)
        if userblock:
            plist.set_userblock(userblock)
        if root_track_order:
            plist.set_link_creation_order(TRACKED | INDEXED)
        if root_attr_order:
            plist.set_attr_creation_order(TRACKED | INDEXED)
        # The root group keeps any number of links in its object header.
        hdf5_types.check_call("H5Pset_link_phase_change", hdf5_types.hid(plist), 1000, 0)
        if fcpl:
            fcpl(plist)
        # Without tracked times, every run makes the same file.
        hdf5_types.check_call("H5Pset_obj_track_times", hdf5_types.hid(plist), times)
        self.times = times
        self.file = h5f.create(self.path.encode(), h5f.ACC_TRUNC, fcpl=plist, fapl=fapl)
        self.root = h5g.open(self.file, b"/")
        self.group_line("/", root_track_order, root_attr_order)
        Reference.made.append((name, unsupported))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.root.close()
        self.file.close()
        with open(self.path + ".expect", "w", encoding="utf-8") as out:
            out.write("\n".join(self.lines) + "\n")

    def group_line(self, path, track_order, attr_order):
        self.lines.append("group " + quote(path) + (" track_order=1" if track_order else "")
                          + (" attr_order=1" if attr_order else ""))

    def group(self, path, track_order=False, attr_order=False, indexed=True, attr_phase=None, link_phase=None):
        plist = h5p.create(h5p.GROUP_CREATE)
        plist.set_obj_track_times(self.times)
        if track_order:
            plist.set_link_creation_order(TRACKED | (INDEXED if indexed else 0))
        if attr_order:
            plist.set_attr_creation_order(TRACKED | (INDEXED if indexed else 0))
        if attr_phase:
            plist.set_attr_phase_change(*attr_phase)
        h5g.create(self.file, path.encode(), gcpl=plist).close()
        self.group_line(path, track_order, attr_order)

    def data_lines(self, data, digest=False):
        if digest:
            self.lines.append("data-sha256 %d %s" % (len(data), expect.hashlib.sha256(data).hexdigest()))
        else:
            for start in range(0, max(1, len(data)), 4096):
                self.lines.append(("data " + data[start:start + 4096].hex()).strip())

    def random_data(self, type_, count):
        return b"".join(sample(type_, self.rng) for _ in range(count))

    def dataset(self, path, type_text, shape, max=None, chunk=None, layout=None, filters=(), fill=None, alloc=None,
                fill_time=None, index=None, data="random", written=None, attr_order=False, digest=False,
                attr_phase=None, append=0):
        """`data`: bytes, "random", or None for a dataset that is not written, whose elements are fill values.
        `append`: the dataset starts with this many rows fewer and is extended."""
        type_ = expect.parse_type(type_text)
        tid = hdf5_types.build(type_)
        plist = self.dataset_plist()
        if chunk:
            plist.set_chunk(chunk)
        elif layout:
            plist.set_layout(LAYOUTS[layout])
        for number in filters:
            ADD_FILTER[number](plist)
        if fill is not None:
            hdf5_types.set_fill(plist, tid, None if fill == "undefined" else fill)
        if alloc:
            plist.set_alloc_time(ALLOCS[alloc])
        if fill_time:
            plist.set_fill_time(FILL_TIMES[fill_time])
        if attr_order:
            plist.set_attr_creation_order(TRACKED | INDEXED)
        if attr_phase:
            plist.set_attr_phase_change(*attr_phase)
        first = (shape[0] - append,) + shape[1:] if append else shape
        dataset = h5d.create(self.file, path.encode(), tid, space_of(first, max), dcpl=plist)
        if append:
            dataset.set_extent(shape)
        count = count_of(shape)
        if data == "random":
            data = self.random_data(type_, count)
        if data is not None and count:
            dataset.write(h5s.ALL, h5s.ALL, numpy.frombuffer(data, dtype="u1"), mtype=tid)
        elif data is None:
            data = (fill if isinstance(fill, bytes) else bytes(type_.size)) * count
        words = ["dataset", quote(path), "type=" + type_.text(), "shape=" + shape_text(shape)]
        if max is not None and max != shape:
            words.append("max=" + shape_text(max))
        if layout and not chunk:
            words.append("layout=" + layout)
        if chunk:
            words.append("chunk=" + shape_text(chunk))
        if index:
            words.append("index=" + index)
        if filters:
            words.append("filters=" + ",".join(map(str, filters)))
        if fill is not None:
            words.append("fill=" + (fill if fill == "undefined" else fill.hex()))
        words += ["%s=%s" % (k, v) for k, v in (("alloc", alloc), ("fill_time", fill_time)) if v]
        if attr_order:
            words.append("attr_order=1")
        self.lines.append(" ".join(words))
        if shape != "null":
            self.data_lines(data, digest)
        dataset.close()

    def dataset_plist(self):
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_obj_track_times(self.times)
        return plist

    def attr(self, path, name, type_text, shape=(), data="random"):
        type_ = expect.parse_type(type_text)
        tid = hdf5_types.build(type_)
        owner = h5o.open(self.file, path.encode())
        attribute = h5a.create(owner, name.encode(), tid, space_of(shape))
        count = count_of(shape)
        if data == "random":
            data = self.random_data(type_, count)
        if count:
            buffer = numpy.frombuffer(data, dtype="V%d" % type_.size).reshape(shape)
            attribute.write(buffer, mtype=tid)
        self.lines.append("attr %s %s type=%s shape=%s" % (quote(path), quote(name), type_.text(), shape_text(shape)))
        if shape != "null":
            self.data_lines(data)

    def softlink(self, path, target):
        self.root.links.create_soft(path.encode(), target.encode())
        self.lines.append("softlink %s -> %s" % (quote(path), quote(target)))

    def hardlink(self, path, other):
        self.root.links.create_hard(path.encode(), self.root, other.encode())
        self.lines.append("hardlink %s = %s" % (quote(path), quote(other)))



# --- files that the library must read -------------------------------------------------------------------------------

INTEGERS = ["%s%d%s" % (k, s, o) for k in "iu" for s in (1, 2, 4, 8) for o in ("le", "be")]
FLOATS = ["f4le", "f4be", "f8le", "f8be"]
STRINGS = ["str%d:%s:%s" % (s, p, c) for s in (1, 12) for p in ("nullterm", "nullpad", "spacepad")
           for c in ("ascii", "utf8")]
BITFIELDS = ["bits%d%s" % (s, o) for s in (1, 2, 4, 8) for o in ("le", "be")]
SAMPLE = "compound(16;t_ms@0:u4le;accel@4:array(3;i2le);temp_c@12:f4le)"
NESTED = ("compound(40;id@0:u2be;position@4:compound(24;x@0:f8le;y@8:f8le;z@16:f8be);"
          "mode@28:enum(i1le;OFF=0;ON=1;AUTO=-1);grid@30:array(2x2;u1le);label@34:str6:nullpad:ascii)")
COMPOUNDS = [SAMPLE, NESTED, "compound(1;only@0:i1le)", "compound(12;b@8:i4be;a@0:f8le)",
             "compound(24;deep@0:compound(24;deeper@0:array(2;compound(12;v@0:i4le;w@4:array(2;f4be)))))"]
OTHERS = ["opaque1:one", "opaque8:eight bytes", "opaque5:", "enum(i1le;A=0;B=1)", "enum(u2be;LOW=0;HIGH=65535)",
          "enum(i4le;NEGATIVE=-5;ZERO=0;LARGE=2000000000)", "enum(i8be;A=-9000000000;B=9000000000)", "array(3;i2le)",
          "array(3x2;f4le)", "array(2x1x3;u1be)", "array(2;array(3;i4be))", "array(2;str4:nullterm:ascii)",
          "array(4;enum(i1le;A=0;B=1))", "i4le:12@4", "u2be:9@0"]
TYPES = INTEGERS + FLOATS + STRINGS + BITFIELDS + COMPOUNDS + OTHERS


def types(directory):
    with Reference(directory, "types.h5", superblock=3) as f:
        for i, text in enumerate(TYPES):
            path = "/group%d" % (i // 8)
            if i % 8 == 0:
                f.group(path)
            f.dataset("%s/scalar%d" % (path, i), text, ()) if i % 8 in (0, 3) else \
                f.dataset("%s/line%d" % (path, i), text, (7,))
    with Reference(directory, "types_chunked.h5", superblock=3) as f:
        for i, text in enumerate(TYPES):
            path = "/group%d" % (i // 8)
            if i % 8 == 0:
                f.group(path)
            f.dataset("%s/d%d" % (path, i), text, (11,), max=(INF,), chunk=(4,))


def attributes(directory):
    with Reference(directory, "attributes.h5", superblock=3) as f:
        for i, text in enumerate(TYPES):
            path = "/group%d" % (i // 7)
            if i % 7 == 0:
                f.group(path)
            f.attr(path, "a%d" % i, text, [(), (3,), (2, 3), (2, 1, 2), (1, 2, 1, 2)][i % 5])
        f.attr("/", "null", "i4le", "null")
        f.attr("/", "empty", "i4le", (0,))
        f.attr("/", "rank32", "u1le", (1,) * 30 + (2, 3))
        f.attr("/", "einheit µ", "str4:nullterm:utf8", (), "µT".encode() + b"\0")
        f.dataset("/data", "i4le", (3,))
        f.attr("/data", "units", "str3:nullterm:ascii", (), b"m/s")
        f.attr("/data", "with = and ; and %", "f8le")
    with Reference(directory, "attribute_order.h5", superblock=3, root_attr_order=True) as f:
        for name in ("zulu", "alpha", "mike"):
            f.attr("/", name, "i4le")
        f.group("/tracked", attr_order=True)
        f.dataset("/tracked/data", "i4le", (2,), attr_order=True)
        for name in ("third", "first", "second", "a0", "z1", "b2"):
            f.attr("/tracked", name, "u2le", (2,))
            f.attr("/tracked/data", name, "u2le", (2,))
        f.group("/unindexed", attr_order=True, indexed=False)
        for name in ("b", "a", "c"):
            f.attr("/unindexed", name, "u1le")
    # So many attributes that object headers get continuation blocks; the limit for dense storage is raised.
    with Reference(directory, "continuation.h5", superblock=3) as f:
        f.group("/many", attr_phase=(200, 0))
        for i in range(150):
            f.attr("/many", "attribute_number_%03d" % (i * 37 % 150), "f8le", (1 + i % 9,))
        f.dataset("/data", "i4le", (3,), attr_phase=(100, 0))
        for i in range(60):
            f.attr("/data", "a%02d" % i, SAMPLE)
        for i in range(6):  # several headers grow in turn
            f.group("/interleaved%d" % i)
        for i in range(7):
            for k in range(6):
                f.attr("/interleaved%d" % k, "attribute%d" % i, "str40:spacepad:ascii")
        f.dataset("/large", "u1le", (2,))
        f.attr("/large", "sixty thousand bytes", "u1le", (60000,))
        f.attr("/large", "small", "u1le")


def links(directory):
    with Reference(directory, "groups.h5", superblock=3) as f:
        path = ""
        for i in range(20):
            path += "/level%d" % i
            f.group(path)
        f.dataset(path + "/bottom", "i4le", (2,))
        f.group("/eight")
        for i in range(8):
            f.group("/eight/g%d" % (i * 3 % 8))
        f.group("/empty")
        f.group("/Grüße")
        f.group("/Grüße/日本語")
        f.group("/with blank, = and %")
        f.group("/" + "n" * 255)
        f.group("/" + "m" * 300)
    with Reference(directory, "links.h5", superblock=3) as f:
        f.group("/a")
        f.group("/a/b")
        f.dataset("/a/b/data", "i4le", (4,))
        f.softlink("/soft", "/a/b/data")
        f.softlink("/a/relative", "b/data")
        f.softlink("/dangling", "/nowhere/at all")
        f.softlink("/loop", "/loop")
        f.hardlink("/hard", "/a/b/data")
        f.hardlink("/a/again", "/a/b")
        f.hardlink("/a/b/self", "/a")
    with Reference(directory, "link_order.h5", superblock=3, root_track_order=True) as f:
        for name in ("zulu", "alpha", "mike"):
            f.group("/" + name, track_order=True)
        f.dataset("/mike/z", "i4le", ())
        f.softlink("/mike/a", "/alpha")
        f.hardlink("/mike/m", "/zulu")
        f.dataset("/mike/b", "i4le", ())
        f.group("/unindexed", track_order=True, indexed=False)
        for name in ("q", "b", "x"):
            f.group("/unindexed/" + name)


def ranks(directory):
    shapes = [(), (7,), (3, 4), (2, 3, 4), (2, 3, 2, 3), (2, 1, 3, 2, 2), (1,) * 14 + (2,) + (1,) * 16 + (3,)]
    with Reference(directory, "ranks.h5", superblock=3) as f:
        for shape in shapes:
            name = "/rank%d" % len(shape)
            f.group(name)
            f.dataset(name + "/compact", "i4le", shape, layout="compact")
            f.dataset(name + "/contiguous", "i2be", shape, layout="contiguous")
            f.dataset(name + "/contiguous_early", "u8le", shape, layout="contiguous", alloc="early")
            if shape:
                chunk = tuple(max(1, d - 1) for d in shape)
                f.dataset(name + "/fixed_array", "i4le", shape, chunk=chunk,
                          index="fixed_array" if chunk != shape else None)
                f.dataset(name + "/single", "i4le", shape, chunk=shape, index="single")
                f.dataset(name + "/implicit", "i4le", shape, chunk=chunk, alloc="early",
                          index="implicit" if chunk != shape else None)
                f.dataset(name + "/extensible_array", "i4le", shape, max=(INF,) + shape[1:], chunk=chunk,
                          index="extensible_array")
        f.dataset("/null", "i4le", "null")
        f.dataset("/empty", "i4le", (0,))
        f.dataset("/empty_chunked", "i4le", (0, 3), max=(INF, 3), chunk=(5, 3), index="extensible_array")


def chunks(directory):
    with Reference(directory, "chunked_1d.h5", superblock=3) as f:
        # Chunks of one element. The lengths need, one after the other: the elements in the index block, the data blocks
        # that the index block points to, the first super blocks, and data blocks with pages.
        for length in (1, 4, 5, 20, 21, 100, 244, 245, 1000):
            f.dataset("/length%d" % length, "u2le", (length,), max=(INF,), chunk=(1,), index="extensible_array",
                      data=numbers("u2le", length))
        f.dataset("/paged", "u2le", (40000,), max=(INF,), chunk=(1,), index="extensible_array",
                  data=numbers("u2le", 40000))
        f.dataset("/paged_filtered", "u2le", (9000,), max=(INF,), chunk=(2,), index="extensible_array",
                  filters=(FLETCHER32,), data=numbers("u2le", 9000))
        f.dataset("/big", SAMPLE, (20000,), max=(INF,), chunk=(16,), index="extensible_array", digest=True,
                  data=f.random_data(expect.parse_type(SAMPLE), 2000) * 10)
        f.dataset("/bounded", "i4le", (100,), max=(1000,), chunk=(8,), index="fixed_array")
        f.dataset("/extended", "i4le", (100,), max=(INF,), chunk=(8,), index="extensible_array", append=77)
    with Reference(directory, "sparse.h5", superblock=3) as f:
        # Only the last elements were written: the chunks before them, and their blocks of the index, do not exist.
        for name, fill, length in (("zero", None, 5000), ("minus_one", b"\xff\xff\xff\xff", 30000)):
            f.dataset("/" + name, "i4le", (length,), max=(INF,), chunk=(1,), index="extensible_array", fill=fill,
                      data=None)
            dataset = h5d.open(f.file, ("/" + name).encode())
            space = dataset.get_space()
            space.select_hyperslab((length - 3,), (3,))
            tail = (b"\1\0\0\0", b"\2\0\0\0", b"\3\0\0\0")
            dataset.write(h5s.create_simple((3,)), space, numpy.frombuffer(b"".join(tail), "u1"),
                          mtype=h5t.STD_I32LE)
            while f.lines[-1].startswith("data "):
                f.lines.pop()
            f.data_lines((fill or bytes(4)) * (length - 3) + b"".join(tail))
        f.dataset("/never_written", "f8be", (10, 10), chunk=(3, 3), index="fixed_array", fill=b"\x40\x45" + bytes(6),
                  data=None)
        f.dataset("/never_written_contiguous", "i2le", (10,), layout="contiguous", fill=b"\x34\x12", data=None)
        f.dataset("/grown", "u1le", (9, 4), max=(INF, 4), chunk=(2, 3), index="extensible_array", fill=b"\x07",
                  data=None)
    with Reference(directory, "chunked_nd.h5", superblock=3) as f:
        for i, (shape, maxima, chunk) in enumerate([
                ((10, 7), (INF, 7), (3, 2)), ((10, 7), (10, INF), (3, 2)), ((10, 7), (10, INF), (4, 7)),
                ((5, 6, 7), (5, INF, 7), (2, 4, 3)), ((5, 6, 7), (9, INF, 20), (2, 4, 3)),
                ((5, 6, 7), (5, 6, INF), (5, 1, 2)), ((3, 4, 2, 5), (3, 4, INF, 5), (2, 2, 2, 2)),
                ((40, 30), (INF, 64), (1, 1))]):
            f.dataset("/d%d" % i, "u2le", shape, max=maxima, chunk=chunk, index="extensible_array")
        f.dataset("/bounded", "u2le", (5, 6), max=(9, 20), chunk=(2, 4), index="fixed_array")
        f.dataset("/paged_fixed_array", "u2le", (60, 60), chunk=(1, 1), index="fixed_array")
        f.dataset("/paged_fixed_array_filtered", "u2le", (60, 60), chunk=(1, 2), index="fixed_array",
                  filters=(SHUFFLE, DEFLATE))
        f.dataset("/implicit", "u2le", (10, 9), chunk=(4, 4), alloc="early", index="implicit")
        f.dataset("/implicit_bounded", "u2le", (10, 9), max=(20, 30), chunk=(4, 4), alloc="early", index="implicit")


def filters(directory):
    combinations = [(SHUFFLE,), (FLETCHER32,), (DEFLATE,), (SHUFFLE, DEFLATE), (DEFLATE, FLETCHER32),
                    (SHUFFLE, DEFLATE, FLETCHER32), (FLETCHER32, SHUFFLE), (FLETCHER32, DEFLATE, SHUFFLE)]
    with Reference(directory, "filters.h5", superblock=3) as f:
        for combination in combinations:
            path = "/f" + "_".join(map(str, combination))
            f.group(path)
            f.dataset(path + "/smooth", "i4le", (1000,), max=(INF,), chunk=(64,), filters=combination,
                      index="extensible_array", data=numbers("i4le", 1000))
            f.dataset(path + "/random", "u1le", (333,), max=(INF,), chunk=(50,), filters=combination)
            f.dataset(path + "/records", SAMPLE, (200,), max=(INF,), chunk=(16,), filters=combination)
            f.dataset(path + "/odd", "u1le", (15,), chunk=(5,), filters=combination, index="fixed_array")
            f.dataset(path + "/single", "f8be", (6, 5), chunk=(6, 5), filters=combination, index="single")
            f.dataset(path + "/plane", "i2be", (20, 30), max=(20, INF), chunk=(6, 7), filters=combination)
    # Filters that the library can decode but not encode.
    many = "compound(%d;%s)" % (240, ";".join("m%d@%d:u4le:9@3" % (i, 4 * i) for i in range(60)))
    with Reference(directory, "packed.h5", superblock=3) as f:
        for combination in [(SZIP,), (SCALEOFFSET,), (LZF,), (SHUFFLE, LZF), (SZIP, FLETCHER32),
                            (SCALEOFFSET, DEFLATE, FLETCHER32), (SCALEOFFSET, SHUFFLE, LZF)]:
            for i, text in enumerate(["u1le", "i2be", "i4le", "u8le"]):
                path = "/f%s_%d" % ("_".join(map(str, combination)), i)
                f.group(path)
                f.dataset(path + "/smooth", text, (1000,), max=(INF,), chunk=(64,), filters=combination,
                          data=numbers(text, 1000, 1))
                f.dataset(path + "/random", text, (100,), chunk=(32,), filters=combination, index="fixed_array")
                f.dataset(path + "/plane", text, (20, 30), max=(20, INF), chunk=(6, 7), filters=combination,
                          data=numbers(text, 600, 1))
                if SCALEOFFSET not in combination:
                    f.dataset(path + "/float", "f4be", (6, 50), chunk=(6, 50), filters=combination, index="single")
        for i, text in enumerate(["i4le:12@4", "u2be:9@0", "u8le:33@7", "array(3x2;i2le:11@5)", many,
                                  "compound(16;a@1:i4be:20@6;b@5:str3:nullpad:ascii;c@8:array(2;u2le:3@1);d@12:f4le)"]):
            for combination in ((NBIT,), (NBIT, DEFLATE), (NBIT, FLETCHER32)):
                f.dataset("/nbit%d_%d" % (i, len(f.lines)), text, (70,), max=(INF,), chunk=(16,), filters=combination)
    with Reference(directory, "skipped_filters.h5", superblock=3) as f:
        # Chunks that were stored without one or all of their filters.
        data = numbers("u2le", 64)
        f.dataset("/data", "u2le", (64,), max=(INF,), chunk=(16,), filters=(SHUFFLE, DEFLATE), data=data)
        dataset = h5d.open(f.file, b"/data")
        dataset.write_direct_chunk((16,), data[32:64], 3)
        shuffled = numpy.frombuffer(data[64:96], "u1").reshape(16, 2).T.tobytes()
        dataset.write_direct_chunk((32,), shuffled, 2)


def fills(directory):
    with Reference(directory, "fill.h5", superblock=3) as f:
        cases = [("i4le", b"\xff\xff\xff\xff"), ("f8be", b"\x7f\xf8" + bytes(6)), ("str5:nullpad:ascii", b"empty"),
                 (SAMPLE, b"\1\0\0\0\2\0\3\0\4\0\0\0\0\0\x80\x3f"), ("enum(i1le;A=0;B=1)", b"\1"),
                 ("array(2;u1le)", b"\5\6"), ("opaque3:x", b"\1\2\3"), ("u8le", bytes(8))]
        for i, (text, fill) in enumerate(cases):
            for alloc in ("early", "late"):
                f.dataset("/contiguous%d_%s" % (i, alloc), text, (5,), layout="contiguous", fill=fill, alloc=alloc,
                          data=None)
            for alloc in ("early", "late", "incremental"):
                f.dataset("/chunked%d_%s" % (i, alloc), text, (9,), max=(INF,), chunk=(4,), fill=fill, alloc=alloc,
                          data=None)
                f.dataset("/fixed%d_%s" % (i, alloc), text, (9,), chunk=(4,), fill=fill, alloc=alloc, data=None)
            f.dataset("/compact%d" % i, text, (3,), layout="compact", fill=fill, data=None)
        f.dataset("/undefined", "i4le", (4,), layout="contiguous", fill="undefined")
        f.dataset("/never", "i4le", (4,), chunk=(2,), fill=b"\7\0\0\0", fill_time="never")
        f.dataset("/alloc", "i4le", (4,), chunk=(2,), fill=b"\7\0\0\0", fill_time="alloc", data=None)
        f.dataset("/ifset", "i4le", (4,), chunk=(2,), fill=b"\7\0\0\0", fill_time="ifset", data=None)


def superblocks(directory):
    with Reference(directory, "minimal.h5", superblock=3):
        pass
    with Reference(directory, "times.h5", superblock=3, times=True) as f:
        f.group("/g")
        f.attr("/g", "a", "i4le")
        f.dataset("/g/d", "i4le", (3,), max=(INF,), chunk=(2,))
        f.dataset("/scalar", "f8le", ())
    with Reference(directory, "superblock2.h5", low="v18", high="v18", superblock=2) as f:
        f.group("/g")
        f.attr("/g", "a", "i4le", (2,))
        f.dataset("/g/compact", "i4le", (3,), layout="compact")
        f.dataset("/g/contiguous", SAMPLE, (3,), layout="contiguous")
    with Reference(directory, "sizeof_offsets.h5", superblock=3, fcpl=lambda plist: plist.set_sizes(4, 4)) as f:
        f.group("/g")
        f.attr("/g", "a", "i4le", (2,))
        f.dataset("/g/contiguous", SAMPLE, (3,), layout="contiguous")
        # No unlimited dimensions: with lengths of 4 bytes, libhdf5 1.10.8 itself does not recognize them on opening.
        for filters in ((), (FLETCHER32,)):
            f.dataset("/fixed_array%d" % len(filters), "u2le", (300,), max=(500,), chunk=(3,), index="fixed_array",
                      filters=filters)


def extensions(directory):
    """Files with a superblock extension that does not keep this library from writing."""
    with Reference(directory, "shared_messages.h5", superblock=3, fcpl=set_shared_messages) as f:
        f.dataset("/d", "i4le", (3,))
        f.dataset("/e", "i4le", (3,))
    settings = {
        "btree_widths.h5": set_istore_k,
        "aggregated_space.h5": lambda plist: plist.set_file_space_strategy(h5f.FSPACE_STRATEGY_AGGR, False, 1),
        "threshold_of_space.h5": lambda plist: plist.set_file_space_strategy(h5f.FSPACE_STRATEGY_FSM_AGGR, False, 64),
        "paged_file_space.h5": lambda plist: plist.set_file_space_strategy(h5f.FSPACE_STRATEGY_PAGE, True, 1),
    }
    for name, fcpl in settings.items():
        with Reference(directory, name, superblock=3, fcpl=fcpl) as f:
            f.group("/g")
            f.attr("/g", "a", "i4le")
            f.dataset("/g/log", "i4le", (20,), max=(INF,), chunk=(8,))
            f.dataset("/fixed", "f8le", (3, 4))


def old_formats(directory):
    """Files that libhdf5 makes by default: symbol tables, object headers of version 1, chunks in B-trees."""
    with Reference(directory, "symbol_table.h5", low="earliest", superblock=0) as f:
        f.group("/g")
        f.attr("/g", "a", "i4le", (2,))
        f.dataset("/g/d", "i4le", (3,))
        for i in range(20):
            f.dataset("/g/d%02d" % i, "i4le", (2,))
        f.dataset("/g/log", "i4le", (10,), max=(INF,), chunk=(3,), index="btree1")
    with Reference(directory, "superblock1.h5", low="earliest", superblock=1,
                   fcpl=lambda plist: set_istore_k(plist)) as f:
        f.dataset("/d", "i4le", (3,))
        f.dataset("/log", "i4le", (10,), max=(INF,), chunk=(3,), index="btree1", filters=(SHUFFLE, DEFLATE))
    with Reference(directory, "user_block.h5", superblock=3, userblock=512) as f:
        f.dataset("/d", "i4le", (3,))
        f.dataset("/log", "i4le", (10,), max=(INF,), chunk=(3,))
    with Reference(directory, "btree1_chunks.h5", low="v18", high="v18", superblock=2) as f:
        f.dataset("/d", "i4le", (10,), max=(INF,), chunk=(3,), index="btree1")
        f.dataset("/plane", "i4le", (10, 10), max=(INF, 20), chunk=(3, 4), index="btree1")
    with Reference(directory, "btree2_chunks.h5", superblock=3) as f:
        f.dataset("/d", "i4le", (10, 10), max=(INF, INF), chunk=(3, 4), index="btree2")


# --- files that the library must refuse -----------------------------------------------------------------------------


def unsupported(directory):
    with Reference(directory, "dense_links.h5", superblock=3, unsupported="dense_links /g") as f:
        f.group("/g")
        for i in range(12):
            f.dataset("/g/d%02d" % i, "i4le", (2,))
    with Reference(directory, "dense_attributes.h5", superblock=3, unsupported="dense_attributes /g") as f:
        f.group("/g")
        for i in range(12):
            f.attr("/g", "a%02d" % i, "i4le")
    with Reference(directory, "external_link.h5", superblock=3, unsupported="external_link /ext") as f:
        f.root.links.create_external(b"ext", b"other.h5", b"/g")
        f.lines.append("externallink /ext -> other.h5 /g")
    with Reference(directory, "external_storage.h5", superblock=3, unsupported="external_storage /d") as f:
        plist = f.dataset_plist()
        plist.set_external(b"external_storage.raw", 0, 12)
        h5d.create(f.file, b"d", h5t.STD_I32LE, space_of((3,)), dcpl=plist).close()
        f.lines += ["dataset /d type=i4le shape=3 layout=contiguous", "data-skip"]
    with Reference(directory, "unknown_filter.h5", superblock=3, unsupported="filter /d") as f:
        # Chunks that passed the unknown filter cannot be read. libhdf5 only allows to write such chunks directly.
        plist = f.dataset_plist()
        plist.set_chunk((16,))
        plist.set_filter(UNKNOWN_FILTER, h5z.FLAG_OPTIONAL, (1, 2, 3))
        dataset = h5d.create(f.file, b"d", h5t.STD_I32LE, space_of((16,), (INF,)), dcpl=plist)
        dataset.write_direct_chunk((0,), bytes(40), 0)
        f.lines += ["dataset /d type=i4le shape=16 max=inf chunk=16 filters=%d" % UNKNOWN_FILTER, "data-skip"]


def set_istore_k(plist):
    """Sets another rank of the chunk B-tree than the default, for which libhdf5 writes superblock version 1."""
    hdf5_types.check_call("H5Pset_istore_k", hdf5_types.hid(plist), 16)


def set_shared_messages(plist):
    """Lets datatype messages be shared."""
    datatypes = 1 << 3
    hdf5_types.check_call("H5Pset_shared_mesg_nindexes", hdf5_types.hid(plist), 1)
    hdf5_types.check_call("H5Pset_shared_mesg_index", hdf5_types.hid(plist), 0, datatypes, 10)


def main():
    if len(sys.argv) != 2:
        print("usage: make_reference.py OUTDIR")
        return 2
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for make in (types, attributes, links, ranks, chunks, filters, fills, superblocks, extensions, old_formats,
                 unsupported):
        make(directory)
    for name, wanted in (("supported.list", False), ("unsupported.list", True)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
            for file, feature in Reference.made:
                if (feature is not None) == wanted:
                    out.write(file + (" " + feature if wanted else "") + "\n")
    print("make_reference: %d files in %s" % (len(Reference.made), directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
