#!/usr/bin/python3
"""make_files.py FOLDER: makes test files that are written more easily, or only, with h5py: its LZF filter, its
datatypes for those of numpy, dimension scales, and random selections."""

import os
import sys

import h5py
import numpy

FORMS = {"old": ("earliest", "latest"), "v18": ("v108", "v108"), "new": ("latest", "latest")}


def python_types(file):
    file["bool"] = numpy.array([True, False, True])
    file["complex"] = numpy.array([1 + 2j, -0.5j], ">c16")
    file["half"] = numpy.array([0, 1, -2.5, 65504, numpy.inf, numpy.nan, 6e-8], "<f2")
    file["text"] = "Grüße"
    file["bytes"] = numpy.bytes_(b"fixed\0\0")
    file["records"] = numpy.array([(1, 2.5, b"ab"), (-3, 1e300, b"")], [("i", ">i2"), ("f", "<f8"), ("s", "S5")])
    file["enum"] = numpy.array([0, 2, 1], h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, "u1"))
    file["time"] = numpy.array([b"void", b"data"], "V4")
    ragged = file.create_dataset("ragged", (3,), h5py.vlen_dtype("<f4"))
    ragged[0] = [1.5, 2.5]
    ragged[2] = numpy.arange(3000)
    names = file.create_dataset("names", (2, 3), h5py.string_dtype())
    names[0] = ["a", "", "ccc"]
    # Filtered variable-length data: for the compression ratio, the HDF5 tools count a value's size in memory.
    packed = file.create_dataset("packed names", (100,), h5py.string_dtype(), chunks=(10,), compression="gzip")
    packed[:30] = "abc"
    both = numpy.dtype([("i", "<i4"), ("s", h5py.string_dtype()), ("v", h5py.vlen_dtype("<i2"))])
    packed = file.create_dataset("packed records", (100,), both, chunks=(10,), compression="gzip")
    packed[3] = (1, "x", numpy.array([1], "<i2"))
    file.attrs["list"] = [1.5, 2.5, 3.5]
    file.attrs["empty"] = h5py.Empty("f4")
    file.attrs["text"] = "ünicode"
    file.attrs["texts"] = ["one", "two"]
    file["dt"] = numpy.dtype([("x", "<i4", (2, 2)), ("y", "<u8")])


DATA = (numpy.arange(5000) % 97).astype("<i4").reshape(50, 100)
NOISE = numpy.random.default_rng(1).integers(0, 256, 4000).astype("u1")


def python_lzf(file):
    file.create_dataset("plain", data=DATA, chunks=(20, 30), compression="lzf")
    file.create_dataset("shuffled", data=DATA, chunks=(20, 30), compression="lzf", shuffle=True, fletcher32=True)
    file.create_dataset("noise", data=NOISE, chunks=(1000,), compression="lzf")


def python_filters(file):
    data, noise = DATA, NOISE
    file.create_dataset("gzip noise", data=noise, chunks=(700,), compression="gzip", compression_opts=9)
    file.create_dataset("grown", data=data[:7], chunks=(4, 100), maxshape=(None, 100), compression=1).resize((23, 100))
    shrunk = file.create_dataset("shrunk", data=data, chunks=(7, 9), maxshape=(None, None))
    shrunk.resize((10, 20))
    for scale in (0, 3, 12):
        file.create_dataset("scale %d" % scale, data=data, chunks=(50, 100), scaleoffset=scale)


def python_scales(file):
    data = file.create_dataset("data", data=numpy.arange(12.0).reshape(3, 4))
    for axis, name in enumerate(("x", "y")):
        scale = file.create_dataset(name, data=numpy.arange(data.shape[axis]))
        scale.make_scale(name)
        data.dims[axis].attach_scale(scale)
        data.dims[axis].label = name
    file["refs"] = numpy.array([data.ref, file.ref, None], h5py.ref_dtype)
    file["regions"] = numpy.array([data.regionref[1:3, ::2], data.regionref[0, 1]], h5py.regionref_dtype)


def python_space(strategy):
    """A file that records free space of many sizes."""
    with h5py.File("python_space-%s.h5" % strategy, "w", fs_strategy=strategy, fs_persist=True, fs_threshold=3) as file:
        for i in range(40):
            file.create_dataset("d%d" % i, data=numpy.zeros(1 + 37 * i, "u1"))
            file["d%d" % i].attrs["text"] = "x" * (1 + 5 * i)
    with h5py.File("python_space-%s.h5" % strategy, "r+") as file:
        for i in range(0, 40, 3):
            del file["d%d" % i]


MAKERS = {"python_types": python_types, "python_lzf": python_lzf, "python_filters": python_filters,
          "python_scales": python_scales}


def main():
    os.chdir(sys.argv[1])
    for form, bounds in FORMS.items():
        for name, make in MAKERS.items():
            with h5py.File("%s-%s.h5" % (name, form), "w", libver=bounds) as file:
                make(file)
    for strategy in ("fsm", "page", "aggregate", "none"):
        python_space(strategy)


if __name__ == "__main__":
    main()
