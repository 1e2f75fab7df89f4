#!/usr/bin/env python3
"""check_samples.py FOLDER FLOOR: opens each sample of a cut file in FOLDER with h5py and compares it.

The power cut tests write the samples: NAME.h5, the storage as a cut left it, and NAME.expect, what was acknowledged
before the cut, with fields separated by tabs. Its lines are `group PATH`; `imu PATH ROWS` and `health PATH ROWS` (the
dataset has at least ROWS rows, each with the values that follow from its index); `value PATH@NAME NUMBER...` (the
attribute has one of these values). Where h5dump is installed, it must read each file, too. Fails if any file is wrong,
or with fewer than FLOOR files.
"""

import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy


def imu(count):
    i = numpy.arange(count)
    n = i % 30000
    return {"t_ms": 4 * i, "accel": numpy.stack([n, -n, n // 3], axis=1), "temp_c": i * 0.5}


def health(count):
    i = numpy.arange(count)
    return {"t_s": i + 1, "rows": i * 250}


ROWS = {"imu": imu, "health": health}
H5DUMP = shutil.which("h5dump")


def check(path):
    with h5py.File(path, "r") as file:
        for line in path.with_suffix(".expect").read_text().splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "group":
                assert isinstance(file[name], h5py.Group), name
            elif kind in ROWS:
                rows = file[name][...]
                assert len(rows) >= int(rest[0]), f"{name}: {len(rows)} rows of {rest[0]}"
                for member, values in ROWS[kind](len(rows)).items():
                    assert numpy.array_equal(rows[member], values), f"{name}: {member}"
            else:
                object_path, attribute = name.split("@")
                value = file[object_path].attrs[attribute]
                assert int(value) in map(int, rest), f"{name}: {value}"
    if H5DUMP:
        dump = subprocess.run([H5DUMP, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        assert dump.returncode == 0 and not dump.stderr, f"h5dump: {dump.stderr}"


def main():
    folder, floor = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    lost = 0
    files = sorted(folder.glob("*.h5"))
    for path in files:
        try:
            check(path)
        except (AssertionError, OSError, KeyError, RuntimeError) as error:
            lost += 1
            print(f"{path.name}: {error}")
    print(f"{len(files)} files opened by libhdf5 {h5py.version.hdf5_version} and {H5DUMP}, {lost} lost")
    return lost > 0 or len(files) < floor


if __name__ == "__main__":
    sys.exit(main())
