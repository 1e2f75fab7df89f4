#!/usr/bin/python3
"""modify_h5py.py FROM TO: copies the files that FROM/supported.list names to TO and changes the copies through libhdf5:
rows, attributes, groups and datasets are added, attributes are rewritten and removed. The sidecars are updated;
TO/supported.list names the copies. An object gets no more links or attributes than fit into compact storage: libhdf5
would change to dense storage."""

import os
import random
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy
from h5py import h5a, h5d, h5f, h5g, h5o, h5p, h5s, h5t

import expect
from expect import quote, shape_text
from make_reference import sample

COMPACT = 8  # libhdf5's default limit of compact storage


def replace_statement(lines, start, words, data):
    """Replaces the statement at `start` and its data statements by new ones."""
    end = start + 1
    while end < len(lines) and lines[end].startswith("data"):
        if lines[end].startswith(("dataset ", "datatype ")):
            break
        end += 1
    lines[start:end] = [" ".join(words), "data " + data.hex()]


class Modifier:
    def __init__(self, path):
        self.rng = random.Random(os.path.basename(path))
        self.entries = expect.load(path).entries
        with open(path + ".expect", encoding="utf-8") as sidecar:
            self.lines = sidecar.read().splitlines()
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
        self.file = h5f.open(path.encode(), h5f.ACC_RDWR, fapl=fapl)
        for entry in list(self.entries.values()):
            if entry.kind == "dataset":
                self.append(entry)
        for entry in list(self.entries.values()):
            if entry.kind in ("group", "dataset"):
                self.attributes(entry)
            if entry.kind == "group":
                self.objects(entry)
        self.file.close()
        with open(path + ".expect", "w", encoding="utf-8") as sidecar:
            sidecar.write("\n".join(self.lines) + "\n")

    def random_data(self, type_, count):
        return b"".join(sample(type_, self.rng) for _ in range(count))

    def append(self, entry):
        maxima = entry.max_shape
        if isinstance(entry.shape, str) or maxima.count(None) != 1 or not entry.shape:
            return
        dataset = h5d.open(self.file, entry.path.encode())
        tid = dataset.get_type()
        shape = list(entry.shape)
        axis = maxima.index(None)
        shape[axis] += 45
        dataset.set_extent(tuple(shape))
        if 0 in shape:
            data = b""
        else:
            start = [0] * len(shape)
            start[axis] = shape[axis] - 45
            count = [n if i != axis else 45 for i, n in enumerate(shape)]
            space = dataset.get_space()
            space.select_hyperslab(tuple(start), tuple(count))
            more = self.random_data(entry.type, int(numpy.prod(count)))
            dataset.write(h5s.create_simple(tuple(count)), space, numpy.frombuffer(more, "u1"), mtype=tid)
            buffer = numpy.zeros(int(numpy.prod(shape)) * tid.get_size(), "u1")
            dataset.read(h5s.ALL, h5s.ALL, buffer, mtype=tid)
            data = buffer.tobytes()
            self.check_kept(entry, data, shape)
        start = next(i for i, l in enumerate(self.lines) if l.startswith("dataset %s " % quote(entry.path)))
        words = ["shape=" + shape_text(tuple(shape)) if w.startswith("shape=") else w
                 for w in self.lines[start].split(" ")]
        replace_statement(self.lines, start, words, data)

    def check_kept(self, entry, data, shape):
        """Checks that the rows that existed before the change are still the same."""
        old = numpy.frombuffer(data, "V%d" % entry.type.size).reshape(shape)[tuple(slice(n) for n in entry.shape)]
        difference = entry.compare_data(old.tobytes())
        if difference:
            raise SystemExit("modify_h5py: %s %s" % (entry.path, difference))

    def attributes(self, entry):
        found = h5o.open(self.file, entry.path.encode())
        attrs = entry.attrs
        if attrs and attrs[0].shape != "null":
            a = attrs[0]
            data = self.random_data(a.type, a.count)
            attribute = h5a.open(found, a.name.encode())
            attribute.write(numpy.frombuffer(data, "V%d" % a.type.size).reshape(attribute.shape),
                            mtype=attribute.get_type())
            start = self.attribute_line(entry, a)
            replace_statement(self.lines, start, self.lines[start].split(" "), data)
        removed = 0
        if len(attrs) > 1 and len(attrs) <= COMPACT:
            h5a.delete(found, attrs[1].name.encode())
            start = self.attribute_line(entry, attrs[1])
            replace_statement(self.lines, start, ["#"], b"")
            del self.lines[start:start + 2]
            removed = 1
        if len(attrs) - removed + 2 <= COMPACT:
            for name, text, shape in (("h5py", "f8be", ()), ("h5py text", "str200:nullpad:ascii", (2,))):
                type_ = expect.parse_type(text)
                data = self.random_data(type_, 2 if shape else 1)
                space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
                tid = h5t.IEEE_F64BE if text == "f8be" else self.text_type(200)
                attribute = h5a.create(found, name.encode(), tid, space)
                attribute.write(numpy.frombuffer(data, "V%d" % type_.size).reshape(shape), mtype=tid)
                self.lines += ["attr %s %s type=%s shape=%s" % (quote(entry.path), quote(name), text,
                                                                shape_text(shape)), "data " + data.hex()]

    @staticmethod
    def text_type(size):
        tid = h5t.C_S1.copy()
        tid.set_size(size)
        tid.set_strpad(h5t.STR_NULLPAD)
        return tid

    def attribute_line(self, entry, attribute):
        head = "attr %s %s " % (quote(entry.path), quote(attribute.name))
        return next(i for i, l in enumerate(self.lines) if l.startswith(head))

    def objects(self, entry):
        group = h5g.open(self.file, entry.path.encode())
        if group.get_num_objs() + 3 > COMPACT:
            return
        base = "" if entry.path == "/" else entry.path
        h5g.create(group, b"h5py_group").close()
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_obj_track_times(False)
        data = self.random_data(expect.parse_type("i4le"), 6)
        dataset = h5d.create(group, b"h5py_data", h5t.STD_I32LE, h5s.create_simple((6,)), dcpl=plist)
        dataset.write(h5s.ALL, h5s.ALL, numpy.frombuffer(data, "u1"), mtype=h5t.STD_I32LE)
        group.links.create_soft(b"h5py_soft", b"/")
        self.lines += ["group %s/h5py_group" % quote(base), "dataset %s/h5py_data type=i4le shape=6" % quote(base),
                       "data " + data.hex(), "softlink %s/h5py_soft -> /" % quote(base)]


def main():
    if len(sys.argv) != 3:
        print("usage: modify_h5py.py FROM TO")
        return 2
    source, target = sys.argv[1:]
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(source, "supported.list"), encoding="utf-8") as names:
        files = [name.strip() for name in names]
    for name in files:
        for end in ("", ".expect"):
            shutil.copy(os.path.join(source, name + end), os.path.join(target, name + end))
        Modifier(os.path.join(target, name))
    shutil.copy(os.path.join(source, "supported.list"), target)
    print("modify_h5py: %d files in %s" % (len(files), target))
    return 0


if __name__ == "__main__":
    sys.exit(main())
