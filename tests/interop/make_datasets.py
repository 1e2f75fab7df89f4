#!/usr/bin/python3
"""Makes datasets of every layout, chunk index, filter and fill value with libhdf5, and a list of what they hold.

usage: make_datasets.py OUTDIR

OUTDIR/list has a line for each read: FILE DATASET KIND NUMBERS... EXPECTED, where KIND is `all`, `slab` (start, stride,
count, block of each dimension) or `points` (coordinates); EXPECTED is a file with the selected elements in their stored
form, packed. For the kinds `strings` and `sequences` (of 32-bit integers) it has each element's length, 8 bytes, and
its bytes. `chunks` lines say how many chunks an index has and how many bytes they take.
"""
import itertools
import os
import random
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

OUT = sys.argv[1]
LINES = []
BOUNDS = {"earliest": ("earliest", "latest"), "v108": ("v108", "latest"), "latest": ("latest", "latest")}
NUMBER = itertools.count()


def expect(file, name, kind, numbers, values):
    path = "%d.bin" % next(NUMBER)
    with open(os.path.join(OUT, path), "wb") as out:
        out.write(np.ascontiguousarray(values).tobytes())
    LINES.append(" ".join([file, name, kind, str(len(numbers))] + [str(n) for n in numbers] + [path]))


def slab_values(data, start, stride, count, block):
    index = [[s + i * st + b for i in range(c) for b in range(bl)]
             for s, st, c, bl in zip(start, stride, count, block)]
    return data[np.ix_(*index)]


def expect_all_kinds(file, name, data, rng):
    expect(file, name, "all", [], data)
    if data.ndim == 0 or data.size == 0:
        return
    start, stride, count, block = [], [], [], []
    for size in data.shape:
        b = rng.randint(1, max(1, size // 5))
        st = rng.randint(b, b + 3)
        s = rng.randint(0, min(3, size - b))
        c = (size - s - b) // st + 1
        start.append(s), stride.append(st), count.append(c), block.append(b)
    expect(file, name, "slab", start + stride + count + block, slab_values(data, start, stride, count, block))
    points = [tuple(rng.randrange(size) for size in data.shape) for _ in range(60)]
    values = np.array([data[p] for p in points], dtype=data.dtype)
    expect(file, name, "points", [c for p in points for c in p], values)


def chunk_line(file, name, dataset):
    info = dataset.id
    chunks = info.get_num_chunks()
    LINES.append(" ".join([file, name, "chunks", "2", str(chunks), str(info.get_storage_size()), "-"]))


def values_of(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).round(2).astype(dtype)
    return rng.integers(0, 100, size=shape).astype(dtype)


FILTERS = {
    "plain": {},
    "deflate": dict(compression="gzip", compression_opts=4),
    "shuffle_deflate": dict(compression="gzip", shuffle=True),
    "fletcher": dict(fletcher32=True),
    "shuffle_deflate_fletcher": dict(compression="gzip", shuffle=True, fletcher32=True),
    "lzf": dict(compression="lzf"),
}
SHAPES = [
    # shape, maxshape, chunk
    ((100,), None, (7,)),
    ((100,), (None,), (7,)),
    ((3000,), (None,), (1,)),  # super blocks
    ((30, 41), None, (7, 9)),
    ((30, 41), (None, 41), (7, 9)),
    ((30, 41), (30, None), (7, 9)),
    ((30, 41), (None, None), (7, 9)),
    ((30, 41), (60, 82), (7, 9)),
    ((6, 7, 8), (None, None, None), (2, 3, 5)),
    ((6, 7, 8), None, (6, 7, 8)),  # single
    ((4, 5, 3, 2), (None, 5, 9, None), (2, 2, 2, 2)),
]


def chunked(bounds):
    rng = random.Random(bounds)
    file = "chunked_%s.h5" % bounds
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        for i, (shape, most, chunk) in enumerate(SHAPES):
            for filters, options in FILTERS.items():
                dtype = rng.choice(["<i4", ">i2", "<f8", "u1"])
                name = "%d_%s" % (i, filters)
                data = values_of(shape, dtype, i)
                d = f.create_dataset(name, shape, dtype, maxshape=most, chunks=chunk, **options)
                d[...] = data
                expect_all_kinds(file, name, data, rng)
        # Only some chunks are allocated; elements of the others read as the fill value.
        for most in (None, (None, 50), (None, None)):
            for filters in ("plain", "deflate"):
                name = "sparse_%s_%s" % (0 if most is None else most.count(None), filters)
                d = f.create_dataset(name, (50, 50), "<i4", maxshape=most, chunks=(8, 8), fillvalue=-7,
                                     **FILTERS[filters])
                data = np.full((50, 50), -7, "<i4")
                d[10:20, 33:40] = data[10:20, 33:40] = values_of((10, 7), "<i4", 1)
                d[49, 49] = data[49, 49] = 5
                expect_all_kinds(file, name, data, rng)
                chunk_line(file, name, d)
                empty = f.create_dataset(name + "_empty", (20, 20), "<i4", maxshape=most and (None, 20), chunks=(8, 8),
                                         fillvalue=9, **FILTERS[filters])
                expect_all_kinds(file, name + "_empty", np.full((20, 20), 9, "<i4"), rng)
                chunk_line(file, name + "_empty", empty)
        # Many chunks, so that arrays have pages and trees are deep.
        for most in (None, (None, 200), (None, None)):
            name = "many_%d" % (0 if most is None else most.count(None))
            data = values_of((200, 200), "<i2", 4)
            d = f.create_dataset(name, (200, 200), "<i2", maxshape=most, chunks=(3, 2), **FILTERS["plain"])
            d[...] = data
            expect_all_kinds(file, name, data, rng)
            chunk_line(file, name, d)
        # Chunks written directly that skipped some of the filters.
        d = f.create_dataset("skipped", (16,), "<i4", maxshape=(None,), chunks=(4,), compression="gzip", shuffle=True)
        d[...] = data = values_of((16,), "<i4", 8)
        raw = data[4:8].tobytes()
        d.id.write_direct_chunk((4,), raw, 3)
        expect_all_kinds(file, "skipped", data, rng)
        # A chunk larger than the cache that the tests have.
        data = values_of((100, 100), "<f8", 9)
        f.create_dataset("large_chunk", data=data, chunks=(60, 100))
        expect_all_kinds(file, "large_chunk", data, rng)
        # Filters for integers.
        data = values_of((40, 40), "<i4", 3)
        f.create_dataset("scaleoffset", data=data, chunks=(13, 11), scaleoffset=0)
        expect_all_kinds(file, "scaleoffset", data, rng)
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((40,))
        plist.set_szip(h5z.SZIP_NN_OPTION_MASK, 8)
        data = values_of((100,), "<i4", 5)
        d = h5d.create(f.id, b"szip", h5t.STD_I32LE, h5s.create_simple((100,)), plist)
        d.write(h5s.ALL, h5s.ALL, data)
        expect_all_kinds(file, "szip", data, rng)


def early(bounds):
    """Early allocation, which gives implicit indexes; and unfiltered partial chunks at the edge."""
    rng = random.Random(bounds)
    file = "early_%s.h5" % bounds
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        for i, (shape, most) in enumerate([((30, 20), None), ((30, 20), (40, 50)), ((100,), None)]):
            plist = h5p.create(h5p.DATASET_CREATE)
            plist.set_chunk((7, 6)[:len(shape)])
            plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
            space = h5s.create_simple(shape, most or shape)
            d = h5py.Dataset(h5d.create(f.id, b"implicit%d" % i, h5t.STD_I32LE, space, plist))
            data = values_of(shape, "<i4", i)
            d[...] = data
            expect_all_kinds(file, "implicit%d" % i, data, rng)
            chunk_line(file, "implicit%d" % i, d)
        for layout, shape in (("contiguous", (30, 20)), ("contiguous", (50000,)), ("compact", (10, 20)), ("compact", ()),
                              ("contiguous", ()), ("contiguous", (5, 6, 7, 8)), ("compact", (8000,))):
            for dtype in ("<f8", ">i4"):
                plist = h5p.create(h5p.DATASET_CREATE)
                plist.set_layout(h5d.COMPACT if layout == "compact" else h5d.CONTIGUOUS)
                name = "%s_%s_%s" % (layout, "x".join(map(str, shape)), dtype[1:])
                space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
                kind = h5t.IEEE_F64LE if dtype == "<f8" else h5t.STD_I32BE
                d = h5py.Dataset(h5d.create(f.id, name.encode(), kind, space, plist))
                data = values_of(shape, dtype, 2)
                d[...] = data
                expect_all_kinds(file, name, data, rng)


def small(bounds):
    """A small file with every chunk index, which interop_datasets damages."""
    rng = random.Random(bounds)
    file = "small_%s.h5" % bounds
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        for i, most in enumerate([None, (None, 10), (None, None)]):
            data = values_of((12, 10), "<i2", i)
            f.create_dataset("d%d" % i, data=data, maxshape=most, chunks=(5, 4), **FILTERS["deflate" if i else "plain"])
            expect_all_kinds(file, "d%d" % i, data, rng)


def fills(bounds):
    rng = random.Random(bounds)
    file = "fills_%s.h5" % bounds
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        for time in (h5d.FILL_TIME_IFSET, h5d.FILL_TIME_ALLOC):
            for value in (None, 0, 77):
                for chunk in (None, (4,)):
                    plist = h5p.create(h5p.DATASET_CREATE)
                    plist.set_fill_time(time)
                    if chunk:
                        plist.set_chunk(chunk)
                    if value is not None:
                        plist.set_fill_value(np.array(value, "<i4"))
                    name = "fill_%d_%s_%s" % (time, value, "chunk" if chunk else "whole")
                    h5d.create(f.id, name.encode(), h5t.STD_I32BE, h5s.create_simple((10,)), plist)
                    expect_all_kinds(file, name, np.full((10,), value or 0, ">i4"), rng)
        f.create_dataset("null", data=h5py.Empty("<i4"))
        expect(file, "null", "all", [], np.zeros((0,), "<i4"))
        f.create_dataset("none", (0, 4), "<i4", maxshape=(None, 4), chunks=(2, 2))
        expect(file, "none", "all", [], np.zeros((0,), "<i4"))
        # Shared datatypes and dataspaces.
        f["kind"] = np.dtype("<i8")
        d = f.create_dataset("committed", (20,), f["kind"])
        d[...] = np.arange(20)
        expect_all_kinds(file, "committed", np.arange(20, dtype="<i8"), rng)


def shared():
    rng = random.Random(1)
    file = "shared_messages.h5"
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_link_creation_order(0)
    try:
        import ctypes
        library = ctypes.CDLL(h5py.h5.__file__)
        set_indexes = library.H5Pset_shared_mesg_nindexes
        set_index = library.H5Pset_shared_mesg_index
    except (OSError, AttributeError):
        return
    set_indexes(ctypes.c_int64(fcpl.id), 1)
    set_index(ctypes.c_int64(fcpl.id), 0, 0x1f, 10)  # dataspace, datatype, fill value, pipeline, attribute
    fid = h5py.h5f.create(os.path.join(OUT, file).encode(), h5py.h5f.ACC_TRUNC, fcpl)
    with h5py.File(fid) as f:
        for i in range(12):
            data = values_of((30, 31), "<i4", i)
            name = "d%d" % i
            f.create_dataset(name, data=data, chunks=(9, 8), compression="gzip", fillvalue=1234567)
            expect_all_kinds(file, name, data, rng)
            f.create_dataset("e" + name, (30, 31), "<i4", chunks=(9, 8), compression="gzip", fillvalue=1234567)
            expect_all_kinds(file, "e" + name, np.full((30, 31), 1234567, "<i4"), rng)


def external():
    rng = random.Random(2)
    file = "external.h5"
    data = values_of((500,), "<i4", 6)
    raw = data.tobytes()
    with open(os.path.join(OUT, "first.raw"), "wb") as out:
        out.write(b"abc" + raw[:400])
    with open(os.path.join(OUT, "second.raw"), "wb") as out:
        out.write(raw[400:])
    with h5py.File(os.path.join(OUT, file), "w") as f:
        f.create_dataset("two", (500,), "<i4", external=[("first.raw", 3, 400), ("second.raw", 0, h5py.h5f.UNLIMITED)])
        expect_all_kinds(file, "two", data, rng)
        f.create_dataset("short", (600,), "<i4", external=[("second.raw", 0, h5py.h5f.UNLIMITED)])
        expect_all_kinds(file, "short", np.concatenate([data[100:], np.zeros(200, "<i4")]), rng)


def mapping(plist, space, start, count, stride, block, file, name, source, s_start, s_count, s_stride, s_block):
    virtual = h5s.create_simple(space, tuple([h5s.UNLIMITED] * len(space)))
    virtual.select_hyperslab(tuple(start), tuple(count), tuple(stride), tuple(block))
    origin = h5s.create_simple(source, tuple([h5s.UNLIMITED] * len(source)))
    origin.select_hyperslab(tuple(s_start), tuple(s_count), tuple(s_stride), tuple(s_block))
    plist.set_virtual(virtual, file.encode(), name.encode(), origin)


def virtual(bounds):
    rng = random.Random(bounds)
    file = "virtual_%s.h5" % bounds
    sources = []
    for i in range(4):
        path = "source_%s_%d.h5" % (bounds, i)
        with h5py.File(os.path.join(OUT, path), "w", libver=BOUNDS[bounds]) as f:
            data = values_of((20 + i, 12), "<i4", 100 + i)
            f.create_dataset("data", data=data, chunks=(5, 5), maxshape=(None, 12),
                             **(FILTERS["deflate"] if i % 2 else {}))
            f.create_dataset("n_%d" % i, data=values_of((3, 12), "<i4", 200 + i).astype("<f8"))
            sources.append((path, data))
    names = []
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        own = values_of((20, 12), ">i2", 300)
        f.create_dataset("own", data=own)
        layout = h5py.VirtualLayout((5, 20, 12), "<i4")
        for i, (path, data) in enumerate(sources):
            layout[i] = h5py.VirtualSource(path, "data", data.shape, data.dtype, (None, 12))[:20]
        layout[4] = h5py.VirtualSource(".", "own", own.shape, own.dtype)[...]
        f.create_virtual_dataset("stacked", layout, fillvalue=-3)
        layout = h5py.VirtualLayout((40, 30), "<f8")
        layout[1:40:2, 2:14] = h5py.VirtualSource(sources[0][0], "data", (20, 12), "<i4", (None, 12))[:20]
        layout[0:20, 20:30] = h5py.VirtualSource("nowhere.h5", "data", (20, 10), "<i4")[...]
        layout[0:10, 16:18] = h5py.VirtualSource(sources[1][0], "not there", (10, 2), "<i4")[...]
        f.create_virtual_dataset("gaps", layout, fillvalue=2.5)
        layout = h5py.VirtualLayout((3, 40), "<i4")
        layout[:, 3:15] = h5py.VirtualSource(".", "stacked", (5, 20, 12), "<i4")[2, 4:7, :]
        layout[:, 15:27] = h5py.VirtualSource(sources[1][0], "data", (21, 12), "<i4", (None, 12))[0:9:4, :]
        f.create_virtual_dataset("nested", layout, fillvalue=9)
        # An unlimited virtual dataset: interleaved rows of two sources of different length.
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_fill_value(np.array(-1, "<i4"))
        for i in (0, 3):
            mapping(plist, (1, 12), (i // 3, 0), (h5s.UNLIMITED, 1), (2, 1), (1, 12), sources[i][0], "data",
                    (20, 12), (0, 0), (1, 1), (1, 1), (h5s.UNLIMITED, 12))
        h5d.create(f.id, b"unlimited", h5t.STD_I32LE, h5s.create_simple((1, 12), (h5s.UNLIMITED, 12)), plist)
        # A source for each block (%b): in the file name only, or in the dataset name, too.
        for name, path, dataset in (("files", "source_%s_%%b.h5" % bounds, "data"), ("both", "source_%s_%%b.h5" % bounds,
                                                                                    "n_%b")):
            plist = h5p.create(h5p.DATASET_CREATE)
            mapping(plist, (3, 12), (0, 0), (h5s.UNLIMITED, 1), (4, 1), (3, 12), path, dataset, (3, 12), (0, 0), (1, 1),
                    (1, 1), (3, 12))
            h5d.create(f.id, name.encode(), h5t.STD_I32LE, h5s.create_simple((3, 12), (h5s.UNLIMITED, 12)), plist)
        names = ["stacked", "gaps", "nested", "unlimited", "files", "both"]
    with h5py.File(os.path.join(OUT, file), "r") as f:
        for name in names:
            expect_all_kinds(file, name, f[name][...], rng)


def variable(bounds):
    """Variable-length strings and sequences; some elements were never written."""
    rng = random.Random(bounds)
    file = "variable_%s.h5" % bounds
    with h5py.File(os.path.join(OUT, file), "w", libver=BOUNDS[bounds]) as f:
        for chunk in (None, (30,)):
            name = "whole" if chunk is None else "chunked"
            texts = ["x" * rng.randrange(200) for _ in range(150)]
            d = f.create_dataset("strings_" + name, (200,), h5py.string_dtype(), chunks=chunk)
            d[:150] = texts
            lengths = [rng.randrange(50) for _ in range(100)]
            d = f.create_dataset("sequences_" + name, (100,), h5py.vlen_dtype("<i4"), chunks=chunk)
            for i, length in enumerate(lengths):
                d[i] = np.arange(length, dtype="<i4") * i
            path = "%d.bin" % next(NUMBER)
            with open(os.path.join(OUT, path), "wb") as out:
                for text in texts + [""] * 50:
                    out.write(len(text).to_bytes(8, "little") + text.encode())
            LINES.append("%s strings_%s strings 0 %s" % (file, name, path))
            path = "%d.bin" % next(NUMBER)
            with open(os.path.join(OUT, path), "wb") as out:
                for i, length in enumerate(lengths):
                    out.write(length.to_bytes(8, "little") + (np.arange(length, dtype="<i4") * i).tobytes())
            LINES.append("%s sequences_%s sequences 0 %s" % (file, name, path))


def corpus(folder):
    """Virtual datasets made by others, if the collection of files is there."""
    import shutil
    rng = random.Random(7)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".h5"):
            continue
        shutil.copy(os.path.join(folder, name), os.path.join(OUT, name))
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".h5"):
            continue
        with h5py.File(os.path.join(OUT, name), "r") as f:
            def visit(path, item):
                if isinstance(item, h5py.Dataset) and item.size and item.size < 3000000 and item.dtype.kind in "iuf":
                    if " " not in path and item.dtype.itemsize <= 8:
                        expect_all_kinds(name, path, item[...], rng)
            f.visititems(visit)


def main():
    os.makedirs(OUT, exist_ok=True)
    for bounds in BOUNDS:
        chunked(bounds)
        early(bounds)
        fills(bounds)
        small(bounds)
    shared()
    external()
    for bounds in BOUNDS:
        virtual(bounds)
        variable(bounds)
    folder = os.path.join(os.environ.get("H5MOTE_CORPUS", ""), "hdf5-tools-vds")
    if os.path.isdir(folder):
        corpus(folder)
    with open(os.path.join(OUT, "list"), "w") as out:
        out.write("\n".join(LINES) + "\n")
    print("%d reads" % len(LINES))


main()
