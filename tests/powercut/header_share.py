#!/usr/bin/env python3
"""header_share.py [--most PERCENT PERCENT]: how many of the object headers that libhdf5 makes for h5py one write cannot switch,
and how many of them formats::any_placement does not move either.

Makes files of groups, datasets and committed datatypes with attributes, as programs do, with libver="latest" and with
the default, which gives headers of version 1. Looks at the first block of each header: its place in a sector of 512
bytes, and where its messages begin. The conditions are those of core/object/header.cpp and
core/object/any_placement.cpp.
"""

import argparse
import random
import struct
import sys
import tempfile
from pathlib import Path

import h5py
import numpy

SECTOR = 512
LINK = 16  # bytes of a continuation message's body
NULL = 0
CONTINUATION = 16
SYMBOL_TABLE = 17


def make(path, seed, libver):
    """Returns the addresses of the headers of all objects."""
    choose = random.Random(seed)
    with h5py.File(path, "w", libver=libver) as file:
        objects = [file]
        groups = [file]
        for i in range(60):
            parent = choose.choice(groups)
            name = f"{choose.choice(['run', 'temperature', 'x', 'calibration_of_the_sensor'])}_{i}"
            kind = choose.randrange(20)
            if kind < 3:
                groups.append(parent.create_group(name, track_order=choose.random() < 0.2))
                objects.append(groups[-1])
            elif kind == 3:
                parent[name] = numpy.dtype([("t", "<u4"), ("value", "<f8")][: choose.randrange(1, 3)])
                objects.append(parent[name])
            else:
                rank = choose.randrange(0, 4)
                shape = tuple(choose.randrange(1, 20) for _ in range(rank))
                options = {}
                if rank and kind > 11:
                    options = {"maxshape": (None,) * (1 if rank == 1 else 0) + shape[1 if rank == 1 else 0:],
                               "chunks": True, "compression": choose.choice([None, "gzip"])}
                dtype = choose.choice(["<i4", "<f8", "S10", [("t", "<u4"), ("a", "<i2", (3,)), ("temp", "<f4")]])
                objects.append(parent.create_dataset(name, shape, dtype, track_times=choose.random() < 0.3, **options))
            for j in range(choose.choice([0, 0, 1, 3])):
                objects[-1].attrs[f"attribute {j}"] = choose.choice([1.5, "some text", numpy.arange(5)])
        return {h5py.h5o.get_info(each.id).addr for each in objects}


class Header:
    """The first block of a header, and offsets in it."""

    def __init__(self, image, address):
        self.bytes = image[address:]
        self.address = address
        self.old = self.bytes[0] == 1
        if self.old:
            self.prefix, self.head, self.checksum = 16, 8, 0
            self.size = self.prefix + struct.unpack_from("<I", self.bytes, 8)[0]
        else:
            assert self.bytes[:5] == b"OHDR\2"
            flags = self.bytes[5]
            width = 1 << (flags & 3)
            self.prefix = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0) + width
            self.head, self.checksum = 6 if flags & 4 else 4, 4
            self.size = self.prefix + int.from_bytes(self.bytes[self.prefix - width:self.prefix], "little") + 4
        self.unit = SECTOR - address % SECTOR

    def cut_by_one_write(self):
        return self.prefix + self.head + LINK + self.checksum <= min(self.unit, self.size)

    def changes_by_one_write(self):
        """Whether every change does not cross a sector: nothing has to be moved."""
        return self.size <= self.unit or (self.unit <= self.prefix and self.size <= self.unit + SECTOR)

    def messages(self):
        """Offsets of the heads of the messages, and of the end of the last one."""
        heads = [self.prefix]
        while heads[-1] + self.head <= self.size - self.checksum:
            length = struct.unpack_from("<H", self.bytes, heads[-1] + (2 if self.old else 1))[0]
            heads.append(heads[-1] + self.head + length)
        return heads

    def root_behind(self):
        """Whether the one message that fills the header is a symbol table whose tree begins behind the header, so that
        the tree can move: neither the prefix nor the tree's address in the message crosses the end of the sector."""
        body = self.prefix + self.head
        can_move = self.unit >= self.prefix and not body < self.unit < body + 8
        return can_move and self.bytes[self.prefix] == SYMBOL_TABLE and \
            struct.unpack_from("<Q", self.bytes, body)[0] == self.address + self.size

    def moved(self):
        end = self.size - self.checksum
        behind = min(self.size, self.unit + SECTOR)
        if self.old and len(self.messages()) == 2:
            body = self.prefix + self.head
            leads_on = self.bytes[self.prefix] == CONTINUATION and not body < self.unit < body + LINK
            return leads_on or self.root_behind()
        at = self.unit - self.prefix  # where in the first message the sector ends
        heads = self.messages()
        kept = self.prefix if at <= 0 else next(head for head in heads if head >= self.unit)
        alone = at > 0 and all(self.bytes[head] == NULL for head in heads[heads.index(kept):-1])
        body = kept + self.head + (0 if alone else LINK + self.head)
        length = struct.pack("<H", body - self.prefix - self.head)
        size_at, flags_at = (2, 4) if self.old else (1, 3)
        fits = all(at > i + size_at or self.bytes[self.prefix + i + size_at] == length[i] for i in range(2))
        stays = at > 0 and (not fits or (at <= flags_at and self.bytes[self.prefix + flags_at] & 2 != 0))
        leads = self.bytes[self.prefix] == CONTINUATION
        if 0 < at <= self.head and self.size <= behind and (leads or (stays and end - kept >= self.head + LINK)):
            return True  # what can change, the first message's body and what is behind it, is in the second sector
        if stays and (alone or leads):
            return False
        last = body if at <= 0 or stays else body + self.head + LINK + self.checksum
        if (at <= 0 or stays) and body - self.head == end:
            last = end
        if behind < self.size and not self.old:
            mend = (last + 11) // 12 * 12 + 12
            if mend > behind or mend >= end:
                return False
        return self.unit <= 64 and kept <= end and last <= min(behind, end)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--most", type=float, nargs=2, default=(100, 100),
                        help="fails if more than this percentage is not moved either, with latest and with earliest")
    options = parser.parse_args()
    failed = False
    for libver, most in zip(("latest", "earliest"), options.most):
        total = refused = left = 0
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(options.files):
                path = Path(folder) / "made.h5"
                addresses = make(path, seed, libver)
                image = path.read_bytes()
                for address in addresses:
                    header = Header(image, address)
                    total += 1
                    if not header.changes_by_one_write() and not header.cut_by_one_write():
                        refused += 1
                        left += not header.moved()
        print(f"{libver}: {total} headers; not by one write {100 * refused / total:.2f} %, "
              f"not at all {100 * left / total:.2f} %")
        failed = failed or 100 * left / total > most
    return failed


if __name__ == "__main__":
    sys.exit(main())
