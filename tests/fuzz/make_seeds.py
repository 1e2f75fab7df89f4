"""make_seeds.py [FOLDER]: makes the inputs that fuzzing begins with, in FOLDER/NAME/*.seed for each target fuzz_NAME.
FOLDER is the corpus beside this script unless given. Needs h5py. Other inputs stay as they are: those that fuzzing has
found (found_*.bin), those of recorders (made by make_recorder_seeds.cpp), and the chunks for the filters (seed*, made
by tests/interop/filter_vectors.py). Times in object headers differ from run to run.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 8192
PIPELINE = 11  # message type of filter pipelines


def save(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.seed").write_bytes(data)


def create(path, latest, sizes=(8, 8)):
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    fcpl.set_sizes(*sizes)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    bounds = h5py.h5f.LIBVER_LATEST if latest else h5py.h5f.LIBVER_EARLIEST
    fapl.set_libver_bounds(bounds, h5py.h5f.LIBVER_LATEST)
    fapl.set_meta_block_size(0) if hasattr(fapl, "set_meta_block_size") else None
    return h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl))


def structures(path, signature, target, name, folder, parameter=0, sizes=(8, 8), nth=0, check=None):
    """Saves an input for the nth structure with that signature in a file."""
    image = path.read_bytes()
    at = -1
    while nth >= 0:
        at = image.find(signature, at + 1)
        assert at >= 0, (name, signature)
        if check is None or check(image[at:]):
            nth -= 1
    assert len(image) <= LIMIT, (name, len(image))
    shape = (sizes[0] == 8) | (sizes[1] == 8) << 1
    save(folder / target, name, bytes([shape, parameter]) + at.to_bytes(6, "little") + image)


def heaps_and_indexes(folder, scratch):
    def make(name, fill, latest=True, sizes=(8, 8)):
        path = scratch / f"{name}.h5"
        with create(path, latest, sizes) as file:
            fill(file)
        return path

    def links(count, text="link"):
        def fill(file):
            group = file.create_group("g")
            for i in range(count):
                group[f"{text} {i}"] = h5py.SoftLink("x" * (i % 7 + 1))

        return fill

    def dense(count, size):
        def fill(file):
            file.create_group("g", track_order=True)
            for i in range(count):
                file["g"].attrs[f"a{i}"] = np.arange(size, dtype="i1")

        return fill

    def chunks(shape, chunk, maximum=None, **more):
        def fill(file):
            count = int(np.prod(shape))
            file.create_dataset("d", data=np.arange(count, dtype="i1").reshape(shape), chunks=chunk, maxshape=maximum, **more)

        return fill

    old = make("links_old", links(7), False)
    old4 = make("links_old4", links(3), False, (4, 4))
    structures(old, b"HEAP", "local_heap", "names", folder)
    structures(old, b"HEAP", "local_heap", "names_group", folder, nth=1)
    structures(old4, b"HEAP", "local_heap", "names4", folder, parameter=3, sizes=(4, 4), nth=1)
    for i in range(2):
        structures(old, b"TREE", "btree1", f"group{i}", folder, nth=i)
    structures(old4, b"TREE", "btree1", "group4", folder, sizes=(4, 4), nth=1)
    chunked = make("chunked_old", chunks((6, 4), (2, 2)), False)
    structures(chunked, b"TREE", "btree1", "chunks", folder, parameter=0x80 | 1 | 1 << 2, nth=1)

    def variable(file):
        strings = [b"a", b"", b"some more text than fits in a few bytes"]
        file.create_dataset("s", data=np.array(strings, object), dtype=h5py.string_dtype())

    whole = make("variable", variable)
    structures(whole, b"GCOL", "global_heap", "strings", folder)
    # A small collection with two objects and free space.
    objects = b"".join(struct.pack("<HHIQ", i, 1, 0, 8) + b"object %d" % i for i in (2, 1)) + struct.pack("<HHIQ", 0, 0, 0, 48)
    collection = b"GCOL\1\0\0\0" + struct.pack("<Q", 16 + len(objects) + 32) + objects + bytes(32)
    save(folder / "global_heap", "small", bytes([3, 1]) + (128).to_bytes(6, "little") + bytes(128) + collection)

    few = make("dense_few", links(9))
    many = make("dense_many", links(24, "a longer name of a link"))
    structures(few, b"FRHP", "fractal_heap", "direct", folder)
    structures(many, b"FRHP", "fractal_heap", "indirect", folder, parameter=7)
    huge = make("dense_huge", dense(9, 60))
    structures(huge, b"FRHP", "fractal_heap", "attributes", folder, parameter=30)
    structures(few, b"BTHD", "btree2", "names", folder)
    structures(make("dense_order", dense(9, 1)), b"BTHD", "btree2", "attributes", folder, parameter=3, nth=0)
    two = make("two", chunks((6, 4), (1, 1), (None, None)))
    structures(two, b"BTHD", "btree2", "chunks", folder, parameter=1)
    filtered = {"compression": "gzip"}
    structures(make("fixed", chunks((30,), (1,))), b"FAHD", "arrays", "fixed", folder)
    structures(make("fixed_filtered", chunks((6,), (2,), **filtered)), b"FAHD", "arrays", "fixed_filtered", folder, 2 << 1)
    structures(make("extensible", chunks((90,), (1,), (None,))), b"EAHD", "arrays", "extensible", folder, 0x80)
    structures(make("extensible_filtered", chunks((8,), (2,), (None,), **filtered)), b"EAHD", "arrays",
               "extensible_filtered", folder, 0x80 | 2 << 1)


def datatypes(folder):
    inner = np.dtype([("x", "<i2"), ("y", ">f4", (2, 2))])
    kinds = {
        "integers": (np.dtype("<i4"), np.dtype(">u2")),
        "floats": (np.dtype("<f8"), np.dtype(">f4")),
        "number": (np.dtype("<u8"), np.dtype("<f4")),
        "strings": (np.dtype("S5"), np.dtype("S9")),
        "enumerations": (
            h5py.enum_dtype({"off": 0, "on": 1}, basetype="i1"),
            h5py.enum_dtype({"on": 7, "off": 3, "both": 9}, basetype=">i4"),
        ),
        "compounds": (
            np.dtype([("id", "<u8"), ("point", inner), ("name", "S5")]),
            np.dtype([("name", "S3"), ("id", ">i4"), ("point", inner)]),
        ),
        "arrays": (np.dtype(("<i2", (3,))), np.dtype(("<f8", (3,)))),
        "sequences": (h5py.vlen_dtype(np.dtype("<i4")), h5py.vlen_dtype(np.dtype(">i8"))),
        "texts": (h5py.string_dtype(), h5py.string_dtype("ascii")),
        "references": (h5py.ref_dtype, h5py.regionref_dtype),
        "opaque": (h5py.opaque_dtype(np.dtype("M8[s]")), np.dtype("V3")),
        "complex": (np.dtype("<c8"), np.dtype("<c16")),
    }
    for name, pair in kinds.items():
        # encode() puts two bytes before the message: the message type and a version.
        first, second = (h5py.h5t.py_create(each, logical=True).encode()[2:] for each in pair)
        first += bytes(-len(first) % 4)
        if len(first) < 1024:
            file = 1 if name in ("sequences", "texts") else 0
            save(folder / "datatype", name, bytes([len(first) // 4, file]) + first + second + bytes(range(1, 60)))


def dataspaces(folder):
    head = bytes([1, 6, 9, 3, 3])
    space = h5py.h5s.create_simple((6, 9), (h5py.h5s.UNLIMITED, 9))

    def selection():
        # The encoding has: message type, version, size of lengths, length of the message, the message, the selection.
        encoded = space.encode()
        return encoded[7 + struct.unpack_from("<I", encoded, 3)[0]:]

    encoded = space.encode()
    save(folder / "dataspace", "message", head + encoded[7 : 7 + struct.unpack_from("<I", encoded, 3)[0]])
    parts = {"all": selection()}
    space.select_hyperslab((1, 2), (2, 3), (3, 2), (1, 1))
    parts["regular"] = selection()
    space.select_hyperslab((0, 0), (1, 1), block=(3, 4), op=h5py.h5s.SELECT_XOR)
    parts["irregular"] = selection()
    space.select_elements([(1, 1), (5, 8), (0, 3)])
    parts["points"] = selection()
    space.select_none()
    parts["none"] = selection()
    regular = struct.pack("<8Q", 0, 1, 2, 2, 3, 2, 1, 1)
    parts["regular2"] = struct.pack("<IIBII", 2, 2, 1, 4 + len(regular), 2) + regular
    unlimited = struct.pack("<8Q", 0, 2, (1 << 64) - 1, 1, 1, 2, 2, 1)
    parts["unlimited2"] = struct.pack("<IIBII", 2, 2, 1, 4 + len(unlimited), 2) + unlimited
    parts["regular3"] = struct.pack("<IIBBI8H", 2, 3, 1, 2, 2, 0, 1, 2, 2, 3, 2, 1, 1)
    parts["irregular3"] = struct.pack("<IIBBIH8H", 2, 3, 0, 2, 2, 2, 0, 0, 1, 1, 2, 3, 4, 5)
    parts["points2"] = struct.pack("<IIBIH4H", 1, 2, 2, 2, 2, 0, 1, 5, 8)
    names = list(parts)
    for i, name in enumerate(names):
        following = parts[names[(i + 3) % len(names)]]
        save(folder / "dataspace", name, bytes([1 | i << 2]) + head[1:] + parts[name] + following)


def header_messages(image, address):
    """Yields type and body of the messages in the first block of an object header."""
    if image[address : address + 4] == b"OHDR":
        flags = image[address + 5]
        at = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        end = at + width + int.from_bytes(image[at : at + width], "little")
        at += width
        head = 6 if flags & 4 else 4
        while at + head <= end:
            kind, size = image[at], struct.unpack_from("<H", image, at + 1)[0]
            yield kind, image[at + head : at + head + size]
            at += head + size
    else:
        at, end = address + 16, address + 16 + struct.unpack_from("<I", image, address + 8)[0]
        while at + 8 <= end:
            kind, size = struct.unpack_from("<HH", image, at)
            yield kind, image[at + 8 : at + 8 + size]
            at += 8 + size


def messages(folder, files):
    which = {8: 0, 6: 1, 12: 2, 5: 3, 4: 3, 7: 4, 2: 5, 21: 5, 1: 6}
    seen = set()
    pipelines = []
    for path in files:
        image = path.read_bytes()
        addresses = set()
        with h5py.File(path) as file:
            addresses.add(h5py.h5o.get_info(file.id).addr)
            file.visititems(lambda name, item: addresses.add(h5py.h5o.get_info(item.id).addr))
        for address in sorted(addresses):
            for kind, body in header_messages(image, address):
                # Save one message of each type, size and version.
                key = (kind, len(body), body[:1])
                if kind in which and body and key not in seen and len(body) < 200:
                    seen.add(key)
                    save(folder / "messages", f"type{kind}_{len(body)}_{body[0]}", bytes([which[kind], 10]) + body)
                if kind == PIPELINE and body not in pipelines:
                    pipelines.append(body)
                    save(folder / "pipeline_message", f"version{body[0]}_{len(pipelines)}", body)
        save(folder / "messages", f"superblock{image[8]}", bytes([6, 10]) + image[:100])


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus"
    for old in folder.glob("*/*.seed"):
        if not old.parent.name.endswith("recorder"):
            old.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run([sys.executable, HERE.parent / "reading" / "make_files.py", scratch], check=True)
        small = sorted((scratch / "small").glob("*.h5"))
        for path in small:
            if path.stat().st_size <= LIMIT:
                save(folder / "open", path.stem, path.read_bytes())
        messages(folder, [path for path in small if not path.stem.startswith(("user", "sizes"))])
        heaps_and_indexes(folder, scratch)
    datatypes(folder)
    dataspaces(folder)


main()
