#!/usr/bin/python3
"""Makes files whose heaps and indexes are deep, large or unusual, each with a list of what they hold.

usage: make_structures.py FOLDER

FOLDER/NAME.h5 is made by libhdf5; FOLDER/NAME.list has lines of words that say what interop_structures must find:
  shape SIZEOF_ADDR SIZEOF_SIZE      k GROUP_LEAF GROUP_INTERNAL CHUNK
  link NAME ADDRESS ORDER            a hard link; ORDER is - if creation order is not tracked
  chunk ADDRESS SIZE MASK SCALED...  a chunk; a line `dims CHUNK_DIMS...` comes before the chunks
  attribute NAME ORDER SIZE CRC32    an attribute in dense storage; size and checksum of its data
  value COLLECTION INDEX SIZE CRC32  an object of a global heap
"""
import ctypes
import os
import struct
import sys
import zlib

import h5py
import numpy as np


def call(function, properties, *arguments):
    """Calls a function of the libhdf5 that h5py uses, to set a property that h5py cannot set."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "libhdf5" in line and "_hl" not in line}
    if getattr(ctypes.CDLL(paths.pop()), function)(ctypes.c_int64(properties.id), *arguments) < 0:
        raise SystemExit(function + " failed")


class Made:
    """One file and its list."""

    def __init__(self, folder, name, version=None, sym_k=None, istore_k=None, sizes=None):
        self.path = os.path.join(folder, name + ".h5")
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        leaf, internal, chunk = (sym_k[1], sym_k[0], istore_k or 32) if sym_k else (4, 16, istore_k or 32)
        if sym_k:
            call("H5Pset_sym_k", fcpl, ctypes.c_uint(internal), ctypes.c_uint(leaf))
        if istore_k:
            call("H5Pset_istore_k", fcpl, ctypes.c_uint(istore_k))
        if sizes:
            call("H5Pset_sizes", fcpl, *(ctypes.c_size_t(size) for size in sizes))
        if version == "latest":
            fapl.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
        self.file = h5py.File(h5py.h5f.create(self.path.encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl))
        self.list = open(os.path.join(folder, name + ".list"), "w")
        self.say("shape", *(sizes or (8, 8)))
        self.say("k", leaf, internal, chunk)

    def say(self, *words):
        print(*words, file=self.list)

    def close(self):
        self.file.close()
        self.list.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def list_links(made, group, order=False):
    """Lists the links of a group, which are all hard links; in creation order if it is tracked, else by name."""
    names = []
    index = h5py.h5.INDEX_CRT_ORDER if order else h5py.h5.INDEX_NAME
    group.id.links.iterate(names.append, idx_type=index)
    for number, name in enumerate(names):
        address = group.id.links.get_info(name).u
        made.say("link", name.decode(), address, number if order else "-")


def old_groups(folder):
    for name, arguments, count in [
        ("group_plain", {}, 300),
        ("group_narrow", {"sym_k": (1, 1)}, 1500),
        ("group_wide", {"sym_k": (200, 100)}, 3000),
        ("group_small", {"sizes": (4, 4)}, 200),
        ("group_two", {"sizes": (2, 2)}, 20),
        ("group_10000", {}, 10000),
        ("group_empty", {}, 0),
    ]:
        with Made(folder, name, **arguments) as made:
            root = made.file["/"]
            if count:
                first = root.create_group("the_first")
                for i in range(count):
                    root["link_%d_%s" % (i * 7919 % count, "x" * (i % 40))] = first
            if name == "group_plain":
                for i in range(0, count, 3):
                    del root["link_%d_%s" % (i * 7919 % count, "x" * (i % 40))]
            list_links(made, root)
    # A local heap of more than a megabyte.
    with Made(folder, "group_long_names") as made:
        root = made.file["/"]
        first = root.create_group("a")
        for i in range(300):
            root["%05d" % i + "n" * 4000] = first
        list_links(made, root)


def say_chunks(made, dataset):
    made.say("dims", *dataset.chunks)
    found = []
    for i in range(dataset.id.get_num_chunks()):
        info = dataset.id.get_chunk_info(i)
        scaled = tuple(o // c for o, c in zip(info.chunk_offset, dataset.chunks))
        found.append((scaled, info.byte_offset, info.size, info.filter_mask))
    for scaled, address, size, mask in sorted(found):
        made.say("chunk", address, size, mask, *scaled)


def chunks(folder):
    for name, version, istore_k, shape, chunk, options in [
        ("chunk_plain", None, None, (1000,), (10,), {}),
        ("chunk_deep", None, 1, (3000,), (1,), {}),
        ("chunk_3d", None, 2, (40, 30, 20), (3, 4, 5), {}),
        ("chunk_filtered", None, None, (200, 300), (7, 11), {"compression": "gzip"}),
        ("chunk_btree2", "latest", None, (90, 80), (2, 3), {"maxshape": (None, None)}),
        ("chunk_btree2_filtered", "latest", None, (90, 80), (2, 3), {"maxshape": (None, None), "compression": "gzip"}),
        ("chunk_btree2_one", "latest", None, (2, 3), (2, 3), {"maxshape": (None, None)}),
    ]:
        with Made(folder, name, version, istore_k=istore_k) as made:
            dataset = made.file.create_dataset("d", shape, "i4", chunks=chunk, **options)
            values = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
            if name == "chunk_deep":  # written in an order that splits nodes everywhere in the tree
                for i in range(shape[0]):
                    at = i * 1009 % shape[0]
                    if at % 5 != 3:
                        dataset[at] = at
            elif name == "chunk_3d":
                dataset[:20] = values[:20]
                dataset[30:] = values[30:]
            else:
                dataset[...] = values
            made.file.flush()
            say_chunks(made, dataset)


def dense_links(folder):
    for name, count, order, deflate, length in [
        ("dense_few", 20, True, False, 0),
        ("dense_10000", 10000, True, False, 60),
        ("dense_huge", 60, True, False, 5000),
        ("dense_filtered", 3000, True, True, 30),
        ("dense_filtered_huge", 40, False, True, 5000),
        ("dense_unordered", 2000, False, False, 10),
    ]:
        with Made(folder, name, "latest") as made:
            gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
            if order:
                gcpl.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
            if deflate:
                call("H5Pset_deflate", gcpl, ctypes.c_uint(6))
            group = h5py.Group(h5py.h5g.create(made.file.id, b"g", gcpl=gcpl))
            first = made.file.create_group("h")
            for i in range(count):
                group["%d-%s" % (i * 7919 % count, "y" * (length + i % 5))] = first
            list_links(made, group, order)


def dense_attributes(folder):
    for name, count, size in [("attributes_many", 3000, 8), ("attributes_huge", 20, 60000)]:
        with Made(folder, name, "latest") as made:
            group = made.file.create_group("g", track_order=True)
            for i in range(count):
                value = np.full(size + i % 7, i % 251, "u1")
                group.attrs["attribute_%d" % (i * 7919 % count)] = value
                made.say("attribute", "attribute_%d" % (i * 7919 % count), i, len(value), zlib.crc32(value.tobytes()))


def values(folder):
    for name, count, size in [("values_many", 20000, 12), ("values_large", 6, 3000000), ("values_mixed", 500, 700)]:
        with Made(folder, name) as made:
            dataset = made.file.create_dataset("v", (count,), h5py.string_dtype())
            text = [("%d " % i) + "z" * (i * 500009 % size) for i in range(count)]
            dataset[...] = text
            made.file.flush()
            at = dataset.id.get_offset()
            with open(made.path, "rb") as raw:
                raw.seek(at)
                stored = raw.read(16 * count)
            for i in range(count):
                length, collection, index = struct.unpack_from("<IQI", stored, 16 * i)
                assert length == len(text[i])
                made.say("value", collection, index, length, zlib.crc32(text[i].encode()))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for make in (old_groups, chunks, dense_links, dense_attributes, values):
        make(folder)


if __name__ == "__main__":
    main(sys.argv[1])
