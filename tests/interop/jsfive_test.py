#!/usr/bin/env python3
"""jsfive_test.py "TOOL" MODULES: copies a file of the newest versions to the oldest ones with `h5mote repack`; jsfive and
h5py must find the same in the copy. Exit code 77 without jsfive."""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import h5py
import numpy as np

TOOL = shlex.split(sys.argv[1])
MODULES = pathlib.Path(sys.argv[2]).resolve()
READER = pathlib.Path(__file__).resolve().parent / "read_jsfive.cjs"


def make(path):
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["title"] = np.bytes_("everything in its oldest version")
        file.attrs["number"] = np.float64(1.5)
        many = file.create_group("many")
        for i in range(300):
            many.create_group(f"group {i}").attrs["i"] = np.int32(i)
        deep = file.create_group("a/b/c/d")
        deep["numbers"] = np.arange(24, dtype="<i2").reshape(2, 3, 4)
        for kind in ("<i1", "<u2", ">i4", "<u8", "<f4", ">f8", "S7"):
            file[f"contiguous {kind[1:]}"] = np.arange(10).astype(kind)
        rows = np.arange(5000, dtype="<i4").reshape(100, 50)
        file.create_dataset("one", data=rows, chunks=(7, 50), maxshape=(None, 50))
        file.create_dataset("both", data=rows, chunks=(16, 16), maxshape=(None, None), compression="gzip", shuffle=True)
        file.create_dataset("fixed", data=rows.astype(">f8"), chunks=(40, 20), compression=1)
        file["both"].attrs["units"] = np.bytes_("mV")


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value.ravel().tolist()]
    return value.item() if isinstance(value, np.generic) else value


def describe(node):
    attributes = {name: plain(value) for name, value in node.attrs.items()}
    if isinstance(node, h5py.Dataset):
        return {"attributes": attributes, "shape": list(node.shape), "values": plain(node[()])}
    return {"attributes": attributes, "members": {name: describe(node[name]) for name in node}}


def main():
    if not (MODULES / "jsfive").is_dir():
        print("jsfive is not there")
        return 77
    with tempfile.TemporaryDirectory() as place:
        new, old = pathlib.Path(place) / "new.h5", pathlib.Path(place) / "old.h5"
        make(new)
        subprocess.run([*TOOL, "repack", "--low", "earliest", new, old], check=True)
        if old.read_bytes()[8] != 0:
            print("the copy has no superblock of version 0")
            return 1
        found = json.loads(subprocess.run(["node", READER, MODULES, old], check=True, capture_output=True).stdout)
        for path in (new, old):
            with h5py.File(path) as file:
                if describe(file) != found:
                    print(f"jsfive finds something else than h5py in {path.name}")
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
