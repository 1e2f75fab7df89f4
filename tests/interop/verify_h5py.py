#!/usr/bin/python3
"""verify_h5py.py FILE...: compares each file, as libhdf5 reads it through h5py, with FILE.expect, element by element
and in both directions. Exit code 1 on any difference. The sidecar's format is described in expect.py."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy
from h5py import h5, h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5s, h5t

import expect
import hdf5_types

LAYOUTS = {h5d.COMPACT: "compact", h5d.CONTIGUOUS: "contiguous", h5d.CHUNKED: "chunked", h5d.VIRTUAL: "virtual"}
ALLOCS = {h5d.ALLOC_TIME_EARLY: "early", h5d.ALLOC_TIME_LATE: "late", h5d.ALLOC_TIME_INCR: "incremental"}
FILL_TIMES = {h5d.FILL_TIME_ALLOC: "alloc", h5d.FILL_TIME_NEVER: "never", h5d.FILL_TIME_IFSET: "ifset"}
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def encode(name):
    return name.encode("utf-8", "surrogateescape")


def decode(name):
    return name.decode("utf-8", "surrogateescape")


def space_shapes(space):
    """The shape and the maximum shape in the form that sidecars use."""
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return "null", "null"
    if kind == h5s.SCALAR:
        return "scalar", "scalar"
    maxima = tuple(None if d == h5s.UNLIMITED else d for d in space.get_simple_extent_dims(True))
    return expect.shape_text(space.get_simple_extent_dims()), expect.shape_text(maxima)


def raw_dataset(dataset, type_, count):
    """All elements as stored bytes: the memory type is the file's type, so nothing is converted."""
    buffer = numpy.zeros(max(1, count * type_.get_size()), dtype="u1")
    if count:
        dataset.read(h5s.ALL, h5s.ALL, buffer, mtype=type_)
    return buffer.tobytes()


def raw_attribute(attribute, type_, count):
    shape = attribute.shape
    buffer = numpy.zeros(shape, dtype="V%d" % type_.get_size())
    if count:
        attribute.read(buffer, mtype=type_)
    return buffer.tobytes()


class Verifier:
    def __init__(self, path, wanted, report):
        self.wanted, self.report = wanted, report
        self.superblock(path)
        self.file = h5f.open(encode(path), h5f.ACC_RDONLY)
        self.addresses = {}
        try:
            for entry in wanted.entries.values():
                getattr(self, entry.kind)(entry)
        finally:
            self.file.close()

    def superblock(self, path):
        with open(path, "rb") as file:
            start = 0
            head = file.read(64)
            while head and not head.startswith(SIGNATURE):
                start = max(512, 2 * start)
                file.seek(start)
                head = file.read(64)
        if "superblock" in self.wanted.file:
            self.report.check("superblock version", str(head[8]), self.wanted.file["superblock"])
        if head[8] >= 2:
            # No flags may be set: a reader may refuse a file that is marked as open for writing.
            self.report.check("file consistency flags", head[11], 0)

    def open(self, entry, kind):
        """The object at an entry's path, which must be a hard link to an object of that kind."""
        path = entry.path
        if path != "/":
            parent = h5o.open(self.file, encode(expect.parent_of(path)))
            info = parent.links.get_info(encode(expect.leaf_of(path)))
            self.report.check(path + " link type", info.type, h5l.TYPE_HARD)
        found = h5o.open(self.file, encode(path))
        self.report.check(path + " kind", type(found).__name__, kind.__name__)
        info = h5o.get_info(found)
        self.report.check(path + " names", info.rc, self.wanted.link_count(path))
        self.report.check(path + " is an object of its own", self.addresses.get(info.addr, path), path)
        self.addresses[info.addr] = path
        return found

    def attributes(self, entry, found, ordered):
        count = h5a.get_num_attrs(found)
        index = h5.INDEX_CRT_ORDER if ordered else h5.INDEX_NAME
        names = []
        for i in range(count):
            attribute = h5a.open(found, index=i, index_type=index)
            names.append(decode(attribute.name))
        wanted = [a.name for a in entry.attrs]
        self.names(entry.path + " attributes", names, wanted, ordered)
        for a in entry.attrs:
            if a.name not in names:
                continue
            what = "%s attribute %s" % (entry.path, a.name)
            attribute = h5a.open(found, encode(a.name))
            tid = attribute.get_type()
            self.report.check(what + " type", hdf5_types.describe(tid).text(), a.type.text())
            shape, _ = space_shapes(attribute.get_space())
            self.report.check(what + " shape", shape, expect.shape_text(a.shape))
            if shape == expect.shape_text(a.shape) and a.type.comparable and not a.skip and a.count:
                difference = a.compare_data(raw_attribute(attribute, tid, a.count))
                self.report.problem(difference and "%s %s" % (what, difference))

    def names(self, what, actual, wanted, ordered):
        for name in wanted:
            self.report.problem(None if name in actual else "%s: %s is missing" % (what, name))
        for name in actual:
            self.report.problem(None if name in wanted else "%s: %s is there, but not expected" % (what, name))
        if ordered and sorted(actual) == sorted(wanted):
            self.report.check(what + " in creation order", actual, wanted)

    def group(self, entry):
        found = self.open(entry, h5g.GroupID)
        plist = found.get_create_plist()
        ordered = entry.fields.get("track_order", "0") != "0"
        self.report.check(entry.path + " track_order",
                          bool(plist.get_link_creation_order() & h5p.CRT_ORDER_TRACKED), ordered)
        # A group may track creation order without an index for it: sort its links by their creation order here.
        links = []
        found.links.iterate(lambda name: links.append(name), idx_type=h5.INDEX_NAME)
        if ordered:
            links.sort(key=lambda name: found.links.get_info(name).corder)
        self.report.check(entry.path + " number of links", found.get_num_objs(), len(links))
        wanted = [expect.leaf_of(e.path) for e in self.wanted.children(entry.path)]
        self.names(entry.path + " links", [decode(n) for n in links], wanted, ordered)
        self.attribute_order(entry, found, plist)

    def attribute_order(self, entry, found, plist):
        ordered = entry.fields.get("attr_order", "0") != "0"
        self.report.check(entry.path + " attr_order",
                          bool(plist.get_attr_creation_order() & h5p.CRT_ORDER_TRACKED), ordered)
        self.attributes(entry, found, ordered)

    def dataset(self, entry):
        found = self.open(entry, h5d.DatasetID)
        what, check = entry.path, self.report.check
        tid = found.get_type()
        check(what + " type", hdf5_types.describe(tid).text(), entry.type.text())
        shape, maxima = space_shapes(found.get_space())
        check(what + " shape", shape, expect.shape_text(entry.shape))
        check(what + " max", maxima, expect.shape_text(entry.max_shape))
        plist = found.get_create_plist()
        self.layout(entry, found, plist)
        self.fill(entry, plist, tid)
        self.attribute_order(entry, found, plist)
        if shape == expect.shape_text(entry.shape) and entry.type.comparable and not entry.skip and entry.count:
            difference = entry.compare_data(raw_dataset(found, tid, entry.count))
            self.report.problem(difference and "%s %s" % (what, difference))

    def layout(self, entry, found, plist):
        what, check, fields = entry.path, self.report.check, entry.fields
        layout = LAYOUTS[plist.get_layout()]
        if "layout" in fields:
            check(what + " layout", layout, fields["layout"])
        chunk = expect.shape_text(plist.get_chunk()) if layout == "chunked" else None
        check(what + " chunk", chunk, fields.get("chunk"))
        if "index" in fields and layout == "chunked":
            check(what + " index", hdf5_types.chunk_index(found), fields["index"])
        filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
        wanted = [f.split(":") for f in fields["filters"].split(",")] if "filters" in fields else []
        check(what + " filters", [str(f[0]) for f in filters], [f[0] for f in wanted])
        for (number, _, values, _), w in zip(filters, wanted):
            if len(w) > 1:
                check("%s client data of filter %d" % (what, number), "/".join(map(str, values)), w[1])

    def fill(self, entry, plist, tid):
        what, check, fields = entry.path, self.report.check, entry.fields
        defined = plist.fill_value_defined()
        found = {h5d.FILL_VALUE_UNDEFINED: "undefined", h5d.FILL_VALUE_DEFAULT: "default"}.get(defined)
        if found is None:
            found = hdf5_types.get_fill(plist, tid).hex()
        check(what + " fill", found, fields.get("fill", "default").lower())
        if "alloc" in fields:
            check(what + " alloc", ALLOCS[plist.get_alloc_time()], fields["alloc"])
        if "fill_time" in fields:
            check(what + " fill_time", FILL_TIMES[plist.get_fill_time()], fields["fill_time"])

    def datatype(self, entry):
        found = h5o.open(self.file, encode(entry.path))
        self.report.check(entry.path + " kind", isinstance(found, h5t.TypeID), True)
        self.report.check(entry.path + " type", hdf5_types.describe(found).text(), entry.type.text())
        self.attributes(entry, found, False)

    def link(self, entry, wanted_type):
        parent = h5o.open(self.file, encode(expect.parent_of(entry.path)))
        name = encode(expect.leaf_of(entry.path))
        self.report.check(entry.path + " link type", parent.links.get_info(name).type, wanted_type)
        return parent, name

    def softlink(self, entry):
        parent, name = self.link(entry, h5l.TYPE_SOFT)
        self.report.check(entry.path + " target", decode(parent.links.get_val(name)), entry.target[0])

    def externallink(self, entry):
        parent, name = self.link(entry, h5l.TYPE_EXTERNAL)
        self.report.check(entry.path + " target", tuple(map(decode, parent.links.get_val(name))), entry.target)

    def hardlink(self, entry):
        self.link(entry, h5l.TYPE_HARD)
        address = h5o.get_info(self.file, encode(entry.path)).addr
        other = h5o.get_info(self.file, encode(entry.target)).addr
        self.report.check(entry.path + " object", self.addresses.get(address), self.addresses.get(other))


if __name__ == "__main__":
    sys.exit(expect.run("h5py", sys.argv[1:], Verifier))
