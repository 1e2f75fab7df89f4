"""make_files.py FOLDER: the files that the tests in this folder read, made with h5py (libhdf5).

FOLDER/rich*.h5 hold many features of HDF5 each. FOLDER/small/*.h5 hold few each and are small, so that a test can
damage every byte of them.
"""
import ctypes
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import hdf5_types  # noqa: E402


def create(path, latest, user_block=0, sizes=(8, 8), pages=0, chunk_k=0):
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    if user_block:
        fcpl.set_userblock(user_block)
    fcpl.set_sizes(*sizes)
    if pages:
        # An extension of the superblock says so. It takes formats::superblock_extension or formats::free_space.
        fcpl.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_PAGE, True, 1)
        fcpl.set_file_space_page_size(pages)
    if chunk_k:
        # Another width of B-trees of chunks: in new files, the extension of the superblock says so, too.
        hdf5_types.check_call("H5Pset_istore_k", hdf5_types.hid(fcpl), ctypes.c_uint(chunk_k))
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    bounds = h5py.h5f.LIBVER_LATEST if latest else h5py.h5f.LIBVER_EARLIEST
    fapl.set_libver_bounds(bounds, h5py.h5f.LIBVER_LATEST)
    # Metadata is not allocated in large blocks, so that files stay small.
    fapl.set_meta_block_size(0) if hasattr(fapl, "set_meta_block_size") else None
    return h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl))


def groups(file):
    a = file.create_group("a")
    a.create_group("b/c")
    file["hard"] = a
    file["soft"] = h5py.SoftLink("/a/b")
    file["dangling"] = h5py.SoftLink("/nowhere")
    file["external"] = h5py.ExternalLink("other.h5", "/there")
    a["loop"] = file["/"]


def numbers(file):
    file["i16be"] = np.arange(10, dtype=">i2")
    file["f64"] = np.linspace(0, 1, 6).reshape(2, 3)
    file["u8"] = np.uint8(7)
    file.create_dataset("fill", (4,), "i4", fillvalue=-3)


def attributes(file):
    file.attrs["text"] = "text"
    file.attrs["fixed"] = np.bytes_("fixed")
    file.attrs["numbers"] = np.arange(3)
    file.attrs["empty"] = h5py.Empty("f4")


def compound(file):
    inner = np.dtype([("x", "<i2"), ("y", ">f4", (2,))])
    outer = np.dtype([("id", "<u8"), ("point", inner), ("name", "S5")])
    file["compound"] = np.zeros(3, outer)
    file["enumeration"] = np.array([1, 0, 1], h5py.enum_dtype({"off": 0, "on": 1}, basetype="i1"))
    file["named"] = inner
    file.create_dataset("of_named", (2,), file["named"])


def variable(file):
    file["strings"] = np.array(["a", "", "some more text"], h5py.string_dtype())
    sequences = file.create_dataset("sequences", (3,), h5py.vlen_dtype("i4"))
    sequences[0] = [1, 2, 3]
    sequences[2] = [4]


def references(file):
    target = file.create_dataset("target", (4, 4), "i1")
    file["objects"] = np.array([target.ref, file.ref], h5py.ref_dtype)
    regions = file.create_dataset("regions", (2,), h5py.regionref_dtype)
    regions[0] = target.regionref[1:3, 0:2]
    regions[1] = target.regionref[[0, 2], 1]


def chunked(file):
    file.create_dataset("plain", data=np.arange(12).reshape(3, 4), chunks=(2, 3))
    file.create_dataset("unlimited", data=np.arange(7), chunks=(2,), maxshape=(None,))
    file.create_dataset("two", data=np.arange(6).reshape(2, 3), chunks=(1, 2), maxshape=(None, None))


def filtered(file):
    file.create_dataset("deflate", data=np.arange(40), chunks=(20,), compression="gzip", shuffle=True)
    file.create_dataset("fletcher32", data=np.arange(8), chunks=(8,), fletcher32=True)
    file.create_dataset("lzf", data=np.arange(64), chunks=(64,), compression="lzf")


def packed(file):
    file.create_dataset("scaled", data=np.arange(32), chunks=(16,), scaleoffset=0)
    file.create_dataset("szip", data=np.arange(64, dtype="i2"), chunks=(64,), compression="szip")


def dense(file):
    group = file.create_group("dense", track_order=True)
    for i in range(12):
        group[f"link{i}"] = h5py.SoftLink(f"target {i}")
        group.attrs[f"attribute{i}"] = i


def layouts(file):
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((5,))
    h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I32LE, space, dcpl).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.arange(5, dtype="i4")
    )


def external(file):
    file.create_dataset("outside", (4,), "i1", external=[("external.bin", 0, 4)])


def virtual(file):
    file["source"] = np.arange(8)
    layout = h5py.VirtualLayout((2, 4), "i8")
    layout[0] = h5py.VirtualSource(".", "source", (8,))[0:4]
    layout[1] = h5py.VirtualSource("missing.h5", "source", (8,))[4:8]
    file.create_virtual_dataset("virtual", layout, fillvalue=9)


PARTS = [groups, numbers, attributes, compound, variable, references, chunked, filtered, packed, dense, layouts]


def many(file):
    """Deeper structures: several levels of indexes, several blocks of heaps."""
    group = file.create_group("many")
    for i in range(300):
        group[f"a rather long name of a link, number {i}"] = h5py.SoftLink("x" * (1 + i % 50))
    for i in range(60):
        group.attrs[f"attribute {i}"] = np.arange(i)
    file.create_dataset("chunks", data=np.arange(600), chunks=(2,), maxshape=(None,))
    file["texts"] = np.array([f"text number {i}" for i in range(400)], h5py.string_dtype())


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "small").mkdir(parents=True, exist_ok=True)
    for latest in (False, True):
        bounds = "new" if latest else "old"
        for part in PARTS + [external] + ([virtual] if latest else []):
            with create(folder / "small" / f"{part.__name__}_{bounds}.h5", latest) as file:
                part(file)
        with create(folder / f"rich_{bounds}.h5", latest) as file:
            for part in PARTS:
                part(file.create_group(part.__name__) if part in (dense, chunked, filtered) else file)
        with create(folder / f"rich_many_{bounds}.h5", latest) as file:
            many(file)
    with create(folder / "small" / "user_block_old.h5", False, user_block=512) as file:
        numbers(file)
    with create(folder / "small" / "sizes_4_old.h5", False, sizes=(4, 4)) as file:
        chunked(file)
    with create(folder / "small" / "pages_new.h5", True, pages=512) as file:
        numbers(file)
    with create(folder / "small" / "extension_new.h5", True, chunk_k=16) as file:
        numbers(file)
    with create(folder / "rich_user_block.h5", True, user_block=1024, sizes=(4, 8)) as file:
        compound(file)
        variable(file)
        chunked(file)


main()
