#!/usr/bin/env python3
"""check_samples.py FOLDER FLOOR: opens each file that powercut_test left there, as a power cut left it, with libhdf5.

Beside NAME.h5 stands NAME.expect: what was acknowledged before the cut. Lines `group PATH`, `log PATH ROWS` (at least so
many rows, each that of its index), `value PATH@NAME NUMBER...` (one of these). Fails with fewer than FLOOR files.
"""

import pathlib
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


def check(path):
    with h5py.File(path, "r") as file:
        for line in path.with_suffix(".expect").read_text().splitlines():
            kind, name, *numbers = line.split()
            if kind == "group":
                assert isinstance(file[name], h5py.Group), name
            elif kind == "log":
                rows = file[name][...]
                assert len(rows) >= int(numbers[0]), f"{name}: {len(rows)} rows of {numbers[0]}"
                for member, values in (imu if name.endswith("imu") else health)(len(rows)).items():
                    assert numpy.array_equal(rows[member], values), f"{name}: {member}"
            else:
                object_path, attribute = name.split("@")
                value = file[object_path].attrs[attribute]
                assert int(value) in map(int, numbers), f"{name}: {value}"


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
    print(f"{len(files)} files opened by libhdf5 {h5py.version.hdf5_version}, {lost} lost")
    return lost > 0 or len(files) < floor


if __name__ == "__main__":
    sys.exit(main())
