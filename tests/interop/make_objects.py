#!/usr/bin/env python3
"""Makes files with objects, links and attributes of every kind with libhdf5, and beside each a list of what it holds.

usage: make_objects.py FOLDER

NAME.txt has one line for each thing that interop_objects must find: links in each order, objects, attributes with a
hash of their stored bytes, and the targets of paths.
"""
import ctypes
import sys
from pathlib import Path

import h5py
import numpy
from h5py import h5a, h5f, h5g, h5i, h5o, h5p, h5s, h5t

BOUNDS = {"earliest": ("earliest", "earliest"), "v108": ("v108", "v108"), "latest": ("latest", "latest")}


class ObjectInfo(ctypes.Structure):
    """H5O_info1_t of libhdf5 1.10; h5py gives access to a part of it only."""

    _fields_ = [("fileno", ctypes.c_ulong), ("addr", ctypes.c_uint64), ("type", ctypes.c_int), ("rc", ctypes.c_uint),
                ("times", ctypes.c_int64 * 4), ("attributes", ctypes.c_uint64),
                ("header", ctypes.c_uint * 4), ("space", ctypes.c_uint64 * 4), ("messages", ctypes.c_uint64 * 2),
                ("storage", ctypes.c_uint64 * 4)]


def library():
    """The libhdf5 that h5py has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libhdf5" in line and "_hl" not in line:
            return ctypes.CDLL(line.split()[-1])
    raise OSError("libhdf5 is not loaded")


HDF5 = library()


def object_info(target):
    info = ObjectInfo()
    identifier = ctypes.c_int64(target.id)
    get = getattr(HDF5, "H5Oget_info2", None)
    if get(identifier, ctypes.byref(info), ctypes.c_uint(0x1F)) < 0:
        raise OSError("H5Oget_info2")
    text = ctypes.create_string_buffer(1000)
    length = HDF5.H5Oget_comment(identifier, text, ctypes.c_size_t(len(text)))
    return info, text.raw[:max(length, 0)]


def fnv(data):
    """The 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for each in data:
        value = (value ^ each) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def escape(name):
    text = name if isinstance(name, bytes) else name.encode()
    return "".join(chr(c) if 33 <= c < 127 and c != 92 else f"\\{c:02x}" for c in text)


def make_groups(file, track):
    """Groups of 0 to 300 links, so that compact and dense storage and the change between them occur."""
    for count in (0, 1, 8, 9, 300):
        group = file.create_group(f"links{count}", track_order=track)
        for i in range(count):
            group[f"{(i * 7919) % 1000:03d}-{'x' * (i % 40)}"] = h5py.SoftLink(f"/nowhere/{i}")
    deep = file.create_group("a").create_group("b").create_group("c", track_order=track)
    deep["up"] = file["a"]
    deep["self"] = deep
    deep["\u00e4\u03b2\u4e16"] = h5py.SoftLink("/a/b")
    deep["n" * 300] = h5py.SoftLink("t" * 5000)
    deep["elsewhere"] = h5py.ExternalLink("target.h5", "/g/d")
    deep["lost"] = h5py.ExternalLink("no such file.h5", "/")
    deep["circle"] = h5py.SoftLink("circle")
    file["hop"] = h5py.SoftLink("a/b")
    file["type"] = numpy.dtype([("x", "<i4"), ("y", ">f8")])
    file["data"] = numpy.arange(5, dtype="<i2")
    file["again"] = file["data"]
    h5o.set_comment(file["a"].id, b"a comment, with \xc3\xa4")


def make_attributes(file, track, newest):
    for count in (0, 1, 8, 9, 200):
        group = file.create_group(f"attributes{count}", track_order=track)
        for i in range(count):
            group.attrs[f"{(i * 7919) % 1000:03d}"] = numpy.arange(i % 5 + 1, dtype=(">i4", "<f8", "u1")[i % 3])
    group = file.create_group("kinds", track_order=track)
    group.attrs["scalar"] = numpy.int16(-5)
    group.attrs["null"] = h5py.Empty("f4")
    group.attrs["empty"] = numpy.zeros((3, 0), "i1")
    group.attrs["text"] = numpy.bytes_("fixed text")
    group.attrs["compound"] = numpy.array([(1, 2.5)], dtype=[("a", "u1"), ("b", ">f4")])
    group.attrs["\u00fcber"] = numpy.arange(3)
    group.attrs.create("array", numpy.arange(6).reshape(1, 2, 3), dtype=h5py.h5t.py_create("i4"))
    group.attrs.create("large", numpy.arange(15000, dtype="<u4"))
    group.attrs.create("committed", numpy.zeros(2, file["type"].dtype), dtype=file["type"])
    if newest:
        group.attrs.create("huge", numpy.arange(50000, dtype="<u4"))


def make(path, bounds, track=False, sizes=None, user_block=0):
    create = h5p.create(h5p.FILE_CREATE)
    access = h5p.create(h5p.FILE_ACCESS)
    low, high = BOUNDS[bounds]
    numbers = {"earliest": h5f.LIBVER_EARLIEST, "v108": h5f.LIBVER_V18, "latest": h5f.LIBVER_LATEST}
    access.set_libver_bounds(numbers[low], numbers["latest" if low == "latest" else "v108"])
    if sizes:
        create.set_sizes(*sizes)
    if user_block:
        create.set_userblock(user_block)
    if track:
        create.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    with h5py.File(h5f.create(str(path).encode(), h5f.ACC_TRUNC, create, access)) as file:
        make_groups(file, track)
        make_attributes(file, track, bounds == "latest")


def link_line(group, name):
    link = group.get(name.decode(), getlink=True)
    if isinstance(link, h5py.SoftLink):
        return f"soft {escape(link.path)}"
    if isinstance(link, h5py.ExternalLink):
        return f"external {escape(link.filename)} {escape(link.path)}"
    return "hard"


def links_in(group, index, order):
    names = []
    group.id.links.iterate(names.append, idx_type=index, order=order)
    return names


def attribute_line(path, attribute):
    kind = attribute.get_type()
    space = attribute.get_space()
    shape = space.get_simple_extent_dims() if space.get_simple_extent_type() == h5s.SIMPLE else ()
    size = kind.get_size() * int(numpy.prod(shape, dtype=numpy.int64))
    if space.get_simple_extent_type() == h5s.NULL:
        size, data = 0, b""
    else:
        array = numpy.zeros(shape, dtype=kind.dtype)
        if size:
            attribute.read(array, mtype=kind)
        data = array.tobytes()
    committed = 1 if kind.committed() else 0
    return (f"attribute {path} {escape(attribute.name)} class {kind.get_class()} shape {'x'.join(map(str, shape))} "
            f"bytes {size} committed {committed} {fnv(data):016x}")


def describe(path):
    lines = []
    with h5py.File(path, "r") as file:
        found = [("/", file["/"])]
        seen = {h5o.get_info(file.id).addr}

        def walk(group, prefix):
            for name in links_in(group, h5py.h5.INDEX_NAME, h5py.h5.ITER_INC):
                lines.append(f"link {prefix}{escape(name)} {link_line(group, name)}")
                link = group.get(name.decode(), getlink=True)
                if not isinstance(link, h5py.HardLink):
                    continue
                target = group[name.decode()]
                address = h5o.get_info(target.id).addr
                if address in seen:
                    continue
                seen.add(address)
                found.append((prefix + escape(name), target))
                if isinstance(target, h5py.Group):
                    walk(target, prefix + escape(name) + "/")

        walk(file["/"], "/")
        kinds = {h5o.TYPE_GROUP: "group", h5o.TYPE_DATASET: "dataset", h5o.TYPE_NAMED_DATATYPE: "datatype"}
        for name, target in found:
            info, comment = object_info(target.id)
            index = info.storage[0] if info.type == h5o.TYPE_GROUP else 0
            lines.append(f"object {name} {kinds[info.type]} references {info.rc} attributes {info.attributes} header "
                         f"{info.header[0]} {info.header[1]} {info.header[2]} {info.space[0]} {info.space[1]} "
                         f"{info.space[2]} {info.space[3]} {info.messages[0]:x} storage {index} {info.storage[1]} "
                         f"{info.storage[2]} {info.storage[3]} comment {escape(comment)}")
            for i in range(h5a.get_num_attrs(target.id)):
                attribute = h5a.open(target.id, index=i, index_type=h5py.h5.INDEX_NAME, order=h5py.h5.ITER_INC)
                lines.append(attribute_line(name, attribute))
            orders = [("name-down", h5py.h5.INDEX_NAME, h5py.h5.ITER_DEC)]
            if isinstance(target, h5py.Group):
                flags = target.id.get_create_plist().get_link_creation_order()
                if flags & h5p.CRT_ORDER_TRACKED:
                    orders += [("made", h5py.h5.INDEX_CRT_ORDER, h5py.h5.ITER_INC),
                               ("made-down", h5py.h5.INDEX_CRT_ORDER, h5py.h5.ITER_DEC)]
                for label, index, order in orders:
                    names = b"/".join(links_in(target, index, order))
                    lines.append(f"order {name} {label} {fnv(names):016x}")
        for start in ("/a/b/c/up/b/c/self/self", "/hop/c/./up//b", "/a/b/c/elsewhere", "/a/b/c/lost", "/a/b/c/circle",
                      "/hop", "/data/x", "/a/none", "//a///b/", "."):
            try:
                lines.append(f"path {start} {kinds[h5o.get_info(file[start].id).type]}")
            except (KeyError, OSError, RuntimeError):
                lines.append(f"path {start} none")
    return lines


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with h5py.File(folder / "target.h5", "w") as file:
        file["g/d"] = numpy.arange(4)
    made = []
    for bounds in BOUNDS:
        for track in (False, True):
            made.append(folder / f"{bounds}{'-tracked' if track else ''}.h5")
            make(made[-1], bounds, track)
    made.append(folder / "short.h5")
    make(made[-1], "earliest", sizes=(4, 4))
    for i, size in enumerate((512, 4096)):
        made.append(folder / f"behind{size}.h5")
        make(made[-1], ("earliest", "latest")[i], user_block=size)
    for path in made:
        path.with_suffix(".txt").write_text("".join(line + "\n" for line in sorted(describe(path))))
    print(f"{len(made)} files")


main()
