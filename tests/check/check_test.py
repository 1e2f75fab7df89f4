"""check_test.py TOOL: makes small files with h5py, damages each in one way, and expects exactly the lines that
`h5mote check` must print about this damage."""

import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

tool = sys.argv.pop(1)
MASK = 0xFFFFFFFF


def rotate(value, bits):
    return ((value << bits) | (value >> (32 - bits))) & MASK


def lookup3(data):
    """Jenkins' lookup3 hash, which HDF5 uses for the checksums of metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & MASK
    while len(data) > 12:
        x, y, z = struct.unpack("<III", data[:12])
        data = data[12:]
        a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
        for target, source, bits in (("a", "c", 4), ("b", "a", 6), ("c", "b", 8), ("a", "c", 16), ("b", "a", 19),
                                     ("c", "b", 4)):
            values = {"a": a, "b": b, "c": c}
            values[target] = ((values[target] - values[source]) & MASK) ^ rotate(values[source], bits)
            third = ({"a", "b", "c"} - {target, source}).pop()
            values[source] = (values[source] + values[third]) & MASK
            a, b, c = values["a"], values["b"], values["c"]
    if not data:
        return c
    x, y, z = struct.unpack("<III", data.ljust(12, b"\0"))
    a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
    c = ((c ^ b) - rotate(b, 14)) & MASK
    a = ((a ^ c) - rotate(c, 11)) & MASK
    b = ((b ^ a) - rotate(a, 25)) & MASK
    c = ((c ^ b) - rotate(b, 16)) & MASK
    a = ((a ^ c) - rotate(c, 4)) & MASK
    b = ((b ^ a) - rotate(a, 14)) & MASK
    return ((c ^ b) - rotate(b, 24)) & MASK


class Image(bytearray):
    """The bytes of a file."""

    def number(self, at, width):
        return int.from_bytes(self[at : at + width], "little")

    def put(self, at, width, value):
        self[at : at + width] = value.to_bytes(width, "little")

    def seal(self, at, size):
        """Corrects the checksum in the last 4 bytes of the block at `at`, whose size includes them."""
        self.put(at + size - 4, 4, lookup3(bytes(self[at : at + size - 4])))

    def all(self, signature):
        found = []
        at = self.find(signature)
        while at >= 0:
            found.append(at)
            at = self.find(signature, at + 1)
        return found


class Damage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "f.h5")

    def tearDown(self):
        self.folder.cleanup()

    def make(self, fill, **options):
        with h5py.File(self.path, "w", **options) as file:
            fill(file)
        with open(self.path, "rb") as file:
            return Image(file.read())

    def address(self, name):
        with h5py.File(self.path, "r") as file:
            return h5py.h5o.get_info(file[name].id).addr

    def check(self, image, *options):
        with open(self.path, "wb") as file:
            file.write(image)
        result = subprocess.run([tool, "check", *options, self.path], capture_output=True, text=True)
        lines = [line.replace(self.path, "F") for line in result.stdout.splitlines()]
        # The last line says what was checked. With -v, when notes are printed, too, it stays among the lines.
        self.last = lines[-1] if lines else ""
        return result.returncode, lines if "-v" in options else lines[:-1]

    def expect(self, image, *lines, options=()):
        code, found = self.check(image, *options)
        notes = [line for line in lines if ": note: " in line]
        found = [line for line in found if "belong to nobody" not in line]
        self.assertEqual(found, ["F: " + line for line in lines])
        self.assertEqual(code, 1 if len(lines) > len(notes) else 0)

    def test_nothing(self):
        image = self.make(lambda file: file.create_dataset("d", data=numpy.arange(10)))
        self.expect(image)
        code, lines = self.check(image, "-v")
        self.assertEqual(code, 0)
        self.assertRegex(lines[0], r"^F: 2 objects, 0 problems, \d+ of %d bytes belong to nobody, 1 walks, "
                         r"\d+ bytes used, 0 free, \d+ lost$" % len(image))

    def test_cannot_be_opened(self):
        self.assertEqual(self.check(b"nothing of the kind" * 100)[0], 2)

    def test_many_walks(self):
        def fill(file):
            for i in range(300):
                file.create_dataset("g%d/d%d" % (i % 7, i), data=numpy.arange(10))

        image = self.make(fill)
        code, lines = self.check(image, "-v", "--memory", "200K")
        self.assertEqual(code, 0)
        self.assertNotIn(" 1 walks", lines[-1])
        self.assertIn("308 objects, 0 problems, ", lines[-1])
        whole = self.check(image, "-v")[1][-1]
        self.assertEqual(whole.split(",")[:3], lines[-1].split(",")[:3])

    def test_checksum(self):
        image = self.make(lambda file: file.create_dataset("d", data=numpy.arange(10)), libver="latest")
        at = self.address("d")
        image[at + 40] ^= 1
        self.expect(image, "address 0x%x: object header: checksum is wrong: /d" % at)

    def test_elements_too_short_for_a_heap_address(self):
        def fill(file):
            file.create_dataset("v", (5,), h5py.vlen_dtype("i4"), chunks=(5,), maxshape=(None,))[0] = [1, 2]

        image = self.make(fill, libver="latest")
        with h5py.File(self.path, "r") as file:
            chunk = file["v"].id.get_chunk_info(0).byte_offset
        # Datatype and layout message now say 8 bytes for an element, in an object header with a correct checksum.
        header = self.address("v")
        kind = re.compile(rb"[\x19\x29\x39\x49]\0\0\0\x10\0\0\0").search(image, header).start()
        image.put(kind + 4, 4, 8)
        layout = image.find(b"\4\2\0\2\1\5\x10", header)
        image.put(layout + 6, 1, 8)
        width = 1 << (image[header + 5] & 3)
        prefix = 6 + (16 if image[header + 5] & 0x20 else 0) + width
        image.seal(header, prefix + image.number(header + prefix - width, width) + 4)
        self.expect(image, "address 0x%x: chunk: contradicts the format: /v" % chunk)

    def test_the_last_line_says_what_was_looked_at(self):
        image = self.make(lambda file: file.create_dataset("d", data=numpy.arange(10)))
        self.check(image)
        self.assertRegex(self.last, r"^F: 2 objects, 0 problems, \d+ of \d+ bytes .* 1 walks$")
        self.check(image, "--quick")
        self.assertRegex(self.last, r"1 walks, without what is in raw data$")

    def test_truncated(self):
        image = self.make(lambda file: file.create_dataset("d", data=numpy.arange(1000)))
        with h5py.File(self.path, "r") as file:
            data = file["d"].id.get_offset()
        self.expect(
            image[:-8],
            "address 0x%x: superblock: the file is shorter than it says: %d bytes" % (len(image) - 8, len(image)),
            "address 0x%x: raw data: is not within the file: /d" % data,
        )

    def contiguous(self):
        def fill(file):
            file.create_dataset("a", data=numpy.arange(100, dtype="u4"))
            file.create_dataset("b", data=numpy.arange(100, dtype="u4"))

        image = self.make(fill)
        with h5py.File(self.path, "r") as file:
            a, b = (file[name].id.get_offset() for name in "ab")
        layout = image.find(struct.pack("<BBQQ", 3, 1, b, 400))
        self.assertGreater(layout, 0)
        return image, a, b, layout

    def test_outside(self):
        image, _, _, layout = self.contiguous()
        image.put(layout + 2, 8, len(image) - 399)
        self.expect(image, "address 0x%x: raw data: is not within the file: /b" % (len(image) - 399))

    def test_overlap(self):
        image, a, _, layout = self.contiguous()
        image.put(layout + 2, 8, a + 396)
        code, lines = self.check(image)
        self.assertEqual(code, 1)
        self.assertIn("F: address 0x%x: raw data: overlaps what is at 0x%x: /b" % (a + 396, a), lines)
        image.put(layout + 2, 8, a)
        self.expect(image, "address 0x%x: raw data: overlaps what is at 0x%x: /b" % (a, a))

    def test_overlap_in_many_walks(self):
        def fill(file):
            for i in range(200):
                file.create_dataset("d%03d" % i, data=numpy.arange(100, dtype="u4"))

        image = self.make(fill)
        with h5py.File(self.path, "r") as file:
            first, last = (file[name].id.get_offset() for name in ("d010", "d190"))
        layout = image.find(struct.pack("<BBQQ", 3, 1, last, 400))
        image.put(layout + 2, 8, first)
        line = "address 0x%x: raw data: overlaps what is at 0x%x: " % (first, first)
        code, lines = self.check(image, "--memory", "160K")
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("F: " + line), lines)

    def test_size_of_data(self):
        image, _, b, layout = self.contiguous()
        image.put(layout + 10, 8, 396)
        self.expect(image, "address 0x%x: raw data: cannot be of that size: 396 bytes: /b" % b)

    def test_malformed_message(self):
        image, _, _, layout = self.contiguous()
        image[layout + 1] = 9  # class
        self.expect(image, "address 0x%x: message: cannot be verified by this program: layout_class: /b" % layout)
        image[layout + 1] = 1
        space = image.rfind(struct.pack("<BBBBIQQ", 1, 1, 1, 0, 0, 100, 100), 0, layout)
        image.put(space + 16, 8, 99)  # the largest size is below the size
        self.expect(image, "address 0x%x: dataspace message: contradicts the format: /b" % space)

    def test_message_that_cannot_be_shared(self):
        image, _, _, layout = self.contiguous()
        image[layout - 4] |= 2
        self.expect(image, "address 0x%x: layout message: contradicts the format: /b" % layout)

    def test_reference_count(self):
        image = self.make(lambda file: file.create_dataset("d", data=1))
        at = self.address("d")
        image.put(at + 4, 4, 0)
        self.expect(image, "address 0x%x: object header: reference count is wrong: 1 links found: /d" % at)
        image.put(at + 4, 4, 3)
        self.expect(image)

    def test_uses_of_a_committed_type_count(self):
        def fill(file):
            file["t"] = numpy.dtype("u2")
            file.create_dataset("d", (4,), dtype=file["t"])
            file["d"].attrs.create("a", 1, dtype=file["t"])

        image = self.make(fill)
        self.expect(image)
        at = self.address("t")
        self.assertEqual(image.number(at + 4, 4), 3)
        image.put(at + 4, 4, 2)
        self.expect(image, "address 0x%x: object header: reference count is wrong: 3 links found: /t" % at)

    def groups(self):
        def fill(file):
            for i in range(100):
                file.create_group("g%02d" % i)

        image = self.make(fill)
        return image, image.all(b"SNOD")

    def test_order(self):
        image, nodes = self.groups()
        node = nodes[0]
        first, second = image[node + 8 : node + 48], image[node + 48 : node + 88]
        image[node + 8 : node + 48], image[node + 48 : node + 88] = second, first
        self.expect(image, "address 0x%x: symbol table node: is out of order: /" % node)

    def test_siblings(self):
        def fill(file):
            for i in range(900):
                file.create_group("g%03d" % i)

        image = self.make(fill)
        leaves = [at for at in image.all(b"TREE") if image[at + 5] == 0 and image.number(at + 8, 8) != 2**64 - 1]
        self.assertGreater(len(leaves), 0)
        image.put(leaves[0] + 8, 8, leaves[0])
        self.expect(
            image,
            "address 0x%x: symbol table tree: its neighbours are not those that it names: /" % leaves[0],
        )

    def test_endless(self):
        def fill(file):
            for i in range(900):
                file.create_group("g%03d" % i)

        image = self.make(fill)
        root = next(at for at in image.all(b"TREE") if image[at + 5] == 1)
        node = next(at for at in image.all(b"TREE") if image[at + 5] == 0 and image.number(at + 6, 2) > 1)
        # Every child of every leaf of the B-tree becomes one and the same symbol table node, which is then found again
        # and again.
        for at in image.all(b"TREE"):
            if image[at + 5] == 0:
                for i in range(image.number(at + 6, 2)):
                    image.put(at + 32 + 16 * i, 8, image.number(node + 32, 8))
        code, lines = self.check(image)
        self.assertEqual(code, 1)
        self.assertTrue(all("address" in line for line in lines))
        self.assertGreater(root, 0)

    def test_count_of_symbols(self):
        image, nodes = self.groups()
        image.put(nodes[0] + 6, 2, 9)
        self.expect(image, "address 0x%x: symbol table node: holds another number than it says: 9: /" % nodes[0])

    def test_free_list(self):
        image, _ = self.groups()
        heap = next(at for at in image.all(b"HEAP") if image.number(at + 16, 8) != 1)
        with h5py.File(self.path, "r"):
            pass
        image.put(heap + 16, 8, image.number(heap + 8, 8) - 8)
        lines = self.check(image)[1]
        self.assertEqual(len(lines), 1)
        self.assertIn("F: address 0x%x: local heap: the list of free blocks is damaged: " % heap, lines[0])

    def dense(self):
        def fill(file):
            group = file.create_group("g", track_order=True)
            for i in range(20):
                group.create_group("x%d" % i)

        return self.make(fill, libver="latest")

    def test_count_of_heap_objects(self):
        image = self.dense()
        heap = image.find(b"FRHP")
        size = 22 + 12 * 8 + 3 * 8 + 4
        managed = heap + 14 + 7 * 8
        self.assertEqual(image.number(managed, 8), 20)
        image.put(managed, 8, 21)
        image.seal(heap, size)
        self.expect(image, "address 0x%x: fractal heap: holds another number than it says: 20: /g" % heap)

    def test_hash(self):
        image = self.dense()
        tree = next(at for at in image.all(b"BTHD") if image[at + 5] == 5)
        leaf = image.number(tree + 16, 8)
        self.assertEqual(image[leaf : leaf + 4], b"BTLF")
        image.put(leaf + 6, 4, image.number(leaf + 6, 4) - 1)
        image.seal(leaf, 6 + 20 * 11 + 4)
        code, lines = self.check(image)
        self.assertEqual((code, len(lines)), (1, 1))
        self.assertIn(": link: the hash is not that of what it names: /g", lines[0])

    def test_order_index(self):
        image = self.dense()
        tree = next(at for at in image.all(b"BTHD") if image[at + 5] == 6)
        leaf = image.number(tree + 16, 8)
        image.put(leaf + 6 + 15 * 3, 8, 2)
        image.seal(leaf, 6 + 20 * 15 + 4)
        self.expect(image, "address 0x%x: version 2 B-tree: is out of order: /g" % tree)

    def test_checksum_in_heap(self):
        image = self.dense()
        block = image.find(b"FHDB")
        image[block + 40] ^= 0x10
        code, lines = self.check(image)
        self.assertEqual(code, 1)
        self.assertIn("F: address 0x%x: fractal heap: checksum is wrong: /g" % block, lines)

    def chunked(self, **options):
        def fill(file):
            file.create_dataset("d", data=numpy.arange(20, dtype="u4"), chunks=(5,), maxshape=(None,))

        return self.make(fill, **options)

    def test_extent(self):
        image = self.chunked()
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        last = image.number(tree + 24 + 3 * 32 + 24, 8)
        image.put(self.find_space(image), 8, 12)
        # The dataset may grow, and a power cut may have lost that it has.
        self.expect(image)
        code, lines = self.check(image, "-v")
        self.assertEqual(code, 0)
        self.assertIn("F: address 0x%x: chunk: note: does not lie within the dataset: /d" % last, lines)
        image.put(self.find_space(image, 12) + 8, 8, 12)
        self.expect(image, "address 0x%x: chunk: does not lie within the dataset: /d" % last)

    def find_space(self, image, rows=20):
        at = image.find(struct.pack("<BBBBIQQ", 1, 1, 1, 0, 0, rows, 2**64 - 1))
        self.assertGreater(at, 0)
        return at + 8

    def test_size_of_chunk(self):
        image = self.chunked()
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        image.put(tree + 24, 4, 19)
        chunk = image.number(tree + 24 + 24, 8)
        self.expect(image, "address 0x%x: chunk: cannot be of that size: 19 bytes: /d" % chunk)

    def test_order_of_chunks(self):
        image = self.chunked()
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        image.put(tree + 24 + 32 + 8, 8, 0)
        code, lines = self.check(image)
        self.assertEqual(code, 1)
        self.assertIn("F: address 0x%x: chunk B-tree: is out of order: /d" % tree, lines)

    def test_statistics(self):
        image = self.chunked(libver="latest")
        header = image.find(b"EAHD")
        image.put(header + 12 + 5 * 8, 8, 77)
        image.seal(header, 12 + 6 * 8 + 8 + 4)
        self.expect(image)
        self.expect(
            image,
            "address 0x%x: extensible array: note: what the header says of its blocks is wrong: 4 found: /d" % header,
            options=("-v",),
        )

    def test_highest_element(self):
        image = self.chunked(libver="latest")
        header = image.find(b"EAHD")
        image.put(header + 12 + 4 * 8, 8, 3)
        image.seal(header, 12 + 6 * 8 + 8 + 4)
        self.expect(
            image, "address 0x%x: extensible array: holds another number than it says: 4: /d" % header
        )

    def test_data(self):
        image = self.make(
            lambda file: file.create_dataset("d", data=numpy.arange(20), chunks=(20,), fletcher32=True)
        )
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        chunk = image.number(tree + 24 + 24, 8)
        image[chunk + 3] ^= 4
        self.expect(image, "address 0x%x: chunk: the data do not pass their filters: /d" % chunk)
        self.assertEqual(self.check(image, "-q"), (0, []))

    def test_missing_heap_object(self):
        image = self.make(lambda file: file.create_dataset("d", data=["one", "two"], dtype=h5py.string_dtype()))
        with h5py.File(self.path, "r") as file:
            data = file["d"].id.get_offset()
        collection = image.number(data + 4, 8)
        image.put(data + 12, 4, 9)
        self.expect(
            image, "address 0x%x: global heap: there is no such object in the collection: 9: /d" % collection
        )

    def test_unknown_filter(self):
        image = self.make(
            lambda file: file.create_dataset("d", data=numpy.arange(20), chunks=(20,), compression="gzip")
        )
        at = image.find(struct.pack("<HHHH", 1, 8, 1, 1) + b"deflate\0")
        self.assertGreater(at, 0)
        image.put(at, 2, 33000)
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        chunk = image.number(tree + 24 + 24, 8)
        self.expect(image)
        self.expect(
            image,
            "address 0x%x: chunk: note: cannot be verified by this program: filter: /d" % chunk,
            options=("-v",),
        )

    def test_too_large(self):
        image = self.make(
            lambda file: file.create_dataset("d", data=numpy.zeros(100000), chunks=(100000,), compression="gzip")
        )
        tree = next(at for at in image.all(b"TREE") if image[at + 4] == 1)
        chunk = image.number(tree + 24 + 24, 8)
        self.expect(
            image,
            "address 0x%x: chunk: note: too little memory to verify it: 800000 bytes: /d" % chunk,
            options=("-v", "--memory", "64K"),
        )

    def test_open_for_writing(self):
        image = self.make(lambda file: file.create_dataset("d", data=1), libver="latest")
        image[11] = 1
        image.seal(0, 48)
        self.expect(
            image,
            "address 0x0: superblock: note: the file is marked as open for writing",
            options=("-v",),
        )

    def test_a_loop_of_continuations(self):
        def fill(file):
            group = file.create_group("g")
            for i in range(12):
                group.attrs["attribute number %d" % i] = numpy.arange(10)

        image = self.make(fill)
        at = self.address("g")
        message = image.find(struct.pack("<HH", 0x10, 16), at)
        image.put(message + 8, 8, at)
        image.put(message + 16, 8, 16 + image.number(at + 8, 4))
        code, lines = self.check(image)
        self.assertEqual(code, 1)
        self.assertTrue(lines)


if __name__ == "__main__":
    unittest.main()
